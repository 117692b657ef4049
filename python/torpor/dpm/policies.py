# SPDX-License-Identifier: MIT
"""Policies of the dpm family: in which order the device core hands out the work of a phase."""

from __future__ import annotations

from torpor import _core
from torpor._checks import flag, shown, whole
from torpor._core import ConfigError, PolicyInfo
from torpor._core import DpmPolicy as Policy
from torpor.dpm._given import text as spelt
from torpor.policy_table import policy_table
from torpor.report import Report

__all__ = [
    "Bound",
    "BreadthFirst",
    "Old",
    "OldInline",
    "Policy",
    "Sync",
    "Up616",
    "Up617",
    "as_policy",
    "known_policies",
    "parse_policy",
    "policy_catalogue",
]

_MOST_ACTIVE = 2**31 - 1


def _policy(
    order: str,
    eas_off: str,
    max_active: int | None = None,
    *,
    inline_calls: bool = True,
    list_mutex: bool = True,
) -> Policy:
    limit = None if max_active is None else whole(f"{order}.max_active", max_active, 1, _MOST_ACTIVE)
    return Policy(
        order,
        eas_off=spelt(f"{order}.eas_off", eas_off),
        max_active=limit,
        inline_calls=flag(f"{order}.inline_calls", inline_calls),
        list_mutex=flag(f"{order}.list_mutex", list_mutex),
    )


def Sync(*, eas_off: str = "none") -> Policy:  # noqa: N802
    """One device after the other in the main thread (``pm_async=0``, every kernel).

    Parameters
    ----------
    eas_off : {"none", "suspend", "resume", "both"}
        When EAS is switched off.

    Raises
    ------
    ConfigError
        For what is none of these.

    Examples
    --------
    >>> str(Sync())
    'sync()'
    """
    return _policy("sync", eas_off)


def Old(*, eas_off: str = "none", max_active: int | None = None, list_mutex: bool = True) -> Policy:  # noqa: N802
    """v2.6.34 to v6.15: resume queues every async device before it walks the list, suspend in its walk.

    Workers wait for what is missing (commit 3e999770ac1c).

    Parameters
    ----------
    eas_off : {"none", "suspend", "resume", "both"}
        When EAS is switched off.
    max_active : int or None
        Most work items that are active at a time; None is the shared unbound workqueue's, 512 or 4 per CPU.
    list_mutex : bool
        The mutex of the device lists is taken; without it, what that costs can be told.

    Raises
    ------
    ConfigError
        Naming the parameter, its value and the limit.

    Examples
    --------
    >>> Old(max_active=8)
    Old(max_active=8)
    """
    return _policy("old", eas_off, max_active, list_mutex=list_mutex)


def OldInline(*, eas_off: str = "none", max_active: int | None = None, list_mutex: bool = True) -> Policy:  # noqa: N802
    """6.1.y and 6.6.y stable kernels, some: as `Old`, but resume, too, queues in its walk (7839d0078e0d).

    Parameters
    ----------
    eas_off, max_active, list_mutex
        As of `Old`.

    Examples
    --------
    >>> str(OldInline())
    'old-inline()'
    """
    return _policy("old-inline", eas_off, max_active, list_mutex=list_mutex)


def BreadthFirst(  # noqa: N802
    *,
    eas_off: str = "none",
    max_active: int | None = None,
    inline_calls: bool = True,
    list_mutex: bool = True,
) -> Policy:
    """S. Kannan's series of 14 Nov 2024: a device is queued when all that it waits for is done.

    Workers never wait; devices without callbacks are handled in place.

    Parameters
    ----------
    eas_off : {"none", "suspend", "resume", "both"}
        When EAS is switched off; patch 5 of the series does so on resume.
    max_active : int or None
        Most work items that are active at a time; None is the async workqueue's of v6.12, 256.
    inline_calls : bool
        Devices without callbacks are handled in place, not by a worker.
    list_mutex : bool
        The mutex of the device lists is taken.

    Raises
    ------
    ConfigError
        Naming the parameter, its value and the limit.

    Examples
    --------
    >>> str(BreadthFirst(eas_off="resume"))
    'breadth-first(eas_off=resume)'
    >>> BreadthFirst(eas_off="always")
    Traceback (most recent call last):
        ...
    torpor._core.ConfigError: breadth-first.eas_off: 'always' is unknown; known: none, suspend, resume, both
    """
    return _policy("breadth-first", eas_off, max_active, inline_calls=inline_calls, list_mutex=list_mutex)


