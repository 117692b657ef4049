# SPDX-License-Identifier: MIT
"""Task populations read from censuses, wait channels and running systems."""

from dataclasses import replace
from pathlib import Path

import pytest

from refusals import refused
from torpor.board import Board
from torpor.distributions import Exponential, Uniform
from torpor.freezer import _census, _wchan
from torpor.freezer.population import Population, TaskGroup
from torpor.freezer.runs import Runs
from torpor.freezer.scenario import Scenario
from torpor.freezer.tasks import SITES


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

    @pytest.mark.parametrize(
        ("row", "notes"),
        [
            (
                "other,3,uninterruptible,,",
                ("3 tasks in D never end: every freeze of them fails at the timeout",),
            ),
            ("other,3,uninterruptible,900,", ()),
            ("other,0,uninterruptible,,", ()),
            ("other,3,uninterruptible,,knofreeze", ()),
        ],
    )
    def test_tasks_in_d_that_never_end_are_noted(self, tmp_path: Path, row: str, notes: tuple[str]) -> None:
        text = f"site,count,start,d_ends_us,kind\nfutex,5,,,\n{row}\n"
        assert self.read(tmp_path, text).notes == notes

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
        assert population.notes == (
            "1 task in D never ends: every freeze of it fails at the timeout",
            "1 task sleeps in odd_wait, which is in no table: counted as other",
        )

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
        assert population.notes[0].startswith("3 tasks in D never end")
        assert population.notes[1].startswith("3 tasks sleep in odd_wait")

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

    def test_tasks_in_d_that_never_end_are_noted(self) -> None:
        lines = ["3 io_schedule", "2 ep_poll", "1 odd_wait"]
        assert Population.from_wait_channels(lines).notes == (
            "3 tasks in D never end: every freeze of them fails at the timeout",
            "1 task sleeps in odd_wait, which is in no table: counted as other",
        )
        assert len(Population.from_wait_channels(lines, d_ends_us=5).notes) == 1

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

    def test_notes_the_one_task_in_d_that_never_ends(self, tmp_path: Path) -> None:
        root = proc(tmp_path, (1, 1, "init", "S", 0, "ep_poll"), (5, 5, "dd", "D", 0, "io_schedule"))
        note = "1 task in D never ends: every freeze of it fails at the timeout"
        assert Population.from_proc(root).notes == (note,)
        assert Population.from_proc(root, d_ends_us=300).notes == ()

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
