# SPDX-License-Identifier: MIT
"""Boards made of a capture of a real machine."""

import json
from pathlib import Path

import pytest

from torpor import _core
from torpor.board import Board


def capture_folder(folder: Path, **changes: object) -> Path:
    rows = {
        "state0": {"name": "POLL", "latency_us": 0, "residency_us": 0, "usage": 3},
        "state1": {"name": "C1", "latency_us": 1, "residency_us": 2, "usage": 4},
    }
    truth = {
        "capture": "lab",
        "uname": "Linux 6.1",
        "traces": {"quiet": {"sysfs_delta": {"cpu0": rows, "cpu1": rows}}},
    }
    (folder / "truth.json").write_text(json.dumps(truth | changes))
    return folder


class TestCapture:
    def test_gives_the_recorded_table_as_measured(self, tmp_path: Path):
        board = Board.load(capture_folder(tmp_path))
        assert board.name == "lab"
        assert [(c.name, c.cpus) for c in board.clusters] == [("cpu0-1", [0, 1])]
        states = board.clusters[0].idle_states
        assert [
            (s.name, s.exit_latency_ns, s.target_residency_ns, s.polling, s.power_mw) for s in states
        ] == [
            ("POLL", 0, 0, True, None),
            ("C1", 1000, 2000, False, None),
        ]
        assert board.provenance("clusters[0].idle_states[1].exit_latency_us").kind == "measured"

    def test_assumes_hz_250_unless_told(self, tmp_path: Path):
        assert Board.load(capture_folder(tmp_path)).tick_hz == 250
        told = Board.load(capture_folder(tmp_path) / "truth.json", tick_hz=1000)
        assert told.tick_hz == 1000
        assert told.provenance("tick.hz").kind == "assumed"
        assert eval(repr(told), {"Board": Board}) == told

    def test_splits_cpus_of_different_tables_into_clusters(self, tmp_path: Path):
        deep = {"state0": {"name": "WFI", "latency_us": 1, "residency_us": 1}}
        flat = {"state0": {"name": "WFI", "latency_us": 2, "residency_us": 2}}
        traces = {"t": {"sysfs_delta": {"cpu0": deep, "cpu1": flat, "cpu2": deep}}}
        clusters = Board.load(capture_folder(tmp_path, traces=traces)).clusters
        assert [cluster.cpus for cluster in clusters] == [[0, 2], [1]]

    def test_refuses_traces_that_disagree(self, tmp_path: Path):
        one = {"sysfs_delta": {"cpu0": {"state0": {"name": "WFI", "latency_us": 1, "residency_us": 1}}}}
        two = {"sysfs_delta": {"cpu0": {"state0": {"name": "WFI", "latency_us": 2, "residency_us": 1}}}}
        with pytest.raises(_core.ConfigError, match="differs from the earlier") as caught:
            Board.load(capture_folder(tmp_path, traces={"one": one, "two": two}))
        assert caught.value.key == "traces.two.sysfs_delta.cpu0"

    def test_refuses_a_capture_without_idle_tables(self, tmp_path: Path):
        with pytest.raises(_core.ConfigError, match="no sysfs_delta"):
            Board.load(capture_folder(tmp_path, traces={"t": {}}))

    def test_refuses_a_state_without_a_latency(self, tmp_path: Path):
        traces = {"t": {"sysfs_delta": {"cpu0": {"state0": {"name": "WFI"}}}}}
        with pytest.raises(_core.ConfigError, match="KeyError: 'latency_us'"):
            Board.load(capture_folder(tmp_path, traces=traces))

    def test_refuses_a_folder_without_the_file(self, tmp_path: Path):
        with pytest.raises(_core.ConfigError, match=r"no truth\.json"):
            Board.load(tmp_path)
