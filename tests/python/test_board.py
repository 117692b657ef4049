# SPDX-License-Identifier: MIT
"""Boards: strict files, provenance, the catalogue and the value protocol."""

import copy
import doctest
import importlib
import json
import pickle
from pathlib import Path

import pytest
from rich.console import Console

import torpor
from torpor import _core
from torpor.board import Board, Provenance, catalogue

GOOD = """\
name = "mine"
description = "a test board"

[tick]
hz = 250

[idle_costs]
select_to_entry_ns = 6000
ipi_handler_ns = 8000
timer_handler_ns = 5000
tick_handler_ns = 5000
interrupt_exit_ns = 10000
reflect_ns = 2000

[[clusters]]
name = "a"
cpus = [0, 1]
capacity = 512
opps = [
    { freq_khz = 500000, power_mw = 50 },
    # a comment with { braces } and [brackets]
    { freq_khz = 900000, power_mw = 90 },
]

[[clusters.idle_states]]
name = "WFI"
exit_latency_us = 1
target_residency_us = 1

[[clusters.idle_states]]
name = "off"
entry_us = 700
exit_us = 250
target_residency_us = 1000

[[clusters]]
name = "b"
cpus = [2]
capacity = 1024

[[clusters.idle_states]]
name = "WFI"
exit_latency_us = 1
target_residency_us = 1

[provenance]
"tick.hz" = "assumed: x"
"idle_costs.*" = "assumed: x"
"clusters[*].*" = "assumed: x"
"clusters[*].opps[*].*" = "assumed: x"
"clusters[*].idle_states[*].*" = "measured: x"
"""


def complaint(text: str) -> _core.ConfigError:
    with pytest.raises(_core.ConfigError) as caught:
        Board.from_toml(text, label="mine.toml")
    return caught.value


def changed(old: str, new: str, count: int = 1) -> str:
    assert old in GOOD
    return GOOD.replace(old, new, count)


def line_of(needle: str, text: str = GOOD, nth: int = 1) -> int:
    lines = [number for number, line in enumerate(text.splitlines(), 1) if needle in line]
    return lines[nth - 1]


def test_the_sample_file_is_accepted():
    board = Board.from_toml(GOOD)
    assert (board.name, board.cpu_count, board.tick_hz) == ("mine", 3, 250)


# One broken rule a row: what to change, the key, and the message (value and limit) after file and line.
BROKEN = [
    ("hz = 250", "hz = 0", "tick.hz", "value 0 is outside the limits 1..10000"),
    ("hz = 250", "hz = 10001", "tick.hz", "value 10001 is outside the limits 1..10000"),
    ("hz = 250", "hz = 99999999999", "tick.hz", "value 99999999999, limit: expected `int` <= 2147483647"),
    ('name = "mine"', 'name = ""', "name", 'value "" is empty, limit: at least one character'),
    ("cpus = [2]", "cpus = []", "clusters[1].cpus", "value has 0 CPUs, limit: at least 1"),
    (
        "cpus = [2]",
        "cpus = [1]",
        "clusters[1].cpus[0]",
        "value 1 is already in clusters[0], limit: one cluster for each CPU",
    ),
    (
        "cpus = [2]",
        "cpus = [3]",
        "clusters[1].cpus[0]",
        "value 3 is outside the limits 0..2 of a board with 3 CPUs",
    ),
    ("capacity = 512", "capacity = 2000", "clusters[0].capacity", "value 2000 is outside the limits 1..1024"),
    (
        'name = "b"',
        'name = "a"',
        "clusters[1].name",
        'value "a" is taken by an earlier cluster, limit: one cluster for each name',
    ),
    (
        "freq_khz = 900000",
        "freq_khz = 400000",
        "clusters[0].opps[1].freq_khz",
        "value 400000 kHz must be above that of the point before it, 500000",
    ),
    ("power_mw = 90", "power_mw = -1", "clusters[0].opps[1].power_mw", "value -1 mW is below the limit 0"),
    (
        "power_mw = 90",
        "power_mw = nan",
        "clusters[0].opps[1].power_mw",
        "value nan mW is not finite, limit: a number",
    ),
    (
        ", power_mw = 90",
        "",
        "clusters[0].opps[1].power_mw",
        "value missing, but 1 of 2 rows have one; limit: all rows of a table or none",
    ),
    (
        "entry_us = 700",
        "entry_us = -1",
        "clusters[0].idle_states[1].entry_us",
        "value -1, limit: expected `int` >= 0",
    ),
    (
        "target_residency_us = 1000",
        "target_residency_us = 0",
        "clusters[0].idle_states[1].target_residency_us",
        "value 0 us is below that of the shallower state, limit 1",
    ),
    (
        "exit_us = 250",
        "exit_us = 250\nwakeup_us = 0",
        "clusters[0].idle_states[1].exit_latency_us",
        "value 0 us is below that of the shallower state, limit 1",
    ),
    (
        "exit_us = 250",
        "exit_us = 250\npolling = true",
        "clusters[0].idle_states[1].polling",
        "value true at index 1, limit: only index 0 may poll",
    ),
    ("reflect_ns = 2000", "reflect_ns = -5", "idle_costs.reflect_ns", "value -5 ns is below the limit 0"),
]


