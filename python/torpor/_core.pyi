"""
Private extension of torpor: use the package's modules instead.
"""

from __future__ import annotations
import collections.abc
import enum
import numpy
import numpy.typing
import typing

__all__: list[str] = [
    "Board",
    "BurstyArrivals",
    "Cancelled",
    "Cgroup1",
    "Cgroup2",
    "Cluster",
    "ConfigError",
    "Costs",
    "Cpu",
    "DelayedOracle",
    "Distribution",
    "DpmCosts",
    "DpmGenerator",
    "DpmGraph",
    "DpmOutcome",
    "DpmPolicy",
    "DpmScenario",
    "DpmTimelineKind",
    "Error",
    "FairCosts",
    "FairCpu",
    "FairRules",
    "Fixed",
    "FreezeOutcome",
    "Freezer",
    "FreezerScenario",
    "FreezerTimelineKind",
    "Haltpoll",
    "IDLE_ENTITY",
    "IdleCosts",
    "IdleScenario",
    "IdleState",
    "IdleTimelineKind",
    "InternalError",
    "Kernel",
    "Ladder",
    "LognormalArrivals",
    "MAX_IDLE_STATES",
    "Menu",
    "ModelError",
    "NO_LATENCY_LIMIT_US",
    "Opp",
    "Oracle",
    "ParameterInfo",
    "PeriodicArrivals",
    "PoissonArrivals",
    "PolicyInfo",
    "RandomStream",
    "RecordedArrivals",
    "ReplayRules",
    "ReplayedCpu",
    "Rules",
    "Source",
    "SourceKind",
    "StateTable",
    "TaskGroup",
    "Teo",
    "TickLength",
    "TraceLog",
    "TraceWalk",
    "WALKER_ENTITY",
    "WorkItem",
    "board_cpus",
    "decide",
    "dpm_max_active",
    "freezer_kind_names",
    "freezer_site_names",
    "freezer_sites",
    "freezer_start_names",
    "freezer_version_names",
    "known_dpm_policies",
    "known_freezer_policies",
    "known_policies",
    "parse_dpm_policy",
    "parse_freezer_policy",
    "parse_policy",
    "run_dpm",
    "run_dpm_intervals",
    "run_dpm_timeline",
    "run_freezer",
    "run_freezer_tasks",
    "run_freezer_timeline",
    "run_idle",
    "run_idle_timeline",
    "stable_hash",
    "tick_hz_of",
    "uniform_means",
]

class Error(RuntimeError):
    """
    Root of every error of torpor.
    """

class ConfigError(Error, ValueError):
    """
    A parameter, a board or an input that cannot be used; `key` is the path of the entry, empty when there is none.
    """

    key: typing.ClassVar[str] = ""

class ModelError(Error):
    """
    The simulated system cannot go on.
    """

class Cancelled(Error):
    """
    A run was asked to stop and its work is gone.
    """

class InternalError(Error):
    """
    A bug of torpor.
    """

