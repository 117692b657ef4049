# SPDX-License-Identifier: MIT
"""What is run for ``suspend-2024``: published table, policies, blocks, bands, worlds and their sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from torpor.board import Board
from torpor.dpm import Generator, Scenario
from torpor.experiments.report import Input, Kind, Mark

NAME = "suspend-2024"
TITLE = "devices of a Pixel 6 suspended and resumed by the device cores of the async series of November 2024"
MAIL = "Saravana Kannan, linux-pm, 14 November 2024"
SOURCE = (
    "Saravana Kannan, linux-pm, 'Optimize async device suspend/resume', v1 of 14 November 2024: cover "
    "letter, messages of patches 4 and 5, replies; mean of 100 cycles, no deviations"
)

P0, P1, P2, P3, P4 = "P0", "P1", "P2", "P3", "P4"
POLICIES: Mapping[str, str] = {
    P0: "sync",
    P1: "old",
    P2: "breadth-first",
    P3: "breadth-first(eas_off=resume)",
    P4: "breadth-first(eas_off=suspend)",
}
WORDS: Mapping[str, str] = {
    P0: "one device after the other",
    P1: "all devices async, the code until v6.15",
    P2: "all devices async, patches 1 to 4",
    P3: "P2 with EAS off in resume, patch 5",
    P4: "P2 with EAS off in suspend, a reply",
}

SUSPEND, RESUME = "suspend", "resume"
SIDES: Mapping[str, str] = {"S": SUSPEND, "R": RESUME}

PUBLISHED: Mapping[tuple[str, str], float] = {
    (P0, SUSPEND): 107.0,
    (P1, SUSPEND): 72.0,
    (P2, SUSPEND): 60.0,
    (P3, SUSPEND): 62.0,
    (P0, RESUME): 75.0,
    (P1, RESUME): 90.0,
    (P2, RESUME): 74.0,
    (P3, RESUME): 61.0,
}
"""Milliseconds of all suspend and of all resume phases."""

P4_SLOWER_MS = 5.0
"""'5 ms or so', 'a few ms': what suspend loses with EAS off. P3's 2 ms above P2 are noise: EAS is on."""

TOLERANCE = 0.10
TOLERANCE_MS = 2.0
"""A cell is met within the larger of the two; the second is the noise that P2 and P3 show on suspend."""

GRAPHS_IN_ORDER = 0.9
"""Least share of graphs in which an ordering must hold."""

P4_BAND_MS = (0.01, 2.0 * P4_SLOWER_MS)
"""Slower without EAS: no published digit, so only the sign and the magnitude count."""


@dataclass(frozen=True)
class Difference:
    """Difference of two cells that is taken graph by graph.

    Parameters
    ----------
    slow, fast : tuple of (str, str)
        The two cells, policy and side; the published order has the first above the second.
    strict : bool
        Whether that order is judged.
    """

    slow: tuple[str, str]
    fast: tuple[str, str]
    strict: bool = True

    @property
    def name(self) -> str:
        """Such as ``S1-S2``."""
        letters = {side: letter for letter, side in SIDES.items()}
        return "-".join(f"{letters[side]}{policy[1:]}" for policy, side in (self.slow, self.fast))


P4_DIFFERENCE = Difference((P4, SUSPEND), (P2, SUSPEND), strict=False)
DIFFERENCES = (
    Difference((P0, SUSPEND), (P1, SUSPEND)),
    Difference((P1, SUSPEND), (P2, SUSPEND)),
    P4_DIFFERENCE,
    Difference((P3, SUSPEND), (P2, SUSPEND), strict=False),
    Difference((P1, RESUME), (P0, RESUME)),
    Difference((P1, RESUME), (P2, RESUME)),
    Difference((P2, RESUME), (P3, RESUME)),
    Difference((P2, RESUME), (P0, RESUME), strict=False),
)


@dataclass(frozen=True)
class Plan:
    """One of the three blocks, which never share a table.

    Parameters
    ----------
    name, title : str
        What it is called, and what it is.
    board : str
        Its board.
    fitted : frozenset of (str, str)
        Cells that were looked at in choosing the model.
    binding : bool
        Whether a miss fails the reproduction.
    """

    name: str
    title: str
    board: str
    fitted: frozenset[tuple[str, str]]
    binding: bool = False

    def kind(self, place: tuple[str, str]) -> Kind:
        """Whether a cell is fitted or predicted."""
        return "fitted" if place in self.fitted else "predicted"

    def difference_kind(self, difference: Difference) -> Kind:
        """Fitted if both cells are."""
        return "fitted" if {difference.slow, difference.fast} <= self.fitted else "predicted"


