// SPDX-License-Identifier: MIT
// Sleeps of all kinds and shared locks.
#include <gtest/gtest.h>

#include "worlds.hpp"

namespace torpor::dpm {
namespace {

Scenario sleeping(std::vector<std::vector<Segment>> callbacks, int cpus) {
    GraphSpec spec;
    spec.in_list_order = true;
    for (std::size_t i = 0; i < callbacks.size(); ++i) {
        spec.devices.push_back(called(std::string(1, static_cast<char>('A' + static_cast<char>(i)))));
        spec.devices.back().callbacks = {};
        spec.devices.back().callbacks[index_of(Phase::resume)] = callbacks[i];
    }
    Scenario scenario = reference_scenario(compiled(spec), cpus);
    scenario.tick_ns = 100;
    return scenario;
}

TEST(TickSleep, EndsOnTheGridOfTicks) {
    Scenario scenario = sleeping({{{SegmentKind::cpu, 30, 0}, {SegmentKind::tick_sleep, 2, 0}}}, 1);
    scenario.since_tick_ns = 0;
    EXPECT_EQ((Ran{scenario, "sync"}.phase(Phase::resume).ns), 200);
    scenario.since_tick_ns = 60;
    EXPECT_EQ((Ran{scenario, "sync"}.phase(Phase::resume).ns), 140);
    scenario.since_tick_ns = 80;
    EXPECT_EQ((Ran{scenario, "sync"}.phase(Phase::resume).ns), 220);
}

TEST(TickSleep, DrawsThePhaseOfTheGridForEachCycle) {
    Scenario scenario = sleeping({{{SegmentKind::tick_sleep, 1, 0}}}, 1);
    scenario.tick_ns = 1'000'000;
    scenario.since_tick_ns.reset();
    scenario.cycles = 2;
    const Ran ran{scenario, "sync"};
    EXPECT_NE(ran.phase(Phase::resume, 0).ns, ran.phase(Phase::resume, 1).ns);
    EXPECT_EQ((Ran{scenario, "old"}.phase(Phase::resume, 0).ns), ran.phase(Phase::resume, 0).ns);
}

TEST(TickSleep, ThoseThatEndTogetherRunInAnOrderThatIsDrawn) {
    const std::vector<Segment> sleep{{SegmentKind::tick_sleep, 1, 0}, {SegmentKind::cpu, 10, 0}};
    Scenario scenario = sleeping({sleep, sleep}, 1);
    scenario.cycles = 1;
    Model model{scenario, parse_policy("breadth-first")};
    int first_first = 0;
    for (std::uint64_t i = 0; i < 40; ++i) {
        model.run({1, i}, {});
        const std::vector<Interval> intervals = model.intervals();
        const std::size_t resume = index_of(Phase::resume) * 2;
        if (intervals[resume].end_ns < intervals[resume + 1].end_ns) ++first_first;
    }
    EXPECT_GT(first_first, 8);
    EXPECT_LT(first_first, 32);
}

TEST(RangeSleep, LastsToItsEndWhenNothingHappens) {
    EXPECT_EQ((Ran{sleeping({{{SegmentKind::range_sleep, 40, 90}}}, 1), "sync"}.phase(Phase::resume).ns), 90);
}

TEST(RangeSleep, EndsWithATimerOfItsCpuInsideTheRange) {
    const auto end = [](std::int64_t other_ns, int cpus) {
        const Ran ran{
            sleeping({{{SegmentKind::range_sleep, 40, 90}}, {{SegmentKind::sleep, other_ns, 0}}}, cpus),
            "breadth-first"};
        return ran.of(Phase::resume, "A").end_ns;
    };
    EXPECT_EQ(end(30, 1), 90);
    EXPECT_EQ(end(40, 1), 40);
    EXPECT_EQ(end(70, 1), 70);
    EXPECT_EQ(end(95, 1), 90);
    EXPECT_EQ(end(70, 4), 90);
}

TEST(SharedLock, IsHeldByOneAtATimeInTheOrderOfAsking) {
    const std::vector<Segment> held{
        {SegmentKind::lock, 0, 0}, {SegmentKind::sleep, 50, 0}, {SegmentKind::unlock, 0, 0}};
    GraphSpec spec = in_list_order({called("A"), called("B"), called("C")});
    spec.locks = {"bus"};
    for (DeviceSpec& device : spec.devices) device.callbacks[index_of(Phase::resume)] = held;
    const Ran ran{reference_scenario(compiled(spec), 4), "breadth-first"};
    EXPECT_EQ(ran.phase(Phase::resume).ns, 150);
    EXPECT_EQ(ran.phase(Phase::resume).lock_blocks, 2);
    EXPECT_EQ(ran.phase(Phase::resume).bounds.sh_ns, 150);
    EXPECT_EQ(ran.of(Phase::resume, "A").lock_after, kNoDevice);
    EXPECT_EQ(ran.of(Phase::resume, "B").lock_after, 0);
    EXPECT_EQ(ran.of(Phase::resume, "C").lock_after, 1);
    EXPECT_EQ(ran.of(Phase::resume, "C").lock_wait_ns, 100);
}

TEST(Stuck, TwoLocksTakenInOppositeOrderAreReportedWithTheChain) {
    GraphSpec spec = in_list_order({called("A"), called("B")});
    spec.locks = {"bus", "clock"};
    for (const std::int64_t i : {0, 1}) {
        spec.devices[static_cast<std::size_t>(i)].callbacks[index_of(Phase::resume)] = {
            {SegmentKind::lock, i, 0},
            {SegmentKind::sleep, 5, 0},
            {SegmentKind::lock, 1 - i, 0},
            {SegmentKind::unlock, i, 0},
            {SegmentKind::unlock, 1 - i, 0}};
    }
    for (const char* policy : {"old", "old-inline", "breadth-first", "up-6.16", "up-6.17", "bound"}) {
        const Ran ran{reference_scenario(compiled(spec), 2), policy};
        EXPECT_EQ(ran.cycle().outcome, Outcome::stuck);
        EXPECT_EQ(ran.cycle().ended_in, Phase::resume);
        EXPECT_EQ(ran.result.stuck,
                  "resume cannot end: 'A' waits for lock 'clock', held by 'B'; 'B' waits for lock 'bus', "
                  "held by 'A'; "
                  "which closes the circle at 'A'")
            << policy;
    }
    EXPECT_EQ((Ran{reference_scenario(compiled(spec), 2), "sync"}.cycle().outcome), Outcome::done);
}

}  // namespace
}  // namespace torpor::dpm
