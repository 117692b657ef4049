# SPDX-License-Identifier: MIT
"""What nobody should give the dpm family, and what it says to it."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import torpor
from refusals import refused
from torpor.board import Board
from torpor.dpm import (
    Device,
    DeviceCapture,
    DeviceGraph,
    Old,
    Scenario,
    Segment,
    capture_labels,
    parse_policy,
    summarise,
    validate_captures,
)

TOY = Board.load("toy")
ONE = Path(__file__).parent.parent / "data" / "dpm" / "arm64-1cpu"
NO_LIST = np.array(3)
HALF = "\ud800"


@pytest.mark.parametrize("given", [None, 3, True, 1.5, NO_LIST])
def test_records_that_are_no_list_are_named(given: Any) -> None:
    assert refused(lambda: DeviceGraph.from_records(given)).startswith("devices=")
    assert refused(lambda: DeviceGraph.from_records([{"name": "a"}], given)).startswith("links=")


def test_an_array_without_dimensions_is_no_list() -> None:
    assert refused(lambda: DeviceGraph(NO_LIST)) == "devices=array(3) is no list of Device objects"  # type: ignore[arg-type]
    assert refused(lambda: Device("a", fails=NO_LIST)) == "devices[a].fails=array(3) is no list of phases"  # type: ignore[arg-type]
    assert "is no list of segments" in refused(lambda: Device("a", callbacks={"resume": NO_LIST}))  # type: ignore[dict-item]
    assert refused(lambda: Scenario(TOY, scales=NO_LIST)).startswith("scales=array(3) is neither")  # type: ignore[arg-type]


def test_ragged_scales_are_named() -> None:
    assert refused(lambda: Scenario(TOY, scales=[(1, 2), (3,)])) == (
        "scales[1]=(3,) is no pair of numbers: suspend, resume"
    )


def test_keys_that_are_no_text_are_unknown() -> None:
    record: Any = {pd.NA: 1}
    assert refused(lambda: DeviceGraph.from_records([record])).startswith("devices[0].<NA>: unknown")
    assert refused(lambda: Scenario(TOY, costs={pd.NA: 1})).startswith("costs: <NA> is unknown")  # type: ignore[dict-item]


def test_an_array_is_no_share() -> None:
    assert "idle_exit_share=" in refused(lambda: Scenario(TOY, idle_exit_share=np.array([1, 2])))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "call",
    [
        lambda: Device(HALF),
        lambda: Device("a", HALF),
        lambda: Segment.lock(HALF),
        lambda: parse_policy(HALF),
        lambda: Old(eas_off=HALF),
        lambda: Scenario(TOY, placement=HALF),
    ],
)
def test_half_of_a_surrogate_pair_is_no_text(call: Callable[[], object]) -> None:
    assert refused(call).endswith("='\\ud800' is no Unicode text (half of a surrogate pair)")


@pytest.mark.parametrize("given", [None, 3, [3], [None], ["old"]])
def test_only_results_are_summarised(given: Any) -> None:
    assert refused(lambda: summarise(given)).startswith("results")


def test_arrays_are_no_names_of_figures() -> None:
    runs = Scenario(TOY, cycles=1).run("old")
    two: Any = np.array([1, 2])
    assert refused(lambda: runs.side(two, "resume")).startswith("name=array([1, 2]) is unknown")
    assert refused(lambda: runs.side("items", two)).startswith("side=array([1, 2]) is unknown")
    assert refused(lambda: runs.to_frame(two)) == "level=array([1, 2]) is no text"


@pytest.mark.parametrize("given", [None, 3, b"x"])
def test_captures_that_are_no_paths_are_named(given: Any) -> None:
    assert refused(lambda: validate_captures([given])) == f"captures={given!r} is no path"
    assert refused(lambda: capture_labels(given)) == f"folder={given!r} is no path"
    assert refused(lambda: DeviceCapture.load(given, "x")) == f"folder={given!r} is no path"


def test_validation_needs_a_list_of_folders() -> None:
    assert refused(lambda: validate_captures(3)) == "captures=3 is no list of folders"  # type: ignore[arg-type]


# Times that would not fit


def test_a_cost_is_limited() -> None:
    text = refused(lambda: Scenario(TOY, costs={"core_us": 1e9}))
    assert text == "costs.core_us=1000000000.0 is outside 0..100000000"


def test_a_cost_is_limited_at_the_speed_of_the_slowest_cpu() -> None:
    text = refused(lambda: Scenario(TOY, costs={"core_us": 101}, relative_freq=1e-6, slice_us=0))
    assert text == "costs[prepare].core_ns=101000: must be 0..100000, which takes 100 s on the slowest CPU"


def test_cpus_share_at_least_a_thousandth_of_themselves() -> None:
    graph = DeviceGraph([Device("a", callbacks={"resume": [Segment.cpu(1)]})])
    assert "must be 0, or at least a thousandth of the 1000 CPUs" in refused(
        lambda: Scenario.reference(graph, cpus=1000, shared_cpus=0.5)
    )
    shared = Scenario.reference(graph, cpus=1000, shared_cpus=1.0).run("old")
    assert shared.resume_ms.item() == pytest.approx(0.001, rel=0.02)


def test_many_busy_cpus_that_share_the_capacity_of_few_end_on_time() -> None:
    busy = {"resume": [Segment.cpu(1000)]}
    graph = DeviceGraph([Device(f"d{i}", callbacks=busy) for i in range(1000)])
    runs = Scenario.reference(graph, cpus=1000, shared_cpus=1.0).run("old")
    assert runs.resume_ms.item() == pytest.approx(1000.0, rel=0.02)


def test_a_frequency_that_leaves_no_speed_names_the_cluster() -> None:
    assert refused(lambda: Scenario(TOY, relative_freq=1e-9)) == (
        "relative_freq=1e-09: cluster cluster0 of capacity 1024 would run at 1e-09 of the reference CPU, "
        "limit: at least 1e-06"
    )


# Boards


def test_a_graph_that_breaks_its_own_rules_names_the_board(tmp_path: Path) -> None:

    text = (Path(torpor.__file__).parent / "boards" / "toy.toml").read_text()
    broken = tmp_path / "broken.toml"
    link = '[[dpm.link]]\nsupplier = "touch"\nconsumer = "i2c"\n\n[provenance]'
    broken.write_text(text.replace("[provenance]", link, 1))
    said = refused(lambda: Scenario(Board.load(broken)))
    assert said.startswith("board toy: dpm: links[touch--i2c]: closes a loop")


# Captures


def test_a_trace_whose_time_stands_still_is_refused(device_copy: Path) -> None:
    path = device_copy / "dev_50_async1.trace.gz"
    trace = gzip.decompress(path.read_bytes())
    path.write_bytes(gzip.compress(re.sub(rb" \d+\.\d+:", b" 5.000000:", trace)))
    text = refused(lambda: validate_captures(device_copy, runs=1))
    assert re.fullmatch(r".*dev_50_async1\.trace\.gz:\d+: suspend ends when it begins", text)


def test_a_trace_that_is_a_dangling_link_is_not_missing(device_copy: Path) -> None:
    path = device_copy / "dev_50_async1.trace.gz"
    path.unlink()
    path.symlink_to("nowhere")
    said = refused(lambda: validate_captures(device_copy, runs=1))
    assert said.endswith("dev_50_async1.trace.gz: is no regular file")


@pytest.mark.parametrize("cpus", [0, 1001, 10**30])
def test_truth_has_a_possible_number_of_cpus(device_copy: Path, cpus: int) -> None:
    path = device_copy / "truth.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"cpus": cpus}))
    said = refused(lambda: validate_captures(device_copy, runs=1))
    assert said.endswith(f"truth.json: cpus={cpus}: expected 1..1000")


def test_a_figure_of_truth_that_no_float_holds_only_differs(device_copy: Path) -> None:
    path = device_copy / "truth.json"
    told = json.loads(path.read_text())
    told["traces"]["dev_50_async1.trace"][0]["phases"]["dpm_resume"]["ms"] = 10**400
    path.write_text(json.dumps(told))
    differing = DeviceCapture.load(device_copy, "dev_50").disagreements
    assert len(differing) == 1
    assert "truth.json says 1000" in differing[0]
    assert len(differing[0]) < 150


def test_errors_cut_what_they_show_short(device_copy: Path) -> None:
    path = device_copy / "truth.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"kind": "x" * 100_000}))
    assert len(refused(lambda: validate_captures(device_copy, runs=1))) < 500
