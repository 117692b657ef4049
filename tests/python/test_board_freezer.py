# SPDX-License-Identifier: MIT
"""The [freezer] section of boards: strict, with provenance, settable, and part of the content hash."""

import json
import pickle
from dataclasses import fields

import pytest

from torpor import _core
from torpor.board import Board, _freezer_names
from torpor.board._freezer import FreezerCosts, FreezerTasks
from torpor.freezer.tasks import TaskGroup

SECTION = """\
[freezer]
wake_latency_us = 10
base_power_mw = 300
order = "shuffled"

[freezer.kernel]
preempt = "full"
wheel_extra = 0
timeout_ms = 20000

[freezer.costs]
visit_cycles = 140
wake_cycles = 1500
resig_cycles = 500
mark_cycles = 250
freeze_run_cycles = 7500
thaw_wake_cycles = 1500
thaw_run_cycles = 7500
resleep_cycles = 5000

[[freezer.tasks]]
name = "epoll"
count = 160
site = "epoll"

[[freezer.tasks]]
name = "server"
count = 1
start = "user_mode"
reply_after_cycles = 0

[[freezer.tasks]]
name = "client"
count = 2
start = "uninterruptible"
waits_on = "server"
d_ends_us = "lognormal(median_us=2000, sigma=1)"

[provenance]
"""
PLAIN = Board.load("hikey").to_toml()
GOOD = (
    PLAIN.replace("[provenance]\n", SECTION)
    + '"freezer.*" = "assumed: a"\n"freezer.kernel.*" = "assumed: b"\n'
    + '"freezer.costs.*" = "assumed: c"\n"freezer.tasks[*].*" = "assumed: d"\n'
)

# Pinned before there was a [freezer] or a [dpm] section: stores keep their results.
HASHES = {
    "hikey": "1c73cd9ee31026111e98e57f383529c10881cd907be239898db9a4dfd40ef651",
    "hikey-960": "41f47f4fb1ae4a2a345749691df70dbe360baeb711a14349c70d645cf790c29b",
    "pixel-6": "920977544f63a5ccefc8510b011349c37747dc7d154bcb4f1e4c6b28152cf031",
    "rk3399": "d6ad377ccd376b3fca483a5779ed7cbf52f7f9961482e0c6f504b27aea5f4055",
    "x86-skylake": "6836cd16862e7c094701bcc3c42f25c2a73bdabffbe3a3dfc682d339aaef1989",
}


def good() -> Board:
    return Board.from_toml(GOOD)


def line_of(needle: str, text: str = GOOD) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if needle in line)


def complaint(old: str, new: str) -> _core.ConfigError:
    assert old in GOOD
    with pytest.raises(_core.ConfigError) as caught:
        Board.from_toml(GOOD.replace(old, new, 1), label="mine.toml")
    return caught.value


def test_a_section_is_typed_and_what_it_leaves_out_is_at_its_default() -> None:
    freezer = good().freezer
    assert freezer is not None
    assert (freezer.wake_latency_us, freezer.base_power_mw, freezer.order) == (10.0, 300.0, "shuffled")
    kernel = freezer.kernel
    assert (kernel.preempt, kernel.kernel_loop_preempt, kernel.walker_wake) == ("full", None, "head")
    assert (kernel.wheel_extra, kernel.range_mode, kernel.timeout_ms) == (0, "hard", 20000)
    assert (freezer.costs.visit_kernel_cycles, freezer.costs.per_fd_cycles) == (None, 0)
    assert [(t.name, t.count, t.site, t.kind, t.threads) for t in freezer.tasks] == [
        ("epoll", 160, "epoll", "user", 1),
        ("server", 1, "other", "user", 1),
        ("client", 2, "other", "user", 1),
    ]


def test_a_board_without_the_section_has_none() -> None:
    assert Board.load("hikey").freezer is None


