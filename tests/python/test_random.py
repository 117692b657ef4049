# SPDX-License-Identifier: MIT
"""Random streams, distributions, errors and the replicate layer, as Python sees them."""

import _thread
import copy
import pickle
import threading

import numpy as np
import pytest
from scipy import stats

from torpor import _core
from torpor._core import RandomStream

DRAWS = 50_000
# A test of fixed draws either always passes or never; the level only says how odd a right generator may look.
LEVEL = 1e-3


def stream(consumer: str = "device:ufs", seed: int = 2024, replicate: int = 0) -> RandomStream:
    return RandomStream(consumer, seed=seed, replicate=replicate)


def philox(counter: list[int], key: list[int]) -> list[int]:
    """Philox-4x32-10 once more, straight from the paper."""
    c, k = list(counter), list(key)
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ k[0], b & 0xFFFFFFFF, (a >> 32) ^ c[3] ^ k[1], a & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def words(consumer: str, seed: int, replicate: int, blocks: int) -> list[int]:
    """The words of a stream from its written definition and the stable hash."""
    fields = b"".join(b"u" + value.to_bytes(8, "little") for value in (seed, replicate))
    key = _core.stable_hash(fields)
    name = _core.stable_hash(consumer.encode())
    low = 0xFFFFFFFF
    return [w for n in range(blocks) for w in philox([n, 0, name & low, name >> 32], [key & low, key >> 32])]


def test_philox_here_gives_the_published_answer() -> None:
    assert philox([0] * 4, [0] * 2) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert philox([2**32 - 1] * 4, [2**32 - 1] * 2) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]


def test_stable_hash_gives_fixed_numbers() -> None:
    assert _core.stable_hash(b"a") == 0x02C0BDBF481420F8
    assert _core.stable_hash(b"") != _core.stable_hash(b"\0")


@pytest.mark.parametrize(("seed", "replicate"), [(0, 0), (1, 2), (2**64 - 1, 2**64 - 1)])
def test_a_stream_is_what_its_definition_says(seed: int, replicate: int) -> None:
    drawn = stream("timer", seed, replicate).uint32(40)
    assert drawn.dtype == np.uint32
    assert drawn.tolist() == words("timer", seed, replicate, 10)


def test_fixed_words() -> None:
    assert stream("timer", 1, 2).uint32(4).tolist() == [0x3426C7C6, 0xCC8D9FE6, 0x9D10627B, 0xB85FE3C3]


def test_64_bits_are_two_words_low_first() -> None:
    w = stream().uint32(20).astype(np.uint64)
    assert stream().uint64(10).tolist() == (w[0::2] | w[1::2] << np.uint64(32)).tolist()


def test_fractions_are_the_upper_bits() -> None:
    bits = stream().uint64(100)
    assert stream().uniform01(100).tolist() == [(b >> 11) * 2.0**-53 for b in bits.tolist()]
    assert stream().uniform_open(100).tolist() == [((b >> 12) + 0.5) * 2.0**-52 for b in bits.tolist()]


def test_a_new_consumer_moves_no_draw_of_another() -> None:
    alone = stream("device:ufs").uniform01(100)
    mine, newcomer = stream("device:ufs"), stream("device:wifi")
    for expected in alone:
        newcomer.uint32(3)
        assert mine.uniform01(1)[0] == expected


def test_streams_of_two_consumers_are_uncorrelated() -> None:
    r = np.corrcoef([stream(f"device:{i}").uniform01(DRAWS) for i in range(6)])
    assert np.abs(r - np.eye(6)).max() < 5 / np.sqrt(DRAWS)


def test_first_draws_of_many_replicates_are_uniform() -> None:
    first = [stream(replicate=i).uniform01(1)[0] for i in range(5000)]
    assert stats.kstest(first, "uniform").pvalue > LEVEL


def test_first_draws_of_many_consumers_are_uniform() -> None:
    first = [stream(f"device:{i}").uniform01(1)[0] for i in range(5000)]
    assert stats.kstest(first, "uniform").pvalue > LEVEL


@pytest.mark.parametrize(
    ("method", "arguments", "reference"),
    [
        ("uniform", {"low": 2.0, "high": 6.0}, stats.uniform(2.0, 4.0)),
        ("exponential", {"mean": 250.0}, stats.expon(scale=250.0)),
        ("normal", {"mean": 10.0, "deviation": 2.0}, stats.norm(10.0, 2.0)),
        ("lognormal", {"median": 60.0, "sigma": 1.8}, stats.lognorm(1.8, scale=60.0)),
        ("pareto", {"scale": 5.0, "shape": 1.2}, stats.pareto(1.2, scale=5.0)),
    ],
)
class TestDistributions:
    def test_has_the_distribution_of_its_name(self, method, arguments, reference) -> None:
        assert stats.kstest(getattr(stream(), method)(DRAWS, **arguments), reference.cdf).pvalue > LEVEL

    def test_is_the_quantile_function_of_the_uniform_draws(self, method, arguments, reference) -> None:
        drawn = getattr(stream(), method)(DRAWS, **arguments)
        u = stream().uniform_open(DRAWS)
        np.testing.assert_allclose(drawn, reference.ppf(u), rtol=3e-13, atol=1e-12)

    def test_takes_two_words_a_draw(self, method, arguments, reference) -> None:
        s = stream()
        getattr(s, method)(7, **arguments)
        assert s.position == 14


