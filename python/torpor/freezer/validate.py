# SPDX-License-Identifier: MIT
"""The freezer model against real kernels: recorded freeze and thaw cycles, predicted again."""

from __future__ import annotations

import os
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from torpor._core import ConfigError
from torpor.freezer._capture_model import Model
from torpor.freezer._capture_scenario import policy_of, split_costs
from torpor.freezer.capture import Capture, Measured, Series, ties
from torpor.freezer.capture_fit import (
    FourCpuCosts,
    OneCpuCosts,
    Phases,
    fit_four_cpus,
    fit_one_cpu,
    held_out,
    thaw_switches,
)
from torpor.freezer.validate_report import Basis, CaptureResult, Quantity, ValidateReport

__all__ = ["ValidateReport", "validate_captures"]

EXACT = 0.0
SWITCHES_LIMIT = 5
"""Context switches by which a count may be off: what else the machine does varies by that."""
CONTROL_MISS_PCT = 20.0
HEAD = "walker_wake=head"
FULL = "preempt=full"
HEAD_NONE = f"{HEAD}, preempt=none"

_MIXES = ("frozen", "mixed", "woken")
_SHORT_SLEEPER = "tick"
_LOOPS = ("user loop", "kernel loop")


@dataclass(frozen=True)
class _Limits:
    """Largest errors of the phases that pass, percent; None where a capture cannot tell."""

    user: float
    kernel: float
    thaw: float
    total: float | None


_ONE_CPU = _Limits(user=2.0, kernel=2.0, thaw=2.0, total=1.0)
_SHARED_CLOCK = _Limits(user=25.0, kernel=10.0, thaw=25.0, total=None)


