# SPDX-License-Identifier: MIT
"""Costs of freezing and thawing, fitted on the two smaller task counts of a capture and on nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls

from torpor._core import ConfigError
from torpor.freezer.capture import Capture, Measured, Series

__all__ = [
    "FourCpuCosts",
    "OneCpuCosts",
    "Phases",
    "fit_four_cpus",
    "fit_one_cpu",
    "held_out",
    "thaw_switches",
]

FIRST_SLEEP_US = 1000
"""Upper bound of a loop's first retry sleep, which a machine without other timers takes in full."""

RUNS_BESIDES = 12
"""Context switches of a cycle that are neither a woken task's burst nor a thawed task's."""

_FITTED_SIZES = 2
_MIXES = ("frozen", "mixed", "woken")

_Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Phases:
    """Durations of one cycle in microseconds; total is the write that starts it.

    Examples
    --------
    >>> Phases(1169.0, 1162.0, 1259.0, 4680.0).thaw_us
    1259.0
    """

    user_us: float
    kernel_us: float
    thaw_us: float
    total_us: float


@dataclass(frozen=True)
class OneCpuCosts:
    """Costs on one CPU, nanoseconds.

    One sleep in each loop. While the walker sleeps the woken tasks freeze, and it comes back after the last
    of them: the user loop is walks plus the longer of sleep and bursts.

    Attributes
    ----------
    sleep_ns : int
        The retry sleep.
    marked_ns : int
        Two visits and a mark (a).
    woken_ns : int
        Two visits and a wake (w).
    burst_ns : int
        A woken task's way to the refrigerator (r).
    user_fixed_ns : int
        Visits of the other tasks, entry and exit of the user loop (F0).
    kernel_visit_pair_ns : int
        Two visits in the kernel loop (kv).
    kernel_fixed_ns : int
        The same loop's constant: other tasks, workqueues, one kernel thread's burst (k0).
    thaw_marked_ns, thaw_woken_ns : int
        Thaw of a task frozen where it slept, and of a woken one, with its burst (tf, tw).
    thaw_fixed_ns : int
        The thaw's constant (t0).
    cycle_fixed_ns : int
        The write outside loops and thaw.
    instruction_ns : int, or None
        Guest time per instruction, where the clock counts them.
    fitted_on : tuple of str
        Names of the series used.

    Examples
    --------
    >>> loops = (1_000_000, 1550, 7550, 11500, 91500, 790, 122_000)
    >>> costs = OneCpuCosts(*loops, 20060, 24020, 257_000, 1_090_000, instruction_ns=4)
    >>> costs.phases(marked=0, woken=200).user_us
    3901.5
    >>> costs.instructions()["burst"]
    2875.0
    """

    sleep_ns: int
    marked_ns: int
    woken_ns: int
    burst_ns: int
    user_fixed_ns: int
    kernel_visit_pair_ns: int
    kernel_fixed_ns: int
    thaw_marked_ns: int
    thaw_woken_ns: int
    thaw_fixed_ns: int
    cycle_fixed_ns: int
    instruction_ns: int | None = None
    fitted_on: tuple[str, ...] = ()

    def phases(self, marked: int, woken: int) -> Phases:
        """Work out a cycle with so many tasks frozen where they sleep and woken ones."""
        walks = self.user_fixed_ns + self.marked_ns * marked + self.woken_ns * woken
        user = walks + max(self.sleep_ns, self.burst_ns * woken)
        kernel = self.sleep_ns + self.kernel_fixed_ns + self.kernel_visit_pair_ns * (marked + woken)
        thaw = self.thaw_fixed_ns + self.thaw_marked_ns * marked + self.thaw_woken_ns * woken
        return _phases(user, kernel, thaw, self.cycle_fixed_ns)

    def instructions(self) -> dict[str, float]:
        """Return the costs in instructions; empty where the clock does not count them."""
        return _instructions(asdict(self), self.instruction_ns)


