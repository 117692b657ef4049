# SPDX-License-Identifier: MIT
"""Times that are drawn: distributions over microseconds, as objects and as text.

A time that may vary is given as a number of microseconds, as one of the classes here, or as the text of one,
``"lognormal(median_us=2000, sigma=1)"``, which is how board files and command lines write it. The engine
draws from them with its own streams, so that a draw is the same on every machine; what it draws below zero
counts as zero.
"""

from __future__ import annotations

import ast
import html
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from torpor import _core
from torpor._core import ConfigError

__all__ = [
    "DISTRIBUTIONS",
    "Constant",
    "Distribution",
    "Empirical",
    "Exponential",
    "LogNormal",
    "Normal",
    "Pareto",
    "Uniform",
    "parse_distribution",
]

MAX_TIME_US = float(2**52)
"""Longest time that may be given, microseconds: 142 years, in nanoseconds still within 64 bits."""

_Samples = tuple[float, ...]


class Distribution(ABC):
    """What every distribution can do; made by one of the subclasses or by `parse_distribution`.

    Examples
    --------
    >>> str(Uniform(low_us=0, high_us=100))
    'uniform(low_us=0, high_us=100)'
    """

    text_name: ClassVar[str] = ""
    lists: ClassVar[tuple[str, ...]] = ()
    """Parameters that are lists of numbers."""

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            many = isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)
            if many and field.name in self.lists:
                values = [self._number(field.name, item) for item in value]
                object.__setattr__(self, field.name, tuple(values))
            else:
                object.__setattr__(self, field.name, self._number(field.name, value))
        for name, limit in self._broken():
            value = getattr(self, name)
            raise ConfigError(f"{type(self).__name__}.{name}={_shown(value)}: {limit}")

    def _number(self, name: str, value: Any) -> float:
        key = f"{type(self).__name__}.{name}={_shown(value)}"
        if isinstance(value, bool) or not isinstance(value, Real):
            raise ConfigError(f"{key}: must be a number")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number) or abs(number) > MAX_TIME_US:
            raise ConfigError(f"{key}: must be finite and at most {MAX_TIME_US:.0f}")
        return number

    @abstractmethod
    def _broken(self) -> Iterator[tuple[str, str]]:
        """Fields that break a rule of the distribution, with the rule."""

    def parameters_ns(self) -> dict[str, Any]:
        """Parameters under the engine's names, times in nanoseconds.

        Examples
        --------
        >>> LogNormal(median_us=2000, sigma=1).parameters_ns()
        {'median': 2000000.0, 'sigma': 1.0}
        """
        found: dict[str, Any] = {}
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            name, _, unit = field.name.partition("_")
            if unit != "us":
                found[name] = value
            else:
                found[name] = [item * 1000 for item in value] if isinstance(value, tuple) else value * 1000
        return found

    def sample_us(self, size: int, stream: _core.RandomStream) -> np.ndarray:
        """Draw from a random stream.

        Parameters
        ----------
        size : int
            How many.
        stream : torpor._core.RandomStream
            Where from.

        Returns
        -------
        ndarray of float64, shape (size,), microseconds

        Examples
        --------
        >>> stream = _core.RandomStream("doc", seed=1)
        >>> bool((Exponential(mean_us=5).sample_us(100, stream) > 0).all())
        True
        """
        draws: np.ndarray = getattr(stream, self.text_name)(size, **self.parameters_ns())
        clipped: np.ndarray = np.maximum(draws, 0.0)
        return clipped / 1000

    def __str__(self) -> str:
        shown = (f"{f.name}={_plain(getattr(self, f.name))}" for f in fields(self))  # type: ignore[arg-type]
        return f"{self.text_name}({', '.join(shown)})"

    def _repr_html_(self) -> str:
        return f"<code>{html.escape(repr(self))}</code>"


def _plain(value: float | _Samples) -> str:
    """Shortest text that reads back to the same number, whole numbers without a point."""
    if isinstance(value, tuple):
        inside = ", ".join(_plain(item) for item in value)
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    return str(int(value)) if value.is_integer() else repr(value)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


@dataclass(frozen=True, kw_only=True)
class Constant(Distribution):
    """Always the same time.

    Parameters
    ----------
    value_us : float, microseconds
        The time, not negative.

    Examples
    --------
    >>> parse_distribution(2500) == Constant(value_us=2500)
    True
    """

    value_us: float
    text_name: ClassVar[str] = "constant"

    def _broken(self) -> Iterator[tuple[str, str]]:
        if self.value_us < 0:
            yield "value_us", "must be at least 0"

    def sample_us(self, size: int, stream: _core.RandomStream) -> np.ndarray:
        """Draw from a random stream; every draw is the value."""
        stream.uniform01(size)  # as many words as any other distribution, so that later draws do not move
        return np.full(size, self.value_us)


@dataclass(frozen=True, kw_only=True)
class Uniform(Distribution):
    """Any time of a range, each equally likely.

    Parameters
    ----------
    low_us, high_us : float, microseconds
        Ends of the range, 0 <= low <= high.

    Examples
    --------
    >>> parse_distribution("uniform(low_us=0, high_us=100)")
    Uniform(low_us=0.0, high_us=100.0)
    """

    low_us: float
    high_us: float
    text_name: ClassVar[str] = "uniform"

    def _broken(self) -> Iterator[tuple[str, str]]:
        if self.low_us < 0:
            yield "low_us", "must be at least 0"
        if self.high_us < self.low_us:
            yield "high_us", f"must be at least low_us={_plain(self.low_us)}"


