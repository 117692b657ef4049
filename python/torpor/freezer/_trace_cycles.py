# SPDX-License-Identifier: MIT
"""Freeze and thaw cycles counted in a text trace, each between the two markers the recorder wrote."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from torpor._core import ConfigError
from torpor.importers.ftrace import FtraceLog

__all__ = ["LoopRecord", "TracedCycle", "traced_cycles"]

LAB_PREFIX = "tz_"
"""Name of a recorded task: this, then the site it blocks in."""

_RESTART_CODES = range(-516, -511)
_MARK = re.compile(r"lab: (?P<what>begin|end) (?P<label>.+?) cycle=(?P<cycle>\d+)(?P<rest>.*)")
_ENDED = re.compile(r" err=(?P<err>-?\d+) boot_ms=(?P<ms>\d+\.\d{3}) .*ctxt=(?P<ctxt>\d+)")
_MAX = re.compile(r"\bmax=(?P<ns>0x[0-9a-f]+|\d+)")
_RET = re.compile(r"= (?P<ret>-?\d+)$")
_COMM = re.compile(r"comm=(?P<comm>.*) pid=")


@dataclass(frozen=True)
class LoopRecord:
    """One of the two freeze loops of a traced cycle.

    Attributes
    ----------
    user_only : bool
        Whether it is the loop over user tasks.
    duration_us : int
        From the entry of the loop's function to its return, microseconds.
    sleeps_max_us : tuple of int
        Upper bound of each retry sleep, in order, microseconds.
    visits : tuple of int, or None
        Tasks looked at in each walk; None where the trace does not have the visits.
    asked : tuple of int, or None
        Of these, the ones counted as not yet frozen.
    """

    user_only: bool
    duration_us: int
    sleeps_max_us: tuple[int, ...]
    visits: tuple[int, ...] | None
    asked: tuple[int, ...] | None


@dataclass(frozen=True)
class TracedCycle:
    """One recorded cycle with tracing on: counts are the kernel's own, durations carry the tracing cost.

    Attributes
    ----------
    label : str
        The recorder's label, without the number of the cycle.
    cycle : int
        Its number, from 0.
    freeze_us, thaw_us : int
        Between the kernel's begin and end events, microseconds.
    total_us : int
        Duration of the whole write that started it, microseconds.
    context_switches : int
        Rise of the system-wide counter over the whole write.
    loops : tuple of LoopRecord
        User loop, kernel loop; empty where the trace has no probe on them.
    wakeups_by_site : dict
        Recorded tasks woken while freezing, by the site they blocked in.
    wakeups_freeze : int
        All wakeups while freezing.
    refrigerator_entries : int, or None
        None where the trace has no probe on it, as everywhere below.
    restarted_calls : int
        System calls that returned a code by which they are restarted, from the beginning of the freeze to
        the end of the write.
    visible_errors : dict, or None
        Recorded tasks' calls that returned an error the program sees, by site; None where the recorder kept
        only restarted calls.
    switches_freeze : int, or None
        Context switches between the begin and end events of the freeze.
    switches_thaw : int, or None
        Context switches from the beginning of the thaw to the end of the write.
    """

    label: str
    cycle: int
    freeze_us: int
    thaw_us: int
    total_us: int
    context_switches: int
    loops: tuple[LoopRecord, ...]
    wakeups_by_site: dict[str, int]
    wakeups_freeze: int
    refrigerator_entries: int | None
    restarted_calls: int
    visible_errors: dict[str, int] | None
    switches_freeze: int | None
    switches_thaw: int | None

    @property
    def woken(self) -> int:
        """Recorded tasks woken while freezing."""
        return sum(self.wakeups_by_site.values())

    @property
    def sleeps_max_us(self) -> tuple[int, ...]:
        """Upper bounds of the retry sleeps of both loops, in order, microseconds."""
        return tuple(bound for loop in self.loops for bound in loop.sleeps_max_us)


@dataclass
class _Row:
    time_ns: int
    comm: str
    event: str
    args: str


@dataclass
class _OpenLoop:
    user_only: bool
    start_ns: int
    sleeps: list[int] = field(default_factory=list)
    visits: list[int] = field(default_factory=lambda: [0])
    asked: list[int] = field(default_factory=lambda: [0])


def _rows(log: FtraceLog) -> Iterator[_Row]:
    frame = log.to_frame()
    columns = (
        frame["time_ns"].tolist(),
        frame["comm"].tolist(),
        frame["event"].tolist(),
        frame["args"].tolist(),
    )
    for time_ns, comm, event, args in zip(*columns, strict=True):
        yield _Row(time_ns, comm, event, args)


def _us(time_ns: int) -> int:
    return time_ns // 1000


class _Counting:
    """The cycle that is open."""

    def __init__(self, source: str, label: str, cycle: int, events: set[str], all_errors: bool) -> None:
        self.name = f"{source}: {label} cycle={cycle}"
        self.label = label
        self.cycle = cycle
        self.events = events
        self.all_errors = all_errors
        self.window = ""
        self.bounds: dict[str, int] = {}
        self.wakeups: Counter[str] = Counter()
        self.wakeups_freeze = 0
        self.switches: Counter[str] = Counter()
        self.refrigerator = 0
        self.restarted = 0
        self.errors: Counter[str] = Counter()
        self.loops: list[LoopRecord] = []
        self.loop: _OpenLoop | None = None

    def take(self, row: _Row) -> None:
        match row.event:
            case "suspend_resume":
                self._phase(row)
            case "sched_switch":
                self.switches[self.window] += 1
            case "sched_wakeup" if self.window == "freeze":
                self._wakeup(row)
            case "refrig" if self.window == "freeze":
                self.refrigerator += 1
            case "sys_exit":
                self._returned(row)
            case "ttf" | "ttf_ret" | "retry" | "freeze_task":
                self._loop_event(row)
            case _:
                pass

    def _phase(self, row: _Row) -> None:
        for name in ("freeze", "thaw"):
            for edge in ("begin", "end"):
                if row.args == f"{name}_processes[0] {edge}":
                    self.bounds[f"{name} {edge}"] = row.time_ns
                    self.window = name if edge == "begin" else f"after {name}"

    def _wakeup(self, row: _Row) -> None:
        self.wakeups_freeze += 1
        match = _COMM.match(row.args)
        if match is not None and match["comm"].startswith(LAB_PREFIX):
            self.wakeups[match["comm"].removeprefix(LAB_PREFIX)] += 1

    def _returned(self, row: _Row) -> None:
        match = _RET.search(row.args)
        if match is None:
            raise ConfigError(f"{self.name}: sys_exit '{row.args}': expected 'NR number = result'")
        result = int(match["ret"])
        if result in _RESTART_CODES:
            self.restarted += 1
        elif result < 0 and row.comm.startswith(LAB_PREFIX):
            self.errors[row.comm.removeprefix(LAB_PREFIX)] += 1

    def _loop_event(self, row: _Row) -> None:
        loop = self.loop
        if row.event == "ttf":
            if loop is not None:
                raise ConfigError(f"{self.name}: a freeze loop begins inside another")
            self.loop = _OpenLoop(row.args.endswith("user_only=1"), row.time_ns)
        elif loop is None:
            if row.event == "ttf_ret":
                raise ConfigError(f"{self.name}: a freeze loop ends that did not begin")
        elif row.event == "retry":
            match = _MAX.search(row.args)
            if match is None:
                raise ConfigError(f"{self.name}: retry '{row.args}': expected min= and max=")
            loop.sleeps.append(int(match["ns"], 0))
            loop.visits.append(0)
            loop.asked.append(0)
        elif row.event == "freeze_task":
            loop.visits[-1] += 1
            loop.asked[-1] += row.args.endswith("ret=1")
        else:
            visited = "freeze_task" in self.events
            self.loops.append(
                LoopRecord(
                    loop.user_only,
                    _us(row.time_ns) - _us(loop.start_ns),
                    tuple(loop.sleeps),
                    tuple(loop.visits) if visited else None,
                    tuple(loop.asked) if visited else None,
                )
            )
            self.loop = None

    def finish(self, total_us: int, context_switches: int) -> TracedCycle:
        missing = [
            f"{n} {e}" for n in ("freeze", "thaw") for e in ("begin", "end") if f"{n} {e}" not in self.bounds
        ]
        if missing:
            raise ConfigError(f"{self.name}: no suspend_resume event for {', '.join(missing)}")
        if self.loop is not None:
            raise ConfigError(f"{self.name}: a freeze loop does not end")
        if "ttf" in self.events and [loop.user_only for loop in self.loops] != [True, False]:
            raise ConfigError(
                f"{self.name}: {len(self.loops)} freeze loops, expected user tasks, kernel threads"
            )
        switched = "sched_switch" in self.events
        return TracedCycle(
            self.label,
            self.cycle,
            _us(self.bounds["freeze end"]) - _us(self.bounds["freeze begin"]),
            _us(self.bounds["thaw end"]) - _us(self.bounds["thaw begin"]),
            total_us,
            context_switches,
            tuple(self.loops),
            dict(sorted(self.wakeups.items())),
            self.wakeups_freeze,
            self.refrigerator if "refrig" in self.events else None,
            self.restarted,
            dict(sorted(self.errors.items())) if self.all_errors else None,
            self.switches["freeze"] if switched else None,
            self.switches["thaw"] + self.switches["after thaw"] if switched else None,
        )


def parse_end(rest: str, where: str) -> tuple[int, int]:
    """Read duration in microseconds and context switches from a closing marker, after its label."""
    match = _ENDED.match(rest)
    if match is None:
        raise ConfigError(f"{where}: closing marker '{rest.strip()}' lacks err, boot_ms or ctxt")
    if int(match["err"]) != 0:
        raise ConfigError(f"{where}: err={match['err']}: the kernel refused the cycle")
    return int(match["ms"].replace(".", "")), int(match["ctxt"])


def parse_mark(text: str) -> re.Match[str] | None:
    """Find the recorder's marker in a line of log or trace: what, label, cycle, rest."""
    return _MARK.search(text)


