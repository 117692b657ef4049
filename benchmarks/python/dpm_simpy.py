# SPDX-License-Identifier: MIT
"""Suspend/resume cycles per second of SimPy and of torpor on the same device graph.

The model is the overhead-free one: identical CPUs behind one FIFO queue, one work item per asynchronous
device, a thread that blocks or sleeps gives up its CPU. Needs the package simpy.
"""

from __future__ import annotations

import argparse
import dataclasses
import random
import statistics
import sys
import time
from collections.abc import Generator
from typing import Any

import simpy

import torpor as tp

POLICIES = ("sync", "old", "breadth-first")
PHASES = ("suspend", "suspend_late", "suspend_noirq", "resume_noirq", "resume_early", "resume")

# (sleeps, duration in ns): the thread sleeps, or runs on its CPU.
Segment = tuple[bool, int]
Steps = Generator[simpy.Event, Any, None]
# What a thread does until it ends with the CPU it then holds.
CpuSteps = Generator[simpy.Event, Any, simpy.resources.resource.Request]


@dataclasses.dataclass(frozen=True)
class Device:
    """A device in registration order: its parent and suppliers have smaller indices."""

    is_async: bool
    parent: int | None
    suppliers: tuple[int, ...]
    callback: tuple[Segment, ...] | None


class Graph:
    """Devices and, per direction, the order of the walk and the neighbours on both sides."""

    def __init__(self, devices: list[Device]) -> None:
        self.devices = devices
        count = len(devices)
        superiors: list[list[int]] = [[] for _ in range(count)]
        children: list[list[int]] = [[] for _ in range(count)]
        consumers: list[list[int]] = [[] for _ in range(count)]
        for i, device in enumerate(devices):
            if device.parent is not None:
                superiors[i].append(device.parent)
                children[device.parent].append(i)
            for supplier in device.suppliers:
                superiors[i].append(supplier)
                consumers[supplier].append(i)
        subordinates = [children[i] + consumers[i] for i in range(count)]
        self.suspend = Direction(range(count - 1, -1, -1), subordinates, superiors)
        self.resume = Direction(range(count), superiors, subordinates)


@dataclasses.dataclass(frozen=True)
class Direction:
    order: range
    waits_for: list[list[int]]
    neighbours: list[list[int]]


class SegmentEnd(simpy.Event):
    """A timeout that comes after everything else of its instant.

    What follows from one end in zero time is thereby over before the next end is handled.
    """

    PRIORITY = simpy.events.EventPriority(simpy.events.NORMAL + 1)

    def __init__(self, env: simpy.Environment, delay: int) -> None:
        # As in simpy.Timeout, written out for speed.
        self.env = env
        self.callbacks = []
        self._value = None
        self._ok = True
        self._defused = False
        env.schedule(self, self.PRIORITY, delay)


class Phase:
    """One walk over the list up to its barrier."""

    def __init__(
        self, env: simpy.Environment, cpus: simpy.Resource, graph: Graph, direction: Direction, policy: str
    ) -> None:
        self.env = env
        self.cpus = cpus
        self.callbacks = [device.callback for device in graph.devices]
        self.direction = direction
        self.is_async = [device.is_async and policy != "sync" for device in graph.devices]
        self.breadth_first = policy == "breadth-first"
        self.upfront = policy == "old" and direction is graph.resume
        self.done = [False] * len(graph.devices)
        self.started = [False] * len(graph.devices)
        self.missing = [len(waits_for) for waits_for in direction.waits_for]
        self.waiting: dict[int, list[simpy.Event]] = {}
        self.outstanding = 0
        self.barrier: simpy.Event | None = None

    def wake(self, sleeper: simpy.Event) -> None:
        """Put a thread into the CPU queue: it goes on when its request is granted."""
        sleeper.succeed(self.cpus.request())

    def start(self, i: int) -> None:
        """Queue the work of a device."""
        self.started[i] = True
        self.outstanding += 1
        self.env.process(self.worker(i, self.cpus.request()))

    def start_if_ready(self, i: int) -> None:
        if self.missing[i] or not self.is_async[i] or self.started[i]:
            return
        if self.callbacks[i] is None:
            self.started[i] = True
            self.finish(i)
        else:
            self.start(i)

    def finish(self, i: int) -> None:
        """A device is done: wake who waits for it, then start its neighbours."""
        self.done[i] = True
        for sleeper in self.waiting.pop(i, ()):
            self.wake(sleeper)
        if self.breadth_first:
            missing = self.missing
            neighbours = self.direction.neighbours[i]
            for x in neighbours:
                missing[x] -= 1
            for x in neighbours:
                self.start_if_ready(x)

    def process(self, i: int, cpu: simpy.resources.resource.Request) -> CpuSteps:
        """Wait for the devices this one depends on, run its callback, finish it."""
        env, cpus = self.env, self.cpus
        for x in self.direction.waits_for[i]:
            if not self.done[x]:
                sleeper = env.event()
                self.waiting.setdefault(x, []).append(sleeper)
                cpus.release(cpu)
                cpu = yield sleeper
                yield cpu
        for sleeps, duration in self.callbacks[i] or ():
            if sleeps:
                cpus.release(cpu)
                yield SegmentEnd(env, duration)
                cpu = cpus.request()
                yield cpu
            else:
                yield SegmentEnd(env, duration)
        self.finish(i)
        return cpu

    def worker(self, i: int, cpu: simpy.resources.resource.Request) -> Steps:
        yield cpu
        cpu = yield from self.process(i, cpu)
        self.outstanding -= 1
        if not self.outstanding and self.barrier is not None:
            self.wake(self.barrier)
        self.cpus.release(cpu)

    def walk(self, cpu: simpy.resources.resource.Request) -> CpuSteps:
        """What the main thread does in this phase."""
        order = self.direction.order
        if self.breadth_first:
            for i in order:
                self.start_if_ready(i)
        elif self.upfront:
            for i in order:
                if self.is_async[i]:
                    self.start(i)
        for i in order:
            if not self.is_async[i]:
                cpu = yield from self.process(i, cpu)
            elif not self.breadth_first and not self.started[i]:
                self.start(i)
        if self.outstanding:
            self.barrier = self.env.event()
            self.cpus.release(cpu)
            cpu = yield self.barrier
            yield cpu
        return cpu


