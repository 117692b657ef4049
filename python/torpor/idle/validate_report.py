# SPDX-License-Identifier: MIT
"""How well the model predicts recorded captures, and how that is printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from torpor.idle.trace import START_NOTE
from torpor.report import CaptureReport
from torpor.tables import Column, Table, Value

__all__ = ["CaptureResult", "Prediction", "Quantity", "StateResult", "TraceResult", "ValidateReport"]


@dataclass(frozen=True)
class Quantity:
    """One figure of a capture: recorded and predicted.

    Parameters
    ----------
    name, unit : str
        What it is, in what.
    recorded, predicted : float
        The kernel's figure and the model's.
    error_pct : float
        Of a residency the difference in percent of the trace's length, of a share in percentage points, of a
        count in percent of the recorded one.
    limit_pct : float or None
        Largest error that passes; None for figures that are only reported.

    Examples
    --------
    >>> Quantity("CPU 0, WFI, residency", "s", 1.0, 1.1, 1.0, 0.75).ok
    False
    """

    name: str
    unit: str
    recorded: float
    predicted: float
    error_pct: float
    limit_pct: float | None

    @property
    def ok(self) -> bool | None:
        """Whether the error is within the limit; None without one."""
        return None if self.limit_pct is None else abs(self.error_pct) <= self.limit_pct


@dataclass(frozen=True)
class StateResult:
    """One state of one CPU in a closed loop.

    Parameters
    ----------
    cpu : int
        The CPU.
    state : str
        The state's name.
    recorded_s, predicted_s : float, seconds
        Residency.
    recorded_entries, predicted_entries : int
        Entries.

    Examples
    --------
    >>> StateResult(0, "WFI", 1.0, 1.5, 3, 4).predicted_s
    1.5
    """

    cpu: int
    state: str
    recorded_s: float
    predicted_s: float
    recorded_entries: int
    predicted_entries: int


@dataclass(frozen=True)
class Prediction:
    """How well one variant of the model predicts one trace.

    Parameters
    ----------
    variant : str
        "model", or the name of a negative control.
    equal_pct, equal_after_warm_up_pct, tick_flag_pct : float, percent
        Open loop: decisions with the recorded state, the same without the first eight of each CPU, and
        decisions after which the tick is as recorded.
    worst_error_pct, mean_error_pct : float, percent
        Closed loop: largest residency error of a CPU's states in percent of the trace's length, over the
        CPUs.
    entries, tick_stops : int
        Closed loop, all CPUs.
    states : tuple of StateResult
        Closed loop, by CPU and state.
    tick_stops_by_cpu : mapping of int to (int, int)
        Recorded and predicted, by CPU.
    equal_by_cpu : mapping of int to (int, int)
        Open loop: decisions, and those with the recorded state, by CPU.

    Examples
    --------
    >>> Prediction("model", 99.0, 99.5, 100.0, 0.4, 0.1, 10, 5, (), {}, {}).worst_error_pct
    0.4
    """

    variant: str
    equal_pct: float
    equal_after_warm_up_pct: float
    tick_flag_pct: float
    worst_error_pct: float
    mean_error_pct: float
    entries: int
    tick_stops: int
    states: tuple[StateResult, ...]
    tick_stops_by_cpu: Mapping[int, tuple[int, int]]
    equal_by_cpu: Mapping[int, tuple[int, int]]


@dataclass(frozen=True)
class TraceResult:
    """One trace of a capture.

    Parameters
    ----------
    name : str
        Of the trace, for example "menu pattern".
    policy : str
        The governor that is compared.
    window_s : float, seconds
        Length of the trace.
    decisions, tick_stops : int
        Recorded, all CPUs.
    predictions : tuple of Prediction
        The model first, then the negative controls.

    Examples
    --------
    >>> TraceResult("menu quiet", "menu(version=6.1.192)", 10.0, 300, 155, ()).decisions
    300
    """

    name: str
    policy: str
    window_s: float
    decisions: int
    tick_stops: int
    predictions: tuple[Prediction, ...]

    @property
    def model(self) -> Prediction:
        """The model's own prediction."""
        return self.predictions[0]


@dataclass(frozen=True)
class CaptureResult:
    """One folder of traces.

    Parameters
    ----------
    name : str
        The capture's name.
    quantities : tuple of Quantity
        What is checked and what is only reported.
    traces : tuple of TraceResult
        Where they come from.

    Examples
    --------
    >>> CaptureResult("c", (Quantity("q", "s", 1.0, 1.0, 0.0, 0.75),), ()).ok
    True
    """

    name: str
    quantities: tuple[Quantity, ...]
    traces: tuple[TraceResult, ...]

    @property
    def ok(self) -> bool:
        """Whether no limit is missed."""
        return all(quantity.ok is not False for quantity in self.quantities)

    @property
    def untimed(self) -> str:
        """Why no time of it is judged: always empty, for the residencies of every trace are."""
        return ""


