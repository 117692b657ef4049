# SPDX-License-Identifier: MIT
"""Figures, for Matplotlib (``pip install torpor[plot]``).

States run from light to dark with depth and carry hatches: figures survive print and colour blindness.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from torpor._core import ConfigError
from torpor.files import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from torpor.experiments.report import Reproduction
    from torpor.idle import Runs, Timeline

__all__ = ["new_axes", "new_figure", "plot_residency", "plot_timeline", "save_figure"]

_HATCHES = ("", "///", "...", "xxx", "+++")
_DARK, _LIGHT = "#222222", "#dddddd"


def _matplotlib() -> Any:
    try:
        import matplotlib
    except ModuleNotFoundError as error:
        if error.name != "matplotlib":
            raise
        raise ConfigError("figures need Matplotlib: pip install torpor[plot]") from None
    return matplotlib


def new_figure() -> Figure:
    """Empty figure that a notebook shows.

    Raises
    ------
    ConfigError
        Without Matplotlib.

    Examples
    --------
    >>> new_figure().axes
    []
    """
    _matplotlib()
    from matplotlib import pyplot as plt

    return plt.figure(layout="constrained")


def new_axes(ax: Axes | None = None) -> Axes:
    """Axes of a new figure, unless there are some already.

    Parameters
    ----------
    ax : matplotlib Axes or None
        Returned as it is.

    Raises
    ------
    ConfigError
        Without Matplotlib.

    Examples
    --------
    >>> len(new_axes().figure.axes)
    1
    """
    _matplotlib()
    axes: Axes = new_figure().subplots() if ax is None else ax
    return axes


def _styles(count: int) -> list[dict[str, Any]]:
    """Fill of each state: light to dark, the same order in grey, with a hatch that stands out."""
    depths = np.linspace(0.08, 0.85, max(count, 2))[:count]
    colours = _matplotlib().colormaps["viridis_r"](depths)
    return [
        {
            "facecolor": colour,
            "hatch": _HATCHES[state % len(_HATCHES)],
            "edgecolor": _DARK if depth < 0.6 else _LIGHT,
            "linewidth": 0.5,
        }
        for state, (colour, depth) in enumerate(zip(colours, depths, strict=True))
    ]


def plot_residency(
    results: Reproduction[Runs] | Mapping[str, Runs] | Sequence[Runs],
    *,
    cpus: Sequence[int] | None = None,
    state_names: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Stack the mean seconds in each idle state, one bar per policy and CPU.

    Parameters
    ----------
    results : Reproduction, mapping of str to Runs, or sequence of Runs
        What to show; a mapping's keys label the bars, else the policies do.
    cpus : sequence of int or None
        CPUs to show; None means all.
    state_names : sequence of str or None
        Names in the legend; None takes those of the first shown CPU.
    ax : matplotlib Axes or None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ConfigError
        Without Matplotlib, without results, for those of another family, and for a CPU that the board lacks.

    Examples
    --------
    >>> from torpor import Board, idle
    >>> scenario = idle.Scenario(Board.load("hikey"), idle.IpiTimerBurst(cpu=7), duration_s=0.2)
    >>> ax = plot_residency([scenario.run(name) for name in ("menu", "teo")], cpus=[7])
    >>> ax.get_ylabel()
    'mean time in state (s)'
    """
    _matplotlib()
    labelled = _labelled(results)
    first = next(iter(labelled.values()), None)
    if first is None:
        raise ConfigError("plot_residency: nothing to show, limit: at least one result")
    if not hasattr(first, "residency_ns"):
        raise ConfigError(f"plot_residency: {first!r} has no idle states, limit: results of the idle family")
    count = first.residency_ns.shape[1]
    shown = list(range(count)) if cpus is None else list(cpus)
    for cpu in shown:
        if not 0 <= cpu < count:
            raise ConfigError(f"plot_residency: cpu={cpu} is outside 0..{count - 1}")
    states = max(runs.residency_ns.shape[2] for runs in labelled.values())
    names = list(state_names or first.state_names()[shown[0]])
    ax = new_axes(ax)
    heights = np.zeros((len(labelled), len(shown), states))
    for g, runs in enumerate(labelled.values()):
        heights[g, :, : runs.residency_ns.shape[2]] = runs.residency_ns.mean(axis=0)[shown] / 1e9
    single = len(shown) == 1
    groups = np.arange(len(labelled))[:, None] * (1.0 if single else len(shown) + 1.0)
    places = (groups + np.arange(len(shown))[None, :]).ravel()
    bottom = np.zeros(places.size)
    for state, style in enumerate(_styles(states)):
        height = heights[:, :, state].ravel()
        label = names[state] if state < len(names) else f"state {state}"
        ax.bar(places, height, 0.8, bottom, label=label, **style)
        bottom += height
    if single:
        ax.set_xticks(places, list(labelled), rotation=90 if places.size > 4 else 0)
        ax.set_xlabel(f"CPU{shown[0]}")
    else:
        ax.set_xticks(places, [f"CPU{cpu}" for cpu in shown] * len(labelled))
        ax.tick_params(axis="x", labelsize="small", length=0)
        for g, label in enumerate(labelled):
            middle = float(groups[g, 0]) + (len(shown) - 1) / 2
            ax.annotate(
                label,
                (middle, 0.0),
                (0.0, -18.0),
                xycoords=ax.get_xaxis_transform(),
                textcoords="offset points",
                ha="center",
                va="top",
            )
    ax.set_ylabel("mean time in state (s)")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=states, frameon=False)
    return ax


