# SPDX-License-Identifier: MIT
"""Single kernel log lines about freezing: what each says, in the forms of every era.

Formats, by what kernels and public reports show: up to 3.10 hundredths of a second and one line for a loop,
from 3.11 thousandths, from about 6.2 one line for the start and one for the end, later the loop's name in the
line that tells of a failure. Every form is accepted from every kernel.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

__all__ = ["Elapsed", "Failure", "Frame", "LoopLine", "Task", "clean", "continuation", "failure"]
__all__ += ["freezer_line", "monotonic_s", "stripped", "task", "trace_frames"]

Loop = Literal["user", "kernel"]

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x00+")
_CONTROLS = re.compile(r"[\x01-\x08\x0a-\x1f\x7f-\x9f]")
_TIME = r"\[\s*(?P<time>\d{1,10}\.\d{1,9})(?:[,@]\s*\w+)?(?:\s*<[^>\]]*>)?\s*\]"
_TIMES = re.compile(_TIME)
_PREFIX = re.compile(
    r"(?:\s+"
    r"|<\d{1,3}>"
    rf"|{_TIME.replace('?P<time>', '?:')}"
    r"|\[\s*[TC]\d+\]|\[\d+:[^\]]*\]|-?\(\d+\)"  # thread or CPU columns, and those of phone vendors
    r"|\[\w{3} \w{3} +\d+ [\d:]+ \d{4}\]"  # dmesg -T
    r"|\d{4}-\d\d-\d\d[T ][\d:.,]+(?:[+-]\d\d:?\d\d|Z)?\b"
    r"|[A-Z][a-z]{2} +\d{1,2} [\d:.]{8,}\s"
    r"|\d\d-\d\d [\d:.]{8,}(?:\s+[a-z]+)?\s+\d+\s+\d+\s+[VDIWEF]\s+:?"  # logcat
    r"|(?:\S+\s+)?kernel(?:\[\d+\])?:(?=\s)"
    r")*"
)
# A program other than the kernel that quotes a line.
_PROGRAM = re.compile(r"(?<!\S)(?!kernel\[)[^\s\[\]]+\[\d+\]: ")

_LOOP = re.compile(r"Freezing (user space processes|remaining freezable tasks)(.*)")
_OF_TASKS = re.compile(r"Freezing of (tasks|user space)\b(?: processes)?(.*)")
_DONE = re.compile(r"(?P<how>\.\.\. ?|completed )\(elapsed (?P<elapsed>[^ ()]*) seconds\)(?: done\.?)?")
_NOT_DONE = re.compile(
    r"(?P<word>failed|aborted) after (?P<elapsed>[^ ()]*) seconds"
    r"(?P<counts>\s*\((?P<refusing>\d{1,9}) tasks? refusing to freeze(?:, wq_busy=(?P<busy>\d{1,9}))?\))?:?"
)
_CONTINUED = re.compile(r"\(elapsed (?P<elapsed>[^ ()]*) seconds\) done\.")
_ELAPSED = re.compile(r"(\d{1,9})\.(\d{2,3})")

_TASK = re.compile(
    r"task:(?P<name>.*?)\s*\bstate:(?P<state>[A-Za-z?])(?:\s+running task)?\s.*?\bpid:\s*(?P<pid>\d{1,9})\b"
)
_OLD_TASK = re.compile(
    r"(?P<name>\S.{0,62}?)\s+(?P<state>[RSDTtXxZPIKW])\s+"
    r"(?:running(?: task)?\s+|(?:[0-9a-f]{8}|[0-9a-f]{16}|\(null\))\s+)?"
    r"\d{1,9}\s+(?P<pid>\d{1,9})\s+\d{1,9}\s+0x[0-9a-f]{1,16}\s*"
)
_FUNCTION = r"(?P<name>[A-Za-z_$][\w.$]*)"
_FRAME = re.compile(
    rf"(?P<doubt>\? )?\b{_FUNCTION}\+0x[0-9a-f]+/0x[0-9a-f]+(?: \[(?P<module>[\w-]+)[^\]]*\])?"
)
_ARM_FRAME = re.compile(
    rf"(?:\(|^\s*){_FUNCTION}(?:\+0x[0-9a-f]+/0x[0-9a-f]+)?(?: \[(?P<module>[\w-]+)\])?\)? from "
)
_CLONE = re.compile(r"\.(?:constprop|isra|part|cold|llvm)\b.*")


class Elapsed(NamedTuple):
    """A printed time: truncated, not rounded, to the resolution."""

    ms: int
    resolution_ms: int


class LoopLine(NamedTuple):
    """A line about one of the two loops that is no failure; `reason` says what cannot be read."""

    loop: Loop
    done: bool
    two_lines: bool
    elapsed: Elapsed | None
    reason: str


class Failure(NamedTuple):
    """A line that says that freezing failed or was aborted; `reason` says what cannot be read."""

    word: Literal["failed", "aborted"]
    loop: Loop | None
    named: bool  # in the newest form, with the loop's name
    elapsed: Elapsed | None
    refusing: int | None
    wq_busy: bool | None
    reason: str


class Task(NamedTuple):
    """The first line of an offender's dump."""

    name: str
    pid: int
    state: str


