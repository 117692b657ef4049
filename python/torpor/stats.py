# SPDX-License-Identifier: MIT
"""Estimates over replicates; SciPy does the statistics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Estimate"]


@dataclass(frozen=True)
class Estimate:
    """Mean of replicates with its 95 % interval; the bounds are None for a single replicate.

    Examples
    --------
    >>> Estimate.of(np.array([1.0, 2.0, 3.0])).text(2)
    '2.00 ±2.48'
    """

    mean: float
    low: float | None
    high: float | None

    @classmethod
    def of(cls, samples: npt.ArrayLike) -> Estimate:
        """Student's t interval of the mean.

        Parameters
        ----------
        samples : array of float, shape (runs,)
            One value per replicate.
        """
        values = np.asarray(samples, dtype=np.float64)
        mean = float(values.mean())
        if values.size < 2:
            return cls(mean, None, None)
        from scipy.special import stdtrit  # slow to import, and of use only here

        half = float(stdtrit(values.size - 1, 0.975) * values.std(ddof=1) / np.sqrt(values.size))
        return cls(mean, mean - half, mean + half)

    def text(self, digits: int) -> str:
        """Mean and half of the interval's width."""
        if np.isnan(self.mean):
            return "unknown"
        mean = f"{self.mean + 0.0:.{digits}f}"
        return mean if self.high is None else f"{mean} ±{self.high - self.mean:.{digits}f}"
