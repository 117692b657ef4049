# SPDX-License-Identifier: MIT
"""Recorded freeze cycles: counts agree with the recorder's, costs fit, damaged captures are refused."""

import gzip
import json
import os
import shutil
from pathlib import Path

import pytest

from torpor import ConfigError
from torpor.freezer import Capture, fit_four_cpus, fit_one_cpu
from torpor.freezer.capture import Measured, UntracedCycle, mix_sites, ties
from torpor.freezer.capture_fit import held_out

DATA = Path(__file__).parents[1] / "data"
ONE_CPU = DATA / "freezer-x86-1cpu"
ERRORS = DATA / "freezer-x86-1cpu-errors"

WOKEN_LOG = "freeze_woken_50.dmesg.txt.gz"
WOKEN_TRACE = "freeze_woken_50.trace.gz"


@pytest.fixture(scope="module")
def capture():
    return Capture.load(ONE_CPU)


@pytest.fixture
def copy(tmp_path):
    return Path(shutil.copytree(ONE_CPU, tmp_path / "capture"))


def _edit_text(path, old, new):
    text = gzip.decompress(path.read_bytes()).decode()
    assert old in text
    path.write_bytes(gzip.compress(text.replace(old, new).encode()))


def _edit_truth(folder, **values):
    path = folder / "truth.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def test_machine_and_clock_are_known(capture):
    assert (capture.cpus, capture.kernel, capture.machine) == (1, "6.1.192", "x86_64")
    assert capture.instruction_ns == 4


def test_tick_rate_comes_from_the_boot_log(capture):
    assert (capture.tick_hz, capture.tick_hz_assumed) == (250, False)


def test_without_a_boot_log_the_tick_rate_is_marked_as_assumed():
    errors = Capture.load(ERRORS)
    assert (errors.tick_hz, errors.tick_hz_assumed) == (250, True)


def test_every_count_of_the_traces_is_the_one_the_recorder_found(capture):
    assert capture.disagreements == ()
    assert sum(len(series.traced) for series in capture.series) == 6


def test_a_changed_record_is_told_apart(copy):
    truth = json.loads((copy / "truth.json").read_text())
    truth["traces"]["freeze_woken_50.trace"][1]["refrigerator_entries"] += 1
    (copy / "truth.json").write_text(json.dumps(truth))
    (said,) = Capture.load(copy).disagreements
    assert said == "freeze_woken_50.trace cycle=1: refrigerator_entries 52, truth.json says 53"


def test_tasks_besides_the_recorded_ones_come_from_the_visits(capture):
    assert capture.other_tasks == 72


def test_counting_laws_hold_in_every_traced_cycle_of_the_woken_mix(capture):
    series = capture.find("woken", 50)
    assert (series.tasks, series.woken, series.marked) == (50, 50, 0)
    for cycle in series.traced:
        assert cycle.wakeups_by_site == dict.fromkeys(("epoll", "pause", "pipe", "poll", "select"), 10)
        assert cycle.refrigerator_entries == series.woken + 2
        assert cycle.restarted_calls == series.woken - series.sites["epoll"] + 1


def test_each_loop_sleeps_once_and_walks_twice(capture):
    for cycle in capture.find("woken", 50).traced:
        user, kernel = cycle.loops
        assert user.user_only
        assert not kernel.user_only
        assert (user.sleeps_max_us, kernel.sleeps_max_us) == ((1000,), (1000,))
        assert (user.visits, user.asked) == ((122, 122), (51, 0))
        assert (kernel.visits, kernel.asked) == ((122, 122), (1, 0))


def test_tasks_waiting_for_a_child_are_not_woken_to_freeze(capture):
    series = capture.find("sites", 5)
    assert series.name == "sites N=5x11"
    for cycle in series.traced:
        assert "wait" not in cycle.wakeups_by_site
        assert set(cycle.wakeups_by_site) - {"tick"} == {"epoll", "pause", "pipe", "poll", "select"}