_SYNC = frozenset({(P0, SUSPEND), (P0, RESUME)})
BY_PROTOCOL = Plan("block 1", "prediction: only the synchronous cells are fitted", "pixel-6", _SYNC)
TWO_MORE = Plan(
    "block 2",
    "two more values fitted to P1: CPU share of callbacks, one factor on all overheads",
    "pixel-6",
    _SYNC | {(P1, SUSPEND), (P1, RESUME)},
)
EXISTENCE = Plan(
    "block 3",
    "EXISTENCE RESULT, no prediction: the mechanisms were chosen and six values fitted with all cells in "
    "view",
    "pixel-6-like",
    frozenset({*PUBLISHED, (P4, SUSPEND)}),
    binding=True,
)
PLANS = (BY_PROTOCOL, TWO_MORE, EXISTENCE)

SWITCH_COSTS = ("switch_us", "wake_us", "idle_ipi_us")
ITEM_COSTS = ("queue_us", "dispatch_us", "core_us")


def band(published_ms: float) -> tuple[float, float]:
    """Return what counts as met.

    Examples
    --------
    >>> band(60.0), band(10.0)
    ((54.0, 66.0), (8.0, 12.0))
    """
    half = max(TOLERANCE_MS, TOLERANCE * published_ms)
    return round(published_ms - half, 6), round(published_ms + half, 6)


def scenario(plan: Plan, hz: int | None = None, cycles: int = 10) -> Scenario:
    """Make the phone of a block.

    Examples
    --------
    >>> scenario(BY_PROTOCOL).async_devices is None, scenario(BY_PROTOCOL).source.devices
    (True, 350)
    """
    board = Board.load(plan.board)
    if hz is not None:
        board = board.with_value("tick.hz", hz)
    return Scenario(board, async_devices=None, cycles=cycles)


def generator(world: Scenario) -> Generator:
    """Return what draws the graphs of a scenario."""
    assert isinstance(world.source, Generator)
    return world.source


def costs_us(world: Scenario) -> dict[str, float]:
    """Costs of a scenario by name."""
    assert world.board is not None
    assert world.board.dpm is not None
    costs = world.board.dpm.costs
    return {name: getattr(costs, name) for name in costs.__struct_fields__} | dict(world.costs or {})


def with_costs(world: Scenario, factor: float, names: tuple[str, ...] | None = None) -> Scenario:
    """Copy with costs multiplied, all of them or those that are named."""
    costs = costs_us(world)
    chosen = costs if names is None else names
    return replace(world, costs={**costs, **{name: factor * costs[name] for name in chosen}})


def with_structure(world: Scenario, cpu_share: float, overhead: float) -> Scenario:
    """Copy with another CPU share of callbacks, and all overheads multiplied.

    Examples
    --------
    >>> changed = with_structure(scenario(TWO_MORE), 0.2, 2.0)
    >>> changed.source.cpu_share, changed.costs["queue_us"]
    ((0.2, 0.2), 3.0)
    """
    return replace(with_costs(world, overhead), devices=replace(generator(world), cpu_share=cpu_share))


_SHOWN = (
    *("relative_freq", "main_suspend_cpu", "main_suspend_util", "main_resume_cpu", "main_resume_util"),
    *("idle_exit_share", "initial_workers", "eas_switch_us", "jitter"),
)
_DRAWN = (
    *("devices", "class_ratio", "p_no_callbacks", "p_late", "median_us", "sigma", "cap_us", "cpu_share"),
    *("fixed_share", "locks", "lock_share"),
)


def inputs(plan: Plan, world: Scenario) -> list[Input]:
    """Everything that goes into a block, with its mark and source; the board's numbers bring theirs along.

    Numbers of one source stand in one row.
    """
    board = world.board
    assert board is not None
    assert board.dpm is not None
    drawn = generator(world)
    values: dict[str, object] = {name: getattr(board.dpm, name) for name in _SHOWN}
    values |= {f"costs.{name}": value for name, value in costs_us(replace(world, costs=None)).items()}
    values |= {f"devices.{name}": getattr(drawn, name) for name in _DRAWN}
    grouped: dict[tuple[str, Mark, str], list[str]] = {}
    for name, value in values.items():
        key = f"dpm.{name}.{next(iter(value))}" if isinstance(value, Mapping) else f"dpm.{name}"
        if key not in board.provenances:  # the schema's default, which costs nothing
            continue
        provenance = board.provenance(key)
        group, _, short = name.rpartition(".")
        place = (group or "conditions", provenance.kind, provenance.source)
        grouped.setdefault(place, []).append(f"{short} {_shown(value)}")
    found = [Input(f"{plan.name}: board", plan.board, "assumed", plan.title)]
    for (group, mark, source), parts in grouped.items():
        found.append(Input(f"{plan.name}: {group}", "; ".join(parts), mark, source))
    return found


def _shown(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_shown(one)}" for name, one in value.items())
    if isinstance(value, tuple | list):
        return " / ".join(_shown(one) for one in value)
    return f"{value:g}" if isinstance(value, float) else str(value)
