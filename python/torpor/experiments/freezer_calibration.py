# SPDX-License-Identifier: MIT
"""Finds the fitted values of the ``nexus-10`` board again from the published cells of ``freezer-2013``.

Four values are found, each by root finding on the model: the number of tasks in converted sites from the 1000
context switches before the series, that of user tasks in other sites from the 25 with it, the visit from the
5 ms with the series, and the burst of a woken task from the 50 ms before it. Only the sum of the burst and
the wakeup is identified; the wakeup keeps the board's value, as the split of sites and the number of kernel
threads do.

``python -m torpor.experiments.freezer_calibration`` prints the report.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy.typing as npt

from torpor.experiments._freezer_2013_fit import (
    cost,
    fit_count,
    fit_run_cycles,
    fit_visit_cycles,
    phase_mean_ms,
    with_costs,
    with_run_cycles,
)
from torpor.experiments._freezer_2013_world import (
    BEFORE,
    BOARD_HZ,
    FREEZE,
    KINDS,
    OF_SERIES,
    OPP_KHZ,
    PATCH_1,
    PUBLISHED,
    SERIES,
    SWITCH_INS,
    last_frozen_ms,
    scenario,
    statements,
    unit,
)
from torpor.experiments.report import Cell
from torpor.freezer import Runs, Scenario
from torpor.report import Report
from torpor.stats import Estimate
from torpor.tables import Column, Table

__all__ = ["HZ", "Calibration", "calibrate", "calibration_report"]

HZ = (100, 200, 250, 300, 1000)
"""Kernels for which the fit is made: the mails do not name theirs."""

RUNS = 100


@dataclass(frozen=True)
class Calibration:
    """What a fit found, and how far every published cell is from it.

    Attributes
    ----------
    hz : int
        The kernel's HZ.
    counts : mapping of str to int
        Fitted numbers of tasks, by group of the board.
    visit_cycles, wake_cycles, freeze_run_cycles : int
        Costs; `wake_cycles` is the board's.
    visit_fitted : bool
        Whether the visit was found, or is the board's.
    cells : tuple of Cell
        Every published cell with these values.

    Examples
    --------
    >>> found = calibrate(visit_cycles=140, runs=10)
    >>> found.counts, found.cell("v3.9", "task switch-ins").ours
    ({'futex': 410, 'other': 15}, 1000.0)
    """

    hz: int
    counts: Mapping[str, int]
    visit_cycles: int
    wake_cycles: int
    freeze_run_cycles: int
    visit_fitted: bool
    cells: Sequence[Cell]

    @property
    def task_cycles(self) -> int:
        """Wakeup and burst of a woken task: what the 50 ms identify."""
        return self.wake_cycles + self.freeze_run_cycles

    @property
    def task_us(self) -> float:
        """The same at the published frequency, microseconds."""
        return self.task_cycles * 1e3 / OPP_KHZ

    def cell(self, row: str, column: str) -> Cell:
        """Find a cell by its place."""
        return next(cell for cell in self.cells if (cell.row, cell.column) == (row, column))


def calibrate(
    hz: int = BOARD_HZ, *, visit_cycles: int | None = None, runs: int = RUNS, seed: int = 1, threads: int = 0
) -> Calibration:
    """Find the fitted values for a kernel of some HZ.

    Parameters
    ----------
    hz : int
        The kernel's HZ.
    visit_cycles : int or None, CPU cycles
        Cost of a visit that is kept; None finds it from the 5 ms.
    runs : int
        Replicates behind the residuals.
    seed : int
        Root of all randomness.
    threads : int
        Worker threads; 0 means all cores.

    Returns
    -------
    Calibration
        Values and residuals.

    Raises
    ------
    ConfigError
        When no value gives a published cell.

    Examples
    --------
    >>> calibrate(runs=10).visit_cycles < calibrate(visit_cycles=140, runs=10).visit_cycles
    True
    """
    world = scenario(hz)
    counts = {}
    for group, policy in (("other", SERIES), ("futex", BEFORE)):
        # From a count that is certainly wrong, so that the board's own value cannot be what is found.
        empty = replace(world, population=world.groups.with_count(group, 0))
        counts[group] = fit_count(
            empty, group, policy, PUBLISHED[policy, SWITCH_INS], seed=seed, threads=threads
        )
        world = replace(world, population=world.groups.with_count(group, counts[group]))
    if visit_cycles is None:
        visit = fit_visit_cycles(world, PUBLISHED[SERIES, FREEZE], seed=seed, threads=threads)
    else:
        visit = visit_cycles
    world = with_costs(world, visit_cycles=visit)
    burst = fit_run_cycles(world, PUBLISHED[BEFORE, FREEZE], seed=seed, threads=threads)
    world = with_run_cycles(world, burst)
    return Calibration(
        hz=hz,
        counts=dict(sorted(counts.items())),
        visit_cycles=visit,
        wake_cycles=cost(world, "wake_cycles"),
        freeze_run_cycles=burst,
        visit_fitted=visit_cycles is None,
        cells=_cells(world, runs=runs, seed=seed, threads=threads),
    )


def _cells(world: Scenario, *, runs: int, seed: int, threads: int) -> tuple[Cell, ...]:
    """Every published cell; freezes before the series as means over all tick phases."""
    results = {
        name: world.run(name, runs=runs, seed=seed, threads=threads) for name in (BEFORE, PATCH_1, SERIES)
    }
    found = statements(results, last_frozen_ms(world, runs=runs, seed=seed, threads=threads))
    exact = {(BEFORE, FREEZE), (OF_SERIES, FREEZE)}
    return tuple(
        _cell(place, _phase_mean(place, results) if place in exact else samples)
        for place, samples in found.items()
    )


def _phase_mean(place: tuple[str, str], results: Mapping[str, Runs]) -> float:
    before = phase_mean_ms(results[BEFORE])
    return before if place[0] == BEFORE else before / float(results[SERIES].elapsed_ms.mean())


def _cell(place: tuple[str, str], samples: npt.NDArray[Any] | float) -> Cell:
    ours = Estimate(samples, None, None) if isinstance(samples, float) else Estimate.of(samples)
    return Cell(*place, unit(*place), PUBLISHED[place], ours.mean, ours.low, ours.high, KINDS[place])


def calibration_report(
    hz: Sequence[int] = HZ, *, runs: int = RUNS, seed: int = 1, threads: int = 0
) -> Report:
    """Fitted values for several HZ beside the board's, and the residuals of all published cells.

    Parameters
    ----------
    hz : sequence of int
        Kernels to fit for.
    runs, seed, threads : int
        As for :func:`calibrate`.

    Returns
    -------
    Report
        Two tables of values and residuals; as data, one object per fit.

    Examples
    --------
    >>> print(calibration_report([200], runs=10).tables[0].title)
    Fitted values, and those of the board file
    """
    world = scenario()
    board = Calibration(
        hz=BOARD_HZ,
        counts={name: world.groups.group(name).count for name in ("futex", "other")},
        visit_cycles=cost(world, "visit_cycles"),
        wake_cycles=cost(world, "wake_cycles"),
        freeze_run_cycles=cost(world, "freeze_run_cycles"),
        visit_fitted=False,
        cells=_cells(world, runs=runs, seed=seed, threads=threads),
    )
    fits = {f"board file, HZ {BOARD_HZ}": board}
    for kept in (board.visit_cycles, None):
        what = "visit and task" if kept is None else "task, visit kept"
        for each in hz:
            fits[f"{what}, HZ {each}"] = calibrate(
                each, visit_cycles=kept, runs=runs, seed=seed, threads=threads
            )
    return Report(
        [_value_table(fits, world), _residual_table(fits)],
        {"fits": [{"fit": name, **_plain(fit)} for name, fit in fits.items()]},
    )


def _plain(fit: Calibration) -> dict[str, Any]:
    return {
        "hz": fit.hz,
        "counts": dict(fit.counts),
        "visit_cycles": fit.visit_cycles,
        "wake_cycles": fit.wake_cycles,
        "freeze_run_cycles": fit.freeze_run_cycles,
        "cells": [cell.to_dict() for cell in fit.cells],
    }


def _value_table(fits: Mapping[str, Calibration], world: Scenario) -> Table:
    users = {group.name: group.count for group in world.groups if group.kind == "user"}
    fixed = sum(count for name, count in users.items() if name not in ("futex", "other"))
    columns = [
        Column("fit", align="left"),
        Column("tasks in converted sites"),
        Column("user tasks in other sites"),
        Column("visit", "cycles"),
        Column("wakeup and burst", "cycles"),
        Column(f"these at {OPP_KHZ // 1000} MHz", "us", digits=1),
    ]
    rows = [
        (
            name,
            fixed + fit.counts["futex"],
            fit.counts["other"],
            fit.visit_cycles,
            fit.task_cycles,
            fit.task_us,
        )
        for name, fit in fits.items()
    ]
    notes = [
        "Counts from 1000 and 25 context switches, with the board's 10 freezable kernel threads; the split "
        "of the converted sites is assumed, and futex takes what is left of the sum. Wakeup: the board's, "
        "since only the sum is identified. The board file keeps round costs: their residuals are below."
    ]
    return Table("Fitted values, and those of the board file", columns, rows, notes)


def _residual_table(fits: Mapping[str, Calibration]) -> Table:
    first = next(iter(fits.values()))
    columns = [Column("fit", align="left")]
    columns += [Column(f"{cell.row} {cell.column}", cell.unit) for cell in first.cells]
    rows: list[tuple[str, ...]] = [
        ("published", *(f"{cell.published:g}" for cell in first.cells)),
        ("kind", *(cell.kind for cell in first.cells)),
    ]
    rows += [
        (name, *(f"{cell.ours:.2f} ({_signed(cell.error_pct)} %)" for cell in fit.cells))
        for name, fit in fits.items()
    ]
    notes = [
        "In parentheses the residual. Interrupted calls lack the kernel threads, which make none. 'Under 10 "
        "ms' was said of no frequency; here it is 200 MHz."
    ]
    return Table("Published cells with each fit, and residuals", columns, rows, notes)


def _signed(error_pct: float | None) -> str:
    # Adding zero turns the -0.0 of a rounded error into 0.0.
    return "-" if error_pct is None else f"{round(error_pct, 1) + 0.0:+.1f}"


if __name__ == "__main__":
    print(calibration_report())