@dataclass(frozen=True)
class FourCpuCosts:
    """Costs on several CPUs that share one clock, so that parallel work adds up; nanoseconds.

    Attributes
    ----------
    sleep_ns : int
        The retry sleep.
    marked_ns, woken_ns : int
        Everything a task adds to the user loop (a, b); a woken one its burst and the interrupts too.
    user_fixed_ns : int
        The user loop's constant (F0).
    kernel_visit_pair_ns, kernel_fixed_ns : int
        As in :class:`OneCpuCosts`.
    thaw_task_ns : int
        Thaw of one task by the walker.
    thaw_switch_ns : int
        One task that runs before the write returns; how many do is not predicted.
    thaw_fixed_ns : int
        The thaw's constant; a fit may make it negative.
    cycle_fixed_ns : int
        The write outside loops and thaw.
    instruction_ns : int, or None
        Guest time per instruction, where the clock counts them.
    fitted_on : tuple of str
        Names of the series used.

    Examples
    --------
    >>> loops = (1_000_000, 2840, 56900, 196_000, 1810, 200_000)
    >>> costs = FourCpuCosts(*loops, 8270, 44800, -126_000, 1_470_000, instruction_ns=8)
    >>> costs.phases(marked=1000, woken=0, thaw_switches=757).kernel_us
    3010.0
    """

    sleep_ns: int
    marked_ns: int
    woken_ns: int
    user_fixed_ns: int
    kernel_visit_pair_ns: int
    kernel_fixed_ns: int
    thaw_task_ns: int
    thaw_switch_ns: int
    thaw_fixed_ns: int
    cycle_fixed_ns: int
    instruction_ns: int | None = None
    fitted_on: tuple[str, ...] = ()

    def phases(self, marked: int, woken: int, thaw_switches: float) -> Phases:
        """Work out a cycle, given how many tasks ran before the write returned."""
        tasks = marked + woken
        user = self.sleep_ns + self.user_fixed_ns + self.marked_ns * marked + self.woken_ns * woken
        kernel = self.sleep_ns + self.kernel_fixed_ns + self.kernel_visit_pair_ns * tasks
        thaw = self.thaw_fixed_ns + self.thaw_task_ns * tasks + self.thaw_switch_ns * thaw_switches
        return _phases(user, kernel, thaw, self.cycle_fixed_ns)

    def instructions(self) -> dict[str, float]:
        """Return the costs in instructions; empty where the clock does not count them."""
        return _instructions(asdict(self), self.instruction_ns)


def _phases(user_ns: float, kernel_ns: float, thaw_ns: float, fixed_ns: float) -> Phases:
    total = user_ns + kernel_ns + thaw_ns + fixed_ns
    return Phases(user_ns / 1e3, kernel_ns / 1e3, thaw_ns / 1e3, total / 1e3)


def _instructions(costs: dict[str, object], instruction_ns: int | None) -> dict[str, float]:
    if instruction_ns is None:
        return {}
    return {
        name.removesuffix("_ns"): value / instruction_ns
        for name, value in costs.items()
        if isinstance(value, int) and name not in ("instruction_ns", "sleep_ns")
    }


@dataclass(frozen=True)
class _Points:
    series: tuple[Series, ...]
    measured: tuple[Measured, ...]

    @property
    def tasks(self) -> _Matrix:
        return np.array([one.tasks for one in self.series], dtype=np.float64)

    @property
    def marked(self) -> _Matrix:
        return np.array([one.marked for one in self.series], dtype=np.float64)

    @property
    def woken(self) -> _Matrix:
        return np.array([one.woken for one in self.series], dtype=np.float64)

    def column(self, name: str) -> _Matrix:
        return np.array([getattr(one, name) for one in self.measured], dtype=np.float64)

    @property
    def outside(self) -> _Matrix:
        """Microseconds of the write outside loops and thaw, the median of each series."""
        return np.array(
            [
                np.median([c.total_us - c.user_us - c.kernel_us - c.thaw_us for c in one.steady])
                for one in self.series
            ]
        )


def _points(capture: Capture) -> _Points:
    if capture.instruction_ns is None:
        raise ConfigError(
            f"{capture.path}: clock: '{capture.clock}': its cycles do not repeat, nothing to fit"
        )
    steady = _steady(capture)
    sizes = sorted({one.count for one in steady})
    if len(sizes) < _FITTED_SIZES:
        raise ConfigError(
            f"{capture.path}: untraced cycles with N={sizes}, expected {_FITTED_SIZES} or more task counts"
        )
    used = tuple(one for one in steady if one.count in sizes[:_FITTED_SIZES])
    return _Points(used, tuple(one.measured(capture.cpus) for one in used))


