# SPDX-License-Identifier: MIT
"""Task populations: groups, values, modifiers, field cases."""

import copy
import pickle
from dataclasses import fields, replace

import numpy as np
import pytest

from refusals import refused
from torpor.board import Board
from torpor.distributions import Exponential, LogNormal, Uniform
from torpor.freezer import cases
from torpor.freezer.population import Population, TaskGroup

NAMES = {kind.__name__: kind for kind in (Population, TaskGroup, LogNormal, Uniform, Exponential)}

MIXED = Population(
    [
        TaskGroup(name="futex", count=6, site="futex", threads=3),
        TaskGroup(name="select", count=2, site="select", nfds=8, wakes_at_us=5),
        TaskGroup(name="copy", start="uninterruptible", d_ends_us="lognormal(median_us=2000, sigma=1)"),
        TaskGroup(name="server", start="user_mode", forks_at_us=Uniform(low_us=0, high_us=9)),
        TaskGroup(name="client", start="spinning", waits_on="server"),
        TaskGroup(name="kthread", count=3, kind="kfreezable", freeze_run_cycles=0),
        TaskGroup(name="idle", kind="knofreeze", site="kthread"),
        TaskGroup(name="dead", count=4, start="zombie"),
    ]
)


class TestTaskGroup:
    def test_is_a_value_that_reads_back(self) -> None:
        for group in MIXED:
            for other in (pickle.loads(pickle.dumps(group)), copy.copy(group), eval(repr(group), NAMES)):
                assert other == group
                assert hash(other) == hash(group)

    def test_takes_times_as_numbers_text_and_objects(self) -> None:
        drawn = Exponential(mean_us=5)
        for given in (drawn, "exponential(mean_us=5)"):
            assert TaskGroup(name="x", wakes_at_us=given).wakes_at_us == drawn
        for given in (5, np.int64(5), "constant(value_us=5)"):
            assert TaskGroup(name="x", wakes_at_us=given).wakes_at_us == 5.0

    def test_takes_counts_of_numpy(self) -> None:
        assert repr(TaskGroup(name="x", count=np.int32(7))) == "TaskGroup(name='x', count=7)"

    @pytest.mark.parametrize(
        ("field", "value", "limit"),
        [
            ("count", -1, "Expected `int` >= 0"),
            ("count", 10**7 + 1, "Expected `int` <= 10000000"),
            ("count", 2**70, ""),
            ("count", 1.5, "Expected `int`, got `float`"),
            ("count", True, "Expected `int`, got `bool`"),
            ("count", None, "Expected `int`, got `null`"),
            ("name", "", "1 to 64 letters, digits"),
            ("name", 3, "Expected `str`, got `int`"),
            ("site", "futx", "did you mean futex?"),
            ("kind", "daemon", "user, kfreezable, knofreeze"),
            ("start", "asleep", "blocked, uninterruptible, user_mode, spinning, stopped, zombie"),
            ("threads", 0, "Expected `int` >= 1"),
            ("d_ends_us", 5, "only with start = uninterruptible, not blocked"),
            ("wakes_at_us", -5, "microseconds, not negative, or a distribution"),
            ("wakes_at_us", float("nan"), "must be finite"),
            ("wakes_at_us", "gauss()", "unknown distribution 'gauss'"),
            ("forks_at_us", 5, "only with start = user_mode"),
            ("waits_on", "y", "only with start = uninterruptible or spinning"),
            ("reply_after_cycles", 5, "only with start = user_mode"),
            ("freeze_run_cycles", -1, "Expected `int` >= 0"),
            ("nfds", 5, "only with site = select or poll"),
        ],
    )
    def test_names_the_field_the_value_and_the_limit(self, field: str, value: object, limit: str) -> None:
        message = refused(lambda: TaskGroup(**{"name": "x", field: value}))
        assert message.startswith(f"TaskGroup.{field}=")
        assert limit in message

    def test_knows_no_kernel_thread_in_user_mode(self) -> None:
        message = refused(lambda: TaskGroup(name="x", kind="kfreezable", start="user_mode"))
        assert "only with kind = user, not kfreezable" in message


