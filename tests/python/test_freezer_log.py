# SPDX-License-Identifier: MIT
"""Reader of kernel log lines about freezing: every era's forms, offenders, the sleep check, tables."""

from typing import Any

import pytest

from freezer_log_text import DUMPED, EVERY_FORM, FAILED, GOOD, only, read
from torpor import ConfigError
from torpor.importers import sleep_quantum


def offender(trace: str, task: str = DUMPED):
    return only(FAILED + task + trace).offenders[0]


# --- the forms of every era


def test_every_form_becomes_an_attempt_with_its_result():
    log = read(EVERY_FORM)
    assert [(c.result, c.loop, c.user_ms, c.kernel_ms, c.failure_ms) for c in log.cycles] == [
        ("frozen", None, 3, 2, None),
        ("failed", "kernel", 30, 20006, 20006),
        ("aborted", None, None, None, 4120),
        ("failed", "kernel", None, 20001, 20001),
        ("incomplete", None, 10, None, None),
        ("failed", "user", 20003, None, 20003),
    ]
    assert [c.resolution_ms for c in log.cycles] == [1, 10, 1, 1, 1, 1]
    assert [c.refusing for c in log.cycles] == [None, 3, 1, 0, None, 1]
    assert [c.wq_busy for c in log.cycles] == [None, False, False, True, None, False]
    assert [c.time_s for c in log.cycles] == [50.1, 100.2, 200.441, 300.001, 400.01, 500.003]
    assert [o.name for c in log.cycles for o in c.offenders] == ["cp", "app"]
    assert (log.lines, log.recognised, log.bad) == (12, 11, ())


@pytest.mark.parametrize(
    ("text", "era"),
    [
        ("Freezing user space processes ... (elapsed 0.01 seconds) done.", "up to 3.10"),
        (GOOD, "3.11 to 6.2"),
        ("Freezing user space processes ... \n" + FAILED, "3.11 to 6.2"),
        ("Freezing user space processes\n" + FAILED, "about 6.2, 6.1 stable"),
        (EVERY_FORM[EVERY_FORM.index("[  500") :], "later 6.x"),
        ("Freezing of tasks aborted after 0.000 seconds", "vendor 3.10"),
        (FAILED, None),
    ],
)
def test_the_era_follows_from_the_forms(text: str, era: str | None):
    assert only(text).era == era


def test_hundredths_are_ten_milliseconds():
    cycle = only("Freezing user space processes ... (elapsed 1.25 seconds) done.")
    assert (cycle.user_ms, cycle.resolution_ms) == (1250, 10)


def test_a_loop_that_has_started_tells_which_one_failed():
    start = "Freezing user space processes ... \n"
    done = "Freezing user space processes ... (elapsed 0.001 seconds) done.\n"
    kernel = "Freezing remaining freezable tasks ... \n"
    assert only(start + FAILED).loop == "user"
    assert only(done + kernel + FAILED).loop == "kernel"
    assert only(FAILED).loop is None


def test_the_kernel_loop_alone_means_that_all_is_frozen():
    cycle = only("Freezing remaining freezable tasks ... (elapsed 0.002 seconds) done.")
    assert (cycle.result, cycle.user_ms, cycle.kernel_ms) == ("frozen", None, 2)


def test_a_torn_line_is_put_together():
    cycle = only(
        "[1.0] Freezing user space processes ... \n[1.1] usb 1-1: new device\n"
        "[1.2] (elapsed 0.150 seconds) done.\n[1.3] Freezing remaining freezable tasks ... \n"
        "[1.4] (elapsed 0.002 seconds) done.\n"
    )
    assert (cycle.result, cycle.user_ms, cycle.kernel_ms) == ("frozen", 150, 2)


def test_the_oldest_abort_has_no_time():
    cycle = only("Freezing user space processes ... \nFreezing of user space  aborted\n")
    assert (cycle.result, cycle.loop, cycle.failure_ms) == ("aborted", "user", None)


def test_a_vendor_abort_has_its_wakeup_source():
    cycle = only(
        "Freezing user space processes ... \nFreezing of tasks aborted after 0.000 seconds\n"
        "Abort: Pending Wakeup Sources: alarmtimer\n"
    )
    assert (cycle.result, cycle.wakeup_source, cycle.kind) == (
        "aborted",
        "alarmtimer",
        "wakeup during freeze",
    )


def test_attempts_in_a_loop_are_kept_apart():
    text = (
        "Restarting tasks: Starting\nRestarting tasks: Done\nFreezing user space processes\n"
        "Freezing user space processes failed after 20.003 seconds (1 tasks refusing to freeze, wq_busy=0):\n"
        "OOM killer enabled.\n"
    )
    log = read(text * 40)
    assert len(log.cycles) == 40
    assert {c.result for c in log.cycles} == {"failed"}
    assert [c.thawed for c in log.cycles] == [True] * 39 + [False]


