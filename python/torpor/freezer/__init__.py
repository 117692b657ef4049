# SPDX-License-Identifier: MIT
"""The freezer family: freezing tasks before a suspend, and thawing them after it."""

from torpor.freezer.capture import Capture
from torpor.freezer.capture_fit import fit_four_cpus, fit_one_cpu
from torpor.freezer.policies import (
    Cgroup1,
    Cgroup2,
    Freezer,
    Policy,
    as_policy,
    known_policies,
    parse_policy,
    sites,
)
from torpor.freezer.population import Population, TaskGroup
from torpor.freezer.runs import Runs
from torpor.freezer.scenario import Scenario
from torpor.freezer.summary import summarise
from torpor.freezer.timeline import Timeline
from torpor.freezer.validate import ValidateReport, validate_captures
from torpor.freezer.work import WorkItem

__all__ = [
    "Capture",
    "Cgroup1",
    "Cgroup2",
    "Freezer",
    "Policy",
    "Population",
    "Runs",
    "Scenario",
    "TaskGroup",
    "Timeline",
    "ValidateReport",
    "WorkItem",
    "as_policy",
    "fit_four_cpus",
    "fit_one_cpu",
    "known_policies",
    "parse_policy",
    "sites",
    "summarise",
    "validate_captures",
]
