# SPDX-License-Identifier: MIT
"""Timelines of cycles."""

from __future__ import annotations

import numpy as np
import pytest

import torpor as tp
from torpor.dpm import PHASES, Device, DeviceGraph, Link, Scenario, Segment, Timeline
from torpor.dpm.timeline import MAIN

TOY = Scenario(tp.Board.load("toy"), cycles=2)
POLICIES = ("sync", "old", "breadth-first", "up-6.17")


def ran(name: str, ms: float, parent: str | None = None, **flags: bool) -> Device:
    return Device(name, parent, callbacks={"resume": [Segment.cpu(1000 * ms)]}, **flags)


HAZARD = DeviceGraph([ran("A", 4), ran("B", 6, async_suspend=False), ran("C", 3)])
STUCK = DeviceGraph(
    [ran("P", 1), ran("Y", 3, async_suspend=False), ran("S", 1, "Y"), ran("X", 1, "P")], [Link("S", "X")]
)


@pytest.fixture(scope="module")
def timeline() -> Timeline:
    return TOY.timeline("old", seed=1)


def test_who_ran_where_is_what_was_worked_out() -> None:
    timeline = Scenario.reference(HAZARD).timeline("old")
    lanes = [timeline.intervals(cpu) for cpu in (0, 1)]
    assert lanes[0].to_numpy().tolist() == [[0, 6, MAIN]]
    assert lanes[1][["start_ms", "end_ms"]].to_numpy().tolist() == [[0, 4], [4, 7]]
    assert MAIN not in set(lanes[1]["entity"])
    counts = timeline.counts()
    assert counts["switch_ins"].tolist() == [1, 2]
    assert counts["workers"].tolist() == [0, 2]
    assert counts["main_ms"].tolist() == [6, 0]
    assert counts["workers_ms"].tolist() == [0, 7]


@pytest.mark.parametrize("policy", POLICIES)
def test_phases_come_in_their_order_and_last_as_long_as_the_runs_say(policy: str) -> None:
    phases = TOY.timeline(policy, seed=1).phases()
    assert phases["phase"].tolist() == list(PHASES)
    assert phases["start_ms"].iloc[0] == 0.0
    lengths = (phases["end_ms"] - phases["start_ms"]).to_numpy()
    np.testing.assert_allclose(lengths, TOY.run(policy, seed=1).phase_ms[0, 0], atol=1e-9)


@pytest.mark.parametrize("policy", POLICIES)
def test_the_time_of_all_lanes_is_the_busy_time(policy: str) -> None:
    timeline = TOY.timeline(policy, seed=1)
    phases = timeline.phases().set_index("phase")
    sides = [("suspend", "suspend_noirq"), ("resume_noirq", "resume")]
    busy_ms = TOY.run(policy, seed=1).cluster_busy_ns[0, 0].sum(axis=1) / 1e6
    for (first, last), busy in zip(sides, busy_ms, strict=True):
        low, high = phases.loc[first, "start_ms"], phases.loc[last, "end_ms"]
        total = 0.0
        for cpu in range(2):
            lane = timeline.intervals(cpu)
            inside = np.minimum(lane["end_ms"], high) - np.maximum(lane["start_ms"], low)
            total += float(inside.clip(lower=0.0).sum())
        # The last worker goes to sleep after the main thread has seen that all is done.
        assert total == pytest.approx(busy, abs=0.03)


@pytest.mark.parametrize("policy", POLICIES)
def test_nobody_is_on_two_cpus_and_no_cpu_runs_two(policy: str) -> None:
    timeline = TOY.timeline(policy, seed=1)
    lanes = [timeline.intervals(cpu) for cpu in range(2)]
    for lane in lanes:
        assert (lane["end_ms"] > lane["start_ms"]).all()
        assert (lane["start_ms"].to_numpy()[1:] >= lane["end_ms"].to_numpy()[:-1]).all()
    for one in lanes[0].itertuples():
        same = lanes[1][lanes[1]["entity"] == one.entity]
        assert not ((same["start_ms"] < one.end_ms) & (same["end_ms"] > one.start_ms)).any()


def test_devices_begin_and_end_when_their_intervals_say(timeline: Timeline) -> None:
    starts = timeline.phases().set_index("phase")["start_ms"]
    devices = timeline.stretches().set_index(["phase", "device"]).sort_index()
    intervals = TOY.intervals("old", seed=1).set_index(["phase", "device"]).sort_index()
    offsets = starts[intervals.index.get_level_values("phase")].to_numpy()
    assert devices.index.equals(intervals.index)
    np.testing.assert_allclose(devices["start_ms"], intervals["begin_ms"] + offsets, atol=1e-9)
    np.testing.assert_allclose(devices["end_ms"], intervals["end_ms"] + offsets, atol=1e-9)


def test_records_tell_what_they_are_about(timeline: Timeline) -> None:
    frame = timeline.to_frame()
    assert len(frame) == len(timeline)
    assert frame["time_ns"].is_monotonic_increasing
    assert frame["time_ns"].iloc[0] == 0
    runs = frame["event"].isin(["run_begin", "run_end"])
    assert set(frame.loc[runs, "cpu"]) == {0, 1}
    assert frame.loc[runs, ["phase", "device"]].isna().all(axis=None)
    assert (frame.loc[~runs, ["cpu", "entity"]] == -1).all(axis=None)
    of_devices = frame["event"].isin(["device_begin", "device_end"])
    assert set(frame.loc[of_devices, "device"]) == set(TOY.graph(1).order)
    assert frame.loc[~of_devices, "device"].isna().all()


def test_only_the_main_thread_runs_under_sync() -> None:
    counts = TOY.timeline("sync").counts()
    assert counts["workers"].tolist() == [0, 0]
    assert counts["main_ms"].sum() > 0.0


def test_a_phase_that_gets_stuck_ends_with_the_timeline() -> None:
    timeline = Scenario.reference(STUCK).timeline("up-6.17(max_active=1)")
    last = timeline.phases().iloc[-1]
    assert last["phase"] == "resume"
    assert last["end_ms"] == timeline.end_ms
    assert "X" not in set(timeline.stretches().query("phase == 'resume'")["device"])


def test_replicates_are_found_again() -> None:
    runs = TOY.run("old", runs=3, seed=4)
    assert runs.timeline(2) == TOY.timeline("old", seed=4, replicate=2)
    assert runs.timeline(2) != TOY.timeline("old", seed=4, replicate=1)
    assert repr(runs.timeline(2)).endswith(".timeline('old()', seed=4, replicate=2)")


@pytest.mark.parametrize("cpu", [-1, 2])
def test_a_cpu_that_is_not_there_is_refused(timeline: Timeline, cpu: int) -> None:
    with pytest.raises(tp.ConfigError, match=rf"cpu={cpu} is outside 0\.\.1"):
        timeline.intervals(cpu)
