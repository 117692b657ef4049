# SPDX-License-Identifier: MIT
"""The dpm model against recorded suspends: limits hold, doctored captures and wrong rules are found out."""

import json
import re
import shutil

import pytest

from dpm_captures import ASYNC, DATA, ONE, SYNC, edit_text, text_of, write_text
from refusals import refused
from torpor.dpm import _capture_graph, validate
from torpor.dpm._capture_records import MIDDLE_PHASES
from torpor.dpm.validate import validate_captures
from torpor.dpm.validate_report import CaptureResult, Quantity, ValidateReport

RUNS = 24
TRUTH_DIFFERS = "figures that differ from truth.json"
AS_RECORDED = "callbacks as recorded"
MODE = "resume, recorded mode 1 of 1"
FIRST_HUB = "usb 1-1.2"


@pytest.fixture(scope="module")
def report():
    return validate_captures(DATA, runs=RUNS)


@pytest.fixture(scope="module", params=(0, 1), ids=("one-cpu", "four-cpus"))
def result(request, report):
    return report.captures[request.param]


def _later(path, event, seconds):
    """Everything from the line of an event on happens later."""
    lines = text_of(path).splitlines(keepends=True)
    start = next(i for i, line in enumerate(lines) if event in line)

    def move(match):
        return f" {float(match[1]) + seconds:.6f}: "

    lines[start:] = [re.sub(r" (\d+\.\d{6}): ", move, line, count=1) for line in lines[start:]]
    write_text(path, "".join(lines))


def _edit_truth(folder, change):
    path = folder / "truth.json"
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


def _missed(folder, runs=RUNS):
    return {quantity.name for quantity in validate_captures(folder, runs=runs).missed}


def test_every_limit_is_kept(report):
    assert report.missed == (), report.to_text()
    assert report.all_ok
    judged = [q.section for q in report.captures[0].quantities if q.ok]
    counts = {section: judged.count(section) for section in ("capture", "order", "predict", "mode")}
    assert counts == {"capture": 2, "order": 20, "predict": 4, "mode": 1}


def test_all_names_but_three_have_a_device(result):
    (names,) = (q for q in result.of("capture") if q.what.startswith("names without"))
    assert (names.predicted, names.limit) == (3.0, 3.0)
    assert "vc vcs63, vc vcsa63, vc vcsu63" in " ".join(result.notes)


@pytest.mark.parametrize("phase", MIDDLE_PHASES)
def test_our_order_with_recorded_durations_takes_as_long_as_recorded(result, phase):
    quantity = result.find(f"{phase}, {AS_RECORDED}")
    assert quantity.limit_pct == (2.0 if phase == "resume" else 5.0)
    assert abs(quantity.error_pct) <= quantity.limit_pct
    workers = result.find(f"{phase}, callbacks by workers")
    assert workers.recorded == workers.predicted > 0
    assert result.find(f"{phase}, largest distance of swapped starts").predicted < 4.0


@pytest.mark.parametrize("phase", ["suspend", "suspend_noirq", "resume_noirq", "resume"])
def test_every_phase_is_predicted_from_the_cycle_without_workers(result, phase):
    quantity = result.find(f"{phase}, mean")
    assert quantity.limit_pct == 10.0
    assert abs(quantity.error_pct) <= 10.0


@pytest.mark.parametrize("phase", ["suspend_late", "resume_early"])
def test_of_late_and_early_one_of_two_values_is_right(result, phase):
    quantity = result.find(f"{phase}, median")
    assert quantity.limit_pct is None
    values = (quantity.predicted_low, quantity.predicted_high)
    assert min(abs(value / quantity.recorded - 1) for value in values) < 0.03


def test_a_median_is_judged_where_enough_cycles_were_recorded(monkeypatch):
    monkeypatch.setattr(validate, "LEAST_CYCLES", 1)
    report = validate_captures(DATA, runs=RUNS)
    assert report.captures[0].find("suspend_late, median").ok
    # With four CPUs the one recorded cycle has the rarer of two values.
    assert {quantity.name for quantity in report.missed} == {"suspend_late, median"}


def test_the_prediction_is_not_told_what_it_predicts(device_copy, report):
    _later(device_copy / ASYNC, "dpm_resume[16] end", 0.5)
    other, mine = validate_captures(device_copy, runs=RUNS).captures[0], report.captures[0]
    assert other.find("resume, mean").recorded == pytest.approx(mine.find("resume, mean").recorded + 500)
    assert other.find("resume, mean").predicted == mine.find("resume, mean").predicted


def test_a_cycle_without_workers_replays_itself(result):
    for quantity in result.of("sync"):
        assert abs(quantity.error_pct) < (5.0 if quantity.recorded < 5.0 else 0.6)
        assert quantity.ok is None


