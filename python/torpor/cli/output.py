"""What all commands share: output formats, errors as one line, progress."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, NoReturn, ParamSpec, Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from torpor import ConfigError, Error
from torpor.files import check_writable, write_whole

__all__ = [
    "Format",
    "Report",
    "check_outputs",
    "emit",
    "fail",
    "guarded",
    "print_plainly",
    "progress_bar",
    "refuse_overwriting",
    "warn",
]


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


def warn(message: str) -> None:
    """Print one line on standard error; one that cannot be written costs neither result nor exit code."""
    if sys.stderr is None:
        return
    try:
        print(f"torpor: {' '.join(message.split())}", file=sys.stderr, flush=True)
    except (OSError, ValueError):
        # What could not be written would be tried again at exit, and change the exit code.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def fail(message: str, code: int = 2) -> NoReturn:
    """Print one line on standard error and end."""
    warn(message)
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


def refuse_overwriting(output: str | Path | None, *inputs: str | Path | None) -> None:
    """Complain about an output that would replace a file which the command reads, or change a folder of such.

    Call it before anything is read. What is no path (None, a board of the catalogue) is no input; a device
    or a pipe can be both.

    Parameters
    ----------
    output : path or None
        Where the command writes.
    inputs : path or None
        What it reads: files and folders.

    Raises
    ------
    ConfigError
        Naming both.
    """
    if output is None:
        return
    target = Path(os.path.realpath(output))
    if target.exists() and not target.is_file():
        return
    for given in inputs:
        source = None if given is None else Path(os.path.realpath(given))
        if source is None or not source.exists():
            continue
        if source.is_dir():
            if target.is_relative_to(source):
                raise ConfigError(f"{output}: would be written into the folder that is read, {given}")
        elif target.exists() and target.samefile(source):
            raise ConfigError(f"{output}: would overwrite the file that is read, {given}")


def check_outputs(outputs: Mapping[str, Path | None], *inputs: str | Path | None) -> None:
    """Complain before the work about outputs that could not be written after it, or that would do harm.

    Parameters
    ----------
    outputs : mapping of str to path or None
        By option; no two may be one file.
    inputs : path or None
        What the command reads, see `refuse_overwriting`.

    Raises
    ------
    ConfigError
        Naming the file.
    """
    seen: dict[str, str] = {}
    for option, output in outputs.items():
        if output is None:
            continue
        refuse_overwriting(output, *inputs)
        check_writable(output)
        other = seen.setdefault(os.path.realpath(output), option)
        if other != option:
            raise ConfigError(f"{output}: {other} and {option} name one file")


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


@contextlib.contextmanager
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
