# SPDX-License-Identifier: MIT
"""How a board looks in a terminal and in a notebook."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table
from rich.text import Text

from torpor.board._show_dpm import Grid, dpm_grids

if TYPE_CHECKING:
    from torpor.board._board import Board
    from torpor.board._freezer import Freezer


def _mw(value: float | None) -> str:
    return "unknown" if value is None else f"{value:g}"


def _us(value_ns: int) -> str:
    return f"{value_ns / 1000:.15g}"


def _kinds(board: Board, keys: Sequence[str]) -> str:
    """Kinds of provenance behind a row, weakest last, each once."""
    found = {board.provenance(key).kind for key in keys if key in board.provenances}
    return ", ".join(kind for kind in ("cited", "measured", "fitted", "assumed") if kind in found)


def _is_below(key: str, at: str) -> bool:
    return key == at or (at.endswith(".") and key.startswith(at))


def _grids(board: Board) -> list[Grid]:
    keys = list(board.provenances)
    grids = []
    for c, cluster in enumerate(board.clusters):
        prefix = f"clusters[{c}]"
        cpus = ", ".join(str(cpu) for cpu in cluster.cpus)
        rows = []
        for s, state in enumerate(cluster.idle_states):
            row_keys = [key for key in keys if key.startswith(f"{prefix}.idle_states[{s}].")]
            times = (
                state.exit_latency_ns,
                state.target_residency_ns,
                state.entry_latency_ns,
                state.wake_latency_ns,
            )
            marks = (" polls" if state.polling else "") + (" votes cluster down" if state.cluster else "")
            power = (_mw(state.power_mw), _mw(state.cluster_power_mw))
            rows.append((state.name + marks, *(_us(time) for time in times), *power, _kinds(board, row_keys)))
        grids.append(
            Grid(
                f"cluster {cluster.name}: CPUs {cpus}; capacity {cluster.capacity}",
                (
                    "idle state",
                    "exit latency (us)",
                    "target residency (us)",
                    "entry (us)",
                    "wake (us)",
                    "CPU (mW)",
                    "cluster (mW)",
                    "provenance",
                ),
                rows,
            )
        )
        if cluster.opps:
            rows = []
            for o, opp in enumerate(cluster.opps):
                row_keys = [key for key in keys if key.startswith(f"{prefix}.opps[{o}].")]
                power = (_mw(opp.power_mw), _mw(opp.cluster_power_mw))
                rows.append((f"{opp.freq_khz}", *power, _kinds(board, row_keys)))
            header = ("frequency (kHz)", "busy CPU (mW)", "cluster (mW)", "provenance")
            grids.append(Grid(f"cluster {cluster.name}: operating points", header, rows))
    costs = [key for key in keys if key.startswith("idle_costs.")]
    cost_rows = [
        (k.removeprefix("idle_costs."), f"{board.value(k)}", board.provenance(k).kind) for k in costs
    ]
    grids.append(Grid("idle loop and handlers", ("cost", "value (ns)", "provenance"), cost_rows))
    if board.freezer is not None:
        grids += _freezer_grids(board, board.freezer)
    if board.dpm is not None:
        grids += dpm_grids(board.dpm, lambda at: _kinds(board, [key for key in keys if _is_below(key, at)]))
    sources: dict[str, int] = {}
    for pattern, _ in board.provenances.values():
        sources[pattern] = sources.get(pattern, 0) + 1
    entries = dict(board.provenances.values())
    source_rows = [
        (pattern, f"{count}", entries[pattern].kind, entries[pattern].source)
        for pattern, count in sources.items()
    ]
    grids.append(Grid("where the numbers come from", ("keys", "numbers", "kind", "source"), source_rows))
    return grids


def _freezer_grids(board: Board, freezer: Freezer) -> list[Grid]:
    entries = [("freezer", freezer), ("freezer.kernel", freezer.kernel), ("freezer.costs", freezer.costs)]
    rows: list[tuple[str, ...]] = []
    for prefix, table in entries:
        for name in table.__struct_fields__:
            value = getattr(table, name)
            if isinstance(value, int | float | str):
                key = f"{prefix}.{name}"
                shown = f"{value:.15g}" if isinstance(value, float) else f"{value}"
                kind = _kinds(board, [key]) or ("default" if isinstance(value, int | float) else "")
                rows.append((key.removeprefix("freezer."), shown, kind))
    grids = [Grid("freezer: kernel and costs", ("entry", "value", "provenance"), rows)]
    if freezer.tasks:
        listed: list[tuple[str, ...]] = []
        for t, tasks in enumerate(freezer.tasks):
            extras = [
                f"{name} = {getattr(tasks, name)}"
                for name in tasks.__struct_fields__[5:]
                if getattr(tasks, name) not in (None, "", 0)
                and (name, getattr(tasks, name)) != ("threads", 1)
            ]
            keys = [key for key in board.provenances if key.startswith(f"freezer.tasks[{t}].")]
            where = (tasks.site, tasks.kind, tasks.start)
            listed.append((tasks.name, f"{tasks.count}", *where, ", ".join(extras), _kinds(board, keys)))
        total = sum(tasks.count for tasks in freezer.tasks)
        header = ("tasks", "count", "site", "kind", "start", "besides", "provenance")
        grids.append(Grid(f"freezer: {total} tasks", header, listed))
    return grids


def _title(board: Board) -> str:
    return f"{board.name}: {board.cpu_count} CPUs, HZ {board.tick_hz}"


def rich_view(board: Board) -> Group:
    """Tables for a terminal."""
    tables = []
    for grid in _grids(board):
        table = Table(title=grid.title, title_justify="left")
        for name in grid.header:
            table.add_column(
                name, justify="right" if name.endswith((")", "numbers")) else "left", overflow="fold"
            )
        for row in grid.rows:
            table.add_row(*(Text(cell) for cell in row))  # keys have brackets, which are no markup
        tables.append(table)
    return Group(_title(board), Text(board.description), *tables)


def html_view(board: Board) -> str:
    """Tables for a notebook."""
    parts = [f"<h4>{html.escape(_title(board))}</h4>", f"<p>{html.escape(board.description)}</p>"]
    for grid in _grids(board):
        parts.append(f"<table><caption>{html.escape(grid.title)}</caption><thead><tr>")
        parts += [f"<th>{html.escape(name)}</th>" for name in grid.header]
        parts.append("</tr></thead><tbody>")
        parts += [
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in grid.rows
        ]
        parts.append("</tbody></table>")
    return "".join(parts)
