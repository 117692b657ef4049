"""Policies of the idle family: cpuidle governors by kernel release, and bounds that are no governors."""

from __future__ import annotations

from torpor._core import (
    DelayedOracle,
    Fixed,
    Haltpoll,
    Ladder,
    Menu,
    Oracle,
    Teo,
    known_policies,
    parse_policy,
)
from torpor.report import Report
from torpor.tables import Column, Table

__all__ = [
    "DelayedOracle",
    "Fixed",
    "Haltpoll",
    "Ladder",
    "Menu",
    "Oracle",
    "Policy",
    "Teo",
    "as_policy",
    "known_policies",
    "parse_policy",
    "policy_catalogue",
]

Policy = Menu | Teo | Ladder | Haltpoll | Fixed | Oracle | DelayedOracle


def as_policy(policy: Policy | str) -> Policy:
    """Return the policy itself, or the one that a text such as ``"menu(version=4.18)"`` stands for.

    Parameters
    ----------
    policy : policy or str
        A policy or its text form.

    Raises
    ------
    ConfigError
        For an unknown policy, version or parameter; the message lists the known ones.

    Examples
    --------
    >>> str(as_policy("menu(version=4.18, loop=leo)"))
    'menu(version=4.18, loop=leo)'
    """
    return parse_policy(policy) if isinstance(policy, str) else policy


def policy_catalogue() -> Report:
    """Table of the policies with their versions, parameters, defaults and sources.

    Examples
    --------
    >>> "haltpoll" in policy_catalogue().to_text()
    True
    """
    known = known_policies()
    rows = [
        [
            info.name,
            "bound" if info.bound else "policy",
            ", ".join(info.versions),
            ", ".join(
                p.name if not p.default_value else f"{p.name}={p.default_value}" for p in info.parameters
            ),
            info.description,
            info.source,
        ]
        for info in known
    ]
    columns = [
        Column("name", align="left"),
        Column("kind", align="left"),
        Column("versions", align="left", wrap=26),
        Column("parameters", align="left", wrap=26),
        Column("what it does", align="left", wrap=34),
        Column("source", align="left", wrap=30),
    ]
    data = {
        "policies": [
            {
                "name": info.name,
                "bound": info.bound,
                "versions": list(info.versions),
                "parameters": [
                    {"name": p.name, "default": p.default_value or None, "description": p.description}
                    for p in info.parameters
                ],
                "description": info.description,
                "source": info.source,
            }
            for info in known
        ]
    }
    return Report([Table("Policies of the idle family", columns, rows)], data)
