# SPDX-License-Identifier: MIT
"""Scenarios of the dpm family from Python: worked examples by hand, conditions, bad input."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpm_scenes import DIAMOND, INLINE, LIMITED, device, four
from refusals import refused
from torpor.board import Board
from torpor.dpm import (
    PHASES,
    BreadthFirst,
    Device,
    DeviceGraph,
    Generator,
    Policy,
    Scenario,
    Segment,
    run_policies,
)

TOY = Board.load("toy")
ASYNC = ("old", "old-inline", "breadth-first", "up-6.16", "up-6.17")


# Worked examples


@pytest.mark.parametrize("policy", ["sync", *ASYNC])
def test_a_diamond_takes_its_longest_path_unless_one_thread_does_it_all(policy: str) -> None:
    runs = Scenario.reference(DIAMOND, cpus=2).run(policy)
    expected = 11.0 if policy == "sync" else 8.0
    assert (runs.suspend_ms.item(), runs.resume_ms.item()) == (expected, expected)
    blocks = 0 if policy in ("sync", "breadth-first") else 4
    assert runs.side("blocks", "resume").item() == blocks


@pytest.mark.parametrize(
    ("policy", "suspend_ms", "resume_ms"),
    [("sync", 13, 13), ("old", 10, 7), ("old-inline", 10, 9), ("up-6.17", 7, 7)],
)
def test_an_async_device_behind_a_slow_sync_one_waits_for_the_walk(
    policy: str, suspend_ms: float, resume_ms: float
) -> None:
    graph = DeviceGraph([device("A", ms=4), device("B", ms=6, async_suspend=False), device("C", ms=3)])
    runs = Scenario.reference(graph, cpus=2).run(policy)
    assert (runs.suspend_ms.item(), runs.resume_ms.item()) == (suspend_ms, resume_ms)


def test_devices_without_callbacks_are_handled_in_place() -> None:
    scenario = Scenario.reference(INLINE, cpus=2)
    old, new, plain = (scenario.run(p) for p in ("old", "breadth-first", "breadth-first(inline_calls=false)"))
    assert (old.suspend_ms.item(), new.suspend_ms.item()) == (10, 5)
    assert [r.items[0, 0, 6] for r in (old, new, plain)] == [6, 3, 6]


def test_a_phase_that_cannot_end_says_who_waits_for_whom() -> None:
    scenario = Scenario.reference(LIMITED, cpus=2)
    runs = scenario.run("up-6.16(max_active=1)", runs=2)
    assert (runs.outcome == 3).all()
    assert runs.ended_in.tolist() == [[6], [6]]
    assert len(runs.stuck) == 2
    for name in ("resume cannot end", "'X'", "'S'"):
        assert name in runs.stuck[1]
    assert scenario.run("up-6.16(max_active=2)").stuck == ("",)


def test_a_stuck_cycle_leaves_nothing_behind_for_the_next() -> None:
    runs = Scenario.reference(LIMITED, cpus=2, cycles=6).run("up-6.16(max_active=1)")
    assert runs.ended_in.tolist() == [[6] * 6]
    assert (runs.phase_ns == runs.phase_ns[:, :1]).all()


@pytest.mark.parametrize("given", [{"main_gives_way": True}, {"wakeup_granularity_us": 5}], ids=str)
def test_who_gives_way_comes_back(given: dict[str, Any]) -> None:
    runs = Scenario(TOY, cpus=1, main_suspend_cpu=0, **given).run("old", seed=1)
    assert runs.stuck == ("",)


def test_a_device_that_fails_ends_the_suspend_and_what_was_suspended_is_resumed() -> None:
    runs = Scenario.reference(four(fails=("suspend",)), async_devices="none").run("sync")
    assert (runs.failed.all(), runs.done.any(), runs.aborted.any()) == (True, False, False)
    assert (runs.ended_in.item(), runs.device.item()) == (1, 2)
    assert (runs.suspend_ms.item(), runs.resume_ms.item()) == (2, 1)
    assert runs.callbacks[0, 0].tolist() == [0, 2, 0, 0, 0, 0, 1, 0]


def test_a_wakeup_event_ends_the_suspend() -> None:
    runs = Scenario.reference(four(wakes_system=("suspend",)), async_devices="none").run("sync")
    assert runs.aborted.all()
    assert runs.outcome.item() == 2


def test_a_policy_cannot_beat_the_bound() -> None:
    scenario = Scenario.reference(Generator(devices=60), cpus=3)
    for runs in run_policies(scenario, ["bound", *ASYNC], runs=5, seed=2).values():
        assert (runs.phase_ns >= runs.bound_ns).all()


# Conditions


def test_async_devices_are_the_flagged_ones_all_none_or_a_share() -> None:
    graph = DeviceGraph([device(f"d{i}", sleep_ms=1, async_suspend=i < 2) for i in range(4)])

    def resume_ms(which: Any) -> float:
        runs = Scenario.reference(graph, cpus=4, async_devices=which).run("old", seed=5)
        return float(runs.resume_ms.item())

    assert [resume_ms(which) for which in (None, "flagged", "all", "none")] == [2, 2, 1, 4]
    assert [resume_ms(share) for share in (0.0, 1.0)] == [4, 1]


def test_costs_are_microseconds_and_those_of_a_phase_stand_above_them() -> None:
    graph = four()
    plain = Scenario.reference(graph, costs={"core_us": 10}).run("sync")
    assert np.allclose(plain.phase_ms[0, 0, [1, 2, 6]], [4.04, 0.04, 4.04])
    mixed = Scenario.reference(
        graph, costs={"core_us": 10}, phase_costs={"suspend_late": {"core_us": 100}}
    ).run("sync")
    assert np.allclose(mixed.phase_ms[0, 0, [1, 2, 6]], [4.04, 0.4, 4.04])


def test_scales_are_one_pair_for_all_replicates_or_one_for_each() -> None:
    def scaled(scales: Any) -> Any:
        return Scenario.reference(four(), scales=scales).run("sync", runs=2)

    assert scaled((2, 3)).suspend_ms.tolist() == [[8], [8]]
    assert scaled((2, 3)).resume_ms.tolist() == [[12], [12]]
    assert scaled([(1, 1), (2, 0.5)]).suspend_ms.tolist() == [[4], [8]]
    assert scaled(np.array([[1, 1], [2, 0.5]])).resume_ms.tolist() == [[4], [2]]


def test_later_replicates_take_later_scales() -> None:
    scenario = Scenario.reference(four(), scales=[(1, 1), (2, 2)])
    assert scenario.run("sync", first=1).suspend_ms.item() == 8
    message = refused(lambda: scenario.run("sync", runs=2, first=1))
    assert "first=1 and runs=2 are replicates up to 2, limit: 1" in message


def test_a_board_decides_what_is_not_given() -> None:
    same = Scenario(TOY, eas=TOY.dpm.eas, jitter=TOY.dpm.jitter, async_devices=TOY.dpm.async_devices)
    ours, theirs = same.run("old", seed=3), Scenario(TOY).run("old", seed=3)
    assert (ours.suspend_ns == theirs.suspend_ns).all()
    assert (ours.resume_switches == theirs.resume_switches).all()


def test_a_slower_frequency_makes_cpu_work_longer() -> None:
    graph = DeviceGraph([device("busy", ms=10)])
    common: dict[str, Any] = {"slice_us": 0, "tick_balance": False, "jitter": 0}
    fast, slow = (
        Scenario(TOY, graph, relative_freq=freq, **common).run("sync").suspend_ms.mean() for freq in (1, 0.5)
    )
    assert slow == pytest.approx(2 * fast, rel=0.02)


def test_the_frequency_of_one_cluster_leaves_the_others_as_the_board_has_them() -> None:
    board = Board.load("pixel-6")
    rates = {
        cpu.cluster: cpu.relative_freq for cpu in Scenario(board, relative_freq={"big": 0.5})._machine.cpus
    }
    assert rates == {0: 0.6639, 1: 0.6618, 2: 0.5}


def test_an_infinite_share_is_an_idle_exit_that_is_never_paid() -> None:
    board = Board.load("pixel-6")
    assert Scenario(board)._machine.cpus[0].idle_exits
    assert Scenario(board, idle_exit_share=float("inf"))._machine.cpus[0].idle_exits == ()


def test_fewer_cpus_are_the_first_of_the_board() -> None:
    scenario = Scenario(Board.load("pixel-6"), cpus=4, main_suspend_cpu=0)
    assert (scenario.cpu_count, scenario.clusters) == (4, ("little",))
    assert scenario.run("old").cluster_busy_ns.shape == (1, 10, 2, 1)


def test_energy_is_unknown_without_a_published_power() -> None:
    assert np.isnan(Scenario.reference(DIAMOND).run("old").suspend_energy_mj).all()
    runs = Scenario(Board.load("pixel-6"), cycles=2).run("old")
    assert (runs.suspend_energy_mj > 0).all()
    assert (runs.resume_energy_mj > 0).all()


def test_each_replicate_draws_its_own_graph() -> None:
    scenario = Scenario.reference(Generator(devices=30))
    one, two = scenario.graph(seed=4, replicate=0), scenario.graph(seed=4, replicate=1)
    assert one != two
    drawn = scenario.run("old", runs=2, seed=4)
    for number, graph in enumerate((one, two)):
        fixed = Scenario.reference(graph).run("old", seed=4)
        assert fixed.resume_ns[0, 0] == drawn.resume_ns[number, 0]


# Scenarios as values


def test_a_scenario_is_a_value() -> None:
    scenario = Scenario(TOY, Generator(devices=9), costs={"core_us": 2}, scales=[(1, 2)], cycles=2)
    assert pickle.loads(pickle.dumps(scenario)) == scenario
    assert replace(scenario, cycles=3) != scenario
    assert eval(repr(scenario)) == scenario
    assert hash(scenario) == hash(replace(scenario))
    small = Scenario.reference(DIAMOND, cpus=3, jitter=0.5)
    assert pickle.loads(pickle.dumps(small)) == small


def test_a_scenario_reads_back_from_its_representation() -> None:
    for text in (
        "Scenario(board=Board.load('toy'), eas=False, warmup_cycles=0)",
        "Scenario.reference(devices=Generator(devices=9), cpus=3, cycles=2)",
        "Scenario.reference(devices=Generator(devices=9))",
    ):
        assert repr(eval(text)) == text
        assert text.split("(")[0] in eval(text)._repr_html_() or "scenario" in eval(text)._repr_html_()


def test_numbers_of_numpy_are_numbers() -> None:
    scenario = Scenario.reference(DIAMOND, cpus=np.int64(2), jitter=np.float64(0.1))  # type: ignore[arg-type]
    assert (type(scenario.cpus), type(scenario.jitter)) == (int, float)


# Bad input


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"cpus": 0}, "cpus=0 is outside 1..2"),
        ({"cpus": 3}, "cpus=3 is outside 1..2"),
        ({"relative_freq": 0}, "relative_freq=0: must be above 0 and at most 1"),
        ({"relative_freq": {"big": 0.5}}, "relative_freq[big]: clusters of toy: cluster0"),
        (
            {"async_devices": "some"},
            "async_devices='some' is unknown: known are flagged, all, none, or a share",
        ),
        ({"async_devices": 1.5}, "async_devices=1.5 is outside 0..1"),
        ({"async_devices": float("nan")}, "async_devices=nan is outside 0..1"),
        ({"eas": "yes"}, "eas='yes' is neither True nor False"),
        ({"placement": "big"}, "placement: 'big' is unknown; known: spread, biggest_idle, pinned"),
        ({"pull": 1}, "pull=1 is neither True nor False"),
        ({"slice_us": 0.5}, "slice_us=0.5 is outside 1.."),
        ({"slice_us": -1}, "slice_us=-1 is outside 0.."),
        ({"wakeup_granularity_us": -1}, "wakeup_granularity_us=-1 is outside 0.."),
        ({"tick_balance": 0}, "tick_balance=0 is neither"),
        ({"idle_exit_share": -1}, "idle_exit_share=-1"),
        ({"cluster_exit_us": "x"}, "cluster_exit_us='x' is no time in microseconds"),
        ({"shared_cpus": 0.001}, "shared_cpus=0.001 is outside 0.01..8192"),
        ({"shared_cpus": -1}, "shared_cpus=-1 is outside 0..8192"),
        ({"main_suspend_cpu": 2}, "main_suspend_cpu=2 is outside 0..1"),
        ({"main_suspend_util": 1025}, "main_suspend_util=1025 is outside 0..1024"),
        ({"main_resume_cpu": -1}, "main_resume_cpu=-1 is outside 0..1"),
        ({"main_resume_util": float("nan")}, "main_resume_util=nan is outside"),
        ({"main_gives_way": None, "initial_workers": 0}, "initial_workers=0 is outside 1..100000"),
        ({"worker_per_item": 2}, "worker_per_item=2 is neither"),
        ({"barrier_wakes": "no"}, "barrier_wakes='no' is neither"),
        ({"direct_complete": "no"}, "direct_complete='no' is neither"),
        ({"eas_switch_us": -1}, "eas_switch_us=-1 is outside 0.."),
        ({"jitter": 11}, "jitter=11 is outside 0..10"),
        (
            {"since_tick_us": 4000},
            "since_tick_us=4000 is outside 0 <= since_tick_us < 4000, one tick at HZ 250",
        ),
        ({"since_tick_us": 3999.9999}, "since_tick_us=3999.9999 is outside"),
        ({"since_tick_us": 1000, "tick_hz": 1000}, "since_tick_us=1000 is outside 0 <= since_tick_us < 1000"),
        ({"tick_hz": 0}, "tick_hz=0 is outside 1..10000"),
        ({"tick_hz": 250.5}, "tick_hz=250.5 is no whole number"),
        ({"warmup_cycles": -1}, "warmup_cycles=-1 is outside 0..1000000"),
        ({"cycles": 0}, "cycles=0 is outside 1..1000000"),
        ({"cycles": 1.5}, "cycles=1.5 is no whole number"),
        ({"scales": 2.0}, "scales=2.0 is neither a pair of numbers nor a sequence of such pairs"),
        ({"scales": ()}, "scales=() is neither"),
        ({"scales": (1, 2, 3)}, "scales=(1, 2, 3) is no pair of numbers: suspend, resume"),
        ({"scales": [(1, 2), (1,)]}, "scales[1]=(1,) is no pair"),
        ({"scales": [(1, 2), (1, -1)]}, "scales[1][1]=-1 is outside 0..1000000"),
        ({"costs": {"quue_us": 1}}, "costs: 'quue_us' is unknown: known are switch_us"),
        ({"costs": {"queue_us": -1}}, "costs.queue_us=-1 is outside 0.."),
        ({"costs": 3}, "costs=3 is no mapping"),
        ({"phase_costs": {"sleep": {}}}, "phase_costs: 'sleep' is unknown: known are prepare, suspend"),
        (
            {"phase_costs": {"resume": {"switch_us": 1}}},
            "phase_costs.resume: 'switch_us' is unknown: known are queue",
        ),
        ({"phase_costs": {"resume": {"core_us": "1"}}}, "phase_costs.resume.core_us='1' is no number"),
        ({"phase_costs": 3}, "phase_costs=3 is no mapping"),
        ({"devices": "all"}, "devices='all' is neither a DeviceGraph nor a Generator"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused_with_value_and_limit(given: dict[str, Any], found: str) -> None:
    assert found in refused(lambda: Scenario(TOY, **given))


def test_the_board_must_have_the_section() -> None:
    message = refused(lambda: Scenario(Board.load("hikey")))
    assert message.startswith("board hikey has no [dpm] section: boards with one are ")
    assert "pixel-6" in message
    assert "board='toy' is no Board" in refused(lambda: Scenario("toy"))  # type: ignore[arg-type]


def test_eas_needs_an_energy_model() -> None:
    data = TOY.to_dict()
    for opp in data["clusters"][0]["opps"]:
        opp.pop("power_mw", None)
    data["dpm"]["eas"] = False
    data["dpm"].pop("performance_domains", None)
    board = Board.from_dict(data)
    assert Scenario(board).run("old").runs == 1
    assert "eas=True: board toy tells no power" in refused(lambda: Scenario(board, eas=True))


def test_the_reference_mode_refuses_what_means_nothing_there() -> None:
    assert "relative_freq=0.5 has no meaning in the reference mode" in refused(
        lambda: Scenario(None, DIAMOND, relative_freq=0.5)
    )
    assert "devices=None: the reference mode has none" in refused(lambda: Scenario(None))
    assert "cpus=0 is outside 1..8192" in refused(lambda: Scenario.reference(DIAMOND, cpus=0))


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"runs": 0}, "runs=0 is outside 1.."),
        ({"runs": True}, "runs=True is no whole number"),
        ({"first": -1}, "first=-1 is outside 0.."),
        ({"seed": 2**64}, "seed=18446744073709551616 is outside"),
        ({"threads": 5000}, "threads=5000 is outside 0..4096"),
        ({"progress": 3}, "progress=3 cannot be called with (done, total)"),
    ],
    ids=str,
)
def test_a_call_that_cannot_be_is_refused(given: dict[str, Any], found: str) -> None:
    assert found in refused(lambda: Scenario(TOY).run("old", **given))


def test_more_cycles_than_fit_into_memory_are_refused() -> None:
    message = refused(lambda: Scenario(TOY, cycles=10**6).run("old", runs=3))
    assert message.startswith("runs=3 of cycles=1000000 each are 3000000 cycles, limit: ")


@pytest.mark.parametrize(
    ("policies", "found"),
    [([], "policies=[] is no sequence of at least one policy"), ("old", "policies='old' is no sequence")],
)
def test_several_policies_are_a_sequence(policies: Any, found: str) -> None:
    assert found in refused(lambda: run_policies(Scenario(TOY), policies))


def test_policies_of_one_call_are_told_by_their_text() -> None:
    policies: list[Policy | str] = ["old", BreadthFirst(eas_off="resume"), "old()"]
    results = run_policies(Scenario(TOY, cycles=1), policies, runs=2, seed=4)
    assert list(results) == ["old()", "breadth-first(eas_off=resume)"]
    assert results["old()"] == Scenario(TOY, cycles=1).run("old", runs=2, seed=4)


def test_progress_is_that_of_all_policies_together() -> None:
    heard: list[tuple[int, int]] = []
    run_policies(
        Scenario.reference(Generator(devices=10)),
        ["sync", "old"],
        runs=3,
        progress=lambda done, total: heard.append((done, total)),
    )
    assert {total for _, total in heard} == {6}
    assert heard == sorted(heard)
    assert heard[-1] == (6, 6)
    assert (3, 6) in heard


# One cycle in detail


def test_intervals_tell_what_became_of_each_device() -> None:
    frame = Scenario.reference(DIAMOND, cpus=2).intervals("old")
    resume = frame[frame["phase"] == "resume"].set_index("device")
    assert resume["begin_ms"].to_dict() == {"A": 0, "B": 2, "C": 2, "D": 7}
    assert resume["end_ms"].to_dict() == {"A": 2, "B": 5, "C": 7, "D": 8}
    assert resume.loc["D", "waited_for"] == "C"
    assert resume["called"].all()
    assert (resume["worker"] > 0).all()
    prepare = frame[frame["phase"] == "prepare"]
    assert (prepare["worker"] == 0).all()
    assert prepare["queued_ms"].isna().all()


def test_intervals_name_who_held_the_lock_before() -> None:
    held = (Segment.lock("clk"), Segment.sleep(1000), Segment.unlock("clk"))
    graph = DeviceGraph([replace(device(name), callbacks={"resume": held}) for name in ("a", "b")])
    frame = Scenario.reference(graph, cpus=2).intervals("old")
    resume = frame[frame["phase"] == "resume"].set_index("device")
    assert resume.loc["b", "lock_after"] == "a"
    assert resume["lock_wait_ms"].to_dict() == {"a": 0, "b": 1}


def test_a_timeline_has_one_cycle_in_order_of_time() -> None:
    timeline = Scenario.reference(DIAMOND, cpus=2, cycles=5, warmup_cycles=1).timeline("old")
    assert timeline.devices == ("A", "B", "C", "D")
    frame = timeline.to_frame()
    assert frame["time_ns"].is_monotonic_increasing
    assert frame.loc[frame["event"] == "phase_begin", "phase"].tolist() == list(PHASES)
    assert set(frame.loc[frame["event"] == "run_begin", "cpu"]) == {0, 1}


WHEEL = DeviceGraph([Device("a", callbacks={"resume": [Segment.ticks(3)]})])
"""A sleep through the timer wheel."""


@pytest.mark.parametrize(("tick_hz", "ms"), [(None, 12), (100, 30), (1000, 3)])
def test_a_sleep_through_the_timer_wheel_takes_ticks_of_the_kernels_hz(tick_hz, ms):
    scenario = Scenario.reference(WHEEL, cpus=1, tick_hz=tick_hz, since_tick_us=0)
    assert scenario.run("sync").resume_ns[0, 0] == ms * 1_000_000


def test_hz_of_the_scenario_goes_before_the_boards():
    board = Board.load("toy", tick_hz=100)
    one, other = (
        Scenario(board, WHEEL, tick_hz=tick_hz, since_tick_us=0, cycles=1).run("sync").resume_ns[0, 0]
        for tick_hz in (None, 1000)
    )
    assert one - other > 20_000_000
