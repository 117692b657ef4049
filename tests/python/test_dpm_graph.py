"""Device graphs and their generator, as a user holds them."""

import math
import pickle
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest

from refusals import refused
from torpor.dpm.generator import Generator
from torpor.dpm.graph import PHASES, Device, DeviceGraph, Link, Segment


def every_kind() -> DeviceGraph:
    """A graph with something of everything."""
    ufs = Device(
        "ufs",
        "soc",
        async_suspend=False,
        runtime_status="suspended",
        wakeup=True,
        smart_suspend=True,
        may_skip_resume=True,
        direct_complete=False,
        prepare="direct_complete",
        fails=["resume"],
        wakes_system=("suspend",),
        callbacks={
            "suspend": (Segment.lock("clk"), Segment.cpu(1.5, fixed_us=2), Segment.unlock("clk")),
            "resume": (Segment.sleep(0.001), Segment.ticks(3), Segment.range(100, 200.25)),
            "complete": (),
        },
    )
    devices = [Device("soc"), ufs, Device("rtc", syscore=True), Device("clk", no_pm_callbacks=False)]
    links = [
        Link("clk", "ufs"),
        Link("rtc", "ufs", state="dormant"),
        Link("ufs", "clk", sync_state_only=True),
        Link("clk", "rtc", inferred=True),
    ]
    return DeviceGraph(devices, links)


def test_a_graph_survives_the_engine_and_back() -> None:
    graph = every_kind()
    assert DeviceGraph.from_core(graph._core_graph) == graph


def test_a_graph_survives_a_pickle() -> None:
    graph = every_kind()
    again = pickle.loads(pickle.dumps(graph))
    assert again == graph
    assert again.order == graph.order


def test_a_small_graph_reads_back() -> None:
    graph = every_kind()
    assert eval(repr(graph)) == graph


def test_a_graph_in_list_order_reads_back() -> None:
    graph = DeviceGraph([Device("a"), Device("b")], in_list_order=True)
    assert eval(repr(graph)) == graph
    assert pickle.loads(pickle.dumps(graph)) == graph
    assert DeviceGraph.from_core(graph._core_graph) == graph


def test_a_large_graph_is_abbreviated() -> None:
    graph = DeviceGraph([Device(f"d{i}") for i in range(1000)])
    assert repr(graph) == "<DeviceGraph of 1000 devices (d0, d1, d2, ...) and 0 links>"


@pytest.mark.parametrize(
    "change",
    [
        {"devices": [Device("a"), Device("b", async_suspend=False)]},
        {"links": [Link("a", "b", state="none")]},
        {"in_list_order": True},
    ],
)
def test_graphs_differ_by_all_that_they_are_made_of(change: dict[str, Any]) -> None:
    graph = DeviceGraph([Device("a"), Device("b")], [Link("a", "b")])
    assert replace(graph) == graph
    assert replace(graph, **change) != graph


def test_devices_differ_by_their_segments() -> None:
    one = Device("a", callbacks={"resume": [Segment.cpu(1)]})
    assert one == Device("a", callbacks={"resume": (Segment.cpu(1.0),)})
    assert hash(one) == hash(Device("a", callbacks={"resume": (Segment.cpu(1.0),)}))
    assert one != Device("a", callbacks={"resume": [Segment.cpu(1, fixed_us=1)]})
    assert one != Device("a", callbacks={"suspend": [Segment.cpu(1)]})


def test_a_device_cannot_be_changed() -> None:
    device = Device("a", callbacks={"resume": []})
    with pytest.raises(FrozenInstanceError):
        device.name = "b"  # type: ignore[misc]
    with pytest.raises(TypeError):
        device.callbacks["resume"] = ()  # type: ignore[index]


def test_no_pm_callbacks_follows_from_the_callbacks() -> None:
    assert Device("a").no_pm_callbacks is True
    assert Device("a", no_pm_callbacks=False).no_pm_callbacks is False
    assert Device("a", callbacks={"resume": ()}).no_pm_callbacks is False
    assert Device("a", prepare="again").no_pm_callbacks is False