def _steady(capture: Capture) -> list[Series]:
    return [one for one in capture.series if one.mix in _MIXES and not one.busy and one.steady]


def _check_rank(capture: Capture, what: str, rows: _Matrix) -> None:
    if len(rows) == 0 or np.linalg.matrix_rank(rows) < rows.shape[1]:
        raise ConfigError(
            f"{capture.path}: the series do not tell the {rows.shape[1]} costs of the {what} apart; "
            "expected mixes frozen and woken at two task counts"
        )


def _solve(capture: Capture, what: str, columns: Sequence[_Matrix], measured: _Matrix) -> list[float]:
    """Non-negative least squares of relative errors: short and long cycles count alike."""
    rows = np.stack(columns, axis=1) / measured[:, None]
    _check_rank(capture, what, rows)
    solution, _ = nnls(rows, np.ones(len(rows)))
    return [float(x) for x in solution]


def _solve_cycles(capture: Capture, what: str, columns: Sequence[_Matrix], measured: _Matrix) -> list[float]:
    """Least squares of absolute errors over single cycles, whose spread is no share of their length."""
    rows = np.stack(columns, axis=1)
    _check_rank(capture, what, rows)
    return [float(x) for x in np.linalg.lstsq(rows, measured, rcond=None)[0]]


def _ns(us: float) -> int:
    return round(us * 1000.0)


def _fit_user_loop(capture: Capture, points: _Points) -> list[float]:
    """F0, a, w and r: which series end with their bursts rather than their sleep is tried, not assumed."""
    woken, user = points.woken, points.column("user_us")
    best: tuple[float, list[float]] | None = None
    for least in sorted({int(w) for w in woken if w > 0}):
        bursts = woken >= least
        rows = np.stack([np.ones_like(user), points.marked, woken, np.where(bursts, woken, 0.0)], axis=1)
        if np.linalg.matrix_rank(rows) < rows.shape[1]:
            continue
        rest = 1.0 - np.where(bursts, 0.0, FIRST_SLEEP_US / user)
        values = [float(x) for x in nnls(rows / user[:, None], rest)[0]]
        burst = values[3]
        if np.array_equal(bursts, burst * woken > FIRST_SLEEP_US):
            walks = values[0] + values[1] * points.marked + values[2] * woken
            error = (walks + np.maximum(FIRST_SLEEP_US, burst * woken) - user) / user
            candidate = (float(np.linalg.norm(error)), values)
            best = candidate if best is None or candidate[0] < best[0] else best
    if best is None:
        raise ConfigError(
            f"{capture.path}: the user loops do not tell wake and freeze burst apart; expected mixes frozen "
            f"and woken at two task counts, the larger with bursts of more than {FIRST_SLEEP_US} us in all"
        )
    return best[1]


def fit_one_cpu(capture: Capture) -> OneCpuCosts:
    """Fit the costs of a capture of one CPU.

    Parameters
    ----------
    capture : Capture
        With untraced cycles of the mixes frozen and woken, better also mixed, at two task counts or more;
        only the two smaller are used.

    Raises
    ------
    ConfigError
        When the capture has more CPUs, or its series do not tell the costs apart.

    Examples
    --------
    >>> fit_one_cpu(Capture.load("no-such-folder"))
    Traceback (most recent call last):
    torpor._core.ConfigError: no-such-folder/truth.json: cannot be read (No such file or directory)
    """
    if capture.cpus != 1:
        raise ConfigError(f"{capture.path}: cpus={capture.cpus}: expected 1")
    points = _points(capture)
    ones = np.ones(len(points.series))
    fixed, marked, woken, burst = _fit_user_loop(capture, points)
    kernel, thaw = points.column("kernel_us"), points.column("thaw_us")
    k0, kv = _solve(capture, "kernel loop", [ones, points.tasks], kernel - FIRST_SLEEP_US)
    t0, tf, tw = _solve(capture, "thaw", [ones, points.marked, points.woken], thaw)
    return OneCpuCosts(
        FIRST_SLEEP_US * 1000,
        _ns(marked),
        _ns(woken),
        _ns(burst),
        _ns(fixed),
        _ns(kv),
        _ns(k0),
        _ns(tf),
        _ns(tw),
        _ns(t0),
        _ns(float(np.mean(points.outside))),
        capture.instruction_ns,
        tuple(one.name for one in points.series),
    )