class _Validation:
    """One capture."""

    def __init__(self, folder: Path) -> None:
        self.capture = capture = Capture.load(folder)
        self.folder = folder
        policy = policy_of(capture)
        self.one_cpu = capture.cpus == 1
        self.steady = [one for one in capture.series if one.steady]
        self.costs = self._fit()
        self.split = None if self.costs is None else split_costs(self.costs, capture)
        self.new = {one.name for one in held_out(capture)} if self.costs is not None else set()
        self.model = Model(folder, capture, policy, self.split)
        self.predictions = {one.name: self.model.predict(one) for one in capture.series}

    def _fit(self) -> OneCpuCosts | FourCpuCosts | None:
        capture = self.capture
        if capture.instruction_ns is None or not any(_is_plain(one) for one in self.steady):
            return None
        return fit_one_cpu(capture) if self.one_cpu else fit_four_cpus(capture)

    def result(self) -> CaptureResult:
        differing = len(self.capture.disagreements)
        quantities = [_whole("truth.json", "figures that differ from trace and log", differing)]
        if self._must_have_times():
            without = len(self._without_times())
            quantities.append(_whole("logs", "series with no untraced cycles to judge", without))
        for series in self.capture.series:
            quantities += self._counts(series)
        for series in self.capture.series:
            quantities += self._sleeps(series)
        quantities += self._switches()
        for series in self.steady:
            quantities += self._times(series)
        for series in self.steady:
            quantities += self._controls(series)
        name = self.folder.resolve().name
        timed = any(q.section == "time" and q.ok is not None for q in quantities)
        untimed = "" if timed else self._why_untimed()
        return CaptureResult(name, tuple(quantities), self.costs, self.split, tuple(self._notes()), untimed)

    def _without_times(self) -> list[str]:
        """Series that were timed, by truth.json, but of which the logs do not say enough."""
        short = [one.name for one in self.capture.series if one.untraced and not one.steady]
        return [*self.capture.without_log, *short]

    def _must_have_times(self) -> bool:
        """Whether the clock's times repeat and the recorder took any."""
        return self.capture.instruction_ns is not None and bool(self.steady or self._without_times())

    def _why_untimed(self) -> str:
        without = len(self._without_times())
        if self.capture.instruction_ns is None:
            return "its clock does not repeat"
        if without:
            return f"{without} series without {'log' if self.capture.without_log else 'enough cycles'}"
        if not self.steady:
            return "it was recorded without untraced cycles"
        return "no task count is larger than the fitted ones"

    def _counts(self, series: Series) -> Iterator[Quantity]:
        cycles, model = series.traced, self.predictions[series.name]
        if not cycles:
            return
        awake = _SHORT_SLEEPER in series.sites
        limit = None if awake else EXACT
        for site in sorted(model.wakeups.keys() | {s for c in cycles for s in c.wakeups_by_site}):
            recorded = [cycle.wakeups_by_site.get(site, 0) for cycle in cycles]
            predicted = model.wakeups.get(site, 0)
            judged = None if site == _SHORT_SLEEPER else EXACT
            yield _count(series, f"wakeups at {site}", recorded, predicted, judged)
        entries = [c.refrigerator_entries for c in cycles if c.refrigerator_entries is not None]
        if entries:
            yield _count(series, "refrigerator entries", entries, model.refrigerator, limit)
        restarts = [cycle.restarted_calls for cycle in cycles]
        yield _count(series, "restarted calls", restarts, int(model.runs.restarts[0]), limit)
        errors = [cycle.visible_errors for cycle in cycles if cycle.visible_errors is not None]
        if errors:
            at_freeze, at_thaw = int(model.runs.visible_errors[0]), int(model.runs.thaw_visible_errors[0])
            predicted_errors = {"epoll (freeze)": at_freeze, "sigtw (thaw)": at_thaw, "other sites": 0}
            for where, predicted in predicted_errors.items():
                site = where.partition(" (")[0]
                recorded = [
                    one.get(site, 0)
                    if where != "other sites"
                    else sum(n for s, n in one.items() if s not in ("epoll", "sigtw"))
                    for one in errors
                ]
                yield _count(series, f"visible errors at {where}", recorded, predicted, EXACT)

    def _sleeps(self, series: Series) -> Iterator[Quantity]:
        model = self.predictions[series.name]
        for number, loop in enumerate(_LOOPS):
            recorded = [cycle.loops[number].sleeps_max_us for cycle in series.traced if cycle.loops]
            if not recorded:
                continue
            predicted = model.chains[number]
            equal = sum(chain == predicted for chain in recorded)
            judged = self.one_cpu and _is_plain(series)
            seen = Counter(recorded).most_common()
            yield Quantity(
                series.name,
                f"{loop}, cycles with the predicted chain of sleeps",
                "cycles",
                float(len(recorded)),
                float(equal),
                EXACT if judged else None,
                "sleep",
                cycles=len(recorded),
                equal=equal,
                shown=(", ".join(f"{_chain(chain)} ({n})" for chain, n in seen), _chain(predicted)),
            )

    def _switches(self) -> list[Quantity]:
        """One CPU: the model's own count in the freeze, and with a fitted constant in thaw and cycle."""
        made: list[Quantity] = []
        beside_thaw = beside_cycle = None
        if self.one_cpu and isinstance(self.costs, OneCpuCosts):
            fitted = [one for one in self.capture.series if one.name in self.costs.fitted_on]
            thaws = [
                cycle.switches_thaw - self.predictions[one.name].thaw_switches
                for one in fitted
                for cycle in one.traced
                if cycle.switches_thaw is not None
            ]
            beside_thaw = round(statistics.median(thaws)) if thaws else None
            beside_cycle = round(
                statistics.median(
                    one.measured(1).context_switches - self._cycle_switches(one) for one in fitted
                )
            )
        for series in self.capture.series:
            model = self.predictions[series.name]
            basis = self._basis(series)
            plain = self.one_cpu and _is_plain(series)
            for phase, recorded in (
                ("freeze", [c.switches_freeze for c in series.traced]),
                ("thaw", [c.switches_thaw for c in series.traced]),
            ):
                counted = [float(n) for n in recorded if n is not None]
                predicted: float | None = model.freeze_switches
                of: Basis = "predicted"
                judged = plain
                if phase == "thaw":
                    of = basis
                    judged = plain and basis == "predicted"
                    predicted = None if beside_thaw is None else model.thaw_switches + beside_thaw
                if counted and self.split is not None:
                    made.append(_switch(series, phase, counted, predicted, judged, of))
                elif counted:
                    made.append(_switch(series, phase, counted, None, False, ""))
            if series.steady:
                cycle = series.measured(self.capture.cpus).context_switches
                total = None if beside_cycle is None else self._cycle_switches(series) + beside_cycle
                judged = plain and basis == "predicted"
                made.append(_switch(series, "whole cycle", [cycle], total, judged, basis))
        return made

    def _cycle_switches(self, series: Series) -> int:
        model = self.predictions[series.name]
        return model.freeze_switches + model.thaw_switches

    def _basis(self, series: Series, given: bool = False) -> Basis:
        if self.costs is None:
            return ""
        if series.name in self.costs.fitted_on:
            return "fitted"
        return "given" if given else "predicted"

    def _phases(self, series: Series, measured: Measured) -> Phases | None:
        if self.costs is None:
            return None
        runs = self.predictions[series.name].runs
        user_us, kernel_us = float(runs.user_elapsed_ns[0]) / 1e3, float(runs.kernel_elapsed_ns[0]) / 1e3
        if isinstance(self.costs, OneCpuCosts):
            thaw_us = float(runs.thaw_walker_ns[0]) / 1e3
        else:
            given = thaw_switches(series, measured.context_switches)
            thaw_us = self.costs.phases(series.marked, series.woken, given).thaw_us
        total_us = user_us + kernel_us + thaw_us + self.costs.cycle_fixed_ns / 1e3
        return Phases(user_us, kernel_us, thaw_us, total_us)

    def _times(self, series: Series) -> Iterator[Quantity]:
        measured = series.measured(self.capture.cpus)
        phases = self._phases(series, measured)
        limits = _ONE_CPU if self.one_cpu else _SHARED_CLOCK
        given = "" if self.one_cpu or self.costs is None else ", given its switches"
        for what, key in (
            ("user loop", "user"),
            ("kernel loop", "kernel"),
            (f"thaw{given}", "thaw"),
            (f"total{given}", "total"),
        ):
            cycles = [getattr(cycle, f"{key}_us") for cycle in series.steady]
            yield Quantity(
                series.name,
                what,
                "us",
                float(getattr(measured, f"{key}_us")),
                None if phases is None else getattr(phases, f"{key}_us"),
                getattr(limits, key) if series.name in self.new else None,
                "time",
                self._basis(series, given=bool(given) and key in ("thaw", "total")),
                low=float(min(cycles)),
                high=float(max(cycles)),
            )

    def _controls(self, series: Series) -> Iterator[Quantity]:
        if self.costs is None or not _is_plain(series):
            return
        recorded = series.measured(self.capture.cpus).user_us
        least = min(one.count for one in self.steady if _is_plain(one))
        variants = {HEAD: ("head", "none"), FULL: ("tail", "full")}
        if not self.one_cpu:
            # With the model's own preempt=full nothing waits in the queue whose head or tail it could be.
            variants = {HEAD_NONE: ("head", "none")}
        for variant, (walker_wake, preempt) in variants.items():
            runs = self.model.run(series, walker_wake=walker_wake, preempt=preempt)
            must_miss = variant == HEAD and series.mix == "woken" and series.count > least
            yield Quantity(
                series.name,
                f"user loop, {variant}" + (", must miss" if must_miss else ""),
                "us",
                recorded,
                float(runs.user_elapsed_ns[0]) / 1e3,
                CONTROL_MISS_PCT if must_miss else None,
                "control",
                must_miss=must_miss,
            )

    def _notes(self) -> Iterator[str]:
        capture = self.capture
        if capture.disagreements:
            yield f"Differs from truth.json: {'; '.join(capture.disagreements)}."
        if capture.without_files:
            yield f"truth.json has figures of cycles without files: {', '.join(capture.without_files)}."
        if capture.failed:
            yield f"Of these the kernel refused, by truth.json: {', '.join(capture.failed)}."
        if self._must_have_times() and self._without_times():
            yield f"No untraced cycles to judge: {', '.join(self._without_times())}."
        if capture.tick_hz_assumed:
            yield f"No boot log: HZ={capture.tick_hz} is assumed."
        if any(_SHORT_SLEEPER in one.sites for one in capture.series):
            yield (
                "Tasks at tick sleep 3 ms in a loop; how many of them the freeze catches awake is chance, "
                "and moves refrigerator entries and restarted calls too. None of these is judged in such a "
                "series."
            )
        if capture.instruction_ns is None:
            yield (
                f"The clock ({capture.clock}) does not repeat: times are printed, neither predicted nor "
                "judged."
            )
        elif self.costs is None:
            yield "No untraced cycles of the mixes: costs cannot be fitted, times are not predicted."
        elif not self.new:
            yield "No task count is larger than the fitted ones: no time is judged."
        if self.costs is not None and not self.one_cpu:
            yield (
                f"The {capture.cpus} CPUs share one clock, on which parallel work adds up: the model runs "
                "all of it on one CPU, woken tasks before the walker's sleep. How many tasks run before the "
                "thaw returns is not predicted: it comes from the recorded switches, and thaw and total are "
                "given those."
            )
        early = [(one, one.measured(1).early_cycles) for one in self.steady] if self.one_cpu else []
        if any(number for _, number in early):
            said = ", ".join(f"{one.name}: {n} of {len(one.steady)}" for one, n in early if n)
            yield (
                "Another timer may end a retry sleep early, which is not modelled. The figure of a loop is "
                f"its commonest duration, the longer of equally common ones. Cycles that differ: {said}."
            )
            yield from self._ties()
        if any(one.busy for one in capture.series):
            yield (
                "With busy tasks neither the kernel loop nor the thaw is modelled, and so not the total: "
                "timer ticks may end a sleep early, and the walker waits for a CPU. No time and no chain of "
                "sleeps of such a series is judged."
            )
            yield from self._busy_chains()

    def _busy_chains(self) -> Iterator[str]:
        """Say where the model's chains of sleeps with busy tasks are not the recorded ones."""
        for series in self.capture.series:
            for number, loop in enumerate(_LOOPS):
                recorded = [cycle.loops[number].sleeps_max_us for cycle in series.traced if cycle.loops]
                predicted = self.predictions[series.name].chains[number]
                others = Counter(chain for chain in recorded if chain != predicted)
                if not series.busy or not others:
                    continue
                chain, times = others.most_common(1)[0]
                how_many = "all cycles" if times == len(recorded) else f"{times} of {len(recorded)} cycles"
                yield (
                    f"{series.name}, {loop}: the model predicts the sleeps {_chain(predicted)} where "
                    f"{_chain(chain)} were recorded in {how_many}."
                )

    def _ties(self) -> Iterator[str]:
        """Say where the choice of the longer duration matters, and how far the model is from the other."""
        for series in self.steady:
            phases = self._phases(series, series.measured(1))
            for loop, key in (("user loop", "user_us"), ("kernel loop", "kernel_us")):
                durations = [getattr(cycle, key) for cycle in series.steady]
                for shorter in ties(durations):
                    least, most = min(shorter), max(shorter)
                    said = (
                        f"{series.name}, {loop}: as many cycles ({len(shorter)} of {len(durations)}) took "
                        f"{least} to {most} us as those that make the figure"
                    )
                    if phases is not None:
                        other = statistics.median(shorter)
                        off = 100.0 * (getattr(phases, key) - other) / other
                        said += f"; against them the model is off by {off:+.1f} %"
                    yield f"A tie: {said}."


