# SPDX-License-Identifier: MIT
"""Work on freezable workqueues."""

from __future__ import annotations

import html
from dataclasses import dataclass

from torpor import _core
from torpor._checks import plain, shown, time_ns
from torpor._core import ConfigError
from torpor.distributions import Distribution, parse_distribution

__all__ = ["WorkItem", "engine_distribution"]


def engine_distribution(value: float | str | Distribution, name: str) -> _core.Distribution:
    """Return the engine's record of a time that is drawn.

    Parameters
    ----------
    value : float, str or Distribution, microseconds
        A number, a distribution, or the text of one.
    name : str
        What it is called in errors.

    Raises
    ------
    ConfigError
        For a time that is negative or none, and a distribution that cannot be read.

    Examples
    --------
    >>> engine_distribution(5, "at") == engine_distribution("constant(value_us=5)", "at")
    True
    """
    try:
        chosen = parse_distribution(value)
    except ConfigError as error:
        raise ConfigError(f"{name}={shown(value)}: {error}") from None
    record: _core.Distribution = getattr(_core.Distribution, chosen.text_name)(**chosen.parameters_ns())
    return record


@dataclass(frozen=True, kw_only=True)
class WorkItem:
    """One item of a freezable workqueue.

    What is active when the kernel loop begins must finish first; what is queued later is held until the thaw.

    Parameters
    ----------
    queued_at_us : float, microseconds
        When it is queued, from the start of the first freeze.
    runs_us : float, str or Distribution, microseconds
        How long it then takes.

    Raises
    ------
    ConfigError
        For a time that is negative or none, and a distribution that cannot be read.

    Examples
    --------
    >>> WorkItem(runs_us=4022)
    WorkItem(queued_at_us=0, runs_us=4022)
    """

    queued_at_us: float = 0
    runs_us: float | str | Distribution = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "queued_at_us", plain(self.queued_at_us))
        object.__setattr__(self, "runs_us", plain(self.runs_us))
        self.engine_record()

    def engine_record(self) -> _core.WorkItem:
        """Record that the engine reads."""
        return _core.WorkItem(
            queued_at_ns=time_ns(self.queued_at_us, "WorkItem.queued_at_us", 0),
            runs_ns=engine_distribution(self.runs_us, "WorkItem.runs_us"),
        )

    def _repr_html_(self) -> str:
        return f"<code>{html.escape(repr(self))}</code>"
