# SPDX-License-Identifier: MIT
"""Recorded idle decisions: from the rows of a trace back to what every decision saw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from torpor import _core
from torpor._core import ConfigError
from torpor.importers.ftrace import FtraceLog

__all__ = ["START_NOTE", "IdleTrace"]

START_NOTE = (
    "What a governor knew when the trace began is not in it. Assumed: an empty history, corrections of one, "
    "ladder in the first recorded state. Fitted, for menu 6.1 alone: timers of 1 to 10 ms are corrected by "
    f"{_core.TraceWalk.SETTLED_FACTOR:.2f} at the start, where recorded runs of 6.1.192 at HZ 250 with "
    "residencies of 1000 and 2700 us settle."
)
"""How a replay starts, for the notes of its tables."""

_ENDS = ("loop", "task", "window")


class IdleTrace:
    r"""Every CPU's idle decisions, rebuilt from a trace.

    Parameters
    ----------
    log : FtraceLog
        The trace: ``cpu_idle`` is needed, ``cpu_idle_miss``, ``tick_stop``, ``hrtimer_start``,
        ``hrtimer_expire_entry``, ``hrtimer_cancel`` and ``sched_switch`` are used; its clock must be
        ``mono``.
    tables : mapping of int to sequence of (int, int, bool)
        Per CPU and state: exit latency and target residency in nanoseconds, and whether the state polls.
    hz : int
        HZ of the kernel that wrote the trace.
    workload_tasks : sequence of str or None
        Tasks that leave no RCU callbacks behind; None takes those that armed their own sleep timer at least
        20 times.

    Raises
    ------
    ConfigError
        When there is no ``cpu_idle`` event, a CPU or a state of the trace is not in `tables`, an event
        cannot be read, the clock is another, or the trace's HZ is not `hz`.

    Examples
    --------
    >>> rows = [b"<idle>-0 [000] d..1. 1.000000: cpu_idle: state=0 cpu_id=0",
    ...         b"<idle>-0 [000] d..1. 1.000500: cpu_idle: state=4294967295 cpu_id=0", b""]
    >>> trace = IdleTrace(FtraceLog(b"\n".join(rows), "example"), {0: [(1000, 1000, False)]}, hz=250)
    >>> trace.decisions()[["cpu", "state", "residency_ns"]].values.tolist()
    [[0, 0, 499000]]
    """

    def __init__(
        self,
        log: FtraceLog,
        tables: Mapping[int, Sequence[tuple[int, int, bool]]],
        *,
        hz: int,
        workload_tasks: Sequence[str] | None = None,
    ) -> None:
        self.log = log
        self.source = log.source
        self.core = _core.TraceWalk(
            log.core,
            {cpu: list(states) for cpu, states in tables.items()},
            hz=hz,
            workload_tasks=None if workload_tasks is None else list(workload_tasks),
        )
        if not any(len(self.core.decisions(index)["entry_ns"]) for index in range(len(self.cpus))):
            raise ConfigError(f"{self.source}: no idle period both begins and ends in the trace")

    @property
    def damage(self) -> str:
        """What is missing or unreadable in the trace; empty for nothing.

        Examples
        --------
        >>> IdleTrace.damage.fget is not None
        True
        """
        found = []
        if self.log.bad_row_count:
            first = self.log.bad_rows[0][0]
            found.append(f"{self.log.bad_row_count} lines could not be read, the first is line {first}")
        if self.log.lost_events:
            found.append(f"the kernel lost events at {len(self.log.lost_events)} places")
        return "; ".join(found)

    @property
    def window_s(self) -> float:
        """Length of the trace in seconds."""
        return float(self.core.end_ns - self.core.begin_ns) * 1e-9

    @property
    def cpus(self) -> list[int]:
        """CPUs of the trace, ascending."""
        return self.core.cpus

    def decisions(self) -> pd.DataFrame:
        """Everything that each recorded decision saw.

        Returns
        -------
        pandas.DataFrame
            One row per decision. Times are the trace's, in nanoseconds: ``entry_ns``, ``exit_ns``,
            ``residency_ns``, ``idle_entry_ns`` (E), ``tick_ns`` (expiry of the running tick), ``wheel_ns``
            (next timer-wheel expiry), ``hrtimer_ns``; ``next_event_ns`` and ``sleep_length_ns`` count from
            E. A timer that does not exist is 2^63 - 1. ``stopped_before`` and ``stopped`` are the tick at
            the question and at the entry; ``tick_needed`` and ``rcu_need`` tell whether it could be stopped;
            ``end`` is "loop", "task" or "window"; ``cause`` has bit 0 for the running tick, 1 for the
            stopped tick's timer, 2 for another hrtimer, 3 for a polling limit.
        """
        frames = []
        for index, cpu in enumerate(self.cpus):
            columns = self.core.decisions(index)
            columns["end"] = pd.Categorical.from_codes(
                columns["end"].astype(np.int64), categories=pd.Index(_ENDS)
            )
            frame = pd.DataFrame(columns)
            frame.insert(0, "cpu", cpu)
            frames.append(frame)
        return pd.concat(frames, ignore_index=True)