@dataclasses.dataclass(frozen=True)
class Cycle:
    """Times of both ways of a cycle, three phases each, in ns."""

    suspend_ns: int
    resume_ns: int


def simpy_cycle(graph: Graph, policy: str, cpus: int) -> Cycle:
    """The three phases of a suspend and the three of a resume with SimPy."""
    env = simpy.Environment()
    resource = simpy.Resource(env, capacity=cpus)
    ends = []

    def main_thread() -> Steps:
        cpu = resource.request()
        yield cpu
        for direction in (graph.suspend,) * 3 + (graph.resume,) * 3:
            cpu = yield from Phase(env, resource, graph, direction, policy).walk(cpu)
            ends.append(int(env.now))

    env.process(main_thread())
    env.run()
    suspended, resumed = ends[2], ends[5]
    return Cycle(suspended, resumed - suspended)


def simpy_seconds_per_cycle(graph: Graph, policy: str, cpus: int, repeats: int) -> tuple[float, Cycle]:
    """Median wall time of a cycle with SimPy, and its answer."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        cycle = simpy_cycle(graph, policy, cpus)
        times.append(time.perf_counter() - start)
    return statistics.median(times), cycle


def torpor_graph(graph: Graph) -> tp.dpm.DeviceGraph:
    """The same devices, with the same callback in each of the six phases."""
    devices, links = [], []
    for i, device in enumerate(graph.devices):
        parent = None if device.parent is None else f"d{device.parent}"
        links += [tp.dpm.Link(f"d{supplier}", f"d{i}") for supplier in device.suppliers]
        segments = [
            tp.dpm.Segment.sleep(ns / 1000) if sleeps else tp.dpm.Segment.cpu(ns / 1000)
            for sleeps, ns in device.callback or ()
        ]
        callbacks = {} if device.callback is None else dict.fromkeys(PHASES, segments)
        devices.append(tp.dpm.Device(f"d{i}", parent, async_suspend=device.is_async, callbacks=callbacks))
    return tp.dpm.DeviceGraph(devices, links, in_list_order=True)


def torpor_seconds_per_cycle(graph: Graph, policy: str, cpus: int, repeats: int) -> tuple[float, Cycle]:
    """Wall time of a cycle with torpor on one core, and its answer."""
    ours = torpor_graph(graph)
    scenario = tp.dpm.Scenario.reference(ours, cpus=cpus, cycles=repeats, direct_complete=False)
    text = policy if policy == "sync" else f"{policy}(max_active=1000000, list_mutex=false)"
    start = time.perf_counter()
    runs = scenario.run(text, threads=1)
    seconds = (time.perf_counter() - start) / repeats
    suspend_ms, resume_ms = float(runs.suspend_ms[0, 0]), float(runs.resume_ms[0, 0])
    return seconds, Cycle(round(suspend_ms * 1e6), round(resume_ms * 1e6))


def random_graph(count: int, seed: int) -> Graph:
    """A device tree with links; a part of the devices is synchronous, a part has no callbacks."""
    rng = random.Random(seed)
    devices = []
    for i in range(count):
        parent = rng.randrange(i) if i and rng.random() < 0.7 else None
        suppliers = {rng.randrange(i) for _ in range(rng.choice((0, 0, 1, 2)))} if i else set()
        suppliers.discard(parent)
        callback: tuple[Segment, ...] | None = None
        if rng.random() < 0.6:
            total_ns = rng.lognormvariate(12.6, 1.3)
            running_ns = rng.uniform(0.05, 0.5) * total_ns
            callback = (
                (False, 1 + int(running_ns / 2)),
                (True, 1 + int(total_ns - running_ns)),
                (False, 1 + int(running_ns / 2)),
            )
        devices.append(Device(rng.random() < 0.9, parent, tuple(sorted(suppliers)), callback))
    return Graph(devices)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a short smoke run")
    parser.add_argument("--simpy-only", action="store_true", help="time only SimPy")
    parser.add_argument("--devices", type=int, nargs="+", default=[100, 600], help="sizes of the graph")
    parser.add_argument("--cpus", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1, help="of the graphs")
    args = parser.parse_args()
    simpy_repeats, torpor_repeats = (2, 20) if args.quick else (30, 1000)

    print(f"{'devices':>7}  {'policy':13}  {'SimPy us/cycle':>14}  {'torpor us/cycle':>15}  {'ratio':>7}")
    for count in args.devices:
        graph = random_graph(count, args.seed)
        for policy in POLICIES:
            simpy_s, expected = simpy_seconds_per_cycle(graph, policy, args.cpus, simpy_repeats)
            row = f"{count:7}  {policy:13}  {simpy_s * 1e6:14.0f}"
            if args.simpy_only:
                print(f"{row}  {'-':>15}  {'-':>7}")
                continue
            torpor_s, cycle = torpor_seconds_per_cycle(graph, policy, args.cpus, torpor_repeats)
            if cycle != expected:
                sys.exit(f"{policy}, {count} devices: SimPy says {expected}, torpor says {cycle}")
            print(f"{row}  {torpor_s * 1e6:15.1f}  {simpy_s / torpor_s:7.0f}")


if __name__ == "__main__":
    main()