def test_links_order_the_list() -> None:
    graph = DeviceGraph([Device("a"), Device("b", "a"), Device("c")], [Link("c", "a")])
    assert graph.order == ("c", "a", "b")
    assert len(graph) == 3


def test_devices_in_list_order_stay() -> None:
    graph = DeviceGraph([Device("a"), Device("b"), Device("c")], [Link("a", "b")], in_list_order=True)
    assert graph.order == ("a", "b", "c")


def test_relaxed_links_are_told() -> None:
    loop = [Link("a", "b"), Link("b", "a", inferred=True)]
    assert DeviceGraph([Device("a"), Device("b")], loop).relaxed == (loop[1],)


def test_the_frame_counts_and_adds_up() -> None:
    frame = every_kind().to_frame().set_index("name")
    assert list(frame["position"]) == [0, 3, 2, 1]
    assert list(frame["children"]) == [1, 0, 0, 0]
    assert list(frame["suppliers"]) == [0, 1, 1, 0]
    assert list(frame["consumers"]) == [0, 0, 0, 2]
    ufs = frame.loc["ufs"]
    assert (ufs["parent"], ufs["async_suspend"]) == ("soc", False)
    assert ufs["suspend_cpu_ms"] == 0.0035
    assert ufs["suspend_sleep_ms"] == 0.0
    assert ufs["resume_sleep_ms"] == pytest.approx(0.200251)
    assert ufs["complete_cpu_ms"] == 0.0
    assert math.isnan(ufs["suspend_late_cpu_ms"])
    assert {f"{phase}_{what}_ms" for phase in PHASES for what in ("cpu", "sleep")} <= set(frame.columns)


def test_a_graph_shows_itself_in_a_notebook() -> None:
    text = DeviceGraph([Device("<a>")])._repr_html_()
    assert "&lt;a&gt;" in text
    assert "<a>" not in text


def test_records_make_the_same_graph_as_objects() -> None:
    callbacks = {
        "suspend": [{"cpu_us": 2, "fixed_us": 1}, {"sleep_us": 5}, {"ticks": 2}, Segment.cpu(1)],
        "resume": [{"lock": "clk"}, {"range_us": [1, 2]}, {"unlock": "clk"}, {"fixed_us": 3}],
    }
    made = DeviceGraph.from_records(
        [{"name": "a"}, Device("b"), {"name": "c", "parent": "a", "callbacks": callbacks}],
        [{"supplier": "a", "consumer": "b", "state": "none"}, Link("b", "c")],
    )
    c = Device(
        "c",
        "a",
        callbacks={
            "suspend": (Segment.cpu(2, 1), Segment.sleep(5), Segment.ticks(2), Segment.cpu(1)),
            "resume": (
                Segment.lock("clk"),
                Segment.range(1, 2),
                Segment.unlock("clk"),
                Segment.cpu(0, fixed_us=3),
            ),
        },
    )
    links = [Link("a", "b", state="none"), Link("b", "c")]
    assert made == DeviceGraph([Device("a"), Device("b"), c], links)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"name": ""}, "Device.name='' is empty, limit: at least one character"),
        ({"name": 3}, "Device.name=3 is no text"),
        ({"parent": ""}, "devices[a].parent='' is empty, limit: at least one character"),
        ({"async_suspend": 1}, "devices[a].async_suspend=1 is neither True nor False"),
        ({"no_pm_callbacks": "yes"}, "devices[a].no_pm_callbacks='yes' is neither True nor False"),
        (
            {"runtime_status": "activ"},
            "devices[a].runtime_status='activ': known: active, suspended, unsupported; did you mean active?",
        ),
        ({"prepare": "no"}, "devices[a].prepare='no': known: ok, direct_complete, again, error"),
        ({"fails": "resume"}, "devices[a].fails='resume' is no list of phases"),
        ({"fails": ["thaw"]}, f"devices[a].fails='thaw': known: {', '.join(PHASES)}"),
        ({"callbacks": []}, "devices[a].callbacks=[] is no mapping of phases to segments"),
        ({"callbacks": {"thaw": []}}, f"devices[a].callbacks='thaw': known: {', '.join(PHASES)}"),
        ({"callbacks": {"resume": 3}}, "devices[a].callbacks.resume=3 is no list of segments"),
        ({"callbacks": {"resume": [3]}}, "devices[a].callbacks.resume[0]=3 is no Segment"),
    ],
)
def test_a_device_refuses_with_key_value_and_limit(values: dict[str, Any], message: str) -> None:
    assert refused(lambda: Device(**{"name": "a", **values})) == message


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"supplier": ""}, "Link.supplier='' is empty, limit: at least one character"),
        ({"state": 5}, "links[s--c].state=5: known: dormant, available, consumer_probe, active, "
         "supplier_unbind, none"),
        ({"inferred": None}, "links[s--c].inferred=None is neither True nor False"),
    ],
)  # fmt: skip
def test_a_link_refuses_with_key_value_and_limit(values: dict[str, Any], message: str) -> None:
    assert refused(lambda: Link(**{"supplier": "s", "consumer": "c", **values})) == message


