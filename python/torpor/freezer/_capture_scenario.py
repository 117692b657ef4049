# SPDX-License-Identifier: MIT
"""The scenario of a recorded series: its tasks, and costs split from the sums that a fit identifies.

What a capture identifies are sums: two visits and a mark, two visits and a wake. They are split as follows;
as long as each loop sleeps once, the split moves no prediction.

- Visit in the kernel loop: half of the fitted pair. In the user loop a visit tests the cgroup as well and
  costs `CGROUP_TEST` instructions more.
- Mark and wake: what the two visits of the user loop leave of the fitted cost. A thaw's wake costs what a
  freeze's does; the rest of a thawed task is its burst.
- The fixed parts hold two visits of every other task and the wake of the two that are frozen besides the
  recorded ones; up to `SLEEP_OVERHEAD_NS` of the rest belongs to the sleep, the remainder is the loop's
  constant, and none of it is negative.
- A repeated request is free, for no capture tells its cost: nothing but negative controls and busy tasks has
  any, and any cost makes the controls miss by more.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from torpor._core import ConfigError
from torpor.board import Board
from torpor.freezer.capture import Capture, Series
from torpor.freezer.capture_fit import FourCpuCosts, OneCpuCosts
from torpor.freezer.population import Population, TaskGroup
from torpor.freezer.scenario import Scenario

__all__ = ["MODEL_SITES", "SplitCosts", "policy_of", "population_of", "scenario_of", "split_costs"]

MODEL_SITES = {
    **{"nanosleep": "nanosleep", "futex": "futex", "unix": "af_unix", "sigtw": "sigtimedwait"},
    **{"wait": "waitpid", "wait_child": "nanosleep", "pipe": "pipe", "pause": "pause"},
    **{"poll": "poll", "select": "select", "epoll": "epoll", "tick": "nanosleep"},
}
"""Site of the model for each recorded one; a short sleeper sleeps, though it may be caught awake."""

PARENT = "parent"
"""Group of the recorder's own task, which waits in pause and is woken like any other there."""
KTHREAD = "kthread"
"""Group of the freezable kernel thread that every kernel has (kswapd0)."""
OTHERS = "others"
"""Group of the tasks that the loops look at and leave alone."""

_BESIDES = 2  # parent and kernel thread, which other_tasks counts

CGROUP_TEST = {"x86_64": 41, "aarch64": 13}
"""Instructions by which a visit of the user loop is dearer than one of the kernel loop."""

SLEEP_OVERHEAD_NS = 7_000
"""From the end of a range sleep to the walker's next instruction, at most."""


@dataclass(frozen=True)
class SplitCosts:
    """Costs of single steps, nanoseconds, and how many of the fixed parts could not be placed.

    Examples
    --------
    >>> SplitCosts(*range(10), overdrawn_ns=3).mark_ns
    2
    """

    visit_ns: int
    visit_kernel_ns: int
    mark_ns: int
    wake_ns: int
    freeze_run_ns: int
    resleep_ns: int
    thaw_run_ns: int
    user_loop_ns: int
    kernel_loop_ns: int
    thaw_ns: int
    sleep_overhead_ns: int = 0
    overdrawn_ns: int = 0


