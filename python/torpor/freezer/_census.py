# SPDX-License-Identifier: MIT
"""Readers of task populations: lists of wait channels, procfs."""

from __future__ import annotations

import io
import itertools
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from numbers import Real
from pathlib import Path
from typing import NamedTuple, TextIO

from torpor._core import ConfigError
from torpor.freezer import _groups, _wchan
from torpor.freezer.tasks import TaskGroup, Time

MAX_COUNT = 10**7

_PIECE = 1 << 20
"""Characters of a list of wait channels that are read at once."""
_LONGEST_LINE = 1 << 16
_MOST_CHANNELS = 100_000
_NOTED = 20
"""Unknown channels that are named one by one."""
_REMEMBERED = 1 << 16
"""Rows of which is known what they count as; more are looked at again."""

# task_struct.flags as /proc/PID/stat shows them.
_PF_KTHREAD = 0x00200000
_PF_NOFREEZE = 0x00008000

_STATE = re.compile(r"[RSDTtZXxIWPK][<NLslE+]*")
_FREEZABLE_NAMES = ("kswapd", "kcompactd", "khugepaged", "ksmd", "oom_reaper", "kauditd", "jbd2/")


class Place(NamedTuple):
    """What makes tasks of one group."""

    site: str = "other"
    kind: str = "user"
    start: str = "blocked"

    @property
    def name(self) -> str:
        """The site alone for a sleeping user task, else what makes the tasks different."""
        parts = [self.kind] * (self.kind != "user") + [self.start] * (self.start != "blocked")
        usual = ("other", "kthread") if parts else ()
        return "-".join(parts + [self.site] * (self.site not in usual))