def Up616(*, eas_off: str = "none", max_active: int | None = None, list_mutex: bool = True) -> Policy:  # noqa: N802
    """v6.16: roots (leaves) first, then all others; a finished device starts its async children (parent).

    They are started whether they are ready or not (commits 8887abccf8aa, ebd6884167ea).

    Parameters
    ----------
    eas_off, list_mutex
        As of `Old`.
    max_active : int or None
        Most work items that are active at a time; None is the async workqueue's from v6.13 on, 1024.

    Examples
    --------
    >>> str(Up616())
    'up-6.16()'
    """
    return _policy("up-6.16", eas_off, max_active, list_mutex=list_mutex)


def Up617(*, eas_off: str = "none", max_active: int | None = None, list_mutex: bool = True) -> Policy:  # noqa: N802
    """v6.17: as `Up616`, with device links as well (commits ed18738fff02, 06799631d522).

    Parameters
    ----------
    eas_off, max_active, list_mutex
        As of `Up616`.

    Examples
    --------
    >>> str(Up617())
    'up-6.17()'
    """
    return _policy("up-6.17", eas_off, max_active, list_mutex=list_mutex)


def Bound(*, eas_off: str = "none") -> Policy:  # noqa: N802
    """No policy: a list schedule by critical path, all devices async, without any overhead.

    Parameters
    ----------
    eas_off : {"none", "suspend", "resume", "both"}
        As of `Sync`.

    Examples
    --------
    >>> str(Bound())
    'bound()'
    """
    return _policy("bound", eas_off)


def known_policies() -> list[PolicyInfo]:
    """Every policy with its parameters, defaults and source.

    Examples
    --------
    >>> [info.name for info in known_policies()]
    ['sync', 'old', 'old-inline', 'breadth-first', 'up-6.16', 'up-6.17', 'bound']
    """
    return _core.known_dpm_policies()


def parse_policy(text: str) -> Policy:
    """Policy of a text such as ``"old"`` or ``"breadth-first(eas_off=resume)"``.

    Parameters
    ----------
    text : str
        Text form of a policy.

    Raises
    ------
    ConfigError
        For an unknown policy or parameter; the message lists the known ones.

    Examples
    --------
    >>> parse_policy("breadth-first(eas_off=resume)")
    BreadthFirst(eas_off='resume')
    """
    return _core.parse_dpm_policy(spelt("policy", text))


def as_policy(policy: Policy | str) -> Policy:
    """Return the policy itself, or the one that a text such as ``"old"`` stands for.

    Parameters
    ----------
    policy : Policy or str
        A policy or its text form.

    Raises
    ------
    ConfigError
        For an unknown policy or parameter (the message lists the known ones), and what is no policy.

    Examples
    --------
    >>> as_policy("old") == as_policy(Old()) == Old()
    True
    """
    if isinstance(policy, str):
        return parse_policy(policy)
    if not isinstance(policy, Policy):
        raise ConfigError(f"policy={shown(policy)}: must be a policy of the dpm family, or its text")
    return policy


def policy_catalogue() -> Report:
    """Table of the policies with their parameters, defaults and sources.

    Examples
    --------
    >>> "breadth-first" in policy_catalogue().to_text()
    True
    """
    return policy_table("dpm", known_policies())
