"""Scenarios, runs and workloads of the idle family from Python."""

import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest

import torpor as tp
from torpor.idle import (
    BurstyInterrupts,
    IpiTimerBurst,
    LognormalInterrupts,
    PeriodicTimer,
    PoissonInterrupts,
    RecordedInterrupts,
    Scenario,
    TimerLoad,
    parse_workload,
)

HIKEY = tp.Board.load("hikey")
BUSY = Scenario(
    HIKEY,
    [LognormalInterrupts(median_gap_us=2000.0, sigma=1.2), PeriodicTimer(period_us=10_000.0, cpus=(1,))],
    duration_s=0.3,
)


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_results_do_not_depend_on_the_number_of_threads(threads: int) -> None:
    assert BUSY.run("menu", runs=9, seed=5, threads=1) == BUSY.run("menu", runs=9, seed=5, threads=threads)


def test_a_run_can_be_extended_later() -> None:
    whole = BUSY.run("teo", runs=6, seed=5)
    late = BUSY.run("teo", runs=2, seed=5, first=4)
    assert np.array_equal(whole.residency_ns[4:], late.residency_ns)


def test_seeds_differ() -> None:
    assert not np.array_equal(BUSY.run("menu", seed=1).residency_ns, BUSY.run("menu", seed=2).residency_ns)


def test_policies_meet_the_same_world() -> None:
    recorded = Scenario(
        tp.Board.load("toy"), RecordedInterrupts(cpu=0, times_us=(5_000.0, 20_000.0)), duration_s=0.05
    )
    for policy in ("menu", "teo", "oracle", "fixed(state=0)"):
        assert recorded.run(policy).cpu_wakeups[0, 0] == 2


def test_residencies_and_busy_time_add_up_to_the_run() -> None:
    runs = BUSY.run("menu", runs=3)
    assert (runs.residency_ns.sum(axis=2) < runs.end_ns).all()
    assert (runs.end_ns >= 300_000_000).all()


def test_progress_is_told_and_reaches_the_end() -> None:
    seen: list[tuple[int, int]] = []
    BUSY.run("menu", runs=5, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (5, 5)


def test_an_exception_in_progress_travels_out() -> None:
    def fail(done: int, total: int) -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        BUSY.run("menu", runs=5, progress=fail)


def test_ctrl_c_stops_a_run_soon() -> None:
    long = Scenario(HIKEY, PoissonInterrupts(mean_gap_us=50.0), duration_s=3600.0)
    sent: list[float] = []

    def interrupt() -> None:
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Timer(0.5, interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        long.run("menu", runs=100)
    # 0.2 s is promised; the rest is for a machine that does other things as well.
    assert time.monotonic() - sent[0] < 2.0


def test_a_scenario_and_its_pickle_are_equal_and_run_alike() -> None:
    copy = pickle.loads(pickle.dumps(BUSY))
    assert copy == BUSY
    assert copy.run("menu", seed=3) == BUSY.run("menu", seed=3)


def test_a_scenario_reads_back_from_its_repr() -> None:
    scope = {
        "Scenario": Scenario,
        "Board": tp.Board,
        "LognormalInterrupts": LognormalInterrupts,
        "PeriodicTimer": PeriodicTimer,
    }
    assert eval(repr(BUSY), scope) == BUSY


def test_a_disabled_state_is_not_entered() -> None:
    scenario = Scenario(HIKEY, BUSY.workload, duration_s=0.2, disabled_states=("cluster-sleep",))
    assert scenario.run("menu").usage[..., 2].sum() == 0


def test_frequency_chooses_the_power_of_busy_time() -> None:
    slow = Scenario(HIKEY, BUSY.workload, duration_s=0.2, opp_khz=208_000)
    fast = Scenario(HIKEY, BUSY.workload, duration_s=0.2, opp_khz=1_200_000)
    assert slow.run("menu").energy_mj[0] < fast.run("menu").energy_mj[0]


def test_energy_is_nan_where_no_power_is_published() -> None:
    runs = Scenario(tp.Board.load("x86-skylake"), PoissonInterrupts(mean_gap_us=500.0), duration_s=0.05).run(
        "menu"
    )
    assert np.isnan(runs.energy_mj).all()


def test_a_wheel_timer_expires_on_the_tick() -> None:
    timer = PeriodicTimer(period_us=30_000.0, cpus=(0,), wheel=True)
    scenario = Scenario(tp.Board.load("toy"), timer, duration_s=3.0, tick_phase_us=0.0)
    frame = scenario.timeline("teo").to_frame()
    leaves = frame[(frame["event"] == "leave_state") & (frame["cpu"] == 0)]["time_ns"].iloc[2:]
    tick_ns = 1_000_000_000 // scenario.board.tick_hz
    assert len(leaves) == pytest.approx(100, abs=5)
    assert (leaves % tick_ns < 2_000_000).all()


@pytest.mark.parametrize(
    "workload",
    [
        IpiTimerBurst(cpu=1, sender=0),
        PeriodicTimer(period_us=3000.0),
        TimerLoad(),
        PoissonInterrupts(mean_gap_us=700.0, task_run_us=50.0),
        LognormalInterrupts(median_gap_us=700.0, sigma=1.0),
        BurstyInterrupts(),
        RecordedInterrupts(cpu=0, times_us=(1.0, 2.0, 900.0)),
    ],
)
def test_every_workload_runs_and_reads_back(workload: object) -> None:
    scenario = Scenario(tp.Board.load("toy"), [workload], duration_s=0.3)  # type: ignore[list-item]
    assert scenario.run("menu").wakeups[0] > 0
    assert eval(repr(workload)) == workload
    assert pickle.loads(pickle.dumps(workload)) == workload


def test_a_workload_is_read_from_text() -> None:
    assert parse_workload("poisson_interrupts(mean_gap_us=500, cpus=(0, 1))") == PoissonInterrupts(
        mean_gap_us=500, cpus=(0, 1)
    )
    assert parse_workload("timer_load") == TimerLoad()


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"duration_s": 0.0}, "duration"),
        ({"duration_s": float("nan")}, "duration"),
        ({"tick_phase_us": 5000.0}, "tick_phase"),
        ({"latency_limit_us": -1}, "latency_limit_us"),
        ({"disabled_states": ("C9",)}, "C9"),
        ({"opp_khz": 1}, "opp_khz=1"),
        ({"refusal_probability": 1.5}, "refusal_probability"),
        ({"iowait": -1}, "iowait=-1"),
        ({"workload": IpiTimerBurst(cpu=8)}, "cpu"),
        ({"workload": [IpiTimerBurst(cpu=7), IpiTimerBurst(cpu=7)]}, "ipi/cpu7"),
        ({"workload": PoissonInterrupts(mean_gap_us=0.0)}, "mean_gap_ns"),
        ({"workload": LognormalInterrupts(median_gap_us=1.0, sigma=-1.0)}, "sigma"),
        ({"workload": PeriodicTimer(period_us=float("inf"))}, "period_us=inf"),
        ({"workload": BurstyInterrupts(gap_us=(5.0, 4.0))}, "gap_min_ns"),
    ],
)
def test_what_cannot_be_is_refused_by_name(arguments: dict[str, object], found: str) -> None:
    with pytest.raises(tp.ConfigError, match=found):
        Scenario(HIKEY, **({"workload": TimerLoad()} | arguments))  # type: ignore[arg-type]