# --- companions


def test_entry_sync_and_thaw_belong_to_the_attempt():
    cycle = only(
        "PM: suspend entry (s2idle)\nFilesystems sync: 1.002 seconds\n"
        + GOOD
        + "OOM killer enabled.\nRestarting tasks ... done.\nPM: suspend exit\n"
    )
    assert (cycle.entry, cycle.sync_ms, cycle.thawed) == ("s2idle", 1002, True)


def test_an_entry_with_a_date_has_no_kind():
    assert only("PM: suspend entry 2013-04-29 10:00:00.123456789 UTC\n" + GOOD).entry is None


def test_entries_that_never_come_to_freezing_are_counted():
    log = read("PM: suspend entry (deep)\nPM: suspend exit\nPM: suspend entry (deep)\n" + GOOD)
    assert (log.entries, log.stalled_entries) == (2, 1)


def test_a_unit_that_the_service_manager_could_not_freeze_is_named():
    cycle = only(
        "Jun 02 03:40:31 h systemd-sleep[57]: Failed to freeze unit 'user.slice': Connection timed out\n"
        "Jun 02 03:40:31 h kernel: PM: suspend entry (deep)\n" + FAILED + DUMPED
    )
    assert cycle.frozen_unit == "user.slice"
    assert (cycle.kind, cycle.offenders[0].evidence) == ("two-level freeze", "service manager")


# --- offenders


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("cp              D    0  1234   1200 0x00000004", ("cp", 1234, "D")),
        ("sh              D c0012340     0   123      1 0x00000000", ("sh", 123, "D")),
        ("sh              D 80012340     0   123      1 0x00000000", ("sh", 123, "D")),
        ("Web Content     D ffff880123456789     0   77      1 0x00000004", ("Web Content", 77, "D")),
        ("spin            R  running task        0   88      1 0x00000008", ("spin", 88, "R")),
        ("task:a b             state:D stack:    0 pid:  9 ppid:  1 flags:0x00004006", ("a b", 9, "D")),
        (
            "task:(sd-pam)        state:S stack:0     pid:9     tgid:8     ppid:1 flags:0x2",
            ("(sd-pam)", 9, "S"),
        ),
        (
            "task:x state:R  running task     stack:    0 pid:    7 ppid:     1 flags:0x00004008",
            ("x", 7, "R"),
        ),
        ("task:x state:D stack:0 pid:7 tgid:7 ppid:1 task_flags:0x400040 flags:0x6", ("x", 7, "D")),
    ],
)
@pytest.mark.parametrize("prefix", ["", "[   12.345678] ", "Nov 30 10:00:00 host kernel: "])
def test_offenders_of_every_era_are_read(prefix: str, line: str, expected: tuple[str, int, str]):
    one = only(prefix + FAILED + prefix + line).offenders[0]
    assert (one.name, one.pid, one.state) == expected


def test_task_dumps_elsewhere_are_no_offenders():
    assert only(DUMPED + FAILED + "Restarting tasks ... done.\n" + DUMPED).offenders == ()


def test_a_dump_of_the_hung_task_watchdog_is_no_offender():
    cycle = only(FAILED + DUMPED + "INFO: task x:7 blocked for more than 122 seconds.\n" + DUMPED)
    assert len(cycle.offenders) == 1


def test_the_top_frame_is_the_first_below_the_scheduler():
    one = offender(
        "Call Trace:\n <TASK>\n ? stale+0x1/0x2\n __schedule+0x2e7/0x10c0\n schedule+0x4b/0xc0\n"
        " request_wait_answer+0xa1/0x210 [fuse d021fe9a]\n ? wait_woken+0x70/0x70\n"
    )
    assert one.top_frame == "request_wait_answer [fuse]"
    assert one.frames == ("__schedule", "schedule", "request_wait_answer [fuse]")


def test_frames_in_doubt_are_taken_where_there_are_no_others():
    assert offender(" ? __schedule+0x57/0x6d6\n ? io_wq_manager+0x73/0xb1\n").top_frame == "io_wq_manager"


@pytest.mark.parametrize(
    "trace",
    [
        "[<c1048094>] (__schedule) from [<c104857c>] (schedule+0x48/0xd0)\n"
        "[<c104857c>] (schedule) from [<c043f440>] (io_schedule+0x1/0x2)\n"
        "[<c043f440>] (folio_wait_bit_common) from [<c0>] (x+0x1/0x2)\n",
        " __schedule from schedule+0x60/0xd0\n schedule from folio_wait_bit_common+0x1/0x2\n"
        " folio_wait_bit_common from x+0x1/0x2\n",
        "[<ffffffff81>] __schedule+0x29/0x70\n[<ffffffff82>] folio_wait_bit_common.constprop.0+0x1/0x2\n",
    ],
)
def test_traces_of_other_machines_are_read(trace: str):
    assert offender(trace).top_frame == "folio_wait_bit_common"


