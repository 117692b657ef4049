"""Several policies on the same worlds, side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torpor.idle.runs import Runs
from torpor.summary import Metric, Summary, check_same_worlds, replicates_of, side_by_side

__all__ = ["summarise"]


def _metrics(runs: Runs) -> list[Metric]:
    """Name, unit, digits and values per replicate of everything that is printed."""
    names = list(dict.fromkeys(name for row in runs.state_names() for name in row if name))
    table = np.array(runs.state_names())
    entries = np.maximum(runs.usage.sum(axis=(1, 2)), 1)
    metrics = [
        Metric(name, "s", 3, (runs.residency_ns * (table == name)).sum(axis=(1, 2)) * 1e-9) for name in names
    ]
    metrics += [
        Metric("too deep", "%", 2, 100.0 * runs.above.sum(axis=(1, 2)) / entries),
        Metric("too shallow", "%", 2, 100.0 * runs.below.sum(axis=(1, 2)) / entries),
        Metric("ticks", "", 0, runs.ticks.sum(axis=1)),
        Metric("tick stops", "", 0, runs.tick_stops.sum(axis=1)),
        Metric("wake latency p50", "us", 1, runs.wake_latency_p50_ns * 1e-3),
        Metric("wake latency p95", "us", 1, runs.wake_latency_p95_ns * 1e-3),
        Metric("wake latency p99", "us", 1, runs.wake_latency_p99_ns * 1e-3),
        Metric("wake latency max", "us", 1, runs.wake_latency_max_ns * 1e-3),
        Metric("clusters off", "s", 3, runs.cluster_off_ns.sum(axis=1) * 1e-9),
        Metric("energy", "mJ", 2, runs.energy_mj),
    ]
    return metrics


def summarise(results: Sequence[Runs]) -> Summary:
    """Mean of every metric with its 95 % interval, one column per policy.

    Parameters
    ----------
    results : sequence of Runs
        Results of one scenario and seed under several policies, so that they are paired.

    Returns
    -------
    Summary
        Totals over all CPUs: residency per state, misses, ticks, latencies, energy.

    Raises
    ------
    ConfigError
        When there are no results, or when they are of different worlds.

    Examples
    --------
    >>> from torpor.board import Board
    >>> from torpor.idle import PeriodicTimer, Scenario
    >>> scenario = Scenario(Board.load("toy"), PeriodicTimer(period_us=5e3), duration_s=0.1)
    >>> report = summarise([scenario.run(policy, runs=3) for policy in ("menu", "oracle")])
    >>> report.to_json()["policies"]
    ['menu(version=6.1.192)', 'oracle()']
    """
    check_same_worlds(results)
    first = results[0]
    scenario = first.scenario
    return side_by_side(
        f"{scenario.board.name}, HZ {scenario.board.tick_hz}, {scenario.duration_s:g} s, "
        f"{replicates_of(first)}",
        "all CPUs",
        {str(runs.policy): _metrics(runs) for runs in results},
        {
            "board": scenario.board.name,
            "tick_hz": scenario.board.tick_hz,
            "duration_s": scenario.duration_s,
            "runs": first.runs,
            "seed": first.seed,
        },
    )
