# SPDX-License-Identifier: MIT
"""Devices and device links."""

from __future__ import annotations

import difflib
import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

from torpor._checks import flag, shown
from torpor._core import ConfigError
from torpor.dpm._given import each, text
from torpor.dpm._segment import Segment

__all__ = ["LINK_STATES", "PHASES", "PREPARE_RESULTS", "RUNTIME_STATUSES", "Device", "Link"]

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
"""Phases of a cycle, in their order."""

LINK_STATES = ("dormant", "available", "consumer_probe", "active", "supplier_unbind", "none")
"""States of a device link; suspend and resume ignore dormant ones only."""

RUNTIME_STATUSES = ("active", "suspended", "unsupported")
"""What runtime power management says of a device when the suspend begins."""

PREPARE_RESULTS = ("ok", "direct_complete", "again", "error")
"""What a prepare callback returns: 0, a positive number, -EAGAIN (left out of this cycle), another error."""

_Row = tuple[Any, ...]
"""A record on its way to or from the engine."""


def _one_of(name: str, value: object, known: Sequence[str]) -> str:
    if isinstance(value, str) and value in known:
        return value
    close = difflib.get_close_matches(str(value), known, 1)
    hint = f"; did you mean {close[0]}?" if close else ""
    raise ConfigError(f"{name}={shown(value)}: known: {', '.join(known)}{hint}")


def _filled(name: str, value: object) -> str:
    found = text(name, value)
    if not found:
        raise ConfigError(f"{name}='' is empty, limit: at least one character")
    return found


def _phases(name: str, value: object) -> tuple[str, ...]:
    given = {_one_of(name, phase, PHASES) for phase in each(name, value, "list of phases")}
    return tuple(phase for phase in PHASES if phase in given)


def _callbacks(key: str, value: object) -> Mapping[str, tuple[Segment, ...]]:
    if not isinstance(value, Mapping):
        raise ConfigError(f"{key}={shown(value)} is no mapping of phases to segments")
    for phase in value:
        _one_of(key, phase, PHASES)
    made = {}
    for phase in PHASES:
        if phase not in value:
            continue
        made[phase] = tuple(each(f"{key}.{phase}", value[phase], "list of segments"))
        for i, segment in enumerate(made[phase]):
            if not isinstance(segment, Segment):
                raise ConfigError(f"{key}.{phase}[{i}]={shown(segment)} is no Segment")
    return MappingProxyType(made)


def _call(record: Any, positional: Sequence[str]) -> str:
    """Text of a record that reads back, without what is usual."""
    parts = [repr(getattr(record, name)) for name in positional]
    for one in fields(record):
        value = getattr(record, one.name)
        if one.init and one.name not in positional and value != one.default:
            parts.append(f"{one.name}={value!r}")
    return f"{type(record).__name__}({', '.join(parts)})"


