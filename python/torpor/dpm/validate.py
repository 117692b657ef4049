# SPDX-License-Identifier: MIT
"""The dpm model against real kernels: recorded suspends, predicted from those without workers."""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from torpor._checks import Progress, listener, whole
from torpor._core import ConfigError
from torpor.dpm._capture_graph import RecordedGraph
from torpor.dpm._capture_order import compare_starts, recorded_starts
from torpor.dpm._capture_records import MIDDLE_PHASES, Cycle, PhaseRecord
from torpor.dpm._given import each, folder_of
from torpor.dpm._validate_tables import BY_WORKERS, MODEL, STARTS, TOTAL
from torpor.dpm._whatif_modes import (
    Mode,
    Race,
    first_holders,
    modes_of,
    orders_of,
    path_of,
    races_of,
    rivals,
)
from torpor.dpm.capture import DeviceCapture, capture_labels
from torpor.dpm.runs import RESUME_PHASES, SUSPEND_PHASES
from torpor.dpm.validate_report import CaptureResult, Quantity, ValidateReport
from torpor.dpm.whatif import PhaseModel, Played, RecordedMachine

__all__ = ["ValidateReport", "validate_captures"]

POLICY = "old-inline"
"""What Linux 6.1.192 does."""

MOST_UNMATCHED = 3
"""Consoles that the kernel makes for the suspend itself are in no snapshot taken before."""

PREDICTED_PCT = 10.0
MODE_PCT = 1.0
ORDER_PCT = 5.0
ORDER_RESUME_PCT = 2.0

NO_LOCKS = "without shared locks"
NO_DIRECT_COMPLETE = "without direct_complete"

_RESUME = "resume"
_BY_MEDIAN = ("suspend_late", "resume_early")
"""Phases of which most is the cost of items, which has two values: a mean says more about the odds."""

LEAST_CYCLES = 3
"""Of fewer recorded cycles a median is one toss of that coin."""

_SIDES = {"all suspend phases": SUSPEND_PHASES, "all resume phases": RESUME_PHASES}
_STEPS = len(MIDDLE_PHASES) + 1


