# SPDX-License-Identifier: MIT
"""Freezer scenarios and results from Python; the worked examples by hand, in microseconds."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

import torpor as tp
from freezer_scenes import NEXUS, TABLET, by_hand, others
from torpor import freezer
from torpor.freezer import Population, Scenario, TaskGroup, WorkItem


def us(values_ns: np.ndarray) -> float:
    return float(values_ns[0]) / 1000


# Worked examples


@pytest.mark.parametrize(
    ("hz", "since_tick_us", "elapsed_us"),
    [(100, 0, 20001), (100, 7000, 13001), (250, 0, 16001), (1000, 0, 11001), (300, 0, 13334.332)],
)
def test_one_task_on_one_cpu_waits_for_the_sleep_of_v3_9(
    hz: int, since_tick_us: float, elapsed_us: float
) -> None:
    runs = by_hand(others(1), hz=hz, cpus=1, since_tick_us=since_tick_us).run("v3.9")
    assert us(runs.elapsed_ns) == elapsed_us
    assert (runs.freeze_task_switch_ins[0], runs.freeze_switches[0], runs.interrupted[0]) == (1, 5, 1)
    assert (runs.freeze_voluntary[0], runs.freeze_involuntary[0]) == (2, 1)
    assert us(runs.freeze_busy_ns) == 26


@pytest.mark.parametrize(("policy", "elapsed_us"), [("p1", 1026), ("v3.9(sleep=notify)", 26)])
def test_other_sleeps_shorten_it(policy: str, elapsed_us: float) -> None:
    assert us(by_hand(others(1), cpus=1).run(policy).elapsed_ns) == elapsed_us


@pytest.mark.parametrize(
    ("conditions", "elapsed_us"), [({}, 1049), ({"preempt": "none"}, 1024), ({"cpus": 1}, 1104)]
)
def test_four_tasks_end_with_the_walkers_turn(conditions: dict[str, object], elapsed_us: float) -> None:
    assert us(by_hand(others(4), **conditions).run("p1").elapsed_ns) == elapsed_us


def test_four_tasks_on_two_cpus_freeze_and_thaw_as_worked_out() -> None:
    scenario = by_hand(others(4))
    runs = scenario.run("p1")
    assert (runs.freeze_task_switch_ins[0], runs.freeze_switches[0]) == (4, 9)
    assert (us(runs.thaw_walker_ns), us(runs.thaw_all_ns)) == (35, 50)
    assert runs.freeze_cpu_busy_ns.tolist() == [[64_000, 40_000]]
    assert us(runs.freeze_busy_ns) == 104
    tasks = scenario.tasks("p1")
    assert tasks["frozen_us"].tolist() == [25, 40, 45, 60]
    assert tasks["interrupted"].all()


@pytest.mark.parametrize(
    ("policy", "elapsed_us", "switch_ins", "switches", "walker_us", "all_us", "thaw_switch_ins"),
    [
        ("v3.9", 20010, 10, 15, 95, 110, 10),
        ("p1", 1135, 10, 15, 95, 110, 10),
        ("full", 1043, 2, 7, 28, 33, 2),
        ("v3.12", 1061, 4, 9, 41, 56, 4),
        ("v6.1", 1064, 4, 9, 85, 90, 10),
        ("v6.7", 1064, 4, 9, 44, 59, 4),
    ],
)
def test_each_kernel_treats_ten_tasks_as_worked_out(
    policy: str,
    elapsed_us: float,
    switch_ins: int,
    switches: int,
    walker_us: float,
    all_us: float,
    thaw_switch_ins: int,
) -> None:
    runs = by_hand().run(policy)
    assert us(runs.elapsed_ns) == elapsed_us
    assert (runs.freeze_task_switch_ins[0], runs.freeze_switches[0]) == (switch_ins, switches)
    assert (us(runs.thaw_walker_ns), us(runs.thaw_all_ns)) == (walker_us, all_us)
    assert runs.thaw_task_switch_ins[0] == thaw_switch_ins


def test_a_v2_cgroup_is_told_when_the_last_task_has_stopped() -> None:
    assert us(by_hand(others(4)).run("cgroup2").elapsed_ns) == 60


def test_a_v1_cgroup_gives_up_after_its_tries() -> None:
    runs = by_hand(others(1).with_d_tail(1, None)).run("cgroup1(poll_us=100, tries=3)")
    assert runs.failed[0]
    assert us(runs.elapsed_ns) < 1000


KERNEL_THREADS = Population(
    [
        TaskGroup(name="other"),
        TaskGroup(name="kfreezable", kind="kfreezable"),
        TaskGroup(name="knofreeze", kind="knofreeze", site="kthread"),
    ]
)


@pytest.mark.parametrize(
    ("policy", "hz", "user_us", "total_us"),
    [("p1", 100, 1010, 2020), ("v3.9", 100, 20003, 40003), ("v3.9", 200, 15003, 30003)],
)
def test_kernel_threads_have_a_loop_of_their_own(
    policy: str, hz: int, user_us: float, total_us: float
) -> None:
    runs = by_hand(KERNEL_THREADS, hz=hz, loops="both").run(policy)
    assert us(runs.user_elapsed_ns) == user_us
    assert us(runs.elapsed_ns) == total_us
    assert runs.in_kernel_loop[0]


@pytest.mark.parametrize(("until_us", "total_us"), [(4022, 4023), (4024, 8026)])
def test_active_work_keeps_the_kernel_loop_going(until_us: float, total_us: float) -> None:
    runs = by_hand(KERNEL_THREADS, loops="both", work=[WorkItem(runs_us=until_us)]).run("p1")
    assert us(runs.elapsed_ns) == total_us


def test_a_d_task_that_never_ends_makes_the_freeze_fail() -> None:
    runs = by_hand(others(1).with_d_tail(1, None), hz=1000).run("p1")
    assert runs.failed[0]
    assert us(runs.elapsed_ns) == 20_006_513
    assert runs.user_passes[0] == 2503
    assert np.isnan(runs.bound_ns[0])
    assert np.isnan(runs.efficiency[0])
    refusing = runs.to_frame("group")
    assert refusing.set_index("group")["refusing"].to_dict() == {"other": 0, "d-tail": 1}


def test_a_wakeup_event_aborts_after_the_next_pass() -> None:
    tasks = Population([TaskGroup(name="stuck", start="uninterruptible")])
    runs = by_hand(tasks, cpus=1, wakeup_at_us=2000).run("p1")
    assert runs.aborted[0]
    assert us(runs.elapsed_ns) == 3006


def test_a_task_woken_late_runs_without_an_interrupted_call() -> None:
    tasks = Population(
        [TaskGroup(name="futex", site="futex", wakes_at_us=500), TaskGroup(name="other", site="other")]
    )
    runs = by_hand(tasks).run("full")
    assert us(runs.elapsed_ns) == 1008
    assert (runs.freeze_task_switch_ins[0], runs.interrupted[0]) == (2, 1)


# The published tablet


def test_the_tablet_freezes_as_the_series_says() -> None:
    before, after = (TABLET.run(policy, runs=40, seed=1) for policy in ("v3.9", "full"))
    assert before.elapsed_ms.mean() == pytest.approx(50.9, abs=1.5)
    assert after.elapsed_ms.mean() == pytest.approx(5.27, abs=0.02)
    assert set(before.freeze_task_switch_ins) == {1000}
    assert set(after.freeze_task_switch_ins) == {25}
    assert set(before.interrupted) == {990}
    assert set(before.visible_errors) == {240}
    assert before.power_mw(3.0).mean() == pytest.approx(10.5, abs=0.3)


def test_policies_meet_the_same_tick_phase() -> None:
    def ends(policy: str, seed: int) -> set[int]:
        # A sleep of msleep ends on a tick, and so does the second pass begin.
        passes = [TABLET.timeline(policy, seed=seed, replicate=r).passes() for r in range(5)]
        return {round(frame["start_us"].iloc[1] * 1000) % 5_000_000 for frame in passes}

    assert ends("v3.9", 3) == ends("skip-only", 3)
    assert len(ends("v3.9", 3)) == 5
    assert ends("v3.9", 3).isdisjoint(ends("v3.9", 4))


# Values


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_results_do_not_depend_on_the_number_of_threads(threads: int) -> None:
    scenario = replace(TABLET, population=TABLET.groups.with_d_tail(3))
    one = scenario.run("p1", runs=9, seed=5, threads=1)
    assert one == scenario.run("p1", runs=9, seed=5, threads=threads)
    assert len(set(one.elapsed_ns)) > 1


def test_a_run_can_be_extended_later() -> None:
    whole = TABLET.run("v3.9", runs=6, seed=5)
    late = TABLET.run("v3.9", runs=2, seed=5, first=4)
    assert np.array_equal(whole.elapsed_ns[4:], late.elapsed_ns)
    assert list(late.to_frame()["replicate"]) == [4, 5]


def test_a_scenario_and_its_pickle_are_equal_and_run_alike() -> None:
    scenario = by_hand(work=[WorkItem(runs_us=50)], costs={"visit_cycles": 2000}, wakeup_at_us=9e6)
    copy = pickle.loads(pickle.dumps(scenario))
    assert copy == scenario
    assert hash(copy) == hash(scenario)
    assert copy.run("p1", seed=3) == scenario.run("p1", seed=3)


SCOPE = {
    "Scenario": Scenario,
    "Board": tp.Board,
    "Population": Population,
    "TaskGroup": TaskGroup,
    "WorkItem": WorkItem,
}


def test_scenarios_and_results_read_back_from_their_repr_and_pickle() -> None:
    scenario = by_hand(work=[WorkItem(runs_us=50)], costs={"visit_cycles": 2000})
    assert eval(repr(scenario), SCOPE) == scenario
    for result in (
        scenario.run("full(cap_us=4000)", runs=3, seed=2, first=1),
        scenario.timeline("p1", seed=2, replicate=1),
    ):
        assert eval(repr(result), SCOPE) == result
        assert pickle.loads(pickle.dumps(result)) == result


@pytest.mark.parametrize(
    "held",
    [
        TABLET,
        TABLET.run("full"),
        TABLET.timeline("full"),
        WorkItem(runs_us=3),
        freezer.Freezer("p1"),
        freezer.sites(),
    ],
)
def test_everything_a_user_holds_shows_itself_in_a_notebook(held: object) -> None:
    assert held._repr_html_().startswith("<")  # type: ignore[attr-defined]


# Conditions


def test_costs_replace_those_of_the_board() -> None:
    plain, dear = by_hand(others(1), cpus=1), by_hand(others(1), cpus=1, costs={"freeze_run_cycles": 21_000})
    assert us(dear.run("p1").elapsed_ns) == us(plain.run("p1").elapsed_ns) + 1


def test_more_cpus_than_the_board_has_repeat_its_own() -> None:
    scenario = by_hand(cpus=5)
    assert len(scenario.freq_khz) == 5
    assert scenario.run("p1").freeze_cpu_busy_ns.shape == (1, 5)
    assert len(scenario.run("p1").to_frame("cpu")) == 5


def test_a_lower_frequency_takes_longer_and_less_power() -> None:
    slow, fast = (Scenario(NEXUS, opp_khz=khz).run("p1") for khz in (200_000, 1_700_000))
    assert slow.elapsed_ns[0] > 4 * fast.elapsed_ns[0]
    assert slow.freeze_energy_mj[0] < 13.0


def test_energy_is_nan_where_no_power_is_published() -> None:
    data = NEXUS.to_dict()
    for opp in data["clusters"][0]["opps"]:
        del opp["power_mw"]
    data["provenance"] = {key: text for key, text in data["provenance"].items() if "power_mw" not in key[:30]}
    data["provenance"]["freezer.base_power_mw"] = "assumed: as it is"
    runs = Scenario(tp.Board.from_dict(data), opp_khz=200_000).run("full", runs=2)
    for energy in (runs.freeze_energy_mj, runs.thaw_energy_mj, runs.cycle_energy_mj):
        assert np.isnan(energy).all()
    assert runs == runs
    assert not np.isnan(TABLET.run("full").cycle_energy_mj).any()


def test_a_failed_freeze_is_tried_again() -> None:
    stuck = others(1).with_d_tail(1, None)
    runs = by_hand(stuck, timeout_ms=50, attempts=3, retry_gap_us=1000).run("p1")
    assert runs.attempts[0] == 3
    assert runs.cycle_ns[0] > 3 * 50_000_000


def test_the_bound_can_be_left_out() -> None:
    assert np.isnan(by_hand(bound=False).run("p1").bound_ns).all()
    bound = by_hand().run("p1")
    assert 0 < bound.bound_ns[0] < bound.elapsed_ns[0]
    assert bound.efficiency[0] == bound.bound_ns[0] / bound.elapsed_ns[0]


@pytest.mark.parametrize(
    ("name", "value", "policy"),
    [
        ("preempt", "none", "p1"),
        ("wheel_extra", 1, "v3.9"),
        ("cpus", 1, "p1"),
        ("order", "listed", "full"),
        ("loops", "user_only", "p1"),
        ("since_tick_us", 0.0, "v3.9"),
        ("range_mode", "soft", "full"),
        ("slice_us", 10.0, "p1"),
    ],
)
def test_every_condition_changes_something(name: str, value: object, policy: str) -> None:
    base = replace(TABLET, since_tick_us=2500.0)
    other = replace(base, **{name: value})  # type: ignore[arg-type]
    assert not np.array_equal(other.run(policy, seed=1).cycle_ns, base.run(policy, seed=1).cycle_ns)


@pytest.mark.parametrize("queues", ["global", "per_cpu"])
@pytest.mark.parametrize("placement", ["first_idle", "biggest_idle", "wake_affine"])
@pytest.mark.parametrize("steal", [True, False])
def test_counts_do_not_depend_on_where_tasks_run(queues: str, placement: str, steal: bool) -> None:
    scenario = replace(TABLET, queues=queues, placement=placement, steal=steal, cpus=4)
    runs = scenario.run("v3.9", runs=3, seed=1)
    assert set(runs.freeze_task_switch_ins) == {1000}
    assert runs.frozen.all()
    assert (runs.freeze_busy_ns == runs.freeze_busy_ns[0]).all()


def test_a_task_woken_while_asleep_runs_on_after_the_thaw() -> None:
    tasks = Population([TaskGroup(name="late", site="futex", wakes_at_us=50_000), TaskGroup(name="other")])
    assert by_hand(tasks).run("full").running_on[0] == 0
    assert by_hand(tasks, asleep_us=100_000).run("full").running_on[0] == 1


def test_summaries_are_paired_and_leave_no_metric_out() -> None:
    report = freezer.summarise([TABLET.run(policy, runs=3) for policy in ("v3.9", "full")])
    names = {entry["metric"] for entry in report.to_json()["metrics"]}
    for name in ("freeze", "task switch-ins", "efficiency", "energy, cycle", "refusing", "failed"):
        assert name in names
    assert "freezer(version=full)" in report.to_text()
    with pytest.raises(tp.ConfigError, match="other worlds"):
        freezer.summarise([TABLET.run("v3.9", seed=1), TABLET.run("full", seed=2)])


def test_a_kernel_thread_may_sleep_freezably_in_any_site() -> None:
    tasks = Population([TaskGroup(name="worker", kind="kfreezable", site="epoll")])
    assert by_hand(tasks, loops="both").run("full").frozen[0]


# Results


def test_results_know_their_levels_and_replicates() -> None:
    runs = TABLET.run("full", runs=2)
    assert runs.to_frame()["outcome"].tolist() == ["frozen", "frozen"]
    with pytest.raises(tp.ConfigError, match="level='task' is unknown"):
        runs.to_frame("task")  # type: ignore[arg-type]
    with pytest.raises(IndexError, match="run=2"):
        runs.timeline(2)
    with pytest.raises(tp.ConfigError, match="period_s=0"):
        runs.power_mw(0)
    with pytest.raises(ValueError, match="read-only"):
        runs.elapsed_ns[0] = 1
    assert len(runs.tasks(1)) == TABLET.task_count


def test_an_empty_population_freezes_at_once() -> None:
    runs = by_hand(Population([]), loops="both").run("v3.9", runs=2)
    assert runs.elapsed_ns.tolist() == [0, 0]
    assert runs.refusing_by_group.shape == (2, 0)
    assert np.isnan(runs.efficiency).all()
    assert len(runs.to_frame("group")) == 0


def test_ctrl_c_stops_a_run_soon() -> None:
    sent: list[float] = []

    def interrupt() -> None:
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Timer(0.5, interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        TABLET.run("v3.9", runs=1_000_000)
    # 0.2 s is promised; the rest is for a machine that does other things as well.
    assert time.monotonic() - sent[0] < 2.0


def test_progress_is_told_and_reaches_the_end() -> None:
    seen: list[tuple[int, int]] = []
    TABLET.run("full", runs=5, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (5, 5)


def test_results_refuse_attributes_that_they_do_not_have() -> None:
    runs = TABLET.run("full")
    for result in (runs, runs.timeline(0)):
        with pytest.raises(AttributeError):
            result.elapsed = 3  # type: ignore[attr-defined]
