"""What wakes the CPUs: values that a :class:`~torpor.idle.Scenario` is made of.

Each workload is a frozen dataclass; times are in microseconds. Every source of wakeups owns a random stream
of its own name, so that adding a workload never moves another's arrivals.
"""

from __future__ import annotations

import ast
import html
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Annotated, Protocol, get_type_hints, runtime_checkable

import msgspec

from torpor import _core
from torpor._checks import time_ns
from torpor._core import ConfigError

__all__ = [
    "BurstyInterrupts",
    "IpiTimerBurst",
    "LognormalInterrupts",
    "PeriodicTimer",
    "PoissonInterrupts",
    "RecordedInterrupts",
    "TimerLoad",
    "Workload",
    "parse_workload",
]


Cpu = Annotated[int, msgspec.Meta(ge=0, le=65535)]
Count = Annotated[int, msgspec.Meta(ge=0, le=10**9)]
Arrivals = (
    _core.PeriodicArrivals
    | _core.PoissonArrivals
    | _core.LognormalArrivals
    | _core.BurstyArrivals
    | _core.RecordedArrivals
)


@runtime_checkable
class Workload(Protocol):
    """Anything that can say which sources of wakeups it puts on which CPUs.

    Examples
    --------
    >>> isinstance(TimerLoad(), Workload)
    True
    """

    def sources(self, cpu_count: int) -> list[_core.Source]:
        """List the sources of wakeups on a board of `cpu_count` CPUs."""


class _Checked:
    """A workload whose parameters are of the declared types, checked when it is made."""

    def __post_init__(self) -> None:
        hints = get_type_hints(type(self), include_extras=True)
        for parameter in fields(self):  # type: ignore[arg-type]
            value = getattr(self, parameter.name)
            try:
                msgspec.convert(value, hints[parameter.name])
            except (msgspec.ValidationError, OverflowError) as error:
                message = f"{type(self).__name__}.{parameter.name}={_shown(value)}: {error}"
                raise ConfigError(message) from None

    def _repr_html_(self) -> str:
        return f"<code>{html.escape(repr(self))}</code>"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


@dataclass(frozen=True, kw_only=True)
class IpiTimerBurst(_Checked):
    """The pattern of Leo Yan's mail: an IPI, a timer 4 ms later, then ten of 1 ms; no task ever runs.

    Parameters
    ----------
    cpu : int
        CPU that gets the IPI.
    sender : int or None
        CPU that sends it from a timer of the same period; None leaves the sender out.
    period_us : float, microseconds
        Time between IPIs; 50 ms in the mail.
    first_us : float, microseconds
        Instant of the first IPI.
    first_spread_us : float, microseconds
        A uniform share of this is added to `first_us`: random phase against the tick.
    jitter_us : float, microseconds
        A uniform share of this lengthens every gap.
    timer_first_us, timer_next_us : float, microseconds
        The handler's timer, and the time by which it re-arms itself.
    timer_repeats : int
        How often it does.

    Notes
    -----
    Source: linux-pm mail 1533793647-5628-1 (August 2018).

    Examples
    --------
    >>> [source.name for source in IpiTimerBurst(cpu=7, sender=0).sources(8)]
    ['ipi/cpu7', 'ipi-sender/cpu0']
    """

    cpu: Cpu = 7
    sender: Cpu | None = None
    period_us: float = 50_000.0
    first_us: float = 50_000.0
    first_spread_us: float = 0.0
    jitter_us: float = 0.0
    timer_first_us: float = 4_000.0
    timer_next_us: float = 1_000.0
    timer_repeats: Count = 10

    def sources(self, cpu_count: int) -> list[_core.Source]:
        """Make the target's interrupt with its timer chain, and the sender's timer."""
        arrivals = _core.PeriodicArrivals(
            period_ns=time_ns(self.period_us, "period_us"),
            first_ns=time_ns(self.first_us, "first_us"),
            first_spread_ns=time_ns(self.first_spread_us, "first_spread_us"),
            jitter_ns=time_ns(self.jitter_us, "jitter_us"),
        )
        found = [
            _core.Source(
                f"ipi/cpu{self.cpu}",
                cpu=self.cpu,
                kind=_core.SourceKind.interrupt,
                arrivals=arrivals,
                chain_first_ns=time_ns(self.timer_first_us, "timer_first_us"),
                chain_next_ns=time_ns(self.timer_next_us, "timer_next_us"),
                chain_repeats=self.timer_repeats,
            )
        ]
        if self.sender is not None:
            found.append(
                _core.Source(
                    f"ipi-sender/cpu{self.sender}",
                    cpu=self.sender,
                    kind=_core.SourceKind.hrtimer,
                    arrivals=arrivals,
                )
            )
        return found