class _Validation:
    """One label of one folder."""

    def __init__(self, folder: Path, label: str, runs: int, seed: int, tell: Callable[[], None]) -> None:
        self.capture = capture = DeviceCapture.load(folder, label)
        self.name = f"{folder.resolve().name} {label}"
        self.runs, self.seed, self.tell = runs, seed, tell
        self.machine = RecordedMachine.of(capture)
        self.sync = [(cycle, capture.sync_graph(cycle)) for cycle in capture.sync]
        self.recorded_async = [(cycle, capture.async_graph(cycle)) for cycle in capture.asynchronous]
        self.phases = [phase.name for phase in capture.sync[0].middle]
        self.modes: tuple[Mode, ...] = ()
        self.races: tuple[Race, ...] = ()
        tell()

    def result(self) -> CaptureResult:
        quantities = list(self._whole())
        totals: dict[str, list[tuple[float, float]]] = {}
        for phase in MIDDLE_PHASES:
            if phase in self.phases:
                quantities += self._order(phase, totals)
                quantities.append(self._sync(phase))
                quantities += self._predict(phase)
            self.tell()
        quantities += self._sides(totals)
        return CaptureResult(
            self.name, tuple(quantities), self.modes, self.races, tuple(self._notes()), self._why_untimed()
        )

    def _why_untimed(self) -> str:
        if not self.capture.asynchronous:
            return "no cycle with workers was recorded"
        return "" if self.capture.repeats else "its clock does not repeat"

    def _limit(self, pct: float) -> float | None:
        return pct if self.capture.repeats else None

    def _whole(self) -> Iterator[Quantity]:
        capture = self.capture
        differing = float(len(capture.disagreements))
        yield Quantity("figures that differ from truth.json", "", 0.0, differing, None, "capture", limit=0.0)
        matchings = [capture.matching(cycle) for cycle in (*capture.sync, *capture.asynchronous)]
        unmatched = max(one.total - one.matched for one in matchings)
        what = f"names without a device in the snapshot, of {matchings[0].total}"
        yield Quantity(what, "", 0.0, float(unmatched), None, "capture", limit=float(MOST_UNMATCHED))

    def _order(self, phase: str, totals: dict[str, list[tuple[float, float]]]) -> Iterator[Quantity]:
        """Callbacks as long as recorded, in our order."""
        played = [
            (record, recorded, self._recorded_tick(recorded, record, POLICY))
            for cycle, recorded in self.recorded_async
            if (record := cycle.phases.get(phase)) is not None
        ]
        if not played:
            return
        both = totals[phase] = [(record.duration_ms, one.ms) for record, _, one in played]
        pct = ORDER_RESUME_PCT if phase == _RESUME else ORDER_PCT
        yield self._furthest(f"{phase}, {TOTAL}", phase, both, "order", self._limit(pct))
        counts = [(float(record.by_worker), float(one.by_workers)) for record, _, one in played]
        theirs, ours = max(counts, key=lambda pair: abs(pair[1] - pair[0]))
        exact = self._limit(0.0)
        yield Quantity(f"{phase}, {BY_WORKERS}", "", theirs, ours, exact, "order", phase=phase)
        worst_ms = max(self._swap_ms(record, recorded, one) for record, recorded, one in played)
        yield Quantity(
            f"{phase}, {STARTS}",
            "ms",
            0.0,
            worst_ms,
            None,
            "order",
            phase=phase,
            limit=self._limit(self.machine.tick_ns / 1e6),
        )

    def _recorded_tick(self, recorded: RecordedGraph, record: PhaseRecord, policy: str) -> Played:
        """Play a phase from the time of the tick at which it was recorded."""
        return PhaseModel(self.machine, recorded, record.name).play(
            policy,
            since_tick_ns=self.capture.tick.after_ns(record.begin_ns),
            items_with_main=bool(record.items_with_main),
            seed=self.seed,
        )

    @staticmethod
    def _swap_ms(record: PhaseRecord, recorded: RecordedGraph, played: Played) -> float:
        frame = played.intervals()
        frame = frame[frame["called"]]
        begin_ns = (frame["begin_ms"] * 1e6).round().astype("int64")
        modelled = dict(zip(frame["device"], begin_ns.tolist(), strict=True))
        return compare_starts(recorded_starts(record, recorded.names), modelled).worst_ns / 1e6

    @staticmethod
    def _furthest(
        what: str,
        phase: str,
        both: Sequence[tuple[float, float]],
        section: Literal["order", "sync"],
        limit_pct: float | None,
    ) -> Quantity:
        """Of several cycles, recorded and modelled, the one with the largest error."""
        recorded, modelled = max(both, key=lambda ms: abs(ms[1] / ms[0] - 1.0))
        return Quantity(
            what,
            "ms",
            recorded,
            modelled,
            limit_pct,
            section,
            phase=phase,
            low=min(ms for ms, _ in both),
            high=max(ms for ms, _ in both),
        )

    def _sides(self, totals: dict[str, list[tuple[float, float]]]) -> Iterator[Quantity]:
        for side, phases in _SIDES.items():
            known = [totals[phase] for phase in phases if phase in totals]
            if len(known) < 2 or len({len(one) for one in known}) > 1:
                continue
            both = [
                (sum(ms for ms, _ in cycle), sum(ms for _, ms in cycle)) for cycle in zip(*known, strict=True)
            ]
            pct = ORDER_RESUME_PCT if phases is RESUME_PHASES else ORDER_PCT
            yield self._furthest(f"{side}, {TOTAL}", side, both, "order", self._limit(pct))

    def _sync(self, phase: str) -> Quantity:
        both = [
            (record.duration_ms, self._recorded_tick(recorded, record, "sync").ms)
            for cycle, recorded in self.sync
            if (record := cycle.phases.get(phase)) is not None
        ]
        return self._furthest(f"{phase}, replayed without workers", phase, both, "sync", None)

    def _draw(self, phase: str, **rules: bool) -> list[Played]:
        played: list[Played] = []
        for _, recorded in self.sync:
            if phase in recorded.costs:
                model = PhaseModel(self.machine, recorded, phase, **rules)
                first = len(played)
                played += [model.draw(POLICY, seed=self.seed, replicate=first + r) for r in range(self.runs)]
        return played

    def _predict(self, phase: str) -> Iterator[Quantity]:
        """Predict the phase with workers from the cycles without."""
        played = self._draw(phase)
        predicted = [one.ms for one in played]
        if phase == _RESUME:
            self._explain(phase, played)
        recorded = [c.phases[phase].duration_ms for c in self.capture.asynchronous if phase in c.phases]
        if not recorded:
            return
        by_median = phase in _BY_MEDIAN
        of = statistics.median if by_median else statistics.fmean
        judged = not by_median or len(recorded) >= LEAST_CYCLES
        yield Quantity(
            f"{phase}, {'median' if by_median else 'mean'}",
            "ms",
            of(recorded),
            of(predicted),
            self._limit(PREDICTED_PCT) if judged else None,
            "predict",
            phase=phase,
            low=min(recorded),
            high=max(recorded),
            predicted_low=min(predicted),
            predicted_high=max(predicted),
        )
        if phase == _RESUME:
            yield from self._compare_modes(recorded)
        yield from self._controls(phase, statistics.fmean(recorded), statistics.fmean(predicted))

    def _explain(self, phase: str, played: Sequence[Played]) -> None:
        """Modes, the races that make them, and a critical path of each."""
        durations = [one.ms for one in played]
        pairs = tuple(
            dict.fromkeys(pair for _, recorded in self.sync for pair in rivals(recorded.graph, phase))
        )
        intervals = [one.intervals() for one in played]
        winners = [first_holders(frame, pairs) for frame in intervals]
        modes = modes_of(durations)
        self.races = races_of(durations, winners)
        made = []
        for mode, orders in zip(modes, orders_of(modes, winners), strict=True):
            typical = min(mode.members, key=lambda i: abs(durations[i] - mode.mean_ms))
            made.append(
                replace(mode, orders=orders, path=path_of(intervals[typical], played[typical].graph, phase))
            )
        self.modes = tuple(made)

    def _compare_modes(self, recorded: Sequence[float]) -> Iterator[Quantity]:
        found = modes_of(recorded)
        for number, mode in enumerate(found, 1):
            place = min(range(len(self.modes)), key=lambda i: abs(self.modes[i].mean_ms - mode.mean_ms))
            nearest = self.modes[place]
            yield Quantity(
                f"{_RESUME}, recorded mode {number} of {len(found)}",
                "ms",
                mode.mean_ms,
                nearest.mean_ms,
                self._limit(MODE_PCT),
                "mode",
                phase=_RESUME,
                low=mode.low_ms,
                high=mode.high_ms,
                predicted_low=nearest.low_ms,
                predicted_high=nearest.high_ms,
                mode=place,
            )

    def _controls(self, phase: str, recorded: float, predicted: float) -> Iterator[Quantity]:
        if phase not in RESUME_PHASES:
            return
        means = {MODEL: predicted}
        if phase == _RESUME:
            means[NO_LOCKS] = statistics.fmean(one.ms for one in self._draw(phase, locks=False))
        means[NO_DIRECT_COMPLETE] = statistics.fmean(
            one.ms for one in self._draw(phase, direct_complete=False)
        )
        for rules, mean in means.items():
            yield Quantity(f"{phase}, {rules}", "ms", recorded, mean, None, "control", phase=phase)

    def _notes(self) -> Iterator[str]:
        capture = self.capture
        tick, cpus = capture.tick, capture.cpus
        yield (
            f"Cycles: {len(capture.sync)} without workers, of which each has {self.runs} replicates, and "
            f"{len(capture.asynchronous)} with. CPUs: {cpus}, which do the work of {capture.capacity:g}. "
            f"Tick: {tick.period_ns / 1e6:g} ms; how well the ends of sleeps agree with it, from 0 to 1: "
            f"{tick.resultant:.2f}."
        )
        if capture.repeats and 0 < len(capture.asynchronous) < LEAST_CYCLES:
            yield (
                f"The medians of late and early are judged from {LEAST_CYCLES} cycles on: these phases have "
                "two values, and which one it is depends on where the workers ran."
            )
        if capture.disagreements:
            yield f"Differs from truth.json: {'; '.join(capture.disagreements)}."
        if not capture.asynchronous:
            yield "No cycle with workers was recorded: there is nothing to compare a prediction with."
        if not capture.repeats:
            yield f"The clock ({capture.clock}) does not repeat: times are printed, not judged."
        unmatched = sorted(self._unmatched())
        if unmatched:
            yield f"Not in the snapshot, taken as synchronous without callbacks: {', '.join(unmatched)}."

    def _unmatched(self) -> set[str]:
        cycles: tuple[Cycle, ...] = (*self.capture.sync, *self.capture.asynchronous)
        return {
            str(name)
            for cycle in cycles
            for name, position in zip(cycle.order, self.capture.matching(cycle).positions, strict=True)
            if position is None
        }


