# SPDX-License-Identifier: MIT
"""Progress of one part of an experiment as a share of all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Progress", "Share"]

Progress = Callable[[int, int], object]


@dataclass(frozen=True)
class Share:
    """Reports the replicates of one part, after those of the parts before it."""

    whole: Progress
    before: int
    total: int

    def __call__(self, done: int, _: int) -> object:
        return self.whole(self.before + done, self.total)
