# SPDX-License-Identifier: MIT
"""Critical paths of phases, and how much later devices could end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import torpor as tp
from torpor.dpm import PHASES, Device, DeviceGraph, Generator, Link, Scenario, Segment
from torpor.dpm._critical_path import REASONS, critical_path, slack


def ran(name: str, ms: float, parent: str | None = None, **flags: Any) -> Device:
    """A device that computes for so long in suspend and in resume."""
    work = (Segment.cpu(1000 * ms),)
    return Device(name, parent, callbacks={"suspend": work, "resume": work}, **flags)


def frame(*rows: dict[str, Any]) -> pd.DataFrame:
    """Intervals of one resume phase, by hand; workers and CPUs differ unless they are given."""
    usual = {
        "phase": "resume",
        "queued_ms": np.nan,
        "lock_wait_ms": 0.0,
        "called": True,
        "in_place": False,
        "waited_for": None,
        "lock_after": None,
    }
    made = []
    for number, row in enumerate(rows):
        own = {"taken_ms": row.get("begin_ms"), "worker": number + 1, "cpu": number + 10}
        made.append(usual | own | row)
    return pd.DataFrame(made)


def steps(path: pd.DataFrame) -> list[tuple[str, str, str | None, float]]:
    return list(zip(path["device"], path["reason"], path["after"], path["length_ms"], strict=True))


DIAMOND = DeviceGraph([ran("A", 2), ran("B", 3, "A"), ran("C", 5, "A"), ran("D", 1, "B")], [Link("C", "D")])
HAZARD = DeviceGraph([ran("A", 4), ran("B", 6, async_suspend=False), ran("C", 3)])
FLAT = DeviceGraph([ran(name, 1) for name in "abcd"])


def test_the_path_follows_the_slower_side_of_a_diamond() -> None:
    intervals = Scenario.reference(DIAMOND).intervals("old")
    assert steps(critical_path(intervals, DIAMOND, "resume")) == [
        *(("A", "start", None, 2), ("C", "dependency", "A", 5), ("D", "dependency", "C", 1))
    ]
    assert steps(critical_path(intervals, DIAMOND, "suspend")) == [
        *(("D", "start", None, 1), ("C", "dependency", "D", 5), ("A", "dependency", "C", 2))
    ]


def test_under_sync_everything_is_held_up_by_the_walk() -> None:
    path = critical_path(Scenario.reference(DIAMOND).intervals("sync"), DIAMOND, "resume")
    assert path["device"].tolist() == ["A", "B", "C", "D"]
    assert path["reason"].tolist() == ["start", "walk", "walk", "walk"]


def test_an_async_device_behind_a_sync_one_waits_for_the_walk() -> None:
    path = critical_path(Scenario.reference(HAZARD).intervals("old-inline"), HAZARD, "resume")
    assert steps(path) == [("B", "start", None, 6), ("C", "walk", "B", 3)]


def test_what_finds_all_cpus_busy_is_held_up_by_its_cpu() -> None:
    path = critical_path(Scenario.reference(HAZARD).intervals("old"), HAZARD, "resume")
    assert steps(path) == [("A", "start", None, 4), ("C", "cpu", "A", 3)]


def test_a_sync_device_is_held_up_by_the_async_one_that_it_needs() -> None:
    sleeper = Device("U", callbacks={"resume": [Segment.sleep(5000)], "suspend": []})
    graph = DeviceGraph([sleeper, ran("V", 1, async_suspend=False), ran("W", 3)], [Link("U", "V")])
    path = critical_path(Scenario.reference(graph, cpus=1).intervals("old"), graph, "resume")
    assert steps(path) == [("U", "start", None, 5), ("V", "dependency", "U", 1)]


def test_who_waits_for_a_shared_lock_is_held_up_by_its_holder() -> None:
    held = {n: [Segment.lock("bus"), Segment.sleep(1000 * n), Segment.unlock("bus")] for n in (3, 2)}
    graph = DeviceGraph([Device(f"d{n}", callbacks={"resume": held[n], "suspend": []}) for n in held])
    path = critical_path(Scenario.reference(graph).intervals("old"), graph, "resume")
    assert steps(path) == [("d3", "start", None, 3), ("d2", "lock", "d3", 2)]


def test_a_lock_given_back_early_counts_from_the_end_of_the_wait() -> None:
    graph = DeviceGraph([ran("b", 1), ran("a", 1), ran("c", 1, "a")])
    intervals = frame(
        {"device": "b", "begin_ms": 0.0, "end_ms": 8.5},
        {"device": "a", "begin_ms": 1.0, "end_ms": 8.0, "lock_wait_ms": 2.0, "lock_after": "b"},
        {"device": "c", "begin_ms": 8.0, "end_ms": 9.0, "taken_ms": 0.0},
    )
    assert steps(critical_path(intervals, graph, "resume")) == [
        *(("b", "start", None, 3), ("a", "lock", "b", 5), ("c", "dependency", "a", 1))
    ]


def test_two_that_waited_for_each_other_are_no_endless_path() -> None:
    intervals = frame(
        {"device": "a", "begin_ms": 0.0, "end_ms": 9.0, "lock_wait_ms": 2.0, "lock_after": "b"},
        {"device": "b", "begin_ms": 1.0, "end_ms": 8.0, "lock_wait_ms": 2.0, "lock_after": "a"},
    )
    path = critical_path(intervals, FLAT, "resume")
    assert steps(path) == [("b", "start", None, 8), ("a", "lock", "b", 1)]


def test_what_its_worker_did_before_holds_an_item_up() -> None:
    intervals = frame(
        {"device": "a", "queued_ms": 0.0, "begin_ms": 0.0, "end_ms": 4.0, "worker": 1},
        {"device": "b", "queued_ms": 0.1, "begin_ms": 4.2, "end_ms": 5.0, "worker": 1},
    )
    path = critical_path(intervals, FLAT, "resume")
    assert path["reason"].tolist() == ["start", "worker"]
    assert path["wait_ms"].tolist() == pytest.approx([0.0, 0.2])


def test_a_worker_that_was_idle_holds_nothing_up() -> None:
    intervals = frame(
        {"device": "a", "queued_ms": 0.0, "begin_ms": 0.0, "end_ms": 1.0, "worker": 1},
        {"device": "b", "begin_ms": 0.0, "end_ms": 3.0, "worker": 0},
        {"device": "c", "queued_ms": 3.0, "begin_ms": 3.5, "end_ms": 5.0, "worker": 1},
    )
    path = critical_path(intervals, FLAT, "resume")
    assert steps(path) == [("b", "start", None, 3), ("c", "walk", "b", 2)]


CHAIN = DeviceGraph([ran("x", 1), ran("m", 1), ran("d", 1, "x"), ran("e", 1, "x")])


def near_miss(**early: Any) -> pd.DataFrame:
    """`d` is queued when `x` has just ended, and so has `m` in the main thread."""
    return frame(
        {"device": "x", "queued_ms": 0.0, "begin_ms": 0.0, "end_ms": 5.0},
        {"device": "m", "begin_ms": 0.0, "end_ms": 5.005, "worker": 0},
        {"device": "d", "queued_ms": 5.01, "begin_ms": 5.02, "end_ms": 9.0},
        {"device": "e", "queued_ms": 5.015, "begin_ms": 5.03, "end_ms": 6.0} | early,
    )


def test_where_items_are_queued_when_they_are_ready_it_is_what_they_need_that_queues_them() -> None:
    path = critical_path(near_miss(), CHAIN, "resume")
    assert path["after"].tolist()[-1] == "x"
    assert path["reason"].tolist()[-1] == "dependency"


def test_where_the_walk_queues_early_it_is_the_later_of_both() -> None:
    path = critical_path(near_miss(queued_ms=0.0), CHAIN, "resume")
    assert path["after"].tolist()[-1] == "m"
    assert path["reason"].tolist()[-1] == "walk"


def test_a_thread_that_went_on_to_another_device_has_queued_nothing_since() -> None:
    intervals = near_miss()
    intervals.loc[3, ["queued_ms", "taken_ms", "begin_ms", "end_ms"]] = [4.0, 5.0, 5.006, 6.0]
    intervals.loc[3, "worker"] = intervals.loc[0, "worker"]
    # x's thread is at e when d is queued, so that was the walk.
    path = critical_path(intervals, CHAIN, "resume")
    assert path["after"].tolist()[-1] == "m"


@pytest.mark.parametrize("policy", ["sync", "old", "old-inline", "breadth-first", "up-6.16", "up-6.17"])
def test_the_steps_follow_each_other_from_the_start_to_the_last_end(policy: str) -> None:
    scenario = Scenario(
        tp.Board.load("toy"), Generator(devices=120, lock_share=0.4), async_devices=0.7, slice_us=300
    )
    intervals, graph = scenario.intervals(policy, seed=5), scenario.graph(5)
    for phase in PHASES:
        path = critical_path(intervals, graph, phase)
        assert path["start_ms"].iloc[0] == 0.0
        assert path["start_ms"].tolist()[1:] == path["end_ms"].tolist()[:-1]
        assert path["end_ms"].iloc[-1] == intervals.loc[intervals["phase"] == phase, "end_ms"].max()
        assert (path["length_ms"] >= 0.0).all()
        assert (path["wait_ms"] <= path["length_ms"]).all()
        assert path["device"].is_unique
        assert set(path["reason"]) <= set(REASONS)
        assert path["after"].tolist() == [None, *path["device"].tolist()[:-1]]
        assert (slack(intervals, graph, phase)["slack_ms"] >= 0.0).all()


def test_the_faster_side_of_a_diamond_has_slack() -> None:
    spare = slack(Scenario.reference(DIAMOND).intervals("old"), DIAMOND, "resume").set_index("device")
    assert spare["slack_ms"].to_dict() == {"A": 0, "B": 2, "C": 0, "D": 0}
    assert spare["length_ms"].to_dict() == {"A": 2, "B": 3, "C": 5, "D": 1}


def test_sync_devices_follow_each_other_in_list_order() -> None:
    graph = DeviceGraph([ran("a", 2, async_suspend=False), ran("b", 1, async_suspend=False), ran("c", 5)])
    intervals = Scenario.reference(graph).intervals("old")
    assert slack(intervals, graph, "resume")["slack_ms"].tolist() == [2, 2, 0]
    sync = Scenario.reference(graph).intervals("sync")
    assert slack(sync, graph, "resume")["slack_ms"].tolist() == [0, 0, 0]


@pytest.mark.parametrize("seed", range(3))
def test_a_device_may_take_longer_by_its_slack_and_no_more(seed: int) -> None:
    graph = Generator(devices=25, p_no_callbacks=0.2).draw(seed)

    def end_ms(changed: DeviceGraph) -> float:
        return float(Scenario.reference(changed, cpus=64).run("breadth-first").resume_ms.item())

    def longer(name: str, us: float) -> DeviceGraph:
        devices = [
            replace(one, callbacks={**one.callbacks, "resume": (*one.callbacks["resume"], Segment.sleep(us))})
            if one.name == name
            else one
            for one in graph.devices
        ]
        return DeviceGraph(devices, graph.links)

    before_ms = end_ms(graph)
    spare = slack(Scenario.reference(graph, cpus=64).intervals("breadth-first"), graph, "resume")
    called = spare[spare["called"]]
    assert (called["slack_ms"] == 0.0).any()
    for name, slack_ms in zip(called["device"], called["slack_ms"], strict=True):
        assert end_ms(longer(name, 1000 * slack_ms)) == pytest.approx(before_ms, abs=2e-6)
        assert end_ms(longer(name, 1000 * slack_ms + 70)) == pytest.approx(before_ms + 0.07, abs=2e-6)


@pytest.mark.parametrize("link", [Link("a", "b", state="dormant"), Link("a", "b", sync_state_only=True)])
def test_links_that_order_nothing_are_no_dependencies(link: Link) -> None:
    intervals = frame(
        {"device": "a", "queued_ms": 0.0, "begin_ms": 0.0, "end_ms": 4.0},
        {"device": "b", "queued_ms": 0.0, "taken_ms": 0.0, "begin_ms": 4.0, "end_ms": 5.0},
    )
    without = DeviceGraph(FLAT.devices, [link])
    assert critical_path(intervals, without, "resume")["device"].tolist() == ["b"]
    assert slack(intervals, without, "resume")["slack_ms"].tolist() == [1, 0]
    ordered = DeviceGraph(FLAT.devices, [Link("a", "b")])
    assert critical_path(intervals, ordered, "resume")["device"].tolist() == ["a", "b"]
    assert slack(intervals, ordered, "resume")["slack_ms"].tolist() == [0, 0]


def test_a_device_that_did_not_wait_for_what_it_needs_leaves_it_slack() -> None:
    intervals = frame(
        {"device": "a", "queued_ms": 0.0, "begin_ms": 0.0, "end_ms": 4.0},
        {"device": "b", "queued_ms": 0.0, "begin_ms": 1.0, "end_ms": 6.0},
    )
    ordered = DeviceGraph(FLAT.devices, [Link("a", "b")])
    assert slack(intervals, ordered, "resume")["slack_ms"].tolist() == [2, 0]


def test_devices_that_never_ended_are_left_out() -> None:
    intervals = frame(
        {"device": "a", "begin_ms": 0.0, "end_ms": 4.0, "worker": 0},
        {"device": "b", "begin_ms": 5.0, "end_ms": np.nan, "worker": 0},
    )
    assert critical_path(intervals, FLAT, "resume")["device"].tolist() == ["a"]
    assert len(critical_path(intervals, FLAT, "suspend")) == 0
    assert (
        slack(intervals, FLAT, "suspend").columns.tolist()
        == slack(intervals, FLAT, "resume").columns.tolist()
    )


@pytest.mark.parametrize("call", [critical_path, slack])
def test_what_cannot_be_is_refused_with_its_name(call: Any) -> None:
    intervals = frame({"device": "a", "begin_ms": 0.0, "end_ms": 4.0})
    for arguments, message in (
        ((intervals, FLAT, "thaw"), r"phase='thaw' is unknown: known are prepare, suspend"),
        ((intervals.drop(columns="worker"), FLAT, "resume"), r"no column worker"),
        ((intervals, DIAMOND, "resume"), r"device 'a' is not in the graph"),
        (([1], FLAT, "resume"), r"intervals=\[1\] is no DataFrame"),
        ((intervals, "graph", "resume"), r"graph='graph' is no DeviceGraph"),
    ):
        with pytest.raises(tp.ConfigError, match=message):
            call(*arguments)