@dataclass(frozen=True, repr=False)
class ValidateReport(CaptureReport[CaptureResult, Quantity]):
    """The model against captures of real kernels.

    Parameters
    ----------
    captures : tuple of CaptureResult
        In the order given.

    Examples
    --------
    >>> ValidateReport((CaptureResult("c", (Quantity("q", "s", 1.0, 3.0, 20.0, 0.75),), ()),)).all_ok
    False
    """

    _FAMILY = "idle"
    _CAPTURE_KEYS = ("name",)
    _QUANTITY_KEYS = ("name", "unit", "recorded", "predicted", "error_pct", "limit_pct", "ok")
    _FRAME_KEYS = _QUANTITY_KEYS

    def to_frame(self) -> pd.DataFrame:
        """One row per quantity."""
        return super().to_frame().rename(columns={"name": "quantity"})

    def _capture_tables(self, capture: CaptureResult) -> list[Table]:
        return _tables(capture)

    def _verdict(self) -> str:
        # What is missed stands in the table of the limits.
        return self._kept() + ("" if self.missed else ": all fine")


def _tables(capture: CaptureResult) -> list[Table]:
    overview: list[list[Value]] = [
        [
            trace.name,
            one.variant,
            one.equal_pct,
            one.equal_after_warm_up_pct,
            one.tick_flag_pct,
            one.worst_error_pct,
            one.mean_error_pct,
            trace.decisions,
            one.entries,
            trace.tick_stops,
            one.tick_stops,
        ]
        for trace in capture.traces
        for one in trace.predictions
    ]
    limits: list[list[Value]] = [
        [q.name, q.unit, q.recorded, q.predicted, q.error_pct, q.limit_pct, q.ok]
        for q in capture.quantities
        if q.limit_pct is not None and (q.unit != "s" or q.ok is False)
    ]
    details: list[list[Value]] = []
    for trace in capture.traces:
        for state in trace.model.states:
            error = 100.0 * (state.predicted_s - state.recorded_s) / trace.window_s
            details.append(
                [
                    trace.name,
                    state.cpu,
                    state.state,
                    state.recorded_s,
                    state.predicted_s,
                    error,
                    state.recorded_entries,
                    state.predicted_entries,
                ]
            )
        for cpu, (recorded, predicted) in trace.model.tick_stops_by_cpu.items():
            details.append([trace.name, cpu, "(tick stops)", None, None, None, recorded, predicted])
        for cpu, (decisions, equal) in trace.model.equal_by_cpu.items():
            details.append([trace.name, cpu, "(equal decisions)", None, None, None, decisions, equal])
    return [
        Table(
            f"{capture.name}: open loop (equal decisions) and closed loop (residency, entries, tick stops)",
            [
                Column("trace", align="left"),
                Column("variant", align="left"),
                Column("equal", "%", digits=2),
                Column("after 8", "%", digits=2),
                Column("tick", "%", digits=2),
                Column("worst error", "%", digits=2),
                Column("mean error", "%", digits=2),
                Column("entries recorded"),
                Column("predicted"),
                Column("stops recorded"),
                Column("predicted"),
            ],
            overview,
            notes=[
                "Errors of residency are the largest of a CPU's states in percent of the trace's length, "
                "worst and mean over the CPUs. 'got_tick rule off' and 'always deepest' are negative "
                "controls: a trace in which they do well says little about residency.",
                START_NOTE,
            ],
        ),
        Table(
            f"{capture.name}: limits (residencies only where missed)",
            [
                Column("quantity", align="left"),
                Column("unit", align="left"),
                Column("recorded"),
                Column("predicted"),
                Column("error", "%", digits=3),
                Column("limit", "%", digits=2),
                Column("ok"),
            ],
            limits,
        ),
        Table(
            f"{capture.name}: closed loop by CPU and state; equal decisions are of the open loop",
            [
                Column("trace", align="left"),
                Column("CPU"),
                Column("state", align="left"),
                Column("recorded", "s", digits=3),
                Column("predicted", "s", digits=3),
                Column("error", "%", digits=2),
                Column("entries recorded"),
                Column("predicted"),
            ],
            details,
        ),
    ]