@pytest.mark.parametrize(
    ("kind", "given", "message"),
    [
        ("cpu", (-1,), "us=-1 is outside 0..1000000000000 microseconds"),
        ("cpu", (1, math.nan), "fixed_us=nan is outside 0..1000000000000 microseconds"),
        ("sleep", (1e13,), "us=10000000000000.0 is outside 0..1000000000000 microseconds"),
        ("sleep", ("1",), "us='1' is no time in microseconds"),
        ("ticks", (0,), "count=0 is outside 1..100000000"),
        ("ticks", (1.5,), "count=1.5 is no whole number, limit: 1..100000000"),
        ("range", (2, 1), "high_us=1 is outside 2..1000000000000 microseconds"),
        ("lock", ("",), "Segment.lock has no name"),
        ("unlock", (3,), "Segment.name=3 is no text"),
    ],
)
def test_a_segment_refuses_with_key_value_and_limit(kind: str, given: tuple[Any], message: str) -> None:
    assert refused(lambda: getattr(Segment, kind)(*given)) == message


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("nap",), "Segment.kind='nap': known: cpu, sleep, ticks, range, lock, unlock"),
        ((["cpu"],), "Segment.kind=['cpu']: known: cpu, sleep, ticks, range, lock, unlock"),
        (("cpu", -1), "Segment.first=-1 is outside 0..1000000000000000"),
        (("sleep", 1, 1), "Segment.second=1 is outside 0..0"),
        (("range", 5), "Segment.second=0 is outside 5..1000000000000000"),
        (("ticks",), "Segment.first=0 is outside 1..100000000"),
        (("cpu", 1, 0, "clk"), "Segment.cpu has a name ('clk'), which is for locks"),
    ],
)
def test_a_segment_made_by_hand_is_checked_too(given: tuple[Any], message: str) -> None:
    assert refused(lambda: Segment(*given)) == message


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (
            {"sleep_us": -1},
            "devices[0].callbacks.resume[0]={'sleep_us': -1}: us=-1 is outside 0..1000000000000 microseconds",
        ),
        (
            {"range_us": 3},
            "devices[0].callbacks.resume[0]={'range_us': 3}: range_us is a pair of microseconds",
        ),
        (
            {"nap_us": 3},
            "devices[0].callbacks.resume[0]={'nap_us': 3} is no segment; known: cpu_us with fixed_us, "
            "sleep_us, ticks, range_us, lock, unlock",
        ),
        (
            {"sleep_us": 3, "ticks": 1},
            "devices[0].callbacks.resume[0]={'sleep_us': 3, 'ticks': 1} is no segment; known: "
            "cpu_us with fixed_us, sleep_us, ticks, range_us, lock, unlock",
        ),
        (
            7,
            "devices[0].callbacks.resume[0]=7 is no segment; known: cpu_us with fixed_us, sleep_us, ticks, "
            "range_us, lock, unlock",
        ),
    ],
)
def test_a_segment_of_a_record_is_found_again(record: object, message: str) -> None:
    device = {"name": "a", "callbacks": {"resume": [record]}}
    assert refused(lambda: DeviceGraph.from_records([device])) == message


