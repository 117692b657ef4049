# SPDX-License-Identifier: MIT
"""Names of sites, kinds and starts, in the engine's order.

The engine's own are in ``cpp/torpor/freezer/sites.hpp`` (Site) and ``tasks.hpp`` (Kind, Start); a test
compares the two, so that a board file can be checked without the freezer family.
"""

SITES = (
    "binder",
    "epoll",
    "select",
    "poll",
    "futex",
    "nanosleep",
    "sigtimedwait",
    "af_unix",
    "af_unix_timeout",
    "af_unix_splice",
    "vfork",
    "coredump",
    "usermodehelper",
    "rpc",
    "cgroup_frozen",
    "pipe",
    "tty",
    "inet_socket",
    "eventfd",
    "inotify",
    "waitpid",
    "pause",
    "msgrcv",
    "semop",
    "kthread",
    "other",
)
KINDS = ("user", "kfreezable", "knofreeze")
STARTS = ("blocked", "uninterruptible", "user_mode", "spinning", "stopped", "zombie")
