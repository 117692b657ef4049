# SPDX-License-Identifier: MIT
"""Device charts: what became of each device in one phase, and the critical path through them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from torpor._core import ConfigError
from torpor.dpm._critical_path import PhaseRows, Row, critical_path
from torpor.dpm.graph import DeviceGraph
from torpor.dpm.timeline import MAIN

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FILLS", "INK", "Chart", "one_line_legend"]

INK, _FAINT = "#111111", "0.35"
FILLS: dict[str, dict[str, Any]] = {
    "main thread": {"facecolor": "#1b3a5c", "edgecolor": "none"},
    "worker": {"facecolor": "#f0b54a", "edgecolor": "none"},
    "waits": {"facecolor": "#eeeeee", "edgecolor": "#777777", "linewidth": 0.4, "hatch": "/////"},
    "queued": {"facecolor": "#bbbbbb", "edgecolor": "none"},
}
_LABELLED_STEPS = 60


class Chart:
    """What of one phase is shown."""

    def __init__(self, intervals: pd.DataFrame, graph: DeviceGraph, phase: str, rows: int) -> None:
        self._phase = phase
        self._here = PhaseRows(intervals, graph, phase)
        self._path = critical_path(intervals, graph, phase)
        if self._path.empty:
            raise ConfigError(f"phase={phase!r}: no device ended in it, limit: at least one to show")
        steps = dict(zip(self._path["device"], self._path["length_ms"], strict=True))
        found = [row for row in self._here.rows.values() if row.called or row.device in steps]
        found.sort(
            key=lambda row: (row.device in steps, steps.get(row.device, 0.0), row.end - row.begin),
            reverse=True,
        )
        self._found = len(found)
        self._shown: list[Row] = sorted(found[:rows], key=lambda row: (row.begin, row.end, row.place))

    @property
    def height(self) -> float:
        """Inches."""
        return 1.15 + 0.19 * len(self._shown)

    def draw(self, ax: Axes, label: str) -> None:
        """Draw everything."""
        drawn = set()
        for lane, row in enumerate(self._shown):
            for what, start, end, height in self._bars(row):
                if end > start:
                    bar = [(start / 1e6, (end - start) / 1e6)]
                    ax.broken_barh(bar, (-lane - height / 2, height), label=what, **FILLS[what])
                    drawn.add(what)
        self._draw_path(ax)
        on_path = set(self._path["device"])
        ax.set_yticks(range(0, -len(self._shown), -1), [row.device for row in self._shown], fontsize="small")
        for text, row in zip(ax.get_yticklabels(), self._shown, strict=True):
            text.set_fontweight("bold" if row.device in on_path else "normal")
        end_ms = float(self._path["end_ms"].iloc[-1])
        ax.set_ylim(-len(self._shown) + 0.2, 0.8)
        ax.set_xlim(0.0, end_ms * 1.06 if end_ms > 0.0 else 1.0)
        ax.set_xlabel("time since the phase began (ms)")
        ax.set_title(self._title(label, end_ms), loc="left", fontsize="medium", pad=20.0)
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="x", color="0.88", linewidth=0.5)
        ax.set_axisbelow(True)
        ax.spines[["top", "right", "left"]].set_visible(False)
        one_line_legend(ax, [what for what in FILLS if what in drawn])

    def _bars(self, row: Row) -> list[tuple[str, int, int, float]]:
        """Return what is seen of a device, with its begin, end and height."""
        who = "main thread" if row.worker == MAIN else "worker"
        bars = [("waits", row.taken, row.begin, 0.5), (who, row.begin, row.end, 0.7)]
        if row.queued >= 0:
            bars.append(("queued", row.queued, row.taken, 0.12))
        if self._here.holder(row) is not None:
            got = self._here.got_lock(row)
            since = max(got - row.lock_wait, row.begin)
            bars[1:2] = [
                (who, row.begin, since, 0.7),
                ("waits", since, got, 0.5),
                (who, got, row.end, 0.7),
            ]
        return bars

    def _draw_path(self, ax: Axes) -> None:
        lanes = {row.device: lane for lane, row in enumerate(self._shown)}
        steps = list(zip(*(self._path[n] for n in ("device", "reason", "start_ms", "end_ms")), strict=True))
        labelled = sum(device in lanes for device, *_ in steps) <= _LABELLED_STEPS
        last: tuple[float, float] | None = None
        hidden = False
        for device, reason, start_ms, end_ms in steps:
            if device not in lanes:
                hidden = True
                continue
            level = -lanes[device] - 0.42
            if last is not None:
                line = ax.plot([last[0], start_ms], [last[1], level], color=INK, linewidth=1.6)[0]
                if hidden:
                    line.set(linestyle=":", linewidth=1.0)
            ax.plot([start_ms, end_ms], [level, level], color=INK, linewidth=1.6, label="critical path")
            last, hidden = (end_ms, level), False
            if labelled:
                ax.annotate(
                    reason,
                    (end_ms, level + 0.42),
                    (4.0, 0.0),
                    textcoords="offset points",
                    va="center",
                    fontsize="x-small",
                    color=_FAINT,
                )

    def _title(self, label: str, end_ms: float) -> str:
        many = self._found > len(self._shown)
        of = f"the longest {len(self._shown)} of {self._found}" if many else f"{self._found}"
        who = "device" if self._found == 1 else "devices"
        head = f"{label}: {self._phase}" if label else self._phase
        steps = f"{len(self._path)} step{'' if len(self._path) == 1 else 's'}"
        return f"{head}, {end_ms:.3g} ms, critical path of {steps}\n{of} {who} with a callback or on the path"


def one_line_legend(ax: Axes, names: Sequence[str], others: Sequence[Any] = ()) -> None:
    """Legend in one line between the figure and its title."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = [Patch(label=name, **FILLS[name]) for name in names]
    if not others:
        handles.append(Line2D([], [], color=INK, linewidth=1.6, label="critical path"))
    ax.legend(
        handles=[*handles, *others],
        loc="lower left",
        bbox_to_anchor=(-0.01, 1.0),
        ncols=len(handles) + len(others),
        frameon=False,
        fontsize="small",
        columnspacing=1.2,
        handlelength=1.5,
        borderpad=0.2,
    )
