# SPDX-License-Identifier: MIT
"""The freezer model against recorded cycles: captures that lack something, and what is refused."""

import json
import shutil
from pathlib import Path

import pytest

from freezer_captures import ERRORS, NO_TIMES, SMALL, TRUTH_DIFFERS, edit_truth
from torpor import ConfigError
from torpor.freezer import validate_captures


@pytest.fixture
def copy(whole_capture, tmp_path):
    return Path(shutil.copytree(whole_capture, tmp_path / "copy"))


def test_without_a_third_task_count_no_time_is_judged():
    report = validate_captures(SMALL)
    assert report.all_ok
    judged = {q.section for q in report.captures[0].quantities if q.ok is not None}
    assert judged == {"capture", "count", "sleep", "switch", "control"}
    assert report.to_text().endswith(
        "no times judged: freezer-x86-1cpu (no task count is larger than the fitted ones)"
    )
    assert "No task count is larger than the fitted ones" in report.to_text()


def test_without_untraced_cycles_only_counts_are_compared():
    report = validate_captures(ERRORS)
    assert {q.section for q in report.captures[0].quantities} == {"capture", "count"}
    assert "costs cannot be fitted" in report.to_text()


def test_a_capture_that_was_never_timed_is_fine_but_not_all_of_it():
    report = validate_captures(ERRORS)
    assert report.all_ok
    assert report.to_text().endswith(
        "limits kept; no times judged: freezer-x86-1cpu-errors (it was recorded without untraced cycles)"
    )
    assert NO_TIMES not in {q.name for q in report.captures[0].quantities}


def test_a_capture_that_has_lost_its_logs_is_a_miss(copy):
    for path in copy.glob("freeze_*.dmesg.txt.gz"):
        path.unlink()
    report = validate_captures(copy)
    assert [q.name for q in report.missed] == [NO_TIMES]
    assert not report.all_ok
    assert report.to_text().endswith(
        f"missed: copy: {NO_TIMES}; no times judged: copy (9 series without log)"
    )
    assert report.to_json()["captures"][0]["untimed"] == "9 series without log"


def test_one_lost_log_is_a_miss_too(copy):
    (copy / "freeze_mixed_1000.dmesg.txt.gz").unlink()
    report = validate_captures(copy)
    assert [q.name for q in report.missed] == [NO_TIMES]
    assert "No untraced cycles to judge: mixed N=1000." in report.to_text()


def test_lost_logs_of_a_clock_that_does_not_repeat_are_no_miss(copy):
    edit_truth(copy, clock="host time")
    (copy / "freeze_mixed_1000.dmesg.txt.gz").unlink()
    report = validate_captures(copy)
    assert report.all_ok
    assert report.to_text().endswith("no times judged: copy (its clock does not repeat)")


def test_a_cycle_that_failed_by_the_truth_is_a_miss(copy):
    truth = json.loads((copy / "truth.json").read_text())
    truth["untraced_and_traced_cycles"][0]["err"] = -16
    edit_truth(copy, **truth)
    report = validate_captures(copy)
    assert [q.name for q in report.missed] == [TRUTH_DIFFERS]
    assert "truth.json says -16, a failed cycle" in report.to_text()


def test_the_footnote_on_fitted_times_stands_only_where_some_are(copy, whole_capture):
    assert "Fitted: the costs" in validate_captures(whole_capture).to_text()
    edit_truth(copy, clock="host time")
    assert "Fitted: the costs" not in validate_captures(copy).to_text()


@pytest.mark.parametrize("other", ["", "../copy", "../link"])
def test_a_capture_given_twice_is_refused(copy, tmp_path, other):
    (tmp_path / "link").symlink_to(copy)
    with pytest.raises(ConfigError, match="is given twice"):
        validate_captures([copy, copy / other])


def test_times_of_a_clock_that_does_not_repeat_are_printed_and_not_judged(copy):
    edit_truth(copy, clock="host time")
    report = validate_captures(copy)
    loop = report.captures[0].find("woken N=1000", "user loop")
    assert (loop.recorded, loop.predicted, loop.error_pct, loop.ok) == (19146.5, None, None, None)
    assert report.captures[0].find("woken N=50", "wakeups at epoll").ok
    assert "does not repeat" in report.to_text()


def test_a_folder_of_captures_stands_for_each_of_them(whole_capture, tmp_path):
    for name in ("b", "a"):
        shutil.copytree(ERRORS, tmp_path / "many" / name)
    (tmp_path / "many" / "other").mkdir()
    assert [one.name for one in validate_captures(tmp_path / "many").captures] == ["a", "b"]


@pytest.mark.parametrize("release", ["5.10.9", "6.7.1"])
def test_a_kernel_without_a_model_is_refused(copy, release):
    truth = (copy / "truth.json").read_text()
    (copy / "truth.json").write_text(truth.replace("6.1.192", release))
    with pytest.raises(ConfigError, match=rf"kernel {release}: no model of its freezer; known: 6\.1 to 6\.6"):
        validate_captures(copy)


def test_an_unknown_number_of_other_tasks_is_refused(copy):
    for name in ("freeze_woken_50", "freeze_sites"):
        (copy / f"{name}.trace.gz").unlink()
    edit_truth(copy, traces={})
    with pytest.raises(ConfigError, match="unknown how many other tasks there are"):
        validate_captures(copy)


def test_a_damaged_capture_is_refused(copy):
    path = copy / "freeze_woken_1000.dmesg.txt.gz"
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(ConfigError, match=r"freeze_woken_1000\.dmesg\.txt\.gz: the gzip file is cut off"):
        validate_captures(copy)


def test_a_missing_truth_is_refused(copy):
    (copy / "truth.json").unlink()
    with pytest.raises(ConfigError, match=r"truth\.json: cannot be read"):
        validate_captures(copy)


@pytest.mark.parametrize(("paths", "message"), [([], "captures: none given"), ("nowhere", "no such folder")])
def test_nothing_to_validate_is_refused(paths, message):
    with pytest.raises(ConfigError, match=message):
        validate_captures(paths)


def test_a_folder_without_captures_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="no freezer capture: expected truth"):
        validate_captures(tmp_path)