def _labelled(results: Reproduction[Runs] | Mapping[str, Runs] | Sequence[Runs]) -> dict[str, Runs]:
    if isinstance(results, Mapping):
        return dict(results)
    if isinstance(results, Sequence):
        return {str(runs.policy): runs for runs in results}
    return {str(runs.policy): runs for runs in results.results.values()}


def plot_timeline(
    timeline: Timeline,
    cpu: int,
    *,
    start_ms: float = 0.0,
    length_ms: float = 200.0,
    state_names: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw which idle state one CPU was in, whether its tick ran, and its wakeups.

    Parameters
    ----------
    timeline : Timeline
        Records of one replicate.
    cpu : int
        CPU to show.
    start_ms, length_ms : float, milliseconds
        Window to show.
    state_names : sequence of str or None
        Names of the states; None takes the board's.
    ax : matplotlib Axes or None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ConfigError
        Without Matplotlib, for a CPU that the board lacks and for an empty window.

    Examples
    --------
    >>> from torpor import Board, idle
    >>> scenario = idle.Scenario(Board.load("hikey"), idle.IpiTimerBurst(cpu=7), duration_s=0.2)
    >>> ax = plot_timeline(scenario.timeline("menu"), 7, length_ms=100.0)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['WFI', 'cpu-sleep', 'cluster-sleep', 'tick runs', 'wakeups']
    """
    _matplotlib()
    board = timeline.scenario.board
    if not 0 <= cpu < board.cpu_count:
        raise ConfigError(f"plot_timeline: cpu={cpu} is outside 0..{board.cpu_count - 1}")
    if not length_ms > 0.0:
        raise ConfigError(f"plot_timeline: length_ms={length_ms} is not above 0")
    cluster = next(one for one in board.clusters if cpu in one.cpus)
    names = list(state_names or [state.name for state in cluster.idle_states])
    end_ms = start_ms + length_ms
    ax = new_axes(ax)
    periods = timeline.intervals(cpu)
    starts, ends = (np.asarray(periods[name], dtype=float) / 1e6 for name in ("start_ns", "end_ns"))
    levels = np.asarray(periods["state"])
    inside = (ends > start_ms) & (starts < end_ms)
    for state, style in enumerate(_styles(len(names))):
        mine = inside & (levels == state)
        bars = list(zip(starts[mine], ends[mine] - starts[mine], strict=True))
        ax.broken_barh(bars, (-state - 0.4, 0.8), **style)
    strip = -len(names) - 0.2
    ticking = [(a, b - a) for a, b in _tick_runs(timeline, cpu, end_ms)]
    ax.broken_barh(
        [(start_ms, length_ms)], (strip - 0.25, 0.5), facecolor="none", edgecolor="0.6", linewidth=0.6
    )
    ax.broken_barh(ticking, (strip - 0.25, 0.5), facecolor=_DARK, edgecolor="none")
    ax.vlines(ends[inside], strip - 1.3, strip - 0.7, color=_DARK, linewidth=0.8)
    ax.set_yticks(
        [*(-state for state in range(len(names))), strip, strip - 1.0], [*names, "tick runs", "wakeups"]
    )
    ax.axhline(-len(names) + 0.4, color="0.6", linewidth=0.6)
    ax.set_ylim(strip - 1.5, 0.6)
    ax.set_xlim(start_ms, end_ms)
    ax.set_xlabel("time (ms)")
    ax.set_title(f"CPU{cpu}, {timeline.policy}, HZ {board.tick_hz}", loc="left")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _tick_runs(timeline: Timeline, cpu: int, end_ms: float) -> list[tuple[float, float]]:
    """Spans of time, in milliseconds, in which the CPU's tick runs; it does at the start."""
    frame = timeline.to_frame()
    changes = frame[(frame["cpu"] == cpu) & frame["event"].isin(["tick_stop", "tick_restart"])]
    spans = []
    since_ms: float | None = 0.0
    for time_ns, event in zip(changes["time_ns"], changes["event"], strict=True):
        if event == "tick_restart" and since_ms is None:
            since_ms = time_ns / 1e6
        elif event == "tick_stop" and since_ms is not None:
            spans.append((since_ms, time_ns / 1e6))
            since_ms = None
    if since_ms is not None and since_ms < end_ms:
        spans.append((since_ms, end_ms))
    return spans


def save_figure(draw: Callable[[Figure], object], path: str | os.PathLike[str]) -> None:
    """Draw into a new figure and write it, whole or not at all.

    Parameters
    ----------
    draw : callable
        Called with the empty figure.
    path : str or path
        The suffix decides the format.

    Raises
    ------
    ConfigError
        For a suffix that Matplotlib does not write (the message lists the known ones), for a file that cannot
        be written, and without Matplotlib.

    Examples
    --------
    >>> save_figure(lambda figure: None, "figure.docx")
    Traceback (most recent call last):
        ...
    torpor._core.ConfigError: figure.docx: unknown suffix '.docx', known are ...
    """
    matplotlib = _matplotlib()
    from matplotlib.figure import Figure

    target = Path(path)
    figure = Figure(layout="constrained")
    form = target.suffix.removeprefix(".").lower()
    known = figure.canvas.get_supported_filetypes()
    if form not in known:
        raise ConfigError(f"{target}: unknown suffix '{target.suffix}', known are {', '.join(sorted(known))}")
    # No dates and no random identifiers: the same figure gives the same file.
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(form)
    draw(figure)

    def write(file: BinaryIO) -> None:
        with matplotlib.rc_context({"svg.hashsalt": "torpor"}):
            figure.savefig(file, format=form, dpi=150, metadata=metadata)

    write_whole(target, write)
