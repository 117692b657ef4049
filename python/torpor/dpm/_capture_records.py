# SPDX-License-Identifier: MIT
"""What a trace tells of suspend and resume cycles: phases, the device list, and every callback."""

from __future__ import annotations

from dataclasses import dataclass

from torpor.dpm._capture_sched import SchedEvent

__all__ = [
    "MIDDLE_PHASES",
    "PHASES",
    "Callback",
    "Cycle",
    "PhaseRecord",
    "TraceName",
    "walks_backwards",
]

MIDDLE_PHASES = ("suspend", "suspend_late", "suspend_noirq", "resume_noirq", "resume_early", "resume")
"""Phases whose callbacks may run in workers."""

PHASES = ("prepare", *MIDDLE_PHASES, "complete")


def walks_backwards(phase: str) -> bool:
    """Whether a phase walks the device list from its tail."""
    return phase in ("suspend", "suspend_late", "suspend_noirq", "complete")


@dataclass(frozen=True)
class TraceName:
    """How the kernel's events name a device: driver string, name, parent's name (``none`` without one)."""

    driver: str
    name: str
    parent: str

    def __str__(self) -> str:
        return f"{self.driver} {self.name}".lstrip()


@dataclass(frozen=True)
class Callback:
    """One callback of one device.

    Attributes
    ----------
    device : TraceName
        Whose it is.
    place : int
        The device's place in the list, that of its prepare event; -1 for a device without one.
    begin_ns, end_ns : int
        Its events, nanoseconds of the trace's clock. The wait for other devices lies before.
    by_worker : bool
        Whether a worker ran it.
    thread : int
        Process id of the thread that ran it.
    error : int
        What it returned.
    """

    device: TraceName
    place: int
    begin_ns: int
    end_ns: int
    by_worker: bool
    thread: int
    error: int

    @property
    def duration_ns(self) -> int:
        """From its first to its last event, nanoseconds."""
        return self.end_ns - self.begin_ns


@dataclass(frozen=True)
class PhaseRecord:
    """One phase of one cycle.

    Attributes
    ----------
    name : str
        Which one.
    begin_ns, end_ns : int
        Its events, nanoseconds of the trace's clock.
    callbacks : tuple of Callback
        In the order in which they began.
    items_here, items_elsewhere : int, or None
        Asynchronous items, with and without a callback, that began on the CPU on which the main thread was
        last seen, and on others; None where the workqueue events were not recorded.

    Examples
    --------
    >>> usb = TraceName("usb", "1-1", "usb1")
    >>> phase = PhaseRecord("resume", 1000, 9_001_000, (Callback(usb, 0, 2000, 5_002_000, True, 7, 0),))
    >>> phase.duration_ms, phase.sum_ms, phase.by_worker, str(phase.longest.device)
    (9.0, 5.0, 1, 'usb 1-1')
    """

    name: str
    begin_ns: int
    end_ns: int
    callbacks: tuple[Callback, ...]
    items_here: int | None = None
    items_elsewhere: int | None = None

    @property
    def items_with_main(self) -> bool | None:
        """Whether most items ran on the main thread's CPU; None without any, or if they were not traced."""
        if self.items_here is None or self.items_elsewhere is None:
            return None
        return (
            None if self.items_here == self.items_elsewhere == 0 else self.items_here > self.items_elsewhere
        )

    @property
    def duration_ms(self) -> float:
        """From the phase's begin to its end event, milliseconds."""
        return (self.end_ns - self.begin_ns) / 1e6

    @property
    def by_worker(self) -> int:
        """Number of callbacks that workers ran."""
        return sum(one.by_worker for one in self.callbacks)

    @property
    def sum_ms(self) -> float:
        """Durations of all callbacks together, milliseconds."""
        return sum(one.duration_ns for one in self.callbacks) / 1e6

    @property
    def longest(self) -> Callback | None:
        """The longest callback, of equal ones the first; None without any."""
        return max(self.callbacks, key=lambda one: one.duration_ns, default=None)


@dataclass(frozen=True)
class Cycle:
    """One recorded suspend and resume.

    Attributes
    ----------
    source, label : str
        The trace, and the recorder's label without the number of the cycle.
    number : int
        Its number, from 0.
    asynchronous : bool
        Whether devices with the async flag were left to workers.
    total_ms : float
        Duration of the whole cycle by the recorder, milliseconds.
    order : tuple of TraceName
        The device list, in the order of the prepare events.
    phases : dict
        :class:`PhaseRecord` by name; only the recorded ones.
    sched : dict, or None
        Scheduler events by thread, of the threads that ran callbacks; None where they were not recorded.
    """

    source: str
    label: str
    number: int
    asynchronous: bool
    total_ms: float
    order: tuple[TraceName, ...]
    phases: dict[str, PhaseRecord]
    sched: dict[int, tuple[SchedEvent, ...]] | None

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"{self.source}: {self.label} cycle={self.number}"

    @property
    def middle(self) -> tuple[PhaseRecord, ...]:
        """The recorded phases between prepare and complete, in their order."""
        return tuple(self.phases[name] for name in MIDDLE_PHASES if name in self.phases)
