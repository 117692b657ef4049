# SPDX-License-Identifier: MIT
"""Boards: strict files and their provenance."""

from pathlib import Path

import pytest

from board_text import GOOD, changed, line_of
from torpor import _core
from torpor.board import Board, Provenance


def complaint(text: str) -> _core.ConfigError:
    with pytest.raises(_core.ConfigError) as caught:
        Board.from_toml(text, label="mine.toml")
    return caught.value


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