def _is_plain(series: Series) -> bool:
    """Whether it is one of the three mixes, without busy tasks."""
    return series.mix in _MIXES and not series.busy


def _furthest(recorded: Sequence[float], predicted: float | None) -> float:
    if predicted is None:
        return float(statistics.median(recorded))
    return float(max(recorded, key=lambda one: abs(one - predicted)))


def _whole(of: str, what: str, found: int) -> Quantity:
    """Figure of the capture as a whole that must be 0."""
    return Quantity(of, what, "", float(found), 0.0, EXACT, "capture")


def _count(
    series: Series, what: str, recorded: Sequence[int], predicted: int, limit_pct: float | None
) -> Quantity:
    return Quantity(
        series.name,
        what,
        "",
        _furthest(recorded, predicted),
        float(predicted),
        limit_pct,
        "count",
        cycles=len(recorded),
        equal=sum(one == predicted for one in recorded),
    )


def _switch(
    series: Series,
    phase: str,
    recorded: Sequence[float],
    predicted: float | None,
    judged: bool,
    basis: Basis,
) -> Quantity:
    furthest = _furthest(recorded, predicted)
    return Quantity(
        series.name,
        f"switches, {phase}",
        "switches",
        furthest,
        predicted,
        None,
        "switch",
        "" if predicted is None else basis,
        limit=float(SWITCHES_LIMIT) if judged and predicted is not None else None,
    )


