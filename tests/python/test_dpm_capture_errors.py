# SPDX-License-Identifier: MIT
"""Recorded device suspends that are damaged or contradict themselves: each is refused with what is wrong."""

import json
import re
import shutil

import pytest

from dpm_captures import ASYNC, SNAPSHOT, SYNC, edit_text, refusal_of, text_of, write_text
from torpor import ConfigError
from torpor.dpm._capture_snapshot import read_snapshot

CYCLE = "platform N=50 async=0 traced cycle"


@pytest.mark.parametrize("name", [SNAPSHOT, SYNC, "truth.json"])
def test_a_missing_file_is_named(device_copy, name):
    (device_copy / name).unlink()
    assert f"{name.removesuffix('.gz')}: missing" in refusal_of(device_copy)


def test_a_cut_off_trace_is_refused(device_copy):
    data = (device_copy / SYNC).read_bytes()
    (device_copy / SYNC).write_bytes(data[: len(data) // 2])
    assert f"{SYNC}: the gzip file is cut off" in refusal_of(device_copy)


def test_a_trace_that_stops_inside_a_cycle_is_refused(device_copy):
    text = text_of(device_copy / SYNC)
    write_text(device_copy / SYNC, text[: text.rindex("\n", 0, len(text) // 2) + 1])
    assert f"{SYNC}: {CYCLE}=0: the trace stops before the cycle ends" in refusal_of(device_copy)


def test_a_trace_of_something_else_is_refused(device_copy):
    row = "  <idle>-0  [000] d..1.  1.000002: cpu_idle: state=1 cpu_id=0\n"
    write_text(device_copy / SYNC, row)
    assert f"{SYNC}: no event device_pm_callback_start: not a trace of device callbacks" in refusal_of(
        device_copy
    )


def test_a_file_that_is_no_trace_is_refused(device_copy):
    shutil.copy(device_copy / "truth.json", device_copy / SYNC)
    assert f"{SYNC}:1: no row of a kernel trace in " in refusal_of(device_copy)


def test_a_trace_without_markers_is_refused(device_copy):
    edit_text(device_copy / SYNC, "lab: ", "lap: ")
    assert f"{SYNC}: no cycle between markers 'lab: begin' and 'lab: end'" in refusal_of(device_copy)


def test_a_cycle_that_comes_twice_is_refused(device_copy):
    rows = [row for row in text_of(device_copy / SYNC).splitlines() if not row.startswith("#")]
    later = [re.sub(r"(?<= )(\d\d\.\d{6}:)", r"1\1", row, count=1) for row in rows]
    write_text(device_copy / SYNC, "\n".join([*rows, *later]) + "\n")
    assert f"{SYNC}:{len(rows) + 1}: {CYCLE}=0 again" in refusal_of(device_copy)


def test_a_label_that_contradicts_the_name_of_the_file_is_refused(device_copy):
    shutil.copy(device_copy / ASYNC, device_copy / SYNC)
    assert f"{SYNC}: label 'platform N=50 async=1 traced' contradicts the file's name" in refusal_of(
        device_copy
    )


def test_workers_in_a_cycle_said_to_have_none_are_refused(device_copy):
    shutil.copy(device_copy / ASYNC, device_copy / SYNC)
    edit_text(device_copy / SYNC, "async=1", "async=0")
    assert f"{SYNC}: {CYCLE}=1: label says async=0, but workers ran 170 callbacks" in refusal_of(device_copy)


def test_callbacks_out_of_the_order_of_the_list_are_refused(device_copy):
    text = text_of(device_copy / SYNC)
    for edge in ("start", "end"):
        first, second = f"callback_{edge}: usb usb3", f"callback_{edge}: usb usb4"
        resume = text.index("dpm_resume[16] begin")
        text = text[:resume] + text[resume:].replace(first, "%%").replace(second, first).replace("%%", second)
    write_text(device_copy / SYNC, text)
    assert "cycle=0: resume: usb usb3 after usb usb4: not one thread in the order of the list" in refusal_of(
        device_copy
    )


def test_a_label_that_does_not_tell_about_workers_is_refused(device_copy):
    edit_text(device_copy / SYNC, " async=0", "")
    assert f"{SYNC}:13: label 'platform N=50 traced' has neither async=0 nor async=1" in refusal_of(
        device_copy
    )


def test_a_cycle_that_the_kernel_refused_is_refused(device_copy):
    edit_text(device_copy / SYNC, "err=0 boot_ms", "err=-16 boot_ms")
    assert f"{SYNC}: {CYCLE}=0: err=-16: the kernel refused the cycle" in refusal_of(device_copy)


def test_a_phase_without_an_end_is_named_with_its_line(device_copy):
    edit_text(device_copy / SYNC, "dpm_suspend[2] end", "other[2] end")
    assert f"{SYNC}:1304: suspend_late begins inside suspend" in refusal_of(device_copy)


def test_a_missing_phase_is_named(device_copy):
    for edge in ("begin", "end"):
        edit_text(device_copy / SYNC, f"dpm_resume[16] {edge}", f"other[16] {edge}")
    assert f"{SYNC}:1461: callback of reg-dummy reg-dummy outside of any phase" in refusal_of(device_copy)


def test_a_callback_without_an_end_is_named(device_copy):
    edit_text(device_copy / SYNC, "device_pm_callback_end: usb 1-1, err=0", "other: x")
    assert re.search(rf"{SYNC}:\d+: callback of .* inside that of usb 1-1", refusal_of(device_copy))


def test_a_device_without_a_prepare_event_is_named(device_copy):
    text = text_of(device_copy / SYNC)
    start = text.index("device_pm_callback_start: usb 1-1, ")
    row = text.rindex("\n", 0, start) + 1
    end = text.index("\n", text.index("device_pm_callback_end: usb 1-1, ")) + 1
    write_text(device_copy / SYNC, text[:row] + text[end:])
    assert f"{SYNC}:1063: callback of usb 1-1 in suspend: the device has no prepare event" in refusal_of(
        device_copy
    )


def test_lost_events_are_refused(device_copy):
    text = text_of(device_copy / SYNC)
    row = text.index("\n", len(text) // 2) + 1
    lost = text[:row] + "CPU:0 [LOST 12 EVENTS]\n" + text[row:]
    write_text(device_copy / SYNC, lost)
    assert f"{SYNC}:1425: CPU 0 lost 12 events" in refusal_of(device_copy)


def test_a_capture_of_another_kind_is_refused(device_copy):
    path = device_copy / "truth.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"kind": "freezer"}))
    assert "truth.json: kind is 'freezer', expected 'devices'" in refusal_of(device_copy)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("dev\t/software", "device\t/software", "2: 'device': expected a line that begins with dev or link"),
        ("dev\t/software\t-", "dev\t/software", "2: 7 fields, expected 8"),
        ("dev\t/software\t-", "dev\t/software\t/nowhere", "2: parent /nowhere is no device"),
        ("dev\t/software\t-", "dev\t/software\t/platform", "2: parent /platform is not above /software"),
        (
            "event_source\t-\tdisabled",
            "event_source\t-\tyes",
            "2: async 'yes': expected enabled, disabled or -",
        ),
        ("dev\t/platform\t-", "dev\t/software\t-", "3: device /software again, first in line 2"),
        ("\tactive\tnever", "\tactiv\tnever", "468: status 'activ': expected not tracked, dormant"),
        (":ata1--scsi", ":ata1-scsi", "470: link ':ata1-scsi:0:0:0:0': expected BUS:NAME--BUS:NAME"),
    ],
)
def test_a_malformed_line_of_the_snapshot_is_named(device_copy, old, new, message):
    edit_text(device_copy / SNAPSHOT, old, new, 1)
    assert f"{SNAPSHOT}:{message}" in refusal_of(device_copy)


def test_a_cut_off_snapshot_is_refused(device_copy):
    data = (device_copy / SNAPSHOT).read_bytes()
    (device_copy / SNAPSHOT).write_bytes(data[: len(data) // 2])
    assert f"{SNAPSHOT}:211: the gzip data is damaged or cut off" in refusal_of(device_copy)


def test_a_snapshot_without_devices_is_refused(tmp_path):
    path = tmp_path / "devices.tsv"
    path.write_text("#dev\tpath\n")
    with pytest.raises(ConfigError, match="no device in 1 lines"):
        read_snapshot(path)
