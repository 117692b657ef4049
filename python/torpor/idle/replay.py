# SPDX-License-Identifier: MIT
"""Recorded wakeups through other policies, against the oracle and against the record."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torpor import _core
from torpor._core import ConfigError
from torpor.board import Board
from torpor.idle.policies import DelayedOracle, Oracle, Policy, as_policy
from torpor.idle.replay_report import CpuReplay, PolicyReplay, ReplayReport
from torpor.idle.trace import IdleTrace
from torpor.importers.ftrace import FtraceLog, read_ftrace

__all__ = ["ReplayReport", "replay"]

RECORDED = "recorded"
"""Name of the row that holds what the trace itself did."""


def _microseconds(latency: dict[str, int]) -> list[float]:
    names = ("p50_ns", "p95_ns", "p99_ns", "max_ns")
    return [latency[name] * 1e-3 if latency["wakeups"] else math.nan for name in names]


def _cpu_replay(cpu: int, names: Sequence[str], score: dict[str, Any], oracle_mj: float) -> CpuReplay:
    def by_state(key: str) -> dict[str, int]:
        return {name: int(value) for name, value in zip(names, score[key], strict=False)}

    return CpuReplay(
        cpu,
        {name: ns * 1e-9 for name, ns in by_state("residency_ns").items()},
        by_state("usage"),
        by_state("above"),
        by_state("below"),
        score["tick_stops"],
        score["energy_mj"],
        *_regret(score["energy_mj"], oracle_mj),
        score["latency"]["wakeups"],
        *_microseconds(score["latency"]),
    )


def _regret(energy_mj: float, oracle_mj: float) -> tuple[float, float]:
    regret_mj = energy_mj - oracle_mj
    return regret_mj, 100.0 * regret_mj / oracle_mj if oracle_mj else math.nan


def _summed(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    total: dict[str, Any] = {}
    for part in parts:
        for name, value in part.items():
            total[name] = total.get(name, 0) + value
    return total


def _policy_replay(
    policy: str, cpus: Sequence[CpuReplay], score: dict[str, Any], oracle_mj: float
) -> PolicyReplay:
    total = CpuReplay(
        None,
        _summed([c.residency_s for c in cpus]),
        _summed([c.entries for c in cpus]),
        _summed([c.above for c in cpus]),
        _summed([c.below for c in cpus]),
        sum(c.tick_stops for c in cpus),
        score["energy_mj"],
        *_regret(score["energy_mj"], oracle_mj),
        score["latency"]["wakeups"],
        *_microseconds(score["latency"]),
    )
    return PolicyReplay(policy, total, tuple(cpus))


def replay(
    trace: str | os.PathLike[str] | FtraceLog,
    board: Board,
    policies: Policy | str | Sequence[Policy | str],
    *,
    latency_limit_us: int | None = None,
    opp_khz: int | None = None,
    warm_up: int = 8,
    workload_tasks: Sequence[str] | None = None,
) -> ReplayReport:
    """Run policies over the idle periods of a recorded trace.

    What no governor can change is taken from the trace: interrupts that are not the tick, timers, how long
    tasks ran, when RCU kept the tick. States, tick and history are the policy's own. Energy follows the
    model's rule (see :mod:`torpor.idle`); a wakeup's latency is the wake latency of the state that it finds.

    Parameters
    ----------
    trace : path-like or FtraceLog
        A kernel's text trace, plain or gzip, with clock ``mono`` (see :class:`IdleTrace` for its events).
    board : Board
        The machine that the trace comes from: its CPUs, states and HZ must be those of the trace.
    policies : policy, str or sequence of them
        What to run. The oracle is always added, as the reference of the regret.
    latency_limit_us : int or None, microseconds
        Latency limit of PM QoS for every policy.
    opp_khz : int or None, kilohertz
        Operating point of running CPUs; None takes each cluster's highest.
    warm_up : int
        Decisions of each CPU that are taken from the trace before a policy runs free.
    workload_tasks : sequence of str or None
        See :class:`IdleTrace`.

    Raises
    ------
    ConfigError
        For a trace that cannot be read or walked, a CPU, state or HZ of the trace that the board does not
        have, an unknown policy, or one that does not fit the board's states.

    Examples
    --------
    >>> import torpor
    >>> replay("no-such-trace", torpor.Board.load("hikey"), "menu")
    Traceback (most recent call last):
    torpor._core.ConfigError: no-such-trace: cannot be read (No such file or directory)
    """
    many = [policies] if isinstance(policies, str) or not isinstance(policies, Sequence) else list(policies)
    chosen = list(dict.fromkeys(str(as_policy(policy)) for policy in many))
    if not chosen:
        raise ConfigError("policies: none given")
    limit_us = _core.NO_LATENCY_LIMIT_US if latency_limit_us is None else latency_limit_us
    rules = _core.ReplayRules(warm_up=warm_up, latency_limit_us=limit_us)
    opps = board.opp_indices(opp_khz)

    log = trace if isinstance(trace, FtraceLog) else read_ftrace(trace)
    tables = {cpu: _table(cluster) for cluster in board.clusters for cpu in cluster.cpus}
    walk = IdleTrace(log, tables, hz=board.tick_hz, workload_tasks=workload_tasks)
    names = {cpu: [s.name for s in cluster.idle_states] for cluster in board.clusters for cpu in cluster.cpus}

    oracle = str(Oracle())
    if oracle not in chosen:
        chosen.append(oracle)
    scores = {RECORDED: walk.core.score(walk.core.recorded(), board.core, opps)}
    for name in chosen:
        policy = as_policy(name)
        periods = walk.core.closed_loop(policy, rules, board.core, opps)
        bound = isinstance(policy, Oracle | DelayedOracle)
        bound_us = min(limit_us, getattr(policy, "latency_limit_us", limit_us))
        scores[name] = walk.core.score(periods, board.core, opps, hindsight=bound, latency_limit_us=bound_us)
    oracle_mj = [one["energy_mj"] for one in scores[oracle]["cpus"]]
    results = []
    for name in [RECORDED, *chosen]:
        # What was recorded knew nothing of a limit, so the oracle that keeps it is no measure of it.
        comparable = name != RECORDED or latency_limit_us is None
        cpus = [
            _cpu_replay(cpu, names[cpu], one, best if comparable else math.nan)
            for cpu, one, best in zip(walk.cpus, scores[name]["cpus"], oracle_mj, strict=True)
        ]
        total_mj = scores[oracle]["energy_mj"] if comparable else math.nan
        results.append(_policy_replay(name, cpus, scores[name], total_mj))
    return ReplayReport(
        Path(log.source).name, board.name, walk.window_s, tuple(results), warm_up, walk.damage
    )


def _table(cluster: _core.Cluster) -> list[tuple[int, int, bool]]:
    return [(s.exit_latency_ns, s.target_residency_ns, s.polling) for s in cluster.idle_states]
