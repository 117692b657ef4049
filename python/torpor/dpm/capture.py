# SPDX-License-Identifier: MIT
"""Recorded device suspends: a folder with a snapshot of the devices, traces and the recorder's figures."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from torpor._core import ConfigError
from torpor.dpm._capture_cycles import read_cycles
from torpor.dpm._capture_graph import RecordedGraph, graph_of, replay_costs, segments_of, split_cycle
from torpor.dpm._capture_match import Matching, match_names
from torpor.dpm._capture_records import Cycle, TraceName
from torpor.dpm._capture_snapshot import Snapshot, read_snapshot
from torpor.dpm._capture_timing import Tick, find_tick
from torpor.dpm._capture_truth import Truth
from torpor.dpm._given import folder_of, text
from torpor.dpm.graph import Segment
from torpor.importers.ftrace import read_ftrace

__all__ = ["DeviceCapture", "capture_labels"]

_TRACE = re.compile(r"(?P<label>.+)_async(?P<on>[01])\.trace(?:\.gz)?")
_HOST_CORES = re.compile(r"(?P<cores>\d+)-core host")


def capture_labels(folder: str | os.PathLike[str]) -> tuple[str, ...]:
    """Return the labels of the device cycles in a folder, in alphabetical order.

    Parameters
    ----------
    folder : path-like
        Holds files like ``LABEL_async0.trace.gz``.

    Raises
    ------
    ConfigError
        When there is none.

    Examples
    --------
    >>> capture_labels("no-such-folder")
    Traceback (most recent call last):
    torpor._core.ConfigError: no-such-folder: no file like LABEL_async0.trace.gz
    """
    path = folder_of("folder", folder)
    paths = path.iterdir() if path.is_dir() else ()
    found = {match["label"] for path in paths if (match := _TRACE.fullmatch(path.name))}
    if not found:
        raise ConfigError(f"{os.fspath(folder)}: no file like LABEL_async0.trace.gz")
    return tuple(sorted(found))


@dataclass(frozen=True)
class DeviceCapture:
    """The cycles of one label, with and without workers.

    Attributes
    ----------
    path : Path
        The folder.
    label : str
        Which cycles of it.
    name, clock : str
        From truth.json: what the capture is called, and what its clock counts.
    cpus : int
        CPUs of the machine (K).
    capacity : float
        How much work they do together, in CPUs (C): 1 where one clock counts the instructions of all of them,
        at most the host's cores where they are threads of a host.
    repeats : bool
        Whether durations repeat, because the clock counts instructions.
    snapshot : Snapshot
        Devices and links.
    sync, asynchronous : tuple of Cycle
        Recorded without and with workers; the latter may be empty.
    tick : Tick
        From the cycles without workers.
    disagreements : tuple of str
        Figures of truth.json that differ from what the traces say; empty is right.

    Examples
    --------
    >>> DeviceCapture.load("no-such-folder", "dev_50")
    Traceback (most recent call last):
    torpor._core.ConfigError: no-such-folder/devices.tsv: missing, the snapshot of the devices
    """

    path: Path
    label: str
    name: str
    clock: str
    cpus: int
    capacity: float
    repeats: bool
    snapshot: Snapshot
    sync: tuple[Cycle, ...]
    asynchronous: tuple[Cycle, ...]
    tick: Tick
    disagreements: tuple[str, ...]
    _matchings: dict[tuple[TraceName, ...], Matching] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def load(cls, folder: str | os.PathLike[str], label: str) -> DeviceCapture:
        """Read snapshot, traces and truth.json of one label.

        Parameters
        ----------
        folder : path-like
            Holds devices.tsv, ``LABEL_async0.trace``, optionally ``LABEL_async1.trace`` (each plain or
            gzip), and truth.json.
        label : str
            Begin of the names of the traces.

        Raises
        ------
        ConfigError
            When a file is missing, cut off or malformed, or contradicts its name; the message names file,
            line and value.
        """
        return _load(folder_of("folder", folder), text("label", label))

    def matching(self, cycle: Cycle) -> Matching:
        """Return which devices of the snapshot the list of a cycle has."""
        if cycle.order not in self._matchings:
            self._matchings[cycle.order] = match_names(cycle.order, self.snapshot)
        return self._matchings[cycle.order]

    def sync_graph(self, cycle: Cycle) -> RecordedGraph:
        """Make the graph of a cycle without workers, its callbacks split into work and waits.

        Parameters
        ----------
        cycle : Cycle
            One of :attr:`sync`.

        Raises
        ------
        ConfigError
            When workers ran callbacks in it: their waits for shared locks would be taken for work.
        """
        if cycle.asynchronous:
            raise ConfigError(f"{cycle.name}: expected a cycle without workers")
        matching, costs = self.matching(cycle), replay_costs(cycle)
        split = split_cycle(cycle, matching, self.snapshot, self.tick, costs)
        segments = {key: segments_of(pieces) for key, pieces in split.items()}
        return graph_of(cycle, matching, self.snapshot, segments, costs)

    def async_graph(self, cycle: Cycle) -> RecordedGraph:
        """Make the graph of a cycle with workers, its callbacks as long as they were.

        Their durations hold all waits for locks and CPUs already, so each is one sleep. The costs are those
        of the first cycle without workers.

        Parameters
        ----------
        cycle : Cycle
            One of :attr:`asynchronous`.
        """
        segments: dict[tuple[int, str], tuple[Segment, ...]] = {
            (one.place, phase.name): (Segment("sleep", one.duration_ns),)
            for phase in cycle.middle
            for one in phase.callbacks
        }
        return graph_of(cycle, self.matching(cycle), self.snapshot, segments, replay_costs(self.sync[0]))


def _find(folder: Path, name: str) -> Path | None:
    for path in (folder / f"{name}.gz", folder / name):
        if path.exists() or path.is_symlink():
            if not path.is_file():
                raise ConfigError(f"{path}: is no regular file")
            return path
    return None


def _required(folder: Path, name: str, what: str) -> Path:
    path = _find(folder, name)
    if path is None:
        raise ConfigError(f"{folder / name}: missing, {what}")
    return path


def _cycles(path: Path, *, asynchronous: bool) -> tuple[Cycle, ...]:
    cycles = read_cycles(read_ftrace(path))
    for cycle in cycles:
        if cycle.asynchronous != asynchronous:
            raise ConfigError(f"{path}: label '{cycle.label}' contradicts the file's name")
    return cycles


def _load(folder: Path, label: str) -> DeviceCapture:
    snapshot_path = _required(folder, "devices.tsv", "the snapshot of the devices")
    sync_path = _required(folder, f"{label}_async0.trace", "the cycles without workers")
    truth_path = _required(folder, "truth.json", "the recorder's figures")
    async_path = _find(folder, f"{label}_async1.trace")
    truth = Truth(truth_path)
    snapshot = read_snapshot(snapshot_path)
    sync = _cycles(sync_path, asynchronous=False)
    asynchronous = () if async_path is None else _cycles(async_path, asynchronous=True)
    cpus, clock = truth.cpus, truth.clock
    repeats = "icount" in clock
    host = _HOST_CORES.search(clock)
    capacity = 1.0 if repeats else float(cpus if host is None else min(cpus, int(host["cores"])))
    said: list[str] = list(truth.compare_snapshot(snapshot))
    for path, cycles in ((sync_path, sync), (async_path, asynchronous)):
        if path is not None:
            said += truth.compare(path.name.removesuffix(".gz"), cycles)
    return DeviceCapture(
        folder,
        label,
        truth.capture,
        clock,
        cpus,
        capacity,
        repeats,
        snapshot,
        sync,
        asynchronous,
        find_tick(sync, str(sync_path)),
        tuple(said),
    )