@pytest.mark.parametrize(("old", "new", "key", "message"), BROKEN)
def test_a_broken_rule_names_file_line_key_value_and_limit(old: str, new: str, key: str, message: str):
    text = changed(old, new)
    error = complaint(text)
    assert error.key == key
    file, line, rest = str(error).split(":", 2)
    assert file == "mine.toml"
    assert rest == f" {key}: {message}"
    first = line_of(old.split("\n")[0])
    # A key that the file lacks is shown at the table that should hold it.
    assert int(line) in (first, first + 1, line_of('name = "off"') - 1)


@pytest.mark.parametrize(
    ("needle", "nth", "old", "new", "key"),
    [
        ("cpus = [2]", 1, "cpus = [2]", 'cpus = ["x"]', "clusters[1].cpus[0]"),
        ("freq_khz = 900000", 1, "900000", "9.5", "clusters[0].opps[1].freq_khz"),
        ("exit_us = 250", 1, "exit_us = 250", "exit_us = true", "clusters[0].idle_states[1].exit_us"),
        ("hz = 250", 1, "hz = 250", 'hz = "fast"', "tick.hz"),
        ('"tick.hz"', 1, '"assumed: x"', "5", 'provenance."tick.hz"'),
    ],
)
def test_a_wrong_type_names_the_exact_element_and_its_line(
    needle: str, nth: int, old: str, new: str, key: str
):
    error = complaint(changed(old, new))
    assert error.key == key
    assert str(error).startswith(f"mine.toml:{line_of(needle, nth=nth)}: {key}: value ")
    assert "limit: expected `" in str(error)


@pytest.mark.parametrize(
    ("old", "key", "hint"),
    [
        ("capacity = 1024", "clusters[1].cpacity", "did you mean capacity?"),
        ("exit_us = 250", "clusters[0].idle_states[1].cpacity", "limit: name, target_residency_us"),
        ("hz = 250", "tick.cpacity", "limit: hz"),
    ],
)
def test_an_unknown_key_is_named_with_its_line_and_the_known_ones(old: str, key: str, hint: str):
    text = changed(old, f"{old}\ncpacity = 7")
    error = complaint(text)
    assert error.key == key
    assert str(error).startswith(
        f"mine.toml:{line_of('cpacity', text)}: {key}: unknown key, value 7, limit: "
    )
    assert hint in str(error)