class Frame(NamedTuple):
    """One function of a call trace; one the unwinder is not sure of is in doubt."""

    text: str
    doubtful: bool


def clean(raw: bytes) -> str:
    r"""Text of a line without colours, padding and anything else that a terminal would act on.

    Examples
    --------
    >>> clean(b"\x1b[32m[  1.5]\x1b[0m a\xff\x07")
    '[  1.5] a��'
    """
    return _CONTROLS.sub(
        "\N{REPLACEMENT CHARACTER}", _ESCAPES.sub("", raw.rstrip(b"\r\n").decode("utf-8", "replace"))
    )


def monotonic_s(text: str, end: int) -> float | None:
    """Monotonic time in brackets that stands nearest before a place, in seconds; None if there is none.

    Examples
    --------
    >>> monotonic_s("Nov 30 10:00:00 host kernel: [   12.5,3] Freezing", 40)
    12.5
    """
    found = [match.group("time") for match in _TIMES.finditer(text, 0, end)]
    return float(found[-1]) if found else None


def stripped(text: str) -> str:
    """Message without dates, host, level, time and columns.

    Examples
    --------
    >>> stripped("<6>[   12.345678][  T123] cp   D    0  1234   1200 0x00000004")
    'cp   D    0  1234   1200 0x00000004'
    """
    match = _PREFIX.match(text)
    return text[match.end() :] if match else text


def _elapsed(text: str) -> tuple[Elapsed | None, str]:
    match = _ELAPSED.fullmatch(text)
    if match is None:
        return None, f"elapsed time '{text}': seconds with two or three decimals"
    resolution = 10 if len(match[2]) == 2 else 1
    return Elapsed(int(match[1]) * 1000 + int(match[2]) * resolution, resolution), ""


def freezer_line(text: str) -> tuple[int, LoopLine | Failure] | None:
    """Where in the text a line of the freezer begins, and what it says; None for any other line.

    Examples
    --------
    >>> freezer_line("[    1.0] Freezing user space processes ... (elapsed 0.03 seconds) done.")[1].elapsed
    Elapsed(ms=30, resolution_ms=10)
    """
    match = _LOOP.search(text) or _OF_TASKS.search(text)
    if match is None or _PROGRAM.search(text, 0, match.start()):
        return None
    what, rest = match[1], match[2].strip()
    if match.re is _OF_TASKS:
        return match.start(), failure(rest, "user" if what == "user space" else None, named=False)
    loop: Loop = "user" if what == "user space processes" else "kernel"
    if rest.startswith(("failed", "aborted")):
        return match.start(), failure(rest, loop, named=True)
    if rest in ("", "..."):
        return match.start(), LoopLine(loop, False, rest == "", None, "")
    done = _DONE.fullmatch(rest)
    if done is None:
        finished = "done" in rest or "completed" in rest
        reason = "no readable elapsed time" if finished or "elapsed" in rest else "an unknown form"
        return match.start(), LoopLine(loop, finished, not rest.startswith("..."), None, reason)
    elapsed, reason = _elapsed(done["elapsed"])
    return match.start(), LoopLine(loop, True, done["how"] == "completed ", elapsed, reason)


