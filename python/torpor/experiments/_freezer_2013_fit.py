# SPDX-License-Identifier: MIT
"""Finds costs and counts again from published cells, by root finding on the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy import optimize

from torpor._core import ConfigError
from torpor.experiments._freezer_2013_world import BEFORE, SERIES
from torpor.freezer import Runs, Scenario

FIT_RUNS = 20
"""List orders that a fit averages over; the tick phase is averaged in closed form."""


def phase_mean_ms(runs: Runs) -> float:
    """Mean freeze over all tick phases and the list orders of the runs, milliseconds.

    A single ``msleep(10)`` of n ticks in the user loop ends on a tick, which makes the freeze a staircase in
    every cost. Over a uniform phase it lasts n - 1/2 ticks in the mean, whenever it starts; putting that in
    the place of the drawn sleeps leaves a mean without steps. The kernel loop starts after a tick and needs
    no average.
    """
    world = runs.scenario
    if str(runs.policy) != f"freezer(version={BEFORE})" or not bool(np.all(runs.user_sleeps == 1)):
        return float(runs.elapsed_ms.mean())
    section = world.board.freezer
    assert section is not None
    extra = section.kernel.wheel_extra if world.wheel_extra is None else world.wheel_extra
    ticks = -(-10 * world.board.tick_hz // 1000) + 1 + extra
    sleep_ms = (ticks - 0.5) * 1000.0 / world.board.tick_hz
    return float((runs.elapsed_ms - runs.user_slept_ns / 1e6).mean()) + sleep_ms


def cost(world: Scenario, name: str) -> int:
    """Cycles of a cost in a scenario."""
    section = world.board.freezer
    assert section is not None
    return int((world.costs or {}).get(name, getattr(section.costs, name)))


def with_costs(world: Scenario, **cycles: int) -> Scenario:
    """Copy with other costs beside those that it has already."""
    return replace(world, costs={**(world.costs or {}), **cycles})


def with_run_cycles(world: Scenario, cycles: int) -> Scenario:
    """Copy in which the bursts of a freeze and of a thaw take so many cycles."""
    return with_costs(world, freeze_run_cycles=cycles, thaw_run_cycles=cycles)


def fit_run_cycles(world: Scenario, target_ms: float, *, seed: int, threads: int = 0) -> int:
    """Cycles of a freeze burst for which the freeze before the series takes so long."""

    def freeze_ms(cycles: int) -> float:
        fitted = with_run_cycles(world, cycles)
        return phase_mean_ms(fitted.run(BEFORE, runs=FIT_RUNS, seed=seed, threads=threads))

    return _root(freeze_ms, target_ms, most=100_000, what="freeze_run_cycles")


def fit_visit_cycles(world: Scenario, target_ms: float, *, seed: int, threads: int = 0) -> int:
    """Cycles of a visit for which the freeze with the series takes so long."""

    def freeze_ms(cycles: int) -> float:
        fitted = with_costs(world, visit_cycles=cycles)
        return phase_mean_ms(fitted.run(SERIES, runs=FIT_RUNS, seed=seed, threads=threads))

    return _root(freeze_ms, target_ms, most=2_000, what="visit_cycles")


def fit_count(world: Scenario, group: str, policy: str, target: float, *, seed: int, threads: int = 0) -> int:
    """Tasks of a group for which a policy switches to so many tasks."""

    def switch_ins(count: int) -> float:
        fitted = replace(world, population=world.groups.with_count(group, count))
        return float(fitted.run(policy, seed=seed, threads=threads).freeze_task_switch_ins.mean())

    return _root(switch_ins, target, most=5_000, what=f"count of {group}")


def _root(of: Callable[[int], float], target: float, *, most: int, what: str) -> int:
    """Whole number at which a rising function meets the target, or comes nearest to it.

    Raises
    ------
    ConfigError
        When the target lies outside what 0 to `most` give.
    """
    low, high = of(0), of(most)
    if not low <= target <= high:
        raise ConfigError(f"{what}: no value from 0 to {most} gives {target:g}, limit: {low:g} to {high:g}")
    found = optimize.brentq(lambda x: of(round(x)) - target, 0, most, xtol=0.25)
    near = range(max(0, round(found) - 1), min(most, round(found) + 1) + 1)
    return min(near, key=lambda x: abs(of(x) - target))
