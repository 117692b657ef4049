# SPDX-License-Identifier: MIT
"""Policies of the device core as values."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from refusals import refused
from torpor import _core
from torpor.dpm import (
    Bound,
    BreadthFirst,
    Old,
    OldInline,
    Policy,
    Sync,
    Up616,
    Up617,
    as_policy,
    known_policies,
    parse_policy,
)
from torpor.dpm.policies import policy_catalogue

POLICIES = [
    (Sync(), "sync()", "Sync()"),
    (Old(), "old()", "Old()"),
    (Old(eas_off="both", max_active=8), "old(eas_off=both, max_active=8)", None),
    (Old(list_mutex=False), "old(list_mutex=false)", "Old(list_mutex=False)"),
    (OldInline(), "old-inline()", "OldInline()"),
    (BreadthFirst(), "breadth-first()", "BreadthFirst()"),
    (
        BreadthFirst(eas_off="resume"),
        "breadth-first(eas_off=resume)",
        "BreadthFirst(eas_off='resume')",
    ),
    (BreadthFirst(inline_calls=False), "breadth-first(inline_calls=false)", None),
    (Up616(max_active=1), "up-6.16(max_active=1)", "Up616(max_active=1)"),
    (Up617(eas_off="suspend"), "up-6.17(eas_off=suspend)", "Up617(eas_off='suspend')"),
    (Bound(), "bound()", "Bound()"),
]


@pytest.mark.parametrize(
    ("policy", "text", "representation"), POLICIES, ids=[text for _, text, _ in POLICIES]
)
def test_a_policy_reads_back_from_its_text_and_its_representation(
    policy: Policy, text: str, representation: str | None
) -> None:
    assert str(policy) == text
    assert representation in (None, repr(policy))
    assert parse_policy(text) == policy
    assert eval(repr(policy)) == policy
    assert pickle.loads(pickle.dumps(policy)) == policy
    assert copy.deepcopy(policy) == policy
    assert hash(parse_policy(text)) == hash(policy)


def test_policies_of_different_kinds_and_parameters_differ() -> None:
    assert len({policy for policy, _, _ in POLICIES}) == len(POLICIES)


def test_a_policy_tells_its_parameters() -> None:
    policy = BreadthFirst(eas_off="resume", max_active=3, inline_calls=False, list_mutex=False)
    assert (policy.order, policy.eas_off, policy.max_active) == ("breadth-first", "resume", 3)
    assert (policy.inline_calls, policy.list_mutex) == (False, False)
    assert Old().max_active is None


@pytest.mark.parametrize(
    ("policy", "cpus", "limit"),
    [
        (Old(), 8, 512),
        (Old(), 200, 800),
        (BreadthFirst(), 8, 256),
        (Up617(), 8, 1024),
        (Old(max_active=3), 8, 3),
    ],
    ids=str,
)
def test_the_limit_of_active_items_is_that_of_the_workqueue_of_the_time(
    policy: Policy, cpus: int, limit: int
) -> None:
    assert _core.dpm_max_active(policy, cpus) == limit


@pytest.mark.parametrize(
    ("make", "found"),
    [
        (
            lambda: Old(eas_off="always"),
            "old.eas_off: 'always' is unknown; known: none, suspend, resume, both",
        ),
        (lambda: Old(eas_off=3), "old.eas_off=3 is no text"),
        (lambda: Old(max_active=0), "old.max_active=0 is outside 1..2147483647"),
        (lambda: Old(max_active=2.5), "old.max_active=2.5 is no whole number"),
        (lambda: Old(list_mutex=1), "old.list_mutex=1 is neither True nor False"),
        (lambda: BreadthFirst(inline_calls="no"), "breadth-first.inline_calls='no' is neither"),
        (lambda: Policy("oldd"), "order: 'oldd' is unknown; known: sync, old, old-inline"),
        (lambda: Policy("old", max_active=0), "old.max_active=0: must be at least 1"),
        (lambda: Policy("sync", max_active=3), "sync.max_active=3: has no meaning here"),
        (lambda: Policy("old", inline_calls=False), "only breadth-first handles devices in place"),
        (lambda: parse_policy("breadthfirst"), "'breadthfirst' is unknown; known: sync, old"),
        (lambda: parse_policy("sync(max_active=3)"), "max_active"),
        (lambda: parse_policy("old(max_active=many)"), "old.max_active: 'many' is not a whole number"),
        (lambda: parse_policy(3), "policy=3 is no text"),
        (lambda: as_policy(3), "policy=3: must be a policy of the dpm family, or its text"),
    ],
)
def test_a_bad_parameter_is_refused_with_what_is_known(make: Any, found: str) -> None:
    assert found in refused(make)


def test_every_known_policy_can_be_made_with_each_of_its_parameters() -> None:
    values = {"eas_off": "both", "max_active": "7", "list_mutex": "false", "inline_calls": "false"}
    for info in known_policies():
        for parameter in info.parameters:
            text = f"{info.name}({parameter.name}={values[parameter.name]})"
            assert str(parse_policy(text)) == text
        assert info.bound == (info.name == "bound")
        assert info.source


def test_the_catalogue_names_the_family_of_each_policy() -> None:
    rows = policy_catalogue().to_json()["policies"]
    assert {row["family"] for row in rows} == {"dpm"}
    assert [row["name"] for row in rows] == [info.name for info in known_policies()]


@pytest.mark.parametrize("function", [known_policies, parse_policy, as_policy, Old, BreadthFirst])
def test_a_function_is_documented_under_its_own_name(function: Any) -> None:
    assert function.__module__ == "torpor.dpm.policies"
    assert "_dpm_" not in function.__doc__
