"""Policies of the idle family: cpuidle governors by kernel release, and bounds that are no governors."""

from __future__ import annotations

from torpor._checks import shown
from torpor._core import (
    ConfigError,
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
from torpor.policy_table import policy_table
from torpor.report import Report

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
        For an unknown policy, version or parameter (the message lists the known ones), and what is no policy.

    Examples
    --------
    >>> str(as_policy("menu(version=4.18, loop=leo)"))
    'menu(version=4.18, loop=leo)'
    """
    if isinstance(policy, str):
        return parse_policy(policy)
    if not isinstance(policy, Policy):
        raise ConfigError(f"policy={shown(policy)}: must be a policy of the idle family, or its text")
    return policy


def policy_catalogue() -> Report:
    """Table of the policies with their versions, parameters, defaults and sources.

    Examples
    --------
    >>> "haltpoll" in policy_catalogue().to_text()
    True
    """
    return policy_table("idle", known_policies())
