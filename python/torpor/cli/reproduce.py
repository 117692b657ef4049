"""``torpor reproduce``: published results beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import torpor
from torpor.cli.options import (
    FormatOption,
    HzOption,
    JsonOption,
    OutputOption,
    RunsOption,
    SeedOption,
    ThreadsOption,
)
from torpor.cli.output import Format, check_outputs, emit, fail, progress_bar
from torpor.experiments import EXPERIMENTS


def reproduce(
    name: Annotated[str, typer.Argument(help="Experiment, or 'all'.")] = "all",
    runs: RunsOption = 100,
    seed: SeedOption = 1,
    threads: ThreadsOption = 0,
    hz: HzOption = None,
    form: FormatOption = Format.TEXT,
    json: JsonOption = False,
    output: OutputOption = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Write the figures there (png, pdf, svg).")
    ] = None,
) -> None:
    """Print each paper's table beside ours; exit 1 if an acceptance band is missed."""
    names = list(EXPERIMENTS) if name == "all" else [name]
    form = Format.JSON if json else form
    if len(names) > 1 and (plot is not None or output is not None):
        fail("--plot and --output take one file: name one experiment")
    check_outputs({"--plot": plot, "--output": output})
    ok = True
    for chosen in names:
        with progress_bar(chosen) as progress:
            result = torpor.reproduce(chosen, runs=runs, seed=seed, threads=threads, hz=hz, progress=progress)
        if plot is not None:
            result.save_plots(plot)
        emit(result, form, output)
        ok = ok and result.all_ok
    raise typer.Exit(0 if ok else 1)
