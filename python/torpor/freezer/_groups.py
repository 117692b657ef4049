# SPDX-License-Identifier: MIT
"""What a population does with its groups: to and from a board's section, into the trap, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING

import msgspec

from torpor.board import _freezer as _section
from torpor.distributions import Distribution
from torpor.freezer.tasks import TaskGroup

if TYPE_CHECKING:
    import pandas as pd


def section_record(group: TaskGroup) -> _section.FreezerTasks:
    """Write a group as an entry of a board's [freezer] section, whose rules it has to keep."""
    values = {field.name: getattr(group, field.name) for field in fields(group)}
    for name in _section.TIMES:
        if isinstance(values[name], Distribution):
            values[name] = str(values[name])
    return msgspec.convert(values, _section.FreezerTasks)


def from_section(tasks: _section.FreezerTasks) -> TaskGroup:
    """Make a group of an entry of a board's [freezer] section."""
    return TaskGroup(**{name: getattr(tasks, name) for name in tasks.__struct_fields__})


def trapped(group: TaskGroup) -> TaskGroup:
    """Copy of a user group in the trap of a v2 cgroup; see `Population.cgroup_frozen`."""
    if group.start in ("stopped", "zombie", "spinning"):
        return group
    start = "blocked" if group.start == "user_mode" else group.start
    return replace(
        group,
        site="cgroup_frozen",
        start=start,
        wakes_at_us=None,
        forks_at_us=None,
        reply_after_cycles=0,
        nfds=0,
    )


def endless_notes(groups: Sequence[TaskGroup]) -> list[str]:
    """Say how many tasks in D no freeze will get; nothing without any."""
    count = sum(
        group.count
        for group in groups
        if group.start == "uninterruptible" and group.d_ends_us is None and group.kind != "knofreeze"
    )
    if not count:
        return []
    never, them = ("task in D never ends", "it") if count == 1 else ("tasks in D never end", "them")
    return [f"{count} {never}: every freeze of {them} fails at the timeout"]


def frame(groups: Sequence[TaskGroup]) -> pd.DataFrame:
    """Table with one row for each group, one column for each field."""
    import pandas as pd

    names = [field.name for field in fields(TaskGroup)]
    rows = [[getattr(group, name) for name in names] for group in groups]
    return pd.DataFrame(rows, columns=names)


def html_table(groups: Sequence[TaskGroup]) -> str:
    """Table for a notebook."""
    # Columns in which no group differs from the default say nothing.
    told = [f.name for f in fields(TaskGroup) if any(getattr(g, f.name) != f.default for g in groups)]
    shown = frame(groups)[told].map(lambda value: "" if value is None else str(value))
    table: str = shown.to_html(index=False)
    return table