@pytest.mark.parametrize(
    ("devices", "links", "message"),
    [
        ([{"parent": "a"}], [], "devices[0].name: missing"),
        ([{"name": "a", "asynk": True}], [], "devices[0].asynk: unknown; known: name, parent, "),
        ([3], [], "devices[0]=3 is neither a Device nor a mapping"),
        ([{"name": "a"}], [{"supplier": "a"}], "links[0].consumer: missing"),
        ([{"name": "a"}], [{"supplyer": "a"}], "links[0].supplyer: unknown; known: supplier, "),
    ],
)
def test_records_refuse_unknown_and_missing_keys(devices: list[Any], links: list[Any], message: str) -> None:
    assert refused(lambda: DeviceGraph.from_records(devices, links)).startswith(message)


def busy(**values: Any) -> Device:
    return Device("a", **{"callbacks": {"resume": [Segment.cpu(1)]}, **values})


@pytest.mark.parametrize(
    ("devices", "links", "message"),
    [
        ([], [], "devices: there are none; at least one is needed"),
        ("ab", [], "devices='ab' is no list of Device objects"),
        ([Device("a"), "b"], [], "devices[1]='b' is no Device"),
        ([Device("a")], [("a", "a")], "links[0]=('a', 'a') is no Link"),
        ([Device("a"), Device("a")], [], "devices[a].name: device 1 has the name of device 0"),
        ([Device("a", "b")], [], "devices[a].parent='b': there is no such device"),
        (
            [Device("a", "b"), Device("b")],
            [],
            "devices[a].parent='b': is registered later; parents come first",
        ),
        ([Device("a")], [Link("a", "b")], "links[a--b].consumer='b': there is no such device"),
        ([Device("a")], [Link("a", "a")], "links[a--a]: a device cannot be its own supplier"),
        (
            [busy(no_pm_callbacks=True)],
            [],
            "devices[a].callbacks.resume: there is one, but no_pm_callbacks says that there is none",
        ),
        ([busy(fails=["suspend"])], [], "devices[a].fails.suspend: this phase has no callback"),
        (
            [busy(callbacks={"resume": [Segment.lock("clk")]})],
            [],
            "devices[a].callbacks.resume: ends while it holds lock 'clk'",
        ),
        (
            [Device("a"), Device("b"), Device("c")],
            [Link("a", "b"), Link("b", "c"), Link("c", "a")],
            "links[c--a]: closes a loop, and no inferred link lies on it that could be relaxed: "
            "c -> a -> b -> c",
        ),
    ],
)
def test_a_graph_refuses_with_key_value_and_limit(devices: Any, links: Any, message: str) -> None:
    assert refused(lambda: DeviceGraph(devices, links)) == message


def test_a_generator_reads_back_and_survives_a_pickle() -> None:
    generator = Generator(devices=20, class_ratio=1, sigma=1.5, lock_share=[0.1, 0.2])
    assert (
        repr(generator) == "Generator(devices=20, class_ratio=1.0, sigma=(1.5, 1.5), lock_share=(0.1, 0.2))"
    )
    assert eval(repr(generator)) == generator
    again = pickle.loads(pickle.dumps(generator))
    assert again == generator
    assert again.draw(3) == generator.draw(3)
    assert replace(generator, devices=21) != generator


def test_draws_depend_on_seed_and_replicate_only() -> None:
    generator = Generator(devices=30)
    assert generator.draw(1, 2) == generator.draw(seed=1, replicate=2)
    assert generator.draw(1, 2) != generator.draw(1, 3)
    assert generator.draw(1, 2) != generator.draw(2, 2)


