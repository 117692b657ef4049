# SPDX-License-Identifier: MIT
"""Readers of what real kernels write."""

from torpor.importers.ftrace import FtraceLog, read_ftrace

__all__ = ["FtraceLog", "read_ftrace"]
