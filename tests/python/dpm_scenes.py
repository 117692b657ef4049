# SPDX-License-Identifier: MIT
"""Small device graphs whose times can be worked out by hand, in milliseconds."""

from __future__ import annotations

from typing import Any

from torpor.dpm import Device, DeviceGraph, Link, Segment


def device(name: str, parent: str | None = None, ms: float = 0, sleep_ms: float = 0, **more: Any) -> Device:
    """Callbacks of equal length in suspend and resume; of no length with neither."""
    segments = []
    if ms:
        segments.append(Segment.cpu(1000 * ms))
    if sleep_ms:
        segments.append(Segment.sleep(1000 * sleep_ms))
    return Device(name, parent, callbacks={"suspend": segments, "resume": segments}, **more)


def bare(name: str, parent: str | None = None, **more: Any) -> Device:
    """No callbacks at all."""
    return Device(name, parent, **more)


DIAMOND = DeviceGraph(
    [device("A", ms=2), device("B", "A", ms=3), device("C", "A", ms=5), device("D", "B", ms=1)],
    [Link("C", "D")],
)
"""D is a child of B and a consumer of C."""

LIMITED = DeviceGraph(
    [
        device("P", ms=1),
        device("Y", ms=3, async_suspend=False),
        device("S", "Y", ms=1),
        device("X", "P", ms=1),
    ],
    [Link("S", "X")],
)
"""With one active item at most, X may take it before S, for which it waits."""

INLINE = DeviceGraph(
    [
        bare("R"),
        device("P", "R", ms=2),
        bare("N", "P"),
        device("C", "N", ms=3),
        device("S", ms=4, async_suspend=False),
        bare("M", "S"),
        device("F", "M", ms=1),
    ]
)
"""Devices without callbacks between others."""


def four(**third: Any) -> DeviceGraph:
    """A, B, C, D, of which C is told more."""
    return DeviceGraph([device("A", ms=1), device("B", ms=1), device("C", ms=1, **third), device("D", ms=1)])