def test_a_drawn_graph_is_an_ordinary_one() -> None:
    graph = Generator(devices=200, class_ratio=2, lock_share=0.5, locks=3).draw(1)
    again = DeviceGraph(graph.devices, graph.links)
    assert again == graph
    assert again.order == graph.order == tuple(device.name for device in graph.devices)
    assert graph.devices[0] == Device("root")
    held = {one.name for device in graph.devices for of in device.callbacks.values() for one in of}
    assert held == {"", "lock1", "lock2", "lock3"}


def test_every_parameter_reaches_the_engine() -> None:
    base: Mapping[str, Any] = {
        "devices": 60, "class_ratio": 0.5, "p_no_callbacks": 0.3, "cpu_share": 0.5, "fixed_share": 0.2,
        "lock_share": (0.5, 0.5), "locks": 2, "class_p_no_callbacks": 0.5, "cap_us": 500.0,
    }  # fmt: skip
    changes: Mapping[str, Any] = {
        "devices": 61, "class_ratio": 0.7, "max_depth": 2, "p_root": 0.5, "p_link": 0.3, "p_more_links": 0.2,
        "skew": 1.0, "p_no_callbacks": 0.4, "class_p_no_callbacks": 0.7, "p_late": 0.6,
        "median_us": (60.0, 61.0), "sigma": (2.0, 1.9), "cap_us": 400.0, "late_median_us": 30.0,
        "cpu_share": (0.5, 0.6), "fixed_share": 0.3, "chunks": 3, "locks": 4, "lock_share": (0.5, 0.9),
    }  # fmt: skip
    assert set(changes) == set(Generator(**base)._parameters())
    before = Generator(**base).draw(1)
    for name, value in changes.items():
        assert Generator(**{**base, name: value}).draw(1) != before, name


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"devices": 0}, "devices: 0 is out of range; it must be 1..1000000"),
        ({"devices": 3.5}, "devices=3.5 is no whole number, limit: 0..9223372036854775807"),
        ({"p_link": 2}, "p_link: 2 is out of range; it must be 0..1"),
        ({"p_link": "much"}, "p_link='much' is no number"),
        ({"sigma": (1, 2, 3)}, "sigma=(1, 2, 3) has 3 numbers, limit: 2 (suspend, resume)"),
        ({"sigma": (1, -1)}, "sigma[1]: -1 is out of range; it must be 0..10"),
        ({"median_us": ("a", 1)}, "median_us[0]='a' is no number"),
    ],
)
def test_a_generator_refuses_with_key_value_and_limit(values: dict[str, Any], message: str) -> None:
    assert refused(lambda: Generator(**values)) == message


def test_a_draw_refuses_a_negative_seed() -> None:
    assert refused(lambda: Generator().draw(-1)) == "seed=-1 is outside 0..18446744073709551615"


def shape_of(graph: DeviceGraph) -> dict[str, int]:
    """Figures of a graph, parents and links counted together."""
    above: dict[str, list[str]] = {
        device.name: [device.parent] if device.parent else [] for device in graph.devices
    }
    for link in graph.links:
        above[link.consumer].append(link.supplier)
    depth: dict[str, int] = {}
    dependants = dict.fromkeys(above, 0)
    for name in graph.order:
        depth[name] = 1 + max((depth[other] for other in above[name]), default=0)
        for other in above[name]:
            dependants[other] += 1
    levels = list(depth.values())
    return {
        "depth": max(levels),
        "leaves": sum(count == 0 for count in dependants.values()),
        "widest level": max(levels.count(level) for level in set(levels)),
        "dependants of one": max(dependants.values()),
        "links": len(graph.links),
    }


def test_a_graph_like_a_device_tree_has_the_shape_of_real_ones() -> None:
    # 10th and 90th percentile over the arm64 boards of Debian's kernel 6.12.
    real = {
        "depth": (5, 10),
        "leaves": (32, 105),
        "widest level": (15, 49),
        "dependants of one": (20, 85),
        "links": (30, 241),
    }
    generator = Generator.like_device_tree()
    shapes = [shape_of(generator.draw(seed=1, replicate=number)) for number in range(40)]
    for figure, (low, high) in real.items():
        assert low <= sorted(shape[figure] for shape in shapes)[20] <= high, figure
