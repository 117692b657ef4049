// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "governor_testing.hpp"
#include "torpor/idle/governors/menu_6_1.hpp"
#include "torpor/idle/governors/menu_7_1.hpp"

namespace torpor::idle {
namespace {

using testing::hi6220;
using testing::kMs;
using testing::kUs;
using testing::polling_table;
using testing::Primed;
using testing::running;
using testing::stopped;

constexpr Selection kKeep(int state) {
    return {state, false};
}
constexpr Selection kStop(int state) {
    return {state, true};
}

template <class Menu>
class MenuOfNanoseconds : public ::testing::Test {};
using AllNs = ::testing::Types<Menu61, Menu61192, Menu612117, Menu70, Menu71>;
TYPED_TEST_SUITE(MenuOfNanoseconds, AllNs);

TYPED_TEST(MenuOfNanoseconds, KeepsARunningTickInWfiWhenShortGapsRepeat) {
    const StateTable table = hi6220();
    Primed<TypeParam> menu{table, TickLength{1000}};
    menu.live_through_nightmare();
    // Nothing to book, and not a refused entry either.
    Device device{.last_residency_ns = 1};
    EXPECT_EQ(menu.select(running(3990 * kUs, 540 * kUs), device), kKeep(0));
    EXPECT_EQ(menu.predicted_ns(), 984000);
}

TYPED_TEST(MenuOfNanoseconds, TreatsAnExpiredTimerAsZero) {
    const StateTable table = hi6220();
    TypeParam menu{table, TickLength{1000}};
    Device device;
    EXPECT_EQ(menu.select(running(-5 * kUs, -5 * kUs), device).state, 0);
    EXPECT_EQ(menu.next_timer_ns(), 0);
}

TYPED_TEST(MenuOfNanoseconds, KeepsFactorsInBoundsWhateverHappens) {
    const StateTable table = polling_table();
    TypeParam menu{table, TickLength{250}};
    Device device;
    std::mt19937_64 random{11};
    for (int i = 0; i < 20000; ++i) {
        SelectInput input = running(static_cast<std::int64_t>(random() >> (1 + random() % 63)), 1 * kMs);
        input.iowait = random() % 2;
        input.tick_stopped = random() % 3 == 0;
        menu.select(input, device);
        for (const std::uint32_t factor : menu.factors()) {
            ASSERT_GT(factor, 0u);
            ASSERT_LE(factor, kUnityFactor);
        }
        device.last_residency_ns = random() >> (random() % 64);
        device.poll_limit_hit = random() % 5 == 0;
        menu.reflect(static_cast<int>(random() % 3), random() % 4 == 0, 0, device);
    }
}

TYPED_TEST(MenuOfNanoseconds, ChoosesOnlyDisabledStatesWhenNothingElseIsLeft) {
    const StateTable table = hi6220();
    TypeParam menu{table, TickLength{250}};
    Device device;
    SelectInput input = running(100 * kMs, 4 * kMs);
    input.disabled = 0b111;
    EXPECT_EQ(menu.select(input, device).state, 0);
}

TEST(MenuRefusedEntry, IsStoredAsInvalidFrom61192On) {
    const StateTable table = hi6220();
    const TickLength tick{250};
    Device device;
    Menu61 released{table, tick};
    Menu61192 stable{table, tick};
    released.select(running(20 * kMs, 4 * kMs), device);
    stable.select(running(20 * kMs, 4 * kMs), device);
    EXPECT_EQ(released.history().position(), 0u);
    EXPECT_EQ(stable.history().position(), 1u);
    EXPECT_EQ(stable.history().values()[0], kNoTypicalInterval);
}

TEST(MenuOverflow, ProductOfAnAbsentTimerWrapsAsInTheKernel) {
    const StateTable table = hi6220();
    Primed<Menu61> menu{table, TickLength{250}};
    menu.remember({201, 758, 192, 769, 179, 782, 169, 792});  // no typical interval
    Device device;
    const std::int64_t sleep_ns = std::numeric_limits<std::int64_t>::max() - 1015345000;
    EXPECT_EQ(sleep_ns, 9223372035839430807);
    EXPECT_EQ(menu.select(running(sleep_ns, 4 * kMs), device), kStop(2));
    EXPECT_EQ(menu.predicted_ns(), std::int64_t{1235935236} * 1000);
}

/// A prediction of exactly one tick, the tick stopped and a latency limit below the deepest state's latency.
template <class Menu>
Selection answer_to_latency_defect() {
    const StateTable table = polling_table();
    Primed<Menu> menu{table, TickLength{1000}};
    menu.remember_eight(1000);
    Device device{.last_residency_ns = 1};
    SelectInput input = stopped(5 * kMs, 5 * kMs);
    input.latency_limit_us = 20;
    return menu.select(input, device);
}

TEST(MenuLatencyLimit, IsBrokenByOldReleasesWithTheTickStopped) {
    EXPECT_EQ(answer_to_latency_defect<Menu61>(), kStop(2));
    EXPECT_EQ(answer_to_latency_defect<Menu61192>(), kStop(2));
}

TEST(MenuLatencyLimit, IsKeptByNewReleasesWithTheTickStopped) {
    EXPECT_EQ(answer_to_latency_defect<Menu612117>(), kStop(1));
    EXPECT_EQ(answer_to_latency_defect<Menu70>(), kStop(1));
    EXPECT_EQ(answer_to_latency_defect<Menu71>(), kStop(1));
}

TEST(MenuLatencyLimit, IsNeverExceededByMenu71ExceptInTheFirstEnabledState) {
    const StateTable table = polling_table();
    Menu71 menu{table, TickLength{1000}};
    Device device;
    std::mt19937_64 random{3};
    for (int i = 0; i < 20000; ++i) {
        SelectInput input = running(static_cast<std::int64_t>(random() % (8 * kMs)), 1 * kMs);
        input.latency_limit_us = static_cast<std::int64_t>(random() % 300);
        input.tick_stopped = random() % 2 == 0;
        input.disabled = random() % 8;
        const int state = menu.select(input, device).state;
        int first = 0;
        while (first < 2 && !is_enabled(input, first)) ++first;
        if (state != first && state != 0) {
            ASSERT_LE(table.latency_us(state), input.latency_limit_us);
        }
        device.last_residency_ns = random() % (4 * kMs);
        menu.reflect(state, false, 0, device);
    }
}

template <class Menu>
Selection answer_before_timer_of_four_ms(int hz) {
    const StateTable table = hi6220();
    Primed<Menu> menu{table, TickLength{hz}};
    menu.remember({34726, 984, 984, 984, 984, 984, 984, 984});
    Device device{.last_residency_ns = 1};
    return menu.select(stopped(3990 * kUs, 3990 * kUs), device);
}

TEST(MenuSafeTimerRange, LetsMenu71TrustAShortPredictionWithinTwoTicks) {
    EXPECT_EQ(answer_before_timer_of_four_ms<Menu71>(250), kStop(0));
    EXPECT_EQ(answer_before_timer_of_four_ms<Menu70>(250), kStop(2));
    EXPECT_EQ(answer_before_timer_of_four_ms<Menu612117>(250), kStop(2));
}

TEST(MenuSafeTimerRange, IsNoHelpWhenTheTimerIsFarther) {
    EXPECT_EQ(answer_before_timer_of_four_ms<Menu71>(1000), kStop(2));
    EXPECT_EQ(answer_before_timer_of_four_ms<Menu70>(1000), kStop(2));
}

TEST(MenuTimerQuery, IsSkippedForShortIntervalsOnARunningTick) {
    const StateTable table = polling_table();
    Primed<Menu71> menu{table, TickLength{1000}};
    menu.remember_eight(10);
    Device device{.last_residency_ns = 1};
    menu.select(running(3 * kMs, 1 * kMs), device);
    EXPECT_EQ(menu.next_timer_ns(), std::numeric_limits<std::int64_t>::max());
    menu.select(stopped(3 * kMs, 3 * kMs), device);
    EXPECT_EQ(menu.next_timer_ns(), 3 * kMs);
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
        if (menu.predicted_ns() == 0) ++count;
        device.last_residency_ns = static_cast<std::uint64_t>(interval_us(i)) * 1000;
        menu.reflect(0, false, 0, device);
    }
    return count;
}

int equal_us(int) {
    return 3000;
}
int distinct_us(int i) {
    return 3000 + 900 * i * i;
}

TEST(MenuColdStart, PredictsNothingAsLongAsZerosPrevail) {
    EXPECT_EQ(selects_that_predict_zero<Menu61>(equal_us), 8);
    EXPECT_EQ(selects_that_predict_zero<Menu61>(distinct_us), 3);
}

TEST(MenuColdStart, IsOneSelectShorterWhenTheFirstStoresAnInvalidInterval) {
    EXPECT_EQ(selects_that_predict_zero<Menu61192>(equal_us), 7);
    EXPECT_EQ(selects_that_predict_zero<Menu61192>(distinct_us), 2);
}

TEST(MenuColdStart, IsGoneWhereZerosAreNoPattern) {
    EXPECT_EQ(selects_that_predict_zero<Menu612117>(equal_us), 0);
    EXPECT_EQ(selects_that_predict_zero<Menu70>(equal_us), 0);
    EXPECT_EQ(selects_that_predict_zero<Menu71>(distinct_us), 0);
}

}  // namespace
}  // namespace torpor::idle
