# SPDX-License-Identifier: MIT
"""Which devices decide how long a phase takes, and how much later the others could be."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from typing import NamedTuple

import numpy as np
import pandas as pd

from torpor._checks import shown
from torpor._core import ConfigError
from torpor.dpm.graph import PHASES, DeviceGraph

__all__ = ["REASONS", "critical_path", "slack"]

REASONS = ("start", "dependency", "lock", "worker", "cpu", "walk")
"""Why a device of the path was not earlier: see :func:`critical_path`."""

_NEVER = -1
_MAIN = 0
_COLUMNS = (
    *("phase", "device", "queued_ms", "taken_ms", "begin_ms", "end_ms", "lock_wait_ms"),
    *("worker", "cpu", "called", "in_place", "lock_after"),
)


class Row(NamedTuple):
    """A device that ended; nanoseconds since the phase began."""

    place: int  # in the order of the walk
    device: str
    queued: int
    taken: int
    begin: int
    end: int
    lock_wait: int
    worker: int
    cpu: int
    called: bool
    in_place: bool
    lock_after: str | None

    @property
    def walked(self) -> bool:
        """Whether the walk of the main thread handled it in its turn."""
        return self.worker == _MAIN and not self.in_place


class _Step(NamedTuple):
    """What came before a device, and since when that no longer held it up."""

    reason: str
    before: Row | None
    since: int


_START = _Step("start", None, 0)


def critical_path(intervals: pd.DataFrame, graph: DeviceGraph, phase: str) -> pd.DataFrame:
    """Walk back from the device that ended last to what decided when it ended, and so on.

    Parameters
    ----------
    intervals : pandas.DataFrame
        As of :meth:`torpor.dpm.Scenario.intervals`.
    graph : DeviceGraph
        The graph of that replicate.
    phase : str
        One of ``torpor.dpm.PHASES``.

    Returns
    -------
    pandas.DataFrame
        One row per step, in order of time; empty when no device ended. The steps follow each other without
        gap from 0 to the end of the last device, so their lengths add up to it.

        ``device``
            Which.
        ``reason``
            Why it was not earlier. ``dependency``: it waited for a device, or was queued by the last one that
            it needed. ``lock``: another held the shared lock. ``worker``: its worker was still busy.
            ``cpu``: its CPU was. ``walk``: the main thread had not come so far. ``start``: there was nothing
            before it.
        ``after``
            The device that held it up; missing for ``start``.
        ``start_ms``, ``begin_ms``, ``end_ms``
            When the device before it was no longer in the way, when its callback could begin, and when it
            ended, milliseconds since the phase began; of the holder of a lock, when it gave that back.
        ``length_ms``, ``wait_ms``
            From start to end, and the part of it up to begin: queueing, wakeups, waits for a CPU.

    Raises
    ------
    ConfigError
        For an unknown phase, a missing column, and devices that the graph lacks.

    Notes
    -----
    Intervals do not tell who queued an item, nor when a lock was given back. The first is taken to be the
    device that it needs and whose thread then did nothing else, or else the walk. The second is the end of
    the holder, or, if that went on for longer, the earliest moment that the recorded wait allows. ``cpu`` is
    told from the CPU on which a device ended.

    Examples
    --------
    >>> from torpor.dpm import Device, Link, Scenario, Segment
    >>> busy = {"resume": [Segment.cpu(1000)]}
    >>> devices = [Device(name, callbacks=busy) for name in ("clk", "ufs", "led")]
    >>> graph = DeviceGraph(devices, [Link("clk", "ufs")])
    >>> intervals = Scenario.reference(graph, cpus=3).intervals("old")
    >>> critical_path(intervals, graph, "resume")[["device", "reason", "after", "length_ms"]]
      device      reason after  length_ms
    0    clk       start  None        1.0
    1    ufs  dependency   clk        1.0
    """
    here = PhaseRows(intervals, graph, phase)
    steps: list[tuple[Row, _Step, int]] = []
    seen: set[str] = set()
    row = max(here.rows.values(), key=lambda one: (one.end, one.place), default=None)
    end = row.end if row else 0
    while row is not None:
        seen.add(row.device)
        step = here.before(row, seen)
        since = min(step.since, end)
        steps.append((row, step._replace(since=since), end))
        row, end = step.before, since
    steps.reverse()
    frame = pd.DataFrame(
        {
            "device": [row.device for row, _, _ in steps],
            "reason": [step.reason for _, step, _ in steps],
            "after": pd.Series(
                [step.before.device if step.before else None for _, step, _ in steps], dtype=object
            ),
            "start_ms": [step.since / 1e6 for _, step, _ in steps],
            "begin_ms": [row.begin / 1e6 for row, _, _ in steps],
            "end_ms": [end / 1e6 for _, _, end in steps],
            "length_ms": [(end - step.since) / 1e6 for _, step, end in steps],
            "wait_ms": [max(min(row.begin, end) - step.since, 0) / 1e6 for row, step, end in steps],
        }
    )
    return frame


def slack(intervals: pd.DataFrame, graph: DeviceGraph, phase: str) -> pd.DataFrame:
    """Tell how much later each device could have ended without moving the end of the phase.

    What follows a device is what needs it and, if the walk handles it, the next device that the walk handles;
    each takes as long as it was recorded. Workers, CPUs and locks are left out, and the time from the end of
    a device to the begin of the next counts as slack: so these are upper bounds.

    Parameters
    ----------
    intervals : pandas.DataFrame
        As of :meth:`torpor.dpm.Scenario.intervals`.
    graph : DeviceGraph
        The graph of that replicate.
    phase : str
        One of ``torpor.dpm.PHASES``.

    Returns
    -------
    pandas.DataFrame
        One row per device that ended, in the order of the walk: ``device``, ``called`` (its callback ran),
        ``length_ms`` (from begin to end), ``end_ms``, ``latest_end_ms`` and ``slack_ms``.

    Raises
    ------
    ConfigError
        As :func:`critical_path`.

    Examples
    --------
    >>> from torpor.dpm import Device, Link, Scenario, Segment
    >>> busy = {"resume": [Segment.cpu(1000)]}
    >>> devices = [Device(name, callbacks=busy) for name in ("clk", "ufs", "led")]
    >>> graph = DeviceGraph(devices, [Link("clk", "ufs")])
    >>> intervals = Scenario.reference(graph, cpus=3).intervals("old")
    >>> slack(intervals, graph, "resume")[["device", "slack_ms"]]
      device  slack_ms
    0    clk       0.0
    1    led       1.0
    2    ufs       0.0
    """
    here = PhaseRows(intervals, graph, phase)
    end = max((row.end for row in here.rows.values()), default=0)
    latest = dict.fromkeys(here.rows, end)
    walked: Row | None = None
    # In the order of the walk everything stands after what it needs.
    for row in reversed(here.rows.values()):
        begin = latest[row.device] - (row.end - row.begin)
        before = [here.rows[name] for name in here.awaited[row.device]]
        for other in before:
            # Devices with nothing to resume do not wait for what they need.
            if other.end <= row.begin:
                latest[other.device] = min(latest[other.device], begin)
        if row.walked:
            if walked is not None and row.end <= walked.begin:
                next_begin = latest[walked.device] - (walked.end - walked.begin)
                latest[row.device] = min(latest[row.device], next_begin)
                begin = latest[row.device] - (row.end - row.begin)
                for other in before:
                    if other.end <= row.begin:
                        latest[other.device] = min(latest[other.device], begin)
            walked = row
    rows = list(here.rows.values())
    return pd.DataFrame(
        {
            "device": [row.device for row in rows],
            "called": [row.called for row in rows],
            "length_ms": [(row.end - row.begin) / 1e6 for row in rows],
            "end_ms": [row.end / 1e6 for row in rows],
            "latest_end_ms": [latest[row.device] / 1e6 for row in rows],
            "slack_ms": [(latest[row.device] - row.end) / 1e6 for row in rows],
        }
    )


class PhaseRows:
    """The devices that ended in one phase, in the order of the walk, and what they need."""

    def __init__(self, intervals: pd.DataFrame, graph: DeviceGraph, phase: str) -> None:
        self.rows = _rows(intervals, graph, phase)
        self.awaited = _awaited(graph, phase, self.rows)
        self._of_worker: dict[int, list[Row]] = defaultdict(list)
        self._of_cpu: dict[int, list[Row]] = defaultdict(list)
        for row in sorted(self.rows.values(), key=lambda one: (one.end, one.place)):
            self._of_worker[row.worker].append(row)
            self._of_cpu[row.cpu].append(row)
        queued = (row for row in self.rows.values() if row.queued != _NEVER)
        # Breadth-first queues nothing before it could begin; the others do.
        self._queues_early = any(
            self.rows[name].end > row.queued for row in queued for name in self.awaited[row.device]
        )

    def holder(self, row: Row) -> Row | None:
        """Return the device that had the shared lock before this one, which waited for it."""
        return self.rows.get(row.lock_after or "") if row.lock_wait > 0 else None

    def got_lock(self, row: Row) -> int:
        """Tell when a device that waited for a shared lock got it: when the holder ended, if that may be."""
        holder = self.holder(row)
        if holder is not None and row.begin < holder.end <= row.end:
            return holder.end
        return min(row.begin + row.lock_wait, row.end)

    def before(self, row: Row, seen: set[str]) -> _Step:
        """Tell what held a device up for longest; `seen` are the devices of the path so far."""
        holder = self.holder(row)
        if holder is not None and holder.device not in seen:
            return _Step("lock", holder, self.got_lock(row))
        step = self._until_ready(row, seen)
        busy = _last(self._of_cpu[row.cpu], max(step.since, row.queued), row.begin, seen)
        if busy is not None and row.cpu >= 0 and busy is not step.before:
            return _Step("cpu", busy, busy.end)
        return step

    def _until_ready(self, row: Row, seen: set[str]) -> _Step:
        needed = [self.rows[name] for name in self.awaited[row.device] if name not in seen]
        needed = [other for other in needed if other.end <= row.begin]
        dependency = max(needed, key=lambda one: (one.end, one.place), default=None)
        if dependency is not None and dependency.end > row.taken:
            return _Step("dependency", dependency, dependency.end)
        own = self._of_worker[row.worker]
        if row.queued == _NEVER:
            previous = _last(own, _NEVER, row.taken, seen)
            if previous is None:
                return _START
            if row.in_place and previous.device in self.awaited[row.device]:
                return _Step("dependency", previous, previous.end)
            return _Step("walk" if row.worker == _MAIN else "worker", previous, previous.end)
        previous = _last(own, row.queued, row.taken, seen)
        if previous is not None:
            return _Step("worker", previous, previous.end)
        return self._until_queued(row, dependency, seen)

    def _until_queued(self, row: Row, dependency: Row | None, seen: set[str]) -> _Step:
        """Tell who queued an item: the last of what it needs, or the walk."""
        walk = _last(self._of_worker[_MAIN], _NEVER, row.queued, seen)
        by_dependency = dependency is not None and dependency.end <= row.queued
        if by_dependency and not self._is_elsewhere(dependency, row.queued):
            assert dependency is not None
            if not self._queues_early or walk is None or walk.end <= dependency.end:
                return _Step("dependency", dependency, dependency.end)
        return _START if walk is None else _Step("walk", walk, walk.end)

    def _is_elsewhere(self, row: Row | None, time: int) -> bool:
        """Whether the thread that handled a device has begun another one before the time."""
        assert row is not None
        later = (one for one in self._of_worker[row.worker] if not one.in_place and one is not row)
        return any(row.end <= one.taken < time for one in later)


def _last(ordered: list[Row], low: int, high: int, seen: set[str]) -> Row | None:
    """Return the last that ended after `low` and not after `high`."""
    i = bisect_right(ordered, high, key=lambda one: one.end)
    while i > 0 and ordered[i - 1].end > low:
        i -= 1
        if ordered[i].device not in seen:
            return ordered[i]
    return None


def _rows(intervals: pd.DataFrame, graph: DeviceGraph, phase: str) -> dict[str, Row]:
    if not isinstance(intervals, pd.DataFrame):
        raise ConfigError(f"intervals={shown(intervals)} is no DataFrame")
    if not isinstance(graph, DeviceGraph):
        raise ConfigError(f"graph={shown(graph)} is no DeviceGraph")
    if phase not in PHASES:
        raise ConfigError(f"phase={shown(phase)} is unknown: known are {', '.join(PHASES)}")
    missing = [name for name in _COLUMNS if name not in intervals.columns]
    if missing:
        raise ConfigError(f"intervals: no column {missing[0]}, limit: {', '.join(_COLUMNS)}")
    from_head = phase == "prepare" or phase.startswith("resume")
    order = graph.order if from_head else graph.order[::-1]
    places = {name: place for place, name in enumerate(order)}
    here = intervals[(intervals["phase"] == phase) & intervals["end_ms"].notna()]
    unknown = [name for name in here["device"] if name not in places]
    if unknown:
        raise ConfigError(f"intervals: device {shown(unknown[0])} is not in the graph")
    columns = {
        name: np.where(values.isna(), _NEVER, np.rint(values.fillna(0.0) * 1e6)).astype(np.int64).tolist()
        for name in ("queued", "taken", "begin", "end", "lock_wait")
        for values in [here[f"{name}_ms"].astype(float)]
    }
    made = [
        Row(
            place=places[device],
            device=device,
            queued=columns["queued"][i],
            taken=columns["taken"][i],
            begin=columns["begin"][i],
            end=columns["end"][i],
            lock_wait=columns["lock_wait"][i],
            worker=int(worker),
            cpu=int(cpu),
            called=bool(called),
            in_place=bool(in_place),
            lock_after=lock_after if isinstance(lock_after, str) else None,
        )
        for i, (device, worker, cpu, called, in_place, lock_after) in enumerate(
            zip(
                *(here[name] for name in ("device", "worker", "cpu", "called", "in_place", "lock_after")),
                strict=True,
            )
        )
    ]
    return {row.device: row for row in sorted(made)}


def _awaited(graph: DeviceGraph, phase: str, rows: dict[str, Row]) -> dict[str, list[str]]:
    """For each device those that it needs in this phase, as far as they ended in it."""
    awaited: dict[str, list[str]] = {name: [] for name in rows}
    if phase in ("prepare", "complete"):
        return awaited
    relaxed = {(link.supplier, link.consumer) for link in graph.relaxed}
    pairs = [(device.parent, device.name) for device in graph.devices if device.parent is not None]
    pairs += [
        (link.supplier, link.consumer)
        for link in graph.links
        if link.state != "dormant"
        and not link.sync_state_only
        and (link.supplier, link.consumer) not in relaxed
    ]
    for superior, subordinate in pairs:
        if superior in rows and subordinate in rows:
            first, then = (superior, subordinate) if phase.startswith("resume") else (subordinate, superior)
            awaited[then].append(first)
    return awaited
