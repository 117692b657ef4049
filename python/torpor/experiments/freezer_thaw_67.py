# SPDX-License-Identifier: MIT
"""``freezer-thaw-6.7``: what became of the series of 2013, up to the thaw that Linux 6.7 mended.

Source: change description of the freezer change merged for Linux 6.7. Since the rewrite of 6.1, tasks that
were frozen where they slept are woken by the thaw as well: on an Android device nearly four times as many
tasks, and a thaw of about 50 ms in the place of 15. From 6.7 their saved state is put back instead.

The tasks are those of ``freezer-2013``, on the same board at 200 MHz; nothing is fitted to the change
description. Its times are of another device: only ratios are compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from torpor import _core
from torpor.experiments._freezer_2013_world import (
    BEFORE,
    BOARD_HZ,
    OPP_KHZ,
    SERIES,
    TOLERANCE,
    agrees,
    inputs,
    scenario,
)
from torpor.experiments._freezer_cells import cell_of, energy_cells
from torpor.experiments._share import Progress, Share
from torpor.experiments.report import Cell, Reproduction
from torpor.freezer import Runs
from torpor.tables import Column, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["BANDS", "NAME", "PUBLISHED", "VARIANTS", "reproduce"]

NAME = "freezer-thaw-6.7"
TITLE = "freeze and thaw of one population from Linux 3.9 to 6.7"
SOURCE = (
    "change description of the freezer change in Linux 6.7, which puts back the state of tasks frozen where "
    "they sleep"
)

MARKING, RESTORING = "v6.1", "v6.7"
VARIANTS: Mapping[str, str] = {
    BEFORE: "up to 3.9: every task is woken to freeze",
    SERIES: "3.11: tasks in seven blocking sites are left asleep",
    "v3.12": "3.12 to 6.0: epoll and select are woken again",
    MARKING: "6.1 to 6.6: sleepers are marked frozen where they sleep, and all are woken by the thaw",
    RESTORING: "6.7 and later: marked sleepers get their state back and sleep on",
}

RATIO = f"{MARKING}/{RESTORING}"
TASKS, THAW_ALL, THAW_WALKER = "tasks woken by the thaw", "thaw", "thaw, walker"

PUBLISHED: Mapping[tuple[str, str], float] = {
    (RATIO, TASKS): 4.0,
    (MARKING, THAW_ALL): 50.0,
    (RESTORING, THAW_ALL): 15.0,
}
"""Of the change description: "nearly 4x" as many tasks, about 50 and about 15 ms on another device."""

BANDS: Mapping[tuple[str, str], tuple[float, float]] = {
    (RATIO, TASKS): (
        PUBLISHED[RATIO, TASKS] * (1.0 - TOLERANCE),
        PUBLISHED[RATIO, TASKS] * (1.0 + TOLERANCE),
    ),
}
"""Accepted: the round factor by the tolerance of freezer-2013.

The ratio of the two times has no band: it is of another device, whose costs and tasks are not known. It is
judged in the table by the same tolerance.
"""


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
    >>> round(reproduce(runs=2).cell("v6.1/v6.7", "tasks woken by the thaw").ours, 1)
    4.1
    """
    chosen_hz = BOARD_HZ if hz is None else hz
    world = scenario(chosen_hz)
    total = runs * len(VARIANTS)
    results = {
        policy: world.run(
            policy,
            runs=runs,
            seed=seed,
            threads=threads,
            progress=None if progress is None else Share(progress, number * runs, total),
        )
        for number, policy in enumerate(VARIANTS)
    }
    ratios = _ratio_cells(results[MARKING], results[RESTORING])
    times = {policy: _time_cells(policy, result) for policy, result in results.items()}
    energies = {policy: energy_cells(policy, result) for policy, result in results.items()}
    suffix = "" if hz is None else f", hz={hz}"
    return Reproduction(
        experiment=NAME,
        title=f"{TITLE}; {OPP_KHZ // 1000} MHz, HZ {chosen_hz}",
        source=SOURCE,
        version=_core.__version__,
        seed=seed,
        runs=runs,
        cells=(*ratios, *(cell for group in (times, energies) for cells in group.values() for cell in cells)),
        tables=(_ratio_table(ratios), _time_table(times), _energy_table(energies)),
        inputs=inputs(chosen_hz),
        notes=_notes(results, ratios),
        results=results,
        draw=draw,
        call=f"reproduce({NAME!r}, runs={runs}, seed={seed}{suffix})",
    )


