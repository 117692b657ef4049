"""Validation command of the dpm family."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from torpor.cli.options import FormatOption, JsonOption, OutputOption, SeedOption
from torpor.cli.output import Format, check_outputs, emit, progress_bar
from torpor.dpm.validate import validate_captures


def validate(
    captures: Annotated[list[Path], typer.Argument(metavar="CAPTURE...", help="Folders of real captures.")],
    runs: Annotated[
        int,
        typer.Option("--runs", "-n", metavar="N", help="Replicates of each recorded cycle without workers."),
    ] = 100,
    seed: SeedOption = 1,
    form: FormatOption = Format.TEXT,
    json: JsonOption = False,
    output: OutputOption = None,
) -> None:
    """Predict a real kernel's suspends from those without workers; exit 1 if a limit is missed."""
    check_outputs({"--output": output}, *captures)
    with progress_bar("phases") as progress:
        report = validate_captures(captures, runs=runs, seed=seed, progress=progress)
    emit(report, Format.JSON if json else form, output)
    raise typer.Exit(0 if report.all_ok else 1)
