# SPDX-License-Identifier: MIT
"""Block 3 of ``suspend-2024`` without one mechanism at a time, and with other values of unknowns."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from torpor.dpm import Runs, Scenario
from torpor.experiments._share import Progress
from torpor.experiments._suspend_2024_blocks import graph_ms
from torpor.experiments._suspend_2024_world import (
    ITEM_COSTS,
    P0,
    P1,
    P2,
    P3,
    P4,
    POLICIES,
    RESUME,
    SUSPEND,
    SWITCH_COSTS,
    generator,
    with_costs,
)
from torpor.experiments._suspend_fit import Fit, fit_scales
from torpor.experiments.report import Cell
from torpor.stats import Estimate
from torpor.tables import Column, Table

__all__ = [
    "BASE",
    "Variant",
    "ablations",
    "run_variants",
    "sensitivities",
    "variant_cells",
    "variant_table",
]

BASE = "none"
CYCLES = 3
CLOSE_MS = 1.0

_ALL = (P1, P2, P3, P4)
_DOWN = (P1, P2, P4)
_PLACES = ((P1, SUSPEND), (P2, SUSPEND), (P3, SUSPEND), (P1, RESUME), (P2, RESUME), (P3, RESUME))

GAIN, LOSS = "S1-S2", "S4-S2"


@dataclass(frozen=True)
class Variant:
    """One row.

    Parameters
    ----------
    name : str
        What is different.
    world : Scenario
        Where it is.
    run : tuple of str
        Policies to run.
    instead : mapping of str to str
        Policies whose text is another.
    """

    name: str
    world: Scenario
    run: Sequence[str] = _ALL
    instead: Mapping[str, str] = field(default_factory=dict)


def _drawn(world: Scenario, **changes: object) -> Scenario:
    return replace(world, devices=replace(generator(world), **changes))  # type: ignore[arg-type]


def _equal_cpus(world: Scenario) -> Scenario:
    """Every CPU with the capacity of the largest; EAS needs asymmetry."""
    board = world.board
    assert board is not None
    most = max(cluster.capacity for cluster in board.clusters)
    for number in range(len(board.clusters)):
        board = board.with_value(f"clusters[{number}].capacity", most)
    return replace(world, board=board, eas=False)


def ablations(world: Scenario) -> list[Variant]:
    """Rows in which a mechanism of a scenario is missing, after the scenario itself."""
    drawn = generator(world)
    shares = drawn.cpu_share
    assert isinstance(shares, tuple)
    mean = sum(shares) / 2.0

    def other(*policies: str, suffix: str) -> dict[str, str]:
        made = {}
        for name in policies:
            head, _, rest = POLICIES[name].partition("(")
            made[name] = f"{head}({', '.join(part for part in (rest.rstrip(')'), suffix) if part)})"
        return made

    return [
        Variant(BASE, world),
        Variant("no shared lock (K6 off)", _drawn(world, lock_share=0.0)),
        Variant("two locks instead of one", _drawn(world, locks=2 * drawn.locks)),
        Variant(f"CPU share {mean:.3g} both ways (K5 off)", _drawn(world, cpu_share=mean)),
        Variant("no fixed CPU time (K4 off)", _drawn(world, fixed_share=0.0)),
        Variant("no idle exit latency (K3 off)", replace(world, idle_exit_share=math.inf)),
        Variant("one wakeup per barrier (K1 off)", replace(world, barrier_wakes=False)),
        Variant("main stays on its CPU (K2 off)", replace(world, main_pinned=True)),
        Variant("every dependency checked (K7 off)", replace(world, checks_all=True)),
        Variant("no class devices (K8 off)", _drawn(world, class_ratio=0.0)),
        Variant("never the waker's CPU (K9 off)", replace(world, wake_affine=False)),
        Variant("no mutex M", world, instead=other(*_ALL, suffix="list_mutex=false")),
        Variant("no inline rule", world, instead=other(P2, P3, P4, suffix="inline_calls=false")),
        Variant("eight CPUs as the big ones", _equal_cpus(world)),
        Variant("all overheads zero", with_costs(world, 0.0)),
        Variant("idle_first_big", replace(world, placement="biggest_idle")),
        Variant("pull off", replace(world, pull=False)),
        Variant("P1 with EAS off both ways", world, (P1,), other(P1, suffix="eas_off=both")),
        Variant("workers created beforehand", replace(world, initial_workers=drawn.devices)),
        Variant("callbacks only sleep", _drawn(world, cpu_share=0.0)),
        Variant("callbacks never sleep", _drawn(world, cpu_share=1.0)),
    ]


def sensitivities(world: Scenario) -> list[Variant]:
    """Rows in which a value that moves S1-S2 or the sign of S4-S2, and that nobody published, is another."""
    drawn = generator(world)
    shares, locks = drawn.cpu_share, drawn.lock_share
    assert isinstance(shares, tuple)
    assert isinstance(locks, tuple)
    cases: dict[str, Scenario] = {BASE: world}
    for util in (10, 50, 200, 400):
        cases[f"main's utilisation at suspend {util}"] = replace(world, main_suspend_util=util)
    for cpu, where in ((4, "mid"), (0, "little")):
        cases[f"main on a {where} CPU at suspend"] = replace(world, main_suspend_cpu=cpu)
    for share in (0.0, 0.1, 0.2):
        cases[f"CPU share of suspend {share:g}"] = _drawn(world, cpu_share=(share, shares[1]))
    for factor in (0.5, 2.0):
        cases[f"item costs times {factor:g}"] = with_costs(world, factor, ITEM_COSTS)
        cases[f"switch costs times {factor:g}"] = with_costs(world, factor, SWITCH_COSTS)
    for change in (-0.2, 0.2):
        share = min(max(locks[0] + change, 0.0), 1.0)
        cases[f"lock share of suspend {share:.2f}"] = _drawn(world, lock_share=(share, locks[1]))
    for share in (0.4, 1.0):
        cases[f"idle_exit_share {share:g}"] = replace(world, idle_exit_share=share)
    return [Variant(name, case, _DOWN) for name, case in cases.items()]


def run_variants(
    variants: Sequence[Variant],
    start: Fit,
    target_ms: tuple[float, float],
    *,
    graphs: int,
    seed: int,
    threads: int,
    part: Callable[[int], Progress | None],
) -> dict[str, dict[str, Runs]]:
    """Run each variant on the first graphs of a block, P0 fitted again in each.

    Parameters
    ----------
    variants : sequence of Variant
        Rows.
    start : Fit
        Of the block, whose factors the fits start from.
    target_ms : pair of float, milliseconds
        Published P0.
    graphs, seed, threads : int
        Of the runs.
    part : callable
        Takes a number of replicates, gives the listener for the step that runs them.

    Returns
    -------
    dict of str to dict of str to Runs
        By name and policy.
    """
    found = {}
    for variant in variants:
        world = replace(variant.world, scales=start.scales[:graphs].tolist(), cycles=CYCLES)
        fit = fit_scales(world, target_ms, runs=graphs, seed=seed, threads=threads, close_ms=CLOSE_MS)
        results = {P0: fit.found}
        for policy in variant.run:
            text = variant.instead.get(policy, POLICIES[policy])
            results[policy] = fit.world.run(text, runs=graphs, seed=seed, threads=threads)
        if (told := part(graphs)) is not None:
            told(graphs, graphs)
        found[variant.name] = results
    return found


def variant_cells(group: str, name: str, results: Mapping[str, Runs]) -> list[Cell]:
    """Cells of one row: the six times, and the two differences with the share of graphs above zero."""
    row = f"{group}: {name}"

    def cell(column: str, unit: str, estimate: Estimate) -> Cell:
        return Cell(row, column, unit, None, estimate.mean, estimate.low, estimate.high, "reference")

    made = [
        cell(f"{side[0].upper()}{policy[1:]}", "ms", Estimate.of(graph_ms(results, (policy, side))))
        for policy, side in _PLACES
        if policy in results
    ]
    for column, slow in ((GAIN, P1), (LOSS, P4)):
        if slow in results and P2 in results:
            apart = graph_ms(results, (slow, SUSPEND)) - graph_ms(results, (P2, SUSPEND))
            made.append(cell(column, "ms", Estimate.of(apart)))
            share = float((apart > 0).mean())
            made.append(cell(f"{column} above 0", "share", Estimate(share, None, None)))
    return made


def variant_table(title: str, rows: Mapping[str, Sequence[Cell]], columns: Sequence[str], note: str) -> Table:
    """Lay out rows, each with the columns that it has."""
    heads = [Column("change", align="left")]
    heads += [Column(name, "%" if name.endswith("above 0") else "ms") for name in columns]
    body = []
    for name, cells in rows.items():
        by_column = {cell.column: cell for cell in cells}
        body.append((name, *(_text(by_column.get(column)) for column in columns)))
    return Table(title, heads, body, [note])


def _text(cell: Cell | None) -> str | None:
    if cell is None:
        return None
    if cell.unit == "share":
        return f"{100 * cell.ours:.0f}"
    if "-" in cell.column:
        sign = "+" if round(cell.ours, 1) >= 0 else ""
        return f"{sign}{cell.estimate.text(1)}"
    return f"{cell.ours:.1f}"
