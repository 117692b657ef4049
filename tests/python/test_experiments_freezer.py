# SPDX-License-Identifier: MIT
from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import torpor
from torpor import Board, ConfigError
from torpor.experiments import EXPERIMENTS, freezer_2013, freezer_calibration, freezer_thaw_67
from torpor.experiments._freezer_2013_fit import FIT_RUNS, phase_mean_ms
from torpor.experiments._freezer_2013_world import KINDS, at_frequency, last_frozen_ms
from torpor.experiments.freezer_2013 import BANDS, PUBLISHED, VARIANTS, crossing_khz, scenario
from torpor.experiments.freezer_calibration import Calibration, calibrate, calibration_report

Result = torpor.Reproduction


@pytest.fixture(scope="module")
def result() -> Result:
    return torpor.reproduce("freezer-2013", runs=40, seed=1)


@pytest.fixture(scope="module")
def control() -> Result:
    return torpor.reproduce("freezer-2013", runs=20, seed=1, hz=100)


@pytest.fixture(scope="module")
def thaw() -> Result:
    return torpor.reproduce("freezer-thaw-6.7", runs=20, seed=1)


@pytest.fixture(scope="module")
def fits() -> dict[int, Calibration]:
    return {hz: calibrate(hz, visit_cycles=140) for hz in freezer_calibration.HZ}


def reading(result: Result, start: str, column: str) -> float:
    (found,) = (c for c in result.cells if c.row.startswith(start) and c.column == column)
    return float(found.ours)


def test_both_are_registered_under_their_names() -> None:
    assert EXPERIMENTS["freezer-2013"] is freezer_2013.reproduce
    assert EXPERIMENTS["freezer-thaw-6.7"] is freezer_thaw_67.reproduce


def test_every_band_is_kept_on_the_board_as_fitted(result: Result) -> None:
    judged = [cell for cell in result.cells if cell.band is not None]
    assert {(cell.row, cell.column) for cell in judged} == set(BANDS)
    assert result.all_ok, [(cell.row, cell.column, cell.ours) for cell in judged if not cell.ok]


def test_the_fitted_costs_miss_the_old_freeze_at_another_hz_and_say_so(control: Result) -> None:
    missed = {(cell.row, cell.column) for cell in control.cells if cell.ok is False}
    assert missed == {("v3.9", "freeze")}
    assert "Acceptance bands missed: v3.9 freeze" in control.to_text()
    assert "fitted for HZ=200, these are of HZ=100" in " ".join(control.to_text().split())