class RandomStream:
    """
    Random numbers of one consumer in one replicate: Philox-4x32-10, found by name.
    """

    __hash__: typing.ClassVar[None] = None
    def __eq__(self, arg0: RandomStream) -> bool: ...
    def __getstate__(self) -> tuple[str, int, int, int]: ...
    def __init__(
        self,
        consumer: str,
        *,
        seed: typing.SupportsInt | typing.SupportsIndex,
        replicate: typing.SupportsInt | typing.SupportsIndex = 0,
        position: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> None: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: tuple) -> None: ...
    def empirical(
        self,
        size: typing.SupportsInt | typing.SupportsIndex,
        *,
        samples: collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def empirical_quantiles(
        self,
        size: typing.SupportsInt | typing.SupportsIndex,
        *,
        points: collections.abc.Sequence[
            tuple[typing.SupportsFloat | typing.SupportsIndex, typing.SupportsFloat | typing.SupportsIndex]
        ],
    ) -> numpy.typing.NDArray[numpy.float64]:
        """
        points: pairs (share, value).
        """
    def exponential(
        self,
        size: typing.SupportsInt | typing.SupportsIndex,
        *,
        mean: typing.SupportsFloat | typing.SupportsIndex,
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def integers(
        self,
        size: typing.SupportsInt | typing.SupportsIndex,
        *,
        low: typing.SupportsInt | typing.SupportsIndex,
        high: typing.SupportsInt | typing.SupportsIndex,
    ) -> numpy.typing.NDArray[numpy.int64]:
        """
        low .. high, both included.
        """
    def lognormal(
        self,
        size: typing.SupportsInt | typing.SupportsIndex,
        *,
        median: typing.SupportsFloat | typing.SupportsIndex,
        sigma: typing.SupportsFloat | typing.SupportsIndex,
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def normal(
        self,
        size: typing.SupportsInt | typing.SupportsIndex,
        *,
        mean: typing.SupportsFloat | typing.SupportsIndex,
        deviation: typing.SupportsFloat | typing.SupportsIndex,
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def pareto(
        self,
        size: typing.SupportsInt | typing.SupportsIndex,
        *,
        scale: typing.SupportsFloat | typing.SupportsIndex,
        shape: typing.SupportsFloat | typing.SupportsIndex,
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def uint32(
        self, size: typing.SupportsInt | typing.SupportsIndex
    ) -> numpy.typing.NDArray[numpy.uint32]: ...
    def uint64(
        self, size: typing.SupportsInt | typing.SupportsIndex
    ) -> numpy.typing.NDArray[numpy.uint64]: ...
    def uniform(
        self,
        size: typing.SupportsInt | typing.SupportsIndex,
        *,
        low: typing.SupportsFloat | typing.SupportsIndex,
        high: typing.SupportsFloat | typing.SupportsIndex,
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def uniform01(
        self, size: typing.SupportsInt | typing.SupportsIndex
    ) -> numpy.typing.NDArray[numpy.float64]:
        """
        In [0, 1), multiples of 2^-53.
        """
    def uniform_open(
        self, size: typing.SupportsInt | typing.SupportsIndex
    ) -> numpy.typing.NDArray[numpy.float64]:
        """
        In (0, 1); what every distribution below puts into its quantile function.
        """
    @property
    def consumer(self) -> str: ...
    @property
    def position(self) -> int:
        """
        32-bit words drawn so far.
        """
    @property
    def replicate(self) -> int: ...
    @property
    def seed(self) -> int: ...

class ParameterInfo:
    """
    One parameter of a policy.
    """
    def __repr__(self) -> str: ...
    @property
    def default_value(self) -> str:
        """
        Empty when it must be given.
        """
    @property
    def description(self) -> str: ...
    @property
    def name(self) -> str: ...

class PolicyInfo:
    """
    What is known of one policy.
    """
    def __repr__(self) -> str: ...
    @property
    def bound(self) -> bool:
        """
        True for what no kernel can be or do.
        """
    @property
    def description(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def parameters(self) -> list[ParameterInfo]: ...
    @property
    def source(self) -> str: ...
    @property
    def versions(self) -> list[str]: ...

class IdleState:
    __hash__: typing.ClassVar[None] = None
    def __eq__(self, arg0: IdleState) -> bool: ...
    def __getstate__(self) -> dict: ...
    def __init__(
        self,
        *,
        name: str,
        exit_latency_ns: typing.SupportsInt | typing.SupportsIndex,
        target_residency_ns: typing.SupportsInt | typing.SupportsIndex,
        entry_latency_ns: typing.SupportsInt | typing.SupportsIndex = 0,
        wake_latency_ns: typing.SupportsInt | typing.SupportsIndex = 0,
        polling: bool = False,
        cluster: bool = False,
        power_mw: typing.SupportsFloat | typing.SupportsIndex | None = None,
        cluster_power_mw: typing.SupportsFloat | typing.SupportsIndex | None = None,
    ) -> None: ...
    def __ne__(self, arg0: IdleState) -> bool: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: dict) -> None: ...
    @property
    def cluster(self) -> bool: ...
    @property
    def cluster_power_mw(self) -> float | None: ...
    @property
    def entry_latency_ns(self) -> int: ...
    @property
    def exit_latency_ns(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def polling(self) -> bool: ...
    @property
    def power_mw(self) -> float | None: ...
    @property
    def target_residency_ns(self) -> int: ...
    @property
    def wake_latency_ns(self) -> int: ...

class Opp:
    __hash__: typing.ClassVar[None] = None
    def __eq__(self, arg0: Opp) -> bool: ...
    def __getstate__(self) -> dict: ...
    def __init__(
        self,
        *,
        freq_khz: typing.SupportsInt | typing.SupportsIndex,
        power_mw: typing.SupportsFloat | typing.SupportsIndex | None = None,
        cluster_power_mw: typing.SupportsFloat | typing.SupportsIndex | None = None,
    ) -> None: ...
    def __ne__(self, arg0: Opp) -> bool: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: dict) -> None: ...
    @property
    def cluster_power_mw(self) -> float | None: ...
    @property
    def freq_khz(self) -> int: ...
    @property
    def power_mw(self) -> float | None: ...

class Cluster:
    __hash__: typing.ClassVar[None] = None
    def __eq__(self, arg0: Cluster) -> bool: ...
    def __getstate__(self) -> dict: ...
    def __init__(
        self,
        *,
        name: str,
        cpus: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        idle_states: collections.abc.Sequence[IdleState],
        opps: collections.abc.Sequence[Opp] = [],
        capacity: typing.SupportsInt | typing.SupportsIndex = 1024,
    ) -> None: ...
    def __ne__(self, arg0: Cluster) -> bool: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: dict) -> None: ...
    @property
    def capacity(self) -> int: ...
    @property
    def cpus(self) -> list[int]: ...
    @property
    def idle_states(self) -> list[IdleState]: ...
    @property
    def name(self) -> str: ...
    @property
    def opps(self) -> list[Opp]: ...

class IdleCosts:
    __hash__: typing.ClassVar[None] = None
    def __eq__(self, arg0: IdleCosts) -> bool: ...
    def __getstate__(self) -> dict: ...
    def __init__(
        self,
        *,
        select_to_entry_ns: typing.SupportsInt | typing.SupportsIndex = 0,
        ipi_handler_ns: typing.SupportsInt | typing.SupportsIndex = 0,
        timer_handler_ns: typing.SupportsInt | typing.SupportsIndex = 0,
        tick_handler_ns: typing.SupportsInt | typing.SupportsIndex = 0,
        interrupt_exit_ns: typing.SupportsInt | typing.SupportsIndex = 0,
        reflect_ns: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> None: ...
    def __ne__(self, arg0: IdleCosts) -> bool: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: dict) -> None: ...
    @property
    def interrupt_exit_ns(self) -> int: ...
    @property
    def ipi_handler_ns(self) -> int: ...
    @property
    def reflect_ns(self) -> int: ...
    @property
    def select_to_entry_ns(self) -> int: ...
    @property
    def tick_handler_ns(self) -> int: ...
    @property
    def timer_handler_ns(self) -> int: ...

class Board:
    __hash__: typing.ClassVar[None] = None
    def __eq__(self, arg0: Board) -> bool: ...
    def __getstate__(self) -> dict: ...
    def __init__(
        self,
        *,
        name: str,
        clusters: collections.abc.Sequence[Cluster],
        tick_hz: typing.SupportsInt | typing.SupportsIndex = 250,
        idle_costs: IdleCosts = ...,
    ) -> None: ...
    def __ne__(self, arg0: Board) -> bool: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: dict) -> None: ...
    def cluster_of(self, cpu: typing.SupportsInt | typing.SupportsIndex) -> Cluster: ...
    def validate(self) -> None:
        """
        Raise ConfigError for the first entry that breaks a rule.
        """
    @property
    def clusters(self) -> list[Cluster]: ...
    @property
    def cpu_count(self) -> int: ...
    @property
    def idle_costs(self) -> IdleCosts: ...
    @property
    def name(self) -> str: ...
    @property
    def tick_hz(self) -> int: ...

class Distribution:
    """
    What an entry is drawn from; times in nanoseconds.
    """

    __hash__: typing.ClassVar[None] = None
    @staticmethod
    def constant(value: typing.SupportsFloat | typing.SupportsIndex) -> Distribution: ...
    @staticmethod
    def empirical(
        samples: collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
    ) -> Distribution: ...
    @staticmethod
    def empirical_quantiles(
        points: collections.abc.Sequence[
            tuple[typing.SupportsFloat | typing.SupportsIndex, typing.SupportsFloat | typing.SupportsIndex]
        ],
    ) -> Distribution:
        """
        points: pairs (share, value).
        """
    @staticmethod
    def exponential(*, mean: typing.SupportsFloat | typing.SupportsIndex) -> Distribution: ...
    @staticmethod
    def lognormal(
        *,
        median: typing.SupportsFloat | typing.SupportsIndex,
        sigma: typing.SupportsFloat | typing.SupportsIndex,
    ) -> Distribution: ...
    @staticmethod
    def normal(
        *,
        mean: typing.SupportsFloat | typing.SupportsIndex,
        deviation: typing.SupportsFloat | typing.SupportsIndex,
    ) -> Distribution: ...
    @staticmethod
    def pareto(
        *,
        scale: typing.SupportsFloat | typing.SupportsIndex,
        shape: typing.SupportsFloat | typing.SupportsIndex,
    ) -> Distribution: ...
    @staticmethod
    def uniform(
        *, low: typing.SupportsFloat | typing.SupportsIndex, high: typing.SupportsFloat | typing.SupportsIndex
    ) -> Distribution: ...
    def __eq__(self, arg0: Distribution) -> bool: ...

class TraceLog:
    """
    Rows of a kernel's text trace, in columns.
    """
    def __init__(self, text: bytes, source: str) -> None: ...
    def __len__(self) -> int: ...
    def args_of(self, row: typing.SupportsInt | typing.SupportsIndex) -> str: ...
    def line_of(self, row: typing.SupportsInt | typing.SupportsIndex) -> int: ...
    @property
    def args(self) -> list: ...
    @property
    def bad_row_count(self) -> int: ...
    @property
    def bad_rows(self) -> list: ...
    @property
    def comm_id(self) -> numpy.typing.NDArray[numpy.uint32]: ...
    @property
    def comms(self) -> list: ...
    @property
    def cpu(self) -> numpy.typing.NDArray[numpy.int32]: ...
    @property
    def cpus_seen(self) -> list[int]: ...
    @property
    def event_id(self) -> numpy.typing.NDArray[numpy.uint32]: ...
    @property
    def events(self) -> list: ...
    @property
    def flag_bits(self) -> numpy.typing.NDArray[numpy.uint16]: ...
    @property
    def flag_texts(self) -> list: ...
    @property
    def flags_id(self) -> numpy.typing.NDArray[numpy.uint32]: ...
    @property
    def lines(self) -> int: ...
    @property
    def lost(self) -> list: ...
    @property
    def pid(self) -> numpy.typing.NDArray[numpy.int32]: ...
    @property
    def source(self) -> str: ...
    @property
    def time_ns(self) -> numpy.typing.NDArray[numpy.int64]: ...

class Menu:
    """
    The menu governor of one kernel release.
    """
    def __eq__(self, arg0: Menu) -> bool: ...
    def __getstate__(self) -> str: ...
    def __hash__(self) -> int: ...
    def __init__(self, version: str = "6.1.192", *, loop: str | None = None) -> None: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: str) -> None: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    @property
    def loop(self) -> str:
        """
        Idle loop: '4.17', 'leo' or '4.19'.
        """
    @property
    def version(self) -> str: ...

class Teo:
    """
    The timer events oriented governor of one kernel release.
    """
    def __eq__(self, arg0: Teo) -> bool: ...
    def __getstate__(self) -> str: ...
    def __hash__(self) -> int: ...
    def __init__(
        self, version: str = "6.1", *, first_update: bool = True, loop: str | None = None
    ) -> None: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: str) -> None: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    @property
    def first_update(self) -> bool:
        """
        The first select books a period of length zero.
        """
    @property
    def loop(self) -> str:
        """
        Idle loop: '4.17', 'leo' or '4.19'.
        """
    @property
    def version(self) -> str: ...

class Ladder:
    """
    The ladder governor of one kernel release.
    """
    def __eq__(self, arg0: Ladder) -> bool: ...
    def __getstate__(self) -> str: ...
    def __hash__(self) -> int: ...
    def __init__(self, version: str = "6.1", *, loop: str | None = None) -> None: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: str) -> None: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    @property
    def loop(self) -> str:
        """
        Idle loop: '4.17', 'leo' or '4.19'.
        """
    @property
    def version(self) -> str: ...

class Haltpoll:
    """
    The governor of KVM guests.
    """
    def __eq__(self, arg0: Haltpoll) -> bool: ...
    def __getstate__(self) -> str: ...
    def __hash__(self) -> int: ...
    def __init__(self, *, loop: str | None = None) -> None: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: str) -> None: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    @property
    def loop(self) -> str:
        """
        Idle loop: '4.17', 'leo' or '4.19'.
        """