def test_the_resume_has_two_modes_and_the_hub_that_goes_first_makes_the_fast_one(result):
    fast, slow = result.modes
    assert fast.orders == ((FIRST_HUB, "usb 1-1.1"),)
    assert slow.orders == (("usb 1-1.1", FIRST_HUB),)
    assert slow.mean_ms - fast.mean_ms == pytest.approx(180.0, abs=2.0)
    assert fast.share + slow.share == 1.0
    assert 0.2 < fast.share < 0.8


@pytest.mark.parametrize(("machine", "mode"), [(0, 0), (1, 1)], ids=("one-cpu-fast", "four-cpus-slow"))
def test_the_recorded_mode_is_one_of_them(report, machine, mode):
    quantity = report.captures[machine].find(MODE)
    assert (quantity.mode, quantity.limit_pct) == (mode, 1.0)
    assert abs(quantity.error_pct) <= 1.0


def test_both_races_are_reported_and_only_that_of_the_hub_matters(result):
    races = {(race.first, race.second): race for race in result.races}
    assert races.keys() == {("usb 1-1.1", FIRST_HUB), ("usb 1-1.2.1", "usb 1-1.2.2")}
    hubs = races["usb 1-1.1", FIRST_HUB]
    assert hubs.first_ms - hubs.second_ms == pytest.approx(180.0, abs=2.0)


def test_the_critical_path_of_the_fast_mode_goes_through_the_hub_alone(result):
    fast, slow = ([step.device for step in mode.path] for mode in result.modes)
    assert [name for name in fast if name.startswith("usb ")][:3] == ["usb usb1", "usb 1-1", FIRST_HUB]
    assert "usb 1-1.1" not in fast
    assert slow.index("usb 1-1.1") < slow.index(FIRST_HUB)
    for mode in result.modes:
        assert mode.path[-1].end_ms == pytest.approx(mode.mean_ms, abs=3.0)
        assert sum(step.length_ms for step in mode.path) == pytest.approx(mode.path[-1].end_ms)


def test_without_shared_locks_the_resume_is_too_short(result):
    control = result.find("resume, without shared locks")
    assert control.error_pct < -10.0
    assert control.ok is None


def test_without_direct_complete_the_noirq_resume_is_too_long(result):
    model = result.find("resume_noirq, model")
    control = result.find("resume_noirq, without direct_complete")
    assert control.predicted > 1.07 * model.predicted


def test_a_longer_resume_is_a_miss(device_copy):
    _later(device_copy / ASYNC, "dpm_resume[16] end", 0.3)
    assert _missed(device_copy) == {
        TRUTH_DIFFERS,
        f"resume, {AS_RECORDED}",
        f"all resume phases, {AS_RECORDED}",
        "resume, mean",
        MODE,
    }


def test_a_device_that_a_worker_handled_but_should_not_is_a_miss(device_copy):
    path = "/platform/4010000000.pcie/pci0000:00/0000:00:05.0/usb1/1-1/1-1.2"
    head = f"dev\t{path}\t{path.rpartition('/')[0]}\tusb\tusb\t"
    edit_text(device_copy / "devices.tsv.gz", f"{head}enabled", f"{head}disabled")
    assert {"suspend, callbacks by workers", "resume, callbacks by workers", TRUTH_DIFFERS} <= _missed(
        device_copy
    )


def test_too_many_names_without_a_device_are_a_miss(device_copy):
    edit_text(device_copy / "devices.tsv.gz", "/1-1.2.1/ep_00\t", "/1-1.2.1/ep_77\t", 1)
    assert any(name.startswith("names without a device") for name in _missed(device_copy, runs=2))


def test_the_order_of_another_kernel_is_a_miss(monkeypatch):
    monkeypatch.setattr(validate, "POLICY", "sync")
    missed = _missed(ONE, runs=2)
    assert {f"{phase}, {AS_RECORDED}" for phase in MIDDLE_PHASES} <= missed
    assert {"resume, mean", MODE, "suspend, mean"} <= missed


def test_without_the_rule_of_the_usb_lock_no_mode_is_right(monkeypatch):
    monkeypatch.setattr(_capture_graph, "usb_reset", lambda snapshot, position: None)
    result = validate_captures(ONE, runs=4).captures[0]
    assert result.races == ()
    assert {q.name for q in result.quantities if q.ok is False} == {"resume, mean", MODE}


def test_a_clock_that_does_not_repeat_is_not_judged(device_copy):
    _edit_truth(device_copy, lambda data: data.update(clock="host time on a busy 2-core host"))
    _later(device_copy / ASYNC, "dpm_resume[16] end", 0.5)
    report = validate_captures(device_copy, runs=2)
    judged = {q.section for q in report.captures[0].quantities if q.ok is not None}
    assert judged == {"capture"}
    assert report.captures[0].find("resume, mean").ok is None
    assert "no times judged: copy dev_50 (its clock does not repeat)" in report.to_text()


def test_without_cycles_with_workers_the_replay_and_the_modes_are_left(device_copy):
    (device_copy / ASYNC).unlink()
    result = validate_captures(device_copy, runs=8).captures[0]
    assert {q.section for q in result.quantities} == {"capture", "sync"}
    assert result.untimed == "no cycle with workers was recorded"
    assert len(result.modes) == 2


