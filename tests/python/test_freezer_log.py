# SPDX-License-Identifier: MIT
"""Reader of kernel log lines about freezing: every era's forms, whatever surrounds them, damage reported."""

import bz2
import gzip
import io
import json
import lzma
import random
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from torpor import ConfigError, cli
from torpor.importers import FreezerLog, read_freezer_log, sleep_quantum
from torpor.importers._log_text import LogDamage, log_lines

LOGS = Path(__file__).parents[1] / "data" / "freezer-log"
REAL = LOGS / "x86-1cpu-sites.dmesg.txt.gz"

GOOD = """\
[   50.100000] Freezing user space processes ... (elapsed 0.003 seconds) done.
[   50.104000] Freezing remaining freezable tasks ... (elapsed 0.002 seconds) done.
"""
# Values are made up, shapes are real.
EVERY_FORM = f"""\
{GOOD}[  100.200000] Freezing user space processes ... (elapsed 0.03 seconds) done.
[  120.006500] Freezing of tasks failed after 20.006 seconds (3 tasks refusing to freeze, wq_busy=0):
[  120.006600] cp              D    0  1234   1200 0x00000004
[  200.441000] Freezing of tasks aborted after 4.120 seconds (1 tasks refusing to freeze, wq_busy=0):
[  300.001000] Freezing of tasks failed after 20.001 seconds (0 tasks refusing to freeze, wq_busy=1):
[  400.010000] Freezing user space processes
[  400.020000] Freezing user space processes completed (elapsed 0.010 seconds)
[  500.003000] Freezing user space processes failed after 20.003 seconds (1 tasks refusing to freeze, \
wq_busy=0):
[  500.003100] task:app             state:D stack:0     pid:901   tgid:901   ppid:1      \
task_flags:0x400040 flags:0x00004006
"""
FAILED = "Freezing of tasks failed after 20.008 seconds (1 tasks refusing to freeze, wq_busy=0):\n"
DUMPED = "task:stat            state:D stack:    0 pid: 6001 ppid:  2341 flags:0x00004004\n"


def read(text: str | bytes, **options: int) -> FreezerLog:
    data = text.encode() if isinstance(text, str) else text
    return FreezerLog.from_lines(data.split(b"\n"), "t", **options)


def only(text: str | bytes, **options: int):
    log = read(text, **options)
    assert len(log.cycles) == 1
    return log.cycles[0]


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
        (20000, {}, "backoff"),
        (20018, {}, "backoff"),
        (20019, {}, "msleep or other policy"),
        (20013, {"hz": 250}, "msleep or other policy"),
        (20012, {"hz": 250}, "backoff"),
        (19999, {}, "other timeout"),
        (5003, {"timeout_ms": 5000}, "backoff"),
        (20500, {}, "msleep or other policy"),
        (25500, {}, "other timeout"),
    ],
)
def test_the_sleep_check_tells_policies_apart(elapsed_ms: int, options: dict[str, int], explanation: str):
    assert sleep_quantum(elapsed_ms, **options).explanation == explanation


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


# --- what stands before a line


