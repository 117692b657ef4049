# SPDX-License-Identifier: MIT
"""Results of many cycles of suspend and resume under one policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from torpor._checks import shown, word
from torpor._core import ConfigError, DpmOutcome
from torpor._replicates import Replicates
from torpor.dpm.graph import PHASES

if TYPE_CHECKING:
    from torpor.dpm.policies import Policy
    from torpor.dpm.scenario import Scenario
    from torpor.dpm.timeline import Timeline

__all__ = ["RESUME_PHASES", "SIDES", "SUSPEND_PHASES", "Runs"]

SIDES = ("suspend", "resume")
"""The way down and the way up."""

SUSPEND_PHASES = ("suspend", "suspend_late", "suspend_noirq")
"""Phases whose lengths make up the time of a suspend."""

RESUME_PHASES = ("resume_noirq", "resume_early", "resume")
"""Phases whose lengths make up the time of a resume."""

_PLACES = {"suspend": slice(1, 4), "resume": slice(4, 7)}

_SIDE = ("ns", "switches", "switch_ins", "wakeups", "migrations", "energy_mj")
_CYCLE_COLUMNS = (
    *("outcome", "ended_in", "device"),
    *(f"suspend_{name}" for name in _SIDE),
    *(f"resume_{name}" for name in _SIDE),
)
_BOUNDS = ("cp_ns", "w_ns", "ovh_ns", "sh_ns", "bound_ns", "sum_ns")
_COUNTS = (
    *("items", "blocks", "mutex_blocks", "lock_blocks"),
    *("live_workers", "created_workers", "callbacks", "callbacks_by_workers"),
)
_PHASE_COLUMNS = ("phase_ns", *_COUNTS, *_BOUNDS)
_COLUMNS = (*_CYCLE_COLUMNS, *_PHASE_COLUMNS, "cluster_busy_ns", "main_ns")

Level = Literal["run", "cycle", "phase", "cluster"]


class Runs(Replicates):
    """Results of each cycle; made by :meth:`torpor.dpm.Scenario.run`.

    A cycle that fails or is aborted has the phases that ran, and the resume of what had been suspended. Of
    one that is stuck nothing is known but how far it came.

    Attributes
    ----------
    outcome : int8 array, shape (runs, cycles)
        0 done, 1 failed (a callback returned an error), 2 aborted (a wakeup event), 3 stuck (a phase could
        never end).
    ended_in : int8 array, shape (runs, cycles)
        Phase in which it did, as a place in ``torpor.dpm.graph.PHASES``; 0 of a cycle that is done.
    device : int32 array, shape (runs, cycles)
        Device that failed or saw the wakeup event, as a place in the list; -1 for none.
    suspend_ns, resume_ns : int64 array, nanoseconds, shape (runs, cycles)
        Length of the three suspend and of the three resume phases together.
    suspend_switches, resume_switches : int64 array, shape (runs, cycles)
        Context switches of all CPUs, to idle as well.
    suspend_switch_ins, resume_switch_ins : int64 array, shape (runs, cycles)
        Times that a CPU began to run the main thread or a worker.
    suspend_wakeups, resume_wakeups, suspend_migrations, resume_migrations : int64 array, shape (runs, cycles)
        Wakeups, and times that somebody started on another CPU than before.
    suspend_energy_mj, resume_energy_mj : float64 array, millijoules, shape (runs, cycles)
        Of all CPUs; NaN when the board publishes no power.
    phase_ns : int64 array, nanoseconds, shape (runs, cycles, 8)
        Length of each phase of ``torpor.dpm.graph.PHASES``.
    items, blocks, mutex_blocks, lock_blocks : int64 array, shape (runs, cycles, 8)
        Work items queued; waits for another device, for the mutex of the device lists and for shared locks.
    live_workers, created_workers : int64 array, shape (runs, cycles, 8)
        Most items started and not finished at one time; workers created.
    callbacks, callbacks_by_workers : int64 array, shape (runs, cycles, 8)
        Callbacks executed, and those of them that workers executed.
    cp_ns, w_ns, ovh_ns, sh_ns : int64 array, nanoseconds, shape (runs, cycles, 8)
        Lower bounds of a phase: its longest path of dependencies, its CPU work over all CPUs, what the main
        thread pays for queueing, the holds of the busiest shared lock. `bound_ns` is the largest of them.
    sum_ns : int64 array, nanoseconds, shape (runs, cycles, 8)
        All callbacks one after the other on the fastest CPU.
    cluster_busy_ns, main_ns : int64 array, nanoseconds, shape (runs, cycles, 2, clusters)
        Busy time of each cluster's CPUs, and time of the main thread on them, on either side.
    stuck : tuple of str
        Who waits for whom in the first stuck cycle of each replicate; empty where there is none.

    Examples
    --------
    >>> from torpor.board import Board
    >>> from torpor.dpm import Scenario
    >>> runs = Scenario(Board.load("toy"), cycles=3).run("old", runs=2, seed=1)
    >>> runs.resume_ms.shape, runs.phase_ms.shape, bool(runs.done.all())
    ((2, 3), (2, 3, 8), True)
    """

    __slots__ = ("stuck", *_COLUMNS)
    _columns = _COLUMNS

    scenario: Scenario
    policy: Policy
    outcome: npt.NDArray[np.int8]
    ended_in: npt.NDArray[np.int8]
    device: npt.NDArray[np.int32]
    suspend_ns: npt.NDArray[np.int64]
    suspend_switches: npt.NDArray[np.int64]
    suspend_switch_ins: npt.NDArray[np.int64]
    suspend_wakeups: npt.NDArray[np.int64]
    suspend_migrations: npt.NDArray[np.int64]
    suspend_energy_mj: npt.NDArray[np.float64]
    resume_ns: npt.NDArray[np.int64]
    resume_switches: npt.NDArray[np.int64]
    resume_switch_ins: npt.NDArray[np.int64]
    resume_wakeups: npt.NDArray[np.int64]
    resume_migrations: npt.NDArray[np.int64]
    resume_energy_mj: npt.NDArray[np.float64]
    phase_ns: npt.NDArray[np.int64]
    items: npt.NDArray[np.int64]
    blocks: npt.NDArray[np.int64]
    mutex_blocks: npt.NDArray[np.int64]
    lock_blocks: npt.NDArray[np.int64]
    live_workers: npt.NDArray[np.int64]
    created_workers: npt.NDArray[np.int64]
    callbacks: npt.NDArray[np.int64]
    callbacks_by_workers: npt.NDArray[np.int64]
    cp_ns: npt.NDArray[np.int64]
    w_ns: npt.NDArray[np.int64]
    ovh_ns: npt.NDArray[np.int64]
    sh_ns: npt.NDArray[np.int64]
    bound_ns: npt.NDArray[np.int64]
    sum_ns: npt.NDArray[np.int64]
    cluster_busy_ns: npt.NDArray[np.int64]
    main_ns: npt.NDArray[np.int64]

    def __init__(
        self, *, scenario: Scenario, policy: Policy, seed: int, first: int, columns: dict[str, Any]
    ) -> None:
        super().__init__(scenario=scenario, policy=policy, seed=seed, first=first, columns=columns)
        self.stuck: tuple[str, ...] = tuple(columns["stuck"])

    @property
    def cycles(self) -> int:
        """Number of cycles of each replicate."""
        return int(self.outcome.shape[1])

    @property
    def suspend_ms(self) -> npt.NDArray[np.float64]:
        """Length of the three suspend phases together, milliseconds, shape (runs, cycles)."""
        return self.suspend_ns / 1e6

    @property
    def resume_ms(self) -> npt.NDArray[np.float64]:
        """Length of the three resume phases together, milliseconds, shape (runs, cycles)."""
        return self.resume_ns / 1e6

    @property
    def phase_ms(self) -> npt.NDArray[np.float64]:
        """Length of each phase, milliseconds, shape (runs, cycles, 8)."""
        return self.phase_ns / 1e6

    @property
    def bound_ms(self) -> npt.NDArray[np.float64]:
        """Lower bound of each phase, milliseconds, shape (runs, cycles, 8)."""
        return self.bound_ns / 1e6

    @property
    def done(self) -> npt.NDArray[np.bool_]:
        """Whether all phases ran, shape (runs, cycles)."""
        return np.equal(self.outcome, int(DpmOutcome.done))

    @property
    def failed(self) -> npt.NDArray[np.bool_]:
        """Whether a callback returned an error on the way down, shape (runs, cycles)."""
        return np.equal(self.outcome, int(DpmOutcome.failed))

    @property
    def aborted(self) -> npt.NDArray[np.bool_]:
        """Whether a wakeup event ended the way down, shape (runs, cycles)."""
        return np.equal(self.outcome, int(DpmOutcome.aborted))

    def side(self, name: str, side: str) -> npt.NDArray[Any]:
        """Figure of one side, of one that is known per phase.

        Parameters
        ----------
        name : str
            An attribute of shape (runs, cycles, 8).
        side : {"suspend", "resume"}
            Which three phases.

        Returns
        -------
        array, shape (runs, cycles)
            Sum over the three phases; of `live_workers` the largest.

        Raises
        ------
        ConfigError
            For another name or side.

        Examples
        --------
        >>> from torpor.board import Board
        >>> from torpor.dpm import Scenario
        >>> runs = Scenario(Board.load("toy")).run("old")
        >>> bool((runs.side("phase_ns", "suspend") == runs.suspend_ns).all())
        True
        """
        if not isinstance(name, str) or name not in _PHASE_COLUMNS:
            raise ConfigError(f"name={shown(name)} is unknown: known are {', '.join(_PHASE_COLUMNS)}")
        if not isinstance(side, str) or side not in SIDES:
            raise ConfigError(f"side={shown(side)} is unknown: known are {', '.join(SIDES)}")
        part: npt.NDArray[Any] = getattr(self, name)[:, :, _PLACES[side]]
        found: npt.NDArray[Any] = part.max(axis=2) if name == "live_workers" else part.sum(axis=2)
        return found

    def to_frame(self, level: Level = "run") -> pd.DataFrame:
        """Tidy table of the results.

        Parameters
        ----------
        level : {"run", "cycle", "phase", "cluster"}
            One row per replicate (means over its cycles), per cycle, per cycle and phase, or per cycle, side
            and cluster.

        Returns
        -------
        pandas.DataFrame
            With columns ``replicate``, then ``cycle``, and ``phase`` or ``side`` and ``cluster`` as the level
            asks; times in milliseconds.

        Raises
        ------
        ConfigError
            For another level.

        Examples
        --------
        >>> from torpor.board import Board
        >>> from torpor.dpm import Scenario
        >>> runs = Scenario(Board.load("toy"), cycles=2).run("old", runs=3)
        >>> [len(runs.to_frame(level)) for level in ("run", "cycle", "phase")]
        [3, 6, 48]
        """
        word("level", level)
        if level == "run":
            return self._run_frame()
        if level == "cycle":
            return self._cycle_frame()
        if level == "phase":
            return self._keyed({"phase": list(PHASES)}, _PHASE_COLUMNS)
        if level == "cluster":
            return self._keyed(
                {"side": list(SIDES), "cluster": list(self.scenario.clusters)}, ("cluster_busy_ns", "main_ns")
            )
        raise ConfigError(f"level={shown(level)} is unknown: known are run, cycle, phase, cluster")

    def _side_columns(self) -> dict[str, npt.NDArray[Any]]:
        """Figures of both sides, shape (runs, cycles)."""
        columns = {}
        for side in SIDES:
            columns[f"{side}_ms"] = getattr(self, f"{side}_ns") / 1e6
            columns |= {f"{side}_{name}": getattr(self, f"{side}_{name}") for name in _SIDE[1:]}
            columns[f"{side}_live_workers"] = self.side("live_workers", side)
            columns[f"{side}_bound_ms"] = self.side("bound_ns", side) / 1e6
        return columns

    def _run_frame(self) -> pd.DataFrame:
        columns: dict[str, Any] = {"replicate": np.arange(self.first, self.first + self.runs)}
        columns |= {kind.name: np.equal(self.outcome, int(kind)).mean(axis=1) for kind in DpmOutcome}
        columns |= {name: values.mean(axis=1) for name, values in self._side_columns().items()}
        columns |= {
            f"{phase}_ms": self.phase_ms[:, :, place].mean(axis=1)
            for place, phase in enumerate(PHASES)
            if phase not in SIDES
        }
        # The phases suspend and resume share their names with the sides.
        columns |= {f"{side}_phase_ms": self._phase_mean_ms(side) for side in SIDES}
        return pd.DataFrame(columns)

    def _phase_mean_ms(self, phase: str) -> npt.NDArray[np.float64]:
        means: npt.NDArray[np.float64] = self.phase_ms[:, :, PHASES.index(phase)].mean(axis=1)
        return means

    def _cycle_frame(self) -> pd.DataFrame:
        frame = self._index_frame(1)
        ended = np.array([None, *PHASES], dtype=object)[
            np.where(self.done, 0, self.ended_in.astype(np.int64) + 1)
        ]
        frame["outcome"] = np.array([kind.name for kind in DpmOutcome], dtype=object)[self.outcome.ravel()]
        frame["ended_in"] = ended.ravel()
        frame["device"] = self._device_names()
        for name, values in self._side_columns().items():
            frame[name] = values.ravel()
        return frame

    def _device_names(self) -> list[str | None]:
        """Name of each cycle's device."""
        names: list[str | None] = []
        for run, devices in enumerate(self.device.tolist()):
            known = any(device >= 0 for device in devices)
            order = self.scenario.graph(self.seed, self.first + run).order if known else ()
            names += [order[device] if device >= 0 else None for device in devices]
        return names

    def _index_frame(self, rows: int) -> pd.DataFrame:
        """Replicate and cycle, so many rows of each."""
        replicates = np.arange(self.first, self.first + self.runs)
        return pd.DataFrame(
            {
                "replicate": np.repeat(replicates, self.cycles * rows),
                "cycle": np.tile(np.repeat(np.arange(self.cycles), rows), self.runs),
            }
        )

    def _keyed(self, keys: dict[str, list[str]], names: tuple[str, ...]) -> pd.DataFrame:
        """One row per cycle and combination of keys."""
        rows = pd.MultiIndex.from_product(list(keys.values()), names=list(keys)).to_frame(index=False)
        frame = self._index_frame(len(rows))
        for key in keys:
            frame[key] = np.tile(rows[key].to_numpy(dtype=object), self.runs * self.cycles)
        for name in names:
            values = getattr(self, name).ravel()
            if name.endswith("_ns"):
                frame["ms" if name == "phase_ns" else f"{name.removesuffix('_ns')}_ms"] = values / 1e6
            else:
                frame[name] = values
        return frame

    def timeline(self, run: int = 0) -> Timeline:
        """Play one of the replicates again and keep all that happens in its first cycle.

        Parameters
        ----------
        run : int
            Index into this object's replicates.

        Returns
        -------
        Timeline
            As of :meth:`Scenario.timeline`.

        Raises
        ------
        IndexError
            When there is no such replicate.
        """
        return self.scenario.timeline(self.policy, seed=self.seed, replicate=self._replicate(run))

    def intervals(self, run: int = 0) -> pd.DataFrame:
        """Play one of the replicates again and tell what became of each device in its first cycle.

        Parameters
        ----------
        run : int
            Index into this object's replicates.

        Returns
        -------
        pandas.DataFrame
            As of :meth:`Scenario.intervals`.

        Raises
        ------
        IndexError
            When there is no such replicate.
        """
        return self.scenario.intervals(self.policy, seed=self.seed, replicate=self._replicate(run))

    def _besides_columns(self) -> tuple[Any, ...]:
        return *super()._besides_columns(), self.stuck
