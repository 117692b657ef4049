# SPDX-License-Identifier: MIT
"""Progress of one part of an experiment as a share of all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Progress", "Share", "Tally"]

Progress = Callable[[int, int], object]


@dataclass(frozen=True)
class Share:
    """Reports the replicates of one part, after those of the parts before it."""

    whole: Progress
    before: int
    total: int

    def __call__(self, done: int, _: int) -> object:
        return self.whole(self.before + done, self.total)


class Tally:
    """Hands out the shares of the parts of an experiment, one after the other."""

    def __init__(self, whole: Progress | None, total: int) -> None:
        self._whole = whole
        self._total = total
        self._before = 0

    def part(self, count: int) -> Progress | None:
        """Return the listener of the next part, which has so many replicates."""
        before, self._before = self._before, self._before + count
        return None if self._whole is None else Share(self._whole, before, self._total)
