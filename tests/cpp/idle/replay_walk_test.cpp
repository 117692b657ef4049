// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "replay_trace.hpp"
#include "torpor/base/error.hpp"
#include "torpor/idle/replay/open_loop.hpp"

namespace torpor::idle {
namespace {

// Four decisions: under a running tick; with the tick stopped; before an hrtimer of the task that ran; after
// it.
class FourDecisions : public testing::Test {
  protected:
    static TraceText text() {
        TraceText trace;
        trace.enter(1000000, 1).leave(1004001).tick(1004004, 1008000);
        trace.row("<idle>-0", ".....", 1004015, "cpu_idle_miss: cpu_id=0 state=1 type=below");
        trace.stop_tick(1004020, 1020000).enter(1004025, 1).leave(1010000);
        trace.row("<idle>-0", "dN...", 1010005, "hrtimer_cancel: hrtimer=aa");
        trace.row("<idle>-0", "dN...", 1010007, TraceText::start("aa", "tick_sched_timer", 1012000));
        trace.to_task(1010010, "task");
        trace.row("task-9", "d....", 1010100, TraceText::start("bb", "hrtimer_wakeup", 1011100));
        trace.to_idle(1010110, "task").enter(1010115, 0).leave(1011105);
        trace.interrupt(1011107, "hrtimer_expire_entry: hrtimer=bb function=hrtimer_wakeup now=1011106000");
        trace.enter(1011125, 1).leave(1011200);
        return trace;
    }

    FourDecisions() : walk{walk_text(text())}, decisions{walk.cpus.at(0).decisions} {}