@dataclass(frozen=True, eq=True, repr=False)
class Device:
    """A device as the device core sees it.

    Parameters
    ----------
    name : str
        Name, unique in its graph.
    parent : str or None
        Name of the parent, which is registered earlier.
    async_suspend : bool
        May be handled by a worker.
    syscore : bool
        Handled outside of the device core, which skips its callbacks.
    no_pm_callbacks : bool or None
        Neither bus, class, type, domain nor driver supplies any callback; None says so if `callbacks` is
        empty and `prepare` is ok.
    runtime_status : {"active", "suspended", "unsupported"}
        What runtime power management says of it when the suspend begins.
    wakeup : bool
        May wake the system: neither it nor its ancestors are left alone by direct_complete.
    smart_suspend : bool
        Skips the late and noirq callbacks of its driver when it is runtime suspended already.
    may_skip_resume : bool
        May stay suspended on resume if nobody needs it.
    direct_complete : bool
        False when it has opted out of direct_complete.
    prepare : {"ok", "direct_complete", "again", "error"}
        What its prepare callback returns, see ``PREPARE_RESULTS``.
    fails : sequence of str
        Phases whose callback returns an error.
    wakes_system : sequence of str
        Phases during whose callback a wakeup event becomes pending.
    callbacks : mapping of str to sequence of Segment
        What the callback of a phase does. An empty sequence is a callback that takes no time, a missing phase
        has none.

    Raises
    ------
    ConfigError
        Naming the device, the entry, its value and the limit.

    Examples
    --------
    >>> Device("ufs", "soc", callbacks={"resume": (Segment.cpu(40), Segment.sleep(1500))})
    Device('ufs', 'soc', callbacks={'resume': (Segment.cpu(40), Segment.sleep(1500))})
    >>> Device("ufs", runtime_status="sleeping")
    Traceback (most recent call last):
        ...
    torpor._core.ConfigError: devices[ufs].runtime_status='sleeping': known: active, suspended, unsupported
    """

    name: str
    parent: str | None = None
    async_suspend: bool = field(default=True, kw_only=True)
    syscore: bool = field(default=False, kw_only=True)
    no_pm_callbacks: bool | None = field(default=None, kw_only=True)
    runtime_status: str = field(default="active", kw_only=True)
    wakeup: bool = field(default=False, kw_only=True)
    smart_suspend: bool = field(default=False, kw_only=True)
    may_skip_resume: bool = field(default=False, kw_only=True)
    direct_complete: bool = field(default=True, kw_only=True)
    prepare: str = field(default="ok", kw_only=True)
    fails: Sequence[str] = field(default=(), kw_only=True)
    wakes_system: Sequence[str] = field(default=(), kw_only=True)
    callbacks: Mapping[str, Sequence[Segment]] = field(default_factory=dict, kw_only=True)

    def __post_init__(self) -> None:
        _filled("Device.name", self.name)
        key = f"devices[{self.name}]"
        if self.parent is not None:
            _filled(f"{key}.parent", self.parent)
        for name in _FLAGS:
            object.__setattr__(self, name, flag(f"{key}.{name}", getattr(self, name)))
        _one_of(f"{key}.runtime_status", self.runtime_status, RUNTIME_STATUSES)
        _one_of(f"{key}.prepare", self.prepare, PREPARE_RESULTS)
        for name in ("fails", "wakes_system"):
            object.__setattr__(self, name, _phases(f"{key}.{name}", getattr(self, name)))
        object.__setattr__(self, "callbacks", _callbacks(f"{key}.callbacks", self.callbacks))
        none = self._has_no_callbacks if self.no_pm_callbacks is None else self.no_pm_callbacks
        object.__setattr__(self, "no_pm_callbacks", flag(f"{key}.no_pm_callbacks", none))

    @property
    def _has_no_callbacks(self) -> bool:
        return not self.callbacks and self.prepare == "ok"

    def __hash__(self) -> int:
        return hash((self.name, self.parent))

    def __repr__(self) -> str:
        parts = [repr(self.name)]
        if self.parent is not None:
            parts.append(repr(self.parent))
        for one in fields(self)[2:]:
            value = getattr(self, one.name)
            usual = self._has_no_callbacks if one.name == "no_pm_callbacks" else one.default
            if one.name == "callbacks":
                value, usual = dict(value), {}
            if value != usual:
                parts.append(f"{one.name}={value!r}")
        return f"Device({', '.join(parts)})"

    def _repr_html_(self) -> str:
        return f"<code>{html.escape(repr(self))}</code>"

    def __reduce__(self) -> tuple[Callable[[dict[str, Any]], Device], tuple[dict[str, Any]]]:
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return _device_of, (values | {"callbacks": dict(self.callbacks)},)

    def _row(self) -> _Row:
        return (
            self.name,
            self.parent or "",
            (
                self.async_suspend,
                self.syscore,
                bool(self.no_pm_callbacks),
                self.wakeup,
                self.smart_suspend,
                self.may_skip_resume,
                not self.direct_complete,
            ),
            self.runtime_status,
            self.prepare,
            list(self.fails),
            list(self.wakes_system),
            [
                (phase, [(s.kind, s.first, s.second, s.name) for s in segments])
                for phase, segments in self.callbacks.items()
            ],
        )

    @staticmethod
    def _of_row(row: _Row) -> Device:
        name, parent, flags, runtime_status, prepare, fails, wakes_system, callbacks = row
        given = dict(zip(_ROW_FLAGS, flags, strict=True))
        return Device(
            name,
            parent or None,
            direct_complete=not given.pop("no_direct_complete"),
            runtime_status=runtime_status,
            prepare=prepare,
            fails=fails,
            wakes_system=wakes_system,
            callbacks={phase: [Segment(*one) for one in segments] for phase, segments in callbacks},
            **given,
        )


_FLAGS = ("async_suspend", "syscore", "wakeup", "smart_suspend", "may_skip_resume", "direct_complete")
_ROW_FLAGS = (
    "async_suspend",
    "syscore",
    "no_pm_callbacks",
    "wakeup",
    "smart_suspend",
    "may_skip_resume",
    "no_direct_complete",
)


def _device_of(values: dict[str, Any]) -> Device:
    return Device(**values)


@dataclass(frozen=True, repr=False)
class Link:
    """A device link: the consumer needs its supplier.

    Parameters
    ----------
    supplier, consumer : str
        Names of devices.
    state : str
        One of ``LINK_STATES``.
    sync_state_only : bool
        Orders sync_state callbacks only, neither suspend nor resume.
    inferred : bool
        Made from the firmware's description: added as soon as both ends are registered, and relaxed to
        sync_state_only when it lies on a cycle.

    Raises
    ------
    ConfigError
        Naming the link, the entry, its value and the limit.

    Examples
    --------
    >>> Link("clk", "ufs", state="dormant")
    Link('clk', 'ufs', state='dormant')
    >>> Link("clk", "ufs", state="activ")
    Traceback (most recent call last):
        ...
    torpor._core.ConfigError: links[clk--ufs].state='activ': known: ...; did you mean active?
    """

    supplier: str
    consumer: str
    state: str = field(default="active", kw_only=True)
    sync_state_only: bool = field(default=False, kw_only=True)
    inferred: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        _filled("Link.supplier", self.supplier)
        _filled("Link.consumer", self.consumer)
        key = f"links[{self.supplier}--{self.consumer}]"
        _one_of(f"{key}.state", self.state, LINK_STATES)
        for name in ("sync_state_only", "inferred"):
            object.__setattr__(self, name, flag(f"{key}.{name}", getattr(self, name)))

    def __repr__(self) -> str:
        return _call(self, ("supplier", "consumer"))

    def _repr_html_(self) -> str:
        return f"<code>{html.escape(repr(self))}</code>"

    def _row(self) -> _Row:
        return (self.supplier, self.consumer, self.state, self.sync_state_only, self.inferred)

    @staticmethod
    def _of_row(row: _Row) -> Link:
        supplier, consumer, state, sync_state_only, inferred = row
        return Link(supplier, consumer, state=state, sync_state_only=sync_state_only, inferred=inferred)
