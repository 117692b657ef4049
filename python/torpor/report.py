# SPDX-License-Identifier: MIT
"""A result that prints: tables in every form, and one JSON object."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import pandas as pd

from torpor.tables import Table

__all__ = ["CaptureReport", "JudgedReport", "Report"]


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


class _Quantity(Protocol):
    """One figure of a capture."""

    @property
    def name(self) -> str: ...

    @property
    def ok(self) -> bool | None: ...


QuantityT = TypeVar("QuantityT", bound=_Quantity)
QuantityT_co = TypeVar("QuantityT_co", bound=_Quantity, covariant=True)


class _Capture(Protocol[QuantityT_co]):
    """What is recorded in one folder, compared with the model."""

    @property
    def name(self) -> str: ...

    @property
    def quantities(self) -> tuple[QuantityT_co, ...]: ...

    @property
    def ok(self) -> bool: ...

    @property
    def untimed(self) -> str: ...


CaptureT = TypeVar("CaptureT", bound=_Capture[Any])


@dataclass(frozen=True, repr=False)
class CaptureReport(JudgedReport, Generic[CaptureT, QuantityT]):
    """A family's model against captures of real kernels.

    Of a capture it uses `name`, `quantities`, `ok` and `untimed`, why no time of it is judged (empty where
    one is); of a quantity `name`, `ok` (None for what is only reported) and what the family prints.

    Parameters
    ----------
    captures : tuple of captures
        In the order given.

    Examples
    --------
    >>> from torpor.dpm.validate_report import CaptureResult, Quantity, ValidateReport
    >>> resume = Quantity("resume, mean", "ms", 100.0, 150.0, 10.0, "predict")
    >>> report = ValidateReport((CaptureResult("phone", (resume,)),))
    >>> isinstance(report, CaptureReport), report
    (True, ValidateReport(captures=['phone'], all_ok=False))
    >>> print(report.to_text().splitlines()[-1])
    0 of 1 limits kept; missed: phone: resume, mean
    """

    captures: tuple[CaptureT, ...]

    _FAMILY: ClassVar[str]
    _CAPTURE_KEYS: ClassVar[Sequence[str]] = ("name", "untimed")
    _QUANTITY_KEYS: ClassVar[Sequence[str]] = (
        *("name", "unit", "recorded", "predicted"),
        *("error_pct", "limit_pct", "limit", "ok"),
    )
    _FRAME_KEYS: ClassVar[Sequence[str]]

    @abstractmethod
    def _capture_tables(self, capture: CaptureT) -> list[Table]:
        """Make the printed tables of one capture."""

    @property
    def all_ok(self) -> bool:
        """Whether no limit is missed."""
        return all(capture.ok for capture in self.captures)

    @property
    def ok(self) -> bool:
        """The same as `all_ok`."""
        return self.all_ok

    @property
    def missed(self) -> tuple[QuantityT, ...]:
        """Quantities whose limit is missed, of all captures."""
        return tuple(q for capture in self.captures for q in capture.quantities if q.ok is False)

    def to_json(self) -> dict[str, Any]:
        """Family, captures and their quantities; null where there is no prediction, limit or verdict."""
        return {
            "family": self._FAMILY,
            "captures": [self._capture_data(capture) for capture in self.captures],
        }

    def to_frame(self) -> pd.DataFrame:
        """One row per quantity."""
        return pd.DataFrame(
            [
                {"capture": capture.name, **{key: getattr(q, key) for key in self._FRAME_KEYS}}
                for capture in self.captures
                for q in capture.quantities
            ]
        )

    def tables(self) -> list[Table]:
        """Make the printed tables, capture by capture."""
        return [table for capture in self.captures for table in self._capture_tables(capture)]

    def _capture_data(self, capture: CaptureT) -> dict[str, Any]:
        return {
            **{key: getattr(capture, key) for key in self._CAPTURE_KEYS},
            "quantities": [{key: getattr(q, key) for key in self._QUANTITY_KEYS} for q in capture.quantities],
        }

    def _kept(self) -> str:
        checked = sum(q.ok is not None for capture in self.captures for q in capture.quantities)
        return f"{checked - len(self.missed)} of {checked} limits kept"

    def _verdict(self) -> str:
        missed = [f"{c.name}: {q.name}" for c in self.captures for q in c.quantities if q.ok is False]
        untimed = [f"{c.name} ({c.untimed})" for c in self.captures if c.untimed]
        verdict = self._kept()
        if missed:
            verdict += f"; missed: {'; '.join(missed)}"
        if untimed:
            verdict += f"; no times judged: {', '.join(untimed)}"
        return verdict if missed or untimed else f"{verdict}: all fine"

    def __repr__(self) -> str:
        names = [capture.name for capture in self.captures]
        return f"{type(self).__name__}(captures={names}, all_ok={self.all_ok})"
