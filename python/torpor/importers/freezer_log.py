# SPDX-License-Identifier: MIT
"""What kernel logs say about freezing: attempts, elapsed times, and the tasks that refused.

Reads dmesg, syslog, journal and logcat text of kernels of every age; forms and classes are those that kernels
print and people report in public (see the private modules beside this one).
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from torpor._core import ConfigError
from torpor.importers._freezer_reader import Reader
from torpor.importers._freezer_records import (
    BadLine,
    BusyWorkqueue,
    FreezeCycle,
    Offender,
    SleepQuantum,
    check_quantum_parameters,
    sleep_quantum,
)
from torpor.importers._log_text import LogDamage, log_lines, log_name
from torpor.report import Report
from torpor.tables import Column, Table, Value

__all__ = ["BadLine", "BusyWorkqueue", "FreezeCycle", "FreezerLog", "Offender", "SleepQuantum"]
__all__ += ["read_freezer_log", "sleep_quantum"]

_RESULTS = ("frozen", "failed", "aborted", "incomplete")

_LISTED = 5
"""Lines and attempts that a note names one by one."""


@dataclass(frozen=True)
class FreezerLog:
    """What a kernel log says about freezing; made by :func:`read_freezer_log`.

    Parameters
    ----------
    source : str
        What messages call the log.
    cycles : tuple of FreezeCycle
        The attempts, in the order of the log.
    lines : int
        Number of lines read.
    recognised : int
        Number of those that told something about freezing.
    bad : tuple of BadLine
        Lines about freezing that cannot be read; they still count for what can be told from them.
    entries, stalled_entries : int
        Entries into suspend, and those of them after which the freezer was never reached.
    timeout_ms : int, milliseconds
        Timeout of the freezer that failures are checked against.
    hz : int or None, hertz
        HZ for the same; None is the longest tick, 10 ms.
    time_falls : tuple of int
        Numbers of the lines about freezing that are older than the one before: another boot, or lines that
        are out of order, so that attempts may be put together from lines of several.

    Examples
    --------
    >>> FreezerLog.from_lines([b"[  4.010] Freezing user space processes",
    ...                        b"[  4.020] Freezing user space processes completed (elapsed 0.010 seconds)",
    ...                        b"[  4.021] Freezing remaining freezable tasks",
    ...                        b"[  4.022] Freezing remaining freezable tasks completed "
    ...                        b"(elapsed 0.001 seconds)"], "example")
    FreezerLog('example', cycles=1, frozen=1, failed=0, aborted=0, incomplete=0, lines=4, bad=0)
    """

    source: str
    cycles: tuple[FreezeCycle, ...]
    lines: int
    recognised: int
    bad: tuple[BadLine, ...]
    entries: int
    stalled_entries: int
    timeout_ms: int
    hz: int | None
    time_falls: tuple[int, ...] = ()

    @classmethod
    def from_lines(
        cls, lines: Iterable[bytes], source: str, *, timeout_ms: int = 20_000, hz: int | None = None
    ) -> FreezerLog:
        """Read lines that are at hand.

        Parameters
        ----------
        lines : iterable of bytes
            The log; each is looked at once and not kept.
        source : str
            What messages call it.
        timeout_ms, hz
            As for :func:`read_freezer_log`.

        Raises
        ------
        ConfigError
            When no line speaks of the freezer, or a parameter is out of range.
        """
        check_quantum_parameters(timeout_ms, hz)
        reader = Reader(timeout_ms, hz)
        damage = ""
        try:
            for line in lines:
                reader.take(line)
        except LogDamage as error:
            damage = str(error)
            reader.damage(damage)
        reader.finish()
        if not reader.cycles:
            suspends = _number(reader.entries, "entry", "entries")
            details = f"; it has {suspends} into suspend" if reader.entries else ""
            details += f"; {damage}" if damage else ""
            among = _number(reader.lines, "line")
            raise ConfigError(f"{source}: no line about freezing among {among}{details}")
        return cls(
            source,
            tuple(reader.cycles),
            reader.lines,
            reader.recognised,
            tuple(reader.bad),
            reader.entries,
            reader.stalled_entries,
            timeout_ms,
            hz,
            tuple(reader.time_falls),
        )

    def count(self, result: str) -> int:
        """Count the attempts with a result."""
        return sum(cycle.result == result for cycle in self.cycles)

    def to_frame(self) -> pd.DataFrame:
        """One row per attempt.

        Returns
        -------
        pandas.DataFrame
            Columns as the fields of :class:`FreezeCycle`; whole numbers and flags may be missing (Int64,
            boolean). ``offenders`` is their number, ``workqueues`` their names parted by commas; the check of
            the sleep is in ``sleep_excess_ms``, ``sleep_ok`` and ``sleep_explanation``.

        Examples
        --------
        >>> log = FreezerLog.from_lines([b"[  5.5] Freezing user space processes ... "
        ...                              b"(elapsed 0.003 seconds) done."], "example")
        >>> print(log.to_frame().loc[0, "user_ms"])
        3
        """
        whole = (
            "user_ms",
            "kernel_ms",
            "failure_ms",
            "resolution_ms",
            "refusing",
            "sync_ms",
            "sleep_excess_ms",
        )
        types = dict.fromkeys(whole, "Int64")
        types |= {"time_s": "float64", "wq_busy": "boolean", "sleep_ok": "boolean"}
        return pd.DataFrame([_row(cycle) for cycle in self.cycles]).astype(types)

    def offenders_frame(self) -> pd.DataFrame:
        """One row per task that refused to freeze and is named.

        Returns
        -------
        pandas.DataFrame
            ``attempt`` of the cycle, and the fields of :class:`Offender` but the whole call trace.

        Examples
        --------
        >>> log = FreezerLog.from_lines([
        ...     b"Freezing of tasks failed after 20.006 seconds (1 tasks refusing to freeze, wq_busy=0):",
        ...     b"cp              D    0  1234   1200 0x00000004"], "example")
        >>> log.offenders_frame()[["name", "pid", "state", "kind"]].values.tolist()
        [['cp', 1234, 'D', 'unknown']]
        """
        columns = ["attempt", "line", "name", "pid", "state", "top_frame", "kind", "evidence"]
        rows = [
            [cycle.attempt, *(getattr(offender, name) for name in columns[1:])]
            for cycle in self.cycles
            for offender in cycle.offenders
        ]
        return pd.DataFrame(rows, columns=columns).astype({"attempt": int, "line": int, "pid": int})

    def to_json(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "source": self.source,
            "lines": self.lines,
            "recognised": self.recognised,
            "bad": [one._asdict() for one in self.bad],
            "entries": self.entries,
            "stalled_entries": self.stalled_entries,
            "timeout_ms": self.timeout_ms,
            "hz": self.hz,
            "time_falls": list(self.time_falls),
            "cycles": [_plain(cycle) for cycle in self.cycles],
        }

    def report(self) -> Report:
        """Tables for people, and the same as plain data.

        Examples
        --------
        >>> log = FreezerLog.from_lines([b"Freezing of tasks aborted after 0.000 seconds",
        ...                              b"Abort: Pending Wakeup Sources: alarmtimer"], "example")
        >>> log.report().to_json()["cycles"][0]["wakeup_source"]
        'alarmtimer'
        """
        tables = [self._results(), self._attempts()]
        more = (self._failures(), self._offenders(), self._workqueues())
        tables += [table for table in more if table.rows]
        return Report(tables, self.to_json())

    def _results(self) -> Table:
        rows: list[list[Value]] = []
        for result in _RESULTS:
            cycles = [cycle for cycle in self.cycles if cycle.result == result]
            if cycles:
                user = [cycle.user_ms for cycle in cycles if cycle.loop != "user"]
                kernel = [cycle.kernel_ms for cycle in cycles if cycle.loop != "kernel"]
                rows.append([result, len(cycles), *_spread(user), *_spread(kernel)])
        return Table(
            f"{self.source}: attempts to freeze",
            [
                Column("result", align="left"),
                Column("attempts"),
                *(
                    Column(f"{loop} {figure}", "ms", digits=1)
                    for loop in ("user", "kernel")
                    for figure in ("least", "median", "most")
                ),
            ],
            rows,
            notes=[
                f"{_number(self.lines, 'line')}, {self.recognised} of them about freezing, "
                f"{len(self.bad)} bad. "
                "Elapsed times are of loops that came to their end, as printed, truncated by the kernel.",
                *self._time_note(),
                *(
                    [f"{self.stalled_entries} of {self.entries} entries into suspend never came to freezing."]
                    if self.stalled_entries
                    else []
                ),
            ],
        )

    def _time_note(self) -> list[str]:
        if not self.time_falls:
            return []
        return [
            f"Time goes back at {_listed('line', self.time_falls)}: another boot, or lines that are out of "
            "order; then an attempt may be put together from lines of several."
        ]

    def _attempts(self) -> Table:
        eras = list(dict.fromkeys(cycle.era for cycle in self.cycles if cycle.era is not None))
        return _without_empty(
            "By attempt",
            [
                Column("attempt"),
                Column("line"),
                Column("time", "s", digits=6),
                Column("entry", align="left"),
                Column("result", align="left"),
                Column("loop", align="left"),
                Column("user", "ms"),
                Column("kernel", "ms"),
                Column("unit", "ms"),
                Column("thawed"),
            ],
            [
                [
                    cycle.attempt,
                    cycle.line,
                    cycle.time_s,
                    cycle.entry,
                    cycle.result,
                    cycle.loop,
                    cycle.user_ms,
                    cycle.kernel_ms,
                    cycle.resolution_ms,
                    cycle.thawed,
                ]
                for cycle in self.cycles
            ],
            notes=[f"Kernels that write so: {'; '.join(eras)}."] if eras else [],
        )

    def _failures(self) -> Table:
        failed = [cycle for cycle in self.cycles if cycle.result in ("failed", "aborted")]
        checked = any(cycle.sleep_quantum is not None for cycle in failed)
        tick = "a tick of at most 10 ms" if self.hz is None else f"one tick at HZ={self.hz}"
        notes = []
        if checked:
            notes.append(
                f"Sleep check: a failure may come 8 ms and {tick} after the timeout of {self.timeout_ms} ms "
                "with the backoff, later with longer sleeps or another timeout. Sleeps of 10 ms can end as "
                "early: where both fit, the excess proves nothing. Then the form of the lines decides, if it "
                "tells the kernel: up to 3.10 there is no backoff, from 3.11 on there is."
            )
        # A kernel that a wakeup has made give up counts the tasks, but as a rule names none.
        differ = [
            f"{cycle.attempt} ({cycle.refusing} refusing, {len(cycle.offenders)} named)"
            for cycle in failed
            if cycle.refusing is not None
            and cycle.refusing != len(cycle.offenders)
            and (cycle.result == "failed" or cycle.offenders)
        ]
        if differ:
            notes.append(
                f"The log does not name as many tasks as it counts in {_listed('attempt', differ)}: lines "
                "are missing or were not understood."
            )
        return _without_empty(
            "Attempts that failed or were aborted",
            [
                Column("attempt"),
                Column("after", "ms"),
                Column("refusing"),
                Column("named"),
                Column("wq busy"),
                Column("class", align="left", wrap=28),
                Column("sleep check", align="left", wrap=32),
            ],
            [
                [
                    cycle.attempt,
                    cycle.failure_ms,
                    cycle.refusing,
                    len(cycle.offenders),
                    cycle.wq_busy,
                    _trouble(cycle),
                    _verdict(cycle.sleep_quantum),
                ]
                for cycle in failed
            ],
            notes=notes,
        )

    def _offenders(self) -> Table:
        return _without_empty(
            "Tasks that refused to freeze",
            [
                Column("attempt"),
                Column("line"),
                Column("name", align="left", wrap=16),
                Column("pid"),
                Column("state", align="left"),
                Column("top frame", align="left", wrap=26),
                Column("class", align="left", wrap=13),
                Column("told by", align="left", wrap=8),
            ],
            [
                [cycle.attempt, one.line, one.name, one.pid, one.state, one.top_frame, one.kind, one.evidence]
                for cycle in self.cycles
                for one in cycle.offenders
            ],
        )

    def _workqueues(self) -> Table:
        return _without_empty(
            "Busy workqueues",
            [
                Column("attempt"),
                Column("workqueue", align="left", wrap=24),
                Column("in flight", align="left", wrap=34),
                Column("waiting", align="left", wrap=34),
            ],
            [
                [cycle.attempt, queue.name, ", ".join(queue.in_flight), ", ".join(queue.waiting)]
                for cycle in self.cycles
                for queue in cycle.workqueues
            ],
        )

    def _repr_html_(self) -> str:
        return self.report()._repr_html_()

    def __str__(self) -> str:
        return self.report().to_text()

    def __repr__(self) -> str:
        counts = ", ".join(f"{result}={self.count(result)}" for result in _RESULTS)
        return (
            f"FreezerLog({self.source!r}, cycles={len(self.cycles)}, {counts}, lines={self.lines}, "
            f"bad={len(self.bad)})"
        )


def read_freezer_log(
    path: str | os.PathLike[str], *, timeout_ms: int = 20_000, hz: int | None = None
) -> FreezerLog:
    """Read what a kernel log says about freezing.

    Parameters
    ----------
    path : path-like
        Text of dmesg, syslog or journal: plain, gzip, xz, bzip2, zstd or lz4 (frames), told apart by content.
        It is read line by line and may be of any size. ``-`` is standard input.
    timeout_ms : int, milliseconds
        What was in ``/sys/power/pm_freeze_timeout``; failures are checked against it.
    hz : int or None, hertz
        The kernel's HZ; None assumes the longest tick, 10 ms.

    Raises
    ------
    ConfigError
        When the file cannot be read, has no line about freezing, or a parameter is out of range. Bad lines
        and compressed data that ends early are no errors: see ``FreezerLog.bad``.

    Examples
    --------
    >>> read_freezer_log("no-such-file")
    Traceback (most recent call last):
    torpor._core.ConfigError: no-such-file: cannot be read (No such file or directory)
    """
    return FreezerLog.from_lines(log_lines(path), log_name(path), timeout_ms=timeout_ms, hz=hz)


def _number(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or f'{one}s'}"


def _listed(what: str, items: Sequence[object]) -> str:
    """Say ``lines 7, 9`` and how many more."""
    shown = ", ".join(map(str, items[:_LISTED]))
    more = len(items) - _LISTED
    return f"{what if len(items) == 1 else f'{what}s'} {shown}" + (f" and {more} more" if more > 0 else "")


def _without_empty(
    title: str, columns: Sequence[Column], rows: list[list[Value]], notes: Sequence[str] = ()
) -> Table:
    """Table without the columns in which no row has anything."""
    kept = [i for i in range(len(columns)) if any(row[i] not in (None, "") for row in rows)]
    return Table(title, [columns[i] for i in kept], [[row[i] for i in kept] for row in rows], notes)


def _row(cycle: FreezeCycle) -> dict[str, Any]:
    check = cycle.sleep_quantum
    fields = {name: getattr(cycle, name) for name in cycle.__dataclass_fields__ if name != "sleep_quantum"}
    return fields | {
        "offenders": len(cycle.offenders),
        "workqueues": ", ".join(queue.name for queue in cycle.workqueues),
        "sleep_excess_ms": None if check is None else check.excess_ms,
        "sleep_ok": None if check is None else check.ok,
        "sleep_explanation": None if check is None else check.explanation,
    }


def _plain(cycle: FreezeCycle) -> dict[str, Any]:
    data = asdict(cycle)
    if cycle.sleep_quantum is not None:
        data["sleep_quantum"]["ok"] = cycle.sleep_quantum.ok
    return data


def _spread(values: list[int | None]) -> list[Value]:
    known = [value for value in values if value is not None]
    if not known:
        return [None, None, None]
    return [min(known), float(statistics.median(known)), max(known)]


def _trouble(cycle: FreezeCycle) -> str | None:
    if cycle.kind is not None and cycle.wakeup_source is not None:
        return f"{cycle.kind}: {cycle.wakeup_source}"
    return cycle.kind


def _verdict(check: SleepQuantum | None) -> str | None:
    if check is None:
        return None
    implied = "" if check.implied_timeout_ms is None else f" ({check.implied_timeout_ms // 1000} s)"
    most = "" if check.resolution_ms == 1 else f" to {check.excess_ms + check.resolution_ms - 1:+d}"
    return f"{check.explanation}{implied}, {check.excess_ms:+d}{most} ms"
