# SPDX-License-Identifier: MIT
from __future__ import annotations

import json
from pathlib import Path

import pytest

import torpor
from torpor import ConfigError
from torpor.dpm import Generator
from torpor.experiments import EXPERIMENTS, suspend_2009
from torpor.experiments._suspend_2009_world import BASE, LAPTOPS, SLOWEST_MS, graph
from torpor.experiments._suspend_crossover import crossing
from torpor.experiments._suspend_laptops import longest, sum_ms, with_async_share
from torpor.experiments.suspend_2009 import PUBLISHED

Result = torpor.Reproduction


@pytest.fixture(scope="module")
def result() -> Result:
    return torpor.reproduce("suspend-2009", runs=15, seed=1)


def test_it_is_registered_under_its_name() -> None:
    assert EXPERIMENTS["suspend-2009"] is suspend_2009.reproduce


def test_only_sync_is_fitted_and_it_is_met(result: Result) -> None:
    for laptop, mode, side in PUBLISHED:
        cell = result.cell(f"{laptop}: {mode}", side)
        assert cell.kind == ("fitted" if mode == "sync" else "predicted")
        assert cell.ok or mode != "sync"


def test_the_verdict_rests_on_signs_and_fitted_cells(result: Result) -> None:
    assert result.all_ok
    assert all(cell.kind != "predicted" for cell in result.cells if cell.band is not None and cell.binding)


def test_upfront_wins_on_laptops_and_loses_on_the_phone(result: Result) -> None:
    for laptop in ("nx6325", "Wind"):
        assert result.cell(f"{laptop}: upfront under sync, resume", "share of graphs").ours == 1.0
    for factor, above in ((1, True), (32, False)):
        cell = result.cell(f"callbacks times {factor}", "old/sync, resume")
        assert (cell.ours > 1.05) == above
        assert (cell.ours < 0.95) != above
        assert cell.ok


def test_the_crossing_lies_between_2024_and_2009(result: Result) -> None:
    assert 1.0 < result.cell("callbacks times", "crossing of 1").ours < 16.0
    assert 60 < result.cell("devices", "crossing of 1").ours < 350


def test_upfront_is_no_slower_than_async_and_the_miss_is_printed(result: Result) -> None:
    for laptop in ("nx6325", "Wind"):
        ours = [result.cell(f"{laptop}: {mode}", "resume").ours for mode in ("async", "upfront")]
        assert ours[1] <= ours[0]
    assert "Predicted cells missed: nx6325: async" in " ".join(result.to_text().split())


def test_callbacks_add_up_to_the_sync_time_and_one_is_as_slow_as_told() -> None:
    sync = {"suspend": 703.0, "resume": 3562.0}
    for replicate in range(3):
        drawn = graph(LAPTOPS[1], BASE, sync, 7, replicate)
        for side, total in sync.items():
            assert sum(sum_ms(device, [side]) for device in drawn.devices) == pytest.approx(total, rel=1e-4)
        slowest = SLOWEST_MS["Wind", "resume"]
        assert any(sum_ms(d, ["resume"]) == pytest.approx(slowest, rel=1e-4) for d in drawn.devices)


def test_a_larger_share_of_async_devices_has_the_smaller_in_it() -> None:
    drawn = Generator(devices=60).draw(1)
    few, many = (
        {d.name for d in with_async_share(drawn, share, (1, 2)).devices if d.async_suspend}
        for share in (0.3, 0.6)
    )
    assert few < many


def test_the_slowest_device_stays_async() -> None:
    drawn = Generator(devices=60).draw(1)
    name = longest(drawn, ["resume"])
    assert {d.name for d in with_async_share(drawn, 0.0, (1, 2), name).devices if d.async_suspend} == {name}


def test_the_rightmost_crossing_counts_and_none_is_none() -> None:
    assert crossing([1.0, 2.0, 8.0], [0.5, 1.5, 0.5]) == pytest.approx(4.0)
    assert crossing([1.0, 2.0], [0.5, 0.6]) is None


def test_json_is_finite_and_it_draws(result: Result, tmp_path: Path) -> None:
    data = json.loads(json.dumps(result.to_json(), allow_nan=False))
    places = [(cell["row"], cell["column"]) for cell in data["cells"]]
    assert len(set(places)) == len(places)
    result.save_plots(tmp_path / "figure.svg")
    assert (tmp_path / "figure.svg").stat().st_size > 10_000


def test_a_single_graph_prints_without_intervals() -> None:
    single = torpor.reproduce("suspend-2009", runs=1)
    assert single.cell("Wind: upfront", "resume").low is None
    assert single.to_text()


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    one, two = (torpor.reproduce("suspend-2009", runs=2, seed=3, threads=n) for n in (1, 2))
    assert one.to_json() == two.to_json()


@pytest.mark.parametrize("wrong", [{"runs": 0}, {"seed": -1}, {"hz": 0}])
def test_numbers_out_of_range_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ConfigError):
        torpor.reproduce("suspend-2009", **wrong)


def test_progress_ends_with_all_replicates() -> None:
    seen: list[tuple[int, int]] = []
    torpor.reproduce("suspend-2009", runs=2, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1]
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
