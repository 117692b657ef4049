# SPDX-License-Identifier: MIT
"""Graphs and costs made from recorded cycles: what a model needs to replay them or to predict others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from torpor._core import ConfigError
from torpor.dpm._capture_match import Matching
from torpor.dpm._capture_records import MIDDLE_PHASES, Cycle, TraceName
from torpor.dpm._capture_snapshot import Snapshot
from torpor.dpm._capture_split import Piece, PieceKind, split_by_duration, split_by_sched
from torpor.dpm._capture_timing import PhaseCosts, Tick, phase_costs, touch_ns
from torpor.dpm._capture_usb import usb_reset
from torpor.dpm.graph import Device, DeviceGraph, Link, Segment

__all__ = ["RecordedGraph", "ReplayCosts", "device_names", "direct_complete", "graph_of", "replay_costs"]

_ITEM_HERE = 3.8
_ITEM_ELSEWHERE = 1.6
"""Cost of an asynchronous item in costs of touching a device: with the worker on the main thread's CPU, and
on another one. Fitted to the short phases of two recorded machines."""

_LEFT_ALONE = ("unsupported", "suspended", "")


@dataclass(frozen=True)
class ReplayCosts:
    """Costs of one phase besides its callbacks, microseconds of CPU work.

    Attributes
    ----------
    step_us : float
        Main thread, for each device of the list.
    callback_us : float
        In front of each callback.
    end_us : float
        Main thread, once all workers are done.
    item_same_cpu_us, item_other_cpu_us : float
        For each device with the async flag, once in the main thread when it is queued and once in the worker
        before it waits for anything; which of the two holds for a whole phase depends on where the workers
        run.
    """

    step_us: float
    callback_us: float
    end_us: float
    item_same_cpu_us: float
    item_other_cpu_us: float


@dataclass(frozen=True)
class RecordedGraph:
    """A recorded cycle as a graph, in the order of its device list.

    Attributes
    ----------
    graph : DeviceGraph
        Callbacks are those of the cycle, split into segments, or as long as recorded.
    names : tuple of str
        Name in the graph of each place of the list.
    direct_complete : frozenset of str
        Devices that are left alone, so that they never wait on resume.
    costs : dict
        :class:`ReplayCosts` by phase, of the recorded phases.
    """

    graph: DeviceGraph
    names: tuple[str, ...]
    direct_complete: frozenset[str]
    costs: dict[str, ReplayCosts]


def device_names(order: Sequence[TraceName]) -> tuple[str, ...]:
    """Names for a list of devices: as the trace prints them, with the parent's name where two are alike.

    Examples
    --------
    >>> device_names([TraceName("usb", "1-1", "usb1"), TraceName("", "ep_00", "1-1"),
    ...               TraceName("", "ep_00", "usb1")])
    ('usb 1-1', 'ep_00 of 1-1', 'ep_00 of usb1')
    """
    count = Counter(map(str, order))
    names = [str(one) if count[str(one)] == 1 else f"{one} of {one.parent}" for one in order]
    again: Counter[str] = Counter()
    for i, name in enumerate(names):
        again[name] += 1
        if again[name] > 1:
            names[i] = f"{name} #{again[name]}"
    return tuple(names)


def direct_complete(cycle: Cycle, matching: Matching, snapshot: Snapshot) -> frozenset[int]:
    """Positions of the devices that the middle phases leave alone.

    Those without a callback in any middle phase, not active for runtime power management, that may not wake
    the system, and all of whose children are left alone too.
    """
    called = {matching.positions[one.place] for phase in cycle.middle for one in phase.callbacks}
    found: dict[int, bool] = {}

    def left_alone(position: int) -> bool:
        if position not in found:
            device = snapshot.devices[position]
            found[position] = (
                position not in called
                and device.runtime_status in _LEFT_ALONE
                and not device.wakeup
                and all(left_alone(child) for child in snapshot.children[position])
            )
        return found[position]

    return frozenset(i for i in range(len(snapshot.devices)) if left_alone(i))


def replay_costs(cycle: Cycle) -> dict[str, ReplayCosts]:
    """Costs of each recorded phase, from a cycle without workers."""
    touch_us = touch_ns(cycle) / 1000
    return {phase.name: _in_us(phase_costs(phase, len(cycle.order)), touch_us) for phase in cycle.middle}


def _in_us(costs: PhaseCosts, touch_us: float) -> ReplayCosts:
    return ReplayCosts(
        costs.step_ns / 1000,
        costs.callback_ns / 1000,
        costs.end_ns / 1000,
        _ITEM_HERE * touch_us / 2,
        _ITEM_ELSEWHERE * touch_us / 2,
    )


def split_cycle(
    cycle: Cycle, matching: Matching, snapshot: Snapshot, tick: Tick, costs: dict[str, ReplayCosts]
) -> dict[tuple[int, str], tuple[Piece, ...]]:
    """Split every callback of the middle phases; keys are (place, phase)."""
    pieces: dict[tuple[int, str], tuple[Piece, ...]] = {}
    for phase in cycle.middle:
        callback_ns = costs[phase.name].callback_us * 1000
        for one in phase.callbacks:
            position = matching.positions[one.place]
            reset = None
            if phase.name == "resume" and position is not None:
                reset = usb_reset(snapshot, position)
            if cycle.sched is not None:
                events = cycle.sched[one.thread]
                split = split_by_sched(one.begin_ns, one.end_ns, tick, events, reset=reset)
            else:
                pci = position is not None and snapshot.devices[position].subsystem == "pci"
                split = split_by_duration(one.begin_ns, one.end_ns, tick, callback_ns, pci=pci, reset=reset)
            pieces[one.place, phase.name] = split
    return pieces


def segments_of(pieces: Iterable[Piece]) -> tuple[Segment, ...]:
    """Segments of a callback from its pieces."""
    return tuple(_SEGMENTS[piece.kind](piece) for piece in pieces)


_SEGMENTS: dict[PieceKind, Callable[[Piece], Segment]] = {
    PieceKind.CPU: lambda piece: Segment("cpu", piece.ns),
    PieceKind.SLEEP: lambda piece: Segment("sleep", piece.ns),
    PieceKind.TICKS: lambda piece: Segment.ticks(piece.count),
    PieceKind.RANGE: lambda piece: Segment("range", piece.ns, piece.count),
    PieceKind.LOCK: lambda piece: Segment.lock(piece.lock),
    PieceKind.UNLOCK: lambda piece: Segment.unlock(piece.lock),
}


def graph_of(
    cycle: Cycle,
    matching: Matching,
    snapshot: Snapshot,
    callbacks: dict[tuple[int, str], tuple[Segment, ...]],
    costs: dict[str, ReplayCosts],
) -> RecordedGraph:
    """Make the graph of a cycle; its devices are in the order of the recorded list.

    Devices that the snapshot does not have are synchronous, without parent, callbacks and links.

    Raises
    ------
    ConfigError
        When a parent comes later in the list than its child.
    """
    names = device_names(cycle.order)
    places = {position: place for place, position in enumerate(matching.positions) if position is not None}
    alone = direct_complete(cycle, matching, snapshot)
    devices = []
    for place, position in enumerate(matching.positions):
        if position is None:
            devices.append(Device(names[place], async_suspend=False, no_pm_callbacks=True))
            continue
        known = snapshot.devices[position]
        above = snapshot.parents[position]
        parent = None if above is None else places.get(above)
        if parent is not None and parent >= place:
            raise ConfigError(f"{cycle.name}: {names[place]} is prepared before its parent {names[parent]}")
        own = {phase: callbacks[place, phase] for phase in MIDDLE_PHASES if (place, phase) in callbacks}
        devices.append(
            Device(
                names[place],
                None if parent is None else names[parent],
                async_suspend=known.async_suspend,
                runtime_status=known.runtime_status if known.runtime_status in _LEFT_ALONE[:2] else "active",
                wakeup=known.wakeup,
                direct_complete=position in alone,
                no_pm_callbacks=not own,
                callbacks=own,
            )
        )
    links: dict[tuple[int, int], Link] = {}
    for supplier, consumer, link in snapshot.linked():
        if supplier in places and consumer in places:
            ends = names[places[supplier]], names[places[consumer]]
            made = Link(*ends, state=link.state, sync_state_only=link.sync_state_only)
            links.setdefault((supplier, consumer), made)
    return RecordedGraph(
        DeviceGraph(devices, tuple(links.values()), in_list_order=True),
        names,
        frozenset(names[places[i]] for i in alone if i in places),
        costs,
    )