@pytest.mark.parametrize(
    ("prefix", "time_s"),
    [
        ("", None),
        ("[   12.345678] ", 12.345678),
        ("<6>[   12.345678] ", 12.345678),
        ("[   12.345678,0] ", 12.345678),
        ("[   12.345678][  T123] ", 12.345678),
        ("[   12.345678] [    C0] ", 12.345678),
        ("[   12.345678 <    0.000012>] ", 12.345678),
        ("[   12.345678] host kernel: ", 12.345678),
        ("Nov 30 10:00:00 host kernel: ", None),
        ("Nov 30 10:00:00 host kernel: [   12.345678] ", 12.345678),
        ("2025-11-30T10:00:00.123456+01:00 host kernel: [   12.345678] ", 12.345678),
        ("2020-10-01 16:50:33.712000  <3>[   12.345678] ", 12.345678),
        ("[Sun Nov 30 10:00:00 2025] ", None),
        ("\x1b[32m[   12.345678] \x1b[0m", 12.345678),
        ("11-30 10:00:00.123     0     0 I         : [   12.345678] ", 12.345678),
        ("11-30 10:00:00.123  root     0     0 I ", None),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_prefixes_are_understood(prefix: str, time_s: float | None, end: str):
    lines = [
        GOOD.splitlines()[0].split("] ")[1],
        FAILED.strip(),
        "cp              D    0  1234   1200 0x00000004",
    ]
    cycle = only("".join(prefix + line + end for line in lines))
    assert (cycle.user_ms, cycle.time_s, cycle.result) == (3, time_s, "failed")
    assert [one.name for one in cycle.offenders] == ["cp"]


def test_a_program_that_quotes_a_line_is_not_the_kernel():
    assert len(read(f"Nov 30 10:00:00 h bot[12]: {FAILED}{GOOD}").cycles) == 1


# --- bad lines


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("Freezing user space processes ... (elapsed 0.0x seconds) done.", "elapsed time '0.0x'"),
        ("Freezing user space processes ... (elapsed 0.1 seconds) done.", "elapsed time '0.1'"),
        ("Freezing user space processes ... (elapsed 0.00", "no readable elapsed"),
        ("Freezing user space processes ... done.", "no readable elapsed"),
        ("Freezing user space processes ... usb 1-1: new", "an unknown form"),
        ("Freezing remaining freezable tasks completed (elapsed", "no readable elapsed"),
        ("Freezing of tasks", "neither failed nor aborted"),
        ("Freezing of tasks failed after 20.0", "no readable elapsed"),
        ("Freezing of tasks failed after 20.008 seconds", "no number of tasks"),
        (FAILED.replace("1 tasks", "-1 tasks").strip(), "no readable"),
        (FAILED.replace("1 tasks", "0 tasks").strip(), "nothing refused"),
        (FAILED.replace("busy=0", "busy=7").strip(), "wq_busy=7"),
        (
            FAILED.replace("of tasks", "user space processes").replace("busy=0", "busy=1").strip(),
            "loop",
        ),
        (
            "Freezing of tasks failed after " + "9" * 5000 + ".000 seconds (1 tasks refusing to freeze):",
            "elapsed",
        ),
    ],
)
def test_a_bad_line_is_reported_with_its_number(line: str, reason: str):
    log = read(f"{GOOD}{line}\n{GOOD}")
    assert len(log.bad) == 1
    assert log.bad[0].line == 3
    assert reason in log.bad[0].reason
    assert log.bad[0].text == line[:160]
    assert log.count("frozen") >= 2


def test_what_a_bad_line_still_tells_is_kept():
    log = read("Freezing user space processes ... \nFreezing of tasks failed after 20.008 seconds (1 ta\n")
    assert (log.cycles[0].result, log.cycles[0].failure_ms, log.cycles[0].loop) == ("failed", 20008, "user")


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        (FAILED.replace("of tasks", "user space processes").replace("busy=0", "busy=1"), (1, None)),
        (FAILED.replace("1 tasks", "0 tasks"), (None, None)),
    ],
)
def test_numbers_that_contradict_the_rest_of_a_line_are_not_passed_on(line: str, kept: tuple[int, None]):
    cycle = only(line)
    assert (cycle.refusing, cycle.wq_busy) == kept
    assert (cycle.result, cycle.failure_ms, cycle.kind) == ("failed", 20008, "unknown")


def test_time_that_goes_back_is_noted_with_its_lines():
    log = read("\n".join(reversed(EVERY_FORM.splitlines())))
    assert log.time_falls == (3, 4, 5, 6, 8, 9, 10, 11)
    assert log.to_json()["time_falls"] == list(log.time_falls)
    assert "Time goes back at lines 3, 4, 5, 6, 8 and 3 more: " in str(log)
    assert read(EVERY_FORM).time_falls == ()
    assert "Time goes back" not in str(read(EVERY_FORM))


def test_a_log_that_counts_more_tasks_than_it_names_is_noted():
    text = str(read(FAILED.replace("1 tasks", "3 tasks") + DUMPED + DUMPED))
    assert "attempt 1 (3 refusing, 2 named)" in text
    assert "does not name" not in str(read(FAILED + DUMPED))
    assert "does not name" not in str(read(FAILED.replace("failed", "aborted")))


def test_an_offender_without_pid_is_bad():
    log = read(FAILED + "task:x state:D stack:0 pi\n")
    assert [(bad.line, log.cycles[0].offenders) for bad in log.bad] == [(2, ())]


def test_text_that_is_no_utf8_and_escapes_do_no_harm():
    log = read(b"\xff\xfe\x00[1.0] Freezing user space processes ... \x1b]0;x\x07\xff\n")
    assert all(character.isprintable() for character in log.bad[0].text)


# --- files


def _arrow(kind: str) -> Callable[[bytes], bytes]:
    def pack(data: bytes) -> bytes:
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, kind) as stream:
            stream.write(data)
        return bytes(sink.getvalue())

    return pack


PACKS = [gzip.compress, bz2.compress, lzma.compress, _arrow("zstd"), _arrow("lz4")]


@pytest.mark.parametrize("pack", [bytes, *PACKS])
def test_compression_is_told_by_content(tmp_path: Path, pack: Callable[[bytes], bytes]):
    (tmp_path / "log.txt").write_bytes(pack(EVERY_FORM.encode()))
    assert len(read_freezer_log(tmp_path / "log.txt").cycles) == 6


