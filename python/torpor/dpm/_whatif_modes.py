# SPDX-License-Identifier: MIT
"""Why a predicted phase takes as long as it does: its modes, the races that make them, its critical path."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from torpor.dpm._critical_path import critical_path
from torpor.dpm.graph import DeviceGraph

__all__ = [
    "Mode",
    "Race",
    "Step",
    "critical_path",
    "first_holders",
    "modes_of",
    "orders_of",
    "races_of",
    "rivals",
]

_GAP_MS = 20.0
"""Two totals that are further apart belong to different modes."""

_CERTAIN = 0.95
"""A race decides between modes when it ends one way in at least this share of one, the other way in one."""


@dataclass(frozen=True)
class Step:
    """A device on a critical path.

    Attributes
    ----------
    device : str
        Which one.
    reason : str
        Why it was not earlier, one of ``torpor.dpm._critical_path.REASONS``.
    start_ms, end_ms : float
        From when the device before it was no longer in its way to its own end, or until it gave the lock that
        the next one waited for; since the begin of the phase.
    """

    device: str
    reason: str
    start_ms: float
    end_ms: float

    @property
    def length_ms(self) -> float:
        """From its start to its end, milliseconds."""
        return self.end_ms - self.start_ms


@dataclass(frozen=True)
class Mode:
    """Durations of a phase that lie together.

    Attributes
    ----------
    members : tuple of int
        Places of these replicates among all.
    mean_ms, low_ms, high_ms : float
        Of its durations.
    share : float
        Of all replicates.
    orders : tuple of (str, str)
        Who went first in the races that tell it from other modes: winner and loser.
    path : tuple of Step
        Critical path of its replicate nearest to the mean.
    """

    members: tuple[int, ...]
    mean_ms: float
    low_ms: float
    high_ms: float
    share: float
    orders: tuple[tuple[str, str], ...] = ()
    path: tuple[Step, ...] = ()


@dataclass(frozen=True)
class Race:
    """Two siblings that want the same lock.

    Attributes
    ----------
    first, second : str
        The two, by their places in the list.
    share_first : float
        Share of the replicates in which the first one got the lock first.
    first_ms, second_ms : float
        Mean duration of the phase if it did, and if it did not; NaN where it never came to that.
    """

    first: str
    second: str
    share_first: float
    first_ms: float
    second_ms: float


def modes_of(durations_ms: Sequence[float]) -> tuple[Mode, ...]:
    """Durations in clusters, the shortest first; a gap above 20 ms begins a new one.

    Examples
    --------
    >>> [(mode.mean_ms, mode.share) for mode in modes_of([1458.0, 1640.0, 1460.0, 1462.0])]
    [(1460.0, 0.75), (1640.0, 0.25)]
    """
    order = sorted(range(len(durations_ms)), key=lambda i: durations_ms[i])
    clusters: list[list[int]] = []
    for i in order:
        if clusters and durations_ms[i] - durations_ms[clusters[-1][-1]] <= _GAP_MS:
            clusters[-1].append(i)
        else:
            clusters.append([i])
    return tuple(
        Mode(
            tuple(cluster),
            statistics.fmean(durations_ms[i] for i in cluster),
            durations_ms[cluster[0]],
            durations_ms[cluster[-1]],
            len(cluster) / len(durations_ms),
        )
        for cluster in clusters
    )


def rivals(graph: DeviceGraph, phase: str) -> tuple[tuple[str, str], ...]:
    """Pairs of siblings that take the same lock in a phase, in list order.

    Examples
    --------
    >>> from torpor.dpm.graph import Device, Segment
    >>> reset = {"resume": [Segment.lock("usb"), Segment.unlock("usb")]}
    >>> rivals(DeviceGraph([Device("hub"), *(Device(n, "hub", callbacks=reset) for n in "ab")]), "resume")
    (('a', 'b'),)
    """
    groups: dict[tuple[str | None, str], list[str]] = {}
    for device in graph.devices:
        for segment in device.callbacks.get(phase, ()):
            if segment.kind == "lock":
                groups.setdefault((device.parent, segment.name), []).append(device.name)
    return tuple(
        pair for group in groups.values() for pair in itertools.combinations(dict.fromkeys(group), 2)
    )


def first_holders(frame: pd.DataFrame, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], bool]:
    """Return for each pair whether its first device had the lock before the second.

    Parameters
    ----------
    frame : pandas.DataFrame
        Intervals of one phase.
    pairs : iterable of (str, str)
        Pairs that take the same lock.
    """
    before = {
        device: _device(holder) for device, holder in zip(frame["device"], frame["lock_after"], strict=True)
    }
    begin: dict[str, float] = dict(zip(frame["device"], frame["begin_ms"], strict=True))

    def came_before(one: str, other: str) -> bool:
        holder = before[other]
        while holder is not None and holder != one:
            holder = before[holder]
        return holder == one

    return {
        (one, other): came_before(one, other) or (not came_before(other, one) and begin[one] <= begin[other])
        for one, other in pairs
    }


def races_of(
    durations_ms: Sequence[float], winners: Sequence[Mapping[tuple[str, str], bool]]
) -> tuple[Race, ...]:
    """Tell how each race ended, and what it is worth.

    Parameters
    ----------
    durations_ms : sequence of float
        Of the phase, by replicate.
    winners : sequence of mapping
        What :func:`first_holders` says of each.
    """
    made = []
    for pair in winners[0] if winners else ():
        sides: tuple[list[float], list[float]] = ([], [])
        for ms, first in zip(durations_ms, winners, strict=True):
            sides[0 if first[pair] else 1].append(ms)
        means = [statistics.fmean(side) if side else math.nan for side in sides]
        made.append(Race(*pair, len(sides[0]) / len(durations_ms), *means))
    return tuple(made)


def orders_of(
    modes: Sequence[Mode], winners: Sequence[Mapping[tuple[str, str], bool]]
) -> list[tuple[tuple[str, str], ...]]:
    """Return for each mode who went first in the races that end otherwise in another one."""
    pairs = list(winners[0]) if winners else []
    shares = {
        pair: [statistics.fmean(winners[i][pair] for i in mode.members) for mode in modes] for pair in pairs
    }
    found: list[tuple[tuple[str, str], ...]] = []
    for place in range(len(modes)):
        mine: list[tuple[str, str]] = []
        for pair in pairs:
            own = shares[pair][place]
            if own >= _CERTAIN and min(shares[pair]) <= 1 - _CERTAIN:
                mine.append(pair)
            elif own <= 1 - _CERTAIN and max(shares[pair]) >= _CERTAIN:
                mine.append((pair[1], pair[0]))
        found.append(tuple(mine))
    return found


def path_of(intervals: pd.DataFrame, graph: DeviceGraph, phase: str) -> tuple[Step, ...]:
    """Return the steps of the critical path that take any time, in order of time."""
    frame = critical_path(intervals, graph, phase)
    columns = ("device", "reason", "start_ms", "end_ms")
    steps = (Step(*row) for row in zip(*(frame[name].tolist() for name in columns), strict=True))
    return tuple(step for step in steps if step.length_ms > 0.0)


def _device(cell: object) -> str | None:
    """Name in a cell of a table, in which none may be a NaN."""
    return cell if isinstance(cell, str) else None
