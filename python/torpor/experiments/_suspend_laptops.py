# SPDX-License-Identifier: MIT
"""Laptops of which only their CPUs and a few times are known: boards in code, and graphs drawn for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from torpor.board import Board
from torpor.dpm import Device, DeviceGraph, Generator, Segment

_DEEP = ("clusters[*].opps[*].*", "clusters[*].idle_states[*].*", "dpm.costs.*")

__all__ = ["laptop_board", "laptop_generator", "longest", "sum_ms", "with_async_share", "with_sums"]


def laptop_board(
    name: str, description: str, *, cpus: int, freq_khz: int, hz: int, shared_cpus: float = 0.0
) -> Board:
    """Equal CPUs at one frequency, no EAS, no power, costs of a typical magnitude.

    Parameters
    ----------
    name, description : str
        Of the board.
    cpus, freq_khz : int
        How many, and their frequency.
    hz : int
        The kernel's HZ.
    shared_cpus : float
        Work of so many CPUs that all do together, as threads of one core do; 0 for as many as there are.

    Examples
    --------
    >>> laptop_board("laptop", "Two cores.", cpus=2, freq_khz=2_000_000, hz=250).cpu_count
    2
    """
    return Board.from_dict(
        {
            "name": name,
            "provenance": dict.fromkeys(
                ("tick.hz", "idle_costs.*", "clusters[*].*", "dpm.*", *_DEEP),
                "assumed: typical magnitude; not published for this machine",
            ),
            "description": description,
            "tick": {"hz": hz},
            "idle_costs": {
                "select_to_entry_ns": 2000,
                "ipi_handler_ns": 2000,
                "timer_handler_ns": 2000,
                "tick_handler_ns": 2000,
                "interrupt_exit_ns": 1000,
                "reflect_ns": 500,
            },
            "clusters": [
                {
                    "name": "cpus",
                    "cpus": list(range(cpus)),
                    "capacity": 1024,
                    "opps": [{"freq_khz": freq_khz}],
                    "idle_states": [{"name": "C1", "exit_latency_us": 2, "target_residency_us": 2}],
                }
            ],
            "dpm": {
                "relative_freq": 1.0,
                "eas": False,
                "main_suspend_cpu": 0,
                "main_suspend_util": 100,
                "main_resume_cpu": 0,
                "main_resume_util": 100,
                "shared_cpus": shared_cpus,
                "jitter": 0.05,
                "costs": {
                    "switch_us": 1.5,
                    "wake_us": 1.5,
                    "idle_ipi_us": 1,
                    "migration_us": 1,
                    "queue_us": 1.5,
                    "dispatch_us": 0.5,
                    "core_us": 1,
                    "list_step_us": 0.2,
                    "check_us": 0.05,
                    "recheck_us": 0.3,
                    "create_us": 10,
                    "create_latency_us": 50,
                },
            },
        }
    )


def sum_ms(device: Device, phases: Sequence[str]) -> float:
    """Length of a device's callbacks of some phases on the reference CPU.

    Examples
    --------
    >>> sum_ms(Device("a", callbacks={"resume": [Segment.cpu(500), Segment.sleep(1500)]}), ["resume"])
    2.0
    """
    return sum(one.first + one.second for phase in phases for one in device.callbacks.get(phase, ())) / 1e6


def with_async_share(graph: DeviceGraph, share: float, seed: Sequence[int], always: str = "") -> DeviceGraph:
    """Flag each device async with a probability; the same seed flags more of the same as the share grows.

    Examples
    --------
    >>> graph = Generator(devices=50).draw(seed=1)
    >>> sum(device.async_suspend for device in with_async_share(graph, 0.5, [1]).devices)
    22
    """
    draws = np.random.default_rng(seed).random(len(graph.devices))
    devices = [
        replace(device, async_suspend=bool(draw < share) or device.name == always)
        for device, draw in zip(graph.devices, draws, strict=True)
    ]
    return DeviceGraph(devices, graph.links)


def with_sums(
    graph: DeviceGraph, slowest: str, sums_ms: Mapping[str, tuple[float, float | None]]
) -> DeviceGraph:
    """Stretch callbacks so that those of a phase add up to a sum, and those of one device to what is told.

    Parameters
    ----------
    graph : DeviceGraph
        Whose callbacks have any length.
    slowest : str
        Name of the device whose length is told.
    sums_ms : mapping of str to (float, float or None), milliseconds
        By phase: of all devices together, and of that one; None leaves it in proportion.

    Examples
    --------
    >>> busy = {"resume": [Segment.sleep(1000)]}
    >>> graph = DeviceGraph([Device(name, callbacks=busy) for name in "abc"])
    >>> graph = with_sums(graph, "b", {"resume": (10.0, 6.0)})
    >>> [sum_ms(device, ["resume"]) for device in graph.devices]
    [2.0, 6.0, 2.0]
    """
    factors: dict[str, tuple[float, float]] = {}
    for phase, (total, told) in sums_ms.items():
        own = sum(sum_ms(device, [phase]) for device in graph.devices if device.name == slowest)
        rest = sum(sum_ms(device, [phase]) for device in graph.devices) - own
        if told is None or own == 0.0 or rest == 0.0:
            factor = total / (own + rest)
            factors[phase] = (factor, factor)
        else:
            factors[phase] = (told / own, (total - told) / rest)

    def stretched(device: Device) -> Device:
        callbacks: dict[str, Any] = {}
        for phase, segments in device.callbacks.items():
            own, other = factors.get(phase, (1.0, 1.0))
            factor = own if device.name == slowest else other
            callbacks[phase] = tuple(_times(segment, factor) for segment in segments)
        return replace(device, callbacks=callbacks)

    return DeviceGraph([stretched(device) for device in graph.devices], graph.links)


def _times(segment: Segment, factor: float) -> Segment:
    if segment.kind in ("lock", "unlock"):
        return segment
    return replace(segment, first=round(segment.first * factor), second=round(segment.second * factor))


def longest(graph: DeviceGraph, phases: Sequence[str]) -> str:
    """Name of the device whose callbacks take longest.

    Examples
    --------
    >>> short, long = [Segment.sleep(1)], [Segment.sleep(2)]
    >>> devices = [Device("a", callbacks={"resume": short}), Device("b", callbacks={"resume": long})]
    >>> longest(DeviceGraph(devices), ["resume"])
    'b'
    """
    return max(graph.devices, key=lambda device: sum_ms(device, phases)).name


def laptop_generator(devices: int, sigma: float, p_no_callbacks: float) -> Generator:
    """Return what draws a laptop's graphs: callbacks that mostly wait for hardware, in suspend and resume.

    Examples
    --------
    >>> laptop_generator(100, 2.0, 0.5).p_late
    0.0
    """
    return Generator(
        devices=devices,
        max_depth=6,
        p_root=0.2,
        p_link=0.0,
        p_no_callbacks=p_no_callbacks,
        p_late=0.0,
        sigma=(sigma, sigma),
        cap_us=1e7,
        median_us=(1000.0, 1000.0),
        cpu_share=(0.05, 0.05),
    )