def test_waiting_parents_bring_their_children_into_the_task_list(capture):
    assert capture.find("sites", 5).tasks == 60


def test_programs_see_errors_from_epoll_and_sigtimedwait_only():
    (series,) = Capture.load(ERRORS).series
    for cycle in series.traced:
        assert cycle.visible_errors == {"epoll": 5, "sigtw": 5}
        assert cycle.restarted_calls == 21


def test_what_a_trace_did_not_record_is_none_rather_than_zero(capture):
    (series,) = Capture.load(ERRORS).series
    assert series.traced[0].switches_freeze is None
    assert series.traced[0].loops == ()
    assert capture.find("woken", 50).traced[0].visible_errors is None


@pytest.mark.parametrize(
    ("mix", "count", "user", "kernel", "thaw", "total", "switches"),
    [
        ("frozen", 50, 1169, 1162, 1259.5, 4680, 74),
        ("mixed", 50, 1317, 1162, 1354.5, 4924, 99),
        ("woken", 50, 1469, 1162, 1447.5, 5189, 124),
        ("frozen", 200, 1401.5, 1281, 4268, 8060, 225),
        ("mixed", 200, 2140, 1281, 4628.5, 9176.5, 324.5),
        ("woken", 200, 3902, 1281, 5060, 11337.5, 424.5),
    ],
)
def test_phases_of_the_log_are_timed_to_the_microsecond(
    capture, mix, count, user, kernel, thaw, total, switches
):
    got = capture.find(mix, count).measured(capture.cpus)
    assert (got.user_us, got.kernel_us, got.thaw_us) == (user, kernel, thaw)
    assert (got.total_us, got.context_switches) == (total, switches)


def test_a_sleep_that_ends_early_does_not_move_the_figure_on_one_cpu():
    loops = [2351, 2643, 2666, 2376]
    cycles = [UntracedCycle(i, us, 1915, 20300, 23000 + us, 1025) for i, us in enumerate(loops)]
    figure = Measured.of(cycles, cpus=1)
    assert (figure.user_us, figure.total_us, figure.early_cycles) == (2654.5, 25654.5, 2)


def test_on_several_cpus_the_figure_is_the_median():
    cycles = [UntracedCycle(i, us, 1915, 20300, 26000, 1025) for i, us in enumerate([4102, 4222, 4428, 4112])]
    assert Measured.of(cycles, cpus=4).user_us == 4167


@pytest.mark.parametrize(
    ("mix", "count", "woken"),
    [("frozen", 50, 0), ("mixed", 200, 100), ("mixed", 57, 25), ("woken", 1000, 1000)],
)
def test_mixes_have_the_recorders_number_of_woken_tasks(mix, count, woken):
    sites = mix_sites(mix, count)
    assert sum(sites.values()) == count
    assert sum(sites.get(site, 0) for site in ("epoll", "pause", "pipe", "poll", "select")) == woken


def test_costs_fitted_on_one_cpu_have_the_sizes_of_the_closed_form(capture):
    costs = fit_one_cpu(capture)
    expected = {
        "marked": 1550,
        "woken": 7550,
        "burst": 11500,
        "user_fixed": 91_500,
        "kernel_visit_pair": 790,
        "kernel_fixed": 122_000,
        "thaw_marked": 20_060,
        "thaw_woken": 24_020,
        "thaw_fixed": 257_000,
        "cycle_fixed": 1_090_000,
    }
    got = {name: getattr(costs, f"{name}_ns") for name in expected}
    assert got == pytest.approx(expected, rel=0.015)
    assert costs.instructions()["burst"] == costs.burst_ns / 4


def test_closed_form_gives_back_what_it_was_fitted_on(capture):
    costs = fit_one_cpu(capture)
    for series in (one for one in capture.series if one.untraced):
        model, figure = costs.phases(series.marked, series.woken), series.measured(capture.cpus)
        assert model.user_us == pytest.approx(figure.user_us, rel=0.005)
        assert model.kernel_us == pytest.approx(figure.kernel_us, rel=0.001)
        assert model.thaw_us == pytest.approx(figure.thaw_us, rel=0.01)
        assert model.total_us == pytest.approx(figure.total_us, rel=0.005)


