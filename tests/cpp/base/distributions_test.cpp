// SPDX-License-Identifier: MIT
#include "torpor/base/distributions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace torpor {
namespace {

constexpr int kDraws = 100000;

RandomStream stream_of(const char* name) {
    return RandomStream{{2024, 0}, name};
}

std::vector<double> draw(const Distribution& distribution, int count, const char* name) {
    RandomStream stream = stream_of(name);
    std::vector<double> values;
    for (int i = 0; i < count; ++i) {
        values.push_back(sample(distribution, stream));
    }
    return values;
}

struct Moments {
    double mean;
    double deviation;
};

Moments moments(const std::vector<double>& values) {
    const double n = static_cast<double>(values.size());
    double sum = 0.0;
    for (const double value : values) sum += value;
    double squares = 0.0;
    for (const double value : values) squares += (value - sum / n) * (value - sum / n);
    return {sum / n, std::sqrt(squares / n)};
}

// Kolmogorov-Smirnov: the largest distance between the shares drawn and the distribution function. 1.95 /
// sqrt(n) is exceeded by chance in one case of a thousand; the draws are fixed, so a test that passes keeps
// passing.
void expect_distribution(std::vector<double> values, const std::function<double(double)>& cdf) {
    std::sort(values.begin(), values.end());
    const double n = static_cast<double>(values.size());
    double distance = 0.0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double expected = cdf(values[i]);
        distance = std::max(
            {distance, expected - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - expected});
    }
    EXPECT_LT(distance, 1.95 / std::sqrt(n));
}

double normal_cdf(double z) {
    return 0.5 * std::erfc(-z / std::sqrt(2.0));
}

std::string message_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "no ConfigError";
}

TEST(ToDuration, RoundsToTheNearestNanosecondAndHalvesUp) {
    EXPECT_EQ(to_duration(1.4999), from_ns(1));
    EXPECT_EQ(to_duration(1.5), from_ns(2));
    EXPECT_EQ(to_duration(2.5), from_ns(3));
    EXPECT_EQ(to_duration(0.49999999999999994), from_ns(0));
    EXPECT_EQ(to_duration(9007199254740993.0), from_ns(9007199254740992));
}

TEST(ToDuration, NeverGoesBelowZeroOrPastTheLongestDraw) {
    EXPECT_EQ(to_duration(-3.0), from_ns(0));
    EXPECT_EQ(to_duration(-0.0), from_ns(0));
    EXPECT_EQ(to_duration(1e300), kLongestDraw);
    EXPECT_EQ(to_duration(std::numeric_limits<double>::infinity()), kLongestDraw);
    EXPECT_EQ(to_duration(std::numeric_limits<double>::quiet_NaN()), from_ns(0));
}

TEST(NormalQuantile, GivesTabledValues) {
    EXPECT_EQ(normal_quantile(0.5), 0.0);
    EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-15);
    EXPECT_NEAR(normal_quantile(0.001), -3.090232306167813, 1e-14);
    EXPECT_NEAR(normal_quantile(1e-20), -9.262340089798408, 1e-13);
}

TEST(NormalQuantile, InvertsTheDistributionFunctionInAllThreeRanges) {
    for (const double p :
         {1e-300, 1e-30, 1e-12, 1e-11, 1e-5, 0.01, 0.074, 0.076, 0.3, 0.5, 0.7, 0.925, 0.99}) {
        EXPECT_NEAR(normal_cdf(normal_quantile(p)) / p, 1.0, 2e-13) << p;
    }
}

TEST(NormalQuantile, IsOdd) {
    for (const double p : {0x1p-53, 0x1p-20, 0.0625, 0.25, 0.375}) {
        EXPECT_EQ(normal_quantile(p), -normal_quantile(1.0 - p));
    }
}

TEST(UniformInt, GivesTheseValuesEverywhere) {
    RandomStream stream = stream_of("golden");
    const UniformInt die{1, 6};
    std::vector<std::int64_t> values;
    for (int i = 0; i < 12; ++i) values.push_back(die(stream));
    EXPECT_EQ(values, (std::vector<std::int64_t>{2, 1, 6, 5, 1, 5, 4, 2, 4, 3, 5, 2}));
}

