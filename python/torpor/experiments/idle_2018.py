# SPDX-License-Identifier: MIT
"""``idle-2018``: Leo Yan's table of idle residencies on a HiKey, without and with his two patches.

Source: linux-pm, August 2018, Message-ID 1533793647-5628-1 (linaro.org), the retested table. CPU0 sends CPU7
an IPI every 50 ms, whose handler starts a timer 4 ms ahead that re-arms itself ten times 1 ms ahead; no task
runs on CPU7, so its tick, once stopped, stays stopped. The table gives seconds in each idle state of a 10 s
trace.

Nothing is calibrated here: the board file, the governor's rules and the workload give the figures, and
`PUBLISHED` is only read to print it beside them. HZ alone is fitted, to the fact that CPU7 sticks in C1: no
other usual value can bring it about. How long it sticks, and everything else, is predicted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from torpor import _core
from torpor.experiments._idle_2018_notes import notes
from torpor.experiments._idle_2018_world import (
    BANDS,
    DIFFERENCE,
    DURATION_S,
    NAME,
    PATCHED,
    POLICIES,
    PUBLISHED,
    PUBLISHED_HZ,
    SOURCE,
    STATES,
    TARGET_CPU,
    TITLE,
    UNPATCHED,
    WITH,
    WITHOUT,
    Floats,
    inputs,
    phase_scan,
    scenario,
)
from torpor.experiments._share import Progress, Share
from torpor.experiments.report import Cell, Kind, Reproduction
from torpor.idle import Runs, Scenario
from torpor.stats import Estimate
from torpor.tables import Column, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["BANDS", "NAME", "POLICIES", "PUBLISHED", "reproduce", "scenario"]


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
    >>> round(reproduce(runs=2).cell("CPU7", "C1 without patches").ours, 1)
    7.9
    """
    chosen_hz = PUBLISHED_HZ if hz is None else hz
    results = _run(scenario(chosen_hz), runs=runs, seed=seed, threads=threads, progress=progress)
    residency = _residency_cells(results[UNPATCHED], results[PATCHED])
    variants = {policy: _variant_cells(policy, result) for policy, result in results.items()}
    phases = phase_scan(chosen_hz)
    suffix = "" if hz is None else f", hz={hz}"
    return Reproduction(
        experiment=NAME,
        title=f"{TITLE}; HZ {chosen_hz}",
        source=SOURCE,
        version=_core.__version__,
        seed=seed,
        runs=runs,
        cells=(*residency, *(cell for cells in variants.values() for cell in cells)),
        tables=(
            *(_residency_table(group, residency) for group in (WITHOUT, WITH, DIFFERENCE)),
            _band_table(residency),
            _variant_table(variants),
        ),
        inputs=inputs(chosen_hz),
        notes=notes(results, residency, phases),
        results={WITHOUT: results[UNPATCHED], WITH: results[PATCHED], **results},
        draw=draw,
        call=f"reproduce({NAME!r}, runs={runs}, seed={seed}{suffix})",
    )


def _run(
    world: Scenario, *, runs: int, seed: int, threads: int, progress: Progress | None
) -> dict[str, Runs]:
    total = runs * len(POLICIES)
    results = {}
    for number, policy in enumerate(POLICIES):
        report = None if progress is None else Share(progress, number * runs, total)
        results[policy] = world.run(policy, runs=runs, seed=seed, threads=threads, progress=report)
    return results


def _rows(runs: Runs) -> dict[str, Floats]:
    """Seconds in each state, shape (runs, states), by row of the table."""
    seconds: Floats = runs.residency_ns / 1e9
    cpus = seconds.shape[1]
    others = [cpu for cpu in range(cpus) if cpu != TARGET_CPU]
    rows: dict[str, Floats] = {f"CPU{cpu}": seconds[:, cpu] for cpu in range(cpus)}
    return rows | {"CPU0-6": seconds[:, others].sum(axis=1), "All": seconds.sum(axis=1)}


def _published(row: str, group: str, state: int) -> float | None:
    """Look up published seconds; CPU0-6 and differences are worked out from published cells."""
    if row == "CPU0-6":
        whole, target = _published("All", group, state), _published(f"CPU{TARGET_CPU}", group, state)
        return None if whole is None or target is None else round(whole - target, 3)
    if group == DIFFERENCE:
        with_patches, without = _published(row, WITH, state), _published(row, WITHOUT, state)
        return None if with_patches is None or without is None else round(with_patches - without, 3)
    found = PUBLISHED.get((row, group))
    return None if found is None else found[state]


def _residency_cells(unpatched: Runs, patched: Runs) -> list[Cell]:
    without, with_patches = _rows(unpatched), _rows(patched)
    cells = []
    for row in without:
        groups = {
            WITHOUT: without[row],
            WITH: with_patches[row],
            DIFFERENCE: with_patches[row] - without[row],
        }
        for group, samples in groups.items():
            for state, name in enumerate(STATES):
                published = _published(row, group, state)
                band = BANDS.get((group, name)) if row == f"CPU{TARGET_CPU}" else None
                kind = _kind(row, group, name, published)
                cells.append(_cell(row, f"{name} {group}", "s", samples[:, state], kind, published, band))
    return cells


def _kind(row: str, group: str, state: str, published: float | None) -> Kind:
    """HZ was chosen so that CPU7 sticks in C1 without patches: no cell that holds this time is predicted."""
    if published is None:
        return "reference"
    holds = row in (f"CPU{TARGET_CPU}", "All") and group in (WITHOUT, DIFFERENCE) and state in ("C1", "C2")
    return "fitted" if holds else "predicted"


