# SPDX-License-Identifier: MIT
from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import torpor
from torpor import ConfigError, idle
from torpor.plot import new_figure, plot_residency, plot_timeline, save_figure

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _headless() -> Iterator[None]:
    plt.switch_backend("agg")
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def scenario() -> idle.Scenario:
    board = torpor.Board.load("hikey").with_value("tick.hz", 1000)
    return idle.Scenario(board, idle.IpiTimerBurst(cpu=7), duration_s=0.5)


@pytest.fixture(scope="module")
def reproduction() -> torpor.Reproduction:
    return torpor.reproduce("idle-2018", runs=2)


def test_bars_add_up_to_the_mean_residency(scenario: idle.Scenario) -> None:
    runs = scenario.run("menu(version=4.18)", runs=3)
    ax = plot_residency([runs], cpus=[7])
    heights = [patch.get_height() for patch in ax.patches]
    np.testing.assert_allclose(heights, runs.residency_ns[:, 7].mean(axis=0) / 1e9)


def test_there_is_one_bar_per_policy_cpu_and_state(scenario: idle.Scenario) -> None:
    ax = plot_residency({name: scenario.run(name) for name in ("menu", "teo")})
    assert len(ax.patches) == 2 * 8 * 3
    assert ax.get_ylabel() == "mean time in state (s)"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["WFI", "cpu-sleep", "cluster-sleep"]


def test_states_differ_by_hatch_and_not_by_colour_alone(scenario: idle.Scenario) -> None:
    ax = plot_residency([scenario.run("menu")], cpus=[7])
    assert len({patch.get_hatch() for patch in ax.patches}) == 3
    luminances = [np.dot(patch.get_facecolor()[:3], (0.299, 0.587, 0.114)) for patch in ax.patches]
    assert luminances == sorted(luminances, reverse=True)


def test_the_timeline_shows_each_idle_period_of_the_window(scenario: idle.Scenario) -> None:
    timeline = scenario.timeline("menu(version=4.18)")
    ax = plot_timeline(timeline, 7, start_ms=100.0, length_ms=200.0)
    periods = timeline.intervals(7)
    inside = (periods["end_ns"] > 100e6) & (periods["start_ns"] < 300e6)
    assert sum(len(bars.get_paths()) for bars in ax.collections[:3]) == inside.sum() > 0
    assert ax.get_xlim() == (100.0, 300.0)
    assert ax.get_xlabel() == "time (ms)"


def test_the_tick_strip_is_empty_where_the_tick_is_stopped(scenario: idle.Scenario) -> None:
    def spans(policy: str) -> int:
        ax = plot_timeline(scenario.timeline(policy), 7, start_ms=100.0, length_ms=300.0)
        return sum(path.vertices[:, 0].max() > 100.0 for path in ax.collections[4].get_paths())

    assert spans("menu(version=4.18)") == 0
    assert spans("menu(version=4.18, loop=leo)") > 0


def test_timelines_plot_themselves(scenario: idle.Scenario) -> None:
    assert scenario.timeline("menu").plot(7, length_ms=50.0).get_xlim() == (0.0, 50.0)


@pytest.mark.parametrize("cpu", [-1, 8])
def test_a_cpu_that_the_board_lacks_is_refused(scenario: idle.Scenario, cpu: int) -> None:
    with pytest.raises(ConfigError, match=rf"cpu={cpu} is outside 0\.\.7"):
        plot_timeline(scenario.timeline("menu"), cpu)
    with pytest.raises(ConfigError, match=rf"cpu={cpu} is outside 0\.\.7"):
        plot_residency([scenario.run("menu")], cpus=[cpu])


def test_an_empty_window_and_empty_results_are_refused(scenario: idle.Scenario) -> None:
    with pytest.raises(ConfigError, match="length_ms=0"):
        plot_timeline(scenario.timeline("menu"), 7, length_ms=0.0)
    with pytest.raises(ConfigError, match="at least one result"):
        plot_residency([])


@pytest.mark.parametrize(("suffix", "magic"), [(".png", b"\x89PNG"), (".pdf", b"%PDF"), (".svg", b"<?xml")])
def test_the_suffix_decides_the_format(
    reproduction: torpor.Reproduction, tmp_path: Path, suffix: str, magic: bytes
) -> None:
    path = tmp_path / f"figure{suffix}"
    reproduction.save_plots(path)
    assert path.read_bytes().startswith(magic)
    assert path.stat().st_size > 5000
    assert list(tmp_path.iterdir()) == [path]


def test_the_same_reproduction_gives_the_same_file(reproduction: torpor.Reproduction, tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg"):
        reproduction.save_plots(tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


@pytest.mark.parametrize("name", ["figure.docx", "figure"])
def test_an_unknown_suffix_is_refused_and_the_known_ones_are_listed(
    reproduction: torpor.Reproduction, tmp_path: Path, name: str
) -> None:
    with pytest.raises(ConfigError, match=r"unknown suffix .*known are .*pdf, .*png.*svg"):
        reproduction.save_plots(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_one_clear_error(
    reproduction: torpor.Reproduction, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=r"figure\.png: cannot be written \(No such file or directory\)"):
        reproduction.save_plots(tmp_path / "none" / "figure.png")


def test_a_figure_that_fails_halfway_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "figure.png"
    path.write_text("old")

    def fail(_: object) -> None:
        raise RuntimeError("halfway")

    with pytest.raises(RuntimeError, match="halfway"):
        save_figure(fail, path)
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("figure.png", "old")]


def test_a_missing_matplotlib_is_named_with_its_remedy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for call in (new_figure, lambda: save_figure(lambda _: None, tmp_path / "figure.png")):
        with pytest.raises(ConfigError, match=r"pip install torpor\[plot\]"):
            call()


def test_residency_of_another_family_is_refused() -> None:
    freeze = torpor.freezer.Scenario(torpor.Board.load("toy")).run("full")
    with pytest.raises(torpor.ConfigError, match="no idle states"):
        plot_residency([freeze])  # type: ignore[list-item]