def fit_four_cpus(capture: Capture) -> FourCpuCosts:
    """Fit the costs of a capture of several CPUs on one clock.

    Parameters
    ----------
    capture : Capture
        As for :func:`fit_one_cpu`. The switches during each thaw come from its own counter.

    Raises
    ------
    ConfigError
        When the capture has one CPU, or its series do not tell the costs apart.

    Examples
    --------
    >>> fit_four_cpus(Capture.load("no-such-folder"))
    Traceback (most recent call last):
    torpor._core.ConfigError: no-such-folder/truth.json: cannot be read (No such file or directory)
    """
    if capture.cpus == 1:
        raise ConfigError(f"{capture.path}: cpus=1: expected 2 or more")
    points = _points(capture)
    plain = [(one, one.measured(capture.cpus).user_us) for one in points.series if not one.woken]
    # Only woken tasks make the number of sleeps vary, so the rest of the loop is fitted without them.
    fixed, marked = _solve(
        capture,
        "user loop",
        [np.ones(len(plain)), np.array([one.marked for one, _ in plain], dtype=np.float64)],
        np.array([user for _, user in plain]) - FIRST_SLEEP_US,
    )
    cycles = [(one, cycle) for one in points.series for cycle in one.steady]
    ones = np.ones(len(cycles))
    woken = np.array([one.woken for one, _ in cycles], dtype=np.float64)
    walks = np.array([fixed + marked * one.marked for one, _ in cycles])
    user = np.array([cycle.user_us for _, cycle in cycles]) - FIRST_SLEEP_US - walks
    kernel = np.array([cycle.kernel_us for _, cycle in cycles], dtype=np.float64) - FIRST_SLEEP_US
    thaw = np.array([cycle.thaw_us for _, cycle in cycles], dtype=np.float64)
    tasks = np.array([one.tasks for one, _ in cycles], dtype=np.float64)
    switches = np.array([thaw_switches(one, cycle.context_switches) for one, cycle in cycles])
    (per_woken,) = _solve_cycles(capture, "user loop", [woken], user)
    k0, kv = _solve_cycles(capture, "kernel loop", [ones, tasks], kernel)
    t0, tn, ts = _solve_cycles(capture, "thaw", [ones, tasks, switches], thaw)
    return FourCpuCosts(
        FIRST_SLEEP_US * 1000,
        _ns(marked),
        _ns(per_woken),
        _ns(fixed),
        _ns(kv),
        _ns(k0),
        _ns(tn),
        _ns(ts),
        _ns(t0),
        _ns(float(np.mean(points.outside))),
        capture.instruction_ns,
        tuple(one.name for one in points.series),
    )


def held_out(capture: Capture) -> tuple[Series, ...]:
    """Return the untraced series with larger task counts than the fit has seen.

    Examples
    --------
    >>> held_out(Capture.load("no-such-folder"))
    Traceback (most recent call last):
    torpor._core.ConfigError: no-such-folder/truth.json: cannot be read (No such file or directory)
    """
    steady = _steady(capture)
    sizes = sorted({one.count for one in steady})[_FITTED_SIZES:]
    return tuple(one for one in steady if one.count in sizes)


def thaw_switches(series: Series, context_switches: float) -> float:
    """Return how many tasks ran in the thaw before the write returned, from a cycle's switch counter.

    Examples
    --------
    >>> from torpor.freezer.capture import mix_sites
    >>> thaw_switches(Series("woken", 1000, 0, mix_sites("woken", 1000), (), ()), 2034)
    1022.0
    """
    return float(context_switches - series.woken - RUNS_BESIDES)
