# SPDX-License-Identifier: MIT
"""What the reproduction of a published result consists of, and how it is printed."""

from __future__ import annotations

import html
import os
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from torpor.stats import Estimate
from torpor.tables import TEXT_WIDTH, Column, Table, Value

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Cell", "Input", "Kind", "Mark", "Reproduction"]

Kind = Literal["fitted", "predicted", "reference"]

Mark = Literal["cited", "measured", "fitted", "assumed"]

KINDS: tuple[Kind, ...] = ("predicted", "fitted", "reference")

RunsT = TypeVar("RunsT")
"""Results of the family that an experiment belongs to."""


@dataclass(frozen=True)
class Cell:
    """One figure: as published, and ours with a 95 % interval.

    Parameters
    ----------
    row, column : str
        Where it stands.
    unit : str
        Unit of all its numbers.
    published : float or None
        None where nothing is published.
    ours, low, high : float
        Mean over the replicates and its 95 % interval; the bounds are None for a single replicate.
    kind : {"predicted", "fitted", "reference"}
        Whether the published value was used in calibration; ``reference`` where there is none.
    band : tuple of float or None
        Least and largest value of ours that counts as reproduced.
    binding : bool
        Whether a miss makes the reproduction fail; otherwise it is only told.

    Examples
    --------
    >>> cell = Cell("CPU7", "C1", "s", 8.0, 7.9, 7.8, 8.0, kind="predicted", band=(7.8, 10.0))
    >>> round(cell.error_pct, 2), cell.ok
    (-1.25, True)
    """

    row: str
    column: str
    unit: str
    published: float | None
    ours: float
    low: float | None
    high: float | None
    kind: Kind
    band: tuple[float, float] | None = None
    binding: bool = True

    def __post_init__(self) -> None:
        if (self.published is None) != (self.kind == "reference"):
            raise ValueError(f"{self.row}, {self.column}: kind={self.kind!r} with published={self.published}")

    @property
    def error_pct(self) -> float | None:
        """Relative error of ours in percent; None for no published value and for zero."""
        if not self.published:
            return None
        return 100.0 * (self.ours - self.published) / abs(self.published)

    @property
    def ok(self) -> bool | None:
        """Whether our mean lies within the band; None without one."""
        return None if self.band is None else self.band[0] <= self.ours <= self.band[1]

    @property
    def estimate(self) -> Estimate:
        """Our value with its interval."""
        return Estimate(self.ours, self.low, self.high)

    def to_dict(self) -> dict[str, Any]:
        """Fields as ``torpor reproduce --json`` prints them."""
        return {
            "row": self.row,
            "column": self.column,
            "unit": self.unit,
            "published": self.published,
            "ours": self.ours,
            "low": self.low,
            "high": self.high,
            "error_pct": self.error_pct,
            "kind": self.kind,
            "band": None if self.band is None else list(self.band),
            "ok": self.ok,
        }


@dataclass(frozen=True)
class Input:
    """One thing that went into the model, and where it comes from.

    Examples
    --------
    >>> Input("HZ", "1000", "cited", "a mail").mark
    'cited'
    """

    name: str
    value: str
    mark: Mark
    source: str


