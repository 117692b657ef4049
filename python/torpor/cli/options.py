"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from torpor.board import catalogue
from torpor.cli.output import Format, fail, warn

Policy = TypeVar("Policy")


def _given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


# Of the two options that name a form, the later one on the command line finds the earlier.
def _check_form(context: typer.Context, form: Format) -> Format:
    if _given(context, "form") and context.params.get("json"):
        _refuse_two_forms(form)
    return form


def _check_json(context: typer.Context, json: bool) -> bool:
    if json and "form" in context.params and _given(context, "form"):
        _refuse_two_forms(context.params["form"])
    return json


def _refuse_two_forms(form: Format) -> None:
    if form is not Format.JSON:
        fail(f"--json and --format {form.value}: give one of them")


def check_hz(hz: int | None) -> int | None:
    """Refuse a HZ that no board can have, in the option's words."""
    if hz is not None and not 1 <= hz <= 10_000:
        fail(f"hz={hz} is outside 1..10000")
    return hz


def board_file(board: str) -> str | None:
    """Path of a board that is none of the catalogue."""
    return None if board in catalogue() else board


def distinct_policies(texts: Sequence[str], parse: Callable[[str], Policy]) -> list[Policy]:
    """Policies of the texts; one that comes twice runs once, which is said on standard error."""
    found: list[Policy] = []
    for text in texts:
        policy = parse(text)
        if policy in found:
            warn(f"--policy {text}: {policy} is given twice; it runs once")
        else:
            found.append(policy)
    return found


BoardOption = Annotated[
    str,
    typer.Option("--board", "-b", metavar="B", help="Catalogue name, TOML file, or folder of a capture."),
]
FreezerBoardOption = Annotated[
    str, typer.Option("--board", "-b", metavar="B", help="Catalogue name or TOML file with [freezer].")
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
RunsOption = Annotated[int, typer.Option("--runs", "-n", metavar="N", help="Number of replicates.")]
SeedOption = Annotated[int, typer.Option("--seed", metavar="N", help="Root of all randomness.")]
ThreadsOption = Annotated[
    int, typer.Option("--threads", "-j", metavar="N", help="Worker threads; 0 means all cores.")
]
HzOption = Annotated[
    int | None,
    typer.Option("--hz", metavar="HZ", callback=check_hz, help="The kernel's HZ; default: the board's."),
]
FormatOption = Annotated[
    Format, typer.Option("--format", "-f", callback=_check_form, help="Form of the output.")
]
JsonOption = Annotated[
    bool, typer.Option("--json", callback=_check_json, help="Print one JSON object and nothing else.")
]
OutputOption = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write there instead of printing.")
]
