# SPDX-License-Identifier: MIT
"""Reader of kernel log lines about freezing: whatever surrounds them, damage, compressed and real files."""

import bz2
import gzip
import lzma
import random
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from freezer_log_text import DUMPED, EVERY_FORM, FAILED, GOOD, only, read
from torpor import ConfigError
from torpor.importers import read_freezer_log
from torpor.importers._log_text import LogDamage, log_lines

LOGS = Path(__file__).parents[1] / "data" / "freezer-log"
REAL = LOGS / "x86-1cpu-sites.dmesg.txt.gz"


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
