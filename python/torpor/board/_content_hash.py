# SPDX-License-Identifier: MIT
"""The hash under which results of a board can be stored."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from torpor import _core
from torpor.board import _dpm, _freezer, _schema


def content_hash(core: _core.Board, freezer: _freezer.Freezer | None, dpm: _dpm.Dpm | None) -> str:
    """Hash the engine's record and the sections of the families, as `Board.content_hash` says."""

    def record(item: Any, names: tuple[str, ...]) -> dict[str, Any]:
        return {name: getattr(item, name) for name in names}

    state = (
        "name",
        "entry_latency_ns",
        "wake_latency_ns",
        "exit_latency_ns",
        "target_residency_ns",
        "polling",
        "cluster",
        "power_mw",
        "cluster_power_mw",
    )
    opp = ("freq_khz", "power_mw", "cluster_power_mw")
    content = {
        "name": core.name,
        "tick_hz": core.tick_hz,
        "idle_costs": record(core.idle_costs, tuple(_schema.IdleCosts.__struct_fields__)),
        "clusters": [
            record(cluster, ("name", "cpus", "capacity"))
            | {"opps": [record(row, opp) for row in cluster.opps]}
            | {"idle_states": [record(row, state) for row in cluster.idle_states]}
            for cluster in core.clusters
        ],
    }
    if freezer is not None:
        content["freezer"] = _freezer.content(freezer)
    if dpm is not None:
        content["dpm"] = _dpm.content(dpm)
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
