"""The command line: exit codes, one clear line for bad input, nothing half-written."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import torpor
from command_line import Run, check_one_line

TOY = torpor.Board.load("toy")

ROW = "          <idle>-0       [{cpu:03d}] d....    {time:.6f}: cpu_idle: state={state} cpu_id={cpu}\n"
GOOD_TRACE = "# tracer: nop\n" + "".join(
    ROW.format(cpu=0, time=1.0 + 0.004 * i, state=1 if i % 2 == 0 else 4294967295) for i in range(40)
)

RUN_TOY = ("run", "idle", "--board", "toy", "--duration-s", "0.05", "--runs", "2")
LOAD = ("--workload", "periodic_timer(period_us=5000)")


def test_run_prints_one_column_per_policy(run: Run) -> None:
    code, out, err = run(*RUN_TOY, *LOAD, "--policy", "menu(version=4.18)", "--policy", "oracle")
    assert (code, err) == (0, "")
    assert "menu(version=4.18)" in out
    assert "oracle()" in out


def test_every_condition_of_a_scenario_is_an_option(run: Run) -> None:
    options = (
        "--tick-phase-us",
        "0",
        "--opp-khz",
        "1000000",
        "--refusal-probability",
        "0.1",
        "--iowait",
        "1",
        "--load",
        "9",
    )
    code, out, _ = run(
        *RUN_TOY, *LOAD, "--policy", "menu", "--policy", "menu", *options, "--disable", "cpu-off"
    )
    assert code == 0
    assert out.count("menu(version=6.1.192)") == 1


@pytest.mark.parametrize("group", [(), ("board",)])
def test_a_group_without_a_command_prints_its_help(run: Run, group: tuple[str, ...]) -> None:
    code, out, err = run(*group)
    assert code == 2
    assert "Usage" in out + err
    assert "torpor: " not in err


def test_json_is_one_object_and_nothing_else(run: Run) -> None:
    code, out, _ = run(*RUN_TOY, *LOAD, "--policy", "ladder", "--json")
    assert code == 0
    assert out.count("\n") == 1
    assert json.loads(out)["policies"] == ["ladder(version=6.1)"]


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "csv", "json"])
def test_every_form_prints(run: Run, form: str) -> None:
    code, out, _ = run(*RUN_TOY, *LOAD, "--policy", "teo", "--format", form)
    assert code == 0
    assert "teo" in out


def test_policies_lists_versions_and_sources(run: Run) -> None:
    code, out, _ = run("policies", "--json")
    assert code == 0
    names = {policy["name"]: policy for policy in json.loads(out)["policies"]}
    assert "6.12.117" in names["menu"]["versions"]
    assert names["oracle"]["bound"] is True


def test_board_list_names_the_catalogue(run: Run) -> None:
    _, out, _ = run("board", "list")
    for name in ("hikey", "hikey-960", "pixel-6", "rk3399", "x86-skylake", "toy"):
        assert name in out


def test_board_diff_tells_by_its_exit_code(run: Run, tmp_path: Path) -> None:
    TOY.with_value("tick.hz", 100).save(tmp_path / "slow.toml")
    assert run("board", "diff", "toy", tmp_path / "slow.toml")[0] == 1
    assert run("board", "diff", "toy", "toy")[0] == 0


def test_version(run: Run) -> None:
    assert run("--version")[1].strip() == torpor.__version__


# Bad input


def test_an_unknown_policy_lists_the_known_ones(run: Run) -> None:
    message = check_one_line(run(*RUN_TOY, *LOAD, "--policy", "meno(version=4.18)"))
    assert "meno" in message
    assert "teo" in message


def test_an_unknown_version_lists_the_known_ones(run: Run) -> None:
    message = check_one_line(run(*RUN_TOY, *LOAD, "--policy", "menu(version=4.17)"))
    assert "4.17" in message
    assert "6.12.117" in message


def test_no_replicates(run: Run) -> None:
    assert "0" in check_one_line(
        run("run", "idle", "--board", "toy", *LOAD, "--policy", "menu", "--runs", "0")
    )
    assert "0" in check_one_line(run("reproduce", "idle-2018", "--runs", "0"))


def test_hz_zero(run: Run) -> None:
    assert "hz=0 is outside 1..10000" in check_one_line(run(*RUN_TOY, *LOAD, "--policy", "menu", "--hz", "0"))


def test_an_unknown_board_lists_the_catalogue(run: Run) -> None:
    message = check_one_line(run("run", "idle", "--board", "hiky", *LOAD, "--policy", "menu"))
    assert "hikey" in message


def test_an_unknown_experiment_lists_the_known_ones(run: Run) -> None:
    assert "idle-2018" in check_one_line(run("reproduce", "idle-2017"))


def test_an_unknown_family(run: Run) -> None:
    assert "idle" in check_one_line(run("validate", "frezer", "."))


def test_an_unknown_workload_and_parameter(run: Run) -> None:
    assert "ipi_timer_burst" in check_one_line(run(*RUN_TOY, "--workload", "burst()", "--policy", "menu"))
    assert "mean_gap_us" in check_one_line(
        run(*RUN_TOY, "--workload", "poisson_interrupts(gap=3)", "--policy", "menu")
    )
    assert "write it as" in check_one_line(
        run(*RUN_TOY, "--workload", "poisson_interrupts(", "--policy", "menu")
    )


def test_a_seed_out_of_range(run: Run) -> None:
    assert "seed=-1" in check_one_line(run(*RUN_TOY, *LOAD, "--policy", "menu", "--seed", "-1"))


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (("[tick]", "[tick]\nperiod = 3"), "period"),
        (("exit_latency_us = ", "exit_latency_us = -"), "exit_latency_us"),
        (("\nhz = ", "\nhz = 0 # "), "tick.hz"),
    ],
)
def test_a_bad_board_file_names_file_line_and_key(
    run: Run, tmp_path: Path, change: tuple[str, str], found: str
) -> None:
    text = TOY.to_toml()
    assert change[0] in text
    path = tmp_path / "bad.toml"
    path.write_text(text.replace(*change))
    message = check_one_line(run("board", "validate", path))
    assert "bad.toml" in message
    assert found in message


@pytest.mark.parametrize(
    "arguments",
    [
        ("--nope",),
        ("nope",),
        ("run", "idle", "--board", "toy"),
        ("run", "idle", "--board", "toy", *LOAD, "--policy", "menu", "--runs", "x"),
        ("run", "idle", "--board", "toy", *LOAD, "--policy", "menu", "--format", "nope"),
        ("board", "show"),
        ("validate", "idle"),
    ],
)
def test_a_mistake_in_use_is_one_line(run: Run, arguments: tuple[str, ...]) -> None:
    check_one_line(run(*arguments))


@pytest.mark.parametrize(
    ("workload", "found"),
    [
        ("poisson_interrupts(mean_gap_us='5')", "mean_gap_us='5'"),
        ("poisson_interrupts(mean_gap_us=None)", "mean_gap_us=None"),
        ("ipi_timer_burst(cpu=0.5)", "cpu=0.5"),
        ("ipi_timer_burst(cpu=99999999999)", "cpu=99999999999"),
        ("ipi_timer_burst(timer_repeats=1.5)", "timer_repeats=1.5"),
        ("bursty_interrupts(burst=5)", "burst=5"),
        ("lognormal_interrupts(median_gap_us=5, sigma='a')", "sigma='a'"),
        ("recorded_interrupts(cpu=0, times_us=5)", "times_us=5"),
        ("periodic_timer(period_us=5000, wheel='x')", "wheel='x'"),
        ("poisson_interrupts(mean_gap_us=5, mean_gap_us=6)", "once"),
        ("poisson_interrupts(mean_gap_us=1e300)", "mean_gap_us=1e+300"),
    ],
)
def test_a_parameter_of_the_wrong_type_is_named(run: Run, workload: str, found: str) -> None:
    assert found in check_one_line(run(*RUN_TOY, "--workload", workload, "--policy", "menu"))


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--runs", "1000000000"),
        ("--runs", "9" * 30),
        ("--threads", "-1"),
        ("--latency-limit-us", "9" * 30),
        ("--duration-s", "nan"),
        ("--duration-s", "1e30"),
        ("--seed", "9" * 30),
    ],
)
def test_a_number_out_of_range_is_named(run: Run, option: str, value: str) -> None:
    name = option.removeprefix("--").replace("-", "_")
    assert name in check_one_line(run(*RUN_TOY, *LOAD, "--policy", "menu", option, value))


def test_an_output_without_unicode_gets_ascii() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "torpor", *RUN_TOY, *LOAD, "--policy", "menu"],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        check=True,
    )
    assert b"+/-" in ended.stdout


def test_both_outputs_are_checked_before_the_work(run: Run, tmp_path: Path) -> None:
    plot, out = tmp_path / "x.svg", tmp_path / "no" / "x.txt"
    assert "no such folder" in check_one_line(run("reproduce", "idle-2018", "--plot", plot, "--output", out))
    assert "one file" in check_one_line(run("reproduce", "idle-2018", "--plot", plot, "--output", plot))
    assert list(tmp_path.iterdir()) == []


def bad_traces() -> dict[str, tuple[bytes, str]]:
    good = GOOD_TRACE.encode()
    backwards = GOOD_TRACE + ROW.format(cpu=0, time=0.5, state=1)
    return {
        "empty": (b"", "empty"),
        "binary": (bytes(range(256)) * 40, ""),
        "foreign": (b"hello\nworld\n" * 30, ""),
        "truncated gzip": (gzip.compress(good)[:-20], ""),
        "no cpu_idle": (good.replace(b"cpu_idle", b"cpu_odle"), "cpu_idle"),
        "backwards": (backwards.encode(), "back"),
        "exits only": (good.replace(b"state=1", b"state=4294967295"), "no idle period"),
        "cpu missing": (good.replace(b"[000]", b"[009]").replace(b"cpu_id=0", b"cpu_id=9"), "9"),
    }


@pytest.mark.parametrize("name", sorted(bad_traces()))
def test_a_bad_trace_is_one_line_and_writes_nothing(run: Run, tmp_path: Path, name: str) -> None:
    content, found = bad_traces()[name]
    trace = tmp_path / "bad.trace"
    trace.write_bytes(content)
    out = tmp_path / "out.txt"
    message = check_one_line(run("replay", trace, "--board", "toy", "--governor", "menu", "--output", out))
    assert found in message
    assert "bad.trace" in message or name == "cpu missing"
    assert list(tmp_path.iterdir()) == [trace]


def test_a_trace_that_is_not_there(run: Run, tmp_path: Path) -> None:
    assert "none.trace" in check_one_line(
        run("replay", tmp_path / "none.trace", "--board", "toy", "--governor", "menu")
    )


def test_an_output_that_cannot_be_written(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "no" / "such" / "folder.txt"
    assert "folder.txt" in check_one_line(run(*RUN_TOY, *LOAD, "--policy", "menu", "--output", out))
    plot = tmp_path / "no" / "plot.png"
    assert "plot.png" in check_one_line(run("reproduce", "idle-2018", "--runs", "2", "--plot", plot))
    assert list(tmp_path.iterdir()) == []


def test_an_output_is_written_whole(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "table.csv"
    code, printed, _ = run(*RUN_TOY, *LOAD, "--policy", "menu", "--format", "csv", "--output", out)
    assert (code, printed) == (0, "")
    assert out.read_text().endswith("\n")
    assert list(tmp_path.iterdir()) == [out]


def test_ctrl_c_ends_a_long_run_with_one_line() -> None:
    arguments = ["torpor", "run", "idle", "--board", "hikey", "--policy", "menu", "--runs", "1000000"]
    arguments += ["--workload", "poisson_interrupts(mean_gap_us=100)"]
    code = (
        f"import sys; from torpor import cli; sys.argv = {arguments}; print('ready', flush=True); cli.main()"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    time.sleep(2.0)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert out == b""
    assert err.decode() == "torpor: interrupted\n"


def test_a_reader_that_goes_away_is_no_error() -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as gone:
        ended = subprocess.run(
            [sys.executable, "-m", "torpor", "policies"], stdout=gone, stderr=subprocess.PIPE, check=False
        )
    assert ended.stderr == b""
    assert ended.returncode == 0


# Standard error, interruption, start


def test_an_output_never_replaces_a_board_or_a_trace(run: Run, tmp_path: Path) -> None:
    board = tmp_path / "mine.toml"
    TOY.save(board)
    text = board.read_text()
    trace = tmp_path / "trace.txt"
    trace.write_text(GOOD_TRACE)
    load = (*LOAD, "--policy", "menu", "--duration-s", "0.05")
    for arguments in (
        ("run", "idle", "--board", board, *load, "--output", board),
        ("replay", trace, "--board", board, "--policy", "menu", "--output", board),
        ("replay", trace, "--board", "toy", "--policy", "menu", "--output", trace),
    ):
        assert "would overwrite the file that is read" in check_one_line(run(*arguments))
    assert board.read_text() == text
    assert trace.read_text() == GOOD_TRACE
    for command in (("golden", tmp_path), ("validate", "idle", tmp_path)):
        assert "would be written into the folder" in check_one_line(run(*command, "-o", tmp_path / "new"))


def in_shell(redirection: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    line = f'"$0" -m torpor "$@" {redirection}'
    command = ["sh", "-c", line, sys.executable, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
def test_a_warning_that_cannot_be_written_costs_no_result(redirection: str, tmp_path: Path) -> None:
    channels = tmp_path / "channels.txt"
    channels.write_text("  3 pipe_read\n  1 odd_wait\n")
    options = ("--board", "toy", "-p", "full", "--runs", "1", "--wait-channels", channels)
    ended = in_shell(redirection, "run", "freezer", *options)
    assert ended.returncode == 0
    assert "4 tasks" in ended.stdout
    assert "odd_wait" not in ended.stdout


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
def test_an_error_that_cannot_be_written_keeps_its_exit_code(redirection: str) -> None:
    ended = in_shell(redirection, "run", "freezer", "--board", "toy", "-p", "full", "--hz", "0")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert in_shell(redirection, "run", "freezer").returncode == 2


INTERRUPTED = """
import signal, sys
from torpor.__main__ import main

class Interrupting:
    @staticmethod
    def find_spec(name, *_):
        if name == "torpor.cli":
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Interrupting)
main()
"""


def test_an_interrupt_while_modules_load_is_no_traceback() -> None:
    command = [sys.executable, "-c", INTERRUPTED]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "torpor: interrupted\n")


def test_the_package_alone_loads_nothing_slow() -> None:
    code = "import sys, torpor; print(*sorted({'scipy', 'pandas', 'typer'} & set(sys.modules)))"
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert ended.stdout.strip() == ""


def test_a_policy_given_twice_runs_once_and_is_named(run: Run) -> None:
    _, out, err = run(*RUN_TOY, *LOAD, "--policy", "menu", "--policy", "menu(version=6.1.192)")
    assert out.count("menu(version=6.1.192)") == 1
    assert "menu(version=6.1.192) is given twice; it runs once" in err
