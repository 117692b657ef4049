# SPDX-License-Identifier: MIT
"""Results of many freezes and thaws of one population under one policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from torpor._checks import real
from torpor._core import ConfigError, FreezeOutcome
from torpor._replicates import Replicates

if TYPE_CHECKING:
    from torpor.freezer.policies import Policy
    from torpor.freezer.scenario import Scenario
    from torpor.freezer.timeline import Timeline

__all__ = ["Runs"]

_LOOP = ("elapsed_ns", "passes", "sleeps", "slept_ns")
_ACTIVITY = (
    *("task_switch_ins", "switches", "voluntary", "involuntary"),
    *("wakeups", "busy_ns", "energy_mj"),
)
_RUN_COLUMNS = (
    *("outcome", "in_kernel_loop"),
    *(f"user_{name}" for name in _LOOP),
    *(f"kernel_{name}" for name in _LOOP),
    "elapsed_ns",
    *(f"freeze_{name}" for name in _ACTIVITY),
    *("restarts", "visible_errors", "refusing", "workqueue_busy", "work_held"),
    *("thaw_walker_ns", "thaw_all_ns"),
    *(f"thaw_{name}" for name in _ACTIVITY),
    *("thaw_visible_errors", "running_on", "bound_ns", "attempts", "cycle_ns", "cycle_energy_mj"),
)
_COLUMNS = (*_RUN_COLUMNS, "refusing_by_group", "freeze_cpu_busy_ns", "thaw_cpu_busy_ns")


class Runs(Replicates):
    """Per-replicate results; made by :meth:`torpor.freezer.Scenario.run`.

    With retries everything but `attempts`, `cycle_ns` and `cycle_energy_mj` is of the last attempt.

    Attributes
    ----------
    outcome : int8 array, shape (runs,)
        0 frozen, 1 failed (the timeout was over), 2 aborted (by a wakeup event).
    in_kernel_loop : bool array, shape (runs,)
        The freeze ended in the kernel loop, or got through it.
    user_elapsed_ns, kernel_elapsed_ns : int64 array, nanoseconds, shape (runs,)
        Length of either loop; `elapsed_ns` is that of both.
    user_passes, kernel_passes, user_sleeps, kernel_sleeps : int64 array, shape (runs,)
        Walks of the task list, and sleeps between them.
    user_slept_ns, kernel_slept_ns : int64 array, nanoseconds, shape (runs,)
        Time of these sleeps.
    freeze_task_switch_ins, thaw_task_switch_ins : int64 array, shape (runs,)
        Times that a CPU began to run a task other than the one before; walker and idle do not count.
    freeze_switches, thaw_switches : int64 array, shape (runs,)
        All context switches, to the walker and to idle as well.
    freeze_voluntary, freeze_involuntary, thaw_voluntary, thaw_involuntary : int64 array, shape (runs,)
        Times that a task or the walker left a CPU by itself, and against its will.
    freeze_wakeups, thaw_wakeups : int64 array, shape (runs,)
        Tasks woken: by the walker, by the end of a wait, by somebody else.
    freeze_busy_ns, thaw_busy_ns : int64 array, nanoseconds, shape (runs,)
        Time of all CPUs spent on tasks and the walker; by CPU, shape (runs, cpus), `freeze_cpu_busy_ns` and
        `thaw_cpu_busy_ns`.
    freeze_energy_mj, thaw_energy_mj : float64 array, millijoules, shape (runs,)
        Busy CPUs and the rest of the awake board; NaN when the board publishes no power.
    restarts, visible_errors : int64 array, shape (runs,)
        System calls interrupted at a visit: restarted unseen, and ended by an error that the program sees;
        `thaw_visible_errors` are those that the thaw brings (sigtimedwait in 6.1 to 6.6).
    refusing : int64 array, shape (runs,)
        Tasks that the last pass counted; `refusing_by_group`, shape (runs, groups), by group of the
        population.
    workqueue_busy : bool array, shape (runs,)
        A freezable workqueue still had active work at the last pass.
    work_held : int64 array, shape (runs,)
        Work items held until the thaw.
    thaw_walker_ns, thaw_all_ns : int64 array, nanoseconds, shape (runs,)
        From the start of the thaw until the walker reports, and until the last woken task sleeps again.
    running_on : int64 array, shape (runs,)
        Tasks woken while frozen, which run on after the thaw.
    bound_ns : float64 array, nanoseconds, shape (runs,)
        The freeze with perfect notification and the walks kept; NaN when not asked for, or not frozen.
    attempts : int64 array, shape (runs,)
        Freezes tried.
    cycle_ns : int64 array, nanoseconds, shape (runs,)
        From the first freeze to the end of the last thaw, gaps between attempts included, time asleep left
        out; `cycle_energy_mj`, millijoules, the energy of it.

    Examples
    --------
    >>> from torpor.board import Board
    >>> from torpor.freezer import Scenario
    >>> runs = Scenario(Board.load("nexus-10"), opp_khz=200_000).run("full", runs=2, seed=1)
    >>> runs.elapsed_ns.shape, bool((runs.outcome == 0).all())
    ((2,), True)
    """

    __slots__ = _COLUMNS
    _columns = _COLUMNS

    scenario: Scenario
    policy: Policy
    outcome: npt.NDArray[np.int8]
    in_kernel_loop: npt.NDArray[np.bool_]
    user_elapsed_ns: npt.NDArray[np.int64]
    user_passes: npt.NDArray[np.int64]
    user_sleeps: npt.NDArray[np.int64]
    user_slept_ns: npt.NDArray[np.int64]
    kernel_elapsed_ns: npt.NDArray[np.int64]
    kernel_passes: npt.NDArray[np.int64]
    kernel_sleeps: npt.NDArray[np.int64]
    kernel_slept_ns: npt.NDArray[np.int64]
    elapsed_ns: npt.NDArray[np.int64]
    freeze_task_switch_ins: npt.NDArray[np.int64]
    freeze_switches: npt.NDArray[np.int64]
    freeze_voluntary: npt.NDArray[np.int64]
    freeze_involuntary: npt.NDArray[np.int64]
    freeze_wakeups: npt.NDArray[np.int64]
    freeze_busy_ns: npt.NDArray[np.int64]
    freeze_energy_mj: npt.NDArray[np.float64]
    restarts: npt.NDArray[np.int64]
    visible_errors: npt.NDArray[np.int64]
    refusing: npt.NDArray[np.int64]
    workqueue_busy: npt.NDArray[np.bool_]
    work_held: npt.NDArray[np.int64]
    refusing_by_group: npt.NDArray[np.int64]
    thaw_walker_ns: npt.NDArray[np.int64]
    thaw_all_ns: npt.NDArray[np.int64]
    thaw_task_switch_ins: npt.NDArray[np.int64]
    thaw_switches: npt.NDArray[np.int64]
    thaw_voluntary: npt.NDArray[np.int64]
    thaw_involuntary: npt.NDArray[np.int64]
    thaw_wakeups: npt.NDArray[np.int64]
    thaw_busy_ns: npt.NDArray[np.int64]
    thaw_energy_mj: npt.NDArray[np.float64]
    thaw_visible_errors: npt.NDArray[np.int64]
    running_on: npt.NDArray[np.int64]
    bound_ns: npt.NDArray[np.float64]
    attempts: npt.NDArray[np.int64]
    cycle_ns: npt.NDArray[np.int64]
    cycle_energy_mj: npt.NDArray[np.float64]
    freeze_cpu_busy_ns: npt.NDArray[np.int64]
    thaw_cpu_busy_ns: npt.NDArray[np.int64]

    @property
    def elapsed_ms(self) -> npt.NDArray[np.float64]:
        """Both loops, milliseconds, shape (runs,)."""
        return self.elapsed_ns / 1e6

    @property
    def user_ms(self) -> npt.NDArray[np.float64]:
        """User loop, milliseconds, shape (runs,)."""
        return self.user_elapsed_ns / 1e6

    @property
    def kernel_ms(self) -> npt.NDArray[np.float64]:
        """Kernel loop, milliseconds, shape (runs,)."""
        return self.kernel_elapsed_ns / 1e6

    @property
    def interrupted(self) -> npt.NDArray[np.int64]:
        """System calls interrupted by the freeze, whatever becomes of them, shape (runs,)."""
        return self.restarts + self.visible_errors

    @property
    def efficiency(self) -> npt.NDArray[np.float64]:
        """Lower bound over elapsed time, 0 to 1, shape (runs,); NaN where there is no bound."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(self.elapsed_ns > 0, self.bound_ns / self.elapsed_ns, np.nan)

    @property
    def frozen(self) -> npt.NDArray[np.bool_]:
        """Whether all tasks were frozen in the end, shape (runs,)."""
        return np.equal(self.outcome, int(FreezeOutcome.frozen))

    @property
    def failed(self) -> npt.NDArray[np.bool_]:
        """Whether the timeout was over first, shape (runs,)."""
        return np.equal(self.outcome, int(FreezeOutcome.failed))

    @property
    def aborted(self) -> npt.NDArray[np.bool_]:
        """Whether a wakeup event ended it, shape (runs,)."""
        return np.equal(self.outcome, int(FreezeOutcome.aborted))

    def power_mw(self, period_s: float) -> npt.NDArray[np.float64]:
        """Mean power of one cycle every so often.

        Parameters
        ----------
        period_s : float, seconds
            From one cycle to the next; Android with the screen off needs one every few seconds.

        Returns
        -------
        float64 array, milliwatts, shape (runs,)
            Energy of the cycle over the period.

        Raises
        ------
        ConfigError
            Unless the period is above 0.

        Examples
        --------
        >>> from torpor.board import Board
        >>> from torpor.freezer import Scenario
        >>> runs = Scenario(Board.load("nexus-10"), opp_khz=200_000).run("full")
        >>> bool((runs.power_mw(3.0) == runs.cycle_energy_mj / 3.0).all())
        True
        """
        seconds = real("period_s", period_s)
        if not seconds > 0.0:
            raise ConfigError(f"period_s={period_s} is not above 0")
        return self.cycle_energy_mj / seconds

    def to_frame(self, level: Literal["run", "cpu", "group"] = "run") -> pd.DataFrame:
        """Tidy table of the results.

        Parameters
        ----------
        level : {"run", "cpu", "group"}
            One row per replicate, per replicate and CPU (busy time), or per replicate and group of tasks
            (who refused).

        Returns
        -------
        pandas.DataFrame
            With columns ``replicate``, then ``cpu`` or ``group`` as the level asks.

        Examples
        --------
        >>> from torpor.board import Board
        >>> from torpor.freezer import Scenario
        >>> runs = Scenario(Board.load("nexus-10"), opp_khz=200_000).run("full", runs=3)
        >>> len(runs.to_frame()), len(runs.to_frame("cpu"))
        (3, 6)
        """
        replicates = np.arange(self.first, self.first + self.runs)
        if level == "run":
            frame = pd.DataFrame({"replicate": replicates, **{n: getattr(self, n) for n in _RUN_COLUMNS}})
            frame["outcome"] = frame["outcome"].map({int(kind): kind.name for kind in FreezeOutcome})
            return frame.assign(interrupted=self.interrupted, efficiency=self.efficiency)
        if level == "cpu":
            cpus = range(self.freeze_cpu_busy_ns.shape[1])
            frame = _long(replicates, "cpu", cpus, "freeze_busy_ns", self.freeze_cpu_busy_ns)
            return frame.assign(thaw_busy_ns=self.thaw_cpu_busy_ns.ravel())
        if level == "group":
            names = self.scenario.groups.names
            return _long(replicates, "group", names, "refusing", self.refusing_by_group)
        raise ConfigError(f"level={level!r} is unknown: known are run, cpu, group")

    def timeline(self, run: int = 0) -> Timeline:
        """Play one of the replicates again and keep everything that happens.

        Parameters
        ----------
        run : int
            Index into this object's replicates.

        Raises
        ------
        IndexError
            When there is no such replicate.

        Examples
        --------
        >>> from torpor.board import Board
        >>> from torpor.freezer import Scenario
        >>> len(Scenario(Board.load("nexus-10"), opp_khz=200_000).run("full").timeline(0)) > 0
        True
        """
        return self.scenario.timeline(self.policy, seed=self.seed, replicate=self._replicate(run))

    def tasks(self, run: int = 0) -> pd.DataFrame:
        """Play one of the replicates again and tell how each task got through it.

        Parameters
        ----------
        run : int
            Index into this object's replicates.

        Returns
        -------
        pandas.DataFrame
            As of :meth:`Scenario.tasks`.
        """
        return self.scenario.tasks(self.policy, seed=self.seed, replicate=self._replicate(run))


def _long(
    replicates: npt.NDArray[np.int64], key: str, keys: Any, value: str, block: npt.NDArray[np.int64]
) -> pd.DataFrame:
    """One row per replicate and key."""
    keys = list(keys)
    return pd.DataFrame(
        {
            "replicate": np.repeat(replicates, len(keys)),
            key: keys * len(replicates),
            value: block.ravel(),
        }
    )
