# SPDX-License-Identifier: MIT
"""Checks of what users give, shared by the families; each complains with name, value and limit."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from numbers import Real
from typing import Any, TypedDict

import numpy as np

from torpor._core import ConfigError

Progress = Callable[[int, int], object]
"""Hears (done, total) a few times a second."""


class ReplicateRequest(TypedDict):
    """Which replicates are to be run, as keyword arguments of the engine."""

    runs: int
    first: int
    seed: int
    threads: int
    progress: Progress | None


LONGEST_US = 2**60 // 1000
"""Longest time that the engine reckons with, microseconds."""


def shown(value: object) -> str:
    """Text of a value, cut short."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."


def plain(value: Any) -> Any:
    """Python's own number for one of NumPy's; everything else as it is."""
    if not isinstance(value, np.generic):
        return value
    item = value.item()
    return float(value) if isinstance(item, np.floating) else item


def whole(name: str, value: int, low: int, high: int) -> int:
    """Return a whole number within limits."""
    number = _index(value)
    if number is None:
        raise ConfigError(f"{name}={shown(value)} is no whole number, limit: {low}..{high}")
    if not low <= number <= high:
        raise ConfigError(f"{name}={number} is outside {low}..{high}")
    return number


def _index(value: object) -> int | None:
    # An array of one element has an index, too, but is no number that anybody means.
    if isinstance(value, bool | np.bool_ | np.ndarray):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def real(name: str, value: float, what: str = "number") -> float:
    """Return a number, which may be NaN or infinite."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ConfigError(f"{name}={shown(value)} is no {what}")
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def time_ns(value_us: float, name: str, low_us: int = -LONGEST_US, high_us: int = LONGEST_US) -> int:
    """Whole nanoseconds of a time in microseconds within limits."""
    number_us = real(name, value_us, "time in microseconds")
    if not low_us <= number_us <= high_us:
        raise ConfigError(f"{name}={plain(value_us)} is outside {low_us}..{high_us} microseconds")
    value_ns: int = round(plain(value_us) * 1000)
    return value_ns


def slice_ns(value_us: float, name: str) -> int:
    """Whole nanoseconds of a time slice: none, or at least a microsecond."""
    if not real(name, value_us, "time in microseconds"):
        return 0
    if not 1 <= value_us <= LONGEST_US:
        raise ConfigError(f"{name}={plain(value_us)} is outside 1..{LONGEST_US} microseconds (0 is never)")
    return time_ns(value_us, name)


def flag(name: str, value: bool) -> bool:
    """Return what is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ConfigError(f"{name}={shown(value)} is neither True nor False")
    return bool(value)


def word(name: str, value: str) -> str:
    """Return a text."""
    if not isinstance(value, str):
        raise ConfigError(f"{name}={shown(value)} is no text")
    return value


def listener(name: str, value: Progress | None) -> Progress | None:
    """Return what can be called with (done, total), or None."""
    if value is not None and not callable(value):
        raise ConfigError(f"{name}={shown(value)} cannot be called with (done, total)")
    return value


def replicate_request(
    runs: int, first: int, seed: int, threads: int, progress: Progress | None, most: int
) -> ReplicateRequest:
    """Return which replicates are to be run, at most so many."""
    return {
        "runs": whole("runs", runs, 1, most),
        "first": whole("first", first, 0, 2**62),
        "seed": whole("seed", seed, 0, 2**64 - 1),
        "threads": whole("threads", threads, 0, 4096),
        "progress": listener("progress", progress),
    }
