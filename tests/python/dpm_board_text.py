# SPDX-License-Identifier: MIT
"""A board's file with a [dpm] section that keeps every rule, its devices drawn or listed."""

from torpor.board import Board, _dpm

SECTION = """\
[dpm]
relative_freq = { a = 0.5, b = 1 }
async_devices = 0.25
eas = true
main_suspend_cpu = 2
main_suspend_util = 100
main_resume_cpu = 0
main_resume_util = 100
slice_us = 3000
idle_exit_share = 0.5

[dpm.costs]
switch_us = 1.5
wake_us = 1.5
idle_ipi_us = 1
migration_us = 1
queue_us = 1.5
dispatch_us = 0.5
core_us = 1
list_step_us = 0.2
check_us = 0.05
recheck_us = 0.3
create_us = 10
create_latency_us = 50

[dpm.phase_costs.suspend_late]
core_us = 2

[[dpm.performance_domains]]
cluster = "b"
freq_khz = [500000, 1000000]
power_mw = [100, 300]

"""
DRAWN = """\
[dpm.devices]
devices = 350
sigma = [1.3, 1.4]

"""
LISTED = """\
[[dpm.device]]
name = "soc"

[[dpm.device]]
name = "i2c"
parent = "soc"
runtime_status = "suspended"
callbacks.suspend = [{ cpu_us = 40, fixed_us = 5 }, { sleep_us = 100 }]
callbacks.resume = [{ lock = "clk" }, { range_us = [100, 200] }, { unlock = "clk" }]

[[dpm.link]]
supplier = "soc"
consumer = "i2c"
state = "active"

"""
PROVENANCE = """\
"dpm.*" = "assumed: a"
"dpm.relative_freq.*" = "assumed: b"
"dpm.costs.*" = "assumed: c"
"dpm.phase_costs.*.*" = "assumed: d"
"dpm.performance_domains[*].*" = "cited: e"
"""
DRAWN_PROVENANCE = '"dpm.devices.*" = "fitted: f"\n'
LISTED_PROVENANCE = '"dpm.device[*].callbacks.*[*].*" = "measured: g"\n'

BASE = """\
name = "mine"

[tick]
hz = 250

[idle_costs]
select_to_entry_ns = 6000
ipi_handler_ns = 8000
timer_handler_ns = 5000
tick_handler_ns = 5000
interrupt_exit_ns = 10000
reflect_ns = 2000

[[clusters]]
name = "a"
cpus = [0, 1]
capacity = 512
opps = [
    { freq_khz = 500000, power_mw = 50, cluster_power_mw = 5 },
    { freq_khz = 900000, power_mw = 90, cluster_power_mw = 9 },
]

[[clusters.idle_states]]
name = "WFI"
exit_latency_us = 1
target_residency_us = 1
power_mw = 2

[[clusters.idle_states]]
name = "off"
entry_us = 700
exit_us = 250
target_residency_us = 1000
power_mw = 0

[[clusters]]
name = "b"
cpus = [2]
capacity = 1024

[[clusters.idle_states]]
name = "POLL"
exit_latency_us = 0
target_residency_us = 0
polling = true

[[clusters.idle_states]]
name = "C1"
exit_latency_us = 2
target_residency_us = 2

[[clusters.idle_states]]
name = "C7"
exit_latency_us = 124
target_residency_us = 800

[[clusters.idle_states]]
name = "C8"
exit_latency_us = 200
target_residency_us = 800

@[provenance]
"tick.hz" = "assumed: x"
"idle_costs.*" = "assumed: x"
"clusters[*].*" = "assumed: x"
"clusters[*].opps[*].*" = "assumed: x"
"clusters[*].idle_states[*].*" = "measured: x"
"""
PLAIN = BASE.replace("@", "")
GOOD = BASE.replace("@", SECTION + DRAWN) + PROVENANCE + DRAWN_PROVENANCE
WITH_LIST = BASE.replace("@", SECTION + LISTED) + PROVENANCE + LISTED_PROVENANCE


def good() -> Board:
    return Board.from_toml(GOOD)


def section(board: Board) -> _dpm.Dpm:
    assert board.dpm is not None
    return board.dpm
