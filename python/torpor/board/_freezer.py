# SPDX-License-Identifier: MIT
"""The [freezer] section of a board file: what freezing costs on the machine, and the tasks that it runs."""

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import msgspec

from torpor._core import ConfigError
from torpor.board._freezer_names import KINDS, SITES, STARTS
from torpor.board._source import Source
from torpor.board._table import Table
from torpor.distributions import Constant, Distribution, parse_distribution

# The longest of either that anybody means, and short enough for sums over a whole population.
_Cycles = Annotated[int, msgspec.Meta(ge=0, le=10**12)]
_StallNs = Annotated[int, msgspec.Meta(ge=0, le=10**12)]
_Count = Annotated[int, msgspec.Meta(ge=0, le=10**7)]
_LatencyUs = Annotated[float, msgspec.Meta(ge=0, le=2147483647)]
_PowerMw = Annotated[float, msgspec.Meta(ge=0, le=1e9)]

TimeText = float | str


class FreezerKernel(Table, frozen=True, kw_only=True):
    """Kernel configuration that matters to freezing; HZ is the board's ``tick.hz``."""

    preempt: str
    kernel_loop_preempt: str | None = None
    walker_wake: str = "head"
    wheel_extra: Annotated[int, msgspec.Meta(ge=0, le=1)] = 0
    range_mode: str = "hard"
    timeout_ms: Annotated[int, msgspec.Meta(ge=1, le=2**32 - 1)] = 20000


class FreezerCosts(Table, frozen=True, kw_only=True):
    """What everything costs, CPU cycles; stalls are time that no frequency shortens."""

    visit_cycles: _Cycles
    visit_kernel_cycles: _Cycles | None = None
    wake_cycles: _Cycles
    resig_cycles: _Cycles
    mark_cycles: _Cycles
    freeze_run_cycles: _Cycles
    thaw_wake_cycles: _Cycles
    thaw_run_cycles: _Cycles
    resleep_cycles: _Cycles
    per_fd_cycles: _Cycles = 0
    visit_stall_ns: _StallNs = 0
    run_stall_ns: _StallNs = 0
    user_loop_cycles: _Cycles = 0
    kernel_loop_cycles: _Cycles = 0
    thaw_cycles: _Cycles = 0
    sleep_overhead_ns: _StallNs = 0


class FreezerTasks(Table, frozen=True, kw_only=True):
    """Equal tasks; times from the start of the freeze, as microseconds or as a distribution's text."""

    name: str
    count: _Count
    site: str = "other"
    kind: str = "user"
    start: str = "blocked"
    threads: Annotated[int, msgspec.Meta(ge=1, le=10**7)] = 1
    d_ends_us: TimeText | None = None
    wakes_at_us: TimeText | None = None
    forks_at_us: TimeText | None = None
    waits_on: str = ""
    reply_after_cycles: _Cycles = 0
    freeze_run_cycles: _Cycles | None = None
    thaw_run_cycles: _Cycles | None = None
    nfds: Annotated[int, msgspec.Meta(ge=0, le=10**6)] = 0


class Freezer(Table, frozen=True, kw_only=True):
    """The whole section."""

    wake_latency_us: _LatencyUs
    base_power_mw: _PowerMw
    order: str = "listed"
    kernel: FreezerKernel
    costs: FreezerCosts
    tasks: tuple[FreezerTasks, ...] = ()


TABLES: dict[tuple[str, ...], type[msgspec.Struct]] = {
    ("freezer",): Freezer,
    ("freezer", "kernel"): FreezerKernel,
    ("freezer", "costs"): FreezerCosts,
    ("freezer", "tasks", "[]"): FreezerTasks,
}

TIMES = ("d_ends_us", "wakes_at_us", "forks_at_us")

_WORDS = {
    "order": ("listed", "shuffled"),
    "kernel.preempt": ("none", "full"),
    "kernel.kernel_loop_preempt": ("none", "full"),
    "kernel.walker_wake": ("head", "tail"),
    "kernel.range_mode": ("hard", "tick", "uniform", "soft"),
}
_NAME = re.compile(r"(?![0-9]+$)[A-Za-z0-9_][A-Za-z0-9_.:/+-]{0,63}")


class Broken(NamedTuple):
    """An entry that breaks a rule, its value, and the rule."""

    entry: str
    value: Any
    limit: str


def known_word(entry: str, value: str, known: Sequence[str]) -> Broken | None:
    """Complain about a word that is none of the known ones, with the nearest of them."""
    if value in known:
        return None
    near = difflib.get_close_matches(value, known, n=1)
    return Broken(entry, value, ", ".join(known) + (f"; did you mean {near[0]}?" if near else ""))