def test_a_missing_key_is_named_at_its_table():
    text = changed("capacity = 1024\n", "")
    error = complaint(text)
    assert error.key == "clusters[1].capacity"
    assert str(error).startswith(
        f"mine.toml:{line_of('[[clusters]]', text, 2)}: clusters[1].capacity: value missing"
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [("name = 'x'\n[tick\nhz = 1", 2), ("name = 'x'\nhz = = 3", 2), ("name = 'x'\nname = 'y'", 2)],
)
def test_a_syntax_error_names_its_line(text: str, line: int):
    assert str(complaint(text)).startswith(f"mine.toml:{line}: not valid TOML")


def test_both_forms_of_latency_together_are_refused():
    error = complaint(changed("exit_us = 250", "exit_us = 250\nexit_latency_us = 950"))
    assert error.key == "clusters[0].idle_states[1].entry_us"
    assert "value 700 beside exit_latency_us=950, limit: either" in str(error)


def test_half_of_the_device_tree_form_is_refused():
    error = complaint(changed("exit_us = 250\n", ""))
    assert error.key == "clusters[0].idle_states[1].exit_latency_us"
    assert "entry_us=700" in str(error)


def test_exit_latency_is_entry_plus_exit_without_a_wakeup_value():
    state = Board.from_toml(GOOD).clusters[0].idle_states[1]
    assert (state.entry_latency_ns, state.wake_latency_ns, state.exit_latency_ns) == (
        700_000,
        250_000,
        950_000,
    )


def test_exit_latency_is_the_wakeup_value_where_there_is_one():
    state = (
        Board.from_toml(changed("exit_us = 250", "exit_us = 250\nwakeup_us = 800")).clusters[0].idle_states[1]
    )
    assert (state.wake_latency_ns, state.exit_latency_ns) == (250_000, 800_000)


def test_wake_latency_is_the_exit_latency_of_a_driver_table():
    assert Board.from_toml(GOOD).clusters[0].idle_states[0].wake_latency_ns == 1000


def test_wake_latency_can_be_given_apart():
    text = changed("exit_latency_us = 1", "exit_latency_us = 1\nwake_latency_us = 3")
    state = Board.from_toml(text).clusters[0].idle_states[0]
    assert (state.wake_latency_ns, state.exit_latency_ns) == (3000, 1000)


def test_a_number_without_provenance_is_refused():
    error = complaint(changed('"idle_costs.*" = "assumed: x"\n', ""))
    assert error.key == "idle_costs.select_to_entry_ns"
    assert f"mine.toml:{line_of('select_to_entry_ns')}: " in str(error)
    assert "value 6000 has no provenance, limit: one [provenance] entry" in str(error)


def test_an_unknown_kind_of_provenance_is_refused():
    error = complaint(changed('"measured: x"', '"guessed: x"'))
    assert error.key == 'provenance."clusters[*].idle_states[*].*"'
    assert str(error).startswith(f"mine.toml:{line_of('measured: x')}: ")
    assert "value 'guessed: x'" in str(error)
    assert "cited, measured, fitted, assumed" in str(error)


def test_provenance_without_a_source_is_refused():
    assert "names no source" in str(complaint(changed('"measured: x"', '"measured: "')))


def test_a_provenance_entry_that_matches_nothing_is_refused():
    error = complaint(GOOD + '"clusters[c].capacity" = "assumed: y"\n')
    assert error.key == 'provenance."clusters[c].capacity"'
    assert "matches no number" in str(error)


def test_two_provenance_entries_of_equal_rank_are_refused():
    by_name = '"clusters[*].idle_states[WFI].*" = "cited: y"\n'
    by_key = '"clusters[*].idle_states[*].exit_latency_us" = "cited: z"\n'
    error = complaint(GOOD + by_name + by_key)
    assert error.key == "clusters[0].idle_states[0].exit_latency_us"
    assert "2 provenance entries of equal rank" in str(error)


