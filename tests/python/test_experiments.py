# SPDX-License-Identifier: MIT
from __future__ import annotations

import csv
import io
import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

import torpor
from torpor import ConfigError
from torpor.experiments import EXPERIMENTS, Cell, idle_2018
from torpor.experiments.idle_2018 import BANDS, POLICIES, PUBLISHED, STATES, WITH, WITHOUT

CELL_KEYS = [
    "row",
    "column",
    "unit",
    "published",
    "ours",
    "low",
    "high",
    "error_pct",
    "kind",
    "band",
    "ok",
]


@pytest.fixture(scope="module")
def result() -> torpor.Reproduction:
    return torpor.reproduce("idle-2018", runs=20, seed=1)


@pytest.fixture(scope="module")
def control() -> torpor.Reproduction:
    return torpor.reproduce("idle-2018", runs=10, seed=1, hz=250)


def test_an_unknown_experiment_lists_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"unknown experiment 'idle': known are .*idle-2018"):
        torpor.reproduce("idle")


@pytest.mark.parametrize("wrong", [{"runs": 0}, {"seed": -1}, {"hz": 0}])
def test_numbers_out_of_range_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ConfigError):
        torpor.reproduce("idle-2018", **wrong)


def test_every_experiment_is_registered_under_its_own_name() -> None:
    assert EXPERIMENTS[idle_2018.NAME] is idle_2018.reproduce


def test_every_band_is_kept_at_the_published_hz(result: torpor.Reproduction) -> None:
    judged = [cell for cell in result.cells if cell.band is not None]
    assert len(judged) == len(BANDS)
    assert all(cell.ok for cell in judged), [(cell.column, cell.ours) for cell in judged if not cell.ok]
    assert result.all_ok


def test_unpatched_cpu7_sticks_in_c1_and_the_text_says_so(result: torpor.Reproduction) -> None:
    stuck_s = result.cell("CPU7", "C1 without patches").ours
    assert f"At HZ=1000 unpatched CPU7 sticks in C1: C1 {stuck_s:.3f} s" in result.to_text()


def test_the_effect_vanishes_at_250_hz_and_the_text_says_so(control: torpor.Reproduction) -> None:
    assert control.cell("CPU7", "C1 without patches").ours < 0.05
    assert control.cell("CPU7", "C2 without patches").ours > 7.8
    text = control.to_text()
    assert "At HZ=250 unpatched CPU7 does not stick in C1" in text
    assert "tick length of 4000 us" in text


def test_a_miss_is_printed_as_a_miss(control: torpor.Reproduction) -> None:
    missed = {cell.column for cell in control.cells if cell.ok is False}
    assert missed == {"C1 without patches", "C2 without patches"}
    assert not control.all_ok
    assert control.to_text().count("MISS") == 2
    assert "Acceptance bands missed: CPU7 C1 without patches" in control.to_text()


def test_a_wrong_governor_misses_the_bands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idle_2018, "PATCHED", "ladder(version=6.1)")
    wrong = torpor.reproduce("idle-2018", runs=2)
    missed = {cell.column for cell in wrong.cells if cell.ok is False}
    assert missed == {"C1 with patches", "C2 with patches"}
    assert not wrong.all_ok


def test_no_published_number_reaches_our_side(
    result: torpor.Reproduction, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idle_2018, "PUBLISHED", dict.fromkeys(PUBLISHED, (1.0, 2.0, 3.0)))
    other = torpor.reproduce("idle-2018", runs=20, seed=1)
    assert [(c.ours, c.low, c.high) for c in other.cells] == [(c.ours, c.low, c.high) for c in result.cells]
    assert other.cell("CPU7", "C0 without patches").published == 1.0


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    one, two = (torpor.reproduce("idle-2018", runs=4, seed=3, threads=threads) for threads in (1, 2))
    assert one.to_json() == two.to_json()
    assert one.to_text() == two.to_text()


def test_another_seed_gives_other_figures() -> None:
    one, two = (torpor.reproduce("idle-2018", runs=2, seed=seed) for seed in (1, 2))
    column = "C2 with patches"
    assert one.cell("CPU7", column).ours != two.cell("CPU7", column).ours


def test_json_has_exactly_the_promised_shape(result: torpor.Reproduction) -> None:
    data = json.loads(json.dumps(result.to_json(), allow_nan=False))
    assert list(data) == ["experiment", "version", "seed", "runs", "cells"]
    assert (data["experiment"], data["seed"], data["runs"]) == ("idle-2018", 1, 20)
    assert data["version"] == torpor.__version__
    for cell in data["cells"]:
        assert list(cell) == CELL_KEYS
        assert cell["kind"] in ("fitted", "predicted", "reference")
        assert (cell["published"] is None) == (cell["kind"] == "reference")
        assert cell["low"] <= cell["ours"] <= cell["high"]
        assert (cell["band"] is None) == (cell["ok"] is None)


def test_places_of_cells_are_unique(result: torpor.Reproduction) -> None:
    places = [(cell.row, cell.column) for cell in result.cells]
    assert len(set(places)) == len(places)


