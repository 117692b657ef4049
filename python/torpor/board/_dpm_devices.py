# SPDX-License-Identifier: MIT
"""Devices of the [dpm] section: a generator's parameters, or a list of devices and links."""

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec

from torpor.board._freezer import Broken, known_word
from torpor.board._table import Table

# The engine's own (cpp/torpor/dpm/phases.hpp, graph.hpp), and those of torpor.dpm; a test compares them.
PHASES = (
    "prepare",
    "suspend",
    "suspend_late",
    "suspend_noirq",
    "resume_noirq",
    "resume_early",
    "resume",
    "complete",
)
LINK_STATES = ("dormant", "available", "consumer_probe", "active", "supplier_unbind", "none")
RUNTIME_STATUSES = ("active", "suspended", "unsupported")
PREPARE_RESULTS = ("ok", "direct_complete", "again", "error")

Us = Annotated[float, msgspec.Meta(ge=0, le=10**12)]
CostUs = Annotated[float, msgspec.Meta(ge=0, le=10**8)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
_Count = Annotated[int, msgspec.Meta(ge=1, le=10**6)]
_MedianUs = Annotated[float, msgspec.Meta(ge=0.001, le=1e7)]
_Sigma = Annotated[float, msgspec.Meta(ge=0, le=10)]


class DpmGenerator(Table, frozen=True, kw_only=True):
    """Parameters of torpor.dpm's generator, with its defaults; pairs are for suspend and resume."""

    devices: _Count = 350
    class_ratio: Annotated[float, msgspec.Meta(ge=0, le=1000)] = 0.0
    max_depth: _Count = 6
    p_root: Share = 0.2
    p_link: Share = 0.6
    p_more_links: Annotated[float, msgspec.Meta(ge=0, le=0.99)] = 0.5
    skew: Annotated[float, msgspec.Meta(ge=0, le=100)] = 2.0
    p_no_callbacks: Share = 0.5
    class_p_no_callbacks: Share = 0.9
    p_late: Share = 0.25
    median_us: tuple[_MedianUs, _MedianUs] = (60.0, 60.0)
    sigma: tuple[_Sigma, _Sigma] = (2.0, 2.0)
    cap_us: _MedianUs = 30000.0
    late_median_us: _MedianUs = 20.0
    cpu_share: tuple[Share, Share] = (0.4, 0.4)
    fixed_share: Share = 0.0
    chunks: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 2
    locks: Annotated[int, msgspec.Meta(ge=1, le=100_000)] = 1
    lock_share: tuple[Share, Share] = (0.0, 0.0)


class DpmSegment(Table, frozen=True, kw_only=True):
    """What a callback does next: one of these, or ``cpu_us`` and ``fixed_us`` together."""

    cpu_us: Us | None = None
    fixed_us: Us | None = None
    sleep_us: Us | None = None
    ticks: Annotated[int, msgspec.Meta(ge=1, le=10**8)] | None = None
    range_us: tuple[Us, Us] | None = None
    lock: str | None = None
    unlock: str | None = None


class DpmCallbacks(Table, frozen=True, kw_only=True):
    """Segments of each phase; an empty list is a callback that takes no time, a missing phase has none."""

    prepare: tuple[DpmSegment, ...] | None = None
    suspend: tuple[DpmSegment, ...] | None = None
    suspend_late: tuple[DpmSegment, ...] | None = None
    suspend_noirq: tuple[DpmSegment, ...] | None = None
    resume_noirq: tuple[DpmSegment, ...] | None = None
    resume_early: tuple[DpmSegment, ...] | None = None
    resume: tuple[DpmSegment, ...] | None = None
    complete: tuple[DpmSegment, ...] | None = None


class DpmDevice(Table, frozen=True, kw_only=True):
    """A device, in the order of registration; the entries are those of torpor.dpm.graph.Device."""

    name: str
    parent: str | None = None
    async_suspend: bool = True
    syscore: bool = False
    no_pm_callbacks: bool | None = None
    runtime_status: str = "active"
    wakeup: bool = False
    smart_suspend: bool = False
    may_skip_resume: bool = False
    direct_complete: bool = True
    prepare: str = "ok"
    fails: tuple[str, ...] = ()
    wakes_system: tuple[str, ...] = ()
    callbacks: DpmCallbacks | None = None


class DpmLink(Table, frozen=True, kw_only=True):
    """A device link; the entries are those of torpor.dpm.graph.Link."""

    supplier: str
    consumer: str
    state: str = "active"
    sync_state_only: bool = False
    inferred: bool = False


DEVICE_TABLES: dict[tuple[str, ...], type[msgspec.Struct]] = {
    ("dpm", "devices"): DpmGenerator,
    ("dpm", "device", "[]"): DpmDevice,
    ("dpm", "device", "[]", "callbacks"): DpmCallbacks,
    **{("dpm", "device", "[]", "callbacks", phase, "[]"): DpmSegment for phase in PHASES},
    ("dpm", "link", "[]"): DpmLink,
}


def broken_devices(devices: Sequence[DpmDevice], links: Sequence[DpmLink]) -> Broken | None:
    """First entry, below ``dpm``, that cannot be; loops and the use of locks are the graph's own rules."""
    seen: set[str] = set()
    for d, device in enumerate(devices):
        if found := _broken_device(device, seen):
            return Broken(f"device[{d}].{found.entry}", found.value, found.limit)
        seen.add(device.name)
    if links and not devices:
        return Broken("link", f"{len(links)} links", "only beside [[dpm.device]]")
    for i, link in enumerate(links):
        for end in ("supplier", "consumer"):
            name = getattr(link, end)
            if name not in seen:
                return Broken(f"link[{i}].{end}", name, "must name a [[dpm.device]]")
        if found := known_word("state", link.state, LINK_STATES):
            return Broken(f"link[{i}].state", found.value, found.limit)
    return None


def _broken_device(device: DpmDevice, earlier: set[str]) -> Broken | None:
    if not device.name:
        return Broken("name", device.name, "at least one character")
    if device.name in earlier:
        return Broken("name", device.name, "must be the name of one device only")
    if device.parent is not None and device.parent not in earlier:
        return Broken("parent", device.parent, "must name a device that comes earlier")
    for entry, known in (("runtime_status", RUNTIME_STATUSES), ("prepare", PREPARE_RESULTS)):
        if found := known_word(entry, getattr(device, entry), known):
            return found
    for entry in ("fails", "wakes_system"):
        for place, phase in enumerate(getattr(device, entry)):
            if found := known_word(f"{entry}[{place}]", phase, PHASES):
                return found
    for phase in PHASES if device.callbacks is not None else ():
        for place, segment in enumerate(getattr(device.callbacks, phase) or ()):
            if found := _broken_segment(segment):
                return Broken(f"callbacks.{phase}[{place}]{found.entry}", found.value, found.limit)
    return None


def _broken_segment(segment: DpmSegment) -> Broken | None:
    given = {name for name in segment.__struct_fields__ if getattr(segment, name) is not None}
    if len(given) != 1 and given != {"cpu_us", "fixed_us"}:
        limit = "one of cpu_us (with fixed_us), sleep_us, ticks, range_us, lock, unlock"
        return Broken("", ", ".join(sorted(given)) or "empty", limit)
    if segment.range_us is not None and segment.range_us[1] < segment.range_us[0]:
        return Broken(".range_us", list(segment.range_us), "the second is no less than the first")
    for entry in ("lock", "unlock"):
        if getattr(segment, entry) == "":
            return Broken(f".{entry}", "", "at least one character")
    return None


def device_records(devices: Sequence[DpmDevice]) -> list[dict[str, Any]]:
    """Plain mappings, without what is at its default, as torpor.dpm.graph reads them."""
    records: list[dict[str, Any]] = [msgspec.to_builtins(device) for device in devices]
    return records