def test_the_most_literal_provenance_entry_wins():
    board = Board.from_toml(GOOD + '"clusters[b].idle_states[WFI].exit_latency_us" = "cited: y"\n')
    assert board.provenance("clusters[1].idle_states[0].exit_latency_us") == Provenance("cited", "y")
    assert board.provenance("clusters[0].idle_states[0].exit_latency_us") == Provenance("measured", "x")


@pytest.mark.parametrize("name", catalogue())
class TestEveryShippedBoard:
    def test_loads_and_is_valid(self, name: str):
        board = Board.load(name)
        board.validate()
        board.core.validate()
        assert board.name == name
        assert board.description

    def test_has_provenance_for_every_number_that_the_engine_reads(self, name: str):
        board = Board.load(name)
        assert "tick.hz" in board.provenances
        for c, cluster in enumerate(board.clusters):
            for s in range(len(cluster.idle_states)):
                assert f"clusters[{c}].idle_states[{s}].target_residency_us" in board.provenances
        assert all(entry.source for _, entry in board.provenances.values())

    def test_survives_toml_dict_pickle_and_repr(self, name: str):
        board = Board.load(name)
        for other in (
            Board.from_toml(board.to_toml()),
            Board.from_dict(board.to_dict()),
            Board.from_dict(json.loads(json.dumps(board.to_dict()))),
            pickle.loads(pickle.dumps(board)),
            copy.deepcopy(board),
            eval(repr(board), {"Board": Board}),
        ):
            assert other == board
            assert hash(other) == hash(board)
            assert other.content_hash == board.content_hash
            assert other.core == board.core

    def test_shows_its_states_and_sources_in_terminal_and_notebook(self, name: str):
        board = Board.load(name)
        console = Console(width=200, color_system=None)
        with console.capture() as capture:
            console.print(board)
        for text in (capture.get(), board._repr_html_(), str(board)):
            for state in board.clusters[0].idle_states:
                assert state.name in text
            assert "assumed" in text


def test_the_catalogue_holds_the_promised_boards():
    assert {"hikey", "hikey-960", "pixel-6", "rk3399", "x86-skylake", "toy"} <= set(catalogue())


