# SPDX-License-Identifier: MIT
"""Several policies on one scenario."""

from __future__ import annotations

from collections.abc import Sequence

from torpor._checks import Progress, listener, shown
from torpor._core import ConfigError
from torpor.dpm.policies import Policy, as_policy
from torpor.dpm.runs import Runs
from torpor.dpm.scenario import Scenario

__all__ = ["run_policies"]


def run_policies(
    scenario: Scenario,
    policies: Sequence[Policy | str],
    *,
    runs: int = 1,
    seed: int = 0,
    first: int = 0,
    threads: int = 0,
    progress: Progress | None = None,
) -> dict[str, Runs]:
    """Run several policies on the same worlds.

    Parameters
    ----------
    scenario : Scenario
        Everything but the policy.
    policies : sequence of Policy or str
        Policies or their text forms; one that comes twice runs once.
    runs, seed, first, threads : int
        As of :meth:`Scenario.run`.
    progress : callable or None
        Called with (done, total) a few times a second, of the replicates of all policies together.

    Returns
    -------
    dict of str to Runs
        By the text of the policy, in their order.

    Raises
    ------
    ConfigError
        As :meth:`Scenario.run`; for no policies.

    Examples
    --------
    >>> from torpor.board import Board
    >>> results = run_policies(Scenario(Board.load("toy"), cycles=2), ["sync", "old"], runs=3)
    >>> {policy: result.runs for policy, result in results.items()}
    {'sync()': 3, 'old()': 3}
    """
    if not isinstance(scenario, Scenario):
        raise ConfigError(f"scenario={shown(scenario)} is no Scenario of the dpm family")
    if isinstance(policies, str) or not isinstance(policies, Sequence) or not policies:
        raise ConfigError(f"policies={shown(policies)} is no sequence of at least one policy")
    chosen = list(dict.fromkeys(as_policy(policy) for policy in policies))
    tell = listener("progress", progress)
    results: dict[str, Runs] = {}
    for number, policy in enumerate(chosen):

        def told(done: int, total: int, number: int = number) -> object:
            return None if tell is None else tell(number * total + done, len(chosen) * total)

        results[str(policy)] = scenario.run(
            policy, runs=runs, seed=seed, first=first, threads=threads, progress=told if tell else None
        )
    return results
