"""Replicates per second of the Nexus 10 freeze through Python, on one and on all cores."""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time

import torpor as tp

# Policy, and the task switch-ins of its freeze: the answer is checked before it is timed.
POLICIES = {"v3.9": 1000, "full": 25, "v6.7": 245}


def seconds_of(call: object, repeats: int) -> float:
    """Median wall time of a call."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()  # type: ignore[operator]
        times.append(time.perf_counter() - start)
    return statistics.median(times)


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
    runs, repeats = (50, 1) if quick else (10_000, 3)

    scenario = tp.freezer.Scenario(tp.Board.load("nexus-10"), opp_khz=200_000)
    cores = os.cpu_count() or 1
    for policy, switch_ins in POLICIES.items():
        progress = Progress()
        all_cores = scenario.run(policy, runs=runs, seed=1, threads=0, progress=progress)
        if progress.done != runs:
            sys.exit(f"progress stopped at {progress.done} of {runs}")
        if not (all_cores.freeze_task_switch_ins == switch_ins).all():
            sys.exit(f"{policy}: the answer is wrong")
        if scenario.run(policy, runs=runs, seed=1, threads=1) != all_cores:
            sys.exit("results depend on the number of threads")
        serial_s = seconds_of(lambda p=policy: scenario.run(p, runs=runs, seed=1, threads=1), repeats)
        parallel_s = seconds_of(
            lambda p=policy: scenario.run(p, runs=runs, seed=1, threads=0, progress=Progress()), repeats
        )
        print(
            f"{policy:5} {runs / serial_s:7.0f} replicates/s on 1 core, {runs / parallel_s:7.0f} on {cores} "
            f"({runs} in {parallel_s:.2f} s, {progress.calls} reports of progress), parallel efficiency "
            f"{serial_s / parallel_s / cores:.2f}"
        )


if __name__ == "__main__":
    main()
