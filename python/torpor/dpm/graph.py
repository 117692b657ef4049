# SPDX-License-Identifier: MIT
"""Devices, what must come before what, and what their callbacks do."""

from __future__ import annotations

import difflib
import html
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

import pandas as pd

from torpor import _core
from torpor._checks import flag, shown
from torpor._core import ConfigError
from torpor.dpm._device import LINK_STATES, PHASES, PREPARE_RESULTS, RUNTIME_STATUSES, Device, Link
from torpor.dpm._given import each
from torpor.dpm._segment import Segment

__all__ = [
    "LINK_STATES",
    "PHASES",
    "PREPARE_RESULTS",
    "RUNTIME_STATUSES",
    "Device",
    "DeviceGraph",
    "Link",
    "Segment",
]

_SHOWN = 8
"""Most devices or links of a graph whose repr tells everything."""

_Record = TypeVar("_Record")


@dataclass(frozen=True, repr=False)
class DeviceGraph:
    """Devices in the order in which they are registered, and links in the order in which they are added.

    The device core keeps its devices in a list, which resume walks from the head and suspend from the tail.
    It is in the order of registration, changed by each link that is added to a registered consumer: it goes
    to the end of the list, then its children, then its consumers, each with all that depends on it (Linux
    6.1, drivers/base/core.c). Inferred links are added as soon as both ends are registered, others when all
    devices are.

    Parameters
    ----------
    devices : sequence of Device
        At least one; parents come before their children.
    links : sequence of Link
        Device links. Inferred ones that lie on a loop of parents and links order nothing.
    in_list_order : bool
        The devices are in the order of the list already, as read from a running kernel: links move nothing.

    Raises
    ------
    ConfigError
        Naming the device or link, the entry, its value and the limit: a name given twice, an unknown parent,
        supplier or consumer, a pair linked twice, a loop that cannot be broken (spelt out), a lock that is
        taken twice, not held or never given back, no_pm_callbacks with a callback, an error or wakeup event
        in a phase without one, or a consumer before its supplier in a graph that is `in_list_order`.

    Examples
    --------
    >>> graph = DeviceGraph([Device("ufs"), Device("clk")], [Link("clk", "ufs")])
    >>> graph.order
    ('clk', 'ufs')
    >>> DeviceGraph([Device("a"), Device("b", "a")], [Link("b", "a")])
    Traceback (most recent call last):
        ...
    torpor._core.ConfigError: links[b--a]: closes a loop, ...: b -> a -> b
    """

    devices: Sequence[Device]
    links: Sequence[Link] = ()
    in_list_order: bool = field(default=False, kw_only=True)
    _core_graph: _core.DpmGraph = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "devices", _all_of("devices", self.devices, Device))
        object.__setattr__(self, "links", _all_of("links", self.links, Link))
        flag("in_list_order", self.in_list_order)
        object.__setattr__(self, "_core_graph", self._build())

    def _build(self) -> _core.DpmGraph:
        return _core.DpmGraph(
            devices=[device._row() for device in self.devices],
            links=[link._row() for link in self.links],
            in_list_order=self.in_list_order,
        )

    @classmethod
    def from_records(
        cls,
        devices: Iterable[Device | Mapping[str, Any]],
        links: Iterable[Link | Mapping[str, Any]] = (),
        *,
        in_list_order: bool = False,
    ) -> DeviceGraph:
        """Make a graph of records as they come from JSON, TOML or another program.

        Parameters
        ----------
        devices : iterable of Device or mapping
            Mappings have the parameters of :class:`Device` as keys. Segments in them are Segments or mappings
            like ``{"cpu_us": 40, "fixed_us": 5}``, ``{"sleep_us": 100}``, ``{"ticks": 2}``,
            ``{"range_us": [100, 200]}``, ``{"lock": "clk"}``, ``{"unlock": "clk"}``.
        links : iterable of Link or mapping
            Mappings have the parameters of :class:`Link` as keys.
        in_list_order : bool
            As in :class:`DeviceGraph`.

        Raises
        ------
        ConfigError
            As :class:`DeviceGraph`; also for a key that is missing or unknown.

        Examples
        --------
        >>> ufs = {"name": "ufs", "parent": "soc", "callbacks": {"resume": [{"sleep_us": 90}]}}
        >>> DeviceGraph.from_records([{"name": "soc"}, ufs])
        DeviceGraph([Device('soc'), Device('ufs', 'soc', callbacks={'resume': (Segment.sleep(90),)})])
        """
        return cls(
            [
                _device_from(f"devices[{i}]", one)
                for i, one in enumerate(each("devices", devices, "list of devices"))
            ],
            [_made(f"links[{i}]", one, Link) for i, one in enumerate(each("links", links, "list of links"))],
            in_list_order=in_list_order,
        )

    @classmethod
    def from_core(cls, core: _core.DpmGraph) -> DeviceGraph:
        """Make the Python face of a graph that the engine holds.

        Examples
        --------
        >>> graph = DeviceGraph([Device("soc")])
        >>> DeviceGraph.from_core(graph._core_graph) == graph
        True
        """
        made = cls.__new__(cls)
        object.__setattr__(made, "devices", tuple(Device._of_row(row) for row in core.devices()))
        object.__setattr__(made, "links", tuple(Link._of_row(row) for row in core.links()))
        object.__setattr__(made, "in_list_order", core.in_list_order)
        object.__setattr__(made, "_core_graph", core)
        return made

    @property
    def order(self) -> tuple[str, ...]:
        """Names in list order."""
        return tuple(self._core_graph.names)

    @property
    def relaxed(self) -> tuple[Link, ...]:
        """Inferred links that lie on a cycle and so order nothing."""
        return tuple(self.links[i] for i in self._core_graph.relaxed_links)

    def to_frame(self) -> pd.DataFrame:
        """One row for each device, in the order of registration.

        Columns are name, parent (missing for none), async_suspend, position (in the list, from 0), children,
        suppliers and consumers (how many; of the links those that order suspend and resume), and for each
        phase ``PHASE_cpu_ms`` (of the reference CPU, with what is fixed) and ``PHASE_sleep_ms`` (ranges at
        their far end, without sleeps of ticks, whose length depends on the kernel), NaN without a callback.

        Examples
        --------
        >>> ufs = Device("ufs", callbacks={"resume": (Segment.cpu(500), Segment.sleep(250))})
        >>> frame = DeviceGraph([ufs, Device("clk")], [Link("clk", "ufs")]).to_frame()
        >>> frame[["name", "position", "suppliers", "resume_cpu_ms", "resume_sleep_ms"]]
          name  position  suppliers  resume_cpu_ms  resume_sleep_ms
        0  ufs         1          1            0.5             0.25
        1  clk         0          0            NaN              NaN
        """
        core = self._core_graph
        columns: dict[str, Any] = {
            "name": [device.name for device in self.devices],
            "parent": [device.parent for device in self.devices],
            "async_suspend": [device.async_suspend for device in self.devices],
        }
        places = pd.Series(range(len(self)), index=core.registered).sort_index().to_numpy()
        columns["position"] = places
        columns["children"] = pd.array(core.child_counts()).to_numpy()[places]
        columns["suppliers"] = pd.array(core.supplier_counts()).to_numpy()[places]
        columns["consumers"] = pd.array(core.consumer_counts()).to_numpy()[places]
        for phase in PHASES:
            columns[f"{phase}_cpu_ms"] = [_total(device, phase, "cpu_ns") for device in self.devices]
            columns[f"{phase}_sleep_ms"] = [_total(device, phase, "sleep_ns") for device in self.devices]
        return pd.DataFrame(columns)

    def __len__(self) -> int:
        return len(self.devices)

    def __repr__(self) -> str:
        if len(self.devices) > _SHOWN or len(self.links) > _SHOWN:
            return f"<DeviceGraph of {self._summary()}>"
        parts = [repr(list(self.devices))]
        if self.links:
            parts.append(repr(list(self.links)))
        if self.in_list_order:
            parts.append("in_list_order=True")
        return f"DeviceGraph({', '.join(parts)})"

    def _summary(self) -> str:
        few = ", ".join(device.name for device in self.devices[:3])
        return f"{len(self.devices)} devices ({few}, ...) and {len(self.links)} links"

    def _repr_html_(self) -> str:
        caption = f"<p>DeviceGraph of {html.escape(self._summary())}</p>"
        table: str = self.to_frame().to_html(max_rows=2 * _SHOWN, na_rep="-", index=False, border=0)
        return caption + table

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "_core_graph"}

    def __setstate__(self, state: dict[str, object]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_core_graph", self._build())


def _total(device: Device, phase: str, what: str) -> float:
    segments = device.callbacks.get(phase)
    return float("nan") if segments is None else sum(getattr(one, what) for one in segments) / 1e6


def _all_of(name: str, given: object, kind: type[_Record]) -> tuple[_Record, ...]:
    made = tuple(each(name, given, f"list of {kind.__name__} objects"))
    for i, one in enumerate(made):
        if not isinstance(one, kind):
            raise ConfigError(f"{name}[{i}]={shown(one)} is no {kind.__name__}")
    return made


def _made(key: str, record: object, kind: type[_Record]) -> _Record:
    if isinstance(record, kind):
        return record
    if not isinstance(record, Mapping):
        raise ConfigError(f"{key}={shown(record)} is neither a {kind.__name__} nor a mapping")
    all_of_them = fields(kind)  # type: ignore[arg-type]
    known = [one.name for one in all_of_them]
    for name in record:
        if not isinstance(name, str) or name not in known:
            close = difflib.get_close_matches(str(name), known, 1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise ConfigError(f"{key}.{name}: unknown; known: {', '.join(known)}{hint}")
    for name in known[: Counter(one.kw_only for one in all_of_them)[False]]:
        if name != "parent" and name not in record:
            raise ConfigError(f"{key}.{name}: missing")
    return kind(**record)


def _device_from(key: str, record: object) -> Device:
    if not isinstance(record, Mapping) or not isinstance(record.get("callbacks"), Mapping):
        return _made(key, record, Device)
    callbacks = {
        phase: [
            Segment.from_record(one, f"{key}.callbacks.{phase}[{i}]")
            for i, one in enumerate(each(f"{key}.callbacks.{phase}", segments, "list of segments"))
        ]
        for phase, segments in record["callbacks"].items()
    }
    return _made(key, {**record, "callbacks": callbacks}, Device)