class Fixed:
    """
    Always the same idle state: a baseline.
    """
    def __eq__(self, arg0: Fixed) -> bool: ...
    def __getstate__(self) -> str: ...
    def __hash__(self) -> int: ...
    def __init__(
        self,
        state: typing.SupportsInt | typing.SupportsIndex,
        *,
        stop_tick: bool = True,
        loop: str | None = None,
    ) -> None: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: str) -> None: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    @property
    def loop(self) -> str:
        """
        Idle loop: '4.17', 'leo' or '4.19'.
        """
    @property
    def state(self) -> int: ...
    @property
    def stop_tick(self) -> bool: ...

class Oracle:
    """
    Bound, not a governor: knows when the next wakeup comes.
    """
    def __eq__(self, arg0: Oracle) -> bool: ...
    def __getstate__(self) -> str: ...
    def __hash__(self) -> int: ...
    def __init__(
        self, *, latency_limit_us: typing.SupportsInt | typing.SupportsIndex = 2000000000
    ) -> None: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: str) -> None: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    @property
    def latency_limit_us(self) -> int: ...

class DelayedOracle:
    """
    Bound, not a governor: waits in the shallowest state, then knows.
    """
    def __eq__(self, arg0: DelayedOracle) -> bool: ...
    def __getstate__(self) -> str: ...
    def __hash__(self) -> int: ...
    def __init__(
        self,
        delay_us: typing.SupportsInt | typing.SupportsIndex,
        *,
        latency_limit_us: typing.SupportsInt | typing.SupportsIndex = 2000000000,
    ) -> None: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: str) -> None: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    @property
    def delay_us(self) -> int: ...
    @property
    def latency_limit_us(self) -> int: ...

class StateTable:
    """
    Idle states of one CPU as a governor sees them, shallow to deep.
    """
    def __eq__(self, arg0: StateTable) -> bool: ...
    def __getstate__(self) -> tuple[list, list, list]: ...
    def __hash__(self) -> int: ...
    def __init__(
        self,
        exit_latency_ns: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        *,
        target_residency_ns: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        polling: collections.abc.Sequence[bool],
    ) -> None: ...
    def __len__(self) -> int: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: tuple) -> None: ...
    @property
    def exit_latency_ns(self) -> list: ...
    @property
    def polling(self) -> list: ...
    @property
    def target_residency_ns(self) -> list: ...

