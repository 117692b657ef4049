"""The idle family: which idle state a CPU enters, and what becomes of the scheduler tick."""

from torpor.idle.golden import GoldenReport, check_golden
from torpor.idle.policies import (
    DelayedOracle,
    Fixed,
    Haltpoll,
    Ladder,
    Menu,
    Oracle,
    Policy,
    Teo,
    as_policy,
    known_policies,
    parse_policy,
)
from torpor.idle.replay import ReplayReport, replay
from torpor.idle.runs import Runs
from torpor.idle.scenario import Scenario
from torpor.idle.summary import summarise
from torpor.idle.timeline import Timeline
from torpor.idle.validate import ValidateReport, validate_captures
from torpor.idle.workloads import (
    BurstyInterrupts,
    IpiTimerBurst,
    LognormalInterrupts,
    PeriodicTimer,
    PoissonInterrupts,
    RecordedInterrupts,
    TimerLoad,
    Workload,
    parse_workload,
)

__all__ = [
    "BurstyInterrupts",
    "DelayedOracle",
    "Fixed",
    "GoldenReport",
    "Haltpoll",
    "IpiTimerBurst",
    "Ladder",
    "LognormalInterrupts",
    "Menu",
    "Oracle",
    "PeriodicTimer",
    "PoissonInterrupts",
    "Policy",
    "RecordedInterrupts",
    "ReplayReport",
    "Runs",
    "Scenario",
    "Teo",
    "Timeline",
    "TimerLoad",
    "ValidateReport",
    "Workload",
    "as_policy",
    "check_golden",
    "known_policies",
    "parse_policy",
    "parse_workload",
    "replay",
    "summarise",
    "validate_captures",
]
