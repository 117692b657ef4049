# SPDX-License-Identifier: MIT
"""What a cycle without workers tells of the machine: cost of a device, of a callback, and its tick."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from torpor._core import ConfigError
from torpor.dpm._capture_records import Cycle, PhaseRecord, walks_backwards

__all__ = ["PhaseCosts", "Tick", "find_tick", "phase_costs", "touch_ns", "walk_places"]

_PERIODS_NS = (10_000_000, 4_000_000, 3_333_333, 1_000_000)
"""Tick periods of kernels built for 100, 250, 300 and 1000 ticks a second."""

_SLEPT_NS = 12_300_000
"""Callbacks longer than this are taken to end with a sleep; the delay of a PCI power state is shorter."""

_LOWER_EDGE = 0.02
_JITTER = 0.01
"""Ends that are earlier than the quantile by less than this part of a period still belong to the cluster."""

_LONGEST_TAIL = 50
"""The tail is bounded by this many steps along the list; a longer one is other work of the phase."""


@dataclass(frozen=True)
class PhaseCosts:
    """Cost of a phase besides its callbacks, nanoseconds.

    Attributes
    ----------
    step_ns : float
        Going one device further along the list (b).
    callback_ns : float
        Around each callback: mostly printing, where the kernel was told to print callbacks (a).
    tail_ns : float
        From the last callback to the end of the phase, as recorded.
    """

    step_ns: float
    callback_ns: float
    tail_ns: float

    @property
    def end_ns(self) -> float:
        """What is charged at the end of the phase: the tail, at most 50 steps."""
        return min(self.tail_ns, _LONGEST_TAIL * self.step_ns)


@dataclass(frozen=True)
class Tick:
    """The periodic tick of a recorded machine.

    Attributes
    ----------
    period_ns : int
        Time between two ticks.
    phase_ns : int
        A tick is at this time of the trace's clock, modulo the period.
    resultant : float
        How well the ends of sleeps agree with it, from 0 to 1.
    """

    period_ns: int
    phase_ns: int
    resultant: float

    def after_ns(self, time_ns: int) -> int:
        """Time since the last tick."""
        return (time_ns - self.phase_ns) % self.period_ns

    def crossed(self, begin_ns: int, end_ns: int) -> int:
        """Count the ticks later than the begin, up to and including the end.

        Examples
        --------
        >>> Tick(4_000_000, 0, 1.0).crossed(3_999_999, 8_000_000)
        2
        """
        return (end_ns - self.phase_ns) // self.period_ns - (begin_ns - self.phase_ns) // self.period_ns


def touch_ns(cycle: Cycle) -> float:
    """Cost of touching one device in prepare, nanoseconds (p): a scale of the CPU's speed.

    Raises
    ------
    ConfigError
        When the phase has no length.
    """
    phase = cycle.phases["prepare"]
    if phase.end_ns <= phase.begin_ns:
        raise ConfigError(f"{cycle.name}: prepare takes no time")
    return (phase.end_ns - phase.begin_ns) / len(cycle.order)


def walk_places(phase: str, count: int) -> range:
    """Places of the list in the order in which a phase walks them."""
    return range(count - 1, -1, -1) if walks_backwards(phase) else range(count)


def phase_costs(phase: PhaseRecord, count: int) -> PhaseCosts:
    """Fit the gaps between the callbacks of a phase that the main thread ran alone.

    The gap before a callback is taken as ``callback_ns + step_ns * devices walked since the one before``;
    least squares, neither of them negative, and their sum right on average.

    Parameters
    ----------
    phase : PhaseRecord
        The phase; without callbacks all of it is steps.
    count : int
        Length of the device list.
    """
    order = walk_places(phase.name, count)
    gaps: list[int] = []
    walked: list[int] = []
    last_ns, last_step = phase.begin_ns, -1
    for one in phase.callbacks:
        step = order.index(one.place)
        gaps.append(one.begin_ns - last_ns)
        walked.append(step - last_step)
        last_ns, last_step = one.end_ns, step
    if not gaps:
        return PhaseCosts((phase.end_ns - phase.begin_ns) / count, 0.0, 0.0)
    mean_gap, mean_walked = sum(gaps) / len(gaps), sum(walked) / len(walked)
    spread = sum((steps - mean_walked) ** 2 for steps in walked)
    common = sum((steps - mean_walked) * (gap - mean_gap) for steps, gap in zip(walked, gaps, strict=True))
    slope = common / spread if spread else 0.0
    step_ns = min(max(slope, 0.0), mean_gap / mean_walked)
    return PhaseCosts(step_ns, mean_gap - step_ns * mean_walked, float(phase.end_ns - last_ns))


def find_tick(cycles: Iterable[Cycle], source: str) -> Tick:
    """Find the tick from the times at which long callbacks end: sleeps of the timer wheel end on ticks.

    Of the usual periods the one is taken on whose circle the ends agree best; a tick is at the lower edge of
    their cluster, because a callback ends a little after the tick that woke it.

    Parameters
    ----------
    cycles : iterable of Cycle
        Recorded without workers.
    source : str
        What messages call them.

    Raises
    ------
    ConfigError
        When no callback is longer than 12.3 ms.
    """
    ends = [
        one.end_ns
        for cycle in cycles
        for phase in cycle.middle
        for one in phase.callbacks
        if one.duration_ns > _SLEPT_NS
    ]
    if not ends:
        raise ConfigError(f"{source}: no callback longer than {_SLEPT_NS / 1e6} ms: no tick to be found")
    return max((_fit(ends, period) for period in _PERIODS_NS), key=lambda tick: tick.resultant)


def _fit(ends: Sequence[int], period: int) -> Tick:
    turn = 2.0 * math.pi / period
    angles = [(end % period) * turn for end in ends]
    east, north = sum(map(math.cos, angles)) / len(ends), sum(map(math.sin, angles)) / len(ends)
    middle = math.atan2(north, east) / turn
    half = period / 2
    offsets = sorted((end - middle + half) % period - half for end in ends)
    quantile = offsets[int(_LOWER_EDGE * len(offsets))]
    edge = next(offset for offset in offsets if offset >= quantile - _JITTER * period)
    return Tick(period, round(middle + edge) % period, math.hypot(east, north))
