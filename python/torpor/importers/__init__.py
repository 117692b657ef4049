# SPDX-License-Identifier: MIT
"""Readers of what real kernels write."""

from torpor.importers.freezer_log import (
    BadLine,
    BusyWorkqueue,
    FreezeCycle,
    FreezerLog,
    Offender,
    SleepQuantum,
    read_freezer_log,
    sleep_quantum,
)
from torpor.importers.ftrace import FtraceLog, read_ftrace

__all__ = [
    "BadLine",
    "BusyWorkqueue",
    "FreezeCycle",
    "FreezerLog",
    "FtraceLog",
    "Offender",
    "SleepQuantum",
    "read_freezer_log",
    "read_ftrace",
    "sleep_quantum",
]
