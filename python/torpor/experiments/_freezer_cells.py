# SPDX-License-Identifier: MIT
"""Figures that the experiments of the freezer family have in common."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from torpor.experiments._freezer_2013_world import PERIOD_S
from torpor.experiments.report import Cell, Kind
from torpor.freezer import Runs
from torpor.stats import Estimate

__all__ = ["cell_of", "energy_cells"]


def cell_of(
    row: str,
    column: str,
    unit: str,
    samples: npt.NDArray[Any],
    kind: Kind = "reference",
    published: float | None = None,
    band: tuple[float, float] | None = None,
) -> Cell:
    """Mean over the replicates with its interval."""
    ours = Estimate.of(samples)
    return Cell(row, column, unit, published, ours.mean, ours.low, ours.high, kind, band)


def energy_cells(policy: str, runs: Runs) -> list[Cell]:
    """Energy of freeze, thaw and cycle, and the mean power of a cycle every few seconds."""
    return [
        cell_of(policy, "energy of the freeze", "mJ", runs.freeze_energy_mj),
        cell_of(policy, "energy of the thaw", "mJ", runs.thaw_energy_mj),
        cell_of(policy, "energy of a cycle", "mJ", runs.cycle_energy_mj),
        cell_of(policy, f"a cycle every {PERIOD_S:g} s", "mW", runs.power_mw(PERIOD_S)),
    ]
