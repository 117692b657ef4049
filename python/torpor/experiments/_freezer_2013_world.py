# SPDX-License-Identifier: MIT
"""What is run for ``freezer-2013``: published statements, bands, variants, the world and its sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy.typing as npt

from torpor.board import Board
from torpor.experiments.report import Input, Kind
from torpor.freezer import Runs, Scenario

NAME = "freezer-2013"
TITLE = "freezing all tasks of a Nexus 10 at 200 MHz before and with the patches of May 2013"
SOURCE = (
    "Colin Cross, linux-pm, 'optimize freezing tasks by reducing task wakeups', v1 of 29 April and v2 of "
    "1 May 2013"
)

BOARD = "nexus-10"
BOARD_HZ = 200
OPP_KHZ = 200_000
PERIOD_S = 3.0

BEFORE, PATCH_1, SKIP_ONLY, SERIES = "v3.9", "p1", "skip-only", "full"
VARIANTS: Mapping[str, str] = {
    BEFORE: "Linux 3.9: sleeps 10 ms between passes, wakes every task",
    PATCH_1: "patch 1: sleeps 1, 2, 4, 8, 8 ... ms",
    SKIP_ONLY: "patches 2 to 10: tasks in seven blocking sites are left asleep",
    SERIES: "the whole series, as in Linux 3.11",
}

FREEZE, SWITCH_INS, CALLS, LAST = "freeze", "task switch-ins", "interrupted calls", "last user task frozen"
OF_SERIES, OF_SKIPPING = "v3.9/full", "p1/full"

PUBLISHED: Mapping[tuple[str, str], float] = {
    (BEFORE, FREEZE): 50.0,
    (SERIES, FREEZE): 5.0,
    (BEFORE, SWITCH_INS): 1000.0,
    (SERIES, SWITCH_INS): 25.0,
    (BEFORE, CALLS): 1000.0,
    (SERIES, CALLS): 25.0,
    (OF_SERIES, FREEZE): 10.0,
    (OF_SKIPPING, FREEZE): 5.0,
    (PATCH_1, LAST): 10.0,
}
"""Statements of the mails. The times are for 200 MHz; "all tasks in under 10 ms" names no frequency."""

WORDS: Mapping[tuple[str, str], str] = {
    (BEFORE, FREEZE): "freezing takes 50 ms at 200 MHz",
    (SERIES, FREEZE): "and 5 ms with the series",
    (BEFORE, SWITCH_INS): "1000 context switches",
    (SERIES, SWITCH_INS): "and 25 with the series",
    (BEFORE, CALLS): "1000 restarted system calls",
    (SERIES, CALLS): "and 25 with the series",
    (OF_SERIES, FREEZE): "a factor of 10, of the series",
    (OF_SKIPPING, FREEZE): "a factor of 5, in a reply on skipping",
    (PATCH_1, LAST): "all tasks in under 10 ms",
}

KINDS: Mapping[tuple[str, str], Kind] = {
    (BEFORE, FREEZE): "fitted",
    (SERIES, FREEZE): "fitted",
    (BEFORE, SWITCH_INS): "fitted",
    (SERIES, SWITCH_INS): "fitted",
    (BEFORE, CALLS): "fitted",
    (SERIES, CALLS): "fitted",
    (OF_SERIES, FREEZE): "fitted",
    (OF_SKIPPING, FREEZE): "predicted",
    (PATCH_1, LAST): "predicted",
}
"""The factor of 10 is the ratio of two fitted times, and the calls follow from fitted numbers of tasks."""

TOLERANCE = 0.10
"""What counts as agreement: half a unit in the only digit of 50 and 5, taken for the other figures too."""

BANDS: Mapping[tuple[str, str], tuple[float, float]] = {
    place: (round(PUBLISHED[place] * (1.0 - TOLERANCE), 6), round(PUBLISHED[place] * (1.0 + TOLERANCE), 6))
    for place in (
        (BEFORE, FREEZE),
        (SERIES, FREEZE),
        (BEFORE, SWITCH_INS),
        (SERIES, SWITCH_INS),
        (OF_SERIES, FREEZE),
        (OF_SKIPPING, FREEZE),
    )
}
"""Accepted where the mails say what was measured and at which frequency: the published value by `TOLERANCE`.

