// SPDX-License-Identifier: MIT
// Workers: who takes which item, when one is created, who wakes whom.
#include <gtest/gtest.h>

#include "torpor/dpm/work_queue.hpp"
#include "worlds.hpp"

namespace torpor::dpm {
namespace {

TEST(WorkQueue, IsFirstInFirstOut) {
    WorkQueue queue;
    queue.reset(10);
    for (const std::int32_t item : {3, 1, 2}) EXPECT_TRUE(queue.insert(item));
    EXPECT_EQ(queue.take(), 3);
    EXPECT_EQ(queue.take(), 1);
    EXPECT_EQ(queue.take(), 2);
    EXPECT_FALSE(queue.has_listed());
}

TEST(WorkQueue, HoldsBackWhatIsOverTheLimitUntilAnItemIsOver) {
    WorkQueue queue;
    queue.reset(2);
    EXPECT_TRUE(queue.insert(1));
    EXPECT_TRUE(queue.insert(2));
    EXPECT_FALSE(queue.insert(3));
    EXPECT_FALSE(queue.insert(4));
    EXPECT_EQ(queue.take(), 1);
    EXPECT_EQ(queue.take(), 2);
    EXPECT_FALSE(queue.has_listed());
    queue.begin_item();
    EXPECT_EQ(queue.active(), 2);
    EXPECT_EQ(queue.retire(), 3);
    EXPECT_EQ(queue.active(), 2);
    EXPECT_EQ(queue.take(), 3);
}

TEST(WorkQueue, GivesSlotsBackWhenNothingIsHeldBack) {
    WorkQueue queue;
    queue.reset(1);
    EXPECT_TRUE(queue.insert(1));
    queue.take();
    queue.begin_item();
    EXPECT_EQ(queue.retire(), kNoDevice);
    EXPECT_EQ(queue.active(), 0);
    EXPECT_TRUE(queue.insert(2));
}

TEST(WorkQueue, CountsItemsThatAreStartedAndNotOver) {
    WorkQueue queue;
    queue.reset(10);
    queue.insert(1);
    queue.insert(2);
    queue.take();
    EXPECT_EQ(queue.started(), 0);
    queue.begin_item();
    EXPECT_EQ(queue.started(), 1);
    queue.retire();
    EXPECT_EQ(queue.started(), 0);
}

TEST(WorkQueue, WakesTheLastToGoIdleAndKeepsItUntilItRuns) {
    WorkQueue queue;
    queue.reset(10);
    for (const sched::Entity worker : {1, 2, 3}) queue.enter_idle(worker);
    EXPECT_EQ(queue.first_idle(), 3);
    EXPECT_EQ(queue.first_idle(), 3);
    queue.leave_idle(3);
    EXPECT_EQ(queue.first_idle(), 2);
    queue.leave_idle(1);
    EXPECT_EQ(queue.first_idle(), 2);
    queue.leave_idle(2);
    EXPECT_FALSE(queue.has_idle());
}

TEST(FifoLock, IsHandedOverInTheOrderOfAsking) {
    FifoLock lock;
    EXPECT_TRUE(lock.acquire(1));
    EXPECT_FALSE(lock.acquire(2));
    EXPECT_FALSE(lock.acquire(3));
    EXPECT_EQ(lock.release(), 2);
    EXPECT_EQ(lock.owner(), 2);
    EXPECT_FALSE(lock.acquire(1));
    EXPECT_EQ(lock.release(), 3);
    EXPECT_EQ(lock.release(), 1);
    EXPECT_EQ(lock.release(), sched::kNobody);
    EXPECT_FALSE(lock.is_held());
}

/// So many async roots that sleep for so long in suspend, the first phase with workers, which begins with the
/// last of them.
GraphSpec sleepers(int count, std::int64_t length = 5) {
    GraphSpec spec;
    spec.in_list_order = true;
    for (int i = 0; i < count; ++i) {
        DeviceSpec device;
        device.name = std::string(1, static_cast<char>('A' + i));
        device.callbacks[index_of(Phase::suspend)] = {{SegmentKind::sleep, length, 0}};
        spec.devices.push_back(device);
    }
    return spec;
}

/// A pool of so many workers on CPUs of the reference mode.
Scenario pool(const GraphSpec& spec, std::int64_t workers, int cpus) {
    Scenario scenario = reference_scenario(compiled(spec), cpus);
    scenario.workers = {false, workers};
    return scenario;
}

/// "C4@0 B3@0": device, worker and when that took it, in the order of the walk of suspend.
std::string taken(const Ran& ran) {
    std::string text;
    for (std::size_t i = ran.graph().names.size(); i-- > 0;) {
        const Interval& each = ran.of(Phase::suspend, ran.graph().names[i]);
        if (!text.empty()) text += " ";
        text.append(ran.graph().names[i]).append(std::to_string(each.worker)).append("@");
        text.append(std::to_string(each.taken_ns));
    }
    return text;
}

TEST(Pool, TheLastToGoIdleTakesTheFirstItem) {
    const Ran ran{pool(sleepers(3), 4, 8), "breadth-first"};
    EXPECT_EQ(taken(ran), "C4@0 B3@0 A2@0");
    EXPECT_EQ(ran.phase(Phase::suspend).ns, 5);
    EXPECT_EQ(ran.phase(Phase::suspend).live_workers, 3);
}

TEST(Pool, ABurstOfItemsWakesOneWorkerWhichWakesTheNext) {
    // One CPU: all three are queued before anybody else runs, but only one worker is woken by main, which
    // pays 10 for that. So does each worker for the next one.
    Scenario scenario = pool(sleepers(3, 1000), 4, 1);
    scenario.sched_costs.wake_ns = 10;
    const Ran ran{scenario, "breadth-first"};
    for (const char* name : {"A", "B", "C"}) EXPECT_EQ(ran.of(Phase::suspend, name).queued_ns, 0);
    EXPECT_EQ(taken(ran), "C4@10 B3@20 A2@30");
}

TEST(Pool, AWorkerGoesOnWithTheNextItem) {
    GraphSpec spec = sleepers(4);
    for (DeviceSpec& device : spec.devices)
        device.callbacks[index_of(Phase::suspend)] = {{SegmentKind::cpu, 5, 0}};
    const Ran ran{pool(spec, 4, 1), "breadth-first"};
    // It has woken the next worker, which waits for the CPU all the time.
    EXPECT_EQ(taken(ran), "D4@0 C4@5 B4@10 A4@15");
    EXPECT_EQ(ran.phase(Phase::suspend).live_workers, 1);
}

TEST(Pool, WithoutAnotherIdleWorkerOneIsCreatedFirst) {
    Scenario scenario = pool(sleepers(2, 1000), 1, 4);
    scenario.costs[index_of(Phase::suspend)].create_ns = 10;
    scenario.costs[index_of(Phase::suspend)].create_latency_ns = 50;
    const Ran ran{scenario, "old"};
    // Worker 2 wants a spare one as well.
    EXPECT_EQ(taken(ran), "B1@60 A2@120");
    EXPECT_EQ(ran.phase(Phase::suspend).created_workers, 2);
}

TEST(Pool, OnlyOneCreatesAtATime) {
    // Worker 1 creates one until 50; meanwhile worker 2 goes on without a spare worker.
    Scenario scenario = pool(sleepers(3, 20), 2, 4);
    scenario.costs[index_of(Phase::suspend)].create_latency_ns = 50;
    const Ran ran{scenario, "old"};
    EXPECT_EQ(taken(ran), "C2@0 B2@20 A2@40");
    EXPECT_EQ(ran.phase(Phase::suspend).created_workers, 1);
}

TEST(Pool, CreatesWorkersInTheFirstCycleOnly) {
    Scenario scenario = pool(sleepers(6, 100), 1, 4);
    scenario.cycles = 4;
    for (const char* policy : {"old", "breadth-first", "up-6.17"}) {
        const Ran ran{scenario, policy};
        EXPECT_GT(ran.phase(Phase::suspend, 0).created_workers, 3) << policy;
        for (std::size_t cycle = 1; cycle < 4; ++cycle) {
            for (const PhaseResult& phase : ran.cycle(cycle).phases)
                EXPECT_EQ(phase.created_workers, 0) << policy;
        }
    }
}

TEST(Pool, CreatesThemAnewInEachReplicate) {
    Scenario scenario = pool(sleepers(6, 100), 1, 4);
    Model model{scenario, parse_policy("old")};
    const auto created = [&](std::uint64_t replicate) {
        return model.run({1, replicate}, {}).cycles[0].phases[index_of(Phase::suspend)].created_workers;
    };
    const std::int64_t first = created(0);
    EXPECT_GT(first, 3);
    EXPECT_EQ(created(1), first);
}

TEST(Pool, CanGrowToAWorkerForEachDevice) {
    GraphSpec spec;
    for (int i = 0; i < 300; ++i) {
        DeviceSpec device = called(std::string{"d"}.append(std::to_string(i)));
        for (std::vector<Segment>& segments : device.callbacks)
            segments.push_back({SegmentKind::sleep, 1'000'000, 0});
        spec.devices.push_back(device);
    }
    const Ran ran{pool(spec, 1, 2), "old"};
    EXPECT_EQ(ran.phase(Phase::suspend).live_workers, 300);
    EXPECT_EQ(ran.phase(Phase::suspend).callbacks_by_workers, 300);
}

TEST(Pool, TheLimitDependsOnTheVersion) {
    const auto limit = [](const char* policy, int cpus) { return max_active_of(parse_policy(policy), cpus); };
    for (const char* policy : {"old", "old-inline"}) {
        EXPECT_EQ(limit(policy, 8), 512);
        EXPECT_EQ(limit(policy, 200), 800);
    }
    EXPECT_EQ(limit("breadth-first", 8), 256);
    EXPECT_EQ(limit("breadth-first", 200), 256);
    EXPECT_EQ(limit("up-6.16", 8), 1024);
    EXPECT_EQ(limit("up-6.17", 8), 1024);
    EXPECT_EQ(limit("up-6.17(max_active=7)", 8), 7);
}

TEST(Pool, NeverHasMoreItemsAtWorkThanTheLimit) {
    for (const char* policy : {"old(max_active=3)", "breadth-first(max_active=3)", "up-6.17(max_active=3)"}) {
        const Ran ran{pool(sleepers(10), 4, 8), policy};
        EXPECT_EQ(ran.phase(Phase::suspend).live_workers, 3) << policy;
        EXPECT_EQ(ran.phase(Phase::suspend).ns, 20) << policy;
        EXPECT_EQ(ran.phase(Phase::suspend).items, 10) << policy;
    }
}

/// Three async roots that work for 100, 200 and 300, on enough CPUs.
GraphSpec staggered() {
    GraphSpec spec = sleepers(3);
    for (std::size_t i = 0; i < 3; ++i) {
        spec.devices[i].callbacks = {};
        spec.devices[i].callbacks[index_of(Phase::resume)] = {
            {SegmentKind::cpu, 100 * (static_cast<std::int64_t>(i) + 1), 0}};
    }
    return spec;
}

Scenario with_recheck(bool barrier_wakes) {
    Scenario scenario = reference_scenario(compiled(staggered()), 4);
    scenario.barrier_wakes = barrier_wakes;
    scenario.costs[index_of(Phase::resume)].recheck_ns = 10;
    return scenario;
}

TEST(Barrier, WakesTheMainThreadForEveryItem) {
    const Ran every{with_recheck(true), "old"};
    const Ran once{with_recheck(false), "old"};
    EXPECT_EQ(every.cycle().resume.wakeups - once.cycle().resume.wakeups, 2);
    EXPECT_EQ(every.phase(Phase::resume).ns, 310);
    EXPECT_EQ(once.phase(Phase::resume).ns, 310);
}

TEST(Barrier, TheMainThreadPaysForEachCheck) {
    const auto main_ns = [](bool barrier_wakes) {
        const Ran ran{with_recheck(barrier_wakes), "old"};
        return ran.result.main_ns.at(1);
    };
    EXPECT_EQ(main_ns(true), 30);
    EXPECT_EQ(main_ns(false), 10);
}

TEST(Barrier, TheLastWorkerPaysForWakingTheMainThread) {
    Scenario scenario = with_recheck(false);
    scenario.costs = {};
    scenario.sched_costs.wake_ns = 7;
    scenario.cycles = 1;
    const Ran ran{scenario, "breadth-first(list_mutex=false)"};
    // Nothing but main's wakes at the start lies between: 3 queued, each woken at once, paid before it
    // blocks.
    EXPECT_EQ(ran.phase(Phase::resume).ns, 300);
    EXPECT_GT(ran.result.cluster_busy_ns.at(1), 600 + 3 * 7);
}

TEST(Barrier, HasATail) {
    Scenario scenario = with_recheck(false);
    scenario.costs[index_of(Phase::resume)].tail_ns = 1000;
    EXPECT_EQ((Ran{scenario, "old"}.phase(Phase::resume).ns), 1310);
    EXPECT_EQ((Ran{scenario, "sync"}.phase(Phase::resume).ns), 1600);
}

}  // namespace
}  // namespace torpor::dpm
