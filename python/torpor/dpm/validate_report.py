# SPDX-License-Identifier: MIT
"""How well the dpm model predicts recorded captures, and how that is printed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from torpor.dpm._validate_tables import capture_tables
from torpor.dpm._whatif_modes import Mode, Race
from torpor.report import CaptureReport
from torpor.tables import Table

__all__ = ["CaptureResult", "Quantity", "ValidateReport"]

Section = Literal["capture", "order", "sync", "predict", "mode", "control"]


@dataclass(frozen=True)
class Quantity:
    """One figure of a capture: recorded and predicted.

    Parameters
    ----------
    what : str
        What it is, with its phase in front.
    unit : str
        In what.
    recorded, predicted : float
        The kernel's figure and the model's. Of several cycles that are judged one by one, that of the cycle
        furthest from the model.
    limit_pct : float or None
        Largest error that passes, percent of the recorded figure.
    section : {"capture", "order", "sync", "predict", "mode", "control"}
        The table it stands in.
    limit : float or None
        Largest error that passes in `unit`, for what has no `limit_pct`.
    phase : str
        Whose phase; empty for none.
    low, high : float or None
        Range of the recorded cycles.
    predicted_low, predicted_high : float or None
        Range of the replicates.
    mode : int or None
        Place of the predicted mode that it is compared with.

    Examples
    --------
    >>> resume = Quantity("resume, mean", "ms", 1457.1, 1520.0, 10.0, "predict")
    >>> round(resume.error_pct, 1), resume.ok
    (4.3, True)
    """

    what: str
    unit: str
    recorded: float
    predicted: float
    limit_pct: float | None
    section: Section
    limit: float | None = None
    phase: str = ""
    low: float | None = None
    high: float | None = None
    predicted_low: float | None = None
    predicted_high: float | None = None
    mode: int | None = None

    @property
    def name(self) -> str:
        """What it is."""
        return self.what

    @property
    def error(self) -> float:
        """Predicted minus recorded, in `unit`."""
        return self.predicted - self.recorded

    @property
    def error_pct(self) -> float:
        """Predicted minus recorded in percent of the recorded, of 1 where that is 0."""
        return 100.0 * self.error / (abs(self.recorded) or 1.0)

    @property
    def ok(self) -> bool | None:
        """Whether the limit is kept; None without one."""
        if self.limit is not None:
            return abs(self.error) <= self.limit
        return None if self.limit_pct is None else abs(self.error_pct) <= self.limit_pct


@dataclass(frozen=True)
class CaptureResult:
    """The cycles of one label.

    Parameters
    ----------
    name : str
        Folder and label.
    quantities : tuple of Quantity
        What is checked and what is only reported.
    modes : tuple of Mode
        Clusters of the predicted resume, the shortest first, with who went first and a critical path.
    races : tuple of Race
        Siblings that want one lock in the resume.
    notes : tuple of str
        What a reader has to know about the figures.
    untimed : str
        Why no time of it is judged; empty where one is.

    Examples
    --------
    >>> CaptureResult("c", (Quantity("q", "ms", 1.0, 1.1, 2.0, "predict"),)).ok
    False
    """

    name: str
    quantities: tuple[Quantity, ...]
    modes: tuple[Mode, ...] = ()
    races: tuple[Race, ...] = ()
    notes: tuple[str, ...] = ()
    untimed: str = ""

    @property
    def ok(self) -> bool:
        """Whether no limit is missed."""
        return all(quantity.ok is not False for quantity in self.quantities)

    def find(self, what: str) -> Quantity:
        """Return the quantity of a name; LookupError when there is none."""
        for quantity in self.quantities:
            if quantity.what == what:
                return quantity
        raise LookupError(f"{self.name}: no quantity '{what}'")

    def of(self, section: Section) -> list[Quantity]:
        """Return the quantities of a section."""
        return [quantity for quantity in self.quantities if quantity.section == section]


@dataclass(frozen=True, repr=False)
class ValidateReport(CaptureReport[CaptureResult, Quantity]):
    """The dpm model against captures of real kernels.

    A limit is in percent, or for what is no share of anything in the quantity's unit (`limit`). As plain
    data each capture also has `modes`, with the `orders` (winner, loser) that make a mode and the steps of
    its critical `path`; and `races`.

    Parameters
    ----------
    captures : tuple of CaptureResult
        In the order given, the labels of a folder in alphabetical order.

    Examples
    --------
    >>> quantity = Quantity("q", "ms", 1.0, 1.1, 2.0, "predict")
    >>> ValidateReport((CaptureResult("c", (quantity,)),)).all_ok
    False
    """

    _FAMILY = "dpm"
    _FRAME_KEYS = (
        *("section", "phase", "what", "unit", "recorded", "low", "high", "predicted", "predicted_low"),
        *("predicted_high", "error_pct", "limit_pct", "limit", "ok"),
    )

    def _capture_data(self, capture: CaptureResult) -> dict[str, Any]:
        return {
            **super()._capture_data(capture),
            "modes": [_mode_data(mode) for mode in capture.modes],
            "races": [_without_nan(asdict(race)) for race in capture.races],
        }

    def _capture_tables(self, capture: CaptureResult) -> list[Table]:
        return capture_tables(capture)


def _mode_data(mode: Mode) -> dict[str, Any]:
    data = asdict(mode)
    del data["members"]
    return data


def _without_nan(data: dict[str, Any]) -> dict[str, Any]:
    return {key: None if value != value else value for key, value in data.items()}
