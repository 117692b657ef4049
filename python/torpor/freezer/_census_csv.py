# SPDX-License-Identifier: MIT
"""Reader of task populations counted in a CSV file."""

from __future__ import annotations

import contextlib
import csv
import re
from pathlib import Path
from typing import Any

import msgspec

from torpor._core import ConfigError
from torpor.board import _freezer as _section
from torpor.freezer._census import MAX_COUNT, Place, unreadable
from torpor.freezer.tasks import SITES, TaskGroup

_NUMBERS = {"count": MAX_COUNT, "threads": MAX_COUNT, "nfds": 10**6, "freeze_run_cycles": 10**12}
"""Columns of whole numbers, and the largest."""
_COLUMNS = (
    *("site", "count", "name", "kind", "start", "threads", "nfds"),
    *("d_ends_us", "wakes_at_us", "waits_on", "freeze_run_cycles"),
)


def read_census(label: str) -> list[TaskGroup]:
    """Read a CSV file of counts by site; see `Population.from_census`."""
    header: list[str] = []
    records: list[_section.FreezerTasks] = []
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
            quote = ", and quotes around a cell with commas in it" if "(" in line else ""
            raise ConfigError(
                f"{where}: row has {len(cells)} cells, limit: {len(header)}, as the header has{quote}"
            )
        record = _census_record(dict(zip(header, cells, strict=True)), where)
        if record.name in lines:
            raise ConfigError(
                f"{where}: name: value {record.name!r} is already on line {lines[record.name]}, "
                "limit: one row for each; a name column tells equal sites apart"
            )
        lines[record.name] = number
        records.append(record)
    if not records:
        missing = "no row below its header" if header else "no header line"
        raise ConfigError(
            f"{label}: the census has {missing}; expected a line such as 'site,count' and below it rows such "
            "as 'futex,40'"
        )
    broken = _section.broken_population(records)
    if broken is not None:
        index, found = broken
        raise _complaint(f"{label}:{lines[records[index].name]}", found)
    return [TaskGroup(**{name: getattr(one, name) for name in one.__struct_fields__}) for one in records]


def _read_text(label: str) -> str:
    try:
        return Path(label).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(label, error) from None


def _check_header(header: list[str], where: str) -> list[str]:
    for name in header:
        if name not in _COLUMNS:
            raise ConfigError(f"{where}: header: unknown column {name!r}, limit: {', '.join(_COLUMNS)}")
        if header.count(name) > 1:
            raise ConfigError(f"{where}: header: column {name!r} is there twice, limit: once")
    for name in ("site", "count"):
        if name not in header:
            raise ConfigError(
                f"{where}: the header has no column {name!r}; expected a line such as 'site,count'"
            )
    return header


def _census_record(cells: dict[str, str], where: str) -> _section.FreezerTasks:
    values: dict[str, Any] = {name: cell for name, cell in cells.items() if cell}
    for name, most in _NUMBERS.items():
        text = values.get(name)
        if text is not None:
            if not re.fullmatch(r"[0-9]{1,13}", text):
                raise ConfigError(f"{where}: {name}: value {text!r}, limit: a whole number, 0 to {most}")
            values[name] = int(text)
    for name in _section.TIMES:
        # What is no number is the text of a distribution, or found to be none.
        with contextlib.suppress(KeyError, ValueError):
            values[name] = float(values[name])
    for name in ("site", "count"):
        if name not in values:
            raise ConfigError(f"{where}: {name}: value missing, limit: this cell is required")
    place = Place(values["site"], values.get("kind", "user"), values.get("start", "blocked"))
    values.setdefault("name", place.name)
    try:
        record = msgspec.convert(values, _section.FreezerTasks)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{where}: {error}") from None
    # The name of a row without one follows from its site, so the site is what is wrong.
    found = _section.known_word("site", record.site, SITES) or _section.broken_tasks(record)
    if found is not None:
        raise _complaint(where, found)
    return record


def _complaint(where: str, found: _section.Broken) -> ConfigError:
    return ConfigError(f"{where}: {found.entry}: value {found.value!r}, limit: {found.limit}")