class TickLength:
    """
    Length of the scheduler tick as the kernel computes it from HZ.
    """
    def __eq__(self, arg0: TickLength) -> bool: ...
    def __getstate__(self) -> int: ...
    def __hash__(self) -> int: ...
    def __init__(self, hz: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    @property
    def hz(self) -> int: ...
    @property
    def ns(self) -> int: ...
    @property
    def us(self) -> int: ...

class PeriodicArrivals:
    def __init__(
        self,
        *,
        period_ns: typing.SupportsInt | typing.SupportsIndex,
        first_ns: typing.SupportsInt | typing.SupportsIndex,
        first_spread_ns: typing.SupportsInt | typing.SupportsIndex = 0,
        jitter_ns: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> None: ...

class PoissonArrivals:
    def __init__(self, *, mean_gap_ns: typing.SupportsInt | typing.SupportsIndex) -> None: ...

class LognormalArrivals:
    def __init__(
        self,
        *,
        median_gap_ns: typing.SupportsInt | typing.SupportsIndex,
        sigma: typing.SupportsFloat | typing.SupportsIndex,
    ) -> None: ...

class BurstyArrivals:
    def __init__(
        self,
        *,
        quiet_min_ns: typing.SupportsInt | typing.SupportsIndex,
        quiet_max_ns: typing.SupportsInt | typing.SupportsIndex,
        gap_min_ns: typing.SupportsInt | typing.SupportsIndex,
        gap_max_ns: typing.SupportsInt | typing.SupportsIndex,
        burst_min: typing.SupportsInt | typing.SupportsIndex,
        burst_max: typing.SupportsInt | typing.SupportsIndex,
    ) -> None: ...

class RecordedArrivals:
    def __init__(
        self, *, times_ns: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]
    ) -> None: ...

class SourceKind(enum.Enum):
    hrtimer: typing.ClassVar[SourceKind]
    interrupt: typing.ClassVar[SourceKind]
    wheel: typing.ClassVar[SourceKind]
    @classmethod
    def __new__(cls, value): ...

class IdleTimelineKind(enum.IntEnum):
    enter_state: typing.ClassVar[IdleTimelineKind]
    leave_state: typing.ClassVar[IdleTimelineKind]
    tick_restart: typing.ClassVar[IdleTimelineKind]
    tick_stop: typing.ClassVar[IdleTimelineKind]
    @classmethod
    def __new__(cls, value): ...
    def __format__(self, format_spec): ...

class Source:
    __hash__: typing.ClassVar[None] = None
    def __eq__(self, arg0: Source) -> bool: ...
    def __init__(
        self,
        name: str,
        *,
        cpu: typing.SupportsInt | typing.SupportsIndex,
        kind: SourceKind,
        arrivals: PeriodicArrivals | PoissonArrivals | LognormalArrivals | BurstyArrivals | RecordedArrivals,
        chain_first_ns: typing.SupportsInt | typing.SupportsIndex = 0,
        chain_next_ns: typing.SupportsInt | typing.SupportsIndex = 0,
        chain_repeats: typing.SupportsInt | typing.SupportsIndex = 0,
        task_run_ns: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> None: ...
    @property
    def cpu(self) -> int: ...
    @property
    def kind(self) -> SourceKind: ...
    @property
    def name(self) -> str: ...

class IdleScenario:
    def __init__(
        self,
        board: Board,
        *,
        sources: collections.abc.Sequence[Source],
        duration_ns: typing.SupportsInt | typing.SupportsIndex,
        tick_phase_ns: typing.SupportsInt | typing.SupportsIndex | None,
        latency_limit_us: typing.SupportsInt | typing.SupportsIndex,
        disabled: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        opps: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        refusal_probability: typing.SupportsFloat | typing.SupportsIndex,
        iowait: typing.SupportsInt | typing.SupportsIndex,
        load: typing.SupportsInt | typing.SupportsIndex,
    ) -> None: ...

class ReplayRules:
    """
    Which rules a replay keeps.
    """
    def __init__(
        self,
        *,
        warm_up: typing.SupportsInt | typing.SupportsIndex = 8,
        rcu_need: bool = True,
        contradiction: bool = True,
        got_tick: bool = True,
        latency_limit_us: typing.SupportsInt | typing.SupportsIndex = 2000000000,
    ) -> None: ...
    @property
    def contradiction(self) -> bool: ...
    @property
    def got_tick(self) -> bool: ...
    @property
    def latency_limit_us(self) -> int: ...
    @property
    def rcu_need(self) -> bool: ...
    @property
    def warm_up(self) -> int: ...

class ReplayedCpu:
    """
    Idle periods of one CPU.
    """
    @property
    def periods(self) -> dict: ...
    @property
    def tick_stops(self) -> int: ...

class TraceWalk:
    """
    Every CPU's idle decisions, rebuilt from a trace.
    """

    NO_TIMER: typing.ClassVar[int] = 9223372036854775807
    SETTLED_FACTOR: typing.ClassVar[float] = 0.689697265625
    def __init__(
        self,
        log: TraceLog,
        tables: collections.abc.Mapping[
            typing.SupportsInt | typing.SupportsIndex,
            collections.abc.Sequence[
                tuple[
                    typing.SupportsInt | typing.SupportsIndex, typing.SupportsInt | typing.SupportsIndex, bool
                ]
            ],
        ],
        *,
        hz: typing.SupportsInt | typing.SupportsIndex,
        workload_tasks: collections.abc.Sequence[str] | None = None,
    ) -> None: ...
    def closed_loop(
        self,
        policy: Menu | Teo | Ladder | Haltpoll | Fixed | Oracle | DelayedOracle,
        rules: ReplayRules,
        board: Board = None,
        opps: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] = [],
    ) -> list[ReplayedCpu]: ...
    def decisions(self, index: typing.SupportsInt | typing.SupportsIndex) -> dict: ...
    def open_loop(
        self, policy: Menu | Teo | Ladder | Haltpoll | Fixed | Oracle | DelayedOracle, rules: ReplayRules
    ) -> list: ...
    def recorded(self) -> list[ReplayedCpu]: ...
    def score(
        self,
        cpus: collections.abc.Sequence[ReplayedCpu],
        board: Board,
        opps: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        hindsight: bool = False,
        latency_limit_us: typing.SupportsInt | typing.SupportsIndex = 2000000000,
    ) -> dict: ...
    @property
    def begin_ns(self) -> int: ...
    @property
    def costs_ns(self) -> dict: ...
    @property
    def cpus(self) -> list[int]: ...
    @property
    def end_ns(self) -> int: ...
    @property
    def handlers_before_exit(self) -> bool: ...
    @property
    def tick_stops(self) -> list[int]: ...
    @property
    def workload_tasks(self) -> list[str]: ...

class Freezer:
    """
    The freezer of a system suspend in one kernel.
    """
    def __eq__(self, arg0: Freezer) -> bool: ...
    def __getstate__(self) -> str: ...
    def __hash__(self) -> int: ...
    def __init__(
        self,
        version: str = "v6.7",
        *,
        sleep: str | None = None,
        msleep_ms: typing.SupportsInt | typing.SupportsIndex | None = None,
        first_us: typing.SupportsInt | typing.SupportsIndex | None = None,
        growth: typing.SupportsFloat | typing.SupportsIndex | None = None,
        cap_us: typing.SupportsInt | typing.SupportsIndex | None = None,
        lower: typing.SupportsFloat | typing.SupportsIndex | None = None,
        clamp: bool | None = None,
    ) -> None: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: str) -> None: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    @property
    def cap_us(self) -> int | None:
        """
        Of 'backoff', else None.
        """
    @property
    def clamp(self) -> bool | None:
        """
        Of 'backoff', else None.
        """
    @property
    def first_us(self) -> int | None:
        """
        Of 'backoff', else None.
        """
    @property
    def growth(self) -> float | None:
        """
        Of 'backoff', else None.
        """
    @property
    def lower(self) -> float | None:
        """
        Of 'backoff', else None.
        """
    @property
    def msleep_ms(self) -> int | None:
        """
        Of 'msleep', else None.
        """
    @property
    def sleep(self) -> str:
        """
        How the walker waits between passes: 'msleep', 'backoff' or 'notify'.
        """
    @property
    def version(self) -> str: ...

