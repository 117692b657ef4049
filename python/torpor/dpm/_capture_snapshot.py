# SPDX-License-Identifier: MIT
"""The snapshot of a recorded machine, devices.tsv: its devices, and the links between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from torpor._core import ConfigError
from torpor.importers._log_text import LogDamage, log_lines

__all__ = ["Snapshot", "SnapshotDevice", "SnapshotLink", "read_snapshot"]

_DEVICE_FIELDS = ("path", "parent", "subsystem", "driver", "async", "runtime_status", "control", "wakeup")
_LINK_FIELDS = 7
_STATES = {
    "not tracked": "none",
    "dormant": "dormant",
    "available": "available",
    "consumer probing": "consumer_probe",
    "active": "active",
    "supplier unbinding": "supplier_unbind",
}
"""States of a link as sysfs spells them, and the model's names."""

_FORESTS = ("system", "virtual")
"""Folders of devices without hardware of their own; the folder of a bus below them is no parent."""


@dataclass(frozen=True)
class SnapshotDevice:
    """One device of the snapshot.

    Attributes
    ----------
    path : str
        Path in sysfs, from the root of all devices.
    parent_path : str
        That of the device above it, empty for none.
    subsystem, driver : str
        Bus or class, and the bound driver; empty for none.
    async_suspend : bool
        Whether a worker may handle it.
    runtime_status : str
        ``active``, ``suspended``, ``unsupported`` or another word of the kernel; empty where it was not
        readable.
    wakeup : bool
        Whether it may wake the system.
    """

    path: str
    parent_path: str
    subsystem: str
    driver: str
    async_suspend: bool
    runtime_status: str
    wakeup: bool

    @property
    def name(self) -> str:
        """Name of the device; sysfs has ``!`` for a slash."""
        return self.path.rpartition("/")[2].replace("!", "/")

    @property
    def driver_string(self) -> str:
        """What the kernel prints before the name: the driver, else the bus or class, else nothing."""
        return self.driver or self.subsystem


@dataclass(frozen=True)
class SnapshotLink:
    """One device link, its ends as (bus, name); the bus may be empty."""

    supplier: tuple[str, str]
    consumer: tuple[str, str]
    state: str
    sync_state_only: bool


