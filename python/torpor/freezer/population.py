# SPDX-License-Identifier: MIT
"""What is frozen: groups of equal tasks, made by hand, of a board, a census, a running system or at random.

>>> from torpor.board import Board
>>> population = Population.from_board(Board.load("nexus-10"))
>>> population.task_count
1100
>>> population.with_count("epoll", 0).task_count
940
"""

from __future__ import annotations

import html
import inspect
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any, overload

from torpor._core import ConfigError
from torpor.board import Board
from torpor.board import _freezer as _section
from torpor.freezer import _census, _census_csv, _generate, _groups
from torpor.freezer._generate import D_TAIL_US
from torpor.freezer.tasks import TaskGroup, Time

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Population", "TaskGroup"]


class Population(Sequence[TaskGroup]):
    """Groups of tasks in the order of the task list; a value, as its groups are.

    Parameters
    ----------
    groups : iterable of TaskGroup
        Each with a name of its own; whatever one waits on is there.
    notes : iterable of str
        What a reader found: tasks that it could not place, and those in D that never end. No part of the
        value; copies keep them as they were.

    Raises
    ------
    ConfigError
        For two groups of one name, and a `waits_on` that names none.

    Examples
    --------
    >>> Population([TaskGroup(name="futex", count=6, site="futex"), TaskGroup(name="other", count=2)])
    Population([TaskGroup(name='futex', count=6, site='futex'), TaskGroup(name='other', count=2)])
    """

    __slots__ = ("_groups", "_notes")

    _groups: tuple[TaskGroup, ...]
    _notes: tuple[str, ...]

    def __init__(self, groups: Iterable[TaskGroup] = (), *, notes: Iterable[str] = ()) -> None:
        listed = tuple(groups)
        for index, group in enumerate(listed):
            if not isinstance(group, TaskGroup):
                raise ConfigError(f"Population[{index}]={group!r}: must be a TaskGroup")
        found = _section.broken_population(_groups.section_record(group) for group in listed)
        if found is not None:
            index, (entry, value, limit) = found
            raise ConfigError(f"Population[{index}].{entry}={value!r}: {limit}")
        object.__setattr__(self, "_groups", listed)
        object.__setattr__(self, "_notes", tuple(notes))

    @classmethod
    def from_board(cls, board: Board) -> Population:
        """Take the tasks of a board's [freezer] section.

        Raises
        ------
        ConfigError
            For a board that has none.

        Examples
        --------
        >>> Population.from_board(Board.load("toy")).names
        ('futex', 'epoll', 'other')
        """
        if board.freezer is None or not board.freezer.tasks:
            raise ConfigError(
                f"board {board.name}: no [[freezer.tasks]], limit: at least one group; "
                "nexus-10 and toy have them, and a Population can be made without a board"
            )
        return cls(_groups.from_section(tasks) for tasks in board.freezer.tasks)

    @classmethod
    def from_census(cls, path: str | os.PathLike[str]) -> Population:
        r"""Read counts by site from a CSV file.

        Parameters
        ----------
        path : str or path
            A file whose first line names its columns: ``site`` and ``count``, and any of ``name``, ``kind``,
            ``start``, ``threads``, ``nfds``, ``d_ends_us``, ``wakes_at_us``, ``waits_on`` and
            ``freeze_run_cycles``, which mean the same as in :class:`TaskGroup`. An empty cell is the usual
            value; times are numbers of microseconds or distributions, in quotes if they have commas. Blank
            lines and those that begin with ``#`` are skipped. A row without a name is called after its site,
            with its kind and start where they are not the usual.

        Raises
        ------
        ConfigError
            Naming file, line, column, value and limit.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder, "census.csv")
        ...     _ = file.write_text("site,count\nfutex,40\nepoll,7\n")
        ...     Population.from_census(file).task_count
        47
        """
        groups = _census_csv.read_census(os.fspath(path))
        return cls(groups, notes=_groups.endless_notes(groups))

    @classmethod
    def from_wait_channels(
        cls,
        source: str | os.PathLike[str] | Iterable[str],
        *,
        d_ends_us: Time | None = None,
        max_hidden: float = 0.1,
    ) -> Population:
        """Make groups of the wait channels of all threads.

        Parameters
        ----------
        source : str, path or iterable of str
            A file, its text, or its lines. A line is a channel; a count and a channel, as ``sort | uniq -c``
            prints them; or a row of ``ps -eLo pid,ppid,stat,wchan:40,args``, with ps's heading or in the
            order pid, state, channel, command. A file is read in pieces and may have any number of lines.
        d_ends_us : float, str or Distribution, microseconds
            When the waits of tasks in D end; None is never, and a freeze then fails. A look at a running
            system cannot tell the two apart.
        max_hidden : float
            Share of the sleeping user tasks, 0 to 1, that may show no channel and count as ``other``.

        Returns
        -------
        Population
            One group for each site, kind and start. `notes` tells how many tasks in D never end and names
            the channels that are in no table; their tasks are counted as ``other``.

        Raises
        ------
        ConfigError
            Naming the line that cannot be read; for no task at all, and for too many hidden ones.

        Examples
        --------
        >>> population = Population.from_wait_channels(["  12 futex_wait_queue", "3 ep_poll", "1 odd_wait"])
        >>> [(group.name, group.count) for group in population]
        [('futex', 12), ('epoll', 3), ('other', 1)]
        >>> population.notes
        ('1 task sleeps in odd_wait, which is in no table: counted as other',)
        """
        tally = _census.read_channels(source, max_hidden)
        return cls(tally.groups(d_ends_us), notes=tally.notes(d_ends_us))

    @classmethod
    def from_proc(
        cls,
        root: str | os.PathLike[str] = "/proc",
        *,
        d_ends_us: Time | None = None,
        max_hidden: float = 0.1,
    ) -> Population:
        """Look at every thread of the running system, except the caller's own process.

        Parameters
        ----------
        root : str or path
            Where procfs is, or a copy of its ``PID/task/TID/stat`` and ``wchan`` files.
        d_ends_us, max_hidden
            As for :meth:`from_wait_channels`.

        Raises
        ------
        ConfigError
            When there are no tasks, and when more sleeping ones than `max_hidden` show no channel: the kernel
            tells it to those only who may trace the task, as a rule root.

        Notes
        -----
        Kernel threads, and whether they are frozen, are told by the task's flags (0x00200000 and 0x00008000).
        Tasks that end meanwhile are left out.

        Examples
        --------
        >>> Population.from_proc("/nowhere")
        Traceback (most recent call last):
            ...
        torpor._core.ConfigError: /nowhere: no tasks in it: expected folders PID/task/TID, as procfs has
        """
        tally = _census.read_proc(os.fspath(root), max_hidden)
        return cls(tally.groups(d_ends_us), notes=tally.notes(d_ends_us))

    @classmethod
    def generate(
        cls,
        *,
        tasks: int = 1000,
        seed: int = 0,
        woken_share: float = 0.25,
        zombies: int = 0,
        kfreezable: int = 10,
        knofreeze: int = 100,
        d_tails: int = 0,
        d_ends_us: Time = D_TAIL_US,
    ) -> Population:
        """Draw a population at random.

        Parameters
        ----------
        tasks : int
            User tasks that sleep interruptibly.
        seed : int
            Seed of the draw, at least 0; the same one gives the same population on every machine.
        woken_share : float
            Chance, 0 to 1, that such a task sleeps in a site which Linux 3.12 and later wake: epoll 50 %,
            poll and select 10 % each, inet_socket and pipe 8 % each, other 14 %. The rest sleep where all of
            these kernels leave them asleep: futex 53 %, binder 29 %, sigtimedwait 10 %, nanosleep and
            af_unix 4 % each.
        zombies, kfreezable, knofreeze : int
            Zombies and kernel threads besides.
        d_tails : int
            User tasks in D besides.
        d_ends_us : float, str or Distribution, microseconds
            When their waits end.

        Raises
        ------
        ConfigError
            For a negative count or seed, and a share outside 0 to 1.

        Notes
        -----
        The shares are assumed. Within the sites that are left asleep they are those of the ``nexus-10``
        board.

        Examples
        --------
        >>> population = Population.generate(tasks=200, seed=1, zombies=5, kfreezable=0, knofreeze=0)
        >>> population.task_count, population == Population.generate(
        ...     tasks=200, seed=1, zombies=5, kfreezable=0, knofreeze=0)
        (205, True)
        """
        return cls(
            _generate.draw_groups(
                counts={
                    "tasks": tasks,
                    "d_tails": d_tails,
                    "zombies": zombies,
                    "kfreezable": kfreezable,
                    "knofreeze": knofreeze,
                },
                seed=seed,
                woken_share=woken_share,
                d_ends_us=d_ends_us,
            )
        )

    @classmethod
    def from_text(cls, text: str) -> Population:
        """Draw a population at random as its text says, for command lines and files.

        Parameters
        ----------
        text : str
            ``generate(parameter=value, ...)`` with the parameters of :meth:`generate`. A distribution may
            stand in quotes or without.

        Raises
        ------
        ConfigError
            For text of another form, an unknown parameter (the message lists the known ones), and what
            :meth:`generate` refuses.

        Examples
        --------
        >>> population = Population.from_text("generate(tasks=1000, woken_share=0.25, seed=3)")
        >>> population == Population.generate(tasks=1000, woken_share=0.25, seed=3)
        True
        >>> Population.from_text("generate(zombie=5)")
        Traceback (most recent call last):
            ...
        torpor._core.ConfigError: population 'generate(zombie=5)': generate has no parameter 'zombie': ...
        """
        known = tuple(inspect.signature(cls.generate).parameters)
        return cls.generate(**_generate.parse_call(text, known))

    @property
    def groups(self) -> tuple[TaskGroup, ...]:
        """The groups, in the order of the task list."""
        return self._groups

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the groups."""
        return tuple(group.name for group in self._groups)

    @property
    def notes(self) -> tuple[str, ...]:
        """What could not be placed, and how many tasks in D never end, when it was read."""
        return self._notes

    @property
    def task_count(self) -> int:
        """Number of tasks in all."""
        return sum(group.count for group in self._groups)

    def group(self, name: str) -> TaskGroup:
        """Group of a name.

        Examples
        --------
        >>> Population.from_board(Board.load("toy")).group("epoll").count
        2
        """
        return self._groups[self._index(name)]

    def _index(self, name: str) -> int:
        if name not in self.names:
            raise ConfigError(f"population has no group {name!r}: it has {', '.join(self.names) or 'none'}")
        return self.names.index(name)

    def with_count(self, name: str, count: int) -> Population:
        """Copy in which one group has another number of tasks.

        Examples
        --------
        >>> Population.from_board(Board.load("toy")).with_count("other", 12).task_count
        20
        """
        return self.with_group(replace(self.group(name), count=count))

    def with_group(self, group: TaskGroup) -> Population:
        """Copy with a group in the place of the one of its name, or at the end of the list.

        Examples
        --------
        >>> population = Population.from_board(Board.load("toy"))
        >>> population.with_group(TaskGroup(name="pipe", count=5, site="pipe")).names
        ('futex', 'epoll', 'other', 'pipe')
        """
        if group.name not in self.names:
            return Population((*self, group), notes=self._notes)
        index = self._index(group.name)
        return self._like((*self._groups[:index], group, *self._groups[index + 1 :]))

    def without(self, name: str) -> Population:
        """Copy that lacks one group.

        Examples
        --------
        >>> Population.from_board(Board.load("toy")).without("epoll").names
        ('futex', 'other')
        """
        index = self._index(name)
        return self._like((*self._groups[:index], *self._groups[index + 1 :]))

    def scaled(self, factor: float) -> Population:
        """Copy in which every group has `factor` times its tasks, rounded to the nearest, halves to even.

        Raises
        ------
        ConfigError
            For a negative factor, or counts beyond the limit.

        Examples
        --------
        >>> Population.from_board(Board.load("nexus-10")).scaled(2).task_count
        2200
        """
        if not isinstance(factor, Real) or not 0 <= factor <= 10**7:
            raise ConfigError(f"factor={factor!r}: must be 0 to 10000000")
        return self._like(replace(group, count=round(group.count * factor)) for group in self._groups)

    def cgroup_frozen(self, *names: str) -> Population:
        """Copy in which user tasks have been frozen by a v2 cgroup before the freeze starts.

        Parameters
        ----------
        *names : str
            Groups that are in the cgroup; none given means all user tasks.

        Notes
        -----
        A task that slept or computed now waits in the cgroup's trap, where a wakeup of its old wait does not
        reach it. One in D is there once its wait ends, so a cgroup with such a task is not frozen yet.
        Stopped tasks, zombies and spinning tasks stay as they are.

        Examples
        --------
        >>> population = Population.from_board(Board.load("nexus-10")).cgroup_frozen("epoll", "select")
        >>> population.group("epoll").site
        'cgroup_frozen'
        """
        for name in names:
            if self.group(name).kind != "user":
                raise ConfigError(f"cgroup_frozen: group {name!r} is {self.group(name).kind}, limit: user")
        return self._like(
            _groups.trapped(group) if group.kind == "user" and (not names or group.name in names) else group
            for group in self._groups
        )

    def with_d_tail(
        self,
        count: int = 1,
        ends_us: Time | None = D_TAIL_US,
        *,
        name: str = "d-tail",
    ) -> Population:
        """Copy with user tasks in D at the end of the list.

        Parameters
        ----------
        count : int
            How many.
        ends_us : float, str, Distribution or None, microseconds
            When their waits end; None is never, and the freeze fails.
        name : str
            Name of the group; one that is there is replaced.

        Examples
        --------
        >>> population = Population.from_board(Board.load("toy"))
        >>> population.with_d_tail(2, "uniform(low_us=0, high_us=9)").group("d-tail").d_ends_us
        Uniform(low_us=0.0, high_us=9.0)
        """
        return self.with_group(TaskGroup(name=name, count=count, start="uninterruptible", d_ends_us=ends_us))

    def to_frame(self) -> pd.DataFrame:
        """Table with one row for each group, one column for each field.

        Examples
        --------
        >>> Population.from_board(Board.load("toy")).to_frame()["count"].tolist()
        [6, 2, 2]
        """
        return _groups.frame(self._groups)

    def _like(self, groups: Iterable[TaskGroup]) -> Population:
        return Population(groups, notes=self._notes)

    def __add__(self, other: Iterable[TaskGroup]) -> Population:
        """Copy with more groups at the end of the list."""
        return self._like((*self._groups, *other))

    @overload
    def __getitem__(self, index: int) -> TaskGroup: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[TaskGroup, ...]: ...
    def __getitem__(self, index: int | slice) -> TaskGroup | tuple[TaskGroup, ...]:
        return self._groups[index]

    def __len__(self) -> int:
        return len(self._groups)

    def __iter__(self) -> Iterator[TaskGroup]:
        return iter(self._groups)

    def __eq__(self, other: object) -> bool:
        return self._groups == other._groups if isinstance(other, Population) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._groups)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(
            f"a Population is immutable: make a copy with its methods, not by setting {name}"
        )

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Population is immutable: {name} cannot be deleted")

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self._groups, self._notes)

    def __repr__(self) -> str:
        return f"Population([{', '.join(map(repr, self._groups))}])"

    def _repr_html_(self) -> str:
        table = _groups.html_table(self._groups)
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self._notes)
        return f"<p>{self.task_count} tasks</p>{table}" + (f"<ul>{notes}</ul>" if notes else "")


def _restore(groups: tuple[TaskGroup, ...], notes: tuple[str, ...]) -> Population:
    return Population(groups, notes=notes)
