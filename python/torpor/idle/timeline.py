"""Everything that happened in one replicate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from torpor import _core
from torpor.timeline import Records

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from torpor.idle.policies import Policy
    from torpor.idle.scenario import Scenario

__all__ = ["Timeline"]


class Timeline(Records):
    """Entries and exits of idle states, changes of the tick; made by :meth:`torpor.idle.Scenario.timeline`.

    Examples
    --------
    >>> from torpor.board import Board
    >>> from torpor.idle import IpiTimerBurst, Scenario
    >>> timeline = Scenario(Board.load("hikey"), IpiTimerBurst(cpu=7), duration_s=0.2).timeline("menu")
    >>> sorted(timeline.to_frame()["event"].unique())
    ['enter_state', 'leave_state', 'tick_stop']
    """

    __slots__ = ()

    _KINDS = _core.IdleTimelineKind

    policy: Policy
    scenario: Scenario

    def to_frame(self) -> pd.DataFrame:
        """All records in order of time.

        Returns
        -------
        pandas.DataFrame
            Columns ``time_ns``, ``cpu``, ``event`` and ``value``: the state's index for ``enter_state`` and
            ``leave_state``, for ``tick_stop`` and ``tick_restart`` the instant that the timer is aimed at.
        """
        return self._frame()

    def intervals(self, cpu: int) -> pd.DataFrame:
        """Idle periods of one CPU.

        Returns
        -------
        pandas.DataFrame
            Columns ``start_ns``, ``end_ns``, ``state``, in order of time.
        """
        frame = self.to_frame()
        frame = frame[frame["cpu"] == cpu]
        enter = frame[frame["event"] == "enter_state"]
        leave = frame[frame["event"] == "leave_state"]
        count = min(len(enter), len(leave))
        return pd.DataFrame(
            {
                "start_ns": np.asarray(enter["time_ns"])[:count],
                "end_ns": np.asarray(leave["time_ns"])[:count],
                "state": np.asarray(enter["value"])[:count],
            }
        )

    def plot(self, cpu: int, *, start_ms: float = 0.0, length_ms: float = 200.0) -> Axes:
        """Draw which state one CPU was in; see :func:`torpor.plot.plot_timeline`."""
        from torpor.plot import plot_timeline

        return plot_timeline(self, cpu, start_ms=start_ms, length_ms=length_ms)

    def _repr_html_(self) -> str:
        return str(self.to_frame().to_html(max_rows=20))