@dataclass(frozen=True, kw_only=True)
class _PerCpu(_Checked, ABC):
    """One source of the same kind on each of some CPUs; a subclass says which."""

    cpus: Sequence[Cpu] | None = None
    task_run_us: float = 0.0

    @abstractmethod
    def _process(self) -> tuple[str, _core.SourceKind, Arrivals]:
        """Name, kind and arrivals of each source."""

    def sources(self, cpu_count: int) -> list[_core.Source]:
        """Make one source a CPU."""
        name, kind, arrivals = self._process()
        return [
            _core.Source(
                f"{name}/cpu{cpu}",
                cpu=cpu,
                kind=kind,
                arrivals=arrivals,
                task_run_ns=time_ns(self.task_run_us, "task_run_us"),
            )
            for cpu in (range(cpu_count) if self.cpus is None else self.cpus)
        ]


@dataclass(frozen=True, kw_only=True)
class PeriodicTimer(_PerCpu):
    """A timer that the governor can see coming, on some or all CPUs, each with its own random phase.

    Parameters
    ----------
    period_us : float, microseconds
        Period of the timer.
    cpus : sequence of int or None
        CPUs that have it; None means all.
    jitter_us : float, microseconds
        A uniform share of this lengthens every gap.
    task_run_us : float, microseconds
        Run time of the task that it wakes; 0 wakes none.
    wheel : bool
        A timer-wheel timer, which expires on the tick, instead of a high-resolution one.

    Examples
    --------
    >>> len(PeriodicTimer(period_us=10_000).sources(4))
    4
    """

    period_us: float
    jitter_us: float = 0.0
    wheel: bool = False

    def _process(self) -> tuple[str, _core.SourceKind, Arrivals]:
        period_ns = time_ns(self.period_us, "period_us")
        arrivals = _core.PeriodicArrivals(
            period_ns=period_ns,
            first_ns=0,
            first_spread_ns=max(period_ns - 1, 0),
            jitter_ns=time_ns(self.jitter_us, "jitter_us"),
        )
        kind = _core.SourceKind.wheel if self.wheel else _core.SourceKind.hrtimer
        return f"timer-{self.period_us:g}us", kind, arrivals


@dataclass(frozen=True, kw_only=True)
class TimerLoad(PeriodicTimer):
    """The 50 ms timer load of Christian Loehle's teo series (June 2024): a timer wakes a short task.

    Parameters are those of :class:`PeriodicTimer`; the run time of the task is not published and assumed.

    Examples
    --------
    >>> TimerLoad(cpus=(0,)).period_us
    50000.0
    """

    period_us: float = 50_000.0
    task_run_us: float = 100.0


@dataclass(frozen=True, kw_only=True)
class PoissonInterrupts(_PerCpu):
    """Interrupts that nothing announces, with exponential gaps.

    Parameters
    ----------
    mean_gap_us : float, microseconds
        Mean time between interrupts of one CPU.
    cpus : sequence of int or None
        CPUs that get them; None means all.
    task_run_us : float, microseconds
        Run time of the task that each wakes; 0 wakes none.

    Examples
    --------
    >>> PoissonInterrupts(mean_gap_us=500.0, cpus=(1,)).sources(2)[0].name
    'poisson-500us/cpu1'
    """

    mean_gap_us: float

    def _process(self) -> tuple[str, _core.SourceKind, Arrivals]:
        arrivals = _core.PoissonArrivals(mean_gap_ns=time_ns(self.mean_gap_us, "mean_gap_us"))
        return f"poisson-{self.mean_gap_us:g}us", _core.SourceKind.interrupt, arrivals


@dataclass(frozen=True, kw_only=True)
class LognormalInterrupts(_PerCpu):
    """Interrupts with lognormal gaps: many short ones, a long tail.

    Parameters
    ----------
    median_gap_us : float, microseconds
        Median time between interrupts of one CPU.
    sigma : float
        Standard deviation of the gap's logarithm.
    cpus : sequence of int or None
        CPUs that get them; None means all.
    task_run_us : float, microseconds
        Run time of the task that each wakes; 0 wakes none.

    Examples
    --------
    >>> len(LognormalInterrupts(median_gap_us=800.0, sigma=1.5).sources(2))
    2
    """

    median_gap_us: float
    sigma: float

    def _process(self) -> tuple[str, _core.SourceKind, Arrivals]:
        median_gap_ns = time_ns(self.median_gap_us, "median_gap_us")
        arrivals = _core.LognormalArrivals(median_gap_ns=median_gap_ns, sigma=self.sigma)
        return f"lognormal-{self.median_gap_us:g}us", _core.SourceKind.interrupt, arrivals


