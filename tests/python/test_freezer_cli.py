# SPDX-License-Identifier: MIT
"""``torpor run freezer``, and the families of run, validate and policies."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path

import pytest

from command_line import Run, check_one_line
from torpor import Board, ConfigError
from torpor.cli import freezer
from torpor.freezer import Scenario

TABLET = ("run", "freezer", "--board", "nexus-10", "--opp-khz", "200000", "--runs", "2")
TOY = ("run", "freezer", "--board", "toy", "--runs", "2")


def means(out: str, metric: str) -> list[float]:
    return [entry["mean"] for entry in json.loads(out)["metrics"] if entry["metric"] == metric]


def test_run_prints_one_column_per_policy(run: Run) -> None:
    code, out, err = run(*TABLET, "--policy", "v3.9", "--policy", "full", "-p", "v3.9")
    assert (code, err) == (0, "torpor: --policy v3.9: freezer(version=v3.9) is given twice; it runs once\n")
    assert out.count("freezer(version=v3.9)") == 1
    assert "freezer(version=full)" in out
    assert "1100 tasks" in out


def test_json_is_one_object_and_nothing_else(run: Run) -> None:
    code, out, _ = run(*TABLET, "-p", "v3.9", "-p", "full", "--json")
    assert code == 0
    assert out.count("\n") == 1
    assert means(out, "task switch-ins") == [1000, 25]


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "csv", "json"])
def test_every_form_prints(run: Run, form: str) -> None:
    code, out, _ = run(*TOY, "--policy", "full", "--format", form)
    assert code == 0
    assert "full" in out


def test_every_condition_is_an_option(run: Run) -> None:
    options = [
        *("--cpus", 1, "--hz", 100, "--opp-khz", 1_000_000, "--since-tick-us", 0, "--preempt", "full"),
        *("--kernel-loop-preempt", "none", "--walker-wake", "tail", "--wheel-extra", 1),
        *("--range-mode", "soft", "--timeout-ms", 1000, "--order", "shuffled", "--loops", "user_only"),
        *("--wakeup-at-us", 1e9, "--attempts", 2, "--retry-gap-us", 5, "--count", "futex=0"),
        *("--count", "epoll=0", "--count", "other=1", "--seed", 3, "--threads", 1),
    ]
    code, out, _ = run(*TOY, *options, "-p", "v3.9", "--json")
    assert code == 0
    # Three ticks of 10 ms with the wheel's one, and the verifying pass of one task.
    assert means(out, "freeze") == [pytest.approx(30.001)]


def test_a_wakeup_time_may_be_drawn(run: Run) -> None:
    code, out, _ = run(*TABLET, "-p", "v3.9", "--wakeup-at-us", "uniform(low_us=0, high_us=1000)", "--json")
    assert code == 0
    assert means(out, "aborted") == [100.0]


def test_tasks_come_from_a_census_or_wait_channels(run: Run, tmp_path: Path) -> None:
    census = tmp_path / "census.csv"
    census.write_text("site,count\nfutex,40\npipe,7\n")
    code, out, err = run(*TOY, "--census", census, "-p", "full", "--json")
    assert (code, err) == (0, "")
    assert means(out, "task switch-ins") == [7]
    channels = tmp_path / "channels.txt"
    channels.write_text("  12 futex_wait_queue\n   3 pipe_read\n   1 odd_wait\n")
    code, out, err = run(*TOY, "--wait-channels", channels, "--count", "pipe=5", "-p", "full", "--json")
    assert code == 0
    assert means(out, "task switch-ins") == [6]
    assert "odd_wait" in err
    assert "channels.txt" in err


def test_the_timeline_is_drawn_on_request(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "freeze.png"
    code, out, _ = run(*TOY, "-p", "p1", "-p", "full", "--timeline", picture)
    assert code == 0
    assert "freeze (ms)" in out
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert list(tmp_path.iterdir()) == [picture]


def test_policies_lists_both_families(run: Run) -> None:
    code, out, _ = run("policies", "--json")
    assert code == 0
    assert {"site": "epoll", "interrupted": "visible_error"}.items() <= json.loads(out)["sites"][1].items()
    known = {(policy["family"], policy["name"]) for policy in json.loads(out)["policies"]}
    assert {("idle", "menu"), ("freezer", "freezer"), ("freezer", "cgroup2")} <= known
    _, out, _ = run("policies")
    assert "Policies of the idle family" in out
    assert "Policies of the freezer family" in out
    assert "Blocking sites" in out


# Bad input


@pytest.mark.parametrize(("group", "known"), [("run", "idle, freezer"), ("validate", "idle")])
def test_an_unknown_family_lists_the_known_ones(run: Run, group: str, known: str) -> None:
    message = check_one_line(run(group, "frezer", "--board", "toy"))
    assert f"unknown family 'frezer': known are {known}" in message


@pytest.mark.parametrize("group", ["run", "validate"])
def test_a_group_without_a_family_prints_its_help(run: Run, group: str) -> None:
    code, out, err = run(group)
    assert code == 2
    assert "idle" in out + err


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (
            ("--board", "hikey", "-p", "full"),
            "board hikey has no [freezer] section: boards with one are nexus-10",
        ),
        (("--board", "toi", "-p", "full"), "did you mean toy?"),
        (("--board", "toy", "-p", "v3.10"), "'v3.10' is unknown; known: freezer"),
        (("--board", "toy", "-p", "full(cap=3)"), "is no parameter of freezer"),
        (("--board", "toy", "-p", "full", "--count", "epol=3"), "'epol': it has futex, epoll, other"),
        (("--board", "toy", "-p", "full", "--count", "epoll"), "--count 'epoll': write it as GROUP=N"),
        (("--board", "toy", "-p", "full", "--count", "epoll=x"), "--count 'epoll=x'"),
        (("--board", "toy", "-p", "full", "--count", "epoll=-1"), "TaskGroup.count=-1"),
        (("--board", "toy", "-p", "full", "--opp-khz", "0"), "opp_khz=0"),
        (("--board", "toy", "-p", "full", "--opp-khz", "big=500000"), "opp_khz[big]=500000: clusters of toy"),
        (("--board", "toy", "-p", "full", "--opp-khz", "cluster0=5"), "opp_khz[cluster0]=5: the cluster has"),
        (("--board", "toy", "-p", "full", "--cost", "visit=5"), "costs: 'visit' is unknown"),
        (("--board", "toy", "-p", "full", "--cost", "visit_cycles=-5"), "costs.visit_cycles=-5"),
        (("--board", "toy", "-p", "full", "--queues", "two"), "'two' is not one of 'global', 'per_cpu'"),
        (("--board", "toy", "-p", "full", "--cpus", "0"), "cpus=0"),
        (("--board", "toy", "-p", "full", "--hz", "0"), "torpor: hz=0 is outside 1..10000\n"),
        (("--board", "toy", "-p", "full", "--timeout-ms", "0"), "timeout_ms=0"),
        (("--board", "toy", "-p", "full", "--since-tick-us", "nan"), "since_tick_us=nan"),
        (("--board", "toy", "-p", "full", "--preempt", "half"), "'--preempt'"),
        (
            ("--board", "toy", "-p", "full", "--range-mode", "x"),
            "'x' is not one of 'hard', 'tick', 'uniform', 'soft'",
        ),
        (("--board", "toy", "-p", "full", "--wakeup-at-us", "soon"), "wakeup_at_us='soon'"),
        (("--board", "toy", "-p", "full", "--attempts", "0"), "attempts=0"),
        (("--board", "toy", "-p", "full", "--runs", "0"), "runs=0"),
        (("--board", "toy", "-p", "full", "--cpus", "two"), "--cpus"),
        (("--board", "toy", "-p", "full", "--census", "none.csv"), "none.csv"),
        (("--board", "toy", "-p", "full", "--wait-channels", "none.txt"), "none.txt"),
        (("--board", "toy", "-p", "full", "--census", "a", "--wait-channels", "b"), "give one of them"),
        (("--board", "toy"), "--policy"),
        (("-p", "full"), "--board"),
    ],
)
def test_bad_input_is_one_line_that_names_it(run: Run, arguments: tuple[str, ...], found: str) -> None:
    assert found in check_one_line(run("run", "freezer", *arguments))


def test_a_census_with_an_unknown_site_names_the_line(run: Run, tmp_path: Path) -> None:
    census = tmp_path / "census.csv"
    census.write_text("site,count\nfutex,40\nfuttex,7\n")
    message = check_one_line(run(*TOY, "--census", census, "-p", "full"))
    assert "census.csv:3" in message
    assert "futtex" in message


def test_outputs_are_checked_before_the_work_and_nothing_is_half_written(run: Run, tmp_path: Path) -> None:
    bad = tmp_path / "no" / "x.png"
    assert "no such folder" in check_one_line(run(*TOY, "-p", "full", "--timeline", bad))
    same = tmp_path / "x.png"
    assert "one file" in check_one_line(run(*TOY, "-p", "full", "--timeline", same, "--output", same))
    wrong = tmp_path / "x.docx"
    assert "docx" in check_one_line(run(*TOY, "-p", "full", "--timeline", wrong))
    assert list(tmp_path.iterdir()) == []


def test_each_cluster_may_run_at_its_own_frequency(run: Run) -> None:
    code, out, _ = run(*TOY, "-p", "full", "--opp-khz", "cluster0=500000")
    assert code == 0
    assert "500 MHz" in out


def test_costs_and_queues_can_be_set(run: Run) -> None:
    _, plain, _ = run(*TOY, "-p", "full", "--json")
    _, slow, _ = run(*TOY, "-p", "full", "--json", "--cost", "visit_cycles=2000")
    assert means(slow, "kernel loop")[0] == 2 * means(plain, "kernel loop")[0]
    options = ("--queues", "per_cpu", "--placement", "wake_affine", "--slice-us", "5", "--asleep-us", "10")
    assert run(*TOY, "-p", "full", *options)[0] == 0


# Outputs and inputs


def test_an_output_never_replaces_an_input(run: Run, tmp_path: Path) -> None:
    census = tmp_path / "census.csv"
    census.write_text("site,count\nfutex,40\n")
    (tmp_path / "link.csv").symlink_to(census)
    (tmp_path / "hard.csv").hardlink_to(census)
    for option in ("--output", "--timeline"):
        for name in ("census.csv", "link.csv", "hard.csv"):
            output = tmp_path / name
            message = check_one_line(run(*TOY, "-p", "full", "--census", census, option, output))
            assert f"{output}: would overwrite the file that is read, {census}" in message
    channels = tmp_path / "channels.txt"
    channels.write_text("  3 pipe_read\n")
    message = check_one_line(run(*TOY, "-p", "full", "--wait-channels", channels, "-o", channels))
    assert "would overwrite" in message
    assert census.read_text() == "site,count\nfutex,40\n"
    assert channels.read_text() == "  3 pipe_read\n"


def test_a_report_is_not_written_into_the_capture_that_it_is_about(run: Run, tmp_path: Path) -> None:
    truth = tmp_path / "truth.json"
    truth.write_text("{}")
    for output in (truth, tmp_path / "new.txt"):
        message = check_one_line(run("validate", "freezer", tmp_path, "--output", output))
        assert f"{output}: would be written into the folder that is read, {tmp_path}" in message
    assert truth.read_text() == "{}"


def test_a_freezer_capture_is_no_board_and_the_message_says_which_is(run: Run, tmp_path: Path) -> None:
    (tmp_path / "truth.json").write_text(json.dumps({"kind": "freezer"}))
    message = check_one_line(run("run", "freezer", "-b", tmp_path, "-p", "full"))
    assert "kind: value 'freezer', limit: a board comes from a capture whose kind is 'idle'" in message


@pytest.mark.parametrize("order", [("--json", "--format", "csv"), ("--format", "csv", "--json")])
def test_two_forms_at_once_are_refused(run: Run, order: tuple[str, ...]) -> None:
    assert "--json and --format csv: give one of them" in check_one_line(run(*TOY, "-p", "full", *order))
    assert "give one of them" in check_one_line(run("policies", *order))


# Words and limits of the options


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (("--since-tick-us", "-1"), "since_tick_us=-1.0 is outside 0 <= since_tick_us < 4000, one tick at"),
        (("--since-tick-us", "4000"), "since_tick_us=4000.0 is outside 0 <= since_tick_us < 4000"),
        (("--since-tick-us", "3999.9999"), "since_tick_us=3999.9999 is outside"),
        (("--since-tick-us", "-1e-9"), "since_tick_us=-1e-09 is outside"),
        (("--since-tick-us", "nan"), "since_tick_us=nan is outside 0 <= since_tick_us < 4000"),
        (("--retry-gap-us", "-1"), "retry_gap_us=-1.0 is outside 0..1152921504606846 microseconds"),
        (("--retry-gap-us", "nan"), "retry_gap_us=nan is outside 0..1152921504606846 microseconds"),
        (("--asleep-us", "-1e-9"), "asleep_us=-1e-09 is outside 0.."),
        (("--slice-us", "-1"), "slice_us=-1.0 is outside 1..1152921504606846 microseconds (0 is never)"),
        (("--slice-us", "0.0001"), "slice_us=0.0001 is outside 1.."),
        (("--hz", str(10**21)), f"hz={10**21} is outside 1..10000"),
        (("--wakeup-at-us", "foo(1)"), "unknown distribution 'foo': known are constant, uniform"),
        (("--opp-khz", "200000", "--opp-khz", "300000"), "without a cluster is for all of them"),
    ],
)
def test_a_limit_is_told_in_the_words_of_the_option(run: Run, options: tuple[str, ...], found: str) -> None:
    assert found in check_one_line(run(*TOY, "-p", "full", *options))


@pytest.mark.parametrize(
    ("parameter", "choices"),
    [
        ("preempt", freezer.Preempt),
        ("kernel_loop_preempt", freezer.Preempt),
        ("walker_wake", freezer.WalkerWake),
        ("range_mode", freezer.RangeMode),
        ("order", freezer.Order),
        ("loops", freezer.Loops),
        ("queues", freezer.Queues),
        ("placement", freezer.Placement),
    ],
)
def test_the_choices_of_an_option_are_those_of_the_scenario(
    run: Run, parameter: str, choices: type[StrEnum]
) -> None:
    with pytest.raises(ConfigError, match=f"known: {', '.join(choices)}$"):
        Scenario(Board.load("toy"), **{parameter: "?"})
    option = f"--{parameter.replace('_', '-')}"
    message = check_one_line(run(*TOY, "-p", "full", option, "?"))
    assert option in message
    assert all(f"'{choice}'" in message for choice in choices)


def test_the_help_fits_eighty_columns_and_cuts_no_name(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = run("run", "freezer", "--help")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    assert "…" not in out
    for shown in ("--kernel-loop-preempt", "none|full", "--no-steal", "--no-bound", "'full(cap_us=4000)'"):
        assert shown in out


def test_stealing_and_the_bound_can_be_left_out(run: Run) -> None:
    code, out, _ = run(*TOY, "-p", "full", "--no-bound", "--no-steal", "--queues", "per_cpu", "--json")
    assert code == 0
    assert means(out, "lower bound") == [None]


def test_a_single_run_has_no_interval_to_explain(run: Run) -> None:
    options = ("--cpus", "1", "--count", "futex=0", "--count", "epoll=0", "--count", "other=1")
    _, out, _ = run(*TOY, "-p", "full", *options, "--runs", "1")
    assert out.splitlines()[0] == "toy, 1 CPU, 1000 MHz, HZ 250, 1 task, 1 replicate of seed 1"


def test_work_on_a_freezable_workqueue_makes_the_freeze_fail(run: Run) -> None:
    stuck = ("--generate", "tasks=40", "--timeout-ms", "20", "--work", "1000000@0")
    code, out, _ = run(*TOY, "-p", "full", "--json", *stuck)
    assert code == 0
    assert means(out, "failed") == [100]
    assert means(out, "workqueue busy") == [100]


def test_refusing_groups_are_named(run: Run, tmp_path: Path) -> None:
    census = tmp_path / "census.csv"
    census.write_text("site,count,name,start\nfutex,4,sleeper,blocked\nother,2,disk,uninterruptible\n")
    command = (*TOY, "-p", "full", "--census", census, "--timeout-ms", 20)
    assert means(run(*command, "--json")[1], "refusing: disk") == [2]
    assert "refusing: sleeper" not in run(*command)[1]


@pytest.mark.parametrize("text", ["soon", "5@soon", "-1", "5@-1"])
def test_work_that_cannot_be_is_refused(run: Run, text: str) -> None:
    assert f"--work '{text}'" in check_one_line(run(*TOY, "-p", "full", f"--work={text}"))


def test_tasks_come_from_one_source(run: Run, tmp_path: Path) -> None:
    census = tmp_path / "census.csv"
    census.write_text("site,count\nfutex,40\n")
    message = check_one_line(run(*TOY, "--census", census, "--generate", "tasks=5", "-p", "full"))
    assert "--census and --generate say which tasks there are" in message
