# SPDX-License-Identifier: MIT
"""Fits the two factors on callbacks to published times of suspend and resume, each graph by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from torpor.dpm import Policy, Runs, Scenario
from torpor.experiments._share import Progress

__all__ = ["ROUNDS", "Fit", "Structure", "fit_scales", "fit_structure", "start_scales", "total_ms"]

ROUNDS = 12
"""Runs of a fit at most, each of all graphs."""

CLOSE_MS = 0.25

MISS_MS = 3.0
"""A graph that misses by more is reported."""

_STEP = 1.5
_FAR = 4.0
_LEAST, _MOST = 1e-3, 1e4
_APART = 0.25
_LONGEST = 2.0

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Fit:
    """What a fit found.

    Parameters
    ----------
    world : Scenario
        The scenario with the factors of each replicate.
    scales : float array, shape (runs, 2)
        Factors on suspend and resume callbacks.
    error_ms : float array, milliseconds, shape (runs, 2)
        Ours minus the published, of both sides.
    found : Runs
        The times with these factors.
    """

    world: Scenario
    scales: Array
    error_ms: Array
    found: Runs

    @property
    def missed(self) -> tuple[int, ...]:
        """Replicates of which a side misses by more than `MISS_MS`."""
        return tuple(int(r) for r in np.flatnonzero((np.abs(self.error_ms) > MISS_MS).any(axis=1)))


def start_scales(world: Scenario, runs: int) -> Array:
    """Return the factors that a scenario has before a fit, shape (runs, 2)."""
    if world.scales is not None:
        given = np.asarray(world.scales, dtype=np.float64)
        if given.ndim == 2:
            return given[np.arange(runs) % len(given)]
        return np.tile(given, (runs, 1))
    section = world.board.dpm if world.board is not None else None
    if section is None or section.scales is None:
        return np.ones((runs, 2))
    return np.tile([section.scales.suspend, section.scales.resume], (runs, 1))


def fit_scales(
    world: Scenario,
    target_ms: tuple[float, float],
    *,
    policy: Policy | str = "sync",
    runs: int,
    seed: int,
    threads: int = 0,
    rounds: int = ROUNDS,
    close_ms: float = CLOSE_MS,
    measure: Callable[[Runs], Array] | None = None,
    progress: Progress | None = None,
) -> Fit:
    """Find for each replicate the factors with which suspend and resume take so long in the mean over cycles.

    Both times rise with their factor by and large, but with steps down where the main thread comes to stand
    on another CPU. So: secants first, bisection of the bracket once they leave it or have had their turns,
    and the best pair seen is what counts.

    Parameters
    ----------
    world : Scenario
        Whose factors are the start.
    target_ms : pair of float, milliseconds
        Published suspend and resume.
    policy : Policy or str
        Whose times these are.
    runs, seed, threads : int
        As of ``Scenario.run``; the replicates fitted are those that a run with this seed sees.
    rounds : int
        Runs at most, at least 1.
    close_ms : float, milliseconds
        A side that is met so well is left alone.
    measure : callable or None
        Takes results, gives what is to meet the target, shape (runs, 2); None takes `total_ms`.
    progress : callable or None
        Called with (done, total), counting replicates of all rounds.

    Examples
    --------
    >>> from torpor.board import Board
    >>> fit = fit_scales(Scenario(Board.load("pixel-6"), cycles=2), (80.0, 60.0), runs=2, seed=1)
    >>> fit.scales.shape, bool((fit.scales > 0).all())
    ((2, 2), True)
    """
    target = np.asarray(target_ms, dtype=np.float64)
    measure = measure or total_ms
    search = _Search(np.clip(start_scales(world, runs), _LEAST, _MOST), close_ms)
    told = _Told(progress, (rounds + 1) * runs)
    for number in range(rounds):
        active = search.active
        if not active.any():
            break
        if number:
            search.step(secant=number <= rounds // 2)
        tried = replace(world, scales=search.at.tolist())
        taken = np.full((runs, 2), np.nan)
        for first, count in _stretches(active):
            part = tried.run(policy, runs=count, seed=seed, first=first, threads=threads)
            taken[first : first + count] = measure(part)
        told.add(runs)
        search.learn(taken - target)
    world = replace(world, scales=search.best.tolist())
    found = world.run(policy, runs=runs, seed=seed, threads=threads)
    told.end()
    return Fit(world, search.best, measure(found) - target, found)


def total_ms(runs: Runs) -> Array:
    """Mean suspend and resume of each replicate, milliseconds, shape (runs, 2)."""
    return np.stack([runs.suspend_ms.mean(axis=1), runs.resume_ms.mean(axis=1)], axis=1)


def _stretches(active: npt.NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """First and length of what is to be run: all at once while that is most of them."""
    if 2 * int(active.sum()) > len(active):
        yield 0, len(active)
        return
    edges = np.flatnonzero(np.diff(np.concatenate([[0], active.astype(np.int8), [0]])))
    for first, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        yield first, end - first


class _Told:
    """Progress of a fit."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0

    def add(self, count: int) -> None:
        self._done += count
        if self._progress is not None:
            self._progress(self._done, self._total)

    def end(self) -> None:
        self.add(self._total - self._done)


