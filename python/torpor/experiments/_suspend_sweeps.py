# SPDX-License-Identifier: MIT
"""Sweeps that answer what people ask about device suspend: how much async, EAS or not, how many workers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from torpor._core import ConfigError
from torpor.board import Board
from torpor.dpm import (
    BreadthFirst,
    Device,
    DeviceGraph,
    Old,
    OldInline,
    Policy,
    Runs,
    Scenario,
    Segment,
    Sync,
    Up616,
    Up617,
)
from torpor.dpm._critical_path import critical_path
from torpor.report import Report
from torpor.stats import Estimate
from torpor.tables import Column, Table, Value

__all__ = ["SHARES", "SWEEPS", "faster", "sweep", "with_little_cpus"]

SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
FREQS = (0.5, 0.7, 0.8, 0.9, 1.0)
LITTLE = (1, 2, 4, 6)
LIMITS = (2, 4, 8, 16, 64, 256)
CYCLES = 3

_SIDES = ("suspend", "resume")


def _async_share(world: Scenario, runs: int, seed: int, threads: int) -> Report:
    """Every policy at every share of async devices."""
    policies = [Old(), OldInline(), BreadthFirst(), Up616(), Up617()]
    rows: list[dict[str, Any]] = []
    for share in SHARES:
        changed = replace(world, async_devices=share)
        for policy in policies:
            found = changed.run(policy, runs=runs, seed=seed, threads=threads)
            rows.append({"async_share": share, "policy": str(policy), **_times(found)})
    title = "Share of async devices"
    last = {row["policy"]: row for row in rows if row["async_share"] == SHARES[-1]}
    apart = [last["up-6.17()"][f"{side}_ms"].mean - last["old()"][f"{side}_ms"].mean for side in _SIDES]
    notes = [
        "Which devices are async is drawn, the same ones for all policies. With all of them async the walk "
        "of up-6.17 never stalls and queues every device, ready or not, as old does, roots and leaves first; "
        f"it then takes {apart[0]:+.1f} ms more in suspend and {apart[1]:+.1f} ms in resume than old."
    ]
    return _report("async-share", title, ["async_share", "policy"], rows, notes)


def _eas(world: Scenario, runs: int, seed: int, threads: int) -> Report:
    """EAS on, and off in resume and in suspend, against frozen frequency and number of little CPUs."""
    policies = [
        Sync(),
        Old(),
        Old(eas_off="both"),
        BreadthFirst(),
        BreadthFirst(eas_off="both"),
    ]
    cases: list[tuple[str, Scenario]] = [
        (f"{freq:g} of the highest frequency", replace(world, relative_freq=freq)) for freq in FREQS
    ]
    cases += [(f"{count} little CPUs", with_little_cpus(world, count)) for count in LITTLE]
    rows = []
    for name, changed in cases:
        for policy in policies:
            found = changed.run(policy, runs=runs, seed=seed, threads=threads)
            row = {"case": name, "policy": str(policy), **_times(found)}
            for side in _SIDES:
                row[f"{side}_energy_mj"] = Estimate.of(getattr(found, f"{side}_energy_mj").mean(axis=1))
            rows.append(row)
    notes = [
        "Below 80 % of the highest frequency a small task can never make a little CPU overutilised: EAS "
        "stays in force to the end. Energy is that of all CPUs while either side lasts, by power curves of "
        "the CPUs alone: ranks count, not figures."
    ]
    return _report("eas", "EAS on and off", ["case", "policy"], rows, notes)


def _workers(world: Scenario, runs: int, seed: int, threads: int) -> Report:
    """Limit the active work items."""
    makers: Sequence[Callable[..., Policy]] = (Old, BreadthFirst, Up616, Up617)
    rows = []
    for limit in LIMITS:
        for make in makers:
            policy = make(max_active=limit)
            found = world.run(policy, runs=runs, seed=seed, threads=threads)
            name = str(make()).removesuffix("()")
            stuck = float(np.equal(found.outcome, 3).mean())
            live = float(found.side("live_workers", "resume").mean())
            rows.append(
                {"max_active": limit, "policy": name, **_times(found), "live_workers": live, "stuck": stuck}
            )
    notes = [
        "Live workers: most in resume. Stuck: share of cycles that never end, because items that wait hold "
        "all slots; their times do not count. Breadth-first has no item that waits."
    ]
    return _report("workers", "Limit of active work items", ["max_active", "policy"], rows, notes)


def _slow_device(world: Scenario, runs: int, seed: int, threads: int) -> Report:
    """Halve the longest callback on the critical path, and the longest off it."""
    rows: list[dict[str, Any]] = []
    for replicate in range(runs):
        graph = world.graph(seed, replicate)
        fixed = replace(world, devices=graph, scales=_pair(world, replicate))
        for policy in (Sync(), Old(), BreadthFirst()):
            path = critical_path(fixed.intervals(policy, seed, replicate), graph, "resume")
            lengths = {one.name: _length_us(one, "resume") for one in graph.devices}
            on_path = [name for name in path["device"] if lengths[name] > 0.0]
            off_path = [name for name, us in lengths.items() if us > 0.0 and name not in set(on_path)]
            before = fixed.run(policy, seed=seed, first=replicate, threads=threads).resume_ms.mean()
            scale = _factor(fixed)
            for where, names in (("on the path", on_path), ("off the path", off_path)):
                if not names:
                    continue
                name = max(names, key=lambda one: lengths[one])
                changed = replace(fixed, devices=faster(graph, name, 0.5, "resume"))
                after = changed.run(policy, seed=seed, first=replicate, threads=threads).resume_ms.mean()
                rows.append(
                    {
                        "policy": str(policy),
                        "device": where,
                        "half_its_length_ms": lengths[name] * scale / 2e3,
                        "gain_ms": float(before - after),
                    }
                )
    merged = []
    for key in dict.fromkeys((row["policy"], row["device"]) for row in rows):
        own = [row for row in rows if (row["policy"], row["device"]) == key]
        columns = ("half_its_length_ms", "gain_ms")
        means = {name: Estimate.of([float(row[name]) for row in own]) for name in columns}
        merged.append({"policy": key[0], "device": key[1], "graphs": len(own), **means})
    notes = [
        "The longest callback of resume among the devices of the critical path, and among all others, takes "
        "half the time; under sync all are on the path. Half its length is that on the reference CPU: a gain "
        "is less where another path takes over, and more where the device held a slow CPU or the lock."
    ]
    return _report("slow-device", "One device twice as fast", ["policy", "device"], merged, notes)


SWEEPS: Mapping[str, Callable[[Scenario, int, int, int], Report]] = MappingProxyType(
    {"async-share": _async_share, "eas": _eas, "workers": _workers, "slow-device": _slow_device}
)
"""Every sweep by name."""


def sweep(
    name: str, *, board: str = "pixel-6-like", runs: int = 20, seed: int = 1, threads: int = 0
) -> Report:
    """Run a sweep on a board with the board's graphs and factors.

    Parameters
    ----------
    name : str
        A key of `SWEEPS`: ``async-share``, ``eas`` (against frozen frequency and number of little CPUs),
        ``workers`` (the limit of active work items), ``slow-device`` (one device takes half the time).
    board : str
        Name of a board with a [dpm] section and a generator.
    runs : int
        Graphs.
    seed, threads : int
        As of ``Scenario.run``.

    Returns
    -------
    Report
        One table; ``data["rows"]`` has its numbers.

    Raises
    ------
    ConfigError
        For an unknown name.

    Examples
    --------
    >>> report = sweep("workers", runs=1)
    >>> report.data["rows"][0]["policy"]
    'old'
    >>> sweep("threads")
    Traceback (most recent call last):
        ...
    torpor._core.ConfigError: unknown sweep 'threads': known are async-share, eas, workers, slow-device
    """
    if name not in SWEEPS:
        raise ConfigError(f"unknown sweep '{name}': known are {', '.join(SWEEPS)}")
    return SWEEPS[name](Scenario(Board.load(board), cycles=CYCLES), runs, seed, threads)


def with_little_cpus(world: Scenario, count: int) -> Scenario:
    """Copy with so many CPUs in the board's first cluster, the others numbered after them.

    Examples
    --------
    >>> phone = Scenario(Board.load("pixel-6-like"))
    >>> with_little_cpus(phone, 2).cpu_count
    6
    """
    board = world.board
    if board is None or len(board.clusters) < 2:
        raise ConfigError(f"little CPUs={count}: the board has one cluster, limit: at least 2")
    assert board.dpm is not None
    data = board.to_dict()
    old = [list(cluster["cpus"]) for cluster in data["clusters"]]
    place: dict[int, int] = {}
    first = 0
    for number, cluster in enumerate(data["clusters"]):
        size = count if number == 0 else len(old[number])
        cluster["cpus"] = list(range(first, first + size))
        place |= dict(zip(old[number], cluster["cpus"], strict=False))
        first += size
    for key in ("main_suspend_cpu", "main_resume_cpu"):
        data["dpm"][key] = place.get(data["dpm"][key], 0)
    return replace(world, board=Board.from_dict(data))


def faster(graph: DeviceGraph, name: str, factor: float, phase: str) -> DeviceGraph:
    """Copy of a graph in which one callback of a device takes so much of its time.

    Examples
    --------
    >>> graph = DeviceGraph([Device("ufs", callbacks={"resume": [Segment.cpu(100), Segment.sleep(1000)]})])
    >>> faster(graph, "ufs", 0.5, "resume").devices[0].callbacks["resume"]
    (Segment.cpu(50), Segment.sleep(500))
    """

    def shorter(segment: Segment) -> Segment:
        if segment.kind in ("lock", "unlock"):
            return segment
        return replace(segment, first=round(segment.first * factor), second=round(segment.second * factor))

    def changed(device: Device) -> Device:
        if device.name != name:
            return device
        own = {**device.callbacks, phase: tuple(shorter(one) for one in device.callbacks[phase])}
        return replace(device, callbacks=own)

    return DeviceGraph([changed(device) for device in graph.devices], graph.links)


def _length_us(device: Device, phase: str) -> float:
    return sum(one.first + one.second for one in device.callbacks.get(phase, ())) / 1e3


def _pair(world: Scenario, replicate: int) -> Any:
    given: Any = world.scales
    return given if given is None or np.ndim(given[0]) == 0 else given[replicate]


def _factor(world: Scenario) -> float:
    """On resume."""
    if world.scales is not None:
        return float(np.asarray(world.scales)[1])
    section = world.board.dpm if world.board is not None else None
    return 1.0 if section is None or section.scales is None else section.scales.resume


def _times(runs: Runs) -> dict[str, Estimate]:
    return {f"{side}_ms": _of_done(runs, getattr(runs, f"{side}_ms")) for side in _SIDES}


def _of_done(runs: Runs, values: npt.NDArray[np.float64]) -> Estimate:
    """Over the graphs all of whose cycles were done; unknown without any."""
    done = runs.done.all(axis=1)
    if not done.any():
        return Estimate(float("nan"), None, None)
    return Estimate.of(values[done].mean(axis=1))


def _report(
    name: str, title: str, keys: Sequence[str], rows: Sequence[Mapping[str, Any]], notes: Sequence[str]
) -> Report:
    columns = []
    for column in rows[0]:
        unit = next((one for one in ("ms", "mj") if column.endswith(f"_{one}")), "")
        heading = column.removesuffix(f"_{unit}").replace("_", " ")
        align = "left" if isinstance(rows[0][column], str) else "right"
        columns.append(Column(heading, unit.replace("mj", "mJ"), align=align, digits=2))  # type: ignore[arg-type]
    body: list[list[Value]] = [[_shown(value) for value in row.values()] for row in rows]
    data = {"sweep": name, "keys": list(keys), "rows": [_plain(row) for row in rows]}
    return Report([Table(title, columns, body, notes)], data)


def _shown(value: Any) -> Value:
    return value.text(1) if isinstance(value, Estimate) else value


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Estimate):
            known = not np.isnan(value.mean)
            made[name] = value.mean if known else None
            made[f"{name}_low"], made[f"{name}_high"] = value.low, value.high
        else:
            made[name] = value
    return made
