# SPDX-License-Identifier: MIT
"""Reader of text traces: odd rows are read, damaged files are refused with one clear error."""

import gzip
from pathlib import Path

import pytest

from torpor import ConfigError
from torpor.importers import FtraceLog, read_ftrace

CAPTURE = Path(__file__).parents[1] / "data" / "idle-arm64-quiet"
TRACE = CAPTURE / "idle_menu_quiet.trace.gz"
ROW = b"  <idle>-0       [003] dN.1.  9.000001: cpu_idle: state=1 cpu_id=3\n"


def test_real_trace_is_read_without_a_bad_row():
    log = read_ftrace(TRACE)
    assert (len(log), log.bad_row_count, log.cpus) == (1986, 0, list(range(8)))


def test_frame_has_every_row_with_its_names():
    frame = read_ftrace(TRACE).to_frame()
    assert list(frame.columns) == ["time_ns", "cpu", "comm", "pid", "flags", "event", "args"]
    assert (frame["event"] == "cpu_idle").sum() == 600
    assert frame.loc[0, "args"] == "state=4294967295 cpu_id=3"
    assert frame.loc[0, "flags"] == "dn..."


def test_plain_and_gzip_are_told_apart_by_content(tmp_path):
    text = gzip.decompress(TRACE.read_bytes())
    (tmp_path / "plain.gz").write_bytes(text)
    assert len(read_ftrace(tmp_path / "plain.gz")) == 1986


def test_gzip_of_several_members_is_one_text(tmp_path):
    (tmp_path / "t.gz").write_bytes(gzip.compress(ROW) + gzip.compress(ROW))
    assert len(read_ftrace(tmp_path / "t.gz")) == 2


def test_names_that_are_no_utf8_do_not_matter():
    log = FtraceLog(b"a\xff-1 [000] .... 1.0: e: \xfe\nb\xfe-2 [000] .... 1.0: e: x\n", "t")
    assert log.to_frame()["comm"].tolist() == ["a�", "b�"]


def test_names_that_fall_together_stay_one_category():
    log = FtraceLog(b"a\xff-1 [000] .... 1.0: e: x\na\xfe-2 [000] .... 1.0: e: x\n", "t")
    assert log.to_frame()["comm"].tolist() == ["a�", "a�"]


def test_bad_rows_and_lost_events_are_reported():
    log = FtraceLog(ROW + b" => stack\n" + b"CPU:3 [LOST 5 EVENTS]\n", "t")
    assert log.bad_rows == [(2, " => stack")]
    assert log.lost_events == [(3, 3, 5)]


def test_repr_tells_what_it_is():
    assert repr(FtraceLog(ROW, "t")) == "FtraceLog('t', rows=1, events=1, cpus=[3], bad_rows=0)"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty"),
        (b"\x7fELF\0\0\n", "byte 0 at offset 4"),
        (ROW + ROW[:40], ":2: the file ends in the middle of a row"),
        (b"hello\nworld\n", ":1: no row of a kernel trace in 2 lines"),
        (
            ROW + ROW.replace(b"9.000001", b"8.000001"),
            ":2: time of CPU 3 runs backwards: 8000001000 ns after 9000001000 ns",
        ),
        (gzip.compress(ROW * 50)[:-12], "the gzip file is cut off"),
        (b"\x1f\x8b\x08\x00garbage-garbage", "damaged gzip file"),
        (gzip.compress(ROW) + b"tail", "4 bytes of something else follow"),
        (gzip.compress(b""), "the file is empty"),
    ],
)
def test_unusable_file_is_one_error_that_names_it(tmp_path, data, message):
    path = tmp_path / "trace.txt"
    path.write_bytes(data)
    with pytest.raises(ConfigError) as caught:
        read_ftrace(path)
    assert str(path) in str(caught.value)
    assert message in str(caught.value)


def test_missing_file_is_an_error(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        read_ftrace(tmp_path / "none")


def test_folder_is_an_error(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        read_ftrace(tmp_path)
