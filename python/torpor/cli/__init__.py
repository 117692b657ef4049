"""The command line: parses, calls the API, prints.

Exit codes: 0 fine; 1 a difference, a regression or a missed band was found; 2 usage or bad input; 130
interrupted.
"""

from __future__ import annotations

from typing import Annotated

import typer

import torpor
from torpor.cli import board, idle, policies, reproduce
from torpor.cli.output import guarded

app = typer.Typer(
    name="torpor",
    help="Simulate how Linux falls asleep and wakes, and compare policies side by side.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(torpor.__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


for command in (reproduce.reproduce, idle.run, idle.replay, idle.validate, idle.golden, policies.policies):
    app.command()(guarded(command))
app.add_typer(board.app, name="board")


def main() -> None:
    """Run the command line."""
    app()
