# SPDX-License-Identifier: MIT
"""Several freezers on the same worlds, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from torpor.freezer.runs import Runs
from torpor.summary import Metric, Summary, check_same_worlds, counted, replicates_of, side_by_side

__all__ = ["summarise"]

MOST_CPUS = 8
"""CPUs that are listed one by one; ``Runs.to_frame("cpu")`` has them all."""


def _metrics(runs: Runs, refusing: Sequence[int]) -> list[Metric]:
    """Name, unit, digits and values per replicate of everything that is printed.

    `refusing` are the numbers of the groups whose tasks refuse under any of the policies.
    """

    def ms(name: str, values_ns: npt.NDArray[Any]) -> Metric:
        return Metric(name, "ms", 3, values_ns * 1e-6)

    def count(name: str, values: npt.NDArray[Any]) -> Metric:
        return Metric(name, "", 0, values)

    names = runs.scenario.groups.names
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
        *(ms(f"CPU{cpu} busy", busy_ns) for cpu, busy_ns in _by_cpu(runs.freeze_cpu_busy_ns)),
        ms("lower bound", _known(runs.bound_ns)),
        Metric("efficiency", "%", 1, 100.0 * _known(runs.efficiency)),
        ms("thaw, walker", runs.thaw_walker_ns),
        ms("thaw, all", runs.thaw_all_ns),
        count("thaw switch-ins", runs.thaw_task_switch_ins),
        count("thaw context switches", runs.thaw_switches),
        count("thaw voluntary", runs.thaw_voluntary),
        count("thaw involuntary", runs.thaw_involuntary),
        count("thaw wakeups", runs.thaw_wakeups),
        ms("thaw CPU busy", runs.thaw_busy_ns),
        *(ms(f"thaw CPU{cpu} busy", busy_ns) for cpu, busy_ns in _by_cpu(runs.thaw_cpu_busy_ns)),
        count("thaw visible errors", runs.thaw_visible_errors),
        count("woken while frozen", runs.running_on),
        Metric("energy, freeze", "mJ", 2, runs.freeze_energy_mj),
        Metric("energy, thaw", "mJ", 2, runs.thaw_energy_mj),
        Metric("energy, cycle", "mJ", 2, runs.cycle_energy_mj),
        Metric("failed", "%", 1, 100.0 * runs.failed),
        Metric("aborted", "%", 1, 100.0 * runs.aborted),
        Metric("refusing", "", 1, runs.refusing),
        *(Metric(f"refusing: {names[g]}", "", 1, runs.refusing_by_group[:, g]) for g in refusing),
        Metric("workqueue busy", "%", 1, 100.0 * runs.workqueue_busy),
        count("work held until thaw", runs.work_held),
        Metric("attempts", "", 1, runs.attempts),
    ]


def _by_cpu(busy_ns: npt.NDArray[Any]) -> list[tuple[int, npt.NDArray[Any]]]:
    """Busy time of each CPU; nothing where they are one, or more than can be printed."""
    return list(enumerate(busy_ns.T)) if 1 < busy_ns.shape[1] <= MOST_CPUS else []


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
    refused = np.any([runs.refusing_by_group.any(axis=0) for runs in results], axis=0)
    groups = np.flatnonzero(refused).tolist()
    frequencies = "/".join(f"{khz / 1000:g}" for khz in dict.fromkeys(scenario.freq_khz))
    return side_by_side(
        f"{scenario.board.name}, {counted(len(scenario.freq_khz), 'CPU')}, {frequencies} MHz, "
        f"HZ {scenario.board.tick_hz}, {counted(scenario.task_count, 'task')}, {replicates_of(first)}",
        "freeze and thaw",
        {str(runs.policy): _metrics(runs, groups) for runs in results},
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