def split_costs(costs: OneCpuCosts | FourCpuCosts, capture: Capture) -> SplitCosts:
    """Split fitted sums into the costs of single steps.

    Parameters
    ----------
    costs : OneCpuCosts or FourCpuCosts
        Fitted on the capture.
    capture : Capture
        Tells how many other tasks there are, and the machine.

    Raises
    ------
    ConfigError
        When the number of other tasks is unknown because no trace has the visits, and for a cost below 0.
    """
    if capture.other_tasks is None:
        raise ConfigError(f"{capture.path}: no trace has the visits: unknown how many other tasks there are")
    for name in ("marked_ns", "woken_ns", "kernel_visit_pair_ns"):
        if getattr(costs, name) < 0:
            raise ConfigError(f"{capture.path}: {name}={getattr(costs, name)}: a fitted cost below 0")
    others = capture.other_tasks
    kernel_visit = costs.kernel_visit_pair_ns // 2
    test_ns = CGROUP_TEST.get(capture.machine, 0) * (capture.instruction_ns or 0)
    visit = min(kernel_visit + test_ns, costs.marked_ns // 2, costs.woken_ns // 2)
    mark = costs.marked_ns - 2 * visit
    if isinstance(costs, OneCpuCosts):
        wake, burst = costs.woken_ns - 2 * visit, costs.burst_ns
        resleep, thaw_run = (
            max(whole - visit - wake, 0) for whole in (costs.thaw_marked_ns, costs.thaw_woken_ns)
        )
        thaw = costs.thaw_fixed_ns - others * visit - _BESIDES * (wake + thaw_run)
    else:
        # Interrupts and bursts of the other CPUs are on the same clock; only their sum is identified.
        burst = (costs.woken_ns - 2 * visit) // 2
        wake = costs.woken_ns - 2 * visit - burst
        resleep = thaw_run = max(costs.thaw_switch_ns, 0)
        thaw = 0
    user = costs.user_fixed_ns - 2 * others * visit - wake
    kernel = costs.kernel_fixed_ns - others * costs.kernel_visit_pair_ns - wake - burst
    if isinstance(costs, FourCpuCosts):
        user -= burst  # the parent's, on the shared clock
    overhead = min(max(user, 0), max(kernel, 0), SLEEP_OVERHEAD_NS)
    rest = {
        "user_loop_ns": user - overhead,
        "kernel_loop_ns": kernel - overhead,
        "thaw_ns": thaw,
    }
    return SplitCosts(
        visit_ns=visit,
        visit_kernel_ns=kernel_visit,
        mark_ns=mark,
        wake_ns=wake,
        freeze_run_ns=burst,
        resleep_ns=resleep,
        thaw_run_ns=thaw_run,
        **{name: max(value, 0) for name, value in rest.items()},
        sleep_overhead_ns=overhead,
        overdrawn_ns=-sum(min(value, 0) for value in rest.values()),
    )


def policy_of(capture: Capture) -> str:
    """Name the freezer of the capture's kernel.

    Raises
    ------
    ConfigError
        Unless it is one of 6.1 to 6.6, whose recorded sites are known.
    """
    release = re.match(r"6\.([1-6])\.", capture.kernel)
    if release is None:
        raise ConfigError(
            f"{capture.path}: kernel {capture.kernel}: no model of its freezer; known: 6.1 to 6.6"
        )
    return "v6.1"


def population_of(series: Series, other_tasks: int | None) -> Population:
    """Tasks of a series: other tasks, the recorder's parent, the kernel thread, then the recorded ones.

    Parameters
    ----------
    series : Series
        Its sites give the recorded tasks, its busy ones compute in user mode.
    other_tasks : int or None
        Tasks besides the recorded ones, parent and kernel thread among them; None stands for these two.
    """
    others = max((other_tasks or 0) - _BESIDES, 0)
    groups = [
        TaskGroup(name=OTHERS, count=others, kind="knofreeze"),
        TaskGroup(name=PARENT, site="pause"),
        TaskGroup(name=KTHREAD, kind="kfreezable", site="kthread"),
    ]
    for site, count in series.sites.items():
        if site == "busy":
            groups.append(TaskGroup(name=site, count=count, start="user_mode"))
        else:
            groups.append(TaskGroup(name=site, count=count, site=MODEL_SITES[site]))
    return Population(groups)


def scenario_of(
    capture: Capture,
    series: Series,
    costs: SplitCosts | None,
    *,
    preempt: str = "none",
    walker_wake: str = "tail",
) -> Scenario:
    """Make the scenario of a series.

    Parameters
    ----------
    capture : Capture
        Whose machine it is.
    series : Series
        One of it.
    costs : SplitCosts or None
        With costs all work is on one CPU, because a capture whose clock counts instructions has one clock
        for all its CPUs. Without, costs are round numbers and only counts mean anything.
    preempt, walker_wake : str
        Of the user loop. The kernel loop always lets its thread run before it sleeps.
    """
    board = Board.load("toy", tick_hz=capture.tick_hz) if costs is None else _board(capture, costs)
    return Scenario(
        board,
        population_of(series, capture.other_tasks),
        cpus=capture.cpus if costs is None else 1,
        since_tick_us=0,
        preempt=preempt,
        kernel_loop_preempt="full",
        walker_wake=walker_wake,
        range_mode="hard",
        order="listed",
        bound=False,
    )


def _board(capture: Capture, costs: SplitCosts) -> Board:
    instruction_ns = capture.instruction_ns
    assert instruction_ns is not None

    def cycles(value_ns: int) -> int:
        return round(value_ns / instruction_ns)

    fitted = f"fitted: to the shorter cycles of {capture.name}"
    idle = ("select_to_entry", "ipi_handler", "timer_handler", "tick_handler", "interrupt_exit", "reflect")
    return Board.from_dict(
        {
            "name": capture.name,
            "tick": {"hz": capture.tick_hz},
            "idle_costs": {f"{name}_ns": 0 for name in idle},
            "clusters": [
                {
                    "name": "cluster0",
                    "cpus": [0],
                    "capacity": 1024,
                    "opps": [{"freq_khz": round(1_000_000 / instruction_ns)}],
                    "idle_states": [{"name": "WFI", "target_residency_us": 1, "exit_latency_us": 1}],
                }
            ],
            "freezer": {
                "wake_latency_us": 0,
                "base_power_mw": 0,
                "kernel": {"preempt": "none", "walker_wake": "tail"},
                "costs": {
                    "visit_cycles": cycles(costs.visit_ns),
                    "visit_kernel_cycles": cycles(costs.visit_kernel_ns),
                    "wake_cycles": cycles(costs.wake_ns),
                    "resig_cycles": 0,
                    "mark_cycles": cycles(costs.mark_ns),
                    "freeze_run_cycles": cycles(costs.freeze_run_ns),
                    "thaw_wake_cycles": cycles(costs.wake_ns),
                    "thaw_run_cycles": cycles(costs.thaw_run_ns),
                    "resleep_cycles": cycles(costs.resleep_ns),
                    "user_loop_cycles": cycles(costs.user_loop_ns),
                    "kernel_loop_cycles": cycles(costs.kernel_loop_ns),
                    "thaw_cycles": cycles(costs.thaw_ns),
                    "sleep_overhead_ns": costs.sleep_overhead_ns,
                },
            },
            "provenance": {
                "tick.hz": "measured: the capture's boot log",
                "idle_costs.*": "assumed: none, idle is not modelled here",
                "clusters[*].cpus": "assumed: one clock for all",
                "clusters[*].capacity": "assumed: equal CPUs",
                "clusters[*].opps[*].*": "measured: one cycle is one instruction of the capture's clock",
                "clusters[*].idle_states[*].*": "assumed: idle is not modelled here",
                "freezer.*": "assumed: the capture's clock does not see it",
                "freezer.costs.*": fitted,
            },
        }
    )
