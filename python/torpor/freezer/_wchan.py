# SPDX-License-Identifier: MIT
"""From wait channels to sites: the kernel functions in which tasks sleep, by release.

A wait channel is the innermost function of a sleeping task's stack that is no part of the scheduler.
Compilers append suffixes such as ``.constprop.0`` and may inline a function into its caller, which then shows
instead.
The names are those of Linux 3.4 to 6.18, read from kernel stacks and sources; a release is given where a name
came or went.
"""

from __future__ import annotations

import re

SITE_OF = {
    # binder: drivers/android/binder.c (drivers/staging/android before 3.19)
    "binder_thread_read": "binder",
    "binder_wait_for_work": "binder",  # 4.14
    "binder_ioctl_write_read": "binder",
    # fs/eventpoll.c
    "ep_poll": "epoll",
    "do_epoll_wait": "epoll",  # 4.18
    "sys_epoll_wait": "epoll",
    # fs/select.c: select and poll share the function that sleeps, and every kernel treats them alike
    "poll_schedule_timeout": "poll",
    "do_poll": "poll",
    "do_sys_poll": "poll",
    "do_select": "select",
    "core_sys_select": "select",
    # kernel/futex.c, kernel/futex/ from 5.16
    "futex_wait_queue_me": "futex",
    "futex_wait_queue": "futex",  # 5.16
    "futex_do_wait": "futex",  # 6.15
    "futex_wait_multiple": "futex",  # 5.16
    "futex_sleep_multiple": "futex",
    "futex_wait": "futex",
    # kernel/time/hrtimer.c
    "hrtimer_nanosleep": "nanosleep",
    "do_nanosleep": "nanosleep",
    "common_nsleep": "nanosleep",
    # kernel/signal.c
    "do_sigtimedwait": "sigtimedwait",  # 3.x to today
    "sys_rt_sigtimedwait": "sigtimedwait",
    "do_freezer_trap": "cgroup_frozen",  # 5.2
    "sigsuspend": "pause",
    "sys_rt_sigsuspend": "pause",
    "sys_pause": "pause",
    # net/unix/af_unix.c
    "unix_stream_data_wait": "af_unix",
    "unix_stream_recvmsg": "af_unix",
    "unix_stream_read_generic": "af_unix",  # 4.2
    # kernel/fork.c, fs/coredump.c, kernel/umh.c: freezable before the series
    "wait_for_vfork_done": "vfork",
    "do_fork": "vfork",
    "_do_fork": "vfork",
    "kernel_clone": "vfork",  # 5.10
    "coredump_wait": "coredump",
    "do_coredump": "coredump",
    "coredump_task_exit": "coredump",  # 5.16
    "call_usermodehelper_exec": "usermodehelper",
    # net/sunrpc, fs/nfs, fs/smb: killable and freezable
    "rpc_wait_bit_killable": "rpc",
    "nfs_wait_bit_killable": "rpc",
    "wait_for_response": "rpc",
    # kernel/freezer.c: a task that a v1 cgroup holds in the refrigerator
    "__refrigerator": "cgroup_frozen",
    "refrigerator": "cgroup_frozen",
    # never converted
    "pipe_wait": "pipe",  # to 5.4
    "pipe_read": "pipe",  # 5.5
    "pipe_write": "pipe",
    "pipe_wait_readable": "pipe",
    "anon_pipe_read": "pipe",  # 6.15
    "anon_pipe_write": "pipe",
    "wait_for_partner": "pipe",
    "n_tty_read": "tty",
    "tty_wait_until_sent": "tty",
    "inet_csk_accept": "inet_socket",
    "inet_csk_wait_for_connect": "inet_socket",
    "inet_wait_for_connect": "inet_socket",
    "inet_stream_connect": "inet_socket",
    "sk_wait_data": "inet_socket",
    "sk_stream_wait_memory": "inet_socket",
    "tcp_recvmsg": "inet_socket",
    "eventfd_read": "eventfd",
    "eventfd_ctx_read": "eventfd",
    "inotify_read": "inotify",
    "do_wait": "waitpid",
    "__do_wait": "waitpid",  # 6.7
    "do_msgrcv": "msgrcv",
    "do_msgsnd": "msgrcv",
    "do_semtimedop": "semop",
    "__do_semtimedop": "semop",  # 5.16
    "sys_semtimedop": "semop",
    # known, without a site of their own; wait_woken serves terminals and sockets alike
    "wait_woken": "other",
    "__skb_wait_for_more_packets": "other",  # datagrams of any family
    "__skb_recv_datagram": "other",
    "skb_wait_for_more_packets": "other",
    "unix_wait_for_peer": "other",
    "unix_accept": "other",
    "signalfd_dequeue": "other",
    "signalfd_read": "other",
    "timerfd_read": "other",
    "timerfd_read_iter": "other",  # 6.10
    "fanotify_read": "other",
    "do_syslog": "other",
    "syslog_print": "other",
    "devkmsg_read": "other",
    "wq_sleep": "other",  # POSIX message queues
    "alarmtimer_do_nsleep": "other",
    "fuse_dev_do_read": "other",
    "evdev_read": "other",
    "io_cqring_wait": "other",
    "read_events": "other",
    "get_signal": "cgroup_frozen",  # do_freezer_trap inlined
}
"""Site of each function. One table, so that a new kernel's name is one new line."""