def test_the_fit_leaves_larger_task_counts_out(capture, copy):
    for path in copy.glob("freeze_*_200.dmesg.txt.gz"):
        mix = path.name.split("_")[1]
        _edit_text(path, "N=200", "N=9999")
        path.rename(copy / f"freeze_{mix}_9999.dmesg.txt.gz")
        shutil.copy(ONE_CPU / path.name, copy / path.name)
    more = Capture.load(copy)
    assert {series.count for series in held_out(more)} == {9999}
    assert fit_one_cpu(more) == fit_one_cpu(capture)
    assert held_out(capture) == ()


def test_costs_that_the_series_do_not_tell_apart_are_refused(copy):
    for path in copy.glob("freeze_woken_*.dmesg.txt.gz"):
        path.unlink()
    for path in copy.glob("freeze_mixed_*.dmesg.txt.gz"):
        path.unlink()
    with pytest.raises(ConfigError, match="do not tell wake and freeze burst apart"):
        fit_one_cpu(Capture.load(copy))


def test_one_task_count_is_not_enough_to_fit(copy):
    for path in copy.glob("freeze_*_200.dmesg.txt.gz"):
        path.unlink()
    with pytest.raises(ConfigError, match=r"N=\[50\], expected 2 or more task counts"):
        fit_one_cpu(Capture.load(copy))


def test_a_fit_for_several_cpus_refuses_one(capture):
    with pytest.raises(ConfigError, match="cpus=1: expected 2 or more"):
        fit_four_cpus(capture)


def test_a_host_clock_has_nothing_to_fit(copy):
    _edit_truth(copy, clock="host time")
    with pytest.raises(ConfigError, match="clock: 'host time'"):
        fit_one_cpu(Capture.load(copy))


def test_labels_without_files_are_listed(copy):
    (copy / "freeze_mixed_200.dmesg.txt.gz").unlink()
    lacking = Capture.load(copy)
    assert lacking.without_files == ("mixed N=200 untraced",)
    assert lacking.disagreements == ()


def test_a_missing_truth_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"truth\.json: cannot be read"):
        Capture.load(tmp_path)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"kind": "idle"}, "kind is 'idle', expected 'freezer'"),
        ({"kind": None}, "kind: None is no str"),
        ({"cpus": 0}, "cpus=0: expected 1 or more"),
        ({"cpus": "1"}, "cpus: '1' is no int"),
        ({"uname": "Linux"}, "uname: 'Linux' has no release"),
        ({"traces": []}, "traces: .* is no dict"),
        (
            {"traces": {"freeze_woken_50.trace": 3}},
            "traces.freeze_woken_50.trace: expected a list of records",
        ),
        ({"untraced_and_traced_cycles": [3]}, "untraced_and_traced_cycles: expected a list of records"),
    ],
)
def test_a_wrong_truth_is_refused(copy, values, message):
    _edit_truth(copy, **values)
    with pytest.raises(ConfigError, match=rf"truth\.json: {message}"):
        Capture.load(copy)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("err", "x", "err: 'x' is no whole number"),
        ("err", True, "err: True is no whole number"),
        ("cycle", "0", "cycle: '0' is no whole number"),
        ("label", 3, "label: 3 is no text"),
        ("total_ms", None, "total_ms: None is no number"),
        ("total_ms", float("nan"), "total_ms: nan is no number"),
        ("ctxt", 1.5, "ctxt: 1.5 is no whole number"),
    ],
)
def test_a_field_of_a_cycle_of_another_type_is_refused(copy, field, value, message):
    truth = json.loads((copy / "truth.json").read_text())
    truth["untraced_and_traced_cycles"][1][field] = value
    _edit_truth(copy, **truth)
    with pytest.raises(ConfigError, match=rf"truth\.json: untraced_and_traced_cycles\[1\]\.{message}"):
        Capture.load(copy)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("err", True, "err: True is no whole number"),
        ("passes", [{"us": 3}], "is no list of loops with us and user_only"),
        ("retry_max_us", 1000, "retry_max_us: 1000 is no list of whole numbers"),
        ("wakeups_by_site", {"epoll": "5"}, "is no count by site"),
        ("refrigerator_entries", "52", "refrigerator_entries: '52' is no whole number"),
    ],
)
def test_a_field_of_a_traced_cycle_of_another_type_is_refused(copy, field, value, message):
    truth = json.loads((copy / "truth.json").read_text())
    truth["traces"]["freeze_woken_50.trace"][0][field] = value
    _edit_truth(copy, **truth)
    with pytest.raises(ConfigError, match=rf"truth\.json: traces\.freeze_woken_50\.trace\[0\]\..*{message}"):
        Capture.load(copy)


