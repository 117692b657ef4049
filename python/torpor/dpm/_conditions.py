# SPDX-License-Identifier: MIT
"""What a scenario is given, checked and in the engine's units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import pandas as pd

from torpor import _core
from torpor._checks import plain, real, shown, time_ns
from torpor._core import ConfigError
from torpor.board import Board
from torpor.board._dpm import Dpm, DpmCosts, DpmPhaseCosts
from torpor.board._dpm_devices import device_records
from torpor.dpm.generator import Generator
from torpor.dpm.graph import PHASES, DeviceGraph

__all__ = [
    "COSTS",
    "MAX_COST_US",
    "MAX_US",
    "PHASE_COSTS",
    "async_of",
    "costs_by_phase",
    "devices_of",
    "interval_frame",
    "named_costs",
    "named_phase_costs",
    "scales_of",
    "scheduler_costs",
    "since_tick_ns",
    "within",
]

MAX_US = 10**12

MAX_COST_US = 10**8
"""The engine's own limit on what happens many times in a cycle."""

COSTS = DpmCosts.__struct_fields__
PHASE_COSTS = DpmPhaseCosts.__struct_fields__
_SCHEDULER_COSTS = tuple(name for name in COSTS if name not in PHASE_COSTS)

_ASYNC = ("flagged", "all", "none")


def within(name: str, value: float, low: float, high: float) -> float:
    """Return a number within limits."""
    number = real(name, value)
    if not low <= number <= high:
        raise ConfigError(f"{name}={value} is outside {low}..{high}")
    return number


def devices_of(board: Board | None, section: Dpm) -> DeviceGraph | Generator:
    """Return the board's devices, or its generator."""
    if section.devices is not None:
        drawn = section.devices
        return Generator(**{name: getattr(drawn, name) for name in drawn.__struct_fields__})
    if not section.device:
        what = "the reference mode" if board is None else f"board {board.name}"
        raise ConfigError(f"devices=None: {what} has none, limit: a DeviceGraph or a Generator")
    links: list[dict[str, Any]] = [msgspec.to_builtins(link) for link in section.link]
    try:
        return DeviceGraph.from_records(device_records(section.device), links)
    except ConfigError as error:
        name = "" if board is None else f"board {board.name}: "
        raise ConfigError(f"{name}dpm: {error}") from None


def async_of(given: str | float) -> tuple[str, float]:
    """Return the engine's word, and the share."""
    if isinstance(given, str):
        if given not in _ASYNC:
            raise ConfigError(
                f"async_devices={shown(given)} is unknown: known are {', '.join(_ASYNC)}, or a share 0..1"
            )
        return given, 1.0
    return "share", within("async_devices", given, 0, 1)


def _is_list(given: Any) -> bool:
    if isinstance(given, np.ndarray):
        return given.ndim > 0
    return isinstance(given, Sequence) and not isinstance(given, str)


def scales_of(given: Any) -> tuple[float, float] | tuple[tuple[float, float], ...]:
    """One pair for all replicates, or one for each."""
    if not _is_list(given) or not len(given):
        raise ConfigError(f"scales={shown(given)} is neither a pair of numbers nor a sequence of such pairs")
    if not _is_list(given[0]):
        return _pair("scales", given)
    return tuple(_pair(f"scales[{r}]", pair) for r, pair in enumerate(given))


def _pair(name: str, given: Any) -> tuple[float, float]:
    if not _is_list(given) or len(given) != 2:
        raise ConfigError(f"{name}={shown(given)} is no pair of numbers: suspend, resume")
    suspend, resume = (within(f"{name}[{place}]", plain(value), 0, 1e6) for place, value in enumerate(given))
    return suspend, resume


def named_costs(name: str, given: object, known: Sequence[str] = COSTS) -> dict[str, float]:
    """Costs by name, microseconds of the reference CPU."""
    if not isinstance(given, Mapping):
        raise ConfigError(f"{name}={shown(given)} is no mapping of names to microseconds")
    for key in given:
        if not isinstance(key, str) or key not in known:
            raise ConfigError(f"{name}: {shown(key)} is unknown: known are {', '.join(known)}")
    return {key: within(f"{name}.{key}", plain(value), 0, MAX_COST_US) for key, value in given.items()}


def named_phase_costs(given: object) -> dict[str, dict[str, float]]:
    """Costs by phase and name."""
    if not isinstance(given, Mapping):
        raise ConfigError(f"phase_costs={shown(given)} is no mapping of phases to costs")
    for phase in given:
        if not isinstance(phase, str) or phase not in PHASES:
            raise ConfigError(f"phase_costs: {shown(phase)} is unknown: known are {', '.join(PHASES)}")
    return {phase: named_costs(f"phase_costs.{phase}", costs, PHASE_COSTS) for phase, costs in given.items()}


def _in_ns(costs_us: Mapping[str, float], names: Sequence[str]) -> dict[str, int]:
    return {f"{name.removesuffix('_us')}_ns": time_ns(costs_us[name], f"costs.{name}") for name in names}


def _general_us(section: Dpm, given: Mapping[str, float] | None) -> dict[str, float]:
    return {name: getattr(section.costs, name) for name in COSTS} | dict(given or {})


def scheduler_costs(section: Dpm, given: Mapping[str, float] | None) -> _core.FairCosts:
    """Return what switching and waking cost."""
    return _core.FairCosts(**_in_ns(_general_us(section, given), _SCHEDULER_COSTS))


def costs_by_phase(
    section: Dpm,
    given: Mapping[str, float] | None,
    given_by_phase: Mapping[str, Mapping[str, float]] | None,
) -> list[_core.DpmCosts]:
    """Return what the device core costs in each phase."""
    made = []
    for phase in PHASES:
        costs_us = _general_us(section, given)
        own = None if section.phase_costs is None else getattr(section.phase_costs, phase)
        if own is not None:
            costs_us |= {n: value for n in PHASE_COSTS if (value := getattr(own, n)) is not None}
        costs_us |= (given_by_phase or {}).get(phase, {})
        made.append(_core.DpmCosts(**_in_ns(costs_us, PHASE_COSTS)))
    return made


def since_tick_ns(given_us: float | None, tick_hz: int) -> int | None:
    """Phase of the tick; None is drawn."""
    if given_us is None:
        return None
    tick_us = 1e6 / tick_hz
    since_us = real("since_tick_us", given_us, "time in microseconds")
    if not 0 <= since_us < tick_us or round(since_us * 1000) >= round(1e9 / tick_hz):
        raise ConfigError(
            f"since_tick_us={given_us} is outside 0 <= since_tick_us < {tick_us:g}, one tick at HZ {tick_hz}"
        )
    return round(since_us * 1000)


def interval_frame(columns: dict[str, Any]) -> pd.DataFrame:
    """Make a table of the engine's intervals, with names."""
    names = np.array([*columns["devices"], None], dtype=object)

    def ms(name: str) -> Any:
        values = columns[f"{name}_ns"]
        return np.where(values < 0, np.nan, values / 1e6)

    return pd.DataFrame(
        {
            "phase": np.array(PHASES, dtype=object)[columns["phase"]],
            "device": names[columns["device"]],
            **{f"{name}_ms": ms(name) for name in ("queued", "taken", "begin", "end", "lock_wait")},
            **{name: columns[name] for name in ("worker", "cpu", "called", "in_place")},
            # -1, no device, is the last of the names.
            **{name: names[columns[name]] for name in ("waited_for", "lock_after")},
        }
    )
