# SPDX-License-Identifier: MIT
"""Everything that happened in one cycle of suspending and resuming devices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from torpor import _core
from torpor._checks import whole
from torpor.dpm.graph import PHASES
from torpor.timeline import Records

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from torpor.dpm.policies import Policy
    from torpor.dpm.scenario import Scenario

__all__ = ["MAIN", "Timeline"]

MAIN = 0
"""The main thread; workers have other numbers."""

_RUNS = ("run_begin", "run_end")
_PHASES = ("phase_begin", "phase_end")
_DEVICES = ("device_begin", "device_end")


class Timeline(Records):
    """Who ran on which CPU, phases and devices; made by :meth:`torpor.dpm.Scenario.timeline`.

    Parameters
    ----------
    scenario, policy, seed, replicate
        What was played.
    columns : mapping
        Arrays ``time_ns``, ``kind``, ``lane`` and ``value`` as the engine records them, and ``devices``, the
        names in list order. Times count from the first record.

    Examples
    --------
    >>> from torpor.dpm import Device, DeviceGraph, Scenario, Segment
    >>> busy = {"resume": [Segment.cpu(1000)]}
    >>> graph = DeviceGraph([Device(name, callbacks=busy) for name in ("a", "b")])
    >>> timeline = Scenario.reference(graph).timeline("sync")
    >>> timeline.intervals(0)
       start_ms  end_ms  entity
    0       0.0     2.0       0
    """

    __slots__ = ("devices",)

    _KINDS = _core.DpmTimelineKind

    policy: Policy
    scenario: Scenario

    def __init__(
        self, *, scenario: Scenario, policy: Policy, seed: int, replicate: int, columns: dict[str, Any]
    ) -> None:
        time_ns = np.asarray(columns["time_ns"], dtype=np.int64)
        kept = {
            "time_ns": time_ns - (time_ns[0] if time_ns.size else 0),
            "cpu": np.asarray(columns["lane"], dtype=np.int64),
            "kind": np.asarray(columns["kind"], dtype=np.int64),
            "value": np.asarray(columns["value"], dtype=np.int64),
        }
        super().__init__(scenario=scenario, policy=policy, seed=seed, replicate=replicate, columns=kept)
        self.devices: tuple[str, ...] = tuple(columns["devices"])

    def to_frame(self) -> pd.DataFrame:
        """All records in order of time, from the start of the cycle.

        Returns
        -------
        pandas.DataFrame
            Columns ``time_ns`` and ``event``, and what the event is about, else -1 or missing:

            ``run_begin``, ``run_end``
                ``entity`` gets or leaves ``cpu``: ``MAIN`` or the number of a worker.
            ``phase_begin``, ``phase_end``
                ``phase``, one of ``torpor.dpm.PHASES``.
            ``device_begin``, ``device_end``
                All waits of ``device`` in ``phase`` are over; it is done.
        """
        frame = self._frame()
        lane, value = frame["cpu"].to_numpy(), frame["value"].to_numpy()
        runs = frame["event"].isin(_RUNS).to_numpy()
        is_device = frame["event"].isin(_DEVICES).to_numpy()
        phases = np.array([*PHASES, None], dtype=object)
        devices = np.array([*self.devices, None], dtype=object)
        return pd.DataFrame(
            {
                "time_ns": frame["time_ns"],
                "event": frame["event"],
                "cpu": np.where(runs, lane, -1),
                "entity": np.where(runs, value, -1),
                "phase": phases[np.where(runs, len(PHASES), value)],
                "device": devices[np.where(is_device, lane, len(self.devices))],
            }
        )

    @property
    def end_ms(self) -> float:
        """Time of the last record, milliseconds."""
        return float(self._columns["time_ns"].max(initial=0)) / 1e6

    def intervals(self, cpu: int) -> pd.DataFrame:
        """List who ran on one CPU.

        Parameters
        ----------
        cpu : int
            Which.

        Returns
        -------
        pandas.DataFrame
            Columns ``start_ms``, ``end_ms`` and ``entity`` (``MAIN`` or the number of a worker), in order of
            time, with idle time left out.

        Raises
        ------
        ConfigError
            For a CPU that the scenario lacks.

        Examples
        --------
        >>> from torpor.board import Board
        >>> from torpor.dpm import Scenario
        >>> timeline = Scenario(Board.load("toy")).timeline("sync")
        >>> set(timeline.intervals(0)["entity"]) == {MAIN}
        True
        """
        cpu = whole("cpu", cpu, 0, self.scenario.cpu_count - 1)
        frame = self.to_frame()
        mine = frame[(frame["cpu"] == cpu) & frame["event"].isin(_RUNS)]
        begins = mine["event"].to_numpy() == "run_begin"
        time_ns, entity = mine["time_ns"].to_numpy(), mine["entity"].to_numpy()
        # A CPU runs one at a time; who is still on it at the end leaves it there.
        next_ns = np.r_[time_ns[1:], self._columns["time_ns"].max(initial=0)] if time_ns.size else time_ns
        start_ns, end_ns, entity = time_ns[begins], next_ns[begins], entity[begins]
        ran = end_ns > start_ns
        return pd.DataFrame(
            {"start_ms": start_ns[ran] / 1e6, "end_ms": end_ns[ran] / 1e6, "entity": entity[ran]}
        )

    def phases(self) -> pd.DataFrame:
        """Phases that ran, in their order: columns ``start_ms``, ``end_ms`` and ``phase``.

        One that got stuck ends with the timeline.

        Examples
        --------
        >>> from torpor.board import Board
        >>> from torpor.dpm import Scenario
        >>> Scenario(Board.load("toy")).timeline("old").phases()["phase"].tolist()[:3]
        ['prepare', 'suspend', 'suspend_late']
        """
        return self._spans(_PHASES, ["phase"])

    def stretches(self) -> pd.DataFrame:
        """Devices from the end of their waits to their own, in order of the former.

        Columns ``start_ms``, ``end_ms``, ``phase`` and ``device``. One that never ends does so with the
        timeline.
        """
        return self._spans(_DEVICES, ["phase", "device"])

    def _spans(self, events: tuple[str, str], keys: list[str]) -> pd.DataFrame:
        frame = self.to_frame()
        begin, end = (
            frame[frame["event"] == event].set_index(keys)["time_ns"].rename(name)
            for event, name in zip(events, ("start_ms", "end_ms"), strict=True)
        )
        both = begin.to_frame().join(end).reset_index()
        both["end_ms"] = both["end_ms"].fillna(self._columns["time_ns"].max(initial=0))
        return both.assign(start_ms=both["start_ms"] / 1e6, end_ms=both["end_ms"] / 1e6)[
            ["start_ms", "end_ms", *keys]
        ]

    def counts(self) -> pd.DataFrame:
        """Tell how much each CPU did.

        Returns
        -------
        pandas.DataFrame
            One row per CPU: ``switch_ins`` (times that it began to run somebody for some time), ``workers``
            (how many different ones), ``main_ms`` and ``workers_ms`` (time of the main thread and of
            workers).

        Examples
        --------
        >>> from torpor.board import Board
        >>> from torpor.dpm import Scenario
        >>> counts = Scenario(Board.load("toy")).timeline("sync").counts()
        >>> counts["workers_ms"].tolist()
        [0.0, 0.0]
        """
        rows = []
        for cpu in range(self.scenario.cpu_count):
            ran = self.intervals(cpu)
            length_ms = ran["end_ms"] - ran["start_ms"]
            is_main = ran["entity"] == MAIN
            rows.append(
                {
                    "switch_ins": len(ran),
                    "workers": int(ran.loc[~is_main, "entity"].nunique()),
                    "main_ms": float(length_ms[is_main].sum()),
                    "workers_ms": float(length_ms[~is_main].sum()),
                }
            )
        return pd.DataFrame(rows, index=pd.RangeIndex(len(rows), name="cpu"))

    def plot(self, **options: Any) -> Axes:
        """Draw who ran on each CPU; see :func:`torpor.dpm.plots.plot_cpus`."""
        from torpor.dpm.plots import plot_cpus

        return plot_cpus(self, **options)

    def _repr_html_(self) -> str:
        return str(self.to_frame().to_html(max_rows=20))