def _cell(
    row: str,
    column: str,
    unit: str,
    samples: npt.NDArray[Any],
    kind: Kind = "reference",
    published: float | None = None,
    band: tuple[float, float] | None = None,
) -> Cell:
    ours = Estimate.of(samples)
    return Cell(row, column, unit, published, ours.mean, ours.low, ours.high, kind, band)


def _variant_cells(policy: str, runs: Runs) -> list[Cell]:
    """Figures of CPU7 under one policy, the energy of the board and the time for which its cluster is off."""
    cpu = TARGET_CPU
    cluster = next(i for i, one in enumerate(runs.scenario.board.clusters) if cpu in one.cpus)
    residency_s = runs.residency_ns[:, cpu] / 1e9
    return [
        *(_cell(policy, f"CPU{cpu} {name}", "s", residency_s[:, i]) for i, name in enumerate(STATES)),
        _cell(policy, f"CPU{cpu} above", "entries", runs.above[:, cpu].sum(axis=1)),
        _cell(policy, f"CPU{cpu} below", "entries", runs.below[:, cpu].sum(axis=1)),
        _cell(policy, "board energy", "mJ", runs.energy_mj),
        _cell(policy, f"CPU{cpu} cluster off", "%", runs.cluster_off_ns[:, cluster] / (DURATION_S * 1e7)),
        _cell(policy, f"CPU{cpu} wake latency p99", "us", runs.cpu_wake_latency_p99_ns[:, cpu] / 1e3),
    ]


def _residency_table(group: str, cells: list[Cell]) -> Table:
    columns = [Column("CPU", align="left")]
    for name in STATES:
        columns += [
            Column(f"{name} published", "s", digits=3),
            Column(f"{name} ours", "s"),
            Column(f"{name} error", "%", digits=1),
        ]
    columns.append(Column("kind", align="left"))
    by_row: dict[str, list[Cell]] = {}
    for cell in cells:
        if cell.column.endswith(f" {group}"):
            by_row.setdefault(cell.row, []).append(cell)
    rows = [
        (
            row,
            *(v for cell in found for v in (cell.published, cell.estimate.text(3), cell.error_pct)),
            "/".join(dict.fromkeys(cell.kind for cell in found)),
        )
        for row, found in by_row.items()
    ]
    notes = [
        "Ours: mean over the replicates with half the width of its 95 % interval (Student's t). predicted: "
        "the published value was not used for any input; fitted: C1 and C2, since HZ was chosen so that CPU7 "
        "sticks in C1 at all; reference: no value is published, or it is not at hand."
    ]
    if group == WITHOUT:
        notes.append(
            "CPU0-6, published: the row of all CPUs less that of CPU7, a difference of published cells."
        )
    if group == DIFFERENCE:
        notes.append("Published: difference of the two published columns. Ours: of paired replicates.")
    policies = {WITHOUT: UNPATCHED, WITH: PATCHED, DIFFERENCE: "with less without"}
    return Table(f"Seconds of {DURATION_S:g} s, {group}: {policies[group]}", columns, rows, notes)


def _band_table(cells: list[Cell]) -> Table:
    columns = [
        Column("CPU", align="left"),
        Column("figure", align="left"),
        Column("at least", "s", digits=1),
        Column("at most", "s", digits=1),
        Column("published", "s", digits=3),
        Column("ours", "s"),
        Column("verdict", align="left"),
    ]
    rows = [
        (
            cell.row,
            cell.column,
            *cell.band,
            cell.published,
            cell.estimate.text(3),
            "pass" if cell.ok else "MISS",
        )
        for cell in cells
        if cell.band is not None
    ]
    return Table("Acceptance bands", columns, rows)


def _variant_table(variants: Mapping[str, list[Cell]]) -> Table:
    digits = (3, 3, 3, 1, 1, 1, 1, 1)
    first = next(iter(variants.values()))
    columns = [Column("policy", align="left"), *(Column(cell.column, cell.unit) for cell in first)]
    rows = [
        (policy, *(cell.estimate.text(n) for cell, n in zip(cells, digits, strict=True)))
        for policy, cells in variants.items()
    ]
    notes = [
        "No published value. Same worlds for all. above and below: entries left too early for the state, and "
        "those for which a deeper one would have fitted. Cluster off: share of the time for which all CPUs "
        "of CPU7's cluster were in C2. Wake latency: takes the values of the states, so that its interval "
        "may be zero.",
        "P1 and P2 are two readings of a prerequisite patch whose text is lost; loop=leo is the patch of the "
        "mail; rjw-reply and leo-reply are Rafael Wysocki's reply and Leo Yan's answer to it. oracle is a "
        "bound, not a governor: it knows the next wakeup, and its clusters go down whenever that pays.",
    ]
    return Table("Other governors on the same worlds", columns, rows, notes)


def draw(reproduction: Reproduction[Runs], figure: Figure) -> None:
    """Residencies of all CPUs without and with patches; below, 120 ms of CPU7 without and with."""
    from torpor.plot import plot_residency, plot_timeline

    figure.set_size_inches(10.0, 10.5)
    top, middle, bottom = figure.subplots(3, 1, height_ratios=(1.25, 1.0, 1.0))
    shown = {name: reproduction.results[name] for name in (WITHOUT, WITH)}
    plot_residency(shown, ax=top, state_names=STATES)
    for ax, (name, runs) in zip((middle, bottom), shown.items(), strict=True):
        plot_timeline(
            runs.timeline(0), TARGET_CPU, start_ms=1000.0, length_ms=120.0, ax=ax, state_names=STATES
        )
        ax.set_title(f"CPU{TARGET_CPU} {name}, {runs.policy}, HZ {runs.scenario.board.tick_hz}", loc="left")
