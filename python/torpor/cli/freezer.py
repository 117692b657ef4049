"""Commands of the freezer family."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from torpor import Board, ConfigError
from torpor import freezer as family
from torpor.cli.options import (
    FormatOption,
    FreezerBoardOption,
    HzOption,
    JsonOption,
    OutputOption,
    RunsOption,
    SeedOption,
    ThreadsOption,
    board_file,
    distinct_policies,
)
from torpor.cli.output import Format, check_outputs, emit, progress_bar, warn
from torpor.freezer.plots import plot_freezes
from torpor.plot import save_figure


class Preempt(StrEnum):
    """Whether a pass gives up its CPU before it sleeps."""

    NONE = "none"
    FULL = "full"


class WalkerWake(StrEnum):
    """Where a walker that wakes enters the ready queue."""

    HEAD = "head"
    TAIL = "tail"


class RangeMode(StrEnum):
    """When a range sleep ends."""

    HARD = "hard"
    TICK = "tick"
    UNIFORM = "uniform"
    SOFT = "soft"


class Order(StrEnum):
    """Order of the task list."""

    LISTED = "listed"
    SHUFFLED = "shuffled"


class Loops(StrEnum):
    """Whether kernel threads are frozen as well."""

    USER_ONLY = "user_only"
    BOTH = "both"


class Queues(StrEnum):
    """Ready queues."""

    GLOBAL = "global"
    PER_CPU = "per_cpu"


class Placement(StrEnum):
    """Which idle CPU a woken task takes."""

    FIRST_IDLE = "first_idle"
    BIGGEST_IDLE = "biggest_idle"
    WAKE_AFFINE = "wake_affine"


def _text(choice: StrEnum | None) -> str | None:
    return None if choice is None else choice.value


def _population(
    board: Board,
    census: Path | None,
    wait_channels: Path | None,
    generate: str | None,
    counts: list[str],
    d_ends_us: str | None,
    max_hidden: float,
) -> family.Population | None:
    """Tasks that the options ask for; None is the board's."""
    sources = {"--census": census, "--wait-channels": wait_channels, "--generate": generate}
    given = [option for option, source in sources.items() if source is not None]
    if len(given) > 1:
        raise ConfigError(f"{' and '.join(given)} say which tasks there are: give one of them")
    if generate is not None:
        population = family.Population.from_text(f"generate({generate})")
    elif census is not None:
        population = family.Population.from_census(census)
    elif wait_channels is not None:
        population = family.Population.from_wait_channels(
            wait_channels, d_ends_us=_time(d_ends_us), max_hidden=max_hidden
        )
    elif counts:
        population = family.Population.from_board(board)
    else:
        return None
    for note in population.notes:
        warn(f"{census or wait_channels}: {note}")
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
    for text in texts:
        if text.strip().isdecimal():
            form = "give it once and alone, or CLUSTER=KHZ for each"
            raise ConfigError(f"--opp-khz '{text}': a frequency without a cluster is for all of them: {form}")
    return _numbers("--opp-khz", "KHZ or CLUSTER=KHZ", texts) or None


def _work(text: str) -> family.WorkItem:
    """Read a work item, written as RUNS_US or RUNS_US@QUEUED_US."""
    runs, at, queued = text.rpartition("@")
    try:
        return family.WorkItem(
            runs_us=_time(runs if at else queued) or 0, queued_at_us=float(queued) if at else 0
        )
    except ValueError as error:
        detail = str(error) if isinstance(error, ConfigError) else "QUEUED_US is a number"
        raise ConfigError(f"--work '{text}': write it as RUNS_US@QUEUED_US: {detail}") from None


