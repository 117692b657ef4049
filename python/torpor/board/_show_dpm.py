# SPDX-License-Identifier: MIT
"""How the [dpm] section of a board looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from torpor.board._dpm import Dpm
from torpor.board._dpm_devices import PHASES, DpmDevice, DpmLink, DpmSegment


class Grid(NamedTuple):
    """One table: its title, the names of its columns, its rows."""

    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


Kinds = Callable[[str], str]
"""Kinds of provenance of all numbers whose key begins so."""


def dpm_grids(dpm: Dpm, kinds: Kinds) -> list[Grid]:
    """Tables of the section."""
    header = ("entry", "value", "provenance")
    tables: list[tuple[str, msgspec.Struct | None]] = [("", dpm), ("costs.", dpm.costs)]
    tables += [(f"phase_costs.{phase}.", getattr(dpm.phase_costs, phase, None)) for phase in PHASES]
    tables.append(("scales.", dpm.scales))
    rows = [row for prefix, table in tables if table for row in _rows(prefix, table, kinds)]
    grids = [Grid("dpm: rules and costs", header, rows)]
    for d, domain in enumerate(dpm.performance_domains):
        source = kinds(f"dpm.performance_domains[{d}].")
        pairs = zip(domain.freq_khz, domain.power_mw, strict=True)
        points = [(f"{khz}", f"{mw:g}", source) for khz, mw in pairs]
        title = f"dpm: energy model of cluster {domain.cluster}"
        grids.append(Grid(title, ("frequency (kHz)", "busy CPU (mW)", "provenance"), points))
    if dpm.devices is not None:
        title = f"dpm: generator of {dpm.devices.devices} devices"
        grids.append(Grid(title, header, list(_rows("devices.", dpm.devices, kinds))))
    if dpm.device:
        listed = [_device_row(device, kinds(f"dpm.device[{d}].")) for d, device in enumerate(dpm.device)]
        title = f"dpm: {len(dpm.device)} devices"
        grids.append(Grid(title, ("device", "parent", "callbacks", "besides", "provenance"), listed))
    if dpm.link:
        links = [(link.supplier, link.consumer, _besides(link, 2)) for link in dpm.link]
        title = f"dpm: {len(dpm.link)} device links"
        grids.append(Grid(title, ("supplier", "consumer", "besides"), links))
    return grids


def _rows(prefix: str, table: msgspec.Struct, kinds: Kinds) -> Iterator[tuple[str, ...]]:
    for name in table.__struct_fields__:
        value = getattr(table, name)
        if isinstance(value, dict):
            for part, number in value.items():
                key = f"{prefix}{name}.{part}"
                yield key, _shown(number), kinds(f"dpm.{key}")
        elif isinstance(value, bool | int | float | str) or (name in _PAIRS and value is not None):
            numeric = not isinstance(value, bool | str)
            source = kinds(f"dpm.{prefix}{name}") or ("default" if numeric else "")
            yield f"{prefix}{name}", _shown(value), source


_PAIRS = ("median_us", "sigma", "cpu_share", "lock_share")


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return " / ".join(_shown(one) for one in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.15g}" if isinstance(value, float) else f"{value}"


def _device_row(device: DpmDevice, source: str) -> tuple[str, ...]:
    callbacks = [
        f"{phase}: {', '.join(_segment(one) for one in segments) or 'nothing'}"
        for phase in PHASES
        if (segments := getattr(device.callbacks, phase, None)) is not None
    ]
    return device.name, device.parent or "", "; ".join(callbacks), _besides(device, 2, "callbacks"), source


def _segment(segment: DpmSegment) -> str:
    return ", ".join(
        f"{name} {_shown(value)}"
        for name in segment.__struct_fields__
        if (value := getattr(segment, name)) is not None
    )


def _besides(record: DpmDevice | DpmLink, first: int, aside: str = "") -> str:
    """Entries from the given one on that are not at their default."""
    told = []
    for field in msgspec.structs.fields(record)[first:]:
        value = getattr(record, field.name)
        if value != field.default and field.name != aside:
            told.append(f"{field.name} = {', '.join(value) if isinstance(value, tuple) else _shown(value)}")
    return ", ".join(told)
