# SPDX-License-Identifier: MIT
"""Recorded freeze and thaw cycles of a real kernel: counts from its trace, times from its log."""

from __future__ import annotations

import os
import re
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from torpor._checks import shown
from torpor._core import ConfigError
from torpor._truth_file import check_regular
from torpor.freezer._capture_log import UntracedCycle, boot_tick_hz, untraced_cycles
from torpor.freezer._capture_truth import (
    CYCLE_FIELDS,
    TRACE_FIELDS,
    Truth,
    compare,
    compare_totals,
    read_text,
)
from torpor.freezer._trace_cycles import LoopRecord, TracedCycle, traced_cycles
from torpor.importers.ftrace import read_ftrace

__all__ = ["Capture", "LoopRecord", "Measured", "Series", "TracedCycle", "UntracedCycle", "mix_sites"]
__all__ += ["ties"]

DEFAULT_TICK_HZ = 250
"""Tick rate of a capture without a boot log: that of the distribution kernels the captures were made with."""

WOKEN_SITES = ("epoll", "pause", "pipe", "poll", "select")
"""Recorded sites whose tasks a 6.1 kernel wakes to freeze them."""

WAIT_CHILD = "wait_child"
"""Site of the child each waiting parent has; it sleeps, and carries its parent's name."""

_EARLY_PCT = 2.0
_UNTRACED = " untraced"
_KINDS = (
    *("nanosleep", "futex", "unix", "sigtw", "wait"),
    *("pipe", "pause", "poll", "select", "epoll", "tick"),
)
_LABEL = re.compile(
    r"(?P<mix>[a-z]+) N=(?P<n>\d+)(x(?P<kinds>\d+))?( busy=(?P<busy>\d+))? "
    r"(?P<how>untraced|traced|all errors)"
)
_FILE = re.compile(r"freeze_(?P<mix>[a-z]+?)(_?(?P<n>\d+))?(?P<traced>\.traced)?\.(dmesg\.txt|trace)(\.gz)?")
_INSTRUCTION = re.compile(r"one instruction is (?P<ns>\d+) ns")
_RELEASE = re.compile(r"Linux \S+ .*?(?P<release>\d+\.\d+\.\d+)-\d")


def mix_sites(mix: str, count: int) -> dict[str, int]:
    """Count the tasks at each site in one of the recorder's task mixes.

    Parameters
    ----------
    mix : str
        ``frozen``, ``mixed`` or ``woken``, or ``sites``: the same number of each of eleven kinds.
    count : int
        Tasks in all; for ``sites`` tasks of each kind, and every waiting parent brings one sleeping child,
        counted as ``wait_child``.

    Raises
    ------
    ConfigError
        When the mix is unknown or the count is below 1.

    Examples
    --------
    >>> mix_sites("frozen", 50)
    {'nanosleep': 14, 'futex': 12, 'unix': 12, 'sigtw': 12}
    >>> sum(mix_sites("mixed", 200).values())
    200
    """
    if count < 1:
        raise ConfigError(f"count={count}: expected 1 or more tasks")
    if mix == "frozen":
        share = count // 4
        return {"nanosleep": count - 3 * share, "futex": share, "unix": share, "sigtw": share}
    if mix == "woken":
        share = count // 5
        return {"pipe": count - 4 * share} | dict.fromkeys(("pause", "poll", "select", "epoll"), share)
    if mix == "mixed":
        share = count // 10
        ones = dict.fromkeys(("epoll", "poll", "select", "unix", "sigtw", "pipe", "pause"), share)
        return {"nanosleep": count - 9 * share, "futex": 2 * share} | ones
    if mix == "sites":
        return dict.fromkeys((*_KINDS, WAIT_CHILD), count)
    raise ConfigError(f"mix={mix}: unknown; known: frozen, mixed, sites, woken")