    TraceWalk walk;
    const std::vector<TraceDecision>& decisions;
};

TEST_F(FourDecisions, AreAllFound) {
    ASSERT_EQ(decisions.size(), 4U);
}

TEST_F(FourDecisions, KeepStateAndResidencyWithoutTheLinesOwnCost) {
    EXPECT_EQ(decisions[0].state, 1);
    EXPECT_EQ(decisions[0].residency_ns, 4000000);
}

TEST_F(FourDecisions, TellWhatEndedThem) {
    EXPECT_EQ(decisions[0].end, PeriodEnd::loop);
    EXPECT_EQ(decisions[0].cause, kCauseTick);
    EXPECT_TRUE(decisions[0].got_tick);
    EXPECT_EQ(decisions[1].end, PeriodEnd::task);
    EXPECT_EQ(decisions[1].cause, 0);
    EXPECT_FALSE(decisions[1].got_tick);
    EXPECT_EQ(decisions[2].end, PeriodEnd::loop);
    EXPECT_EQ(decisions[2].cause, kCauseHrtimer);
    EXPECT_EQ(decisions[3].end, PeriodEnd::window);
}

TEST_F(FourDecisions, FollowTheTick) {
    EXPECT_FALSE(decisions[0].stopped);
    EXPECT_TRUE(decisions[1].stops_tick());
    EXPECT_FALSE(decisions[2].stopped);  // restarted when the task was to run
    EXPECT_EQ(walk.cpus[0].tick_stops, 1);
}

TEST_F(FourDecisions, MeasureFromTheEndOfTheLastInterruptOrTheSwitch) {
    EXPECT_EQ(decisions[1].idle_entry_ns, 1004014000);  // one line before cpu_idle_miss
    EXPECT_EQ(decisions[2].idle_entry_ns, 1010111000);  // behind the switch
    EXPECT_EQ(decisions[3].idle_entry_ns, 1011120000);  // 5 us before the next line of the idle task
}

TEST_F(FourDecisions, SeeTheTimers) {
    EXPECT_EQ(decisions[0].wheel_ns, 1020000000);  // looked ahead from the stop
    EXPECT_EQ(decisions[1].wheel_ns, 1020000000);
    EXPECT_EQ(decisions[2].hrtimer_ns, 1011100000);
    EXPECT_EQ(decisions[2].tick_ns, 1012000000);
    EXPECT_EQ(decisions[3].hrtimer_ns, kNoTimer);
}

TEST_F(FourDecisions, GiveTheGovernorsInputs) {
    const TimerView stopping = recorded_view(decisions[1], false, 4000000);
    EXPECT_EQ(stopping.next_event_ns, 1008000000 - 1004014000);
    EXPECT_EQ(stopping.sleep_length_ns, 1020000000 - 1004014000);
    const TimerView before_timer = recorded_view(decisions[2], false, 4000000);
    EXPECT_EQ(before_timer.sleep_length_ns, 1011100000 - 1010111000);
}

TEST(TraceWalk, TickThatRcuNeedsLimitsTheSleepLengthToTheTick) {
    TraceText text;
    text.enter(1000000, 0).leave(1000100).to_task(1000110, "rcu_sched").to_idle(1000200, "rcu_sched");
    text.enter(1000300, 0).leave(1000500).to_task(1000510, "kworker/0:1").to_idle(1000600, "kworker/0:1");
    text.enter(1000700, 0).leave(1000900).to_task(1000910, "other").to_idle(1005000, "other");
    text.enter(1005100, 0).leave(1005200);
    const TraceWalk walk = walk_text(text, false, std::vector<std::string>{"other"});
    const auto& decisions = walk.cpus.at(0).decisions;
    ASSERT_EQ(decisions.size(), 4U);
    EXPECT_FALSE(decisions[1].rcu_need);  // only RCU's thread ran so far
    EXPECT_TRUE(decisions[2].rcu_need);
    EXPECT_FALSE(decisions[3].rcu_need);  // the tick after the thread's last run is over
    EXPECT_EQ(recorded_view(decisions[2], true, 4000000).sleep_length_ns, 1004000000 - 1000601000);
}

TEST(TraceWalk, TasksOfTheWorkloadLeaveNoRcuCallbacks) {
    TraceText text;
    text.enter(1000000, 0).leave(1000100).to_task(1000110, "rcu_sched").to_idle(1000200, "rcu_sched");
    text.enter(1000300, 0).leave(1000500).to_task(1000510, "mine").to_idle(1000600, "mine");
    text.enter(1000700, 0).leave(1000900);
    EXPECT_FALSE(
        walk_text(text, false, std::vector<std::string>{"mine"}).cpus.at(0).decisions.at(2).rcu_need);
    EXPECT_TRUE(walk_text(text, false, std::vector<std::string>{}).cpus.at(0).decisions.at(2).rcu_need);
}

TEST(TraceWalk, PollingLimitLeavesTheIdleEntryWhereItWas) {
    TraceText text;
    text.to_idle(1000000, "task").enter(1000010, 0).leave(1000260).enter(1000262, 0).leave(1000512);
    text.to_task(1000520, "task");
    const auto decisions = walk_text(text, true).cpus.at(0).decisions;
    ASSERT_EQ(decisions.size(), 2U);
    EXPECT_TRUE(decisions[0].polls_to_limit());
    EXPECT_EQ(decisions[1].idle_entry_ns, decisions[0].idle_entry_ns);
    EXPECT_FALSE(decisions[1].polls_to_limit());  // a task ended it
}

TEST(TraceWalk, HandlersMayStandBeforeTheExitLine) {
    TraceText text;
    text.enter(1000000, 1)
        .tick(1004002, 1008000)
        .leave(1004050)
        .enter(1004060, 1)
        .tick(1008002, 1012000)
        .leave(1008020);
    const TraceWalk walk = walk_text(text);
    EXPECT_TRUE(walk.handlers_before_exit);
    EXPECT_EQ(walk.cpus.at(0).decisions.at(1).idle_entry_ns, 1004049000);
}

TEST(TraceWalk, OverdueTickIsSeenAsOverdue) {
    TraceText text;
    text.enter(1000000, 1)
        .tick(1004002, 1008000)
        .leave(1008500)
        .enter(1008510, 1)
        .tick(1009000, 1012000)
        .leave(1009010);
    const TraceDecision decision = walk_text(text).cpus.at(0).decisions.at(1);
    EXPECT_LT(recorded_view(decision, false, 4000000).next_event_ns, 0);
}

TEST(TraceWalk, TimerArmedBeforeTheTraceExpiresOnTheGrid) {
    TraceText text;
    text.enter(1000000, 1).leave(1004101);
    text.interrupt(1004103, "hrtimer_expire_entry: hrtimer=cc function=watchdog_timer_fn now=1004102000");
    EXPECT_EQ(walk_text(text).cpus.at(0).decisions.at(0).hrtimer_ns, 1004000000);
}

TEST(TraceWalk, PeriodInProgressAtTheBeginningIsLeftOut) {
    TraceText text;
    text.leave(1000500).enter(1000510, 0).leave(1000600);
    const TraceWalk walk = walk_text(text);
    EXPECT_EQ(walk.cpus.at(0).decisions.size(), 1U);
    EXPECT_EQ(walk.cpus.at(0).idle_until_ns, 1000500000);
}

TEST(TraceWalk, PeriodWithoutExitLineEndsWithTheNextThing) {
    TraceText text;
    text.enter(1000000, 0).to_task(1000700, "task").to_idle(1000800, "task").enter(1000900, 0).leave(1000950);
    EXPECT_EQ(walk_text(text).cpus.at(0).decisions.at(0).exit_ns, 1000700000);
}

TEST(TraceWalk, SleepersWithTimersOfTheirOwnAreTheWorkload) {
    TraceText text;
    text.enter(1000000, 0);
    for (int i = 0; i < WalkOptions::kWorkloadSleeps; ++i) {
        text.row("mine-9", "d....", 1000100 + i, TraceText::start("bb", "hrtimer_wakeup", 1001000 + i));
    }
    text.row("rare-8", "d....", 1000200, TraceText::start("dd", "hrtimer_wakeup", 1001000));
    EXPECT_EQ(walk_text(text).workload_tasks, std::vector<std::string>{"mine"});
}

std::string error_of(const TraceText& text, int hz = 250) {
    try {
        const ftrace::TraceLog log{text.text(), "t"};
        WalkOptions options;
        options.tick = TickLength{hz};
        walk_trace(log, sample_tables(), options);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return {};
}

TEST(TraceWalk, TraceWithoutIdleEventsIsAnError) {
    TraceText text;
    text.to_task(1000000, "x");
    EXPECT_NE(error_of(text).find("no cpu_idle event in 1 rows"), std::string::npos) << error_of(text);
}

TEST(TraceWalk, StateBeyondTheTableIsAnErrorThatNamesCpuAndState) {
    TraceText text;
    text.enter(1000000, 3);
    EXPECT_NE(error_of(text).find("t:1: CPU 0 enters state 3"), std::string::npos) << error_of(text);
}

TEST(TraceWalk, CpuWithoutTableIsAnError) {
    TraceText text;
    text.enter(1000000, 0).idle(1000010, "cpu_idle: state=0 cpu_id=5");
    EXPECT_NE(error_of(text).find("CPU 5 of the trace has no idle table"), std::string::npos)
        << error_of(text);
}

TEST(TraceWalk, ArgumentThatCannotBeReadIsAnErrorThatNamesTheLine) {
    TraceText text;
    text.enter(1000000, 0).idle(1000010, "cpu_idle: state=x cpu_id=0");
    EXPECT_NE(error_of(text).find("t:2: event cpu_idle has no readable \"state=\""), std::string::npos);
}

TEST(TraceWalk, OtherTraceClockIsAnError) {
    TraceText text;
    text.enter(1000000, 0);
    text.interrupt(1000100, "hrtimer_expire_entry: hrtimer=bb function=hrtimer_wakeup now=5000000000");
    EXPECT_NE(error_of(text).find("the trace clock is not `mono`"), std::string::npos) << error_of(text);
}

TEST(TraceWalk, OtherHzThanTheTracesIsAnErrorThatNamesTheTraces) {
    TraceText text;
    text.enter(1000000, 0);
    for (int i = 1; i <= kLeastTicks; ++i) text.tick(1000002 + 4000 * i, 1004000 + 4000 * i);
    EXPECT_EQ(error_of(text, 250), "");
    EXPECT_NE(error_of(text, 1000).find("HZ = 250"), std::string::npos) << error_of(text, 1000);
    EXPECT_EQ(tick_hz_of(ftrace::TraceLog{text.text(), "t"}), 250);
}

}  // namespace
}  // namespace torpor::idle