def test_hikey_has_the_latencies_and_residencies_that_linux_uses():
    board = Board.load("hikey")
    assert [cluster.cpus for cluster in board.clusters] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    for cluster in board.clusters:
        table = [
            (s.name, s.exit_latency_ns // 1000, s.target_residency_ns // 1000) for s in cluster.idle_states
        ]
        assert table == [("WFI", 1, 1), ("cpu-sleep", 950, 1000), ("cluster-sleep", 1500, 2700)]
        assert [state.wake_latency_ns for state in cluster.idle_states] == [3000, 250_000, 700_000]
        assert [state.cluster for state in cluster.idle_states] == [False, False, True]


def test_hikey_has_the_published_power():
    cluster = Board.load("hikey").clusters[0]
    assert [state.power_mw for state in cluster.idle_states] == [15, 0, 0]
    assert [state.cluster_power_mw for state in cluster.idle_states] == [47, 47, 0]
    assert [(o.freq_khz, o.power_mw, o.cluster_power_mw) for o in cluster.opps] == [
        (208000, 69, 16),
        (432000, 124, 29),
        (729000, 224, 47),
        (960000, 367, 75),
        (1200000, 670, 112),
    ]


def test_hikey_says_which_of_its_numbers_are_assumed():
    board = Board.load("hikey")
    assert board.provenance("clusters[0].idle_states[WFI].wake_latency_us").kind == "assumed"
    assert board.provenance("clusters[0].idle_states[WFI].exit_latency_us").kind == "cited"
    assert board.provenance("idle_costs.interrupt_exit_ns").kind == "assumed"


def test_rk3399_has_the_residencies_of_the_published_experiment():
    for cluster in Board.load("rk3399").clusters:
        assert [state.target_residency_ns // 1000 for state in cluster.idle_states] == [1, 900, 2000]


def test_skylake_polls_in_state_0_and_has_pairs_of_equal_residency():
    states = Board.load("x86-skylake").clusters[0].idle_states
    assert [state.polling for state in states] == [True] + [False] * 8
    assert [state.target_residency_ns // 1000 for state in states] == [
        0,
        2,
        20,
        100,
        200,
        800,
        800,
        5000,
        5000,
    ]


@pytest.mark.parametrize("name", ["hikey-960", "rk3399", "x86-skylake"])
def test_unpublished_idle_power_stays_unknown(name: str):
    for cluster in Board.load(name).clusters:
        assert {state.power_mw for state in cluster.idle_states} == {None}


def test_an_unknown_name_lists_the_catalogue_and_the_near_one():
    with pytest.raises(_core.ConfigError, match=r"hikey, hikey-960, .*did you mean hikey\?") as caught:
        Board.load("hikye")
    assert isinstance(caught.value, ValueError)


def test_saving_and_loading_gives_an_equal_board(tmp_path: Path):
    board = Board.load("hikey").with_value("tick.hz", 1000)
    board.save(tmp_path / "mine.toml")
    assert Board.load(tmp_path / "mine.toml") == board
    assert [file.name for file in tmp_path.iterdir()] == ["mine.toml"]


def test_a_failed_save_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "mine.toml"
    file.write_text("old")

    def refuse(*_: object) -> None:
        raise OSError("no space")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(torpor.ConfigError, match="no space"):
        Board.load("toy").save(file)
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_an_error_in_a_file_names_its_path(tmp_path: Path):
    file = tmp_path / "mine.toml"
    file.write_text(changed("hz = 250", "hz = 0"))
    with pytest.raises(_core.ConfigError) as caught:
        Board.load(file)
    assert str(caught.value).startswith(f"{file}:{line_of('hz = 250')}: tick.hz: value 0 ")


def test_a_file_that_is_not_text_is_refused(tmp_path: Path):
    file = tmp_path / "mine.toml"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(_core.ConfigError, match="cannot be read as UTF-8"):
        Board.load(file)


def test_load_can_replace_hz():
    assert Board.load("hikey", tick_hz=1000) == Board.load("hikey").with_value("tick.hz", 1000)


class TestWithValue:
    board = Board.load("hikey")

    def test_replaces_one_entry_and_nothing_else(self):
        other = self.board.with_value("clusters[cluster1].idle_states[cpu-sleep].target_residency_us", 1001)
        assert [str(entry) for entry in self.board.diff(other)] == [
            "clusters[1].idle_states[1].target_residency_us: 1000 -> 1001"
        ]
        assert self.board.clusters[1].idle_states[1].target_residency_ns == 1_000_000

    def test_marks_the_new_value_as_assumed(self):
        other = self.board.with_value("tick.hz", 1000)
        assert other.provenance("tick.hz") == Provenance("assumed", "set with Board.with_value")

    def test_has_a_repr_that_reads_back(self):
        other = self.board.with_value("tick.hz", 1000).with_value("clusters[0].capacity", 512)
        assert (
            repr(other)
            == "Board.load('hikey').with_value('tick.hz', 1000).with_value('clusters[0].capacity', 512)"
        )
        assert eval(repr(other), {"Board": Board}) == other

    def test_with_the_same_value_is_the_same_board(self):
        assert self.board.with_value("tick.hz", 250) is self.board

    def test_can_add_and_take_away_an_optional_entry(self):
        key = "clusters[0].idle_states[1].wake_latency_us"
        other = self.board.with_value(key, 400)
        assert other.clusters[0].idle_states[1].wake_latency_ns == 400_000
        assert other.with_value(key, None).core == self.board.core

    @pytest.mark.parametrize(
        ("key", "near"),
        [
            ("tick_hz", "tick.hz"),
            ("tick.hertz", "tick.hz"),
            ("clusters[0].idle_states[1].exit_latency", "clusters[0].idle_states[1].exit_latency_us"),
            ("clusters[7].capacity", "clusters[0].capacity"),
            ("clusters", "clusters[0].name"),
            ("", ""),
        ],
    )
    def test_refuses_an_unknown_key_and_lists_near_ones(self, key: str, near: str):
        with pytest.raises(_core.ConfigError, match="no such entry, near ones: ") as caught:
            self.board.with_value(key, 1)
        assert caught.value.key == key
        assert near in str(caught.value)

    def test_refuses_a_value_that_breaks_a_rule(self):
        with pytest.raises(
            _core.ConfigError, match=r"board hikey: tick\.hz: value 0 is outside the limits 1\.\.10000"
        ):
            self.board.with_value("tick.hz", 0)

    def test_refuses_a_value_of_the_wrong_type(self):
        with pytest.raises(
            _core.ConfigError, match=r"board hikey: tick\.hz: value 'fast', limit: expected `int`"
        ):
            self.board.with_value("tick.hz", "fast")


def test_content_hash_ignores_provenance_and_sees_every_number():
    board = Board.from_toml(GOOD)
    assert Board.from_toml(changed("measured: x", "cited: y")).content_hash == board.content_hash
    assert Board.from_toml(changed("measured: x", "cited: y")) != board
    assert (
        Board.from_toml(changed("reflect_ns = 2000", "reflect_ns = 2001")).content_hash != board.content_hash
    )
    assert Board.from_toml(changed("power_mw = 90", "power_mw = 91")).content_hash != board.content_hash


def test_content_hash_is_the_same_in_every_release_and_process():
    assert (
        Board.load("toy").content_hash == "b1f6b178e6ff0e4909e561679541b39ac574ad9035990957464bda49f7573c5a"
    )


def test_a_board_is_immutable():
    board = Board.load("toy")
    with pytest.raises(AttributeError, match="immutable"):
        board.name = "other"
    board.to_dict()["tick"]["hz"] = 1
    board.value("clusters[0].cpus").append(7)
    assert board == Board.load("toy")
    with pytest.raises(TypeError):
        board.provenances["tick.hz"] = ("", Provenance("cited", "x"))
    with pytest.raises(TypeError, match=r"Board\.load"):
        Board()


def test_boards_equal_nothing_else():
    assert Board.load("toy") != Board.load("hikey")
    assert Board.load("toy") != "toy"


def capture_folder(folder: Path, **changes: object) -> Path:
    rows = {
        "state0": {"name": "POLL", "latency_us": 0, "residency_us": 0, "usage": 3},
        "state1": {"name": "C1", "latency_us": 1, "residency_us": 2, "usage": 4},
    }
    truth = {
        "capture": "lab",
        "uname": "Linux 6.1",
        "traces": {"quiet": {"sysfs_delta": {"cpu0": rows, "cpu1": rows}}},
    }
    (folder / "truth.json").write_text(json.dumps(truth | changes))
    return folder


class TestCapture:
    def test_gives_the_recorded_table_as_measured(self, tmp_path: Path):
        board = Board.load(capture_folder(tmp_path))
        assert board.name == "lab"
        assert [(c.name, c.cpus) for c in board.clusters] == [("cpu0-1", [0, 1])]
        states = board.clusters[0].idle_states
        assert [
            (s.name, s.exit_latency_ns, s.target_residency_ns, s.polling, s.power_mw) for s in states
        ] == [
            ("POLL", 0, 0, True, None),
            ("C1", 1000, 2000, False, None),
        ]
        assert board.provenance("clusters[0].idle_states[1].exit_latency_us").kind == "measured"

    def test_assumes_hz_250_unless_told(self, tmp_path: Path):
        assert Board.load(capture_folder(tmp_path)).tick_hz == 250
        told = Board.load(capture_folder(tmp_path) / "truth.json", tick_hz=1000)
        assert told.tick_hz == 1000
        assert told.provenance("tick.hz").kind == "assumed"
        assert eval(repr(told), {"Board": Board}) == told

    def test_splits_cpus_of_different_tables_into_clusters(self, tmp_path: Path):
        deep = {"state0": {"name": "WFI", "latency_us": 1, "residency_us": 1}}
        flat = {"state0": {"name": "WFI", "latency_us": 2, "residency_us": 2}}
        traces = {"t": {"sysfs_delta": {"cpu0": deep, "cpu1": flat, "cpu2": deep}}}
        clusters = Board.load(capture_folder(tmp_path, traces=traces)).clusters
        assert [cluster.cpus for cluster in clusters] == [[0, 2], [1]]

    def test_refuses_traces_that_disagree(self, tmp_path: Path):
        one = {"sysfs_delta": {"cpu0": {"state0": {"name": "WFI", "latency_us": 1, "residency_us": 1}}}}
        two = {"sysfs_delta": {"cpu0": {"state0": {"name": "WFI", "latency_us": 2, "residency_us": 1}}}}
        with pytest.raises(_core.ConfigError, match="differs from the earlier") as caught:
            Board.load(capture_folder(tmp_path, traces={"one": one, "two": two}))
        assert caught.value.key == "traces.two.sysfs_delta.cpu0"

    def test_refuses_a_capture_without_idle_tables(self, tmp_path: Path):
        with pytest.raises(_core.ConfigError, match="no sysfs_delta"):
            Board.load(capture_folder(tmp_path, traces={"t": {}}))

    def test_refuses_a_state_without_a_latency(self, tmp_path: Path):
        traces = {"t": {"sysfs_delta": {"cpu0": {"state0": {"name": "WFI"}}}}}
        with pytest.raises(_core.ConfigError, match="KeyError: 'latency_us'"):
            Board.load(capture_folder(tmp_path, traces=traces))

    def test_refuses_a_folder_without_the_file(self, tmp_path: Path):
        with pytest.raises(_core.ConfigError, match=r"no truth\.json"):
            Board.load(tmp_path)


class TestCoreRecords:
    def test_read_back_from_their_repr_and_pickle(self):
        core = Board.load("hikey").core
        names = {name: getattr(_core, name) for name in ("Board", "Cluster", "IdleCosts", "IdleState", "Opp")}
        assert eval(repr(core), names) == core
        assert pickle.loads(pickle.dumps(core)) == core

    def test_find_the_cluster_of_a_cpu(self):
        core = Board.load("pixel-6").core
        assert [core.cluster_of(cpu).name for cpu in (0, 4, 7)] == ["little", "mid", "big"]
        with pytest.raises(_core.ConfigError, match=r"value 8 is outside the limits 0\.\.7"):
            core.cluster_of(8)

    def test_are_read_only(self):
        with pytest.raises(AttributeError):
            Board.load("toy").core.tick_hz = 1

    def test_outlive_the_board_that_they_came_from(self):
        states = Board.load("toy").clusters[0].idle_states
        assert [state.name for state in states] == ["WFI", "cpu-off", "cluster-off"]

    def test_refuse_a_frequency_that_overflows(self):
        with pytest.raises(
            _core.ConfigError, match="freq_khz: value 9223372036854775807 is beyond the limit"
        ):
            _core.Opp(freq_khz=2**63 - 1)

    def test_validate_reports_the_key(self):
        with pytest.raises(_core.ConfigError) as caught:
            _core.Board(name="x", clusters=[]).validate()
        assert caught.value.key == "clusters"


@pytest.mark.parametrize("module", ["", "._board", "._keys", "._provenance"])
def test_the_examples_in_the_documentation_hold(module: str):
    loaded = importlib.import_module(f"torpor.board{module}")
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    result = doctest.testmod(loaded, optionflags=flags)
    assert result.attempted > 0
    assert result.failed == 0