@pytest.mark.parametrize("name", sorted(HASHES))
def test_the_content_hash_of_a_board_without_sections_has_not_changed(name: str) -> None:
    data = Board.load(name).to_dict()
    data.pop("dpm", None)
    data["provenance"] = {key: text for key, text in data["provenance"].items() if not key.startswith("dpm.")}
    assert Board.from_dict(data).content_hash == HASHES[name]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("freezer.wake_latency_us", 0),
        ("freezer.order", "listed"),
        ("freezer.kernel.preempt", "none"),
        ("freezer.kernel.walker_wake", "tail"),
        ("freezer.kernel.kernel_loop_preempt", "full"),
        ("freezer.kernel.wheel_extra", 1),
        ("freezer.costs.visit_cycles", 200),
        ("freezer.costs.visit_stall_ns", 300),
        ("freezer.tasks[epoll].count", 5),
        ("freezer.tasks[client].d_ends_us", 5000),
        ("freezer.tasks[0].site", "poll"),
    ],
)
def test_every_entry_can_be_set_and_moves_the_content_hash(key: str, value: object) -> None:
    board = good()
    other = board.with_value(key, value)
    assert other.value(key) == value
    assert other.content_hash != board.content_hash
    assert [difference.theirs for difference in board.diff(other)] == [value]
    if not isinstance(value, str):
        assert str(other.provenance(key)) == "assumed: set with Board.with_value"


def test_a_time_in_another_spelling_has_the_same_content_hash() -> None:
    other = GOOD.replace("lognormal(median_us=2000, sigma=1)", "lognormal( sigma=1.0, median_us=2e3 )")
    assert Board.from_toml(other).content_hash == good().content_hash


def test_a_default_that_is_written_out_has_provenance_and_the_same_content_hash() -> None:
    board = good()
    assert board.provenance("freezer.kernel.timeout_ms").source == "b"
    assert board.provenance("freezer.tasks[server].reply_after_cycles").source == "d"
    assert Board.from_toml(GOOD.replace("timeout_ms = 20000\n", "")).content_hash == board.content_hash


def test_a_distribution_needs_provenance_as_a_number_does() -> None:
    assert good().provenance("freezer.tasks[client].d_ends_us").source == "d"
    error = complaint('"freezer.tasks[*].*" = "assumed: d"', '"freezer.tasks[*].count" = "assumed: d"')
    assert error.key == "freezer.tasks[1].reply_after_cycles"
    assert "has no provenance" in str(error)


@pytest.mark.parametrize(
    ("key", "near"),
    [
        ("freezer.costs.visit", "freezer.costs.visit_cycles"),
        ("freezer.tasks[epol].count", "freezer.tasks[0].count"),
        ("freezer.kernel.range", "freezer.kernel.range_mode"),
        ("freezer.costs.visit_kernel_cycle", "freezer.costs.visit_kernel_cycles"),
        ("freezer.kernel", "freezer.kernel.preempt"),
    ],
)
def test_an_unknown_key_lists_near_ones(key: str, near: str) -> None:
    with pytest.raises(_core.ConfigError, match="no such entry, near ones: ") as caught:
        good().with_value(key, 1)
    assert near in str(caught.value)


def test_a_section_survives_toml_dict_json_pickle_and_repr() -> None:
    board = Board.load("nexus-10").with_value("freezer.tasks[epoll].count", 3)
    for other in (
        Board.from_toml(board.to_toml()),
        Board.from_dict(json.loads(json.dumps(board.to_dict()))),
        pickle.loads(pickle.dumps(board)),
        eval(repr(board), {"Board": Board}),
        eval(repr(Board.from_dict(board.to_dict())), {"Board": Board}),
    ):
        assert other == board
        assert other.freezer == board.freezer
        assert other.content_hash == board.content_hash


