# SPDX-License-Identifier: MIT
"""Figures of the freezer family, for Matplotlib (``pip install torpor[plot]``).

Fills differ in lightness and by hatch, lines by dash and marker: figures survive print and colour blindness.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from torpor._core import ConfigError
from torpor.freezer.policies import Policy, as_policy
from torpor.freezer.runs import Runs
from torpor.freezer.scenario import Scenario
from torpor.freezer.timeline import WALKER, Timeline
from torpor.plot import new_axes
from torpor.stats import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_freeze", "plot_freezes", "plot_frequency_sweep", "sweep_frequency"]

_INK = "#222222"
_FILLS: dict[str, dict[str, Any]] = {
    "walker": {"facecolor": "#1b3a5c", "edgecolor": "white", "linewidth": 0.4},
    "tasks": {"facecolor": "#f0b54a", "edgecolor": "none"},
    "walker sleeps": {"facecolor": "#eeeeee", "edgecolor": "#777777", "linewidth": 0.5, "hatch": "////"},
}
_LINES = ("-", "--", "-.", ":")
_MARKERS = "osD^vPX*<>"
_LABELLED_PASSES = 12


def plot_freeze(
    timeline: Timeline,
    *,
    start_us: float = 0.0,
    end_us: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw what each CPU ran, and when the walker slept, in one freeze and its thaw.

    Each pass carries the number of tasks that it found not frozen.

    Parameters
    ----------
    timeline : Timeline
        Records of one replicate.
    start_us, end_us : float, microseconds
        Window to show; None is the end of the thaw.
    ax : matplotlib Axes or None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ConfigError
        Without Matplotlib, and for an empty window.

    Examples
    --------
    >>> from torpor.board import Board
    >>> scenario = Scenario(Board.load("toy"), opp_khz=1_000_000, since_tick_us=0)
    >>> ax = plot_freeze(scenario.timeline("p1"), end_us=1200.0)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['walker', 'CPU0', 'CPU1']
    """
    ax = new_axes(ax)
    cpus = len(timeline.scenario.freq_khz)
    last_us = timeline.to_frame()["time_ns"].max() / 1e3
    end_us = float(last_us if end_us is None else end_us)
    if not end_us > start_us:
        raise ConfigError(f"plot_freeze: end_us={end_us} is not above start_us={start_us}")
    window = (start_us, end_us)
    # Milliseconds read better, unless the window is short.
    scale, unit = (1e3, "ms") if end_us - start_us >= 2000.0 else (1.0, "us")
    passes, loops = timeline.passes(), timeline.loops()
    _bars(ax, _spans(timeline.sleeps(), window), 0, "walker sleeps", scale)
    walks = _spans(passes, window)
    thaws = _spans(loops[loops["loop"] == "thaw"], window)
    for cpu in range(cpus):
        ran = timeline.intervals(cpu)
        walker = ran["entity"] == WALKER
        both = [(max(a, c), min(b, d)) for a, b in _spans(ran[walker], window) for c, d in thaws]
        walks += [(a, b) for a, b in both if b > a]
        _bars(ax, _spans(ran[~walker], window), cpu + 1, "tasks", scale)
        _bars(ax, _spans(ran[walker], window), cpu + 1, "walker", scale)
    _bars(ax, walks, 0, "walker", scale)
    _mark_passes(ax, passes, window, scale)
    _mark_loops(ax, loops, window, scale)
    ax.set_yticks(range(0, -cpus - 1, -1), ["walker", *(f"CPU{cpu}" for cpu in range(cpus))])
    ax.set_ylim(-cpus - 0.6, 1.2)
    ax.set_xlim(start_us / scale, end_us / scale)
    ax.set_xlabel(f"time from the start of the freeze ({unit})")
    scenario = timeline.scenario
    mhz = "/".join(f"{khz / 1000:g}" for khz in dict.fromkeys(scenario.freq_khz))
    where = f"{scenario.board.name}, {mhz} MHz, HZ {scenario.board.tick_hz}"
    ax.set_title(f"{timeline.policy}\n{where}", loc="left", fontsize="medium")
    ax.spines[["top", "right"]].set_visible(False)
    _legend(ax)
    return ax


