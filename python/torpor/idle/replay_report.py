# SPDX-License-Identifier: MIT
"""What a replay of a recorded trace comes to, and how it is printed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from torpor.idle.trace import START_NOTE
from torpor.report import Report
from torpor.tables import Column, Table, Value

__all__ = ["CpuReplay", "PolicyReplay", "ReplayReport"]


@dataclass(frozen=True)
class CpuReplay:
    """What a policy did on one CPU, or on all of them.

    Parameters
    ----------
    cpu : int or None
        The CPU; None for all together.
    residency_s : mapping of str to float, seconds
        By name of the state, as the kernel books it.
    entries, above, below : mapping of str to int
        Entries by state; those left too early for the target residency (too deep), and those for which a
        deeper state would have fitted (too shallow).
    tick_stops : int
        First stops of the tick.
    energy_mj : float, millijoules
        The CPU's energy with an equal part of its cluster's, or that of the board; NaN when the board has no
        power.
    regret_mj, regret_pct : float
        Energy above the oracle's, millijoules and percent; NaN without power data.
    wakeups : int
        Wakeups that somebody waited for: not the tick.
    wake_latency_p50_us, wake_latency_p95_us, wake_latency_p99_us, wake_latency_max_us : float, microseconds
        From such a wakeup to its handler; NaN when there was none.

    Examples
    --------
    >>> latencies = [3.0] * 4
    >>> one = CpuReplay(0, {"WFI": 1.0}, {"WFI": 3}, {"WFI": 1}, {"WFI": 0}, 2, 5.0, 0.0, 0.0, 1, *latencies)
    >>> one.too_deep
    1
    """

    cpu: int | None
    residency_s: dict[str, float]
    entries: dict[str, int]
    above: dict[str, int]
    below: dict[str, int]
    tick_stops: int
    energy_mj: float
    regret_mj: float
    regret_pct: float
    wakeups: int
    wake_latency_p50_us: float
    wake_latency_p95_us: float
    wake_latency_p99_us: float
    wake_latency_max_us: float

    @property
    def too_deep(self) -> int:
        """Entries left before the target residency."""
        return sum(self.above.values())

    @property
    def too_shallow(self) -> int:
        """Entries for which a deeper state would have fitted."""
        return sum(self.below.values())


@dataclass(frozen=True)
class PolicyReplay:
    """One policy's outcome.

    Parameters
    ----------
    policy : str
        The policy's text form, or "recorded".
    total : CpuReplay
        All CPUs together.
    cpus : tuple of CpuReplay
        One by one.

    Examples
    --------
    >>> nothing = CpuReplay(None, {}, {}, {}, {}, 0, 1.0, 0.0, 0.0, 0, *[float("nan")] * 4)
    >>> PolicyReplay("menu(version=6.1)", nothing, ()).total.energy_mj
    1.0
    """

    policy: str
    total: CpuReplay
    cpus: tuple[CpuReplay, ...]


@dataclass(frozen=True)
class ReplayReport:
    """Policies over one recorded trace, against the oracle and against what the trace recorded.

    Parameters
    ----------
    trace, board : str
        Names of the trace and of the board.
    window_s : float, seconds
        Length of the trace.
    policies : tuple of PolicyReplay
        First what was recorded, then the policies in the order given, and the oracle.
    warm_up : int
        Decisions of each CPU that were taken from the trace, for every policy.
    damage : str
        What is missing or unreadable in the trace; empty for nothing.

    Examples
    --------
    >>> ReplayReport("t", "b", 10.0, (), 8)
    ReplayReport('t' on 'b', 10.000 s, policies=[])
    """

    trace: str
    board: str
    window_s: float
    policies: tuple[PolicyReplay, ...]
    warm_up: int
    damage: str = ""

    def __getitem__(self, policy: str) -> PolicyReplay:
        for one in self.policies:
            if one.policy == policy:
                return one
        raise KeyError(f"{policy!r}; there are {[one.policy for one in self.policies]}")

    def to_frame(self, level: Literal["policy", "cpu", "state"] = "policy") -> pd.DataFrame:
        """Tidy table of the results.

        Parameters
        ----------
        level : {"policy", "cpu", "state"}
            One row per policy, per policy and CPU, or per policy, CPU and state.
        """
        if level == "policy":
            return pd.DataFrame([{"policy": p.policy, **_figures(p.total)} for p in self.policies])
        if level == "cpu":
            return pd.DataFrame(
                [{"policy": p.policy, "cpu": c.cpu, **_figures(c)} for p in self.policies for c in p.cpus]
            )
        if level != "state":
            raise ValueError(f"level={level!r}: 'policy', 'cpu' or 'state'")
        return pd.DataFrame(
            [
                {"policy": p.policy, "cpu": c.cpu, "state": state, **_state_figures(c, state)}
                for p in self.policies
                for c in p.cpus
                for state in c.residency_s
            ]
        )

    def to_json(self) -> dict[str, Any]:
        """Everything as one JSON object; unknown numbers are null."""
        return {
            "trace": self.trace,
            "board": self.board,
            "window_s": self.window_s,
            "warm_up": self.warm_up,
            "damage": self.damage,
            "policies": [
                {
                    "policy": p.policy,
                    **_json_of(p.total),
                    "cpus": [{"cpu": c.cpu, **_json_of(c)} for c in p.cpus],
                }
                for p in self.policies
            ],
        }

    def tables(self) -> list[Table]:
        """Make the printed tables: totals by policy, then residency by CPU and state."""
        states = list(dict.fromkeys(name for p in self.policies for name in p.total.residency_s))
        totals = Table(
            f"{self.trace} on {self.board}, {self.window_s:.3f} s, all CPUs",
            [
                Column("policy", align="left"),
                *(Column(name, "s", digits=3) for name in states),
                Column("entries"),
                Column("too deep"),
                Column("too shallow"),
                Column("tick stops"),
                Column("energy", "mJ", digits=2),
                Column("regret", "mJ", digits=2),
                Column("regret", "%", digits=2),
                Column("wake p50", "us", digits=1),
                Column("p95", "us", digits=1),
                Column("p99", "us", digits=1),
                Column("max", "us", digits=1),
            ],
            [
                [
                    p.policy,
                    *(p.total.residency_s.get(name) for name in states),
                    sum(p.total.entries.values()),
                    p.total.too_deep,
                    p.total.too_shallow,
                    p.total.tick_stops,
                    _known(p.total.energy_mj),
                    _known(p.total.regret_mj),
                    _known(p.total.regret_pct),
                    *(_known(value) for value in _latencies(p.total)),
                ]
                for p in self.policies
            ],
            notes=[
                f"Closed loop; the first {self.warm_up} decisions of each CPU are the recorded ones for "
                "every policy. Energy: of the board, each cluster down only while all its CPUs allow it. "
                "Regret: energy above the oracle's, which knows when the next wakeup comes and whose "
                "clusters go down whenever that pays.",
                START_NOTE,
                *([f"The trace is damaged: {self.damage}."] if self.damage else []),
                "States are those of the board; a state of the trace is the board's of the same number.",
                *(
                    [f"Energy and regret are not known: {self.board} publishes no power."]
                    if any(math.isnan(p.total.energy_mj) for p in self.policies)
                    else []
                ),
            ],
        )
        by_cpu: list[list[Value]] = [
            [
                c.cpu,
                p.policy,
                *(c.residency_s.get(name) for name in states),
                sum(c.entries.values()),
                c.too_deep,
                c.too_shallow,
                c.tick_stops,
                _known(c.energy_mj),
                _known(c.regret_mj),
                _known(c.wake_latency_p99_us),
            ]
            for index in range(len(self.policies[0].cpus) if self.policies else 0)
            for p in self.policies
            for c in (p.cpus[index],)
        ]
        details = Table(
            "By CPU",
            [
                Column("CPU"),
                Column("policy", align="left"),
                *(Column(name, "s", digits=3) for name in states),
                Column("entries"),
                Column("too deep"),
                Column("too shallow"),
                Column("tick stops"),
                Column("energy", "mJ", digits=2),
                Column("regret", "mJ", digits=2),
                Column("wake p99", "us", digits=1),
            ],
            by_cpu,
        )
        return [totals, details]

    def to_text(self) -> str:
        """Tables for a terminal."""
        return self._printed().to_text()

    def to_markdown(self) -> str:
        """Tables in Markdown."""
        return self._printed().to_markdown()

    def to_latex(self) -> str:
        """Tables in LaTeX."""
        return self._printed().to_latex()

    def to_csv(self) -> str:
        """One line per policy, CPU and state, raw values."""
        return str(self.to_frame("state").to_csv(index=False, lineterminator="\n"))

    def _printed(self) -> Report:
        return Report(self.tables(), self.to_json())

    def _repr_html_(self) -> str:
        return self._printed()._repr_html_()

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        names = [one.policy for one in self.policies]
        return f"ReplayReport({self.trace!r} on {self.board!r}, {self.window_s:.3f} s, policies={names})"


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _latencies(one: CpuReplay) -> list[float]:
    return [
        one.wake_latency_p50_us,
        one.wake_latency_p95_us,
        one.wake_latency_p99_us,
        one.wake_latency_max_us,
    ]


def _figures(one: CpuReplay) -> dict[str, float]:
    return {
        "entries": sum(one.entries.values()),
        "too_deep": one.too_deep,
        "too_shallow": one.too_shallow,
        "tick_stops": one.tick_stops,
        "energy_mj": one.energy_mj,
        "regret_mj": one.regret_mj,
        "regret_pct": one.regret_pct,
        "wakeups": one.wakeups,
        "wake_latency_p50_us": one.wake_latency_p50_us,
        "wake_latency_p95_us": one.wake_latency_p95_us,
        "wake_latency_p99_us": one.wake_latency_p99_us,
        "wake_latency_max_us": one.wake_latency_max_us,
    }


def _state_figures(one: CpuReplay, state: str) -> dict[str, float]:
    return {
        "residency_s": one.residency_s[state],
        "entries": one.entries[state],
        "above": one.above[state],
        "below": one.below[state],
    }


def _json_of(one: CpuReplay) -> dict[str, Any]:
    figures = {name: _known(value) for name, value in _figures(one).items()}
    return {**figures, "states": {state: _state_figures(one, state) for state in one.residency_s}}