BROKEN = [
    ("visit_cycles = 140", "visit_cycles = -1", "costs.visit_cycles", "value -1, limit: expected `int` >= 0"),
    (
        "visit_cycles = 140",
        "visit_cycles = 1.5",
        "costs.visit_cycles",
        "value 1.5, limit: expected `int`, got",
    ),
    ("wheel_extra = 0", "wheel_extra = 2", "kernel.wheel_extra", "value 2, limit: expected `int` <= 1"),
    ("timeout_ms = 20000", "timeout_ms = 0", "kernel.timeout_ms", "value 0, limit: expected `int` >= 1"),
    (
        "wake_latency_us = 10",
        "wake_latency_us = nan",
        "wake_latency_us",
        "value nan, limit: expected `float`",
    ),
    (
        "base_power_mw = 300",
        "base_power_mw = -1",
        "base_power_mw",
        "value -1, limit: expected `float` >= 0.0",
    ),
    (
        'preempt = "full"',
        'preempt = "ful"',
        "kernel.preempt",
        "value 'ful', limit: none, full; did you mean full?",
    ),
    ('order = "shuffled"', 'order = "random"', "order", "value 'random', limit: listed, shuffled"),
    ("count = 160", "count = -1", "tasks[0].count", "value -1, limit: expected `int` >= 0"),
    ('site = "epoll"', 'site = "epol"', "tasks[0].site", "value 'epol', limit: binder, epoll, select, poll,"),
    (
        'site = "epoll"',
        'kind = "kernel"',
        "tasks[0].kind",
        "value 'kernel', limit: user, kfreezable, knofreeze",
    ),
    ('site = "epoll"', 'start = "runs"', "tasks[0].start", "value 'runs', limit: blocked, uninterruptible,"),
    ('site = "epoll"', "threads = 0", "tasks[0].threads", "value 0, limit: expected `int` >= 1"),
    ('site = "epoll"', "wakes_at_us = -1", "tasks[0].wakes_at_us", "value -1.0, limit: microseconds, not"),
    (
        'site = "epoll"',
        'wakes_at_us = "soon"',
        "tasks[0].wakes_at_us",
        "value 'soon', limit: microseconds, not",
    ),
    (
        'site = "epoll"',
        "d_ends_us = 5",
        "tasks[0].d_ends_us",
        "only with start = uninterruptible, not blocked",
    ),
    ('site = "epoll"', "forks_at_us = 5", "tasks[0].forks_at_us", "only with start = user_mode, not blocked"),
    ('site = "epoll"', "nfds = 5", "tasks[0].nfds", "only with site = select or poll, not other"),
    (
        'site = "epoll"',
        "reply_after_cycles = 5",
        "tasks[0].reply_after_cycles",
        "only with start = user_mode",
    ),
    (
        'start = "user_mode"',
        'start = "user_mode"\nkind = "kfreezable"',
        "tasks[1].start",
        "only with kind = user, not kfreezable",
    ),
    (
        'start = "user_mode"',
        'start = "spinning"\nkind = "kfreezable"',
        "tasks[1].start",
        "only with kind = user, not kfreezable: kernel threads are blocked or uninterruptible",
    ),
    (
        'site = "epoll"',
        'site = "kthread"',
        "tasks[0].site",
        "value 'kthread', limit: only with kind = kfreezable or knofreeze, not user",
    ),
    (
        'name = "server"',
        'name = "epoll"',
        "tasks[1].name",
        "value 'epoll', limit: must be the name of one group only",
    ),
    ('name = "server"', 'name = "12"', "tasks[1].name", "value '12', limit: 1 to 64 letters"),
    ('name = "server"', 'name = "a[b]"', "tasks[1].name", "value 'a[b]', limit: 1 to 64 letters"),
    (
        'waits_on = "server"',
        'waits_on = "nobody"',
        "tasks[2].waits_on",
        "value 'nobody', limit: must name a group: epoll, server, client",
    ),
    (
        'waits_on = "server"',
        'waits_on = "client"',
        "tasks[2].waits_on",
        "value 'client', limit: must name another group",
    ),
    (
        'name = "server"\ncount = 1',
        'name = "server"\ncount = 0',
        "tasks[2].waits_on",
        "value 'server', limit: must name a group of at least one task",
    ),
]


@pytest.mark.parametrize(("old", "new", "key", "message"), BROKEN)
def test_a_broken_rule_names_file_line_key_value_and_limit(
    old: str, new: str, key: str, message: str
) -> None:
    error = complaint(old, new)
    assert error.key == f"freezer.{key}"
    file, line, rest = str(error).split(":", 2)
    assert file == "mine.toml"
    assert rest.startswith(f" freezer.{key}: value ")
    assert message in rest
    text = GOOD.replace(old, new, 1).splitlines()
    entry = key.rpartition(".")[2]
    assert text[int(line) - 1].startswith(f"{entry} = ")


