# SPDX-License-Identifier: MIT
from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path

import pytest

import torpor
from torpor import ConfigError
from torpor.experiments import EXPERIMENTS, suspend_2024
from torpor.experiments._suspend_2024_variants import ablations, sensitivities
from torpor.experiments._suspend_2024_world import BY_PROTOCOL, DIFFERENCES, EXISTENCE, PLANS, band
from torpor.experiments.suspend_2024 import PUBLISHED, SWEEPS, run_block, scenario, sweep

Result = torpor.Reproduction

RUNS = 12


@pytest.fixture(scope="module")
def result() -> Result:
    return torpor.reproduce("suspend-2024", runs=RUNS, seed=1)


def text_of(result: Result) -> str:
    return " ".join(result.to_text().split())


def test_it_is_registered_under_its_name() -> None:
    assert EXPERIMENTS["suspend-2024"] is suspend_2024.reproduce


def test_every_block_has_all_eight_cells_and_the_p4_difference(result: Result) -> None:
    for plan in PLANS:
        for (policy, side), value in PUBLISHED.items():
            assert result.cell(f"{plan.name}: {policy}", side).published == value
        assert result.cell(f"{plan.name}: S4-S2", "difference").published == 5.0


def test_kinds_tell_what_each_block_was_fitted_to(result: Result) -> None:
    fitted = {
        plan.name: {
            (cell.row[-2:], cell.column)
            for cell in result.cells
            if cell.row.startswith(plan.name) and cell.unit == "ms" and cell.kind == "fitted"
            if cell.column in ("suspend", "resume")
        }
        for plan in PLANS
    }
    sync = {("P0", "suspend"), ("P0", "resume")}
    assert fitted["block 1"] == sync
    assert fitted["block 2"] == sync | {("P1", "suspend"), ("P1", "resume")}
    assert fitted["block 3"] == set(PUBLISHED)


def test_fitted_cells_are_met(result: Result) -> None:
    for plan in PLANS:
        for side in ("suspend", "resume"):
            cell = result.cell(f"{plan.name}: P0", side)
            assert abs(cell.ours - cell.published) < 0.5
    for side in ("suspend", "resume"):
        assert result.cell("block 2: P1", side).ok


def test_only_block_3_decides_the_verdict(result: Result) -> None:
    judged = [cell for cell in result.cells if cell.band is not None]
    assert {cell.row[:7] for cell in judged if cell.binding} == {"block 3"}
    assert any(cell.ok is False for cell in judged if not cell.binding)
    broken = [replace(cell, ours=0.0) if cell.row == "block 1: P3" else cell for cell in result.cells]
    assert replace(result, cells=broken).all_ok == result.all_ok
    broken = [replace(cell, ours=0.0) if cell.row == "block 3: P3" else cell for cell in result.cells]
    assert not replace(result, cells=broken).all_ok


def test_the_existence_result_holds() -> None:
    block = run_block(EXISTENCE, scenario(EXISTENCE, cycles=5), runs=60, seed=11)
    missed = [(cell.row, cell.column, cell.ours) for cell in block.cells() if cell.ok is False]
    assert not missed
    assert not block.fit.missed


def test_misses_of_the_predictions_are_printed(result: Result) -> None:
    text = text_of(result)
    assert "MISS" in text
    assert "Block 1: orderings above zero in 90 % of the graphs:" in text
    assert result.cell("block 1: S4-S2", "difference").ours < 0.0
    assert "the WRONG sign" in text
    assert "EXISTENCE RESULT, no prediction" in text


def test_blocks_never_share_a_table(result: Result) -> None:
    titles = [table.title for table in result.tables]
    for plan in PLANS:
        assert sum(title.startswith(plan.name.capitalize() + ",") for title in titles) == 3
    assert all(sum(plan.name in title.lower() for plan in PLANS) == 1 for title in titles)


def test_a_difference_is_taken_graph_by_graph(result: Result) -> None:
    old, first = (result.results[f"block 3: {name}"].suspend_ms.mean(axis=1) for name in ("P1", "P2"))
    cell = result.cell("block 3: S1-S2", "difference")
    assert cell.ours == pytest.approx(float((old - first).mean()))
    assert result.cell("block 3: S1-S2", "share of graphs").ours == float((old > first).mean())
    wide = result.cell("block 3: P1", "suspend")
    assert cell.high - cell.low < wide.high - wide.low


