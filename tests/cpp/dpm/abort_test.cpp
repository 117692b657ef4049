// SPDX-License-Identifier: MIT
// Suspends that are given up: what was suspended is resumed, and nobody is left waiting.
#include <gtest/gtest.h>

#include <set>

#include "worlds.hpp"

namespace torpor::dpm {
namespace {

constexpr const char* kUp =
    "resume_noirq: A B C D; resume_early: A B C D; resume: A B C D; complete: D C B A";

GraphSpec four(Phase failing_phase = Phase::prepare) {
    GraphSpec spec = in_list_order({called("A"), called("B"), called("C"), called("D")});
    if (is_middle(failing_phase)) spec.devices[2].fails[index_of(failing_phase)] = true;
    return spec;
}

Scenario with(const GraphSpec& spec, int cpus = 2) {
    return reference_scenario(compiled(spec), cpus);
}

void expect_end(const Ran& ran, Outcome outcome, Phase phase, std::int32_t device) {
    EXPECT_EQ(ran.cycle().outcome, outcome);
    EXPECT_EQ(ran.cycle().ended_in, phase);
    EXPECT_EQ(ran.cycle().device, device);
    EXPECT_EQ(ran.result.stuck, "");
}

TEST(Cycle, WithoutErrorsCallsEverythingDownAndUp) {
    const Ran ran{with(four()), "sync"};
    EXPECT_EQ(ran.calls(), std::string{"prepare: A B C D; suspend: D C B A; suspend_late: D C B A; "
                                       "suspend_noirq: D C B A; "} +
                               kUp);
    expect_end(ran, Outcome::done, Phase::prepare, kNoDevice);
}

TEST(SyncFailure, InSuspendResumesWhatCameBefore) {
    const Ran ran{with(four(Phase::suspend)), "sync"};
    EXPECT_EQ(ran.calls(), "prepare: A B C D; suspend: D C; resume: D; complete: D C B A");
    expect_end(ran, Outcome::failed, Phase::suspend, 2);
}

TEST(SyncFailure, InSuspendLate) {
    const Ran ran{with(four(Phase::suspend_late)), "sync"};
    EXPECT_EQ(ran.calls(),
              "prepare: A B C D; suspend: D C B A; suspend_late: D C; resume_early: D; resume: A B C D; "
              "complete: D C B A");
    expect_end(ran, Outcome::failed, Phase::suspend_late, 2);
}

TEST(SyncFailure, InSuspendNoirq) {
    const Ran ran{with(four(Phase::suspend_noirq)), "sync"};
    EXPECT_EQ(
        ran.calls(),
        "prepare: A B C D; suspend: D C B A; suspend_late: D C B A; suspend_noirq: D C; resume_noirq: D; "
        "resume_early: A B C D; resume: A B C D; complete: D C B A");
    expect_end(ran, Outcome::failed, Phase::suspend_noirq, 2);
}

TEST(SyncFailure, IsTheSameForSyncDevicesInEveryOrder) {
    for (const Phase phase : kDown) {
        GraphSpec spec = four(phase);
        for (DeviceSpec& device : spec.devices) device.async_suspend = false;
        const std::string expected = Ran{with(spec), "sync"}.calls();
        for (const std::string& policy : policies())
            EXPECT_EQ((Ran{with(spec), policy}.calls()), expected) << policy;
    }
}

TEST(SyncFailure, OnTheWayUpChangesNothing) {
    for (const Phase phase : {Phase::resume_noirq, Phase::resume_early, Phase::resume}) {
        const Ran ran{with(four(phase)), "sync"};
        expect_end(ran, Outcome::done, Phase::prepare, kNoDevice);
        EXPECT_TRUE(ran.calls().ends_with(kUp));
    }
}

TEST(Wakeup, WhileADeviceSuspendsStopsTheNext) {
    GraphSpec spec = four();
    spec.devices[3].wakes_system[index_of(Phase::suspend)] = true;
    const Ran ran{with(spec), "sync"};
    EXPECT_EQ(ran.calls(), "prepare: A B C D; suspend: D; resume: D; complete: D C B A");
    expect_end(ran, Outcome::aborted, Phase::suspend, 2);
}

TEST(Wakeup, OfTheLastDeviceIsSeenInTheNextPhase) {
    GraphSpec spec = four();
    spec.devices[0].wakes_system[index_of(Phase::suspend)] = true;
    const Ran ran{with(spec), "sync"};
    EXPECT_EQ(ran.calls(), "prepare: A B C D; suspend: D C B A; resume: A B C D; complete: D C B A");
    expect_end(ran, Outcome::aborted, Phase::suspend_late, 3);
}

TEST(Wakeup, DuringPrepareStopsTheFirstToSuspend) {
    GraphSpec spec = four();
    spec.devices[1].wakes_system[index_of(Phase::prepare)] = true;
    const Ran ran{with(spec), "sync"};
    EXPECT_EQ(ran.calls(), "prepare: A B C D; complete: D C B A");
    expect_end(ran, Outcome::aborted, Phase::suspend, 3);
}

TEST(Wakeup, IsNotLookedForInSuspendNoirq) {
    GraphSpec spec = four();
    spec.devices[0].wakes_system[index_of(Phase::suspend_late)] = true;
    spec.devices[3].wakes_system[index_of(Phase::suspend_noirq)] = true;
    const Ran ran{with(spec), "sync"};
    expect_end(ran, Outcome::done, Phase::prepare, kNoDevice);
    EXPECT_TRUE(ran.calls().ends_with(kUp));
}

TEST(Wakeup, DoesNotOutliveItsCycle) {
    GraphSpec spec = four();
    spec.devices[0].wakes_system[index_of(Phase::suspend_noirq)] = true;
    Scenario scenario = with(spec);
    scenario.cycles = 2;
    EXPECT_EQ((Ran{scenario, "sync"}.cycle(1).outcome), Outcome::done);
}

TEST(PrepareAgain, LeavesADeviceOutAndGoesOn) {
    GraphSpec spec = four();
    spec.devices[1].prepare_result = PrepareResult::again;
    for (const std::string& policy : policies()) {
        const Ran ran{with(spec), policy};
        expect_end(ran, Outcome::done, Phase::prepare, kNoDevice);
        EXPECT_EQ(ran.calls(Phase::prepare), "A B C D") << policy;
        for (std::size_t i = 1; i < kPhases; ++i)
            EXPECT_FALSE(ran.of(static_cast<Phase>(i), "B").called) << policy << " " << kPhaseNames[i];
        EXPECT_EQ(ran.calls(Phase::complete), "D C A") << policy;
    }
}

TEST(PrepareAgain, NobodyWaitsForADeviceThatIsLeftOut) {
    GraphSpec spec = in_list_order({called("A", "", 5), called("B", "A", 5), called("C", "B", 5)});
    spec.devices[1].prepare_result = PrepareResult::again;
    for (const std::string& policy : policies()) {
        if (policy == "sync") continue;
        const Ran ran{with(spec), policy};
        for (const Phase phase : kMiddle)
            EXPECT_EQ(ran.phase(phase).ns, 5) << policy << " " << name_of(phase);
    }
}

TEST(PrepareError, EndsTheSuspendAndCompletesWhatWasPrepared) {
    GraphSpec spec = four();
    spec.devices[2].prepare_result = PrepareResult::error;
    for (const std::string& policy : policies()) {
        const Ran ran{with(spec), policy};
        EXPECT_EQ(ran.calls(), "prepare: A B C; complete: B A") << policy;
        expect_end(ran, Outcome::failed, Phase::prepare, 2);
    }
}

TEST(AsyncFailure, LeavesAloneWhatWaitsForTheFailingDevice) {
    // K fails while T holds up the walk; its parent is not suspended.
    GraphSpec spec = in_list_order({called("P", "", 5), called("K", "P", 5), called("T", "", 20)});
    spec.devices[1].fails[index_of(Phase::suspend)] = true;
    spec.devices[2].async_suspend = false;
    for (const std::string& policy : policies()) {
        const Ran ran{with(spec), policy};
        expect_end(ran, Outcome::failed, Phase::suspend, 1);
        EXPECT_FALSE(ran.of(Phase::suspend, "P").called) << policy;
        EXPECT_EQ(ran.calls(Phase::resume), "T") << policy;
        EXPECT_EQ(ran.calls(Phase::complete), "T K P") << policy;
    }
}

TEST(AsyncFailure, WhatHasBegunIsFinishedAndResumed) {
    GraphSpec spec = in_list_order({called("A", "", 50), called("B", "", 5)});
    spec.devices[1].fails[index_of(Phase::suspend)] = true;
    for (const std::string& policy : policies()) {
        if (policy == "sync") continue;
        const Ran ran{with(spec), policy};
        EXPECT_EQ(ran.phase(Phase::suspend).ns, 50) << policy;
        EXPECT_EQ(ran.calls(Phase::resume), "A") << policy;
    }
}

TEST(AsyncFailure, OnlyTheFirstIsReported) {
    GraphSpec spec = in_list_order({called("A", "", 50), called("B", "", 5)});
    for (DeviceSpec& device : spec.devices) device.fails[index_of(Phase::suspend)] = true;
    const Ran ran{with(spec), "old"};
    expect_end(ran, Outcome::failed, Phase::suspend, 1);
    EXPECT_EQ(ran.calls(Phase::resume), "");
}

// A sync device may wait for an async one that, after an error, nobody is going to start.
TEST(AsyncFailure, TheWalkDoesNotWaitForWhatIsNeverStarted) {
    GraphSpec spec = in_list_order({called("S", "", 5), called("P", "S", 5), called("K", "P", 5)});
    spec.devices[0].async_suspend = false;
    spec.devices[2].fails[index_of(Phase::suspend)] = true;
    for (const std::string& policy : policies()) {
        const Ran ran{with(spec), policy};
        expect_end(ran, Outcome::failed, Phase::suspend, 2);
        EXPECT_EQ(ran.calls(), "prepare: S P K; suspend: K; complete: K P S") << policy;
    }
}

TEST(AsyncFailure, WorkersDoNotWaitForWhatTheWalkNeverReaches) {
    // v6.16: root U is started early by its child and waits for the sync device V, which the walk never
    // reaches.
    GraphSpec spec =
        in_list_order({called("U", "", 5), called("V", "U", 5), called("X", "U", 5), called("F", "", 30)});
    spec.devices[1].async_suspend = false;
    spec.devices[3].async_suspend = false;
    spec.devices[3].fails[index_of(Phase::suspend)] = true;
    for (const std::string& policy : policies()) {
        const Ran ran{with(spec), policy};
        expect_end(ran, Outcome::failed, Phase::suspend, 3);
        EXPECT_FALSE(ran.of(Phase::suspend, "U").called) << policy;
    }
}

/// Devices with a callback everywhere, some of which fail or see a wakeup event.
GraphSpec failing_graph(Dice& dice) {
    Wild wild;
    wild.async_percent = static_cast<int>(dice.between(0, 4)) * 25;
    wild.without_callbacks = 0;
    wild.flags = false;
    GraphSpec spec = wild_graph(dice, wild);
    for (DeviceSpec& device : spec.devices) {
        for (std::size_t i = 0; i < kPhases; ++i) device.empty_callbacks[i] = device.callbacks[i].empty();
        for (const Phase phase : kDown) {
            device.fails[index_of(phase)] = dice.chance(3);
            device.wakes_system[index_of(phase)] = dice.chance(2);
        }
        if (dice.chance(5)) device.prepare_result = PrepareResult::again;
        if (dice.chance(1)) device.prepare_result = PrepareResult::error;
    }
    return spec;
}

std::set<std::int32_t> called_in(const Ran& ran, Phase phase) {
    std::set<std::int32_t> devices;
    for (const Interval& each : ran.intervals) {
        if (each.phase == phase && each.called) devices.insert(each.device);
    }
    return devices;
}

TEST(RandomFailure, ExactlyWhatWasSuspendedIsResumed) {
    int ended_in[kPhases] = {};
    for (int i = 0; i < 400; ++i) {
        Dice dice{"failing", i};
        const auto graph = compiled(failing_graph(dice));
        const Scenario scenario = wild_scenario(dice, graph);
        for (const std::string& policy : policies_and_variants()) {
            const Ran ran{scenario, policy};
            const Cycle& cycle = ran.cycle();
            ASSERT_EQ(ran.result.stuck, "") << i << " " << policy;
            ASSERT_NE(cycle.outcome, Outcome::stuck) << i << " " << policy;
            if (cycle.outcome != Outcome::done) ++ended_in[index_of(cycle.ended_in)];
            for (const Phase phase : kDown) {
                std::set<std::int32_t> suspended;
                for (const std::int32_t device : called_in(ran, phase)) {
                    const auto& callback =
                        graph->callbacks[index_of(phase)][static_cast<std::size_t>(device)];
                    if (!callback.fails) suspended.insert(device);
                }
                ASSERT_EQ(called_in(ran, opposite(phase)), suspended)
                    << i << " " << policy << " " << name_of(phase);
            }
            std::set<std::int32_t> prepared = called_in(ran, Phase::prepare);
            std::erase_if(prepared, [&](std::int32_t device) {
                return graph->prepare_results[static_cast<std::size_t>(device)] != PrepareResult::ok;
            });
            ASSERT_EQ(called_in(ran, Phase::complete), prepared) << i << " " << policy;
        }
    }
    for (const Phase phase : kDown) EXPECT_GT(ended_in[index_of(phase)], 50);
    EXPECT_GT(ended_in[index_of(Phase::prepare)], 50);
}

TEST(RandomFailure, IsReportedForADeviceThatFailedInThatPhase) {
    for (int i = 0; i < 200; ++i) {
        Dice dice{"failing", i};
        const auto graph = compiled(failing_graph(dice));
        const Scenario scenario = wild_scenario(dice, graph);
        for (const std::string& policy : policies()) {
            const Ran ran{scenario, policy};
            const Cycle& cycle = ran.cycle();
            if (cycle.outcome != Outcome::failed || cycle.ended_in == Phase::prepare) continue;
            const auto device = static_cast<std::size_t>(cycle.device);
            ASSERT_TRUE(graph->callbacks[index_of(cycle.ended_in)][device].fails) << i << " " << policy;
            ASSERT_TRUE(called_in(ran, cycle.ended_in).contains(cycle.device)) << i << " " << policy;
            // Phases after it are not entered.
            for (std::size_t later = index_of(cycle.ended_in) + 1; later <= index_of(Phase::suspend_noirq);
                 ++later)
                ASSERT_EQ(cycle.phases[later], PhaseResult{}) << i << " " << policy;
        }
    }
}

TEST(RandomFailure, DoesNotSpoilTheNextCycle) {
    // Nothing fails in the graph that the second model runs after the first has.
    for (int i = 0; i < 100; ++i) {
        Dice dice{"failing", i};
        const auto graph = compiled(failing_graph(dice));
        Scenario scenario = wild_scenario(dice, graph);
        scenario.cycles = 3;
        for (const std::string& policy : policies()) {
            const Ran ran{scenario, policy};
            ASSERT_EQ(ran.result.stuck, "") << i << " " << policy;
            ASSERT_EQ(ran.result.cycles.size(), 3U);
        }
    }
}

}  // namespace
}  // namespace torpor::dpm
