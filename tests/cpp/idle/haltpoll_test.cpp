// SPDX-License-Identifier: MIT
#include "torpor/idle/governors/haltpoll.hpp"

#include <gtest/gtest.h>

#include "governor_testing.hpp"

namespace torpor::idle {
namespace {

class HaltpollTest : public ::testing::Test {
  protected:
    Selection select() { return governor.select(input, device); }
    void halt_for(std::uint64_t ns) {
        device.last_residency_ns = ns;
        governor.reflect(1, false, 0, device);
    }
    void poll(bool timed_out) {
        device.poll_limit_hit = timed_out;
        governor.reflect(0, false, 0, device);
    }

    StateTable table{testing::polling_table()};
    HaltpollGovernor governor{table, TickLength{250}};
    Device device;
    SelectInput input;
};

TEST_F(HaltpollTest, HaltsUntilAHaltWasShort) {
    EXPECT_EQ(select(), (Selection{1, true}));
}

TEST_F(HaltpollTest, PollsAfterAShortHalt) {
    halt_for(30000);
    EXPECT_EQ(governor.poll_limit_ns(), 50000);
    EXPECT_EQ(select(), (Selection{0, false}));
}

TEST_F(HaltpollTest, HaltsWhenThePollTimedOutAndPollsOnWhenItDidNot) {
    halt_for(30000);
    poll(true);
    EXPECT_EQ(select(), (Selection{1, true}));
    poll(false);
    EXPECT_EQ(select(), (Selection{0, false}));
}

TEST_F(HaltpollTest, DoublesItsLimitUpToTwoHundredMicroseconds) {
    halt_for(60000);
    halt_for(60000);
    EXPECT_EQ(governor.poll_limit_ns(), 100000);
    halt_for(100000);
    EXPECT_EQ(governor.poll_limit_ns(), 100000);
    halt_for(200000);
    halt_for(200000);
    EXPECT_EQ(governor.poll_limit_ns(), 200000);
}

TEST_F(HaltpollTest, HalvesItsLimitAfterALongHalt) {
    halt_for(60000);
    halt_for(200001);
    EXPECT_EQ(governor.poll_limit_ns(), 25000);
}

TEST_F(HaltpollTest, ReturnsStateZeroUnderALatencyLimitOfZero) {
    input.latency_limit_us = 0;
    EXPECT_EQ(select(), (Selection{0, false}));
}

}  // namespace
}  // namespace torpor::idle
