# SPDX-License-Identifier: MIT
"""Recorded cycles played by the engine: what a phase would take under another policy, or by other rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from torpor import _core
from torpor._checks import whole
from torpor._core import ConfigError
from torpor.dpm._capture_graph import RecordedGraph
from torpor.dpm.capture import DeviceCapture
from torpor.dpm.graph import PHASES, Device, DeviceGraph, Segment
from torpor.dpm.policies import Policy, as_policy
from torpor.dpm.scenario import Scenario

__all__ = ["PhaseModel", "Played", "RecordedMachine"]


@dataclass(frozen=True)
class Played:
    """One replicate of one phase; made by :meth:`PhaseModel.play`.

    Attributes
    ----------
    phase : str
        Which one.
    ms : float
        How long it took.
    by_workers : int
        Callbacks that workers ran.
    policy : Policy
        Under which policy.
    seed, replicate : int
        Which world.
    graph : DeviceGraph
        What was played: callbacks of this phase alone.

    Examples
    --------
    >>> from torpor.dpm import Device
    >>> Played("resume", 1.0, 1, as_policy("old"), 3, 0, DeviceGraph([Device("a")])).ms
    1.0
    """

    phase: str
    ms: float
    by_workers: int
    policy: Policy
    seed: int
    replicate: int
    graph: DeviceGraph = field(repr=False)
    _scenario: Scenario | None = field(default=None, repr=False, compare=False)

    def intervals(self) -> pd.DataFrame:
        """Play it again and tell what became of each device in the phase.

        Returns
        -------
        pandas.DataFrame
            As of :meth:`torpor.dpm.Scenario.intervals`.
        """
        assert self._scenario is not None
        frame = self._scenario.intervals(self.policy, seed=self.seed, replicate=self.replicate)
        return frame[frame["phase"] == self.phase].reset_index(drop=True)


@dataclass(frozen=True)
class RecordedMachine:
    """CPUs and tick of a recorded machine.

    Parameters
    ----------
    name : str
        What messages call it.
    cpus : int
        Number of CPUs.
    capacity : float
        How much work they do together, in CPUs.
    tick_ns : int, nanoseconds
        Period of the tick: a second over the kernel's HZ, rounded.

    Raises
    ------
    ConfigError
        For a period of no HZ.

    Examples
    --------
    >>> RecordedMachine("lab", cpus=4, capacity=1.0).tick_ns
    4000000
    """

    name: str
    cpus: int
    capacity: float
    tick_ns: int = 4_000_000

    def __post_init__(self) -> None:
        whole("tick_ns", self.tick_ns, 10**5, 10**9)
        if round(1e9 / self.tick_hz) != self.tick_ns:
            raise ConfigError(f"tick_ns={self.tick_ns} is no period of a whole HZ, limit: 1e9/HZ, rounded")

    @property
    def tick_hz(self) -> int:
        """The kernel's HZ."""
        return round(1e9 / self.tick_ns)

    @classmethod
    def of(cls, capture: DeviceCapture) -> RecordedMachine:
        """Return the machine of a capture."""
        return cls(str(capture.path), capture.cpus, capture.capacity, capture.tick.period_ns)