@pytest.mark.parametrize("pack", PACKS)
def test_a_file_that_is_cut_off_keeps_what_came_before(tmp_path: Path, pack: Callable[[bytes], bytes]):
    noise = random.Random(1).randbytes(1_000_000).hex("\n", 32)
    data = pack((GOOD + noise).encode())
    (tmp_path / "log").write_bytes(data[: len(data) * 98 // 100])
    log = read_freezer_log(tmp_path / "log")
    assert log.count("frozen") == 1
    assert len(log.bad) == 1
    assert "cut off" in log.bad[0].reason


def test_a_damaged_gzip_file_is_one_bad_entry(tmp_path: Path):
    data = bytearray(gzip.compress(EVERY_FORM.encode()))
    data[-8] ^= 1  # the checksum
    (tmp_path / "log.gz").write_bytes(data)
    log = read_freezer_log(tmp_path / "log.gz")
    assert (len(log.cycles), len(log.bad)) == (6, 1)


@pytest.mark.parametrize("kind", ["zstd", "lz4"])
def test_all_that_was_unpacked_before_the_cut_is_read(tmp_path: Path, kind: str):
    lines = random.Random(1).randbytes(1_000_000).hex("\n", 32).encode().splitlines()
    data = _arrow(kind)(b"\n".join(lines))
    (tmp_path / "log").write_bytes(data[: len(data) // 2])
    read: list[bytes] = []
    with pytest.raises(LogDamage, match=f"the {kind} data is damaged or cut off"):
        read += log_lines(tmp_path / "log")
    assert read == lines[: len(read)]
    block = 256 * 1024  # a block that is not whole cannot be unpacked
    assert 65 * (len(lines) // 2 - len(read)) < block


@pytest.mark.parametrize("kind", ["zstd", "lz4"])
def test_several_frames_in_a_row_are_one_log(tmp_path: Path, kind: str):
    pack = _arrow(kind)
    (tmp_path / "log").write_bytes(pack(GOOD.encode()) + pack(GOOD.encode()))
    assert read_freezer_log(tmp_path / "log").count("frozen") == 2


@pytest.mark.parametrize("kind", ["zstd", "lz4"])
def test_what_follows_a_frame_and_is_none_is_damage(tmp_path: Path, kind: str):
    (tmp_path / "log").write_bytes(_arrow(kind)(f"{GOOD}{'-' * 64}\n".encode()) + b"something else")
    log = read_freezer_log(tmp_path / "log")
    assert (log.count("frozen"), len(log.bad)) == (1, 1)
    assert f"the {kind} data is damaged" in log.bad[0].reason


@pytest.mark.parametrize("kind", ["zstd", "lz4"])
def test_a_frame_of_nothing_but_its_first_bytes_is_one_clear_error(tmp_path: Path, kind: str):
    (tmp_path / "log").write_bytes(_arrow(kind)(GOOD.encode())[:5])
    with pytest.raises(ConfigError, match=f"no line about freezing among 0 lines; the {kind} data is"):
        read_freezer_log(tmp_path / "log")


def test_a_pyarrow_without_a_compression_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "log").write_bytes(_arrow("zstd")(GOOD.encode()))
    monkeypatch.setattr(pa, "Codec", type("Codec", (), {"is_available": staticmethod(lambda kind: False)}))
    with pytest.raises(ConfigError, match="pyarrow has no zstd: decompress the file first"):
        read_freezer_log(tmp_path / "log")


@pytest.mark.parametrize("data", [b"", b"nothing\n", b"nothing\nof interest\n", bytes(range(256)) * 1000])
def test_a_file_without_freezing_is_an_error_with_its_size(tmp_path: Path, data: bytes):
    (tmp_path / "log").write_bytes(data)
    lines = data.count(b"\n") + (data[-1:] not in (b"", b"\n"))
    many = "line" if lines == 1 else "lines"
    with pytest.raises(ConfigError, match=f"log: no line about freezing among {lines} {many}$"):
        read_freezer_log(tmp_path / "log")


def test_binary_garbage_between_lines_is_passed_over(tmp_path: Path):
    garbage = random.Random(2).randbytes(300_000).replace(b"\n", b" ")
    (tmp_path / "log").write_bytes(garbage + b"\n" + GOOD.encode() + garbage + b"\n" + GOOD.encode())
    log = read_freezer_log(tmp_path / "log")
    assert (log.count("frozen"), log.lines, log.bad) == (2, 6, ())


def test_a_folder_is_an_error(tmp_path: Path):
    with pytest.raises(ConfigError, match="cannot be read"):
        read_freezer_log(tmp_path)


# --- real logs


def test_a_real_log_of_one_cpu():
    log = read_freezer_log(REAL)
    assert [(c.result, c.user_ms, c.kernel_ms, c.entry, c.thawed) for c in log.cycles] == [
        ("frozen", 2, 2, "deep", True)
    ] * 3
    assert log.cycles[0].time_s == 57.277931
    assert {c.era for c in log.cycles} == {"about 6.2, 6.1 stable"}
    assert (log.bad, log.stalled_entries) == ((), 0)


def test_a_real_log_of_four_cpus():
    log = read_freezer_log(LOGS / "arm64-4cpu-woken-1000.dmesg.txt.gz")
    assert [(c.user_ms, c.kernel_ms) for c in log.cycles] == [(58, 3), (54, 3), (56, 3), (56, 3), (60, 3)]


# --- tables


def test_the_frame_has_a_row_per_attempt_with_gaps():
    frame = read(EVERY_FORM).to_frame()
    assert frame["user_ms"].isna().tolist() == [False, False, True, True, False, False]
    assert frame["sleep_ok"].tolist()[1] is True
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


# --- the command

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    def call(text: str | None, *options: object) -> tuple[int, str, str]:
        if text is not None:
            (tmp_path / "log").write_text(text, encoding="utf-8")
        command = ["torpor", "import", "freezer-log", tmp_path / "log", *options]
        monkeypatch.setattr(sys, "argv", [*map(str, command)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    return call


def test_the_command_prints_tables(run: Run):
    code, out, err = run(EVERY_FORM)
    assert (code, err) == (0, "")
    for text in (
        "attempts to freeze",
        "backoff, +6 ms",
        "workqueue busy",
        "Tasks that refused to freeze",
        "1234",
    ):
        assert text in out


def test_the_command_prints_one_json_object(run: Run):
    code, out, _ = run(EVERY_FORM, "--json")
    data = json.loads(out)
    assert (code, len(data["cycles"])) == (0, 6)
    assert data["cycles"][5]["offenders"][0]["pid"] == 901
    assert data["cycles"][5]["sleep_quantum"]["ok"] is True


@pytest.mark.parametrize(
    ("form", "mark"), [("csv", "attempt,line,time (s)"), ("markdown", "| attempt |"), ("latex", r"\toprule")]
)
def test_the_command_prints_other_forms(run: Run, form: str, mark: str):
    code, out, _ = run(EVERY_FORM, "--format", form)
    assert code == 0
    assert mark in out


def test_the_command_takes_timeout_and_hz(run: Run):
    _, out, _ = run(FAILED, "--json", "--timeout-ms", 20_000, "--hz", 1000)
    assert json.loads(out)["cycles"][0]["sleep_quantum"]["limit_ms"] == 9.0


def test_the_command_names_ten_bad_lines_and_succeeds(run: Run):
    code, out, err = run(GOOD + "Freezing of tasks failed after x\n" * 13, "--json")
    errors = err.splitlines()
    assert code == 0
    assert len(json.loads(out)["bad"]) == 13
    assert len(errors) == 11
    assert ": line 3: " in errors[0]
    assert errors[-1].endswith("3 more bad lines")


def test_the_command_does_not_overwrite_the_log(run: Run, tmp_path: Path):
    code, out, err = run(EVERY_FORM, "-o", tmp_path / "log")
    assert (code, out) == (2, "")
    assert "would overwrite" in err
    assert (tmp_path / "log").read_text() == EVERY_FORM


@pytest.mark.parametrize("ends", ["closed", "full"])
def test_an_error_output_that_cannot_be_written_loses_nothing(
    run: Run, ends: str, monkeypatch: pytest.MonkeyPatch
):
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr(sys, "stderr", full if ends == "full" else None)
        code, out, _ = run(GOOD + "Freezing of tasks failed after x\n")
    assert (code, "By attempt" in out) == (0, True)


def test_the_command_reads_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(
        sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(gzip.compress(GOOD.encode()))))
    )
    monkeypatch.setattr(sys, "argv", ["torpor", "import", "freezer-log", "-"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code in (0, None)
    assert capsys.readouterr().out.startswith("standard input: attempts to freeze")


@pytest.mark.parametrize(
    ("text", "option"), [("nothing\n", ()), (GOOD, ("--hz", 0)), (GOOD, ("--timeout-ms", 0))]
)
def test_the_command_ends_with_one_line_for_bad_input(run: Run, text: str, option: tuple[object, ...]):
    code, out, err = run(text, *option)
    assert (code, out) == (2, "")
    assert err.startswith("torpor: ")
    assert err.count("\n") == 1
