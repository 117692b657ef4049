// SPDX-License-Identifier: MIT
#include "torpor/idle/tick.hpp"

#include <gtest/gtest.h>

namespace torpor::idle {
namespace {

constexpr std::int64_t kMs = 1000000;

Tick running_tick(TickLoop loop) {
    Tick tick{TickLength{1000}, loop};
    tick.reset(0);
    return tick;
}

TEST(Tick, StartsOnePeriodFromAGridThroughZero) {
    EXPECT_EQ(running_tick(TickLoop::v4_19).due_ns(), 1 * kMs);
}

TEST(Tick, StartsAtItsPhase) {
    Tick tick{TickLength{1000}, TickLoop::v4_19};
    tick.reset(300000);
    EXPECT_EQ(tick.due_ns(), 300000);
    EXPECT_EQ(tick.grid_before(299999), 300000 - 1 * kMs);
    EXPECT_EQ(tick.grid_before(300000), 300000);
}

// Example X16: saved at 7 ms, restarted at 12.306 ms and exactly at 13 ms.
TEST(Tick, RestartsAtTheFirstGridPointThatLiesAhead) {
    for (const auto& [now_ns, due_ns] : {std::pair{12306000L, 13 * kMs}, std::pair{13 * kMs, 14 * kMs}}) {
        Tick tick = running_tick(TickLoop::leo);
        while (tick.due_ns() < 7 * kMs) tick.serve(tick.due_ns());
        tick.apply(true, true, 6500000, kNoTimer);
        ASSERT_TRUE(tick.stopped());
        tick.restart(now_ns);
        EXPECT_FALSE(tick.stopped());
        EXPECT_EQ(tick.due_ns(), due_ns);
    }
}

TEST(Tick, RestartsAtTheSavedTimeIfThatLiesAhead) {
    Tick tick = running_tick(TickLoop::v4_19);
    tick.apply(true, true, 200000, kNoTimer);
    tick.restart(400000);
    EXPECT_EQ(tick.due_ns(), 1 * kMs);
}

TEST(Tick, WheelTimersExpireOnTheGrid) {
    Tick tick{TickLength{1000}, TickLoop::v4_19};
    tick.reset(300000);
    EXPECT_EQ(tick.grid_from(300000), 300000);
    EXPECT_EQ(tick.grid_from(300001), 1300000);
    EXPECT_EQ(tick.grid_from(kNoTimer), kNoTimer);
}

TEST(Tick, Loop417LeavesAStoppedTickAndItsAimAlone) {
    Tick tick = running_tick(TickLoop::v4_17);
    tick.apply(true, true, 0, 5 * kMs);
    tick.apply(false, true, 2 * kMs, 9 * kMs);
    EXPECT_TRUE(tick.stopped());
    EXPECT_EQ(tick.due_ns(), 5 * kMs);
    EXPECT_EQ(tick.restarts_in_loop(), 0);
}

TEST(Tick, LoopLeoRestartsAStoppedTickWhenTheGovernorKeepsIt) {
    Tick tick = running_tick(TickLoop::leo);
    tick.apply(true, true, 0, kNoTimer);
    tick.apply(false, true, 2500000, kNoTimer);
    EXPECT_FALSE(tick.stopped());
    EXPECT_EQ(tick.due_ns(), 3 * kMs);
    EXPECT_EQ(tick.restarts_in_loop(), 1);
}

TEST(Tick, Loop419StopsAgainAndRefreshesTheAim) {
    Tick tick = running_tick(TickLoop::v4_19);
    tick.apply(true, true, 0, 5 * kMs);
    tick.apply(false, true, 2 * kMs, 9 * kMs);
    EXPECT_TRUE(tick.stopped());
    EXPECT_EQ(tick.due_ns(), 9 * kMs);
    EXPECT_EQ(tick.stops(), 1);
}

TEST(Tick, IsKeptWhenTheWheelHasATimerWithinOnePeriod) {
    const Tick tick = running_tick(TickLoop::v4_19);
    EXPECT_FALSE(tick.stoppable(3500000, 4 * kMs));
    EXPECT_TRUE(tick.stoppable(3500000, 5 * kMs));
}

TEST(Tick, StoppedAndExpiredItWaitsForTheNextSelect) {
    Tick tick = running_tick(TickLoop::v4_19);
    tick.apply(true, true, 0, 5 * kMs);
    tick.serve(5 * kMs);
    EXPECT_EQ(tick.due_ns(), kNoTimer);
}

}  // namespace
}  // namespace torpor::idle
