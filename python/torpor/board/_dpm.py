# SPDX-License-Identifier: MIT
"""The [dpm] section of a board file: what suspending and resuming its devices costs, and its devices."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Protocol

import msgspec

from torpor.board._dpm_devices import (
    DEVICE_TABLES,
    PHASES,
    CostUs,
    DpmDevice,
    DpmGenerator,
    DpmLink,
    Share,
    Us,
    broken_devices,
)
from torpor.board._freezer import Broken, known_word
from torpor.board._source import Source
from torpor.board._table import Int32, Table

_Cpu = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
_Utilisation = Annotated[float, msgspec.Meta(ge=0, le=1024)]
_Scale = Annotated[float, msgspec.Meta(ge=0, le=1e6)]
_Khz = Annotated[int, msgspec.Meta(ge=1, le=2**53)]
_Mw = Annotated[float, msgspec.Meta(ge=0, le=1e9)]


class DpmCosts(Table, frozen=True, kw_only=True):
    """What everything costs, microseconds of the reference CPU (capacity 1024 at its highest frequency)."""

    switch_us: CostUs
    wake_us: CostUs
    idle_ipi_us: CostUs
    migration_us: CostUs
    queue_us: CostUs
    dispatch_us: CostUs
    core_us: CostUs
    list_step_us: CostUs
    check_us: CostUs
    recheck_us: CostUs
    create_us: CostUs
    create_latency_us: CostUs
    callback_us: CostUs = 0.0
    tail_us: CostUs = 0.0


class DpmPhaseCosts(Table, frozen=True, kw_only=True):
    """What costs something else in one phase."""

    queue_us: CostUs | None = None
    dispatch_us: CostUs | None = None
    core_us: CostUs | None = None
    list_step_us: CostUs | None = None
    check_us: CostUs | None = None
    recheck_us: CostUs | None = None
    create_us: CostUs | None = None
    create_latency_us: CostUs | None = None
    callback_us: CostUs | None = None
    tail_us: CostUs | None = None


class DpmPhases(Table, frozen=True, kw_only=True):
    """Costs by phase."""

    prepare: DpmPhaseCosts | None = None
    suspend: DpmPhaseCosts | None = None
    suspend_late: DpmPhaseCosts | None = None
    suspend_noirq: DpmPhaseCosts | None = None
    resume_noirq: DpmPhaseCosts | None = None
    resume_early: DpmPhaseCosts | None = None
    resume: DpmPhaseCosts | None = None
    complete: DpmPhaseCosts | None = None


class DpmDomain(Table, frozen=True, kw_only=True):
    """What EAS knows of the energy of a cluster's CPUs: power of a busy one at each frequency."""

    cluster: str
    freq_khz: tuple[_Khz, ...]
    power_mw: tuple[_Mw, ...]


class DpmScales(Table, frozen=True, kw_only=True):
    """Factors on all that callbacks do."""

    suspend: _Scale
    resume: _Scale


class Dpm(Table, frozen=True, kw_only=True):
    """The whole section."""

    relative_freq: float | dict[str, Any]
    main_suspend_cpu: _Cpu
    main_suspend_util: _Utilisation
    main_resume_cpu: _Cpu
    main_resume_util: _Utilisation
    eas: bool
    async_devices: Share | str = "flagged"
    placement: str = "spread"
    wake_affine: bool = True
    pull: bool = True
    slice_us: Us = 3000.0
    wakeup_granularity_us: Us = 0.0
    tick_balance: bool = True
    idle_exit_share: Annotated[float, msgspec.Meta(ge=0, le=1000)] | None = None
    cluster_exit_us: CostUs = 0.0
    shared_cpus: Annotated[float, msgspec.Meta(ge=0, le=8192)] = 0.0
    main_gives_way: bool = False
    main_pinned: bool = False
    initial_workers: Annotated[int, msgspec.Meta(ge=0, le=100_000)] = 4
    worker_per_item: bool = False
    barrier_wakes: bool = True
    checks_all: bool = False
    direct_complete: bool = True
    eas_switch_us: CostUs = 0.0
    jitter: Annotated[float, msgspec.Meta(ge=0, le=10)] = 0.0
    since_tick_us: Us | None = None
    costs: DpmCosts
    phase_costs: DpmPhases | None = None
    performance_domains: tuple[DpmDomain, ...] = ()
    devices: DpmGenerator | None = None
    device: tuple[DpmDevice, ...] = ()
    link: tuple[DpmLink, ...] = ()
    scales: DpmScales | None = None


TABLES: dict[tuple[str, ...], type[msgspec.Struct]] = {
    ("dpm",): Dpm,
    ("dpm", "costs"): DpmCosts,
    ("dpm", "phase_costs"): DpmPhases,
    **{("dpm", "phase_costs", phase): DpmPhaseCosts for phase in PHASES},
    ("dpm", "performance_domains", "[]"): DpmDomain,
    ("dpm", "scales"): DpmScales,
    **DEVICE_TABLES,
}

ASYNC_DEVICES = ("flagged", "all", "none")
PLACEMENTS = ("spread", "biggest_idle", "pinned")


class _Opp(Protocol):
    @property
    def power_mw(self) -> float | None: ...