@dataclass(frozen=True)
class Snapshot:
    """All devices and links of a machine at one time.

    Attributes
    ----------
    source : str
        What messages call it.
    devices : tuple of SnapshotDevice
        In the order of the file, which says nothing about that of the suspend.
    links : tuple of SnapshotLink
        In the order of the file.
    """

    source: str
    devices: tuple[SnapshotDevice, ...]
    links: tuple[SnapshotLink, ...]

    @cached_property
    def index(self) -> dict[str, int]:
        """Position of each path."""
        return {device.path: i for i, device in enumerate(self.devices)}

    @cached_property
    def parents(self) -> tuple[int | None, ...]:
        """Position of each device's parent as the device core sees it.

        The folder of a bus, as ``/system/cpu``, is a device in sysfs, but those in it have no parent.
        """
        return tuple(None if self._in_bus_folder(one) else self._parent(one) for one in self.devices)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Positions of the devices below each one."""
        below: list[list[int]] = [[] for _ in self.devices]
        for i, parent in enumerate(self.parents):
            if parent is not None:
                below[parent].append(i)
        return tuple(map(tuple, below))

    def parent_name(self, position: int) -> str:
        """Name of the parent, ``none`` without one, as the kernel prints it."""
        parent = self.parents[position]
        return "none" if parent is None else self.devices[parent].name

    def linked(self) -> Iterator[tuple[int, int, SnapshotLink]]:
        """Deliver (supplier, consumer, link) of each link both of whose ends are in the snapshot.

        Of several devices with the bus and the name of an end, as happens without a bus, the first is meant.
        """
        ends: dict[tuple[str, str], int] = {}
        for i, device in enumerate(self.devices):
            ends.setdefault((device.subsystem, device.name), i)
        for link in self.links:
            if link.supplier in ends and link.consumer in ends:
                yield ends[link.supplier], ends[link.consumer], link

    def _parent(self, device: SnapshotDevice) -> int | None:
        return self.index[device.parent_path] if device.parent_path else None

    def _in_bus_folder(self, device: SnapshotDevice) -> bool:
        folder, _, _ = device.path.rpartition("/")
        above = folder.split("/")
        if len(above) != 3 or above[1] not in _FORESTS or folder not in self.index:
            return False
        root = self.devices[self.index[folder]]
        return not root.subsystem and not root.parent_path


def read_snapshot(path: Path) -> Snapshot:
    """Read a devices.tsv, plain or gzip.

    Raises
    ------
    ConfigError
        When the file is missing, cut off or damaged, has no devices, or has a line that is neither device
        nor link, a device twice, or a parent that is no device; the message names file, line and value.
    """
    devices: list[SnapshotDevice] = []
    links: list[SnapshotLink] = []
    lines: dict[str, int] = {}
    number = 0
    try:
        for number, raw in enumerate(log_lines(path), start=1):
            where = f"{path}:{number}"
            kind, *fields = raw.decode("utf-8", "replace").split("\t")
            if kind == "dev":
                device = _device(fields, where)
                if device.path in lines:
                    raise ConfigError(
                        f"{where}: device {device.path} again, first in line {lines[device.path]}"
                    )
                lines[device.path] = number
                devices.append(device)
            elif kind == "link":
                links.append(_link(fields, where))
            elif kind.strip() and not kind.startswith("#"):
                raise ConfigError(f"{where}: '{kind[:40]}': expected a line that begins with dev or link")
    except LogDamage as error:
        raise ConfigError(f"{path}:{number}: {error}") from None
    if not devices:
        raise ConfigError(f"{path}: no device in {number} lines")
    for device in devices:
        above, where = device.parent_path, f"{path}:{lines[device.path]}"
        if above and above not in lines:
            raise ConfigError(f"{where}: parent {above} is no device")
        if above and not device.path.startswith(f"{above}/"):
            raise ConfigError(f"{where}: parent {above} is not above {device.path}")
    return Snapshot(str(path), tuple(devices), tuple(links))


def _device(fields: Sequence[str], where: str) -> SnapshotDevice:
    if len(fields) != len(_DEVICE_FIELDS):
        raise ConfigError(
            f"{where}: {len(fields)} fields, expected {len(_DEVICE_FIELDS)} ({', '.join(_DEVICE_FIELDS)})"
        )
    path, parent, subsystem, driver, asynchronous, status, _, wakeup = fields
    if not path.startswith("/"):
        raise ConfigError(f"{where}: path '{path}': expected one that begins with a slash")
    absent = {"-": ""}
    return SnapshotDevice(
        path,
        absent.get(parent, parent),
        absent.get(subsystem, subsystem),
        absent.get(driver, driver),
        _flag(asynchronous, "async", where),
        absent.get(status, status),
        _flag(wakeup, "wakeup", where),
    )


def _flag(word: str, field: str, where: str) -> bool:
    if word not in ("enabled", "disabled", "-"):
        raise ConfigError(f"{where}: {field} '{word}': expected enabled, disabled or -")
    return word == "enabled"


def _link(fields: Sequence[str], where: str) -> SnapshotLink:
    if len(fields) != _LINK_FIELDS:
        raise ConfigError(f"{where}: {len(fields)} fields, expected {_LINK_FIELDS}")
    supplier, dashes, consumer = fields[0].partition("--")
    state = _STATES.get(fields[3])
    if not dashes or ":" not in supplier or ":" not in consumer:
        raise ConfigError(f"{where}: link '{fields[0]}': expected BUS:NAME--BUS:NAME")
    if state is None:
        raise ConfigError(f"{where}: status '{fields[3]}': expected {', '.join(_STATES)}")
    if fields[6] not in ("0", "1"):
        raise ConfigError(f"{where}: sync_state_only '{fields[6]}': expected 0 or 1")
    return SnapshotLink(_end(supplier), _end(consumer), state, fields[6] == "1")


def _end(text: str) -> tuple[str, str]:
    bus, _, name = text.partition(":")
    return bus, name.replace("!", "/")
