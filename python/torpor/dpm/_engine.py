# SPDX-License-Identifier: MIT
"""A scenario in the engine's words: what was given before what the board says, all of it checked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from torpor import _core
from torpor._checks import flag, shown, slice_ns, time_ns, whole
from torpor._core import ConfigError
from torpor.board import Board, catalogue
from torpor.board._dpm import Dpm, DpmCosts
from torpor.dpm._conditions import (
    MAX_COST_US,
    MAX_US,
    async_of,
    costs_by_phase,
    scheduler_costs,
    since_tick_ns,
    within,
)
from torpor.dpm._given import text
from torpor.dpm.graph import DeviceGraph
from torpor.dpm.machine import FairCpu, FairMachine, fair_machine

if TYPE_CHECKING:
    from torpor.dpm.scenario import Scenario

__all__ = ["MAX_CYCLES", "core_scenario", "machine_of", "scales_in", "section_of"]

MAX_CPUS = 8192
MAX_CYCLES = 10**6
MAX_HZ = 10_000

_REFERENCE_HZ = 250

_REFERENCE = Dpm(
    relative_freq=1.0,
    main_suspend_cpu=0,
    main_suspend_util=0.0,
    main_resume_cpu=0,
    main_resume_util=0.0,
    eas=False,
    slice_us=0.0,
    tick_balance=False,
    worker_per_item=True,
    barrier_wakes=False,
    since_tick_us=0.0,
    costs=DpmCosts(**dict.fromkeys(DpmCosts.__struct_fields__, 0.0)),
)


# All CPUs are equal and share one queue, so nothing can be placed, balanced or preempted.
_NOT_IN_REFERENCE = (
    *("relative_freq", "eas", "placement", "wake_affine", "pull", "slice_us", "wakeup_granularity_us"),
    "tick_balance",
    *("idle_exit_share", "cluster_exit_us", "main_suspend_cpu", "main_suspend_util", "main_resume_cpu"),
    *("main_resume_util", "main_pinned", "eas_switch_us"),
)


def section_of(board: Board | None) -> Dpm:
    """Return the board's [dpm] section, or what the reference mode has in its place."""
    if board is None:
        return _REFERENCE
    if not isinstance(board, Board):
        raise ConfigError(f"board={shown(board)} is no Board")
    if board.dpm is None:
        known = [name for name in catalogue() if Board.load(name).dpm is not None]
        raise ConfigError(f"board {board.name} has no [dpm] section: boards with one are {', '.join(known)}")
    return board.dpm


def _chosen(scenario: Scenario, name: str) -> Any:
    own = getattr(scenario, name)
    return getattr(section_of(scenario.board), name) if own is None else own


def machine_of(scenario: Scenario) -> FairMachine:
    """CPUs of the board at their frozen frequencies, or equal ones."""
    board = scenario.board
    if board is None:
        for name in _NOT_IN_REFERENCE:
            if (given := getattr(scenario, name)) is not None:
                raise ConfigError(f"{name}={shown(given)} has no meaning in the reference mode, limit: None")
        count = whole("cpus", 2 if scenario.cpus is None else scenario.cpus, 1, MAX_CPUS)
        cpu = FairCpu(rate=1.0, capacity=1024, relative_freq=1.0, cluster=0, idle_exits=())
        return FairMachine(cpus=(cpu,) * count, clusters=("cpus",), domains=(), power=None)
    share = _chosen(scenario, "idle_exit_share")
    machine = fair_machine(
        board,
        _relative_freq(board, _chosen(scenario, "relative_freq")),
        None if isinstance(share, float) and share == math.inf else share,
        scenario.cpus,
    )
    if flag("eas", _chosen(scenario, "eas")) and not machine.domains:
        raise ConfigError(
            f"eas=True: board {board.name} tells no power of its operating points, limit: those of all "
            "clusters, or [[dpm.performance_domains]]"
        )
    return machine


def _relative_freq(board: Board, given: float | Mapping[str, float]) -> float | dict[str, float]:
    """Fill in the board's own for clusters that are not named."""
    ours = section_of(board).relative_freq
    if not isinstance(given, Mapping):
        return given
    usual = ours if isinstance(ours, Mapping) else {cluster.name: ours for cluster in board.clusters}
    return {**usual, **given}


