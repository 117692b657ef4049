# SPDX-License-Identifier: MIT
"""A population of tasks on the CPUs of a board, and the conditions of a freeze: everything but the policy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from typing import Any

import numpy as np
import pandas as pd

from torpor import _core
from torpor._checks import (
    LONGEST_US,
    Progress,
    flag,
    plain,
    real,
    replicate_request,
    shown,
    slice_ns,
    time_ns,
    whole,
    word,
)
from torpor._core import ConfigError
from torpor.board import Board, catalogue
from torpor.distributions import Distribution
from torpor.freezer.policies import Policy, as_policy
from torpor.freezer.population import Population, TaskGroup
from torpor.freezer.runs import Runs
from torpor.freezer.timeline import Timeline
from torpor.freezer.work import WorkItem, engine_distribution
from torpor.tables import Column, Table

__all__ = ["Scenario"]

MAX_CPUS = 8192
MAX_COST = 10**12
MAX_KHZ = 2**53
MAX_TIMEOUT_MS = 2**32 - 1

_NUMBERS = (
    *("cpus", "since_tick_us", "wheel_extra", "timeout_ms", "wakeup_at_us", "attempts"),
    *("retry_gap_us", "asleep_us", "steal", "slice_us", "bound"),
)


@dataclass(frozen=True, repr=False)
class Scenario:
    """A population that is frozen and thawed on a board.

    Two policies run on one scenario with one seed meet the same tick phase, list order, D tails and wakeups
    in every replicate, so their results are paired. Where None is given, the board's [freezer] section
    decides.

    Parameters
    ----------
    board : Board
        The machine; its `tick_hz` is the kernel's HZ. It needs a [freezer] section.
    population : Population, sequence of TaskGroup, or None
        The tasks; None takes the board's.
    opp_khz : int, mapping of str to int, or None, kilohertz
        Frequency of all clusters that have such an operating point, or of each cluster by its name; what is
        not given runs at its highest.
    cpus : int or None
        Number of CPUs: the first so many of the board, which begins again at CPU 0 when it has fewer.
    since_tick_us : float or None, microseconds
        Time since the last tick when the freeze starts; None draws it per replicate.
    preempt, kernel_loop_preempt : {"none", "full"} or None
        Whether a pass that has found tasks to wait for gives its CPU to those that it has woken before it
        sleeps; the second is of the kernel loop, where it differs.
    walker_wake : {"head", "tail"} or None
        Where a walker that wakes while every CPU is busy enters the ready queue.
    wheel_extra : int or None
        Ticks by which ``msleep`` is longer: 1 from 4.8 on.
    range_mode : {"hard", "tick", "uniform", "soft"} or None
        When a range sleep ends: at its far end, at the first tick inside it, anywhere in it, at its near end.
    timeout_ms : int or None, milliseconds
        When the freezer gives up.
    order : {"listed", "shuffled"} or None
        Task list as it stands, or shuffled per replicate with threads of a process kept together.
    loops : {"user_only", "both"}
        Whether kernel threads are frozen as well.
    costs : mapping of str to int, or None
        CPU cycles (stalls in nanoseconds) that replace the board's, for example ``{"visit_cycles": 200}``.
    work : sequence of WorkItem
        Work on freezable workqueues.
    wakeup_at_us : float, str, Distribution or None, microseconds
        When a wakeup event arrives, which aborts the freeze; None is never.
    attempts : int
        How often a freeze that fails or is aborted is tried in all.
    retry_gap_us : float, microseconds
        From the thaw after such a freeze to the next try.
    asleep_us : float, microseconds
        From the end of the freeze to the thaw.
    queues : {"global", "per_cpu"}
        One ready queue for all CPUs, the reference mode, or one for each.
    placement : {"first_idle", "biggest_idle", "wake_affine"}
        Which idle CPU a woken task takes.
    steal : bool
        A CPU about to go idle takes from the longest queue of the others.
    slice_us : float, microseconds
        What runs longer goes to the tail of its queue when others wait; 0 is never.
    bound : bool
        Work out the lower bound: each replicate once more, with perfect notification.

    Raises
    ------
    ConfigError
        For anything that cannot be, naming the parameter, its value and the limit.

    Notes
    -----
    The energy of a busy CPU is the board's power at the operating point, that of everything else
    ``freezer.base_power_mw``; without a published power all energies are NaN. Power of a cluster that no
    single CPU draws belongs to the latter.

    Examples
    --------
    >>> scenario = Scenario(Board.load("nexus-10"), opp_khz=200_000)
    >>> scenario.run("full", runs=2, seed=1).freeze_task_switch_ins
    array([25, 25])
    """

    board: Board
    population: Population | Sequence[TaskGroup] | None = None
    _: KW_ONLY
    opp_khz: int | Mapping[str, int] | None = field(default=None, hash=False)
    cpus: int | None = None
    since_tick_us: float | None = None
    preempt: str | None = None
    kernel_loop_preempt: str | None = None
    walker_wake: str | None = None
    wheel_extra: int | None = None
    range_mode: str | None = None
    timeout_ms: int | None = None
    order: str | None = None
    loops: str = "both"
    costs: Mapping[str, int] | None = field(default=None, hash=False)
    work: Sequence[WorkItem] = ()
    wakeup_at_us: float | str | Distribution | None = None
    attempts: int = 1
    retry_gap_us: float = 0
    asleep_us: float = 0
    queues: str = "global"
    placement: str = "first_idle"
    steal: bool = True
    slice_us: float = 0
    bound: bool = True
    _core_scenario: _core.FreezerScenario = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in _NUMBERS:
            object.__setattr__(self, name, plain(getattr(self, name)))
        if self.opp_khz is not None:
            object.__setattr__(self, "opp_khz", _checked_opps(self.opp_khz))
        section = _section(self.board)
        groups = self.population
        if groups is None:
            groups = Population.from_board(self.board)
        elif isinstance(groups, str) or not isinstance(groups, Sequence):
            raise ConfigError(f"population={shown(groups)} is no Population and no sequence of TaskGroup")
        elif not isinstance(groups, Population):
            groups = Population(groups)
        if self.costs is not None:
            known = section.costs.__struct_fields__
            object.__setattr__(self, "costs", _checked_costs(self.costs, known))
        object.__setattr__(self, "population", groups)
        object.__setattr__(self, "work", _checked_work(self.work))
        object.__setattr__(self, "_core_scenario", self._build())

    def _build(self) -> _core.FreezerScenario:
        section = _section(self.board)
        cpus, busy_power_mw = self._cpus(section.wake_latency_us)
        costs = {name: getattr(section.costs, name) for name in section.costs.__struct_fields__}
        return _core.FreezerScenario(
            cpus=cpus,
            busy_power_mw=[0.0 if power is None else power for power in busy_power_mw],
            base_power_mw=section.base_power_mw,
            rules=_core.Rules(
                queues=word("queues", self.queues),
                placement=word("placement", self.placement),
                steal=flag("steal", self.steal),
                slice_ns=slice_ns(self.slice_us, "slice_us"),
            ),
            costs=_core.Costs(**costs | dict(self.costs or {})),
            kernel=self._kernel(section.kernel),
            tasks=[_engine_group(group) for group in self.groups],
            work=[item.engine_record() for item in self.work],
            wakeup_at_ns=None
            if self.wakeup_at_us is None
            else engine_distribution(self.wakeup_at_us, "wakeup_at_us"),
            order=word("order", section.order if self.order is None else self.order),
            loops=word("loops", self.loops),
            attempts=whole("attempts", self.attempts, 1, 10**6),
            retry_gap_ns=time_ns(self.retry_gap_us, "retry_gap_us", 0),
            asleep_ns=time_ns(self.asleep_us, "asleep_us", 0),
            bound=flag("bound", self.bound),
        )

    def _cpus(self, wake_latency_us: float) -> tuple[list[_core.Cpu], list[float | None]]:
        """CPUs of the engine, and the power of each when it is busy."""
        opps = self.board.opp_indices(self.opp_khz)
        ours = _core.board_cpus(self.board.core, opps)
        powers = [cluster.opps[opp].power_mw for cluster, opp in zip(self.board.clusters, opps, strict=True)]
        count = len(ours) if self.cpus is None else whole("cpus", self.cpus, 1, MAX_CPUS)
        chosen = [ours[cpu % len(ours)] for cpu in range(count)]
        latency_ns = time_ns(wake_latency_us, "freezer.wake_latency_us")
        return [
            _core.Cpu(
                freq_hz=cpu.freq_hz,
                capacity=cpu.capacity,
                cluster=cpu.cluster,
                wake_latency_ns=latency_ns,
                work_hz=cpu.work_hz,
            )
            for cpu in chosen
        ], [powers[cpu.cluster] for cpu in chosen]

    def _kernel(self, section: Any) -> _core.Kernel:
        def chosen(name: str) -> Any:
            own = getattr(self, name)
            return getattr(section, name) if own is None else own

        later = chosen("kernel_loop_preempt")
        return _core.Kernel(
            hz=self.board.tick_hz,
            since_tick_ns=None if self.since_tick_us is None else self._since_tick_ns(self.since_tick_us),
            preempt=word("preempt", chosen("preempt")),
            kernel_loop_preempt=None if later is None else word("kernel_loop_preempt", later),
            walker_wake=word("walker_wake", chosen("walker_wake")),
            wheel_extra=whole("wheel_extra", chosen("wheel_extra"), 0, 1),
            range_mode=word("range_mode", chosen("range_mode")),
            timeout_ms=whole("timeout_ms", chosen("timeout_ms"), 1, MAX_TIMEOUT_MS),
        )

    def _since_tick_ns(self, since_tick_us: float) -> int:
        number_us = real("since_tick_us", since_tick_us, "time in microseconds")
        period_ns = (2 * 10**9 // self.board.tick_hz + 1) // 2  # rounded, as the engine does
        since_ns = time_ns(since_tick_us, "since_tick_us") if abs(number_us) <= LONGEST_US else -1
        if number_us < 0 or not 0 <= since_ns < period_ns:
            limit = f"0 <= since_tick_us < {period_ns / 1000:.10g}, one tick at HZ {self.board.tick_hz}"
            raise ConfigError(f"since_tick_us={since_tick_us} is outside {limit}")
        return since_ns

    @property
    def groups(self) -> Population:
        """The tasks, those of the board when none were given."""
        assert isinstance(self.population, Population)
        return self.population

    @property
    def task_count(self) -> int:
        """Number of tasks in all."""
        return self.groups.task_count

    @property
    def freq_khz(self) -> tuple[int, ...]:
        """Frequency of every CPU, kilohertz."""
        cpus, _ = self._cpus(0.0)
        return tuple(cpu.freq_hz // 1000 for cpu in cpus)

    def run(
        self,
        policy: Policy | str,
        *,
        runs: int = 1,
        seed: int = 0,
        first: int = 0,
        threads: int = 0,
        progress: Progress | None = None,
    ) -> Runs:
        """Run replicates of this scenario under one policy, over all cores, with the GIL released.

        Parameters
        ----------
        policy : policy or str
            A policy, or its text form such as ``"v3.9"`` or ``"freezer(version=full, cap_us=4000)"``.
        runs : int
            Number of replicates, at least 1.
        seed : int
            Root of all randomness, 0 to 2^64 - 1.
        first : int
            Number of the first replicate, to extend an earlier run.
        threads : int
            Worker threads; 0 means all cores. Results do not depend on it.
        progress : callable or None
            Called with (done, total) a few times a second.

        Returns
        -------
        Runs
            Per-replicate results.

        Raises
        ------
        ConfigError
            For an unknown policy, and what is none; for ``runs=0``.
        KeyboardInterrupt
            Soon after Ctrl-C.

        Examples
        --------
        >>> scenario = Scenario(Board.load("nexus-10"), opp_khz=200_000)
        >>> one, two = (scenario.run("v3.9", runs=3, seed=7, threads=n) for n in (1, 2))
        >>> one == two
        True
        """
        chosen = as_policy(policy)
        # A replicate's result takes about 600 bytes and a count per group and CPU; one call holds 4 GiB of
        # them at most.
        most = 2**32 // (600 + 8 * (len(self.groups) + len(self.freq_khz)))
        request = replicate_request(runs, first, seed, threads, progress, most)
        columns = _core.run_freezer(self._core_scenario, chosen, **request)
        if None in self._cpus(0.0)[1]:
            for name in ("freeze_energy_mj", "thaw_energy_mj", "cycle_energy_mj"):
                columns[name] = np.full(request["runs"], np.nan)
        return Runs(
            scenario=self, policy=chosen, seed=request["seed"], first=request["first"], columns=columns
        )

    def timeline(self, policy: Policy | str, *, seed: int = 0, replicate: int = 0) -> Timeline:
        """Play one replicate and keep everything that happens in it.

        Parameters
        ----------
        policy : policy or str
            A policy or its text form.
        seed, replicate : int
            Which world.

        Returns
        -------
        Timeline
            Passes and sleeps of the walker, what every CPU runs, and when each task freezes.

        Examples
        --------
        >>> scenario = Scenario(Board.load("toy"), opp_khz=1_000_000, since_tick_us=0)
        >>> scenario.timeline("p1").to_frame().columns.tolist()
        ['time_ns', 'cpu', 'event', 'value']
        """
        chosen = as_policy(policy)
        seed = whole("seed", seed, 0, 2**64 - 1)
        replicate = whole("replicate", replicate, 0, 2**62)
        columns = _core.run_freezer_timeline(self._core_scenario, chosen, seed=seed, replicate=replicate)
        return Timeline(scenario=self, policy=chosen, seed=seed, replicate=replicate, columns=columns)

    def tasks(self, policy: Policy | str, *, seed: int = 0, replicate: int = 0) -> pd.DataFrame:
        """Play one replicate and tell how each task got through it.

        Parameters
        ----------
        policy : policy or str
            A policy or its text form.
        seed, replicate : int
            Which world.

        Returns
        -------
        pandas.DataFrame
            One row per task in list order: its ``group``, ``number`` in the group, ``name``, whether it was
            ``forked`` meanwhile, its ``state`` at the end of the freeze, ``frozen_us`` from the start of the
            freeze and ``reblocked_us`` from that of the thaw (NaN for never), ``voluntary`` and
            ``involuntary`` switches away from it in the freeze, its ``wakeups`` in both, whether a system
            ``call`` of it was ``interrupted`` and what becomes of that, and its ``state_after_thaw``.

        Examples
        --------
        >>> scenario = Scenario(Board.load("toy"), opp_khz=1_000_000, since_tick_us=0)
        >>> scenario.tasks("full")["state"].value_counts().to_dict()
        {'skipped': 8, 'frozen': 2}
        """
        columns = _core.run_freezer_tasks(
            self._core_scenario,
            as_policy(policy),
            seed=whole("seed", seed, 0, 2**64 - 1),
            replicate=whole("replicate", replicate, 0, 2**62),
        )
        groups = np.array(self.groups.names, dtype=object)[columns["group"]]
        return pd.DataFrame(
            {
                "group": groups,
                "number": columns["number"],
                "name": [
                    f"{group}/{number}{'+' if forked else ''}"
                    for group, number, forked in zip(
                        groups, columns["number"], columns["forked"], strict=True
                    )
                ],
                "forked": columns["forked"],
                "state": columns["state"],
                "frozen_us": _known_us(columns["frozen_ns"]),
                "reblocked_us": _known_us(columns["reblocked_ns"]),
                **{name: columns[name] for name in ("voluntary", "involuntary", "wakeups", "interrupted")},
                "call": columns["call"],
                "state_after_thaw": columns["state_after_thaw"],
            }
        )

    def _shown(self) -> dict[str, Any]:
        """Parameters by name, those left out that are at their default."""
        board_tasks = self.board.freezer is not None and self.board.freezer.tasks
        own = not board_tasks or self.groups != Population.from_board(self.board)
        given = {f.name: getattr(self, f.name) for f in fields(self) if f.repr and f.name != "population"}
        usual = {f.name: f.default for f in fields(self)}
        shown: dict[str, Any] = {"board": given.pop("board")}
        if own:
            shown["population"] = self.population
        return shown | {name: value for name, value in given.items() if value != usual[name]}

    def __repr__(self) -> str:
        return f"Scenario({', '.join(f'{name}={value!r}' for name, value in self._shown().items())})"

    def _repr_html_(self) -> str:
        shown = [[name, repr(value)] for name, value in self._shown().items()]
        columns = [Column("scenario", align="left"), Column("value", align="left")]
        return Table(f"{self.board.name} freezing {self.task_count} tasks", columns, shown).to_html()

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "_core_scenario"}

    def __setstate__(self, state: dict[str, object]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_core_scenario", self._build())


def _section(board: Board) -> Any:
    """Return the board's [freezer] section."""
    if not isinstance(board, Board):
        raise ConfigError(f"board={shown(board)} is no Board")
    if board.freezer is None:
        known = [name for name in catalogue() if Board.load(name).freezer is not None]
        raise ConfigError(
            f"board {board.name} has no [freezer] section: boards with one are {', '.join(known)}"
        )
    return board.freezer