def traced_cycles(log: FtraceLog) -> list[TracedCycle]:
    """Count every complete cycle of a trace.

    Parameters
    ----------
    log : FtraceLog
        A trace with the recorder's markers and the kernel's suspend_resume events.

    Raises
    ------
    ConfigError
        When the ring buffer overran, a cycle has no end, a marker or an event is malformed, or no cycle is
        in the trace; the message names trace, cycle and event.
    """
    if log.lost_events:
        line, cpu, count = log.lost_events[0]
        raise ConfigError(f"{log.source}:{line}: CPU {cpu} lost {count} events: the counts would be short")
    events = set(log.events)
    cycles: list[TracedCycle] = []
    current: _Counting | None = None
    for row in _rows(log):
        mark = parse_mark(row.args) if row.event in ("tracing_mark_write", "print") else None
        if mark is None:
            if current is not None:
                current.take(row)
            continue
        label, cycle = mark["label"], int(mark["cycle"])
        if mark["what"] == "begin":
            if current is not None:
                raise ConfigError(f"{current.name}: does not end before cycle={cycle} begins")
            current = _Counting(log.source, label, cycle, events, label.endswith("all errors"))
            continue
        if current is None or (current.label, current.cycle) != (label, cycle):
            opened = "none" if current is None else f"{current.label} cycle={current.cycle}"
            raise ConfigError(f"{log.source}: {label} cycle={cycle} ends, but the open one is {opened}")
        cycles.append(current.finish(*parse_end(mark["rest"], current.name)))
        current = None
    if current is not None:
        raise ConfigError(f"{current.name}: the trace stops before the cycle ends")
    if not cycles:
        raise ConfigError(f"{log.source}: no cycle between markers 'lab: begin' and 'lab: end'")
    return cycles
