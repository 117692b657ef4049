# SPDX-License-Identifier: MIT
"""Tables of a validation of the dpm model."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from torpor.dpm._whatif_modes import Mode
from torpor.tables import Column, Table, Value

if TYPE_CHECKING:
    from torpor.dpm.validate_report import CaptureResult, Quantity

__all__ = ["BY_WORKERS", "MODEL", "STARTS", "TOTAL", "capture_tables"]

TOTAL = "callbacks as recorded"
BY_WORKERS = "callbacks by workers"
STARTS = "largest distance of swapped starts"
MODEL = "model"

_SHOWN_MODES = 3
_LEAST_SHARE = 0.05
_LEAST_STEP_MS = 1.0


def capture_tables(capture: CaptureResult) -> list[Table]:
    """Make the tables of one capture; those without rows are left out, but for the first."""
    made = [
        _whole(capture),
        _order(capture),
        _sync(capture),
        _predicted(capture),
        _modes(capture),
        _races(capture),
        *_paths(capture),
        _controls(capture),
    ]
    return [table for table in made if table.rows or table is made[0]]


def _whole(capture: CaptureResult) -> Table:
    return Table(
        f"{capture.name}: the capture as a whole",
        [
            Column("of", align="left"),
            Column("found", digits=0),
            Column("may be", digits=0),
            Column("ok"),
        ],
        [[q.what, q.predicted, q.limit, q.ok] for q in capture.of("capture")],
        notes=capture.notes,
    )


def _order(capture: CaptureResult) -> Table:
    rows: list[list[Value]] = []
    quantities = {q.what: q for q in capture.of("order")}
    for what, total in quantities.items():
        if not what.endswith(TOTAL):
            continue
        workers = quantities.get(f"{total.phase}, {BY_WORKERS}")
        starts = quantities.get(f"{total.phase}, {STARTS}")
        mine = [q.ok for q in (total, workers, starts) if q is not None and q.ok is not None]
        rows.append(
            [
                *(what.partition(",")[0], total.low, total.high, total.recorded, total.predicted),
                *(total.error_pct, total.limit_pct),
                None if workers is None else workers.recorded,
                None if workers is None else workers.predicted,
                None if starts is None else starts.predicted,
                all(mine) if mine else None,
            ]
        )
    return Table(
        f"{capture.name}: our order, callbacks as long as recorded with workers",
        [
            Column("phase", align="left"),
            Column("from", "ms", digits=2),
            Column("to", "ms", digits=2),
            Column("recorded", "ms", digits=2),
            Column("modelled", "ms", digits=2),
            Column("error", "%", digits=2),
            Column("limit", "%", digits=0),
            Column("by workers", digits=0),
            Column("modelled", digits=0),
            Column("swap", "ms", digits=2),
            Column("ok"),
        ],
        rows,
        notes=[
            "Recorded and modelled: the cycle with the largest error. By workers: callbacks run by workers. "
            "Swap: of callbacks that began in another order than recorded, the largest distance that both "
            "orders put between two of them; below a tick it is a matter of who woke first."
        ],
    )


def _sync(capture: CaptureResult) -> Table:
    return Table(
        f"{capture.name}: cycles without workers, replayed from themselves",
        [
            Column("phase", align="left"),
            Column("from", "ms", digits=2),
            Column("to", "ms", digits=2),
            Column("recorded", "ms", digits=2),
            Column("replayed", "ms", digits=2),
            Column("error", "%", digits=2),
        ],
        [[q.phase, q.low, q.high, q.recorded, q.predicted, q.error_pct] for q in capture.of("sync")],
        notes=[
            "Recorded and replayed: the cycle with the largest error. It says how well callbacks, costs and "
            "tick were taken from a cycle; nothing is predicted."
        ],
    )


def _predicted(capture: CaptureResult) -> Table:
    return Table(
        f"{capture.name}: with workers, predicted from the cycles without",
        [
            Column("phase", align="left"),
            Column("from", "ms", digits=2),
            Column("to", "ms", digits=2),
            Column("recorded", "ms", digits=2),
            Column("predicted", "ms", digits=2),
            Column("from", "ms", digits=2),
            Column("to", "ms", digits=2),
            Column("error", "%", digits=1),
            Column("limit", "%", digits=0),
            Column("ok"),
        ],
        [
            [
                *(q.what, q.low, q.high, q.recorded, q.predicted, q.predicted_low, q.predicted_high),
                *(q.error_pct, q.limit_pct, q.ok),
            ]
            for q in capture.of("predict")
        ],
    )


def _modes(capture: CaptureResult) -> Table:
    rows: list[list[Value]] = []
    for place, mode in enumerate(capture.modes):
        orders = "; ".join(f"{winner} before {loser}" for winner, loser in mode.orders)
        mine: list[Quantity | None] = [q for q in capture.of("mode") if q.mode == place]
        for q in mine or [None]:
            rows.append(
                [
                    *(mode.mean_ms, mode.low_ms, mode.high_ms, 100.0 * mode.share),
                    *((None,) * 4 if q is None else (q.recorded, q.error_pct, q.limit_pct, q.ok)),
                    orders,
                ]
            )
    return Table(
        f"{capture.name}: modes of the predicted resume",
        [
            Column("predicted", "ms", digits=1),
            Column("from", "ms", digits=1),
            Column("to", "ms", digits=1),
            Column("share", "%", digits=0),
            Column("recorded", "ms", digits=1),
            Column("error", "%", digits=2),
            Column("limit", "%", digits=0),
            Column("ok"),
            Column("who got the lock first", align="left", wrap=34),
        ],
        rows,
        notes=[
            "A gap above 20 ms parts two modes; recorded ones stand beside the nearest predicted one. Who of "
            "those that wake on one tick gets a lock first is a toss of a coin, so that the shares of few "
            "recorded cycles tell little."
        ],
    )


def _races(capture: CaptureResult) -> Table:
    def known(value: float) -> float | None:
        return None if math.isnan(value) else value

    return Table(
        f"{capture.name}: siblings that race for one lock in the resume",
        [
            Column("one", align="left"),
            Column("other", align="left"),
            Column("one first", "%", digits=0),
            Column("resume then", "ms", digits=1),
            Column("else", "ms", digits=1),
        ],
        [
            [race.first, race.second, 100.0 * race.share_first, known(race.first_ms), known(race.second_ms)]
            for race in capture.races
        ],
    )


def _paths(capture: CaptureResult) -> list[Table]:
    shown = [mode for mode in capture.modes if mode.share >= _LEAST_SHARE]
    shown = sorted(shown, key=lambda mode: -mode.share)[:_SHOWN_MODES]
    return [_path(capture, mode) for mode in capture.modes if mode in shown]


def _path(capture: CaptureResult, mode: Mode) -> Table:
    return Table(
        f"{capture.name}: critical path of the predicted resume, mode of {mode.mean_ms:.0f} ms",
        [
            Column("device", align="left"),
            Column("not earlier for", align="left"),
            Column("from", "ms", digits=1),
            Column("to", "ms", digits=1),
            Column("length", "ms", digits=1),
        ],
        [
            [step.device, step.reason, step.start_ms, step.end_ms, step.length_ms]
            for step in mode.path
            if step.length_ms >= _LEAST_STEP_MS
        ],
        notes=[
            "Not earlier for: a dependency, the lock or the CPU that the one before it had, or the walk of "
            "the main thread. Steps below 1 ms are left out."
        ],
    )


def _controls(capture: CaptureResult) -> Table:
    return Table(
        f"{capture.name}: the same predictions by other rules (controls)",
        [
            Column("phase", align="left"),
            Column("rules", align="left"),
            Column("recorded", "ms", digits=2),
            Column("predicted", "ms", digits=2),
            Column("error", "%", digits=1),
        ],
        [
            [q.phase, q.what.partition(", ")[2], q.recorded, q.predicted, q.error_pct]
            for q in capture.of("control")
        ],
        notes=[
            "Means. Without shared locks: devices of one USB host controller are reset together. Without "
            "direct_complete: devices that are left alone wait for their parents like all others."
        ],
    )
