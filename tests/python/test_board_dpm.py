# SPDX-License-Identifier: MIT
"""The [dpm] section of boards: strict, with provenance, settable, and part of the content hash."""

import json
import pickle
from dataclasses import fields

import pytest

from dpm_board_text import (
    DRAWN,
    DRAWN_PROVENANCE,
    GOOD,
    LISTED,
    LISTED_PROVENANCE,
    PLAIN,
    SECTION,
    WITH_LIST,
    good,
    section,
)
from torpor import _core
from torpor.board import Board, _dpm, _dpm_devices
from torpor.dpm import generator, graph


def complaint(text: str, old: str, new: str) -> _core.ConfigError:
    assert old in text
    with pytest.raises(_core.ConfigError) as caught:
        Board.from_toml(text.replace(old, new, 1), label="mine.toml")
    return caught.value


# Reading


def test_a_section_is_typed_and_what_it_leaves_out_is_at_its_default() -> None:
    dpm = section(good())
    assert (dpm.relative_freq, dpm.async_devices, dpm.eas) == ({"a": 0.5, "b": 1}, 0.25, True)
    assert (dpm.placement, dpm.pull, dpm.barrier_wakes, dpm.initial_workers) == ("spread", True, True, 4)
    assert (dpm.costs.queue_us, dpm.costs.callback_us) == (1.5, 0.0)
    assert dpm.phase_costs is not None
    assert (dpm.phase_costs.suspend_late, dpm.phase_costs.resume) == (_dpm.DpmPhaseCosts(core_us=2.0), None)
    assert dpm.devices is not None
    assert (dpm.devices.sigma, dpm.devices.median_us) == ((1.3, 1.4), (60.0, 60.0))
    assert (dpm.device, dpm.link, dpm.scales, dpm.since_tick_us) == ((), (), None, None)


def test_a_board_without_the_section_has_none() -> None:
    assert Board.from_toml(PLAIN).dpm is None


def test_a_list_of_devices_reads_as_records_of_a_graph() -> None:
    dpm = section(Board.from_toml(WITH_LIST))
    assert _dpm_devices.device_records(dpm.device) == [
        {"name": "soc"},
        {
            "name": "i2c",
            "parent": "soc",
            "runtime_status": "suspended",
            "callbacks": {
                "suspend": ({"cpu_us": 40.0, "fixed_us": 5.0}, {"sleep_us": 100.0}),
                "resume": ({"lock": "clk"}, {"range_us": (100.0, 200.0)}, {"unlock": "clk"}),
            },
        },
    ]
    assert dpm.link == (_dpm_devices.DpmLink(supplier="soc", consumer="i2c"),)


def test_an_empty_callback_is_not_a_missing_one() -> None:
    text = WITH_LIST.replace('name = "soc"\n', 'name = "soc"\ncallbacks.suspend = []\n', 1)
    board = Board.from_toml(text + '"dpm.device[soc].callbacks.suspend" = "assumed: takes no time"\n')
    callbacks = section(board).device[0].callbacks
    assert callbacks is not None
    assert (callbacks.suspend, callbacks.resume) == ((), None)
    assert Board.from_toml(board.to_toml()) == board


# Names that stand in two places, so that a board file can be checked without the family


def test_the_generator_has_the_parameters_and_defaults_of_the_family() -> None:
    theirs = {one.name: one.default for one in fields(generator.Generator) if one.init}
    ours = _dpm_devices.DpmGenerator()
    assert {name: getattr(ours, name) for name in ours.__struct_fields__} == theirs


def test_devices_and_links_have_the_entries_of_the_family() -> None:
    for ours, theirs in ((_dpm_devices.DpmDevice, graph.Device), (_dpm_devices.DpmLink, graph.Link)):
        assert ours.__struct_fields__ == tuple(one.name for one in fields(theirs) if one.init)


def test_the_words_are_those_of_the_family() -> None:
    assert _dpm_devices.PHASES == graph.PHASES
    assert _dpm_devices.LINK_STATES == graph.LINK_STATES
    assert _dpm_devices.RUNTIME_STATUSES == graph.RUNTIME_STATUSES
    assert _dpm_devices.PREPARE_RESULTS == graph.PREPARE_RESULTS
    assert _dpm_devices.DpmCallbacks.__struct_fields__ == graph.PHASES
    assert _dpm.DpmPhases.__struct_fields__ == graph.PHASES


