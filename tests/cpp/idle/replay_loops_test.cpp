// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>

#include "replay_trace.hpp"
#include "torpor/base/error.hpp"
#include "torpor/idle/replay/replay.hpp"
#include "torpor/idle/replay/score.hpp"

namespace torpor::idle {
namespace {

// One period of 41 ms with the tick stopped and no timer, ended by an interrupt that leaves no line, between
// two tasks.
TraceText one_long_period() {
    TraceText text;
    text.row("task-9", "d.h..", 999990, TraceText::start("aa", "tick_sched_timer", 1004000));
    text.to_idle(1000000, "task").stop_tick(1000005, 2000000).enter(1000010, 2).leave(1041000);
    text.row("<idle>-0", "dN...", 1041005, TraceText::start("aa", "tick_sched_timer", 1044000));
    text.to_task(1041010, "task");
    return text;
}

ReplayRules free_from_the_start() {
    ReplayRules rules;
    rules.warm_up = 0;
    return rules;
}

ClosedCpu replay_one(const TraceText& text, const char* policy, const ReplayRules& rules,
                     bool polling = false) {
    const TraceWalk walk = walk_text(text, polling);
    const WalkOptions options;
    return replay_closed(walk, sample_tables(polling), options.tick, parse_policy(policy), rules,
                         measure_costs(walk, options))
        .at(0);
}

TEST(ClosedLoop, PolicyThatStopsTheTickSleepsThroughThePeriod) {
    const ClosedCpu cpu = replay_one(one_long_period(), "fixed(state=2)", free_from_the_start());
    ASSERT_EQ(cpu.periods.size(), 1U);
    EXPECT_EQ(cpu.periods[0].exit_ns, 1041000000);
    EXPECT_TRUE(cpu.periods[0].awaited);
    EXPECT_EQ(cpu.tick_stops, 1);
}

TEST(ClosedLoop, PolicyThatKeepsTheTickIsWokenByEveryOne) {
    const ClosedCpu cpu =
        replay_one(one_long_period(), "fixed(state=0, stop_tick=false)", free_from_the_start());
    ASSERT_EQ(cpu.periods.size(), 11U);  // ten ticks, from 1.004 to 1.040 s, and the interrupt
    EXPECT_EQ(cpu.periods[0].wake, WakeKind::tick);
    EXPECT_EQ(cpu.periods[0].exit_ns / 4000000, 1004000000 / 4000000);
    EXPECT_EQ(cpu.periods[10].wake, WakeKind::outside);
    EXPECT_EQ(cpu.tick_stops, 0);
}

TEST(ClosedLoop, StoppedTicksTimerWakesAtTheWheelExpiry) {
    TraceText text;
    text.row("task-9", "d.h..", 999990, TraceText::start("aa", "tick_sched_timer", 1004000));
    text.to_idle(1000000, "task").enter(1000010, 0).leave(1004002).tick(1004004, 1008000);
    text.stop_tick(1004020, 1020000).enter(1004030, 2).leave(1020001);
    text.interrupt(1020003, "hrtimer_expire_entry: hrtimer=aa function=tick_sched_timer now=1020002000");
    text.idle(1020020, TraceText::start("aa", "tick_sched_timer", 1032000)).enter(1020030, 2).leave(1025000);
    text.to_task(1025010, "task");
    const ClosedCpu cpu = replay_one(text, "fixed(state=2)", free_from_the_start());
    ASSERT_EQ(cpu.periods.size(), 2U);  // the recorded tick does not exist for this policy
    EXPECT_EQ(cpu.periods[0].exit_ns, 1020001000);
    EXPECT_FALSE(cpu.periods[0].awaited);
    EXPECT_EQ(cpu.periods[1].exit_ns, 1025000000);
}

TEST(ClosedLoop, WarmUpTakesTheRecordedStates) {
    const ClosedCpu cpu = replay_one(one_long_period(), "fixed(state=0, stop_tick=false)", ReplayRules{});
    ASSERT_EQ(cpu.periods.size(), 1U);
    EXPECT_TRUE(cpu.periods[0].recorded);
    EXPECT_EQ(cpu.periods[0].state, 2);
    EXPECT_EQ(cpu.tick_stops, 1);
}

TEST(ClosedLoop, PollingPolicyGivesUpAtItsLimit) {
    TraceText text;
    text.to_idle(1000000, "task").enter(1000010, 1).leave(1001010).to_task(1001020, "task");
    const ClosedCpu cpu = replay_one(text, "fixed(state=0, stop_tick=false)", free_from_the_start(), true);
    ASSERT_GE(cpu.periods.size(), 4U);
    EXPECT_EQ(cpu.periods[0].wake, WakeKind::poll_limit);
    EXPECT_EQ(cpu.periods[0].exit_ns - cpu.periods[0].entry_ns, 250000);  // a sixteenth of the tick
}

TEST(ClosedLoop, OracleKnowsTheNextWakeup) {
    const ClosedCpu cpu = replay_one(one_long_period(), "oracle", free_from_the_start());
    ASSERT_EQ(cpu.periods.size(), 1U);
    EXPECT_EQ(cpu.periods[0].state, 2);
    TraceText brief;
    brief.to_idle(1000000, "task").enter(1000010, 2).leave(1000610).to_task(1000620, "task");
    EXPECT_EQ(replay_one(brief, "oracle", free_from_the_start()).periods.at(0).state, 0);
}

TEST(ClosedLoop, OracleKeepsALatencyLimit) {
    ReplayRules rules = free_from_the_start();
    rules.latency_limit_us = 1000;
    EXPECT_EQ(replay_one(one_long_period(), "oracle", rules).periods.at(0).state, 1);
}

TEST(ClosedLoop, DelayedOracleWaitsInTheShallowestStateFirst) {
    const ClosedCpu cpu =
        replay_one(one_long_period(), "delayed_oracle(delay_us=500)", free_from_the_start());
    ASSERT_EQ(cpu.periods.size(), 2U);
    EXPECT_EQ(cpu.periods[0].state, 0);
    EXPECT_EQ(cpu.periods[0].exit_ns - cpu.periods[0].entry_ns, 500000);
    EXPECT_EQ(cpu.periods[1].state, 2);
}

TEST(OpenLoop, StopThatTheTraceDoesNotShowMeansANeededTick) {
    TraceText text;
    text.row("task-9", "d.h..", 999990, TraceText::start("aa", "tick_sched_timer", 1004000));
    text.to_idle(1000000, "task").enter(1000010, 1).leave(1003000).to_task(1003010, "task");
    const TraceWalk walk = walk_text(text);
    ReplayRules rules;
    const Policy policy = parse_policy("fixed(state=1)");
    const OpenChoice with = replay_open(walk, sample_tables(), TickLength{250}, policy, rules).at(0).at(0);
    EXPECT_TRUE(with.needed);
    EXPECT_FALSE(with.stopped);
    rules.contradiction = false;
    const OpenChoice without = replay_open(walk, sample_tables(), TickLength{250}, policy, rules).at(0).at(0);
    EXPECT_TRUE(without.stopped);
}

TEST(OpenLoop, RefusesBounds) {
    const TraceWalk walk = walk_text(one_long_period());
    EXPECT_THROW(replay_open(walk, sample_tables(), TickLength{250}, Oracle{}, ReplayRules{}), ConfigError);
}

board::Board board_with(std::optional<Power> power) {
    const auto state = [&](const char* name, std::int64_t wake_us, std::int64_t latency_us,
                           std::int64_t residency_us, double mw) {
        board::IdleState one{.name = name,
                             .wake_latency = from_us(wake_us),
                             .exit_latency = from_us(latency_us),
                             .target_residency = from_us(residency_us)};
        if (power) one.power = Power::mw(mw);
        return one;
    };
    board::Board board;
    board.name = "one";
    board.clusters = {{.name = "c",
                       .cpus = {0},
                       .opps = {{.frequency = Frequency::mhz(1000), .power = power}},
                       .idle_states = {state("WFI", 3, 1, 1, 10.0), state("cpu-sleep", 250, 950, 1000, 2.0),
                                       state("cluster-sleep", 700, 1500, 2700, 1.0)}}};
    return board;
}

ReplayScore score_of_record(const board::Board& board) {
    const TraceWalk walk = walk_text(one_long_period());
    const std::vector<std::size_t> opps{0};
    return score_periods(walk, recorded_periods(walk), board, opps);
}

TEST(ReplayScore, EnergyIsBusyTimeIdleTimeAndTransition) {
    const ReplayScore score = score_of_record(board_with(Power::mw(100.0)));
    // 30 us busy at 100 mW, 40990 us at 1 mW; 8 mW times 1000 us and 1 mW times 2700 us for going down two
    // states.
    EXPECT_NEAR(score.energy_mj, 0.0030 + 0.04099 + 0.0080 + 0.0027, 1e-9);
    EXPECT_NEAR(score.cpus.at(0).energy_mj, score.energy_mj, 1e-12);
}

TEST(ReplayScore, EnergyIsUnknownWithoutPower) {
    EXPECT_TRUE(std::isnan(score_of_record(board_with(std::nullopt)).energy_mj));
}

TEST(ReplayScore, LatencyIsThatOfTheStateFound) {
    const ReplayScore score = score_of_record(board_with(std::nullopt));
    EXPECT_EQ(score.latency.wakeups, 1);
    EXPECT_EQ(score.latency.max_ns, 700000);
}

TEST(ReplayScore, CountsTooShallowEntriesAsTheKernelDoes) {
    const TraceWalk walk = walk_text(one_long_period());
    const board::Board board = board_with(std::nullopt);
    const std::vector<std::size_t> opps{0};
    const WalkOptions options;
    const auto shallow = replay_closed(walk, tables_of(board), options.tick, parse_policy("fixed(state=0)"),
                                       free_from_the_start(), measure_costs(walk, options));
    const ReplayScore score = score_periods(walk, shallow, board, opps);
    EXPECT_EQ(score.cpus.at(0).states[0].below, 1);
    EXPECT_EQ(score.cpus.at(0).states[0].above, 0);
}

}  // namespace
}  // namespace torpor::idle