def plot_freezes(timelines: Sequence[Timeline], figure: Figure) -> None:
    """Draw timelines one below the other, on one axis of time.

    Parameters
    ----------
    timelines : sequence of Timeline
        At least one.
    figure : matplotlib Figure
        Where to draw; its height follows the number of lanes.

    Examples
    --------
    >>> from torpor.board import Board
    >>> from torpor.plot import new_figure
    >>> scenario = Scenario(Board.load("toy"), opp_khz=1_000_000, since_tick_us=0)
    >>> figure = new_figure()
    >>> plot_freezes([scenario.timeline(policy) for policy in ("p1", "full")], figure)
    >>> len(figure.axes)
    2
    """
    if not timelines:
        raise ConfigError("plot_freezes: nothing to show, limit: at least one timeline")
    end_us = max(timeline.to_frame()["time_ns"].max() for timeline in timelines) / 1e3
    lanes = 3.0 + len(timelines[0].scenario.freq_khz)
    figure.set_size_inches(9.0, min(0.6 + 0.42 * lanes * len(timelines), 60.0))
    rows = figure.subplots(len(timelines), 1, sharex=True, squeeze=False)
    for ax, timeline in zip(rows[:, 0], timelines, strict=True):
        plot_freeze(timeline, end_us=end_us, ax=ax)
        ax.label_outer()


def _spans(frame: Any, window: tuple[float, float]) -> list[tuple[float, float]]:
    """Stretches of a frame that reach into the window."""
    pairs = zip(frame["start_us"], frame["end_us"], strict=True)
    return [(float(a), float(b)) for a, b in pairs if b > window[0] and a < window[1]]


def _bars(ax: Axes, spans: Sequence[tuple[float, float]], lane: int, what: str, scale: float) -> None:
    if spans:
        height = 0.5 if lane == 0 else 0.7
        bars = [(a / scale, (b - a) / scale) for a, b in spans]
        ax.broken_barh(bars, (-lane - height / 2, height), label=what, **_FILLS[what])


def _mark_passes(ax: Axes, passes: Any, window: tuple[float, float], scale: float) -> None:
    inside = passes[(passes["end_us"] > window[0]) & (passes["start_us"] < window[1])]
    ax.vlines(inside["start_us"] / scale, -0.25, 0.34, color=_INK, linewidth=0.9)
    if len(inside) > _LABELLED_PASSES:
        return
    room = 0.03 * (window[1] - window[0])
    last = -np.inf
    for start, end, todo in zip(inside["start_us"], inside["end_us"], inside["todo"], strict=True):
        middle = (max(start, window[0]) + min(end, window[1])) / 2
        if middle - last < room:
            continue
        last = middle
        ax.annotate(f"{todo}", (middle / scale, 0.36), ha="center", va="bottom", fontsize="small")


def _mark_loops(ax: Axes, loops: Any, window: tuple[float, float], scale: float) -> None:
    for start, end, name in zip(loops["start_us"], loops["end_us"], loops["loop"], strict=True):
        if end <= window[0] or start >= window[1]:
            continue
        if start > window[0]:
            ax.axvline(start / scale, color="0.35", linewidth=0.8, linestyle=(0, (4, 3)))
        shown = max(start, window[0])
        # A label needs room: a short loop goes without one.
        if min(end, window[1]) - shown > 0.06 * (window[1] - window[0]):
            ax.annotate(
                name,
                (shown / scale, 1.0),
                (3.0, -2.0),
                xycoords=ax.get_xaxis_transform(),
                textcoords="offset points",
                va="top",
                fontsize="small",
                color="0.25",
            )


def _legend(ax: Axes) -> None:
    from matplotlib.lines import Line2D

    handles, labels = ax.get_legend_handles_labels()
    by_name = dict(zip(labels, handles, strict=True))
    names = [name for name in _FILLS if name in by_name]
    numbers = Line2D([], [], linestyle="none", marker="$15$", markersize=11, color=_INK)
    ax.legend(
        [*(by_name[name] for name in names), numbers],
        [*names, "tasks still to freeze"],
        loc="lower right",
        bbox_to_anchor=(1.0, 1.0),
        ncols=len(names) + 1,
        frameon=False,
        fontsize="small",
        borderpad=0.2,
    )