@dataclass(frozen=True)
class Reproduction(Generic[RunsT]):
    """A published result beside ours; made by :func:`torpor.reproduce`.

    Attributes
    ----------
    experiment, title, source : str
        Name, what it is about, and where it was published.
    version : str
        Version of torpor.
    seed, runs : int
        Root of all randomness, number of replicates.
    cells : tuple of Cell
        Every figure.
    tables : tuple of Table
        The figures laid out for people.
    inputs : tuple of Input
        Everything that went in.
    notes : tuple of str
        What the figures say, worked out from them.
    results : mapping of str to Runs
        Per-replicate results of the experiment's family, by label.

    Examples
    --------
    >>> import torpor
    >>> result = torpor.reproduce("idle-2018", runs=2)
    >>> result
    reproduce('idle-2018', runs=2, seed=1)
    >>> sorted(result.to_json())
    ['cells', 'experiment', 'runs', 'seed', 'version']
    """

    experiment: str
    title: str
    source: str
    version: str
    seed: int
    runs: int
    cells: Sequence[Cell]
    tables: Sequence[Table]
    inputs: Sequence[Input]
    notes: Sequence[str]
    results: Mapping[str, RunsT]
    draw: Callable[[Reproduction[RunsT], Figure], None] = field(repr=False)
    """Draws the experiment's panels into an empty figure."""
    call: str = ""
    """The call that made it."""

    @property
    def all_ok(self) -> bool:
        """Whether every acceptance band is kept that a reproduction has to keep."""
        return all(cell.ok is not False for cell in self.cells if cell.binding)

    def cell(self, row: str, column: str) -> Cell:
        """Find a figure by its place.

        Raises
        ------
        KeyError
            When there is none.
        """
        for cell in self.cells:
            if (cell.row, cell.column) == (row, column):
                return cell
        raise KeyError((row, column))

    def input_table(self) -> Table:
        """Everything that went in, with its mark."""
        columns = [
            Column("input", align="left", wrap=30),
            Column("value", align="left", wrap=34),
            Column("mark", align="left"),
            Column("source", align="left", wrap=44),
        ]
        rows = [(item.name, item.value, item.mark, item.source) for item in self.inputs]
        return Table("Inputs", columns, rows)

    def cell_table(self) -> Table:
        """All figures, one a row."""
        columns = [
            Column("row", align="left"),
            Column("column", align="left"),
            Column("unit", align="left"),
            *(Column(name) for name in ("published", "ours", "low", "high", "error_pct")),
            Column("kind", align="left"),
            Column("band_low"),
            Column("band_high"),
            Column("ok"),
        ]
        return Table(self.title, columns, [_flat(cell) for cell in self.cells])

    def _every_table(self) -> list[Table]:
        return [*self.tables, self.input_table()]

    def _head(self) -> str:
        return f"{self.experiment}: {self.title}"

    def _verdict(self) -> str:
        def kept(kind: Kind, *, binding: bool = True) -> str:
            judged = [
                cell.ok
                for cell in self.cells
                if cell.band is not None and cell.kind == kind and cell.binding == binding
            ]
            return f"{sum(ok is True for ok in judged)} of {len(judged)} {kind}" if judged else ""

        told = [kept(kind, binding=False) for kind in KINDS]
        told = [part for part in told if part]
        required = [part for kind in KINDS if (part := kept(kind))]
        conditions = f"{self.runs} runs, seed {self.seed}, torpor {self.version}"
        parts = [f"Acceptance bands kept: {', '.join(required) or 'none to keep'}"]
        parts += [f"not required: {', '.join(told)}"] if told else []
        return "; ".join([*parts, conditions])

    def to_text(self) -> str:
        """Plain text, at least 110 characters wide."""
        head = "\n".join(textwrap.fill(line, TEXT_WIDTH) for line in (self._head(), f"Source: {self.source}"))
        notes = "\n".join(
            textwrap.fill(f"- {note}", TEXT_WIDTH, subsequent_indent="  ") for note in self.notes
        )
        return "\n\n".join(
            [head, *(table.to_text() for table in self._every_table()), notes, self._verdict()]
        )

    def to_markdown(self) -> str:
        """Markdown document."""
        notes = "\n".join(f"- {note}" for note in self.notes)
        tables = [table.to_markdown() for table in self._every_table()]
        return "\n\n".join([f"## {self._head()}", f"Source: {self.source}", *tables, notes, self._verdict()])

    def to_latex(self) -> str:
        """LaTeX tables, for the ``booktabs`` package."""
        return "\n\n".join(table.to_latex() for table in self._every_table())

    def to_csv(self) -> str:
        """All figures with all digits, one a line, below one header."""
        return self.cell_table().to_csv()

    def to_json(self) -> dict[str, Any]:
        """Object that ``torpor reproduce --json`` prints."""
        return {
            "experiment": self.experiment,
            "version": self.version,
            "seed": self.seed,
            "runs": self.runs,
            "cells": [cell.to_dict() for cell in self.cells],
        }

    def plot(self) -> Figure:
        """Draw the experiment's panels.

        Raises
        ------
        ConfigError
            Without Matplotlib: ``pip install torpor[plot]``.
        """
        from torpor.plot import new_figure

        figure = new_figure()
        self.draw(self, figure)
        return figure

    def save_plots(self, path: str | os.PathLike[str]) -> None:
        """Write the experiment's panels into one file, whole or not at all.

        Parameters
        ----------
        path : str or path
            The suffix decides the format: png, pdf, svg and whatever else Matplotlib writes.

        Raises
        ------
        ConfigError
            For an unknown suffix, a file that cannot be written, and without Matplotlib.
        """
        from torpor.plot import save_figure

        save_figure(lambda figure: self.draw(self, figure), path)

    def __repr__(self) -> str:
        return self.call or f"<Reproduction of {self.experiment}: {self.runs} runs, seed {self.seed}>"

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self.notes)
        tables = "".join(table.to_html() for table in self._every_table())
        head = f"<h3>{html.escape(self._head())}</h3><p>Source: {html.escape(self.source)}</p>"
        return f"{head}{tables}<ul>{notes}</ul><p>{html.escape(self._verdict())}</p>"


def _flat(cell: Cell) -> tuple[Value, ...]:
    low, high = cell.band or (None, None)
    figures = (cell.published, cell.ours, cell.low, cell.high, cell.error_pct)
    return (cell.row, cell.column, cell.unit, *figures, cell.kind, low, high, cell.ok)