def test_a_cycle_that_failed_by_the_truth_is_told(copy):
    truth = json.loads((copy / "truth.json").read_text())
    record = truth["untraced_and_traced_cycles"][0]
    record["err"] = truth["traces"]["freeze_woken_50.trace"][2]["err"] = -16
    _edit_truth(copy, **truth)
    name = f"{record['label']} cycle={record['cycle']}"
    assert set(Capture.load(copy).disagreements) == {
        f"{name}: err 0, truth.json says -16, a failed cycle",
        "freeze_woken_50.trace cycle=2: err 0, truth.json says -16, a failed cycle",
    }
    mix, count = record["label"].removesuffix(" untraced").split(" N=")
    (copy / f"freeze_{mix}_{count}.dmesg.txt.gz").unlink()
    assert Capture.load(copy).failed == (f"{name} (err=-16)",)


@pytest.mark.parametrize(
    "name", ["truth.json", "freeze_woken_50.dmesg.txt", "freeze_x_1.trace", "freeze_woken_50.trace.gz"]
)
def test_a_pipe_in_the_folder_is_refused_rather_than_waited_for(copy, name):
    (copy / name).unlink(missing_ok=True)
    os.mkfifo(copy / name)
    with pytest.raises(ConfigError, match=rf"{name}: is no regular file"):
        Capture.load(copy)


def test_shorter_durations_that_are_as_common_are_ties():
    assert ties([2351, 2643, 2666, 2376]) == ((2351, 2376),)
    assert ties([100, 200, 300]) == ((200,), (100,))
    assert ties([1000, 1001, 1002, 1003]) == ()


def test_series_that_lack_their_log_are_named(copy):
    (copy / "freeze_mixed_200.dmesg.txt.gz").unlink()
    assert Capture.load(copy).without_log == ("mixed N=200",)


def test_a_truth_that_is_no_json_is_refused(copy):
    (copy / "truth.json").write_text("{")
    with pytest.raises(ConfigError, match=r"truth\.json: not JSON"):
        Capture.load(copy)


def test_a_trace_the_truth_names_must_be_there(copy):
    (copy / WOKEN_TRACE).unlink()
    with pytest.raises(ConfigError, match=rf"{WOKEN_TRACE}: cannot be read"):
        Capture.load(copy)


