// SPDX-License-Identifier: MIT
#include "torpor/base/units.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace torpor {
namespace {

static_assert(Cycles::of(3) / Frequency::hz(1000000000) == from_ns(3), "units work at compile time");

TEST(Duration, IsMadeFromWholeUnits) {
    EXPECT_EQ(from_us(3), from_ns(3000));
    EXPECT_EQ(from_ms(-2), from_ns(-2000000));
}

TEST(Time, MovesByDurationsAndDiffersByThem) {
    const Time start = time_from_ns(100);
    EXPECT_EQ(to_ns(start + from_us(1)), 1100);
    EXPECT_EQ((start + from_us(1)) - start, from_us(1));
}

TEST(Frequency, ReadsBackInAnyUnit) {
    EXPECT_EQ(Frequency::mhz(200).in_hz(), 200000000);
    EXPECT_EQ(Frequency::khz(1804800).in_khz(), 1804800);
    EXPECT_LT(Frequency::khz(999), Frequency::mhz(1));
}

TEST(Cycles, AddSubtractAndMultiply) {
    Cycles work = Cycles::of(10) + Cycles::of(5);
    EXPECT_EQ(work, Cycles::of(15));
    EXPECT_EQ(work - Cycles::of(4), Cycles::of(11));
    EXPECT_EQ(3 * work, Cycles::of(45));
    EXPECT_EQ(work * 3, Cycles::of(45));
    work += Cycles::of(1);
    EXPECT_EQ(work, Cycles::of(16));
    work -= Cycles::of(6);
    EXPECT_EQ(work, Cycles::of(10));
    EXPECT_EQ(Cycles{}.count(), 0);
}

TEST(CyclesOverFrequency, IsExactWhereItDivides) {
    EXPECT_EQ(Cycles::of(600000) / Frequency::mhz(600), from_ms(1));
    EXPECT_EQ(Cycles::of(0) / Frequency::mhz(600), from_ns(0));
}

TEST(CyclesOverFrequency, RoundsUpSoThatWorkNeverEndsEarly) {
    EXPECT_EQ(Cycles::of(1) / Frequency::mhz(600), from_ns(2));  // 1.67 ns
    EXPECT_EQ(Cycles::of(3) / Frequency::mhz(600), from_ns(5));  // 5 ns exactly
    EXPECT_EQ(Cycles::of(4) / Frequency::mhz(600), from_ns(7));  // 6.67 ns
    EXPECT_EQ(Cycles::of(1) / Frequency::hz(std::numeric_limits<std::int64_t>::max()), from_ns(1));
}

TEST(CyclesOverFrequency, DoesNotOverflowWhere64BitsWould) {
    // 2e10 cycles times 1e9 is 2e19, above 2^64.
    EXPECT_EQ(Cycles::of(20000000000) / Frequency::mhz(2000), from_ms(10000));
    // 9e18 + 1 cycles at 3 GHz: a third of a nanosecond is rounded up.
    EXPECT_EQ(Cycles::of(9000000000000000001) / Frequency::mhz(3000), from_ns(3000000000000000001));
}

TEST(CyclesOverFrequency, StopsAtTheLongestDuration) {
    EXPECT_EQ(Cycles::of(std::numeric_limits<std::int64_t>::max()) / Frequency::hz(1), Duration::max());
}

TEST(CyclesOverFrequency, RefusesAClockThatStandsStill) {
    EXPECT_THROW(Cycles::of(1) / Frequency::hz(0), InternalError);
    EXPECT_THROW(Cycles::of(-1) / Frequency::hz(1), InternalError);
}

TEST(FrequencyTimesDuration, RoundsDownSinceAnUnfinishedCycleIsNotDone) {
    EXPECT_EQ(Frequency::mhz(600) * from_ns(5), Cycles::of(3));
    EXPECT_EQ(Frequency::mhz(600) * from_ns(4), Cycles::of(2));  // 2.4
    EXPECT_EQ(from_ms(10000) * Frequency::mhz(2000), Cycles::of(20000000000));
}

TEST(FrequencyTimesDuration, GivesBackTheWorkThatCausedIt) {
    for (const std::int64_t count : {1, 2, 7, 1000003}) {
        const Cycles work = Cycles::of(count);
        EXPECT_GE(Frequency::mhz(1800) * (work / Frequency::mhz(1800)), work) << count;
    }
}

TEST(FrequencyTimesDuration, RefusesWhatRunsBackwards) {
    EXPECT_THROW(Frequency::mhz(1) * from_ns(-1), InternalError);
    EXPECT_THROW(Frequency::hz(0) * from_ns(1), InternalError);
}

TEST(Power, TimesDurationIsEnergy) {
    EXPECT_DOUBLE_EQ((Power::mw(500.0) * from_ms(2000)).in_mj(), 1000.0);
    EXPECT_EQ(Power::mw(500.0) * from_ms(2000), from_ms(2000) * Power::mw(500.0));
}

TEST(Power, ScalesAndCompares) {
    EXPECT_EQ(Power::mw(2.0) * 3.0, Power::mw(6.0));
    EXPECT_EQ(3.0 * Power::mw(2.0), Power::mw(6.0));
    EXPECT_EQ(Power::mw(6.0) / 3.0, Power::mw(2.0));
    EXPECT_DOUBLE_EQ(Power::mw(6.0) / Power::mw(4.0), 1.5);
    EXPECT_LT(Power::mw(1.0), Power::mw(2.0));
}

TEST(Power, AddsUpInPlace) {
    Power sum = Power::mw(1.0);
    sum += Power::mw(2.5);
    EXPECT_EQ(sum, Power::mw(3.5));
    sum -= Power::mw(3.0);
    EXPECT_EQ(sum, Power::mw(0.5));
}

TEST(Energy, OverDurationIsPower) {
    EXPECT_DOUBLE_EQ((Energy::mj(1000.0) / from_ms(2000)).in_mw(), 500.0);
}

TEST(Energy, AddsUpScalesAndCompares) {
    Energy sum = Energy::mj(1.0);
    sum += Energy::mj(2.0);
    sum -= Energy::mj(0.5);
    EXPECT_EQ(sum, Energy::mj(2.5));
    EXPECT_EQ(sum * 2.0, Energy::mj(5.0));
    EXPECT_EQ(sum / 2.5, Energy::mj(1.0));
    EXPECT_DOUBLE_EQ(sum / Energy::mj(5.0), 0.5);
    EXPECT_GT(sum, Energy{});
}

}  // namespace
}  // namespace torpor
