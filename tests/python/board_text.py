# SPDX-License-Identifier: MIT
"""A board's file that keeps every rule, and changes to it."""

GOOD = """\
name = "mine"
description = "a test board"

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
    { freq_khz = 500000, power_mw = 50 },
    # a comment with { braces } and [brackets]
    { freq_khz = 900000, power_mw = 90 },
]

[[clusters.idle_states]]
name = "WFI"
exit_latency_us = 1
target_residency_us = 1

[[clusters.idle_states]]
name = "off"
entry_us = 700
exit_us = 250
target_residency_us = 1000

[[clusters]]
name = "b"
cpus = [2]
capacity = 1024

[[clusters.idle_states]]
name = "WFI"
exit_latency_us = 1
target_residency_us = 1

[provenance]
"tick.hz" = "assumed: x"
"idle_costs.*" = "assumed: x"
"clusters[*].*" = "assumed: x"
"clusters[*].opps[*].*" = "assumed: x"
"clusters[*].idle_states[*].*" = "measured: x"
"""


def changed(old: str, new: str, count: int = 1) -> str:
    assert old in GOOD
    return GOOD.replace(old, new, count)


def line_of(needle: str, text: str = GOOD, nth: int = 1) -> int:
    lines = [number for number, line in enumerate(text.splitlines(), 1) if needle in line]
    return lines[nth - 1]
