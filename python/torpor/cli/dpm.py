"""Commands of the dpm family."""

from __future__ import annotations

from dataclasses import fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from torpor import Board, ConfigError
from torpor import dpm as family
from torpor.cli.options import (
    FormatOption,
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
from torpor.dpm.plots import plot_cpus, plot_phases, plot_totals
from torpor.plot import save_figure

MIDDLE_PHASES = tuple(family.PHASES[1:7])


class Placement(StrEnum):
    """Where what wakes goes without EAS."""

    SPREAD = "spread"
    BIGGEST_IDLE = "biggest_idle"
    PINNED = "pinned"


def _number(option: str, text: str, form: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ConfigError(f"{option} '{text}': write it as {form}") from None


def _named(option: str, form: str, texts: list[str]) -> dict[str, float]:
    """Read what is written as NAME=NUMBER."""
    numbers: dict[str, float] = {}
    for text in texts:
        name, equals, number = (part.strip() for part in text.partition("="))
        if not equals or not name:
            raise ConfigError(f"{option} '{text}': write it as {form}")
        if name in numbers:
            raise ConfigError(f"{option} '{text}': {name} is given twice")
        try:
            numbers[name] = float(number)
        except ValueError:
            raise ConfigError(f"{option} '{text}': write it as {form} with a number") from None
    return numbers


def _relative_freq(texts: list[str]) -> float | dict[str, float] | None:
    """Frequency of all clusters, or by cluster."""
    option = "--relative-freq"
    if len(texts) == 1 and "=" not in texts[0]:
        return _number(option, texts[0], "X or CLUSTER=X with a number")
    for text in texts:
        if "=" not in text:
            form = "give it once and alone, or CLUSTER=X for each"
            raise ConfigError(f"{option} '{text}': a frequency without a cluster is for all of them: {form}")
    return _named(option, "X or CLUSTER=X", texts) or None


def _async(text: str | None) -> str | float | None:
    """Read a number where there is one; words are the scenario's."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def _scales(text: str | None) -> tuple[float, ...] | None:
    form = "SUSPEND,RESUME with two numbers"
    if text is None:
        return None
    parts = [_number("--scales", part.strip(), form) for part in text.split(",")]
    if len(parts) != 2:
        raise ConfigError(f"--scales '{text}': write it as {form}")
    return tuple(parts)


def _phase_costs(texts: list[str]) -> dict[str, dict[str, float]] | None:
    costs: dict[str, dict[str, float]] = {}
    for key, number in _named("--phase-cost", "PHASE.NAME=US", texts).items():
        phase, dot, name = key.partition(".")
        if not dot:
            raise ConfigError(f"--phase-cost '{key}': write it as PHASE.NAME=US")
        costs.setdefault(phase, {})[name] = number
    return costs or None


def _generator(board: Board, text: str | None) -> family.Generator | None:
    """Change parameters of the board's generator; None is the board's devices."""
    if text is None:
        return None
    drawn = board.dpm.devices if board.dpm is not None else None
    base = family.Generator()
    if drawn is not None:
        base = family.Generator(**{name: getattr(drawn, name) for name in drawn.__struct_fields__})
    known = {one.name: one.default for one in fields(base) if one.init}
    changes: dict[str, Any] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            raise ConfigError(f"--generate '{part}': write it as NAME=X, or NAME=SUSPEND/RESUME")
        if name not in known:
            raise ConfigError(f"--generate: '{name}' is unknown: known are {', '.join(known)}")
        numbers = [_number(f"--generate {name}", piece, "X or SUSPEND/RESUME") for piece in value.split("/")]
        whole = [int(number) if number.is_integer() else number for number in numbers]
        changes[name] = tuple(whole) if len(whole) > 1 else whole[0]
    return replace(base, **changes)


def run(
    board: Annotated[
        str, typer.Option("--board", "-b", metavar="B", help="Catalogue name or TOML file with [dpm].")
    ],
    policy: Annotated[
        list[str],
        typer.Option(
            "--policy",
            "-p",
            metavar="P",
            help="For example 'breadth-first(eas_off=resume)'; may be repeated; see torpor policies.",
        ),
    ],
    async_devices: Annotated[
        str | None,
        typer.Option("--async", metavar="A", help="Async devices: flagged, all, none or a share 0..1."),
    ] = None,
    generate: Annotated[
        str | None,
        typer.Option(
            "--generate",
            metavar="G",
            help="Devices: drawn, as the board's but for 'devices=800, sigma=1.5/2'.",
        ),
    ] = None,
    cpus: Annotated[
        int | None, typer.Option("--cpus", metavar="N", help="Number of CPUs; default: the board's.")
    ] = None,
    hz: HzOption = None,
    relative_freq: Annotated[
        list[str] | None,
        typer.Option(
            "--relative-freq",
            metavar="[CLUSTER=]X",
            help="Frozen frequency over the highest, of all clusters or of one (may be repeated).",
        ),
    ] = None,
    eas: Annotated[
        bool | None, typer.Option("--eas/--no-eas", help="Energy-aware placement; default: the board's.")
    ] = None,
    placement: Annotated[
        Placement | None, typer.Option("--placement", help="Where what wakes goes without EAS.")
    ] = None,
    wake_affine: Annotated[
        bool | None,
        typer.Option(
            "--wake-affine/--no-wake-affine", help="Whether what wakes may go to where its waker runs."
        ),
    ] = None,
    pull: Annotated[
        bool | None, typer.Option("--pull/--no-pull", help="Whether an idle CPU takes from others' queues.")
    ] = None,
    slice_us: Annotated[
        float | None, typer.Option("--slice-us", metavar="US", help="Time slice; 0: none.")
    ] = None,
    wakeup_granularity_us: Annotated[
        float | None,
        typer.Option("--wakeup-granularity-us", metavar="US", help="When a wakeup preempts; 0: never."),
    ] = None,
    tick_balance: Annotated[
        bool | None,
        typer.Option("--tick-balance/--no-tick-balance", help="Whether the tick moves what does not fit."),
    ] = None,
    idle_exit_share: Annotated[
        float | None,
        typer.Option(
            "--idle-exit-share",
            metavar="X",
            help="Share of a state's residency after which its wake latency is paid; inf: never.",
        ),
    ] = None,
    cluster_exit_us: Annotated[
        float | None,
        typer.Option("--cluster-exit-us", metavar="US", help="Paid besides when a whole cluster was idle."),
    ] = None,
    shared_cpus: Annotated[
        float | None,
        typer.Option("--shared-cpus", metavar="X", help="CPUs' worth of work that all do; 0: all."),
    ] = None,
    main_suspend_cpu: Annotated[
        int | None, typer.Option("--main-suspend-cpu", metavar="N", help="CPU of the main thread in suspend.")
    ] = None,
    main_suspend_util: Annotated[
        float | None,
        typer.Option("--main-suspend-util", metavar="X", help="Its utilisation then, 0 to 1024."),
    ] = None,
    main_resume_cpu: Annotated[
        int | None, typer.Option("--main-resume-cpu", metavar="N", help="CPU of the main thread in resume.")
    ] = None,
    main_resume_util: Annotated[
        float | None,
        typer.Option("--main-resume-util", metavar="X", help="Its utilisation then, 0 to 1024."),
    ] = None,
    main_gives_way: Annotated[
        bool | None,
        typer.Option(
            "--main-gives-way/--no-main-gives-way", help="Whether it leaves its CPU to ready workers."
        ),
    ] = None,
    main_pinned: Annotated[
        bool | None,
        typer.Option("--main-pinned/--no-main-pinned", help="Whether the main thread stays on its CPUs."),
    ] = None,
    initial_workers: Annotated[
        int | None, typer.Option("--initial-workers", metavar="N", help="Workers that exist already.")
    ] = None,
    worker_per_item: Annotated[
        bool | None,
        typer.Option("--worker-per-item/--no-worker-per-item", help="A worker for each item, no pool."),
    ] = None,
    barrier_wakes: Annotated[
        bool | None,
        typer.Option(
            "--barrier-wakes/--no-barrier-wakes", help="Whether each finished item wakes the main thread."
        ),
    ] = None,
    checks_all: Annotated[
        bool | None,
        typer.Option(
            "--checks-all/--no-checks-all",
            help="Whether a check for readiness costs all that the device depends on.",
        ),
    ] = None,
    direct_complete: Annotated[
        bool | None,
        typer.Option(
            "--direct-complete/--no-direct-complete", help="Whether suspended devices may be left alone."
        ),
    ] = None,
    eas_switch_us: Annotated[
        float | None, typer.Option("--eas-switch-us", metavar="US", help="What switching EAS off takes.")
    ] = None,
    jitter: Annotated[
        float | None, typer.Option("--jitter", metavar="X", help="Spread of callbacks from cycle to cycle.")
    ] = None,
    since_tick_us: Annotated[
        float | None,
        typer.Option("--since-tick-us", metavar="US", help="Last tick to start of a side."),
    ] = None,
    scales: Annotated[
        str | None,
        typer.Option("--scales", metavar="S,R", help="Factors on all callbacks of suspend and resume."),
    ] = None,
    cost: Annotated[
        list[str] | None,
        typer.Option("--cost", metavar="NAME=US", help="A cost in place of the board's; may be repeated."),
    ] = None,
    phase_cost: Annotated[
        list[str] | None,
        typer.Option("--phase-cost", metavar="PHASE.NAME=US", help="The same for one phase."),
    ] = None,
    warmup_cycles: Annotated[
        int, typer.Option("--warmup-cycles", metavar="N", help="Cycles before those that count.")
    ] = 2,
    cycles: Annotated[
        int, typer.Option("--cycles", metavar="N", help="Cycles of each replicate that count.")
    ] = 10,
    runs: RunsOption = 20,
    seed: SeedOption = 1,
    threads: ThreadsOption = 0,
    form: FormatOption = Format.TEXT,
    json: JsonOption = False,
    output: OutputOption = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Draw the totals of every policy (png, pdf, svg)."),
    ] = None,
    gantt: Annotated[
        Path | None,
        typer.Option(
            "--gantt",
            metavar="FILE",
            help="Draw the devices of one cycle under the last policy, with the critical path of each phase.",
        ),
    ] = None,
    timeline: Annotated[
        Path | None,
        typer.Option("--timeline", metavar="FILE", help="Draw who ran on which CPU in that cycle."),
    ] = None,
) -> None:
    """How long devices take to suspend and resume: policies side by side; exit 1 if a phase is stuck."""
    figures = {"--plot": plot, "--gantt": gantt, "--timeline": timeline}
    check_outputs({"--output": output, **figures}, board_file(board))
    loaded = Board.load(board, tick_hz=hz)
    scenario = family.Scenario(
        loaded,
        _generator(loaded, generate),
        cpus=cpus,
        relative_freq=_relative_freq(relative_freq or []),
        async_devices=_async(async_devices),
        eas=eas,
        placement=None if placement is None else placement.value,
        wake_affine=wake_affine,
        pull=pull,
        slice_us=slice_us,
        wakeup_granularity_us=wakeup_granularity_us,
        tick_balance=tick_balance,
        idle_exit_share=idle_exit_share,
        cluster_exit_us=cluster_exit_us,
        shared_cpus=shared_cpus,
        main_suspend_cpu=main_suspend_cpu,
        main_suspend_util=main_suspend_util,
        main_resume_cpu=main_resume_cpu,
        main_resume_util=main_resume_util,
        main_gives_way=main_gives_way,
        main_pinned=main_pinned,
        initial_workers=initial_workers,
        worker_per_item=worker_per_item,
        barrier_wakes=barrier_wakes,
        checks_all=checks_all,
        direct_complete=direct_complete,
        eas_switch_us=eas_switch_us,
        jitter=jitter,
        since_tick_us=since_tick_us,
        warmup_cycles=warmup_cycles,
        cycles=cycles,
        scales=_scales(scales),
        costs=_named("--cost", "NAME=US", cost) if cost else None,
        phase_costs=_phase_costs(phase_cost or []),
    )
    policies = distinct_policies(policy, family.parse_policy)
    with progress_bar(", ".join(str(one) for one in policies)) as progress:
        results = family.run_policies(
            scenario, policies, runs=runs, seed=seed, threads=threads, progress=progress
        )
    emit(family.summarise(list(results.values())), Format.JSON if json else form, output)
    for text, result in results.items():
        stuck = [replicate for replicate, told in enumerate(result.stuck) if told]
        if stuck:
            warn(f"{text}, replicate {stuck[0]} of {len(stuck)} that are stuck: {result.stuck[stuck[0]]}")
    _draw(list(results.values()), plot, gantt, timeline, seed)
    if any(any(result.stuck) for result in results.values()):
        raise typer.Exit(1)


def _draw(
    results: list[family.Runs], plot: Path | None, gantt: Path | None, timeline: Path | None, seed: int
) -> None:
    """Draw what was asked for."""
    last = results[-1]
    if plot is not None:
        save_figure(lambda figure: plot_totals(results, ax=figure.subplots()), plot)
    if gantt is not None:
        intervals = last.scenario.intervals(last.policy, seed=seed)
        graph = last.scenario.graph(seed=seed)
        label = str(last.policy)
        save_figure(
            lambda figure: plot_phases(intervals, graph, figure, phases=MIDDLE_PHASES, label=label), gantt
        )
    if timeline is not None:
        lanes = last.scenario.timeline(last.policy, seed=seed)
        save_figure(lambda figure: plot_cpus(lanes, ax=figure.subplots()), timeline)
