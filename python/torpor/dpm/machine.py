# SPDX-License-Identifier: MIT
"""A board as the scheduler of the device core sees it: CPUs at frozen frequencies, energy model, power."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torpor._checks import real, shown, whole
from torpor._core import ConfigError
from torpor.board import Board

__all__ = ["ClusterPower", "FairCpu", "FairMachine", "fair_machine"]

_REFERENCE_CAPACITY = 1024
_LARGEST_SHARE = 1000.0
_SLOWEST = 1e-6


@dataclass(frozen=True, slots=True)
class FairCpu:
    """A CPU at a frozen frequency.

    Parameters
    ----------
    rate : float
        How fast it gets through work that is given in time of the reference CPU.
    capacity : int
        At its highest frequency, 1..1024.
    relative_freq : float
        Frozen frequency over the highest.
    cluster : int
        Which of the machine's clusters.
    idle_exits : tuple of (int, int), nanoseconds
        Latency of leaving idle for a CPU that was idle for at least so long: (after, exit), after ascending.

    Examples
    --------
    >>> FairCpu(rate=0.5, capacity=1024, relative_freq=0.5, cluster=0, idle_exits=((0, 1000),)).rate
    0.5
    """

    rate: float
    capacity: int
    relative_freq: float
    cluster: int
    idle_exits: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class ClusterPower:
    """Power of a cluster while devices suspend or resume, milliwatts.

    Parameters
    ----------
    busy_mw, idle_mw : float, milliwatts
        Of one busy and of one idle CPU.
    cluster_mw : float, milliwatts
        Of the cluster itself.

    Examples
    --------
    >>> ClusterPower(busy_mw=300.0, idle_mw=10.0, cluster_mw=40.0).idle_mw
    10.0
    """

    busy_mw: float
    idle_mw: float
    cluster_mw: float


@dataclass(frozen=True, slots=True)
class FairMachine:
    """CPUs with their energy model and power.

    Parameters
    ----------
    cpus : tuple of FairCpu
        By number.
    clusters : tuple of str
        Names of the clusters.
    domains : tuple of tuple of (float, float)
        Of each cluster (capacity, power in milliwatts of a busy CPU) at its operating points, ascending: what
        EAS reckons with. Empty when it is unknown of any cluster.
    power : tuple of ClusterPower or None
        Of each cluster; None when any of it is unpublished.

    Examples
    --------
    >>> machine = fair_machine(Board.load("toy"), 1.0, None, None)
    >>> machine.clusters, machine.domains
    (('cluster0',), (((512.0, 100.0), (1024.0, 300.0)),))
    """

    cpus: tuple[FairCpu, ...]
    clusters: tuple[str, ...]
    domains: tuple[tuple[tuple[float, float], ...], ...]
    power: tuple[ClusterPower, ...] | None


def fair_machine(
    board: Board,
    relative_freq: float | Mapping[str, float],
    idle_exit_share: float | None,
    cpus: int | None,
) -> FairMachine:
    """Make the machine of a board.

    A CPU's rate is its capacity over 1024 times the relative frequency. Its idle exits are those of its idle
    table without polling states: the wake latency of a state counts for a CPU that was idle for
    `idle_exit_share` of its target residency, that of the shallowest state from the start.

    The energy model is that of the board's [dpm.performance_domains], else that of the operating points. It
    has all of them, whatever frequency is frozen, as the kernel's has.

    Power is that of the operating point next to the frozen frequency. An idle CPU is reckoned in its
    shallowest state, which is an upper bound for long sleeps, and the cluster as powered throughout.

    Parameters
    ----------
    board : Board
        Any board; only its clusters and [dpm.performance_domains] matter.
    relative_freq : float or mapping of str to float
        Frozen frequency over the highest, above 0 and at most 1, of all clusters or of each by its name.
    idle_exit_share : float or None
        0..1000; 1 needs the whole target residency, less stands for a governor that predicts long sleeps.
        None: leaving idle takes no time.
    cpus : int or None
        How many CPUs there are, the board's first; None for all.

    Raises
    ------
    ConfigError
        Naming the parameter, its value and the limit; for a cluster that is unknown or missing.

    Examples
    --------
    >>> machine = fair_machine(Board.load("pixel-6-like"), 0.9, 0.2, None)
    >>> machine.cpus[6]
    FairCpu(rate=0.9, capacity=1024, relative_freq=0.9, cluster=2, idle_exits=((0, 3000), (700000, 220000)))
    >>> machine.power[2]
    ClusterPower(busy_mw=1267.19, idle_mw=16.14, cluster_mw=0.0)
    >>> fair_machine(Board.load("toy"), 1.5, None, None)
    Traceback (most recent call last):
        ...
    torpor._core.ConfigError: relative_freq=1.5: must be above 0 and at most 1
    """
    if not isinstance(board, Board):
        raise ConfigError(f"board={shown(board)} is no Board")
    share = None if idle_exit_share is None else _share(idle_exit_share)
    count = board.cpu_count if cpus is None else whole("cpus", cpus, 1, board.cpu_count)
    freqs = _frequencies(board, relative_freq)
    used = [cluster for cluster in board.clusters if any(cpu < count for cpu in cluster.cpus)]
    place = {cpu: index for index, cluster in enumerate(used) for cpu in cluster.cpus if cpu < count}
    idle_exits = [_idle_exits(cluster.idle_states, share) for cluster in used]
    made = []
    for cpu in range(count):
        index = place[cpu]
        capacity, freq = used[index].capacity, freqs[used[index].name]
        rate = capacity / _REFERENCE_CAPACITY * freq
        if rate < _SLOWEST:
            raise ConfigError(
                f"relative_freq={freq:g}: cluster {used[index].name} of capacity {capacity} would run at "
                f"{rate:g} of the reference CPU, limit: at least {_SLOWEST:g}"
            )
        made.append(FairCpu(rate, capacity, freq, index, idle_exits[index]))
    domains = [_domain(board, cluster) for cluster in used]
    power = [_power(cluster, freqs[cluster.name]) for cluster in used]
    return FairMachine(
        cpus=tuple(made),
        clusters=tuple(cluster.name for cluster in used),
        domains=tuple(domain for domain in domains if domain) if all(domains) else (),
        power=None if None in power else tuple(one for one in power if one is not None),
    )


def _share(value: float) -> float:
    number = real("idle_exit_share", value)
    if not 0 <= number <= _LARGEST_SHARE:
        raise ConfigError(f"idle_exit_share={shown(value)}: must be 0..{_LARGEST_SHARE:g}, or None")
    return number


def _frequencies(board: Board, given: float | Mapping[str, float]) -> dict[str, float]:
    names = [cluster.name for cluster in board.clusters]
    if not isinstance(given, Mapping):
        return dict.fromkeys(names, _frequency("relative_freq", given))
    for name in given:
        if name not in names:
            raise ConfigError(f"relative_freq[{name}]: clusters of {board.name}: {', '.join(names)}")
    for name in names:
        if name not in given:
            raise ConfigError(f"relative_freq={shown(dict(given))}: cluster {name} is missing")
    return {name: _frequency(f"relative_freq[{name}]", given[name]) for name in names}


def _frequency(name: str, value: float) -> float:
    number = real(name, value)
    if not 0 < number <= 1:
        raise ConfigError(f"{name}={shown(value)}: must be above 0 and at most 1")
    return number


def _idle_exits(states: Any, share: float | None) -> tuple[tuple[int, int], ...]:
    if share is None:
        return ()
    exits: dict[int, int] = {}
    for state in states:
        if not state.polling:
            # Of states with one target residency the idle governor can only choose the deepest.
            after_ns = round(share * state.target_residency_ns) if exits else 0
            exits[after_ns] = state.wake_latency_ns
    return tuple(sorted(exits.items()))


def _domain(board: Board, cluster: Any) -> tuple[tuple[float, float], ...]:
    """Operating points of a cluster as its capacity and power; empty when the power is unknown."""
    points: list[tuple[int, float | None]] = [(opp.freq_khz, opp.power_mw) for opp in cluster.opps]
    for domain in board.dpm.performance_domains if board.dpm is not None else ():
        if domain.cluster == cluster.name:
            points = list(zip(domain.freq_khz, domain.power_mw, strict=True))
    made = [(cluster.capacity * khz / points[-1][0], mw) for khz, mw in points if mw is not None]
    return tuple(made) if len(made) == len(points) else ()


def _power(cluster: Any, freq: float) -> ClusterPower | None:
    idle = next((state.power_mw for state in cluster.idle_states if not state.polling), None)
    if not cluster.opps or idle is None:
        return None
    wanted_khz = freq * cluster.opps[-1].freq_khz
    opp = min(cluster.opps, key=lambda one: (abs(one.freq_khz - wanted_khz), -one.freq_khz))
    if opp.power_mw is None or opp.cluster_power_mw is None:
        return None
    return ClusterPower(float(opp.power_mw), float(idle), float(opp.cluster_power_mw))
