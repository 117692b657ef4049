# SPDX-License-Identifier: MIT
"""Task populations drawn at random."""

import pytest

from refusals import refused
from torpor.board import Board
from torpor.distributions import LogNormal, Uniform
from torpor.freezer.population import Population
from torpor.freezer.scenario import Scenario

PINNED = [383, 222, 84]
WOKEN = ("epoll", "poll", "select", "inet_socket", "pipe", "other")


class TestGenerate:
    def test_is_the_same_for_the_same_seed_on_every_machine(self) -> None:
        population = Population.generate(tasks=1000, seed=7)
        assert population == Population.generate(tasks=1000, seed=7)
        assert population != Population.generate(tasks=1000, seed=8)
        assert [group.count for group in population][:3] == PINNED

    def test_has_every_task(self) -> None:
        population = Population.generate(tasks=500, zombies=7, kfreezable=3, knofreeze=20, d_tails=2)
        assert population.task_count == 532
        assert population.group("zombie").start == "zombie"
        assert population.group("d-tail").d_ends_us == LogNormal(median_us=2000, sigma=1)
        assert population.group("knofreeze").kind == "knofreeze"

    @pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
    def test_has_the_woken_share_that_was_asked_for(self, share: float) -> None:
        population = Population.generate(tasks=10_000, woken_share=share, kfreezable=0, knofreeze=0)
        asleep = {"futex", "binder", "sigtimedwait", "nanosleep", "af_unix"}
        woken = sum(group.count for group in population if group.site not in asleep)
        assert woken / 10_000 == pytest.approx(share, abs=0.015)

    @pytest.mark.parametrize("policy", ["v3.12", "v6.1", "v6.7"])
    @pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
    def test_every_kernel_from_3_12_on_wakes_the_share_that_was_asked_for(
        self, policy: str, share: float
    ) -> None:
        population = Population.generate(tasks=2000, woken_share=share, kfreezable=0, knofreeze=0)
        woken = sum(group.count for group in population if group.site in WOKEN)
        runs = Scenario(Board.load("toy"), population, bound=False).run(policy, threads=1)
        assert runs.freeze_task_switch_ins.tolist() == [woken]
        assert woken / 2000 == pytest.approx(share, abs=0.03)

    def test_of_text_is_the_same_as_of_parameters(self) -> None:
        text = "generate(tasks=300, woken_share=0.5, seed=3, zombies=4, kfreezable=0, knofreeze=0)"
        assert Population.from_text(text) == Population.generate(
            tasks=300, woken_share=0.5, seed=3, zombies=4, kfreezable=0, knofreeze=0
        )
        assert Population.from_text(" generate() ") == Population.generate()

    @pytest.mark.parametrize("quote", ["", "'"])
    def test_of_text_may_draw_the_end_of_waits(self, quote: str) -> None:
        drawn = f"{quote}uniform(low_us=0, high_us=5){quote}"
        population = Population.from_text(f"generate(d_tails=2, d_ends_us={drawn})")
        assert population.group("d-tail").d_ends_us == Uniform(low_us=0, high_us=5)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("generate", "write it as generate(parameter=value, ...); parameters are tasks, seed"),
            ("tasks=3", "write it as generate(parameter=value, ...)"),
            ("generate(3)", "write it as generate(parameter=value, ...)"),
            ("generate(tasks=x)", "write it as generate(parameter=value, ...)"),
            ("generate(**{})", "write it as generate(parameter=value, ...)"),
            ("generate(tasks=3", "write it as generate(parameter=value, ...)"),
            ("generate(tasks=1\0)", "write it as generate(parameter=value, ...)"),
            (5, "population 5: write it as generate(parameter=value, ...)"),
            ("draw(tasks=3)", "nothing is called 'draw'; write it as generate(parameter=value, ...)"),
            ("generate(task=3)", "no parameter 'task': it has tasks, seed, woken_share, zombies"),
            ("generate(task=3)", "d_tails, d_ends_us; did you mean tasks?"),
            ("generate(tasks=1, tasks=2)", "each parameter once"),
            ("generate(tasks=1.5)", "tasks=1.5: must be a whole number"),
            ("generate(woken_share=2)", "woken_share=2: must be 0 to 1"),
            ("generate(d_ends_us=gauss())", "unknown distribution 'gauss'"),
        ],
    )
    def test_of_text_says_what_is_wrong(self, text: str, message: str) -> None:
        assert message in refused(lambda: Population.from_text(text))

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("tasks", -1),
            ("tasks", 1.5),
            ("zombies", 10**8),
            ("woken_share", 1.1),
            ("woken_share", "x"),
            ("seed", -1),
        ],
    )
    def test_refuses_what_cannot_be(self, name: str, value: object) -> None:
        assert refused(lambda: Population.generate(**{name: value})).startswith(f"{name}={value!r}: must be")
