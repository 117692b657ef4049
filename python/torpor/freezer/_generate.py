# SPDX-License-Identifier: MIT
"""Populations drawn at random."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from torpor import _core
from torpor._checks import shown
from torpor._core import ConfigError
from torpor.distributions import LogNormal
from torpor.freezer.tasks import TaskGroup, Time

D_TAIL_US = LogNormal(median_us=2000, sigma=1)
"""Usual end of a wait in D: most within some milliseconds, one in a hundred beyond 20 ms; assumed."""

# Shares of the sleepers of each sort; each sums to one.
_LEFT_ASLEEP = {"futex": 0.53, "binder": 0.29, "sigtimedwait": 0.10, "nanosleep": 0.04, "af_unix": 0.04}
# In none of these does any kernel from 3.12 on leave a task asleep; waitpid is left out, for 6.1 does.
_WOKEN = {
    "epoll": 0.50,
    "poll": 0.10,
    "select": 0.10,
    "inet_socket": 0.08,
    "pipe": 0.08,
    "other": 0.14,
}


_FORM = "write it as generate(parameter=value, ...)"


def parse_call(text: str, known: Sequence[str]) -> dict[str, Any]:
    """Read the parameters of a call of `Population.generate` from its text; see `Population.from_text`."""
    if not isinstance(text, str):
        raise ConfigError(f"population {shown(text)}: {_FORM}")
    named = f"population {shown(text)}"
    listed = ", ".join(known)
    try:
        call = ast.parse(text.strip(), mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            raise ValueError
        if any(keyword.arg is None for keyword in call.keywords):
            raise ValueError
        given = {str(keyword.arg): _value(keyword.value) for keyword in call.keywords}
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        raise ConfigError(f"{named}: {_FORM}; parameters are {listed}") from None
    if call.func.id != "generate":
        raise ConfigError(f"{named}: nothing is called {shown(call.func.id)}; {_FORM}")
    if len(given) < len(call.keywords):
        raise ConfigError(f"{named}: {_FORM}, each parameter once")
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise ConfigError(f"{named}: generate has no parameter {shown(name)}: it has {listed}{hint}")
    return given


def _value(node: ast.expr) -> object:
    """Value of a parameter; a distribution need not stand in quotes."""
    return ast.unparse(node) if isinstance(node, ast.Call) else ast.literal_eval(node)


def draw_groups(
    *, counts: Mapping[str, int], seed: int, woken_share: float, d_ends_us: Time
) -> list[TaskGroup]:
    """Draw the groups of `Population.generate`; those without a task are left out."""
    for name, value in {**counts, "seed": seed}.items():
        limit = 2**64 - 1 if name == "seed" else 10**7
        if not isinstance(value, Integral) or isinstance(value, bool) or not 0 <= value <= limit:
            raise ConfigError(f"{name}={value!r}: must be a whole number, 0 to {limit}")
    if not isinstance(woken_share, Real) or not 0 <= woken_share <= 1:
        raise ConfigError(f"woken_share={woken_share!r}: must be 0 to 1")
    shares = {site: share * (1 - woken_share) for site, share in _LEFT_ASLEEP.items()}
    shares |= {site: share * woken_share for site, share in _WOKEN.items()}
    upper = np.cumsum(list(shares.values()))
    draws = _core.RandomStream("freezer/population", seed=int(seed)).uniform01(int(counts["tasks"]))
    # The sum of the shares may miss one by a rounding error; a draw must not fall beyond the last site.
    places = np.searchsorted(upper / upper[-1], draws, side="right")
    drawn = np.bincount(places, minlength=len(shares)).tolist()
    groups = [TaskGroup(name=site, count=count, site=site) for site, count in zip(shares, drawn, strict=True)]
    groups += [
        TaskGroup(name="d-tail", count=counts["d_tails"], start="uninterruptible", d_ends_us=d_ends_us),
        TaskGroup(name="zombie", count=counts["zombies"], start="zombie"),
        TaskGroup(name="kfreezable", count=counts["kfreezable"], kind="kfreezable"),
        TaskGroup(name="knofreeze", count=counts["knofreeze"], kind="knofreeze", site="kthread"),
    ]
    return [group for group in groups if group.count]
