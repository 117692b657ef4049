# SPDX-License-Identifier: MIT
"""Several policies of the device core on the same worlds, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from torpor._checks import shown
from torpor._core import ConfigError, DpmOutcome
from torpor.dpm.graph import PHASES, DeviceGraph
from torpor.dpm.runs import SIDES, Runs
from torpor.summary import Metric, Summary, check_same_worlds, counted, replicates_of, side_by_side

__all__ = ["summarise"]

_BOUNDS = {
    "cp_ns": "critical path",
    "w_ns": "CPU work",
    "ovh_ns": "queueing",
    "sh_ns": "shared lock",
    "sum_ns": "one after the other",
}


def _metrics(runs: Runs) -> list[Metric]:
    """Name, unit, digits and mean over the cycles of each replicate of everything that is printed."""
    stuck = np.equal(runs.outcome, int(DpmOutcome.stuck))

    def metric(name: str, unit: str, digits: int, values: npt.NDArray[Any]) -> Metric:
        return Metric(name, unit, digits, values.mean(axis=1))

    def known(name: str, unit: str, digits: int, values: npt.NDArray[Any]) -> Metric:
        # What a phase that cannot end would have taken, nobody knows; the mean of the others is no answer.
        return metric(name, unit, digits, np.where(stuck, np.nan, values))

    def ms(name: str, values_ns: npt.NDArray[Any]) -> Metric:
        return known(name, "ms", 3, values_ns * 1e-6)

    def count(name: str, values: npt.NDArray[Any]) -> Metric:
        return known(name, "", 1, values)

    found = [ms(side, getattr(runs, f"{side}_ns")) for side in SIDES]
    found += [ms(f"phase {phase}", runs.phase_ns[:, :, place]) for place, phase in enumerate(PHASES)]
    for side in SIDES:
        found.append(ms(f"{side}, lower bound", runs.side("bound_ns", side)))
        found += [ms(f"{side}, {text}", runs.side(name, side)) for name, text in _BOUNDS.items()]
    for side in SIDES:
        found += [
            count(f"{side}, context switches", getattr(runs, f"{side}_switches")),
            count(f"{side}, switch-ins", getattr(runs, f"{side}_switch_ins")),
            count(f"{side}, wakeups", getattr(runs, f"{side}_wakeups")),
            count(f"{side}, migrations", getattr(runs, f"{side}_migrations")),
            count(f"{side}, live workers", runs.side("live_workers", side)),
            count(f"{side}, workers created", runs.side("created_workers", side)),
            count(f"{side}, work items", runs.side("items", side)),
            count(f"{side}, waits for devices", runs.side("blocks", side)),
            count(f"{side}, waits for the list mutex", runs.side("mutex_blocks", side)),
            count(f"{side}, waits for shared locks", runs.side("lock_blocks", side)),
            count(f"{side}, callbacks", runs.side("callbacks", side)),
            count(f"{side}, callbacks by workers", runs.side("callbacks_by_workers", side)),
            known(f"{side}, energy", "mJ", 2, getattr(runs, f"{side}_energy_mj")),
            *(
                ms(f"{side}, {cluster} busy", busy_ns)
                for cluster, busy_ns in _by_cluster(runs, SIDES.index(side))
            ),
        ]
    found += [
        metric("failed", "%", 1, 100.0 * runs.failed),
        metric("aborted", "%", 1, 100.0 * runs.aborted),
        metric("stuck", "%", 1, 100.0 * stuck),
    ]
    return found


def _by_cluster(runs: Runs, side: int) -> list[tuple[str, npt.NDArray[Any]]]:
    """Busy time of each cluster's CPUs; nothing where there is only one."""
    names = runs.scenario.clusters
    if len(names) == 1:
        return []
    return [(name, runs.cluster_busy_ns[:, :, side, place]) for place, name in enumerate(names)]


def summarise(results: Sequence[Runs]) -> Summary:
    """Mean of every metric with its 95 % interval, one column per policy.

    Parameters
    ----------
    results : sequence of Runs
        Results of one scenario and seed under several policies, so that they are paired.

    Returns
    -------
    Summary
        Times of both sides and of each phase, lower bounds, switches, workers, energy and outcomes. A
        replicate counts with the mean of its cycles; a policy under which a phase got stuck has no times.
        Bounds of a side are the sums of those of its phases.

    Raises
    ------
    ConfigError
        When there are no results, or when they are of different worlds.

    Examples
    --------
    >>> from torpor.board import Board
    >>> from torpor.dpm import Scenario
    >>> scenario = Scenario(Board.load("toy"), cycles=2)
    >>> report = summarise([scenario.run(policy, runs=3) for policy in ("sync", "old")])
    >>> report.to_json()["policies"]
    ['sync()', 'old()']
    """
    if not isinstance(results, Sequence):
        raise ConfigError(f"results={shown(results)} is no sequence of Runs")
    for place, runs in enumerate(results):
        if not isinstance(runs, Runs):
            raise ConfigError(f"results[{place}]={shown(runs)} is no Runs of the dpm family")
    check_same_worlds(results)
    first = results[0]
    scenario = first.scenario
    devices = scenario.source
    count = len(devices) if isinstance(devices, DeviceGraph) else devices.devices
    name = "reference" if scenario.board is None else scenario.board.name
    return side_by_side(
        f"{name}, {counted(scenario.cpu_count, 'CPU')}, {counted(count, 'device')}, "
        f"{counted(first.cycles, 'cycle')}, {replicates_of(first)}",
        "suspend and resume",
        {str(runs.policy): _metrics(runs) for runs in results},
        {
            "board": name,
            "cpus": scenario.cpu_count,
            "devices": count,
            "cycles": first.cycles,
            "runs": first.runs,
            "seed": first.seed,
        },
    )