class Cgroup1:
    """
    A v1 (legacy) freezer cgroup, written and read again.
    """
    def __eq__(self, arg0: Cgroup1) -> bool: ...
    def __getstate__(self) -> str: ...
    def __hash__(self) -> int: ...
    def __init__(
        self,
        version: str = "v3.12",
        *,
        poll_us: typing.SupportsInt | typing.SupportsIndex = 10000,
        tries: typing.SupportsInt | typing.SupportsIndex = 1000,
    ) -> None: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: str) -> None: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    @property
    def poll_us(self) -> int: ...
    @property
    def tries(self) -> int: ...
    @property
    def version(self) -> str: ...

class Cgroup2:
    """
    A v2 (unified) cgroup, which notifies.
    """
    def __eq__(self, arg0: Cgroup2) -> bool: ...
    def __getstate__(self) -> str: ...
    def __hash__(self) -> int: ...
    def __init__(
        self, *, since_notification_us: typing.SupportsInt | typing.SupportsIndex = 10000
    ) -> None: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: str) -> None: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    @property
    def since_notification_us(self) -> int: ...

class FreezeOutcome(enum.IntEnum):
    aborted: typing.ClassVar[FreezeOutcome]
    failed: typing.ClassVar[FreezeOutcome]
    frozen: typing.ClassVar[FreezeOutcome]
    @classmethod
    def __new__(cls, value): ...
    def __format__(self, format_spec): ...

class FreezerTimelineKind(enum.IntEnum):
    frozen: typing.ClassVar[FreezerTimelineKind]
    loop_begin: typing.ClassVar[FreezerTimelineKind]
    loop_end: typing.ClassVar[FreezerTimelineKind]
    marked: typing.ClassVar[FreezerTimelineKind]
    pass_begin: typing.ClassVar[FreezerTimelineKind]
    pass_end: typing.ClassVar[FreezerTimelineKind]
    reblocked: typing.ClassVar[FreezerTimelineKind]
    run: typing.ClassVar[FreezerTimelineKind]
    sleep_begin: typing.ClassVar[FreezerTimelineKind]
    sleep_end: typing.ClassVar[FreezerTimelineKind]
    @classmethod
    def __new__(cls, value): ...
    def __format__(self, format_spec): ...

