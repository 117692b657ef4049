# SPDX-License-Identifier: MIT
"""Scheduler events of the threads that run callbacks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

__all__ = ["SchedEvent", "SchedKind", "sched_event"]

_SWITCH = re.compile(
    r"prev_comm=.* prev_pid=(?P<out>\d+) .*?prev_state=(?P<state>\S+) ==> "
    r"next_comm=.* next_pid=(?P<into>\d+) "
)
_WAKE = re.compile(r"comm=.* pid=(?P<pid>\d+) ")
_IDLE = 0
"""Process id of the idle task, in whose place interrupts of an idle CPU are handled."""


class SchedKind(Enum):
    """What happens to a thread."""

    SLEEPS = "switched out to wait"
    PREEMPTED = "switched out runnable"
    WOKEN = "becomes runnable"
    RUNS = "switched in"


@dataclass(frozen=True)
class SchedEvent:
    """Event of one thread; `from_idle` tells that the waker was the idle task, as when a timer expires."""

    time_ns: int
    kind: SchedKind
    from_idle: bool = False


def sched_event(time_ns: int, pid: int, event: str, args: str) -> Iterator[tuple[int, SchedEvent]]:
    """Deliver the threads that a row of the trace concerns and what happens to them; other rows: nothing."""
    if event == "sched_switch":
        if switch := _SWITCH.match(args):
            runnable = switch["state"].startswith("R")
            kind = SchedKind.PREEMPTED if runnable else SchedKind.SLEEPS
            yield int(switch["out"]), SchedEvent(time_ns, kind)
            yield int(switch["into"]), SchedEvent(time_ns, SchedKind.RUNS)
    elif event == "sched_wakeup" and (wake := _WAKE.match(args)):
        yield int(wake["pid"]), SchedEvent(time_ns, SchedKind.WOKEN, pid == _IDLE)