def failure(rest: str, loop: Loop | None, *, named: bool) -> Failure:
    """Read what stands after the words that tell of a failure.

    Examples
    --------
    >>> failure("aborted after 0.004 seconds", None, named=False).elapsed
    Elapsed(ms=4, resolution_ms=1)
    """
    word: Literal["failed", "aborted"] = "aborted" if rest.startswith("aborted") else "failed"
    if rest == "aborted":  # the oldest form has nothing more
        return Failure(word, loop, named, None, None, None, "")
    match = _NOT_DONE.fullmatch(rest)
    if match is None:
        reason = (
            "no readable elapsed time and numbers"
            if rest.startswith(("failed", "aborted"))
            else "neither failed nor aborted"
        )
        start = re.match(r"\w+ after (\S+) seconds", rest)
        return Failure(word, loop, named, _elapsed(start[1])[0] if start else None, None, None, reason)
    elapsed, reason = _elapsed(match["elapsed"])
    if match["counts"] is None:
        if word == "failed":
            reason = reason or "no number of tasks refusing to freeze"
        return Failure(word, loop, named, elapsed, None, None, reason)
    refusing = int(match["refusing"])
    busy = None if match["busy"] is None else int(match["busy"])
    if busy is not None and busy > 1:
        return Failure(word, loop, named, elapsed, refusing, None, reason or f"wq_busy={busy}: 0 or 1")
    # Numbers that cannot be true together with the rest of the line are not passed on.
    if not refusing and not busy:
        nothing = "it tells of a failure, but nothing refused to freeze"
        return Failure(word, loop, named, elapsed, None, None, reason or nothing)
    if busy and named and loop == "user":
        reason = reason or "wq_busy=1 in the loop that does not look at workqueues"
        return Failure(word, loop, named, elapsed, refusing, None, reason)
    return Failure(word, loop, named, elapsed, refusing, None if busy is None else busy == 1, reason)


def continuation(text: str) -> tuple[Elapsed | None, str] | None:
    """Rest of a loop's line that another message has torn off; None for any other line.

    Examples
    --------
    >>> continuation("[   12.5] (elapsed 0.002 seconds) done.")
    (Elapsed(ms=2, resolution_ms=1), '')
    """
    match = _CONTINUED.match(stripped(text))
    return None if match is None else _elapsed(match["elapsed"])


def task(text: str) -> Task | str | None:
    """First line of an offender's dump, or what is wrong with it; None for any other line.

    Examples
    --------
    >>> task("[  1.5] task:Web Content     state:R  running task     stack:    0 pid:  7 ppid:  1 flags:0x0")
    Task(name='Web Content', pid=7, state='R')
    >>> task("[  1.5] sh              D c0012340     0   123      1 0x00000000")
    Task(name='sh', pid=123, state='D')
    """
    match = _TASK.search(text)
    if match is None:
        if re.search(r"\btask:.*\bstate:", text):
            return "no readable state and pid of a task"
        match = _OLD_TASK.fullmatch(stripped(text))
    return None if match is None else Task(match["name"], int(match["pid"]), match["state"])


def trace_frames(text: str) -> Frame | None:
    """One frame of a call trace as ``function`` or ``function [module]``; None for any other line.

    Examples
    --------
    >>> trace_frames("[  1.5]  request_wait_answer+0xa1/0x210 [fuse d021fe9a]")
    Frame(text='request_wait_answer [fuse]', doubtful=False)
    >>> trace_frames("[  1.5] [<c1048094>] (__schedule) from [<c104857c>] (schedule+0x48/0xd0)").text
    '__schedule'
    """
    match = _ARM_FRAME.search(stripped(text))
    doubtful = False
    if match is None:
        match = _FRAME.search(text)
        if match is None:
            return None
        doubtful = match["doubt"] is not None
    name = _CLONE.sub("", match["name"])
    return Frame(f"{name} [{match['module']}]" if match["module"] else name, doubtful)
