# SPDX-License-Identifier: MIT
"""Recorded device suspends: what is read agrees with the recorder, what is derived with known machines."""

import json
from dataclasses import replace

import pytest

from dpm_captures import ASYNC, FOUR, LABEL, ONE
from torpor import ConfigError
from torpor.dpm._capture_graph import device_names, direct_complete
from torpor.dpm._capture_order import compare_starts, recorded_starts
from torpor.dpm._capture_records import MIDDLE_PHASES, TraceName
from torpor.dpm._capture_sched import SchedEvent, SchedKind, sched_event
from torpor.dpm._capture_split import Piece, PieceKind, split_by_duration, split_by_sched
from torpor.dpm._capture_timing import Tick, find_tick, phase_costs, touch_ns
from torpor.dpm._capture_usb import UsbReset, usb_reset
from torpor.dpm.capture import DeviceCapture, capture_labels

MACHINES = (ONE, FOUR)

MS = 1_000_000
TICK = Tick(4 * MS, 0, 1.0)
CALLBACK_NS = 50_000.0


@pytest.fixture(scope="module", params=MACHINES, ids=lambda machine: machine.name)
def capture(request):
    return DeviceCapture.load(request.param, LABEL)


@pytest.fixture(scope="module")
def one_cpu():
    return DeviceCapture.load(ONE, LABEL)


@pytest.fixture(scope="module")
def four_cpus():
    return DeviceCapture.load(FOUR, LABEL)


def _shape(pieces):
    return [
        (piece.kind.value, piece.count if piece.kind is PieceKind.TICKS else piece.ns) for piece in pieces
    ]


def test_every_figure_is_the_one_the_recorder_found(capture):
    assert capture.disagreements == ()


def test_a_figure_that_the_recorder_did_not_find_is_told(device_copy):
    path = device_copy / "truth.json"
    data = json.loads(path.read_text())
    data["traces"]["dev_50_async1.trace"][0]["phases"]["dpm_resume"]["by_worker"] += 1
    path.write_text(json.dumps(data))
    said = DeviceCapture.load(device_copy, LABEL).disagreements
    assert said == ("dev_50_async1.trace cycle=1 resume: by_worker 49, truth.json says 50",)


def test_a_longest_callback_that_is_none_of_the_longest_is_told(device_copy):
    path = device_copy / "truth.json"
    data = json.loads(path.read_text())
    data["traces"]["dev_50_async0.trace"][0]["phases"]["dpm_resume"]["longest"] = "usb usb1"
    path.write_text(json.dumps(data))
    said = DeviceCapture.load(device_copy, LABEL).disagreements
    assert said == ("dev_50_async0.trace cycle=0 resume: longest usb 1-1, truth.json says usb usb1",)


def test_all_six_middle_phases_are_read_in_their_order(capture):
    for cycle in (*capture.sync, *capture.asynchronous):
        assert tuple(phase.name for phase in cycle.middle) == MIDDLE_PHASES


def test_only_cycles_with_workers_have_callbacks_by_workers(one_cpu):
    assert [phase.by_worker for phase in one_cpu.sync[0].middle] == [0] * 6
    assert [phase.by_worker for phase in one_cpu.asynchronous[0].middle] == [49, 18, 18, 18, 18, 49]


@pytest.mark.parametrize(("machine", "matched", "total"), [(ONE, 464, 467), (FOUR, 470, 473)])
def test_all_names_but_those_of_the_suspend_console_are_matched(machine, matched, total):
    capture = DeviceCapture.load(machine, LABEL)
    for cycle in (*capture.sync, *capture.asynchronous):
        matching = capture.matching(cycle)
        assert (matching.matched, matching.total) == (matched, total)
        unknown = [
            str(name)
            for name, position in zip(cycle.order, matching.positions, strict=True)
            if position is None
        ]
        assert unknown == ["vc vcs63", "vc vcsu63", "vc vcsa63"]


def test_devices_of_one_name_are_told_apart_by_driver_and_bus(one_cpu):
    cycle = one_cpu.sync[0]
    places = [place for place, name in enumerate(cycle.order) if name.name == "6:0:0:0"]
    positions = [one_cpu.matching(cycle).positions[place] for place in places]
    kinds = {one_cpu.snapshot.devices[position].driver_string for position in positions}
    assert kinds == {"sd", "scsi_device", "scsi_disk", "bsg"}