TEST(UniformInt, ReachesBothEndsEquallyOften) {
    RandomStream stream = stream_of("ends");
    const UniformInt die{-2, 3};
    std::array<int, 6> counts{};
    for (int i = 0; i < 60000; ++i) counts.at(static_cast<std::size_t>(die(stream) + 2))++;
    double chi_square = 0.0;
    for (const int count : counts) chi_square += (count - 10000.0) * (count - 10000.0) / 10000.0;
    EXPECT_LT(chi_square, 20.5);  // 5 degrees of freedom, p = 0.001
}

TEST(UniformInt, HasNoBiasWhereAModuloWouldShowIt) {
    // 3 * 2^62 values: a plain modulo of 64 bits would hit the lowest third twice as often.
    RandomStream stream = stream_of("bias");
    const std::int64_t low = std::numeric_limits<std::int64_t>::min();
    const UniformInt range{low, (std::int64_t{1} << 62) - 1};
    int lowest = 0;
    for (int i = 0; i < 30000; ++i) lowest += range(stream) < low + (std::int64_t{1} << 62) ? 1 : 0;
    EXPECT_NEAR(lowest, 10000, 5 * 82);
}

TEST(UniformInt, CoversAll64Bits) {
    RandomStream stream = stream_of("all");
    RandomStream same = stream_of("all");
    const UniformInt all{std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
    EXPECT_EQ(all(stream), static_cast<std::int64_t>(same.next_u64()));
}

TEST(UniformInt, OfOneValueIsThatValue) {
    RandomStream stream = stream_of("one");
    EXPECT_EQ((UniformInt{7, 7}(stream)), 7);
}

TEST(UniformInt, RefusesAnEmptyRange) {
    EXPECT_EQ(message_of([] { UniformInt{2, 1}; }), "low=2: must be at most high=1");
}

TEST(Constant, IsItselfButTakesItsPlaceInTheStream) {
    RandomStream stream = stream_of("constant");
    EXPECT_EQ(sample(Constant{3.5}, stream), 3.5);
    EXPECT_EQ(stream.position(), 2U);
}

// Every real-valued distribution, with the values that it must give on every machine.
struct Golden {
    const char* name;
    Distribution distribution;
    std::array<double, 3> values;
};

const std::vector<Golden>& goldens() {
    static const std::array<double, 4> samples{4.0, 1.0, 3.0, 2.0};
    static const std::array<QuantilePoint, 3> table{{{0.0, 10.0}, {0.5, 20.0}, {1.0, 100.0}}};
    static const std::vector<Golden> all{
        {"uniform", Uniform{-1.0, 3.0}, {-0.087401295282368618, -0.91342055908683095, 2.5447867981445227}},
        {"exponential", Exponential{250.0}, {64.741157204033172, 5.4706365654063278, 543.32093884793869}},
        {"normal", Normal{10.0, 2.0}, {8.5100914164748982, 5.9581923224347193, 12.413094245968097}},
        {"lognormal", LogNormal{60.0, 1.8}, {15.696328587058506, 1.5788830274966941, 526.43579830290503}},
        {"pareto", Pareto{5.0, 1.2}, {6.2042948487969056, 5.0920136820032287, 30.584939316342357}},
        {"samples", Empirical::of_samples(samples), {1.0, 1.0, 4.0}},
        {"table",
         Empirical::of_quantiles(table),
         {14.562993523588156, 10.432897204565846, 81.791471925780911}},
    };
    return all;
}

TEST(Distributions, GiveTheseValuesEverywhere) {
    for (const Golden& golden : goldens()) {
        const auto values = draw(golden.distribution, 3, "golden");
        for (std::size_t i = 0; i < 3; ++i) {
            EXPECT_EQ(values[i], golden.values[i]) << golden.name << " " << i;
        }
    }
}

TEST(Distributions, TakeTwoWordsPerSample) {
    for (const Golden& golden : goldens()) {
        RandomStream stream = stream_of("words");
        sample(golden.distribution, stream);
        EXPECT_EQ(stream.position(), 2U) << golden.name;
    }
}

TEST(Distributions, GiveMoreForMore) {
    for (const Golden& golden : goldens()) {
        double before = -std::numeric_limits<double>::infinity();
        for (const double p : {0x1p-53, 0.001, 0.2, 0.5, 0.7, 0.999, 1.0 - 0x1p-53}) {
            const double value =
                std::visit([p](const auto& d) { return d.quantile(p); }, golden.distribution);
            EXPECT_GE(value, before) << golden.name << " " << p;
            before = value;
        }
    }
}

TEST(Distributions, StayFiniteAtTheirLimits) {
    for (const Distribution& distribution :
         {Distribution{Exponential{1e150}}, Distribution{Normal{1e150, 1e150}},
          Distribution{LogNormal{1.0, 80.0}}, Distribution{Pareto{1.0, 0.06}},
          Distribution{Uniform{-1e150, 1e150}}}) {
        for (const double p : {0x1p-53, 1.0 - 0x1p-53}) {
            EXPECT_TRUE(
                std::isfinite(std::visit([p](const auto& d) { return d.quantile(p); }, distribution)));
        }
    }
}

TEST(Uniform, HasItsMomentsAndItsDistribution) {
    const auto values = draw(Uniform{2.0, 6.0}, kDraws, "uniform");
    const Moments m = moments(values);
    EXPECT_NEAR(m.mean, 4.0, 5.0 * 1.155 / std::sqrt(kDraws));
    EXPECT_NEAR(m.deviation, 4.0 / std::sqrt(12.0), 0.01);
    expect_distribution(values, [](double x) { return (x - 2.0) / 4.0; });
}

TEST(Exponential, HasItsMomentsAndItsDistribution) {
    const auto values = draw(Exponential{250.0}, kDraws, "exponential");
    const Moments m = moments(values);
    EXPECT_NEAR(m.mean, 250.0, 5.0 * 250.0 / std::sqrt(kDraws));
    EXPECT_NEAR(m.deviation, 250.0, 5.0 * 250.0 * std::sqrt(2.0) / std::sqrt(kDraws));
    expect_distribution(values, [](double x) { return 1.0 - std::exp(-x / 250.0); });
}

TEST(Normal, HasItsMomentsAndItsDistribution) {
    const auto values = draw(Normal{10.0, 2.0}, kDraws, "normal");
    const Moments m = moments(values);
    EXPECT_NEAR(m.mean, 10.0, 5.0 * 2.0 / std::sqrt(kDraws));
    EXPECT_NEAR(m.deviation, 2.0, 5.0 * 2.0 / std::sqrt(2.0 * kDraws));
    expect_distribution(values, [](double x) { return normal_cdf((x - 10.0) / 2.0); });
}

TEST(LogNormal, HasItsMedianItsMeanAndItsDistribution) {
    const auto values = draw(LogNormal{60.0, 0.5}, kDraws, "lognormal");
    EXPECT_NEAR(moments(values).mean, 60.0 * std::exp(0.125), 5.0 * 36.3 / std::sqrt(kDraws));
    expect_distribution(values, [](double x) { return normal_cdf(std::log(x / 60.0) / 0.5); });
    EXPECT_EQ((LogNormal{60.0, 0.5}.quantile(0.5)), 60.0);
}

TEST(Pareto, HasItsMeanAndItsDistribution) {
    const auto values = draw(Pareto{5.0, 3.0}, kDraws, "pareto");
    EXPECT_NEAR(moments(values).mean, 7.5, 5.0 * 4.33 / std::sqrt(kDraws));
    expect_distribution(values, [](double x) { return 1.0 - std::pow(5.0 / x, 3.0); });
}

TEST(EmpiricalSamples, AreDrawnThemselvesAndEquallyOften) {
    const std::array<double, 3> samples{5.0, 1.0, 5.0};
    const auto values = draw(Empirical::of_samples(samples), 30000, "samples");
    const auto ones = std::count(values.begin(), values.end(), 1.0);
    EXPECT_EQ(ones + std::count(values.begin(), values.end(), 5.0), 30000);
    EXPECT_NEAR(static_cast<double>(ones), 10000.0, 5.0 * 82.0);
}

TEST(EmpiricalSamples, DoNotDependOnTheirOrder) {
    const std::array<double, 3> up{1.0, 2.0, 3.0};
    const std::array<double, 3> down{3.0, 2.0, 1.0};
    EXPECT_EQ(Empirical::of_samples(up), Empirical::of_samples(down));
}

TEST(EmpiricalTable, IsStraightBetweenItsPoints) {
    const std::array<QuantilePoint, 3> table{{{0.0, 10.0}, {0.5, 20.0}, {1.0, 100.0}}};
    const Empirical empirical = Empirical::of_quantiles(table);
    EXPECT_DOUBLE_EQ(empirical.quantile(0.25), 15.0);
    EXPECT_DOUBLE_EQ(empirical.quantile(0.5), 20.0);
    EXPECT_DOUBLE_EQ(empirical.quantile(0.75), 60.0);
    EXPECT_NEAR(empirical.quantile(1.0 - 0x1p-53), 100.0, 1e-12);
}

TEST(Distributions, RefuseParametersOutsideTheirLimits) {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(message_of([] { Exponential{0.0}; }), "mean=0: must be above 0 and at most 1e150");
    EXPECT_EQ(message_of([] { Exponential{from_us(-1)}; }), "mean=-1000: must be above 0 and at most 1e150");
    EXPECT_EQ(message_of([=] { Normal{kNan, 1.0}; }), "mean=nan: must be a number between -1e150 and 1e150");
    EXPECT_EQ(message_of([] { Normal{0.0, -1.0}; }), "deviation=-1: must be at least 0 and at most 1e150");
    EXPECT_EQ(message_of([] { LogNormal{-1.0, 1.0}; }), "median=-1: must be above 0 and at most 1e150");
    EXPECT_EQ(message_of([] { LogNormal{1.0, 81.0}; }), "sigma=81: must be at least 0 and at most 80");
    EXPECT_EQ(message_of([] { Pareto{0.0, 1.0}; }), "scale=0: must be above 0 and at most 1e150");
    EXPECT_EQ(message_of([] { Pareto{1.0, 0.0}; }), "shape=0: must be at least 0.06 and at most 1e150");
    EXPECT_EQ(message_of([] { Uniform{2.0, 1.0}; }), "low=2: must be at most high=1");
    EXPECT_EQ(message_of([=] { Uniform{0.0, kNan}; }), "high=nan: must be a number between -1e150 and 1e150");
    EXPECT_EQ(message_of([=] { Constant{kNan}; }), "value=nan: must be a number between -1e150 and 1e150");
}

TEST(EmpiricalSamples, RefuseWhatCannotBeDrawn) {
    EXPECT_EQ(message_of([] { Empirical::of_samples({}); }), "samples: there are none, at least 1 is needed");
    const std::array<double, 2> bad{1.0, std::numeric_limits<double>::infinity()};
    EXPECT_EQ(message_of([&] { Empirical::of_samples(bad); }),
              "samples[1]=inf: must be a number between -1e150 and 1e150");
}

TEST(EmpiricalTable, RefusesATableThatIsNoDistribution) {
    const auto message = [](std::vector<QuantilePoint> points) {
        return message_of([&] { Empirical::of_quantiles(points); });
    };
    EXPECT_EQ(message({{0.0, 1.0}}), "quantiles: there are 1, at least 2 are needed");
    EXPECT_EQ(message({{0.1, 1.0}, {1.0, 2.0}}), "quantiles[0].p=0.1: the first must be 0");
    EXPECT_EQ(message({{0.0, 1.0}, {0.5, 2.0}}), "quantiles[1].p=0.5: the last must be 1");
    EXPECT_EQ(message({{0.0, 1.0}, {0.5, 2.0}, {0.5, 3.0}, {1.0, 4.0}}),
              "quantiles[2].p=0.5: must be above 0.5 before it");
    EXPECT_EQ(message({{0.0, 2.0}, {1.0, 1.0}}), "quantiles[1].value=1: must not be below 2 before it");
    EXPECT_EQ(message({{0.0, 2.0}, {1.0, 1e151}}),
              "quantiles[1].value=1e+151: must be a number between -1e150 and 1e150");
}

}  // namespace
}  // namespace torpor