class TaskGroup:
    __hash__: typing.ClassVar[None] = None
    def __eq__(self, arg0: TaskGroup) -> bool: ...
    def __init__(
        self,
        name: str,
        *,
        count: typing.SupportsInt | typing.SupportsIndex = 1,
        threads: typing.SupportsInt | typing.SupportsIndex = 1,
        kind: str = "user",
        site: str = "other",
        start: str = "blocked",
        d_ends_ns: Distribution | None = None,
        wakes_at_ns: Distribution | None = None,
        forks_at_ns: Distribution | None = None,
        waits_on: str = "",
        reply_after_cycles: typing.SupportsInt | typing.SupportsIndex = 0,
        freeze_run_cycles: typing.SupportsInt | typing.SupportsIndex | None = None,
        thaw_run_cycles: typing.SupportsInt | typing.SupportsIndex | None = None,
        nfds: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> None: ...
    @property
    def count(self) -> int: ...
    @property
    def name(self) -> str: ...

class WorkItem:
    __hash__: typing.ClassVar[None] = None
    def __eq__(self, arg0: WorkItem) -> bool: ...
    def __init__(
        self, *, queued_at_ns: typing.SupportsInt | typing.SupportsIndex, runs_ns: Distribution
    ) -> None: ...

class Cpu:
    """
    One CPU at a frozen frequency.
    """

    __hash__: typing.ClassVar[None] = None
    def __eq__(self, arg0: Cpu) -> bool: ...
    def __init__(
        self,
        *,
        freq_hz: typing.SupportsInt | typing.SupportsIndex,
        capacity: typing.SupportsInt | typing.SupportsIndex = 1024,
        cluster: typing.SupportsInt | typing.SupportsIndex = 0,
        wake_latency_ns: typing.SupportsInt | typing.SupportsIndex = 0,
        work_hz: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> None: ...
    @property
    def capacity(self) -> int: ...
    @property
    def cluster(self) -> int: ...
    @property
    def freq_hz(self) -> int: ...
    @property
    def wake_latency_ns(self) -> int: ...
    @property
    def work_hz(self) -> int: ...

class Rules:
    """
    How CPUs share what is ready to run.
    """

    __hash__: typing.ClassVar[None] = None
    def __eq__(self, arg0: Rules) -> bool: ...
    def __init__(
        self,
        *,
        queues: str = "global",
        placement: str = "first_idle",
        steal: bool = True,
        slice_ns: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> None: ...

class Costs:
    """
    What everything costs, CPU cycles, and stalls in nanoseconds.
    """

    __hash__: typing.ClassVar[None] = None
    def __eq__(self, arg0: Costs) -> bool: ...
    def __init__(
        self,
        *,
        visit_cycles: typing.SupportsInt | typing.SupportsIndex = 0,
        visit_kernel_cycles: typing.SupportsInt | typing.SupportsIndex | None = None,
        wake_cycles: typing.SupportsInt | typing.SupportsIndex = 0,
        resig_cycles: typing.SupportsInt | typing.SupportsIndex = 0,
        mark_cycles: typing.SupportsInt | typing.SupportsIndex = 0,
        freeze_run_cycles: typing.SupportsInt | typing.SupportsIndex = 0,
        thaw_wake_cycles: typing.SupportsInt | typing.SupportsIndex = 0,
        thaw_run_cycles: typing.SupportsInt | typing.SupportsIndex = 0,
        resleep_cycles: typing.SupportsInt | typing.SupportsIndex = 0,
        per_fd_cycles: typing.SupportsInt | typing.SupportsIndex = 0,
        visit_stall_ns: typing.SupportsInt | typing.SupportsIndex = 0,
        run_stall_ns: typing.SupportsInt | typing.SupportsIndex = 0,
        user_loop_cycles: typing.SupportsInt | typing.SupportsIndex = 0,
        kernel_loop_cycles: typing.SupportsInt | typing.SupportsIndex = 0,
        thaw_cycles: typing.SupportsInt | typing.SupportsIndex = 0,
        sleep_overhead_ns: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> None: ...

class Kernel:
    """
    Kernel configuration that matters to freezing.
    """

    __hash__: typing.ClassVar[None] = None
    def __eq__(self, arg0: Kernel) -> bool: ...
    def __init__(
        self,
        *,
        hz: typing.SupportsInt | typing.SupportsIndex,
        since_tick_ns: typing.SupportsInt | typing.SupportsIndex | None = None,
        preempt: str = "full",
        kernel_loop_preempt: str | None = None,
        walker_wake: str = "head",
        wheel_extra: typing.SupportsInt | typing.SupportsIndex = 0,
        range_mode: str = "hard",
        timeout_ms: typing.SupportsInt | typing.SupportsIndex = 20000,
    ) -> None: ...

class FreezerScenario:
    def __init__(
        self,
        *,
        cpus: collections.abc.Sequence[Cpu],
        busy_power_mw: collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
        base_power_mw: typing.SupportsFloat | typing.SupportsIndex,
        rules: Rules,
        costs: Costs,
        kernel: Kernel,
        tasks: collections.abc.Sequence[TaskGroup],
        work: collections.abc.Sequence[WorkItem],
        wakeup_at_ns: Distribution | None,
        order: str,
        loops: str,
        attempts: typing.SupportsInt | typing.SupportsIndex,
        retry_gap_ns: typing.SupportsInt | typing.SupportsIndex,
        asleep_ns: typing.SupportsInt | typing.SupportsIndex,
        bound: bool,
    ) -> None: ...
    @property
    def task_count(self) -> int: ...

class DpmPolicy:
    """
    How the device core orders the work of a phase.
    """
    def __eq__(self, arg0: DpmPolicy) -> bool: ...
    def __getstate__(self) -> str: ...
    def __hash__(self) -> int: ...
    def __init__(
        self,
        order: str,
        *,
        eas_off: str = "none",
        max_active: typing.SupportsInt | typing.SupportsIndex | None = None,
        inline_calls: bool = True,
        list_mutex: bool = True,
    ) -> None: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: str) -> None: ...
    def __str__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    @property
    def eas_off(self) -> str: ...
    @property
    def inline_calls(self) -> bool: ...
    @property
    def list_mutex(self) -> bool: ...
    @property
    def max_active(self) -> int | None:
        """
        Most work items that are active at a time; None is the limit of the version.
        """
    @property
    def order(self) -> str: ...

class DpmGraph:
    """
    A device graph, checked and in list order.
    """
    def __init__(
        self,
        *,
        devices: collections.abc.Sequence[typing.Any],
        links: collections.abc.Sequence[tuple[str, str, str, bool, bool]],
        in_list_order: bool = False,
    ) -> None: ...
    def child_counts(self) -> list[int]: ...
    def consumer_counts(self) -> list[int]: ...
    def devices(
        self,
    ) -> list[
        tuple[
            str,
            str,
            typing.Annotated[list[bool], "FixedSize(7)"],
            str,
            str,
            list[str],
            list[str],
            list[tuple[str, list[tuple[str, int, int, str]]]],
        ]
    ]:
        """
        Records as they were given.
        """
    def links(self) -> list[tuple[str, str, str, bool, bool]]:
        """
        Records as they were given.
        """
    def supplier_counts(self) -> list[int]: ...
    @property
    def in_list_order(self) -> bool: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def registered(self) -> list[int]: ...
    @property
    def relaxed_links(self) -> list[int]: ...

class DpmGenerator:
    """
    Random device graphs.
    """

    __hash__: typing.ClassVar[None] = None
    def __eq__(self, arg0: DpmGenerator) -> bool: ...
    def __init__(
        self,
        *,
        devices: typing.SupportsInt | typing.SupportsIndex = 350,
        class_ratio: typing.SupportsFloat | typing.SupportsIndex = 0.0,
        max_depth: typing.SupportsInt | typing.SupportsIndex = 6,
        p_root: typing.SupportsFloat | typing.SupportsIndex = 0.2,
        p_link: typing.SupportsFloat | typing.SupportsIndex = 0.6,
        p_more_links: typing.SupportsFloat | typing.SupportsIndex = 0.5,
        skew: typing.SupportsFloat | typing.SupportsIndex = 2.0,
        p_no_callbacks: typing.SupportsFloat | typing.SupportsIndex = 0.5,
        class_p_no_callbacks: typing.SupportsFloat | typing.SupportsIndex = 0.9,
        p_late: typing.SupportsFloat | typing.SupportsIndex = 0.25,
        median_us: typing.Annotated[
            collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex], "FixedSize(2)"
        ] = [60.0, 60.0],
        sigma: typing.Annotated[
            collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex], "FixedSize(2)"
        ] = [2.0, 2.0],
        cap_us: typing.SupportsFloat | typing.SupportsIndex = 30000.0,
        late_median_us: typing.SupportsFloat | typing.SupportsIndex = 20.0,
        cpu_share: typing.Annotated[
            collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex], "FixedSize(2)"
        ] = [0.4, 0.4],
        fixed_share: typing.SupportsFloat | typing.SupportsIndex = 0.0,
        chunks: typing.SupportsInt | typing.SupportsIndex = 2,
        locks: typing.SupportsInt | typing.SupportsIndex = 1,
        lock_share: typing.Annotated[
            collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex], "FixedSize(2)"
        ] = [0.0, 0.0],
    ) -> None: ...
    def draw(
        self,
        seed: typing.SupportsInt | typing.SupportsIndex,
        replicate: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> DpmGraph: ...

class DpmOutcome(enum.IntEnum):
    aborted: typing.ClassVar[DpmOutcome]
    done: typing.ClassVar[DpmOutcome]
    failed: typing.ClassVar[DpmOutcome]
    stuck: typing.ClassVar[DpmOutcome]
    @classmethod
    def __new__(cls, value): ...
    def __format__(self, format_spec): ...

class DpmTimelineKind(enum.IntEnum):
    device_begin: typing.ClassVar[DpmTimelineKind]
    device_end: typing.ClassVar[DpmTimelineKind]
    phase_begin: typing.ClassVar[DpmTimelineKind]
    phase_end: typing.ClassVar[DpmTimelineKind]
    run_begin: typing.ClassVar[DpmTimelineKind]
    run_end: typing.ClassVar[DpmTimelineKind]
    @classmethod
    def __new__(cls, value): ...
    def __format__(self, format_spec): ...

class FairCpu:
    """
    One CPU of a heterogeneous machine at a frozen frequency.
    """

    __hash__: typing.ClassVar[None] = None
    def __eq__(self, arg0: FairCpu) -> bool: ...
    def __init__(
        self,
        *,
        rate: typing.SupportsFloat | typing.SupportsIndex = 1.0,
        capacity: typing.SupportsInt | typing.SupportsIndex = 1024,
        relative_freq: typing.SupportsFloat | typing.SupportsIndex = 1.0,
        cluster: typing.SupportsInt | typing.SupportsIndex = 0,
        idle_exits: collections.abc.Sequence[
            typing.Annotated[
                collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex], "FixedSize(2)"
            ]
        ] = [],
    ) -> None: ...
    @property
    def capacity(self) -> int: ...
    @property
    def cluster(self) -> int: ...
    @property
    def idle_exits(self) -> list[typing.Annotated[list[int], "FixedSize(2)"]]: ...
    @property
    def rate(self) -> float: ...
    @property
    def relative_freq(self) -> float: ...