@pytest.mark.parametrize(
    ("frames", "kind"),
    [
        (["request_wait_answer", "fuse_do_getattr"], "FUSE client"),
        (["folio_wait_bit_common", "filemap_fault", "__do_fault"], "page fault or page wait"),
        (["request_wait_answer", "fuse_readahead", "filemap_fault"], "page fault or page wait"),
        (["wait_on_page_bit"], "page fault or page wait"),
        (["folio_wait_bit_common", "filemap_read", "nfs_file_read"], "NFS or SMB server"),
        (["rpc_wait_bit_killable", "__rpc_execute"], "NFS or SMB server"),
        (["cifs_call_async"], "NFS or SMB server"),
        (["autofs_wait", "autofs_mount_wait"], "automount or security module"),
        (["snd_pcm_drain"], "audio playback"),
        (["submit_bio_wait"], "unknown"),
    ],
)
def test_the_class_follows_from_the_trace(frames: list[str], kind: str):
    one = offender("".join(f" {frame}+0x1/0x2\n" for frame in ["__schedule", *frames]))
    assert (one.kind, one.evidence) == (kind, "" if kind == "unknown" else "frame")


def test_a_running_task_is_a_spinning_helper():
    one = offender("", "task:tee-supplicant  state:R stack:0 pid:9 ppid:1 flags:0x0")
    assert (one.kind, one.evidence) == ("spinning helper", "state")


def test_a_name_tells_the_class_where_there_is_no_trace():
    one = offender("", "sshfs           D    0  1234   1200 0x00000004")
    assert (one.kind, one.evidence) == ("FUSE client", "name")


def test_busy_workqueues_are_named_with_their_work():
    cycle = only(
        "Freezing of tasks failed after 20.008 seconds (0 tasks refusing to freeze, wq_busy=1):\n"
        "Showing busy workqueues and worker pools:\n"
        "workqueue usb_hub_wq: flags=0x4\n"
        "  pwq 2: cpus=1 node=0 flags=0x0 nice=0 active=2/256 refcnt=18\n"
        "    in-flight: 123:hub_event, 45(RESCUER):hub_retry for 5s\n"
        "    delayed: wb_workfn\n"
        "workqueue writeback: flags=0x4a\n"
        "pool 2: cpus=1 node=0 flags=0x0 nice=0 hung=20s workers=3 idle: 20 21\n"
    )
    assert [(q.name, q.in_flight, q.waiting) for q in cycle.workqueues] == [
        ("usb_hub_wq", ("hub_event", "hub_retry"), ("wb_workfn",)),
        ("writeback", (), ()),
    ]
    assert (cycle.kind, cycle.loop) == ("workqueue busy", "kernel")


# --- the sleep check


@pytest.mark.parametrize(
    ("elapsed_ms", "options", "explanation"),
    [
        (20000, {}, "fits either"),
        (20017, {}, "fits either"),
        (20018, {}, "cannot tell"),
        (20019, {}, "fits msleep"),
        (20013, {"hz": 250}, "fits msleep"),
        (20011, {"hz": 250}, "fits either"),
        (19999, {}, "other timeout"),
        (5003, {"timeout_ms": 5000}, "fits either"),
        (20500, {}, "cannot tell"),
        (25500, {}, "other timeout"),
        (20006, {"era": "3.11 to 6.2"}, "fits the backoff"),
        (20017, {"era": "later 6.x"}, "fits the backoff"),
        (20018, {"era": "about 6.2, 6.1 stable"}, "cannot tell"),
        (20019, {"era": "later 6.x"}, "fits msleep"),
        (20006, {"era": "up to 3.10"}, "fits msleep"),
        (20006, {"era": "vendor 3.10"}, "fits either"),
        (20000, {"resolution_ms": 10}, "fits msleep"),
        (20010, {"resolution_ms": 10, "era": "up to 3.10"}, "fits msleep"),
        (20010, {"resolution_ms": 10, "era": "later 6.x"}, "cannot tell"),
        (20000, {"resolution_ms": 10, "era": "later 6.x"}, "fits the backoff"),
        (20020, {"resolution_ms": 10, "era": "later 6.x"}, "fits msleep"),
        (20000, {"resolution_ms": 10, "timeout_ms": 20005}, "fits msleep"),
        (19990, {"resolution_ms": 10}, "other timeout"),
    ],
)
def test_the_sleep_check_tells_policies_apart(elapsed_ms: int, options: dict[str, Any], explanation: str):
    assert sleep_quantum(elapsed_ms, **options).explanation == explanation