class _Search:
    """Root finding for many functions at once; all arrays have the shape of the start."""

    def __init__(self, start: Array, close_ms: float) -> None:
        self._close_ms = close_ms
        self.at = start.astype(np.float64)
        self.best = self.at.copy()
        self.best_error = np.full(len(start), np.inf)
        self._error = np.full(start.shape, np.nan)
        self._short = np.full(start.shape, np.nan)  # newest factor that is too short, and too long
        self._long = np.full(start.shape, np.nan)
        self._last: tuple[Array, Array] | None = None

    @property
    def active(self) -> npt.NDArray[np.bool_]:
        """Whether a replicate has not met both sides at once yet."""
        unmet: npt.NDArray[np.bool_] = self.best_error > self._close_ms
        return unmet

    def learn(self, error: Array) -> None:
        """Take in what the functions miss at the present points; NaN tells nothing."""
        # Sides are judged together: cycles follow each other, so each side moves the other a little.
        largest = np.abs(error).max(axis=1)
        better = largest < self.best_error
        self.best = np.where(better[:, None], self.at, self.best)
        self.best_error = np.where(better, largest, self.best_error)
        self._error = error
        self._short = np.where(error < 0, self.at, self._short)
        self._long = np.where(error > 0, self.at, self._long)

    def step(self, *, secant: bool) -> None:
        """Choose the next points."""
        low, high = np.fmin(self._short, self._long), np.fmax(self._short, self._long)
        bracketed = np.isfinite(self._short) & np.isfinite(self._long)
        chosen = np.where(bracketed, np.sqrt(low * high), self._grown())
        if self._last is not None and secant:
            at, error = self._last
            with np.errstate(invalid="ignore", divide="ignore"):
                line = self.at - self._error * (self.at - at) / (self._error - error)
            low = np.where(bracketed, low, self.at / _FAR)
            high = np.where(bracketed, high, self.at * _FAR)
            chosen = np.where((line > low) & (line < high), line, chosen)
        self._last = (self.at, self._error)
        near = np.abs(self._error) <= self._close_ms
        moved = np.where(near, self.at, np.clip(chosen, _LEAST, _MOST))
        self.at = np.where(self.active[:, None], moved, self.best)

    def _grown(self) -> Array:
        grown: Array = self.at * np.where(self._error < 0, _STEP, 1.0 / _STEP)
        return grown


@dataclass(frozen=True, eq=False)
class Structure:
    """What a fit of two parameters of the structure found.

    Parameters
    ----------
    values : pair of float
        The parameters.
    error_ms : pair of float, milliseconds
        Ours minus the published, in the mean over the graphs.
    evaluations : int
        Points that were tried, each with the factors of every graph fitted anew.
    scales : float array, shape (runs, 2)
        Factors found there.
    """

    values: tuple[float, float]
    error_ms: tuple[float, float]
    evaluations: int
    scales: Array


def fit_structure(
    make: Callable[[float, float], Scenario],
    start: tuple[float, float],
    *,
    sync_ms: tuple[float, float],
    target_ms: tuple[float, float],
    policy: Policy | str,
    runs: int,
    seed: int,
    threads: int = 0,
    evaluations: int = 9,
    close_ms: float = 1.0,
    limits: tuple[tuple[float, float], tuple[float, float]],
    progress: Progress | None = None,
) -> Structure:
    """Find two positive parameters with which a policy takes so long, both factors fitted anew at each point.

    Broyden's method on the logarithms, with steps of at most a factor of `_LONGEST`; the best point counts.

    Parameters
    ----------
    make : callable
        Scenario of the two parameters.
    start : pair of float
        First point.
    sync_ms, target_ms : pair of float, milliseconds
        Published suspend and resume: one after the other, and with the policy.
    policy : Policy or str
        Whose times are to meet `target_ms` in the mean over the graphs.
    runs, seed, threads : int
        As of ``Scenario.run``.
    evaluations : int
        Points to try at most, at least 3.
    close_ms : float, milliseconds
        What is good enough on both sides.
    limits : pair of pairs of float
        Least and most of each parameter.
    progress : callable or None
        Called with (done, total) of the points.
    """
    low, high = np.log(np.asarray(limits, dtype=np.float64)).T
    known: list[tuple[Array, Array, Array]] = []

    def missed(point: Array) -> Array:
        world = make(*(float(value) for value in np.exp(point)))
        if known:
            world = replace(world, scales=known[-1][2].tolist())
        fit = fit_scales(world, sync_ms, runs=runs, seed=seed, threads=threads, close_ms=close_ms / 2)
        taken = fit.world.run(policy, runs=runs, seed=seed, threads=threads)
        error: Array = total_ms(taken).mean(axis=0) - np.asarray(target_ms)
        known.append((point, error, fit.scales))
        if progress is not None:
            progress(len(known), evaluations)
        return error

    at = np.clip(np.log(np.asarray(start, dtype=np.float64)), low, high)
    error = missed(at)
    # Forward differences, long enough to stand out from single callbacks that end up elsewhere.
    slopes = np.stack([(missed(at + step) - error) / _APART for step in _APART * np.eye(2)], axis=1)
    while len(known) < evaluations and np.abs(error).max() > close_ms:
        step = np.linalg.lstsq(slopes, -error, rcond=None)[0]
        step *= min(1.0, np.log(_LONGEST) / max(float(np.abs(step).max()), 1e-12))
        step = np.clip(at + step, low, high) - at
        length = float(step @ step)
        if length < 1e-8:
            break
        at = at + step
        new = missed(at)
        slopes = slopes + np.outer(new - error - slopes @ step, step) / length
        error = new
    if progress is not None:
        progress(evaluations, evaluations)
    point, best, scales = min(known, key=lambda one: float(np.abs(one[1]).max()))
    first, second = np.exp(point)
    return Structure((float(first), float(second)), (float(best[0]), float(best[1])), len(known), scales)
