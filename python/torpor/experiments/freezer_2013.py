# SPDX-License-Identifier: MIT
"""``freezer-2013``: what Colin Cross's series of May 2013 says about freezing all tasks of a Nexus 10.

Source: linux-pm, "optimize freezing tasks by reducing task wakeups", v1 of 29 April, v2 of 1 May 2013. The
mails give no table, but statements: 50 ms become 5 ms at 200 MHz, 1000 context switches and restarted system
calls become 25, a "factor of 10", a "factor of 5", "all tasks in under 10 ms".

Four values of the board file are fitted to the two times and the counts of switches
(:mod:`torpor.experiments.freezer_calibration` finds them again); the factor of 10 follows from the times.
The factor of 5, the limit of 10 ms and the interrupted calls are predicted. `PUBLISHED` is read to print it
beside ours, and by the rows that fit a cost again under another reading of the mails.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy.typing as npt
from scipy import optimize

from torpor import _core
from torpor._core import ConfigError
from torpor.experiments._freezer_2013_notes import notes
from torpor.experiments._freezer_2013_readings import (
    POLICIES,
    assumption_table,
    assumptions,
    reading_cells,
    reading_table,
    readings,
)
from torpor.experiments._freezer_2013_world import (
    BANDS,
    BEFORE,
    BOARD_HZ,
    FREEZE,
    KINDS,
    LAST,
    NAME,
    OPP_KHZ,
    PATCH_1,
    PUBLISHED,
    SERIES,
    SOURCE,
    TITLE,
    TOLERANCE,
    VARIANTS,
    WORDS,
    agrees,
    at_frequency,
    inputs,
    last_frozen_ms,
    scenario,
    statements,
    unit,
)
from torpor.experiments._freezer_cells import cell_of, energy_cells
from torpor.experiments._share import Progress, Share
from torpor.experiments.report import Cell, Reproduction
from torpor.freezer import Runs, Scenario
from torpor.tables import Column, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["BANDS", "NAME", "PUBLISHED", "VARIANTS", "crossing_khz", "reproduce", "scenario"]

SHOWN_KHZ = (200_000, 300_000, 400_000, 500_000, 600_000, 800_000, 1_000_000, 1_700_000)
CROSSING = "lowest frequency below the limit"


def reproduce(
    *,
    runs: int = 100,
    seed: int = 1,
    threads: int = 0,
    hz: int | None = None,
    progress: Progress | None = None,
) -> Reproduction[Runs]:
    """Run the experiment; see :func:`torpor.reproduce`.

    Examples
    --------
    >>> round(reproduce(runs=2).cell("full", "freeze").ours, 1)
    5.3
    """
    chosen_hz = BOARD_HZ if hz is None else hz
    world = scenario(chosen_hz)
    frequencies = sorted(opp.freq_khz for opp in world.board.clusters[0].opps)
    mails = readings(PUBLISHED[BEFORE, FREEZE], seed=seed, threads=threads)
    assumed = assumptions(chosen_hz)
    other = [*mails, *assumed]
    plan = {
        **{(str(khz), policy): at_frequency(world, khz) for khz in frequencies for policy in VARIANTS},
        **{(row.name, policy): row.world for row in other for policy in POLICIES},
    }
    done = _run(plan, runs=runs, seed=seed, threads=threads, progress=progress)
    by_khz = {khz: {policy: done[str(khz), policy] for policy in VARIANTS} for khz in frequencies}
    results = by_khz[frequencies[0]]
    last_ms = {
        khz: last_frozen_ms(at_frequency(world, khz), runs=runs, seed=seed, threads=threads)
        for khz in frequencies
    }
    published = [
        cell_of(*place, unit(*place), samples, KINDS[place], PUBLISHED[place], BANDS.get(place))
        for place, samples in statements(results, last_ms[frequencies[0]]).items()
    ]
    limit_ms = PUBLISHED[PATCH_1, LAST]
    crossing = Cell(
        PATCH_1,
        CROSSING,
        "MHz",
        None,
        crossing_khz(limit_ms, hz=chosen_hz, seed=seed, threads=threads) / 1e3,
        None,
        None,
        "reference",
    )
    variants = {policy: _variant_cells(policy, result) for policy, result in results.items()}
    energies = {policy: energy_cells(policy, result) for policy, result in results.items()}
    sweep = {khz: _frequency_cells(khz, by_khz[khz], last_ms[khz]) for khz in frequencies}
    rows = {
        row.name: reading_cells(
            row,
            PUBLISHED,
            {policy: done[row.name, policy] for policy in POLICIES},
            seed=seed,
            threads=threads,
        )
        for row in other
    }
    suffix = "" if hz is None else f", hz={hz}"
    return Reproduction(
        experiment=NAME,
        title=f"{TITLE}; HZ {chosen_hz}",
        source=SOURCE,
        version=_core.__version__,
        seed=seed,
        runs=runs,
        cells=(
            *published,
            crossing,
            *(
                cell
                for group in (variants, energies, sweep, rows)
                for cells in group.values()
                for cell in cells
            ),
        ),
        tables=(
            _statement_table(published),
            _variant_table(variants),
            _energy_table(energies),
            _frequency_table(sweep, limit_ms),
            reading_table([rows[row.name] for row in mails]),
            assumption_table([rows[row.name] for row in assumed]),
        ),
        inputs=inputs(chosen_hz),
        notes=notes(results, published, sweep, crossing, rows),
        results={
            **results,
            **{
                f"{policy} at {khz // 1000} MHz": by_khz[khz][policy]
                for khz in frequencies[1:]
                for policy in VARIANTS
            },
        },
        draw=draw,
        call=f"reproduce({NAME!r}, runs={runs}, seed={seed}{suffix})",
    )


def _run(
    plan: Mapping[tuple[str, str], Scenario],
    *,
    runs: int,
    seed: int,
    threads: int,
    progress: Progress | None,
) -> dict[tuple[str, str], Runs]:
    total = runs * len(plan)
    return {
        key: world.run(
            key[1],
            runs=runs,
            seed=seed,
            threads=threads,
            progress=None if progress is None else Share(progress, number * runs, total),
        )
        for number, (key, world) in enumerate(plan.items())
    }


def crossing_khz(limit_ms: float, *, hz: int = BOARD_HZ, seed: int = 1, threads: int = 0) -> float:
    """Lowest frequency at which the last user task has frozen after so long, by root finding on the model.

    Parameters
    ----------
    limit_ms : float, milliseconds
        The limit.
    hz, seed, threads : int
        As for :func:`reproduce`.

    Returns
    -------
    float, kilohertz

    Raises
    ------
    ConfigError
        When the board's frequencies lie all above or all below it.

    Examples
    --------
    >>> 450_000 < crossing_khz(10.0) < 460_000
    True
    """
    world = scenario(hz)
    known = [opp.freq_khz for opp in world.board.clusters[0].opps]

    def above_ms(khz: float) -> float:
        found = last_frozen_ms(at_frequency(world, round(khz)), runs=10, seed=seed, threads=threads)
        return float(found.mean()) - limit_ms

    slowest, fastest = (above_ms(khz) + limit_ms for khz in (min(known), max(known)))
    if not fastest <= limit_ms <= slowest:
        raise ConfigError(f"limit_ms={limit_ms:g}: no frequency, limit: {fastest:.3f} to {slowest:.3f}")
    return float(optimize.brentq(above_ms, min(known), max(known), xtol=1.0))


def _variant_cells(policy: str, runs: Runs) -> list[Cell]:
    """Figures of one variant."""
    return [
        cell_of(policy, "user loop", "ms", runs.user_ms),
        cell_of(policy, "kernel loop", "ms", runs.kernel_ms),
        cell_of(policy, "both loops", "ms", runs.elapsed_ms),
        cell_of(policy, "switch-ins", "tasks", runs.freeze_task_switch_ins),
        cell_of(policy, "restarts", "calls", runs.restarts),
        cell_of(policy, "visible errors", "calls", runs.visible_errors),
        cell_of(policy, "CPU busy", "ms", runs.freeze_busy_ns / 1e6),
        cell_of(policy, "lower bound", "ms", runs.bound_ns / 1e6),
        cell_of(policy, "efficiency", "%", 100.0 * runs.efficiency),
        cell_of(policy, "thaw", "ms", runs.thaw_all_ns / 1e6),
        cell_of(policy, "thaw switch-ins", "tasks", runs.thaw_task_switch_ins),
    ]


def _frequency_cells(khz: int, results: Mapping[str, Runs], last_ms: npt.NDArray[Any]) -> list[Cell]:
    row = f"{khz // 1000} MHz"
    return [
        cell_of(row, LAST, "ms", last_ms),
        *(cell_of(row, f"{policy} freeze", "ms", runs.elapsed_ms) for policy, runs in results.items()),
    ]


def _statement_table(cells: Sequence[Cell]) -> Table:
    columns = [
        Column("the mails say", align="left"),
        Column("figure", align="left"),
        Column("unit", align="left"),
        Column("published"),
        Column("ours"),
        Column("error", "%", digits=1),
        Column("kind", align="left"),
        Column("band", align="left"),
        Column("verdict", align="left"),
    ]
    rows = []
    for cell in cells:
        place = cell.row, cell.column
        assert cell.published is not None
        rows.append(
            (
                WORDS[place],
                f"{cell.row}: {cell.column}",
                cell.unit,
                f"{'<' if cell.column == LAST else ''}{cell.published:g}",
                cell.estimate.text(2 if cell.unit in ("ms", "times") else 0),
                None if cell.column == LAST else cell.error_pct,
                cell.kind,
                "-" if cell.band is None else f"{cell.band[0]:g} to {cell.band[1]:g}",
                "agrees" if agrees(*place, cell.published, cell.ours) else "MISS",
            )
        )
    notes = [
        "Ours: mean over tick phases and list orders with half the width of its 95 % interval (Student's "
        "t). fitted: a value of the board file was chosen to meet it, so that it tests nothing; the factor "
        "of 10 is the ratio of two such, and the calls follow from the numbers of tasks, since the mails "
        "give one pair of numbers for switches and calls. predicted: used for no input.",
        f"Agreement: within {100 * TOLERANCE:g} %, half a unit in the only digit of 50 and 5; below the "
        "limit for 'under'. An acceptance band stands where the mails say what was measured and at which "
        "frequency. They do not say which calls count as restarted, nor at which frequency 10 ms hold: a "
        "miss there is printed, and does not decide the exit code.",
        "Reading of the factor of 5: the gain of skipping on top of patch 1, since it stands in a reply "
        "about the skipping patch. This reading is ours.",
    ]
    return Table("Statements of the mails, and ours at 200 MHz", columns, rows, notes)


def _mean_table(
    title: str, by_row: Mapping[str, Sequence[Cell]], digits: Sequence[int], notes: Sequence[str], head: str
) -> Table:
    first = next(iter(by_row.values()))
    columns = [Column(head, align="left"), *(Column(cell.column, cell.unit) for cell in first)]
    rows = [
        (row, *(cell.estimate.text(n) for cell, n in zip(cells, digits, strict=True)))
        for row, cells in by_row.items()
    ]
    return Table(title, columns, rows, notes)


def _variant_table(variants: Mapping[str, Sequence[Cell]]) -> Table:
    notes = [
        "Same worlds for all; no published values. "
        + "; ".join(f"{n}: {w}" for n, w in VARIANTS.items())
        + ".",
        "Switch-ins: times that a CPU began to run a task, walker and idle not counted. Restarts and "
        "visible errors: system calls that the freeze interrupts; the latter (epoll, sigtimedwait) return "
        "an error that the program sees. Lower bound: the same list walks with perfect notification in the "
        "place of sleeps. Thaw: until the last woken task sleeps again.",
    ]
    digits = (2, 2, 2, 0, 0, 0, 2, 2, 1, 2, 0)
    return _mean_table("The variants of the series", variants, digits, notes, "variant")


def _energy_table(energies: Mapping[str, Sequence[Cell]]) -> Table:
    notes = [
        "Busy CPUs above idle, and the rest of the awake board for as long as freeze and thaw last. Both "
        "powers are assumed, and the mails measure no energy: the ranks count, not the figures."
    ]
    return _mean_table("Energy of a cycle, freeze and thaw", energies, (1, 1, 1, 2), notes, "variant")


def _frequency_table(sweep: Mapping[int, Sequence[Cell]], limit_ms: float) -> Table:
    shown = {cells[0].row: cells for khz, cells in sweep.items() if khz in SHOWN_KHZ}
    first = next(iter(shown.values()))
    columns = [Column("frequency", align="left")]
    columns += [Column(cell.column, cell.unit) for cell in first]
    columns.append(Column(f"under {limit_ms:g} ms", align="left"))
    rows = []
    for row, cells in shown.items():
        verdict = "agrees" if agrees(PATCH_1, LAST, limit_ms, cells[0].ours) else "MISS"
        rows.append((row, *(cell.estimate.text(2) for cell in cells), verdict))
    notes = [
        "Costs are cycles and shrink with the frequency, sleeps do not. The last user task is that of p1: "
        "the statement stands in patch 1. Predicted; no published values but the limit."
    ]
    return Table("Freeze and frequency", columns, rows, notes)


def draw(reproduction: Reproduction[Runs], figure: Figure) -> None:
    """Freeze against frequency; below, one freeze and its thaw before and with the series."""
    from torpor.freezer.plots import plot_freeze, plot_frequency_sweep

    figure.set_size_inches(10.0, 10.5)
    top, middle, bottom = figure.subplots(3, 1, height_ratios=(1.5, 1.0, 1.0))
    lines = {
        policy: [runs for name, runs in reproduction.results.items() if name.split(" at ")[0] == policy]
        for policy in VARIANTS
    }
    plot_frequency_sweep(lines, ax=top)
    published_ms = [PUBLISHED[policy, FREEZE] for policy in (BEFORE, SERIES)]
    at_mhz = [OPP_KHZ / 1e3] * len(published_ms)
    top.plot(at_mhz, published_ms, "x", color="#222222", markersize=10.0, label="published", zorder=3)
    top.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    for ax, policy in ((middle, BEFORE), (bottom, SERIES)):
        timeline = reproduction.results[policy].timeline(0)
        plot_freeze(timeline, ax=ax)
        stretched = "" if policy == BEFORE else "; time is stretched"
        hz = timeline.scenario.board.tick_hz
        ax.set_title(f"{policy}, {OPP_KHZ // 1000} MHz, HZ {hz}{stretched}", loc="left")
