// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <type_traits>

#include "governor_testing.hpp"
#include "torpor/idle/governors/menu_4_18.hpp"
#include "torpor/idle/governors/menu_4_19.hpp"
#include "torpor/idle/governors/menu_5_4.hpp"

namespace torpor::idle {
namespace {

using testing::hi6220;
using testing::kMs;
using testing::kUs;
using testing::Primed;
using testing::running;
using testing::stopped;

using Released = Menu418<August2018::released>;
using P1 = Menu418<August2018::p1>;
using P2 = Menu418<August2018::p2>;
using Rjw = Menu418<August2018::rjw_reply>;
using Leo = Menu418<August2018::leo_reply>;

constexpr Selection kKeep(int state) {
    return {state, false};
}
constexpr Selection kStop(int state) {
    return {state, true};
}

/// "No timer" at 1.015345 s of uptime.
constexpr std::int64_t kNoTimerNs = std::numeric_limits<std::int64_t>::max() - 1015345000;

TEST(MenuFactor, MovesAnEighthTowardsMeasuredOverExpected) {
    EXPECT_EQ(updated_factor(8192, 3282, 3990, kInterestingUs), 8010u);
    EXPECT_EQ(updated_factor(8010, 3282, 3990, kInterestingUs), 7851u);
    EXPECT_EQ(updated_factor(8192, 984, 990, kInterestingUs), 8185u);
    EXPECT_EQ(updated_factor(8192, 34726, 2782123464, kInterestingUs), 7168u);
}

TEST(MenuFactor, TakesALongPeriodOrNoExpectationForPerfect) {
    EXPECT_EQ(updated_factor(8192, 50000, 60000, kInterestingUs), 8192u);
    EXPECT_EQ(updated_factor(8192, 0, 0, kInterestingUs), 8192u);
}

TEST(MenuFactor, NeverDecaysToZero) {
    EXPECT_EQ(updated_factor(8, 0, 4000, kInterestingUs), 7u);
    EXPECT_EQ(updated_factor(7, 0, 4000, kInterestingUs), 7u);
}

/// A menu of 4.18 whose correction the test sets and reads.
class Corrected : public Menu418<> {
  public:
    using Menu418::Menu418;
    std::uint32_t predict(std::uint32_t timer_us, std::size_t bucket, std::uint32_t factor) {
        factors_.at(bucket) = factor;
        note_timer({.sleep_length_ns = std::int64_t{timer_us} * 1000});
        return timer_prediction_us();
    }
};

// Example X8, its last part.
TEST(MenuFactor, CorrectsTheNextTimer) {
    const StateTable table = hi6220();
    Corrected menu{table, TickLength{1000}};
    EXPECT_EQ(menu.predict(3990, 3, 6853), 3338U);
    EXPECT_EQ(menu.predict(990, 2, 8143), 984U);
    EXPECT_EQ(menu.predict(2782123464U, 5, 198), 67243707U);
}

TEST(MenuBucket, GrowsByOneAtEachPowerOfTen) {
    EXPECT_EQ(magnitude(9, 1), 0u);
    EXPECT_EQ(magnitude(10, 1), 1u);
    EXPECT_EQ(magnitude(99999, 1), 4u);
    EXPECT_EQ(magnitude(100000, 1), 5u);
    EXPECT_EQ(magnitude(std::numeric_limits<std::uint32_t>::max(), 1), 5u);
    EXPECT_EQ(magnitude(9999, 1000), 0u);
}

TEST(MenuPerformanceMultiplier, GrowsWithLoadAndWaitersForIo) {
    EXPECT_EQ(performance_multiplier(0, 0), 1u);
    EXPECT_EQ(performance_multiplier(0, 2), 21u);
    EXPECT_EQ(performance_multiplier(1024, 0), 11u);
    EXPECT_EQ(performance_multiplier(2048, 1), 31u);
}

/// Interval that a governor stores for one period in state `state` with a far timer.
template <class Menu>
std::uint32_t stored_interval(const StateTable& table, int state, std::int64_t residency_us) {
    const TickLength tick{1000};
    Menu menu{table, tick};
    Device device;
    menu.select(running(1000 * kMs, 1 * kMs), device);
    device.last_residency_ns = static_cast<std::uint64_t>(residency_us * kUs);
    menu.reflect(state, false, 0, device);
    menu.select(running(1000 * kMs, 1 * kMs), device);
    return menu.history().values()[(menu.history().position() + 7) % 8];
}

TEST(MenuUpdate, SubtractsTheExitLatencyFromLongPeriodsAndHalvesShortOnes) {
    const StateTable table = hi6220();
    EXPECT_EQ(stored_interval<Released>(table, 1, 4232), 3282u);
    EXPECT_EQ(stored_interval<Released>(table, 1, 1901), 951u);
    EXPECT_EQ(stored_interval<Released>(table, 1, 1900), 950u);
    EXPECT_EQ(stored_interval<Released>(table, 1, 1000), 500u);
    EXPECT_EQ(stored_interval<Released>(table, 2, 35976), 34476u);
    EXPECT_EQ(stored_interval<Released>(table, 2, 3001), 1501u);
    EXPECT_EQ(stored_interval<Released>(table, 2, 3000), 1500u);
    EXPECT_EQ(stored_interval<Released>(table, 0, 985), 984u);
    EXPECT_EQ(stored_interval<Released>(table, 0, 3), 2u);
    EXPECT_EQ(stored_interval<Released>(table, 0, 2), 1u);
}

TEST(MenuUpdate, TakesATickWakeupFor45MillisecondsAtMostTheTimer) {
    const StateTable table = hi6220();
    for (const auto& [sleep_us, expected] : {std::pair{3500, 3500u}, std::pair{100000, 45000u}}) {
        Released menu{table, TickLength{1000}};
        Device device;
        menu.select(running(sleep_us * kUs, 1 * kMs), device);
        device.last_residency_ns = 900000;
        menu.reflect(0, true, 0, device);
        menu.select(running(1 * kMs, 1 * kMs), device);
        EXPECT_EQ(menu.history().values()[0], expected);
    }
}

TEST(MenuUpdate, IgnoresATickWakeupWhenTheTimerWasNoFartherThanTheTick) {
    const StateTable table = hi6220();
    Released menu{table, TickLength{1000}};
    Device device;
    menu.select(running(1 * kMs, 1 * kMs), device);
    device.last_residency_ns = 901000;
    menu.reflect(0, true, 0, device);
    menu.select(running(1 * kMs, 1 * kMs), device);
    EXPECT_EQ(menu.history().values()[0], 900u);
}

TEST(MenuUpdate, TakesATimedOutPollForTheTimerFrom420On) {
    const StateTable table = testing::polling_table();
    const auto stored = [&table]<class Menu>(std::type_identity<Menu>) {
        Menu menu{table, TickLength{1000}};
        Device device{.poll_limit_hit = true};
        menu.select(running(600 * kUs, 600 * kUs), device);
        device.last_residency_ns = 5000;
        menu.reflect(0, false, 0, device);
        menu.select(running(600 * kUs, 600 * kUs), device);
        return menu.history().values()[0];
    };
    EXPECT_EQ(stored(std::type_identity<Menu419>{}), 5u);
    EXPECT_EQ(stored(std::type_identity<Menu420>{}), 600u);
}

TEST(MenuUpdate, KeepsFactorsAndIntervalsInBoundsWhateverHappens) {
    const StateTable table = hi6220();
    Released menu{table, TickLength{250}};
    Device device;
    std::mt19937_64 random{7};
    for (int i = 0; i < 20000; ++i) {
        SelectInput input = running(static_cast<std::int64_t>(random() >> (random() % 64)), 1 * kMs);
        input.iowait = random() % 2;
        const std::uint32_t known_us = menu.next_timer_us();
        const std::size_t written = menu.history().position();
        menu.select(input, device);
        if (i > 0) {
            ASSERT_LE(menu.history().values()[written], known_us);
        }
        for (const std::uint32_t factor : menu.factors()) {
            ASSERT_GT(factor, 0u);
            ASSERT_LE(factor, kUnityFactor);
        }
        device.last_residency_ns = random() >> (random() % 64);
        menu.reflect(static_cast<int>(random() % 3), random() % 4 == 0, 0, device);
    }
}

/// One cell of the table of the August 2018 thread.
struct Answer {
    Selection selection;
    std::int64_t predicted_us{-1};  // -1: not stated
};

template <class Menu>
void expect_answer(const char* name, int hz, std::int64_t sleep_ns, const Answer& expected) {
    SCOPED_TRACE(std::string{name} + " at HZ " + std::to_string(hz) + ", " + std::to_string(sleep_ns) +
                 " ns");
    const StateTable table = hi6220();
    Primed<Menu> menu{table, TickLength{hz}};
    menu.live_through_nightmare();
    Device device;
    EXPECT_EQ(menu.select(stopped(sleep_ns, sleep_ns), device), expected.selection);
    if (expected.predicted_us >= 0) {
        EXPECT_EQ(std::int64_t{menu.predicted_us()}, expected.predicted_us);
    }
}

void expect_row(int hz, std::int64_t sleep_ns, const Answer& released, const Answer& p1, const Answer& rjw,
                const Answer& leo, const Answer& menu_4_19) {
    expect_answer<Released>("4.18", hz, sleep_ns, released);
    expect_answer<P1>("+P1", hz, sleep_ns, p1);
    expect_answer<Rjw>("rjw-reply", hz, sleep_ns, rjw);
    expect_answer<Leo>("leo-reply", hz, sleep_ns, leo);
    expect_answer<Menu419>("4.19", hz, sleep_ns, menu_4_19);
}

TEST(MenuAugust2018, FourMillisecondGapSticksInCpuOffAtHz1000) {
    expect_row(1000, 3990 * kUs, {kStop(1), 1000}, {kKeep(1)}, {kStop(2), 3990}, {kStop(2), 3990},
               {kStop(2)});
}

TEST(MenuAugust2018, FourMillisecondGapReachesClusterOffAtHz250) {
    expect_row(250, 3990 * kUs, {kKeep(2), 3990}, {kKeep(2)}, {kKeep(2)}, {kStop(2)}, {kStop(2)});
}

TEST(MenuAugust2018, OneMillisecondGapStaysInWfi) {
    expect_row(1000, 990 * kUs, {kKeep(0), 990}, {kKeep(0)}, {kKeep(0)}, {kStop(0), 984}, {kStop(0), 990});
}

TEST(MenuAugust2018, GapWithoutTimerSticksInCpuOffAtHz1000) {
    expect_row(1000, kNoTimerNs, {kStop(1), 1000}, {kKeep(1)}, {kStop(2)}, {kStop(2)}, {kStop(2)});
}

TEST(MenuAugust2018, GapWithoutTimerReachesClusterOffAtHz250) {
    expect_row(250, kNoTimerNs, {kStop(2), 4000}, {kStop(2)}, {kStop(2)}, {kStop(2)}, {kStop(2)});
}

template <class Menu>
Selection answer_after_eight_periods_of_2ms(std::int64_t sleep_ns) {
    const StateTable table = hi6220();
    Primed<Menu> menu{table, TickLength{1000}};
    menu.remember_eight(2000);
    Device device;
    const Selection selection = menu.select(stopped(sleep_ns, sleep_ns), device);
    return selection;
}

TEST(MenuAugust2018, PredictionOfTwoTicksEscapesTheCorrectionOfTheStoppedTick) {
    EXPECT_EQ(answer_after_eight_periods_of_2ms<Released>(kNoTimerNs), kStop(1));
    EXPECT_EQ(answer_after_eight_periods_of_2ms<P1>(kNoTimerNs), kKeep(1));
    EXPECT_EQ(answer_after_eight_periods_of_2ms<Rjw>(kNoTimerNs), kStop(1));
    EXPECT_EQ(answer_after_eight_periods_of_2ms<Leo>(kNoTimerNs), kStop(2));
    EXPECT_EQ(answer_after_eight_periods_of_2ms<Menu419>(kNoTimerNs), kStop(1));
}

TEST(MenuAugust2018, NoVariantDeepensBeforeATimerShorterThanTheDeepestResidency) {
    EXPECT_EQ(answer_after_eight_periods_of_2ms<Released>(2500 * kUs).state, 1);
    EXPECT_EQ(answer_after_eight_periods_of_2ms<P1>(2500 * kUs).state, 1);
    EXPECT_EQ(answer_after_eight_periods_of_2ms<P2>(2500 * kUs).state, 1);
    EXPECT_EQ(answer_after_eight_periods_of_2ms<Rjw>(2500 * kUs).state, 1);
    EXPECT_EQ(answer_after_eight_periods_of_2ms<Leo>(2500 * kUs).state, 1);
    EXPECT_EQ(answer_after_eight_periods_of_2ms<Menu419>(2500 * kUs).state, 1);
}

template <class Menu>
class MenuOfMicroseconds : public ::testing::Test {};
using AllUs = ::testing::Types<Released, P1, P2, Rjw, Leo, Menu419, Menu420, Menu54>;
TYPED_TEST_SUITE(MenuOfMicroseconds, AllUs);

TYPED_TEST(MenuOfMicroseconds, KeepsARunningTickInWfiWhenShortGapsRepeat) {
    const StateTable table = hi6220();
    Primed<TypeParam> menu{table, TickLength{1000}};
    menu.live_through_nightmare();
    Device device;
    EXPECT_EQ(menu.select(running(3990 * kUs, 540 * kUs), device), kKeep(0));
    EXPECT_EQ(menu.predicted_us(), 984u);
}

TYPED_TEST(MenuOfMicroseconds, ReturnsStateZeroUnderALatencyLimitOfZero) {
    const StateTable table = hi6220();
    TypeParam menu{table, TickLength{250}};
    Device device;
    SelectInput input = running(50 * kMs, 4 * kMs);
    input.latency_limit_us = 0;
    EXPECT_EQ(menu.select(input, device).state, 0);
}

/// The feed of the multiplier examples: five-millisecond gaps on a running tick.
Selection select_in_five_ms_gap(const SelectInput& changes) {
    const StateTable table = hi6220();
    Primed<Released> menu{table, TickLength{250}};
    menu.remember_eight(5000);
    Device device;
    SelectInput input = changes;
    input.sleep_length_ns = 5 * kMs;
    input.next_event_ns = 1200 * kUs;
    return menu.select(input, device);
}

TEST(Menu418Latency, WaitersForIoAndLoadMakeItImpatient) {
    EXPECT_EQ(select_in_five_ms_gap({}), kStop(2));
    EXPECT_EQ(select_in_five_ms_gap({.iowait = 1}), kKeep(0));
    EXPECT_EQ(select_in_five_ms_gap({.iowait = 2}), kKeep(0));
    EXPECT_EQ(select_in_five_ms_gap({.load = 1024}), kKeep(0));
}

TEST(Menu418Latency, ALimitShortensTheExpectedPeriodToTheStateThatItAllows) {
    EXPECT_EQ(select_in_five_ms_gap({.latency_limit_us = 1200}), kKeep(1));
    EXPECT_EQ(select_in_five_ms_gap({.latency_limit_us = 900}), kKeep(0));
}

TEST(MenuShortcut, StopsTheTickIn54ButNotIn420) {
    const StateTable table = hi6220();
    Device device;
    EXPECT_EQ((Menu420{table, TickLength{250}}.select(running(500 * kUs, 500 * kUs), device)), kKeep(0));
    EXPECT_EQ((Menu54{table, TickLength{250}}.select(running(500 * kUs, 500 * kUs), device)), kStop(0));
}

TEST(MenuLatencyLimit, KeepsTheTickIn420ButNotIn54) {
    const StateTable table = hi6220();
    const TickLength tick{250};
    Device device;
    SelectInput input = running(50 * kMs, 4 * kMs);
    input.latency_limit_us = 1200;
    Primed<Menu420> old{table, tick};
    Primed<Menu54> later{table, tick};
    EXPECT_EQ(old.remember_eight(50000).select(input, device), kKeep(1));
    EXPECT_EQ(later.remember_eight(50000).select(input, device), kStop(1));
}

/// Number of first selects that predict nothing at all.
template <class Menu, class Interval>
int selects_that_predict_zero(Interval interval_us) {
    const StateTable table = hi6220();
    Menu menu{table, TickLength{250}};
    Device device;
    int count = 0;
    for (int i = 0; i < 16; ++i) {
        menu.select(running(20 * kMs, 4 * kMs), device);
        if (menu.predicted_us() == 0) ++count;
        device.last_residency_ns = static_cast<std::uint64_t>(interval_us(i)) * 1000;
        menu.reflect(0, false, 0, device);
    }
    return count;
}

TEST(MenuColdStart, PredictsNothingForEightEqualOrThreeDistinctPeriods) {
    const auto equal = [](int) { return 3000; };
    const auto distinct = [](int i) { return 3000 + 900 * i * i; };
    EXPECT_EQ(selects_that_predict_zero<Released>(equal), 8);
    EXPECT_EQ(selects_that_predict_zero<Released>(distinct), 3);
}

}  // namespace
}  // namespace torpor::idle
