# SPDX-License-Identifier: MIT
"""What the figures of ``suspend-2024`` say, worked out from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torpor.dpm import PHASES, Runs
from torpor.experiments._suspend_2024_blocks import DIFFERENCE, SHARE, Block
from torpor.experiments._suspend_2024_variants import BASE, GAIN, LOSS
from torpor.experiments._suspend_2024_world import (
    DIFFERENCES,
    GRAPHS_IN_ORDER,
    P1,
    P2,
    P4,
    P4_DIFFERENCE,
    SIDES,
)
from torpor.experiments._suspend_fit import Structure
from torpor.experiments.report import Cell

__all__ = ["notes"]

_LETTERS = {side: letter for letter, side in SIDES.items()}


def notes(
    blocks: Sequence[Block],
    cells: Mapping[tuple[str, str], Cell],
    structure: Structure,
    variants: Mapping[str, Mapping[str, Sequence[Cell]]],
) -> list[str]:
    """Sentences below the tables.

    Parameters
    ----------
    blocks : sequence of Block
        The three.
    cells : mapping
        Every cell of the blocks, by row and column.
    structure : Structure
        Fit of block 2.
    variants : mapping of str to mapping
        Cells of ablations and sensitivities, by name.
    """
    first, second, third = blocks
    share, overhead = structure.values
    return [
        _bands(third, cells),
        "Fitted values. Block 1: two factors on callbacks, per graph, to the 2 cells of P0. Block 2: two "
        f"more to the 2 cells of P1, a CPU share of {share:.3f} and {overhead:.2f} times all overheads, "
        f"found in {structure.evaluations} evaluations with residuals of {structure.error_ms[0]:+.1f} and "
        f"{structure.error_ms[1]:+.1f} ms. Block 3: six of the board (CPU share and lock share, each way; "
        "one group of switch costs, one of item costs) and the two factors, for 8 cells and a sign; its "
        "structure was chosen with all of them in view, so that it holds shows that the mechanisms can, not "
        "that they did.",
        _orderings(first, cells),
        _orderings(second, cells),
        _scatter(third),
        _by_phase(third, P1, P2, "P1 over P2 in suspend", (1, 2, 3)),
        _by_phase(third, P1, P2, "P1 over P2 in resume", (4, 5, 6)),
        _by_phase(third, P4, P2, "P4 over P2 in suspend", (1, 2, 3)),
        _unexplained(third, cells, variants["sensitivity"]),
        _sign("Unpublished values", variants["sensitivity"]),
        _sign("Missing mechanisms", variants["ablation"]),
    ]


def _bands(block: Block, cells: Mapping[tuple[str, str], Cell]) -> str:
    own = [cell for (row, _), cell in cells.items() if row.startswith(f"{block.plan.name}:")]
    missed = [
        f"{cell.row.split(': ')[1]} {cell.column} {cell.ours:.2f}, not in {cell.band[0]:g} to "
        f"{cell.band[1]:g}"
        for cell in own
        if cell.ok is False and cell.band is not None
    ]
    verdict = "missed by " + "; ".join(missed) if missed else "all kept"
    return f"Bands of block 3, which decide the verdict: {verdict}."


def _orderings(block: Block, cells: Mapping[tuple[str, str], Cell]) -> str:
    kept: list[str] = []
    lost: list[str] = []
    for difference in DIFFERENCES:
        if difference.strict:
            share = cells[block.row(difference.name), SHARE]
            (kept if share.ok else lost).append(f"{difference.name} {100 * share.ours:.0f} %")
    loss = cells[block.row(P4_DIFFERENCE.name), DIFFERENCE].ours
    times = [
        cell
        for (row, column), cell in cells.items()
        if row.startswith(f"{block.plan.name}:") and column in _LETTERS and cell.kind == "predicted"
    ]
    missed = [
        f"{_LETTERS[cell.column]}{cell.row[-1]} {cell.ours:.0f} for {cell.published:.0f} ms"
        for cell in times
        if cell.ok is False
    ]
    return (
        f"{block.plan.name.capitalize()}: orderings above zero in {100 * GRAPHS_IN_ORDER:.0f} % of the "
        f"graphs: {', '.join(kept) or 'none'}; lost: {', '.join(lost) or 'none'}; {P4_DIFFERENCE.name} is "
        f"{loss:+.1f} ms, {'the published sign' if loss > 0 else 'the WRONG sign'}. Predicted cells missed: "
        f"{', '.join(missed) or 'none'} ({len(missed)} of {len(times)})."
    )


def _scatter(block: Block) -> str:
    totals = block.results[P2].suspend_ms.mean(axis=1)
    apart = block.of(DIFFERENCES[1])
    if len(totals) < 2:
        return "One graph tells nothing of the scatter between graphs."
    return (
        f"Graphs scatter by {totals.std(ddof=1):.1f} ms in S2 and by {apart.std(ddof=1):.1f} ms in S1-S2 "
        "(standard deviations): differences are told apart by far fewer graphs than cells."
    )


def _by_phase(block: Block, slow: str, fast: str, what: str, places: tuple[int, ...]) -> str:
    def means(runs: Runs) -> list[float]:
        return [float(runs.phase_ms[:, :, place].mean()) for place in places]

    apart = [a - b for a, b in zip(means(block.results[slow]), means(block.results[fast]), strict=True)]
    parts = ", ".join(f"{PHASES[p].replace('_', ' ')} {ms:+.1f}" for p, ms in zip(places, apart, strict=True))
    return f"Block 3, {what}: {sum(apart):+.1f} ms, of which {parts}."


def _unexplained(
    block: Block, cells: Mapping[tuple[str, str], Cell], rows: Mapping[str, Sequence[Cell]]
) -> str:
    gain = cells[block.row(GAIN), DIFFERENCE]
    found = {name: _cell(row, GAIN).ours for name, row in rows.items()}
    most = max(found, key=lambda name: found[name])
    s1 = _cell(rows[most], "S1").ours
    return (
        f"Unexplained: S1-S2 is {gain.ours:.1f} ms and was {gain.published:.0f}. The largest of the "
        f"sensitivity rows is {found[most]:.1f} ms ({most}), with an S1 of {s1:.0f} ms; nothing published "
        "says which of their values the phone had."
    )


def _sign(what: str, rows: Mapping[str, Sequence[Cell]]) -> str:
    base = _cell(rows[BASE], LOSS)
    found = {
        name: _cell(row, LOSS)
        for name, row in rows.items()
        if name != BASE and any(cell.column == LOSS for cell in row)
    }
    turned = [
        f"{name} ({c.ours:+.1f})" for name, c in found.items() if (c.ours if c.high is None else c.high) < 0
    ]
    open_ones = [name for name, c in found.items() if c.low is not None and c.low <= 0 <= (c.high or 0.0)]
    return (
        f"{what} that turn the sign of P4, with S4-S2 below 0 by its whole interval ({base.estimate.text(1)} "
        f"ms without a change, on the graphs of these rows): {', '.join(turned) or 'none'}. Not told from 0: "
        f"{', '.join(open_ones) or 'none'}. Of {len(found)} rows."
    )


def _cell(row: Sequence[Cell], column: str) -> Cell:
    return next(cell for cell in row if cell.column == column)