@pytest.mark.parametrize(
    ("elapsed_ms", "ok"), [(20006, True), (20018, None), (20019, False), (20500, None), (25500, False)]
)
def test_the_sleep_check_has_no_verdict_where_none_can_be_told(elapsed_ms: int, ok: bool | None):
    assert sleep_quantum(elapsed_ms, era="later 6.x").ok is ok
    assert sleep_quantum(20_006).ok is None


HUNDREDTHS = FAILED.replace("20.008", "20.01")


def test_a_kernel_that_prints_hundredths_has_no_backoff():
    log = read(HUNDREDTHS)
    check = log.cycles[0].sleep_quantum
    assert (log.cycles[0].era, check.explanation, check.ok) == ("up to 3.10", "fits msleep", False)
    text = " ".join(str(log).split())
    assert "+10 to +19 ms" in text
    assert "where both fit, the excess proves nothing" in text
    assert log.to_json()["cycles"][0]["sleep_quantum"] == {
        "excess_ms": 10,
        "limit_ms": 18.0,
        "explanation": "fits msleep",
        "implied_timeout_ms": None,
        "resolution_ms": 10,
        "ok": False,
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"resolution_ms": 0}, "resolution_ms=0 is outside 1..10"),
        ({"resolution_ms": 11}, "resolution_ms=11 is outside 1..10"),
        ({"era": "4.x"}, "era='4.x': unknown; known: up to 3.10, "),
    ],
)
def test_the_sleep_check_refuses_a_unit_or_era_that_no_kernel_has(options: dict[str, Any], message: str):
    with pytest.raises(ConfigError, match=message):
        sleep_quantum(20_006, **options)


def test_another_timeout_is_named_in_whole_seconds():
    check = only(FAILED.replace("20.008", "60.002")).sleep_quantum
    assert (check.explanation, check.implied_timeout_ms) == ("other timeout", 60000)


def test_an_abort_has_no_sleep_check():
    assert only(FAILED.replace("failed", "aborted")).sleep_quantum is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hz": 0}, "hz=0 is outside 1..10000"),
        ({"hz": 10_001}, "hz=10001 is"),
        ({"timeout_ms": 0}, "timeout_ms=0 is"),
        ({"timeout_ms": 2**32}, "timeout_ms=4294967296 is outside 1..4294967295"),
    ],
)
def test_parameters_out_of_range_are_refused(options: dict[str, int], message: str):
    with pytest.raises(ConfigError, match=message):
        read(GOOD, **options)


@pytest.mark.parametrize("options", [{"hz": 1}, {"hz": 10_000}, {"timeout_ms": 1}, {"timeout_ms": 2**32 - 1}])
def test_the_least_and_largest_parameters_are_taken(options: dict[str, int]):
    assert only(FAILED, **options).sleep_quantum is not None


# --- tables


def test_the_frame_has_a_row_per_attempt_with_gaps():
    frame = read(EVERY_FORM).to_frame()
    assert frame["user_ms"].isna().tolist() == [False, False, True, True, False, False]
    assert (frame["sleep_ok"][1], frame["sleep_ok"][5]) == (False, True)
    assert frame["sleep_ok"].isna().tolist() == [True, False, True, True, True, False]
    assert frame["offenders"].tolist() == [0, 1, 0, 0, 0, 1]


def test_the_frame_of_offenders_is_there_without_any():
    assert list(read(GOOD).offenders_frame().columns)[:3] == ["attempt", "line", "name"]
    assert len(read(EVERY_FORM).offenders_frame()) == 2


def test_the_repr_counts_results():
    assert repr(read(EVERY_FORM)) == (
        "FreezerLog('t', cycles=6, frozen=1, failed=3, aborted=1, incomplete=1, lines=12, bad=0)"
    )


def test_tables_are_no_wider_than_a_page_and_have_no_empty_columns():
    frames = "".join(f" {name}+0x1/0x2\n" for name in ["__schedule", "a_very_long_name_of_a_function_" * 2])
    dump = DUMPED.replace("stat ", "a b c d e f g h")
    busy = "workqueue events_freezable_power_: flags=0x4\n    in-flight: " + ", ".join(["7:work"] * 20)
    text = str(
        read(
            "PM: suspend entry (s2idle)\n"
            + EVERY_FORM.replace("failed after 20.006", "failed after 20.106")
            + FAILED
            + dump
            + frames
            + "\n"
            + FAILED.replace("busy=0", "busy=1")
            + busy
        )
    )
    assert max(map(len, text.splitlines())) <= 110
    attempts = read(GOOD).report().tables[1]
    assert [column.name for column in attempts.columns] == [
        *("attempt", "line", "time", "result", "user", "kernel", "unit", "thawed")
    ]
    assert len(read(GOOD).report().tables) == 2