class _Cluster(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def cpus(self) -> Sequence[Int32]: ...
    @property
    def opps(self) -> Sequence[_Opp]: ...


def check(dpm: Dpm, clusters: Sequence[_Cluster], tick_hz: int, source: Source) -> None:
    """Check what types and ranges do not say.

    Raises
    ------
    ConfigError
        Naming file, line, key, value and limit of the first entry that cannot be.
    """
    for found in _broken(dpm, clusters, tick_hz):
        raise source.error(f"dpm.{found.entry}", f"value {found.value!r}, limit: {found.limit}")


def _broken(dpm: Dpm, clusters: Sequence[_Cluster], tick_hz: int) -> Iterator[Broken]:
    yield from _broken_frequency(dpm.relative_freq, [cluster.name for cluster in clusters])
    last = sum(len(cluster.cpus) for cluster in clusters) - 1
    for entry in ("main_suspend_cpu", "main_resume_cpu"):
        if last >= 0 and getattr(dpm, entry) > last:
            yield Broken(entry, getattr(dpm, entry), f"a CPU of the board, 0..{last}")
    if isinstance(dpm.async_devices, str) and (
        found := known_word("async_devices", dpm.async_devices, ASYNC_DEVICES)
    ):
        yield found._replace(limit=f"a share 0..1, or one of {found.limit}")
    if found := known_word("placement", dpm.placement, PLACEMENTS):
        yield found
    if 0 < dpm.slice_us < 1:
        yield Broken("slice_us", dpm.slice_us, "0 (never), or at least 1")
    if 0 < dpm.shared_cpus < 0.01:
        yield Broken("shared_cpus", dpm.shared_cpus, "0 (as many as there are), or at least 0.01")
    if dpm.initial_workers == 0 and not dpm.worker_per_item:
        yield Broken("initial_workers", 0, "at least 1 unless worker_per_item")
    if dpm.since_tick_us is not None and tick_hz > 0 and dpm.since_tick_us >= 1e6 / tick_hz:
        yield Broken("since_tick_us", dpm.since_tick_us, f"less than a tick, {1e6 / tick_hz:g}")
    yield from _broken_domains(dpm, clusters)
    if dpm.devices is not None and dpm.device:
        yield Broken("device", f"{len(dpm.device)} devices", "either [dpm.devices] or [[dpm.device]]")
    if found := broken_devices(dpm.device, dpm.link):
        yield found


def _broken_frequency(given: float | Mapping[str, Any], names: Sequence[str]) -> Iterator[Broken]:
    if isinstance(given, Mapping):
        for name in names:
            if name not in given:
                limit = f"a number, or one for each cluster: {', '.join(names)}"
                yield Broken("relative_freq", dict(given), limit)
        for name in given:
            if found := known_word(f"relative_freq.{name}", name, names):
                yield found
        pairs = [(f"relative_freq.{name}", value) for name, value in given.items()]
    else:
        pairs = [("relative_freq", given)]
    for entry, value in pairs:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
            yield Broken(entry, value, "above 0, at most 1: the frozen frequency over the highest")


def _broken_domains(dpm: Dpm, clusters: Sequence[_Cluster]) -> Iterator[Broken]:
    names = [cluster.name for cluster in clusters]
    known: set[str] = set()
    for d, domain in enumerate(dpm.performance_domains):
        key = f"performance_domains[{d}]"
        if found := known_word("cluster", domain.cluster, names):
            yield Broken(f"{key}.cluster", found.value, found.limit)
        if domain.cluster in known:
            yield Broken(f"{key}.cluster", domain.cluster, "one domain for a cluster")
        known.add(domain.cluster)
        if not domain.freq_khz:
            yield Broken(f"{key}.freq_khz", [], "at least one frequency")
        if any(low >= high for low, high in zip(domain.freq_khz, domain.freq_khz[1:], strict=False)):
            yield Broken(f"{key}.freq_khz", list(domain.freq_khz), "ascending, each once")
        if len(domain.power_mw) != len(domain.freq_khz):
            limit = f"one for each of the {len(domain.freq_khz)} frequencies"
            yield Broken(f"{key}.power_mw", f"{len(domain.power_mw)} numbers", limit)
    for cluster in clusters if dpm.eas else ():
        told = bool(cluster.opps) and all(opp.power_mw is not None for opp in cluster.opps)
        if cluster.name not in known and not told:
            limit = (
                f"EAS needs power: of cluster {cluster.name} neither opps nor performance_domains tell any"
            )
            yield Broken("eas", True, limit)


def keep_given(ours: dict[str, Any], theirs: Mapping[str, Any]) -> None:
    """Put back what a file gives although it is the default, so that each number has its source."""
    for entry, value in theirs.items():
        if value is None or isinstance(value, str | bool):
            continue
        if isinstance(value, Mapping):
            keep_given(ours.setdefault(entry, {}), value)
        elif isinstance(value, list | tuple) and any(isinstance(one, Mapping) for one in value):
            for mine, one in zip(ours[entry], value, strict=True):
                keep_given(mine, one)
        elif not (isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)):
            ours.setdefault(entry, list(value) if isinstance(value, list | tuple) else value)


def content(table: msgspec.Struct) -> dict[str, Any]:
    """Plain values for the content hash, without entries at their default."""
    entries = ((one.name, getattr(table, one.name), one.default) for one in msgspec.structs.fields(table))
    return {name: _plain(value) for name, value, default in entries if value != default}


def _plain(value: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        return content(value)
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {name: float(number) for name, number in value.items()}
    return value
