"""Commands of the idle family: run, replay, validate, golden."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from torpor import Board
from torpor import idle as family
from torpor.cli.options import (
    BoardOption,
    FormatOption,
    HzOption,
    JsonOption,
    OutputOption,
    PolicyOption,
    RunsOption,
    SeedOption,
    ThreadsOption,
    board_file,
    distinct_policies,
)
from torpor.cli.output import Format, check_outputs, emit, progress_bar


def run(
    board: BoardOption,
    policy: PolicyOption,
    workload: Annotated[
        list[str], typer.Option("--workload", "-w", metavar="W", help="For example 'ipi_timer_burst(cpu=7)'.")
    ],
    duration_s: Annotated[
        float, typer.Option("--duration-s", metavar="S", help="Length of a run in seconds.")
    ] = 10.0,
    runs: RunsOption = 20,
    seed: SeedOption = 1,
    threads: ThreadsOption = 0,
    hz: HzOption = None,
    latency_limit_us: Annotated[
        int | None, typer.Option("--latency-limit-us", metavar="US", help="Latency limit of PM QoS.")
    ] = None,
    disable: Annotated[
        list[str] | None, typer.Option("--disable", metavar="STATE", help="Disable an idle state, by name.")
    ] = None,
    tick_phase_us: Annotated[
        float | None,
        typer.Option("--tick-phase-us", metavar="US", help="Place of the tick grid; default: random."),
    ] = None,
    opp_khz: Annotated[
        int | None,
        typer.Option(
            "--opp-khz", metavar="KHZ", help="Frequency of the clusters that have it; default: highest."
        ),
    ] = None,
    refusal_probability: Annotated[
        float,
        typer.Option("--refusal-probability", metavar="P", help="Chance that the driver refuses an entry."),
    ] = 0.0,
    iowait: Annotated[
        int, typer.Option("--iowait", metavar="N", help="Tasks that wait for I/O on each CPU.")
    ] = 0,
    load: Annotated[int, typer.Option("--load", metavar="N", help="Run-queue load weight.")] = 0,
    form: FormatOption = Format.TEXT,
    json: JsonOption = False,
    output: OutputOption = None,
) -> None:
    """Which idle states governors enter: policies side by side on the same worlds."""
    check_outputs({"--output": output}, board_file(board))
    scenario = family.Scenario(
        Board.load(board, tick_hz=hz),
        [family.parse_workload(text) for text in workload],
        duration_s=duration_s,
        latency_limit_us=latency_limit_us,
        disabled_states=disable or (),
        tick_phase_us=tick_phase_us,
        opp_khz=opp_khz,
        refusal_probability=refusal_probability,
        iowait=iowait,
        load=load,
    )
    results = []
    for one in distinct_policies(policy, family.parse_policy):
        with progress_bar(str(one)) as progress:
            results.append(scenario.run(one, runs=runs, seed=seed, threads=threads, progress=progress))
    emit(family.summarise(results), Format.JSON if json else form, output)


def replay(
    trace: Annotated[Path, typer.Argument(help="A kernel's text trace, plain or gzip.")],
    board: BoardOption,
    policy: PolicyOption,
    hz: HzOption = None,
    latency_limit_us: Annotated[
        int | None, typer.Option("--latency-limit-us", metavar="US", help="Latency limit of PM QoS.")
    ] = None,
    form: FormatOption = Format.TEXT,
    json: JsonOption = False,
    output: OutputOption = None,
) -> None:
    """Run governors over a recorded trace, against the oracle and against what the trace recorded."""
    check_outputs({"--output": output}, trace, board_file(board))
    loaded = Board.load(board, tick_hz=hz)
    chosen = distinct_policies(policy, family.parse_policy)
    report = family.replay(trace, loaded, chosen, latency_limit_us=latency_limit_us)
    emit(report, Format.JSON if json else form, output)


def validate(
    captures: Annotated[list[Path], typer.Argument(metavar="CAPTURE...", help="Folders of real captures.")],
    form: FormatOption = Format.TEXT,
    json: JsonOption = False,
    output: OutputOption = None,
) -> None:
    """Compare the idle model with a real kernel's captures; exit 1 if a limit is missed."""
    check_outputs({"--output": output}, *captures)
    report = family.validate_captures(captures)
    emit(report, Format.JSON if json else form, output)
    raise typer.Exit(0 if report.all_ok else 1)


def golden(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of decision vectors.")],
    governor: Annotated[
        list[str] | None,
        typer.Option("--governor", metavar="KEY", help="Only these governors; may be repeated."),
    ] = None,
    form: FormatOption = Format.TEXT,
    json: JsonOption = False,
    output: OutputOption = None,
) -> None:
    """Check governors against decision vectors of real kernels; exit 1 on any difference."""
    check_outputs({"--output": output}, folder)
    report = family.check_golden(folder, governor or None)
    emit(report, Format.JSON if json else form, output)
    raise typer.Exit(0 if report.all_equal else 1)