@dataclass(frozen=True)
class Measured:
    """What the cycles of one series say together, times in microseconds.

    With one CPU a loop is the longest of its commonest durations: a retry sleep that a tick cuts short only
    ever shortens it, and total, thaw and switches come from the cycles without one. With more CPUs it is the
    median, because the number of sleeps differs from cycle to cycle.

    Examples
    --------
    >>> loops = [2351, 2643, 2666, 2376]
    >>> cycles = [UntracedCycle(i, us, 1915, 20300, 26000, 1025) for i, us in enumerate(loops)]
    >>> Measured.of(cycles, cpus=1).user_us
    2654.5
    >>> Measured.of(cycles, cpus=4).user_us
    2509.5
    """

    user_us: float
    kernel_us: float
    thaw_us: float
    total_us: float
    context_switches: float
    early_cycles: int

    @classmethod
    def of(cls, cycles: Sequence[UntracedCycle], cpus: int) -> Measured:
        """Condense cycles; at least one."""
        if not cycles:
            raise ConfigError("cycles=(): expected at least one cycle")
        kept = list(cycles)
        user = [cycle.user_us for cycle in cycles]
        kernel = [cycle.kernel_us for cycle in cycles]
        if cpus == 1:
            user, kernel = _commonest(user), _commonest(kernel)
            full = [cycle for cycle in cycles if cycle.user_us in user and cycle.kernel_us in kernel]
            kept = full or kept
        return cls(
            statistics.median(user),
            statistics.median(kernel),
            statistics.median(cycle.thaw_us for cycle in cycles),
            statistics.median(cycle.total_us for cycle in kept),
            statistics.median(cycle.context_switches for cycle in cycles),
            len(cycles) - len(kept),
        )


def _groups(values: Iterable[int]) -> list[list[int]]:
    """Values within two percent of each other, largest group first, of equal ones the longest."""
    ordered = sorted(values)
    groups = [[v for v in ordered if low <= v <= low * (1.0 + _EARLY_PCT / 100.0)] for low in ordered]
    return sorted(groups, key=lambda group: (len(group), group[-1]), reverse=True)


def _commonest(values: Iterable[int]) -> list[int]:
    return _groups(values)[0]


def ties(values: Iterable[int]) -> tuple[tuple[int, ...], ...]:
    """Return the shorter groups of durations that are as common as the one that makes the figure.

    Parameters
    ----------
    values : iterable of int
        Durations of one loop.

    Examples
    --------
    >>> ties([2351, 2643, 2666, 2376])
    ((2351, 2376),)
    >>> ties([2643, 2643, 2666, 2376])
    ()
    """
    best, *others = _groups(values)
    found: list[list[int]] = []
    for group in others:
        if len(group) == len(best) and group[-1] < (found[-1] if found else best)[0]:
            found.append(group)
    return tuple(map(tuple, found))


@dataclass(frozen=True)
class Series:
    """Cycles of one setting.

    Attributes
    ----------
    mix : str
        ``frozen``, ``mixed``, ``woken`` or ``sites``.
    count : int
        N of the label; for ``sites`` that of each kind.
    busy : int
        Tasks that compute all the time, besides.
    sites : dict
        Tasks by site, busy ones included.
    untraced, traced : tuple
        The cycles.

    Examples
    --------
    >>> series = Series("woken", 50, 0, mix_sites("woken", 50), (), ())
    >>> series.tasks, series.woken, series.marked, series.name
    (50, 50, 0, 'woken N=50')
    """

    mix: str
    count: int
    busy: int
    sites: dict[str, int]
    untraced: tuple[UntracedCycle, ...]
    traced: tuple[TracedCycle, ...]

    @property
    def name(self) -> str:
        """Mix, N and busy tasks as in the recorder's label."""
        kinds = f"x{len(self.sites) - 1}" if self.mix == "sites" else ""
        return f"{self.mix} N={self.count}{kinds}" + (f" busy={self.busy}" if self.busy else "")

    @property
    def tasks(self) -> int:
        """Recorded tasks, without busy ones."""
        return sum(self.sites.values()) - self.busy

    @property
    def woken(self) -> int:
        """Tasks at sites whose tasks are woken to freeze (W)."""
        return sum(self.sites.get(site, 0) for site in WOKEN_SITES)

    @property
    def marked(self) -> int:
        """Tasks frozen where they sleep; short sleepers count, though they may be awake."""
        return self.tasks - self.woken

    @property
    def steady(self) -> tuple[UntracedCycle, ...]:
        """The untraced cycles but the first, which warms up."""
        return self.untraced[1:]

    def measured(self, cpus: int) -> Measured:
        """Figures of the steady cycles (see :class:`Measured`)."""
        if not self.steady:
            raise ConfigError(f"{self.name}: {len(self.untraced)} untraced cycles, expected 2 or more")
        return Measured.of(self.steady, cpus)


