# SPDX-License-Identifier: MIT
"""The board file: typed tables, strict decoding and the way to the engine's records."""

import difflib
import re
import tomllib
from collections.abc import Mapping
from typing import Any

import msgspec

from torpor import _core
from torpor._core import ConfigError
from torpor.board import _dpm, _freezer, _keys
from torpor.board._source import Source, config_error
from torpor.board._table import Int32, Table, Time, Whole


class Tick(Table, frozen=True, kw_only=True):
    """The scheduler tick."""

    hz: Int32


class Opp(Table, frozen=True, kw_only=True):
    """One operating point."""

    freq_khz: Whole
    power_mw: float | None = None
    cluster_power_mw: float | None = None


class IdleState(Table, frozen=True, kw_only=True):
    """One idle state, in the form of a device tree (entry, exit, wakeup) or of a driver (exit latency)."""

    name: str
    target_residency_us: Time
    exit_latency_us: Time | None = None
    entry_us: Time | None = None
    exit_us: Time | None = None
    wakeup_us: Time | None = None
    wake_latency_us: Time | None = None
    polling: bool = False
    cluster: bool = False
    power_mw: float | None = None
    cluster_power_mw: float | None = None


class Cluster(Table, frozen=True, kw_only=True):
    """CPUs of one kind: power domain, operating points, idle table."""

    name: str
    cpus: tuple[Int32, ...]
    capacity: Int32
    opps: tuple[Opp, ...] = ()
    idle_states: tuple[IdleState, ...]


class IdleCosts(Table, frozen=True, kw_only=True):
    """Time that the idle loop and the handlers take."""

    select_to_entry_ns: Whole
    ipi_handler_ns: Whole
    timer_handler_ns: Whole
    tick_handler_ns: Whole
    interrupt_exit_ns: Whole
    reflect_ns: Whole


class BoardFile(Table, frozen=True, kw_only=True):
    """A whole file."""

    name: str
    description: str = ""
    tick: Tick
    idle_costs: IdleCosts
    clusters: tuple[Cluster, ...]
    freezer: _freezer.Freezer | None = None
    dpm: _dpm.Dpm | None = None
    provenance: dict[str, str]


_TABLES: dict[tuple[str, ...], type[msgspec.Struct]] = {
    (): BoardFile,
    ("tick",): Tick,
    ("idle_costs",): IdleCosts,
    ("clusters", "[]"): Cluster,
    ("clusters", "[]", "opps", "[]"): Opp,
    ("clusters", "[]", "idle_states", "[]"): IdleState,
    **_freezer.TABLES,
    **_dpm.TABLES,
}


def table_at(steps: tuple[str, ...]) -> type[msgspec.Struct] | None:
    """Type of the table under a path, whatever its list indices."""
    return _TABLES.get(tuple("[]" if step.startswith("[") else step for step in steps))


