# SPDX-License-Identifier: MIT
"""The model against real kernels: recorded idle decisions, predicted again."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from torpor import _core
from torpor._core import ConfigError
from torpor.idle.policies import Fixed, Ladder, Menu, Policy
from torpor.idle.trace import IdleTrace
from torpor.idle.validate_report import (
    CaptureResult,
    Prediction,
    Quantity,
    StateResult,
    TraceResult,
    ValidateReport,
)
from torpor.importers.ftrace import read_ftrace

__all__ = ["ValidateReport", "validate_captures"]

WARM_UP = 8
"""Decisions of each CPU that are reported apart: menu remembers eight idle periods from before the trace."""

MODEL = "model"
NO_GOT_TICK = "got_tick rule off"
DEEPEST = "always deepest"

_NAME = re.compile(r"idle_(?P<governor>[a-z0-9]+)_(?P<workload>[a-z0-9]+)\.trace(\.gz)?")


@dataclass(frozen=True)
class _Limits:
    """Largest errors that pass; None where the trace cannot tell (see validate_captures)."""

    decisions: float | None
    residency: float | None
    counts: float | None


def _limits(deterministic: bool, governor: str, workload: str) -> _Limits:
    if deterministic and governor == "ladder":
        return _Limits(decisions=0.0, residency=0.1, counts=None)
    if deterministic and governor == "menu":
        pattern = workload == "pattern"
        return _Limits(decisions=0.5 if pattern else 10.0, residency=0.75, counts=1.5 if pattern else None)
    if governor == "menu":
        return _Limits(decisions=2.0, residency=1.0, counts=None)
    return _Limits(None, None, None)


def _policy(governor: str, uname: str, path: Path) -> Policy:
    release = re.search(r"\b6\.1\.\d", uname)
    known: dict[str, Policy] = {"menu": Menu(version="6.1.192"), "ladder": Ladder(version="6.1")}
    if governor not in known:
        raise ConfigError(f"{path}: governor '{governor}' is unknown; known: {', '.join(sorted(known))}")
    if release is None:
        raise ConfigError(f"{path}: no model of the governors of kernel '{uname}'; known: 6.1")
    return known[governor]


@dataclass(frozen=True)
class _Truth:
    path: Path
    data: Mapping[str, Any]

    @classmethod
    def read(cls, folder: Path) -> _Truth:
        path = folder / "truth.json"
        try:
            data = json.loads(path.read_bytes())
        except OSError as error:
            raise ConfigError(f"{path}: cannot be read ({error.strerror})") from None
        except ValueError as error:
            raise ConfigError(f"{path}: not JSON ({error})") from None
        truth = cls(path, data if isinstance(data, dict) else {})
        if truth.text("kind") != "idle":
            raise ConfigError(f"{path}: kind is '{truth.text('kind')}', expected 'idle'")
        return truth

    def text(self, key: str) -> str:
        value = self.data.get(key)
        if not isinstance(value, str):
            raise ConfigError(f"{self.path}: {key}: {value!r} is no text")
        return value

    def states(self, trace: str) -> dict[int, list[tuple[str, int, int]]]:
        """Name, exit latency and target residency in nanoseconds, by CPU and state."""
        key = f"traces.{trace}.sysfs_delta"
        cpus: Any = self.data
        for step in ("traces", trace, "sysfs_delta"):
            cpus = cpus.get(step) if isinstance(cpus, dict) else None
        if not isinstance(cpus, dict) or not cpus:
            raise ConfigError(f"{self.path}: {key}: missing")
        result = {}
        for name, states in cpus.items():
            match = re.fullmatch(r"cpu(\d+)", name)
            if match is None or not isinstance(states, dict):
                raise ConfigError(f"{self.path}: {key}.{name}: expected cpuN with its states")
            rows = []
            for number in range(len(states)):
                at = f"{key}.{name}.state{number}"
                state = states.get(f"state{number}")
                if not isinstance(state, dict):
                    raise ConfigError(f"{self.path}: {at}: missing")
                rows.append(
                    (
                        str(state.get("name")),
                        self._time(state, "latency_us", at),
                        self._time(state, "residency_us", at),
                    )
                )
            result[int(match[1])] = rows
        return result

    def _time(self, state: Mapping[str, Any], key: str, at: str) -> int:
        value = state.get(key)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**32:
            raise ConfigError(
                f"{self.path}: {at}.{key}: {value!r} is no time in microseconds (0..4294967295)"
            )
        return value * 1000


def _by_state(
    states: npt.NDArray[np.int32], weights: npt.NDArray[np.int64] | None, count: int
) -> list[float]:
    return [float(value) for value in np.bincount(states, weights=weights, minlength=count)]


def _predict(
    trace: IdleTrace,
    names: Mapping[int, Sequence[str]],
    variant: str,
    policy: Policy,
    rules: _core.ReplayRules,
) -> Prediction:
    recorded = trace.core.recorded()
    choices = trace.core.open_loop(policy, rules)
    closed = trace.core.closed_loop(policy, rules)
    equal, late, flags = [], [], []
    states: list[StateResult] = []
    errors = []
    for index, cpu in enumerate(trace.cpus):
        decisions = trace.core.decisions(index)
        same = choices[index]["state"] == decisions["state"]
        equal.append(same)
        late.append(same[WARM_UP:])
        flags.append(choices[index]["stopped"] == decisions["stopped"])
        rows = []
        for source in (recorded[index].periods, closed[index].periods):
            count = len(names[cpu])
            rows.append(_by_state(source["state"], source["residency_ns"], count))
            rows.append(_by_state(source["state"], None, count))
        for state, name in enumerate(names[cpu]):
            rec_ns, rec_n, pre_ns, pre_n = (row[state] for row in rows)
            states.append(StateResult(cpu, name, rec_ns * 1e-9, pre_ns * 1e-9, int(rec_n), int(pre_n)))
        errors.append(max(abs(a - b) for a, b in zip(rows[0], rows[2], strict=True)) * 1e-7 / trace.window_s)
    return Prediction(
        variant,
        _share(equal),
        _share(late),
        _share(flags),
        max(errors),
        sum(errors) / len(errors),
        sum(state.predicted_entries for state in states),
        sum(cpu.tick_stops for cpu in closed),
        tuple(states),
        {
            cpu: (stops, one.tick_stops)
            for cpu, stops, one in zip(trace.cpus, trace.core.tick_stops, closed, strict=True)
        },
        {cpu: (len(same), int(same.sum())) for cpu, same in zip(trace.cpus, equal, strict=True)},
    )


def _share(parts: Sequence[npt.NDArray[np.bool_]]) -> float:
    whole = np.concatenate(parts)
    return 100.0 * float(whole.mean()) if len(whole) else math.nan


def _trace_result(path: Path, governor: str, workload: str, truth: _Truth) -> TraceResult:
    policy = _policy(governor, truth.text("uname"), path)
    states = truth.states(path.name.removesuffix(".gz"))
    log = read_ftrace(path)
    hz = _core.tick_hz_of(log.core)
    if hz is None:
        raise ConfigError(
            f"{path}: the tick's period does not show: too few ticks, or on no grid of 100, 250, 300, 1000 Hz"
        )
    missing = sorted(set(log.cpus) - set(states))
    if missing:
        raise ConfigError(
            f"{path}: CPU {missing[0]} is in the trace but not in {truth.path} "
            f"(cpus {min(states)}..{max(states)})"
        )
    tables = {
        cpu: [(latency, residency, name == "POLL") for name, latency, residency in rows]
        for cpu, rows in states.items()
    }
    names = {cpu: [name for name, _, _ in rows] for cpu, rows in states.items()}
    trace = IdleTrace(log, tables, hz=hz)
    deepest = Fixed(state=min(len(rows) for rows in states.values()) - 1)
    predictions = (
        _predict(trace, names, MODEL, policy, _core.ReplayRules(warm_up=WARM_UP)),
        _predict(trace, names, NO_GOT_TICK, policy, _core.ReplayRules(warm_up=WARM_UP, got_tick=False)),
        _predict(trace, names, DEEPEST, deepest, _core.ReplayRules(warm_up=WARM_UP)),
    )
    decisions = sum(state.recorded_entries for state in predictions[0].states)
    return TraceResult(
        f"{governor} {workload}",
        str(policy),
        trace.window_s,
        decisions,
        sum(trace.core.tick_stops),
        predictions,
    )


def _quantities(trace: TraceResult, limits: _Limits) -> Iterator[Quantity]:
    model = trace.model

    def share(name: str, value: float, limit: float | None) -> Quantity:
        return Quantity(f"{trace.name}, {name}", "%", 100.0, value, value - 100.0, limit)

    def count(name: str, recorded: int, predicted: int) -> Quantity:
        error = 100.0 * (predicted - recorded) / recorded if recorded else 100.0 * predicted
        return Quantity(f"{trace.name}, {name}", "count", recorded, predicted, error, limits.counts)

    yield share("equal decisions", model.equal_pct, None)
    if not math.isnan(model.equal_after_warm_up_pct):  # a short trace may have no decision after it
        yield share("equal decisions after warm-up", model.equal_after_warm_up_pct, limits.decisions)
    yield share("equal tick states", model.tick_flag_pct, None)
    yield count("entries", trace.decisions, model.entries)
    yield count("tick stops", trace.tick_stops, model.tick_stops)
    for state in model.states:
        error = 100.0 * (state.predicted_s - state.recorded_s) / trace.window_s
        name = f"{trace.name}, CPU {state.cpu}, {state.state}, residency"
        yield Quantity(name, "s", state.recorded_s, state.predicted_s, error, limits.residency)


def _traces_in(folder: Path) -> list[tuple[Path, str, str]]:
    found = []
    for path in sorted(folder.iterdir()):
        match = _NAME.fullmatch(path.name)
        if match is not None:
            found.append((path, match["governor"], match["workload"]))
    return found


def _folders(path: Path) -> list[Path]:
    if not path.is_dir():
        raise ConfigError(f"{path}: no such folder")
    if (path / "truth.json").exists() or _traces_in(path):
        return [path]
    inner = [
        p for p in sorted(path.iterdir()) if p.is_dir() and (p / "truth.json").exists() and _traces_in(p)
    ]
    if not inner:
        raise ConfigError(f"{path}: no idle capture: expected truth.json and idle_GOVERNOR_WORKLOAD.trace.gz")
    return inner


def _capture(folder: Path) -> CaptureResult:
    truth = _Truth.read(folder)
    traces = _traces_in(folder)
    if not traces:
        raise ConfigError(f"{folder}: no idle_GOVERNOR_WORKLOAD.trace.gz")
    deterministic = "icount" in truth.text("clock")
    results = []
    quantities: list[Quantity] = []
    for path, governor, workload in traces:
        result = _trace_result(path, governor, workload, truth)
        results.append(result)
        quantities += _quantities(result, _limits(deterministic, governor, workload))
    return CaptureResult(folder.resolve().name, tuple(quantities), tuple(results))


def validate_captures(paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> ValidateReport:
    """Compare the governor models with the idle decisions of real kernels.

    Each trace is replayed twice: in open loop, where the model is told the recorded past before every
    decision, and in closed loop, where it lives with its own choices. Limits, in percent: equal decisions
    after the first eight of each CPU, menu with host time 2, with a deterministic clock pattern 0.5 and quiet
    10, ladder 0 (deterministic clock only); residency of every CPU and state, menu 0.75 and 1, ladder 0.1
    (deterministic clock only); entries and tick stops 1.5 (menu pattern, deterministic clock only). Figures
    that host time distorts are reported without a limit.

    Parameters
    ----------
    paths : path-like or sequence of path-like
        Folders with ``truth.json`` and any of ``idle_GOVERNOR_WORKLOAD.trace.gz``, or folders of such
        folders.

    Raises
    ------
    ConfigError
        When a folder holds no capture, a file is missing or damaged, a governor or kernel is unknown, or a
        CPU or state of a trace is missing from ``truth.json``.

    Examples
    --------
    >>> validate_captures("no-such-folder")
    Traceback (most recent call last):
    torpor._core.ConfigError: no-such-folder: no such folder
    """
    many = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not many:
        raise ConfigError("captures: none given")
    folders = [folder for path in many for folder in _folders(Path(path))]
    return ValidateReport(tuple(_capture(folder) for folder in folders))