def test_integers_are_equally_likely() -> None:
    counts = np.bincount(stream().integers(DRAWS, low=0, high=9), minlength=10)
    assert stats.chisquare(counts).pvalue > LEVEL


def test_samples_are_equally_likely() -> None:
    values, counts = np.unique(stream().empirical(DRAWS, samples=[3.0, 1.0, 2.0]), return_counts=True)
    assert values.tolist() == [1.0, 2.0, 3.0]
    assert stats.chisquare(counts).pvalue > LEVEL


def test_a_quantile_table_is_straight_between_its_points() -> None:
    points = [(0.0, 10.0), (0.5, 20.0), (1.0, 100.0)]
    drawn = stream().empirical_quantiles(1000, points=points)
    expected = np.interp(stream().uniform_open(1000), *zip(*points, strict=True))
    np.testing.assert_allclose(drawn, expected, rtol=1e-14)


def test_a_stream_shows_itself_so_that_it_reads_back() -> None:
    s = stream("it's", 7, 3)
    s.uint32(5)
    again = eval(repr(s))
    assert again == s
    assert again.uint64(3).tolist() == s.uint64(3).tolist()


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])
def test_a_copied_stream_goes_on_where_the_first_stood(duplicate) -> None:
    s = stream()
    s.uint32(5)
    again = duplicate(s)
    assert again == s
    assert again.uint32(9).tolist() == s.uint32(9).tolist()


def test_streams_that_stand_at_different_places_differ() -> None:
    s = stream()
    s.uint32(1)
    assert s != stream()
    assert stream("a") != stream("b")


def test_errors_form_one_tree() -> None:
    for name in ("ConfigError", "ModelError", "InternalError", "Cancelled"):
        assert issubclass(getattr(_core, name), _core.Error)
    assert issubclass(_core.Error, RuntimeError)
    assert issubclass(_core.ConfigError, ValueError)


def test_a_config_error_names_key_value_and_limit() -> None:
    with pytest.raises(_core.ConfigError, match=r"^mean=-1: must be above 0 and at most 1e150$") as caught:
        stream().exponential(1, mean=-1.0)
    assert caught.value.key == "mean"
    assert pickle.loads(pickle.dumps(caught.value)).key == "mean"
    assert _core.ConfigError("raised in Python").key == ""


def test_a_negative_size_is_refused() -> None:
    with pytest.raises(_core.ConfigError, match=r"^size=-1: must be at least 0$"):
        stream().uint32(-1)


def test_compiler_and_version_are_told() -> None:
    assert _core.__version__.count(".") == 2
    assert " " in _core.__compiler__


def test_replicates_are_the_same_for_any_number_of_threads() -> None:
    one = _core.uniform_means(300, draws=100, seed=1, threads=1)
    for threads in (2, 4, 0):
        assert _core.uniform_means(300, draws=100, seed=1, threads=threads).tolist() == one.tolist()
    assert _core.uniform_means(100, draws=100, seed=1, first=200).tolist() == one[200:].tolist()


def test_a_replicate_is_the_stream_of_its_number() -> None:
    means = _core.uniform_means(3, draws=10, seed=5)
    for i, mean in enumerate(means):
        assert mean == pytest.approx(stream("uniform", 5, i).uniform01(10).mean(), rel=1e-14)


@pytest.mark.parametrize("replicates", [0, -2])
def test_no_replicates_are_refused(replicates: int) -> None:
    with pytest.raises(_core.ConfigError, match=f"^replicates={replicates}: must be at least 1$"):
        _core.uniform_means(replicates, draws=1, seed=1)


ENDLESS = 10**15


def test_ctrl_c_stops_the_workers() -> None:
    timer = threading.Timer(0.1, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        _core.uniform_means(4, draws=ENDLESS, seed=1, threads=2)
    timer.join()


def test_progress_hears_the_end_in_the_calling_thread() -> None:
    calls = []

    def progress(done: int, total: int) -> None:
        calls.append((done, total, threading.get_ident()))

    _core.uniform_means(5, draws=1, seed=1, progress=progress)
    assert calls[-1] == (5, 5, threading.get_ident())


def test_progress_that_answers_false_cancels() -> None:
    with pytest.raises(_core.Cancelled, match=r"^stopped after 0 of 4 replicates$"):
        _core.uniform_means(4, draws=ENDLESS, seed=1, threads=2, progress=lambda done, total: False)


def test_an_exception_of_progress_comes_out_as_it_is() -> None:
    def progress(done: int, total: int) -> None:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        _core.uniform_means(4, draws=ENDLESS, seed=1, threads=2, progress=progress)
