// SPDX-License-Identifier: MIT
#include "torpor/idle/counters.hpp"

#include <gtest/gtest.h>

#include <array>

namespace torpor::idle {
namespace {

// hi6220: exit latency / target residency 1/1, 950/1000, 1500/2700 us.
const StateTable kTable{std::array<GovernorState, 3>{GovernorState{1000, 1000, false},
                                                     GovernorState{950000, 1000000, false},
                                                     GovernorState{1500000, 2700000, false}}};

StateCounters booked(int state, std::int64_t residency_ns, std::uint32_t disabled = 0) {
    Counters counters;
    counters.book(kTable, state, residency_ns, disabled);
    return counters.states()[static_cast<std::size_t>(state)];
}

TEST(Counters, ShorterThanTheTargetResidencyIsTooDeep) {
    EXPECT_EQ(booked(2, 2699999).above, 1);
    EXPECT_EQ(booked(2, 2700000).above, 0);
}

TEST(Counters, TooDeepNeedsAnEnabledShallowerState) {
    EXPECT_EQ(booked(2, 10, 0b011).above, 0);
    EXPECT_EQ(booked(2, 10, 0b001).above, 1);
    EXPECT_EQ(booked(0, 10).above, 0);
}

TEST(Counters, LongEnoughForTheNextStateAfterTheExitLatencyIsTooShallow) {
    EXPECT_EQ(booked(1, 950000 + 2700000).below, 1);
    EXPECT_EQ(booked(1, 950000 + 2699999).below, 0);
}

TEST(Counters, TooShallowLooksAtTheFirstEnabledDeeperStateOnly) {
    EXPECT_EQ(booked(0, 2000000, 0b010).below, 0);
    EXPECT_EQ(booked(0, 2000000).below, 1);
    EXPECT_EQ(booked(2, 1000000000).below, 0);
}

TEST(Counters, ResidencyAndUsageAddUp) {
    Counters counters;
    counters.book(kTable, 1, 5, 0);
    counters.book(kTable, 1, 7, 0);
    counters.reject(1);
    EXPECT_EQ(counters.states()[1].residency_ns, 12);
    EXPECT_EQ(counters.states()[1].usage, 2);
    EXPECT_EQ(counters.states()[1].rejected, 1);
}

}  // namespace
}  // namespace torpor::idle
