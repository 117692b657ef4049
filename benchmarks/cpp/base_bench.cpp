// SPDX-License-Identifier: MIT
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <random>

#include "torpor/base/distributions.hpp"

// One item is one draw. Goal: within a factor of two of the standard library's generator, which can neither
// jump nor give the same distributions on two machines.
namespace {

using torpor::RandomStream;
using torpor::StreamKey;

constexpr StreamKey kKey{1, 0};

// Every contender is first asked for its mean over many draws.
template <class Draw>
bool mean_is_right(const Draw& draw, double expected, double deviation) {
    constexpr int kDraws = 200000;
    double sum = 0.0;
    for (int i = 0; i < kDraws; ++i) {
        sum += static_cast<double>(draw());
    }
    return std::abs(sum / kDraws - expected) < 6.0 * deviation / std::sqrt(static_cast<double>(kDraws));
}

template <class Draw>
void time_draws(benchmark::State& state, const Draw& draw, double expected, double deviation) {
    if (!mean_is_right(draw, expected, deviation)) {
        state.SkipWithError("the mean of the draws is wrong");
        return;
    }
    for (auto _ : state) {
        benchmark::DoNotOptimize(draw());
    }
    state.SetItemsProcessed(state.iterations());
}

constexpr double kMiddleOf64Bits = 9223372036854775808.0;
constexpr double kDeviationOf64Bits = 5.3e18;

void philox_u64(benchmark::State& state) {
    RandomStream stream{kKey, "bench"};
    if (torpor::philox4x32_10({0, 0, 0, 0}, {0, 0})[0] != 0x6627e8d5U) {
        state.SkipWithError("not Philox-4x32-10");
        return;
    }
    time_draws(
        state, [&] { return stream.next_u64(); }, kMiddleOf64Bits, kDeviationOf64Bits);
}
BENCHMARK(philox_u64);

void std_mt19937_64(benchmark::State& state) {
    std::mt19937_64 engine{1};
    time_draws(
        state, [&] { return engine(); }, kMiddleOf64Bits, kDeviationOf64Bits);
}
BENCHMARK(std_mt19937_64);

// What a model pays for a consumer that draws once per replicate.
void stream_and_first_draw(benchmark::State& state) {
    const torpor::StreamId consumer{"bench"};
    std::uint64_t replicate = 0;
    time_draws(
        state,
        [&] {
            return RandomStream{{1, replicate++}, consumer}.next_u64();
        },
        kMiddleOf64Bits, kDeviationOf64Bits);
}
BENCHMARK(stream_and_first_draw);

void uniform(benchmark::State& state) {
    RandomStream stream{kKey, "bench"};
    time_draws(
        state, [&] { return stream.uniform01(); }, 0.5, 0.289);
}
BENCHMARK(uniform);

void std_uniform(benchmark::State& state) {
    std::mt19937_64 engine{1};
    std::uniform_real_distribution<double> distribution;
    time_draws(
        state, [&] { return distribution(engine); }, 0.5, 0.289);
}
BENCHMARK(std_uniform);

void uniform_int(benchmark::State& state) {
    RandomStream stream{kKey, "bench"};
    const torpor::UniformInt distribution{1, 1000};
    time_draws(
        state, [&] { return distribution(stream); }, 500.5, 289.0);
}
BENCHMARK(uniform_int);

void exponential(benchmark::State& state) {
    RandomStream stream{kKey, "bench"};
    const torpor::Exponential distribution{5.0};
    time_draws(
        state, [&] { return sample(distribution, stream); }, 5.0, 5.0);
}
BENCHMARK(exponential);

void std_exponential(benchmark::State& state) {
    std::mt19937_64 engine{1};
    std::exponential_distribution<double> distribution{0.2};
    time_draws(
        state, [&] { return distribution(engine); }, 5.0, 5.0);
}
BENCHMARK(std_exponential);

void lognormal(benchmark::State& state) {
    RandomStream stream{kKey, "bench"};
    const torpor::LogNormal distribution{1.0, 0.5};
    time_draws(
        state, [&] { return sample(distribution, stream); }, std::exp(0.125), 0.61);
}
BENCHMARK(lognormal);

void std_lognormal(benchmark::State& state) {
    std::mt19937_64 engine{1};
    std::lognormal_distribution<double> distribution{0.0, 0.5};
    time_draws(
        state, [&] { return distribution(engine); }, std::exp(0.125), 0.61);
}
BENCHMARK(std_lognormal);

}  // namespace

BENCHMARK_MAIN();
