# SPDX-License-Identifier: MIT
"""Groups of equal tasks, of which a :class:`~torpor.freezer.population.Population` is made."""

from __future__ import annotations

import html
import operator
from dataclasses import dataclass, fields
from numbers import Real

import msgspec
import numpy as np

from torpor._checks import shown
from torpor._core import ConfigError
from torpor.board import _freezer as _section
from torpor.board._freezer_names import KINDS, SITES, STARTS
from torpor.distributions import Distribution

__all__ = ["KINDS", "SITES", "STARTS", "TaskGroup", "Time"]

Time = float | str | Distribution
"""A time in microseconds, or the distribution that it is drawn from."""

_WORDS = {"site": SITES, "kind": KINDS, "start": STARTS}


@dataclass(frozen=True, kw_only=True)
class TaskGroup:
    """Equal tasks, and what they do when the freeze starts.

    Times count from the start of the (first) freeze. Each is a number of microseconds or a distribution (an
    object or the text of one, see :mod:`torpor.distributions`), of which each task draws its own.

    Parameters
    ----------
    name : str
        Name of the group; random streams and sweeps find it by this.
    count : int
        Number of tasks.
    site : str
        Where they sleep, one of ``SITES``; for a task in D, where it sleeps once its wait is over.
        ``kthread`` is for kernel threads only.
    kind : {"user", "kfreezable", "knofreeze"}
        User space, a kernel thread that has opted in to freezing, one that is never asked. One that has opted
        in may sleep in any site: it says so by the state in which it sleeps, wherever that is. Kernel threads
        start ``blocked`` or ``uninterruptible``.
    start : str
        ``blocked`` in the site; ``uninterruptible`` (D), deaf to the fake signal; ``user_mode``, computing;
        ``spinning`` inside the kernel, deaf too; ``stopped``; ``zombie``.
    threads : int
        Threads of one process, neighbours in the task list also when it is shuffled.
    d_ends_us : float, str or Distribution, microseconds
        When the wait of a D task ends; None is never by itself.
    wakes_at_us : float, str or Distribution, microseconds
        When somebody else wakes the task.
    forks_at_us : float, str or Distribution, microseconds
        When a task in user mode forks, if it still computes then.
    waits_on : str
        Group of which a D or spinning task needs a reply: task i waits for task i modulo its count. A
        spinning task has to name one.
    reply_after_cycles : int, CPU cycles
        A server replies after that much of its own work in user mode.
    freeze_run_cycles, thaw_run_cycles : int or None, CPU cycles
        In place of the board's.
    nfds : int
        Descriptors of a select or poll, set up again at thaw.

    Raises
    ------
    ConfigError
        Naming the field, its value and the limit.

    Examples
    --------
    >>> TaskGroup(name="copy", start="uninterruptible", d_ends_us="lognormal(median_us=2000, sigma=1)")
    TaskGroup(name='copy', start='uninterruptible', d_ends_us=LogNormal(median_us=2000.0, sigma=1.0))
    >>> TaskGroup(name="loop", count=3, site="epol")
    Traceback (most recent call last):
        ...
    torpor._core.ConfigError: TaskGroup.site='epol': known: binder, epoll, select, ...; did you mean epoll?
    """

    name: str
    count: int = 1
    site: str = "other"
    kind: str = "user"
    start: str = "blocked"
    threads: int = 1
    d_ends_us: Time | None = None
    wakes_at_us: Time | None = None
    forks_at_us: Time | None = None
    waits_on: str = ""
    reply_after_cycles: int = 0
    freeze_run_cycles: int | None = None
    thaw_run_cycles: int | None = None
    nfds: int = 0

    def __post_init__(self) -> None:
        values = {}
        for field in fields(self):
            value = _plain(getattr(self, field.name))
            values[field.name] = str(value) if isinstance(value, Distribution) else value
        try:
            record = msgspec.convert(values, _section.FreezerTasks)
        except (msgspec.ValidationError, OverflowError) as error:
            reason, _, where = str(error).partition(" - at `$.")
            entry = where.removesuffix("`") or "name"
            raise ConfigError(_complaint(entry, values.get(entry), reason)) from None
        found = _section.broken_tasks(record)
        if found is not None:
            entry, value, limit = found
            known = _WORDS.get(entry)
            raise ConfigError(
                _complaint(entry, value, f"known: {limit}" if known and value not in known else limit)
            )
        for name in record.__struct_fields__:
            value = getattr(record, name)
            if name in _section.TIMES:
                value = _section.time_or_distribution(value)
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        shown = (f for f in fields(self) if f.name == "name" or getattr(self, f.name) != f.default)
        return f"TaskGroup({', '.join(f'{f.name}={getattr(self, f.name)!r}' for f in shown)})"

    def _repr_html_(self) -> str:
        return f"<code>{html.escape(repr(self))}</code>"


def _plain(value: object) -> object:
    """Python's own number for anything that stands for one."""
    if isinstance(value, bool | np.bool_ | np.ndarray):
        return value
    if hasattr(type(value), "__index__"):
        return operator.index(value)  # type: ignore[arg-type]
    return float(value) if isinstance(value, Real) else value


def _complaint(entry: str, value: object, limit: str) -> str:
    return f"TaskGroup.{entry}={shown(value)}: {limit}"