def _time(text: str | None) -> float | str | None:
    """Read a number where there is one; other text is a distribution, or refused by the scenario."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def run(
    board: FreezerBoardOption,
    policy: Annotated[
        list[str],
        typer.Option(
            "--policy",
            "-p",
            metavar="P",
            help="A version, or for example 'full(cap_us=4000)'; may be repeated; see torpor policies.",
        ),
    ],
    census: Annotated[
        Path | None, typer.Option("--census", metavar="FILE", help="Tasks: a CSV file of site and count.")
    ] = None,
    wait_channels: Annotated[
        Path | None,
        typer.Option("--wait-channels", metavar="FILE", help="Tasks: the wait channels of all threads."),
    ] = None,
    d_ends_us: Annotated[
        str | None,
        typer.Option("--d-ends-us", metavar="T", help="When D waits of --wait-channels end; default: never."),
    ] = None,
    max_hidden: Annotated[
        float,
        typer.Option("--max-hidden", metavar="X", help="Share of --wait-channels that may show none."),
    ] = 0.1,
    generate: Annotated[
        str | None,
        typer.Option("--generate", metavar="G", help="Tasks: generated, as 'tasks=1000, woken_share=0.3'."),
    ] = None,
    work: Annotated[
        list[str] | None,
        typer.Option(
            "--work", metavar="RUNS_US[@QUEUED_US]", help="Work on a freezable workqueue; may be repeated."
        ),
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
            help="Frequency of the clusters that have it, or of one (may be repeated); default: highest.",
        ),
    ] = None,
    cpus: Annotated[
        int | None, typer.Option("--cpus", metavar="N", help="Number of CPUs; default: the board's.")
    ] = None,
    hz: HzOption = None,
    since_tick_us: Annotated[
        float | None,
        typer.Option("--since-tick-us", metavar="US", help="Last tick to start of freeze; default: random."),
    ] = None,
    preempt: Annotated[
        Preempt | None,
        typer.Option("--preempt", help="Does a pass yield before it sleeps; default: the board's."),
    ] = None,
    kernel_loop_preempt: Annotated[
        Preempt | None,
        typer.Option("--kernel-loop-preempt", help="The same, of the kernel loop."),
    ] = None,
    walker_wake: Annotated[
        WalkerWake | None,
        typer.Option("--walker-wake", help="Where a woken walker queues; default: the board's."),
    ] = None,
    wheel_extra: Annotated[
        int | None,
        typer.Option("--wheel-extra", metavar="N", help="Ticks added to msleep: 1 from 4.8 on."),
    ] = None,
    range_mode: Annotated[
        RangeMode | None,
        typer.Option("--range-mode", help="When range sleeps end; default: the board's."),
    ] = None,
    timeout_ms: Annotated[
        int | None, typer.Option("--timeout-ms", metavar="MS", help="When the freezer gives up.")
    ] = None,
    order: Annotated[
        Order | None, typer.Option("--order", help="Order of the task list; default: the board's.")
    ] = None,
    loops: Annotated[Loops, typer.Option("--loops", help="Whether to freeze kernel threads.")] = Loops.BOTH,
    wakeup_at_us: Annotated[
        str | None,
        typer.Option("--wakeup-at-us", metavar="T", help="When a wakeup event arrives; may be drawn."),
    ] = None,
    attempts: Annotated[
        int, typer.Option("--attempts", metavar="N", help="Tries, when freezing fails or is aborted.")
    ] = 1,
    retry_gap_us: Annotated[
        float, typer.Option("--retry-gap-us", metavar="US", help="Time between tries.")
    ] = 0.0,
    asleep_us: Annotated[
        float, typer.Option("--asleep-us", metavar="US", help="From the freeze to the thaw.")
    ] = 0.0,
    cost: Annotated[
        list[str] | None,
        typer.Option("--cost", metavar="NAME=N", help="A cost in place of the board's; may be repeated."),
    ] = None,
    queues: Annotated[
        Queues, typer.Option("--queues", help="One ready queue, the reference, or one for each CPU.")
    ] = Queues.GLOBAL,
    placement: Annotated[
        Placement, typer.Option("--placement", help="Which idle CPU a woken task takes.")
    ] = Placement.FIRST_IDLE,
    steal: Annotated[
        bool, typer.Option("--steal/--no-steal", help="Whether an idle CPU takes from the others' queues.")
    ] = True,
    slice_us: Annotated[float, typer.Option("--slice-us", metavar="US", help="Time slice; 0: none.")] = 0.0,
    bound: Annotated[
        bool, typer.Option("--bound/--no-bound", help="Whether to work out the lower bound.")
    ] = True,
    runs: RunsOption = 20,
    seed: SeedOption = 1,
    threads: ThreadsOption = 0,
    form: FormatOption = Format.TEXT,
    json: JsonOption = False,
    output: OutputOption = None,
    timeline: Annotated[
        Path | None,
        typer.Option(
            "--timeline", metavar="FILE", help="Draw the first replicate of each policy (png, pdf, svg)."
        ),
    ] = None,
) -> None:
    """How long freezing all tasks takes: freezers side by side on the same worlds."""
    check_outputs({"--timeline": timeline, "--output": output}, board_file(board), census, wait_channels)
    loaded = Board.load(board, tick_hz=hz)
    scenario = family.Scenario(
        loaded,
        _population(loaded, census, wait_channels, generate, count or [], d_ends_us, max_hidden),
        opp_khz=_opp(opp_khz or []),
        cpus=cpus,
        since_tick_us=since_tick_us,
        preempt=_text(preempt),
        kernel_loop_preempt=_text(kernel_loop_preempt),
        walker_wake=_text(walker_wake),
        wheel_extra=wheel_extra,
        range_mode=_text(range_mode),
        timeout_ms=timeout_ms,
        order=_text(order),
        loops=loops.value,
        work=[_work(text) for text in work or []],
        wakeup_at_us=_time(wakeup_at_us),
        attempts=attempts,
        retry_gap_us=retry_gap_us,
        asleep_us=asleep_us,
        costs=_numbers("--cost", "NAME=N", cost) if cost else None,
        queues=queues.value,
        placement=placement.value,
        steal=steal,
        slice_us=slice_us,
        bound=bound,
    )
    results = []
    for one in distinct_policies(policy, family.parse_policy):
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
    check_outputs({"--output": output}, *captures)
    report = family.validate_captures(captures)
    emit(report, Format.JSON if json else form, output)
    raise typer.Exit(0 if report.all_ok else 1)
