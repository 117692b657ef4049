# SPDX-License-Identifier: MIT
"""Boards: what machine is simulated, and where each of its numbers comes from.

A board is a TOML file, of which the catalogue holds several:

>>> from torpor.board import Board, catalogue
>>> {"hikey", "hikey-960", "pixel-6", "rk3399", "toy", "x86-skylake"} <= set(catalogue())
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
