# SPDX-License-Identifier: MIT
"""Times that are drawn: text and back, limits, draws."""

import pickle

import numpy as np
import pytest

from torpor import _core
from torpor.distributions import (
    DISTRIBUTIONS,
    Constant,
    Distribution,
    Empirical,
    Exponential,
    LogNormal,
    Normal,
    Pareto,
    Uniform,
    parse_distribution,
)

ALL = [
    Constant(value_us=2.5),
    Uniform(low_us=0, high_us=100),
    Exponential(mean_us=300),
    Normal(mean_us=100, deviation_us=10),
    LogNormal(median_us=2000, sigma=1),
    Pareto(scale_us=100, shape=1.5),
    Empirical(samples_us=[10, 20.5, 40]),
]


@pytest.mark.parametrize("distribution", ALL, ids=lambda d: d.text_name)
class TestEveryDistribution:
    def test_reads_back_from_text_repr_and_pickle(self, distribution: Distribution) -> None:
        names = {kind.__name__: kind for kind in DISTRIBUTIONS.values()}
        for other in (
            parse_distribution(str(distribution)),
            eval(repr(distribution), names),
            pickle.loads(pickle.dumps(distribution)),
        ):
            assert other == distribution
            assert hash(other) == hash(distribution)

    def test_draws_with_the_engine_in_microseconds(self, distribution: Distribution) -> None:
        draws = distribution.sample_us(2001, _core.RandomStream("x", seed=1))
        again = distribution.sample_us(2001, _core.RandomStream("x", seed=1))
        assert draws.tolist() == again.tolist()
        medians = dict(zip(DISTRIBUTIONS, (2.5, 50, 208, 100, 2000, 158.7, 20.5), strict=True))
        assert np.median(draws) == pytest.approx(medians[distribution.text_name], rel=0.06)

    def test_takes_two_words_a_draw(self, distribution: Distribution) -> None:
        stream = _core.RandomStream("x", seed=1)
        distribution.sample_us(5, stream)
        assert stream.position == 10


def test_there_is_no_distribution_that_the_tests_leave_out() -> None:
    assert [type(distribution) for distribution in ALL] == list(DISTRIBUTIONS.values())


def test_a_draw_below_zero_counts_as_zero() -> None:
    draws = Normal(mean_us=0, deviation_us=1).sample_us(100, _core.RandomStream("x", seed=1))
    assert draws.min() == 0.0


def test_a_number_is_a_constant() -> None:
    assert parse_distribution(np.int64(7)) == Constant(value_us=7)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("lognormal(median_us=0, sigma=1)", "LogNormal.median_us=0.0: must be above 0"),
        ("lognormal(median_us=1, sigma=81)", "LogNormal.sigma=81.0: must be 0 to 80"),
        ("uniform(low_us=5, high_us=4)", "Uniform.high_us=4.0: must be at least low_us=5"),
        ("uniform(low_us=-1, high_us=4)", "Uniform.low_us=-1.0: must be at least 0"),
        ("exponential(mean_us=0)", "Exponential.mean_us=0.0: must be above 0"),
        ("pareto(scale_us=1, shape=0)", "Pareto.shape=0.0: must be at least 0.06"),
        ("empirical(samples_us=())", "Empirical.samples_us=(): must be a list of at least one time"),
        ("empirical(samples_us=3)", "Empirical.samples_us=3.0: must be a list of at least one time"),
        ("empirical(samples_us=(1, -2))", "must hold no negative time"),
        ("constant(value_us='x')", "Constant.value_us='x': must be a number"),
        (True, "Constant.value_us=True: must be a number"),
        (None, "Constant.value_us=None: must be a number"),
        (float("nan"), "Constant.value_us=nan: must be finite"),
        (10**400, "must be finite"),
        (1e300, "must be finite and at most 4503599627370496"),
        (-1, "Constant.value_us=-1.0: must be at least 0"),
        ("gauss(mean_us=1)", "unknown distribution 'gauss': known are constant, uniform"),
        ("uniform(low_us=1)", "distribution uniform lacks its parameter high_us"),
        (
            "uniform(low_us=1, top_us=2)",
            "distribution uniform has no parameter 'top_us': it has low_us, high_us",
        ),
        ("uniform(1, 2)", "write it as name"),
        ("uniform", "write it as name"),
        ("uniform(low_us=1, low_us=2)", "write it as name"),
        ("uniform(low_us=open('x'), high_us=2)", "write it as name"),
        ("", "write it as name"),
        ("(" * 5000, "write it as name"),
    ],
)
def test_what_cannot_be_is_refused(value: object, message: str) -> None:
    with pytest.raises(_core.ConfigError) as caught:
        parse_distribution(value)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 200
