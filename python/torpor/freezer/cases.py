# SPDX-License-Identifier: MIT
"""Tasks that freezing has failed on in the field: groups to add to a population.

Each function returns groups of one class of public reports, which its documentation names.

>>> from torpor.board import Board
>>> from torpor.freezer.population import Population
>>> population = Population.from_board(Board.load("toy")) + fuse_client()
>>> population.task_count
12

A wakeup that arrives while freezing, and a busy freezable workqueue (USB hub work and writeback, Qubes issue
5843), are conditions of a scenario rather than tasks.
"""

from __future__ import annotations

from collections.abc import Callable

from torpor.freezer.tasks import TaskGroup, Time

__all__ = [
    "CASES",
    "audio_drain",
    "automount_loop",
    "fuse_client",
    "page_fault_on_fuse",
    "rpc_server_down",
    "spinning_helper",
    "two_level_freeze",
    "zombies",
]

Groups = tuple[TaskGroup, ...]


def fuse_client(clients: int = 1, *, reply_after_cycles: int | None = None) -> Groups:
    """Clients of a FUSE file system, in D until its daemon answers.

    Class "FUSE client": sshfs issues 25 and 137, backintime 829, syncthing 5020, the rclone users of systemd
    36317. The daemon sleeps in a read of the FUSE device, is woken and frozen at once, and the clients never
    get their answer.

    Parameters
    ----------
    clients : int
        How many wait.
    reply_after_cycles : int or None, CPU cycles
        The daemon computes in user mode and answers after that much; None: it sleeps, and never does.

    Examples
    --------
    >>> [(group.name, group.start, group.waits_on) for group in fuse_client()]
    [('fuse-client', 'uninterruptible', 'fuse-daemon'), ('fuse-daemon', 'blocked', '')]
    """
    client = TaskGroup(name="fuse-client", count=clients, start="uninterruptible", waits_on="fuse-daemon")
    if reply_after_cycles is None:
        return client, TaskGroup(name="fuse-daemon")
    daemon = TaskGroup(name="fuse-daemon", start="user_mode", reply_after_cycles=reply_after_cycles)
    return client, daemon


def page_fault_on_fuse(tasks: int = 1) -> Groups:
    """Tasks in D for a page of a file that a user-space daemon serves, such as a mounted image.

    Class "page fault on FUSE-mounted image": systemd 37590, ente 6401. The task does not even know that it
    uses a file system.

    Examples
    --------
    >>> [group.name for group in page_fault_on_fuse()]
    ['page-fault', 'image-daemon']
    """
    return (
        TaskGroup(name="page-fault", count=tasks, start="uninterruptible", waits_on="image-daemon"),
        TaskGroup(name="image-daemon"),
    )


def two_level_freeze(sessions: int = 20, clients: int = 1) -> Groups:
    """User sessions frozen by cgroup before the rest, and a task outside that waits for one of them.

    Class "two-level freeze": systemd 33626 and 37590 (256 and later freeze the user slice before sleep). To
    put the sessions of an existing population in that state use `Population.cgroup_frozen`.

    Parameters
    ----------
    sessions : int
        Tasks in the frozen cgroup.
    clients : int
        Tasks in D outside it that wait for a reply.

    Examples
    --------
    >>> [(group.name, group.count, group.site) for group in two_level_freeze()]
    [('session', 20, 'cgroup_frozen'), ('session-client', 1, 'other')]
    """
    return (
        TaskGroup(name="session", count=sessions, site="cgroup_frozen"),
        TaskGroup(name="session-client", count=clients, start="uninterruptible", waits_on="session"),
    )


def spinning_helper() -> Groups:
    """Task that spins inside the kernel for a user-space helper which freezes first.

    Class "spinning helper": OP-TEE issue 4581, where the supplicant is frozen; the task refusing to freeze is
    shown in state R.

    Examples
    --------
    >>> spinning_helper()[0].start
    'spinning'
    """
    return TaskGroup(name="caller", start="spinning", waits_on="helper"), TaskGroup(name="helper")


def automount_loop(tasks: int = 1) -> Groups:
    """Tasks in D that nothing ends, so that every attempt fails after its 20 s.

    Class "automount or security module": lkrg issues 464 and 488. The loop is the scenario's attempts.

    Examples
    --------
    >>> automount_loop()[0].d_ends_us is None
    True
    """
    return (TaskGroup(name="automount", count=tasks, start="uninterruptible"),)


def audio_drain(ends_us: Time = 4_400_000) -> Groups:
    """Player in D until its sound has drained.

    Class "audio drain": sound open firmware, Linux issues 2433 and 3370; an attempt ended after 4.4 s.

    Parameters
    ----------
    ends_us : float, str or Distribution, microseconds
        When the sound has drained.

    Examples
    --------
    >>> audio_drain("uniform(low_us=0, high_us=500000)")[0].name
    'player'
    """
    return (TaskGroup(name="player", start="uninterruptible", d_ends_us=ends_us),)


def rpc_server_down(waiters: int = 10, faults: int = 1) -> Groups:
    """Callers of a file server that is gone: some in an RPC's freezable wait, some in D for a page.

    Class "NFS or SMB server down". The callers alone are no trouble; the D tasks that wait for pages which
    they are to fill are.

    Examples
    --------
    >>> [(group.name, group.site) for group in rpc_server_down(faults=0)]
    [('rpc-caller', 'rpc'), ('rpc-page', 'other')]
    """
    return (
        TaskGroup(name="rpc-caller", count=waiters, site="rpc"),
        TaskGroup(name="rpc-page", count=faults, start="uninterruptible", waits_on="rpc-caller"),
    )


def zombies(count: int = 30_000) -> Groups:
    """Dead tasks that nobody has waited for: each costs its visits.

    A 2025 proposal to skip them measured about 43 ms against 16 ms with some 30 000 tasks, mostly zombies, on
    x86 at Linux 6.6.

    Examples
    --------
    >>> zombies()[0].count
    30000
    """
    return (TaskGroup(name="zombie", count=count, start="zombie"),)


CASES: dict[str, Callable[[], Groups]] = {
    "audio_drain": audio_drain,
    "automount_loop": automount_loop,
    "fuse_client": fuse_client,
    "page_fault_on_fuse": page_fault_on_fuse,
    "rpc_server_down": rpc_server_down,
    "spinning_helper": spinning_helper,
    "two_level_freeze": two_level_freeze,
    "zombies": zombies,
}
"""Every case with its defaults, by name."""
