# SPDX-License-Identifier: MIT
from __future__ import annotations

import numpy as np
import pytest

from torpor.board import Board
from torpor.dpm import Device, DeviceGraph, Scenario, Segment
from torpor.experiments._suspend_fit import (
    MISS_MS,
    fit_scales,
    fit_structure,
    start_scales,
    total_ms,
)
from torpor.experiments.suspend_2025 import phases_ms, scenario


def phone(cycles: int = 3) -> Scenario:
    return Scenario(Board.load("pixel-6"), cycles=cycles)


def one_device() -> Scenario:
    callbacks = {"suspend": [Segment.sleep(1000)], "resume": [Segment.sleep(2000)]}
    return Scenario.reference(DeviceGraph([Device("a", callbacks=callbacks)]))


def test_the_factors_of_a_single_sleep_are_exact() -> None:
    fit = fit_scales(one_device(), (8.0, 3.0), runs=1, seed=1, close_ms=1e-6)
    assert fit.scales[0] == pytest.approx([8.0, 1.5])
    assert not fit.missed


def test_every_graph_meets_its_target_with_factors_of_its_own() -> None:
    fit = fit_scales(phone(), (107.0, 75.0), runs=8, seed=5)
    assert not fit.missed
    assert np.abs(fit.error_ms).max() < MISS_MS
    assert (fit.scales > 0).all()
    assert len(np.unique(fit.scales[:, 0])) == 8


def test_the_world_of_a_fit_gives_the_times_that_it_found() -> None:
    fit = fit_scales(phone(), (107.0, 75.0), runs=4, seed=5)
    again = fit.world.run("sync", runs=4, seed=5)
    assert (total_ms(again) == total_ms(fit.found)).all()


def test_a_target_that_no_factor_reaches_is_reported_not_hidden() -> None:
    empty = Scenario(Board.load("pixel-6"), DeviceGraph([Device("a")]), cycles=2)
    fit = fit_scales(empty, (107.0, 75.0), runs=2, seed=1, rounds=4)
    assert fit.missed == (0, 1)
    assert (fit.scales > 0).all()


def test_a_target_below_all_overheads_keeps_the_factors_positive() -> None:
    fit = fit_scales(phone(2), (0.01, 0.01), runs=2, seed=1, rounds=6)
    assert (fit.scales > 0).all()


def test_the_start_is_that_of_each_replicate() -> None:
    world = phone()
    assert start_scales(world, 2).tolist() == [[1.0, 1.0], [1.0, 1.0]]
    given = Scenario(Board.load("pixel-6"), scales=[(1.0, 2.0), (3.0, 4.0)])
    assert start_scales(given, 2).tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_a_fit_can_be_of_another_policy_and_of_single_phases() -> None:
    fit = fit_scales(
        scenario(), (200.0, 300.0), policy="old", runs=3, seed=2, close_ms=1.0, measure=phases_ms
    )
    ours = phases_ms(fit.world.run("old", runs=3, seed=2))
    assert ours == pytest.approx(np.tile([200.0, 300.0], (3, 1)), abs=1.0)


def test_where_times_jump_the_best_pair_seen_is_kept_and_the_rest_reported() -> None:
    fit = fit_scales(phone(), (60.0, 60.0), policy="breadth-first", runs=6, seed=2, close_ms=0.01)
    errors = total_ms(fit.world.run("breadth-first", runs=6, seed=2)) - 60.0
    assert (errors == fit.error_ms).all()
    assert fit.missed == tuple(np.flatnonzero(np.abs(errors).max(axis=1) > MISS_MS))
    assert np.abs(errors).max() < 15.0


def test_two_parameters_are_found_again() -> None:
    def make(down: float, up: float) -> Scenario:
        callbacks = {
            "suspend": [Segment.sleep(1000 * down), Segment.cpu(1000)],
            "resume": [Segment.sleep(1000 * up), Segment.cpu(1000)],
        }
        devices = [Device(name, callbacks=callbacks) for name in "abcd"]
        return Scenario.reference(DeviceGraph(devices), cpus=1)

    # Four devices one after the other sleep 4 times as long as all of them together.
    sync = make(3.0, 2.0).run("sync")
    old = make(3.0, 2.0).run("old")
    found = fit_structure(
        make,
        (1.0, 1.0),
        sync_ms=(sync.suspend_ms.item(), sync.resume_ms.item()),
        target_ms=(old.suspend_ms.item(), old.resume_ms.item()),
        policy="old",
        runs=1,
        seed=1,
        close_ms=0.01,
        evaluations=40,
        limits=((0.1, 50.0), (0.1, 50.0)),
    )
    assert found.values == pytest.approx((3.0, 2.0), rel=0.05)


def test_progress_of_a_fit_ends_at_its_total() -> None:
    seen: list[tuple[int, int]] = []
    fit_scales(
        one_device(), (8.0, 3.0), runs=1, seed=1, progress=lambda done, total: seen.append((done, total))
    )
    assert seen[-1][0] == seen[-1][1]