class FairRules:
    """
    How CPUs share what is ready to run.
    """

    __hash__: typing.ClassVar[None] = None
    def __eq__(self, arg0: FairRules) -> bool: ...
    def __init__(
        self,
        *,
        queues: str,
        placement: str,
        eas: bool,
        wake_affine: bool,
        pull: bool,
        slice_ns: typing.SupportsInt | typing.SupportsIndex,
        wakeup_granularity_ns: typing.SupportsInt | typing.SupportsIndex,
        tick_ns: typing.SupportsInt | typing.SupportsIndex,
        cluster_exit_ns: typing.SupportsInt | typing.SupportsIndex,
        shared_cpus: typing.SupportsFloat | typing.SupportsIndex,
    ) -> None: ...

class FairCosts:
    """
    CPU time of scheduling, reference-CPU nanoseconds.
    """

    __hash__: typing.ClassVar[None] = None
    def __eq__(self, arg0: FairCosts) -> bool: ...
    def __init__(
        self,
        *,
        switch_ns: typing.SupportsInt | typing.SupportsIndex = 0,
        wake_ns: typing.SupportsInt | typing.SupportsIndex = 0,
        idle_ipi_ns: typing.SupportsInt | typing.SupportsIndex = 0,
        migration_ns: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> None: ...

class DpmCosts:
    """
    CPU time of the device core, reference-CPU nanoseconds.
    """

    __hash__: typing.ClassVar[None] = None
    def __eq__(self, arg0: DpmCosts) -> bool: ...
    def __init__(
        self,
        *,
        queue_ns: typing.SupportsInt | typing.SupportsIndex = 0,
        dispatch_ns: typing.SupportsInt | typing.SupportsIndex = 0,
        core_ns: typing.SupportsInt | typing.SupportsIndex = 0,
        list_step_ns: typing.SupportsInt | typing.SupportsIndex = 0,
        check_ns: typing.SupportsInt | typing.SupportsIndex = 0,
        recheck_ns: typing.SupportsInt | typing.SupportsIndex = 0,
        callback_ns: typing.SupportsInt | typing.SupportsIndex = 0,
        tail_ns: typing.SupportsInt | typing.SupportsIndex = 0,
        create_ns: typing.SupportsInt | typing.SupportsIndex = 0,
        create_latency_ns: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> None: ...

class DpmScenario:
    def __init__(
        self,
        *,
        devices: DpmGraph | DpmGenerator,
        cpus: collections.abc.Sequence[FairCpu],
        domains: collections.abc.Sequence[
            collections.abc.Sequence[
                typing.Annotated[
                    collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex], "FixedSize(2)"
                ]
            ]
        ],
        rules: FairRules,
        sched_costs: FairCosts,
        costs: typing.Annotated[collections.abc.Sequence[DpmCosts], "FixedSize(8)"],
        main_suspend_cpu: typing.SupportsInt | typing.SupportsIndex,
        main_suspend_util: typing.SupportsFloat | typing.SupportsIndex,
        main_resume_cpu: typing.SupportsInt | typing.SupportsIndex,
        main_resume_util: typing.SupportsFloat | typing.SupportsIndex,
        main_gives_way: bool,
        main_pinned: bool,
        worker_per_item: bool,
        initial_workers: typing.SupportsInt | typing.SupportsIndex,
        async_kind: str,
        async_share: typing.SupportsFloat | typing.SupportsIndex,
        barrier_wakes: bool,
        checks_all: bool,
        direct_complete: bool,
        eas_switch_ns: typing.SupportsInt | typing.SupportsIndex,
        jitter: typing.SupportsFloat | typing.SupportsIndex,
        tick_ns: typing.SupportsInt | typing.SupportsIndex,
        since_tick_ns: typing.SupportsInt | typing.SupportsIndex | None,
        warmup_cycles: typing.SupportsInt | typing.SupportsIndex,
        cycles: typing.SupportsInt | typing.SupportsIndex,
        scales: collections.abc.Sequence[
            typing.Annotated[
                collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex], "FixedSize(2)"
            ]
        ],
        every_scale: typing.Annotated[
            collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex], "FixedSize(2)"
        ]
        | None,
        power: collections.abc.Sequence[
            typing.Annotated[
                collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex], "FixedSize(3)"
            ]
        ],
    ) -> None: ...

def board_cpus(
    board: Board, opps: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]
) -> list[Cpu]:
    """
    The CPUs of a board, each cluster at the operating point of its index in 'opps'.
    """

