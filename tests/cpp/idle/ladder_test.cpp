// SPDX-License-Identifier: MIT
#include "torpor/idle/governors/ladder.hpp"

#include <gtest/gtest.h>

#include "governor_testing.hpp"

namespace torpor::idle {
namespace {

using testing::hi6220;
using testing::kMs;
using testing::kUs;
using testing::polling_table;

class LadderTest : public ::testing::Test {
  protected:
    int idle_for(std::int64_t residency_ns) {
        device.last_residency_ns = static_cast<std::uint64_t>(residency_ns);
        const Selection selection = ladder.select(input, device);
        EXPECT_TRUE(selection.stop_tick);
        ladder.reflect(selection.state, false, 0, device);
        return selection.state;
    }
    int climb_to(int state) {
        int reached = ladder.current();
        for (int i = 0; i < 20 && reached < state; ++i) reached = idle_for(50 * kMs);
        return reached;
    }

    StateTable table{hi6220()};
    Ladder61 ladder{table, TickLength{250}};
    Device device;
    SelectInput input;
};

TEST_F(LadderTest, ClimbsAfterFourLongPeriods) {
    EXPECT_EQ(idle_for(50 * kMs), 0);
    EXPECT_EQ(idle_for(50 * kMs), 0);
    EXPECT_EQ(idle_for(50 * kMs), 0);
    EXPECT_EQ(idle_for(50 * kMs), 1);
}

TEST_F(LadderTest, StepsBackAfterOnePeriodBetweenOneAndTwoLatencies) {
    ASSERT_EQ(climb_to(2), 2);
    EXPECT_EQ(idle_for(2 * 1500 * kUs - 1), 1);
}

TEST_F(LadderTest, TakesAPeriodShorterThanTheLatencyForAVeryLongOne) {
    ASSERT_EQ(climb_to(1), 1);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(idle_for(949 * kUs), 1);
    EXPECT_EQ(idle_for(0), 2);
}

TEST_F(LadderTest, NeverStepsBackAfterAPeriodShorterThanTheLatency) {
    ASSERT_EQ(climb_to(2), 2);
    for (int us = 0; us < 1500; us += 7) ASSERT_EQ(idle_for(us * kUs), 2);
}

TEST_F(LadderTest, StepsBackWithinTheLatencyLimitWhateverIsDisabled) {
    ASSERT_EQ(climb_to(2), 2);
    input.latency_limit_us = 1000;
    input.disabled = 0b010;
    EXPECT_EQ(idle_for(50 * kMs), 1);
}

TEST_F(LadderTest, LeavesADisabledState) {
    ASSERT_EQ(climb_to(2), 2);
    input.disabled = 0b100;
    EXPECT_EQ(idle_for(50 * kMs), 1);
}

TEST_F(LadderTest, GoesToStateZeroUnderALatencyLimitOfZero) {
    ASSERT_EQ(climb_to(1), 1);
    input.latency_limit_us = 0;
    EXPECT_EQ(idle_for(50 * kMs), 0);
}

TEST(LadderWithPolling, StartsAboveThePollingStateAndLeavesItAtOnce) {
    const StateTable table = polling_table();
    Ladder61 ladder{table, TickLength{250}};
    EXPECT_EQ(ladder.current(), 1);
    Device device;
    ladder.select({.latency_limit_us = 0}, device);
    ASSERT_EQ(ladder.current(), 0);
    device.last_residency_ns = 1;
    EXPECT_EQ(ladder.select({}, device).state, 1);
}

}  // namespace
}  // namespace torpor::idle
