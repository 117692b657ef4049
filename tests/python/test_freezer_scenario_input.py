# SPDX-License-Identifier: MIT
"""Freezer scenarios from Python: what is refused, and what may be given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import torpor as tp
from freezer_scenes import NEXUS, TABLET, TOY, by_hand, others
from torpor import idle
from torpor.freezer import Scenario, TaskGroup, WorkItem

# Bad input


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"opp_khz": 0}, r"opp_khz=0: toy has \["),
        ({"cpus": 0}, r"cpus=0 is outside 1\.\.8192"),
        ({"cpus": 1.5}, r"cpus=1\.5 is no whole number"),
        ({"costs": {"visit_cycles": -1}}, r"costs\.visit_cycles=-1 is outside 0\.\."),
        ({"costs": {"visit": 1}}, r"costs: 'visit' is unknown: known are visit_cycles"),
        ({"costs": {"visit_cycles": 1.5}}, r"costs\.visit_cycles=1\.5 is no whole number"),
        ({"costs": 5}, r"costs=5 is no mapping"),
        ({"timeout_ms": 0}, r"timeout_ms=0 is outside 1\.\."),
        ({"timeout_ms": "1000"}, r"timeout_ms='1000' is no whole number"),
        ({"since_tick_us": float("nan")}, r"since_tick_us=nan"),
        ({"since_tick_us": "now"}, r"since_tick_us='now'"),
        (
            {"since_tick_us": 4000.0},
            r"since_tick_us=4000\.0 is outside 0 <= since_tick_us < 4000, one tick at HZ 250",
        ),
        ({"since_tick_us": -1.0}, r"since_tick_us=-1"),
        ({"preempt": "some"}, r"preempt: 'some' is unknown; known: none, full"),
        ({"kernel_loop_preempt": 3}, r"kernel_loop_preempt=3 is no text"),
        ({"walker_wake": "middle"}, r"walker_wake: 'middle' is unknown; known: head, tail"),
        ({"range_mode": "x"}, r"range_mode: 'x' is unknown; known: hard, tick, uniform, soft"),
        ({"order": "random"}, r"order: 'random' is unknown; known: listed, shuffled"),
        ({"loops": "one"}, r"loops: 'one' is unknown; known: user_only, both"),
        ({"queues": "many"}, r"queues: 'many' is unknown; known: global, per_cpu"),
        ({"placement": "best"}, r"placement: 'best' is unknown"),
        ({"steal": 1}, r"steal=1 is neither True nor False"),
        ({"bound": "no"}, r"bound='no' is neither True nor False"),
        ({"slice_us": 0.5}, r"slice_us=0.5 is outside 1"),
        ({"wheel_extra": 2}, r"wheel_extra=2 is outside 0\.\.1"),
        ({"attempts": 0}, r"attempts=0 is outside 1\.\."),
        ({"retry_gap_us": -1}, r"retry_gap_us=-1 is outside 0"),
        ({"asleep_us": float("inf")}, r"asleep_us=inf"),
        ({"wakeup_at_us": float("nan")}, r"wakeup_at_us=nan"),
        ({"wakeup_at_us": "gauss(mean_us=3)"}, r"wakeup_at_us='gauss\(mean_us=3\)': unknown distribution"),
        ({"wakeup_at_us": -5}, r"wakeup_at_us=-5"),
        ({"work": [5]}, r"work\[0\]=5 is no WorkItem"),
        ({"population": 5}, r"population=5"),
        ({"population": [5]}, r"Population\[0\]=5"),
    ],
)
def test_what_cannot_be_is_refused_by_name(arguments: dict[str, object], found: str) -> None:
    with pytest.raises(tp.ConfigError, match=found) as refused:
        Scenario(TOY, **arguments)  # type: ignore[arg-type]
    assert "\n" not in str(refused.value)


def test_hz_zero_is_refused_by_the_board() -> None:
    with pytest.raises(tp.ConfigError, match=r"tick\.hz"):
        by_hand(hz=0)


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"queued_at_us": -1}, r"WorkItem\.queued_at_us=-1 is outside 0"),
        ({"runs_us": -1}, r"WorkItem\.runs_us=-1"),
        ({"runs_us": None}, r"WorkItem\.runs_us=None"),
        ({"queued_at_us": "x"}, r"WorkItem\.queued_at_us='x'"),
    ],
)
def test_a_bad_work_item_is_refused_by_name(arguments: dict[str, object], found: str) -> None:
    with pytest.raises(tp.ConfigError, match=found):
        WorkItem(**arguments)  # type: ignore[arg-type]


def test_a_board_without_a_freezer_section_names_those_with_one() -> None:
    with pytest.raises(
        tp.ConfigError, match=r"board hikey has no \[freezer\] section: boards with one are .*nexus-10.*toy"
    ):
        Scenario(tp.Board.load("hikey"), others(1))
    with pytest.raises(tp.ConfigError, match="board='toy' is no Board"):
        Scenario("toy")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"runs": 0}, "runs=0"),
        ({"runs": 10**9}, "runs=1000000000"),
        ({"seed": -1}, "seed=-1"),
        ({"first": 1.5}, "first=1.5"),
        ({"threads": -1}, "threads=-1"),
    ],
)
def test_a_bad_run_is_refused_by_name(arguments: dict[str, object], found: str) -> None:
    with pytest.raises(tp.ConfigError, match=found):
        TABLET.run("full", **arguments)  # type: ignore[arg-type]


# What is given


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"kind": "kfreezable", "start": "spinning", "waits_on": "b"}, "start='spinning': only with kind"),
        ({"kind": "kfreezable", "start": "stopped"}, "kernel threads are blocked or uninterruptible"),
        ({"kind": "knofreeze", "start": "zombie"}, "only with kind = user, not knofreeze"),
        ({"kind": "kfreezable", "start": "user_mode"}, "start='user_mode': only with kind = user"),
        ({"start": "spinning"}, "waits_on='': a spinning task must name the group that it waits for"),
        ({"start": "spinning", "waits_on": "a"}, "waits_on='a': must name another group than its own"),
        ({"site": "kthread"}, "site='kthread': only with kind = kfreezable or knofreeze, not user"),
        ({"kind": "knofreeze", "wakes_at_us": 5}, "wakes_at_us=5.0: only with kind = user or kfreezable"),
        ({"kind": "bogus"}, "kind='bogus': known: user, kfreezable, knofreeze"),
        ({"count": np.array([1, 2])}, "TaskGroup.count=array"),
        ({"count": np.True_}, "TaskGroup.count="),
        ({"wakes_at_us": np.array([1.0])}, "TaskGroup.wakes_at_us=array"),
    ],
)
def test_a_group_that_cannot_be_is_refused_when_it_is_made(entries: dict[str, Any], message: str) -> None:
    with pytest.raises(tp.ConfigError) as caught:
        TaskGroup(name="a", **entries)
    assert message in str(caught.value)


def test_a_board_file_refuses_the_same_groups_in_the_same_words() -> None:
    text = tp.Board.load("toy").to_toml()
    line = 'name = "futex"'
    assert line in text
    broken = text.replace(line, f'{line}, start = "stopped", kind = "kfreezable"', 1)
    with pytest.raises(tp.ConfigError) as caught:
        tp.Board.from_toml(broken, label="mine.toml")
    with pytest.raises(tp.ConfigError) as alike:
        TaskGroup(name="futex", kind="kfreezable", start="stopped")
    number = broken[: broken.index('"stopped"')].count("\n") + 1
    assert str(caught.value).startswith(f"mine.toml:{number}: freezer.tasks[")
    assert str(caught.value).endswith(str(alike.value).partition(": ")[2])


@pytest.mark.parametrize("entry", ["timeout_ms", "wheel_extra"])
def test_a_board_may_leave_out_what_has_a_default_and_keep_its_provenance(entry: str) -> None:
    board = tp.Board.load("nexus-10")
    lines = board.to_toml().splitlines()
    shorter = [line for line in lines if not line.startswith(f"{entry} = ")]
    assert len(shorter) == len(lines) - 1
    left = tp.Board.from_toml("\n".join(shorter))
    assert left.content_hash == board.content_hash


def test_a_provenance_entry_of_no_number_is_still_refused() -> None:
    text = NEXUS.to_toml() + '"freezer.kernel.timeout_s" = "assumed: nothing"\n'
    with pytest.raises(tp.ConfigError, match="matches no number"):
        tp.Board.from_toml(text)


@pytest.mark.parametrize("given", [None, 3, object()])
def test_what_is_no_policy_is_refused_by_name(given: Any) -> None:
    idle_scenario = idle.Scenario(tp.Board.load("toy"), idle.TimerLoad(), duration_s=0.1)
    for scenario in (TABLET, idle_scenario):
        for call in (scenario.run, scenario.timeline):
            with pytest.raises(tp.ConfigError, match=r"policy=.*: must be a policy of the"):
                call(given)
    with pytest.raises(tp.ConfigError, match="policy="):
        TABLET.tasks(given)
    with pytest.raises(tp.ConfigError, match="of the freezer family"):
        TABLET.run(idle.Menu())  # type: ignore[arg-type]


def test_what_cannot_hear_of_progress_is_refused_by_name() -> None:
    idle_scenario = idle.Scenario(tp.Board.load("toy"), idle.TimerLoad(), duration_s=0.1)
    with pytest.raises(tp.ConfigError, match="progress=3 cannot be called"):
        TABLET.run("full", progress=3)  # type: ignore[arg-type]
    with pytest.raises(tp.ConfigError, match="progress=3 cannot be called"):
        idle_scenario.run("menu", progress=3)  # type: ignore[arg-type]


@pytest.mark.parametrize("given", [3, "abc", None, [3]])
def test_what_is_no_work_is_refused_by_name(given: Any) -> None:
    with pytest.raises(tp.ConfigError, match="work"):
        by_hand(work=given)
    with pytest.raises(tp.ConfigError, match="workload"):
        idle.Scenario(tp.Board.load("toy"), given)


def test_a_name_in_place_of_a_population_is_refused_as_a_whole() -> None:
    with pytest.raises(tp.ConfigError, match="population='nexus-10' is no Population"):
        Scenario(tp.Board.load("nexus-10"), "nexus-10")  # type: ignore[arg-type]


def test_numbers_of_numpy_are_numbers() -> None:
    board = tp.Board.load("toy")
    plain = Scenario(
        board,
        [TaskGroup(name="other", count=2, wakes_at_us=2.5)],
        cpus=2,
        since_tick_us=0.5,
        attempts=2,
        costs={"visit_cycles": 300},
        work=[WorkItem(queued_at_us=1.5, runs_us=3)],
        opp_khz=1_000_000,
        steal=False,
        slice_us=50,
    )
    same = Scenario(
        board,
        [TaskGroup(name="other", count=np.int64(2), wakes_at_us=np.float32(2.5))],
        cpus=np.int32(2),
        since_tick_us=np.float32(0.5),
        attempts=np.uint8(2),
        costs={"visit_cycles": np.int64(300)},
        work=[WorkItem(queued_at_us=np.float32(1.5), runs_us=np.int64(3))],
        opp_khz=np.int64(1_000_000),
        steal=np.False_,
        slice_us=np.int64(50),
    )
    assert same == plain
    assert repr(same) == repr(plain)
    runs = same.run("p1", runs=np.int64(2), seed=np.uint64(3), first=np.int8(1))
    assert runs == plain.run("p1", runs=2, seed=3, first=1)
    assert repr(runs) == repr(plain.run("p1", runs=2, seed=3, first=1))
    assert runs.timeline(np.int64(1)) == plain.timeline("p1", seed=3, replicate=2)


@pytest.mark.parametrize(
    "name",
    ["cpus", "since_tick_us", "timeout_ms", "attempts", "retry_gap_us", "slice_us", "opp_khz", "steal"],
)
@pytest.mark.parametrize("given", [np.array([1]), np.array(1), np.array([1, 2])])
def test_an_array_is_no_number_and_the_error_names_the_parameter(name: str, given: Any) -> None:
    with pytest.raises(tp.ConfigError, match=f"^{name}=array"):
        by_hand(**{name: given})


@pytest.mark.parametrize("given", [True, np.True_])
@pytest.mark.parametrize("name", ["cpus", "since_tick_us", "attempts", "opp_khz"])
def test_a_truth_value_is_no_number(name: str, given: Any) -> None:
    with pytest.raises(tp.ConfigError, match=rf"^{name}=(np\.)?True"):
        by_hand(**{name: given})
