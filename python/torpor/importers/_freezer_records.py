# SPDX-License-Identifier: MIT
"""What is read from a kernel log about freezing, as records."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

from torpor._core import ConfigError
from torpor.importers._freezer_lines import Loop

__all__ = ["BadLine", "BusyWorkqueue", "FreezeCycle", "Offender", "SleepQuantum", "sleep_quantum"]

Result = Literal["frozen", "failed", "aborted", "incomplete"]

LONGEST_BACKOFF_MS = 8
WORST_TICK_MS = 10.0
COARSEST_MS = 10

ERA_3_10 = "up to 3.10"
ERA_3_11 = "3.11 to 6.2"
ERA_6_2 = "about 6.2, 6.1 stable"
ERA_LATER = "later 6.x"
ERA_VENDOR = "vendor 3.10"
ERAS = (ERA_3_10, ERA_VENDOR, ERA_3_11, ERA_6_2, ERA_LATER)
ERAS_WITH_BACKOFF = (ERA_3_11, ERA_6_2, ERA_LATER)


class BadLine(NamedTuple):
    """A line that speaks of the freezer but cannot be read.

    Parameters
    ----------
    line : int
        Its number, from 1.
    text : str
        Its beginning.
    reason : str
        What is wrong with it.

    Examples
    --------
    >>> BadLine(3, "Freezing user space processes ... (elap", "no readable elapsed time").line
    3
    """

    line: int
    text: str
    reason: str


@dataclass(frozen=True)
class Offender:
    """A task that refused to freeze.

    Parameters
    ----------
    line : int
        Number of the line that names it.
    name : str
        Name of the task, cut by the kernel to 15 characters.
    pid : int
        Its process number.
    state : str
        State letter: D, R, S, ...
    top_frame : str or None
        Innermost function of its call trace outside the scheduler; None without a trace.
    kind : str
        Class of trouble, "unknown" if nothing tells it.
    evidence : {"state", "frame", "name", "service manager", ""}
        What the class was told by.
    frames : tuple of str
        Its call trace, innermost first, at most 32 functions.

    Examples
    --------
    >>> Offender(7, "stat", 1234, "D", "request_wait_answer [fuse]", "FUSE client", "frame", ()).kind
    'FUSE client'
    """

    line: int
    name: str
    pid: int
    state: str
    top_frame: str | None
    kind: str
    evidence: str
    frames: tuple[str, ...]


@dataclass(frozen=True)
class BusyWorkqueue:
    """A workqueue that still had work when freezing failed.

    Parameters
    ----------
    name : str
        Name of the workqueue.
    in_flight : tuple of str
        Functions that were running.
    waiting : tuple of str
        Functions queued behind them.

    Examples
    --------
    >>> BusyWorkqueue("usb_hub_wq", ("hub_event",), ()).in_flight
    ('hub_event',)
    """

    name: str
    in_flight: tuple[str, ...]
    waiting: tuple[str, ...]


@dataclass(frozen=True)
class SleepQuantum:
    """Whether the elapsed time of a failure fits the timeout and the sleeps between two passes.

    The timeout is looked at only after a pass, so a failure comes late by at most one sleep and one tick.
    Sleeps of 10 ms can end as early as the backoff's: where both fit, the excess proves nothing, and only the
    form of the lines tells which kernel it was.

    Parameters
    ----------
    excess_ms : int, milliseconds
        Elapsed time beyond the timeout, as printed; negative when it ended before.
    limit_ms : float, milliseconds
        The longest backoff sleep and one tick.
    explanation : {"fits the backoff", "fits msleep", "fits either", "cannot tell", "other timeout"}
        What would explain it. "fits the backoff": the lines are of a kernel that has it, 3.11 or later.
        "fits msleep": too late for the backoff, or of a kernel without it, up to 3.10. "fits either": the
        lines do not tell the kernel. "cannot tell": the limit lies within the unit that was printed, or it is
        later than either by less than a second.
    implied_timeout_ms : int or None, milliseconds
        The whole seconds after which it failed, for another timeout; None if that is not known.
    resolution_ms : int, milliseconds
        Unit of what was printed; since the kernel cuts off, the excess may be larger by less than this.

    Examples
    --------
    >>> sleep_quantum(20_006, era="3.11 to 6.2").ok
    True
    >>> print(sleep_quantum(20_006).ok)
    None
    """

    excess_ms: int
    limit_ms: float
    explanation: Literal["fits the backoff", "fits msleep", "fits either", "cannot tell", "other timeout"]
    implied_timeout_ms: int | None = None
    resolution_ms: int = 1

    @property
    def ok(self) -> bool | None:
        """Whether a backoff of at most 8 ms explains it; None where that cannot be told."""
        if self.explanation in ("fits either", "cannot tell"):
            return None
        return self.explanation == "fits the backoff"


def sleep_quantum(
    elapsed_ms: int,
    timeout_ms: int = 20_000,
    hz: int | None = None,
    *,
    resolution_ms: int = 1,
    era: str | None = None,
) -> SleepQuantum:
    """Check the elapsed time of a failure against timeout and sleeps.

    Parameters
    ----------
    elapsed_ms : int, milliseconds
        What the kernel printed.
    timeout_ms : int, milliseconds
        What was in ``/sys/power/pm_freeze_timeout``.
    hz : int or None, hertz
        The kernel's HZ; None assumes the longest tick, 10 ms.
    resolution_ms : int, milliseconds
        Unit of what the kernel printed: 10 for hundredths of a second, which kernels up to 3.10 print, or 1.
    era : str or None
        As in :class:`FreezeCycle`: kernels up to 3.10 sleep 10 ms, those from 3.11 on have the backoff. None
        tells neither, but hundredths without an era are taken for 3.10.

    Raises
    ------
    ConfigError
        When timeout, HZ or resolution are out of range, or for an unknown era.

    Examples
    --------
    >>> sleep_quantum(60_002).explanation, sleep_quantum(60_002).implied_timeout_ms
    ('other timeout', 60000)
    >>> sleep_quantum(20_013, hz=1000).explanation
    'fits msleep'
    >>> sleep_quantum(20_010, resolution_ms=10, era="up to 3.10").explanation
    'fits msleep'
    """
    check_quantum_parameters(timeout_ms, hz)
    if not 1 <= resolution_ms <= COARSEST_MS:
        raise ConfigError(f"resolution_ms={resolution_ms} is outside 1..{COARSEST_MS}")
    if era is not None and era not in ERAS:
        raise ConfigError(f"era={era!r}: unknown; known: {', '.join(ERAS)}")
    tick_ms = WORST_TICK_MS if hz is None else 1000 / hz
    limit_ms = LONGEST_BACKOFF_MS + tick_ms
    # msleep(10): its ticks, one for the phase, one for the coarse timer wheel; and one for the test.
    msleep_limit_ms = (math.ceil(10 / tick_ms) + 3) * tick_ms
    excess_ms = elapsed_ms - timeout_ms
    before_ms = excess_ms + resolution_ms  # what was cut off leaves the true excess below this
    implied_ms: int | None = None
    explanation: Literal["fits the backoff", "fits msleep", "fits either", "cannot tell", "other timeout"]
    without_backoff = era == ERA_3_10 or (era is None and resolution_ms == COARSEST_MS)
    if before_ms > 0 and excess_ms <= msleep_limit_ms:
        if without_backoff or excess_ms > limit_ms:
            explanation = "fits msleep"
        elif before_ms > limit_ms:
            explanation = "cannot tell"
        else:
            explanation = "fits the backoff" if era in ERAS_WITH_BACKOFF else "fits either"
    else:
        whole_ms = elapsed_ms - elapsed_ms % 1000
        if whole_ms not in (0, timeout_ms) and elapsed_ms - whole_ms <= msleep_limit_ms:
            implied_ms = whole_ms
        late = implied_ms is None and 0 <= excess_ms < 1000
        explanation = "cannot tell" if late else "other timeout"
    return SleepQuantum(excess_ms, limit_ms, explanation, implied_ms, resolution_ms)


def check_quantum_parameters(timeout_ms: int, hz: int | None) -> None:
    """Refuse a timeout or HZ that no kernel has."""
    for name, value, low, high in (("timeout_ms", timeout_ms, 1, 2**32 - 1), ("hz", hz, 1, 10_000)):
        if value is not None and not low <= value <= high:
            raise ConfigError(f"{name}={value} is outside {low}..{high}")


@dataclass(frozen=True)
class FreezeCycle:
    """One attempt to freeze all tasks.

    Parameters
    ----------
    attempt : int
        Its number, from 1.
    line : int
        Number of its first line.
    time_s : float or None, seconds
        Monotonic time of that line; None if the log has no time in brackets.
    result : {"frozen", "failed", "aborted", "incomplete"}
        How it ended; "incomplete" when the log does not say.
    loop : {"user", "kernel"} or None
        The loop that failed or was aborted; None if there is none or the log does not tell.
    user_ms, kernel_ms : int or None, milliseconds
        Elapsed time of each loop as printed: truncated, not rounded.
    failure_ms : int or None, milliseconds
        Elapsed time of the failure or abort, also when its loop is not known.
    resolution_ms : int or None, milliseconds
        Coarsest resolution of these: 10 (hundredths of a second) or 1; None without any.
    era : str or None
        Kernels that write these forms; None if the lines do not tell.
    refusing : int or None
        Number of tasks that refused to freeze.
    wq_busy : bool or None
        Whether a freezable workqueue was busy; None where the log does not tell, or contradicts itself.
    wakeup_source : str or None
        What the kernel names as the reason of an abort.
    offenders : tuple of Offender
        The tasks named.
    workqueues : tuple of BusyWorkqueue
        The workqueues named.
    entry : str or None
        Kind of suspend: "deep", "s2idle", ...; None if the log does not tell.
    sync_ms : int or None, milliseconds
        Time to write out file systems before.
    frozen_unit : str or None
        Unit that the service manager failed to freeze before.
    thawed : bool
        Whether the log tells of the thaw.
    sleep_quantum : SleepQuantum or None
        Check of a failure's elapsed time; None for anything else.
    kind : str or None
        Class of the trouble, several parted by commas; None when all went well.

    Examples
    --------
    >>> from torpor.importers import FreezerLog
    >>> log = FreezerLog.from_lines([b"Freezing of tasks aborted after 4.120 seconds (1 tasks refusing to "
    ...                              b"freeze, wq_busy=0):"], "example")
    >>> log.cycles[0].result, log.cycles[0].failure_ms, log.cycles[0].refusing
    ('aborted', 4120, 1)
    """

    attempt: int
    line: int
    time_s: float | None
    result: Result
    loop: Loop | None
    user_ms: int | None
    kernel_ms: int | None
    failure_ms: int | None
    resolution_ms: int | None
    era: str | None
    refusing: int | None
    wq_busy: bool | None
    wakeup_source: str | None
    offenders: tuple[Offender, ...]
    workqueues: tuple[BusyWorkqueue, ...]
    entry: str | None
    sync_ms: int | None
    frozen_unit: str | None
    thawed: bool
    sleep_quantum: SleepQuantum | None
    kind: str | None
