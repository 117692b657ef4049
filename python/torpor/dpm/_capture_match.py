# SPDX-License-Identifier: MIT
"""Which device of the snapshot an event of the trace means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torpor.dpm._capture_records import TraceName
from torpor.dpm._capture_snapshot import Snapshot

__all__ = ["Matching", "match_names"]


@dataclass(frozen=True)
class Matching:
    """Places of the device list and the devices of the snapshot they stand for.

    Attributes
    ----------
    positions : tuple of int or None
        For each place of the list, the position in the snapshot; None for a device the snapshot does not
        have, such as one made for the suspend itself.
    """

    positions: tuple[int | None, ...]

    @property
    def total(self) -> int:
        """Number of names."""
        return len(self.positions)

    @property
    def matched(self) -> int:
        """Number of names whose device is known."""
        return sum(position is not None for position in self.positions)


def match_names(order: Sequence[TraceName], snapshot: Snapshot) -> Matching:
    """Match the names of a device list, in its order, with the devices of a snapshot.

    The key is driver string, name and parent's name; a name whose key is unknown, because its driver changed,
    is looked up by name and parent's name. Of several devices with one key the unused one is taken whose
    parent came last in the list.

    Parameters
    ----------
    order : sequence of TraceName
        The device list.
    snapshot : Snapshot
        Devices to choose from; each stands for one name at most.
    """
    exact: dict[TraceName, list[int]] = {}
    loose: dict[tuple[str, str], list[int]] = {}
    for position, device in enumerate(snapshot.devices):
        name = TraceName(device.driver_string, device.name, snapshot.parent_name(position))
        exact.setdefault(name, []).append(position)
        loose.setdefault((name.name, name.parent), []).append(position)
    used: dict[int, int] = {}
    positions: list[int | None] = []

    def parent_place(position: int) -> int:
        parent = snapshot.parents[position]
        return -1 if parent is None else used.get(parent, -1)

    for place, name in enumerate(order):
        candidates = exact.get(name) or loose.get((name.name, name.parent), [])
        free = [position for position in candidates if position not in used]
        best = max(free, key=parent_place, default=None)
        if best is not None:
            used[best] = place
        positions.append(best)
    return Matching(tuple(positions))