STOPPED = frozenset({"do_signal_stop", "ptrace_stop", "do_jobctl_trap"})
"""Functions in which stopped and traced tasks wait."""

UNINTERRUPTIBLE = frozenset(
    {
        "io_schedule",
        "bit_wait_io",
        "wait_on_page_bit",
        "wait_on_page_bit_common",
        "wait_on_page_bit_killable",
        "folio_wait_bit_common",  # 5.16
        "folio_wait_bit",
        "__lock_page",
        "__lock_page_killable",
        "sleep_on_page",  # to 3.15
        "sleep_on_page_killable",
        "sleep_on_buffer",
        "wait_on_buffer",
        "__wait_on_buffer",
        "request_wait_answer",  # fs/fuse/dev.c: a file system's client waits for its daemon
        "fuse_request_send",
        "__fuse_request_send",
        "autofs_wait",
        "autofs4_wait",
        "jbd2_log_wait_commit",
        "do_get_write_access",
        "blk_mq_get_tag",
        "rwsem_down_read_slowpath",
        "rwsem_down_write_slowpath",
        "__mutex_lock",
        "wait_for_common_io",
    }
)
"""Functions in which tasks wait in D; a state that was recorded beside the channel decides instead."""

KERNEL_THREADS = frozenset(
    {
        "kthreadd",
        "worker_thread",
        "rescuer_thread",
        "smpboot_thread_fn",
        "kthread_worker_fn",
        "rcu_gp_kthread",
        "rcu_gp_fqs_loop",
        "rcu_nocb_gp_kthread",
        "rcu_nocb_kthread",
        "rcu_tasks_kthread",
        "rcu_tasks_one_gp",
        "cpu_stopper_thread",
        "migration_thread",
        "ksoftirqd",
        "run_ksoftirqd",
        "irq_thread",
        "irq_wait_for_interrupt",
        "devtmpfsd",
        "devtmpfs_work_loop",
        "scsi_error_handler",
        "ubi_thread",
        "svc_recv",
        "mmc_queue_thread",
        "watchdog",
        "bdi_forker_thread",
        "psi_rtpoll_worker",
        "psi_poll_worker",
        "io_wq_worker",
        "io_sq_thread",
    }
)
"""Functions that only kernel threads sleep in, of threads that are not frozen."""

FREEZABLE_THREADS = frozenset(
    {
        "kswapd",
        "kswapd_try_to_sleep",
        "kcompactd",
        "khugepaged",
        "khugepaged_wait_work",
        "ksm_scan_thread",
        "oom_reaper",
        "kauditd_thread",
        "kjournald2",
        "kjournald",
        "ext4_lazyinit_thread",
        "xfsaild",
        "gc_thread_func",
        "issue_discard_thread",
        "hub_thread",
        "nfs4_run_state_manager",
    }
)
"""Functions of kernel threads that opt in to freezing."""

NO_CHANNEL = frozenset({"", "-", "0", "?"})
"""What stands where a task has no channel: it is not asleep, or the reader may not know."""

_SUFFIX = re.compile(r"(\.(constprop|isra|part|cold|llvm|lto_priv)(\.\d+)*)+$|\+0x[0-9a-f]+.*$")
_ENTRY = re.compile(r"^(__)?(x64|ia32|arm64|se|do|riscv|s390x?)?_?sys_")


def plain_channel(channel: str) -> str:
    """Name of the function without what compilers and printers add, and without an architecture's prefix.

    >>> plain_channel("poll_schedule_timeout.constprop.0"), plain_channel("__x64_sys_pause")
    ('poll_schedule_timeout', 'sys_pause')
    """
    name = _SUFFIX.sub("", channel.strip())
    entry = _ENTRY.sub("sys_", name)
    return entry if entry in SITE_OF else name