def _chain(sleeps_us: Sequence[int]) -> str:
    return " + ".join(map(str, sleeps_us)) or "none"


def _is_capture(path: Path) -> bool:
    return (path / "truth.json").exists() and any(path.glob("freeze_*"))


def _folders(path: Path) -> list[Path]:
    if not path.is_dir():
        raise ConfigError(f"{path}: no such folder")
    if (path / "truth.json").exists() or any(path.glob("freeze_*")):
        return [path]
    inner = [one for one in sorted(path.iterdir()) if one.is_dir() and _is_capture(one)]
    if not inner:
        raise ConfigError(f"{path}: no freezer capture: expected truth.json and freeze_MIX_COUNT.trace.gz")
    return inner


def validate_captures(paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> ValidateReport:
    """Compare the freezer model with recorded freeze and thaw cycles of real kernels.

    The task population comes from the capture, the costs from a fit on its two smaller task counts; the
    largest is predicted, event by event. Limits: wakeups by site, refrigerator entries, restarted calls and
    visible errors equal in every traced cycle. One CPU, nothing busy: one sleep a loop, loops and thaw within
    2 %, the whole cycle within 1 %, context switches of freeze, thaw and whole cycle within 5; with the
    walker woken at the head of the queue the user loop of the woken mix must miss by more than 20 %, at every
    task count but the smallest. Several CPUs on one clock: kernel loop within 10 %, user loop within 25 %,
    and so the thaw, which is no prediction but a closed form given the recorded cycle's own switches. Times
    of a clock that does not repeat, and all that the costs were fitted to, are reported without a limit.
    Where the clock repeats, every series that was recorded untraced too must have its log.

    Parameters
    ----------
    paths : path-like or sequence of path-like
        Folders with ``truth.json`` and ``freeze_MIX_COUNT`` traces and logs, or folders of such folders.

    Raises
    ------
    ConfigError
        When a folder holds no capture or is given twice, a file is missing or damaged, the kernel's freezer
        has no model, or the costs cannot be told apart.

    Examples
    --------
    >>> validate_captures("no-such-folder")
    Traceback (most recent call last):
    torpor._core.ConfigError: no-such-folder: no such folder
    """
    many = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not many:
        raise ConfigError("captures: none given")
    folders = [folder for path in many for folder in _folders(Path(path))]
    seen: dict[Path, Path] = {}
    for folder in folders:
        first = seen.setdefault(folder.resolve(), folder)
        if first is not folder:
            also = "" if first == folder else f", also as {first}"
            raise ConfigError(f"captures: {folder} is given twice{also}")
    return ValidateReport(tuple(_Validation(folder).result() for folder in folders))