def broken_tasks(tasks: FreezerTasks) -> Broken | None:
    """First entry of a group of tasks that cannot be, whatever other groups there are."""
    if not _NAME.fullmatch(tasks.name):
        limit = "1 to 64 letters, digits and any of _ . : / + -, not a number"
        return Broken("name", tasks.name, limit)
    for entry, known in (("kind", KINDS), ("site", SITES), ("start", STARTS)):
        if found := known_word(entry, getattr(tasks, entry), known):
            return found
    for entry in TIMES:
        if found := _broken_time(entry, getattr(tasks, entry)):
            return found
    if found := _broken_kind(tasks):
        return found
    only: tuple[tuple[str, bool, str, tuple[str, ...]], ...] = (
        ("d_ends_us", tasks.d_ends_us is not None, "start", ("uninterruptible",)),
        ("forks_at_us", tasks.forks_at_us is not None, "start", ("user_mode",)),
        ("waits_on", tasks.waits_on != "", "start", ("uninterruptible", "spinning")),
        ("reply_after_cycles", tasks.reply_after_cycles != 0, "start", ("user_mode",)),
        ("nfds", tasks.nfds != 0, "site", ("select", "poll")),
    )
    for entry, given, other, allowed in only:
        if given and getattr(tasks, other) not in allowed:
            limit = f"only with {other} = {' or '.join(allowed)}, not {getattr(tasks, other)}"
            return Broken(entry, getattr(tasks, entry), limit)
    if tasks.start == "spinning" and not tasks.waits_on:
        return Broken("waits_on", "", "a spinning task must name the group that it waits for")
    if tasks.waits_on == tasks.name:
        return Broken("waits_on", tasks.waits_on, "must name another group than its own")
    return None


def _broken_kind(tasks: FreezerTasks) -> Broken | None:
    """Complain about what does not go with the kind.

    Kernel threads of kind kfreezable may sleep in any site: from 6.1 on they say so by the state in which
    they sleep, wherever that is.
    """
    if tasks.kind != "user" and tasks.start not in ("blocked", "uninterruptible"):
        limit = f"only with kind = user, not {tasks.kind}: kernel threads are blocked or uninterruptible"
        return Broken("start", tasks.start, limit)
    if tasks.kind == "user" and tasks.site == "kthread":
        return Broken("site", tasks.site, "only with kind = kfreezable or knofreeze, not user")
    if tasks.kind == "knofreeze" and tasks.wakes_at_us is not None:
        limit = "only with kind = user or kfreezable, not knofreeze, which is never asked"
        return Broken("wakes_at_us", tasks.wakes_at_us, limit)
    return None


def _broken_time(entry: str, value: TimeText | None) -> Broken | None:
    if value is None:
        return None
    try:
        parse_distribution(value)
    except ConfigError as error:
        return Broken(entry, value, f"microseconds, not negative, or a distribution ({error})")
    return None


def broken_population(groups: Iterable[FreezerTasks]) -> tuple[int, Broken] | None:
    """First group, by position, that does not go with the others."""
    seen: dict[str, int] = {}
    listed = list(groups)
    for index, group in enumerate(listed):
        if seen.setdefault(group.name, index) != index:
            return index, Broken("name", group.name, "must be the name of one group only")
    for index, group in enumerate(listed):
        if group.waits_on and group.waits_on not in seen:
            return index, Broken("waits_on", group.waits_on, f"must name a group: {', '.join(seen)}")
        if group.waits_on and listed[seen[group.waits_on]].count == 0 and group.count > 0:
            return index, Broken("waits_on", group.waits_on, "must name a group of at least one task")
    return None


def check(freezer: Freezer, source: Source) -> None:
    """Check what types and ranges do not say.

    Raises
    ------
    ConfigError
        Naming file, line, key, value and limit of the first entry that cannot be.
    """
    for path, known in _WORDS.items():
        table, _, entry = path.rpartition(".")
        value = getattr(getattr(freezer, table) if table else freezer, entry)
        if value is not None and (found := known_word(entry, value, known)):
            raise source.error(f"freezer.{path}", f"value {value!r}, limit: {found.limit}")
    for index, tasks in enumerate(freezer.tasks):
        if found := broken_tasks(tasks):
            raise _task_error(index, found, source)
    if pair := broken_population(freezer.tasks):
        raise _task_error(*pair, source)


def _task_error(index: int, found: Broken, source: Source) -> ConfigError:
    key = f"freezer.tasks[{index}].{found.entry}"
    return source.error(key, f"value {found.value!r}, limit: {found.limit}")


def keep_given(data: dict[str, Any], raw: Mapping[str, Any]) -> None:
    """Put back what a file gives although it is the default, so that each number has its source."""
    ours, theirs = data["freezer"], raw["freezer"]
    pairs = [(ours, {"order": theirs.get("order")})]
    pairs += [(ours[name], theirs[name]) for name in ("kernel", "costs")]
    pairs += zip(ours.get("tasks", ()), theirs.get("tasks", ()), strict=True)
    for table, given in pairs:
        for entry, value in given.items():
            if value is not None and value != "":
                table.setdefault(entry, value)


def content(freezer: Freezer) -> dict[str, Any]:
    """Plain values for the content hash: without entries at their default, times in one spelling."""
    plain = _told(freezer)
    plain["kernel"], plain["costs"] = _told(freezer.kernel), _told(freezer.costs)
    plain["tasks"] = [_told(tasks) for tasks in freezer.tasks]
    for tasks in plain["tasks"]:
        for entry in TIMES:
            if entry in tasks:
                tasks[entry] = str(parse_distribution(tasks[entry]))
    return plain


def _told(table: msgspec.Struct) -> dict[str, Any]:
    entries = (
        (field.name, getattr(table, field.name), field.default) for field in msgspec.structs.fields(table)
    )
    return {name: value for name, value, default in entries if value != default}


def time_or_distribution(value: TimeText | Distribution | None) -> float | Distribution | None:
    """Keep a time as a number when it is one, else as the distribution."""
    if value is None:
        return None
    found = parse_distribution(value)
    return found.value_us if isinstance(found, Constant) else found