# Setting


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("dpm.async_devices", "all"),
        ("dpm.eas", False),
        ("dpm.slice_us", 1000),
        ("dpm.idle_exit_share", 1.0),
        ("dpm.since_tick_us", 100),
        ("dpm.main_suspend_cpu", 1),
        ("dpm.costs.queue_us", 3),
        ("dpm.costs.tail_us", 3),
        ("dpm.phase_costs.suspend_late.core_us", 3),
        ("dpm.performance_domains[0].power_mw", [100, 301]),
        ("dpm.devices.p_link", 0.1),
        ("dpm.devices.sigma", [1.3, 1.5]),
    ],
)
def test_every_entry_can_be_set_and_moves_the_content_hash(key: str, value: object) -> None:
    board = good()
    other = board.with_value(key, value)
    assert other.value(key) == value
    assert other.content_hash != board.content_hash
    assert [difference.theirs for difference in board.diff(other)] == [value]
    if not isinstance(value, str | bool):
        assert str(other.provenance(key)) == "assumed: set with Board.with_value"


def test_one_frequency_can_take_the_place_of_one_for_each_cluster() -> None:
    board = good().with_value("dpm.relative_freq", 0.9)
    assert section(board).relative_freq == 0.9
    assert board.provenance("dpm.relative_freq").source == "set with Board.with_value"
    back = board.with_value("dpm.relative_freq", {"a": 0.5, "b": 1})
    assert back.content_hash == good().content_hash
    assert back.provenance("dpm.relative_freq.b").source == "set with Board.with_value"


def test_a_device_is_set_by_its_name() -> None:
    board = Board.from_toml(WITH_LIST)
    key = "dpm.device[i2c].callbacks.suspend[1].sleep_us"
    other = board.with_value(key, 50)
    assert (board.value(key), other.value(key)) == (100, 50)
    assert other.content_hash != board.content_hash
    assert [difference.key for difference in board.diff(other)] == [
        "dpm.device[1].callbacks.suspend[1].sleep_us"
    ]


@pytest.mark.parametrize(
    ("key", "near"),
    [
        ("dpm.costs.queue", "dpm.costs.queue_us"),
        ("dpm.devices.sigmas", "dpm.devices.sigma"),
        ("dpm.costs", "dpm.costs.core_us"),
    ],
)
def test_an_unknown_key_lists_near_ones(key: str, near: str) -> None:
    with pytest.raises(_core.ConfigError, match="no such entry, near ones: ") as caught:
        good().with_value(key, 1)
    assert near in str(caught.value)


# Provenance, hash, files


def test_a_default_that_is_written_out_has_provenance_and_the_same_content_hash() -> None:
    board = good()
    assert board.provenance("dpm.slice_us").source == "a"
    assert board.provenance("dpm.devices.devices").source == "f"
    assert Board.from_toml(GOOD.replace("slice_us = 3000\n", "")).content_hash == board.content_hash


def test_a_whole_number_in_another_spelling_has_the_same_content_hash() -> None:
    other = GOOD.replace("b = 1 }", "b = 1.0 }").replace("core_us = 1\n", "core_us = 1.0\n")
    assert Board.from_toml(other).content_hash == good().content_hash


@pytest.mark.parametrize(
    ("text", "entry", "key"),
    [
        (GOOD, '"dpm.relative_freq.*" = "assumed: b"\n', "dpm.relative_freq.a"),
        (GOOD, '"dpm.costs.*" = "assumed: c"\n', "dpm.costs.switch_us"),
        (GOOD, '"dpm.phase_costs.*.*" = "assumed: d"\n', "dpm.phase_costs.suspend_late.core_us"),
        (GOOD, '"dpm.performance_domains[*].*" = "cited: e"\n', "dpm.performance_domains[0].freq_khz"),
        (GOOD, DRAWN_PROVENANCE, "dpm.devices.devices"),
        (WITH_LIST, LISTED_PROVENANCE, "dpm.device[1].callbacks.suspend[0].cpu_us"),
    ],
)
def test_a_number_without_provenance_is_refused(text: str, entry: str, key: str) -> None:
    error = complaint(text, entry, "")
    assert error.key == key
    assert "has no provenance" in str(error)


@pytest.mark.parametrize("name", ["pixel-6", "pixel-6-like", "toy", "x86-skylake"])
def test_a_section_survives_toml_dict_json_pickle_and_repr(name: str) -> None:
    board = Board.load(name).with_value("dpm.costs.queue_us", 7)
    for other in (
        Board.from_toml(board.to_toml()),
        Board.from_dict(json.loads(json.dumps(board.to_dict()))),
        pickle.loads(pickle.dumps(board)),
        eval(repr(board), {"Board": Board}),
    ):
        assert other == board
        assert other.dpm == board.dpm
        assert other.content_hash == board.content_hash
        assert other.provenances == board.provenances