@dataclass(frozen=True, kw_only=True)
class Exponential(Distribution):
    """Exponential times: what is left of a memoryless wait.

    Parameters
    ----------
    mean_us : float, microseconds
        Mean, above 0.

    Examples
    --------
    >>> str(parse_distribution("exponential(mean_us=0.5)"))
    'exponential(mean_us=0.5)'
    """

    mean_us: float
    text_name: ClassVar[str] = "exponential"

    def _broken(self) -> Iterator[tuple[str, str]]:
        if self.mean_us <= 0:
            yield "mean_us", "must be above 0"


@dataclass(frozen=True, kw_only=True)
class Normal(Distribution):
    """Normal times; a draw below zero counts as zero.

    Parameters
    ----------
    mean_us, deviation_us : float, microseconds
        Mean and standard deviation, neither negative.

    Examples
    --------
    >>> Normal(mean_us=100, deviation_us=5)
    Normal(mean_us=100.0, deviation_us=5.0)
    """

    mean_us: float
    deviation_us: float
    text_name: ClassVar[str] = "normal"

    def _broken(self) -> Iterator[tuple[str, str]]:
        if self.mean_us < 0:
            yield "mean_us", "must be at least 0"
        if self.deviation_us < 0:
            yield "deviation_us", "must be at least 0"


@dataclass(frozen=True, kw_only=True)
class LogNormal(Distribution):
    """Lognormal times: many short ones, a long tail.

    Parameters
    ----------
    median_us : float, microseconds
        Median, above 0.
    sigma : float
        Standard deviation of the logarithm, 0 to 80.

    Examples
    --------
    >>> parse_distribution("lognormal(median_us=2000, sigma=1.0)")
    LogNormal(median_us=2000.0, sigma=1.0)
    """

    median_us: float
    sigma: float
    text_name: ClassVar[str] = "lognormal"

    def _broken(self) -> Iterator[tuple[str, str]]:
        if self.median_us <= 0:
            yield "median_us", "must be above 0"
        if not 0 <= self.sigma <= 80:
            yield "sigma", "must be 0 to 80"


@dataclass(frozen=True, kw_only=True)
class Pareto(Distribution):
    """Pareto times: P(X > x) = (scale / x)^shape from scale on.

    Parameters
    ----------
    scale_us : float, microseconds
        Least time, above 0.
    shape : float
        Weight of the tail, at least 0.06; the mean is infinite up to 1.

    Examples
    --------
    >>> str(Pareto(scale_us=100, shape=1.5))
    'pareto(scale_us=100, shape=1.5)'
    """

    scale_us: float
    shape: float
    text_name: ClassVar[str] = "pareto"

    def _broken(self) -> Iterator[tuple[str, str]]:
        if self.scale_us <= 0:
            yield "scale_us", "must be above 0"
        if self.shape < 0.06:
            yield "shape", "must be at least 0.06"


@dataclass(frozen=True, kw_only=True)
class Empirical(Distribution):
    """Measured times, each equally likely.

    Parameters
    ----------
    samples_us : sequence of float, microseconds
        The times, at least one, none negative.

    Examples
    --------
    >>> parse_distribution("empirical(samples_us=(10, 20, 40))").samples_us
    (10.0, 20.0, 40.0)
    """

    samples_us: _Samples
    text_name: ClassVar[str] = "empirical"
    lists: ClassVar[tuple[str, ...]] = ("samples_us",)

    def _broken(self) -> Iterator[tuple[str, str]]:
        if not isinstance(self.samples_us, tuple) or not self.samples_us:
            yield "samples_us", "must be a list of at least one time"
        elif min(self.samples_us) < 0:
            yield "samples_us", "must hold no negative time"


DISTRIBUTIONS: dict[str, type[Distribution]] = {
    kind.text_name: kind for kind in (Constant, Uniform, Exponential, Normal, LogNormal, Pareto, Empirical)
}
"""Every distribution, by the name that its text begins with."""


def parse_distribution(value: float | str | Distribution) -> Distribution:
    """Make a distribution of a number of microseconds or of text.

    Parameters
    ----------
    value : float, str or Distribution
        Microseconds; or a name in lower case with parameters, ``"exponential(mean_us=300)"``; or one of the
        classes, which is returned as it is.

    Raises
    ------
    ConfigError
        For an unknown name or parameter (the message lists the known ones), and a parameter out of its range.

    Examples
    --------
    >>> parse_distribution("exponential(mean_us=300)")
    Exponential(mean_us=300.0)
    >>> parse_distribution("gauss(mean_us=3)")
    Traceback (most recent call last):
        ...
    torpor._core.ConfigError: unknown distribution 'gauss': known are constant, uniform, exponential, ...
    """
    if isinstance(value, Distribution):
        return value
    if not isinstance(value, str):
        return Constant(value_us=value)
    form = "write it as name(parameter=value, ...)"
    try:
        call = ast.parse(value.strip(), mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            raise ValueError
        kind = DISTRIBUTIONS.get(call.func.id)
        if kind is not None and call.args:
            raise ValueError
        given = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        known_names = ", ".join(DISTRIBUTIONS)
        raise ConfigError(f"distribution {_shown(value)}: {form}; known are {known_names}") from None
    if len(given) < len(call.keywords):
        raise ConfigError(f"distribution {_shown(value)}: {form}, each parameter once")
    if kind is None:
        known_names = ", ".join(DISTRIBUTIONS)
        raise ConfigError(f"unknown distribution {_shown(call.func.id)}: known are {known_names}")
    known = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    for name in given:
        if name not in known:
            raise ConfigError(
                f"distribution {call.func.id} has no parameter {_shown(name)}: it has {', '.join(known)}"
            )
    for name in known:
        if name not in given:
            raise ConfigError(f"distribution {call.func.id} lacks its parameter {name}")
    return kind(**given)
