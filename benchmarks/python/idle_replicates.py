"""Replicates per second of the HiKey scenario through Python, on one and on all cores."""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time

import numpy as np

import torpor as tp


def seconds_of(call: object, repeats: int) -> float:
    """Median wall time of a call."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()  # type: ignore[operator]
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a short smoke run")
    quick = parser.parse_args().quick
    runs, repeats = (20, 1) if quick else (1000, 5)

    board = tp.Board.load("hikey").with_value("tick.hz", 1000)
    scenario = tp.idle.Scenario(
        board, tp.idle.IpiTimerBurst(cpu=7, sender=0, jitter_us=60.0), duration_s=10.0
    )
    for policy in ("menu(version=4.18)", "menu(version=6.1.192)", "teo(version=6.1)"):
        one = scenario.run(policy, runs=runs, seed=1, threads=1)
        all_cores = scenario.run(policy, runs=runs, seed=1, threads=0)
        if not np.array_equal(one.residency_ns, all_cores.residency_ns):
            sys.exit("results depend on the number of threads")
        serial_s = seconds_of(lambda p=policy: scenario.run(p, runs=runs, seed=1, threads=1), repeats)
        parallel_s = seconds_of(lambda p=policy: scenario.run(p, runs=runs, seed=1, threads=0), repeats)
        print(
            f"{policy:24} {runs / serial_s:8.0f} replicates/s on 1 core, {runs / parallel_s:8.0f} on "
            f"{os.cpu_count()}, parallel efficiency {serial_s / parallel_s / (os.cpu_count() or 1):.2f}"
        )

    imports = seconds_of(
        lambda: subprocess.run([sys.executable, "-c", "import torpor"], check=True), 1 if quick else 5
    )
    bare = seconds_of(
        lambda: subprocess.run([sys.executable, "-c", "import numpy, pandas, scipy.stats"], check=True),
        1 if quick else 5,
    )
    print(f"import torpor {imports:.2f} s, of which its dependencies {bare:.2f} s")


if __name__ == "__main__":
    main()