def sweep_frequency(
    scenario: Scenario,
    policies: Sequence[Policy | str],
    *,
    freq_khz: Sequence[int] | None = None,
    runs: int = 20,
    seed: int = 1,
    threads: int = 0,
) -> dict[str, list[Runs]]:
    """Run policies at each frequency of the board.

    Parameters
    ----------
    scenario : Scenario
        All other conditions.
    policies : sequence of policy or str
        What to compare.
    freq_khz : sequence of int or None, kilohertz
        Frequencies; None takes all that all clusters of the board have.
    runs, seed, threads : int
        As for :meth:`torpor.freezer.Scenario.run`.

    Returns
    -------
    dict of str to list of Runs
        For each policy's text its results in the order of the frequencies.

    Raises
    ------
    ConfigError
        For a frequency that the board lacks.

    Examples
    --------
    >>> from torpor.board import Board
    >>> swept = sweep_frequency(Scenario(Board.load("nexus-10")), ["full"], freq_khz=[200_000], runs=2)
    >>> list(swept)
    ['freezer(version=full)']
    """
    if freq_khz is None:
        tables = [{opp.freq_khz for opp in cluster.opps} for cluster in scenario.board.clusters]
        freq_khz = sorted(set.intersection(*tables))
    worlds = [replace(scenario, opp_khz=khz) for khz in freq_khz]
    return {
        str(policy): [world.run(policy, runs=runs, seed=seed, threads=threads) for world in worlds]
        for policy in dict.fromkeys(map(as_policy, policies))
    }


def plot_frequency_sweep(
    results: Mapping[str, Sequence[Runs]],
    *,
    targets_ms: Mapping[str, float] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the time of a freeze over the CPUs' frequency: mean and 95 % interval, a line per policy.

    Parameters
    ----------
    results : mapping of str to sequence of Runs
        As of :func:`sweep_frequency`; the keys label the lines.
    targets_ms : mapping of str to float or None, milliseconds
        Levels to mark, by what is written at them.
    ax : matplotlib Axes or None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ConfigError
        Without Matplotlib, and without results.

    Examples
    --------
    >>> from torpor.board import Board
    >>> scenario = Scenario(Board.load("nexus-10"))
    >>> swept = sweep_frequency(scenario, ["v3.9", "full"], freq_khz=[200_000, 1_700_000], runs=2)
    >>> ax = plot_frequency_sweep(swept)
    >>> ax.get_ylabel()
    'time of the freeze (ms)'
    """
    ax = new_axes(ax)
    from matplotlib.ticker import LogLocator, NullFormatter

    if not results or not all(results.values()):
        raise ConfigError("plot_frequency_sweep: nothing to show, limit: at least one result per line")
    colours = _line_colours(len(results))
    for number, (label, swept) in enumerate(results.items()):
        mhz = np.array([max(runs.scenario.freq_khz) / 1e3 for runs in swept])
        estimates = [Estimate.of(runs.elapsed_ms) for runs in swept]
        mean = np.array([estimate.mean for estimate in estimates])
        bounds = [(e.mean, e.mean) if e.low is None or e.high is None else (e.low, e.high) for e in estimates]
        low, high = np.array(bounds).T
        ax.fill_between(mhz, low, high, color=colours[number], alpha=0.3, linewidth=0.0)
        ax.plot(
            mhz,
            mean,
            color=colours[number],
            linestyle=_LINES[number % len(_LINES)],
            marker=_MARKERS[number % len(_MARKERS)],
            markersize=4.0,
            linewidth=1.4,
            label=label,
        )
    for text, level_ms in (targets_ms or {}).items():
        ax.axhline(level_ms, color="0.4", linewidth=0.8, linestyle=(0, (1, 2)))
        ax.annotate(
            text,
            (1.0, level_ms),
            (-2.0, 2.0),
            xycoords=ax.get_yaxis_transform(),
            textcoords="offset points",
            ha="right",
            fontsize="small",
            color="0.25",
        )
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("CPU frequency (MHz)")
    ax.set_ylabel("time of the freeze (ms)")
    ax.grid(axis="y", color="0.88", linewidth=0.5)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    return ax


def _line_colours(count: int) -> npt.NDArray[np.float64]:
    """From dark to lighter, the same order in grey; the lightest end of the map is too faint on paper."""
    import matplotlib

    colours: npt.NDArray[np.float64] = matplotlib.colormaps["viridis"](np.linspace(0.0, 0.8, count))
    return colours
