# SPDX-License-Identifier: MIT
"""Boards: what machine is simulated, and where each of its numbers comes from.

A board is a TOML file, of which the catalogue holds several:

>>> from torpor.board import Board, catalogue
>>> {"hikey", "hikey-960", "nexus-10", "pixel-6", "rk3399", "toy", "x86-skylake"} <= set(catalogue())
True

Layout of a file, with every key that there is::

    name = "mine"
    description = "for people"        # optional

    [tick]
    hz = 250

    [idle_costs]                      # time of the idle loop and the handlers
    select_to_entry_ns = 6000         # from select to the entry of the state
    ipi_handler_ns = 8000
    timer_handler_ns = 5000
    tick_handler_ns = 5000
    interrupt_exit_ns = 10000         # from the last handler to the new idle entry
    reflect_ns = 2000

    [[clusters]]                      # CPUs with one power domain, frequency and idle table
    name = "little"
    cpus = [0, 1]
    capacity = 1024                   # 1..1024
    opps = [                          # optional
      { freq_khz = 500000, power_mw = 50, cluster_power_mw = 10 },     # both powers optional
    ]

    [[clusters.idle_states]]          # shallow to deep
    name = "cpu-sleep"
    target_residency_us = 1000
    entry_us = 700                    # as a device tree has it: entry, exit and, optionally, wakeup;
    exit_us = 250                     # or exit_latency_us in their place, as a driver's table has it
    wakeup_us = 900
    wake_latency_us = 250             # optional: interrupt to first instruction, see below
    polling = false                   # optional: spins, as POLL does
    cluster = false                   # optional: votes for powering the cluster down
    power_mw = 0                      # optional: one CPU in this state
    cluster_power_mw = 47             # optional: the cluster while all its CPUs are at least this deep

    [freezer]                         # optional: what freezing its tasks costs
    wake_latency_us = 10              # from a wakeup on an idle CPU to the task's first instruction
    base_power_mw = 300               # the awake board besides its busy CPUs
    order = "listed"                  # or shuffled: the order of the task list

    [freezer.kernel]                  # HZ is tick.hz; all but preempt optional, the values are the defaults
    preempt = "full"                  # or none: does a pass give up its CPU before it sleeps
    kernel_loop_preempt = "none"      # where the kernel loop differs; no default
    walker_wake = "head"              # or tail: where in the queue the walker wakes
    wheel_extra = 0                   # 1 from Linux 4.8 on
    range_mode = "hard"               # or tick, uniform, soft: when a range sleep ends
    timeout_ms = 20000

    [freezer.costs]                   # CPU cycles, at any frequency
    visit_cycles = 140                # a look at a task, in each pass; besides it:
    visit_kernel_cycles = 99          # optional: a look in the kernel loop
    wake_cycles = 1500                # waking one
    resig_cycles = 500                # asking one again
    mark_cycles = 250                 # marking one frozen where it sleeps (6.1 and later)
    freeze_run_cycles = 7500          # a woken task until it is in the refrigerator
    thaw_wake_cycles = 1500
    thaw_run_cycles = 7500            # until it sleeps again
    resleep_cycles = 5000             # a marked task, woken only to sleep on
    per_fd_cycles = 0                 # from here on optional: select and poll at thaw, a descriptor
    visit_stall_ns = 0                # time that no frequency shortens, in each visit
    run_stall_ns = 0                  # and in each run of a task
    user_loop_cycles = 0              # once a loop, once a thaw
    kernel_loop_cycles = 0
    thaw_cycles = 0
    sleep_overhead_ns = 0             # added to each range sleep

    [[freezer.tasks]]                 # equal tasks, in the order of the list; optional
    name = "epoll"
    count = 160
    site = "epoll"                    # from here on optional; where they sleep: torpor.freezer.tasks.SITES
    kind = "user"                     # or kfreezable, knofreeze
    start = "blocked"                 # or uninterruptible, user_mode, spinning, stopped, zombie
    threads = 1                       # of one process, neighbours in the list
    d_ends_us = "lognormal(median_us=2000, sigma=1)"    # a number or a distribution: see torpor.distributions
    wakes_at_us = 500                 # somebody else wakes them
    forks_at_us = 500                 # a task in user mode forks
    waits_on = "other"                # group whose reply an uninterruptible or spinning task needs
    reply_after_cycles = 0            # a server in user mode replies after this much of its own work
    freeze_run_cycles = 7500          # in place of the board's
    thaw_run_cycles = 7500
    nfds = 0                          # descriptors of select and poll

    [provenance]                      # one entry for every number; the one with the most literal steps wins
    "tick.hz" = "assumed: ..."
    "clusters[*].idle_states[*].*" = "cited: ..."

The exit latency that a governor is told is ``wakeup_us`` when given, else ``entry_us + exit_us``, else
``exit_latency_us`` (Linux's rule for device trees). The wake latency, what the hardware takes, is
``wake_latency_us`` when given, else ``exit_us``, else ``exit_latency_us``. An absent power is unknown, not
zero.
"""

from torpor.board._board import Board, Difference, catalogue
from torpor.board._provenance import Provenance

__all__ = ["Board", "Difference", "Provenance", "catalogue"]
