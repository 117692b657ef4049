# SPDX-License-Identifier: MIT
"""Policies of the freezer family: the system freezer by kernel, and the two cgroup freezers."""

from __future__ import annotations

from torpor import _core
from torpor._checks import shown, word
from torpor._core import Cgroup1, Cgroup2, ConfigError, Freezer, PolicyInfo
from torpor.policy_table import policy_table
from torpor.report import Report
from torpor.tables import Column, Table

__all__ = [
    "Cgroup1",
    "Cgroup2",
    "Freezer",
    "Policy",
    "as_policy",
    "known_policies",
    "parse_policy",
    "policy_catalogue",
    "sites",
]

Policy = Freezer | Cgroup1 | Cgroup2


def known_policies() -> list[PolicyInfo]:
    """Every policy with its versions, parameters, defaults and source.

    Examples
    --------
    >>> [info.name for info in known_policies()]
    ['freezer', 'cgroup1', 'cgroup2']
    """
    return _core.known_freezer_policies()


def parse_policy(text: str) -> Policy:
    """Policy of a text such as ``"v3.9"`` or ``"freezer(version=full, cap_us=4000)"``.

    Parameters
    ----------
    text : str
        Text form of a policy; a version by itself is the freezer of that kernel.

    Raises
    ------
    ConfigError
        For an unknown policy, version or parameter; the message lists the known ones.

    Examples
    --------
    >>> parse_policy("v3.9")
    Freezer(version='v3.9')
    """
    return _core.parse_freezer_policy(word("policy", text))


def as_policy(policy: Policy | str) -> Policy:
    """Return the policy itself, or the one that a text such as ``"v3.9"`` stands for.

    Parameters
    ----------
    policy : policy or str
        A policy or its text form; a version by itself is the freezer of that kernel.

    Raises
    ------
    ConfigError
        For an unknown policy, version or parameter (the message lists the known ones), and what is no policy.

    Examples
    --------
    >>> str(as_policy("full(cap_us=4000)"))
    'freezer(version=full, cap_us=4000)'
    >>> as_policy("skip-only") == Freezer("skip-only")
    True
    """
    if isinstance(policy, str):
        return parse_policy(policy)
    if not isinstance(policy, Policy):
        raise ConfigError(f"policy={shown(policy)}: must be a policy of the freezer family, or its text")
    return policy


def policy_catalogue() -> Report:
    """Table of the policies with their versions, parameters, defaults and sources.

    Examples
    --------
    >>> "cgroup2" in policy_catalogue().to_text()
    True
    """
    return policy_table("freezer", known_policies())


def sites() -> Report:
    """Table of the blocking sites: what a signal does to a call there, and how each kernel treats a sleeper.

    ``wake``: woken to freeze. ``request``: signalled, neither woken nor counted. ``skip``: counted as frozen
    where it sleeps. ``mark``: its state is set to frozen where it sleeps.

    Examples
    --------
    >>> epoll = next(row for row in sites().to_json()["sites"] if row["site"] == "epoll")
    >>> epoll["handling"]["full"], epoll["handling"]["v6.1"]
    ('skip', 'wake')
    """
    known = _core.freezer_sites()
    versions = _core.freezer_version_names()
    columns = [
        Column("site", align="left"),
        Column("interrupted", align="left"),
        *(Column(version, align="left") for version in versions),
        Column("source", align="left", wrap=40),
    ]
    rows = [
        [row["site"], row["interrupted"], *(row["handling"][version] for version in versions), row["source"]]
        for row in known
    ]
    return Report([Table("Blocking sites", columns, rows)], {"sites": known})
