# SPDX-License-Identifier: MIT
"""Task populations: groups, values, readers of censuses and running systems, field cases."""

import copy
import pickle
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from torpor import _core
from torpor.board import Board
from torpor.distributions import Exponential, LogNormal, Uniform
from torpor.freezer import _census, _wchan, cases
from torpor.freezer.population import Population, TaskGroup
from torpor.freezer.runs import Runs
from torpor.freezer.scenario import Scenario
from torpor.freezer.tasks import SITES

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


def refused(make: Callable[[], object]) -> str:
    with pytest.raises(_core.ConfigError) as caught:
        make()
    assert len(str(caught.value)) < 700
    return str(caught.value)


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


class TestGenerate:
    def test_is_the_same_for_the_same_seed_on_every_machine(self) -> None:
        population = Population.generate(tasks=1000, seed=7)
        assert population == Population.generate(tasks=1000, seed=7)
        assert population != Population.generate(tasks=1000, seed=8)
        assert [group.count for group in population][:3] == PINNED

    def test_has_every_task(self) -> None:
        population = Population.generate(tasks=500, zombies=7, kfreezable=3, knofreeze=20, d_tails=2)
        assert population.task_count == 532
        assert population.group("zombie").start == "zombie"
        assert population.group("d-tail").d_ends_us == LogNormal(median_us=2000, sigma=1)
        assert population.group("knofreeze").kind == "knofreeze"

    @pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
    def test_has_the_woken_share_that_was_asked_for(self, share: float) -> None:
        population = Population.generate(tasks=10_000, woken_share=share, kfreezable=0, knofreeze=0)
        asleep = {"futex", "binder", "sigtimedwait", "nanosleep", "af_unix"}
        woken = sum(group.count for group in population if group.site not in asleep)
        assert woken / 10_000 == pytest.approx(share, abs=0.015)

    @pytest.mark.parametrize("policy", ["v3.12", "v6.1", "v6.7"])
    @pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
    def test_every_kernel_from_3_12_on_wakes_the_share_that_was_asked_for(
        self, policy: str, share: float
    ) -> None:
        population = Population.generate(tasks=2000, woken_share=share, kfreezable=0, knofreeze=0)
        woken = sum(group.count for group in population if group.site in WOKEN)
        runs = Scenario(Board.load("toy"), population, bound=False).run(policy, threads=1)
        assert runs.freeze_task_switch_ins.tolist() == [woken]
        assert woken / 2000 == pytest.approx(share, abs=0.03)

    def test_of_text_is_the_same_as_of_parameters(self) -> None:
        text = "generate(tasks=300, woken_share=0.5, seed=3, zombies=4, kfreezable=0, knofreeze=0)"
        assert Population.from_text(text) == Population.generate(
            tasks=300, woken_share=0.5, seed=3, zombies=4, kfreezable=0, knofreeze=0
        )
        assert Population.from_text(" generate() ") == Population.generate()

    @pytest.mark.parametrize("quote", ["", "'"])
    def test_of_text_may_draw_the_end_of_waits(self, quote: str) -> None:
        drawn = f"{quote}uniform(low_us=0, high_us=5){quote}"
        population = Population.from_text(f"generate(d_tails=2, d_ends_us={drawn})")
        assert population.group("d-tail").d_ends_us == Uniform(low_us=0, high_us=5)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("generate", "write it as generate(parameter=value, ...); parameters are tasks, seed"),
            ("tasks=3", "write it as generate(parameter=value, ...)"),
            ("generate(3)", "write it as generate(parameter=value, ...)"),
            ("generate(tasks=x)", "write it as generate(parameter=value, ...)"),
            ("generate(**{})", "write it as generate(parameter=value, ...)"),
            ("generate(tasks=3", "write it as generate(parameter=value, ...)"),
            ("generate(tasks=1\0)", "write it as generate(parameter=value, ...)"),
            (5, "population 5: write it as generate(parameter=value, ...)"),
            ("draw(tasks=3)", "nothing is called 'draw'; write it as generate(parameter=value, ...)"),
            ("generate(task=3)", "no parameter 'task': it has tasks, seed, woken_share, zombies"),
            ("generate(task=3)", "d_tails, d_ends_us; did you mean tasks?"),
            ("generate(tasks=1, tasks=2)", "each parameter once"),
            ("generate(tasks=1.5)", "tasks=1.5: must be a whole number"),
            ("generate(woken_share=2)", "woken_share=2: must be 0 to 1"),
            ("generate(d_ends_us=gauss())", "unknown distribution 'gauss'"),
        ],
    )
    def test_of_text_says_what_is_wrong(self, text: str, message: str) -> None:
        assert message in refused(lambda: Population.from_text(text))

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("tasks", -1),
            ("tasks", 1.5),
            ("zombies", 10**8),
            ("woken_share", 1.1),
            ("woken_share", "x"),
            ("seed", -1),
        ],
    )
    def test_refuses_what_cannot_be(self, name: str, value: object) -> None:
        assert refused(lambda: Population.generate(**{name: value})).startswith(f"{name}={value!r}: must be")