def scales_in(scenario: Scenario) -> Any:
    """Pairs by replicate, one pair for all of them, or nothing."""
    scales = section_of(scenario.board).scales
    if scenario.scales is not None:
        found: Any = scenario.scales
    else:
        found = () if scales is None else (scales.suspend, scales.resume)
    return () if found == (1.0, 1.0) else found


def _tick_hz(scenario: Scenario) -> int:
    if scenario.tick_hz is not None:
        return whole("tick_hz", scenario.tick_hz, 1, MAX_HZ)
    return _REFERENCE_HZ if scenario.board is None else scenario.board.tick_hz


def core_scenario(scenario: Scenario, machine: FairMachine) -> _core.DpmScenario:
    """Make what the engine reads."""

    def chosen(name: str) -> Any:
        return _chosen(scenario, name)

    def is_on(name: str) -> bool:
        return flag(name, chosen(name))

    def ns(name: str, most_us: int = MAX_COST_US) -> int:
        return time_ns(chosen(name), name, 0, most_us)

    section = section_of(scenario.board)
    hz = _tick_hz(scenario)
    tick_ns = round(1e9 / hz)
    last_cpu = len(machine.cpus) - 1
    per_item = is_on("worker_per_item")
    kind, share = async_of(chosen("async_devices"))
    scales = scales_in(scenario)
    single = scales if scales and isinstance(scales[0], float) else None
    devices = scenario.source
    return _core.DpmScenario(
        devices=devices._core_graph if isinstance(devices, DeviceGraph) else devices._core_generator,
        cpus=[
            _core.FairCpu(
                rate=cpu.rate,
                capacity=cpu.capacity,
                relative_freq=cpu.relative_freq,
                cluster=cpu.cluster,
                idle_exits=cpu.idle_exits,
            )
            for cpu in machine.cpus
        ],
        domains=machine.domains,
        rules=_core.FairRules(
            queues="global" if scenario.board is None else "per_cpu",
            placement=text("placement", chosen("placement")),
            eas=is_on("eas"),
            wake_affine=is_on("wake_affine"),
            pull=is_on("pull"),
            slice_ns=slice_ns(within("slice_us", chosen("slice_us"), 0, MAX_US), "slice_us"),
            wakeup_granularity_ns=ns("wakeup_granularity_us", MAX_US),
            tick_ns=tick_ns if is_on("tick_balance") else 0,
            cluster_exit_ns=ns("cluster_exit_us"),
            shared_cpus=_shared_cpus(chosen("shared_cpus")),
        ),
        sched_costs=scheduler_costs(section, scenario.costs),
        costs=costs_by_phase(section, scenario.costs, scenario.phase_costs),
        main_suspend_cpu=whole("main_suspend_cpu", chosen("main_suspend_cpu"), 0, last_cpu),
        main_suspend_util=within("main_suspend_util", chosen("main_suspend_util"), 0, 1024),
        main_resume_cpu=whole("main_resume_cpu", chosen("main_resume_cpu"), 0, last_cpu),
        main_resume_util=within("main_resume_util", chosen("main_resume_util"), 0, 1024),
        main_gives_way=is_on("main_gives_way"),
        main_pinned=is_on("main_pinned"),
        worker_per_item=per_item,
        initial_workers=whole("initial_workers", chosen("initial_workers"), 0 if per_item else 1, 100_000),
        async_kind=kind,
        async_share=share,
        barrier_wakes=is_on("barrier_wakes"),
        checks_all=is_on("checks_all"),
        direct_complete=is_on("direct_complete"),
        eas_switch_ns=ns("eas_switch_us"),
        jitter=within("jitter", chosen("jitter"), 0, 10),
        tick_ns=tick_ns,
        since_tick_ns=since_tick_ns(chosen("since_tick_us"), hz),
        warmup_cycles=whole("warmup_cycles", scenario.warmup_cycles, 0, MAX_CYCLES),
        cycles=whole("cycles", scenario.cycles, 1, MAX_CYCLES),
        scales=[] if single else scales,
        every_scale=single,
        power=[(one.busy_mw, one.idle_mw, one.cluster_mw) for one in machine.power or ()],
    )


def _shared_cpus(given: float) -> float:
    shared = within("shared_cpus", given, 0, MAX_CPUS)
    if 0 < shared < 0.01:
        raise ConfigError(f"shared_cpus={shared} is outside 0.01..{MAX_CPUS} (0 is as many as there are)")
    return shared
