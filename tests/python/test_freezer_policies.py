# SPDX-License-Identifier: MIT
"""Freezers as values, and the table of blocking sites."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import torpor
from torpor import _core
from torpor.freezer import Cgroup1, Cgroup2, Freezer, Policy, as_policy, known_policies, parse_policy, sites

POLICIES = [
    (Freezer(), "freezer(version=v6.7)", "Freezer(version='v6.7')"),
    (Freezer("v3.9"), "freezer(version=v3.9)", "Freezer(version='v3.9')"),
    (Freezer("v3.11"), "freezer(version=full)", "Freezer(version='full')"),
    (
        Freezer("full", cap_us=4000, growth=1.5, clamp=True),
        "freezer(version=full, growth=1.5, cap_us=4000, clamp=true)",
        "Freezer(version='full', growth=1.5, cap_us=4000, clamp=True)",
    ),
    (
        Freezer("p2", msleep_ms=20),
        "freezer(version=p2, msleep_ms=20)",
        "Freezer(version='p2', msleep_ms=20)",
    ),
    (
        Freezer("v6.1", sleep="msleep"),
        "freezer(version=v6.1, sleep=msleep)",
        "Freezer(version='v6.1', sleep='msleep')",
    ),
    (
        Freezer("v3.9", sleep="backoff", first_us=500, lower=0.25),
        "freezer(version=v3.9, sleep=backoff, first_us=500, lower=0.25)",
        "Freezer(version='v3.9', sleep='backoff', first_us=500, lower=0.25)",
    ),
    (
        Freezer("p1", sleep="notify"),
        "freezer(version=p1, sleep=notify)",
        "Freezer(version='p1', sleep='notify')",
    ),
    (Freezer("ideal"), "freezer(version=ideal)", "Freezer(version='ideal')"),
    (
        Cgroup1(poll_us=0, tries=3),
        "cgroup1(version=v3.12, poll_us=0, tries=3)",
        "Cgroup1(version='v3.12', poll_us=0, tries=3)",
    ),
    (Cgroup2(), "cgroup2()", "Cgroup2(since_notification_us=10000)"),
]


@pytest.mark.parametrize(
    ("policy", "text", "representation"), POLICIES, ids=[text for _, text, _ in POLICIES]
)
def test_a_policy_reads_back_from_its_text_and_its_representation(
    policy: Policy, text: str, representation: str
) -> None:
    assert str(policy) == text
    assert repr(policy) == representation
    assert parse_policy(text) == policy
    assert eval(representation) == policy
    assert pickle.loads(pickle.dumps(policy)) == policy
    assert copy.deepcopy(policy) == policy
    assert hash(parse_policy(text)) == hash(policy)


def test_policies_of_different_kinds_and_parameters_differ() -> None:
    assert len({policy for policy, _, _ in POLICIES}) == len(POLICIES)


def test_a_version_by_itself_is_the_freezer_of_that_kernel() -> None:
    for version in _core.freezer_version_names():
        assert as_policy(version) == Freezer(version)
        assert as_policy(Freezer(version)) == Freezer(version)


def test_a_policy_tells_the_parameters_of_its_sleep() -> None:
    old, new = Freezer("v3.9"), Freezer("full")
    assert (old.sleep, old.msleep_ms, old.cap_us) == ("msleep", 10, None)
    assert (new.sleep, new.msleep_ms, new.first_us, new.cap_us) == ("backoff", None, 1000, 8000)
    assert (new.growth, new.lower, new.clamp) == (2.0, 0.5, False)
    assert (Cgroup1().poll_us, Cgroup1().tries, Cgroup1().version) == (10_000, 1000, "v3.12")
    assert Cgroup2().since_notification_us == 10_000


@pytest.mark.parametrize(
    ("make", "found"),
    [
        (lambda: Freezer("v3.10"), r"freezer\.version: 'v3\.10' is unknown; known: v3\.9, p1"),
        (lambda: Freezer("v3.9", cap_us=3), r"freezer\.cap_us: is no parameter of sleep 'msleep'"),
        (lambda: Freezer("full", msleep_ms=3), r"freezer\.msleep_ms: is no parameter of sleep 'backoff'"),
        (lambda: Freezer("full", sleep="nap"), r"freezer\.sleep: 'nap' is unknown; known: msleep"),
        (lambda: Freezer("full", first_us=0), r"freezer\.first_us: 0 is out of range"),
        (lambda: Freezer("full", growth=0.5), r"freezer\.growth: 0\.5 is out of range"),
        (lambda: Freezer("full", growth=float("nan")), r"freezer\.growth: nan is out of range"),
        (lambda: Freezer("full", lower=1.5), r"freezer\.lower: 1\.5 is out of range"),
        (lambda: Freezer("v3.9", msleep_ms=-1), r"freezer\.msleep_ms: -1 is out of range"),
        (lambda: Cgroup1("v9"), r"cgroup1\.version: 'v9' is unknown"),
        (lambda: Cgroup1(tries=0), r"cgroup1\.tries: 0 is out of range"),
        (lambda: Cgroup2(since_notification_us=-1), r"cgroup2\.since_notification_us: -1 is out of range"),
        (lambda: parse_policy("freezr"), r"'freezr' is unknown; known: freezer, cgroup1, cgroup2, or a ver"),
        (lambda: parse_policy("full(cap=3)"), r"cap: is no parameter of freezer"),
        (lambda: parse_policy("full(cap_us=three)"), r"freezer\.cap_us: 'three' is not a whole number"),
    ],
)
def test_a_bad_parameter_is_refused_with_what_is_known(make: object, found: str) -> None:
    with pytest.raises(torpor.ConfigError, match=found):
        make()  # type: ignore[operator]


def test_every_known_policy_can_be_made_with_its_versions() -> None:
    infos = {info.name: info for info in known_policies()}
    assert list(infos) == ["freezer", "cgroup1", "cgroup2"]
    for info in infos.values():
        for version in info.versions:
            assert f"version={version}" in str(parse_policy(f"{info.name}(version={version})"))
    assert infos["freezer"].versions == _core.freezer_version_names()


def test_the_table_of_sites_tells_what_each_kernel_does() -> None:
    table = {row["site"]: row for row in sites().to_json()["sites"]}
    assert list(table) == _core.freezer_site_names()
    assert table["epoll"]["interrupted"] == "visible_error"
    handling = {
        site: [row["handling"][v] for v in ("v3.9", "full", "v3.12", "v6.1")] for site, row in table.items()
    }
    assert handling["futex"] == ["wake", "skip", "skip", "mark"]
    assert handling["epoll"] == ["wake", "skip", "wake", "wake"]
    assert handling["vfork"] == ["request", "skip", "skip", "mark"]
    assert handling["pipe"] == ["wake", "wake", "wake", "wake"]
    assert all(row["source"] for row in table.values())


def test_names_of_kinds_and_starts_are_listed() -> None:
    assert _core.freezer_kind_names() == ["user", "kfreezable", "knofreeze"]
    assert _core.freezer_start_names()[:2] == ["blocked", "uninterruptible"]


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"kind": "kernel"}, r"tasks\[a\]\.kind: 'kernel' is unknown; known: user, "),
        ({"site": "epol"}, r"tasks\[a\]\.site: 'epol' is unknown; known: binder, epoll, "),
        ({"start": "asleep"}, r"tasks\[a\]\.start: 'asleep' is unknown; known: blocked, "),
    ],
)
def test_the_engine_names_what_a_group_cannot_be(given: dict[str, str], found: str) -> None:
    with pytest.raises(torpor.ConfigError, match=found):
        _core.TaskGroup("a", **given)  # type: ignore[arg-type]


def test_what_is_known_of_a_policy_shows_itself() -> None:
    info = {info.name: info for info in known_policies()}["cgroup1"]
    assert repr(info) == "<PolicyInfo cgroup1(version, poll_us, tries)>"
    poll = info.parameters[1]
    assert repr(poll) == f"<ParameterInfo poll_us={poll.default_value}>"


@pytest.mark.parametrize("function", [known_policies, parse_policy, as_policy])
def test_a_function_is_documented_under_its_own_name(function: Any) -> None:
    assert function.__module__ == "torpor.freezer.policies"
    assert "_freezer_" not in function.__doc__