PINNED = [383, 222, 84]
WOKEN = ("epoll", "poll", "select", "inet_socket", "pipe", "other")


class TestCensus:
    def read(self, folder: Path, text: str | bytes) -> Population:
        file = folder / "census.csv"
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return Population.from_census(file)

    def test_reads_sites_and_counts(self, tmp_path: Path) -> None:
        population = self.read(tmp_path, "site,count\nfutex,40\nepoll,7\n")
        assert [(group.name, group.site, group.count) for group in population] == [
            ("futex", "futex", 40),
            ("epoll", "epoll", 7),
        ]

    def test_bears_with_bom_crlf_spaces_comments_and_blank_lines(self, tmp_path: Path) -> None:
        text = "\ufeff# counted on Tuesday\r\n\r\n Site , Count \r\n  # a comment\r\n futex , 40 \r\n"
        assert self.read(tmp_path, text) == self.read(tmp_path, "site,count\nfutex,40\n")

    def test_reads_the_other_columns_and_leaves_empty_cells_at_their_default(self, tmp_path: Path) -> None:
        text = (
            "count,site,kind,start,threads,nfds\n4,futex,,,2,\n3,poll,,,,64\n"
            "9,kthread,knofreeze,,,\n2,other,kfreezable,,,\n5,other,,zombie,,\n1,other,,uninterruptible,,\n"
        )
        assert list(self.read(tmp_path, text)) == [
            TaskGroup(name="futex", count=4, site="futex", threads=2),
            TaskGroup(name="poll", count=3, site="poll", nfds=64),
            TaskGroup(name="knofreeze", count=9, site="kthread", kind="knofreeze"),
            TaskGroup(name="kfreezable", count=2, kind="kfreezable"),
            TaskGroup(name="zombie", count=5, start="zombie"),
            TaskGroup(name="uninterruptible", count=1, start="uninterruptible"),
        ]

    def test_describes_tasks_in_d_whose_wait_ends(self, tmp_path: Path) -> None:
        text = (
            "name,site,count,start,d_ends_us,wakes_at_us,waits_on,freeze_run_cycles\n"
            'disk,other,3,uninterruptible,"uniform(low_us=0, high_us=900)",,,\n'
            "page,other,1,uninterruptible,2500.5,,,\n"
            "client,other,2,uninterruptible,,,daemon,\n"
            "daemon,epoll,1,,,exponential(mean_us=9),,70000\n"
        )
        assert list(self.read(tmp_path, text)) == [
            TaskGroup(
                name="disk", count=3, start="uninterruptible", d_ends_us=Uniform(low_us=0, high_us=900)
            ),
            TaskGroup(name="page", start="uninterruptible", d_ends_us=2500.5),
            TaskGroup(name="client", count=2, start="uninterruptible", waits_on="daemon"),
            TaskGroup(
                name="daemon", site="epoll", wakes_at_us=Exponential(mean_us=9), freeze_run_cycles=70_000
            ),
        ]

    def test_the_end_of_a_wait_in_d_is_when_the_freeze_ends(self, tmp_path: Path) -> None:
        def freeze(ends_us: str) -> Runs:
            text = f"site,count,start,d_ends_us\nfutex,5,,\nother,1,uninterruptible,{ends_us}\n"
            return Scenario(Board.load("toy"), self.read(tmp_path, text), bound=False).run("v6.1", threads=1)

        assert freeze("30000").frozen.tolist() == [True]
        assert freeze("30000").user_elapsed_ns[0] >= 30_000_000 > freeze("2000").user_elapsed_ns[0]
        assert freeze("").frozen.tolist() == [False]

    def test_a_name_column_tells_equal_sites_apart(self, tmp_path: Path) -> None:
        population = self.read(tmp_path, "site,count,name\nfutex,4,apps\nfutex,5,system\n")
        assert population.names == ("apps", "system")

    @pytest.mark.parametrize(
        ("text", "line", "message"),
        [
            ("", "", "the census has no header line; expected a line such as 'site,count'"),
            ("# nothing\n", "", "the census has no header line"),
            ("site,count\n", "", "no row below its header; expected a line such as 'site,count' and below"),
            ("futex,40\n", ":1", "header: unknown column 'futex', limit: site, count, name"),
            ("site,count,sites\n", ":1", "header: unknown column 'sites'"),
            ("site,site,count\n", ":1", "column 'site' is there twice"),
            ("site,kind\n", ":1", "the header has no column 'count'; expected a line such as 'site,count'"),
            ("site,count\nfutex\n", ":2", "row has 1 cells, limit: 2"),
            ("site,count\nfutex,4,5\n", ":2", "row has 3 cells, limit: 2"),
            ("site,count\n\nfutx,4\n", ":3", "site: value 'futx', limit: binder, epoll, select"),
            ("site,count\nfutex,-4\n", ":2", "count: value '-4', limit: a whole number, 0 to 10000000"),
            ("site,count\nfutex,4.5\n", ":2", "count: value '4.5'"),
            ("site,count\nfutex,99999999999999999999\n", ":2", "count: value '9999"),
            ("site,count\nfutex,10000001\n", ":2", "Expected `int` <= 10000000"),
            ("site,count\nfutex,\n", ":2", "count: value missing"),
            ("site,count\n,4\n", ":2", "site: value missing"),
            ("site,count,kind\nfutex,4,kernel\n", ":2", "kind: value 'kernel', limit: user, kfreezable"),
            ("site,count,threads\nfutex,4,0\n", ":2", "Expected `int` >= 1"),
            ("site,count,nfds\nfutex,4,3\n", ":2", "nfds: value 3, limit: only with site = select or poll"),
            (
                "site,count,d_ends_us\nfutex,4,9\n",
                ":2",
                "d_ends_us: value 9.0, limit: only with start = ",
            ),
            ("site,count,wakes_at_us\nfutex,4,x\n", ":2", "wakes_at_us: value 'x', limit: microseconds"),
            ("site,count,wakes_at_us\nfutex,4,nan\n", ":2", "wakes_at_us: value nan, limit: microseconds"),
            ("site,count,wakes_at_us\nfutex,4,-3\n", ":2", "wakes_at_us: value -3.0, limit: microseconds"),
            (
                "site,count,wakes_at_us\nfutex,4,uniform(low_us=0, high_us=5)\n",
                ":2",
                "row has 4 cells, limit: 3, as the header has, and quotes around a cell with commas in it",
            ),
            (
                "site,count,start,waits_on\nfutex,4,,\nother,1,uninterruptible,fuse\n",
                ":3",
                "waits_on: value 'fuse', limit: must name a group: futex, uninterruptible",
            ),
            ("site,count,freeze_run_cycles\nfutex,4,1e3\n", ":2", "a whole number, 0 to 1000000000000"),
            ("site,count,freeze_run_cycles\nfutex,4,1000000000001\n", ":2", "`int` <= 1000000000000"),
            ("site,count,forks_at_us\nfutex,4,1\n", ":1", "waits_on, freeze_run_cycles"),
            ("site,count\nfutex,4\nepoll,1\nfutex,5\n", ":4", "value 'futex' is already on line 2"),
            (b"site,count\n\xff\xfe,4\n", "", "cannot be read as UTF-8 text"),
        ],
    )
    def test_a_mistake_names_file_line_value_and_limit(
        self, tmp_path: Path, text: str | bytes, line: str, message: str
    ) -> None:
        complaint = refused(lambda: self.read(tmp_path, text))
        assert complaint.startswith(f"{tmp_path / 'census.csv'}{line}: ")
        assert message in complaint

    def test_a_file_that_is_not_there_is_named(self, tmp_path: Path) -> None:
        assert "No such file" in refused(lambda: Population.from_census(tmp_path / "none.csv"))
        assert "Is a directory" in refused(lambda: Population.from_census(tmp_path))


