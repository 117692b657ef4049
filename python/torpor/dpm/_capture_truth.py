# SPDX-License-Identifier: MIT
"""The recorder's own figures of a device capture, truth.json, and how they compare with what is read."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from torpor._checks import shown
from torpor._core import ConfigError
from torpor._truth_file import TruthFile
from torpor.dpm._capture_records import Cycle, PhaseRecord
from torpor.dpm._capture_snapshot import Snapshot

__all__ = ["Truth"]

_NAMELESS = "none"

MAX_CPUS = 1000

_MOST = 1e300


class Truth(TruthFile):
    """Parsed truth.json of a device capture."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "devices")
        self.capture: str = self.get("capture", str)
        self.clock: str = self.get("clock", str)
        self.cpus: int = self.get("cpus", int)
        if not 1 <= self.cpus <= MAX_CPUS:
            raise ConfigError(f"{path}: cpus={shown(self.cpus)}: expected 1..{MAX_CPUS}")
        self._traces: dict[str, Any] = self.get("traces", dict)

    def compare_snapshot(self, snapshot: Snapshot) -> Iterator[str]:
        """Differences between the snapshot and its counts."""
        mine = {
            "devices": len(snapshot.devices),
            "device_links": len(snapshot.links),
            "devices_async_enabled": sum(device.async_suspend for device in snapshot.devices),
        }
        for key, value in mine.items():
            if self.data.get(key, value) != value:
                yield f"{snapshot.source}: {key} {value}, truth.json says {_short(self.data[key])}"

    def compare(self, name: str, cycles: Sequence[Cycle]) -> Iterator[str]:
        """Differences between the cycles of a trace and their records.

        Raises
        ------
        ConfigError
            When the records are not a list of records with a record for each phase.
        """
        records = self.records(f"traces.{name}", self._traces.get(name, []))
        if len(records) != len(cycles):
            yield f"{name}: {len(cycles)} cycles, truth.json has {len(records)}"
        for index, (cycle, record) in enumerate(zip(cycles, records, strict=False)):
            phases = record.get("phases")
            if not isinstance(phases, dict) or not all(isinstance(one, dict) for one in phases.values()):
                raise ConfigError(
                    f"{self.path}: traces.{name}[{index}].phases: expected a record for each phase"
                )
            label = f"{cycle.label} cycle={cycle.number}"
            if record.get("label") != label:
                yield f"{name}: label {label}, truth.json says {_short(record.get('label'))}"
            told = {key.removeprefix("dpm_") for key in phases if key.startswith("dpm_")}
            for phase in sorted(told ^ cycle.phases.keys()):
                where = "truth.json" if phase in told else "the trace"
                yield f"{name} cycle={cycle.number}: {phase} is only in {where}"
            for phase in cycle.phases.values():
                if phase.name in told:
                    for line in _differences(phase, phases[f"dpm_{phase.name}"]):
                        yield f"{name} cycle={cycle.number} {phase.name}: {line}"


def _short(value: object) -> str:
    """Text of what truth.json says, cut short."""
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _is_close(value: float, told: object) -> bool:
    # JSON's integers may be larger than any float.
    return isinstance(told, int | float) and abs(told) <= _MOST and math.isclose(value, told, abs_tol=1e-6)


def _differences(phase: PhaseRecord, told: dict[str, Any]) -> Iterator[str]:
    longest = phase.longest
    longest_ns = 0 if longest is None else longest.duration_ns
    mine = {
        "ms": phase.duration_ms,
        "callbacks": len(phase.callbacks),
        "by_worker": phase.by_worker,
        "sum_ms": phase.sum_ms,
        "longest_ms": longest_ns / 1e6,
    }
    for key, value in mine.items():
        other = told.get(key)
        if not _is_close(value, other):
            yield f"{key} {value}, truth.json says {_short(other)}"
    # Times have whole microseconds, so that several callbacks can be the longest.
    equals = {str(one.device) for one in phase.callbacks if one.duration_ns == longest_ns} or {_NAMELESS}
    if str(told.get("longest", _NAMELESS)).strip() not in equals:
        yield f"longest {', '.join(sorted(equals))}, truth.json says {_short(told.get('longest'))}"