@dataclass(frozen=True, kw_only=True)
class BurstyInterrupts(_PerCpu):
    """Runs of close interrupts parted by quiet times, all uniform.

    Parameters
    ----------
    quiet_us, gap_us : tuple of float, microseconds
        Least and largest quiet time, and gap within a burst.
    burst : tuple of int
        Least and largest number of interrupts in a burst.
    cpus : sequence of int or None
        CPUs that get them; None means all.
    task_run_us : float, microseconds
        Run time of the task that each wakes; 0 wakes none.

    Examples
    --------
    >>> BurstyInterrupts(cpus=(3,)).sources(4)[0].cpu
    3
    """

    quiet_us: tuple[float, float] = (5_000.0, 200_000.0)
    gap_us: tuple[float, float] = (20.0, 300.0)
    burst: tuple[Count, Count] = (2, 20)

    def _process(self) -> tuple[str, _core.SourceKind, Arrivals]:
        arrivals = _core.BurstyArrivals(
            quiet_min_ns=time_ns(self.quiet_us[0], "quiet_us"),
            quiet_max_ns=time_ns(self.quiet_us[1], "quiet_us"),
            gap_min_ns=time_ns(self.gap_us[0], "gap_us"),
            gap_max_ns=time_ns(self.gap_us[1], "gap_us"),
            burst_min=self.burst[0],
            burst_max=self.burst[1],
        )
        return "bursts", _core.SourceKind.interrupt, arrivals


@dataclass(frozen=True, kw_only=True)
class RecordedInterrupts(_Checked):
    """Interrupts at given instants, for example taken from a trace.

    Parameters
    ----------
    cpu : int
        CPU that gets them.
    times_us : sequence of float, microseconds
        Ascending instants since the start of the run.
    task_run_us : float, microseconds
        Run time of the task that each wakes; 0 wakes none.

    Examples
    --------
    >>> RecordedInterrupts(cpu=0, times_us=(10.0, 2500.0)).sources(1)[0].name
    'recorded/cpu0'
    """

    cpu: Cpu
    times_us: Sequence[float] = field(default_factory=tuple)
    task_run_us: float = 0.0

    def sources(self, cpu_count: int) -> list[_core.Source]:
        """One source."""
        return [
            _core.Source(
                f"recorded/cpu{self.cpu}",
                cpu=self.cpu,
                kind=_core.SourceKind.interrupt,
                arrivals=_core.RecordedArrivals(times_ns=[time_ns(t, "times_us") for t in self.times_us]),
                task_run_ns=time_ns(self.task_run_us, "task_run_us"),
            )
        ]


WORKLOADS: dict[str, type] = {
    "bursty_interrupts": BurstyInterrupts,
    "ipi_timer_burst": IpiTimerBurst,
    "lognormal_interrupts": LognormalInterrupts,
    "periodic_timer": PeriodicTimer,
    "poisson_interrupts": PoissonInterrupts,
    "recorded_interrupts": RecordedInterrupts,
    "timer_load": TimerLoad,
}


def parse_workload(text: str) -> Workload:
    """Read a workload from its constructor call, such as ``"poisson_interrupts(mean_gap_us=500)"``.

    Parameters
    ----------
    text : str
        Name in snake case, then keyword arguments as Python literals.

    Raises
    ------
    ConfigError
        For an unknown workload or parameter (the message lists the known ones), or text that is no such call.

    Examples
    --------
    >>> parse_workload("ipi_timer_burst(cpu=3)").cpu
    3
    """
    try:
        call = ast.parse(text.strip(), mode="eval").body
        if isinstance(call, ast.Name):
            call = ast.Call(func=call, args=[], keywords=[])
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            raise ValueError
        given = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
        if len(given) < len(call.keywords):
            raise ValueError
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        message = "write it as name(parameter=value, ...), each parameter once"
        raise ConfigError(f"workload {_shown(text)}: {message}") from None
    kind = WORKLOADS.get(call.func.id)
    if kind is None:
        raise ConfigError(f"unknown workload '{call.func.id}': known are {', '.join(WORKLOADS)}")
    known = [f.name for f in fields(kind)]
    for name in given:
        if name not in known:
            raise ConfigError(f"workload {call.func.id} has no parameter '{name}': it has {', '.join(known)}")
    try:
        workload: Workload = kind(**given)
    except TypeError as error:
        raise ConfigError(
            f"workload '{text}': {str(error).removeprefix(kind.__name__ + '.__init__() ')}"
        ) from None
    return workload
