# SPDX-License-Identifier: MIT
"""Other readings of the mails, and other assumptions, for ``freezer-2013``: what each would change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from torpor.experiments._freezer_2013_fit import cost, fit_run_cycles, with_costs, with_run_cycles
from torpor.experiments._freezer_2013_world import (
    BEFORE,
    BOARD_HZ,
    CALLS,
    FREEZE,
    OF_SERIES,
    OF_SKIPPING,
    OPP_KHZ,
    PATCH_1,
    SERIES,
    SWITCH_INS,
    last_frozen_ms,
    scenario,
    statements,
    unit,
)
from torpor.experiments.report import Cell, Kind
from torpor.freezer import Runs, Scenario
from torpor.stats import Estimate
from torpor.tables import Column, Table

HZ = (100, 200, 250, 300, 1000)
LATE_US = 3000.0
"""After the second pass of the series, before its third."""
COST_BAND = 0.3

POLICIES = (BEFORE, PATCH_1, SERIES)

USER_ONLY = "user loop only"
USER_ONLY_LATE = f"user loop only, one D wait of {LATE_US / 1e3:g} ms"
SUM = "1000 is switches + calls: half the tasks, twice the cost"


@dataclass(frozen=True)
class Reading:
    """One row: a world, whether the 50 ms have been fitted again in it, and what that makes of the 5 ms."""

    name: str
    world: Scenario
    refitted: bool = False
    series: Kind = "fitted"

    @property
    def task_cycles(self) -> int:
        """Wakeup and burst of a woken task."""
        return cost(self.world, "wake_cycles") + cost(self.world, "freeze_run_cycles")


def readings(target_ms: float, *, seed: int, threads: int) -> list[Reading]:
    """Worlds of the rows, of the board's HZ unless they name another.

    Parameters
    ----------
    target_ms : float
        Published freeze before the series, to which the cost of a task is fitted again.
    seed, threads : int
        Of the fits.
    """
    world = scenario()

    def refit(name: str, start: Scenario, series: Kind = "fitted") -> Reading:
        burst = fit_run_cycles(start, target_ms, seed=seed, threads=threads)
        return Reading(f"{name}, fitted again", with_run_cycles(start, burst), True, series)

    user_only = replace(world, loops="user_only")
    late = replace(user_only, population=world.groups.with_d_tail(1, LATE_US))
    return [
        Reading(f"as on the board: HZ {BOARD_HZ}, both loops, 1000 each", world),
        *(refit(f"HZ {other}", scenario(other)) for other in HZ),
        refit(USER_ONLY, user_only, "predicted"),
        refit(USER_ONLY_LATE, late, "predicted"),
        Reading(SUM, _halved(world)),
    ]


def assumptions(hz: int) -> list[Reading]:
    """Worlds in which one assumption is another, with the board's costs."""
    world = scenario(hz)
    board = world.board.freezer
    assert board is not None
    every = [name for name in board.costs.__struct_fields__ if name.endswith("_cycles")]

    def scaled(factor: float) -> Scenario:
        values = {name: getattr(board.costs, name) for name in every}
        return with_costs(world, **{n: round(v * factor) for n, v in values.items() if v is not None})

    varied = {
        f"all costs -{100 * COST_BAND:g} %": scaled(1.0 - COST_BAND),
        f"all costs +{100 * COST_BAND:g} %": scaled(1.0 + COST_BAND),
        "preempt none": replace(world, preempt="none"),
        **{f"{cpus} CPU{'s' if cpus > 1 else ''}": replace(world, cpus=cpus) for cpus in (1, 4, 8)},
        **{f"range sleeps {mode}": replace(world, range_mode=mode) for mode in ("soft", "uniform", "tick")},
    }
    return [Reading(name, other) for name, other in varied.items()]


def _halved(world: Scenario) -> Scenario:
    """Half of the woken tasks at twice the cost; the others stay in the list, but are never asked."""
    groups = world.groups
    total = groups.task_count
    halved = groups.scaled(0.5)
    rest = total - (halved.task_count - halved.group("knofreeze").count)
    doubled = {
        name: 2 * cost(world, name)
        for name in ("wake_cycles", "freeze_run_cycles", "thaw_wake_cycles", "thaw_run_cycles")
    }
    return with_costs(replace(world, population=halved.with_count("knofreeze", rest)), **doubled)


def reading_cells(
    reading: Reading,
    published: Mapping[tuple[str, str], float],
    results: Mapping[str, Runs],
    *,
    seed: int,
    threads: int,
) -> list[Cell]:
    """Cells of one row; where the 50 ms have been fitted, the ratios are compared with the published ones."""
    runs = results[BEFORE].runs
    found = statements(results, last_frozen_ms(reading.world, runs=runs, seed=seed, threads=threads))
    found[PATCH_1, FREEZE] = results[PATCH_1].elapsed_ms
    kinds: dict[tuple[str, str], Kind] = {
        (BEFORE, FREEZE): "fitted",
        (PATCH_1, FREEZE): "reference",
        (SERIES, FREEZE): reading.series,
        (OF_SERIES, FREEZE): reading.series,
        (OF_SKIPPING, FREEZE): "predicted",
        (BEFORE, SWITCH_INS): "reference",
        (BEFORE, CALLS): "reference",
    }
    cells = []
    for place, kind in kinds.items():
        ours = Estimate.of(found[place])
        chosen: Kind = kind if reading.refitted else "reference"
        value = published.get(place) if chosen != "reference" else None
        column = f"{place[0]} {place[1]}"
        cells.append(
            Cell(reading.name, column, unit(*place), value, ours.mean, ours.low, ours.high, chosen, None)
        )
    task = Cell(
        reading.name, "wakeup and burst", "cycles", None, reading.task_cycles, None, None, "reference", None
    )
    return [task, *cells]


def reading_table(rows: Sequence[Sequence[Cell]]) -> Table:
    """Lay out readings of the mails, each with the cost of a task that it asks for."""
    columns = [
        Column("reading", align="left"),
        *(Column(cell.column, cell.unit) for cell in rows[0]),
        Column(f"these at {OPP_KHZ // 1000} MHz", "us", digits=1),
    ]
    body: list[list[str | float]] = [
        [cells[0].row, *map(_text, cells), cells[0].ours * 1e3 / OPP_KHZ] for cells in rows
    ]
    notes = [
        "fitted again: the burst of a woken task, so that v3.9 takes the published 50 ms in the mean over "
        "tick phases; the visit stays. No tick rate was published; freeze time may mean both loops or the "
        "user loop, and 1000 may be each of switches and calls, or their sum.",
        "With the user loop alone, 5 ms need a second sleep of the series, so a task that is late: one in D "
        "brings it about.",
    ]
    return Table("What the mails leave open", columns, body, notes)


def assumption_table(rows: Sequence[Sequence[Cell]]) -> Table:
    """Lay out other assumptions: times and their ratios."""
    shown = [[cell for cell in cells if cell.unit in ("ms", "times")] for cells in rows]
    columns = [Column("assumption", align="left"), *(Column(cell.column, cell.unit) for cell in shown[0])]
    body = [(cells[0].row, *map(_text, cells)) for cells in shown]
    notes = ["No source gives the costs of a Cortex-A15 on this path: hence the band of all costs."]
    return Table("Other assumptions, with the costs of the board", columns, body, notes)


def _text(cell: Cell) -> str:
    return cell.estimate.text(2 if cell.unit in ("ms", "times") else 0)