def test_the_same_seed_gives_the_same_report_and_another_one_another():
    one, same, other = (validate_captures(ONE, runs=6, seed=seed) for seed in (1, 1, 2))
    assert one == same
    assert one.captures[0].find("resume, mean") != other.captures[0].find("resume, mean")


def test_every_replicate_of_every_cycle_is_a_world_of_its_own():
    one = validate._Validation(ONE, "dev_50", 3, 1, lambda: None)
    one.sync *= 2
    assert [played.replicate for played in one._draw("suspend_late")] == [0, 1, 2, 3, 4, 5]


def test_progress_counts_up_to_the_last_phase():
    seen = []
    validate_captures(DATA, runs=1, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(i, 14) for i in range(1, 15)]


def test_labels_of_one_folder_are_captures_of_their_own(device_copy):
    for name in (SYNC, ASYNC):
        shutil.copy(device_copy / name, device_copy / name.replace("dev_50", "again"))
    report = validate_captures(device_copy, runs=1)
    assert [capture.name for capture in report.captures] == ["copy again", "copy dev_50"]


def test_bad_input_is_refused(tmp_path, device_copy):
    assert refused(lambda: validate_captures([])) == "captures: none given"
    assert "no such folder" in refused(lambda: validate_captures(tmp_path / "none"))
    assert "no device capture" in refused(lambda: validate_captures([tmp_path / "copy" / ".." / ".."]))
    assert "given twice" in refused(lambda: validate_captures([device_copy, tmp_path / "." / "copy"]))
    assert refused(lambda: validate_captures(ONE, runs=0)).startswith("runs=0 is outside 1..")
    assert refused(lambda: validate_captures(ONE, seed=-1)).startswith("seed=-1 is outside 0..")
    assert "progress" in refused(lambda: validate_captures(ONE, progress=3))


def test_json_has_the_shape_of_every_validation(report):
    data = json.loads(json.dumps(report.to_json(), allow_nan=False))
    assert data["family"] == "dpm"
    assert [capture["name"] for capture in data["captures"]] == ["arm64-1cpu dev_50", "arm64-4cpu dev_50"]
    for capture in data["captures"]:
        names = [quantity["name"] for quantity in capture["quantities"]]
        assert len(names) == len(set(names))
        for quantity in capture["quantities"]:
            assert quantity.keys() == {
                *("name", "unit", "recorded", "predicted", "error_pct", "limit_pct", "limit", "ok")
            }
        assert capture["modes"][0]["orders"] == [[FIRST_HUB, "usb 1-1.1"]]
        assert capture["modes"][0]["path"][-1].keys() == {"device", "reason", "start_ms", "end_ms"}


def test_a_race_that_never_ends_otherwise_is_plain_json():
    report = validate_captures(ONE, runs=1)
    json.dumps(report.to_json(), allow_nan=False)
    assert all(capture.races for capture in report.captures)


def test_the_frame_has_a_row_for_every_quantity(report):
    assert len(report.to_frame()) == sum(len(capture.quantities) for capture in report.captures)


def test_every_form_of_the_report_has_its_figures(report):
    for text in (report.to_text(), report.to_markdown(), report._repr_html_()):
        assert "critical path of the predicted resume" in text
        assert "usb 1-1.2 before usb 1-1.1" in text
    assert "without shared locks" in report.to_csv()
    assert report.to_text().endswith("limits kept: all fine")
    assert repr(report) == (
        "ValidateReport(captures=['arm64-1cpu dev_50', 'arm64-4cpu dev_50'], all_ok=True)"
    )


def test_a_limit_in_the_unit_of_a_quantity_is_judged():
    swap = Quantity("swap", "ms", 0.0, 4.1, None, "order", limit=4.0)
    result = CaptureResult("c", (swap,))
    assert (swap.ok, result.ok) == (False, False)
    assert ValidateReport((result,)).missed == (swap,)
    with pytest.raises(LookupError, match="no quantity 'x'"):
        result.find("x")


def test_the_command_ends_with_0_when_every_limit_is_kept(run):
    code, out, err = run("validate", "dpm", ONE, "--json", "--runs", RUNS)
    assert (code, err) == (0, "")
    assert json.loads(out)["family"] == "dpm"


def test_the_command_ends_with_1_when_a_limit_is_missed(run, device_copy):
    _later(device_copy / ASYNC, "dpm_resume[16] end", 0.5)
    code, out, _ = run("validate", "dpm", device_copy, "-n", 2)
    assert code == 1
    assert "missed: copy dev_50: figures that differ from truth.json" in out


def test_the_command_ends_with_2_for_bad_input(run, tmp_path):
    code, out, err = run("validate", "dpm", tmp_path / "none")
    assert (code, out) == (2, "")
    assert "no such folder" in err
