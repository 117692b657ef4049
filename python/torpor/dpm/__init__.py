# SPDX-License-Identifier: MIT
"""The dpm family: suspending and resuming devices, by the device core of each kernel."""

from torpor.dpm._critical_path import critical_path, slack
from torpor.dpm.capture import DeviceCapture, capture_labels
from torpor.dpm.compare import run_policies
from torpor.dpm.generator import Generator
from torpor.dpm.graph import PHASES, Device, DeviceGraph, Link, Segment
from torpor.dpm.policies import (
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
from torpor.dpm.runs import Runs
from torpor.dpm.scenario import Scenario
from torpor.dpm.summary import summarise
from torpor.dpm.timeline import Timeline
from torpor.dpm.validate import ValidateReport, validate_captures

__all__ = [
    "PHASES",
    "Bound",
    "BreadthFirst",
    "Device",
    "DeviceCapture",
    "DeviceGraph",
    "Generator",
    "Link",
    "Old",
    "OldInline",
    "Policy",
    "Runs",
    "Scenario",
    "Segment",
    "Sync",
    "Timeline",
    "Up616",
    "Up617",
    "ValidateReport",
    "as_policy",
    "capture_labels",
    "critical_path",
    "known_policies",
    "parse_policy",
    "run_policies",
    "slack",
    "summarise",
    "validate_captures",
]