def decide(
    policy: Menu | Teo | Ladder | Haltpoll | Fixed | Oracle | DelayedOracle,
    *,
    table: StateTable,
    tick: TickLength,
    sleep_ns: typing.Annotated[numpy.typing.ArrayLike, numpy.int64],
    tick_ns: typing.Annotated[numpy.typing.ArrayLike, numpy.int64],
    resid_ns: typing.Annotated[numpy.typing.ArrayLike, numpy.uint64],
    stopped: typing.Annotated[numpy.typing.ArrayLike, numpy.uint8] | None = None,
    lat_us: typing.Annotated[numpy.typing.ArrayLike, numpy.int64] | None = None,
    iowait: typing.Annotated[numpy.typing.ArrayLike, numpy.uint32] | None = None,
    load: typing.Annotated[numpy.typing.ArrayLike, numpy.uint32] | None = None,
    dis: typing.Annotated[numpy.typing.ArrayLike, numpy.uint32] | None = None,
    span_ns: typing.Annotated[numpy.typing.ArrayLike, numpy.int64] | None = None,
    got_tick: typing.Annotated[numpy.typing.ArrayLike, numpy.uint8] | None = None,
    poll_to: typing.Annotated[numpy.typing.ArrayLike, numpy.uint8] | None = None,
    enter: typing.Annotated[numpy.typing.ArrayLike, numpy.int32] | None = None,
    debug: bool = False,
) -> dict:
    """
    Answers of a fresh governor to a recorded sequence: arrays 'idx' and 'stop', and with debug 'typ' (us), 'pred', 'bkt', 'fac' and 'total', -1 where the governor has no such figure.
    """

def dpm_max_active(policy: DpmPolicy, cpus: typing.SupportsInt | typing.SupportsIndex) -> int:
    """
    Most work items that are active at a time on so many CPUs.
    """

def freezer_kind_names() -> list: ...
def freezer_site_names() -> list: ...
def freezer_sites() -> list:
    """
    Per blocking site: 'site', 'interrupted', 'handling' by version, 'source'.
    """

def freezer_start_names() -> list: ...
def freezer_version_names() -> list: ...
def known_dpm_policies() -> list[PolicyInfo]:
    """
    Every policy with its parameters, defaults and source.
    """

def known_freezer_policies() -> list[PolicyInfo]:
    """
    Every policy with its versions, parameters, defaults and source.
    """

def known_policies() -> list[PolicyInfo]:
    """
    Every policy with its versions, parameters, defaults and source.
    """

def parse_dpm_policy(text: str) -> DpmPolicy:
    """
    Policy of a text such as 'old' or 'breadth-first(eas_off=resume)'; ConfigError lists what is known.
    """

def parse_freezer_policy(text: str) -> Freezer | Cgroup1 | Cgroup2:
    """
    Policy of a text such as 'v3.9' or 'freezer(version=full, cap_us=4000)'; ConfigError lists what is known.
    """

def parse_policy(text: str) -> Menu | Teo | Ladder | Haltpoll | Fixed | Oracle | DelayedOracle:
    """
    Policy of a text such as 'menu(version=4.18)'; ConfigError lists what is known.
    """

def run_dpm(
    scenario: DpmScenario,
    policy: DpmPolicy,
    *,
    runs: typing.SupportsInt | typing.SupportsIndex,
    first: typing.SupportsInt | typing.SupportsIndex,
    seed: typing.SupportsInt | typing.SupportsIndex,
    threads: typing.SupportsInt | typing.SupportsIndex,
    progress: typing.Any = None,
) -> dict: ...
def run_dpm_intervals(
    scenario: DpmScenario,
    policy: DpmPolicy,
    *,
    seed: typing.SupportsInt | typing.SupportsIndex,
    replicate: typing.SupportsInt | typing.SupportsIndex,
) -> dict: ...
def run_dpm_timeline(
    scenario: DpmScenario,
    policy: DpmPolicy,
    *,
    seed: typing.SupportsInt | typing.SupportsIndex,
    replicate: typing.SupportsInt | typing.SupportsIndex,
) -> dict: ...
def run_freezer(
    scenario: FreezerScenario,
    policy: Freezer | Cgroup1 | Cgroup2,
    *,
    runs: typing.SupportsInt | typing.SupportsIndex,
    first: typing.SupportsInt | typing.SupportsIndex,
    seed: typing.SupportsInt | typing.SupportsIndex,
    threads: typing.SupportsInt | typing.SupportsIndex,
    progress: typing.Any = None,
) -> dict: ...
def run_freezer_tasks(
    scenario: FreezerScenario,
    policy: Freezer | Cgroup1 | Cgroup2,
    *,
    seed: typing.SupportsInt | typing.SupportsIndex,
    replicate: typing.SupportsInt | typing.SupportsIndex,
) -> dict: ...
def run_freezer_timeline(
    scenario: FreezerScenario,
    policy: Freezer | Cgroup1 | Cgroup2,
    *,
    seed: typing.SupportsInt | typing.SupportsIndex,
    replicate: typing.SupportsInt | typing.SupportsIndex,
) -> dict: ...
def run_idle(
    scenario: IdleScenario,
    policy: Menu | Teo | Ladder | Haltpoll | Fixed | Oracle | DelayedOracle,
    *,
    runs: typing.SupportsInt | typing.SupportsIndex,
    first: typing.SupportsInt | typing.SupportsIndex,
    seed: typing.SupportsInt | typing.SupportsIndex,
    threads: typing.SupportsInt | typing.SupportsIndex,
    progress: typing.Any = None,
) -> dict: ...
def run_idle_timeline(
    scenario: IdleScenario,
    policy: Menu | Teo | Ladder | Haltpoll | Fixed | Oracle | DelayedOracle,
    *,
    seed: typing.SupportsInt | typing.SupportsIndex,
    replicate: typing.SupportsInt | typing.SupportsIndex,
) -> dict: ...
def stable_hash(bytes: bytes) -> int:
    """
    The 64-bit hash that names random streams, the same in every version.
    """

def tick_hz_of(log: TraceLog) -> int | None:
    """
    HZ of the kernel that wrote a trace; None if it does not show.
    """

def uniform_means(
    replicates: typing.SupportsInt | typing.SupportsIndex,
    *,
    draws: typing.SupportsInt | typing.SupportsIndex,
    seed: typing.SupportsInt | typing.SupportsIndex,
    first: typing.SupportsInt | typing.SupportsIndex = 0,
    threads: typing.SupportsInt | typing.SupportsIndex = 0,
    progress: typing.Any = None,
) -> numpy.typing.NDArray[numpy.float64]:
    """
    Mean of so many uniform draws in each replicate, shape (replicates,).
    """

IDLE_ENTITY: int = -1
MAX_IDLE_STATES: int = 10
NO_LATENCY_LIMIT_US: int = 2000000000
WALKER_ENTITY: int = -2
__compiler__: str
__version__: str
