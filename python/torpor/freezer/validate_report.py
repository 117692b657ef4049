# SPDX-License-Identifier: MIT
"""How well the freezer model predicts recorded captures, and how that is printed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

from torpor.freezer._capture_scenario import SplitCosts
from torpor.freezer.capture_fit import FourCpuCosts, OneCpuCosts
from torpor.report import CaptureReport
from torpor.tables import Column, Table, Value

__all__ = ["CaptureResult", "Quantity", "ValidateReport"]

MODEL = "model"

Basis = Literal["", "fitted", "predicted", "given"]


@dataclass(frozen=True)
class Quantity:
    """One figure of a capture: recorded and predicted.

    Parameters
    ----------
    series : str
        Setting of the cycles, for example "woken N=200"; of the capture as a whole "truth.json" or "logs".
    what, unit : str
        What it is, in what.
    recorded : float
        The kernel's figure; of several traced cycles that of the one furthest from the prediction, of
        untraced ones the figure of :class:`torpor.freezer.capture.Measured`.
    predicted : float or None
        The model's figure; None for what it does not predict.
    limit_pct : float or None
        Largest error that passes, in percent of the recorded figure; None for figures that are only reported.
    section : {"capture", "count", "sleep", "switch", "time", "control"}
        The table it stands in.
    basis : {"", "fitted", "predicted", "given"}
        Of figures that costs go into: whether the costs were fitted to it; "given" is a closed form that was
        given the recorded cycle's own switch counter.
    must_miss : bool
        A negative control: it passes when its error is larger than the limit.
    cycles, equal : int
        Of counts: traced cycles, and those with the predicted figure.
    shown : (str, str) or None
        How recorded and predicted are printed, where numbers do not say it.
    low, high : float or None
        Range of the recorded cycles.
    limit : float or None
        Largest error that passes in `unit`, for what has no `limit_pct`.

    Examples
    --------
    >>> loop = Quantity("woken N=200", "user loop", "us", 3902.0, 3899.0, 2.0, "time")
    >>> round(loop.error_pct, 2), loop.ok
    (-0.08, True)
    """

    series: str
    what: str
    unit: str
    recorded: float
    predicted: float | None
    limit_pct: float | None
    section: Literal["capture", "count", "sleep", "switch", "time", "control"]
    basis: Basis = ""
    must_miss: bool = False
    cycles: int = 0
    equal: int = 0
    shown: tuple[str, str] | None = None
    low: float | None = None
    high: float | None = None
    limit: float | None = None

    @property
    def name(self) -> str:
        """Series, quantity and, where it matters, whether it was fitted."""
        name = ", ".join(part for part in (self.series, self.what) if part)
        return f"{name} (fitted)" if self.basis == "fitted" else name

    @property
    def error_pct(self) -> float | None:
        """Predicted minus recorded in percent of the recorded, of 1 where that is 0; None without either."""
        if self.predicted is None:
            return None
        return 100.0 * (self.predicted - self.recorded) / (abs(self.recorded) or 1.0)

    @property
    def error(self) -> float | None:
        """Predicted minus recorded, in `unit`; None without a prediction."""
        return None if self.predicted is None else self.predicted - self.recorded

    @property
    def ok(self) -> bool | None:
        """Whether the limit is kept, by a negative control whether it is missed; None without one."""
        if self.limit is not None and self.error is not None:
            return abs(self.error) <= self.limit
        if self.limit_pct is None or self.error_pct is None:
            return None
        within = abs(self.error_pct) <= self.limit_pct
        return not within if self.must_miss else within


@dataclass(frozen=True)
class CaptureResult:
    """One folder of recorded cycles.

    Parameters
    ----------
    name : str
        The folder's name.
    quantities : tuple of Quantity
        What is checked and what is only reported.
    costs : OneCpuCosts, FourCpuCosts or None
        Fitted ones; None where there is nothing to fit.
    split : SplitCosts or None
        Their split into single steps.
    notes : tuple of str
        What a reader has to know about the figures.
    untimed : str
        Why no time of it is judged; empty where one is.

    Examples
    --------
    >>> CaptureResult("c", (Quantity("", "q", "us", 1.0, 1.1, 2.0, "time"),)).ok
    False
    """

    name: str
    quantities: tuple[Quantity, ...]
    costs: OneCpuCosts | FourCpuCosts | None = None
    split: SplitCosts | None = None
    notes: tuple[str, ...] = ()
    untimed: str = ""

    @property
    def ok(self) -> bool:
        """Whether no limit is missed."""
        return all(quantity.ok is not False for quantity in self.quantities)

    def find(self, series: str, what: str) -> Quantity:
        """Return the quantity of a series; LookupError when there is none.

        Examples
        --------
        >>> result = CaptureResult("c", (Quantity("s", "q", "us", 1.0, 1.1, 2.0, "time"),))
        >>> result.find("s", "q").predicted
        1.1
        """
        for quantity in self.quantities:
            if (quantity.series, quantity.what) == (series, what):
                return quantity
        raise LookupError(f"{self.name}: no quantity '{what}' of '{series}'")


@dataclass(frozen=True, repr=False)
class ValidateReport(CaptureReport[CaptureResult, Quantity]):
    """The freezer model against captures of real kernels.

    A limit is in percent, or for context switches a number of them (`limit`).

    Parameters
    ----------
    captures : tuple of CaptureResult
        In the order given.

    Examples
    --------
    >>> quantity = Quantity("", "q", "us", 1.0, 1.1, 2.0, "time")
    >>> ValidateReport((CaptureResult("c", (quantity,)),)).all_ok
    False
    """

    _FAMILY = "freezer"
    _FRAME_KEYS = (
        *("series", "what", "basis", "unit", "recorded", "predicted", "error_pct", "limit_pct"),
        *("limit", "must_miss", "ok"),
    )

    def _capture_tables(self, capture: CaptureResult) -> list[Table]:
        made = [
            _counts(capture),
            _whole(capture),
            _sleeps(capture),
            _switches(capture),
            _times(capture),
            _controls(capture),
        ]
        return [table for table in (*made, _costs(capture)) if table.rows or table is made[0]]


def _of(capture: CaptureResult, section: str) -> list[Quantity]:
    return [q for q in capture.quantities if q.section == section]


def _whole(capture: CaptureResult) -> Table:
    return Table(
        f"{capture.name}: the capture as a whole",
        [
            Column("of", align="left"),
            Column("what must not be", align="left"),
            Column("found", digits=0),
            Column("ok"),
        ],
        [[q.series, q.what, q.recorded, q.ok] for q in _of(capture, "capture")],
    )


def _counts(capture: CaptureResult) -> Table:
    """Table of the counts; sites of one series with the same figures share a row."""
    alike: dict[tuple[Value, ...], list[Quantity]] = {}
    for q in _of(capture, "count"):
        kind, _, site = q.what.partition(" at ")
        same = (q.recorded, q.predicted, q.cycles, q.equal, q.limit_pct) if site else ()
        alike.setdefault((q.series, kind, *same), []).append(q)
    rows: list[list[Value]] = []
    for first, *others in alike.values():
        what = first.what + "".join(f", {q.what.partition(' at ')[2]}" for q in others)
        what += " (each)" if others else ""
        rows.append(
            [first.series, what, first.cycles, first.equal, first.recorded, first.predicted, first.ok]
        )
    return Table(
        f"{capture.name}: counts in every traced cycle",
        [
            Column("series", align="left"),
            Column("count", align="left", wrap=42),
            Column("cycles"),
            Column("equal"),
            Column("recorded"),
            Column("predicted"),
            Column("ok"),
        ],
        rows,
        notes=["Recorded: the cycle furthest from the prediction. No verdict: not judged.", *capture.notes],
    )


def _sleeps(capture: CaptureResult) -> Table:
    return Table(
        f"{capture.name}: chains of retry sleeps, upper bounds in us",
        [
            Column("series", align="left"),
            Column("loop", align="left"),
            Column("recorded (cycles)", align="left", wrap=36),
            Column("predicted", align="left"),
            Column("equal", "%", digits=0),
            Column("ok"),
        ],
        [
            [q.series, q.what.partition(",")[0], *(q.shown or ("", "")), 100.0 * q.equal / q.cycles, q.ok]
            for q in _of(capture, "sleep")
        ],
        notes=[
            "Of traced cycles, in which every burst takes longer than untraced. Judged with one CPU, nothing "
            "busy and tasks that sleep until they are asked; several CPUs obey no law."
        ],
    )


def _switches(capture: CaptureResult) -> Table:
    rows = _of(capture, "switch")
    notes = ["Freeze and thaw are of traced cycles, the whole cycle is of untraced ones."]
    if isinstance(capture.costs, OneCpuCosts):
        notes[0] += (
            " A thaw and a whole cycle have a constant more than the model, fitted like a cost: the rest of "
            "the machine."
        )
        notes.append(
            "A freeze has no such constant: the rest of the machine adds some switches (1 to 3 in captures "
            "of Linux 6.1 with nothing busy), which are not modelled. The limit is a number of switches, the "
            "same for small and large counts. Judged are the mixes with nothing busy, unless fitted."
        )
    elif rows:
        notes.append("Several CPUs, or a clock that does not repeat: not judged.")
    return Table(
        f"{capture.name}: context switches",
        [
            Column("series", align="left"),
            Column("of", align="left"),
            Column("basis", align="left"),
            Column("recorded", digits=0),
            Column("predicted", digits=0),
            Column("error", "switches", digits=0),
            Column("limit", "switches", digits=0),
            Column("ok"),
        ],
        [[q.series, q.what, q.basis, q.recorded, q.predicted, q.error, q.limit, q.ok] for q in rows],
        notes=notes,
    )


_BASES = {
    "fitted": "Fitted: the costs were fitted to it, so that its error proves nothing and is not judged.",
    "given": (
        "Given: no prediction, but a closed form with fitted costs that was given the recorded cycle's own "
        "switch counter, for nothing tells how many tasks run before the thaw returns. The limit of such a "
        "thaw is for the form at a task count that it was not fitted to."
    ),
}


def _times(capture: CaptureResult) -> Table:
    return Table(
        f"{capture.name}: times without tracing",
        [
            Column("series", align="left"),
            Column("phase", align="left", wrap=13),
            Column("basis", align="left"),
            Column("recorded", "us", digits=0),
            Column("from", "us", digits=0),
            Column("to", "us", digits=0),
            Column("predicted", "us", digits=0),
            Column("error", "%", digits=2),
            Column("limit", "%", digits=1),
            Column("ok"),
        ],
        [
            [
                *(q.series, q.what, q.basis, q.recorded, q.low, q.high),
                *(q.predicted, q.error_pct, q.limit_pct, q.ok),
            ]
            for q in _of(capture, "time")
        ],
        notes=[note for basis, note in _BASES.items() if any(q.basis == basis for q in _of(capture, "time"))],
    )


def _controls(capture: CaptureResult) -> Table:
    rows: list[list[Value]] = []
    controls = _of(capture, "control")
    for series in dict.fromkeys(q.series for q in controls):
        model = capture.find(series, "user loop")
        rows.append([series, MODEL, model.recorded, model.predicted, model.error_pct, None, None])
        rows += [
            [series, q.what.partition(", ")[2], q.recorded, q.predicted, q.error_pct, q.limit_pct, q.ok]
            for q in controls
            if q.series == series
        ]
    notes = ["walker_wake=head: the walker goes on before the tasks that it has woken."]
    if isinstance(capture.costs, FourCpuCosts):
        notes[0] += (
            " preempt=none goes with it: where the walker lets them run before it sleeps, as the model of "
            "several CPUs on one clock does, no head of the queue makes a difference."
        )
        least = ". Several CPUs: not judged."
    else:
        notes[0] += " preempt=full: it lets them run before it sleeps."
        least = ", where the miss is least."
    notes.append(
        "By how much walker_wake=head misses depends on resig_cycles, the cost of a repeated request, which "
        f"no capture identifies: it is taken as 0{least}"
    )
    return Table(
        f"{capture.name}: user loop with other rules for the walker (negative controls)",
        [
            Column("series", align="left"),
            Column("variant", align="left"),
            Column("recorded", "us", digits=0),
            Column("predicted", "us", digits=0),
            Column("error", "%", digits=1),
            Column("must miss by", "%", digits=0),
            Column("ok"),
        ],
        rows,
        notes=notes,
    )


def _costs(capture: CaptureResult) -> Table:
    rows: list[list[Value]] = []
    costs, split = capture.costs, capture.split
    if costs is not None and split is not None:
        for kind, table in (("fitted", asdict(costs)), ("split", asdict(split))):
            for name, value in table.items():
                if name.endswith("_ns") and name not in ("instruction_ns", "sleep_ns"):
                    each = costs.instruction_ns
                    in_instructions = None if each is None else value / each
                    rows.append([kind, name.removesuffix("_ns"), value / 1000.0, in_instructions])
    fitted_on = () if costs is None else costs.fitted_on
    return Table(
        f"{capture.name}: costs fitted on {', '.join(fitted_on)}",
        [
            Column("kind", align="left"),
            Column("cost", align="left"),
            Column("time", "us", digits=2),
            Column("instructions", digits=0),
        ],
        rows,
        notes=[
            "Fitted sums are identified; their split into steps is not, and moves no prediction as long as a "
            "loop sleeps once. Overdrawn: by how much a fixed part is too small for its steps."
        ],
    )
