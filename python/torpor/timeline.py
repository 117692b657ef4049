# SPDX-License-Identifier: MIT
"""What the timelines of all families have in common."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, ClassVar

import numpy as np
import pandas as pd

__all__ = ["Records"]


class Records:
    """Records of one replicate of one policy on one scenario.

    Examples
    --------
    >>> from torpor.board import Board
    >>> from torpor.idle import PeriodicTimer, Scenario
    >>> isinstance(Scenario(Board.load("toy"), PeriodicTimer(period_us=5e3)).timeline("menu"), Records)
    True
    """

    __slots__ = ("__weakref__", "_columns", "policy", "replicate", "scenario", "seed")

    _KINDS: ClassVar[type[IntEnum]]
    """Kinds of records, as the engine numbers them."""

    def __init__(
        self, *, scenario: Any, policy: Any, seed: int, replicate: int, columns: dict[str, Any]
    ) -> None:
        self.scenario = scenario
        self.policy = policy
        self.seed = seed
        self.replicate = replicate
        self._columns = columns

    def __len__(self) -> int:
        return len(self._columns["time_ns"])

    def _frame(self) -> pd.DataFrame:
        """All records in order of time: ``time_ns``, ``cpu``, ``event``, ``value``."""
        frame = pd.DataFrame({name: self._columns[name] for name in ("time_ns", "cpu")})
        names = {int(kind): kind.name for kind in self._KINDS}
        frame["event"] = pd.Series(self._columns["kind"]).map(names)
        frame["value"] = self._columns["value"]
        return frame.sort_values("time_ns", kind="stable", ignore_index=True)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return (self.scenario, self.policy, self.seed, self.replicate) == (
            other.scenario,
            other.policy,
            other.seed,
            other.replicate,
        ) and all(np.array_equal(column, other._columns[name]) for name, column in self._columns.items())

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{self.scenario!r}.timeline('{self.policy}', seed={self.seed}, replicate={self.replicate})"
