# SPDX-License-Identifier: MIT
"""One phase of a recorded cycle played alone: costs, CPUs, ticks and rules; and why it takes so long."""

import math

import pytest

from refusals import refused
from torpor.dpm import Device, DeviceGraph, Segment
from torpor.dpm._capture_graph import RecordedGraph, ReplayCosts
from torpor.dpm._whatif_modes import first_holders, modes_of, orders_of, path_of, races_of, rivals
from torpor.dpm.whatif import PhaseModel, RecordedMachine

MS = 1_000_000
ONE = RecordedMachine("lab", cpus=1, capacity=1.0)
FOUR = RecordedMachine("lab", cpus=4, capacity=4.0)
SHARED = RecordedMachine("lab", cpus=4, capacity=1.0)
FREE = ReplayCosts(0.0, 0.0, 0.0, 0.0, 0.0)
NEW = "old-inline"


def _recorded(*devices, costs=FREE, phase="resume", links=()):
    graph = DeviceGraph(devices, links)
    return RecordedGraph(graph, tuple(device.name for device in devices), frozenset(), {phase: costs})


def _device(name, *segments, parent=None, phase="resume", **flags):
    return Device(name, parent, callbacks={phase: segments}, **flags)


def _ms(machine, recorded, policy=NEW, phase="resume", since_tick_ns=0, with_main=False, **rules):
    model = PhaseModel(machine, recorded, phase, **rules)
    return model.play(policy, since_tick_ns=since_tick_ns, items_with_main=with_main).ms


def _hub(hold_ms=3, machine=FOUR, **model):
    """Two disks below a hub, which are reset one after the other, and what is seen of them."""
    reset = (Segment.ticks(1), Segment.lock("usb"), Segment.sleep(hold_ms * 1000), Segment.unlock("usb"))
    recorded = _recorded(
        _device("hub", Segment.sleep(1000)),
        _device("one", *reset, parent="hub"),
        _device("two", *reset, parent="hub"),
        _device("input", Segment.sleep(500), parent="two"),
    )
    return PhaseModel(machine, recorded, "resume", **model)


def test_a_sleep_through_the_timer_wheel_ends_on_a_tick():
    recorded = _recorded(_device("a", Segment.ticks(3)))
    assert _ms(ONE, recorded, since_tick_ns=0) == 12.0
    assert _ms(ONE, recorded, since_tick_ns=3 * MS) == 9.0


def test_the_tick_of_the_machine_is_taken():
    slow = RecordedMachine("lab", cpus=1, capacity=1.0, tick_ns=10 * MS)
    assert _ms(slow, _recorded(_device("a", Segment.ticks(3)))) == 30.0


def test_a_period_of_no_whole_hz_is_refused():
    message = refused(lambda: RecordedMachine("lab", cpus=1, capacity=1.0, tick_ns=3_999_999))
    assert message.startswith("tick_ns=3999999 is no period of a whole HZ")


@pytest.mark.parametrize(("machine", "ms"), [(ONE, 8.0), (FOUR, 2.0), (SHARED, 8.0)])
def test_cpus_that_share_a_clock_are_as_fast_as_one_together(machine, ms):
    recorded = _recorded(*(_device(name, Segment.cpu(2000)) for name in "abcd"))
    assert _ms(machine, recorded) == pytest.approx(ms, abs=1e-4)


def test_every_cost_is_paid_where_it_belongs():
    costs = ReplayCosts(step_us=1, callback_us=10, end_us=100, item_same_cpu_us=2000, item_other_cpu_us=1000)
    recorded = _recorded(_device("a", Segment.sleep(0)), Device("b", async_suspend=False), costs=costs)
    assert _ms(FOUR, recorded, "sync") == pytest.approx(0.112)
    assert _ms(FOUR, recorded) == pytest.approx(1.001 + 1.010 + 0.100)
    assert _ms(FOUR, recorded, with_main=True) == pytest.approx(2.001 + 2.010 + 0.100)


def test_one_cpu_has_no_other_to_run_items_on():
    costs = ReplayCosts(0, 0, 0, item_same_cpu_us=2000, item_other_cpu_us=1000)
    assert _ms(ONE, _recorded(_device("a"), costs=costs), with_main=False) == 4.0


def test_the_main_thread_gives_way_to_workers():
    recorded = _recorded(
        _device("sleeper", Segment.cpu(1000), Segment.sleep(8000)),
        _device("busy", Segment.cpu(4000), async_suspend=False),
    )
    assert _ms(ONE, recorded) == 9.0


def test_other_phases_take_no_time():
    callbacks = {"resume": (Segment.sleep(7000),), "suspend": (Segment.sleep(5000),)}
    recorded = _recorded(Device("a", callbacks=callbacks), phase="suspend")
    played = PhaseModel(ONE, recorded, "suspend").play(NEW, since_tick_ns=0, items_with_main=True)
    assert (played.ms, played.by_workers) == (5.0, 1)
    assert set(played.intervals()["phase"]) == {"suspend"}


def test_a_range_sleep_ends_early_only_where_its_cpu_is_known():
    recorded = _recorded(
        _device("range", Segment("range", 10 * MS, 12 * MS)),
        _device("first", Segment.sleep(1000), async_suspend=False),
        _device("timer", Segment.sleep(9500)),
    )
    assert _ms(ONE, recorded) == 10.5
    assert _ms(FOUR, recorded) == 12.0


def test_without_shared_locks_resets_overlap():
    assert _hub().play(NEW, since_tick_ns=0, items_with_main=False).ms in (10.0, 10.5)
    assert _hub(locks=False).play(NEW, since_tick_ns=0, items_with_main=False).ms == 7.5


