# SPDX-License-Identifier: MIT
"""A device graph on the CPUs of a board, and the conditions of its cycles: everything but the policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from typing import Any

import pandas as pd

from torpor import _core
from torpor._checks import Progress, ReplicateRequest, plain, replicate_request, shown
from torpor._core import ConfigError
from torpor.board import Board
from torpor.dpm._conditions import devices_of, interval_frame, named_costs, named_phase_costs, scales_of
from torpor.dpm._engine import core_scenario, machine_of, scales_in, section_of
from torpor.dpm.generator import Generator
from torpor.dpm.graph import DeviceGraph
from torpor.dpm.machine import FairMachine
from torpor.dpm.policies import Policy, as_policy
from torpor.dpm.runs import Runs
from torpor.dpm.timeline import Timeline
from torpor.tables import Column, Table

__all__ = ["Scenario"]

MAX_SCALED = 10**7

_NUMBERS = (
    *("cpus", "eas", "wake_affine", "pull", "main_pinned", "checks_all", "slice_us"),
    *("wakeup_granularity_us", "tick_balance", "idle_exit_share"),
    *("cluster_exit_us", "shared_cpus", "main_suspend_cpu", "main_suspend_util", "main_resume_cpu"),
    *("main_resume_util", "main_gives_way", "initial_workers", "worker_per_item", "barrier_wakes"),
    *("direct_complete", "eas_switch_us", "jitter", "since_tick_us", "warmup_cycles", "cycles"),
    *("async_devices", "relative_freq", "tick_hz"),
)


@dataclass(frozen=True, repr=False)
class Scenario:
    """Devices that are suspended and resumed on a board, again and again.

    Two policies run on one scenario with one seed meet the same graphs, async devices, lengths of callbacks
    and phases of the tick in every replicate, so their results are paired. Where None is given, the board's
    [dpm] section decides.

    Parameters
    ----------
    board : Board or None
        The machine, with a [dpm] section; its `tick_hz` is the kernel's HZ. None is the reference mode, see
        `Scenario.reference`.
    devices : DeviceGraph, Generator or None
        The devices, or what draws them anew for each replicate; None takes the board's.
    cpus : int or None
        Number of CPUs: the first so many of the board.
    relative_freq : float, mapping of str to float, or None
        Frequency over the highest at which all clusters, or those that are named, are frozen.
    async_devices : {"flagged", "all", "none"}, float or None
        Which devices are async: those flagged so, all, none, or each with this probability.
    eas : bool or None
        Energy-aware placement while no CPU is overutilised.
    placement : {"spread", "biggest_idle", "pinned"} or None
        Where what wakes goes without EAS: to its previous CPU if idle, else the first idle one from there
        (or from the waker's) upward; to the idle one of most capacity; always to its previous one.
    wake_affine : bool or None
        Without EAS what wakes may also go to where its waker runs, if fewer wait there.
    pull : bool or None
        A CPU about to go idle takes from the longest queue of the others, unless EAS forbids it.
    slice_us : float or None, microseconds
        What runs longer goes to the tail of its queue when others wait; 0 is never.
    wakeup_granularity_us : float or None, microseconds
        What has run for so long gives way to what wakes; 0 is never.
    tick_balance : bool or None
        The tick moves what does not fit its CPU, and works out anew whether a CPU is overutilised.
    idle_exit_share : float or None
        Share of an idle state's target residency after which a CPU pays its wake latency; infinity is never.
    cluster_exit_us : float or None, microseconds
        Paid besides when the whole cluster has been idle.
    shared_cpus : float or None
        All CPUs together do the work of so many; 0 is of as many as there are.
    main_suspend_cpu, main_resume_cpu : int or None
        Where the main thread stands when either side begins.
    main_suspend_util, main_resume_util : float or None
        Its utilisation then, 0 to 1024.
    main_gives_way : bool or None
        It leaves its CPU to ready workers when none is idle.
    main_pinned : bool or None
        It stays on these CPUs instead of being placed like any other thread.
    initial_workers : int or None
        Workers that exist already.
    worker_per_item : bool or None
        A worker of its own for each work item, no pool.
    barrier_wakes : bool or None
        Every finished item wakes the main thread that waits for the end of the phase; otherwise the last.
    checks_all : bool or None
        The check whether a device is ready costs all that it depends on, not only those up to the first that
        is not done.
    direct_complete : bool or None
        Devices that are runtime suspended may be left alone.
    eas_switch_us : float or None, microseconds
        What switching EAS off takes.
    jitter : float or None
        Standard deviation of the logarithm of a factor on the length of each callback, drawn per cycle.
    since_tick_us : float or None, microseconds
        Time since the last tick when a side begins; drawn when the board does not say either.
    tick_hz : int or None
        The kernel's HZ; None takes the board's, 250 in the reference mode.
    warmup_cycles : int
        Cycles of each replicate that are run first and not reported: workers are created in them.
    cycles : int
        Cycles of each replicate that are reported.
    scales : pair of float, sequence of pairs, or None
        Factors on all that callbacks do, on the way down and on the way up; replicate r takes the r-th pair.
    costs : mapping of str to float, or None
        Microseconds of the reference CPU that replace the board's, for example ``{"queue_us": 3}``.
    phase_costs : mapping of str to mapping, or None
        The same for single phases, ``{"suspend_late": {"core_us": 2}}``: in a phase they stand above `costs`.

    Raises
    ------
    ConfigError
        For anything that cannot be, naming the parameter, its value and the limit.

    Notes
    -----
    Energy is that of all CPUs while either side lasts, see `torpor.dpm.machine.fair_machine`; it is NaN when
    the board publishes no power.

    Examples
    --------
    >>> scenario = Scenario(Board.load("toy"), cycles=3)
    >>> scenario.run("old", runs=2, seed=1).suspend_ms.shape
    (2, 3)
    """

    board: Board | None
    devices: DeviceGraph | Generator | None = None
    _: KW_ONLY
    cpus: int | None = None
    relative_freq: float | Mapping[str, float] | None = field(default=None, hash=False)
    async_devices: str | float | None = None
    eas: bool | None = None
    placement: str | None = None
    wake_affine: bool | None = None
    pull: bool | None = None
    slice_us: float | None = None
    wakeup_granularity_us: float | None = None
    tick_balance: bool | None = None
    idle_exit_share: float | None = None
    cluster_exit_us: float | None = None
    shared_cpus: float | None = None
    main_suspend_cpu: int | None = None
    main_suspend_util: float | None = None
    main_resume_cpu: int | None = None
    main_resume_util: float | None = None
    main_gives_way: bool | None = None
    main_pinned: bool | None = None
    initial_workers: int | None = None
    worker_per_item: bool | None = None
    barrier_wakes: bool | None = None
    checks_all: bool | None = None
    direct_complete: bool | None = None
    eas_switch_us: float | None = None
    jitter: float | None = None
    since_tick_us: float | None = None
    tick_hz: int | None = None
    warmup_cycles: int = 2
    cycles: int = 10
    scales: Sequence[float] | Sequence[Sequence[float]] | None = None
    costs: Mapping[str, float] | None = field(default=None, hash=False)
    phase_costs: Mapping[str, Mapping[str, float]] | None = field(default=None, hash=False)
    _machine: FairMachine = field(init=False, repr=False, compare=False)
    _core_scenario: _core.DpmScenario = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in _NUMBERS:
            object.__setattr__(self, name, plain(getattr(self, name)))
        section = section_of(self.board)
        if isinstance(self.relative_freq, Mapping):
            object.__setattr__(self, "relative_freq", dict(self.relative_freq))
        if self.costs is not None:
            object.__setattr__(self, "costs", named_costs("costs", self.costs))
        if self.phase_costs is not None:
            object.__setattr__(self, "phase_costs", named_phase_costs(self.phase_costs))
        if self.scales is not None:
            object.__setattr__(self, "scales", scales_of(self.scales))
        if self.devices is None:
            object.__setattr__(self, "devices", devices_of(self.board, section))
        elif not isinstance(self.devices, DeviceGraph | Generator):
            raise ConfigError(f"devices={shown(self.devices)} is neither a DeviceGraph nor a Generator")
        self._finish()

    @classmethod
    def reference(
        cls,
        devices: DeviceGraph | Generator,
        cpus: int = 2,
        *,
        async_devices: str | float | None = None,
        shared_cpus: float | None = None,
        main_gives_way: bool | None = None,
        initial_workers: int | None = None,
        worker_per_item: bool | None = None,
        barrier_wakes: bool | None = None,
        checks_all: bool | None = None,
        direct_complete: bool | None = None,
        jitter: float | None = None,
        since_tick_us: float | None = None,
        tick_hz: int | None = None,
        warmup_cycles: int = 0,
        cycles: int = 1,
        scales: Sequence[float] | Sequence[Sequence[float]] | None = None,
        costs: Mapping[str, float] | None = None,
        phase_costs: Mapping[str, Mapping[str, float]] | None = None,
    ) -> Scenario:
        """Return the reference mode: equal CPUs, one FIFO queue for all, a worker per item, nothing costs.

        What it does can be worked out by hand.

        Parameters
        ----------
        devices : DeviceGraph or Generator
            The devices, or what draws them.
        cpus : int
            Number of CPUs.
        async_devices, shared_cpus, main_gives_way, initial_workers, worker_per_item, barrier_wakes
            As of `Scenario`, with the defaults of the reference mode; so are all others.
        checks_all, direct_complete, jitter, since_tick_us, tick_hz, warmup_cycles, cycles, scales, costs
            As of `Scenario`.
        phase_costs
            As of `Scenario`.

        Raises
        ------
        ConfigError
            As `Scenario`.

        Examples
        --------
        >>> from torpor.dpm import Device, DeviceGraph, Segment
        >>> busy = {"resume": [Segment.cpu(1000)]}
        >>> graph = DeviceGraph([Device(name, callbacks=busy) for name in ("a", "b", "c")])
        >>> scenario = Scenario.reference(graph, cpus=2)
        >>> scenario.run("sync").resume_ms.item(), scenario.run("old").resume_ms.item()
        (3.0, 2.0)
        """
        return cls(
            None,
            devices,
            cpus=cpus,
            async_devices=async_devices,
            shared_cpus=shared_cpus,
            main_gives_way=main_gives_way,
            initial_workers=initial_workers,
            worker_per_item=worker_per_item,
            barrier_wakes=barrier_wakes,
            checks_all=checks_all,
            direct_complete=direct_complete,
            jitter=jitter,
            since_tick_us=since_tick_us,
            tick_hz=tick_hz,
            warmup_cycles=warmup_cycles,
            cycles=cycles,
            scales=scales,
            costs=costs,
            phase_costs=phase_costs,
        )

    def _finish(self) -> None:
        """Make what the engine reads."""
        object.__setattr__(self, "_machine", machine_of(self))
        object.__setattr__(self, "_core_scenario", core_scenario(self, self._machine))

    @property
    def source(self) -> DeviceGraph | Generator:
        """The devices, or what draws them: those that were given, or the board's."""
        assert self.devices is not None
        return self.devices

    @property
    def clusters(self) -> tuple[str, ...]:
        """Names of the clusters."""
        return self._machine.clusters

    @property
    def cpu_count(self) -> int:
        """Number of CPUs."""
        return len(self._machine.cpus)

    def graph(self, seed: int = 0, replicate: int = 0) -> DeviceGraph:
        """Return the device graph of a replicate.

        Parameters
        ----------
        seed, replicate : int
            Which world; without meaning when the graph is not drawn.

        Examples
        --------
        >>> from torpor.dpm import Generator
        >>> len(Scenario.reference(Generator(devices=20)).graph(seed=3))
        20
        """
        devices = self.source
        return devices if isinstance(devices, DeviceGraph) else devices.draw(seed, replicate)

    def run(
        self,
        policy: Policy | str,
        runs: int = 1,
        seed: int = 0,
        first: int = 0,
        threads: int = 0,
        progress: Progress | None = None,
    ) -> Runs:
        """Run replicates of this scenario under one policy, over all cores, with the GIL released.

        Parameters
        ----------
        policy : Policy or str
            A policy, or its text form such as ``"old"`` or ``"breadth-first(eas_off=resume)"``.
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
            Results of each cycle. One that fails, is aborted or gets stuck is a result like any other.

        Raises
        ------
        ConfigError
            For an unknown policy, and what is none; for ``runs=0``; for more cycles than fit into 4 GiB.
        KeyboardInterrupt
            Soon after Ctrl-C.

        Examples
        --------
        >>> scenario = Scenario(Board.load("toy"), cycles=2)
        >>> one, two = (scenario.run("old", runs=3, seed=7, threads=n) for n in (1, 2))
        >>> one == two
        True
        """
        chosen = as_policy(policy)
        request = self._request(runs, first, seed, threads, progress)
        columns = _core.run_dpm(self._core_scenario, chosen, **request)
        if self._machine.power is None:
            for name in ("suspend_energy_mj", "resume_energy_mj"):
                columns[name].fill(float("nan"))
        return Runs(
            scenario=self, policy=chosen, seed=request["seed"], first=request["first"], columns=columns
        )

    def _request(
        self, runs: int, first: int, seed: int, threads: int = 0, progress: Progress | None = None
    ) -> ReplicateRequest:
        request = replicate_request(runs, first, seed, threads, progress, 2**53)
        runs, first = request["runs"], request["first"]
        # A cycle takes about 1 KiB, and as much again in its columns.
        most = 2**32 // (2100 + 64 * len(self.clusters))
        if runs * self.cycles > most:
            raise ConfigError(
                f"runs={runs} of cycles={self.cycles} each are {runs * self.cycles} cycles, limit: {most} in "
                "one call (4 GiB)"
            )
        scales = scales_in(self)
        given = MAX_SCALED if not scales or isinstance(scales[0], float) else len(scales)
        if scales and first + runs > given:
            raise ConfigError(
                f"first={first} and runs={runs} are replicates up to {first + runs - 1}, limit: "
                f"{given - 1}, the last with a scale"
            )
        return request

    def _world(self, seed: int, replicate: int) -> tuple[int, int]:
        request = self._request(1, replicate, seed)
        return request["seed"], request["first"]

    def timeline(self, policy: Policy | str, seed: int = 0, replicate: int = 0) -> Timeline:
        """Play one replicate and keep all that happens in its first reported cycle.

        Parameters
        ----------
        policy : Policy or str
            A policy or its text form.
        seed, replicate : int
            Which world.

        Returns
        -------
        Timeline
            Who runs on each CPU, phases, and when each device begins and ends.

        Examples
        --------
        >>> Scenario(Board.load("toy")).timeline("old", seed=1).devices[0]
        'soc'
        """
        chosen = as_policy(policy)
        seed, replicate = self._world(seed, replicate)
        columns = _core.run_dpm_timeline(self._core_scenario, chosen, seed=seed, replicate=replicate)
        return Timeline(scenario=self, policy=chosen, seed=seed, replicate=replicate, columns=columns)

    def intervals(self, policy: Policy | str, seed: int = 0, replicate: int = 0) -> pd.DataFrame:
        """Play one replicate and tell what became of each device in each phase of its first reported cycle.

        Parameters
        ----------
        policy : Policy or str
            A policy or its text form.
        seed, replicate : int
            Which world.

        Returns
        -------
        pandas.DataFrame
            One row per phase and device, in list order. Times are milliseconds since the phase began, NaN for
            never: ``queued_ms`` as a work item, ``taken_ms`` by its worker or the walk, ``begin_ms`` when all
            waits were over, ``end_ms``, and ``lock_wait_ms`` in all. ``worker`` (0 is the main thread), the
            ``cpu`` on which it ended, whether its callback was ``called`` and whether it was handled
            ``in_place`` without a worker though async; the device that it ``waited_for`` last and the one
            that held the shared lock before it, ``lock_after``, missing where there is none.

        Examples
        --------
        >>> frame = Scenario(Board.load("toy")).intervals("old", seed=1)
        >>> frame.loc[frame["called"], "phase"].unique().tolist()[0]
        'suspend'
        """
        chosen = as_policy(policy)
        seed, replicate = self._world(seed, replicate)
        return interval_frame(
            _core.run_dpm_intervals(self._core_scenario, chosen, seed=seed, replicate=replicate)
        )

    def _has_the_boards_devices(self) -> bool:
        section = section_of(self.board)
        known = section.devices is not None or bool(section.device)
        return known and self.source == devices_of(self.board, section)

    def _shown(self) -> dict[str, Any]:
        """Parameters by name, those left out that are at their default."""
        usual = {f.name: f.default for f in fields(self)}
        given = {f.name: getattr(self, f.name) for f in fields(self) if f.repr}
        if self.board is None:
            del given["board"]
            usual |= {"cpus": 2, "warmup_cycles": 0, "cycles": 1}
        elif self._has_the_boards_devices():
            del given["devices"]
        return {
            name: value
            for name, value in given.items()
            if name in ("board", "devices") or value != usual[name]
        }

    def __repr__(self) -> str:
        shown_ones = ", ".join(f"{name}={value!r}" for name, value in self._shown().items())
        return f"Scenario{'.reference' if self.board is None else ''}({shown_ones})"

    def _repr_html_(self) -> str:
        rows = [[name, repr(value)] for name, value in self._shown().items()]
        columns = [Column("scenario", align="left"), Column("value", align="left")]
        name = "reference" if self.board is None else self.board.name
        return Table(f"{name} suspending and resuming its devices", columns, rows).to_html()

    def __getstate__(self) -> dict[str, object]:
        made = ("_core_scenario", "_machine")
        return {name: value for name, value in self.__dict__.items() if name not in made}

    def __setstate__(self, state: dict[str, object]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)
        self._finish()
