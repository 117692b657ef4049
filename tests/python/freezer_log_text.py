# SPDX-License-Identifier: MIT
"""Lines of kernel logs about freezing, and how the tests read them."""

from torpor.importers import FreezerLog

GOOD = """\
[   50.100000] Freezing user space processes ... (elapsed 0.003 seconds) done.
[   50.104000] Freezing remaining freezable tasks ... (elapsed 0.002 seconds) done.
"""
# Values are made up, shapes are real.
EVERY_FORM = f"""\
{GOOD}[  100.200000] Freezing user space processes ... (elapsed 0.03 seconds) done.
[  120.006500] Freezing of tasks failed after 20.006 seconds (3 tasks refusing to freeze, wq_busy=0):
[  120.006600] cp              D    0  1234   1200 0x00000004
[  200.441000] Freezing of tasks aborted after 4.120 seconds (1 tasks refusing to freeze, wq_busy=0):
[  300.001000] Freezing of tasks failed after 20.001 seconds (0 tasks refusing to freeze, wq_busy=1):
[  400.010000] Freezing user space processes
[  400.020000] Freezing user space processes completed (elapsed 0.010 seconds)
[  500.003000] Freezing user space processes failed after 20.003 seconds (1 tasks refusing to freeze, \
wq_busy=0):
[  500.003100] task:app             state:D stack:0     pid:901   tgid:901   ppid:1      \
task_flags:0x400040 flags:0x00004006
"""
FAILED = "Freezing of tasks failed after 20.008 seconds (1 tasks refusing to freeze, wq_busy=0):\n"
DUMPED = "task:stat            state:D stack:    0 pid: 6001 ppid:  2341 flags:0x00004004\n"


def read(text: str | bytes, **options: int) -> FreezerLog:
    data = text.encode() if isinstance(text, str) else text
    return FreezerLog.from_lines(data.split(b"\n"), "t", **options)


def only(text: str | bytes, **options: int):
    log = read(text, **options)
    assert len(log.cycles) == 1
    return log.cycles[0]
