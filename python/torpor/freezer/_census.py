# SPDX-License-Identifier: MIT
"""Readers of task populations: CSV counts, lists of wait channels, procfs."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from torpor._core import ConfigError
from torpor.board import _freezer as _section
from torpor.freezer import _wchan
from torpor.freezer.tasks import SITES, TaskGroup, Time

_COLUMNS = ("site", "count", "name", "kind", "start", "threads", "nfds")
_NUMBERS = ("count", "threads", "nfds")
_MAX_COUNT = 10**7

# task_struct.flags as /proc/PID/stat shows them.
_PF_KTHREAD = 0x00200000
_PF_NOFREEZE = 0x00008000

_STATE = re.compile(r"[RSDTtZXxIWPK][<NLslE+]*")
_FREEZABLE_NAMES = ("kswapd", "kcompactd", "khugepaged", "ksmd", "oom_reaper", "kauditd", "jbd2/")


class _Place(NamedTuple):
    site: str = "other"
    kind: str = "user"
    start: str = "blocked"

    @property
    def name(self) -> str:
        """The site alone for a sleeping user task, else what makes the tasks different."""
        parts = [self.kind] * (self.kind != "user") + [self.start] * (self.start != "blocked")
        usual = ("other", "kthread") if parts else ()
        return "-".join(parts + [self.site] * (self.site not in usual))


def _read_text(label: str) -> str:
    try:
        return Path(label).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ConfigError(f"{label}: cannot be read as UTF-8 text: {reason}") from None


def read_census(label: str) -> list[TaskGroup]:
    """Read a CSV file of counts by site; see `Population.from_census`."""
    header: list[str] = []
    groups: list[TaskGroup] = []
    lines: dict[str, int] = {}
    for number, line in enumerate(_read_text(label).splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        cells = [cell.strip() for cell in next(csv.reader([line], skipinitialspace=True))]
        where = f"{label}:{number}"
        if not header:
            header = _check_header([cell.lower() for cell in cells], where)
            continue
        if len(cells) != len(header):
            raise ConfigError(f"{where}: row has {len(cells)} cells, limit: {len(header)}, as the header has")
        group = _census_group(dict(zip(header, cells, strict=True)), where)
        if group.name in lines:
            raise ConfigError(
                f"{where}: name: value {group.name!r} is already on line {lines[group.name]}, "
                "limit: one row for each; a name column tells equal sites apart"
            )
        lines[group.name] = number
        groups.append(group)
    if not groups:
        missing = "rows" if header else "header"
        raise ConfigError(
            f"{label}: value has no {missing}, limit: a header 'site,count' and at least one row"
        )
    return groups


def _check_header(header: list[str], where: str) -> list[str]:
    for name in header:
        if name not in _COLUMNS:
            raise ConfigError(f"{where}: header: unknown column {name!r}, limit: {', '.join(_COLUMNS)}")
        if header.count(name) > 1:
            raise ConfigError(f"{where}: header: column {name!r} is there twice, limit: once")
    for name in ("site", "count"):
        if name not in header:
            raise ConfigError(f"{where}: header: value lacks the column {name!r}, limit: site and count")
    return header


def _census_group(cells: dict[str, str], where: str) -> TaskGroup:
    values: dict[str, Any] = {name: cell for name, cell in cells.items() if cell}
    for name in _NUMBERS:
        text = cells.get(name, "")
        if text and not re.fullmatch(r"[0-9]{1,8}", text):
            raise ConfigError(f"{where}: {name}: value {text!r}, limit: a whole number, 0 to {_MAX_COUNT}")
        if text:
            values[name] = int(text)
    for name in ("site", "count"):
        if name not in values:
            raise ConfigError(f"{where}: {name}: value missing, limit: this cell is required")
    place = _Place(values["site"], values.get("kind", "user"), values.get("start", "blocked"))
    values.setdefault("name", place.name)
    try:
        record = msgspec.convert(values, _section.FreezerTasks)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{where}: {error}") from None
    # The name of a row without one follows from its site, so the site is what is wrong.
    known = _section.known_word("site", record.site, SITES)
    found = known or _section.broken_tasks(record)
    if found is not None:
        raise ConfigError(f"{where}: {found.entry}: value {found.value!r}, limit: {found.limit}")
    return TaskGroup(**values)


@dataclass
class Tally:
    """Tasks counted by what they do, and the channels that are in no table."""

    label: str
    places: dict[_Place, int] = field(default_factory=dict)
    unknown: dict[str, int] = field(default_factory=dict)
    hidden: int = 0
    sleeping: int = 0

    def add(self, place: _Place, count: int = 1) -> None:
        """Count tasks."""
        self.places[place] = self.places.get(place, 0) + count

    def add_user(self, state: str, channel: str, count: int = 1) -> None:
        """Count user tasks of a state letter, empty for unknown, that sleep in a channel."""
        name = _wchan.plain_channel(channel)
        if state in ("Z", "X", "x"):
            self.add(_Place(start="zombie"), count)
        elif state in ("T", "t") or (not state and name in _wchan.STOPPED):
            self.add(_Place(start="stopped"), count)
        elif state == "D" or (not state and name in _wchan.UNINTERRUPTIBLE):
            self.add(_Place(start="uninterruptible"), count)
        elif state == "R":
            self.add(_Place(start="user_mode"), count)
        else:
            self.sleeping += count
            site = _wchan.SITE_OF.get(name, "other")
            if name in _wchan.NO_CHANNEL:
                self.hidden += count
            elif name not in _wchan.SITE_OF and name not in _wchan.UNINTERRUPTIBLE | _wchan.STOPPED:
                self.unknown[name] = self.unknown.get(name, 0) + count
            self.add(_Place(site), count)

    def add_kernel(self, state: str, freezable: bool) -> None:
        """Count one kernel thread."""
        if not freezable:
            self.add(_Place("kthread", "knofreeze"))
        else:
            self.add(_Place("other", "kfreezable", "uninterruptible" if state == "D" else "blocked"))

    def check(self, max_hidden: float) -> None:
        """Complain about a list without tasks, and about channels that the kernel has hidden.

        A task may wake between two reads, so that a few without a channel are no reason to distrust the rest.
        """
        if not isinstance(max_hidden, Real) or not 0 <= max_hidden <= 1:
            raise ConfigError(f"max_hidden={max_hidden!r}: must be 0 to 1")
        if not self.places:
            raise ConfigError(f"{self.label}: value has no tasks, limit: at least one")
        if self.hidden > self.sleeping * max_hidden:
            raise ConfigError(
                f"{self.label}: {self.hidden} of {self.sleeping} sleeping tasks show no wait channel, "
                f"limit: {max_hidden * 100:g} % of them; the kernel tells it to those only who may trace the "
                "task, as a rule root"
            )

    def groups(self, d_ends_us: Time | None) -> list[TaskGroup]:
        """One group for each place, in the order in which they were met."""
        return [
            TaskGroup(
                name=place.name,
                count=count,
                site=place.site,
                kind=place.kind,
                start=place.start,
                d_ends_us=d_ends_us if place.start == "uninterruptible" else None,
            )
            for place, count in self.places.items()
        ]

    def notes(self) -> list[str]:
        """Say what could not be placed, most tasks first."""
        ordered = sorted(self.unknown.items(), key=lambda pair: (-pair[1], pair[0]))
        notes = [
            f"{count} {'task sleeps' if count == 1 else 'tasks sleep'} in {name}, which is in no table: "
            "counted as other"
            for name, count in ordered
        ]
        if self.hidden:
            notes.append(f"{self.hidden} of {self.sleeping} sleeping tasks show no channel: counted as other")
        return notes


class _Layout(NamedTuple):
    """Which words of a line are what."""

    width: int
    channel: int
    state: int | None = None
    command: int | None = None
    pid: int | None = None
    parent: int | None = None


_PS_ORDER = _Layout(width=4, pid=0, state=1, channel=2, command=3)
_HEADINGS = {
    "WCHAN": "channel",
    "S": "state",
    "STAT": "state",
    "STATE": "state",
    "COMMAND": "command",
    "CMD": "command",
    "PID": "pid",
    "PPID": "parent",
}


def read_channels(source: str | os.PathLike[str] | Iterable[str], max_hidden: float) -> Tally:
    """Count the tasks of a list of wait channels; see `Population.from_wait_channels`."""
    label, lines = _lines_of(source)
    tally = Tally(label)
    layout: _Layout | None = None
    for number, line in enumerate(lines, 1):
        where = f"{label}:{number}"
        if not isinstance(line, str):
            raise ConfigError(f"{where}: value {line!r}, limit: a line of text")
        words = line.split()
        if not words:
            continue
        if "WCHAN" in words:
            layout = _heading(words, where)
        elif layout is None and len(words) == 1:
            _add_bare(tally, words[0], 1, where)
        elif layout is None and len(words) == 2:
            if not re.fullmatch(r"[0-9]{1,8}", words[0]) or int(words[0]) > _MAX_COUNT:
                raise ConfigError(f"{where}: value {words[0]!r}, limit: a count of 0 to {_MAX_COUNT}")
            _add_bare(tally, words[1], int(words[0]), where)
        else:
            _add_row(tally, line, layout or _PS_ORDER, where)
    tally.check(max_hidden)
    return tally


def _lines_of(source: str | os.PathLike[str] | Iterable[str]) -> tuple[str, Iterable[str]]:
    if isinstance(source, str) and "\n" in source:
        return "wait channels", source.splitlines()
    if isinstance(source, str | os.PathLike):
        label = os.fspath(source)
        return label, _read_text(label).splitlines()
    if not isinstance(source, Iterable):
        raise ConfigError(f"wait channels: value {source!r}, limit: a path, text or lines of text")
    return "wait channels", source


def _heading(words: list[str], where: str) -> _Layout:
    found = {_HEADINGS[word]: index for index, word in enumerate(words) if word in _HEADINGS}
    if found.get("command", len(words) - 1) != len(words) - 1:
        raise ConfigError(f"{where}: column {words[found['command']]} has spaces, limit: the last column")
    return _Layout(width=len(words), **found)


def _add_bare(tally: Tally, channel: str, count: int, where: str) -> None:
    name = _whole(channel, where)
    if name in _wchan.KERNEL_THREADS | _wchan.FREEZABLE_THREADS:
        for _ in range(count):
            tally.add_kernel("", name in _wchan.FREEZABLE_THREADS)
    elif count:
        tally.add_user("", name, count)


def _add_row(tally: Tally, line: str, layout: _Layout, where: str) -> None:
    words = line.split(None, layout.width - 1)

    def word(index: int | None) -> str:
        return words[index].strip() if index is not None and index < len(words) else ""

    state, command = word(layout.state), word(layout.command)
    wanted = max(layout.channel, layout.state or 0, layout.pid or 0) + 1
    right = len(words) >= wanted and (layout.state is None or _STATE.fullmatch(state))
    if not right or not all(word(i).isdecimal() for i in (layout.pid, layout.parent) if i is not None):
        limit = "a channel, a count and a channel, or pid, state, channel, command as ps prints them"
        raise ConfigError(f"{where}: value {line.strip()[:60]!r}, limit: {limit}")
    state = state[:1]
    name = _whole(word(layout.channel), where)
    if state == "R" and re.fullmatch(r"ps( .*)?", command):
        return  # the one who looks
    kernel = (
        state == "I"
        or "2" in (word(layout.pid), word(layout.parent))
        or name in _wchan.KERNEL_THREADS | _wchan.FREEZABLE_THREADS
        or (command.startswith("[") and command.endswith("]"))
    )
    if kernel and state not in ("Z", "X"):
        named = command.strip("[]").startswith(_FREEZABLE_NAMES)
        tally.add_kernel(state, named or name in _wchan.FREEZABLE_THREADS)
    else:
        tally.add_user(state, name)


def _whole(channel: str, where: str) -> str:
    """Refuse a channel that ps has cut at its usual six characters: it would be counted in the wrong site."""
    name = _wchan.plain_channel(channel)
    tables = (_wchan.SITE_OF, _wchan.UNINTERRUPTIBLE, _wchan.KERNEL_THREADS, _wchan.FREEZABLE_THREADS)
    known = any(name in table for table in tables)
    if not known and len(name) == 6 and any(full.startswith(name) for table in tables for full in table):
        raise ConfigError(f"{where}: value {name!r} is cut, limit: whole names, as ps prints with wchan:40")
    return name


def read_proc(root: str, max_hidden: float) -> Tally:
    """Count the threads of a running system; see `Population.from_proc`."""
    tally = Tally(root)
    own = os.getpid() if Path(root) == Path("/proc") else None
    for task in _tasks_of(root, own):
        try:
            stat = (task / "stat").read_text(encoding="utf-8", errors="replace")
            channel = _channel_of(task)
        except (FileNotFoundError, ProcessLookupError):
            continue
        except OSError as error:
            raise ConfigError(f"{task}/stat: cannot be read: {error.strerror or error}") from None
        # The command stands in parentheses and may hold any character, a parenthesis too.
        words = stat.rpartition(")")[2].split()
        if len(words) < 7 or not words[6].isdecimal():
            raise ConfigError(f"{task}/stat: value {stat[:60]!r}, limit: a line of at least nine fields")
        state, flags = words[0], int(words[6])
        if flags & _PF_KTHREAD and state not in ("Z", "X"):
            tally.add_kernel(state, not flags & _PF_NOFREEZE)
        else:
            tally.add_user(state, channel)
    if not tally.places:
        raise ConfigError(f"{root}: value has no tasks, limit: PID/task/TID folders, as procfs has")
    tally.check(max_hidden)
    return tally


def _tasks_of(root: str, own: int | None) -> Iterator[Path]:
    for process in _numbered(Path(root)):
        if int(process.name) != own:
            yield from _numbered(process / "task")


def _numbered(folder: Path) -> list[Path]:
    """Folders named by a number, ascending; none when the process has ended."""
    try:
        found = [path for path in folder.iterdir() if path.name.isdecimal()]
    except (FileNotFoundError, NotADirectoryError, ProcessLookupError):
        return []
    except OSError as error:
        raise ConfigError(f"{folder}: cannot be listed: {error.strerror or error}") from None
    return sorted(found, key=lambda path: int(path.name))


def _channel_of(task: Path) -> str:
    """Wait channel, empty where the kernel keeps it to itself."""
    try:
        return (task / "wchan").read_text(encoding="utf-8", errors="replace").strip()
    except PermissionError:
        return ""
