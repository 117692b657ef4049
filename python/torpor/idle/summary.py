"""Several policies on the same worlds, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from torpor._core import ConfigError
from torpor.idle.runs import Runs
from torpor.report import Report
from torpor.stats import Estimate
from torpor.tables import Column, Table, Value

__all__ = ["Summary", "summarise"]


def _metrics(runs: Runs) -> list[tuple[str, str, int, npt.NDArray[Any]]]:
    """Name, unit, digits and values per replicate of everything that is printed."""
    names = list(dict.fromkeys(name for row in runs.state_names() for name in row if name))
    table = np.array(runs.state_names())
    entries = np.maximum(runs.usage.sum(axis=(1, 2)), 1)
    metrics: list[tuple[str, str, int, npt.NDArray[Any]]] = [
        (name, "s", 3, (runs.residency_ns * (table == name)).sum(axis=(1, 2)) * 1e-9) for name in names
    ]
    metrics += [
        ("too deep", "%", 2, 100.0 * runs.above.sum(axis=(1, 2)) / entries),
        ("too shallow", "%", 2, 100.0 * runs.below.sum(axis=(1, 2)) / entries),
        ("ticks", "", 0, runs.ticks.sum(axis=1)),
        ("tick stops", "", 0, runs.tick_stops.sum(axis=1)),
        ("wake latency p50", "us", 1, runs.wake_latency_p50_ns * 1e-3),
        ("wake latency p95", "us", 1, runs.wake_latency_p95_ns * 1e-3),
        ("wake latency p99", "us", 1, runs.wake_latency_p99_ns * 1e-3),
        ("wake latency max", "us", 1, runs.wake_latency_max_ns * 1e-3),
        ("clusters off", "s", 3, runs.cluster_off_ns.sum(axis=1) * 1e-9),
        ("energy", "mJ", 2, runs.energy_mj),
    ]
    return metrics


class Summary(Report):
    """Side by side in print; as CSV one raw row per metric and policy.

    Examples
    --------
    >>> print(Summary([], {"metrics": [{"metric": "energy", "mean": 1.5}]}).to_csv(), end="")
    metric,mean
    energy,1.5
    """

    def to_csv(self) -> str:
        """One row per metric and policy: mean and 95 % interval, all digits."""
        return str(pd.DataFrame(self.data["metrics"]).to_csv(index=False, lineterminator="\n"))


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
    if not results:
        raise ConfigError("no results to summarise")
    first = results[0]
    for other in results[1:]:
        if (other.scenario, other.seed, other.first, other.runs) != (
            first.scenario,
            first.seed,
            first.first,
            first.runs,
        ):
            raise ConfigError(f"{other!r} is of other worlds than {first!r}")
    per_policy = [_metrics(runs) for runs in results]
    rows: list[list[Value]] = []
    data: list[dict[str, Any]] = []
    for metrics in zip(*per_policy, strict=True):
        name, unit, digits, _ = metrics[0]
        estimates = [Estimate.of(values) for *_, values in metrics]
        rows.append([f"{name} ({unit})" if unit else name, *(e.text(digits) for e in estimates)])
        for runs, estimate in zip(results, estimates, strict=True):
            known = not np.isnan(estimate.mean)
            data.append(
                {
                    "metric": name,
                    "unit": unit,
                    "policy": str(runs.policy),
                    "mean": estimate.mean if known else None,
                    "low": estimate.low if known else None,
                    "high": estimate.high if known else None,
                }
            )
    scenario = first.scenario
    table = Table(
        f"{scenario.board.name}, HZ {scenario.board.tick_hz}, {scenario.duration_s:g} s, "
        f"{first.runs} replicates of seed {first.seed}; mean ± half of the 95 % interval",
        [Column("all CPUs", align="left"), *(Column(str(runs.policy)) for runs in results)],
        rows,
    )
    return Summary(
        [table],
        {
            "board": scenario.board.name,
            "tick_hz": scenario.board.tick_hz,
            "duration_s": scenario.duration_s,
            "runs": first.runs,
            "seed": first.seed,
            "policies": [str(runs.policy) for runs in results],
            "metrics": data,
        },
    )
