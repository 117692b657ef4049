# SPDX-License-Identifier: MIT
"""Populations drawn at random."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real

import numpy as np

from torpor import _core
from torpor._core import ConfigError
from torpor.distributions import LogNormal
from torpor.freezer.tasks import TaskGroup, Time

D_TAIL_US = LogNormal(median_us=2000, sigma=1)
"""Usual end of a wait in D: most within some milliseconds, one in a hundred beyond 20 ms; assumed."""

# Shares of the sleepers of each sort; each sums to one.
_LEFT_ASLEEP = {"futex": 0.53, "binder": 0.29, "sigtimedwait": 0.10, "nanosleep": 0.04, "af_unix": 0.04}
_WOKEN = {
    "epoll": 0.50,
    "poll": 0.10,
    "select": 0.10,
    "inet_socket": 0.06,
    "pipe": 0.06,
    "waitpid": 0.06,
    "other": 0.12,
}


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
