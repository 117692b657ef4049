# SPDX-License-Identifier: MIT
"""Timelines of freezes, and their figures."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import torpor as tp
from torpor.freezer import Scenario
from torpor.freezer.plots import plot_freeze, plot_freezes, plot_frequency_sweep, sweep_frequency
from torpor.freezer.timeline import IDLE, WALKER, Timeline
from torpor.plot import new_figure, save_figure

plt = pytest.importorskip("matplotlib.pyplot")

TOY = Scenario(tp.Board.load("toy"), opp_khz=1_000_000, since_tick_us=0, loops="user_only")
TABLET = Scenario(tp.Board.load("nexus-10"), opp_khz=200_000)


@pytest.fixture(autouse=True)
def _headless() -> Iterator[None]:
    plt.switch_backend("agg")
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def timeline() -> Timeline:
    return TOY.timeline("p1")


def test_the_passes_and_sleeps_are_those_worked_out(timeline: Timeline) -> None:
    passes = timeline.passes()
    assert passes[["start_us", "end_us"]].to_numpy().tolist() == [[0, 50], [1125, 1135]]
    assert passes["number"].tolist() == [1, 2]
    assert passes["todo"].tolist() == [10, 0]
    assert timeline.sleeps().to_numpy().tolist() == [[125, 1125]]
    loops = timeline.loops()
    assert loops["loop"].tolist() == ["user", "thaw"]
    assert loops["start_us"].tolist() == [0, 1135]


def test_tasks_freeze_and_block_again_when_they_are_said_to(timeline: Timeline) -> None:
    frame = timeline.to_frame()
    frozen = frame[frame["event"] == "frozen"]["time_ns"] / 1000
    assert frozen.tolist() == [25, 45, 65, 70, 85, 90, 105, 110, 125, 130]
    assert (frame["event"] == "reblocked").sum() == 10
    tasks = TOY.tasks("p1")
    assert sorted(tasks["frozen_us"]) == frozen.tolist()
    marked = TOY.timeline("v6.1").to_frame()
    assert (marked["event"] == "marked").sum() == 6


def test_the_time_of_intervals_is_the_busy_time(timeline: Timeline) -> None:
    runs = TOY.run("p1")
    for cpu in range(2):
        ran = timeline.intervals(cpu)
        assert (ran["end_us"] > ran["start_us"]).all()
        assert IDLE not in set(ran["entity"])
        busy_us = (ran["end_us"] - ran["start_us"]).sum()
        assert busy_us == pytest.approx((runs.freeze_cpu_busy_ns + runs.thaw_cpu_busy_ns)[0, cpu] / 1000)
    assert WALKER in set(timeline.intervals(0)["entity"])


def test_records_come_in_order_of_time_and_from_both_phases() -> None:
    frame = TABLET.timeline("v3.9", seed=1).to_frame()
    assert frame["time_ns"].is_monotonic_increasing
    assert set(frame["cpu"]) == {0, 1}
    assert (frame["event"] == "frozen").sum() == 1000
    assert TABLET.timeline("v3.9", seed=1).loops()["loop"].tolist() == ["user", "kernel", "thaw"]


def test_replicates_are_found_again() -> None:
    runs = TABLET.run("v3.9", runs=3, seed=4)
    assert runs.timeline(2) == TABLET.timeline("v3.9", seed=4, replicate=2)
    assert runs.timeline(2) != TABLET.timeline("v3.9", seed=4, replicate=1)
    assert runs.timeline(2).loops()["end_us"].iloc[1] * 1000 == pytest.approx(runs.elapsed_ns[2])


@pytest.mark.parametrize("cpu", [-1, 2])
def test_a_cpu_that_is_not_there_is_refused(timeline: Timeline, cpu: int) -> None:
    with pytest.raises(tp.ConfigError, match=rf"cpu={cpu} is outside 0\.\.1"):
        timeline.intervals(cpu)


def lane_us(ax: object, lane: float, label: str) -> float:
    """Length of all bars of one fill in one lane."""
    total = 0.0
    for bars in ax.collections:  # type: ignore[attr-defined]
        if bars.get_label() != label:
            continue
        for path in bars.get_paths():
            low, high = path.vertices[:, 1].min(), path.vertices[:, 1].max()
            if low < lane < high:
                total += path.vertices[:, 0].max() - path.vertices[:, 0].min()
    return total


def test_a_figure_shows_what_each_cpu_ran(timeline: Timeline) -> None:
    ax = timeline.plot()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["walker", "CPU0", "CPU1"]
    assert ax.get_xlabel() == "time from the start of the freeze (us)"
    for cpu in range(2):
        ran = timeline.intervals(cpu)
        length = ran["end_us"] - ran["start_us"]
        assert lane_us(ax, -cpu - 1, "tasks") == pytest.approx(length[ran["entity"] != WALKER].sum())
        assert lane_us(ax, -cpu - 1, "walker") == pytest.approx(length[ran["entity"] == WALKER].sum())
    assert lane_us(ax, 0, "walker sleeps") == pytest.approx(1000)
    texts = [text.get_text() for text in ax.texts]
    assert "10" in texts
    assert "user" in texts
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        *("walker", "tasks", "walker sleeps", "tasks still to freeze")
    ]


def test_the_window_can_be_chosen(timeline: Timeline) -> None:
    assert plot_freeze(timeline, start_us=10.0, end_us=60.0).get_xlim() == (10.0, 60.0)
    with pytest.raises(tp.ConfigError, match=r"end_us=5\.0 is not above start_us=5\.0"):
        plot_freeze(timeline, start_us=5.0, end_us=5.0)


def test_fills_differ_in_lightness_or_hatch(timeline: Timeline) -> None:
    ax = timeline.plot()
    looks = {}
    for bars in ax.collections:
        if bars.get_label() in {"walker", "tasks", "walker sleeps"}:
            grey = float(np.dot(bars.get_facecolor()[0][:3], (0.299, 0.587, 0.114)))
            looks[bars.get_label()] = (round(grey, 2), bars.get_hatch())
    greys = sorted(grey for grey, _ in looks.values())
    assert all(b - a > 0.15 for a, b in itertools.pairwise(greys))


def test_several_timelines_share_an_axis_of_time() -> None:
    figure = new_figure()
    plot_freezes([TOY.timeline(policy) for policy in ("p1", "full")], figure)
    assert len({ax.get_xlim() for ax in figure.axes}) == 1
    with pytest.raises(tp.ConfigError, match="at least one timeline"):
        plot_freezes([], figure)


def test_the_same_timeline_gives_the_same_file(timeline: Timeline, tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg"):
        save_figure(lambda figure: plot_freezes([timeline], figure), tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_a_frequency_sweep_draws_the_mean_of_each_policy() -> None:
    swept = sweep_frequency(TABLET, ["v3.9", "full", "full"], freq_khz=[200_000, 800_000], runs=3)
    assert list(swept) == ["freezer(version=v3.9)", "freezer(version=full)"]
    ax = plot_frequency_sweep(swept, targets_ms={"10 ms": 10.0})
    lines = {line.get_label(): line for line in ax.lines}
    for label, runs in swept.items():
        np.testing.assert_allclose(lines[label].get_xdata(), [200.0, 800.0])
        np.testing.assert_allclose(lines[label].get_ydata(), [one.elapsed_ms.mean() for one in runs])
    looks = {(line.get_linestyle(), line.get_marker()) for label, line in lines.items() if label in swept}
    assert len(looks) == 2
    assert "10 ms" in [text.get_text() for text in ax.texts]
    with pytest.raises(tp.ConfigError, match="nothing to show"):
        plot_frequency_sweep({})


def test_a_sweep_takes_the_frequencies_of_the_board_and_refuses_others() -> None:
    assert len(sweep_frequency(TABLET, ["full"], runs=1)["freezer(version=full)"]) == 16
    with pytest.raises(tp.ConfigError, match="opp_khz=1:"):
        sweep_frequency(TABLET, ["full"], freq_khz=[1])