def parse_toml(text: str, label: str) -> dict[str, Any]:
    """Read TOML into plain values; a syntax error becomes a ConfigError with file and line."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        number = int(line[1]) if line else text.count("\n") + 1
        raise config_error("", f"{label}:{number}: not valid TOML: {error}") from None
    except (ValueError, RecursionError) as error:
        raise config_error("", f"{label}: not valid TOML: {str(error)[:200]}") from None


def decode(raw: Mapping[str, Any], source: Source) -> BoardFile:
    """Turn plain values into typed tables, strictly.

    Raises
    ------
    ConfigError
        Naming file, line, key, value and limit of the first entry that does not fit.
    """
    try:
        board = msgspec.convert(raw, BoardFile)
    except msgspec.ValidationError as error:
        raise _explain(raw, str(error), source) from None
    for c, cluster in enumerate(board.clusters):
        for s, state in enumerate(cluster.idle_states):
            _check_form(state, f"clusters[{c}].idle_states[{s}]", source)
    if board.freezer is not None:
        _freezer.check(board.freezer, source)
    if board.dpm is not None:
        _dpm.check(board.dpm, board.clusters, board.tick.hz, source)
    return board


def _check_form(state: IdleState, key: str, source: Source) -> None:
    tree_form = {"entry_us": state.entry_us, "exit_us": state.exit_us, "wakeup_us": state.wakeup_us}
    if state.exit_latency_us is not None:
        for name, value in tree_form.items():
            if value is not None:
                limit = "limit: either exit_latency_us or entry_us and exit_us"
                raise source.error(
                    f"{key}.{name}", f"value {value} beside exit_latency_us={state.exit_latency_us}, {limit}"
                )
    elif state.entry_us is None or state.exit_us is None:
        given = ", ".join(f"{name}={value}" for name, value in tree_form.items() if value is not None)
        message = f"value missing (state {state.name!r} has {given or 'no latency'})"
        raise source.error(
            f"{key}.exit_latency_us", f"{message}, limit: exit_latency_us, or both entry_us and exit_us"
        )


def _explain(raw: Mapping[str, Any], message: str, source: Source) -> ConfigError:
    """Say what msgspec says with the line, the value and the near names that it leaves out."""
    reason, _, where = message.partition(" - at `$")
    steps, value = _concrete(raw, re.findall(r"\[\.\.\.\]|\[[^\]]*\]|[^.\[\]`]+", where))
    unknown = re.search(r"unknown field `([^`]*)`", reason)
    if unknown:
        table = table_at(steps)
        fields = table.__struct_fields__ if table else ()
        near = difflib.get_close_matches(unknown[1], fields, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        key = _keys.join((*steps, unknown[1]))
        return source.error(
            key, f"unknown key, value {value[unknown[1]]!r}, limit: {', '.join(fields)}{hint}"
        )
    missing = re.search(r"missing required field `([^`]*)`", reason)
    if missing:
        key = _keys.join((*steps, missing[1]))
        return source.error(key, "value missing, limit: this key is required", anchor=_keys.join(steps))
    return source.error(_keys.join(steps), f"value {value!r}, limit: {reason[:1].lower()}{reason[1:]}")


def _concrete(raw: Mapping[str, Any], path: list[str]) -> tuple[tuple[str, ...], Any]:
    """Follow msgspec's path to the value that it refused."""
    steps: tuple[str, ...] = ()
    node: Any = raw
    for part in path:
        if part == "[...]":
            # An entry of a mapping, whose name msgspec leaves out: of [provenance], which must hold text.
            name = next(name for name, value in node.items() if not isinstance(value, str))
            steps, node = (*steps, f'"{name}"'), node[name]
        elif part.startswith("["):
            steps, node = (*steps, part), node[int(part[1:-1])]
        else:
            steps, node = (*steps, part), node[part]
    return steps, node


def to_core(board: BoardFile, source: Source) -> _core.Board:
    """Build the engine's record and have it checked; its complaints gain file and line here."""
    core = _core.Board(
        name=board.name,
        tick_hz=board.tick.hz,
        clusters=[_cluster(cluster) for cluster in board.clusters],
        idle_costs=_core.IdleCosts(**msgspec.structs.asdict(board.idle_costs)),
    )
    try:
        core.validate()
    except ConfigError as error:
        raise source.error(error.key, str(error).removeprefix(f"{error.key}: ")) from None
    return core


def _cluster(cluster: Cluster) -> _core.Cluster:
    return _core.Cluster(
        name=cluster.name,
        cpus=list(cluster.cpus),
        capacity=cluster.capacity,
        opps=[_core.Opp(**msgspec.structs.asdict(opp)) for opp in cluster.opps],
        idle_states=[_state(state) for state in cluster.idle_states],
    )


def _state(state: IdleState) -> _core.IdleState:
    entry_us = state.entry_us or 0
    if state.exit_latency_us is not None:
        exit_latency_us = hardware_us = state.exit_latency_us
    else:
        hardware_us = state.exit_us or 0
        exit_latency_us = entry_us + hardware_us if state.wakeup_us is None else state.wakeup_us
    wake_us = hardware_us if state.wake_latency_us is None else state.wake_latency_us
    return _core.IdleState(
        name=state.name,
        entry_latency_ns=entry_us * 1000,
        wake_latency_ns=wake_us * 1000,
        exit_latency_ns=exit_latency_us * 1000,
        target_residency_ns=state.target_residency_us * 1000,
        polling=state.polling,
        cluster=state.cluster,
        power_mw=state.power_mw,
        cluster_power_mw=state.cluster_power_mw,
    )