def test_an_unknown_key_of_the_section_is_named_with_its_line() -> None:
    error = complaint("visit_cycles = 140", "visit_cycles = 140\nvisits_cycles = 7")
    assert error.key == "freezer.costs.visits_cycles"
    assert f"mine.toml:{line_of('visit_cycles = 140') + 1}: " in str(error)
    assert "did you mean visit_cycles?" in str(error)


@pytest.mark.parametrize("missing", ["wake_cycles = 1500\n", 'preempt = "full"\n', "base_power_mw = 300\n"])
def test_a_missing_entry_is_named(missing: str) -> None:
    error = complaint(missing, "")
    assert error.key.rpartition(".")[2] == missing.partition(" ")[0]
    assert "value missing" in str(error)


def test_a_board_shows_the_section_in_terminal_and_notebook() -> None:
    board = good()
    for text in (str(board), board._repr_html_()):
        for part in ("costs.visit_cycles", "kernel.preempt", "163 tasks", "client", "waits_on = server"):
            assert part in text
    assert "freezer.tasks[*].*" in str(board)


def test_keys_in_brackets_are_shown_whole() -> None:
    assert "freezer.tasks[knofreeze].count" in str(Board.load("nexus-10"))


def test_the_groups_of_a_board_and_of_a_population_have_the_same_fields() -> None:
    assert FreezerTasks.__struct_fields__ == tuple(field.name for field in fields(TaskGroup))


def test_the_names_are_those_of_the_engine() -> None:
    if not hasattr(_core, "freezer_site_names"):
        pytest.skip("this extension was built without the freezer family")
    assert tuple(_core.freezer_site_names()) == _freezer_names.SITES
    assert tuple(_core.freezer_kind_names()) == _freezer_names.KINDS
    assert tuple(_core.freezer_start_names()) == _freezer_names.STARTS


class TestNexus10:
    board = Board.load("nexus-10")

    def test_has_the_tick_and_operating_points_of_its_kernel(self) -> None:
        assert self.board.tick_hz == 200
        assert [opp.freq_khz for opp in self.board.clusters[0].opps] == list(
            range(200_000, 1_700_001, 100_000)
        )

    def test_has_its_coupled_idle_state(self) -> None:
        states = self.board.clusters[0].idle_states
        assert [(s.exit_latency_ns, s.target_residency_ns, s.cluster) for s in states] == [
            (10_000, 10_000, False),
            (5_000_000, 10_000_000, True),
        ]

    def test_has_rising_power_between_its_two_anchors(self) -> None:
        powers = [opp.power_mw for opp in self.board.clusters[0].opps]
        assert (powers[0], powers[-1]) == (100, 2000)
        assert powers == sorted(powers)

    def test_costs_9000_cycles_for_a_wakeup_and_its_run(self) -> None:
        costs = self.board.freezer.costs
        assert isinstance(costs, FreezerCosts)
        assert costs.wake_cycles + costs.freeze_run_cycles == 9000

    def test_says_which_values_were_fitted(self) -> None:
        kinds = {
            key: provenance.kind
            for key, (_, provenance) in self.board.provenances.items()
            if key.startswith("freezer.costs.")
        }
        assert {key.rpartition(".")[2] for key, kind in kinds.items() if kind == "fitted"} == {
            "visit_cycles",
            "freeze_run_cycles",
        }
        assert self.board.provenance("freezer.tasks[other].count").kind == "fitted"
        assert self.board.provenance("freezer.tasks[epoll].count").kind == "assumed"

    def test_wakes_1000_tasks_before_the_series(self) -> None:
        counts = {tasks.name: tasks.count for tasks in self.board.freezer.tasks}
        assert sum(counts.values()) - counts["knofreeze"] == 1000
        assert counts["other"] + counts["kfreezable"] == 25
