"""Commands of the freezer family."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from torpor import Board, ConfigError
from torpor import freezer as family
from torpor.cli.options import (
    BoardOption,
    FormatOption,
    HzOption,
    JsonOption,
    OutputOption,
    RunsOption,
    SeedOption,
    ThreadsOption,
)
from torpor.cli.output import Format, emit, progress_bar
from torpor.files import check_writable
from torpor.freezer.plots import plot_freezes
from torpor.plot import save_figure


def _population(
    board: Board, census: Path | None, wait_channels: Path | None, counts: list[str]
) -> family.Population | None:
    """Tasks that the options ask for; None is the board's."""
    if census is not None and wait_channels is not None:
        raise ConfigError("--census and --wait-channels both say which tasks there are: give one of them")
    if census is not None:
        population = family.Population.from_census(census)
    elif wait_channels is not None:
        population = family.Population.from_wait_channels(wait_channels)
        for note in population.notes:
            print(f"torpor: {wait_channels}: {note}", file=sys.stderr)
    elif counts:
        population = family.Population.from_board(board)
    else:
        return None
    for name, number in _numbers("--count", "GROUP=N", counts).items():
        population = population.with_count(name, number)
    return population


def _numbers(option: str, form: str, texts: list[str]) -> dict[str, int]:
    """Read what is written in the form, such as NAME=N."""
    numbers: dict[str, int] = {}
    for text in texts:
        name, equals, number = (part.strip() for part in text.partition("="))
        if not equals or not name or not number.removeprefix("-").isdecimal():
            raise ConfigError(f"{option} '{text}': write it as {form} with a whole number")
        if name in numbers:
            raise ConfigError(f"{option} '{text}': {name} is given twice")
        numbers[name] = int(number)
    return numbers


def _opp(texts: list[str]) -> int | dict[str, int] | None:
    """Frequency for all clusters, or by cluster."""
    if len(texts) == 1 and texts[0].strip().isdecimal():
        return int(texts[0])
    return _numbers("--opp-khz", "KHZ or CLUSTER=KHZ", texts) or None