@dataclass(frozen=True)
class Capture:
    """A folder of recorded freeze and thaw cycles.

    Attributes
    ----------
    path : Path
        The folder.
    name, clock : str
        From truth.json: what the capture is called, and what its clock counts.
    cpus : int
        CPUs of the machine.
    tick_hz : int
        Ticks per second.
    tick_hz_assumed : bool
        True without a boot log that tells it.
    kernel, machine : str
        Release of the kernel, as ``6.1.192``, and the machine word of uname.
    instruction_ns : int, or None
        Guest time per instruction, where the clock counts instructions; such cycles repeat.
    other_tasks : int, or None
        Tasks the loops look at besides the recorded ones; None where no trace has the visits.
    series : tuple of Series
        In the order of the recording.
    disagreements : tuple of str
        Figures of truth.json that differ from what the trace or the log says; empty is right.
    without_files : tuple of str
        Labels truth.json has figures of, but whose traces and logs were not kept.
    without_log : tuple of str
        Names of the settings of which truth.json has untraced cycles, but the folder no log.
    failed : tuple of str
        Cycles that failed, by truth.json, and whose files were not kept.

    Examples
    --------
    >>> Capture.load("no-such-folder")
    Traceback (most recent call last):
    torpor._core.ConfigError: no-such-folder/truth.json: cannot be read (No such file or directory)
    """

    path: Path
    name: str
    clock: str
    cpus: int
    tick_hz: int
    tick_hz_assumed: bool
    kernel: str
    machine: str
    instruction_ns: int | None
    other_tasks: int | None
    series: tuple[Series, ...]
    disagreements: tuple[str, ...]
    without_files: tuple[str, ...]
    without_log: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Capture:
        """Read every trace and log of a folder.

        Parameters
        ----------
        folder : path-like
            Holds truth.json, ``freeze_*.trace.gz`` and ``freeze_*.dmesg.txt.gz``.

        Raises
        ------
        ConfigError
            When a file is missing, no regular file, cut off or malformed, when truth.json is that of another
            kind of capture, or when file names and labels contradict each other; the message names file and
            value.
        """
        return _load(Path(folder))

    def find(self, mix: str, count: int, busy: int = 0) -> Series:
        """Return the series of a setting; ConfigError when it was not recorded."""
        for series in self.series:
            if (series.mix, series.count, series.busy) == (mix, count, busy):
                return series
        known = ", ".join(series.name for series in self.series)
        raise ConfigError(f"{self.path}: no series {mix} N={count} busy={busy}; recorded: {known}")


@dataclass
class _Setting:
    untraced: tuple[UntracedCycle, ...] = ()
    traced: tuple[TracedCycle, ...] = ()


_Key = tuple[str, int, int]


def _key(path: Path, label: str, traced: bool) -> _Key:
    """Mix, N and busy tasks of a label, which must not contradict the file's name."""
    match = _LABEL.fullmatch(label)
    if match is None:
        raise ConfigError(f"{path}: label '{label}', expected 'MIX N=COUNT traced' or the like")
    mix, count, busy = match["mix"], int(match["n"]), int(match["busy"] or 0)
    if (match["how"] == "untraced") == traced:
        raise ConfigError(f"{path}: label '{label}' in a file of {'traced' if traced else 'untraced'} cycles")
    try:
        sites = mix_sites(mix, count)
    except ConfigError as error:
        raise ConfigError(f"{path}: label '{label}': {error}") from None
    if mix == "sites" and int(match["kinds"] or 0) != len(sites) - 1:
        raise ConfigError(f"{path}: label '{label}', expected {count}x{len(sites) - 1}")
    name = _FILE.fullmatch(path.name)
    if name is None:
        raise ConfigError(f"{path}: expected a name like freeze_MIX_COUNT.trace.gz")
    number = None if name["n"] is None else int(name["n"])
    if name["mix"] == "busy":
        fits = busy == number
    elif name["mix"] in ("sites", "errors"):
        fits = mix == "sites" and busy == 0
    else:
        fits = (name["mix"], number, 0) == (mix, count, busy)
    if not fits:
        raise ConfigError(f"{path}: label '{label}' contradicts the file's name")
    return mix, count, busy


