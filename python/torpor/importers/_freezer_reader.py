# SPDX-License-Identifier: MIT
"""Puts the lines of a kernel log together to attempts at freezing."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from torpor.importers import _freezer_classes as classes
from torpor.importers import _freezer_lines as lines
from torpor.importers._freezer_lines import Loop
from torpor.importers._freezer_records import (
    ERA_3_10,
    ERA_3_11,
    ERA_6_2,
    ERA_LATER,
    ERA_VENDOR,
    BadLine,
    BusyWorkqueue,
    FreezeCycle,
    Offender,
    Result,
    sleep_quantum,
)

__all__ = ["Reader"]

LONGEST_TRACE = 32
LONGEST_TEXT = 160

# Lines without any of these say nothing outside a failure's dump: looked for in bytes, since it is fast.
_WORTH_A_LOOK = re.compile(
    rb"Freezing |(?:suspend|hibernation) (?:entry|exit)|Restarting |\(elapsed |akeup [Ss]ource|OOM killer "
    rb"|Syncing filesystems|Filesystems sync|freeze unit"
)
_ENTRY = re.compile(r"PM: (?:hibernation: )?(suspend|hibernation) entry(?: \((\w+)\))?")
_EXIT = re.compile(r"PM: (?:hibernation: )?(?:suspend|hibernation) exit")
_SYNC = re.compile(r"Filesystems sync: (\d{1,9})\.(\d{3}) seconds")
_UNIT = re.compile(r"[Ff]ailed to freeze unit '?([^\s':]+)")
_SOURCE = re.compile(r"(?:Pending Wakeup Sources|active wakeup source): *(.*\S)")
_OTHERS = re.compile(r"OOM killer (?:disabled|enabled)\.|Syncing filesystems|Restarting kernel threads")
_HUNG = re.compile(r"INFO: task .* blocked for more than")
_DUMP = re.compile(r"Showing .*workqueues")
_WORKQUEUE = re.compile(r"\bworkqueue (\S+): flags=")
_POOL = re.compile(r"\bpwq \d+:|\bpool \d+:")
_WORK = re.compile(r"\b(in-flight|delayed|pending|inactive): (.*)")
_FUNCTION = re.compile(r"(?:\d+(?:\([A-Z]+\))?:)?([A-Za-z_][\w.]*)")

# The scheduler's own functions stand on top of every sleeper's trace and tell nothing.
_SCHEDULER = re.compile(
    r"(?:__schedule|schedule|schedule_timeout\w*|schedule_preempt_disabled|schedule_hrtimeout\w*"
    r"|io_schedule\w*|__switch_to\w*|context_switch|preempt_schedule\w*|__cond_resched|_cond_resched)$"
)


@dataclass
class _Dump:
    line: int
    task: lines.Task
    frames: list[lines.Frame] = field(default_factory=list)

    def offender(self, frozen_unit: str | None) -> Offender:
        sure = [frame.text for frame in self.frames if not frame.doubtful]
        frames = tuple(sure or [frame.text for frame in self.frames])
        name, pid, state = self.task
        kind, evidence = classes.classify(name, state, frames)
        if kind == classes.UNKNOWN and frozen_unit is not None:
            kind, evidence = classes.TWO_LEVEL, "service manager"
        top = next((frame for frame in frames if not _SCHEDULER.match(frame)), frames[0] if frames else None)
        return Offender(self.line, name, pid, state, top, kind, evidence, frames)


@dataclass
class _Queue:
    name: str
    in_flight: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)


@dataclass
class _Open:
    """An attempt of which more lines may come; `stage` is the loop it is in, or how it ended."""

    line: int
    time_s: float | None
    entry: str | None
    sync_ms: int | None
    frozen_unit: str | None
    stage: str = "user"
    loop: Loop | None = None
    elapsed: dict[str, lines.Elapsed] = field(default_factory=dict)
    signs: set[str] = field(default_factory=set)
    refusing: int | None = None
    wq_busy: bool | None = None
    wakeup_source: str | None = None
    dumps: list[_Dump] = field(default_factory=list)
    queues: list[_Queue] = field(default_factory=list)
    thawed: bool = False

    @property
    def running(self) -> bool:
        """Whether it may still succeed or fail."""
        return self.stage in ("user", "user done", "kernel") and not self.thawed


class Reader:
    r"""Takes lines one by one.

    Examples
    --------
    >>> reader = Reader(20_000, None)
    >>> reader.take(b"Freezing remaining freezable tasks ... (elapsed 0.02 seconds) done.")
    >>> reader.finish()
    >>> reader.cycles[0].kernel_ms, reader.cycles[0].era
    (20, 'up to 3.10')
    """

    def __init__(self, timeout_ms: int, hz: int | None) -> None:
        self.cycles: list[FreezeCycle] = []
        self.bad: list[BadLine] = []
        self.lines = 0
        self.recognised = 0
        self.entries = 0
        self.stalled_entries = 0
        self.time_falls: list[int] = []
        self._timeout_ms = timeout_ms
        self._hz = hz
        self._open: _Open | None = None
        self._entry: str | None = None
        self._entered = False
        self._sync_ms: int | None = None
        self._unit: str | None = None
        self._dumping = False
        self._dump: _Dump | None = None
        self._skip_task = False
        self._last_s: float | None = None

    def take(self, raw: bytes) -> None:
        """Read one more line."""
        self.lines += 1
        if not self._dumping and _WORTH_A_LOOK.search(raw) is None:
            return
        text = lines.clean(raw)
        found = lines.freezer_line(text)
        if found is not None:
            self._end_dump()
            time_s = lines.monotonic_s(text, found[0])
            self._watch_time(time_s)
            if isinstance(found[1], lines.Failure):
                self._take_failure(found[1], time_s)
            else:
                self._take_loop(found[1], time_s)
            self.recognised += 1
            if found[1].reason:
                self.damage(found[1].reason, text)
        elif self._take_companion(text) or (self._dumping and self._take_dump(text)):
            self.recognised += 1

    def _watch_time(self, time_s: float | None) -> None:
        if time_s is None:
            return
        if self._last_s is not None and time_s < self._last_s:
            self.time_falls.append(self.lines)
        self._last_s = time_s

    def damage(self, reason: str, text: str = "") -> None:
        """Note that the line just read, or what follows it, is bad."""
        self.bad.append(BadLine(self.lines, text.strip()[:LONGEST_TEXT], reason))

    def finish(self) -> None:
        """Tell that no more lines come."""
        self._end_entry()
        self._close()

    def _begin(self, time_s: float | None) -> _Open:
        self._close()
        self._open = _Open(self.lines, time_s, self._entry, self._sync_ms, self._unit)
        self._entry = self._sync_ms = self._unit = None
        self._entered = False
        return self._open

    def _take_loop(self, line: lines.LoopLine, time_s: float | None) -> None:
        cycle = self._open
        # The end of a loop on a line of its own belongs to the loop that is open.
        ends = line.done and line.two_lines
        if line.loop == "user":
            if cycle is None or not cycle.running or cycle.stage != "user" or not ends:
                cycle = self._begin(time_s)
            cycle.stage = "user done" if line.done else "user"
        else:
            if cycle is None or not cycle.running or (cycle.stage == "kernel" and not ends):
                cycle = self._begin(time_s)
            cycle.stage = "frozen" if line.done else "kernel"
        self._note(cycle, line.loop, line.elapsed)
        if not line.reason:
            cycle.signs.add("two lines" if line.two_lines else "one line")

    def _note(self, cycle: _Open, what: str, elapsed: lines.Elapsed | None) -> None:
        if elapsed is not None:
            cycle.elapsed[what] = elapsed
            cycle.signs.add("hundredths" if elapsed.resolution_ms == 10 else "thousandths")

    def _take_failure(self, line: lines.Failure, time_s: float | None) -> None:
        cycle = self._open
        if cycle is None or not cycle.running or (line.loop == "user" and cycle.stage != "user"):
            cycle = self._begin(time_s)
            loop = line.loop
        else:
            loop = line.loop or ("user" if cycle.stage == "user" else "kernel")
        # Only the kernel loop looks at workqueues.
        cycle.loop = "kernel" if line.wq_busy and line.loop is None else loop
        cycle.stage = line.word
        cycle.refusing, cycle.wq_busy = line.refusing, line.wq_busy
        self._note(cycle, "failure", line.elapsed)
        if cycle.loop is not None:
            self._note(cycle, cycle.loop, line.elapsed)
        if line.named:
            cycle.signs.add("named failure")
        elif (
            line.word == "aborted" and line.elapsed is not None and line.refusing is None and not line.reason
        ):
            cycle.signs.add("bare abort")
        self._dumping = True

    def _take_companion(self, text: str) -> bool:
        cycle = self._open
        if match := _ENTRY.search(text):
            self._end_entry()
            self._close()
            self.entries += 1
            self._entered = True
            self._entry = match[2] or ("hibernation" if match[1] == "hibernation" else None)
        elif _EXIT.search(text):
            self._end_entry()
            self._close()
        elif match := _SYNC.search(text):
            self._sync_ms = int(match[1]) * 1000 + int(match[2])
        elif match := _UNIT.search(text):
            self._unit = match[1]
        elif "Restarting tasks" in text:
            self._end_dump()
            if cycle is not None:
                cycle.thawed = True
        elif match := _SOURCE.search(text):
            if cycle is None or cycle.stage in ("frozen", "failed") or cycle.thawed:
                return False
            cycle.wakeup_source = cycle.wakeup_source or match[1]
        elif _OTHERS.search(text):
            self._end_dump()
        else:
            return self._take_continuation(text)
        return True

    def _take_continuation(self, text: str) -> bool:
        cycle = self._open
        found = lines.continuation(text)
        if found is None or cycle is None or not cycle.running or cycle.stage == "user done":
            return False
        elapsed, reason = found
        self._note(cycle, cycle.stage, elapsed)
        cycle.stage = "user done" if cycle.stage == "user" else "frozen"
        if reason:
            self.damage(reason, text)
        return True

    def _take_dump(self, text: str) -> bool:
        cycle = self._open
        if cycle is None:
            return False
        if _HUNG.search(text):  # the watchdog dumps a task too, which need not be one that refuses
            self._skip_task = True
            return False
        found = lines.task(text)
        if found is not None:
            self._dump = None
            if isinstance(found, str):
                self.damage(found, text)
            elif not self._skip_task:
                self._dump = _Dump(self.lines, found)
                cycle.dumps.append(self._dump)
            self._skip_task = False
            return True
        if match := _WORKQUEUE.search(text):
            self._dump = None
            cycle.queues.append(_Queue(match[1]))
            return True
        if _DUMP.search(text) or _POOL.search(text):
            self._dump = None
            return True
        if cycle.queues and self._dump is None and (match := _WORK.search(text)):
            functions = _FUNCTION.findall(re.sub(r" for \d+s", "", match[2]))
            queue = cycle.queues[-1]
            (queue.in_flight if match[1] == "in-flight" else queue.waiting).extend(functions)
            return True
        frame = lines.trace_frames(text)
        if frame is None or self._dump is None:
            return False
        if len(self._dump.frames) < LONGEST_TRACE:
            self._dump.frames.append(frame)
        return True

    def _end_dump(self) -> None:
        self._dumping = self._skip_task = False
        self._dump = None

    def _end_entry(self) -> None:
        self._end_dump()
        self.stalled_entries += self._entered
        self._entered = False
        self._entry = self._sync_ms = None

    def _close(self) -> None:
        cycle, self._open = self._open, None
        if cycle is None:
            return
        offenders = tuple(dump.offender(cycle.frozen_unit) for dump in cycle.dumps)
        result: Result = "incomplete"
        if cycle.stage in ("frozen", "failed", "aborted"):
            result = cycle.stage  # type: ignore[assignment]
        ms = {name: elapsed.ms for name, elapsed in cycle.elapsed.items()}
        failure = cycle.elapsed.get("failure")
        era = _era(cycle.signs)
        self.cycles.append(
            FreezeCycle(
                attempt=len(self.cycles) + 1,
                line=cycle.line,
                time_s=cycle.time_s,
                result=result,
                loop=cycle.loop,
                user_ms=ms.get("user"),
                kernel_ms=ms.get("kernel"),
                failure_ms=None if failure is None else failure.ms,
                resolution_ms=max((one.resolution_ms for one in cycle.elapsed.values()), default=None),
                era=era,
                refusing=cycle.refusing,
                wq_busy=cycle.wq_busy,
                wakeup_source=cycle.wakeup_source,
                offenders=offenders,
                workqueues=tuple(
                    BusyWorkqueue(queue.name, tuple(queue.in_flight), tuple(queue.waiting))
                    for queue in cycle.queues
                ),
                entry=cycle.entry,
                sync_ms=cycle.sync_ms,
                frozen_unit=cycle.frozen_unit,
                thawed=cycle.thawed,
                sleep_quantum=sleep_quantum(
                    failure.ms, self._timeout_ms, self._hz, resolution_ms=failure.resolution_ms, era=era
                )
                if result == "failed" and failure is not None
                else None,
                kind=_kind(result, cycle, offenders),
            )
        )


def _era(signs: set[str]) -> str | None:
    if "bare abort" in signs:
        return ERA_VENDOR
    if "named failure" in signs:
        return ERA_LATER
    if "two lines" in signs:
        return ERA_6_2
    if "hundredths" in signs:
        return ERA_3_10
    return ERA_3_11 if {"one line", "thousandths"} <= signs else None


def _kind(result: Result, cycle: _Open, offenders: tuple[Offender, ...]) -> str | None:
    if result in ("frozen", "incomplete"):
        return None
    kinds = dict.fromkeys(offender.kind for offender in offenders)
    if cycle.wq_busy:
        kinds[classes.WORKQUEUE] = None
    if result == "aborted" and cycle.wakeup_source is not None:
        kinds[classes.WAKEUP] = None
    if not kinds and cycle.frozen_unit is not None:
        kinds[classes.TWO_LEVEL] = None
    return ", ".join(kinds) or classes.UNKNOWN