def test_a_board_does_not_keep_what_it_was_made_of() -> None:
    data = good().to_dict()
    board = Board.from_dict(data)
    data["dpm"]["devices"]["sigma"][0] = 9.0
    data["dpm"]["relative_freq"]["a"] = 0.1
    assert board == good()


@pytest.mark.parametrize("text", [GOOD, WITH_LIST])
def test_a_board_shows_the_section_in_terminal_and_notebook(text: str) -> None:
    board = Board.from_toml(text)
    for shown in (str(board), board._repr_html_()):
        for part in (
            "dpm: rules and costs",
            "costs.queue_us",
            "relative_freq.a",
            "energy model of cluster b",
        ):
            assert part in shown
        extra = ("generator of 350 devices", "1.3 / 1.4") if text is GOOD else ("2 devices", "lock clk")
        assert [part for part in extra if part not in shown] == []


def test_each_number_is_shown_with_the_kind_of_its_source() -> None:
    lines = {line.split()[1]: line.split()[-2] for line in str(good()).splitlines() if line.count("│") == 4}
    assert lines["devices.sigma"] == "fitted"
    assert lines["costs.queue_us"] == "assumed"
    assert lines["costs.tail_us"] == "default"
    assert lines["1000000"] == "cited"


# Errors

BROKEN = [
    (GOOD, "a = 0.5, b = 1 }", "a = 0.5, b = 2 }", "relative_freq.b", "value 2, limit: above 0, at most 1"),
    (GOOD, "a = 0.5, b = 1 }", 'a = 0.5, b = "x" }', "relative_freq.b", "value 'x', limit: above 0"),
    (GOOD, "a = 0.5, b = 1 }", "a = 0.5 }", "relative_freq", "one for each cluster: a, b"),
    (GOOD, "a = 0.5, b = 1 }", "a = 0.5, b = 1, c = 1 }", "relative_freq.c", "value 'c', limit: a, b"),
    (GOOD, "{ a = 0.5, b = 1 }", "0", "relative_freq", "value 0.0, limit: above 0, at most 1"),
    (GOOD, "{ a = 0.5, b = 1 }", "nan", "relative_freq", "value nan, limit: above 0, at most 1"),
    (GOOD, "{ a = 0.5, b = 1 }", "true", "relative_freq", "value True, limit: expected"),
    (GOOD, "async_devices = 0.25", "async_devices = 1.5", "async_devices", "value 1.5, limit: expected"),
    (
        GOOD,
        "async_devices = 0.25",
        'async_devices = "al"',
        "async_devices",
        "a share 0..1, or one of flagged, all, none; did you mean all?",
    ),
    (GOOD, "slice_us = 3000", 'placement = "spred"', "placement", "did you mean spread?"),
    (GOOD, "slice_us = 3000", "slice_us = 0.5", "slice_us", "value 0.5, limit: 0 (never), or at least 1"),
    (GOOD, "slice_us = 3000", "initial_workers = 0", "initial_workers", "at least 1 unless worker_per_item"),
    (GOOD, "slice_us = 3000", "since_tick_us = 4000", "since_tick_us", "limit: less than a tick, 4000"),
    (GOOD, "slice_us = 3000", "shared_cpus = 0.001", "shared_cpus", "at least 0.01"),
    (GOOD, "slice_us = 3000", "jitter = -1", "jitter", "value -1, limit: expected `float` >= 0.0"),
    (GOOD, "main_suspend_cpu = 2", "main_suspend_cpu = 3", "main_suspend_cpu", "a CPU of the board, 0..2"),
    (GOOD, "main_resume_util = 100", "main_resume_util = 1025", "main_resume_util", "<= 1024"),
    (GOOD, "queue_us = 1.5", "queue_us = -1", "costs.queue_us", "value -1, limit: expected `float` >= 0.0"),
    (GOOD, "queue_us = 1.5", "queue_us = inf", "costs.queue_us", "value inf, limit: expected `float`"),
    (GOOD, 'cluster = "b"', 'cluster = "c"', "performance_domains[0].cluster", "value 'c', limit: a, b"),
    (
        GOOD,
        "freq_khz = [500000, 1000000]",
        "freq_khz = [1000000, 500000]",
        "performance_domains[0].freq_khz",
        "ascending",
    ),
    (
        GOOD,
        "power_mw = [100, 300]",
        "power_mw = [100]",
        "performance_domains[0].power_mw",
        "one for each of the 2 frequencies",
    ),
    (GOOD, "devices = 350", "devices = 0", "devices.devices", "value 0, limit: expected `int` >= 1"),
    (GOOD, "sigma = [1.3, 1.4]", "sigma = [1.3]", "devices.sigma", "of length 2"),
    (GOOD, "sigma = [1.3, 1.4]", "p_link = 1.5", "devices.p_link", "value 1.5, limit: expected"),
    (WITH_LIST, 'name = "i2c"', 'name = "soc"', "device[1].name", "must be the name of one device only"),
    (WITH_LIST, 'parent = "soc"', 'parent = "i2c"', "device[1].parent", "a device that comes earlier"),
    (
        WITH_LIST,
        'runtime_status = "suspended"',
        'runtime_status = "asleep"',
        "device[1].runtime_status",
        "value 'asleep', limit: active, suspended, unsupported",
    ),
    (WITH_LIST, 'supplier = "soc"', 'supplier = "x"', "link[0].supplier", "must name a [[dpm.device]]"),
    (WITH_LIST, 'state = "active"', 'state = "activ"', "link[0].state", "did you mean active?"),
]