class TestPopulation:
    def test_is_a_value_that_reads_back(self) -> None:
        for other in (pickle.loads(pickle.dumps(MIXED)), copy.deepcopy(MIXED), eval(repr(MIXED), NAMES)):
            assert other == MIXED
            assert hash(other) == hash(MIXED)
        assert MIXED.with_count("futex", 7) != MIXED
        assert MIXED != "futex"

    def test_is_immutable(self) -> None:
        with pytest.raises(AttributeError, match="immutable"):
            MIXED.notes = ()
        with pytest.raises(AttributeError, match="immutable"):
            del MIXED._groups

    def test_is_a_sequence_of_its_groups(self) -> None:
        assert len(MIXED) == 8
        assert MIXED[0].name == "futex"
        assert MIXED[-2:] == MIXED.groups[-2:]
        assert MIXED.group("select") in MIXED
        assert MIXED.task_count == 19

    def test_refuses_two_groups_of_one_name(self) -> None:
        message = refused(lambda: Population([TaskGroup(name="a"), TaskGroup(name="a")]))
        assert message == "Population[1].name='a': must be the name of one group only"

    def test_refuses_a_wait_for_nobody(self) -> None:
        client = TaskGroup(name="c", start="uninterruptible", waits_on="s")
        assert "must name a group: c" in refused(lambda: Population([client]))
        assert "a group of at least one task" in refused(
            lambda: Population([client, TaskGroup(name="s", count=0)])
        )
        assert "another group" in refused(lambda: replace(client, waits_on="c"))

    def test_refuses_what_is_no_group(self) -> None:
        assert "must be a TaskGroup" in refused(lambda: Population(["futex"]))

    def test_shows_every_group_in_a_frame_and_in_a_notebook(self) -> None:
        frame = MIXED.to_frame()
        assert frame.columns.tolist() == [field.name for field in fields(TaskGroup)]
        assert frame["count"].sum() == MIXED.task_count
        html = Population(MIXED, notes=["a <b> note"])._repr_html_()
        assert "19 tasks" in html
        assert "lognormal(median_us=2000, sigma=1)" in html
        assert "a &lt;b&gt; note" in html
        assert "thaw_run_cycles" not in html

    def test_of_a_board_has_its_groups(self) -> None:
        population = Population.from_board(Board.load("nexus-10"))
        assert population.task_count == 1100
        assert [group.name for group in population] == [
            tasks.name for tasks in Board.load("nexus-10").freezer.tasks
        ]
        changed = Board.load("nexus-10").with_value("freezer.tasks[epoll].count", 1)
        assert Population.from_board(changed).group("epoll").count == 1

    def test_of_a_board_without_tasks_is_refused(self) -> None:
        assert "board hikey: no [[freezer.tasks]]" in refused(
            lambda: Population.from_board(Board.load("hikey"))
        )


class TestModifiers:
    def test_with_count_changes_one_group_and_keeps_the_order(self) -> None:
        other = MIXED.with_count("select", 9)
        assert other.names == MIXED.names
        assert [group.name for group in other if group not in MIXED] == ["select"]
        assert other.group("select").count == 9

    def test_with_group_replaces_or_adds(self) -> None:
        assert MIXED.with_group(TaskGroup(name="futex", count=1)).names == MIXED.names
        assert MIXED.with_group(TaskGroup(name="pipe")).names == (*MIXED.names, "pipe")

    def test_without_takes_a_group_away(self) -> None:
        assert "dead" not in MIXED.without("dead").names
        assert "must name a group" in refused(lambda: MIXED.without("server"))

    @pytest.mark.parametrize("name", ["with_count", "without", "group"])
    def test_an_unknown_group_lists_the_known_ones(self, name: str) -> None:
        arguments = ("nobody", 1) if name == "with_count" else ("nobody",)
        message = refused(lambda: getattr(MIXED, name)(*arguments))
        assert message.startswith("population has no group 'nobody': it has futex, select")

    def test_scaled_multiplies_every_count(self) -> None:
        assert [group.count for group in MIXED.without("client").scaled(0.5)] == [3, 1, 0, 0, 2, 0, 2]
        assert MIXED.scaled(np.int64(3)).task_count == 3 * MIXED.task_count
        for factor in (-1, float("nan"), float("inf"), "2"):
            assert "must be 0 to 10000000" in refused(lambda factor=factor: MIXED.scaled(factor))

    def test_cgroup_frozen_traps_user_tasks_only(self) -> None:
        frozen = MIXED.cgroup_frozen()
        assert [(g.name, g.site, g.start) for g in frozen if g.site == "cgroup_frozen"] == [
            ("futex", "cgroup_frozen", "blocked"),
            ("select", "cgroup_frozen", "blocked"),
            ("copy", "cgroup_frozen", "uninterruptible"),
            ("server", "cgroup_frozen", "blocked"),
        ]
        assert (frozen.group("select").wakes_at_us, frozen.group("select").nfds) == (None, 0)
        assert frozen.group("server").forks_at_us is None
        assert frozen.task_count == MIXED.task_count

    def test_cgroup_frozen_can_name_its_groups(self) -> None:
        frozen = MIXED.cgroup_frozen("futex")
        assert [group.name for group in frozen if group.site == "cgroup_frozen"] == ["futex"]
        assert "limit: user" in refused(lambda: MIXED.cgroup_frozen("kthread"))
        assert "no group 'nobody'" in refused(lambda: MIXED.cgroup_frozen("nobody"))

    def test_with_d_tail_adds_or_replaces_tasks_in_d(self) -> None:
        other = MIXED.with_d_tail(3).with_d_tail(2, None)
        assert (other.group("d-tail").count, other.group("d-tail").d_ends_us) == (2, None)
        assert other.task_count == MIXED.task_count + 2

    def test_notes_stay_with_the_copies(self) -> None:
        noted = Population(MIXED, notes=["x"])
        assert noted == MIXED
        for other in (
            noted.scaled(1),
            noted.with_count("futex", 1),
            noted + MIXED[:0],
            pickle.loads(pickle.dumps(noted)),
        ):
            assert other.notes == ("x",)


@pytest.mark.parametrize("name", sorted(cases.CASES))
def test_every_field_case_goes_with_a_population(name: str) -> None:
    groups = cases.CASES[name]()
    population = Population.from_board(Board.load("toy")) + groups
    assert population.groups[3:] == groups
    assert name in cases.__all__


def test_a_fuse_daemon_may_answer_before_it_is_frozen() -> None:
    client, daemon = cases.fuse_client(reply_after_cycles=4000)
    assert (client.waits_on, daemon.start, daemon.reply_after_cycles) == ("fuse-daemon", "user_mode", 4000)
