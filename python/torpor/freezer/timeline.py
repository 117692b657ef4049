# SPDX-License-Identifier: MIT
"""Everything that happened in one freeze and its thaw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from torpor import _core
from torpor._checks import whole
from torpor.timeline import Records

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from torpor.freezer.policies import Policy
    from torpor.freezer.scenario import Scenario

__all__ = ["IDLE", "WALKER", "Timeline"]

IDLE = _core.IDLE_ENTITY
"""What an idle CPU runs."""

WALKER = _core.WALKER_ENTITY
"""The task that runs the suspend."""

LOOPS = ("user", "kernel", "thaw")


class Timeline(Records):
    """Passes, sleeps, and what each CPU runs; made by :meth:`torpor.freezer.Scenario.timeline`.

    Examples
    --------
    >>> from torpor.board import Board
    >>> from torpor.freezer import Scenario
    >>> scenario = Scenario(Board.load("toy"), opp_khz=1_000_000, since_tick_us=0, loops="user_only")
    >>> timeline = scenario.timeline("p1")
    >>> timeline.sleeps()
       start_us  end_us
    0     125.0  1125.0
    """

    __slots__ = ()

    _KINDS = _core.FreezerTimelineKind

    policy: Policy
    scenario: Scenario

    def to_frame(self) -> pd.DataFrame:
        """All records in order of time, from the start of the freeze.

        Returns
        -------
        pandas.DataFrame
            Columns ``time_ns``, ``cpu``, ``event`` and ``value``:

            ``run``
                What the CPU begins to run: the number of a task in the list, ``WALKER`` or ``IDLE``.
            ``loop_begin``, ``loop_end``
                0 user loop, 1 kernel loop, 2 thaw.
            ``pass_begin``, ``pass_end``
                Number of the pass, from 1; number of tasks that it found not frozen.
            ``sleep_begin``, ``sleep_end``
                Length of the sleep in nanoseconds, of a range sleep its upper bound, -1 for until notified;
                0.
            ``frozen``, ``marked``, ``reblocked``
                Number of the task.
        """
        return self._frame()

    def _end_ns(self) -> int:
        return int(self._columns["time_ns"].max(initial=0))

    def intervals(self, cpu: int) -> pd.DataFrame:
        """List what one CPU ran.

        Parameters
        ----------
        cpu : int
            Which.

        Returns
        -------
        pandas.DataFrame
            Columns ``start_us``, ``end_us`` and ``entity`` (the number of a task in the list, or ``WALKER``),
            in order of time, with idle time left out.

        Raises
        ------
        ConfigError
            For a CPU that the scenario lacks.

        Examples
        --------
        >>> from torpor.board import Board
        >>> from torpor.freezer import Scenario
        >>> scenario = Scenario(Board.load("toy"), opp_khz=1_000_000, since_tick_us=0)
        >>> scenario.timeline("full").intervals(0)["entity"].tolist() == [WALKER, 9, WALKER, 9]
        True
        """
        cpu = whole("cpu", cpu, 0, len(self.scenario.freq_khz) - 1)
        frame = self.to_frame()
        runs = frame[(frame["event"] == "run") & (frame["cpu"] == cpu)]
        # What gives way at once has not run, and the same entity twice in a row is one stretch, for example
        # the walker between freeze and thaw.
        runs = runs[runs["time_ns"] != runs["time_ns"].shift(-1)]
        runs = runs[runs["value"] != runs["value"].shift()]
        entity = runs["value"].to_numpy()
        start_ns = runs["time_ns"].to_numpy()
        end_ns = np.r_[start_ns[1:], self._end_ns()] if start_ns.size else start_ns
        busy = (entity != IDLE) & (end_ns > start_ns)
        return pd.DataFrame(
            {"start_us": start_ns[busy] / 1e3, "end_us": end_ns[busy] / 1e3, "entity": entity[busy]}
        )

    def sleeps(self) -> pd.DataFrame:
        """Sleeps of the walker, in order of time: columns ``start_us`` and ``end_us``."""
        return self._spans("sleep")[["start_us", "end_us"]]

    def passes(self) -> pd.DataFrame:
        """List the walks of the task list: columns ``start_us``, ``end_us``, ``number`` and ``todo``."""
        spans = self._spans("pass")
        return spans.rename(columns={"began": "number", "ended": "todo"})

    def loops(self) -> pd.DataFrame:
        """User loop, kernel loop and thaw: columns ``start_us``, ``end_us`` and ``loop``."""
        spans = self._spans("loop")
        names = [LOOPS[number] for number in spans["began"]]
        return spans[["start_us", "end_us"]].assign(loop=names)

    def _spans(self, what: str) -> pd.DataFrame:
        """Stretches from a ``_begin`` to the next ``_end``; one that is cut off ends with the timeline."""
        frame = self.to_frame()
        begin = frame[frame["event"] == f"{what}_begin"]
        end = frame[frame["event"] == f"{what}_end"]
        start_us = begin["time_ns"].to_numpy() / 1e3
        missing = len(begin) - len(end)
        return pd.DataFrame(
            {
                "start_us": start_us,
                "end_us": np.r_[end["time_ns"].to_numpy() / 1e3, np.full(missing, self._end_ns() / 1e3)],
                "began": begin["value"].to_numpy(),
                "ended": np.r_[end["value"].to_numpy(), np.full(missing, 0)].astype(np.int64),
            }
        )

    def plot(self, **options: Any) -> Axes:
        """Draw one lane per CPU and one for the walker; see :func:`torpor.freezer.plots.plot_freeze`."""
        from torpor.freezer.plots import plot_freeze

        return plot_freeze(self, **options)

    def _repr_html_(self) -> str:
        return str(self.to_frame().to_html(max_rows=20))
