"""One call that suspends and resumes 30 random phones 100 times each under five policies."""

from __future__ import annotations

import argparse
import os
import sys
import time

import torpor as tp

POLICIES = ("sync", "old", "breadth-first", "breadth-first(eas_off=resume)", "up-6.17")


class Progress:
    """Counts what a call reports."""

    def __init__(self) -> None:
        self.calls = 0
        self.done = 0

    def __call__(self, done: int, total: int) -> None:
        self.calls += 1
        self.done = done


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a short smoke run")
    quick = parser.parse_args().quick
    graphs, cycles = (3, 2) if quick else (30, 98)

    scenario = tp.dpm.Scenario(tp.Board.load("pixel-6-like"), warmup_cycles=2, cycles=cycles)
    seconds = {}
    results = {}
    for threads in (1, 0):
        progress = Progress()
        start = time.perf_counter()
        results[threads] = tp.dpm.run_policies(
            scenario, POLICIES, runs=graphs, seed=1, threads=threads, progress=progress
        )
        seconds[threads] = time.perf_counter() - start
        if progress.done != graphs * len(POLICIES):
            sys.exit(f"progress stopped at {progress.done} of {graphs * len(POLICIES)}")
    if results[0] != results[1]:
        sys.exit("results depend on the number of threads")
    for policy, runs in results[0].items():
        print(f"{policy:32} suspend {runs.suspend_ms.mean():6.1f} ms, resume {runs.resume_ms.mean():6.1f} ms")
    cores = os.cpu_count() or 1
    count = graphs * (cycles + 2) * len(POLICIES)
    print(
        f"{count} cycles in {seconds[1]:.2f} s on 1 core, {seconds[0]:.2f} s on {cores} "
        f"({progress.calls} reports of progress): {seconds[0] / count * 1e3:.2f} ms a cycle, "
        f"parallel efficiency "
        f"{seconds[1] / seconds[0] / cores:.2f}"
    )


if __name__ == "__main__":
    main()