def _has_traces(path: Path) -> bool:
    return any(path.glob("*_async0.trace")) or any(path.glob("*_async0.trace.gz"))


def _folders(path: Path) -> list[Path]:
    if not path.is_dir():
        raise ConfigError(f"{path}: no such folder")
    if (path / "truth.json").exists() or _has_traces(path):
        return [path]
    inner = [one for one in sorted(path.iterdir()) if one.is_dir() and _has_traces(one)]
    if not inner:
        raise ConfigError(f"{path}: no device capture: expected truth.json and LABEL_async0.trace.gz")
    return inner


def validate_captures(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    runs: int = 100,
    seed: int = 1,
    progress: Progress | None = None,
) -> ValidateReport:
    """Compare the dpm model with recorded suspends and resumes of real kernels (Linux 6.1.192).

    Everything is judged where the clock repeats, and only reported elsewhere.

    Our order, with every callback as long as it was recorded with workers: phases within 5 %, the resume and
    all resume phases together within 2 %; as many callbacks by workers as recorded; of two callbacks that
    begin the other way round, both orders put less than a tick between them.

    The prediction, from cycles without workers alone: the mean of each phase within 10 % (of late and early
    the median, of at least three cycles), each recorded mode of the resume within 1 % of a predicted one.
    Beside it stand the modes and who went first in the races that make them, a critical path of each, a
    replay of the cycles without workers, and what comes out with a rule switched off.

    Parameters
    ----------
    paths : path-like or sequence of path-like
        Folders with ``truth.json``, ``devices.tsv.gz``, ``LABEL_async0.trace.gz`` and
        ``LABEL_async1.trace.gz``, or folders of such folders.
    runs : int
        Replicates of each recorded cycle without workers.
    seed : int
        Root of all randomness: when the tick comes, who wakes first, where workers run.
    progress : callable or None
        Called with (done, total), of the phases of all captures.

    Raises
    ------
    ConfigError
        When a folder holds no capture or is given twice, a file is missing or damaged, or a setting is out of
        range.

    Examples
    --------
    >>> validate_captures("no-such-folder")
    Traceback (most recent call last):
    torpor._core.ConfigError: no-such-folder: no such folder
    """
    runs, seed = whole("runs", runs, 1, 1_000_000), whole("seed", seed, 0, 2**64 - 1)
    told = listener("progress", progress)
    many = [paths] if isinstance(paths, str | os.PathLike) else [*each("captures", paths, "list of folders")]
    if not many:
        raise ConfigError("captures: none given")
    folders = [folder for path in many for folder in _folders(folder_of("captures", path))]
    seen: dict[Path, Path] = {}
    for folder in folders:
        first = seen.setdefault(folder.resolve(), folder)
        if first is not folder:
            also = "" if first == folder else f", also as {first}"
            raise ConfigError(f"captures: {folder} is given twice{also}")
    captures = [(folder, label) for folder in folders for label in capture_labels(folder)]
    done = 0

    def tell() -> None:
        nonlocal done
        done += 1
        if told is not None:
            told(done, _STEPS * len(captures))

    return ValidateReport(
        tuple(_Validation(folder, label, runs, seed, tell).result() for folder, label in captures)
    )
