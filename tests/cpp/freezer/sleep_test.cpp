// SPDX-License-Identifier: MIT
#include "torpor/freezer/sleep.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace torpor::freezer {
namespace {

constexpr std::int64_t kMs = 1'000'000;

struct JiffySleep {
    int hz;
    std::int64_t period_ns;
    std::int64_t ticks;  // of msleep(10)
    double mean_ms;
};
const std::vector<JiffySleep> kTenMs{{100, 10'000'000, 2, 15.0},
                                     {200, 5'000'000, 3, 12.5},
                                     {250, 4'000'000, 4, 14.0},
                                     {300, 3'333'333, 4, 11.67},
                                     {1000, 1'000'000, 11, 10.5}};

std::vector<std::int64_t> lengths_us(const Backoff& backoff, int count) {
    BackoffState state{backoff};
    std::vector<std::int64_t> lengths;
    for (int i = 0; i < count; ++i) {
        lengths.push_back(state.high_ns() / 1000);
        state.grow();
    }
    return lengths;
}

RandomStream stream() {
    return {StreamKey{1, 0}, "freezer/sleep"};
}

std::int64_t range_end(const TickGrid& tick, RangeMode mode, std::int64_t now_ns, std::int64_t low_ns,
                       std::int64_t high_ns) {
    RandomStream unused = stream();
    return range_sleep_end(tick, mode, now_ns, low_ns, high_ns, unused);
}

TEST(Tick, PeriodIsTheRoundedInverseOfHz) {
    for (const JiffySleep& row : kTenMs) EXPECT_EQ(TickGrid::at(row.hz, 0).period_ns, row.period_ns);
    EXPECT_EQ(TickGrid::at(7, 0).period_ns, 142'857'143);
    EXPECT_EQ(TickGrid::at(1, 0).period_ns, 1'000'000'000);
}

TEST(Tick, CountsJiffiesFromItsPhase) {
    const TickGrid tick = TickGrid::at(100, 7 * kMs);
    EXPECT_EQ(tick.jiffy(0), 0);
    EXPECT_EQ(tick.jiffy(3 * kMs - 1), 0);
    EXPECT_EQ(tick.jiffy(3 * kMs), 1);
    EXPECT_EQ(tick.since_tick(0), 7 * kMs);
    EXPECT_EQ(tick.since_tick(3 * kMs), 0);
}

TEST(Tick, RoundsATimeUpToJiffiesInIntegers) {
    EXPECT_EQ(TickGrid::at(300, 0).jiffies_of_ms(10), 3);
    EXPECT_EQ(TickGrid::at(250, 0).jiffies_of_ms(10), 3);
    EXPECT_EQ(TickGrid::at(250, 0).jiffies_of_ms(20'000), 5000);
    EXPECT_EQ(TickGrid::at(100, 0).jiffies_of_ms(1), 1);
    EXPECT_EQ(TickGrid::at(100, 0).jiffies_of_ms(0), 0);
}

TEST(MsleepTen, LastsTheTicksOfTheTableFromATick) {
    for (const JiffySleep& row : kTenMs) {
        EXPECT_EQ(msleep_end(TickGrid::at(row.hz, 0), 0, 10, 0), row.ticks * row.period_ns) << row.hz;
    }
}

TEST(MsleepTen, LastsOneTickLessWhenCalledJustBeforeATick) {
    for (const JiffySleep& row : kTenMs) {
        const TickGrid tick = TickGrid::at(row.hz, row.period_ns - 1);
        EXPECT_EQ(msleep_end(tick, 0, 10, 0), (row.ticks - 1) * row.period_ns + 1) << row.hz;
    }
}

// Mean of f(phase), nanoseconds, over the phases of one tick: at the middles of steps of 100 ns, which is
// exact for what is linear within each step.
template <class F>
double mean_over_phases(std::int64_t period_ns, F f) {
    double sum_ns = 0.0;
    int count = 0;
    for (std::int64_t phase_ns = 50; phase_ns < period_ns; phase_ns += 100, ++count) {
        sum_ns += static_cast<double>(f(phase_ns));
    }
    return sum_ns / count;
}

TEST(MsleepTen, HasTheMeanOfTheTableOverAllPhases) {
    for (const JiffySleep& row : kTenMs) {
        const double mean_ns = mean_over_phases(row.period_ns, [&row](std::int64_t phase_ns) {
            return msleep_end(TickGrid::at(row.hz, phase_ns), 0, 10, 0);
        });
        EXPECT_NEAR(mean_ns * 1e-6, row.mean_ms, 0.005) << row.hz;
    }
}

TEST(MsleepTen, IsNotLongerAtHz300ThanFourTicks) {
    // 10 ms / 3 333 333 ns is a little above 3: with the rounded period it would be five ticks.
    EXPECT_EQ(msleep_end(TickGrid::at(300, 0), 0, 10, 0), 13'333'332);
}

TEST(Msleep, WheelExtraAddsWholeTicks) {
    EXPECT_EQ(msleep_end(TickGrid::at(100, 0), 0, 10, 1), 30 * kMs);
    EXPECT_EQ(msleep_end(TickGrid::at(100, 10 * kMs - 1), 0, 10, 1), 20 * kMs + 1);
}

TEST(Msleep, OfZeroLastsUntilTheNextTick) {
    EXPECT_EQ(msleep_end(TickGrid::at(100, 4 * kMs), 0, 0, 0), 6 * kMs);
    EXPECT_EQ(msleep_end(TickGrid::at(100, 0), 0, 0, 0), 10 * kMs);
}

TEST(Msleep, SuccessiveOnesFollowEachOtherInWholeTicks) {
    const TickGrid tick = TickGrid::at(200, 1'234'567);
    const std::int64_t first_ns = msleep_end(tick, 0, 10, 0);
    EXPECT_EQ(msleep_end(tick, first_ns + 770'000, 10, 0), first_ns + 15 * kMs);
}

TEST(Msleep, KeepsToTheGridFarFromTheStart) {
    const TickGrid tick = TickGrid::at(300, 5);
    const std::int64_t end_ns = msleep_end(tick, 123'456'789'012, 10, 0);
    EXPECT_EQ(tick.since_tick(end_ns), 0);
}

struct RangeMean {
    int hz;
    std::int64_t low_ns;
    std::int64_t high_ns;
    double mean_ms;
};

// With a width w and a period T: low + w - w^2 / (2 T) when T >= w, else low + T / 2.
const std::vector<RangeMean> kTickMeans{{100, kMs / 2, kMs, 0.9875},  {250, kMs / 2, kMs, 0.96875},
                                        {1000, kMs / 2, kMs, 0.875},  {200, 2 * kMs, 4 * kMs, 3.6},
                                        {250, 4 * kMs, 8 * kMs, 6.0}, {1000, 4 * kMs, 8 * kMs, 4.5},
                                        {1000, kMs, kMs, 1.0}};

TEST(RangeSleep, OnATickHasTheMeanOfTheClosedForm) {
    for (const RangeMean& row : kTickMeans) {
        const std::int64_t period_ns = TickGrid::at(row.hz, 0).period_ns;
        const double mean_ns = mean_over_phases(period_ns, [&row](std::int64_t phase_ns) {
            return range_end(TickGrid::at(row.hz, phase_ns), RangeMode::tick, 0, row.low_ns, row.high_ns);
        });
        EXPECT_NEAR(mean_ns, row.mean_ms * 1e6, 1.0) << row.hz;
    }
}

TEST(RangeSleep, OnATickEndsAtTheFirstTickInTheRangeOrAtItsFarEnd) {
    const auto end = [](std::int64_t phase_ns) {
        return range_end(TickGrid::at(100, phase_ns), RangeMode::tick, 0, kMs / 2, kMs);
    };
    EXPECT_EQ(end(9 * kMs + 300'000), 700'000);
    EXPECT_EQ(end(9 * kMs + 500'000), 500'000);
    EXPECT_EQ(end(9 * kMs + 500'001), kMs);  // that tick comes 1 ns too early
    EXPECT_EQ(end(9 * kMs), kMs);
    EXPECT_EQ(end(0), kMs);
}

TEST(RangeSleep, HardAndSoftEndAtTheEndsOfTheRange) {
    const TickGrid tick = TickGrid::at(100, 0);
    EXPECT_EQ(range_end(tick, RangeMode::hard, 70, 500, 1000), 1070);
    EXPECT_EQ(range_end(tick, RangeMode::soft, 70, 500, 1000), 570);
}

TEST(RangeSleep, UniformHasTheMeanOfTheRangeAndStaysInIt) {
    const TickGrid tick = TickGrid::at(100, 0);
    RandomStream random = stream();
    constexpr int kDraws = 100'000;
    double sum_ms = 0.0;
    for (int i = 0; i < kDraws; ++i) {
        const std::int64_t end_ns = range_sleep_end(tick, RangeMode::uniform, 0, kMs / 2, kMs, random);
        ASSERT_GE(end_ns, kMs / 2);
        ASSERT_LE(end_ns, kMs);
        sum_ms += static_cast<double>(end_ns) * 1e-6;
    }
    // Five standard errors: 0.5 / sqrt(12 n).
    EXPECT_NEAR(sum_ms / kDraws, 0.75, 0.0023);
}

TEST(RangeSleep, UniformReachesBothEnds) {
    RandomStream random = stream();
    bool low = false;
    bool high = false;
    for (int i = 0; i < 200; ++i) {
        const std::int64_t end_ns =
            range_sleep_end(TickGrid::at(100, 0), RangeMode::uniform, 0, 10, 12, random);
        low = low || end_ns == 10;
        high = high || end_ns == 12;
    }
    EXPECT_TRUE(low && high);
}

TEST(BackoffLengths, OfPatch1DoubleUpToEightMilliseconds) {
    EXPECT_EQ(lengths_us(Backoff{}, 6), (std::vector<std::int64_t>{1000, 2000, 4000, 8000, 8000, 8000}));
}

TEST(BackoffLengths, OfPatch1AddUpTo1And3And7And15And23Milliseconds) {
    BackoffState state{Backoff{}};
    std::int64_t hard_ns = 0;
    std::int64_t soft_ns = 0;
    for (const std::int64_t total_ms : {1, 3, 7, 15, 23}) {
        hard_ns += state.high_ns();
        soft_ns += state.low_ns();
        state.grow();
        EXPECT_EQ(hard_ns, total_ms * kMs);
        EXPECT_EQ(soft_ns, total_ms * kMs / 2);
    }
}

TEST(BackoffLengths, PassACapThatIsNotReachedExactly) {
    EXPECT_EQ(lengths_us(Backoff{.cap_us = 6000}, 5),
              (std::vector<std::int64_t>{1000, 2000, 4000, 8000, 8000}));
}

TEST(BackoffLengths, StopAtTheCapWhenClamped) {
    EXPECT_EQ(lengths_us(Backoff{.cap_us = 6000, .clamp = true}, 5),
              (std::vector<std::int64_t>{1000, 2000, 4000, 6000, 6000}));
}

TEST(BackoffLengths, DoNotGrowFromACapAtOrBelowTheFirst) {
    EXPECT_EQ(lengths_us(Backoff{.cap_us = 1000}, 3), (std::vector<std::int64_t>{1000, 1000, 1000}));
    EXPECT_EQ(lengths_us(Backoff{.cap_us = 500, .clamp = true}, 3),
              (std::vector<std::int64_t>{1000, 1000, 1000}));
}

TEST(BackoffLengths, GrowByAnyFactor) {
    EXPECT_EQ(lengths_us(Backoff{.growth = 1.5}, 8),
              (std::vector<std::int64_t>{1000, 1500, 2250, 3375, 5062, 7593, 11390, 11390}));
    EXPECT_EQ(lengths_us(Backoff{.growth = 1.0}, 3), (std::vector<std::int64_t>{1000, 1000, 1000}));
    EXPECT_EQ(lengths_us(Backoff{.first_us = 100, .growth = 4.0, .cap_us = 32'000}, 7),
              (std::vector<std::int64_t>{100, 400, 1600, 6400, 25'600, 102'400, 102'400}));
}

TEST(BackoffLengths, LowerEndIsAShareOfTheUpper) {
    EXPECT_EQ(BackoffState{Backoff{}}.low_ns(), 500'000);
    EXPECT_EQ(BackoffState{Backoff{.lower = 0.0}}.low_ns(), 0);
    EXPECT_EQ(BackoffState{Backoff{.lower = 1.0}}.low_ns(), kMs);
    EXPECT_EQ((BackoffState{Backoff{.first_us = 1, .lower = 0.3333}}.low_ns()), 333);
}

}  // namespace
}  // namespace torpor::freezer