def _load(folder: Path) -> Capture:
    truth = Truth(folder / "truth.json")
    cpus = truth.get("cpus", int)
    if cpus < 1:
        raise ConfigError(f"{truth.path}: cpus={shown(cpus)}: expected 1 or more")
    clock, uname = truth.get("clock", str), truth.get("uname", str)
    release = _RELEASE.match(uname)
    if release is None:
        raise ConfigError(f"{truth.path}: uname: '{uname}' has no release")
    instruction = _INSTRUCTION.search(clock)
    traces = truth.get("traces", dict)
    said: list[str] = []
    settings: dict[_Key, _Setting] = {}
    labels: dict[tuple[str, int], UntracedCycle | TracedCycle] = {}

    for path in sorted([*folder.glob("freeze_*.dmesg.txt.gz"), *folder.glob("freeze_*.dmesg.txt")]):
        if ".traced." in path.name:
            continue
        label, cycles = untraced_cycles(read_text(path), str(path))
        untraced = label.endswith(_UNTRACED)
        setting_key = _key(path, label, traced=not untraced)
        if untraced:
            setting = settings.setdefault(setting_key, _Setting())
            if setting.untraced:
                raise ConfigError(f"{path}: label '{label}' in a second file")
            setting.untraced = cycles
            labels |= {(label, cycle.cycle): cycle for cycle in cycles}

    found = {path.name: path for path in folder.glob("freeze_*.trace")}
    found |= {path.name.removesuffix(".gz"): path for path in folder.glob("freeze_*.trace.gz")}
    for name in sorted(found.keys() | traces.keys()):
        path = found.get(name, folder / f"{name}.gz")
        check_regular(path)
        counted = traced_cycles(read_ftrace(path))
        keys = {_key(path, cycle.label, traced=True) for cycle in counted}
        if len(keys) > 1:
            raise ConfigError(f"{path}: labels '{counted[0].label}' and '{counted[-1].label}' in one trace")
        setting = settings.setdefault(keys.pop(), _Setting())
        if setting.traced:
            raise ConfigError(f"{path}: label '{counted[0].label}' in a second file")
        setting.traced = tuple(counted)
        labels |= {(cycle.label, cycle.cycle): cycle for cycle in counted}
        records = truth.cycles(f"traces.{name}", traces.get(name, []), TRACE_FIELDS)
        said += compare(name, counted, records)

    key = "untraced_and_traced_cycles"
    records = truth.cycles(key, truth.data.get(key), CYCLE_FIELDS)
    known = {label for label, _ in labels}
    without_files = sorted({one["label"] for one in records} - known)
    said += compare_totals(labels, [one for one in records if one["label"] in known])
    without_log = [label.removesuffix(_UNTRACED) for label in without_files if label.endswith(_UNTRACED)]
    failed = [
        f"{one['label']} cycle={one['cycle']} (err={one['err']})"
        for one in records
        if one["label"] not in known and one["err"]
    ]
    if not settings:
        raise ConfigError(f"{folder}: no freeze_*.trace.gz and no freeze_*.dmesg.txt.gz")
    series = tuple(
        Series(mix, n, busy, mix_sites(mix, n) | ({"busy": busy} if busy else {}), one.untraced, one.traced)
        for (mix, n, busy), one in sorted(settings.items())
    )
    tick_hz = _boot_hz(folder)
    return Capture(
        folder,
        truth.get("capture", str),
        clock,
        cpus,
        DEFAULT_TICK_HZ if tick_hz is None else tick_hz,
        tick_hz is None,
        release["release"],
        uname.split()[-2],
        None if instruction is None else int(instruction["ns"]),
        _other_tasks(folder, series),
        series,
        tuple(said),
        tuple(without_files),
        tuple(without_log),
        tuple(failed),
    )


def _boot_hz(folder: Path) -> int | None:
    for name in ("boot.dmesg.txt.gz", "boot.dmesg.txt"):
        if (folder / name).exists():
            tick_hz = boot_tick_hz(read_text(folder / name))
            if tick_hz is not None and not 1 <= tick_hz <= 10_000:
                raise ConfigError(f"{folder / name}: {tick_hz} ticks a second, expected 1..10000")
            return tick_hz
    return None


def _other_tasks(folder: Path, series: Sequence[Series]) -> int | None:
    others = {
        visits - one.tasks - one.busy
        for one in series
        for cycle in one.traced
        for loop in cycle.loops
        for visits in loop.visits or ()
    }
    if len(others) > 1:
        raise ConfigError(
            f"{folder}: {min(others)} to {max(others)} tasks besides the recorded ones: they changed"
        )
    return others.pop() if others else None