The statements about restarted calls and about 10 ms do not: they are judged in the table, without a band.
"""

UNITS: Mapping[str, str] = {FREEZE: "ms", LAST: "ms", SWITCH_INS: "switches", CALLS: "calls"}


def unit(row: str, column: str) -> str:
    """Tell the unit of a statement; a row of two variants is their ratio."""
    return "times" if "/" in row else UNITS[column]


def agrees(row: str, column: str, published: float, ours: float) -> bool:
    """Whether ours is what the statement says: a limit for "under", else `TOLERANCE` around the value."""
    if column == LAST:
        return ours < published
    return abs(ours - published) <= TOLERANCE * published


def scenario(hz: int = BOARD_HZ) -> Scenario:
    """Make the tablet at 200 MHz, on a kernel of the given HZ.

    Tick phase and order of the task list are drawn per replicate.

    Examples
    --------
    >>> scenario().task_count
    1100
    """
    return Scenario(Board.load(BOARD).with_value("tick.hz", hz), opp_khz=OPP_KHZ)


def at_frequency(world: Scenario, khz: int) -> Scenario:
    """Run the same at another frequency, which the board need not have."""
    known = [opp.freq_khz for opp in world.board.clusters[0].opps]
    if khz in known:
        return replace(world, opp_khz=khz)
    above = next((i for i, other in enumerate(known) if other > khz), len(known) - 1)
    return replace(
        world, board=world.board.with_value(f"clusters[0].opps[{above}].freq_khz", khz), opp_khz=khz
    )


def last_frozen_ms(world: Scenario, *, runs: int, seed: int, threads: int = 0) -> npt.NDArray[Any]:
    """When the last user task has frozen, shape (runs,): what remains of a user loop that wastes no time."""
    return (
        replace(world, loops="user_only").run(PATCH_1, runs=runs, seed=seed, threads=threads).bound_ns / 1e6
    )


def statements(
    results: Mapping[str, Runs], last_ms: npt.NDArray[Any]
) -> dict[tuple[str, str], npt.NDArray[Any]]:
    """Our side of every statement, per replicate."""
    before, first, series = (results[name] for name in (BEFORE, PATCH_1, SERIES))
    return {
        (BEFORE, FREEZE): before.elapsed_ms,
        (SERIES, FREEZE): series.elapsed_ms,
        (BEFORE, SWITCH_INS): before.freeze_task_switch_ins,
        (SERIES, SWITCH_INS): series.freeze_task_switch_ins,
        (BEFORE, CALLS): before.interrupted,
        (SERIES, CALLS): series.interrupted,
        (OF_SERIES, FREEZE): before.elapsed_ms / series.elapsed_ms,
        (OF_SKIPPING, FREEZE): first.elapsed_ms / series.elapsed_ms,
        (PATCH_1, LAST): last_ms,
    }


def inputs(hz: int) -> list[Input]:
    """Everything that goes in, with its mark and source; the board's numbers bring theirs along."""
    board = scenario(hz).board
    section = board.freezer
    assert section is not None
    costs = section.costs

    def from_board(name: str, value: object, key: str) -> Input:
        provenance = board.provenance(key)
        return Input(name, str(value), provenance.kind, provenance.source)

    counts = {tasks.name: tasks.count for tasks in section.tasks}
    outside = ("other", "kfreezable", "knofreeze")
    sites = ", ".join(f"{name} {count}" for name, count in counts.items() if name not in outside)
    return [
        from_board("HZ", hz, "tick.hz")
        if hz == BOARD_HZ
        else Input("HZ", str(hz), "assumed", "chosen for this call"),
        Input("frequency", f"{OPP_KHZ // 1000} MHz", "cited", SOURCE),
        from_board("CPUs", board.cpu_count, "clusters[0].cpus"),
        from_board("tasks in sites that the series converts", sites, "freezer.tasks[futex].count"),
        Input(
            "number of these",
            str(sum(count for name, count in counts.items() if name not in outside)),
            "fitted",
            "the 1000 context switches before the series, less the 25 with it",
        ),
        *(
            from_board(name, counts[key], f"freezer.tasks[{key}].count")
            for name, key in (
                ("user tasks in other sites", "other"),
                ("freezable kernel threads", "kfreezable"),
                ("kernel threads that are not frozen", "knofreeze"),
            )
        ),
        *(
            from_board(name, f"{getattr(costs, key)} cycles", f"freezer.costs.{key}")
            for name, key in (
                ("visit of a task", "visit_cycles"),
                ("wakeup at a visit", "wake_cycles"),
                ("run of a woken task until it is frozen", "freeze_run_cycles"),
                ("wakeup at the thaw", "thaw_wake_cycles"),
                ("run of a thawed task until it sleeps", "thaw_run_cycles"),
                ("the same, where the call is not restarted", "resleep_cycles"),
                ("mark of a sleeper, from 6.1 on", "mark_cycles"),
            )
        ),
        from_board(
            "wake latency of an idle CPU", f"{section.wake_latency_us:g} us", "freezer.wake_latency_us"
        ),
        from_board("power of the awake board", f"{section.base_power_mw:g} mW", "freezer.base_power_mw"),
        from_board(
            "power of a busy CPU at 200 MHz",
            f"{board.clusters[0].opps[0].power_mw:g} mW above idle",
            "clusters[0].opps[0].power_mw",
        ),
        Input(
            "preemption",
            f"preempt={section.kernel.preempt}, walker_wake={section.kernel.walker_wake}",
            "assumed",
            "a preemptible kernel, as Android's are; not published",
        ),
        Input(
            "range sleeps end",
            section.kernel.range_mode,
            "assumed",
            "at their far end: no other timer interrupt on an idle CPU without tick",
        ),
        Input("tick phase, list order", "random per replicate", "assumed", "not published"),
    ]
