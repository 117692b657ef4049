"""``torpor import``: what real kernels write, as tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from torpor.cli.options import FormatOption, JsonOption, OutputOption
from torpor.cli.output import Format, emit, guarded, refuse_overwriting, warn
from torpor.importers import FreezerLog, read_freezer_log

app = typer.Typer(help="Read what real kernels write.", no_args_is_help=True)

BAD_LINES_SHOWN = 10


@app.callback()
def _group() -> None:
    # Keeps a group of one command a group.
    pass


@app.command("freezer-log")
@guarded
def freezer_log(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Text of dmesg, syslog or journal: plain, gzip, xz or bzip2; - is standard input.",
        ),
    ],
    timeout_ms: Annotated[
        int, typer.Option("--timeout-ms", help="The freezer's timeout that failures are checked against.")
    ] = 20_000,
    hz: Annotated[
        int | None, typer.Option("--hz", help="The kernel's HZ for the same; default: a tick of 10 ms.")
    ] = None,
    form: FormatOption = Format.TEXT,
    json: JsonOption = False,
    output: OutputOption = None,
) -> None:
    """Tell how often tasks were frozen, how long it took, and which of them refused.

    Lines about freezing that cannot be read are named on standard error; they change no exit code.
    """
    refuse_overwriting(output, Path("/dev/stdin") if str(file) == "-" else file)
    log = read_freezer_log(file, timeout_ms=timeout_ms, hz=hz)
    _name_bad_lines(log)
    emit(log.report(), Format.JSON if json else form, output)


def _name_bad_lines(log: FreezerLog) -> None:
    for bad in log.bad[:BAD_LINES_SHOWN]:
        text = f": {bad.text}" if bad.text else ""
        warn(f"{log.source}: line {bad.line}: {bad.reason}{text}")
    more = len(log.bad) - BAD_LINES_SHOWN
    if more > 0:
        warn(f"{log.source}: {more} more bad {'line' if more == 1 else 'lines'}")
