# SPDX-License-Identifier: MIT
"""What a recorded callback was made of: work on a CPU, sleeps, and waits for a shared lock."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from torpor.dpm._capture_sched import SchedEvent, SchedKind
from torpor.dpm._capture_timing import Tick
from torpor.dpm._capture_usb import UsbReset

__all__ = ["Piece", "PieceKind", "msleep_ticks", "split_by_duration", "split_by_sched"]

_PCI_DELAY_NS = (11_900_000, 12_300_000)
"""How long the delay of a PCI power state appears in a trace."""

_PCI_RANGE_NS = (10_000_000, 12_000_000)
"""The range sleep behind it."""

_SHORT = 0.5
_TICK_WAIT = 1.5
_MAYBE_CPU = 2.0
_AFTER_TICK = 0.25
_TRACED_WAIT = 0.9
"""Bounds of the rules, in tick periods."""

_PREPARES = 5
_PREPARES_PART = 5
"""A callback that sleeps has made other threads work before: 5 times the cost of a callback, but at most a
fifth of the callback. Fitted, and weakly identified."""

_RESUME_MS = 10
_HUB_MS = 100
_LEAST_HOLD_NS = 50_000_000
"""A shorter hold means that the device was resumed without a reset."""

_FIRST_SLEEP_NS = 9_000_000
_HUB_SLEEP_NS = 85_000_000


class PieceKind(Enum):
    """Kinds of segments of a callback."""

    CPU = "cpu"
    SLEEP = "sleep"
    TICKS = "ticks"
    RANGE = "range"
    LOCK = "lock"
    UNLOCK = "unlock"


@dataclass(frozen=True)
class Piece:
    """Part of a callback.

    Attributes
    ----------
    kind : PieceKind
        What is done.
    ns : int
        Length as recorded; of a range sleep its lower bound, of a sleep that ends on a tick what it took
        here.
    count : int
        Ticks that end the sleep, or the upper bound of a range sleep in nanoseconds.
    lock : str
        Which lock.
    """

    kind: PieceKind
    ns: int = 0
    count: int = 0
    lock: str = ""


def msleep_ticks(milliseconds: int, period_ns: int) -> int:
    """Ticks until a sleep of the timer wheel ends: one more than its length, and one by the wheel's rounding.

    Valid below 64 ticks. Source: Linux 6.1, msleep() and the granularity of the wheel's first level.

    Examples
    --------
    >>> [msleep_ticks(ms, 4_000_000) for ms in (10, 50, 60, 100)]
    [5, 15, 17, 27]
    """
    return math.ceil(milliseconds * 1_000_000 / period_ns) + 2


def split_by_duration(
    begin_ns: int,
    end_ns: int,
    tick: Tick,
    callback_ns: float,
    *,
    pci: bool = False,
    reset: UsbReset | None = None,
) -> tuple[Piece, ...]:
    """Split a callback of which only begin and end are known.

    Parameters
    ----------
    begin_ns, end_ns : int
        Its events.
    tick : Tick
        Of the recorded machine.
    callback_ns : float
        What each callback costs besides (a); scales the work in front of a sleep.
    pci : bool
        Whether the device is a PCI function, whose registers are slow to access.
    reset : UsbReset or None
        On resume, what is reset with the device.

    Examples
    --------
    >>> [(piece.kind.value, piece.ns, piece.count) for piece in split_by_duration(
    ...     1_000_000, 20_100_000, Tick(4_000_000, 0, 1.0), 50_000.0)]
    [('cpu', 250000, 0), ('ticks', 18750000, 5), ('cpu', 100000, 0)]
    """
    length, period = end_ns - begin_ns, tick.period_ns
    before = int(min(_PREPARES * callback_ns, length / _PREPARES_PART))
    work = Piece(PieceKind.CPU, before)
    if reset is not None and (pieces := _reset_by_duration(begin_ns, end_ns, tick, work, reset)):
        return pieces
    if length < _SHORT * period:
        return (Piece(PieceKind.CPU, length),)
    if _PCI_DELAY_NS[0] < length < _PCI_DELAY_NS[1]:
        return (Piece(PieceKind.RANGE, *_PCI_RANGE_NS),)
    if length > _TICK_WAIT * period and tick.after_ns(end_ns) <= _AFTER_TICK * period:
        return (work, *_until_tick(begin_ns + before, end_ns, tick))
    if length < _MAYBE_CPU * period or pci:
        return (Piece(PieceKind.CPU, length),)
    return work, Piece(PieceKind.SLEEP, length - before)


def _until_tick(begin_ns: int, end_ns: int, tick: Tick) -> tuple[Piece, ...]:
    after = tick.after_ns(end_ns)
    count = tick.crossed(begin_ns, end_ns)
    return Piece(PieceKind.TICKS, end_ns - after - begin_ns, count), Piece(PieceKind.CPU, after)


def _reset_by_duration(
    begin_ns: int, end_ns: int, tick: Tick, work: Piece, reset: UsbReset
) -> tuple[Piece, ...]:
    """Split a reset by the constants of the sleeps around it; nothing if too little is left for one."""
    first = msleep_ticks(_RESUME_MS, tick.period_ns)
    hub = msleep_ticks(_HUB_MS, tick.period_ns)
    held = tick.crossed(begin_ns + work.ns, end_ns) - first - hub * reset.hub_sleeps
    if held * tick.period_ns < _LEAST_HOLD_NS:
        return ()
    sleeps = [Piece(PieceKind.TICKS, count * tick.period_ns, count) for count in (first, held, hub)]
    return (
        work,
        sleeps[0],
        Piece(PieceKind.LOCK, lock=reset.controller),
        sleeps[1],
        Piece(PieceKind.UNLOCK, lock=reset.controller),
        *sleeps[2:] * reset.hub_sleeps,
        Piece(PieceKind.CPU, tick.after_ns(end_ns)),
    )


def split_by_sched(
    begin_ns: int,
    end_ns: int,
    tick: Tick,
    events: Sequence[SchedEvent],
    *,
    reset: UsbReset | None = None,
) -> tuple[Piece, ...]:
    """Split a callback whose thread's scheduler events are known; time in a run queue is left out.

    Parameters
    ----------
    begin_ns, end_ns : int
        Its events.
    tick : Tick
        Of the recorded machine.
    events : sequence of SchedEvent
        Those of its thread, in order of time, of any time.
    reset : UsbReset or None
        On resume, what is reset with the device.
    """
    pieces: list[Piece] = []
    running, slept = begin_ns, -1
    for event in events:
        if not begin_ns <= event.time_ns <= end_ns:
            continue
        match event.kind:
            case SchedKind.SLEEPS | SchedKind.PREEMPTED:
                _add_work(pieces, event.time_ns - running)
                slept = event.time_ns if event.kind is SchedKind.SLEEPS else -1
            case SchedKind.WOKEN | SchedKind.RUNS if slept >= 0:
                pieces.append(_wait(slept, event, tick))
                slept = -1
            case _:
                pass
        if event.kind is SchedKind.RUNS:
            running = event.time_ns
    _add_work(pieces, end_ns - running)
    return tuple(pieces if reset is None else _reset_by_sleeps(pieces, reset))


def _add_work(pieces: list[Piece], ns: int) -> None:
    if pieces and pieces[-1].kind is PieceKind.CPU:
        ns += pieces.pop().ns
    if ns > 0:
        pieces.append(Piece(PieceKind.CPU, ns))


def _wait(slept_ns: int, woken: SchedEvent, tick: Tick) -> Piece:
    length = woken.time_ns - slept_ns
    after = tick.after_ns(woken.time_ns)
    on_tick = length >= _TRACED_WAIT * tick.period_ns and after <= _AFTER_TICK * tick.period_ns
    if on_tick and woken.from_idle:
        return Piece(PieceKind.TICKS, length, tick.crossed(slept_ns, woken.time_ns))
    return Piece(PieceKind.SLEEP, length)


def _reset_by_sleeps(pieces: list[Piece], reset: UsbReset) -> list[Piece]:
    waits = [i for i, piece in enumerate(pieces) if piece.kind is not PieceKind.CPU]
    first = next((i for i in waits if pieces[i].ns > _FIRST_SLEEP_NS), None)
    if first is None:
        return pieces
    begin, end = first + 1, len(pieces)
    if reset.hub_sleeps:
        long = [i for i in waits if i >= begin and pieces[i].ns > _HUB_SLEEP_NS]
        end = min(long[-reset.hub_sleeps :], default=end)
    if sum(piece.ns for piece in pieces[begin:end]) < _LEAST_HOLD_NS:
        return pieces
    lock = Piece(PieceKind.LOCK, lock=reset.controller)
    unlock = Piece(PieceKind.UNLOCK, lock=reset.controller)
    return [*pieces[:begin], lock, *pieces[begin:end], unlock, *pieces[end:]]
