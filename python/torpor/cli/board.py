"""``torpor board``: the catalogue and files of one's own."""

from __future__ import annotations

import json as jsonlib
from typing import Annotated

import typer
from rich.console import Console

from torpor import Board
from torpor.board import catalogue
from torpor.cli.options import JsonOption
from torpor.cli.output import guarded, print_plainly

app = typer.Typer(help="List, show, check and compare boards.", no_args_is_help=True)

BoardArgument = Annotated[
    str, typer.Argument(metavar="BOARD", help="Catalogue name, TOML file, or capture folder.")
]


@app.command("list")
@guarded
def list_boards(json: JsonOption = False) -> None:
    """Name the boards of the catalogue, with CPUs, HZ and a description."""
    boards = [Board.load(name) for name in catalogue()]
    if json:
        rows = [
            {"name": b.name, "cpus": b.cpu_count, "tick_hz": b.tick_hz, "description": b.description}
            for b in boards
        ]
        print(jsonlib.dumps({"boards": rows}))
        return
    width = max(len(board.name) for board in boards)
    for board in boards:
        print(f"{board.name:<{width}}  {board.cpu_count:>2} CPUs  HZ {board.tick_hz:<4}  {board.description}")


@app.command()
@guarded
def show(board: BoardArgument, json: JsonOption = False) -> None:
    """Print a board with the provenance of every number."""
    loaded = Board.load(board)
    if json:
        print(jsonlib.dumps(loaded.to_dict()))
    else:
        console = Console()
        console.print(loaded) if console.is_terminal else print_plainly(str(loaded).rstrip())


@app.command()
@guarded
def validate(board: BoardArgument) -> None:
    """Check a board file; exit 2 with one line that names the offending entry."""
    loaded = Board.load(board)
    print(f"{board}: fine ({loaded.cpu_count} CPUs, {len(loaded.clusters)} clusters)")


@app.command()
@guarded
def diff(ours: BoardArgument, theirs: BoardArgument, json: JsonOption = False) -> None:
    """List the entries in which two boards differ; exit 1 if there are any."""
    differences = Board.load(ours).diff(Board.load(theirs))
    if json:
        print(jsonlib.dumps({"differences": [entry._asdict() for entry in differences]}))
    else:
        for entry in differences:
            print(entry)
    raise typer.Exit(1 if differences else 0)