def _ratio_cells(marking: Runs, restoring: Runs) -> list[Cell]:
    published_ms = (PUBLISHED[MARKING, THAW_ALL], PUBLISHED[RESTORING, THAW_ALL])
    compared = {
        TASKS: (marking.thaw_wakeups / restoring.thaw_wakeups, PUBLISHED[RATIO, TASKS]),
        THAW_ALL: (marking.thaw_all_ns / restoring.thaw_all_ns, published_ms[0] / published_ms[1]),
    }
    return [
        *(
            cell_of(RATIO, column, "times", ours, "predicted", published, BANDS.get((RATIO, column)))
            for column, (ours, published) in compared.items()
        ),
        cell_of(RATIO, THAW_WALKER, "times", marking.thaw_walker_ns / restoring.thaw_walker_ns),
        cell_of(RATIO, "energy of a cycle", "times", marking.cycle_energy_mj / restoring.cycle_energy_mj),
    ]


def _time_cells(policy: str, runs: Runs) -> list[Cell]:
    return [
        cell_of(policy, "freeze", "ms", runs.elapsed_ms),
        cell_of(policy, "freeze switch-ins", "tasks", runs.freeze_task_switch_ins),
        cell_of(policy, "restarts", "calls", runs.restarts),
        cell_of(policy, "visible errors", "calls", runs.visible_errors + runs.thaw_visible_errors),
        cell_of(policy, TASKS, "tasks", runs.thaw_wakeups),
        cell_of(policy, "thaw switch-ins", "tasks", runs.thaw_task_switch_ins),
        cell_of(policy, THAW_WALKER, "ms", runs.thaw_walker_ns / 1e6),
        cell_of(policy, THAW_ALL, "ms", runs.thaw_all_ns / 1e6),
    ]


def _verdict(cell: Cell) -> str:
    if cell.published is None:
        return "-"
    return "agrees" if agrees(cell.row, cell.column, cell.published, cell.ours) else "MISS"


def _ratio_table(cells: Sequence[Cell]) -> Table:
    columns = [
        Column("ratio", align="left"),
        Column("figure", align="left"),
        Column("published", digits=2),
        Column("ours"),
        Column("error", "%", digits=1),
        Column("kind", align="left"),
        Column("band", align="left"),
        Column("verdict", align="left"),
    ]
    rows = [
        (
            cell.row,
            cell.column,
            cell.published,
            cell.estimate.text(2),
            cell.error_pct,
            cell.kind,
            "-" if cell.band is None else f"{cell.band[0]:g} to {cell.band[1]:g}",
            _verdict(cell),
        )
        for cell in cells
    ]
    notes = [
        f"Published: 'nearly 4x' and the ratio of {PUBLISHED[MARKING, THAW_ALL]:g} to "
        f"{PUBLISHED[RESTORING, THAW_ALL]:g} ms. Agreement: within {100 * TOLERANCE:g} %. The first follows "
        "from the assumed split of sites. The times are of another device, whose tasks and costs are not "
        "known: their ratio is judged, but has no acceptance band. Thaw: until the last woken task sleeps "
        "again; walker: until the walker reports. The description does not say which it timed.",
    ]
    return Table("What the wakeups of the thaw cost, 6.1 against 6.7", columns, rows, notes)


def _time_table(times: Mapping[str, Sequence[Cell]]) -> Table:
    first = next(iter(times.values()))
    columns = [
        Column("kernel", align="left"),
        *(Column(cell.column, cell.unit) for cell in first),
        Column("published thaw, other device", "ms", digits=0),
    ]
    rows = [
        (
            policy,
            *(cell.estimate.text(2 if cell.unit == "ms" else 0) for cell in cells),
            PUBLISHED.get((policy, THAW_ALL)),
        )
        for policy, cells in times.items()
    ]
    notes = [
        "; ".join(f"{policy}: {what}" for policy, what in VARIANTS.items()) + ".",
        "Visible errors: calls that return an error to the program, those of the thaw included. The "
        "published times are of a phone with tasks of its own, which are not known: no figure of ours "
        "stands for them.",
    ]
    return Table("Freeze and thaw, same worlds for all", columns, rows, notes)


