# SPDX-License-Identifier: MIT
"""Boards: what machine is simulated, and where each of its numbers comes from.

A board is a TOML file, of which the catalogue holds several:

>>> from torpor.board import Board, catalogue
>>> {"hikey", "nexus-10", "pixel-6", "pixel-6-like", "toy", "x86-skylake"} <= set(catalogue())
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

    [dpm]                             # optional: what suspending and resuming its devices costs
    relative_freq = 0.9               # frequency while it lasts over the highest; or one for each cluster:
                                      # { little = 0.7, big = 0.6 }
    eas = true                        # energy-aware placement of what wakes
    main_suspend_cpu = 6              # where the suspending thread stands, and its utilisation (0..1024)
    main_suspend_util = 100
    main_resume_cpu = 0
    main_resume_util = 100
    async_devices = "flagged"         # from here on optional, the values are the defaults; or all, none, or a
                                      # share 0..1 of the devices: which are async
    placement = "spread"              # or biggest_idle, pinned: where what wakes goes without EAS
    wake_affine = true                # it may also go to where its waker is
    pull = true                       # a CPU that goes idle takes work from others
    slice_us = 3000
    wakeup_granularity_us = 0         # what has run so long gives way to what wakes; 0: never
    tick_balance = true               # the tick moves what does not fit its CPU
    idle_exit_share = 0.2             # no default: share of a state's target residency after which an idle
                                      # CPU pays its wake latency; without it none is paid
    cluster_exit_us = 0               # besides, when the whole cluster was idle
    shared_cpus = 0                   # all CPUs together do the work of so many; 0: of all
    main_gives_way = false            # to workers when no CPU is idle
    main_pinned = false               # stays on the CPUs above
    initial_workers = 4
    worker_per_item = false           # no pool, each item its own worker
    barrier_wakes = true              # every finished item wakes the thread that waits for the phase's end
    checks_all = false                # a check whether a device is ready costs all that it depends on
    direct_complete = true            # runtime-suspended devices are left alone
    eas_switch_us = 0                 # switching EAS off or on
    jitter = 0                        # sigma of a lognormal factor on each callback
    since_tick_us = 0                 # no default: phase of the tick when a side begins; drawn without it

    [dpm.costs]                       # microseconds of the reference CPU (capacity 1024, highest frequency)
    switch_us = 1.5                   # context switch
    wake_us = 1.5                     # waking a thread, paid by the waker
    idle_ipi_us = 1                   # besides, when its CPU is idle
    migration_us = 1
    queue_us = 1.5                    # queueing a work item
    dispatch_us = 0.5                 # taking and retiring one
    core_us = 1                       # a device in a phase
    list_step_us = 0.2                # a device in a walk over the list
    check_us = 0.05                   # a look at a dependency
    recheck_us = 0.3                  # each time that the end of the phase is looked for
    create_us = 10                    # creating a worker: CPU time
    create_latency_us = 50            # and wait
    callback_us = 0                   # optional: before each callback
    tail_us = 0                       # optional: at the end of each phase

    [dpm.phase_costs.suspend_late]    # optional: costs, from queue_us on, that differ in a phase
    core_us = 2

    [[dpm.performance_domains]]       # optional: what EAS knows of a cluster; else it is the cluster's opps
    cluster = "little"
    freq_khz = [300000, 574000]
    power_mw = [6.07, 14.46]

    [dpm.devices]                     # devices to draw: the parameters of torpor.dpm.generator.Generator,
    devices = 350                     # pairs as lists; or, in its place:

    [[dpm.device]]                    # devices in the order of registration; all but name optional, the other
    name = "display"                  # entries are those of torpor.dpm.graph.Device
    parent = "soc"
    callbacks.suspend = [{ cpu_us = 40, fixed_us = 5 }, { sleep_us = 100 }]
    callbacks.resume = [{ lock = "clk" }, { range_us = [100, 200] }, { ticks = 2 }, { unlock = "clk" }]

    [[dpm.link]]                      # those of torpor.dpm.graph.Link
    supplier = "clock"
    consumer = "display"

    [dpm.scales]                      # optional: factors on all callbacks
    suspend = 1.0
    resume = 1.0

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
