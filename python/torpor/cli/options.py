"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from torpor.cli.output import Format

BoardOption = Annotated[
    str,
    typer.Option("--board", "-b", metavar="B", help="Catalogue name, TOML file, or folder of a capture."),
]
PolicyOption = Annotated[
    list[str],
    typer.Option(
        "--policy",
        "--governor",
        "-p",
        metavar="P",
        help="For example 'menu(version=6.1)'; may be repeated; see torpor policies.",
    ),
]
RunsOption = Annotated[int, typer.Option("--runs", "-n", help="Number of replicates.")]
SeedOption = Annotated[int, typer.Option("--seed", help="Root of all randomness.")]
ThreadsOption = Annotated[int, typer.Option("--threads", "-j", help="Worker threads; 0 means all cores.")]
HzOption = Annotated[int | None, typer.Option("--hz", help="The kernel's HZ; default: the board's.")]
FormatOption = Annotated[Format, typer.Option("--format", "-f", help="Form of the output.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
OutputOption = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write there instead of printing.")
]
