# SPDX-License-Identifier: MIT
"""What the figures of ``idle-2018`` say, worked out from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from torpor.board import Board
from torpor.experiments._idle_2018_world import (
    DURATION_S,
    LOOP_ONLY,
    PATCHED,
    PUBLISHED_HZ,
    TARGET_CPU,
    UNPATCHED,
    WITH,
    WITHOUT,
    Floats,
)
from torpor.experiments.report import Cell
from torpor.idle import Runs

__all__ = ["notes"]

TARGET = f"CPU{TARGET_CPU}"


def notes(results: Mapping[str, Runs], cells: Sequence[Cell], phases: tuple[Floats, Floats]) -> list[str]:
    """Sentences below the tables.

    Parameters
    ----------
    results : mapping of str to Runs
        By policy.
    cells : sequence of Cell
        Those of the published table.
    phases : tuple of array
        What `phase_scan` found.
    """
    found = {(cell.row, cell.column): cell for cell in cells}
    without, patched = (
        tuple(found[TARGET, f"{state} {group}"].ours for state in ("C1", "C2")) for group in (WITHOUT, WITH)
    )
    energy_mj = [results[policy].energy_mj.mean() for policy in (UNPATCHED, PATCHED)]
    return [
        _effect(results[UNPATCHED].scenario.board, without, patched),
        _verdict([cell for cell in cells if cell.ok is False]),
        "C0 is the shallowest idle state, WFI, and not running time.",
        _loop_alone(results),
        _phase_dependence(*phases),
        f"Energy was not measured in the mail. In the model the board takes {energy_mj[0]:.0f} mJ without "
        f"and {energy_mj[1]:.0f} mJ with patches in {DURATION_S:g} s: a CPU that is not in C2 keeps its "
        "whole cluster up.",
        _background(found["CPU0-6", f"C0 {WITHOUT}"], found["CPU0-6", f"C1 {WITHOUT}"]),
        "Residencies are those of the requested states, from entry to the end of the wake-up, as trace "
        f"events give them. Idle periods in flight end with the trace after {DURATION_S:g} s.",
    ]


def _effect(board: Board, without: tuple[float, ...], patched: tuple[float, ...]) -> str:
    """Whether the CPU sticks, by our figures, and what the board's numbers say about it.

    `without` and `patched` are seconds in C1 and C2.
    """
    tick_us = 1e6 / board.tick_hz
    states = board.clusters[-1].idle_states
    shallow_us, deep_us = (states[i].target_residency_ns / 1e3 for i in (1, 2))
    sticks = without[0] > 2.0 * patched[0] and without[0] > without[1]
    if shallow_us <= tick_us < deep_us:
        reach = (
            f"fits C1 (target residency {shallow_us:g} us) but not C2 ({deep_us:g} us), and nothing ends "
            "the mistake"
        )
    elif tick_us >= deep_us:
        reach = f"fits C2 (target residency {deep_us:g} us), so that the mistake of the mail cannot happen"
    else:
        reach = f"fits neither C1 (target residency {shallow_us:g} us) nor C2 ({deep_us:g} us)"
    return (
        f"At HZ={board.tick_hz} unpatched {TARGET} {'sticks' if sticks else 'does not stick'} in C1: "
        f"C1 {without[0]:.3f} s and C2 {without[1]:.3f} s without patches, C1 {patched[0]:.3f} s and "
        f"C2 {patched[1]:.3f} s with. With the tick stopped, menu 4.18 raises a short prediction to the tick "
        f"length of {tick_us:g} us, which {reach}."
    )


def _verdict(missed: Sequence[Cell]) -> str:
    if not missed:
        return "All acceptance bands are kept."
    places = "; ".join(
        f"{cell.row} {cell.column} {cell.ours:.3f} s, not in {cell.band[0]:g} to {cell.band[1]:g} s"
        for cell in missed
        if cell.band is not None
    )
    return (
        f"Acceptance bands missed: {places}. The bands are those of the published table, whose kernel must "
        f"have had HZ={PUBLISHED_HZ}."
    )


def _loop_alone(results: Mapping[str, Runs]) -> str:
    alone, both = (results[policy].residency_ns[:, TARGET_CPU] / 1e9 for policy in (LOOP_ONLY, PATCHED))
    gap_s = float(np.abs(alone - both).max())
    if gap_s > 0.0:
        means = [", ".join(f"{value:.3f}" for value in seconds.mean(axis=0)) for seconds in (alone, both)]
        return (
            f"The patch of the loop alone and both patches differ on {TARGET} by up to {gap_s:.3f} s in a "
            f"state and replicate (means of C0, C1, C2: {means[0]} s alone, {means[1]} s both); the mail "
            "says that both are needed."
        )
    return (
        f"The patch of the loop alone gives {TARGET} the same residencies as both patches, in every "
        "replicate; the mail says that both are needed. In this model the 1 ms gaps choose C0 with a "
        "prediction below the tick length, which already asks to keep the tick, and the patched loop then "
        "restarts it. Unresolved."
    )


def _phase_dependence(phases_us: Floats, residency_s: Floats) -> str:
    c0_s, c2_s = residency_s[:, 0], residency_s[:, 2]
    return (
        "With patches the result depends on the unknown phase between IPI and tick. With jitter off, an IPI "
        f"on an exact 50 ms grid and {len(phases_us)} phases, C0 of {TARGET} goes from {c0_s.min():.2f} to "
        f"{c0_s.max():.2f} s (most at {phases_us[c0_s.argmax()]:g} us after a tick) and C2 from "
        f"{c2_s.min():.2f} to {c2_s.max():.2f} s."
    )


def _background(c0: Cell, c1: Cell) -> str:
    return (
        f"CPU0 to CPU6 spend {c0.ours:.3f} s in C0 and {c1.ours:.3f} s in C1 without patches, published "
        f"{c0.published:.3f} s and {c1.published:.3f} s: their wakeups are not published, so these cells, "
        "and by as much the row of all CPUs, test the assumed background and not the governor."
    )
