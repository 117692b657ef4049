# SPDX-License-Identifier: MIT
"""Replay of recorded wakeups: what comes out adds up, and what does not fit is refused."""

import json
import math
from pathlib import Path

import pytest

from torpor import Board, ConfigError
from torpor.idle import replay
from torpor.idle.trace import IdleTrace
from torpor.importers import FtraceLog, read_ftrace

CAPTURE = Path(__file__).parents[1] / "data" / "idle-arm64-quiet"
TRACE = CAPTURE / "idle_menu_quiet.trace.gz"
POLICIES = ["menu(version=6.1.192)", "ladder(version=6.1)", "fixed(state=0)", "delayed_oracle(delay_us=500)"]


@pytest.fixture(scope="module")
def board():
    return Board.load("hikey", tick_hz=250)


@pytest.fixture(scope="module")
def report(board):
    return replay(TRACE, board, POLICIES)


@pytest.fixture(scope="module")
def truth():
    return json.loads((CAPTURE / "truth.json").read_text())["traces"]["idle_menu_quiet.trace"]


def test_record_and_oracle_frame_the_policies(report):
    assert [one.policy for one in report.policies] == ["recorded", *POLICIES, "oracle()"]


def test_recorded_entries_and_tick_stops_are_those_of_the_trace(report, truth):
    recorded = report["recorded"]
    assert recorded.total.tick_stops == sum(truth["tick_stops_by_cpu"].values())
    # The truth leaves out the periods that the end of the trace cuts, at most one a CPU.
    for cpu in recorded.cpus:
        counted = sum(truth["entries_by_cpu_state"][str(cpu.cpu)].values())
        assert counted <= sum(cpu.entries.values()) <= counted + 1


def test_recorded_residency_is_that_of_the_trace(board, truth):
    decisions = IdleTrace(
        read_ftrace(TRACE),
        {
            c: [(s.exit_latency_ns, s.target_residency_ns, s.polling) for s in k.idle_states]
            for k in board.clusters
            for c in k.cpus
        },
        hz=250,
    ).decisions()
    whole = decisions[decisions["end"] != "window"]
    for (cpu, state), rows in whole.groupby(["cpu", "state"]):
        # A microsecond each for the line itself.
        expected = truth["residency_s_by_cpu_state"][str(cpu)][str(state)]
        assert rows["residency_ns"].sum() * 1e-9 == pytest.approx(expected - 1e-6 * len(rows), abs=1e-6)


def test_no_policy_needs_less_energy_than_the_oracle(report):
    for name in POLICIES:
        assert report[name].total.regret_mj > 0.0


def test_regrets_of_the_cpus_add_up(report):
    for one in report.policies:
        assert sum(cpu.regret_mj for cpu in one.cpus) == pytest.approx(one.total.regret_mj, abs=1e-9)


def test_deep_states_cost_latency_and_shallow_ones_energy(report):
    shallow, oracle = report["fixed(state=0)"].total, report["oracle()"].total
    assert shallow.energy_mj > 10 * oracle.energy_mj
    assert shallow.wake_latency_p50_us == pytest.approx(3.0)
    assert oracle.wake_latency_max_us == pytest.approx(700.0)


def test_latency_limit_keeps_the_oracle_out_of_the_deepest_state(board):
    limited = replay(TRACE, board, "menu", latency_limit_us=1000, warm_up=0)
    assert limited["oracle()"].total.entries["cluster-sleep"] == 0


def test_board_without_power_has_no_energy_and_says_so(board):
    bare = board.to_dict()
    for cluster in bare["clusters"]:
        for item in [*cluster["opps"], *cluster["idle_states"]]:
            item.pop("power_mw", None)
            item.pop("cluster_power_mw", None)
    bare["provenance"] = {k: v for k, v in bare["provenance"].items() if "power" not in k}
    report = replay(TRACE, Board.from_dict(bare), "menu")
    assert math.isnan(report["recorded"].total.energy_mj)
    assert report.to_json()["policies"][0]["energy_mj"] is None
    assert report.tables()[0].to_frame()["energy (mJ)"].isna().all()


def test_json_is_strict_and_frames_have_every_row(report):
    text = json.dumps(report.to_json(), allow_nan=False)
    assert len(json.loads(text)["policies"]) == 6
    assert len(report.to_frame()) == 6
    assert len(report.to_frame("cpu")) == 6 * 8
    assert len(report.to_frame("state")) == 6 * 8 * 3


def test_every_printed_form_names_every_policy(report):
    for text in (report.to_text(), report.to_markdown(), report.to_csv(), report._repr_html_(), repr(report)):
        assert all(name in text for name in ("ladder", "oracle", "recorded"))


def test_log_that_is_read_already_can_be_given(board, report):
    again = replay(read_ftrace(TRACE), board, POLICIES)
    assert again["menu(version=6.1.192)"] == report["menu(version=6.1.192)"]


def test_automatic_workload_finds_no_pattern_in_a_quiet_trace(board):
    walk = IdleTrace(read_ftrace(TRACE), {cpu: [(1000, 1000, False)] * 3 for cpu in range(8)}, hz=250)
    assert walk.core.workload_tasks == []


def _rows(*rows):
    return FtraceLog(b"".join(b"<idle>-0 [00%d] d.... %.6f: %s\n" % row for row in rows), "t")


def test_cpu_that_the_board_lacks_is_an_error(board):
    log = _rows((9, 1.0, b"cpu_idle: state=0 cpu_id=9"))
    with pytest.raises(ConfigError, match="CPU 9 of the trace has no idle table"):
        replay(log, board, "menu")


def test_state_that_the_board_lacks_is_an_error(board):
    log = _rows((2, 1.0, b"cpu_idle: state=5 cpu_id=2"))
    with pytest.raises(ConfigError, match=r"CPU 2 enters state 5, but its idle table has states 0\.\.2"):
        replay(log, board, "menu")


def test_trace_without_idle_events_is_an_error(board):
    with pytest.raises(ConfigError, match="no cpu_idle event"):
        replay(_rows((0, 1.0, b"irq_handler_entry: irq=1 name=x")), board, "menu")


def test_other_hz_is_an_error_that_tells_the_right_one():
    with pytest.raises(ConfigError, match="HZ = 250"):
        replay(TRACE, Board.load("hikey", tick_hz=1000), "menu")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"policies": []}, "policies: none given"),
        ({"policies": "magic"}, "magic"),
        ({"policies": "fixed(state=7)"}, "7"),
        ({"policies": "haltpoll"}, "polling"),
        ({"policies": "menu", "opp_khz": 1}, "opp_khz=1"),
        ({"policies": "menu", "warm_up": -1}, "warm_up: -1"),
        ({"policies": "menu", "latency_limit_us": -5}, "latency_limit_us: -5"),
    ],
)
def test_argument_that_cannot_be_is_an_error_that_names_it(board, arguments, message):
    with pytest.raises(ConfigError) as caught:
        replay(TRACE, board, **arguments)
    assert message in str(caught.value)
