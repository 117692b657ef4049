# SPDX-License-Identifier: MIT
"""The model's side of a validation: each recorded series run, and what is compared taken from the run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from torpor._core import ConfigError
from torpor.freezer._capture_scenario import SplitCosts, scenario_of
from torpor.freezer.capture import WAIT_CHILD, Capture, Series
from torpor.freezer.runs import Runs


@dataclass(frozen=True)
class Prediction:
    """What the model does with one series."""

    runs: Runs
    wakeups: dict[str, int]
    refrigerator: int
    chains: tuple[tuple[int, ...], tuple[int, ...]]

    @property
    def freeze_switches(self) -> int:
        return int(self.runs.freeze_switches[0])

    @property
    def thaw_switches(self) -> int:
        return int(self.runs.thaw_switches[0])


@dataclass(frozen=True)
class Model:
    """The freezer model of one capture; without costs only its counts mean something."""

    folder: Path
    capture: Capture
    policy: str
    split: SplitCosts | None

    def run(self, series: Series, walker_wake: str = "tail", preempt: str | None = None) -> Runs:
        """Run one cycle of the series; `preempt` None is what fits the capture's clock."""
        # With several CPUs on one clock the walker's time stands still while others run: all that it has
        # woken has run before its sleep begins.
        chosen = preempt or ("none" if self.capture.cpus == 1 else "full")
        scenario = scenario_of(self.capture, series, self.split, preempt=chosen, walker_wake=walker_wake)
        return scenario.run(self.policy, threads=1)

    def predict(self, series: Series) -> Prediction:
        """Predict one cycle of the series, which the model must get frozen."""
        runs = self.run(series)
        if not bool(runs.frozen[0]):
            raise ConfigError(f"{self.folder}: {series.name}: the model does not get these tasks frozen")
        tasks = runs.tasks()
        interrupted = tasks.groupby("group")["interrupted"].sum().to_dict()
        wakeups: dict[str, int] = {}
        for site in series.sites:
            name = "wait" if site == WAIT_CHILD else site
            wakeups[name] = wakeups.get(name, 0) + int(interrupted.get(site, 0))
        chains: list[list[int]] = [[], []]
        loop = 0
        for event, value in runs.timeline().to_frame()[["event", "value"]].itertuples(index=False):
            if event == "loop_begin":
                loop = int(value)
            elif event == "sleep_begin":
                chains[loop].append(int(value) // 1000)
        return Prediction(
            runs, wakeups, int((tasks["state"] == "frozen").sum()), (tuple(chains[0]), tuple(chains[1]))
        )
