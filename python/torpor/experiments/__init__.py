# SPDX-License-Identifier: MIT
"""Published results, each run again and printed beside ours; one module per result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from torpor._core import ConfigError
from torpor.experiments import (
    freezer_2013,
    freezer_thaw_67,
    idle_2018,
    suspend_2009,
    suspend_2024,
    suspend_2025,
)
from torpor.experiments._share import Progress
from torpor.experiments.report import Cell, Input, Reproduction

__all__ = ["EXPERIMENTS", "Cell", "Experiment", "Input", "Reproduction", "reproduce"]

Experiment = Callable[..., Reproduction[Any]]

EXPERIMENTS: Mapping[str, Experiment] = MappingProxyType(
    {
        module.NAME: module.reproduce
        for module in (freezer_2013, freezer_thaw_67, idle_2018, suspend_2009, suspend_2024, suspend_2025)
    }
)
"""Every experiment by name; each takes the keywords of :func:`reproduce`."""


def reproduce(
    name: str,
    *,
    runs: int = 100,
    seed: int = 1,
    threads: int = 0,
    hz: int | None = None,
    progress: Progress | None = None,
) -> Reproduction[Any]:
    """Run a published experiment and put its figures beside ours.

    Parameters
    ----------
    name : str
        A key of `EXPERIMENTS`.
    runs : int
        Number of replicates, at least 1; intervals need 2.
    seed : int
        Root of all randomness.
    threads : int
        Worker threads; 0 means all cores. Results do not depend on it.
    hz : int or None
        The kernel's HZ; None takes that of the publication.
    progress : callable or None
        Called with (done, total) a few times a second; counts replicates of all policies.

    Returns
    -------
    Reproduction
        Tables, figures, inputs with their sources, verdict.

    Raises
    ------
    ConfigError
        For an unknown name (the message lists the known ones), and for runs, seed or hz out of range.

    Examples
    --------
    >>> import torpor
    >>> torpor.reproduce("idle-2018", runs=2).all_ok
    True
    >>> torpor.reproduce("idle-2108")
    Traceback (most recent call last):
        ...
    torpor._core.ConfigError: unknown experiment 'idle-2108': known are ...
    """
    if name not in EXPERIMENTS:
        raise ConfigError(f"unknown experiment '{name}': known are {', '.join(sorted(EXPERIMENTS))}")
    return EXPERIMENTS[name](runs=runs, seed=seed, threads=threads, hz=hz, progress=progress)
