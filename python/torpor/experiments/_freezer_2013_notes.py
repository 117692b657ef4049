# SPDX-License-Identifier: MIT
"""What the figures of ``freezer-2013`` say, worked out from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torpor.experiments._freezer_2013_readings import HZ, USER_ONLY, USER_ONLY_LATE
from torpor.experiments._freezer_2013_world import (
    BEFORE,
    BOARD_HZ,
    CALLS,
    FREEZE,
    LAST,
    OF_SERIES,
    OF_SKIPPING,
    PATCH_1,
    SERIES,
    SKIP_ONLY,
    SWITCH_INS,
    agrees,
)
from torpor.experiments.report import Cell
from torpor.freezer import Runs

__all__ = ["notes"]


def notes(
    results: Mapping[str, Runs],
    published: Sequence[Cell],
    sweep: Mapping[int, Sequence[Cell]],
    crossing: Cell,
    rows: Mapping[str, Sequence[Cell]],
) -> list[str]:
    """Sentences below the tables.

    Parameters
    ----------
    results : mapping of str to Runs
        By variant, at 200 MHz.
    published : sequence of Cell
        The statements.
    sweep : mapping of int to sequence of Cell
        By frequency.
    crossing : Cell
        Lowest frequency below the limit.
    rows : mapping of str to sequence of Cell
        Other readings and assumptions, by name.
    """
    found = {(cell.row, cell.column): cell for cell in published}
    hz = results[BEFORE].scenario.board.tick_hz
    return [
        _verdict([cell for cell in published if cell.ok is False], hz),
        _missed([cell for cell in published if cell.band is None]),
        _residuals(found, rows),
        _split(results, found[PATCH_1, LAST]),
        _factor(found, rows),
        _under(found[PATCH_1, LAST], crossing, sweep),
        _calls(results, found),
        _user_only(rows),
        _energy(results),
        "'Freeze' is user loop and kernel loop; the mails may mean the first alone. What was before them "
        "(user-mode helpers, file-system sync) and after them (devices) is not modelled.",
    ]


def _verdict(missed: Sequence[Cell], hz: int) -> str:
    if not missed:
        return "All acceptance bands are kept."
    places = "; ".join(
        f"{cell.row} {cell.column} {cell.ours:.2f}, not in {cell.band[0]:g} to {cell.band[1]:g}"
        for cell in missed
        if cell.band is not None
    )
    reason = f": the costs are fitted for HZ={BOARD_HZ}, these are of HZ={hz}" if hz != BOARD_HZ else ""
    return f"Acceptance bands missed: {places}{reason}."


def _missed(without_band: Sequence[Cell]) -> str:
    missed = [
        f"{cell.row} {cell.column}: {cell.ours:.4g} {cell.unit}, published {cell.published:g}"
        for cell in without_band
        if cell.published is not None and not agrees(cell.row, cell.column, cell.published, cell.ours)
    ]
    return f"Statements without a band that ours misses: {'; '.join(missed) or 'none'}."


def _residuals(found: Mapping[tuple[str, str], Cell], rows: Mapping[str, Sequence[Cell]]) -> str:
    before, series = (found[policy, FREEZE] for policy in (BEFORE, SERIES))
    board, exact = (_value(rows, start, "wakeup and burst") for start in ("as on", f"HZ {BOARD_HZ},"))
    return (
        f"Residuals of the fit: {before.error_pct:+.1f} % of {before.published:g} ms, "
        f"{series.error_pct:+.1f} % of {series.published:g} ms. The board file has {board:.0f} cycles for "
        f"wakeup and burst of a task; {exact:.0f} meet {before.published:g} ms exactly. python -m "
        "torpor.experiments.freezer_calibration finds all fitted values again."
    )


def _split(results: Mapping[str, Runs], last: Cell) -> str:
    slept = {n: float((r.user_slept_ns + r.kernel_slept_ns).mean()) / 1e6 for n, r in results.items()}
    total = {name: float(runs.elapsed_ms.mean()) for name, runs in results.items()}
    bound = {name: 100.0 * float(runs.efficiency.mean()) for name, runs in results.items()}
    return (
        f"Of the {total[BEFORE]:.1f} ms of v3.9, {slept[BEFORE]:.1f} ms are sleep; the last user task has "
        f"frozen after {last.ours:.1f} ms. Of the {total[SERIES]:.2f} ms of the series, {slept[SERIES]:.2f} "
        "ms are sleep and nearly all else is walking the list. Efficiency, lower bound over time: v3.9 "
        f"{bound[BEFORE]:.0f} %, p1 {bound[PATCH_1]:.0f} %, full {bound[SERIES]:.0f} %."
    )


def _factor(found: Mapping[tuple[str, str], Cell], rows: Mapping[str, Sequence[Cell]]) -> str:
    ratios = ", ".join(f"{_value(rows, f'HZ {hz},', f'{OF_SKIPPING} {FREEZE}'):.1f} at HZ {hz}" for hz in HZ)
    return (
        f"The factor of 10 follows from the two fitted times ({found[OF_SERIES, FREEZE].ours:.2f}) and tests "
        f"nothing. The factor of 5 is predicted: p1/full is {found[OF_SKIPPING, FREEZE].ours:.2f}, and "
        f"{ratios} when 50 ms are fitted again, which mildly favours 200 to 300."
    )


def _value(rows: Mapping[str, Sequence[Cell]], start: str, column: str) -> float:
    cells = next(cells for name, cells in rows.items() if name.startswith(start))
    return next(cell.ours for cell in cells if cell.column == column)


def _under(last: Cell, crossing: Cell, sweep: Mapping[int, Sequence[Cell]]) -> str:
    times = ", ".join(f"{sweep[khz][0].ours:.1f} ms at {khz // 1000} MHz" for khz in (min(sweep), max(sweep)))
    return (
        f"'All tasks in under {last.published:g} ms' names no frequency. The last user task has frozen after "
        f"{times}: true from {crossing.ours:.0f} MHz up, not at 200 MHz."
    )


def _calls(results: Mapping[str, Runs], found: Mapping[tuple[str, str], Cell]) -> str:
    before = results[BEFORE]
    restarts, errors = (float(v.mean()) for v in (before.restarts, before.visible_errors))
    kernel = found[BEFORE, SWITCH_INS].ours - found[BEFORE, CALLS].ours
    return (
        "The mails give one pair of numbers for switches and restarted calls. Ours differ by the "
        f"{kernel:.0f} freezable kernel threads, which make no calls: {found[BEFORE, CALLS].ours:.0f} calls "
        f"become {found[SERIES, CALLS].ours:.0f}. Of the former only {restarts:.0f} are restarted unseen; "
        f"{errors:.0f} (epoll, sigtimedwait) return an error to the program, by the assumed split of sites."
    )


def _user_only(rows: Mapping[str, Sequence[Cell]]) -> str:
    def of(name: str, column: str) -> float:
        return _value(rows, f"{name}, fitted", column)

    series, factor = f"{SERIES} {FREEZE}", f"{OF_SKIPPING} {FREEZE}"
    return (
        f"If freeze time means the user loop alone, 50 ms need {of(USER_ONLY, 'wakeup and burst'):.0f} "
        f"cycles a task and the series takes {of(USER_ONLY, series):.2f} ms, or "
        f"{of(USER_ONLY_LATE, series):.2f} ms with a late task; p1/full is then {of(USER_ONLY, factor):.1f} "
        f"or {of(USER_ONLY_LATE, factor):.1f}."
    )


def _energy(results: Mapping[str, Runs]) -> str:
    ms = {name: float(runs.elapsed_ms.mean()) for name, runs in results.items()}
    mj = {name: float(runs.cycle_energy_mj.mean()) for name, runs in results.items()}
    return (
        "Time and energy rank the two halves of the series differently: skipping alone takes "
        f"{ms[SKIP_ONLY]:.1f} ms and {mj[SKIP_ONLY]:.1f} mJ a cycle, patch 1 alone {ms[PATCH_1]:.1f} ms and "
        f"{mj[PATCH_1]:.1f} mJ."
    )