PS = """\
    PID    PPID STAT WCHAN                                    COMMAND
      1       0 Ss   ep_poll                                  /sbin/init
      2       0 S    kthreadd                                 [kthreadd]
     10       2 I<   rescuer_thread                           [rcu_gp]
     40       2 S    kswapd                                   [kswapd0]
     41       2 S    some_new_wait                            [kcompactd0]
    400       1 Ssl  futex_wait_queue                         /usr/bin/one --with arguments
    400       1 Ssl  poll_schedule_timeout.constprop.0        /usr/bin/one --with arguments
    500       1 D    request_wait_answer                      ls /mnt
    501       1 T    do_signal_stop                           vim
    502       1 Z    -                                        [sh] <defunct>
    503       1 R    -                                        burn
    504       1 S    odd_wait                                 strange
    900     503 R+   -                                        ps -eLo pid,ppid,stat,wchan:40,args
"""


class TestWaitChannels:
    def test_of_ps_give_site_kind_and_start(self) -> None:
        population = Population.from_wait_channels(PS)
        assert list(population) == [
            TaskGroup(name="epoll", site="epoll"),
            TaskGroup(name="knofreeze", count=2, kind="knofreeze", site="kthread"),
            TaskGroup(name="kfreezable", count=2, kind="kfreezable"),
            TaskGroup(name="futex", site="futex"),
            TaskGroup(name="poll", site="poll"),
            TaskGroup(name="uninterruptible", start="uninterruptible"),
            TaskGroup(name="stopped", start="stopped"),
            TaskGroup(name="zombie", start="zombie"),
            TaskGroup(name="user_mode", start="user_mode"),
            TaskGroup(name="other"),
        ]
        assert population.notes == ("1 task sleeps in odd_wait, which is in no table: counted as other",)

    def test_may_come_from_a_file_its_text_or_its_lines(self, tmp_path: Path) -> None:
        file = tmp_path / "ps.txt"
        file.write_text(PS)
        population = Population.from_wait_channels(PS)
        assert Population.from_wait_channels(file) == population
        assert Population.from_wait_channels(str(file)) == population
        assert Population.from_wait_channels(iter(PS.splitlines())) == population

    def test_without_a_heading_are_pid_state_channel_command(self) -> None:
        population = Population.from_wait_channels(["7 Sl futex_wait_queue app with words", "8 S ep_poll b"])
        assert population.names == ("futex", "epoll")

    def test_may_be_counted(self) -> None:
        lines = [
            "     41 futex_wait_queue_me",
            "7 ep_poll",
            "",
            "3 worker_thread",
            "2 io_schedule",
            "0 pipe_read",
        ]
        population = Population.from_wait_channels(lines, d_ends_us=5)
        assert {group.name: group.count for group in population} == {
            "futex": 41,
            "epoll": 7,
            "knofreeze": 3,
            "uninterruptible": 2,
        }
        assert population.group("uninterruptible").d_ends_us == 5.0

    def test_may_stand_alone(self) -> None:
        lines = [
            "do_sigtimedwait",
            "hrtimer_nanosleep",
            "do_signal_stop",
            "__x64_sys_pause",
            "do_wait.part.0",
        ]
        population = Population.from_wait_channels(lines)
        assert population.names == ("sigtimedwait", "nanosleep", "stopped", "pause", "waitpid")

    @pytest.mark.parametrize(
        ("lines", "message"),
        [
            (
                ["ep_poll", "a b c d"],
                "wait channels:2: value 'a b c d', limit: a channel, a count and a channel",
            ),
            (["two words"], "wait channels:1: value 'two', limit: a count"),
            (["99999999 ep_poll"], "limit: a count of 0 to 10000000"),
            (["7 Q ep_poll x"], "wait channels:1: value '7 Q ep_poll x'"),
            (["PID COMMAND WCHAN", "7 a b"], "column COMMAND has spaces, limit: the last column"),
            (["PID WCHAN", "x ep_poll"], "wait channels:2: value 'x ep_poll'"),
            (["futex_"], "value 'futex_' is cut, limit: whole names, as ps prints with wchan:40"),
            ([], "wait channels: no tasks in it; expected wait channels line by line, such as 'ep_poll'"),
            (["PID WCHAN"], "no tasks in it"),
            (["1 2"], "wait channels:1: '2' stands where a wait channel should, expected a name"),
            (["ep_poll"] * 70_000 + ["1 2"], "wait channels:70001: '2' stands"),
            (["ep_poll", "PID WCHAN", "ep_poll"], "wait channels:3: value 'ep_poll'"),
            ("ep_poll\n" + "x" * 70_000, "wait channels:2: the line has more than 65536 characters"),
            ([7], "value 7, limit: a line of text"),
            (7, "value 7, limit: a path, text or lines of text"),
            ("no/such/file", "no/such/file: cannot be read as UTF-8 text: No such file"),
            (["7 S - a", "8 S - b", "9 S ep_poll c"], "2 of 3 sleeping tasks show no wait channel"),
        ],
    )
    def test_a_mistake_names_line_value_and_limit(self, lines: object, message: str) -> None:
        assert message in refused(lambda: Population.from_wait_channels(lines))

    def test_more_may_be_hidden_when_the_caller_says_so(self) -> None:
        population = Population.from_wait_channels(["1 ep_poll", "1 -"], max_hidden=0.5)
        assert population.names == ("epoll", "other")
        assert "max_hidden=2: must be 0 to 1" in refused(
            lambda: Population.from_wait_channels(["ep_poll"], max_hidden=2)
        )

    def test_are_counted_across_the_pieces_of_a_long_file(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(_census, "_PIECE", 50)
        monkeypatch.setattr(_census, "_REMEMBERED", 2)
        (tmp_path / "ps").write_text(PS * 3)
        population = Population.from_wait_channels(tmp_path / "ps")
        once = Population.from_wait_channels(PS)
        assert population.groups == tuple(replace(group, count=3 * group.count) for group in once)
        assert population.notes[0].startswith("3 tasks sleep in odd_wait")

    def test_mean_by_the_heading_above_them(self) -> None:
        lines = ["PID WCHAN", "7 ep_poll", "WCHAN PID", "ep_poll 7", "ep_poll 8"]
        assert Population.from_wait_channels(lines).group("epoll").count == 3

    def test_many_counted_kernel_threads_take_no_longer_than_one(self) -> None:
        assert Population.from_wait_channels(["10000000 kswapd"]).group("kfreezable").count == 10**7

    def test_unknown_ones_are_named_up_to_a_limit(self, monkeypatch: pytest.MonkeyPatch) -> None:
        lines = [f"wait_{i}" for i in range(30)] + ["wait_7"]
        notes = Population.from_wait_channels(lines).notes
        assert notes[0] == "2 tasks sleep in wait_7, which is in no table: counted as other"
        assert notes[20:] == ("10 tasks sleep in 10 more such channels: counted as other",)
        monkeypatch.setattr(_census, "_MOST_CHANNELS", 20)
        message = refused(lambda: Population.from_wait_channels(lines))
        assert message == "wait channels:21: more than 20 different wait channels: no kernel has so many"

    def test_a_few_hidden_ones_are_noted(self) -> None:
        population = Population.from_wait_channels(["19 ep_poll", "1 0"])
        assert population.notes == ("1 of 20 sleeping tasks show no channel: counted as other",)

    def test_table_names_known_sites_only(self) -> None:
        assert set(_wchan.SITE_OF.values()) <= set(SITES)
        tables = (set(_wchan.SITE_OF), _wchan.STOPPED, _wchan.UNINTERRUPTIBLE)
        tables += (_wchan.KERNEL_THREADS, _wchan.FREEZABLE_THREADS)
        assert sum(map(len, tables)) == len(set().union(*tables))

    @pytest.mark.parametrize(
        "site", ["binder", "epoll", "poll", "select", "futex", "nanosleep", "sigtimedwait", "af_unix"]
    )
    def test_table_reaches_every_converted_site(self, site: str) -> None:
        assert site in _wchan.SITE_OF.values()


KTHREAD, NOFREEZE = 0x00200000, 0x00008000


def proc(root: Path, *tasks: tuple[int, int, str, str, int, str]) -> Path:
    for pid, tid, command, state, flags, channel in tasks:
        folder = root / str(pid) / "task" / str(tid)
        folder.mkdir(parents=True)
        (folder / "stat").write_text(f"{tid} ({command}) {state} 1 1 1 0 -1 {flags} 100 0 0 0\n")
        (folder / "wchan").write_text(channel)
    (root / "self").mkdir(exist_ok=True)
    (root / "uptime").write_text("1 1")
    return root


class TestProc:
    def test_gives_every_thread_by_flags_state_and_channel(self, tmp_path: Path) -> None:
        root = proc(
            tmp_path,
            (1, 1, "init", "S", 0x400100, "ep_poll"),
            (2, 2, "kthreadd", "S", KTHREAD | NOFREEZE, "kthreadd"),
            (30, 30, "jbd2/sda", "S", KTHREAD, "kjournald2"),
            (400, 400, "app", "S", 0, "futex_wait_queue"),
            (400, 401, "a) S (b", "S", 0, "futex_wait_queue"),
            (500, 500, "dd", "D", 0, "io_schedule"),
            (501, 501, "burn", "R", 0, "0"),
            (502, 502, "sh", "Z", 0, "0"),
            (503, 503, "vim", "T", 0, "do_signal_stop"),
        )
        population = Population.from_proc(root, d_ends_us="exponential(mean_us=300)")
        assert list(population) == [
            TaskGroup(name="epoll", site="epoll"),
            TaskGroup(name="knofreeze", kind="knofreeze", site="kthread"),
            TaskGroup(name="kfreezable", kind="kfreezable"),
            TaskGroup(name="futex", count=2, site="futex"),
            TaskGroup(name="uninterruptible", start="uninterruptible", d_ends_us=Exponential(mean_us=300)),
            TaskGroup(name="user_mode", start="user_mode"),
            TaskGroup(name="zombie", start="zombie"),
            TaskGroup(name="stopped", start="stopped"),
        ]

    def test_refuses_hidden_channels(self, tmp_path: Path) -> None:
        root = proc(tmp_path, (1, 1, "init", "S", 0, "0"), (7, 7, "mine", "S", 0, "ep_poll"))
        message = refused(lambda: Population.from_proc(root))
        assert "1 of 2 sleeping tasks show no wait channel, limit: 10 % of them" in message
        assert Population.from_proc(root, max_hidden=0.5).group("other").count == 1

    def test_leaves_out_tasks_that_end_meanwhile(self, tmp_path: Path) -> None:
        root = proc(tmp_path, (1, 1, "init", "S", 0, "ep_poll"), (7, 7, "gone", "S", 0, "ep_poll"))
        (root / "7/task/7/stat").unlink()
        (root / "8").mkdir()
        assert Population.from_proc(root).task_count == 1

    def test_refuses_a_line_that_is_no_stat(self, tmp_path: Path) -> None:
        root = proc(tmp_path, (1, 1, "init", "S", 0, "ep_poll"))
        (root / "1/task/1/stat").write_text("1 (init) S 1")
        assert "1/task/1/stat: value '1 (init) S 1', limit: a line of at least nine fields" in refused(
            lambda: Population.from_proc(root)
        )

    def test_refuses_a_folder_without_tasks(self, tmp_path: Path) -> None:
        assert "no tasks in it: expected folders PID/task/TID" in refused(
            lambda: Population.from_proc(tmp_path)
        )


@pytest.mark.parametrize("name", sorted(cases.CASES))
def test_every_field_case_goes_with_a_population(name: str) -> None:
    groups = cases.CASES[name]()
    population = Population.from_board(Board.load("toy")) + groups
    assert population.groups[3:] == groups
    assert name in cases.__all__


def test_a_fuse_daemon_may_answer_before_it_is_frozen() -> None:
    client, daemon = cases.fuse_client(reply_after_cycles=4000)
    assert (client.waits_on, daemon.start, daemon.reply_after_cycles) == ("fuse-daemon", "user_mode", 4000)