def test_there_is_a_cell_for_every_cpu_state_and_column(result: torpor.Reproduction) -> None:
    rows = [*(f"CPU{cpu}" for cpu in range(8)), "CPU0-6", "All"]
    for row in rows:
        for state in STATES:
            for group in (WITHOUT, WITH, "difference"):
                known = row in ("CPU7", "CPU0-6", "All")
                assert (result.cell(row, f"{state} {group}").published is not None) == known
    with pytest.raises(KeyError):
        result.cell("CPU8", "C0 difference")


def test_published_cells_are_those_of_the_mail_and_their_differences(result: torpor.Reproduction) -> None:
    assert result.cell("CPU7", "C1 without patches").published == 8.041
    assert result.cell("CPU0-6", "C0 without patches").published == 0.146
    assert result.cell("CPU7", "C1 difference").published == -8.011


def test_rows_of_all_cpus_add_up(result: torpor.Reproduction) -> None:
    for state in STATES:
        column = f"{state} with patches"
        total = sum(result.cell(f"CPU{cpu}", column).ours for cpu in range(8))
        assert result.cell("All", column).ours == pytest.approx(total)


def test_the_interval_of_a_difference_is_that_of_pairs(result: torpor.Reproduction) -> None:
    without, patched = (result.results[name].residency_ns[:, 7, 0] / 1e9 for name in (WITHOUT, WITH))
    cell = result.cell("CPU7", "C0 difference")
    assert cell.ours == pytest.approx(float(np.mean(patched - without)))
    assert cell.high - cell.ours == pytest.approx(
        2.093 * np.std(patched - without, ddof=1) / np.sqrt(20), rel=1e-3
    )


def test_idle_time_is_cut_off_at_the_end_of_the_trace(result: torpor.Reproduction) -> None:
    for runs in result.results.values():
        assert (runs.residency_ns.sum(axis=2) <= 10e9 + 1e6).all()
        assert (runs.residency_ns.sum(axis=2) >= 9.8e9).all()


def test_every_policy_is_a_row_of_reference_cells(result: torpor.Reproduction) -> None:
    for policy in POLICIES:
        cells = [cell for cell in result.cells if cell.row == policy]
        assert len(cells) == 8
        assert {cell.kind for cell in cells} == {"reference"}


def test_the_loop_alone_is_compared_with_both_patches(result: torpor.Reproduction) -> None:
    both = [result.cell("menu(version=4.18+P1, loop=leo)", f"CPU7 {state}").ours for state in STATES]
    alone = [result.cell("menu(version=4.18, loop=leo)", f"CPU7 {state}").ours for state in STATES]
    assert alone == both
    assert "The patch of the loop alone gives CPU7 the same residencies as both patches" in result.to_text()


def test_every_input_has_a_mark_and_a_source(result: torpor.Reproduction) -> None:
    assert all(item.mark in ("cited", "fitted", "assumed") and item.source for item in result.inputs)
    assert {item.name: item.mark for item in result.inputs}["background on CPU0 to CPU6"] == "assumed"


def test_csv_is_one_table_with_all_digits(result: torpor.Reproduction) -> None:
    rows = list(csv.DictReader(io.StringIO(result.to_csv())))
    assert len(rows) == len(result.cells)
    assert [float(row["ours"]) for row in rows] == [cell.ours for cell in result.cells]


def test_all_forms_show_the_published_value_and_ours(result: torpor.Reproduction) -> None:
    ours = f"{result.cell('CPU7', 'C1 without patches').ours:.3f}"
    for text in (
        result.to_text(),
        result.to_markdown(),
        result.to_latex(),
        result._repr_html_(),
        str(result),
    ):
        assert "8.041" in text
        assert ours in text


def test_progress_counts_the_replicates_of_all_policies() -> None:
    seen: list[tuple[int, int]] = []
    torpor.reproduce("idle-2018", runs=2, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (2 * len(POLICIES), 2 * len(POLICIES))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_a_single_replicate_has_no_interval() -> None:
    cell = torpor.reproduce("idle-2018", runs=1).cell("CPU7", "C0 with patches")
    assert (cell.low, cell.high) == (None, None)


def test_a_reproduction_survives_pickling(result: torpor.Reproduction) -> None:
    assert pickle.loads(pickle.dumps(result)) == result


def test_repr_is_the_call_that_made_it(control: torpor.Reproduction) -> None:
    assert repr(control) == "reproduce('idle-2018', runs=10, seed=1, hz=250)"


@pytest.fixture
def cell() -> Cell:
    return Cell(
        "r", "c", "s", published=-2.0, ours=-1.0, low=-1.5, high=-0.5, kind="predicted", band=(-1.0, 0.0)
    )


def test_the_error_is_relative_to_the_size_of_the_published_value(cell: Cell) -> None:
    assert cell.error_pct == 50.0
    assert replace(cell, published=0.0).error_pct is None


@pytest.mark.parametrize(("ours", "ok"), [(-1.0, True), (-1.001, False), (0.0, True), (0.001, False)])
def test_a_band_includes_its_ends(cell: Cell, ours: float, ok: bool) -> None:
    assert replace(cell, ours=ours).ok is ok


def test_a_reference_cell_has_no_published_value(cell: Cell) -> None:
    with pytest.raises(ValueError, match="kind='reference' with published=-2"):
        replace(cell, kind="reference")
    with pytest.raises(ValueError, match="kind='predicted' with published=None"):
        replace(cell, published=None)