def _time(text: str | None) -> float | str | None:
    """Read a number where there is one; other text is a distribution, or refused by the scenario."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def run(
    board: BoardOption,
    policy: Annotated[
        list[str],
        typer.Option(
            "--policy",
            "-p",
            metavar="P",
            help="A version, or for example 'freezer(version=full, cap_us=4000)'; may be repeated; see "
            "torpor policies.",
        ),
    ],
    census: Annotated[
        Path | None, typer.Option("--census", metavar="FILE", help="Tasks: a CSV file of site and count.")
    ] = None,
    wait_channels: Annotated[
        Path | None,
        typer.Option("--wait-channels", metavar="FILE", help="Tasks: the wait channels of all threads."),
    ] = None,
    count: Annotated[
        list[str] | None,
        typer.Option("--count", metavar="GROUP=N", help="Number of tasks of one group; may be repeated."),
    ] = None,
    opp_khz: Annotated[
        list[str] | None,
        typer.Option(
            "--opp-khz",
            metavar="[CLUSTER=]KHZ",
            help="Frequency of the clusters that have it, or of one; may be repeated; default: highest.",
        ),
    ] = None,
    cpus: Annotated[int | None, typer.Option("--cpus", help="Number of CPUs; default: the board's.")] = None,
    hz: HzOption = None,
    since_tick_us: Annotated[
        float | None,
        typer.Option(
            "--since-tick-us", help="From the last tick to the start of the freeze; default: random."
        ),
    ] = None,
    preempt: Annotated[
        str | None, typer.Option("--preempt", help="none or full; default here and below: the board's.")
    ] = None,
    kernel_loop_preempt: Annotated[
        str | None, typer.Option("--kernel-loop-preempt", help="The same, of the kernel loop.")
    ] = None,
    walker_wake: Annotated[
        str | None, typer.Option("--walker-wake", help="head or tail: where a woken walker queues.")
    ] = None,
    wheel_extra: Annotated[
        int | None, typer.Option("--wheel-extra", help="Ticks added to msleep: 1 from 4.8 on.")
    ] = None,
    range_mode: Annotated[
        str | None, typer.Option("--range-mode", help="hard, tick, uniform or soft: ends of range sleeps.")
    ] = None,
    timeout_ms: Annotated[int | None, typer.Option("--timeout-ms", help="When the freezer gives up.")] = None,
    order: Annotated[
        str | None, typer.Option("--order", help="listed or shuffled: order of the task list.")
    ] = None,
    loops: Annotated[str, typer.Option("--loops", help="both, or user_only.")] = "both",
    wakeup_at_us: Annotated[
        str | None,
        typer.Option(
            "--wakeup-at-us", metavar="T", help="When a wakeup event arrives: a time or distribution."
        ),
    ] = None,
    attempts: Annotated[int, typer.Option("--attempts", help="Tries, when freezing fails.")] = 1,
    retry_gap_us: Annotated[float, typer.Option("--retry-gap-us", help="Time between tries.")] = 0.0,
    asleep_us: Annotated[
        float, typer.Option("--asleep-us", help="From the freeze to the thaw: what wakes then runs on.")
    ] = 0.0,
    cost: Annotated[
        list[str] | None,
        typer.Option("--cost", metavar="NAME=N", help="A cost in place of the board's; may be repeated."),
    ] = None,
    queues: Annotated[
        str, typer.Option("--queues", help="global: one ready queue, the reference; or per_cpu.")
    ] = "global",
    placement: Annotated[
        str, typer.Option("--placement", help="first_idle, biggest_idle or wake_affine.")
    ] = "first_idle",
    slice_us: Annotated[float, typer.Option("--slice-us", help="Time slice; 0: none.")] = 0.0,
    runs: RunsOption = 20,
    seed: SeedOption = 1,
    threads: ThreadsOption = 0,
    form: FormatOption = Format.TEXT,
    json: JsonOption = False,
    output: OutputOption = None,
    timeline: Annotated[
        Path | None,
        typer.Option(
            "--timeline",
            metavar="FILE",
            help="Draw the first replicate of each policy there (png, pdf, svg).",
        ),
    ] = None,
) -> None:
    """How long freezing all tasks takes: freezers side by side on the same worlds."""
    loaded = Board.load(board, tick_hz=hz)
    scenario = family.Scenario(
        loaded,
        _population(loaded, census, wait_channels, count or []),
        opp_khz=_opp(opp_khz or []),
        cpus=cpus,
        since_tick_us=since_tick_us,
        preempt=preempt,
        kernel_loop_preempt=kernel_loop_preempt,
        walker_wake=walker_wake,
        wheel_extra=wheel_extra,
        range_mode=range_mode,
        timeout_ms=timeout_ms,
        order=order,
        loops=loops,
        wakeup_at_us=_time(wakeup_at_us),
        attempts=attempts,
        retry_gap_us=retry_gap_us,
        asleep_us=asleep_us,
        costs=_numbers("--cost", "NAME=N", cost) if cost else None,
        queues=queues,
        placement=placement,
        slice_us=slice_us,
    )
    for path in (timeline, output):
        if path is not None:
            check_writable(path)
    if timeline is not None and timeline == output:
        raise ConfigError(f"{timeline}: --timeline and --output name one file")
    chosen = list(dict.fromkeys(family.parse_policy(text) for text in policy))
    results = []
    for one in chosen:
        with progress_bar(str(one)) as progress:
            results.append(scenario.run(one, runs=runs, seed=seed, threads=threads, progress=progress))
    if timeline is not None:
        save_figure(lambda figure: plot_freezes([result.timeline(0) for result in results], figure), timeline)
    emit(family.summarise(results), Format.JSON if json else form, output)


def validate(
    captures: Annotated[list[Path], typer.Argument(metavar="CAPTURE...", help="Folders of real captures.")],
    form: FormatOption = Format.TEXT,
    json: JsonOption = False,
    output: OutputOption = None,
) -> None:
    """Compare the freezer model with a real kernel's captures; exit 1 if a limit is missed."""
    report = family.validate_captures(captures)
    emit(report, Format.JSON if json else form, output)
    raise typer.Exit(0 if report.all_ok else 1)
