# SPDX-License-Identifier: MIT
"""Several policies on the same worlds, side by side: what the summaries of all families share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd

from torpor._core import ConfigError
from torpor.report import Report
from torpor.stats import Estimate
from torpor.tables import Column, Table, Value

__all__ = ["Metric", "Results", "Summary", "check_same_worlds", "counted", "replicates_of", "side_by_side"]


class Metric(NamedTuple):
    """One line of a summary.

    Examples
    --------
    >>> Metric("energy", "mJ", 2, np.array([1.0, 2.0])).name
    'energy'
    """

    name: str
    unit: str
    digits: int
    values: npt.NDArray[Any]
    """One per replicate; NaN where there is none."""


class Results(Protocol):
    """What a summary needs to know of the results of any family.

    Examples
    --------
    >>> from torpor.idle import Runs
    >>> hasattr(Runs, "runs")
    True
    """

    scenario: Any
    policy: Any
    seed: int
    first: int

    @property
    def runs(self) -> int:
        """Number of replicates."""


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


def check_same_worlds(results: Sequence[Results]) -> None:
    """Refuse results that are not paired.

    Parameters
    ----------
    results : sequence of results
        Of one scenario, seed and range of replicates.

    Raises
    ------
    ConfigError
        When there are none, or when they are of different worlds.

    Examples
    --------
    >>> check_same_worlds([])
    Traceback (most recent call last):
        ...
    torpor._core.ConfigError: no results to summarise
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


def counted(number: int, what: str) -> str:
    """Write a number of things.

    Examples
    --------
    >>> counted(1, "task"), counted(2, "task")
    ('1 task', '2 tasks')
    """
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def replicates_of(results: Results) -> str:
    """End of a table's title: how many replicates, and what stands in the cells.

    A single replicate has no interval to speak of.

    Examples
    --------
    >>> from torpor.board import Board
    >>> from torpor.idle import PeriodicTimer, Scenario
    >>> scenario = Scenario(Board.load("toy"), PeriodicTimer(period_us=5e3), duration_s=0.1)
    >>> replicates_of(scenario.run("menu", seed=3))
    '1 replicate of seed 3'
    """
    text = f"{counted(results.runs, 'replicate')} of seed {results.seed}"
    return text if results.runs == 1 else f"{text}; mean ± half of the 95 % interval"


def side_by_side(
    title: str, heading: str, columns: Mapping[str, Sequence[Metric]], data: Mapping[str, Any]
) -> Summary:
    """Mean of every metric with its 95 % interval, one column per policy.

    Parameters
    ----------
    title, heading : str
        Of the table, and of its first column.
    columns : mapping of str to sequence of Metric
        By policy, all with the same metrics in the same order.
    data : mapping
        What ``--json`` prints beside ``policies`` and ``metrics``.

    Examples
    --------
    >>> energy = Metric("energy", "mJ", 1, np.array([1.0, 2.0, 3.0]))
    >>> summary = side_by_side("One world", "board", {"menu": [energy]}, {"runs": 3})
    >>> summary.tables[0].rows
    (('energy (mJ)', '2.0 ±2.5'),)
    """
    rows: list[list[Value]] = []
    entries: list[dict[str, Any]] = []
    for metrics in zip(*columns.values(), strict=True):
        name, unit, digits, _ = metrics[0]
        estimates = [Estimate.of(metric.values) for metric in metrics]
        rows.append([f"{name} ({unit})" if unit else name, *(e.text(digits) for e in estimates)])
        for policy, estimate in zip(columns, estimates, strict=True):
            known = not np.isnan(estimate.mean)
            entries.append(
                {
                    "metric": name,
                    "unit": unit,
                    "policy": policy,
                    "mean": estimate.mean if known else None,
                    "low": estimate.low if known else None,
                    "high": estimate.high if known else None,
                }
            )
    table = Table(title, [Column(heading, align="left"), *(Column(policy) for policy in columns)], rows)
    return Summary([table], {**data, "policies": list(columns), "metrics": entries})
