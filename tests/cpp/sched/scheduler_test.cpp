// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <vector>

#include "machine.hpp"

namespace torpor::sched {
namespace {

using namespace testing;

TEST(GlobalQueue, IsFirstInFirstOut) {
    Machine machine{cpus(1), {}, {10, 10, 10}};
    machine.wake(0, 2);
    machine.wake(1, 0);
    machine.wake(2, 1);
    machine.run();
    EXPECT_EQ(machine.started, (Log{{2, 0, 0}, {0, 0, 10}, {1, 0, 20}}));
    EXPECT_EQ(machine.done, (Log{{2, 0, 10}, {0, 0, 20}, {1, 0, 30}}));
}

TEST(GlobalQueue, LetsAnUrgentEntityInAtItsHead) {
    Machine machine{cpus(1), {}, {10, 10, 10}};
    machine.wake(0, 0);
    machine.wake(1, 1);
    machine.wake(2, 2, kNoCpu, true);
    machine.run();
    EXPECT_EQ(machine.started, (Log{{0, 0, 0}, {2, 0, 10}, {1, 0, 20}}));
}

TEST(GlobalQueue, GivesTheIdleCpuOfTheLowestIndex) {
    Machine machine{cpus(3), {}, {10, 30, 10, 10}};
    machine.wake(0, 0);
    machine.wake(0, 1);
    machine.wake(0, 2);
    machine.wake(20, 3);
    machine.run();
    EXPECT_EQ(machine.started, (Log{{0, 0, 0}, {1, 1, 0}, {2, 2, 0}, {3, 0, 20}}));
}

TEST(GlobalQueue, GivesACpuThatIsFreedToTheOneThatWaitsRatherThanToOneThatComes) {
    Machine machine{cpus(1), {}, {10, 10, 10}};
    machine.wake(0, 0);
    machine.wake(5, 1);
    machine.wake(10, 2);
    machine.run();
    EXPECT_EQ(machine.started, (Log{{0, 0, 0}, {1, 0, 10}, {2, 0, 20}}));
}

TEST(EndOfARun, ComesAfterEventsOfItsInstantThatWereScheduledBeforeIt) {
    Machine machine{cpus(1), {}, {10, 10}};
    machine.wake(0, 0);
    machine.wake(10, 1);
    machine.run();
    // 0, 1, idle.
    EXPECT_EQ(machine.scheduler.counts().switches, 3);
}

TEST(EndOfARun, ComesBeforeEventsOfItsInstantThatWereScheduledAfterIt) {
    Machine machine{cpus(1), {}, {10, 10}};
    machine.wake(0, 0);
    machine.run(5);
    machine.wake(10, 1);
    machine.run();
    // 0, idle, 1, idle.
    EXPECT_EQ(machine.scheduler.counts().switches, 4);
}

TEST(GlobalQueue, HoldsEntitiesThatWaitedBeforeTheStart) {
    Machine machine{cpus(1), {}, {10, 10}};
    machine.scheduler.start_waiting(0, 1);
    EXPECT_TRUE(machine.scheduler.has_waiting(0));
    machine.scheduler.start(0, 0, true);
    machine.run();
    EXPECT_EQ(machine.started, (Log{{0, 0, 0}, {1, 0, 10}}));
    EXPECT_FALSE(machine.scheduler.has_waiting(0));
}

TEST(Switches, AreCountedWhenACpuStartsSomethingElse) {
    Machine machine{cpus(1), {}, {10, 10}};
    machine.wake(0, 0);
    machine.wake(5, 1);
    machine.wake(100, 1);
    machine.run();
    // Idle, 0, 1, idle, 1, idle.
    EXPECT_EQ(machine.scheduler.counts().switches, 5);
    EXPECT_EQ(machine.scheduler.counts().task_switch_ins, 3);
    EXPECT_EQ(machine.scheduler.counts().voluntary, 3);
    EXPECT_EQ(machine.idle, (Log{{kNobody, 0, 20}, {kNobody, 0, 110}}));
}

TEST(Switches, AreNotCountedForTheSameEntityAgain) {
    Machine machine{cpus(1), {}, {}, 1};
    machine.wake(0, 0);
    machine.yield(5, 0);
    machine.run();
    EXPECT_EQ(machine.started, (Log{{0, 0, 0}, {0, 0, 5}}));
    EXPECT_EQ(machine.scheduler.counts().switches, 1);
    EXPECT_EQ(machine.scheduler.involuntary(0), 1);
}

TEST(Switches, DoNotCountDriversAmongTheTasks) {
    Machine machine{cpus(1), {}, {10}, 1};
    machine.wake(0, 1);
    machine.wake(1, 0);
    machine.leave(7, 0);
    machine.run();
    EXPECT_EQ(machine.started, (Log{{1, 0, 0}, {0, 0, 7}}));
    EXPECT_EQ(machine.scheduler.counts().switches, 3);
    EXPECT_EQ(machine.scheduler.counts().task_switch_ins, 1);
    EXPECT_EQ(machine.scheduler.voluntary(1), 1);
}

TEST(Switches, LeaveOutAStartThatWasRunningAlready) {
    Machine machine{cpus(1), {}, {10}};
    machine.scheduler.start(0, 0, false);
    EXPECT_EQ(machine.scheduler.counts().switches, 0);
    machine.run();
    EXPECT_EQ(machine.scheduler.counts().switches, 1);
    EXPECT_EQ(machine.scheduler.counts().task_switch_ins, 0);
}

TEST(EntityThatLeavesAtOnce, GivesItsCpuToTheNext) {
    Machine machine{cpus(1), {}, {kLeaves, 10}};
    machine.scheduler.start_waiting(0, 1);
    machine.wake(0, 0);
    machine.run();
    EXPECT_EQ(machine.started, (Log{{0, 0, 0}, {1, 0, 0}}));
    EXPECT_EQ(machine.scheduler.voluntary(0), 1);
    EXPECT_EQ(machine.scheduler.counts().switches, 3);
}

TEST(Yield, PutsADriverBehindAllThatWait) {
    Machine machine{cpus(1), {}, {10, 10}, 1};
    machine.wake(0, 2);
    machine.wake(1, 0);
    machine.wake(2, 1);
    machine.yield(5, 0);
    machine.run();
    EXPECT_EQ(machine.started, (Log{{2, 0, 0}, {0, 0, 5}, {1, 0, 15}, {2, 0, 25}}));
    EXPECT_EQ(machine.scheduler.involuntary(2), 1);
    EXPECT_EQ(machine.scheduler.counts().involuntary, 1);
}

TEST(Cut, TurnsAnEndlessRunIntoAShortOneWithoutASwitch) {
    Machine machine{cpus(1), {}, {kUnbounded}};
    machine.wake(0, 0);
    machine.cut(10, 0);
    machine.run();
    EXPECT_EQ(machine.done, (Log{{0, 0, 15}}));
    EXPECT_EQ(machine.scheduler.counts().switches, 2);
    EXPECT_EQ(machine.scheduler.busy_ns(0), 15);
}

/// Two clusters of two CPUs; the second is the bigger.
std::vector<Cpu> big_little() {
    return {{500'000'000, 400, 0, 0},
            {500'000'000, 400, 0, 0},
            {1'000'000'000, 1024, 1, 0},
            {1'000'000'000, 1024, 1, 0}};
}

TEST(BiggestIdle, TakesTheHighestCapacityThenTheLowestIndex) {
    Rules rules;
    rules.placement = Placement::biggest_idle;
    Machine machine{big_little(), rules, {100, 100, 100, 100}};
    for (Entity entity = 0; entity < 4; ++entity) machine.wake(0, entity);
    machine.run();
    EXPECT_EQ(machine.started, (Log{{0, 2, 0}, {1, 3, 0}, {2, 0, 0}, {3, 1, 0}}));
    EXPECT_EQ(machine.done, (Log{{0, 2, 100}, {1, 3, 100}, {2, 0, 200}, {3, 1, 200}}));
}

TEST(WakeAffine, TakesTheCpuOfTheLastRun) {
    Machine machine{cpus(3), affine(), {10, 10, 10}};
    // Before its first run an entity belongs to the CPU of its own number.
    machine.wake(0, 2);
    machine.wake(50, 2, 0);
    machine.run();
    EXPECT_EQ(machine.started, (Log{{2, 2, 0}, {2, 2, 50}}));
}

TEST(WakeAffine, ElseTakesAnIdleOneOfTheWakersCluster) {
    Machine machine{big_little(), affine(), {100, 10, 10, 10, 10}};
    machine.wake(0, 0);
    machine.wake(10, 4, 3);  // 4 belongs to CPU 0, which is taken; its waker is on CPU 3
    machine.run();
    EXPECT_EQ(machine.started, (Log{{0, 0, 0}, {4, 2, 10}}));
}

TEST(WakeAffine, ElseStaysInItsOwnClusterWithoutAWaker) {
    Machine machine{big_little(), affine(), {100, 100, 100, 10, 10, 10, 10}};
    machine.wake(0, 2);
    machine.wake(10, 6);
    machine.run();
    EXPECT_EQ(machine.started, (Log{{2, 2, 0}, {6, 3, 10}}));
}

TEST(WakeAffine, ElseTakesAnyIdleOne) {
    Machine machine{big_little(), affine(), {100, 100, 10, 10, 10}};
    machine.wake(0, 0);
    machine.wake(0, 1);
    machine.wake(10, 4, 1);
    machine.run();
    EXPECT_EQ(machine.started.back(), (Started{4, 2, 10}));
}

TEST(QueueOfEachCpu, WithoutStealingLeavesACpuIdleBesideABusyOne) {
    Machine machine{cpus(2), per_cpu(Placement::wake_affine), {100, 10, 10}};
    machine.wake(0, 0);
    machine.wake(0, 1);
    machine.wake(1, 2);  // belongs to CPU 0
    machine.run();
    EXPECT_EQ(machine.started, (Log{{0, 0, 0}, {1, 1, 0}, {2, 0, 100}}));
}

TEST(QueueOfEachCpu, WithStealingFeedsACpuAboutToGoIdle) {
    Machine machine{cpus(2), per_cpu(Placement::wake_affine, true), {100, 10, 10}};
    machine.wake(0, 0);
    machine.wake(0, 1);
    machine.wake(1, 2);
    machine.run();
    EXPECT_EQ(machine.started, (Log{{0, 0, 0}, {1, 1, 0}, {2, 1, 10}}));
}

TEST(QueueOfEachCpu, StealsTheHeadOfTheLongest) {
    Machine machine{cpus(3), per_cpu(Placement::wake_affine, true), {100, 100, 10, 10, 10, 10, 10, 10}};
    for (const Entity entity : {0, 1, 2}) machine.wake(0, entity);
    machine.wake(1, 3);  // CPU 0
    machine.wake(1, 4);  // CPU 1
    machine.wake(1, 7);  // CPU 1
    machine.run(10);
    EXPECT_EQ(machine.started.back(), (Started{4, 2, 10}));
}

TEST(QueueOfEachCpu, StealsFromTheLowestIndexOfEquallyLongOnes) {
    Machine machine{cpus(3), per_cpu(Placement::wake_affine, true), {100, 100, 10, 10, 10}};
    for (const Entity entity : {0, 1, 2}) machine.wake(0, entity);
    machine.wake(1, 4);  // CPU 1
    machine.wake(1, 3);  // CPU 0
    machine.run(10);
    EXPECT_EQ(machine.started.back(), (Started{3, 2, 10}));
}

TEST(QueueOfEachCpu, WakeAffineWaitsInTheShorterQueueOfItsLastCpuAndOfItsWaker) {
    Machine machine{cpus(3), per_cpu(Placement::wake_affine), {100, 100, 100, 10, 10, 10, 10}};
    for (const Entity entity : {0, 1, 2}) machine.wake(0, entity);
    machine.wake(1, 3, 1);  // both empty: its own, CPU 0
    machine.wake(2, 6, 1);  // one waits at CPU 0, none at CPU 1
    machine.run();
    EXPECT_EQ(machine.started[3], (Started{3, 0, 100}));
    EXPECT_EQ(machine.started[4], (Started{6, 1, 100}));
}

TEST(QueueOfEachCpu, OtherPlacementsWaitInTheShortestOfAll) {
    for (const Placement placement : {Placement::first_idle, Placement::biggest_idle}) {
        Machine machine{cpus(3), per_cpu(placement), {100, 100, 100, 10, 10, 10, 10}};
        for (Entity entity = 0; entity < 7; ++entity) machine.wake(entity, entity);
        machine.run();
        EXPECT_EQ(machine.started,
                  (Log{{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {3, 0, 100}, {4, 1, 101}, {5, 2, 102}, {6, 0, 110}}));
    }
}

TEST(QueueOfEachCpu, DoesNotTellOfWhatWaitsElsewhere) {
    Machine machine{cpus(2), per_cpu(Placement::wake_affine), {100, 100, 10}};
    for (const Entity entity : {0, 1, 2}) machine.wake(entity, entity);
    machine.run(5);
    EXPECT_TRUE(machine.scheduler.has_waiting(0));
    EXPECT_FALSE(machine.scheduler.has_waiting(1));
}

}  // namespace
}  // namespace torpor::sched