def test_a_policy_must_fit_the_board() -> None:
    with pytest.raises(tp.ConfigError, match="state"):
        Scenario(tp.Board.load("hikey"), TimerLoad()).run("fixed(state=7)")
    with pytest.raises(tp.ConfigError, match="poll"):
        Scenario(tp.Board.load("hikey"), TimerLoad()).run("haltpoll()")


def test_no_replicates_are_refused() -> None:
    with pytest.raises(tp.ConfigError, match="0"):
        BUSY.run("menu", runs=0)


def test_frames_have_one_row_per_replicate_cpu_and_state() -> None:
    runs = BUSY.run("menu", runs=2, first=3)
    assert list(runs.to_frame()["replicate"]) == [3, 4]
    assert len(runs.to_frame("cpu")) == 2 * 8
    states = runs.to_frame("state")
    assert len(states) == 2 * 8 * 3
    assert states["residency_ns"].sum() == runs.residency_ns.sum()


def test_a_timeline_agrees_with_the_counters() -> None:
    runs = BUSY.run("menu", seed=4)
    intervals = runs.timeline(0).intervals(1)
    assert len(intervals) == runs.usage[0, 1].sum()
    assert (intervals["end_ns"] - intervals["start_ns"]).sum() == runs.residency_ns[0, 1].sum()


def test_results_read_back_from_their_repr_and_pickle() -> None:
    scenario = Scenario(tp.Board.load("toy"), PeriodicTimer(period_us=3000.0), duration_s=0.1)
    scope = {"Scenario": Scenario, "Board": tp.Board, "PeriodicTimer": PeriodicTimer}
    for result in (
        scenario.run("menu", runs=3, seed=2, first=1),
        scenario.timeline("teo", seed=2, replicate=1),
    ):
        assert eval(repr(result), scope) == result
        assert pickle.loads(pickle.dumps(result)) == result


@pytest.mark.parametrize(
    "held",
    [BUSY, BUSY.workload[0], BUSY.run("menu"), BUSY.timeline("menu"), HIKEY, tp.idle.Menu(version="4.18")],
)  # type: ignore[index]
def test_everything_a_user_holds_shows_itself_in_a_notebook(held: object) -> None:
    assert held._repr_html_().startswith("<")  # type: ignore[attr-defined]
