# SPDX-License-Identifier: MIT
"""``torpor run dpm``, and the dpm family among the policies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NoReturn

import pytest

from command_line import Run, check_one_line
from torpor import ConfigError
from torpor import dpm as family
from torpor.board import Board
from torpor.dpm import Generator, Scenario, run_policies, summarise

TOY = ("run", "dpm", "--board", "toy", "--runs", "2", "--cycles", "2")
PHONE = ("run", "dpm", "--board", "pixel-6", "--runs", "2", "--cycles", "2", "--generate", "devices=30")


def means(out: str, metric: str) -> list[float]:
    return [entry["mean"] for entry in json.loads(out)["metrics"] if entry["metric"] == metric]


def test_run_prints_one_column_per_policy(run: Run) -> None:
    policies = ("--policy", "old", "--policy", "breadth-first(eas_off=resume)", "-p", "old()")
    code, out, err = run(*PHONE, *policies, "--async", "all")
    assert (code, err) == (0, "torpor: --policy old(): old() is given twice; it runs once\n")
    assert out.splitlines()[0].startswith("pixel-6, 8 CPUs, 30 devices, 2 cycles, 2 replicates of seed 1")
    assert out.count("old()") == 1
    for shown in ("suspend (ms)", "resume (ms)", "phase resume_noirq (ms)", "critical path", "live workers"):
        assert shown in out
    for shown in ("±", "context switches", "migrations", "energy (mJ)", "breadth-first(eas_off=resume)"):
        assert shown in out


def test_json_is_one_object_with_what_the_api_tells(run: Run) -> None:
    code, out, _ = run(*TOY, "-p", "sync", "-p", "old", "--json", "--seed", 3)
    assert (code, out.count("\n")) == (0, 1)
    results = run_policies(Scenario(Board.load("toy"), cycles=2), ["sync", "old"], runs=2, seed=3)
    assert json.loads(out) == json.loads(json.dumps(summarise(list(results.values())).to_json()))


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "csv"])
def test_every_form_prints(run: Run, form: str) -> None:
    code, out, _ = run(*TOY, "--policy", "old", "--format", form)
    assert code == 0
    assert "old()" in out


def test_every_condition_is_an_option(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    options = [
        *("--cpus", 1, "--hz", 100, "--relative-freq", 0.5, "--no-eas", "--placement", "pinned", "--no-pull"),
        *("--slice-us", 0, "--wakeup-granularity-us", 5, "--no-tick-balance", "--idle-exit-share", "inf"),
        *("--cluster-exit-us", 3, "--shared-cpus", 0.5, "--main-suspend-cpu", 0, "--main-suspend-util", 7),
        *("--main-resume-cpu", 0, "--main-resume-util", 9, "--main-gives-way", "--initial-workers", 2),
        *("--worker-per-item", "--no-barrier-wakes", "--no-direct-complete", "--eas-switch-us", 3),
        *("--jitter", 0.2, "--since-tick-us", 1, "--scales", "2,0.5", "--cost", "core_us=3"),
        *("--phase-cost", "resume.core_us=4", "--warmup-cycles", 1, "--async", 0.5, "--threads", 1),
    ]
    asked: list[Scenario] = []

    def ask(scenario: Scenario, policies: object, **conditions: object) -> NoReturn:
        asked.append(scenario)
        raise ConfigError(f"asked for {conditions['runs']} runs, {conditions['threads']} thread")

    monkeypatch.setattr(family, "run_policies", ask)
    assert "asked for 2 runs, 1 thread" in check_one_line(run(*TOY, "-p", "old", *options))
    assert asked[0] == Scenario(
        Board.load("toy", tick_hz=100),
        cpus=1,
        relative_freq=0.5,
        async_devices=0.5,
        eas=False,
        placement="pinned",
        pull=False,
        slice_us=0,
        wakeup_granularity_us=5,
        tick_balance=False,
        idle_exit_share=float("inf"),
        cluster_exit_us=3,
        shared_cpus=0.5,
        main_suspend_cpu=0,
        main_suspend_util=7,
        main_resume_cpu=0,
        main_resume_util=9,
        main_gives_way=True,
        initial_workers=2,
        worker_per_item=True,
        barrier_wakes=False,
        direct_complete=False,
        eas_switch_us=3,
        jitter=0.2,
        since_tick_us=1,
        warmup_cycles=1,
        cycles=2,
        scales=(2, 0.5),
        costs={"core_us": 3},
        phase_costs={"resume": {"core_us": 4}},
    )


def test_a_generator_keeps_what_is_not_changed(run: Run) -> None:
    text = "devices=25, sigma=0.5/1, locks=2"
    _, out, _ = run("run", "dpm", "-b", "pixel-6", "-n", 1, "-p", "old", "--generate", text, "--json")
    board = Board.load("pixel-6")
    parameters = {name: getattr(board.dpm.devices, name) for name in board.dpm.devices.__struct_fields__}
    drawn = Generator(**{**parameters, "devices": 25, "sigma": (0.5, 1), "locks": 2})
    expected = Scenario(board, drawn).run("old", seed=1).suspend_ms.mean()
    assert means(out, "suspend") == [pytest.approx(expected)]


def test_each_cluster_may_be_frozen_at_its_own_frequency(run: Run) -> None:
    options = ("--relative-freq", "little=0.5", "--relative-freq", "big=1")
    assert run(*PHONE, "-p", "old", *options)[0] == 0


def test_a_stuck_phase_is_told_in_one_line_and_costs_no_result(run: Run, tmp_path: Path) -> None:
    data = Board.load("toy").to_dict()
    data["dpm"].pop("devices", None)
    work = [{"cpu_us": 1000}]
    sync = {"async_suspend": False}
    data["dpm"]["device"] = [
        {"name": "P", "callbacks": {"resume": work}},
        {"name": "Y", "callbacks": {"resume": work * 3}, **sync},
        {"name": "S", "parent": "Y", "callbacks": {"resume": work}},
        {"name": "X", "parent": "P", "callbacks": {"resume": work}},
    ]
    data["dpm"]["link"] = [{"supplier": "S", "consumer": "X"}]
    file = tmp_path / "stuck.toml"
    file.write_text(Board.from_dict(data).to_toml())
    command = ("run", "dpm", "-b", file, "--async", "flagged", "--runs", 2, "-p", "sync", "-p")
    code, out, err = run(*command, "up-6.16(max_active=1)")
    assert code == 1
    assert "sync()" in out
    assert err.startswith("torpor: up-6.16(max_active=1), replicate 0 of 2 that are stuck: resume cannot end")
    assert err.count("\n") == 1
    assert run(*command, "up-6.16(max_active=2)")[0] == 0


def test_the_figures_are_drawn(run: Run, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("totals.png", "devices.svg", "cpus.pdf")]
    options = ("--plot", files[0], "--gantt", files[1], "--timeline", files[2])
    assert run("run", "dpm", "--board", "toy", "-p", "sync", "-p", "old", "--runs", 2, *options)[0] == 0
    assert all(file.stat().st_size > 1000 for file in files)


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (("--board", "hikey", "-p", "old"), "board hikey has no [dpm] section: boards with one are"),
        (("--board", "toi", "-p", "old"), "did you mean toy?"),
        (("--board", "toy", "-p", "odl"), "'odl' is unknown; known: sync, old"),
        (("--board", "toy", "-p", "old(max=3)"), "max"),
        (("--board", "toy", "-p", "old", "--async", "some"), "async_devices='some' is unknown"),
        (("--board", "toy", "-p", "old", "--async", "2"), "async_devices=2.0 is outside 0..1"),
        (("--board", "toy", "-p", "old", "--cpus", "0"), "cpus=0"),
        (
            ("--board", "toy", "-p", "old", "--relative-freq", "x"),
            "--relative-freq 'x': write it as X or CLUSTER=X",
        ),
        (
            ("--board", "toy", "-p", "old", "--relative-freq", "big=0.5"),
            "relative_freq[big]: clusters of toy",
        ),
        (
            ("--board", "toy", "-p", "old", "--relative-freq", "0.5", "--relative-freq", "1"),
            "without a cluster is for all of them",
        ),
        (
            ("--board", "toy", "-p", "old", "--placement", "big"),
            "'big' is not one of 'spread', 'biggest_idle'",
        ),
        (("--board", "toy", "-p", "old", "--scales", "2"), "--scales '2': write it as SUSPEND,RESUME"),
        (("--board", "toy", "-p", "old", "--scales", "2,x"), "--scales 'x'"),
        (("--board", "toy", "-p", "old", "--cost", "core_us"), "--cost 'core_us': write it as NAME=US"),
        (("--board", "toy", "-p", "old", "--cost", "core_us=x"), "--cost 'core_us=x'"),
        (("--board", "toy", "-p", "old", "--cost", "cor_us=1"), "costs: 'cor_us' is unknown"),
        (("--board", "toy", "-p", "old", "--phase-cost", "core_us=1"), "write it as PHASE.NAME=US"),
        (("--board", "toy", "-p", "old", "--phase-cost", "nap.core_us=1"), "phase_costs: 'nap' is unknown"),
        (
            ("--board", "toy", "-p", "old", "--generate", "devices"),
            "--generate 'devices': write it as NAME=X",
        ),
        (("--board", "toy", "-p", "old", "--generate", "device=3"), "--generate: 'device' is unknown"),
        (("--board", "toy", "-p", "old", "--generate", "sigma=a/b"), "--generate sigma 'a'"),
        (("--board", "toy", "-p", "old", "--generate", "devices=0"), "devices: 0 is out of range"),
        (("--board", "toy", "-p", "old", "--cycles", "0"), "cycles=0"),
        (("--board", "toy", "-p", "old", "--runs", "0"), "runs=0"),
        (("--board", "toy", "-p", "old", "--hz", "0"), "hz=0 is outside 1..10000"),
        (("--board", "toy"), "--policy"),
        (("-p", "old"), "--board"),
    ],
)
def test_bad_input_is_one_line_that_names_it(run: Run, arguments: tuple[str, ...], found: str) -> None:
    assert found in check_one_line(run("run", "dpm", *arguments))


def test_an_output_never_replaces_the_board_that_is_read(run: Run, tmp_path: Path) -> None:
    board = tmp_path / "board.toml"
    board.write_text(Board.load("toy").to_toml())
    text = board.read_text()
    assert "would overwrite" in check_one_line(run("run", "dpm", "-b", board, "-p", "old", "-o", board))
    assert board.read_text() == text


def test_the_policies_of_all_families_are_listed(run: Run) -> None:
    code, out, _ = run("policies", "--json")
    listed = [(row["family"], row["name"]) for row in json.loads(out)["policies"]]
    assert code == 0
    assert [family for family, _ in listed] == sorted(
        (f for f, _ in listed), key=("idle", "freezer", "dpm").index
    )
    assert ("dpm", "breadth-first") in listed
    assert "Policies of the dpm family" in run("policies")[1]


def test_the_help_fits_eighty_columns_and_cuts_no_name(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = run("run", "dpm", "--help")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    assert "…" not in out
    for shown in (
        "--wakeup-granularity-us",
        "spread|biggest_idle|pinned",
        "--no-tick-balance",
        "--phase-cost",
    ):
        assert shown in out
