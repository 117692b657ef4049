# SPDX-License-Identifier: MIT
"""Several freezers on the same worlds, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from torpor.freezer.runs import Runs
from torpor.summary import Metric, Summary, check_same_worlds, side_by_side

__all__ = ["summarise"]


def _metrics(runs: Runs) -> list[Metric]:
    """Name, unit, digits and values per replicate of everything that is printed."""

    def ms(name: str, values_ns: npt.NDArray[Any]) -> Metric:
        return Metric(name, "ms", 3, values_ns * 1e-6)

    def count(name: str, values: npt.NDArray[Any]) -> Metric:
        return Metric(name, "", 0, values)

    return [
        ms("user loop", runs.user_elapsed_ns),
        ms("kernel loop", runs.kernel_elapsed_ns),
        ms("freeze", runs.elapsed_ns),
        count("task switch-ins", runs.freeze_task_switch_ins),
        count("context switches", runs.freeze_switches),
        count("voluntary", runs.freeze_voluntary),
        count("involuntary", runs.freeze_involuntary),
        count("wakeups", runs.freeze_wakeups),
        count("interrupted calls", runs.interrupted),
        count("restarts", runs.restarts),
        count("visible errors", runs.visible_errors),
        count("passes", runs.user_passes + runs.kernel_passes),
        count("sleeps", runs.user_sleeps + runs.kernel_sleeps),
        ms("CPU busy", runs.freeze_busy_ns),
        ms("lower bound", _known(runs.bound_ns)),
        Metric("efficiency", "%", 1, 100.0 * _known(runs.efficiency)),
        ms("thaw, walker", runs.thaw_walker_ns),
        ms("thaw, all", runs.thaw_all_ns),
        count("thaw switch-ins", runs.thaw_task_switch_ins),
        count("thaw visible errors", runs.thaw_visible_errors),
        Metric("energy, freeze", "mJ", 2, runs.freeze_energy_mj),
        Metric("energy, thaw", "mJ", 2, runs.thaw_energy_mj),
        Metric("energy, cycle", "mJ", 2, runs.cycle_energy_mj),
        Metric("failed", "%", 1, 100.0 * runs.failed),
        Metric("aborted", "%", 1, 100.0 * runs.aborted),
        Metric("refusing", "", 1, runs.refusing),
        Metric("workqueue busy", "%", 1, 100.0 * runs.workqueue_busy),
    ]


def _known(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Values of the replicates that have one; all of them when none has."""
    known = values[~np.isnan(values)]
    return known if known.size else values


def summarise(results: Sequence[Runs]) -> Summary:
    """Mean of every metric with its 95 % interval, one column per policy.

    Parameters
    ----------
    results : sequence of Runs
        Results of one scenario and seed under several policies, so that they are paired.

    Returns
    -------
    Summary
        Times, switches, interrupted calls, energy and outcomes; lower bound and efficiency over the
        replicates that were frozen.

    Raises
    ------
    ConfigError
        When there are no results, or when they are of different worlds.

    Examples
    --------
    >>> from torpor.board import Board
    >>> from torpor.freezer import Scenario
    >>> scenario = Scenario(Board.load("nexus-10"), opp_khz=200_000)
    >>> report = summarise([scenario.run(policy, runs=3) for policy in ("v3.9", "full")])
    >>> report.to_json()["policies"]
    ['freezer(version=v3.9)', 'freezer(version=full)']
    """
    check_same_worlds(results)
    first = results[0]
    scenario = first.scenario
    frequencies = "/".join(f"{khz / 1000:g}" for khz in dict.fromkeys(scenario.freq_khz))
    return side_by_side(
        f"{scenario.board.name}, {len(scenario.freq_khz)} CPUs, {frequencies} MHz, "
        f"HZ {scenario.board.tick_hz}, {scenario.task_count} tasks, "
        f"{first.runs} replicates of seed {first.seed}; mean ± half of the 95 % interval",
        "freeze and thaw",
        {str(runs.policy): _metrics(runs) for runs in results},
        {
            "board": scenario.board.name,
            "cpus": len(scenario.freq_khz),
            "freq_khz": list(scenario.freq_khz),
            "tick_hz": scenario.board.tick_hz,
            "tasks": scenario.task_count,
            "runs": first.runs,
            "seed": first.seed,
        },
    )
