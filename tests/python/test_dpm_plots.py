# SPDX-License-Identifier: MIT
"""Figures of the dpm family."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import torpor as tp
from torpor.dpm import Device, DeviceGraph, Generator, Scenario, Segment, run_policies
from torpor.dpm._critical_path import critical_path
from torpor.dpm.plots import plot_cpus, plot_phase, plot_phases, plot_totals
from torpor.plot import new_figure, save_figure

plt = pytest.importorskip("matplotlib.pyplot")

BOARD = tp.Board.load("toy")
TOY = Scenario(BOARD)
WIDE = Scenario(BOARD, Generator(devices=90, lock_share=0.5), cycles=2)


@pytest.fixture(autouse=True)
def _headless() -> Iterator[None]:
    plt.switch_backend("agg")
    yield
    plt.close("all")


def names(ax: Any) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def lane_ms(ax: Any, lane: float, label: str) -> float:
    """Length of all bars of one fill in one lane."""
    total = 0.0
    for bars in ax.collections:
        if bars.get_label() != label:
            continue
        for path in bars.get_paths():
            low, high = path.vertices[:, 1].min(), path.vertices[:, 1].max()
            if low < lane < high:
                total += path.vertices[:, 0].max() - path.vertices[:, 0].min()
    return total


def greys(ax: Any) -> dict[str, float]:
    weights = (0.299, 0.587, 0.114)
    return {
        str(patch.get_label()): float(np.dot(patch.get_facecolor()[:3], weights))
        for patch in ax.get_legend().get_patches()
    }


def phase_lines(ax: Any) -> list[Any]:
    return [line for line in ax.lines if line.get_label() == "critical path"]


def test_a_chart_shows_devices_with_callbacks_and_those_of_the_path() -> None:
    intervals, graph = TOY.intervals("old", seed=1), TOY.graph(1)
    ax = plot_phase(intervals, graph, "resume", label="old")
    here = intervals[intervals["phase"] == "resume"]
    path = critical_path(intervals, graph, "resume")
    assert set(names(ax)) == set(here.loc[here["called"], "device"]) | set(path["device"])
    assert ax.get_title(loc="left").startswith("old: resume, ")
    bold = [t.get_text() for t in ax.get_yticklabels() if t.get_fontweight() == "bold"]
    assert set(bold) == set(path["device"])


def test_bars_are_as_long_as_the_intervals() -> None:
    intervals, graph = TOY.intervals("old", seed=1), TOY.graph(1)
    ax = plot_phase(intervals, graph, "resume")
    here = intervals[intervals["phase"] == "resume"].set_index("device")
    for lane, name in enumerate(names(ax)):
        row = here.loc[name]
        who = "worker" if row["worker"] else "main thread"
        assert lane_ms(ax, -lane, who) == pytest.approx(row["end_ms"] - row["begin_ms"])
        assert lane_ms(ax, -lane, "waits") == pytest.approx(row["begin_ms"] - row["taken_ms"])


def test_waits_for_a_lock_are_no_work() -> None:
    held = [Segment.lock("bus"), Segment.sleep(2000), Segment.unlock("bus")]
    graph = DeviceGraph([Device(name, callbacks={"resume": held, "suspend": []}) for name in "ab"])
    ax = plot_phase(Scenario.reference(graph).intervals("old"), graph, "resume")
    assert names(ax) == ["a", "b"]
    assert lane_ms(ax, -1, "waits") == pytest.approx(2.0)
    assert lane_ms(ax, -1, "worker") == pytest.approx(2.0)
    assert lane_ms(ax, 0, "waits") == 0.0


def test_the_path_is_a_line_from_the_start_to_the_end_with_the_reasons() -> None:
    intervals, graph = WIDE.intervals("old", seed=2), WIDE.graph(2)
    path = critical_path(intervals, graph, "resume")
    ax = plot_phase(intervals, graph, "resume", rows=200)
    lines = phase_lines(ax)
    ends = [tuple(line.get_xdata()) for line in lines]
    assert ends == list(zip(path["start_ms"], path["end_ms"], strict=True))
    lanes = {name: -lane for lane, name in enumerate(names(ax))}
    levels = [float(line.get_ydata()[0]) for line in lines]
    assert levels == pytest.approx([lanes[name] - 0.42 for name in path["device"]])
    assert [text.get_text() for text in ax.texts] == path["reason"].tolist()


def test_too_many_devices_are_the_longest_and_the_title_says_so() -> None:
    intervals, graph = WIDE.intervals("old", seed=2), WIDE.graph(2)
    everything = names(plot_phase(intervals, graph, "resume", rows=500))
    path = critical_path(intervals, graph, "resume")
    ax = plot_phase(intervals, graph, "resume", rows=3)
    assert f"the longest 3 of {len(everything)} devices" in ax.get_title(loc="left")
    assert len(path) > 3
    assert set(names(ax)) == set(path.nlargest(3, "length_ms")["device"])
    dotted = [line for line in ax.lines if line.get_linestyle() == ":"]
    assert dotted
    with pytest.raises(tp.ConfigError, match=r"rows=0 is outside 1\.\.500"):
        plot_phase(intervals, graph, "resume", rows=0)


def test_charts_of_phases_stand_below_each_other() -> None:
    figure = new_figure()
    plot_phases(TOY.intervals("old"), TOY.graph(), figure, phases=("suspend", "resume_noirq"))
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert [title.split(",")[0] for title in titles] == ["suspend", "resume_noirq"]
    with pytest.raises(tp.ConfigError, match="at least one phase"):
        plot_phases(TOY.intervals("old"), TOY.graph(), new_figure(), phases=())


def test_a_phase_in_which_no_device_ended_is_refused() -> None:
    intervals = TOY.intervals("old")
    intervals["end_ms"] = np.nan
    with pytest.raises(tp.ConfigError, match="phase='resume': no device ended in it"):
        plot_phase(intervals, TOY.graph(), "resume")


def test_fills_differ_in_lightness() -> None:
    shades = greys(plot_phase(WIDE.intervals("old", seed=2), WIDE.graph(2), "suspend"))
    shades |= greys(plot_cpus(WIDE.timeline("old", seed=2)))
    assert set(shades) >= {"main thread", "worker", "waits", "the next worker on that CPU"}
    del shades["queued"]  # told by its height
    assert all(b - a > 0.1 for a, b in itertools.pairwise(sorted(shades.values())))


def test_lanes_are_as_long_as_what_each_cpu_did() -> None:
    timeline = WIDE.timeline("old", seed=2)
    ax = timeline.plot()
    assert names(ax) == ["CPU0", "CPU1"]
    counts = timeline.counts()
    for cpu in range(2):
        assert lane_ms(ax, -cpu, "main thread") == pytest.approx(counts["main_ms"][cpu])
        assert lane_ms(ax, -cpu, "worker") == pytest.approx(counts["workers_ms"][cpu])


def test_a_phase_or_a_window_of_the_lanes_can_be_chosen() -> None:
    timeline = TOY.timeline("old", seed=1)
    phases = timeline.phases().set_index("phase")
    ax = plot_cpus(timeline, phase="resume")
    assert ax.get_xlim() == (phases.loc["resume", "start_ms"], phases.loc["resume", "end_ms"])
    assert [text.get_text() for text in ax.texts if text.get_text().isalpha()] == ["resume"]
    assert plot_cpus(timeline, start_ms=1.0, end_ms=2.0).get_xlim() == (1.0, 2.0)
    with pytest.raises(tp.ConfigError, match=r"end_ms=1\.0 is not above start_ms=1\.0"):
        plot_cpus(timeline, start_ms=1.0, end_ms=1.0)
    with pytest.raises(tp.ConfigError, match="phase='thaw' did not run"):
        plot_cpus(timeline, phase="thaw")


def test_the_names_of_long_phases_are_written() -> None:
    ax = plot_cpus(WIDE.timeline("old", seed=2))
    assert {"suspend", "resume"} <= {text.get_text() for text in ax.texts}


def test_totals_stack_the_mean_of_each_phase() -> None:
    results = run_policies(WIDE, ["sync", "old"], runs=4, seed=1)
    ax = plot_totals(results)
    widths = np.array([patch.get_width() for patch in ax.patches]).reshape(2, 2, 3)
    for drawn, runs in zip(widths, results.values(), strict=True):
        mean_ms = runs.phase_ms.mean(axis=(0, 1))
        np.testing.assert_allclose(drawn[0], mean_ms[[1, 2, 3]])
        np.testing.assert_allclose(drawn[1], mean_ms[[6, 5, 4]])
    assert names(ax) == ["suspend", "resume"] * 2
    texts = [text.get_text() for text in ax.texts]
    assert {"sync()", "old()"} <= set(texts)


def test_totals_carry_the_interval_of_the_sum_over_replicates() -> None:
    runs = WIDE.run("old", runs=5, seed=1)
    ax = plot_totals({"mine": runs})
    estimate = tp.stats.Estimate.of(runs.suspend_ms.mean(axis=1))
    (segment,) = ax.collections[0].get_segments()
    np.testing.assert_allclose(segment[:, 0], [estimate.low, estimate.high])
    assert estimate.text(1) in [text.get_text() for text in ax.texts]
    assert len(plot_totals([WIDE.run("old")]).collections) == 0


def test_cycles_that_are_not_done_are_left_out_and_counted() -> None:
    fails = Device("bad", callbacks={"suspend": [Segment.cpu(100)]}, fails=["suspend"])
    runs = Scenario.reference(DeviceGraph([fails])).run("sync", runs=2)
    with pytest.raises(tp.ConfigError, match="never: no cycle is done"):
        plot_totals({"never": runs})
    good = WIDE.run("old", runs=2, seed=1)
    good.outcome = np.array([[0, 1], [0, 0]], dtype=np.int8)
    ax = plot_totals({"mine": good})
    assert "mine (without 1 of 4 cycles)" in [text.get_text() for text in ax.texts]
    mean_ms = (good.phase_ms[0, 0] + good.phase_ms[1].mean(axis=0)) / 2
    assert ax.patches[0].get_width() == pytest.approx(mean_ms[1])
    with pytest.raises(tp.ConfigError, match="at least one result"):
        plot_totals([])


@pytest.mark.parametrize(("suffix", "magic"), [(".png", b"\x89PNG"), (".svg", b"<?xml")])
def test_each_figure_is_written_and_the_same_again(tmp_path: Path, suffix: str, magic: bytes) -> None:
    intervals, graph, timeline = WIDE.intervals("old", seed=2), WIDE.graph(2), WIDE.timeline("old", seed=2)
    results = run_policies(WIDE, ["sync", "old"], runs=2)
    for number, draw in enumerate(
        (
            lambda figure: plot_phases(intervals, graph, figure),
            lambda figure: plot_cpus(timeline, ax=figure.subplots()),
            lambda figure: plot_totals(results, ax=figure.subplots()),
        )
    ):
        files = [tmp_path / f"{number}{name}{suffix}" for name in "ab"]
        for file in files:
            save_figure(draw, file)
        assert files[0].read_bytes() == files[1].read_bytes()
        assert files[0].read_bytes().startswith(magic)
        assert files[0].stat().st_size > 5000


def test_a_missing_matplotlib_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(tp.ConfigError, match=r"pip install torpor\[plot\]"):
        plot_phase(TOY.intervals("old"), TOY.graph(), "resume")
