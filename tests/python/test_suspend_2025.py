# SPDX-License-Identifier: MIT
from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import torpor
from torpor import ConfigError
from torpor.experiments import EXPERIMENTS, suspend_2025
from torpor.experiments.suspend_2025 import CYCLES_MS, POLICIES, PUBLISHED

Result = torpor.Reproduction


@pytest.fixture(scope="module")
def result() -> Result:
    return torpor.reproduce("suspend-2025", runs=20, seed=1)


def test_it_is_registered_under_its_name() -> None:
    assert EXPERIMENTS["suspend-2025"] is suspend_2025.reproduce


def test_only_the_baseline_is_fitted_and_it_is_met(result: Result) -> None:
    for name in POLICIES:
        for side in ("suspend", "resume"):
            cell = result.cell(name, side)
            assert cell.kind == ("fitted" if name == "baseline" else "predicted")
            assert cell.published == pytest.approx(np.mean(CYCLES_MS[name, side]))
    assert abs(result.cell("baseline", "suspend").ours - PUBLISHED["baseline", "suspend"]) < 1.0


def test_suspend_is_shorter_and_resume_unchanged(result: Result) -> None:
    assert result.all_ok
    for name in ("parent-child", "+ links"):
        assert result.cell(name, "suspend, change").ours < -3.0
        assert abs(result.cell(name, "resume, change").ours) < 1.0


def test_the_size_is_missed_and_printed(result: Result) -> None:
    assert result.cell("+ links", "suspend").ok is False
    assert "Predicted cells missed: parent-child suspend, + links suspend" in " ".join(
        result.to_text().split()
    )


def test_with_all_devices_async_nothing_is_gained(result: Result) -> None:
    assert abs(result.cell("100 % async: + links", "suspend, change").ours) < 0.5


def test_a_kernel_that_changes_nothing_misses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suspend_2025, "POLICIES", {**POLICIES, "+ links": "old"})
    assert not torpor.reproduce("suspend-2025", runs=4).all_ok


def test_json_is_finite_and_it_draws(result: Result, tmp_path: Path) -> None:
    data = json.loads(json.dumps(result.to_json(), allow_nan=False))
    places = [(cell["row"], cell["column"]) for cell in data["cells"]]
    assert len(set(places)) == len(places)
    result.save_plots(tmp_path / "figure.svg")
    assert (tmp_path / "figure.svg").stat().st_size > 10_000


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    one, two = (torpor.reproduce("suspend-2025", runs=2, seed=3, threads=n) for n in (1, 2))
    assert one.to_json() == two.to_json()


@pytest.mark.parametrize("wrong", [{"runs": 0}, {"seed": -1}, {"hz": 0}])
def test_numbers_out_of_range_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ConfigError):
        torpor.reproduce("suspend-2025", **wrong)


def test_progress_ends_with_all_replicates() -> None:
    seen: list[tuple[int, int]] = []
    torpor.reproduce("suspend-2025", runs=2, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1]
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
