# SPDX-License-Identifier: MIT
"""Suspend and resume cycles read from a text trace, each between the two markers of its recorder."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from torpor._core import ConfigError
from torpor.dpm._capture_records import (
    MIDDLE_PHASES,
    PHASES,
    Callback,
    Cycle,
    PhaseRecord,
    TraceName,
    walks_backwards,
)
from torpor.dpm._capture_sched import SchedEvent, sched_event
from torpor.importers.ftrace import FtraceLog

__all__ = ["read_cycles"]

_START, _END = "device_pm_callback_start", "device_pm_callback_end"
_WORKER = "kworker/"
_ITEM = ("workqueue_execute_start", "async_run_entry_fn")
"""Event and function of an asynchronous item that a worker begins."""

_MARK = re.compile(r"lab: (?P<what>begin|end) (?P<label>.+?) cycle=(?P<cycle>\d+)(?P<rest>.*)")
_ENDED = re.compile(r" err=(?P<err>-?\d+) boot_ms=(?P<ms>\d+\.\d+)")
_ASYNC = re.compile(r"\basync=(?P<on>[01])\b")
_EDGE = re.compile(r"dpm_(?P<phase>\w+)\[-?\d+\] (?P<edge>begin|end)")
_STARTED = re.compile(r"(?P<head>.*), parent: (?P<parent>\S+), (?P<ops>.*)\[(?P<event>\w+)\]")
_DONE = re.compile(r"(?P<head>.*), err=(?P<err>-?\d+)")


@dataclass
class _Row:
    line: int
    time_ns: int
    cpu: int
    comm: str
    pid: int
    event: str
    args: str


def _rows(log: FtraceLog) -> Iterator[_Row]:
    frame = log.to_frame()
    columns = ("time_ns", "cpu", "comm", "pid", "event", "args")
    for row, values in enumerate(zip(*(frame[name].tolist() for name in columns), strict=True)):
        yield _Row(row, *values)


@dataclass
class _Open:
    """The cycle that is being read."""

    log: FtraceLog
    label: str
    number: int
    asynchronous: bool
    order: list[TraceName] = field(default_factory=list)
    places: dict[TraceName, list[int]] = field(default_factory=dict)
    phases: dict[str, PhaseRecord] = field(default_factory=dict)
    phase: str = ""
    begin_ns: int = 0
    main_pid: int = 0
    main_cpu: int = 0
    items: Counter[bool] = field(default_factory=Counter)
    callbacks: list[Callback] = field(default_factory=list)
    running: dict[int, tuple[_Row, str, Callback]] = field(default_factory=dict)
    sched: dict[int, list[SchedEvent]] = field(default_factory=dict)
    seen: Counter[TraceName] = field(default_factory=Counter)

    @property
    def name(self) -> str:
        return f"{self.log.source}: {self.label} cycle={self.number}"

    def _fail(self, row: _Row, text: str) -> ConfigError:
        return ConfigError(f"{self.log.source}:{self.log.core.line_of(row.line)}: {text}")

    def take(self, row: _Row) -> None:
        if row.pid == self.main_pid:
            self.main_cpu = row.cpu
        match row.event:
            case "suspend_resume":
                if edge := _EDGE.fullmatch(row.args):
                    self._edge(row, edge["phase"], edge["edge"])
            case "device_pm_callback_start":
                self._start(row)
            case "device_pm_callback_end":
                self._end(row)
            case "workqueue_execute_start":
                self.items[row.cpu == self.main_cpu] += row.args.endswith(_ITEM[1])
            case "sched_switch" | "sched_wakeup":
                for pid, event in sched_event(row.time_ns, row.pid, row.event, row.args):
                    self.sched.setdefault(pid, []).append(event)
            case _:
                pass

    def _edge(self, row: _Row, phase: str, edge: str) -> None:
        if phase not in PHASES:
            raise self._fail(row, f"phase dpm_{phase}: expected one of {', '.join(PHASES)}")
        if edge == "begin":
            if self.phase:
                raise self._fail(row, f"{phase} begins inside {self.phase}")
            if phase in self.phases:
                raise self._fail(row, f"{phase} begins a second time in cycle={self.number}")
            self.phase, self.begin_ns, self.callbacks = phase, row.time_ns, []
            self.main_pid, self.main_cpu = row.pid, row.cpu
            self.seen.clear()
            self.items.clear()
            return
        if phase != self.phase:
            raise self._fail(row, f"{phase} ends, but {self.phase or 'no phase'} is open")
        for _, head, _ in self.running.values():
            raise self._fail(row, f"{phase} ends, but the callback of {head} does not")
        if phase in MIDDLE_PHASES and row.time_ns <= self.begin_ns:
            raise self._fail(row, f"{phase} ends when it begins")
        ordered = sorted(self.callbacks, key=lambda one: (one.begin_ns, one.end_ns))
        traced = _ITEM[0] in self.log.events
        here, elsewhere = (self.items[True], self.items[False]) if traced else (None, None)
        self.phases[phase] = PhaseRecord(phase, self.begin_ns, row.time_ns, tuple(ordered), here, elsewhere)
        self.phase = ""

    def _start(self, row: _Row) -> None:
        found = _STARTED.fullmatch(row.args)
        if found is None:
            raise self._fail(row, f"'{row.args[:80]}': expected 'DRIVER NAME, parent: NAME, OPS[EVENT]'")
        if not self.phase:
            raise self._fail(row, f"callback of {found['head']} outside of any phase")
        if row.pid in self.running:
            raise self._fail(row, f"callback of {found['head']} inside that of {self.running[row.pid][1]}")
        driver, _, name = found["head"].rpartition(" ")
        device = TraceName(driver, name, found["parent"])
        if self.phase == "prepare":
            self.places.setdefault(device, []).append(len(self.order))
            self.order.append(device)
        callback = Callback(
            device, self._place(row, device), row.time_ns, 0, row.comm.startswith(_WORKER), row.pid, 0
        )
        self.running[row.pid] = row, found["head"], callback

    def _place(self, row: _Row, device: TraceName) -> int:
        """Place in the list; devices of one name come in the order of the walk."""
        places = self.places.get(device, [])
        seen = self.seen[device]
        self.seen[device] += 1
        if seen < len(places):
            return places[-1 - seen] if walks_backwards(self.phase) else places[seen]
        if self.phase == "complete":
            return -1
        raise self._fail(row, f"callback of {device} in {self.phase}: the device has no prepare event")

    def _end(self, row: _Row) -> None:
        found = _DONE.fullmatch(row.args)
        if found is None:
            raise self._fail(row, f"'{row.args[:80]}': expected 'DRIVER NAME, err=NUMBER'")
        _, head, one = self.running.pop(row.pid, (row, "none", None))
        if one is None or head != found["head"]:
            raise self._fail(row, f"callback of {found['head']} ends, but the thread's open one is {head}")
        self.callbacks.append(
            Callback(
                one.device,
                one.place,
                one.begin_ns,
                row.time_ns,
                one.by_worker,
                one.thread,
                int(found["err"]),
            )
        )

    def finish(self, rest: str) -> Cycle:
        ended = _ENDED.match(rest)
        if ended is None:
            raise ConfigError(f"{self.name}: closing marker '{rest.strip()}' lacks err or boot_ms")
        if int(ended["err"]) != 0:
            raise ConfigError(f"{self.name}: err={ended['err']}: the kernel refused the cycle")
        if self.phase:
            raise ConfigError(f"{self.name}: {self.phase} does not end")
        missing = [name for name in ("prepare", "suspend", "resume") if name not in self.phases]
        if missing:
            raise ConfigError(f"{self.name}: no suspend_resume events of dpm_{', dpm_'.join(missing)}")
        if not self.order:
            raise ConfigError(f"{self.name}: no {_START} event in prepare: the order is unknown")
        if not self.asynchronous:
            self._check_alone()
        threads = {one.thread for phase in self.phases.values() for one in phase.callbacks}
        traced = "sched_switch" in self.log.events
        return Cycle(
            self.log.source,
            self.label,
            self.number,
            self.asynchronous,
            float(ended["ms"]),
            tuple(self.order),
            self.phases,
            {pid: tuple(self.sched.get(pid, ())) for pid in sorted(threads)} if traced else None,
        )

    def _check_alone(self) -> None:
        """Refuse a cycle without workers unless one thread goes through the list, in its order."""
        workers = sum(one.by_worker for one in self.phases.values())
        if workers:
            raise ConfigError(f"{self.name}: label says async=0, but workers ran {workers} callbacks")
        for phase in self.phases.values():
            if phase.name not in MIDDLE_PHASES:
                continue
            for one, after in itertools.pairwise(phase.callbacks):
                ordered = one.place > after.place if walks_backwards(phase.name) else one.place < after.place
                if not ordered or one.thread != after.thread or after.begin_ns < one.end_ns:
                    raise ConfigError(
                        f"{self.name}: {phase.name}: {after.device} after {one.device}: "
                        "not one thread in the order of the list"
                    )


def read_cycles(log: FtraceLog) -> tuple[Cycle, ...]:
    """Read every cycle of a trace.

    Parameters
    ----------
    log : FtraceLog
        A trace with the recorder's markers and the kernel's suspend_resume and device_pm_callback events.

    Raises
    ------
    ConfigError
        When the ring buffer overran, an event is malformed, a phase or callback has no end, a cycle has no
        closing marker, failed or comes twice, or when there is no cycle; the message names trace, line or
        cycle, and value.
    """
    if log.lost_events:
        line, cpu, count = log.lost_events[0]
        raise ConfigError(f"{log.source}:{line}: CPU {cpu} lost {count} events: callbacks would be missing")
    missing = [event for event in (_START, _END) if event not in log.events]
    if missing:
        raise ConfigError(f"{log.source}: no event {missing[0]}: not a trace of device callbacks")
    cycles: dict[tuple[str, int], Cycle] = {}
    current: _Open | None = None
    for row in _rows(log):
        mark = _MARK.match(row.args) if row.event in ("tracing_mark_write", "print") else None
        if mark is None:
            if current is not None:
                current.take(row)
            continue
        label, number = mark["label"], int(mark["cycle"])
        where = f"{log.source}:{log.core.line_of(row.line)}"
        if mark["what"] == "begin":
            if current is not None:
                raise ConfigError(f"{current.name}: does not end before cycle={number} begins")
            switch = _ASYNC.search(label)
            if switch is None:
                raise ConfigError(f"{where}: label '{label}' has neither async=0 nor async=1")
            if (label, number) in cycles:
                raise ConfigError(f"{where}: {label} cycle={number} again")
            current = _Open(log, label, number, switch["on"] == "1")
            continue
        if current is None or (current.label, current.number) != (label, number):
            opened = "none" if current is None else f"{current.label} cycle={current.number}"
            raise ConfigError(f"{where}: {label} cycle={number} ends, but the open one is {opened}")
        cycles[label, number] = current.finish(mark["rest"])
        current = None
    if current is not None:
        raise ConfigError(f"{current.name}: the trace stops before the cycle ends")
    if not cycles:
        raise ConfigError(f"{log.source}: no cycle between markers 'lab: begin' and 'lab: end'")
    return tuple(cycles.values())