def test_a_device_in_the_folder_of_a_bus_has_no_parent(one_cpu):
    snapshot = one_cpu.snapshot
    assert snapshot.parent_name(snapshot.index["/system/cpu/cpu0"]) == "none"
    assert snapshot.parent_name(snapshot.index["/platform/leds"]) == "platform"


def test_every_parent_and_supplier_comes_before_in_the_list(capture):
    for cycle in (*capture.sync, *capture.asynchronous):
        positions = capture.matching(cycle).positions
        place = {position: i for i, position in enumerate(positions) if position is not None}
        parents = capture.snapshot.parents
        assert all(place[parents[one]] < place[one] for one in place if parents[one] is not None)
        links = list(capture.snapshot.linked())
        assert len(links) == 25
        assert all(place[supplier] < place[consumer] for supplier, consumer, _ in links)


def test_the_tick_of_four_milliseconds_is_found(capture):
    assert capture.tick.period_ns == 4 * MS
    assert capture.tick.resultant > 0.94


def test_sleeps_end_right_after_a_tick(capture):
    usb = [one for one in capture.sync[0].phases["resume"].callbacks if str(one.device).startswith("usb ")]
    after = [capture.tick.after_ns(one.end_ns) for one in usb if one.duration_ns > 100 * MS]
    assert len(after) == 11
    assert max(after) < MS


def test_the_phase_of_the_tick_is_the_lower_edge_of_the_ends(one_cpu):
    cycle = one_cpu.sync[0]
    moved = replace(
        cycle.phases["resume"],
        callbacks=tuple(
            replace(one, begin_ns=0, end_ns=40 * MS + late)
            for one, late in zip(cycle.phases["resume"].callbacks, range(0, 149_000, 1000), strict=False)
        ),
    )
    tick = find_tick([replace(cycle, phases={"resume": moved})], "example")
    assert (tick.period_ns, tick.phase_ns) == (10 * MS, 0)


def test_without_a_long_callback_there_is_no_tick(one_cpu):
    cycle = one_cpu.sync[0]
    short = {name: replace(phase, callbacks=()) for name, phase in cycle.phases.items()}
    with pytest.raises(ConfigError, match=r"example: no callback longer than 12.3 ms: no tick to be found"):
        find_tick([replace(cycle, phases=short)], "example")


def test_touching_a_device_costs_the_same_on_both_machines(capture):
    assert touch_ns(capture.sync[0]) == pytest.approx(4776, abs=3)


def test_costs_are_those_of_printing_and_walking(capture):
    costs = [phase_costs(phase, len(capture.sync[0].order)) for phase in capture.sync[0].middle]
    assert all(49_000 < cost.callback_ns < 78_000 for cost in costs)
    assert all(690 < cost.step_ns < 2400 for cost in costs)


def test_costs_explain_all_gaps_of_a_phase(capture):
    phase = capture.sync[0].phases["resume"]
    cost = phase_costs(phase, len(capture.sync[0].order))
    walked = phase.callbacks[-1].place + 1
    explained = cost.callback_ns * len(phase.callbacks) + cost.step_ns * walked + cost.tail_ns
    gaps = phase.end_ns - phase.begin_ns - sum(one.duration_ns for one in phase.callbacks)
    assert explained == pytest.approx(gaps, rel=1e-9)


def test_a_long_tail_is_charged_as_fifty_steps(one_cpu):
    cost = phase_costs(one_cpu.sync[0].phases["suspend_late"], len(one_cpu.sync[0].order))
    assert cost.tail_ns == 326_000
    assert cost.end_ns == pytest.approx(50 * cost.step_ns)


def test_a_phase_without_callbacks_is_all_steps(one_cpu):
    phase = replace(one_cpu.sync[0].phases["suspend_late"], begin_ns=0, end_ns=500, callbacks=())
    cost = phase_costs(phase, 100)
    assert (cost.step_ns, cost.callback_ns, cost.end_ns) == (5.0, 0.0, 0.0)


