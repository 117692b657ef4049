# SPDX-License-Identifier: MIT
"""Scenarios that the tests of the freezer share."""

from __future__ import annotations

import torpor as tp
from torpor.freezer import Population, Scenario, TaskGroup

TOY = tp.Board.load("toy")
NEXUS = tp.Board.load("nexus-10")
TABLET = Scenario(NEXUS, opp_khz=200_000)
BY_HAND = {"opp_khz": 1_000_000, "since_tick_us": 0, "loops": "user_only"}


def others(count: int) -> Population:
    return Population([TaskGroup(name="other", count=count)])


def by_hand(population: Population | None = None, *, hz: int = 100, **conditions: object) -> Scenario:
    """A scenario of the toy board, whose costs are whole microseconds at 1 GHz; the tick is at time zero."""
    return Scenario(TOY.with_value("tick.hz", hz), population, **(BY_HAND | conditions))  # type: ignore[arg-type]