@pytest.mark.parametrize("name", [WOKEN_LOG, WOKEN_TRACE, "boot.dmesg.txt.gz"])
def test_a_cut_off_file_is_refused(copy, name):
    data = (copy / name).read_bytes()
    (copy / name).write_bytes(data[: len(data) // 2])
    with pytest.raises(ConfigError, match=rf"{name}: the gzip file is cut off after"):
        Capture.load(copy)


def test_a_damaged_log_is_refused(copy):
    data = bytearray((copy / WOKEN_LOG).read_bytes())
    data[len(data) // 2 :] = bytes(len(data) - len(data) // 2)
    (copy / WOKEN_LOG).write_bytes(data)
    with pytest.raises(ConfigError, match=rf"{WOKEN_LOG}: "):
        Capture.load(copy)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "woken N=50 untraced",
            "woken N=51 untraced",
            "label 'woken N=51 untraced' contradicts the file's name",
        ),
        ("woken N=50 untraced", "frozen N=50 untraced", "label 'frozen N=50 untraced' contradicts"),
        ("woken N=50 untraced", "woken untraced", "label 'woken untraced', expected"),
        ("woken N=50 untraced", "woken N=0 untraced", "label 'woken N=0 untraced': count=0"),
        (
            "begin woken N=50 untraced cycle=2",
            "begin woken N=9 untraced cycle=2",
            "label 'woken N=9 untraced' among",
        ),
        (
            "begin woken N=50 untraced cycle=2",
            "begin woken N=50 untraced cycle=7",
            "cycle=7, expected cycle=2",
        ),
        ("Restarting tasks", "Something else", "no line that closes thaw"),
        ("Freezing remaining freezable tasks\n", "\n", "without 'Freezing remaining freezable tasks'"),
        ("err=0", "err=-16", "err=-16: the kernel refused the cycle"),
        ("ctxt=", "switches=", "lacks err, boot_ms or ctxt"),
        ("lab: end woken N=50 untraced cycle=4", "nothing", "the log stops before the cycle ends"),
        ("lab: ", "", "no cycle between markers"),
        ("[   43.754963] ", "", "has no time stamp"),
    ],
)
def test_a_contradictory_log_is_refused(copy, old, new, message):
    _edit_text(copy / WOKEN_LOG, old, new)
    with pytest.raises(ConfigError, match=rf"{WOKEN_LOG}.*{message}"):
        Capture.load(copy)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("N=50 traced", "N=50 untraced", "label 'woken N=50 untraced' in a file of traced cycles"),
        ("N=50 traced", "N=60 traced", "label 'woken N=60 traced' contradicts the file's name"),
        ("thaw_processes[0] begin", "other[0] begin", "no suspend_resume event for thaw begin"),
        (
            "end woken N=50 traced cycle=1",
            "end woken N=50 traced cycle=5",
            "the open one is woken N=50 traced cycle=1",
        ),
        ("end woken N=50 traced cycle=2", "nothing", "the trace stops before the cycle ends"),
        ("ttf_ret:", "other:", "a freeze loop begins inside another"),
        ("user_only=0", "user_only=1", "2 freeze loops, expected user tasks, kernel threads"),
        ("max=0x3e8", "most=0x3e8", "expected min= and max="),
        ("NR 270 = -514", "NR 270", "expected 'NR number = result'"),
        ("lab: ", "", "no cycle between markers"),
    ],
)
def test_a_contradictory_trace_is_refused(copy, old, new, message):
    _edit_text(copy / WOKEN_TRACE, old, new)
    with pytest.raises(ConfigError, match=rf"{WOKEN_TRACE}.*{message}"):
        Capture.load(copy)


def test_a_trace_with_lost_events_is_refused(copy):
    line = "           cycle-2913    [000] .....    45.337039: suspend_resume: sync_filesystems[0] begin\n"
    _edit_text(copy / WOKEN_TRACE, line, f"CPU:0 [LOST 7 EVENTS]\n{line}")
    with pytest.raises(ConfigError, match="CPU 0 lost 7 events"):
        Capture.load(copy)


def test_a_second_file_of_the_same_cycles_is_refused(copy):
    text = gzip.decompress((copy / WOKEN_LOG).read_bytes())
    (copy / "freeze_woken_50.dmesg.txt").write_bytes(text)
    with pytest.raises(ConfigError, match="label 'woken N=50 untraced' in a second file"):
        Capture.load(copy)


def test_a_setting_that_was_not_recorded_is_named(capture):
    with pytest.raises(ConfigError, match="no series woken N=7 busy=0; recorded: frozen N=50"):
        capture.find("woken", 7)
