"""What all commands share: output formats, errors as one line, progress."""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any, NoReturn, ParamSpec, Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from torpor import Error
from torpor.files import write_whole

__all__ = ["Format", "Report", "emit", "fail", "guarded", "print_plainly", "progress_bar"]


Parameters = ParamSpec("Parameters")
_ASCII = dict.fromkeys(map(ord, "─━═"), "-") | dict.fromkeys(map(ord, "│┃║"), "|")
_ASCII |= dict.fromkeys(map(ord, "┌┐└┘├┤┬┴┼┏┓┗┛┣┫┳┻╋┡┢┩┪╇╈"), "+")


class Format(StrEnum):
    """Forms in which a result is printed."""

    TEXT = "text"
    MARKDOWN = "markdown"
    LATEX = "latex"
    CSV = "csv"
    JSON = "json"


class Report(Protocol):
    """A result that knows all the forms."""

    def to_text(self) -> str:
        """Plain text."""

    def to_markdown(self) -> str:
        """GitHub's Markdown."""

    def to_latex(self) -> str:
        """LaTeX with booktabs."""

    def to_csv(self) -> str:
        """Raw values."""

    def to_json(self) -> dict[str, Any]:
        """Plain data."""


def fail(message: str, code: int = 2) -> NoReturn:
    """Print one line on standard error and end."""
    print(f"torpor: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(code)


def guarded(command: Callable[Parameters, None]) -> Callable[Parameters, None]:
    """Turn errors of the user's making into one line and an exit code, whatever typer would do with them."""

    @functools.wraps(command)
    def call(*arguments: Parameters.args, **options: Parameters.kwargs) -> None:
        try:
            try:
                command(*arguments, **options)
            finally:
                sys.stdout.flush()
        except BrokenPipeError:
            # The reader has gone (a pager, head): end quietly, and keep Python from flushing into the pipe.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(0)
        except KeyboardInterrupt:
            fail("interrupted", code=130)
        except (Error, OSError, UnicodeError) as error:
            fail(str(error))
        except MemoryError:
            fail("out of memory")

    return call


def print_plainly(text: str) -> None:
    """Print text on an output of any encoding: what it lacks is written with ASCII characters."""
    encoding = sys.stdout.encoding or "ascii"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = text.replace("±", "+/-").translate(_ASCII).encode(encoding, "replace").decode(encoding)
    print(text)


def emit(report: Report, form: Format, output: Path | None) -> None:
    """Print a report, or write it to a file."""
    text = json.dumps(report.to_json(), allow_nan=False) if form is Format.JSON else _render(report, form)
    if output is None:
        print_plainly(text.rstrip("\n"))
    else:
        write_whole(output, lambda file: file.write(f"{text.rstrip()}\n".encode()))


def _render(report: Report, form: Format) -> str:
    renderers: dict[Format, Callable[[], str]] = {
        Format.TEXT: report.to_text,
        Format.MARKDOWN: report.to_markdown,
        Format.LATEX: report.to_latex,
        Format.CSV: report.to_csv,
    }
    return renderers[form]()


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """Progress on standard error, silent unless that is a terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda done, total: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what)

        def update(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield update
