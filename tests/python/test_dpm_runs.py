# SPDX-License-Identifier: MIT
"""Results of the dpm family: columns, tables, summaries."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest

import torpor
from dpm_scenes import DIAMOND, LIMITED, four
from refusals import refused
from torpor.board import Board
from torpor.dpm import PHASES, Generator, Runs, Scenario, run_policies, summarise

PHONE = Scenario(Board.load("pixel-6"), Generator(devices=40), cycles=3)


@pytest.fixture(scope="module")
def runs() -> Runs:
    return PHONE.run("old", runs=4, seed=2)


def test_there_is_one_figure_for_each_cycle_phase_and_cluster(runs: Runs) -> None:
    assert runs.suspend_ms.shape == runs.outcome.shape == (4, 3)
    assert runs.phase_ms.shape == runs.items.shape == (4, 3, 8)
    assert runs.cluster_busy_ns.shape == runs.main_ns.shape == (4, 3, 2, 3)
    assert (runs.runs, runs.cycles) == (4, 3)
    assert runs.stuck == ("",) * 4


def test_a_side_is_its_three_phases(runs: Runs) -> None:
    assert (runs.phase_ns[:, :, 1:4].sum(axis=2) == runs.suspend_ns).all()
    assert (runs.side("phase_ns", "resume") == runs.resume_ns).all()
    assert (runs.side("live_workers", "suspend") == runs.live_workers[:, :, 1:4].max(axis=2)).all()


@pytest.mark.parametrize("arguments", [("items", "up"), ("suspend_ns", "suspend"), ("x", "resume")])
def test_an_unknown_figure_or_side_is_refused(runs: Runs, arguments: tuple[str, str]) -> None:
    assert "is unknown: known are" in refused(lambda: runs.side(*arguments))


def test_the_bound_is_the_largest_of_the_bounds(runs: Runs) -> None:
    largest = np.max([runs.cp_ns, runs.w_ns, runs.ovh_ns, runs.sh_ns], axis=0)
    assert (runs.bound_ns == largest).all()


def test_the_main_thread_is_part_of_what_is_busy(runs: Runs) -> None:
    assert (runs.main_ns <= runs.cluster_busy_ns).all()
    assert (runs.main_ns.sum(axis=3) > 0).all()


def test_results_cannot_be_changed(runs: Runs) -> None:
    with pytest.raises(ValueError, match="read-only"):
        runs.suspend_ns[0, 0] = 1


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_results_do_not_depend_on_threads(runs: Runs, threads: int) -> None:
    assert PHONE.run("old", runs=4, seed=2, threads=threads) == runs


def test_later_replicates_extend_earlier_ones(runs: Runs) -> None:
    more = PHONE.run("old", runs=2, seed=2, first=2)
    assert (more.resume_ns == runs.resume_ns[2:]).all()
    assert more != runs
    assert more.to_frame()["replicate"].tolist() == [2, 3]


def test_another_seed_is_another_world(runs: Runs) -> None:
    assert (PHONE.run("old", runs=4, seed=3).suspend_ns != runs.suspend_ns).any()


def test_policies_on_one_seed_execute_the_same_callbacks(runs: Runs) -> None:
    other = PHONE.run("sync", runs=4, seed=2)
    assert (other.callbacks == runs.callbacks).all()
    assert (other.sum_ns == runs.sum_ns).all()


# Tables


def test_tables_have_a_row_for_what_their_level_says(runs: Runs) -> None:
    rows = {level: len(runs.to_frame(level)) for level in ("run", "cycle", "phase", "cluster")}
    assert rows == {"run": 4, "cycle": 12, "phase": 96, "cluster": 72}
    assert "level='cpu' is unknown: known are run" in refused(lambda: runs.to_frame("cpu"))  # type: ignore[arg-type]


def test_a_row_of_a_cycle_is_that_cycle(runs: Runs) -> None:
    row = runs.to_frame("cycle").set_index(["replicate", "cycle"]).loc[(2, 1)]
    assert row["suspend_ms"] == runs.suspend_ms[2, 1]
    assert row["resume_migrations"] == runs.resume_migrations[2, 1]
    assert row["outcome"] == "done"
    assert row[["ended_in", "device"]].isna().all()


def test_a_row_of_a_phase_is_that_phase(runs: Runs) -> None:
    frame = runs.to_frame("phase").set_index(["replicate", "cycle", "phase"])
    for place, phase in enumerate(PHASES):
        assert frame.loc[(3, 2, phase), "ms"] == runs.phase_ms[3, 2, place]
        assert frame.loc[(3, 2, phase), "items"] == runs.items[3, 2, place]


def test_a_row_of_a_cluster_is_that_cluster(runs: Runs) -> None:
    frame = runs.to_frame("cluster").set_index(["replicate", "cycle", "side", "cluster"])
    assert frame.loc[(1, 0, "resume", "big"), "cluster_busy_ms"] == runs.cluster_busy_ns[1, 0, 1, 2] / 1e6


def test_a_row_of_a_replicate_has_the_means_of_its_cycles(runs: Runs) -> None:
    frame = runs.to_frame()
    assert np.allclose(frame["suspend_ms"], runs.suspend_ms.mean(axis=1))
    assert np.allclose(frame["resume_phase_ms"], runs.phase_ms[:, :, 6].mean(axis=1))
    assert (frame["done"] == 1).all()


def test_a_cycle_that_fails_names_phase_and_device() -> None:
    frame = Scenario.reference(four(fails=("suspend",)), cycles=2).run("sync").to_frame("cycle")
    assert frame[["outcome", "ended_in", "device"]].values.tolist() == [["failed", "suspend", "C"]] * 2


# Playing again


def test_a_replicate_can_be_played_again(runs: Runs) -> None:
    frame = runs.intervals(3)
    assert frame.equals(PHONE.intervals("old", seed=2, replicate=3))
    assert len(frame) == 8 * 40
    last = frame[frame["phase"] == "suspend"]["end_ms"].max()
    assert last == pytest.approx(runs.phase_ms[3, 0, 1], rel=0.05)
    assert runs.timeline(1).devices == PHONE.graph(2, 1).order


@pytest.mark.parametrize("run", [-1, 4])
def test_there_is_no_other_replicate_to_play(runs: Runs, run: int) -> None:
    with pytest.raises(IndexError, match=f"run={run}: there are 4"):
        runs.intervals(run)


# Summaries


def test_a_summary_has_one_column_for_each_policy() -> None:
    results = run_policies(PHONE, ["sync", "old"], runs=4, seed=2)
    report = summarise(list(results.values()))
    data = report.to_json()
    assert data["policies"] == ["sync()", "old()"]
    assert (data["devices"], data["cycles"], data["runs"], data["cpus"]) == (40, 3, 4, 8)
    means = {(row["metric"], row["policy"]): row["mean"] for row in data["metrics"]}
    for policy, result in results.items():
        assert means["suspend", policy] == pytest.approx(result.suspend_ms.mean())
        assert means["phase resume_early", policy] == pytest.approx(result.phase_ms[:, :, 5].mean())
        assert means["resume, shared lock", policy] == pytest.approx(
            result.side("sh_ns", "resume").mean() / 1e6
        )
        assert means["resume, energy", policy] == pytest.approx(result.resume_energy_mj.mean())
        assert means["suspend, mid busy", policy] == pytest.approx(
            result.cluster_busy_ns[:, :, 0, 1].mean() / 1e6
        )
    assert "pixel-6, 8 CPUs, 40 devices, 3 cycles, 4 replicates of seed 2" in report.to_text()


def test_unknown_energy_is_called_so() -> None:
    report = summarise([Scenario.reference(DIAMOND).run("old", runs=2)])
    energy = next(row for row in report.to_json()["metrics"] if row["metric"] == "suspend, energy")
    assert energy["mean"] is None
    assert report.to_text().startswith("reference, 2 CPUs, 4 devices, 1 cycle, 2 replicates")


def test_results_of_other_worlds_are_not_put_side_by_side(runs: Runs) -> None:
    other = PHONE.run("sync", runs=4, seed=3)
    assert "is of other worlds than" in refused(lambda: summarise([runs, other]))


def test_results_read_back_from_their_representation(runs: Runs) -> None:
    assert repr(runs).endswith(".run('old()', runs=4, seed=2, first=0)")
    assert "suspend_ms" in runs._repr_html_()


def test_a_stuck_replicate_is_told_of_others() -> None:
    stuck = Scenario.reference(LIMITED).run("up-6.16(max_active=1)", runs=3)
    assert len(stuck.stuck) == 3
    assert all(stuck.stuck)
    assert stuck.to_frame()["stuck"].tolist() == [1, 1, 1]
    assert stuck != Scenario.reference(LIMITED).run("up-6.16(max_active=2)", runs=3)


# Stopping


@pytest.mark.skipif(not hasattr(signal, "SIGINT") or os.name == "nt", reason="needs POSIX signals")
def test_ctrl_c_stops_a_long_run() -> None:
    long = Scenario(Board.load("pixel-6"), cycles=1000)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        long.run("old", runs=1000)
    assert time.monotonic() - began < 60


def test_a_listener_that_answers_false_stops_the_run() -> None:
    with pytest.raises(torpor.Error):
        Scenario(Board.load("pixel-6"), cycles=200).run("old", runs=1000, progress=lambda done, total: False)


def test_what_a_listener_raises_comes_back() -> None:
    def listener(done: int, total: int) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        run_policies(Scenario(Board.load("pixel-6"), cycles=200), ["old"], runs=100, progress=listener)