def test_left_alone_are_devices_without_callbacks_and_none_above_one_that_has_some(one_cpu):
    cycle, snapshot = one_cpu.sync[0], one_cpu.snapshot
    alone = {
        snapshot.devices[i].path.rpartition("/")[2]
        for i in direct_complete(cycle, one_cpu.matching(cycle), snapshot)
    }
    assert {"ep_00", "pmu"} & alone == {"ep_00"}
    assert not {"platform", "pci0000:00", "usb1", "1-1:1.0"} & alone


@pytest.mark.parametrize(
    ("length_us", "shape"),
    [
        (1_900, [("cpu", 1_900_000)]),
        (12_030, [("range", 10_000_000)]),
        (7_000, [("cpu", 7_000_000)]),
        (20_100, [("cpu", 250_000), ("ticks", 5), ("cpu", 100_000)]),
        (8_500, [("cpu", 250_000), ("ticks", 2), ("cpu", 500_000)]),
        (26_500, [("cpu", 250_000), ("sleep", 26_250_000)]),
    ],
    ids=["short", "pci delay", "below two ticks", "tick", "two ticks", "long off the tick"],
)
def test_a_duration_alone_tells_what_a_callback_did(length_us, shape):
    assert _shape(split_by_duration(0, length_us * 1000, TICK, CALLBACK_NS)) == shape


def test_work_before_a_sleep_is_a_fifth_of_a_callback_at_most():
    pieces = split_by_duration(0, 8_500_000, TICK, 1_000_000.0)
    assert pieces[0] == Piece(PieceKind.CPU, 1_700_000)


def test_a_pci_function_off_the_tick_works_all_the_time():
    assert _shape(split_by_duration(0, 26_500_000, TICK, CALLBACK_NS, pci=True)) == [("cpu", 26_500_000)]


def test_ticks_are_counted_from_where_the_sleep_begins():
    pieces = split_by_duration(3_900_000, 20_000_000, TICK, CALLBACK_NS)
    assert _shape(pieces)[1] == ("ticks", 4)


@pytest.mark.parametrize(
    ("hub_sleeps", "ticks", "held"), [(0, 50, 45), (2, 104, 45), (0, 74, 69), (2, 128, 69)]
)
def test_a_reset_holds_the_lock_of_its_controller_between_known_sleeps(hub_sleeps, ticks, held):
    reset = UsbReset("/pci/xhci", hub_sleeps)
    pieces = split_by_duration(0, ticks * 4 * MS + 8000, TICK, CALLBACK_NS, reset=reset)
    counts = [piece.count for piece in pieces if piece.kind is PieceKind.TICKS]
    assert counts == [5, held, *[27] * hub_sleeps]
    kinds = [piece.kind.value for piece in pieces]
    assert kinds == ["cpu", "ticks", "lock", "ticks", "unlock", *["ticks"] * hub_sleeps, "cpu"]
    assert {piece.lock for piece in pieces} == {"", "/pci/xhci"}


def test_a_usb_device_that_is_resumed_in_less_than_a_reset_takes_no_lock():
    pieces = split_by_duration(0, 66 * MS, TICK, CALLBACK_NS, reset=UsbReset("/pci/ehci", 0))
    assert [piece.kind for piece in pieces if piece.lock] == []


def test_all_devices_below_a_controller_share_its_lock(one_cpu):
    snapshot = one_cpu.snapshot
    found = {
        device.name: reset
        for i, device in enumerate(snapshot.devices)
        if (reset := usb_reset(snapshot, i)) is not None
    }
    assert {name: reset.hub_sleeps for name, reset in found.items()} == {
        "1-1": 2, "1-1.1": 0, "1-1.2": 2, "1-1.2.1": 0, "1-1.2.2": 0, "2-2": 0, "3-1": 0,
    }  # fmt: skip
    controllers = {name: reset.controller.rpartition("/")[2] for name, reset in found.items()}
    assert controllers["1-1.2.1"] == controllers["1-1"] == controllers["2-2"] == "0000:00:05.0"
    assert controllers["3-1"] == "0000:05:00.0"