def test_a_series_that_skips_nothing_misses_its_bands(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_converted_sites(hz: int = 200) -> torpor.freezer.Scenario:
        world = scenario(hz)
        return replace(world, population=world.groups.with_count("futex", 0).with_count("other", 425))

    monkeypatch.setattr(freezer_2013, "scenario", without_converted_sites)
    wrong = torpor.reproduce("freezer-2013", runs=2)
    missed = {(cell.row, cell.column) for cell in wrong.cells if cell.ok is False}
    assert {("full", "freeze"), ("full", "task switch-ins")} <= missed


def test_no_published_number_reaches_a_variant(result: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    other_values = {place: 1.2 * value for place, value in PUBLISHED.items()}
    monkeypatch.setattr(freezer_2013, "PUBLISHED", other_values)
    other = torpor.reproduce("freezer-2013", runs=40, seed=1)
    assert other.cell("v3.9", "freeze").published == 60.0
    ours, theirs = (
        [(c.row, c.column, c.ours) for c in r.cells if "fitted again" not in c.row and c.unit != "MHz"]
        for r in (result, other)
    )
    assert ours == theirs


def test_only_rows_that_are_fitted_again_follow_the_published_time(
    result: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(freezer_2013, "PUBLISHED", {**PUBLISHED, ("v3.9", "freeze"): 60.0})
    other = torpor.reproduce("freezer-2013", runs=2)
    column = "wakeup and burst"
    assert reading(other, "HZ 200", column) > reading(result, "HZ 200", column) + 1000
    assert reading(other, "as on the board", column) == reading(result, "as on the board", column)


@pytest.mark.parametrize(
    ("policy", "freeze_ms", "switch_ins", "restarts", "errors"),
    [
        ("v3.9", 50.9, 1000, 750, 240),
        ("p1", 27.05, 1000, 750, 240),
        ("skip-only", 29.1, 25, 15, 0),
        ("full", 5.27, 25, 15, 0),
    ],
)
def test_the_variants_agree_with_an_independent_prototype(
    result: Result, policy: str, freeze_ms: float, switch_ins: int, restarts: int, errors: int
) -> None:
    cell = result.cell(policy, "both loops")
    assert abs(cell.ours - freeze_ms) < 0.04 + 3.0 * (cell.high - cell.ours)
    assert result.cell(policy, "switch-ins").ours == switch_ins
    assert result.cell(policy, "restarts").ours == restarts
    assert result.cell(policy, "visible errors").ours == errors


def test_kinds_tell_what_was_fitted(result: Result) -> None:
    assert {place for place, kind in KINDS.items() if kind == "fitted"} == {
        ("v3.9", "freeze"),
        ("full", "freeze"),
        ("v3.9", "task switch-ins"),
        ("full", "task switch-ins"),
        ("v3.9", "interrupted calls"),
        ("full", "interrupted calls"),
        ("v3.9/full", "freeze"),
    }
    for place, kind in KINDS.items():
        assert result.cell(*place).kind == kind
    assert "The factor of 10 follows from the two fitted times" in result.to_text()


def test_a_statement_that_ours_misses_is_printed_as_a_miss(result: Result) -> None:
    lines = result.tables[0].shown()
    missed = [line[1] for line in lines if line[-1] == "MISS"]
    assert missed == ["full: interrupted calls", "p1: last user task frozen"]
    assert "full interrupted calls: 15 calls, published 25" in " ".join(result.notes)


def test_the_difference_of_switches_and_calls_is_that_of_the_kernel_threads(result: Result) -> None:
    for policy in ("v3.9", "full"):
        ours = [result.cell(policy, column).ours for column in ("task switch-ins", "interrupted calls")]
        assert ours[0] - ours[1] == 10


def test_the_last_task_frozen_is_that_of_the_tasks_themselves() -> None:
    world = scenario()
    told = last_frozen_ms(world, runs=3, seed=5)
    runs = world.run("p1", runs=3, seed=5)
    users = [group.name for group in world.groups if group.kind == "user"]
    for run, ms in enumerate(told):
        tasks = runs.tasks(run)
        assert tasks[tasks["group"].isin(users)]["frozen_us"].max() / 1e3 == pytest.approx(ms)


def test_under_10_ms_is_true_from_the_crossing_up(result: Result) -> None:
    crossing = result.cell("p1", "lowest frequency below the limit").ours
    assert 450 < crossing < 460
    for khz, under in ((crossing * 1e3 - 2000, False), (crossing * 1e3 + 2000, True)):
        assert (last_frozen_ms(at_frequency(scenario(), round(khz)), runs=10, seed=1).mean() < 10.0) == under
    verdicts = {line[0]: line[-1] for line in result.tables[3].shown()}
    assert verdicts["400 MHz"] == "MISS"
    assert verdicts["500 MHz"] == "agrees"


def test_a_limit_that_no_frequency_meets_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"limit_ms=100: no frequency, limit: 2\.6\d+ to 22\.6"):
        crossing_khz(100.0)


def test_every_operating_point_is_run_and_faster_is_never_slower(result: Result) -> None:
    opps = [opp.freq_khz for opp in Board.load("nexus-10").clusters[0].opps]
    assert len(result.results) == len(opps) * len(VARIANTS)
    for policy in ("p1", "full"):
        times = [result.cell(f"{khz // 1000} MHz", f"{policy} freeze").ours for khz in opps]
        assert times == sorted(times, reverse=True)


def test_the_ambiguities_are_rows(result: Result) -> None:
    names = [line[0] for line in result.tables[4].shown()]
    for start in ("as on the board", "HZ 100,", "HZ 1000,", "user loop only,", "1000 is switches + calls"):
        assert any(name.startswith(start) for name in names)


def test_the_factor_of_5_favours_some_hz(result: Result) -> None:
    expected = {100: 3.5, 200: 5.0, 250: 4.5, 300: 5.4, 1000: 5.9}
    for hz, factor in expected.items():
        assert reading(result, f"HZ {hz},", "p1/full freeze") == pytest.approx(factor, abs=0.06)


def test_half_the_tasks_at_twice_the_cost_take_as_long(result: Result) -> None:
    for column in ("v3.9 freeze", "p1 freeze", "full freeze"):
        board, halved = (reading(result, start, column) for start in ("as on", "1000 is"))
        assert halved == pytest.approx(board, rel=0.005)
    switches, calls = (
        reading(result, "1000 is", f"v3.9 {what}") for what in ("task switch-ins", "interrupted calls")
    )
    assert (switches, calls) == (500, 495)


def test_the_user_loop_alone_takes_5_ms_only_with_a_late_task(result: Result) -> None:
    alone, late = (
        reading(result, f"user loop only, {rest}", "full freeze") for rest in ("fitted", "one D wait")
    )
    assert alone < 3.0
    assert late == pytest.approx(5.0, rel=0.12)


def test_costs_move_the_factors_by_less_than_the_times(result: Result) -> None:
    low, high = (reading(result, f"all costs {sign}30 %", "p1/full freeze") for sign in "-+")
    assert 4.0 < low < 5.1 < high < 6.0


def test_energy_ranks_the_halves_of_the_series_otherwise_than_time(result: Result) -> None:
    times, energies = (
        [result.cell(policy, column).ours for policy in ("p1", "skip-only")]
        for column in ("both loops", "energy of a cycle")
    )
    assert times[0] < times[1]
    assert energies[0] > 2.0 * energies[1]


@pytest.mark.parametrize(
    ("name", "policy", "mj", "mw"),
    [
        ("freezer-2013", "v3.9", 31.5, 10.5),
        ("freezer-2013", "full", 2.5, 0.8),
        ("freezer-thaw-6.7", "v6.1", 13.8, 4.6),
        ("freezer-thaw-6.7", "v6.7", 7.9, 2.6),
    ],
)
def test_energies_agree_with_an_independent_prototype(
    result: Result, thaw: Result, name: str, policy: str, mj: float, mw: float
) -> None:
    found = result if name == "freezer-2013" else thaw
    assert found.cell(policy, "energy of a cycle").ours == pytest.approx(mj, abs=0.25)
    assert found.cell(policy, "a cycle every 3 s").ours == pytest.approx(mw, abs=0.1)


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    for name in ("freezer-2013", "freezer-thaw-6.7"):
        one, two = (torpor.reproduce(name, runs=3, seed=3, threads=threads) for threads in (1, 2))
        assert one.to_text() == two.to_text()
        assert one.to_json() == two.to_json()


def test_json_is_finite_and_places_are_unique(result: Result, thaw: Result) -> None:
    for found in (result, thaw):
        data = json.loads(json.dumps(found.to_json(), allow_nan=False))
        places = [(cell["row"], cell["column"]) for cell in data["cells"]]
        assert len(set(places)) == len(places)


@pytest.mark.parametrize("name", ["freezer-2013", "freezer-thaw-6.7"])
def test_a_single_replicate_prints_without_intervals(name: str) -> None:
    single = torpor.reproduce(name, runs=1)
    assert "±" not in single.to_text()
    assert single.cell("full", "freeze").low is None


@pytest.mark.parametrize("name", ["freezer-2013", "freezer-thaw-6.7"])
@pytest.mark.parametrize("wrong", [{"runs": 0}, {"seed": -1}, {"hz": 0}])
def test_numbers_out_of_range_are_refused(name: str, wrong: dict[str, int]) -> None:
    with pytest.raises(ConfigError):
        torpor.reproduce(name, **wrong)


def test_progress_ends_with_all_replicates() -> None:
    seen: list[tuple[int, int]] = []
    torpor.reproduce("freezer-2013", runs=2, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1]
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_a_reproduction_survives_pickling(thaw: Result) -> None:
    assert pickle.loads(pickle.dumps(thaw)) == thaw


def test_repr_is_the_call_that_made_it(control: Result) -> None:
    assert repr(control) == "reproduce('freezer-2013', runs=20, seed=1, hz=100)"


def test_every_input_has_a_mark_and_a_source(result: Result) -> None:
    marks = {item.name: item.mark for item in result.inputs}
    assert all(item.source for item in result.inputs)
    assert marks["visit of a task"] == "fitted"
    assert marks["wakeup at a visit"] == "assumed"
    assert marks["HZ"] == "cited"


def test_a_chosen_hz_is_marked_as_such(control: Result) -> None:
    assert {item.name: item.mark for item in control.inputs}["HZ"] == "assumed"


def test_both_draw_their_panels(result: Result, thaw: Result, tmp_path: Path) -> None:
    for found in (result, thaw):
        found.save_plots(tmp_path / "figure.svg")
        assert (tmp_path / "figure.svg").stat().st_size > 10_000


def test_only_ratios_of_the_thaw_are_compared(thaw: Result) -> None:
    compared = {(cell.row, cell.column) for cell in thaw.cells if cell.published is not None}
    assert compared == {("v6.1/v6.7", "tasks woken by the thaw"), ("v6.1/v6.7", "thaw")}
    assert all(cell.kind != "fitted" for cell in thaw.cells)
    assert thaw.all_ok


def test_the_thaw_of_6_1_wakes_all_tasks_and_that_of_6_7_does_not(thaw: Result) -> None:
    assert [thaw.cell(policy, "tasks woken by the thaw").ours for policy in ("v6.1", "v6.7")] == [1000, 245]
    assert thaw.cell("v6.1/v6.7", "thaw").ours == pytest.approx(2.85, abs=0.05)
    errors = [thaw.cell(policy, "visible errors").ours for policy in ("v6.1", "v6.7")]
    assert errors == [240, 160]


def test_a_thaw_that_restores_nothing_misses_the_bands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freezer_thaw_67, "RESTORING", "v6.1")
    wrong = torpor.reproduce("freezer-thaw-6.7", runs=2)
    assert not wrong.all_ok


@pytest.mark.parametrize(
    ("hz", "cycles", "rounding"),
    [(100, 5600, 50), (200, 8620, 10), (250, 7600, 50), (300, 9630, 10), (1000, 10_650, 10)],
)
def test_the_fit_finds_what_an_independent_prototype_found(
    fits: dict[int, Calibration], hz: int, cycles: int, rounding: int
) -> None:
    assert fits[hz].task_cycles == pytest.approx(cycles, abs=rounding)


def test_a_fit_meets_its_cells(fits: dict[int, Calibration]) -> None:
    for fit in (*fits.values(), calibrate()):
        assert fit.counts == {"futex": 410, "other": 15}
        assert fit.cell("v3.9", "task switch-ins").error_pct == 0.0
        assert fit.cell("full", "task switch-ins").error_pct == 0.0
        assert abs(fit.cell("v3.9", "freeze").error_pct) < 0.05
    assert abs(calibrate().cell("full", "freeze").error_pct) < 0.5


def test_the_board_keeps_a_round_cost_and_its_residual_is_told(fits: dict[int, Calibration]) -> None:
    costs = Board.load("nexus-10").freezer.costs
    assert costs.wake_cycles + costs.freeze_run_cycles == 9000
    board = calibration_report([200], runs=20).to_json()["fits"][0]
    freeze = next(cell for cell in board["cells"] if (cell["row"], cell["column"]) == ("v3.9", "freeze"))
    assert freeze["ours"] == pytest.approx(50.9, abs=0.06)
    assert freeze["error_pct"] == pytest.approx(1.9, abs=0.15)


def test_a_kernel_that_cannot_take_50_ms_is_refused() -> None:
    with pytest.raises(ConfigError, match="freeze_run_cycles: no value from 0 to 100000 gives 50"):
        calibrate(20, visit_cycles=140)


def test_the_mean_over_tick_phases_is_that_of_many_phases() -> None:
    world = scenario()
    phases_us = np.linspace(0.0, 5000.0, 40, endpoint=False) + 62.5
    played = [
        replace(world, since_tick_us=float(us)).run("v3.9", runs=2, seed=1).elapsed_ms.mean()
        for us in phases_us
    ]
    assert phase_mean_ms(world.run("v3.9", runs=FIT_RUNS, seed=1)) == pytest.approx(np.mean(played), abs=0.05)


def test_the_calibration_prints_one_row_per_fit() -> None:
    report = calibration_report([200, 250], runs=2)
    assert [len(table.rows) for table in report.tables] == [5, 7]
    assert "(+1" in report.to_text()
