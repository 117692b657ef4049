# SPDX-License-Identifier: MIT
"""The recorder's own figures of a capture, truth.json, and how they are compared with what is read."""

from __future__ import annotations

import gzip
import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from torpor._checks import shown
from torpor._core import ConfigError
from torpor._truth_file import TruthFile, check_regular
from torpor.freezer._capture_log import UntracedCycle
from torpor.freezer._trace_cycles import TracedCycle

__all__ = ["CYCLE_FIELDS", "TRACE_FIELDS", "Truth", "compare", "compare_totals", "read_text"]


class Truth(TruthFile):
    """Parsed truth.json of a freezer capture."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "freezer")

    def cycles(self, key: str, value: Any, fields: Mapping[str, str]) -> list[dict[str, Any]]:
        """List of the records of cycles that stands at a key, each with these fields."""
        records = self.records(key, value)
        for index, one in enumerate(records):
            for field, kind in fields.items():
                found = one.get(field)
                if not _IS[kind](found):
                    raise ConfigError(f"{self.path}: {key}[{index}].{field}: {shown(found)} is no {kind}")
        return records


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return _is_whole(value) or (isinstance(value, float) and math.isfinite(value))


def _is_passes(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(one, dict) and _is_whole(one.get("us")) and isinstance(one.get("user_only"), bool)
        for one in value
    )


_IS: dict[str, Callable[[Any], bool]] = {
    "text": lambda value: isinstance(value, str),
    "whole number": _is_whole,
    "number": _is_number,
    "list of whole numbers": lambda value: isinstance(value, list) and all(map(_is_whole, value)),
    "count by site": lambda value: isinstance(value, dict) and all(map(_is_whole, value.values())),
    "list of loops with us and user_only": _is_passes,
}

CYCLE_FIELDS = {
    "label": "text",
    "cycle": "whole number",
    "err": "whole number",
    "ctxt": "whole number",
    "total_ms": "number",
}
TRACE_FIELDS = {
    "label": "text",
    "err": "whole number",
    "ctxt": "whole number",
    "total_ms": "number",
    "freeze_us": "whole number",
    "thaw_us": "whole number",
    "passes": "list of loops with us and user_only",
    "retry_max_us": "list of whole numbers",
    "wakeups_by_site": "count by site",
    "wakeups_freeze": "whole number",
    "wakeups_lab_tasks_freeze": "whole number",
    "restarted_syscalls": "whole number",
    "refrigerator_entries": "whole number",
    "switches_freeze": "whole number",
    "switches_thaw": "whole number",
}
"""What a cycle's record has, and of what kind; all of it is compared with log and trace."""


def read_text(path: Path) -> str:
    """Text of a file, plain or gzip."""
    check_regular(path)
    try:
        data = path.read_bytes()
        if data.startswith(b"\x1f\x8b"):
            data = gzip.decompress(data)
    except EOFError:
        raise ConfigError(f"{path}: the gzip file is cut off after {path.stat().st_size} bytes") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise ConfigError(f"{path}: damaged gzip file ({error})") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from None
    return data.decode("utf-8", "replace")


def compare(name: str, cycles: Sequence[TracedCycle], records: Sequence[Mapping[str, Any]]) -> list[str]:
    """Differences between the cycles of a trace and their records."""
    said = []
    if len(cycles) != len(records):
        said.append(f"{name}: {len(cycles)} cycles, truth.json has {len(records)}")
    for cycle, record in zip(cycles, records, strict=False):
        mine: dict[str, Any] = {
            "label": f"{cycle.label} cycle={cycle.cycle}",
            "ctxt": cycle.context_switches,
            "total_ms": cycle.total_us / 1000,
            "freeze_us": cycle.freeze_us,
            "thaw_us": cycle.thaw_us,
            "passes": [{"us": loop.duration_us, "user_only": loop.user_only} for loop in cycle.loops],
            "retry_max_us": list(cycle.sleeps_max_us),
            "wakeups_by_site": cycle.wakeups_by_site,
            "wakeups_freeze": cycle.wakeups_freeze,
            "wakeups_lab_tasks_freeze": cycle.woken,
            "restarted_syscalls": cycle.restarted_calls,
            "refrigerator_entries": cycle.refrigerator_entries or 0,
            "switches_freeze": cycle.switches_freeze or 0,
            "switches_thaw": cycle.switches_thaw or 0,
        }
        said += _failure(f"{name} cycle={cycle.cycle}", record)
        said += [
            f"{name} cycle={cycle.cycle}: {key} {value}, truth.json says {record.get(key)}"
            for key, value in mine.items()
            if record.get(key) != value
        ]
    return said


def _failure(name: str, record: Mapping[str, Any]) -> list[str]:
    """Say that the record tells of a failed cycle; the markers of all that is read tell of success."""
    return [f"{name}: err 0, truth.json says {record['err']}, a failed cycle"] if record["err"] else []


def compare_totals(
    cycles: Mapping[tuple[str, int], UntracedCycle | TracedCycle], records: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Differences between durations and switches of cycles and their records."""
    told = {(one["label"], one["cycle"]): (one["total_ms"], one["ctxt"]) for one in records}
    mine = {key: (cycle.total_us / 1000, cycle.context_switches) for key, cycle in cycles.items()}
    failed = [line for one in records for line in _failure(f"{one['label']} cycle={one['cycle']}", one)]
    return failed + [
        f"{label} cycle={number}: total_ms, ctxt {mine.get((label, number))}, "
        f"truth.json says {told.get((label, number))}"
        for label, number in sorted(told.keys() | mine.keys())
        if told.get((label, number)) != mine.get((label, number))
    ]
