# SPDX-License-Identifier: MIT
"""Boards: the catalogue, the value protocol and the engine's records."""

import copy
import doctest
import importlib
import json
import pickle
from pathlib import Path

import pytest
from rich.console import Console

import torpor
from board_text import GOOD, changed
from torpor import _core
from torpor.board import Board, Provenance, catalogue


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
        Board.load("toy").content_hash == "bcaac404aefbf970bc77df8b5482aa06a2f43f010e901aeebb7290bfbcc9afed"
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
