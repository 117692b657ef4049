# SPDX-License-Identifier: MIT
"""``suspend-2024``: the eight cells of Saravana Kannan's table for a Pixel 6, and what EAS costs its suspend.

Source: linux-pm, "Optimize async device suspend/resume", 14 November 2024. The phone's device graph, the
lengths of its callbacks, what it was doing before, and its costs were not published, so the table is met in
three blocks that say how much of it went in:

1. by protocol: only the two cells of the synchronous policy are fitted, all else is predicted;
2. two values of the structure more, fitted to the two cells of the old async code;
3. an existence result: mechanisms and six values chosen with all cells in view (board ``pixel-6-like``).

Blocks 1 and 2 miss, and print where. Only block 3 decides the verdict. `PUBLISHED` is the target of the fits
and what stands beside ours; nothing else reads it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from torpor import _core
from torpor._checks import whole
from torpor.dpm import Runs, Scenario
from torpor.experiments._share import Progress, Tally
from torpor.experiments._suspend_2024_blocks import Block
from torpor.experiments._suspend_2024_notes import notes
from torpor.experiments._suspend_2024_variants import (
    CYCLES,
    GAIN,
    LOSS,
    ablations,
    run_variants,
    sensitivities,
    variant_cells,
    variant_table,
)
from torpor.experiments._suspend_2024_world import (
    BY_PROTOCOL,
    EXISTENCE,
    MAIL,
    NAME,
    P0,
    P1,
    POLICIES,
    PUBLISHED,
    RESUME,
    SOURCE,
    SUSPEND,
    TITLE,
    TWO_MORE,
    Plan,
    inputs,
    scenario,
    with_structure,
)
from torpor.experiments._suspend_fit import ROUNDS, Structure, fit_scales, fit_structure
from torpor.experiments._suspend_sweeps import SWEEPS, sweep
from torpor.experiments.report import Cell, Input, Reproduction

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["NAME", "POLICIES", "PUBLISHED", "SWEEPS", "reproduce", "run_block", "scenario", "sweep"]

STRUCTURE_GRAPHS = 50
STRUCTURE_CYCLES = 3
EVALUATIONS = 9
VARIANT_SHARE = 0.3
"""Of the graphs of the blocks, the rows below take so many."""


def reproduce(
    *,
    runs: int = 100,
    seed: int = 1,
    threads: int = 0,
    hz: int | None = None,
    progress: Progress | None = None,
) -> Reproduction[Runs]:
    """Run the experiment; see :func:`torpor.reproduce`. Each run is a graph of its own with 10 cycles.

    Examples
    --------
    >>> result = reproduce(runs=2)
    >>> [result.cell(f"block {number}: P0", "suspend").kind for number in (1, 2, 3)]
    ['fitted', 'fitted', 'fitted']
    >>> result.cell("block 1: P2", "suspend").kind
    'predicted'
    """
    runs = whole("runs", runs, 1, 10**6)
    sync_ms, old_ms = (tuple(PUBLISHED[policy, side] for side in (SUSPEND, RESUME)) for policy in (P0, P1))
    phone, like = scenario(BY_PROTOCOL, hz), scenario(EXISTENCE, hz)
    rows = {"ablation": ablations(like), "sensitivity": sensitivities(like)}
    graphs = max(1, round(VARIANT_SHARE * runs))
    structure_graphs = min(runs, STRUCTURE_GRAPHS)
    tally = Tally(
        progress,
        3 * (ROUNDS + len(POLICIES)) * runs
        + EVALUATIONS * structure_graphs
        + sum(map(len, rows.values())) * graphs,
    )

    def block(plan: Plan, world: Scenario) -> Block:
        return run_block(plan, world, runs=runs, seed=seed, threads=threads, part=tally.part)

    told = tally.part(EVALUATIONS * structure_graphs)
    structure = fit_structure(
        lambda share, overhead: with_structure(replace(phone, cycles=STRUCTURE_CYCLES), share, overhead),
        (0.4, 1.0),
        sync_ms=(sync_ms[0], sync_ms[1]),
        target_ms=(old_ms[0], old_ms[1]),
        policy=POLICIES[P1],
        runs=structure_graphs,
        seed=seed,
        threads=threads,
        evaluations=EVALUATIONS,
        limits=((0.01, 1.0), (0.02, 20.0)),
        progress=None if told is None else lambda done, _: told(done * structure_graphs, 0),
    )
    blocks = [
        block(BY_PROTOCOL, phone),
        block(TWO_MORE, with_structure(phone, *structure.values)),
        block(EXISTENCE, like),
    ]
    cells = [cell for one in blocks for cell in one.cells()]
    found = {(cell.row, cell.column): cell for cell in cells}
    variants: dict[str, dict[str, list[Cell]]] = {}
    for group, chosen in rows.items():
        results = run_variants(
            chosen,
            blocks[2].fit,
            (sync_ms[0], sync_ms[1]),
            graphs=graphs,
            seed=seed,
            threads=threads,
            part=tally.part,
        )
        variants[group] = {name: variant_cells(group, name, one) for name, one in results.items()}
    suffix = "" if hz is None else f", hz={hz}"
    return Reproduction(
        experiment=NAME,
        title=TITLE,
        source=SOURCE,
        version=_core.__version__,
        seed=seed,
        runs=runs,
        cells=(*cells, *(cell for group in variants.values() for row in group.values() for cell in row)),
        tables=(
            *(table for one in blocks for table in one.tables(found)),
            variant_table(
                "Block 3 without one mechanism at a time",
                variants["ablation"],
                ("S1", "S2", "S3", "R1", "R2", "R3", LOSS, f"{LOSS} above 0"),
                f"{graphs} graphs of {CYCLES} cycles; nothing but the factors on callbacks is fitted again.",
            ),
            variant_table(
                "Block 3 with other values of what nobody published",
                variants["sensitivity"],
                ("S1", "S2", GAIN, f"{GAIN} above 0", LOSS, f"{LOSS} above 0"),
                f"{graphs} graphs of {CYCLES} cycles. Published differences are in block 3. Main is the "
                "thread that suspends; item costs are those of queueing, dispatch and core, switch costs "
                "those of context switches and wakeups.",
            ),
        ),
        inputs=_all_inputs(phone, like, structure, hz),
        notes=notes(blocks, found, structure, variants),
        results={f"{one.plan.name}: {name}": r for one in blocks for name, r in one.results.items()},
        draw=draw,
        call=f"reproduce({NAME!r}, runs={runs}, seed={seed}{suffix})",
    )


def run_block(
    plan: Plan,
    world: Scenario,
    *,
    runs: int,
    seed: int,
    threads: int = 0,
    part: Callable[[int], Progress | None] = lambda _: None,
) -> Block:
    """Fit the factors on callbacks of each graph to P0, then run the other policies.

    Parameters
    ----------
    plan : Plan
        What the block is.
    world : Scenario
        The phone.
    runs, seed, threads : int
        As of :func:`reproduce`.
    part : callable
        Takes a number of replicates, gives the listener for the step that runs them.

    Examples
    --------
    >>> block = run_block(BY_PROTOCOL, scenario(BY_PROTOCOL, cycles=2), runs=2, seed=1)
    >>> list(block.results)
    ['P0', 'P1', 'P2', 'P3', 'P4']
    """
    fit = fit_scales(
        world,
        (PUBLISHED[P0, SUSPEND], PUBLISHED[P0, RESUME]),
        runs=runs,
        seed=seed,
        threads=threads,
        progress=part((ROUNDS + 1) * runs),
    )
    results = {P0: fit.found}
    for policy, text in POLICIES.items():
        if policy != P0:
            results[policy] = fit.world.run(text, runs=runs, seed=seed, threads=threads, progress=part(runs))
    return Block(plan, fit, results, PUBLISHED)


def _all_inputs(phone: Scenario, like: Scenario, structure: Structure, hz: int | None) -> list[Input]:
    share, overhead = structure.values
    found = [
        Input("async devices", "all", "cited", MAIL),
        Input(
            "cycles of a graph", "2 to warm up, then 10", "assumed", "the published means are of 100 cycles"
        ),
        *inputs(BY_PROTOCOL, phone),
        Input(
            "block 2: CPU share, overheads",
            f"{share:.3f}, times {overhead:.2f}",
            "fitted",
            f"suspend and resume of P1: {MAIL}",
        ),
        *inputs(EXISTENCE, like),
        Input("factors on callbacks", "per graph", "fitted", f"suspend and resume of P0: {MAIL}"),
    ]
    if hz is not None:
        found.append(Input("HZ", str(hz), "assumed", "chosen for this call"))
    return found


def draw(reproduction: Reproduction[Runs], figure: Figure) -> None:
    """Cells of the three blocks beside the published ones; below, the ablations of S1, R1 and S4-S2."""
    import numpy as np

    figure.set_size_inches(11.0, 9.0)
    top, bottom = figure.subplots(2, 3, height_ratios=(1.0, 1.4))
    policies = [policy for policy in POLICIES if (policy, SUSPEND) in PUBLISHED]
    places = np.arange(len(policies), dtype=float)
    for ax, plan in zip(top, (BY_PROTOCOL, TWO_MORE, EXISTENCE), strict=True):
        for side, color, shift in ((SUSPEND, "#1f6f8b", -0.2), (RESUME, "#c8702a", 0.2)):
            ours = [reproduction.cell(f"{plan.name}: {policy}", side) for policy in policies]
            spread = [0.0 if one.high is None else one.high - one.ours for one in ours]
            ax.bar(places + shift, [one.ours for one in ours], 0.36, yerr=spread, color=color, label=side)
            told = [PUBLISHED[policy, side] for policy in policies]
            label = "published" if side == RESUME else None
            ax.plot(places + shift, told, "k_", markersize=16.0, markeredgewidth=2.0, label=label)
        ax.set_xticks(places, policies)
        ax.set_title(f"{plan.name}: {'existence' if plan.binding else 'prediction'}", loc="left")
        ax.set_ylim(0.0, 150.0)
    top[0].set_ylabel("ms")
    top[2].legend(frameon=False, fontsize=8.0)
    names = [
        cell.row.removeprefix("ablation: ")
        for cell in reproduction.cells
        if cell.row.startswith("ablation: ") and cell.column == LOSS
    ]
    for number, (ax, column) in enumerate(zip(bottom, ("S1", "R1", LOSS), strict=True)):
        ours = [reproduction.cell(f"ablation: {name}", column) for name in names]
        ax.barh(range(len(names)), [cell.ours for cell in ours], color="#7a7a7a")
        ax.axvline(ours[0].ours, color="#222222", linewidth=0.8, linestyle=":")
        ax.set_yticks(range(len(names)), names if number == 0 else [])
        ax.invert_yaxis()
        ax.set_xlabel(f"{column} (ms)")
