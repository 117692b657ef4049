# SPDX-License-Identifier: MIT
"""Validation against a real kernel's capture: limits hold, controls fail, damaged captures are refused."""

import json
import shutil
from pathlib import Path

import pytest

from torpor import ConfigError
from torpor.idle import validate_captures
from torpor.idle.validate import DEEPEST, NO_GOT_TICK

CAPTURE = Path(__file__).parents[1] / "data" / "idle-arm64-quiet"


@pytest.fixture(scope="module")
def report():
    return validate_captures(CAPTURE)


@pytest.fixture(scope="module")
def traces(report):
    return {trace.name: trace for trace in report.captures[0].traces}


def _variant(trace, name):
    return next(one for one in trace.predictions if one.variant == name)


def test_every_limit_is_kept(report):
    assert report.all_ok, report.to_text()
    assert sum(q.ok is not None for q in report.captures[0].quantities) > 48


def test_ladder_decides_as_recorded_once_its_history_is(traces):
    assert traces["ladder quiet"].model.equal_after_warm_up_pct == 100.0


def test_menu_decides_as_recorded_in_nine_of_ten(traces):
    assert traces["menu quiet"].model.equal_after_warm_up_pct >= 90.0


def test_closed_loop_of_menu_stays_within_three_quarters_of_a_percent(traces):
    assert traces["menu quiet"].model.worst_error_pct <= 0.75


def test_entries_and_tick_stops_of_the_closed_loop_are_near(traces):
    trace = traces["menu quiet"]
    assert trace.model.entries == pytest.approx(trace.decisions, rel=0.05)
    assert trace.model.tick_stops == pytest.approx(trace.tick_stops, rel=0.05)


def test_without_the_got_tick_rule_menu_is_off_by_tens_of_percent(traces):
    assert _variant(traces["menu quiet"], NO_GOT_TICK).worst_error_pct > 30.0
    assert _variant(traces["menu quiet"], NO_GOT_TICK).entries > 10 * traces["menu quiet"].decisions


def test_always_deepest_decides_worse_than_the_model(traces):
    menu = traces["menu quiet"]
    assert _variant(menu, DEEPEST).equal_after_warm_up_pct < menu.model.equal_after_warm_up_pct - 5.0


def test_json_has_the_common_shape(report):
    data = json.loads(json.dumps(report.to_json(), allow_nan=False))
    assert data["family"] == "idle"
    capture = data["captures"][0]
    assert capture["name"] == "idle-arm64-quiet"
    keys = {"name", "unit", "recorded", "predicted", "error_pct", "limit_pct", "ok"}
    assert all(set(quantity) == keys for quantity in capture["quantities"])


def test_printed_forms_show_the_negative_controls(report):
    for text in (
        report.to_text(),
        report.to_markdown().replace("\\", ""),
        report.to_latex().replace(r"\_", "_"),
    ):
        assert NO_GOT_TICK in text
        assert DEEPEST in text


def test_csv_and_frame_have_every_quantity(report):
    count = len(report.captures[0].quantities)
    assert len(report.to_frame()) == count
    assert len(report.to_csv().splitlines()) == count + 1


def test_folder_of_captures_is_taken_whole():
    assert [capture.name for capture in validate_captures(CAPTURE.parent).captures] == ["idle-arm64-quiet"]


@pytest.fixture
def copy(tmp_path):
    folder = tmp_path / "capture"
    shutil.copytree(CAPTURE, folder)
    return folder


def _edit(folder, change):
    path = folder / "truth.json"
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


def test_any_subset_of_the_traces_will_do(copy):
    (copy / "idle_menu_quiet.trace.gz").unlink()
    assert [trace.name for trace in validate_captures(copy).captures[0].traces] == ["ladder quiet"]


def test_wrong_table_is_a_missed_limit_and_no_error(copy):
    def swap(data):
        for cpu in data["traces"]["idle_menu_quiet.trace"]["sysfs_delta"].values():
            cpu["state2"]["residency_us"] = 4100

    _edit(copy, swap)
    assert not validate_captures(copy).all_ok


def _remove_cpu(data):
    del data["traces"]["idle_menu_quiet.trace"]["sysfs_delta"]["cpu5"]


def _remove_state(data):
    del data["traces"]["idle_menu_quiet.trace"]["sysfs_delta"]["cpu5"]["state1"]


def _bad_time(data):
    data["traces"]["idle_menu_quiet.trace"]["sysfs_delta"]["cpu5"]["state1"]["latency_us"] = "soon"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_remove_cpu, "CPU 5 is in the trace but not in"),
        (_remove_state, "sysfs_delta.cpu5.state1: missing"),
        (_bad_time, "state1.latency_us: 'soon' is no time"),
        (
            lambda data: data["traces"].pop("idle_menu_quiet.trace"),
            "traces.idle_menu_quiet.trace.sysfs_delta: missing",
        ),
        (lambda data: data.update(kind="freezer"), "kind is 'freezer', expected 'idle'"),
        (
            lambda data: data.update(uname="Linux 5.10.0"),
            "no model of the governors of kernel 'Linux 5.10.0'",
        ),
        (lambda data: data.pop("clock"), "clock: None is no text"),
        (lambda data: data.update(traces=[]), "traces"),
    ],
)
def test_damaged_truth_is_an_error_that_names_the_place(copy, change, message):
    _edit(copy, change)
    with pytest.raises(ConfigError) as caught:
        validate_captures(copy)
    assert message in str(caught.value)


def test_truth_that_is_no_json_is_an_error(copy):
    (copy / "truth.json").write_text("{")
    with pytest.raises(ConfigError, match="not JSON"):
        validate_captures(copy)


def test_missing_truth_is_an_error(copy):
    (copy / "truth.json").unlink()
    with pytest.raises(ConfigError, match=r"truth\.json: cannot be read"):
        validate_captures(copy)


def test_unknown_governor_is_an_error(copy):
    (copy / "idle_menu_quiet.trace.gz").rename(copy / "idle_magic_quiet.trace.gz")
    with pytest.raises(ConfigError, match="governor 'magic' is unknown; known: ladder, menu"):
        validate_captures(copy)


def test_damaged_trace_is_an_error(copy):
    path = copy / "idle_menu_quiet.trace.gz"
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(ConfigError, match="cut off"):
        validate_captures(copy)


@pytest.mark.parametrize("paths", [[], "no-such-folder"])
def test_nothing_to_validate_is_an_error(paths):
    with pytest.raises(ConfigError):
        validate_captures(paths)


def test_folder_without_captures_is_an_error(tmp_path):
    with pytest.raises(ConfigError, match="no idle capture"):
        validate_captures(tmp_path)
