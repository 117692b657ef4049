# SPDX-License-Identifier: MIT
"""A result that prints: tables in every form, and one JSON object."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torpor.tables import Table

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["JudgedReport", "Report"]


@dataclass(frozen=True)
class Report:
    r"""Tables that belong together, and the same content as plain data.

    Parameters
    ----------
    tables : sequence of Table
        What is printed.
    data : mapping
        What ``--json`` prints.

    Examples
    --------
    >>> from torpor.tables import Column
    >>> report = Report([Table("T", [Column("n")], [[1]])], {"n": 1})
    >>> report.to_csv()
    'n\n1\n'
    """

    tables: Sequence[Table]
    data: Mapping[str, Any]

    def to_text(self) -> str:
        """Plain text."""
        return "\n\n".join(table.to_text() for table in self.tables)

    def to_markdown(self) -> str:
        """GitHub's Markdown."""
        return "\n\n".join(table.to_markdown() for table in self.tables)

    def to_latex(self) -> str:
        """LaTeX with booktabs."""
        return "\n\n".join(table.to_latex() for table in self.tables)

    def to_csv(self) -> str:
        """Raw values; tables are parted by an empty line."""
        return "\n".join(table.to_csv() for table in self.tables)

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return dict(self.data)

    def _repr_html_(self) -> str:
        return "".join(table.to_html() for table in self.tables)

    def __str__(self) -> str:
        return self.to_text()


class JudgedReport(ABC):
    """Quantities with limits: the tables of a report in every form, and below them a verdict.

    Examples
    --------
    >>> from torpor.idle import ValidateReport
    >>> print(ValidateReport(()))
    <BLANKLINE>
    <BLANKLINE>
    0 of 0 limits kept: all fine
    """

    @abstractmethod
    def tables(self) -> list[Table]:
        """Make the printed tables."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Plain data."""

    @abstractmethod
    def to_frame(self) -> pd.DataFrame:
        """One row per quantity."""

    @abstractmethod
    def _verdict(self) -> str:
        """How many limits are kept."""

    def to_text(self) -> str:
        """Tables for a terminal, and the verdict."""
        return f"{self._printed().to_text()}\n\n{self._verdict()}"

    def to_markdown(self) -> str:
        """Tables in Markdown, and the verdict."""
        return f"{self._printed().to_markdown()}\n\n{self._verdict()}"

    def to_latex(self) -> str:
        """Tables in LaTeX."""
        return self._printed().to_latex()

    def to_csv(self) -> str:
        """One line per quantity, raw values."""
        return str(self.to_frame().to_csv(index=False, lineterminator="\n"))

    def _printed(self) -> Report:
        return Report(self.tables(), self.to_json())

    def _repr_html_(self) -> str:
        return self._printed()._repr_html_()

    def __str__(self) -> str:
        return self.to_text()
