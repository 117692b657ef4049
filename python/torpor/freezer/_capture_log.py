# SPDX-License-Identifier: MIT
"""Freeze and thaw cycles timed by the kernel's log alone, which costs them no tracing."""

from __future__ import annotations

import re
from dataclasses import dataclass

from torpor._core import ConfigError
from torpor.freezer._trace_cycles import parse_end, parse_mark

__all__ = ["UntracedCycle", "boot_tick_hz", "untraced_cycles"]

_LINE = re.compile(r"\[ *(?P<s>\d+)\.(?P<us>\d{6})\] (?P<text>.*)")
_BOGOMIPS = re.compile(r"(?P<mips>\d+\.\d\d) BogoMIPS \(lpj=(?P<lpj>\d+)\)")

_EDGES = (
    ("user", "Freezing user space processes", "Freezing user space processes completed"),
    ("kernel", "Freezing remaining freezable tasks", "Freezing remaining freezable tasks completed"),
)
_THAW = "Restarting tasks ..."


@dataclass(frozen=True)
class UntracedCycle:
    """One recorded cycle with tracing off, times in microseconds.

    Attributes
    ----------
    cycle : int
        Its number, from 0.
    user_us, kernel_us : int
        The two freeze loops: from the line that announces one to the line that reports it completed.
    thaw_us : int
        From the line that announces the thaw to the first line after it.
    total_us : int
        The whole write that started the cycle.
    context_switches : int
        Rise of the system-wide counter over the whole write.
    """

    cycle: int
    user_us: int
    kernel_us: int
    thaw_us: int
    total_us: int
    context_switches: int


class _Phases:
    def __init__(self, where: str) -> None:
        self.where = where
        self.begun: dict[str, int] = {}
        self.took: dict[str, int] = {}

    def take(self, time_us: int, text: str) -> None:
        if "thaw" in self.begun and "thaw" not in self.took:
            self.took["thaw"] = time_us - self.begun["thaw"]
        for name, first, last in _EDGES:
            if text.startswith(last):
                if name not in self.begun:
                    raise ConfigError(f"{self.where}: '{last}' without '{first}'")
                self.took[name] = time_us - self.begun[name]
            elif text.startswith(first):
                self.begun[name] = time_us
        if text.startswith(_THAW):
            self.begun["thaw"] = time_us

    def finish(self, cycle: int, total_us: int, context_switches: int) -> UntracedCycle:
        missing = [name for name in ("user", "kernel", "thaw") if name not in self.took]
        if missing:
            raise ConfigError(f"{self.where}: no line that closes {', '.join(missing)}")
        took = self.took
        return UntracedCycle(cycle, took["user"], took["kernel"], took["thaw"], total_us, context_switches)


def untraced_cycles(text: str, source: str) -> tuple[str, tuple[UntracedCycle, ...]]:
    """Time every cycle of a kernel log.

    Parameters
    ----------
    text : str
        The log, lines ``[ SECONDS.micros] text``, with the recorder's markers.
    source : str
        What messages call it.

    Returns
    -------
    label, cycles
        The recorder's label, the same for all of them, and the cycles in order.

    Raises
    ------
    ConfigError
        When a line has no time stamp, a cycle lacks a phase or its end, the labels differ or the numbers
        of the cycles do not count up from 0.
    """
    label = ""
    cycles: list[UntracedCycle] = []
    phases: _Phases | None = None
    for number, line in enumerate(text.splitlines(), 1):
        match = _LINE.match(line)
        if match is None:
            raise ConfigError(f"{source}:{number}: '{line[:60]}' has no time stamp [seconds.micros]")
        mark = parse_mark(match["text"])
        if mark is None:
            if phases is not None:
                phases.take(int(match["s"]) * 1_000_000 + int(match["us"]), match["text"])
            continue
        where = f"{source}:{number}"
        label = label or mark["label"]
        if mark["label"] != label:
            raise ConfigError(f"{where}: label '{mark['label']}' among cycles of '{label}'")
        if int(mark["cycle"]) != len(cycles):
            raise ConfigError(f"{where}: cycle={mark['cycle']}, expected cycle={len(cycles)}")
        if mark["what"] == "begin":
            phases = _Phases(where)
        elif phases is None:
            raise ConfigError(f"{where}: cycle={mark['cycle']} ends but did not begin")
        else:
            cycles.append(phases.finish(len(cycles), *parse_end(mark["rest"], where)))
            phases = None
    if phases is not None:
        raise ConfigError(f"{phases.where}: the log stops before the cycle ends")
    if not cycles:
        raise ConfigError(f"{source}: no cycle between markers 'lab: begin' and 'lab: end'")
    return label, tuple(cycles)


def boot_tick_hz(text: str) -> int | None:
    """Ticks per second from the delay calibration line of a boot log; None where it has none.

    The line prints both loops a tick and million loops a second, halved: their ratio is the tick rate.
    """
    match = _BOGOMIPS.search(text)
    if match is None or int(match["lpj"]) == 0:
        return None
    return round(float(match["mips"]) * 500_000 / int(match["lpj"]))
