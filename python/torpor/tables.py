# SPDX-License-Identifier: MIT
"""Tables as values, in every form in which results are printed: text, Markdown, LaTeX, CSV, HTML."""

from __future__ import annotations

import csv
import html
import io
import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import pandas as pd
from rich.box import Box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table as RichTable
from rich.text import Text

__all__ = ["TEXT_WIDTH", "Column", "Table", "Value", "escape_latex"]

Value = str | int | float | bool | None

TEXT_WIDTH = 110
"""Least width of text tables, in characters; wider ones take what they need, since numbers never wrap."""

# Horizontal rules in ASCII only: the same in a pipe, a log and a terminal of any encoding.
_RULES = Box("    \n    \n -- \n    \n    \n -- \n    \n    \n", ascii=True)

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "±": r"$\pm$",
    "µ": r"\textmu{}",
}


def escape_latex(text: str) -> str:
    r"""Text that LaTeX prints as it stands.

    Examples
    --------
    >>> print(escape_latex("50 % of cpu_idle"))
    50 \% of cpu\_idle
    """
    return "".join(_LATEX.get(character, character) for character in text)


@dataclass(frozen=True)
class Column:
    """One column of a :class:`Table`.

    Parameters
    ----------
    name : str
        Heading.
    unit : str
        Unit, shown in parentheses after the name; empty for none.
    align : {"left", "right", "center"}
        Where cells stand.
    digits : int or None
        Decimals of floating-point cells; None shows six significant digits.
    wrap : int or None
        Width at which text is broken over lines in text form; None never breaks it.

    Examples
    --------
    >>> Column("residency", "s", digits=3).heading
    'residency (s)'
    """

    name: str
    unit: str = ""
    align: Literal["left", "right", "center"] = "right"
    digits: int | None = None
    wrap: int | None = None

    @property
    def heading(self) -> str:
        """Name with the unit."""
        return f"{self.name} ({self.unit})" if self.unit else self.name

    def show(self, value: Value) -> str:
        """Cell as people read it: ``-`` for nothing, ``unknown`` for NaN.

        Examples
        --------
        >>> Column("x", digits=2).show(-0.001), Column("x").show(None), Column("x").show(True)
        ('0.00', '-', 'yes')
        """
        if value is None:
            return "-"
        if isinstance(value, bool):
            return "yes" if value else "no"
        if not isinstance(value, float):
            return str(value)
        if math.isnan(value):
            return "unknown"
        text = f"{value:.6g}" if self.digits is None else f"{value:.{self.digits}f}"
        return text.removeprefix("-") if float(text) == 0.0 else text


