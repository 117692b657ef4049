# SPDX-License-Identifier: MIT
"""A result that prints: tables in every form, and one JSON object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torpor.tables import Table

__all__ = ["Report"]


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
