# SPDX-License-Identifier: MIT
"""Figures of the dpm family, for Matplotlib (``pip install torpor[plot]``).

Fills differ in lightness and by hatch: figures survive print and colour blindness.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from torpor._checks import whole
from torpor._core import ConfigError
from torpor.dpm._gantt import FILLS, INK, Chart, one_line_legend
from torpor.dpm.graph import PHASES, DeviceGraph
from torpor.dpm.runs import Runs
from torpor.dpm.timeline import MAIN, Timeline
from torpor.plot import new_figure
from torpor.stats import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_cpus", "plot_phase", "plot_phases", "plot_totals"]

_OTHER_WORKER: dict[str, Any] = {"facecolor": "#c8862a", "edgecolor": "none"}
_PARTS: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    ("suspend / resume", "suspend", "resume", {"facecolor": "#1b3a5c", "edgecolor": "#dddddd"}),
    (
        "suspend_late / resume_early",
        "suspend_late",
        "resume_early",
        {"facecolor": "#6fa0cf", "edgecolor": "#222222", "hatch": "///"},
    ),
    (
        "suspend_noirq / resume_noirq",
        "suspend_noirq",
        "resume_noirq",
        {"facecolor": "#f5d9a0", "edgecolor": "#222222", "hatch": "..."},
    ),
)


def plot_phase(
    intervals: pd.DataFrame,
    graph: DeviceGraph,
    phase: str,
    *,
    rows: int = 40,
    label: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw when each device was queued, waited and ran in one phase, and the critical path through them.

    Shown are devices whose callback ran or that lie on the critical path; if they are too many, the longest
    steps of the path and then those whose callback took longest. The path is drawn as a line below its
    devices, whose names are bold, and each of its steps carries its reason; where steps are left out, the
    line is dotted. A wait for a shared lock is drawn where it ended, as if the device had waited only once.

    Parameters
    ----------
    intervals : pandas.DataFrame
        As of :meth:`torpor.dpm.Scenario.intervals`.
    graph : DeviceGraph
        The graph of that replicate.
    phase : str
        One of ``torpor.dpm.PHASES``.
    rows : int
        Most devices to show, 1 to 500.
    label : str
        Put before the title, for example the policy.
    ax : matplotlib Axes or None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ConfigError
        Without Matplotlib, when no device ended in the phase, and as
        :func:`torpor.dpm.critical_path`.

    Examples
    --------
    >>> from torpor.board import Board
    >>> from torpor.dpm import Scenario
    >>> scenario = Scenario(Board.load("toy"))
    >>> ax = plot_phase(scenario.intervals("old"), scenario.graph(), "resume")
    >>> ax.get_xlabel()
    'time since the phase began (ms)'
    """
    rows = whole("rows", rows, 1, 500)
    chart = Chart(intervals, graph, phase, rows)
    if ax is None:
        ax = _new_axes(9.0, chart.height)
    chart.draw(ax, label)
    return ax


def plot_phases(
    intervals: pd.DataFrame,
    graph: DeviceGraph,
    figure: Figure,
    *,
    phases: Iterable[str] = ("suspend", "resume"),
    rows: int = 40,
    label: str = "",
) -> None:
    """Draw phases one below the other, each as :func:`plot_phase` does.

    Parameters
    ----------
    intervals, graph, rows, label
        As of :func:`plot_phase`; `rows` is for each phase.
    figure : matplotlib Figure
        Where to draw; its height follows the number of devices.
    phases : iterable of str
        Which; at least one.

    Raises
    ------
    ConfigError
        As :func:`plot_phase`, and without phases.

    Examples
    --------
    >>> from torpor.board import Board
    >>> from torpor.dpm import Scenario
    >>> from torpor.plot import new_figure
    >>> scenario = Scenario(Board.load("toy"))
    >>> figure = new_figure()
    >>> plot_phases(scenario.intervals("old"), scenario.graph(), figure)
    >>> len(figure.axes)
    2
    """
    rows = whole("rows", rows, 1, 500)
    charts = [Chart(intervals, graph, phase, rows) for phase in phases]
    if not charts:
        raise ConfigError("plot_phases: nothing to show, limit: at least one phase")
    heights = [chart.height for chart in charts]
    figure.set_size_inches(9.0, sum(heights))
    panels = figure.subplots(len(charts), 1, squeeze=False, height_ratios=heights)
    for chart, ax in zip(charts, panels[:, 0], strict=True):
        chart.draw(ax, label)


def _new_axes(width: float, height: float) -> Axes:
    """Axes of a new figure of so many inches."""
    figure = new_figure()
    figure.set_size_inches(width, height)
    axes: Axes = figure.subplots()
    return axes


