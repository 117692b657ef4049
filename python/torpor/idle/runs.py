"""Results of many replicates of one policy on one scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from torpor._replicates import Replicates

if TYPE_CHECKING:
    from torpor.idle.policies import Policy
    from torpor.idle.scenario import Scenario
    from torpor.idle.timeline import Timeline

__all__ = ["Runs"]

_STATE_COLUMNS = ("residency_ns", "usage", "above", "below", "rejected")
_CPU_COLUMNS = (
    "ticks",
    "tick_stops",
    "tick_restarts_in_loop",
    "end_ns",
    "cpu_energy_mj",
    "cpu_wakeups",
    "cpu_wake_latency_p50_ns",
    "cpu_wake_latency_p95_ns",
    "cpu_wake_latency_p99_ns",
    "cpu_wake_latency_max_ns",
)
_RUN_COLUMNS = (
    "energy_mj",
    "wakeups",
    "wake_latency_p50_ns",
    "wake_latency_p95_ns",
    "wake_latency_p99_ns",
    "wake_latency_max_ns",
)
_COLUMNS = (*_STATE_COLUMNS, *_CPU_COLUMNS, *_RUN_COLUMNS, "cluster_off_ns")


class Runs(Replicates):
    """Per-replicate results; made by :meth:`torpor.idle.Scenario.run`.

    Attributes
    ----------
    residency_ns : int64 array, nanoseconds, shape (runs, cpus, states)
        Time in each state as the kernel books it: with the time to go down and to come up.
    usage, above, below, rejected : int64 array, shape (runs, cpus, states)
        Entries; entries left too early for the state's target residency, and those for which a deeper
        enabled state would have fitted (counted as kernels from 5.1 on do); refused entries.
    ticks, tick_stops, tick_restarts_in_loop : int64 array, shape (runs, cpus)
        Ticks served while idle; first stops of the tick; restarts by a running idle loop.
    cpu_energy_mj : float64 array, millijoules, shape (runs, cpus)
        Each CPU's energy with an equal share of its cluster's; NaN when the board publishes no power.
    energy_mj : float64 array, millijoules, shape (runs,)
        Energy of the board, with each cluster down only while all its CPUs allow it.
    cluster_off_ns : int64 array, nanoseconds, shape (runs, clusters)
        Time for which all CPUs of the cluster allowed it to go down.
    wake_latency_p50_ns, ..._p95_ns, ..._p99_ns, ..._max_ns : int64 array, nanoseconds, shape (runs,)
        From a wakeup that is not the tick to its handler; per CPU with prefix ``cpu_``.

    Examples
    --------
    >>> from torpor.board import Board
    >>> from torpor.idle import IpiTimerBurst, Scenario
    >>> runs = Scenario(Board.load("hikey"), IpiTimerBurst(cpu=7), duration_s=0.3).run("ladder", runs=2)
    >>> runs.residency_ns.shape
    (2, 8, 3)
    """

    __slots__ = _COLUMNS
    _columns = _COLUMNS

    scenario: Scenario
    policy: Policy
    residency_ns: npt.NDArray[np.int64]
    usage: npt.NDArray[np.int64]
    above: npt.NDArray[np.int64]
    below: npt.NDArray[np.int64]
    rejected: npt.NDArray[np.int64]
    ticks: npt.NDArray[np.int64]
    tick_stops: npt.NDArray[np.int64]
    tick_restarts_in_loop: npt.NDArray[np.int64]
    end_ns: npt.NDArray[np.int64]
    cpu_energy_mj: npt.NDArray[np.float64]
    cpu_wakeups: npt.NDArray[np.int64]
    cpu_wake_latency_p50_ns: npt.NDArray[np.int64]
    cpu_wake_latency_p95_ns: npt.NDArray[np.int64]
    cpu_wake_latency_p99_ns: npt.NDArray[np.int64]
    cpu_wake_latency_max_ns: npt.NDArray[np.int64]
    cluster_off_ns: npt.NDArray[np.int64]
    energy_mj: npt.NDArray[np.float64]
    wakeups: npt.NDArray[np.int64]
    wake_latency_p50_ns: npt.NDArray[np.int64]
    wake_latency_p95_ns: npt.NDArray[np.int64]
    wake_latency_p99_ns: npt.NDArray[np.int64]
    wake_latency_max_ns: npt.NDArray[np.int64]

    def to_frame(self, level: Literal["run", "cpu", "state"] = "run") -> pd.DataFrame:
        """Tidy table of the results.

        Parameters
        ----------
        level : {"run", "cpu", "state"}
            One row per replicate, per replicate and CPU, or per replicate, CPU and state.

        Returns
        -------
        pandas.DataFrame
            With columns ``replicate``, then ``cpu``, ``state`` and the state's name as the level asks.

        Examples
        --------
        >>> from torpor.board import Board
        >>> from torpor.idle import PeriodicTimer, Scenario
        >>> scenario = Scenario(Board.load("toy"), PeriodicTimer(period_us=5e3), duration_s=0.1)
        >>> runs = scenario.run("menu", runs=3)
        >>> len(runs.to_frame()), len(runs.to_frame("cpu"))
        (3, 6)
        """
        replicates = np.arange(self.first, self.first + self.runs)
        if level == "run":
            columns = {name: getattr(self, name) for name in _RUN_COLUMNS}
            totals = {name: getattr(self, name).sum(axis=1) for name in ("ticks", "tick_stops")}
            misses = {name: getattr(self, name).sum(axis=(1, 2)) for name in ("usage", "above", "below")}
            return pd.DataFrame({"replicate": replicates, **columns, **totals, **misses})
        cpus = self.residency_ns.shape[1]
        if level == "cpu":
            frame = {"replicate": np.repeat(replicates, cpus), "cpu": np.tile(np.arange(cpus), self.runs)}
            return pd.DataFrame(
                frame | {n.removeprefix("cpu_"): getattr(self, n).ravel() for n in _CPU_COLUMNS}
            )
        if level != "state":
            raise ValueError(f"level={level!r}: 'run', 'cpu' or 'state'")
        names = self.state_names()
        states = len(names[0])
        table = pd.DataFrame(
            {
                "replicate": np.repeat(replicates, cpus * states),
                "cpu": np.tile(np.repeat(np.arange(cpus), states), self.runs),
                "state": np.tile(np.arange(states), self.runs * cpus),
                "name": [name for row in names for name in row] * self.runs,
                **{name: getattr(self, name).ravel() for name in _STATE_COLUMNS},
            }
        )
        return table[table["name"] != ""].reset_index(drop=True)

    def state_names(self) -> list[list[str]]:
        """Names of the states of each CPU, padded with empty ones where tables differ in length.

        Examples
        --------
        >>> from torpor.board import Board
        >>> from torpor.idle import Scenario
        >>> Scenario(Board.load("hikey"), duration_s=0.01).run("menu").state_names()[7]
        ['WFI', 'cpu-sleep', 'cluster-sleep']
        """
        states = self.residency_ns.shape[2]
        names = [[""] * states for _ in range(self.residency_ns.shape[1])]
        for cluster in self.scenario.board.clusters:
            for cpu in cluster.cpus:
                for i, state in enumerate(cluster.idle_states):
                    names[cpu][i] = state.name
        return names

    def timeline(self, run: int = 0) -> Timeline:
        """Play one of the replicates again and keep everything that happens.

        Parameters
        ----------
        run : int
            Index into this object's replicates.

        Examples
        --------
        >>> from torpor.board import Board
        >>> from torpor.idle import Scenario
        >>> len(Scenario(Board.load("toy"), duration_s=0.05).run("menu").timeline(0)) > 0
        True
        """
        return self.scenario.timeline(self.policy, seed=self.seed, replicate=self._replicate(run))
