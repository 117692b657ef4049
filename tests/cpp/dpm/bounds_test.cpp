// SPDX-License-Identifier: MIT
// Lower bounds on the time of a phase: each by hand, and that no order is ever below them.
#include "torpor/dpm/bounds.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "worlds.hpp"

namespace torpor::dpm {
namespace {

using sched::FairMachine;
using sched::FairRules;

constexpr std::int64_t kTick = 4'000'000;

std::vector<Segment> work(std::int64_t scaled, std::int64_t fixed = 0) {
    return {{SegmentKind::cpu, scaled, fixed}};
}

FairMachine machine_of(const std::vector<double>& rates) {
    FairMachine machine;
    for (const double rate : rates) machine.cpus.push_back({rate, 1024, 1.0, 0, {}});
    return machine;
}

/// A, its children B and C, and D, child of B with supplier C, each with that much work in every phase.
Graph diamond() {
    return compile(
        in_list_order({called("A"), called("B", "A"), called("C", "A"), called("D", "B")}, {{"C", "D"}}));
}

/// The bounds after devices 0, 1, ... have been executed with these segments.
Bounds bounds_of(const Graph& graph, const FairMachine& machine, const FairRules& rules, bool resume,
                 const std::vector<std::vector<Segment>>& segments) {
    PhaseBounds bounds{machine, rules, kTick};
    bounds.begin(graph);
    for (std::size_t i = 0; i < segments.size(); ++i)
        bounds.add(static_cast<std::int32_t>(i), segments[i], 1.0);
    return bounds.finish(graph, resume, 0, 0);
}

TEST(LengthOfACallback, AddsUpWorkAndSleeps) {
    const std::vector<Segment> segments{{SegmentKind::cpu, 10, 3},
                                        {SegmentKind::sleep, 20, 0},
                                        {SegmentKind::lock, 0, 0},
                                        {SegmentKind::cpu, 1, 2},
                                        {SegmentKind::unlock, 0, 0}};
    const CallbackLength length = length_of(segments, 1.0, kTick);
    EXPECT_EQ(length.scaled_ns, 11);
    EXPECT_EQ(length.fixed_ns, 5);
    EXPECT_EQ(length.asleep_ns, 20);
}

TEST(LengthOfACallback, GrowsWithItsFactorButForTicksAndRanges) {
    const std::vector<Segment> segments{
        {SegmentKind::cpu, 10, 4}, {SegmentKind::sleep, 20, 0}, {SegmentKind::range_sleep, 7, 9}};
    const CallbackLength length = length_of(segments, 1.5, kTick);
    EXPECT_EQ(length.scaled_ns, 15);
    EXPECT_EQ(length.fixed_ns, 6);
    EXPECT_EQ(length.asleep_ns, 30 + 7);
}

TEST(LengthOfACallback, OfATickSleepIsOnePeriodLessThanItsTicks) {
    const std::vector<Segment> one{{SegmentKind::tick_sleep, 1, 0}};
    const std::vector<Segment> three{{SegmentKind::tick_sleep, 3, 0}};
    EXPECT_EQ(length_of(one, 1.0, kTick).asleep_ns, 0);
    EXPECT_EQ(length_of(three, 1.0, kTick).asleep_ns, 2 * kTick);
}

TEST(CriticalPath, FollowsParentsAndLinks) {
    const std::vector<std::vector<Segment>> segments{work(2), work(3), work(5), work(1)};
    const FairMachine two = machine_of({1.0, 1.0});
    for (const bool resume : {true, false}) {
        const Bounds bounds = bounds_of(diamond(), two, {}, resume, segments);
        EXPECT_EQ(bounds.cp_ns, 8);
        EXPECT_EQ(bounds.w_ns, 5);
        EXPECT_EQ(bounds.sum_ns, 11);
        EXPECT_EQ(bounds.bound_ns(), 8);
    }
}

TEST(CriticalPath, IsThatOfTheFastestCpu) {
    const Bounds bounds =
        bounds_of(diamond(), machine_of({0.25, 0.5}), {}, true, {work(2, 10), {}, {}, work(1)});
    EXPECT_EQ(bounds.cp_ns, 4 + 10 + 2);
}

TEST(CriticalPath, DoesNotGoThroughWhatWaitsForNothing) {
    for (const bool resume : {true, false}) {
        PhaseBounds bounds{machine_of({1.0}), {}, kTick};
        const Graph graph = compile(in_list_order({called("A"), called("B", "A"), called("C", "B")}));
        bounds.begin(graph);
        bounds.add(0, work(5), 1.0);
        bounds.add(2, work(7), 1.0);
        EXPECT_EQ(bounds.finish(graph, resume, 0, 0).cp_ns, 12);
        bounds.waits_for_nothing(1);
        EXPECT_EQ(bounds.finish(graph, resume, 0, 0).cp_ns, 7);
    }
}

TEST(WorkBound, SharesWorkAmongAllCpusByTheirRates) {
    const Bounds bounds = bounds_of(diamond(), machine_of({1.0, 0.5, 0.5}), {}, true, {work(10), work(10)});
    EXPECT_EQ(bounds.w_ns, 10);
}

TEST(WorkBound, CountsHeldCpusOneEach) {
    // 30 held on three CPUs, whatever their rates; that is more than all scaled work over all rates.
    const Bounds bounds =
        bounds_of(diamond(), machine_of({1.0, 0.5, 0.5}), {}, true, {work(0, 15), work(3, 12)});
    EXPECT_EQ(bounds.w_ns, 10);
}

TEST(WorkBound, OfSharedCpusIsWhatTheFastestCanDoTogether) {
    FairRules rules;
    rules.shared_cpus = 1.0;
    const std::vector<std::vector<Segment>> segments{work(10), work(10)};
    EXPECT_EQ(bounds_of(diamond(), machine_of({1.0, 1.0}), rules, true, segments).w_ns, 20);
    // The big CPU alone does more than both at half their speed.
    EXPECT_EQ(bounds_of(diamond(), machine_of({1.0, 0.1}), rules, true, segments).w_ns, 20);
    rules.shared_cpus = 2.0;
    // Two at full speed do 1.5, all three at two thirds 1.33.
    EXPECT_EQ(bounds_of(diamond(), machine_of({0.5, 0.5, 1.0}), rules, true, {work(30)}).w_ns, 20);
}

TEST(QueueBound, IsWhatTheMainThreadPaysOnTheFastestCpu) {
    PhaseBounds bounds{machine_of({0.5, 0.25}), {}, kTick};
    const Graph graph = diamond();
    bounds.begin(graph);
    const Bounds found = bounds.finish(graph, true, 7, 10);
    EXPECT_EQ(found.ovh_ns, 140);
    EXPECT_EQ(found.bound_ns(), 140);
}

TEST(LockBound, AddsUpTheHoldsOfTheBusiestLock) {
    Graph graph = diamond();
    graph.locks = {"x", "y"};
    const std::vector<Segment> x{{SegmentKind::cpu, 100, 0},  {SegmentKind::lock, 0, 0},
                                 {SegmentKind::cpu, 4, 2},    {SegmentKind::sleep, 5, 0},
                                 {SegmentKind::unlock, 0, 0}, {SegmentKind::cpu, 100, 0}};
    const std::vector<Segment> y{
        {SegmentKind::lock, 1, 0}, {SegmentKind::sleep, 12, 0}, {SegmentKind::unlock, 1, 0}};
    EXPECT_EQ(bounds_of(graph, machine_of({0.5}), {}, true, {x, x, y}).sh_ns, 30);
    EXPECT_EQ(bounds_of(graph, machine_of({0.5}), {}, true, {x, y, y, y}).sh_ns, 36);
}

TEST(LockBound, CountsNestedHoldsForBothLocks) {
    Graph graph = diamond();
    graph.locks = {"x", "y"};
    const std::vector<Segment> nested{{SegmentKind::lock, 0, 0},   {SegmentKind::cpu, 1, 0},
                                      {SegmentKind::lock, 1, 0},   {SegmentKind::cpu, 10, 0},
                                      {SegmentKind::unlock, 1, 0}, {SegmentKind::unlock, 0, 0}};
    EXPECT_EQ(bounds_of(graph, machine_of({1.0}), {}, true, {nested, nested}).sh_ns, 22);
}

TEST(Bounds, ForgetThePhaseBefore) {
    PhaseBounds bounds{machine_of({1.0}), {}, kTick};
    const Graph graph = diamond();
    bounds.begin(graph);
    bounds.add(0, work(5), 1.0);
    bounds.waits_for_nothing(1);
    bounds.begin(graph);
    EXPECT_EQ(bounds.finish(graph, true, 0, 0), Bounds{});
}

TEST(Priorities, AreTheLongestPathsToTheEndOfThePhase) {
    GraphSpec spec =
        in_list_order({called("A"), called("B", "A"), called("C", "A"), called("D", "B")}, {{"C", "D"}});
    const std::vector<std::int64_t> lengths{2, 3, 5, 1};
    for (std::size_t i = 0; i < 4; ++i) {
        for (std::vector<Segment>& segments : spec.devices[i].callbacks) segments = work(lengths[i]);
    }
    const Graph graph = compile(spec);
    EXPECT_EQ(critical_path_priorities(graph, Phase::resume, kTick), (std::vector<std::int64_t>{8, 4, 6, 1}));
    EXPECT_EQ(critical_path_priorities(graph, Phase::suspend, kTick),
              (std::vector<std::int64_t>{2, 5, 7, 8}));
}

// CPUs that share their capacity go at a speed that is rounded down to 1/65536, and the wall clock to 1 ns.
TEST(EveryOrder, TakesNoLessThanItsBounds) {
    int tight = 0;
    for (int i = 0; i < 400; ++i) {
        Dice dice{"bounds", i};
        Wild wild;
        wild.async_percent = static_cast<int>(dice.between(0, 4)) * 25;
        wild.without_callbacks = static_cast<int>(dice.between(0, 60));
        wild.unit_ns = dice.chance(50) ? 1 : 300;
        const auto graph = compiled(wild_graph(dice, wild));
        const Scenario scenario = wild_scenario(dice, graph);
        for (const std::string& policy : policies_and_variants()) {
            const Ran ran{scenario, policy};
            ASSERT_EQ(ran.cycle().outcome, Outcome::done) << i << " " << policy << " " << ran.result.stuck;
            for (const Phase phase : kMiddle) {
                const PhaseResult& result = ran.phase(phase);
                ASSERT_GE(result.ns, result.bounds.bound_ns()) << i << " " << policy << " " << name_of(phase);
                ASSERT_LE(result.bounds.cp_ns, result.bounds.sum_ns)
                    << i << " " << policy << " " << name_of(phase);
                if (policy == "bound" && result.ns == result.bounds.bound_ns() && result.ns > 0) ++tight;
            }
        }
    }
    EXPECT_GT(tight, 50);
}

TEST(EveryOrder, OfGeneratedGraphsTakesNoLessThanItsBounds) {
    for (int i = 0; i < 60; ++i) {
        Dice dice{"generated", i};
        Generator generator;
        generator.devices = dice.between(20, 120);
        generator.class_ratio = static_cast<double>(dice.between(0, 3));
        generator.p_late = 0.5;
        generator.fixed_share = 0.5;
        generator.lock_share = {0.5, 0.3};
        generator.locks = 2;
        Scenario scenario = phone(nullptr);
        scenario.devices = generator;
        scenario.jitter = 0.1;
        scenario.async = {AsyncDevices::Kind::share, static_cast<double>(dice.between(0, 4)) / 4.0};
        for (const std::string& policy : policies_and_variants()) {
            const Ran ran{scenario, policy, {7, static_cast<std::uint64_t>(i)}};
            for (const Phase phase : kMiddle)
                ASSERT_GE(ran.phase(phase).ns, ran.phase(phase).bounds.bound_ns()) << i << " " << policy;
        }
    }
}

TEST(Sync, TakesTheSumOfAllCallbacksOnOneReferenceCpu) {
    for (int i = 0; i < 300; ++i) {
        Dice dice{"sum", i};
        Wild wild;
        wild.async_percent = 50;
        wild.locks = dice.chance(50);
        GraphSpec spec = wild_graph(dice, wild);
        drop(spec, SegmentKind::tick_sleep);
        drop(spec, SegmentKind::range_sleep);
        const Ran ran{reference_scenario(compiled(spec), 1), "sync"};
        for (const Phase phase : kMiddle)
            ASSERT_EQ(ran.phase(phase).ns, ran.phase(phase).bounds.sum_ns) << i << " " << name_of(phase);
    }
}

TEST(Sum, IsTheSameForEveryOrder) {
    for (int i = 0; i < 100; ++i) {
        Dice dice{"same sum", i};
        Wild wild;
        wild.async_percent = 70;
        const auto graph = compiled(wild_graph(dice, wild));
        Scenario scenario = wild_scenario(dice, graph);
        scenario.jitter = 0.3;
        scenario.cycles = 3;
        const Ran sync{scenario, "sync"};
        for (const std::string& policy : policies_and_variants()) {
            const Ran ran{scenario, policy};
            for (std::size_t cycle = 0; cycle < 3; ++cycle) {
                for (const Phase phase : kMiddle) {
                    ASSERT_EQ(ran.phase(phase, cycle).bounds.sum_ns, sync.phase(phase, cycle).bounds.sum_ns)
                        << i << " " << policy;
                    ASSERT_EQ(ran.phase(phase, cycle).callbacks, sync.phase(phase, cycle).callbacks)
                        << i << " " << policy;
                }
            }
        }
    }
}

}  // namespace
}  // namespace torpor::dpm