@dataclass(frozen=True)
class Table:
    """A table with raw cells, and its renderings.

    Parameters
    ----------
    title : str
        Caption.
    columns : sequence of Column
        Headings, units, alignment.
    rows : sequence of sequence of str, int, float, bool or None
        Raw cells; None and NaN mean that there is no value.
    notes : sequence of str
        Remarks below the table.

    Raises
    ------
    ValueError
        When a row has another number of cells than there are columns.

    Examples
    --------
    >>> columns = [Column("state", align="left"), Column("time", "s", digits=1)]
    >>> table = Table("Idle", columns, [["C0", 0.5], ["C1", 9.5]])
    >>> print(table.to_markdown())
    **Idle**
    <BLANKLINE>
    | state | time (s) |
    | :--- | ---: |
    | C0 | 0.5 |
    | C1 | 9.5 |
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Value]]
    notes: Sequence[str] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        object.__setattr__(self, "rows", tuple(tuple(row) for row in self.rows))
        object.__setattr__(self, "notes", tuple(self.notes))
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise ValueError(f"row {number} has {len(row)} cells, limit: {len(self.columns)} columns")

    def shown(self) -> list[list[str]]:
        """Cells as people read them."""
        return [
            [column.show(value) for column, value in zip(self.columns, row, strict=True)] for row in self.rows
        ]

    def to_text(self) -> str:
        """Plain text of at least `TEXT_WIDTH` characters, without colours, for terminals and pipes alike.

        Examples
        --------
        >>> print(Table("T", [Column("name", align="left"), Column("n")], [["a[b]", 12345]]).to_text())
        T
        <BLANKLINE>
        name       n
        ------------
        a[b]   12345
        """
        grid = RichTable(box=_RULES, show_edge=False, pad_edge=False, header_style="", safe_box=False)
        cells = self.shown()
        for i, column in enumerate(self.columns):
            widest = max((len(row[i]) for row in cells), default=0)
            longest_word = max((len(word) for word in column.heading.split()), default=0)
            heading = textwrap.fill(column.heading, max(widest, longest_word, 1), break_long_words=False)
            grid.add_column(
                Text(heading),
                justify=column.align,
                no_wrap=column.wrap is None,
                max_width=column.wrap,
                overflow="fold",
            )
        for row in cells:
            grid.add_row(*(Text(cell) for cell in row))
        measuring = Console(width=100_000, file=io.StringIO(), color_system=None)
        width = max(TEXT_WIDTH, Measurement.get(measuring, measuring.options, grid).maximum)
        console = Console(width=width, file=io.StringIO(), color_system=None, legacy_windows=False)
        with console.capture() as capture:
            console.print(grid)
        body = "\n".join(line.rstrip() for line in capture.get().rstrip("\n").split("\n"))
        notes = [textwrap.fill(note, TEXT_WIDTH) for note in self.notes]
        return "\n\n".join([self.title, body, *notes])

    def to_markdown(self) -> str:
        """Pipe table of GitHub's Markdown, below the title in bold."""
        rules = {"left": ":---", "right": "---:", "center": ":---:"}
        lines = [
            [_markdown(column.heading) for column in self.columns],
            [rules[column.align] for column in self.columns],
            *([_markdown(cell) for cell in row] for row in self.shown()),
        ]
        body = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        return "\n\n".join([f"**{_markdown(self.title)}**", body, *(_markdown(note) for note in self.notes)])

    def to_latex(self) -> str:
        r"""Table environment with the rules of the ``booktabs`` package.

        Examples
        --------
        >>> print(Table("A & B", [Column("n", "%")], [[-1.5]]).to_latex())
        \begin{table}
        \centering
        \caption{A \& B}
        \begin{tabular}{r}
        \toprule
        n (\%) \\
        \midrule
        $-$1.5 \\
        \bottomrule
        \end{tabular}
        \end{table}
        """
        lines = [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{escape_latex(self.title)}}}",
            rf"\begin{{tabular}}{{{''.join(column.align[0] for column in self.columns)}}}",
            r"\toprule",
            " & ".join(escape_latex(column.heading) for column in self.columns) + r" \\",
            r"\midrule",
        ]
        for raw, row in zip(self.rows, self.shown(), strict=True):
            cells = (
                f"$-${escape_latex(cell[1:])}"
                if not isinstance(value, str) and cell.startswith("-") and len(cell) > 1
                else escape_latex(cell)
                for value, cell in zip(raw, row, strict=True)
            )
            # A bracket at the start of a row would be taken for the argument of the line break before it.
            line = " & ".join(cells)
            lines.append(("{}" if line.startswith("[") else "") + line + r" \\")
        lines += [r"\bottomrule", r"\end{tabular}"]
        lines += [rf"\par {{\footnotesize {escape_latex(note)}\par}}" for note in self.notes]
        return "\n".join([*lines, r"\end{table}"])

    def to_csv(self) -> str:
        """Raw values, all digits, below one line of headings; no value is an empty field.

        Examples
        --------
        >>> print(Table("T", [Column("a", "s", digits=1), Column("b")], [[0.12345, None]]).to_csv(), end="")
        a (s),b
        0.12345,
        """
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([column.heading for column in self.columns])
        for row in self.rows:
            writer.writerow(["" if _is_nothing(value) else value for value in row])
        return out.getvalue()

    def to_html(self) -> str:
        """Table element with the notes below."""
        parts = [f"<table><caption>{html.escape(self.title)}</caption><thead><tr>"]
        parts += [_html_cell("th", column, column.heading) for column in self.columns]
        parts.append("</tr></thead><tbody>")
        for row in self.shown():
            cells = (_html_cell("td", column, cell) for column, cell in zip(self.columns, row, strict=True))
            parts.append(f"<tr>{''.join(cells)}</tr>")
        parts.append("</tbody></table>")
        parts += [f"<p>{html.escape(note)}</p>" for note in self.notes]
        return "".join(parts)

    def to_frame(self) -> pd.DataFrame:
        """Raw values, with the headings as columns."""
        return pd.DataFrame(
            [list(row) for row in self.rows], columns=[column.heading for column in self.columns]
        )

    def _repr_html_(self) -> str:
        return self.to_html()

    def __str__(self) -> str:
        return self.to_text()


def _is_nothing(value: Value) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _markdown(text: str) -> str:
    escaped = "".join(f"\\{character}" if character in "\\`*_[]<>|" else character for character in text)
    return " ".join(escaped.split())


def _html_cell(tag: str, column: Column, text: str) -> str:
    return f'<{tag} style="text-align: {column.align}">{html.escape(text)}</{tag}>'
