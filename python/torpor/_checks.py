# SPDX-License-Identifier: MIT
"""Checks of what users give, shared by the families; each complains with the name and the value."""

from __future__ import annotations

from collections.abc import Callable

from torpor._core import ConfigError

Progress = Callable[[int, int], object]
"""Hears (done, total) a few times a second."""


def whole(name: str, value: int, low: int, high: int) -> int:
    """Return a whole number within limits."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ConfigError(f"{name}={value!r} is no whole number")
    if not low <= value <= high:
        raise ConfigError(f"{name}={value} is outside {low}..{high}")
    return value


def time_ns(value_us: float, name: str) -> int:
    """Whole nanoseconds of a time in microseconds."""
    if isinstance(value_us, bool) or not isinstance(value_us, int | float):
        raise ConfigError(f"{name}={value_us!r}: not a time in microseconds")
    value_ns = value_us * 1000
    if value_ns != value_ns or abs(value_ns) > 2**62:
        raise ConfigError(f"{name}={value_us}: not a time in microseconds")
    return round(value_ns)


def flag(name: str, value: bool) -> bool:
    """Return what is True or False."""
    if not isinstance(value, bool):
        raise ConfigError(f"{name}={value!r} is neither True nor False")
    return value


def word(name: str, value: str) -> str:
    """Return a text."""
    if not isinstance(value, str):
        raise ConfigError(f"{name}={value!r} is no text")
    return value
