"""A board, what wakes it, and the conditions of the run: everything but the policy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields

from torpor import _core
from torpor._checks import Progress, plain, real, replicate_request, shown, time_ns, whole
from torpor._core import ConfigError
from torpor.board import Board
from torpor.idle.policies import Policy, as_policy
from torpor.idle.runs import Runs
from torpor.idle.timeline import Timeline
from torpor.idle.workloads import Workload
from torpor.tables import Column, Table

__all__ = ["Scenario"]

LONGEST_S = 1e9
"""Longest run, seconds."""

_NUMBERS = (
    *("duration_s", "tick_phase_us", "latency_limit_us", "opp_khz"),
    *("refusal_probability", "iowait", "load"),
)


@dataclass(frozen=True)
class Scenario:
    """CPUs of a board that go idle between the wakeups of a workload.

    Two policies run on one scenario with one seed meet the same arrivals, refusals and tick phase in every
    replicate, so their results are paired.

    Parameters
    ----------
    board : Board
        The machine; its `tick_hz` is the kernel's HZ.
    workload : sequence of workload
        What wakes the CPUs (see :mod:`torpor.idle.workloads`); a single workload is accepted.
    duration_s : float, seconds
        Length of a run. The idle period in flight at the end is counted whole.
    tick_phase_us : float or None, microseconds
        Place of the tick grid; None draws it per replicate.
    latency_limit_us : int or None, microseconds
        Latency limit of PM QoS; None means no limit.
    disabled_states : sequence of str
        Names of idle states that are disabled on every CPU that has them.
    opp_khz : int or None, kilohertz
        Frequency of all clusters that have such an operating point; None takes each cluster's highest.
    refusal_probability : float
        Chance that the driver refuses an entry.
    iowait : int
        Tasks that wait for I/O on each CPU (read by menu up to 6.1).
    load : int
        Run-queue load weight (read by menu 4.18 and 4.19).

    Raises
    ------
    ConfigError
        For anything that cannot be, naming the parameter, its value and the limit.

    Examples
    --------
    >>> from torpor.idle import IpiTimerBurst, Menu
    >>> scenario = Scenario(Board.load("hikey"), IpiTimerBurst(cpu=7), duration_s=0.5)
    >>> scenario.run(Menu(version="4.18"), runs=2, seed=1).runs
    2
    """

    board: Board
    workload: Workload | Sequence[Workload] = ()
    duration_s: float = 10.0
    tick_phase_us: float | None = None
    latency_limit_us: int | None = None
    disabled_states: Sequence[str] = ()
    opp_khz: int | None = None
    refusal_probability: float = 0.0
    iowait: int = 0
    load: int = 0
    _core_scenario: _core.IdleScenario = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in _NUMBERS:
            object.__setattr__(self, name, plain(getattr(self, name)))
        if self.opp_khz is not None:
            whole("opp_khz", self.opp_khz, 0, 2**53)
        workload = _checked_workload(self.workload)
        object.__setattr__(self, "workload", workload)
        object.__setattr__(self, "disabled_states", tuple(self.disabled_states))
        object.__setattr__(self, "_core_scenario", self._build())

    def _build(self) -> _core.IdleScenario:
        core = self.board.core
        assert isinstance(self.workload, tuple)
        sources = [s for w in self.workload for s in w.sources(self.board.cpu_count)]
        for name in ("iowait", "load"):
            whole(name, getattr(self, name), 0, 2**32 - 1)
        if self.latency_limit_us is not None:
            whole("latency_limit_us", self.latency_limit_us, 0, _core.NO_LATENCY_LIMIT_US)
        if not 0 < real("duration_s", self.duration_s) <= LONGEST_S:
            raise ConfigError(f"duration_s={self.duration_s} is outside 0 < s <= {LONGEST_S:g}")
        return _core.IdleScenario(
            core,
            sources=sources,
            duration_ns=time_ns(self.duration_s * 1e6, "duration_s"),
            tick_phase_ns=None
            if self.tick_phase_us is None
            else time_ns(self.tick_phase_us, "tick_phase_us"),
            latency_limit_us=_core.NO_LATENCY_LIMIT_US
            if self.latency_limit_us is None
            else self.latency_limit_us,
            disabled=self._disabled_masks(),
            opps=self.board.opp_indices(self.opp_khz),
            refusal_probability=real("refusal_probability", self.refusal_probability),
            iowait=self.iowait,
            load=self.load,
        )

    def _disabled_masks(self) -> list[int]:
        known = {state.name for cluster in self.board.clusters for state in cluster.idle_states}
        for name in self.disabled_states:
            if name not in known:
                raise ConfigError(
                    f"disabled_states: '{name}' is no idle state of {self.board.name}: "
                    f"it has {', '.join(sorted(known))}"
                )
        return [
            sum(1 << i for i, state in enumerate(cluster.idle_states) if state.name in self.disabled_states)
            for cluster in self.board.clusters
        ]

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
            A policy, or its text form such as ``"menu(version=4.18)"``.
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
            For an unknown policy, or one that does not fit the board's idle states; for ``runs=0``.
        KeyboardInterrupt
            Within 0.2 s of Ctrl-C.

        Examples
        --------
        >>> from torpor.idle import PoissonInterrupts
        >>> scenario = Scenario(Board.load("toy"), PoissonInterrupts(mean_gap_us=3000.0), duration_s=0.1)
        >>> one, two = (scenario.run("teo(version=6.1)", runs=3, seed=7, threads=n) for n in (1, 2))
        >>> bool((one.residency_ns == two.residency_ns).all())
        True
        """
        chosen = as_policy(policy)
        # A replicate's result takes about half a KiB a CPU; one call holds 4 GiB of them at most.
        most = 2**32 // (512 * self.board.cpu_count)
        request = replicate_request(runs, first, seed, threads, progress, most)
        columns = _core.run_idle(self._core_scenario, chosen, **request)
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
            Entries and exits of every CPU, and changes of its tick.

        Examples
        --------
        >>> from torpor.idle import IpiTimerBurst
        >>> scenario = Scenario(Board.load("hikey"), IpiTimerBurst(cpu=7), duration_s=0.2)
        >>> scenario.timeline("menu(version=4.18)").to_frame().columns.tolist()
        ['time_ns', 'cpu', 'event', 'value']
        """
        columns = _core.run_idle_timeline(
            self._core_scenario,
            as_policy(policy),
            seed=whole("seed", seed, 0, 2**64 - 1),
            replicate=whole("replicate", replicate, 0, 2**62),
        )
        return Timeline(
            scenario=self, policy=as_policy(policy), seed=seed, replicate=replicate, columns=columns
        )

    def _repr_html_(self) -> str:
        shown = [[f.name, repr(getattr(self, f.name))] for f in fields(self) if f.repr]
        columns = [Column("scenario", align="left"), Column("value", align="left")]
        return Table(f"{self.board.name} going idle", columns, shown).to_html()

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "_core_scenario"}

    def __setstate__(self, state: dict[str, object]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_core_scenario", self._build())


def _checked_workload(workload: Workload | Sequence[Workload]) -> tuple[Workload, ...]:
    if isinstance(workload, Workload):
        return (workload,)
    if isinstance(workload, str) or not isinstance(workload, Iterable):
        raise ConfigError(f"workload={shown(workload)} is no workload and no sequence of workloads")
    items = tuple(workload)
    for index, item in enumerate(items):
        if not isinstance(item, Workload):
            raise ConfigError(f"workload[{index}]={shown(item)} is no workload")
    return items