class PhaseModel:
    """One phase of a recorded cycle, on the CPUs of the recorded machine.

    The machine has equal CPUs that serve one queue, in which the main thread gives way to workers; each work
    item has a worker of its own. The phase is played alone: a recorded cycle has other work between its
    phases, so that each meets the tick at its own time.

    An asynchronous item costs more where the workers run on the main thread's CPU than elsewhere. Which of
    the two it is holds for a whole phase; where nobody says, it is drawn, the same CPU with probability 1
    over the number of CPUs. When the last tick was is drawn too.

    With several CPUs a range sleep takes the whole range: what may end it is a timer interrupt of its own
    CPU, and which CPU that is a single queue does not tell.

    Parameters
    ----------
    machine : RecordedMachine
        What it runs on.
    recorded : RecordedGraph
        Graph and costs of a cycle.
    phase : str
        One of the recorded middle phases.
    locks : bool
        Whether the locks that callbacks share are taken.
    direct_complete : bool
        Whether devices that are runtime suspended may be left alone.

    Raises
    ------
    ConfigError
        For a phase that was not recorded.

    Examples
    --------
    >>> from torpor.dpm import Device, DeviceGraph, Segment
    >>> from torpor.dpm._capture_graph import RecordedGraph, ReplayCosts
    >>> wait = {"resume": [Segment.ticks(3)]}
    >>> graph = DeviceGraph([Device("a", callbacks=wait), Device("b", callbacks=wait)])
    >>> costs = ReplayCosts(0, 0, 0, item_same_cpu_us=0, item_other_cpu_us=0)
    >>> recorded = RecordedGraph(graph, ("a", "b"), frozenset(), {"resume": costs})
    >>> model = PhaseModel(RecordedMachine("lab", 1, 1.0), recorded, "resume")
    >>> [model.play(p, since_tick_ns=3_000_000, items_with_main=True).ms for p in ("sync", "old-inline")]
    [21.0, 9.0]
    """

    def __init__(
        self,
        machine: RecordedMachine,
        recorded: RecordedGraph,
        phase: str,
        *,
        locks: bool = True,
        direct_complete: bool = True,
    ) -> None:
        if phase not in recorded.costs:
            raise ConfigError(
                f"{machine.name}: phase '{phase}' is not recorded: known are {', '.join(recorded.costs)}"
            )
        self.machine = machine
        self.phase = phase
        self.graph = _one_phase(recorded.graph, phase, locks=locks, ranges=machine.cpus == 1)
        self._costs = recorded.costs[phase]
        self._direct_complete = direct_complete

    def _scenario(self, since_tick_ns: int, items_with_main: bool) -> Scenario:
        """Everything but the policy: the reference mode, in which the main thread gives way."""
        costs, machine = self._costs, self.machine
        same = items_with_main or machine.cpus == 1
        item_us = costs.item_same_cpu_us if same else costs.item_other_cpu_us
        return Scenario.reference(
            self.graph,
            machine.cpus,
            shared_cpus=machine.capacity if machine.capacity < machine.cpus else None,
            main_gives_way=True,
            direct_complete=self._direct_complete,
            tick_hz=machine.tick_hz,
            since_tick_us=since_tick_ns / 1000,
            phase_costs={
                self.phase: {
                    "list_step_us": costs.step_us,
                    "callback_us": costs.callback_us,
                    "tail_us": costs.end_us,
                    "queue_us": item_us,
                    "dispatch_us": item_us,
                }
            },
        )

    def play(
        self,
        policy: Policy | str,
        *,
        since_tick_ns: int,
        items_with_main: bool,
        seed: int = 0,
        replicate: int = 0,
    ) -> Played:
        """Play the phase once, from a known time of the tick.

        Parameters
        ----------
        policy : Policy or str
            A policy or its text form.
        since_tick_ns : int, nanoseconds
            Time since the last tick when the phase begins.
        items_with_main : bool
            Whether workers run on the main thread's CPU; one CPU has no other.
        seed, replicate : int
            Which world: the order in which sleepers that end on one tick run is drawn.

        Raises
        ------
        ConfigError
            For an unknown policy; when the phase never ends.
        """
        chosen = as_policy(policy)
        scenario = self._scenario(since_tick_ns, items_with_main)
        runs = scenario.run(chosen, first=replicate, seed=seed, threads=1)
        if runs.stuck[0]:
            raise ConfigError(f"{self.machine.name}: {self.phase} never ends: {runs.stuck[0]}")
        place = PHASES.index(self.phase)
        ms = int(runs.phase_ns[0, 0, place]) / 1e6
        by_workers = int(runs.callbacks_by_workers[0, 0, place])
        return Played(self.phase, ms, by_workers, chosen, seed, replicate, self.graph, scenario)

    def draw(self, policy: Policy | str, *, seed: int = 0, replicate: int = 0) -> Played:
        """Play the phase once, from a drawn time of the tick and with workers on a drawn CPU.

        Parameters
        ----------
        policy : Policy or str
            A policy or its text form.
        seed, replicate : int
            Which world: the same for every policy, and for all rules of the model.

        Raises
        ------
        ConfigError
            As :meth:`play`.
        """
        stream = _core.RandomStream(f"what-if:{self.phase}", seed=seed, replicate=replicate)
        since, same = stream.uniform01(2).tolist()
        return self.play(
            policy,
            since_tick_ns=int(since * self.machine.tick_ns),
            items_with_main=same < 1.0 / self.machine.cpus,
            seed=seed,
            replicate=replicate,
        )

    def __repr__(self) -> str:
        return f"<PhaseModel of {self.phase} on {self.machine!r}>"


def _one_phase(graph: DeviceGraph, phase: str, *, locks: bool, ranges: bool) -> DeviceGraph:
    """Leave the callbacks of one phase; who has callbacks at all stays as it is."""
    devices: list[Device] = []
    for device in graph.devices:
        own = device.callbacks.get(phase)
        kept: dict[str, Any] = {} if own is None else {phase: tuple(_kept(own, locks, ranges))}
        devices.append(replace(device, callbacks=kept))
    return DeviceGraph(devices, graph.links, in_list_order=True)


def _kept(segments: Any, locks: bool, ranges: bool) -> Iterator[Segment]:
    for segment in segments:
        if segment.kind in ("lock", "unlock") and not locks:
            continue
        if segment.kind == "range" and not ranges:
            yield Segment("sleep", segment.second)
        else:
            yield segment