def test_no_published_number_but_the_targets_of_fits_reaches_a_policy(
    result: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    unused = {place: 1.2 * value for place, value in PUBLISHED.items() if place[0] in ("P2", "P3")}
    monkeypatch.setattr(suspend_2024, "PUBLISHED", {**PUBLISHED, **unused})
    other = torpor.reproduce("suspend-2024", runs=RUNS, seed=1)
    assert other.cell("block 1: P2", "suspend").published == 72.0
    ours, theirs = ([(cell.row, cell.column, cell.ours) for cell in r.cells] for r in (result, other))
    assert ours == theirs


def test_the_fit_follows_its_target(monkeypatch: pytest.MonkeyPatch) -> None:
    longer = {place: 1.3 * value for place, value in PUBLISHED.items()}
    monkeypatch.setattr(suspend_2024, "PUBLISHED", longer)
    block = run_block(BY_PROTOCOL, scenario(BY_PROTOCOL, cycles=2), runs=4, seed=3)
    assert block.results["P0"].suspend_ms.mean() == pytest.approx(139.1, abs=0.5)


def test_without_the_shared_lock_old_async_is_far_faster(result: Result) -> None:
    base, without = (
        result.cell(f"ablation: {name}", "S1").ours for name in ("none", "no shared lock (K6 off)")
    )
    assert without < 0.7 * base


def test_on_equal_cpus_nothing_is_left_to_gain(result: Result) -> None:
    row = "ablation: eight CPUs as the big ones"
    assert result.cell(row, "S4-S2").ours == 0.0
    assert result.cell(row, "R1").ours < 75.0


def test_every_ablation_and_sensitivity_changes_its_world() -> None:
    world = scenario(EXISTENCE)
    for rows in (ablations(world), sensitivities(world)):
        for row in rows[1:]:
            assert row.world != world or row.instead, row.name
        assert len({row.name for row in rows}) == len(rows)


def test_the_differences_are_named_after_their_cells() -> None:
    assert [one.name for one in DIFFERENCES[:3]] == ["S0-S1", "S1-S2", "S4-S2"]


def test_a_band_is_two_milliseconds_at_least() -> None:
    assert band(72.0) == (64.8, 79.2)
    assert band(12.0) == (10.0, 14.0)


def test_every_input_has_a_mark_and_a_source(result: Result) -> None:
    assert all(item.source for item in result.inputs)
    fitted = [item.name for item in result.inputs if item.mark == "fitted"]
    assert "block 2: CPU share, overheads" in fitted
    assert "block 3: devices" in fitted
    assert not [name for name in fitted if name.startswith("block 1")]


def test_json_is_finite_and_places_are_unique(result: Result) -> None:
    data = json.loads(json.dumps(result.to_json(), allow_nan=False))
    places = [(cell["row"], cell["column"]) for cell in data["cells"]]
    assert len(set(places)) == len(places)


def test_a_single_graph_prints_without_intervals() -> None:
    single = torpor.reproduce("suspend-2024", runs=1)
    assert "±" not in single.to_text()


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    one, two = (torpor.reproduce("suspend-2024", runs=3, seed=3, threads=n) for n in (1, 2))
    assert one.to_json() == two.to_json()


@pytest.mark.parametrize("wrong", [{"runs": 0}, {"seed": -1}, {"hz": 0}])
def test_numbers_out_of_range_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ConfigError):
        torpor.reproduce("suspend-2024", **wrong)


def test_progress_ends_with_all_replicates() -> None:
    seen: list[tuple[int, int]] = []
    torpor.reproduce("suspend-2024", runs=2, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1]
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_it_draws_and_survives_pickling(result: Result, tmp_path: Path) -> None:
    result.save_plots(tmp_path / "figure.svg")
    assert (tmp_path / "figure.svg").stat().st_size > 10_000
    assert pickle.loads(pickle.dumps(result)).to_json() == result.to_json()


def test_repr_is_the_call_that_made_it(result: Result) -> None:
    assert repr(result) == f"reproduce('suspend-2024', runs={RUNS}, seed=1)"


@pytest.mark.parametrize("name", list(SWEEPS))
def test_every_sweep_prints_and_is_plain_data(name: str) -> None:
    report = sweep(name, runs=2)
    assert report.tables[0].rows
    json.dumps(report.to_json(), allow_nan=False)


def test_without_async_devices_all_policies_take_as_long_as_sync() -> None:
    rows = [row for row in sweep("async-share", runs=3).data["rows"] if row["async_share"] == 0.0]
    times = [row["suspend_ms"] for row in rows]
    assert max(times) < 1.02 * min(times)


def test_more_async_devices_shorten_suspend_and_lengthen_resume_of_old() -> None:
    rows = [row for row in sweep("async-share", runs=6).data["rows"] if row["policy"] == "old()"]
    assert rows[-1]["suspend_ms"] < 0.8 * rows[0]["suspend_ms"]
    assert rows[-1]["resume_ms"] > rows[0]["resume_ms"]


def test_a_small_limit_blocks_6_16_for_ever_and_nothing_else() -> None:
    rows = sweep("workers", runs=2).data["rows"]
    stuck = {row["policy"]: row["stuck"] for row in rows if row["max_active"] == 2}
    assert stuck["old"] == stuck["breadth-first"] == 0.0
    assert stuck["up-6.16"] > 0.0


def test_a_faster_device_helps_most_on_the_critical_path() -> None:
    rows = {(row["policy"], row["device"]): row for row in sweep("slow-device", runs=6).data["rows"]}
    for policy in ("old()", "breadth-first()"):
        on, off = (rows[policy, where]["gain_ms"] for where in ("on the path", "off the path"))
        assert on > 1.0
        assert off < on
