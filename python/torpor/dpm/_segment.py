# SPDX-License-Identifier: MIT
"""The pieces of a callback."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torpor._checks import shown, time_ns, whole
from torpor._core import ConfigError
from torpor.dpm._given import text

__all__ = ["Segment"]

_LONGEST_US = 10**12
_LONGEST_NS = _LONGEST_US * 1000
_MOST_TICKS = 10**8
_MOST_OF_FIRST = {
    "cpu": _LONGEST_NS,
    "sleep": _LONGEST_NS,
    "ticks": _MOST_TICKS,
    "range": _LONGEST_NS,
    "lock": 0,
    "unlock": 0,
}


@dataclass(frozen=True, slots=True, repr=False)
class Segment:
    """What a callback does next; made by the methods below.

    Parameters
    ----------
    kind : {"cpu", "sleep", "ticks", "range", "lock", "unlock"}
        Which of the methods.
    first, second : int
        Nanoseconds: CPU work of the reference CPU and what does not depend on the CPU; length of a sleep;
        both ends of a range. Number of ticks. 0 where there is nothing to say.
    name : str
        Of the lock.

    Raises
    ------
    ConfigError
        Naming the value and the limit.

    Examples
    --------
    >>> Segment.cpu(12.5, fixed_us=3)
    Segment.cpu(12.5, fixed_us=3)
    >>> Segment.cpu(12.5) == Segment("cpu", 12500)
    True
    """

    kind: str
    first: int = 0
    second: int = 0
    name: str = ""

    def __post_init__(self) -> None:
        # Often made by the thousand: look closer only where something is unusual.
        most = _MOST_OF_FIRST.get(self.kind) if type(self.kind) is str else None
        if most is None:
            raise ConfigError(f"Segment.kind={shown(self.kind)}: known: {', '.join(_MOST_OF_FIRST)}")
        if type(self.first) is not int or not 0 <= self.first <= most:
            object.__setattr__(self, "first", whole("Segment.first", self.first, 0, most))
        if self.kind == "ticks" and self.first == 0:
            raise ConfigError(f"Segment.first=0 is outside 1..{_MOST_TICKS}")
        if type(self.second) is not int or self.second != 0:
            low, high = {"cpu": (0, most), "range": (self.first, most)}.get(self.kind, (0, 0))
            object.__setattr__(self, "second", whole("Segment.second", self.second, low, high))
        elif self.kind == "range" and self.first > 0:
            raise ConfigError(f"Segment.second=0 is outside {self.first}..{most}")
        if (text("Segment.name", self.name) == "") == (self.kind in ("lock", "unlock")):
            what = (
                "has no name" if self.name == "" else f"has a name ({shown(self.name)}), which is for locks"
            )
            raise ConfigError(f"Segment.{self.kind} {what}")

    @classmethod
    def cpu(cls, us: float, fixed_us: float = 0) -> Segment:
        """CPU work.

        Parameters
        ----------
        us : float, microseconds
            Work of the reference CPU; another one takes longer by its rate.
        fixed_us : float, microseconds
            Time that the CPU is held besides, whatever its rate: register access, polling.

        Examples
        --------
        >>> Segment.cpu(40)
        Segment.cpu(40)
        """
        return cls("cpu", time_ns(us, "us", 0, _LONGEST_US), time_ns(fixed_us, "fixed_us", 0, _LONGEST_US))

    @classmethod
    def sleep(cls, us: float) -> Segment:
        """Sleep by a high-resolution timer, in microseconds.

        Examples
        --------
        >>> Segment.sleep(-1)
        Traceback (most recent call last):
            ...
        torpor._core.ConfigError: us=-1 is outside 0..1000000000000 microseconds
        """
        return cls("sleep", time_ns(us, "us", 0, _LONGEST_US))

    @classmethod
    def ticks(cls, count: int) -> Segment:
        """Sleep through the timer wheel, until the count-th tick from now.

        Examples
        --------
        >>> Segment.ticks(3)
        Segment.ticks(3)
        """
        return cls("ticks", whole("count", count, 1, _MOST_TICKS))

    @classmethod
    def range(cls, low_us: float, high_us: float) -> Segment:
        """Sleep that ends with a timer interrupt within the range, else at its far end; microseconds.

        Examples
        --------
        >>> Segment.range(1000, 2000)
        Segment.range(1000, 2000)
        >>> Segment.range(1000, 500)
        Traceback (most recent call last):
            ...
        torpor._core.ConfigError: high_us=500 is outside 1000..1000000000000 microseconds
        """
        low_ns = time_ns(low_us, "low_us", 0, _LONGEST_US)
        high_ns = time_ns(high_us, "high_us", 0, _LONGEST_US)
        if high_ns < low_ns:
            raise ConfigError(f"high_us={high_us} is outside {low_us}..{_LONGEST_US} microseconds")
        return cls("range", low_ns, high_ns)

    @classmethod
    def lock(cls, name: str) -> Segment:
        """Take a shared lock; those that wait for it get it in their order.

        Examples
        --------
        >>> Segment.lock("clk")
        Segment.lock('clk')
        """
        return cls("lock", name=name)

    @classmethod
    def unlock(cls, name: str) -> Segment:
        """Give the lock back.

        Examples
        --------
        >>> Segment.unlock("clk")
        Segment.unlock('clk')
        """
        return cls("unlock", name=name)

    @classmethod
    def from_record(cls, record: Segment | Mapping[str, object], key: str = "Segment") -> Segment:
        """Make a segment of a mapping.

        Parameters
        ----------
        record : Segment or mapping
            A Segment stays what it is. ``{"cpu_us": 40, "fixed_us": 5}``, either may be missing;
            ``{"sleep_us": 100}``, ``{"ticks": 2}``, ``{"range_us": [100, 200]}``, ``{"lock": "clk"}`` or
            ``{"unlock": "clk"}``.
        key : str
            Where it stands, for complaints.

        Raises
        ------
        ConfigError
            Naming the key, the value and the limit.

        Examples
        --------
        >>> Segment.from_record({"range_us": [100, 200]})
        Segment.range(100, 200)
        """
        if isinstance(record, Segment):
            return record
        given: Mapping[str, Any] = record if isinstance(record, Mapping) else {}
        try:
            if given and given.keys() <= {"cpu_us", "fixed_us"}:
                return cls.cpu(given.get("cpu_us", 0), given.get("fixed_us", 0))
            if given.keys() == {"range_us"}:
                ends_us = given["range_us"]
                return cls.range(*ends_us)
            for name, make in (
                ("sleep_us", cls.sleep),
                ("ticks", cls.ticks),
                ("lock", cls.lock),
                ("unlock", cls.unlock),
            ):
                if given.keys() == {name}:
                    return make(given[name])
        except (TypeError, ValueError) as error:
            reason = str(error) if isinstance(error, ConfigError) else "range_us is a pair of microseconds"
            raise ConfigError(f"{key}={shown(record)}: {reason}") from None
        raise ConfigError(
            f"{key}={shown(record)} is no segment; known: cpu_us with fixed_us, sleep_us, ticks, range_us, "
            "lock, unlock"
        )

    @property
    def cpu_ns(self) -> int:
        """CPU time on the reference CPU."""
        return self.first + self.second if self.kind == "cpu" else 0

    @property
    def sleep_ns(self) -> int:
        """Longest time asleep; 0 for ticks, whose length depends on the kernel."""
        return {"sleep": self.first, "range": self.second}.get(self.kind, 0)

    def __repr__(self) -> str:
        numbers = [repr(ns // 1000 if ns % 1000 == 0 else ns / 1000) for ns in (self.first, self.second)]
        if self.kind == "cpu":
            inside = f"{numbers[0]}, fixed_us={numbers[1]}" if self.second else numbers[0]
        elif self.kind == "range":
            inside = ", ".join(numbers)
        elif self.kind == "ticks":
            inside = repr(self.first)
        else:
            inside = numbers[0] if self.kind == "sleep" else repr(self.name)
        return f"Segment.{self.kind}({inside})"
