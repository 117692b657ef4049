# SPDX-License-Identifier: MIT
"""Where old async stops to pay off in resume: few slow devices against many fast ones, on one phone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from torpor.dpm import Runs, Scenario
from torpor.experiments._share import Progress
from torpor.experiments._suspend_2024_world import EXISTENCE, PUBLISHED, RESUME, SUSPEND, generator, scenario
from torpor.experiments._suspend_fit import fit_scales
from torpor.experiments.report import Cell
from torpor.stats import Estimate
from torpor.tables import Column, Table, Value

__all__ = ["CROSSING", "DEVICES", "FACTORS", "Sweep", "crossing", "sweep_devices", "sweep_factors"]

FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
"""On the callbacks that P0 of 2024 asks for."""

DEVICES = (60, 90, 120, 200, 350, 700)
"""Devices that together take as long as P0 of 2024."""

CYCLES = 3
SYNC, OLD = "sync", "old"
RATIO, CROSSING = "old/sync, resume", "crossing of 1"

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Sweep:
    """Results by the value that is swept.

    Parameters
    ----------
    name : str
        What is swept.
    results : mapping of float to mapping of str to Runs
        By value and policy.
    """

    name: str
    results: Mapping[float, Mapping[str, Runs]]

    def ratio(self, value: float) -> Array:
        """Resume of old over that of sync, shape (runs,)."""
        of = self.results[value]
        ratios: Array = of[OLD].resume_ms.mean(axis=1) / of[SYNC].resume_ms.mean(axis=1)
        return ratios

    @property
    def values(self) -> list[float]:
        """What was swept over, ascending."""
        return sorted(self.results)

    def crossing(self) -> tuple[float | None, float | None, float | None]:
        """Value at which the mean ratio crosses 1, and where the ends of its intervals do; None for never."""
        means = [Estimate.of(self.ratio(value)) for value in self.values]
        at = crossing(self.values, [one.mean for one in means])
        ends = [
            crossing(self.values, [end for end in curve if end is not None])
            for curve in ([one.low for one in means], [one.high for one in means])
            if None not in curve
        ]
        found = sorted(end for end in ends if end is not None)
        return (at, found[0], found[1]) if len(found) == 2 else (at, None, None)

    def callback_ms(self, value: float) -> float:
        """Mean length of a callback of resume on the fastest CPU."""
        runs = self.results[value][SYNC]
        count = runs.side("callbacks", RESUME).sum()
        return float(runs.side("sum_ns", RESUME).sum() / max(count, 1) / 1e6)

    def cells(
        self, unit: str, bands: Mapping[float, tuple[float, float]] = MappingProxyType({})
    ) -> list[Cell]:
        """Ratios, some with a band for their mean, and where they cross 1."""
        made = []
        for value in self.values:
            ours = Estimate.of(self.ratio(value))
            row = f"{self.name} {value:g}"
            made.append(
                Cell(
                    row,
                    RATIO,
                    "times",
                    None,
                    ours.mean,
                    ours.low,
                    ours.high,
                    "reference",
                    bands.get(value),
                )
            )
        at, low, high = self.crossing()
        if at is not None:
            made.append(Cell(self.name, CROSSING, unit, None, at, low, high, "reference"))
        return made

    def table(self, title: str, note: str) -> Table:
        """Lay out the sweep."""
        columns = [
            Column(self.name, align="left"),
            Column("mean callback", "ms", digits=2),
            Column("sync resume", "ms"),
            Column("old resume", "ms"),
            Column("old/sync"),
            Column("graphs below 1", "%", digits=0),
            Column("old/sync, suspend"),
        ]
        rows: list[list[Value]] = []
        for value in self.values:
            of = self.results[value]
            down = of[OLD].suspend_ms.mean(axis=1) / of[SYNC].suspend_ms.mean(axis=1)
            rows.append(
                [
                    f"{value:g}",
                    self.callback_ms(value),
                    *(Estimate.of(of[name].resume_ms.mean(axis=1)).text(0) for name in (SYNC, OLD)),
                    Estimate.of(self.ratio(value)).text(2),
                    100.0 * float((self.ratio(value) < 1).mean()),
                    Estimate.of(down).text(2),
                ]
            )
        return Table(title, columns, rows, [note])


def crossing(values: Sequence[float], ratios: npt.ArrayLike) -> float | None:
    """Value between two that have a ratio on either side of 1, and beyond which none has; None for never.

    In between the ratio is taken to be linear in the logarithm of the value. From the right, since on the
    left few devices make ratios that wander around 1.

    Examples
    --------
    >>> crossing([1.0, 4.0], [1.5, 0.5])
    2.0
    >>> crossing([1.0, 4.0], [1.5, 1.1]) is None
    True
    """
    above = np.asarray(ratios, dtype=np.float64) - 1.0
    for i in np.flatnonzero(np.sign(above[1:]) != np.sign(above[:-1])).tolist()[::-1]:
        part = above[i] / (above[i] - above[i + 1])
        return float(np.exp((1 - part) * np.log(values[i]) + part * np.log(values[i + 1])))
    return None


def _target() -> tuple[float, float]:
    return PUBLISHED["P0", SUSPEND], PUBLISHED["P0", RESUME]


def sweep_factors(
    *, runs: int, seed: int, threads: int, hz: int | None, part: Callable[[int], Progress | None]
) -> Sweep:
    """Stretch all callbacks of the phone that takes as long as that of 2024 when the factor is 1."""
    world = scenario(EXISTENCE, hz, cycles=CYCLES)
    fit = fit_scales(world, _target(), runs=runs, seed=seed, threads=threads, close_ms=0.5)
    _tell(part, runs)
    found: dict[float, dict[str, Runs]] = {}
    for factor in FACTORS:
        longer = replace(world, scales=(factor * fit.scales).tolist())
        found[factor] = _both(longer, runs, seed, threads)
        _tell(part, runs)
    return Sweep("callbacks times", found)


def sweep_devices(
    *, runs: int, seed: int, threads: int, hz: int | None, part: Callable[[int], Progress | None]
) -> Sweep:
    """Let more or fewer devices take as long one after the other as those of 2024."""
    world = scenario(EXISTENCE, hz, cycles=CYCLES)
    drawn = generator(world)
    assert world.board is not None
    assert world.board.dpm is not None
    board_scales = world.board.dpm.scales
    start = (1.0, 1.0) if board_scales is None else (board_scales.suspend, board_scales.resume)
    found: dict[float, dict[str, Runs]] = {}
    for count in DEVICES:
        fewer = replace(
            world,
            devices=replace(drawn, devices=count),
            scales=tuple(scale * drawn.devices / count for scale in start),
        )
        fit = fit_scales(fewer, _target(), runs=runs, seed=seed, threads=threads, close_ms=0.5)
        found[float(count)] = {
            SYNC: fit.found,
            OLD: fit.world.run(OLD, runs=runs, seed=seed, threads=threads),
        }
        _tell(part, runs)
    return Sweep("devices", found)


def _both(world: Scenario, runs: int, seed: int, threads: int) -> dict[str, Runs]:
    return {name: world.run(name, runs=runs, seed=seed, threads=threads) for name in (SYNC, OLD)}


def _tell(part: Callable[[int], Progress | None], runs: int) -> None:
    if (told := part(runs)) is not None:
        told(runs, runs)