def unreadable(label: str, error: OSError | UnicodeDecodeError) -> ConfigError:
    """Complain about a file that is no text."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return ConfigError(f"{label}: cannot be read as UTF-8 text: {reason}")


@dataclass
class Tally:
    """Tasks counted by what they do, and the channels that are in no table."""

    label: str
    places: dict[Place, int] = field(default_factory=dict)
    unknown: dict[str, int] = field(default_factory=dict)
    hidden: int = 0
    sleeping: int = 0

    def add(self, place: Place, count: int = 1) -> None:
        """Count tasks."""
        self.places[place] = self.places.get(place, 0) + count

    def add_user(self, state: str, channel: str, count: int = 1) -> None:
        """Count user tasks of a state letter, empty for unknown, that sleep in a channel."""
        name = _wchan.plain_channel(channel)
        if state in ("Z", "X", "x"):
            self.add(Place(start="zombie"), count)
        elif state in ("T", "t") or (not state and name in _wchan.STOPPED):
            self.add(Place(start="stopped"), count)
        elif state == "D" or (not state and name in _wchan.UNINTERRUPTIBLE):
            self.add(Place(start="uninterruptible"), count)
        elif state == "R":
            self.add(Place(start="user_mode"), count)
        else:
            self.sleeping += count
            site = _wchan.SITE_OF.get(name, "other")
            if name in _wchan.NO_CHANNEL:
                self.hidden += count
            elif name not in _wchan.SITE_OF and name not in _wchan.UNINTERRUPTIBLE | _wchan.STOPPED:
                self.unknown[name] = self.unknown.get(name, 0) + count
            self.add(Place(site), count)

    def add_kernel(self, state: str, freezable: bool, count: int = 1) -> None:
        """Count kernel threads."""
        if not freezable:
            self.add(Place("kthread", "knofreeze"), count)
        else:
            self.add(Place("other", "kfreezable", "uninterruptible" if state == "D" else "blocked"), count)

    def check(self, max_hidden: float) -> None:
        """Complain about a list without tasks, and about channels that the kernel has hidden.

        A task may wake between two reads, so that a few without a channel are no reason to distrust the rest.
        """
        if not isinstance(max_hidden, Real) or not 0 <= max_hidden <= 1:
            raise ConfigError(f"max_hidden={max_hidden!r}: must be 0 to 1")
        if not self.places:
            raise ConfigError(
                f"{self.label}: no tasks in it; expected wait channels line by line, such as 'ep_poll' or "
                "'12 ep_poll', or the rows of ps -eLo pid,ppid,stat,wchan:40,args"
            )
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

    def notes(self, d_ends_us: Time | None) -> list[str]:
        """Say which tasks keep a freeze from succeeding, and what could not be placed, most tasks first."""
        ordered = sorted(self.unknown.items(), key=lambda pair: (-pair[1], pair[0]))
        notes = _groups.endless_notes(self.groups(d_ends_us))
        notes += [
            f"{count} {'task sleeps' if count == 1 else 'tasks sleep'} in {name}, which is in no table: "
            "counted as other"
            for name, count in ordered[:_NOTED]
        ]
        more = ordered[_NOTED:]
        if more:
            tasks = sum(count for _, count in more)
            notes.append(f"{tasks} tasks sleep in {len(more)} more such channels: counted as other")
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

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(index for index in (self.pid, self.parent) if index is not None)


_KTHREADD = "2"
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
    label, pieces = _pieces_of(source)
    reader = _ChannelReader(Tally(label))
    for piece in pieces:
        reader.take(piece)
    reader.finish()
    reader.tally.check(max_hidden)
    return reader.tally


def _pieces_of(source: str | os.PathLike[str] | Iterable[str]) -> tuple[str, Iterator[list[str]]]:
    """Lines in lists of some thousands, so that no list grows with the source."""
    if isinstance(source, str) and "\n" in source:
        return "wait channels", _in_pieces(io.StringIO(source, newline=None), "wait channels")
    if isinstance(source, str | os.PathLike):
        label = os.fspath(source)
        return label, _pieces_of_file(label)
    if not isinstance(source, Iterable):
        raise ConfigError(f"wait channels: value {source!r}, limit: a path, text or lines of text")
    return "wait channels", _lists_of(source)


def _lists_of(lines: Iterable[str]) -> Iterator[list[str]]:
    rest = iter(lines)
    while piece := list(itertools.islice(rest, _PIECE // 32)):
        yield piece


def _pieces_of_file(label: str) -> Iterator[list[str]]:
    try:
        with Path(label).open(encoding="utf-8-sig") as file:
            yield from _in_pieces(file, label)
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(label, error) from None


def _in_pieces(file: TextIO, label: str) -> Iterator[list[str]]:
    number, rest = 1, ""
    while text := file.read(_PIECE):
        *lines, rest = (rest + text).split("\n")
        number += len(lines)
        if len(rest) > _LONGEST_LINE:
            raise ConfigError(f"{label}:{number}: the line has more than {_LONGEST_LINE} characters")
        yield lines
    yield [rest]


class _Mistake(Exception):
    """What is wrong with a line."""


class _Counted(NamedTuple):
    """What one task counts as."""

    kernel: bool
    state: str
    channel: str
    freezable: bool = False


_Key = str | tuple[str, ...]


class _ChannelReader:
    """Takes lines in their order and looks at each distinct one once, since most are like thousands more."""

    def __init__(self, tally: Tally) -> None:
        self.tally = tally
        self._layout: _Layout | None = None
        self._width, self._numbers = _PS_ORDER.width, _PS_ORDER.numbers
        self._before = 0
        self._known: dict[_Key, _Counted | None] = {}
        self._counts: dict[_Counted, int] = {}

    def take(self, lines: list[str]) -> None:
        """Count the next lines."""
        first = 0
        texts = set(map(type, lines)) <= {str}
        if texts and any("WCHAN" in line for line in set(lines)):
            # What a line means changes at a heading.
            for index, line in enumerate(lines):
                if "WCHAN" in line:
                    self._take(lines, first, index)
                    first = index
        elif not texts:
            bad = next(i for i, line in enumerate(lines) if not isinstance(line, str))
            self._take(lines, 0, bad)
            where = f"{self.tally.label}:{self._before + bad + 1}"
            raise ConfigError(f"{where}: value {lines[bad]!r}, limit: a line of text")
        self._take(lines, first, len(lines))
        self._before += len(lines)

    def finish(self) -> None:
        """Hand all that was counted to the tally."""
        for task, count in self._counts.items():
            if task.kernel:
                self.tally.add_kernel(task.state, task.freezable, count)
            else:
                self.tally.add_user(task.state, task.channel, count)

    def _take(self, lines: list[str], first: int, last: int) -> None:
        line = ""
        try:
            for line, count in Counter(lines[first:last]).items():
                self._count(line, count)
        except _Mistake as mistake:
            number = self._before + lines.index(line, first) + 1
            raise ConfigError(f"{self.tally.label}:{number}: {mistake}") from None

    def _count(self, line: str, count: int) -> None:
        if "WCHAN" in line and "WCHAN" in line.split():
            self._layout = layout = _heading(line.split())
            self._width, self._numbers = layout.width, layout.numbers
            self._known.clear()
            return
        words = line.split(None, self._width - 1)
        if not words:
            return
        bare = self._layout is None and len(words) <= 2
        if bare and len(words) == 2:
            if not re.fullmatch(r"[0-9]{1,8}", words[0]) or int(words[0]) > MAX_COUNT:
                raise _Mistake(f"value {words[0]!r}, limit: a count of 0 to {MAX_COUNT}")
            count *= int(words[0])
        for index in () if bare else self._numbers:
            # Every row of ps has a pid of its own, and all that matters is whether it is kthreadd's.
            if index < len(words) and words[index] != _KTHREADD and words[index].isdecimal():
                words[index] = "0"
        key = words[-1] if bare else tuple(words)
        task = self._known.get(key)
        if task is None and key not in self._known:
            task = _bare(words[-1]) if bare else _row(line, words, self._layout or _PS_ORDER)
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[key] = task
        if task is not None and count:
            self._add(task, count)

    def _add(self, task: _Counted, count: int) -> None:
        self._counts[task] = self._counts.get(task, 0) + count
        if len(self._counts) > _MOST_CHANNELS:
            raise _Mistake(f"more than {_MOST_CHANNELS} different wait channels: no kernel has so many")


def _heading(words: list[str]) -> _Layout:
    found = {_HEADINGS[word]: index for index, word in enumerate(words) if word in _HEADINGS}
    if found.get("command", len(words) - 1) != len(words) - 1:
        raise _Mistake(f"column {words[found['command']]} has spaces, limit: the last column")
    return _Layout(width=len(words), **found)


def _bare(channel: str) -> _Counted:
    name = _whole(channel)
    kernel = name in _wchan.KERNEL_THREADS | _wchan.FREEZABLE_THREADS
    return _Counted(kernel, "", name, name in _wchan.FREEZABLE_THREADS)


def _row(line: str, words: list[str], layout: _Layout) -> _Counted | None:
    """Say what a row of ps counts as; None for the one who looks."""

    def word(index: int | None) -> str:
        return words[index].strip() if index is not None and index < len(words) else ""

    state, command = word(layout.state), word(layout.command)
    wanted = max(layout.channel, layout.state or 0, layout.pid or 0) + 1
    right = len(words) >= wanted and (layout.state is None or _STATE.fullmatch(state))
    if not right or not all(word(i).isdecimal() for i in layout.numbers):
        limit = "a channel, a count and a channel, or pid, state, channel, command as ps prints them"
        raise _Mistake(f"value {line.strip()[:60]!r}, limit: {limit}")
    state = state[:1]
    name = _whole(word(layout.channel))
    if state == "R" and re.fullmatch(r"ps( .*)?", command):
        return None
    kernel = (
        state == "I"
        or _KTHREADD in (word(layout.pid), word(layout.parent))
        or name in _wchan.KERNEL_THREADS | _wchan.FREEZABLE_THREADS
        or (command.startswith("[") and command.endswith("]"))
    )
    if kernel and state not in ("Z", "X"):
        named = command.strip("[]").startswith(_FREEZABLE_NAMES)
        return _Counted(True, state, name, named or name in _wchan.FREEZABLE_THREADS)
    return _Counted(False, state, name)


def _whole(channel: str) -> str:
    """Refuse what is no channel, or cut by ps at its usual six characters: it would be counted wrongly."""
    name = _wchan.plain_channel(channel)
    tables = (_wchan.SITE_OF, _wchan.UNINTERRUPTIBLE, _wchan.KERNEL_THREADS, _wchan.FREEZABLE_THREADS)
    known = any(name in table for table in tables)
    if not known and len(name) == 6 and any(full.startswith(name) for table in tables for full in table):
        raise _Mistake(f"value {name!r} is cut, limit: whole names, as ps prints with wchan:40")
    if name.isdecimal() and name not in _wchan.NO_CHANNEL:
        raise _Mistake(f"{name!r} stands where a wait channel should, expected a name such as 'ep_poll'")
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
        raise ConfigError(f"{root}: no tasks in it: expected folders PID/task/TID, as procfs has")
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