def _checked_opps(opp_khz: int | Mapping[str, int]) -> int | dict[str, int]:
    if isinstance(opp_khz, Mapping):
        return {name: whole(f"opp_khz[{name}]", khz, 0, MAX_KHZ) for name, khz in opp_khz.items()}
    return whole("opp_khz", opp_khz, 0, MAX_KHZ)


def _checked_costs(costs: Mapping[str, int], known: Sequence[str]) -> dict[str, int]:
    if not isinstance(costs, Mapping):
        raise ConfigError(f"costs={shown(costs)} is no mapping of names to cycles")
    for name in costs:
        if name not in known:
            raise ConfigError(f"costs: '{name}' is unknown: known are {', '.join(known)}")
    return {name: whole(f"costs.{name}", value, 0, MAX_COST) for name, value in costs.items()}


def _checked_work(work: Sequence[WorkItem]) -> tuple[WorkItem, ...]:
    if isinstance(work, WorkItem):
        return (work,)
    if isinstance(work, str) or not isinstance(work, Iterable):
        raise ConfigError(f"work={shown(work)} is no WorkItem and no sequence of WorkItem")
    items = tuple(work)
    for index, item in enumerate(items):
        if not isinstance(item, WorkItem):
            raise ConfigError(f"work[{index}]={shown(item)} is no WorkItem")
    return items


def _engine_group(group: TaskGroup) -> _core.TaskGroup:
    values = {f.name: getattr(group, f.name) for f in fields(group) if not f.name.endswith("_us")}
    for name in ("d_ends", "wakes_at", "forks_at"):
        value = getattr(group, f"{name}_us")
        values[f"{name}_ns"] = (
            None if value is None else engine_distribution(value, f"{group.name}.{name}_us")
        )
    return _core.TaskGroup(**values)


def _known_us(values_ns: Any) -> Any:
    return np.where(values_ns < 0, np.nan, values_ns / 1000)
