# SPDX-License-Identifier: MIT
"""How well two orders in which callbacks began agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torpor._core import ConfigError
from torpor.dpm._capture_records import PhaseRecord

__all__ = ["StartOrder", "compare_starts", "recorded_starts"]


@dataclass(frozen=True)
class StartOrder:
    """Pairs of callbacks that began one way round in a recording and the other way round in a model.

    Attributes
    ----------
    pairs : int
        Pairs whose recorded starts differ.
    swapped : int
        Of these, the ones that are the other way round.
    worst_ns : int
        Largest distance by which both agree that a swapped pair is apart: the smaller of its two distances.
        Below a tick it is the wake-up of either that came first.
    worst_pair : tuple of str, or None
        The pair, in the recorded order.
    """

    pairs: int
    swapped: int
    worst_ns: int
    worst_pair: tuple[str, str] | None


def recorded_starts(phase: PhaseRecord, names: tuple[str, ...]) -> dict[str, int]:
    """Start of each callback since the begin of its phase, nanoseconds, in order; `names` as in a graph."""
    return {names[one.place]: one.begin_ns - phase.begin_ns for one in phase.callbacks if one.place >= 0}


def compare_starts(recorded: Mapping[str, int], modelled: Mapping[str, int]) -> StartOrder:
    """Compare the starts of the same callbacks.

    Parameters
    ----------
    recorded, modelled : mapping of str to int
        Start of each device's callback, nanoseconds.

    Raises
    ------
    ConfigError
        When they are not of the same devices.

    Examples
    --------
    >>> compare_starts({"a": 0, "b": 5, "c": 90}, {"a": 7, "b": 4, "c": 80})
    StartOrder(pairs=3, swapped=1, worst_ns=3, worst_pair=('a', 'b'))
    """
    if different := sorted(recorded.keys() ^ modelled.keys()):
        where = "recorded" if different[0] in recorded else "modelled"
        raise ConfigError(f"callback of {different[0]} is only {where}")
    ordered = sorted(recorded, key=lambda name: recorded[name])
    pairs = swapped = worst_ns = 0
    worst_pair = None
    for i, first in enumerate(ordered):
        for second in ordered[i + 1 :]:
            apart, other = recorded[second] - recorded[first], modelled[first] - modelled[second]
            pairs += apart > 0
            if apart > 0 and other > 0:
                swapped += 1
                if min(apart, other) > worst_ns:
                    worst_ns, worst_pair = min(apart, other), (first, second)
    return StartOrder(pairs, swapped, worst_ns, worst_pair)