def test_without_direct_complete_devices_that_are_left_alone_wait():
    left_alone = Device("child", "slow", runtime_status="unsupported")
    below = _device("other", Segment.sleep(2000), async_suspend=False)
    recorded = _recorded(_device("slow", Segment.sleep(3000)), left_alone, below)
    assert _ms(ONE, recorded) == 3.0
    sync = Device("child", "slow", runtime_status="unsupported", async_suspend=False)
    waits = _recorded(_device("slow", Segment.sleep(3000)), sync, below)
    assert _ms(ONE, waits) == 3.0
    assert _ms(ONE, waits, direct_complete=False) == 5.0


def test_draws_depend_on_seed_and_replicate_alone():
    costs = ReplayCosts(0, 0, 0, item_same_cpu_us=2000, item_other_cpu_us=1000)
    models = [PhaseModel(FOUR, _recorded(_device("a", Segment.ticks(2)), costs=costs), "resume")] * 2
    one, same = ([model.draw(NEW, seed=3, replicate=r).ms for r in range(40)] for model in models)
    assert one == same
    assert one != [models[0].draw(NEW, seed=4, replicate=r).ms for r in range(40)]
    assert len(set(one)) > 30


def test_where_items_run_is_drawn_with_one_over_the_number_of_cpus():
    costs = ReplayCosts(0, 0, 0, item_same_cpu_us=2000, item_other_cpu_us=1000)
    model = PhaseModel(FOUR, _recorded(_device("a"), costs=costs), "resume")
    drawn = [model.draw(NEW, seed=1, replicate=r).ms for r in range(400)]
    assert set(drawn) == {2.0, 4.0}
    assert 0.18 < drawn.count(4.0) / 400 < 0.32


def test_a_phase_that_was_not_recorded_is_refused():
    recorded = _recorded(_device("a"))
    said = refused(lambda: PhaseModel(ONE, recorded, "suspend"))
    assert said == "lab: phase 'suspend' is not recorded: known are resume"


def test_a_phase_that_never_ends_is_refused():
    def device(name, *locks):
        taken = (Segment.lock(locks[0]), Segment.sleep(1000), Segment.lock(locks[1]))
        return _device(name, *taken, *map(Segment.unlock, locks))

    said = refused(lambda: _ms(FOUR, _recorded(device("a", "x", "y"), device("b", "y", "x"))))
    assert said.startswith("lab: resume never ends: ")


def test_a_gap_above_twenty_milliseconds_begins_a_mode():
    modes = modes_of([100.0, 140.1, 120.0, 160.0])
    assert [(mode.low_ms, mode.high_ms, mode.members) for mode in modes] == [
        (100.0, 120.0, (0, 2)),
        (140.1, 160.0, (1, 3)),
    ]


def test_siblings_with_one_lock_are_rivals_and_cousins_are_not():
    def device(name, parent, lock):
        return _device(name, Segment.lock(lock), Segment.unlock(lock), parent=parent)

    graph = DeviceGraph(
        [Device("x"), Device("y"), device("a", "x", "l"), device("b", "x", "l"), device("c", "x", "m"),
         device("d", "y", "l")]
    )  # fmt: skip
    assert rivals(graph, "resume") == (("a", "b"),)
    assert rivals(graph, "suspend") == ()


def test_who_holds_a_lock_first_is_a_toss_of_a_coin_that_decides_the_duration():
    model = _hub()
    played = [model.play(NEW, since_tick_ns=0, items_with_main=False, replicate=r) for r in range(60)]
    pairs = rivals(model.graph, "resume")
    winners = [first_holders(one.intervals(), pairs) for one in played]
    (race,) = races_of([one.ms for one in played], winners)
    assert (race.first, race.second) == ("one", "two")
    assert 0.25 < race.share_first < 0.75
    assert race.first_ms - race.second_ms == pytest.approx(0.5, abs=1e-6)


def test_orders_tell_a_mode_from_another():
    pairs = [("a", "b"), ("c", "d")]
    winners = [{pairs[0]: i < 2, pairs[1]: i % 2 == 0} for i in range(4)]
    modes = modes_of([100.0, 101.0, 200.0, 201.0])
    assert orders_of(modes, winners) == [(("a", "b"),), (("b", "a"),)]
    assert orders_of(modes[:1], winners) == [()]


def test_a_race_that_always_ends_one_way_has_no_other_duration():
    (race,) = races_of([5.0, 7.0], [{("a", "b"): True}] * 2)
    assert (race.share_first, race.first_ms) == (1.0, 6.0)
    assert math.isnan(race.second_ms)


def test_the_critical_path_goes_through_locks_parents_and_the_walk():
    first = _device("first", Segment.sleep(2000), async_suspend=False)
    reset = (Segment.lock("usb"), Segment.sleep(3000), Segment.unlock("usb"))
    recorded = _recorded(
        first,
        _device("hub", Segment.sleep(1000)),
        Device("interface", "hub"),
        _device("a", *reset, parent="interface"),
        _device("b", *reset, parent="interface"),
        _device("input", Segment.sleep(500), parent="b"),
    )
    played = PhaseModel(FOUR, recorded, "resume").play(NEW, since_tick_ns=0, items_with_main=False)
    path = path_of(played.intervals(), played.graph, "resume")
    assert [(step.device, step.reason, step.length_ms) for step in path] == [
        ("first", "start", 2.0),
        ("hub", "walk", 1.0),
        ("a", "dependency", 3.0),
        ("b", "lock", 3.0),
        ("input", "dependency", 0.5),
    ]
    assert path[-1].end_ms == played.ms