def _energy_table(energies: Mapping[str, Sequence[Cell]]) -> Table:
    first = next(iter(energies.values()))
    columns = [Column("kernel", align="left"), *(Column(cell.column, cell.unit) for cell in first)]
    digits = (1, 1, 1, 2)
    rows = [
        (policy, *(cell.estimate.text(n) for cell, n in zip(cells, digits, strict=True)))
        for policy, cells in energies.items()
    ]
    notes = ["Powers are assumed; no energy was published but that it rose with the thaw."]
    return Table("Energy of a cycle, freeze and thaw", columns, rows, notes)


def _notes(results: Mapping[str, Runs], ratios: Sequence[Cell]) -> list[str]:
    missed = [cell for cell in ratios if cell.ok is False]
    freeze_ms = {policy: float(runs.elapsed_ms.mean()) for policy, runs in results.items()}
    switch_ins = {policy: float(runs.freeze_task_switch_ins.mean()) for policy, runs in results.items()}
    woken = {policy: float(runs.thaw_wakeups.mean()) for policy, runs in results.items()}
    energy_mj = {policy: float(runs.cycle_energy_mj.mean()) for policy, runs in results.items()}
    errors = float(results[MARKING].thaw_visible_errors.mean())
    places = "; ".join(
        f"{c.column} {c.ours:.2f}, not in {c.band[0]:g} to {c.band[1]:g}" for c in missed if c.band
    )
    return [
        f"Acceptance bands missed: {places}." if missed else "All acceptance bands are kept.",
        f"The series froze in {freeze_ms[SERIES]:.1f} ms what had taken {freeze_ms[BEFORE]:.1f} ms. From "
        f"3.12 on, epoll and select are woken again: {switch_ins['v3.12']:.0f} tasks in the place of "
        f"{switch_ins[SERIES]:.0f}, and {freeze_ms['v3.12']:.1f} ms; with the marks of 6.1 "
        f"{freeze_ms[MARKING]:.1f} ms.",
        f"The thaw of 6.1 wakes {woken[MARKING]:.0f} tasks, that of 6.7 {woken[RESTORING]:.0f}. The factor "
        "depends on the assumed split of sites.",
        f"In 6.1 to 6.6 the wakeup at the thaw ends {errors:.0f} more calls (sigtimedwait) with an error "
        "that the program sees.",
        f"A cycle takes {energy_mj[BEFORE]:.1f} mJ in 3.9, {energy_mj[SERIES]:.1f} in 3.11, "
        f"{energy_mj[MARKING]:.1f} in 6.1 and {energy_mj[RESTORING]:.1f} in 6.7.",
        "All kernels run with the costs fitted to the mails of 2013. Newer kernels visit, mark and wake at "
        "other costs: the ratios compare policies, not releases.",
    ]


def draw(reproduction: Reproduction[Runs], figure: Figure) -> None:
    """Freeze, thaw and energy of each kernel; below, one freeze and thaw of 6.1 and of 6.7."""
    from torpor.freezer.plots import plot_freeze

    figure.set_size_inches(10.0, 10.0)
    grid = figure.add_gridspec(3, 2)
    _bars(figure.add_subplot(grid[0, 0]), reproduction, ("freeze", THAW_ALL), "ms")
    _bars(figure.add_subplot(grid[0, 1]), reproduction, ("energy of the freeze", "energy of the thaw"), "mJ")
    timelines = {name: reproduction.results[name].timeline(0) for name in (MARKING, RESTORING)}
    end_us = max(float(one.to_frame()["time_ns"].max()) for one in timelines.values()) / 1e3
    for row, (name, timeline) in enumerate(timelines.items(), start=1):
        ax = figure.add_subplot(grid[row, :])
        plot_freeze(timeline, end_us=end_us, ax=ax)
        ax.set_title(f"{name}, {OPP_KHZ // 1000} MHz", loc="left")


def _bars(ax: Axes, reproduction: Reproduction[Runs], columns: Sequence[str], unit: str) -> None:
    """Stack two figures of every kernel: dark with nothing, light with a hatch."""
    names = list(VARIANTS)
    below = [0.0] * len(names)
    fills: tuple[dict[str, Any], ...] = (
        {"facecolor": "#1b3a5c"},
        {"facecolor": "#f0b54a", "hatch": "///", "edgecolor": "#222222"},
    )
    for column, fill in zip(columns, fills, strict=True):
        heights = [reproduction.cell(name, column).ours for name in names]
        ax.bar(names, heights, 0.7, below, label=column, linewidth=0.5, **fill)
        below = [a + b for a, b in zip(below, heights, strict=True)]
    ax.set_ylabel(unit)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
