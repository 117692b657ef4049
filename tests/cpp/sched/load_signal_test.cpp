// SPDX-License-Identifier: MIT
#include "torpor/sched/load_signal.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "torpor/sched/performance_domain.hpp"

namespace torpor::sched {
namespace {

constexpr std::int64_t kMs = 1'000'000;
/// Capacity of the little CPUs of a Pixel 6.
constexpr double kLittle = 160.9;

double running_for(std::int64_t ns, double target, double from = 0.0) {
    return utilisation_after(from, target, ns);
}

TEST(Decay, HalvesEvery32Milliseconds) {
    EXPECT_EQ(decay(0), 1.0);
    EXPECT_EQ(decay(32 * kMs), 0.5);
    EXPECT_EQ(decay(96 * kMs), 0.125);
}

TEST(Decay, FollowsThePowerOfTwo) {
    for (std::int64_t ns = 1; ns < 3'000 * kMs; ns = ns * 5 / 4 + 777) {
        const double exact = ns < 2'048 * kMs ? std::exp2(-static_cast<double>(ns) / 32e6) : 0.0;
        ASSERT_NEAR(decay(ns), exact, 1e-11) << ns;
        if (exact > 0.0) {
            ASSERT_NEAR(decay(ns) / exact, 1.0, 1e-11) << ns;
        }
    }
}

TEST(Decay, LeavesNothingAfter64HalfLives) {
    EXPECT_GT(decay(2'048 * kMs - 1), 0.0);
    EXPECT_EQ(decay(2'048 * kMs), 0.0);
    EXPECT_EQ(decay(std::int64_t{1} << 62), 0.0);
}

TEST(Utilisation, ApproachesTheCapacityOfItsCpu) {
    EXPECT_NEAR(running_for(32 * kMs, kLittle), 80.45, 1e-9);
    EXPECT_NEAR(running_for(64 * kMs, kLittle), 120.675, 1e-9);
}

TEST(Utilisation, DoesNotFitALittleCpuAfter74Milliseconds) {
    EXPECT_TRUE(fits(running_for(74'300'000 - 4'000, kLittle), kLittle));
    EXPECT_FALSE(fits(running_for(74'302'000, kLittle), kLittle));
}

TEST(Utilisation, FitsForEverAtEightTenthsOfTheFrequency) {
    EXPECT_TRUE(fits(running_for(1'000 * kMs, kLittle * 0.8), kLittle));
}

TEST(Utilisation, TakesLongerNotToFitAtNineTenths) {
    EXPECT_TRUE(fits(running_for(101'400'000, kLittle * 0.9), kLittle));
    EXPECT_FALSE(fits(running_for(101'500'000, kLittle * 0.9), kLittle));
}

TEST(Utilisation, FadesWhileAsleep) {
    EXPECT_EQ(running_for(96 * kMs, 0.0, 40.0), 5.0);
}

TEST(LoadClock, KeepsUtilisationsAsWhatTheyWereAtItsOrigin) {
    LoadClock clock;
    clock.begin(5 * kMs);
    EXPECT_EQ(clock.factor(5 * kMs), 1.0);
    EXPECT_EQ(clock.factor(37 * kMs), 0.5);
    EXPECT_EQ(clock.ahead(69 * kMs), 0.25);
    EXPECT_EQ(clock.factor(69 * kMs), 0.25);
}

TEST(LoadClock, ARunAddsItsTargetAtBothEnds) {
    // From 7 ms to 40 ms at a target of 500, looked at 50 ms.
    LoadClock clock;
    clock.begin(0);
    double kept = 100.0;
    kept -= 500.0 / clock.factor(7 * kMs);
    EXPECT_NEAR(kept * clock.factor(20 * kMs) + 500.0,
                running_for(13 * kMs, 500.0, utilisation_after(100.0, 0.0, 7 * kMs)), 1e-9);
    kept += 500.0 / clock.factor(40 * kMs);
    const double at_40 = running_for(33 * kMs, 500.0, utilisation_after(100.0, 0.0, 7 * kMs));
    EXPECT_NEAR(kept * clock.factor(50 * kMs), utilisation_after(at_40, 0.0, 10 * kMs), 1e-9);
}

TEST(LoadClock, IsStaleBeforeItsNumbersGrowTooLarge) {
    LoadClock clock;
    clock.begin(3 * kMs);
    EXPECT_FALSE(clock.is_stale(1'003 * kMs));
    EXPECT_TRUE(clock.is_stale(1'003 * kMs + 1));
}

TEST(Fits, BelowFourFifths) {
    EXPECT_TRUE(fits(799.9, 1000.0));
    EXPECT_FALSE(fits(800.0, 1000.0));
}

TEST(EnergyEstimate, PicksTheLowestPointWithAQuarterToSpare) {
    const EnergyEstimate domain{PerformanceDomain{{{100.0, 10.0}, {200.0, 60.0}, {400.0, 400.0}}}};
    EXPECT_DOUBLE_EQ(domain.power_mw(80.0, 80.0), 8.0);
    EXPECT_DOUBLE_EQ(domain.power_mw(80.1, 80.1), 80.1 * 0.3);
    EXPECT_DOUBLE_EQ(domain.power_mw(200.0, 300.0), 300.0);
}

TEST(EnergyEstimate, AsksForNoMoreThanItsHighestPoint) {
    const EnergyEstimate domain{PerformanceDomain{{{100.0, 10.0}, {200.0, 60.0}}}};
    EXPECT_DOUBLE_EQ(domain.power_mw(190.0, 190.0), 57.0);
}

TEST(EnergyEstimate, OneBusyCpuRaisesTheCostOfAll) {
    const EnergyEstimate domain{PerformanceDomain{{{100.0, 10.0}, {200.0, 60.0}}}};
    EXPECT_DOUBLE_EQ(domain.power_mw(50.0, 100.0), 10.0);
    EXPECT_DOUBLE_EQ(domain.power_mw(90.0, 100.0), 30.0);
}

}  // namespace
}  // namespace torpor::sched
