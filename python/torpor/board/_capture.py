# SPDX-License-Identifier: MIT
"""A board read from a recorded capture: the idle tables that a real kernel reported about itself."""

import json
from pathlib import Path
from typing import Any

from torpor.board._source import Source

#: Costs of the idle loop where nobody measured them: those of the HiKey reference model, in ns.
DEFAULT_IDLE_COSTS_NS = {
    "select_to_entry_ns": 6000,
    "ipi_handler_ns": 8000,
    "timer_handler_ns": 5000,
    "tick_handler_ns": 5000,
    "interrupt_exit_ns": 10000,
    "reflect_ns": 2000,
}
DEFAULT_TICK_HZ = 250

Table = tuple[tuple[str, int, int], ...]


def read_capture(path: Path, tick_hz: int | None) -> tuple[dict[str, Any], Source]:
    """Make a board's dictionary from the ``truth.json`` of an idle capture.

    CPUs with the same table form one cluster, since sysfs does not tell the power domains. There is no power
    and no state is known to vote for cluster power-down; the wake latency is taken equal to the exit latency.

    Raises
    ------
    ConfigError
        When the file is no idle capture or its traces disagree about the table of a CPU.
    """
    source = Source(str(path))
    try:
        truth = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise source.error("", f"cannot be read as JSON: {str(error)[:200]}") from None
    kind = truth.get("kind", "idle") if isinstance(truth, dict) else "idle"
    if kind != "idle":
        raise source.error(
            "kind", f"value {kind!r}, limit: a board comes from a capture whose kind is 'idle'"
        )
    tables = _tables(truth, source)
    groups: dict[Table, list[int]] = {}
    for cpu in sorted(tables):
        groups.setdefault(tables[cpu], []).append(cpu)
    hz_source = "the caller's tick_hz" if tick_hz is not None else "arm64's and Debian's default HZ"
    board = {
        "name": str(truth.get("capture") or path.parent.name),
        "description": "Idle tables that a running kernel reported; CPUs with one table are one cluster.",
        "tick": {"hz": DEFAULT_TICK_HZ if tick_hz is None else tick_hz},
        "idle_costs": dict(DEFAULT_IDLE_COSTS_NS),
        "clusters": [
            {
                "name": f"cpu{cpus[0]}" if len(cpus) == 1 else f"cpu{cpus[0]}-{cpus[-1]}",
                "cpus": cpus,
                "capacity": 1024,
                "idle_states": [
                    {
                        "name": name,
                        "exit_latency_us": latency_us,
                        "target_residency_us": residency_us,
                        **({"polling": True} if name == "POLL" else {}),
                    }
                    for name, latency_us, residency_us in table
                ],
            }
            for table, cpus in groups.items()
        ],
        "provenance": {
            "tick.hz": f"assumed: {hz_source}; the capture does not record it",
            "idle_costs.*": "assumed: those of the HiKey reference model",
            "clusters[*].cpus": f"measured: {path.name}, CPUs with equal cpuidle tables in sysfs",
            "clusters[*].capacity": "assumed: equal CPUs; the capture does not record it",
            "clusters[*].idle_states[*].*": (
                f"measured: {path.name}, cpuidle in sysfs ({truth.get('uname', 'kernel not recorded')}); "
                "wake latency taken equal to the exit latency"
            ),
        },
    }
    return board, source


def _tables(truth: Any, source: Source) -> dict[int, Table]:
    traces = truth.get("traces") if isinstance(truth, dict) else None
    tables: dict[int, Table] = {}
    for trace, record in (traces if isinstance(traces, dict) else {}).items():
        delta = record.get("sysfs_delta", {}) if isinstance(record, dict) else None
        if not isinstance(delta, dict):
            raise source.error(f"traces.{trace}", "value is no record, limit: a table with sysfs_delta")
        for cpu_name, states in delta.items():
            key = f"traces.{trace}.sysfs_delta.{cpu_name}"
            try:
                cpu = int(cpu_name.removeprefix("cpu"))
                rows = [states[f"state{index}"] for index in range(len(states))]
                table = tuple(
                    (str(row["name"]), int(row["latency_us"]), int(row["residency_us"])) for row in rows
                )
            except (KeyError, TypeError, ValueError) as error:
                message = f"value is no idle table ({type(error).__name__}: {error})"
                raise source.error(
                    key, f"{message}, limit: state0.. with name, latency_us and residency_us"
                ) from None
            if tables.setdefault(cpu, table) != table:
                raise source.error(
                    key, f"value {table} differs from the earlier {tables[cpu]}, limit: one table a CPU"
                )
    if not tables:
        raise source.error("traces", "value has no sysfs_delta, limit: the tables of at least one CPU")
    return tables