def test_resets_of_a_recorded_machine_agree_with_the_constants(one_cpu):
    graph = one_cpu.sync_graph(one_cpu.sync[0]).graph
    callbacks = {device.name: device.callbacks.get("resume", ()) for device in graph.devices}
    ticks = {
        name: [segment.first for segment in callbacks[f"usb {name}"] if segment.kind == "ticks"]
        for name in ("1-1", "1-1.1", "1-1.2", "1-1.2.1", "1-1.2.2", "3-1")
    }
    assert ticks == {
        "1-1": [5, 69, 27, 27],
        "1-1.1": [5, 45],
        "1-1.2": [5, 45, 27, 27],
        "1-1.2.1": [5, 45],
        "1-1.2.2": [5, 45],
        "3-1": [5, 69],
    }


def test_locks_are_taken_on_resume_only(one_cpu):
    graph = one_cpu.sync_graph(one_cpu.sync[0]).graph
    locked = {
        phase
        for device in graph.devices
        for phase, segments in device.callbacks.items()
        if any(segment.kind == "lock" for segment in segments)
    }
    assert locked == {"resume"}


def _sched(*steps):
    return tuple(SchedEvent(time_ms * MS, kind, idle) for time_ms, kind, idle in steps)


def test_time_in_a_run_queue_is_left_out():
    events = _sched((1, SchedKind.PREEMPTED, False), (5, SchedKind.RUNS, False))
    assert _shape(split_by_sched(0, 7 * MS, TICK, events)) == [("cpu", 3 * MS)]


def test_a_wait_ends_with_its_wake_up_not_with_the_switch():
    events = _sched((1, SchedKind.SLEEPS, False), (3, SchedKind.WOKEN, False), (6, SchedKind.RUNS, False))
    assert _shape(split_by_sched(0, 7 * MS, TICK, events)) == [
        ("cpu", MS), ("sleep", 2 * MS), ("cpu", MS),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("woken_ms", "from_idle", "kind"), [(20, True, "ticks"), (20, False, "sleep"), (22, True, "sleep")]
)
def test_a_wait_that_a_timer_ends_on_a_tick_is_kept_as_ticks(woken_ms, from_idle, kind):
    events = _sched(
        (1, SchedKind.SLEEPS, False), (woken_ms, SchedKind.WOKEN, from_idle), (23, SchedKind.RUNS, False)
    )
    pieces = split_by_sched(0, 23 * MS, TICK, events)
    assert [piece.kind.value for piece in pieces] == ["cpu", kind]
    assert pieces[1].count == (5 if kind == "ticks" else 0)


def test_events_of_other_callbacks_of_the_thread_are_left_out():
    events = _sched((1, SchedKind.SLEEPS, False), (2, SchedKind.RUNS, False))
    assert _shape(split_by_sched(5 * MS, 7 * MS, TICK, events)) == [("cpu", 2 * MS)]


@pytest.mark.parametrize(("hub_sleeps", "unlock_at"), [(0, 5), (1, 4), (2, 3)])
def test_with_sleeps_known_the_lock_is_held_between_the_first_and_those_of_the_hub(hub_sleeps, unlock_at):
    sleeps = [(0, 20), (20, 80), (80, 190), (190, 300)]
    events = _sched(
        *(step for begin, end in sleeps for step in (
            (begin, SchedKind.SLEEPS, False), (end, SchedKind.WOKEN, False), (end, SchedKind.RUNS, False)
        ))
    )  # fmt: skip
    pieces = split_by_sched(0, 300 * MS, TICK, events, reset=UsbReset("/xhci", hub_sleeps))
    kinds = [piece.kind.value for piece in pieces]
    assert kinds.index("lock") == 1
    assert kinds.index("unlock") == unlock_at


def test_switches_and_wake_ups_of_the_scheduler_are_read():
    switch = (
        "prev_comm=a b prev_pid=7 prev_prio=120 prev_state=R+ ==> "
        "next_comm=swapper/1 next_pid=0 next_prio=120"
    )
    assert list(sched_event(5, 7, "sched_switch", switch)) == [
        (7, SchedEvent(5, SchedKind.PREEMPTED)),
        (0, SchedEvent(5, SchedKind.RUNS)),
    ]
    wake = "comm=kworker/u8:1 pid=9 prio=120 target_cpu=001"
    assert list(sched_event(6, 0, "sched_wakeup", wake)) == [(9, SchedEvent(6, SchedKind.WOKEN, True))]