@pytest.mark.parametrize(("text", "old", "new", "key", "message"), BROKEN)
def test_a_broken_rule_names_file_line_key_value_and_limit(
    text: str, old: str, new: str, key: str, message: str
) -> None:
    error = complaint(text, old, new)
    assert error.key == f"dpm.{key}"
    file, line, rest = str(error).split(":", 2)
    assert file == "mine.toml"
    assert rest.startswith(f" dpm.{key}: value ")
    assert message in rest
    entry = key.removeprefix("relative_freq.") if key.startswith("relative_freq.") else key.split(".")[-1]
    assert entry in text.replace(old, new, 1).splitlines()[int(line) - 1]


@pytest.mark.parametrize(
    ("old", "new", "key", "message"),
    [
        ("{ sleep_us = 100 }", "{ sleep_us = 100, ticks = 2 }", "", "value 'sleep_us, ticks', limit: one of"),
        ("{ sleep_us = 100 }", "{}", "", "value 'empty', limit: one of cpu_us (with fixed_us), sleep_us"),
        ("{ sleep_us = 100 }", "{ range_us = [2, 1] }", ".range_us", "the second is no less than the first"),
        ("{ sleep_us = 100 }", '{ lock = "" }', ".lock", "at least one character"),
        ("{ sleep_us = 100 }", "{ ticks = 0 }", ".ticks", "expected `int` >= 1"),
        ("{ sleep_us = 100 }", "{ sleeps_us = 100 }", ".sleeps_us", "did you mean sleep_us?"),
    ],
)
def test_a_broken_segment_is_named(old: str, new: str, key: str, message: str) -> None:
    error = complaint(WITH_LIST, old, new)
    assert error.key == f"dpm.device[1].callbacks.suspend[1]{key}"
    assert message in str(error)


@pytest.mark.parametrize(
    ("old", "new", "key", "near"),
    [
        ("queue_us = 1.5", "queue_us = 1.5\nqueues_us = 7", "costs.queues_us", "queue_us"),
        ("eas = true", "eas = true\nslices_us = 7", "slices_us", "slice_us"),
        ("devices = 350", "devices = 350\nsigmas = 7", "devices.sigmas", "sigma"),
    ],
)
def test_an_unknown_key_of_the_section_is_named_with_its_line(
    old: str, new: str, key: str, near: str
) -> None:
    error = complaint(GOOD, old, new)
    assert error.key == f"dpm.{key}"
    number = GOOD[: GOOD.index(old)].count("\n") + 2
    assert str(error).startswith(f"mine.toml:{number}: ")
    assert f"did you mean {near}?" in str(error)


@pytest.mark.parametrize(
    "missing", ["queue_us = 1.5\n", "main_resume_cpu = 0\n", "eas = true\n", "freq_khz = [500000, 1000000]\n"]
)
def test_a_missing_entry_is_named(missing: str) -> None:
    error = complaint(GOOD, missing, "")
    assert error.key.rpartition(".")[2] == missing.partition(" ")[0]
    assert "value missing" in str(error)


def test_devices_are_drawn_or_listed_but_not_both() -> None:
    error = complaint(WITH_LIST, LISTED, DRAWN + LISTED)
    assert error.key == "dpm.device"
    assert "limit: either [dpm.devices] or [[dpm.device]]" in str(error)


def test_links_need_devices() -> None:
    error = complaint(WITH_LIST, LISTED, LISTED[LISTED.index("[[dpm.link]]") :])
    assert error.key == "dpm.link"


def test_eas_needs_the_power_of_every_cluster() -> None:
    domain = SECTION[SECTION.index("[[dpm.performance_domains]]") :]
    error = complaint(GOOD, domain, "")
    assert error.key == "dpm.eas"
    assert "of cluster b neither opps nor performance_domains tell any" in str(error)
