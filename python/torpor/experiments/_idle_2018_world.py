# SPDX-License-Identifier: MIT
"""What is run for ``idle-2018``: published values, bands, policies, the world and where it comes from."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from torpor.board import Board
from torpor.experiments.report import Input
from torpor.idle import IpiTimerBurst, PoissonInterrupts, RecordedInterrupts, Scenario

NAME = "idle-2018"
TITLE = "residency in idle states on HiKey without and with the patches of August 2018"
SOURCE = "Leo Yan, linux-pm, August 2018, Message-ID 1533793647-5628-1 (linaro.org), retested table"

PUBLISHED_HZ = 1000
DURATION_S = 10.0
TARGET_CPU = 7
JITTER_US = 60.0
BACKGROUND_GAP_US = 200_000.0
BACKGROUND_RUN_US = 50.0

WITHOUT, WITH, DIFFERENCE = "without patches", "with patches", "difference"
STATES = ("C0", "C1", "C2")

UNPATCHED = "menu(version=4.18)"
PATCHED = "menu(version=4.18+P1, loop=leo)"
LOOP_ONLY = "menu(version=4.18, loop=leo)"
POLICIES = (
    UNPATCHED,
    "menu(version=4.18+P1)",
    "menu(version=4.18+P2)",
    LOOP_ONLY,
    PATCHED,
    "menu(version=4.18+P2, loop=leo)",
    "menu(version=4.18+rjw-reply)",
    "menu(version=4.18+leo-reply)",
    "menu(version=4.19)",
    "menu(version=4.20)",
    "menu(version=5.4)",
    "menu(version=6.1)",
    "menu(version=6.1.192)",
    "menu(version=6.12.117)",
    "menu(version=7.0)",
    "menu(version=7.1)",
    "teo(version=5.5)",
    "teo(version=6.1)",
    "teo(version=6.12.117)",
    "teo(version=7.1)",
    "ladder(version=6.1)",
    "oracle()",
)
"""Everything that is run, on the same worlds; the first and the patched one make the published table."""

PUBLISHED: Mapping[tuple[str, str], tuple[float, float, float]] = {
    ("CPU7", WITHOUT): (1.766, 8.041, 0.043),
    ("All", WITHOUT): (1.912, 8.101, 69.847),
    ("CPU7", WITH): (1.981, 0.030, 7.872),
    ("All", WITH): (2.092, 0.081, 77.752),
}
"""Seconds in C0, C1, C2 as published. The rows of the single CPUs 0 to 6 are not at hand."""

BANDS: Mapping[tuple[str, str], tuple[float, float]] = {
    (WITHOUT, "C0"): (1.5, 2.3),
    (WITHOUT, "C1"): (7.8, DURATION_S),
    (WITHOUT, "C2"): (0.0, 0.1),
    (WITH, "C0"): (1.5, 2.3),
    (WITH, "C1"): (0.0, 0.3),
    (WITH, "C2"): (7.4, 8.1),
}
"""Seconds of CPU7 that count as the mail reproduced."""

Floats = npt.NDArray[np.float64]


def scenario(hz: int = PUBLISHED_HZ) -> Scenario:
    """Make the mail's workload and an assumed background, on a kernel of the given HZ.

    Examples
    --------
    >>> scenario().board.tick_hz
    1000
    """
    board = Board.load("hikey").with_value("tick.hz", hz)
    others = tuple(cpu for cpu in range(board.cpu_count) if cpu != TARGET_CPU)
    # Ends the idle periods that the end of the trace cuts, as a tool that reads the trace would book them.
    end = [RecordedInterrupts(cpu=cpu, times_us=(DURATION_S * 1e6,)) for cpu in range(board.cpu_count)]
    return Scenario(
        board,
        [
            IpiTimerBurst(cpu=TARGET_CPU, sender=0, jitter_us=JITTER_US),
            PoissonInterrupts(mean_gap_us=BACKGROUND_GAP_US, cpus=others, task_run_us=BACKGROUND_RUN_US),
            *end,
        ],
        duration_s=DURATION_S,
    )


def phase_scan(hz: int) -> tuple[Floats, Floats]:
    """Seconds in each state of CPU7 with patches, jitter off, over places of the IPI between two ticks.

    Returns
    -------
    phase_us : array, microseconds, shape (40,)
        From the last tick to the IPI.
    residency_s : array, seconds, shape (40, states)
    """
    board = scenario(hz).board
    phases_us = np.linspace(0.0, 1e6 / hz, 40, endpoint=False)
    found = [
        Scenario(board, [IpiTimerBurst(cpu=TARGET_CPU, first_us=50_000.0 + phase_us)], tick_phase_us=0.0)
        .run(PATCHED, threads=1)
        .residency_ns[0, TARGET_CPU]
        / 1e9
        for phase_us in phases_us.tolist()
    ]
    return phases_us, np.array(found, dtype=np.float64)


def inputs(hz: int) -> list[Input]:
    """Everything that goes in, with its mark and source; the board's numbers bring theirs along."""
    board = scenario(hz).board
    states = board.clusters[-1].idle_states
    cluster = f"clusters[{len(board.clusters) - 1}]"

    def from_board(name: str, value: str, key: str) -> Input:
        provenance = board.provenance(key)
        return Input(name, value, provenance.kind, provenance.source)

    def costs(*names: str) -> str:
        return ", ".join(str(board.value(f"idle_costs.{name}_ns")) for name in names)

    table = "; ".join(f"{s.exit_latency_ns // 1000}/{s.target_residency_ns // 1000}" for s in states)
    wake_us = [f"{state.wake_latency_ns // 1000}" for state in states]
    elimination = (
        "to the fact that CPU7 sticks in C1 without patches: of the usual values only 1000 puts the tick "
        "length between the target residencies of C1 and C2; the mail's example of a 1 ms tick agrees"
    )
    return [
        from_board(
            "exit latency/target residency",
            f"{table} us (C0; C1; C2)",
            f"{cluster}.idle_states[2].target_residency_us",
        ),
        from_board("wake-up from C0", f"{wake_us[0]} us", f"{cluster}.idle_states[0].wake_latency_us"),
        from_board(
            "wake-up from C1 and C2", f"{wake_us[1]}, {wake_us[2]} us", f"{cluster}.idle_states[1].exit_us"
        ),
        from_board(
            "handlers of IPI, timer, tick",
            f"{costs('ipi_handler', 'timer_handler', 'tick_handler')} ns",
            "idle_costs.ipi_handler_ns",
        ),
        from_board(
            "select to entry, interrupt exit, reflect",
            f"{costs('select_to_entry', 'interrupt_exit', 'reflect')} ns",
            "idle_costs.interrupt_exit_ns",
        ),
        from_board("powers", "see the board", f"{cluster}.idle_states[2].power_mw"),
        Input("HZ", str(hz), "fitted", elimination)
        if hz == PUBLISHED_HZ
        else Input("HZ", str(hz), "assumed", "chosen for this call"),
        Input("IPI period, timers", "50 ms; 4 ms, then 10 of 1 ms", "cited", SOURCE),
        Input(
            "pacing of the IPI", "timer on CPU0, no task", "assumed", "the mail does not say what paces it"
        ),
        Input("phase of the tick", "uniform, per replicate", "assumed", "unknown; the result depends on it"),
        Input(
            "jitter of the IPI",
            f"0 to {JITTER_US:g} us, uniform, lengthens each gap",
            "assumed",
            "sweeps the phase within a run; no figure published",
        ),
        Input(
            "background on CPU0 to CPU6",
            f"Poisson, mean gap {BACKGROUND_GAP_US / 1e3:g} ms, task of {BACKGROUND_RUN_US:g} us",
            "assumed",
            "a quiet system; the published 99.7 % in C2 says only that wakeups are rare, and nothing is "
            "fitted to it",
        ),
    ]