def test_the_graph_has_the_recorded_order_and_its_edges(capture):
    recorded = capture.sync_graph(capture.sync[0])
    assert tuple(device.name for device in recorded.graph.devices) == recorded.names
    assert tuple(recorded.graph.order) == recorded.names
    assert len(recorded.graph.links) == 25
    parents = {device.name: device.parent for device in recorded.graph.devices}
    assert parents["usb 1-1.2.1"] == "usb 1-1.2"
    assert parents["vc vcs63"] is None


def test_unknown_devices_are_synchronous_and_do_nothing(capture):
    devices = {device.name: device for device in capture.sync_graph(capture.sync[0]).graph.devices}
    console = devices["vc vcs63"]
    assert (console.async_suspend, console.callbacks) == (False, {})


def test_the_graph_has_every_recorded_callback(capture):
    cycle = capture.sync[0]
    graph = capture.sync_graph(cycle).graph
    for phase in cycle.middle:
        assert sum(phase.name in device.callbacks for device in graph.devices) == len(phase.callbacks)


def test_async_devices_are_those_with_the_flag(capture):
    graph = capture.sync_graph(capture.sync[0]).graph
    assert sum(device.async_suspend for device in graph.devices) == 146


def test_callbacks_of_a_cycle_with_workers_are_as_long_as_recorded(capture):
    cycle = capture.asynchronous[0]
    recorded = capture.async_graph(cycle)
    lengths = {device.name: device.callbacks for device in recorded.graph.devices}
    for one in cycle.phases["resume"].callbacks:
        (segment,) = lengths[recorded.names[one.place]]["resume"]
        assert (segment.kind, segment.first) == ("sleep", one.duration_ns)


def test_a_cycle_with_workers_is_not_split(capture):
    with pytest.raises(ConfigError, match="expected a cycle without workers"):
        capture.sync_graph(capture.asynchronous[0])


def test_costs_of_items_scale_with_the_cost_of_touching_a_device(one_cpu):
    costs = one_cpu.sync_graph(one_cpu.sync[0]).costs["resume"]
    assert costs.item_same_cpu_us == pytest.approx(1.9 * 4.777, rel=1e-3)
    assert costs.item_other_cpu_us == pytest.approx(0.8 * 4.777, rel=1e-3)


def test_items_are_counted_by_the_cpu_they_ran_on(one_cpu, four_cpus):
    assert [(phase.items_here, phase.items_elsewhere) for phase in one_cpu.asynchronous[0].middle] == [
        (146, 0)
    ] * 6
    with_main = {phase.name: phase.items_with_main for phase in four_cpus.asynchronous[0].middle}
    assert [name for name, with_it in with_main.items() if with_it] == ["suspend_late", "suspend_noirq"]


def test_names_are_those_of_the_trace_with_the_parent_where_two_are_alike():
    order = [TraceName("", "ep_00", "1-1"), TraceName("", "ep_00", "1-1"), TraceName("tty", "tty1", "none")]
    assert device_names(order) == ("ep_00 of 1-1", "ep_00 of 1-1 #2", "tty tty1")


def test_starts_are_in_the_order_of_the_trace(capture):
    recorded = capture.async_graph(capture.asynchronous[0])
    starts = recorded_starts(capture.asynchronous[0].phases["resume"], recorded.names)
    assert list(starts.values()) == sorted(starts.values())
    assert len(starts) == 149


def test_starts_of_other_devices_are_refused():
    with pytest.raises(ConfigError, match="callback of b is only modelled"):
        compare_starts({"a": 0}, {"a": 0, "b": 1})


def test_labels_of_a_folder_are_found():
    assert capture_labels(ONE) == (LABEL,)


def test_without_cycles_with_workers_there_is_still_something_to_predict(device_copy):
    (device_copy / ASYNC).unlink()
    assert DeviceCapture.load(device_copy, LABEL).asynchronous == ()
