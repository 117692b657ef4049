"""The command line: parses, calls the API, prints.

Exit codes: 0 fine; 1 a difference or a missed band was found; 2 usage or bad input; 130
interrupted.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

import torpor
from torpor.cli import board, families, idle, importing, policies, reproduce
from torpor.cli.output import fail, guarded

app = typer.Typer(
    name="torpor",
    help="Simulate how Linux falls asleep and wakes, and compare policies side by side.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    # Plain help wraps at any width; rich's columns would cut the names of options at 80.
    rich_markup_mode=None,
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


for command in (reproduce.reproduce, idle.replay, idle.golden, policies.policies):
    app.command()(guarded(command))
app.add_typer(families.run, name="run")
app.add_typer(families.validate, name="validate")
app.add_typer(board.app, name="board")
app.add_typer(importing.app, name="import")


def main() -> None:
    """Run the command line; a mistake in its use is one line and exit code 2, as every other error."""
    if sys.stdout is None:
        fail("standard output is closed")
    try:
        code = app(standalone_mode=False)
    except BrokenPipeError:
        code = 0
    except KeyboardInterrupt:
        fail("interrupted", code=130)
    except OSError as error:
        fail(str(error))
    except Exception as error:
        # typer's own errors; their classes have moved between its releases.
        if type(error).__name__ == "Abort":
            fail("interrupted", code=130)
        if not hasattr(error, "format_message"):
            raise
        if type(error).__name__ == "NoArgsIsHelpError":  # a group without a command
            typer.echo(error.ctx.get_help(), err=True)  # type: ignore[attr-defined]
            sys.exit(2)
        fail(error.format_message())
    sys.exit(code or 0)
