# SPDX-License-Identifier: MIT
"""What results of many replicates have in common, whatever the family."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from torpor._checks import whole

__all__ = ["Replicates"]


class Replicates(ABC):
    """Read-only columns with one row per replicate, and what was run to get them.

    A subclass names its columns in `_columns`, has a slot for each, and says of which types its scenario and
    policy are.

    Attributes
    ----------
    scenario, policy : scenario and policy of the family
        What was run.
    seed, first : int
        Root of all randomness, and number of the first replicate.
    """

    __slots__ = ("__weakref__", "first", "policy", "scenario", "seed")

    _columns: ClassVar[tuple[str, ...]]

    scenario: Any
    policy: Any
    seed: int
    first: int

    def __init__(self, *, scenario: Any, policy: Any, seed: int, first: int, columns: dict[str, Any]) -> None:
        self.scenario = scenario
        self.policy = policy
        self.seed = seed
        self.first = first
        for name in self._columns:
            array = columns[name]
            array.flags.writeable = False
            setattr(self, name, array)

    @property
    def runs(self) -> int:
        """Number of replicates."""
        return int(getattr(self, self._columns[0]).shape[0])

    @abstractmethod
    def to_frame(self) -> pd.DataFrame:
        """Tidy table of the results, one row per replicate."""

    def _replicate(self, run: int) -> int:
        """Return the number of a replicate, given its place among ours."""
        run = whole("run", run, -(2**62), 2**62)
        if not 0 <= run < self.runs:
            raise IndexError(f"run={run}: there are {self.runs}")
        return self.first + run

    def _besides_columns(self) -> tuple[Any, ...]:
        """Return what equal results agree in, besides the columns."""
        return self.scenario, self.policy, self.seed, self.first

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self._besides_columns() == other._besides_columns() and all(
            np.array_equal(mine, theirs, equal_nan=mine.dtype.kind == "f")
            for mine, theirs in ((getattr(self, n), getattr(other, n)) for n in self._columns)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"{self.scenario!r}.run('{self.policy}', runs={self.runs}, seed={self.seed}, first={self.first})"
        )

    def _repr_html_(self) -> str:
        html: str = self.to_frame().describe().to_html()
        return html