def plot_cpus(
    timeline: Timeline,
    *,
    phase: str | None = None,
    start_ms: float = 0.0,
    end_ms: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw who ran on which CPU when: the main thread in a colour of its own, workers in two shades in turn.

    A bar that is long enough carries the number of its worker.

    Parameters
    ----------
    timeline : Timeline
        Records of one replicate.
    phase : str or None
        Show this phase, whatever the window.
    start_ms, end_ms : float, milliseconds
        Window to show, from the start of the cycle; None is the end of the cycle.
    ax : matplotlib Axes or None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ConfigError
        Without Matplotlib, for a phase that did not run, and for an empty window.

    Examples
    --------
    >>> from torpor.board import Board
    >>> from torpor.dpm import Scenario
    >>> scenario = Scenario(Board.load("toy"))
    >>> ax = plot_cpus(scenario.timeline("old"), phase="resume")
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['CPU0', 'CPU1']
    """
    phases = timeline.phases()
    if phase is None:
        start_ms, end_ms = float(start_ms), float(timeline.end_ms if end_ms is None else end_ms)
    else:
        mine = phases[phases["phase"] == phase]
        if mine.empty:
            ran = ", ".join(phases["phase"])
            raise ConfigError(f"plot_cpus: phase={phase!r} did not run: those that did are {ran}")
        start_ms, end_ms = float(mine["start_ms"].iloc[0]), float(mine["end_ms"].iloc[0])
    if not end_ms > start_ms:
        raise ConfigError(f"plot_cpus: end_ms={end_ms} is not above start_ms={start_ms}")
    cpus = timeline.scenario.cpu_count
    if ax is None:
        ax = _new_axes(9.0, min(1.45 + 0.3 * cpus, 40.0))
    for cpu in range(cpus):
        _draw_cpu(ax, timeline.intervals(cpu), cpu, (start_ms, end_ms))
    _mark_phases(ax, phases, (start_ms, end_ms))
    ax.set_yticks(range(0, -cpus, -1), [f"CPU{cpu}" for cpu in range(cpus)])
    ax.set_ylim(-cpus + 0.4, 1.6)
    ax.set_xlim(start_ms, end_ms)
    ax.set_xlabel("time since the cycle began (ms)")
    board = timeline.scenario.board
    where = "reference mode" if board is None else board.name
    ax.set_title(f"{timeline.policy}, {where}", loc="left", fontsize="medium", pad=20.0)
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
    one_line_legend(ax, ["main thread"], _worker_handles())
    return ax


def _worker_handles() -> list[Any]:
    from matplotlib.patches import Patch

    return [
        Patch(label="worker", **FILLS["worker"]),
        Patch(label="the next worker on that CPU", **_OTHER_WORKER),
    ]


def _draw_cpu(ax: Axes, ran: pd.DataFrame, cpu: int, window: tuple[float, float]) -> None:
    """Bars of one CPU; stretches of one entity that follow each other at once are one bar."""
    start, end, entity = (ran[name].to_numpy() for name in ("start_ms", "end_ms", "entity"))
    if not start.size:
        return
    new = np.r_[True, (entity[1:] != entity[:-1]) | (start[1:] > end[:-1])]
    first = np.flatnonzero(new)
    last = np.r_[first[1:] - 1, start.size - 1]
    start, end, entity = start[first], end[last], entity[first]
    is_worker = entity != MAIN
    # A worker that comes again right after itself keeps its shade.
    workers = entity[is_worker]
    turns = np.zeros(entity.size, dtype=np.int64)
    turns[is_worker] = np.cumsum(np.r_[0, workers[1:] != workers[:-1]])[: workers.size]
    inside = (end > window[0]) & (start < window[1])
    styles = (
        ("main thread", ~is_worker, FILLS["main thread"]),
        ("worker", is_worker & (turns % 2 == 0), FILLS["worker"]),
        ("worker", is_worker & (turns % 2 == 1), _OTHER_WORKER),
    )
    for what, which, style in styles:
        mine = inside & which
        bars = list(zip(start[mine], (end - start)[mine], strict=True))
        if bars:
            ax.broken_barh(bars, (-cpu - 0.38, 0.76), label=what, **style)
    low, high = np.maximum(start, window[0]), np.minimum(end, window[1])
    wide = inside & is_worker & (high - low > 0.022 * (window[1] - window[0]))
    for i in np.flatnonzero(wide):
        ax.annotate(
            f"{entity[i]}",
            ((low[i] + high[i]) / 2, -cpu),
            ha="center",
            va="center",
            fontsize="x-small",
            color=INK,
        )


def _mark_phases(ax: Axes, phases: pd.DataFrame, window: tuple[float, float]) -> None:
    """Dashed lines where phases begin, and their names in two rows, so that those of short ones fit."""
    start_ms, end_ms = window
    free = [start_ms, start_ms]
    for start, end, name in zip(phases["start_ms"], phases["end_ms"], phases["phase"], strict=True):
        if end <= start_ms or start >= end_ms:
            continue
        if start > start_ms:
            ax.axvline(start, color="0.35", linewidth=0.7, linestyle=(0, (4, 3)))
        room = (0.0105 * len(name) + 0.012) * (end_ms - start_ms)
        shown = max(start, start_ms)
        at_end = shown + room > end_ms
        left = end_ms - room if at_end else shown
        row = next((row for row in (0, 1) if free[row] <= left), None)
        if row is None:
            continue
        free[row] = left + room
        ax.annotate(
            name,
            (end_ms if at_end else shown, 1.55 - 0.5 * row),
            (-2.0 if at_end else 3.0, 0.0),
            textcoords="offset points",
            ha="right" if at_end else "left",
            va="top",
            fontsize="small",
            color="0.25",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
        )


def plot_totals(results: Mapping[str, Runs] | Sequence[Runs], *, ax: Axes | None = None) -> Axes:
    """Stack the mean times of the phases of both sides, with the 95 % interval of their sum, for each policy.

    A side's sum is written at the end of its bar. Cycles that failed, were aborted or got stuck are left out,
    and how many of them is said.

    Parameters
    ----------
    results : mapping of str to Runs, or sequence of Runs
        What to show; a mapping's keys label the policies, else their text does. The interval is over
        replicates, each with the mean of its cycles.
    ax : matplotlib Axes or None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ConfigError
        Without Matplotlib, without results, and when a policy has no cycle that is done.

    Examples
    --------
    >>> from torpor.board import Board
    >>> from torpor.dpm import Scenario, run_policies
    >>> ax = plot_totals(run_policies(Scenario(Board.load("toy")), ["sync", "old"], runs=2))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['suspend / resume', 'suspend_late / resume_early', 'suspend_noirq / resume_noirq']
    """
    labelled = dict(results) if isinstance(results, Mapping) else {str(runs.policy): runs for runs in results}
    if not labelled:
        raise ConfigError("plot_totals: nothing to show, limit: at least one result")
    means = {label: _replicate_means(label, runs) for label, runs in labelled.items()}
    if ax is None:
        ax = _new_axes(8.0, min(1.2 + 0.72 * len(means), 40.0))
    ticks: list[tuple[float, str]] = []
    reach = 0.0
    for number, (label, (per_phase, left_out)) in enumerate(means.items()):
        top = -3.0 * number
        text = f"{label} (without {left_out} of {labelled[label].outcome.size} cycles)" if left_out else label
        ax.annotate(
            text,
            (0.0, top),
            (2.0, -1.0),
            textcoords="offset points",
            va="center",
            fontsize="medium",
            fontweight="bold",
        )
        for side in (0, 1):
            place = top - 0.85 * (side + 1)
            reach = max(reach, _draw_total(ax, per_phase, side, place, legend=not ticks))
            ticks.append((place, ("suspend", "resume")[side]))
    ax.set_yticks([place for place, _ in ticks], [name for _, name in ticks])
    ax.set_ylim(-3.0 * len(means) + 0.7, 0.6)
    ax.set_xlim(0.0, 1.2 * reach if reach > 0.0 else 1.0)
    ax.set_xlabel("mean time, 95 % interval of the sum (ms)")
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", color="0.88", linewidth=0.5)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(
        loc="lower left",
        bbox_to_anchor=(-0.12, 1.0),
        ncols=len(_PARTS),
        frameon=False,
        fontsize="small",
        columnspacing=0.9,
        handlelength=1.5,
        handletextpad=0.5,
    )
    return ax


def _replicate_means(label: str, runs: Runs) -> tuple[Any, int]:
    """Mean milliseconds per replicate and phase over the cycles that are done; how many others there are."""
    done = runs.done
    if not done.any():
        raise ConfigError(f"plot_totals: {label}: no cycle is done, limit: at least one")
    some = done.any(axis=1)
    weights = done[some, :, None] / done[some].sum(axis=1)[:, None, None]
    return (runs.phase_ms[some] * weights).sum(axis=1), int((~done).sum())


def _draw_total(ax: Axes, per_phase: Any, side: int, place: float, *, legend: bool) -> float:
    """Draw one bar and return where its interval ends."""
    left = 0.0
    samples = np.zeros(len(per_phase))
    for name, *sides, style in _PARTS:
        values = per_phase[:, PHASES.index(sides[side])]
        mean = float(values.mean())
        ax.barh(place, mean, 0.72, left, label=name if legend else None, linewidth=0.5, **style)
        left += mean
        samples += values
    total = Estimate.of(samples)
    end = total.mean
    if total.low is not None and total.high is not None:
        end = total.high
        half = total.high - total.mean
        ax.errorbar(total.mean, place, xerr=half, color="black", capsize=3.0, linewidth=1.2, linestyle="none")
    ax.annotate(
        total.text(1), (end, place), (5.0, 0.0), textcoords="offset points", va="center", fontsize="small"
    )
    return end
