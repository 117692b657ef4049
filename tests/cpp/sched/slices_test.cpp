// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "machine.hpp"
#include "torpor/base/distributions.hpp"
#include "torpor/base/random.hpp"

namespace torpor::sched {
namespace {

using namespace testing;

TEST(Slices, TakeTurns) {
    Machine machine{cpus(1), sliced(10), {25, 15, 5}};
    for (const Entity entity : {0, 1, 2}) machine.wake(0, entity);
    machine.run();
    EXPECT_EQ(machine.stopped, (Log{{0, 0, 10}, {1, 0, 20}, {0, 0, 35}}));
    EXPECT_EQ(machine.done, (Log{{2, 0, 25}, {1, 0, 40}, {0, 0, 45}}));
    EXPECT_EQ(machine.scheduler.involuntary(0), 2);
    EXPECT_EQ(machine.scheduler.involuntary(1), 1);
    EXPECT_EQ(machine.scheduler.involuntary(2), 0);
    EXPECT_EQ(machine.scheduler.voluntary(0), 1);
    EXPECT_EQ(machine.scheduler.counts().task_switch_ins, 6);
    EXPECT_EQ(machine.scheduler.busy_ns(0), 45);
}

TEST(Slices, DoNotEndWhenNobodyWaits) {
    Machine machine{cpus(1), sliced(10), {100, 7}};
    machine.wake(0, 0);
    machine.wake(35, 1);
    machine.run();
    EXPECT_EQ(machine.stopped, (Log{{0, 0, 40}}));
    EXPECT_EQ(machine.done, (Log{{1, 0, 47}, {0, 0, 107}}));
}

TEST(Slices, AskForTheLengthOfARunOnlyOnce) {
    Machine machine{cpus(1), sliced(10), {25, 25}};
    machine.wake(0, 0);
    machine.wake(0, 1);
    machine.run();
    EXPECT_EQ(machine.started.size(), 2U);
}

TEST(Slices, CarryWorkToAnotherClock) {
    // CPU 0 runs at half the clock of CPU 1: 15 cycles of 20 are left of entity 0 after its slice of 10 ns.
    const std::vector<Cpu> unlike{{500'000'000, 512, 0, 0}, {1'000'000'000, 1024, 0, 0}};
    Machine machine{unlike, sliced(10), {20, 10, 30}};
    machine.wake(0, 0);
    machine.wake(0, 1);
    machine.wake(1, 2);
    machine.run();
    EXPECT_EQ(machine.stopped.front(), (Started{0, 0, 10}));
    // Entity 1 ends at 10 as well, so CPU 1 is free for what is left: 15 ns there.
    EXPECT_EQ(machine.done[0], (Started{1, 1, 10}));
    EXPECT_EQ(machine.done[1], (Started{0, 1, 25}));
}

TEST(Slices, CarryWorkToAnotherRateAtTheSameFrequency) {
    const std::vector<Cpu> unlike{{1'000'000'000, 512, 0, 0, 500'000'000}, {1'000'000'000, 1024, 0, 0}};
    Machine machine{unlike, sliced(10), {20, 10, 30}};
    machine.wake(0, 0);
    machine.wake(0, 1);
    machine.wake(1, 2);
    machine.run();
    // 40 ns on CPU 0, of which 10 are over: 15 ns on CPU 1.
    EXPECT_EQ(machine.done[0], (Started{1, 1, 10}));
    EXPECT_EQ(machine.done[1], (Started{0, 1, 25}));
}

TEST(Slices, EndAtMultiplesOfTheirLengthFromTheStartOfEachRun) {
    Machine machine{cpus(2), sliced(10), {100, 100, 5}};
    machine.wake(0, 0);
    machine.wake(3, 1);
    machine.wake(27, 2);
    machine.run();
    // From 27 on somebody waits: CPU 0 is due at 30, CPU 1 at 33.
    EXPECT_EQ(machine.stopped, (Log{{0, 0, 30}, {1, 1, 33}}));
    EXPECT_EQ(machine.done, (Log{{2, 0, 35}, {0, 1, 103}, {1, 0, 105}}));
    EXPECT_EQ(machine.scheduler.counts().involuntary, 2);
}

TEST(Slices, AreOverWhenTheOneThatWaitedHasGotAnotherCpu) {
    Machine machine{cpus(2), sliced(10), {100, 28, 10}};
    machine.wake(0, 0);
    machine.wake(0, 1);
    machine.wake(25, 2);
    machine.run();
    EXPECT_TRUE(machine.stopped.empty());
    EXPECT_EQ(machine.done, (Log{{1, 1, 28}, {2, 1, 38}, {0, 0, 100}}));
}

TEST(Slices, AreOverAlsoForARunWithoutEnd) {
    // Due at 10, when the one that waited has gone to CPU 1.
    Machine machine{cpus(2), sliced(10), {kUnbounded, 5, 3}};
    machine.wake(0, 0);
    machine.wake(0, 1);
    machine.wake(3, 2);
    machine.run();
    EXPECT_TRUE(machine.stopped.empty());
    EXPECT_EQ(machine.done, (Log{{1, 1, 5}, {2, 1, 8}}));
    EXPECT_EQ(machine.scheduler.next_end_ns(), kUnbounded);
}

TEST(Slices, AreCountedFromTheFirstInstruction) {
    Machine machine{cpus(1, 30), sliced(10), {50, 5}};
    machine.wake(100, 0);  // runs from 130 on
    machine.wake(101, 1);
    machine.run();
    EXPECT_EQ(machine.stopped, (Log{{0, 0, 140}}));
    EXPECT_EQ(machine.done, (Log{{1, 0, 145}, {0, 0, 185}}));
}

TEST(Slices, BeginAnewWhenARunIsResumed) {
    Machine machine{cpus(1), sliced(10), {100, 17, 1}};
    machine.wake(0, 0);
    machine.wake(5, 1);
    machine.wake(31, 2);
    machine.run();
    // Entity 0 runs 0-10 and 20-30; resumed at 37, it is due at 47, not at a multiple of its first run.
    EXPECT_EQ(machine.stopped, (Log{{0, 0, 10}, {1, 0, 20}, {0, 0, 30}, {0, 0, 47}}));
    EXPECT_EQ(machine.done, (Log{{1, 0, 37}, {2, 0, 48}, {0, 0, 118}}));
}

TEST(Slices, DoNotPreemptDrivers) {
    Machine machine{cpus(1), sliced(10), {5}, 1};
    machine.wake(0, 1);
    machine.wake(0, 0);
    machine.leave(100, 0);
    machine.run();
    EXPECT_EQ(machine.started, (Log{{1, 0, 0}, {0, 0, 100}}));
    EXPECT_EQ(machine.scheduler.involuntary(1), 0);
}

TEST(WakeLatency, DelaysTheFirstInstructionAndIsNotBusy) {
    Machine machine{cpus(1, 30), {}, {10}};
    machine.wake(100, 0);
    machine.run(120);
    EXPECT_EQ(machine.scheduler.running_on(0), 0);
    EXPECT_EQ(machine.scheduler.busy_ns(0), 0);
    machine.run(134);
    EXPECT_EQ(machine.scheduler.busy_ns(0), 0);  // no event since
    machine.run();
    EXPECT_EQ(machine.done, (Log{{0, 0, 140}}));
    EXPECT_EQ(machine.scheduler.busy_ns(0), 10);
}

TEST(WakeLatency, IsNotPaidFromTheQueueNorByDrivers) {
    Machine machine{cpus(1, 30), {}, {10, 10}, 1};
    machine.wake(0, 2);
    machine.wake(1, 0);
    machine.wake(2, 1);
    machine.leave(5, 0);
    machine.run();
    EXPECT_EQ(machine.done, (Log{{0, 0, 15}, {1, 0, 25}}));
    EXPECT_EQ(machine.scheduler.busy_ns(0), 25);
}

TEST(EndlessEntity, KeepsItsCpuFromTasksAndDrivers) {
    Machine machine{cpus(1), {}, {kUnbounded, 10}, 1};
    machine.wake(0, 0);
    machine.wake(5, 1);
    machine.wake(6, 2);
    machine.run();
    EXPECT_EQ(machine.started, (Log{{0, 0, 0}}));
    EXPECT_TRUE(machine.scheduler.has_waiting(0));
}

TEST(EntityThatGivesWay, IsDisplacedByWhoeverFindsNoIdleCpu) {
    Machine machine{cpus(2), {}, {kUnbounded, 100, 10}, 1};
    machine.giving_way = 1;
    machine.wake(0, 1);
    machine.wake(0, 0);
    machine.wake(5, 2);   // a task
    machine.wake(20, 3);  // a driver
    machine.leave(50, 1);
    machine.run();
    EXPECT_EQ(machine.stopped, (Log{{0, 1, 5}, {0, 1, 20}}));
    EXPECT_EQ(machine.started, (Log{{1, 0, 0}, {0, 1, 0}, {2, 1, 5}, {0, 1, 15}, {3, 1, 20}, {0, 1, 50}}));
    EXPECT_EQ(machine.scheduler.involuntary(0), 2);
    EXPECT_EQ(machine.scheduler.counts().task_switch_ins, 5);
}

TEST(EntityThatGivesWay, LetsAllThatWaitGoFirst) {
    Machine machine{cpus(1), {}, {kUnbounded, 10, 10}, 1};
    machine.giving_way = 1;
    machine.wake(0, 3);
    for (const Entity entity : {0, 1, 2}) machine.wake(1, entity);
    machine.leave(5, 0);
    machine.run();
    EXPECT_EQ(machine.started, (Log{{3, 0, 0}, {1, 0, 5}, {2, 0, 15}, {0, 0, 25}}));
}

TEST(EntityThatGivesWay, TakesTurnsWithItsLikeOnly) {
    Machine machine{cpus(1), {}, {kUnbounded, kUnbounded}};
    machine.giving_way = 2;
    machine.wake(0, 0);
    machine.wake(5, 1);
    machine.run();
    EXPECT_EQ(machine.started, (Log{{0, 0, 0}, {1, 0, 5}}));
}

TEST(EntityThatGivesWay, KeepsItsCpuWhileAnotherIsIdle) {
    Machine machine{cpus(2), {}, {kUnbounded}, 1};
    machine.giving_way = 1;
    machine.wake(0, 0);
    machine.wake(5, 1);
    machine.run();
    EXPECT_EQ(machine.started, (Log{{0, 0, 0}, {1, 1, 5}}));
    EXPECT_TRUE(machine.stopped.empty());
}

TEST(EntityThatGivesWay, HoldsItsCpuOnceItIsCutShort) {
    Machine machine{cpus(1), {}, {kUnbounded, 10}};
    machine.giving_way = 1;
    machine.wake(0, 0);
    machine.cut(5, 0);
    machine.wake(7, 1);
    machine.run();
    EXPECT_EQ(machine.done, (Log{{0, 0, 10}, {1, 0, 20}}));
    EXPECT_TRUE(machine.stopped.empty());
}

TEST(BusyTime, IncludesTheRunInProgress) {
    Machine machine{cpus(2), {}, {100, 20}};
    machine.wake(0, 0);
    machine.wake(30, 1);
    machine.run(50);
    EXPECT_EQ(machine.scheduler.busy_ns(0), 50);
    EXPECT_EQ(machine.scheduler.busy_ns(1), 20);
    EXPECT_EQ(machine.scheduler.cpu_of(0), 0);
    EXPECT_EQ(machine.scheduler.cpu_of(1), kNoCpu);
}

TEST(Reset, StartsFromNothing) {
    Machine machine{cpus(2), sliced(10), {25, 15, 5}};
    for (const Entity entity : {0, 1, 2}) machine.wake(0, entity);
    machine.run(12);
    machine.scheduler.reset(3, 3);
    EXPECT_EQ(machine.scheduler.counts().switches, 0);
    EXPECT_EQ(machine.scheduler.busy_ns(0), 0);
    EXPECT_EQ(machine.scheduler.voluntary(2), 0);
    EXPECT_FALSE(machine.scheduler.has_waiting(0));
    EXPECT_EQ(machine.scheduler.running_on(1), kNobody);
}

/// Random work on a random machine: everything is run once and in full, and no CPU does two things at a time.
void expect_all_work_done(const Rules& rules, std::uint64_t number) {
    RandomStream stream{{number, 0}, "machine"};
    const auto dice = [&stream](std::int64_t low, std::int64_t high) {
        return UniformInt{low, high}(stream);
    };
    std::vector<std::int64_t> lengths(static_cast<std::size_t>(dice(1, 30)));
    std::int64_t work = 0;
    for (std::int64_t& length : lengths) work += length = dice(1, 100);
    Machine machine{cpus(static_cast<std::size_t>(dice(1, 6))), rules, lengths};
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        machine.wake(dice(0, 200), static_cast<Entity>(i), dice(0, 1) == 0 ? kNoCpu : 0);
    }
    machine.run();
    std::int64_t busy = 0;
    for (int cpu = 0; cpu < machine.scheduler.cpu_count(); ++cpu) {
        EXPECT_LE(machine.scheduler.busy_ns(cpu), machine.now_ns());
        EXPECT_EQ(machine.scheduler.running_on(cpu), kNobody);
        busy += machine.scheduler.busy_ns(cpu);
    }
    EXPECT_EQ(busy, work);
    EXPECT_EQ(machine.started.size(), lengths.size());
    EXPECT_EQ(machine.done.size(), lengths.size());
    EXPECT_EQ(machine.scheduler.counts().voluntary, static_cast<std::int64_t>(lengths.size()));
    EXPECT_EQ(machine.scheduler.counts().involuntary, static_cast<std::int64_t>(machine.stopped.size()));
}

TEST(EveryRule, GetsAllWorkDoneOnce) {
    const std::vector<Rules> all_rules{{},
                                       affine(),
                                       sliced(7),
                                       per_cpu(Placement::first_idle),
                                       per_cpu(Placement::wake_affine),
                                       per_cpu(Placement::wake_affine, true),
                                       {Queues::per_cpu, Placement::biggest_idle, true, 11}};
    for (std::size_t rule = 0; rule < all_rules.size(); ++rule) {
        SCOPED_TRACE(rule);
        for (std::uint64_t i = 0; i < 100; ++i) expect_all_work_done(all_rules[rule], i);
    }
}

TEST(QueueOfEachCpu, IsTheGlobalQueueOnOneCpu) {
    const auto told = [](const Rules& rules, std::uint64_t number) {
        RandomStream stream{{number, 0}, "one cpu"};
        const auto dice = [&stream](std::int64_t low, std::int64_t high) {
            return UniformInt{low, high}(stream);
        };
        std::vector<std::int64_t> lengths(static_cast<std::size_t>(dice(1, 30)));
        for (std::int64_t& length : lengths) length = dice(1, 100);
        Machine machine{cpus(1), rules, lengths};
        for (std::size_t i = 0; i < lengths.size(); ++i) {
            machine.wake(dice(0, 200), static_cast<Entity>(i), kNoCpu, dice(0, 4) == 0);
        }
        machine.run();
        machine.started.insert(machine.started.end(), machine.done.begin(), machine.done.end());
        return machine.started;
    };
    for (std::uint64_t i = 0; i < 200; ++i) {
        ASSERT_EQ(told(per_cpu(Placement::wake_affine, true), i), told({}, i)) << i;
        ASSERT_EQ(told({Queues::per_cpu, Placement::first_idle, false, 9}, i), told(sliced(9), i)) << i;
    }
}

TEST(EntityThatGivesWay, GoesBehindItsLikeWhenDisplaced) {
    Machine machine{cpus(1), {}, {kUnbounded, kUnbounded, 10}, 1};
    machine.giving_way = 2;
    machine.wake(0, 3);
    machine.wake(1, 0);
    machine.wake(2, 1);
    machine.leave(5, 0);
    machine.wake(20, 2);
    machine.run();
    EXPECT_EQ(machine.started, (Log{{3, 0, 0}, {0, 0, 5}, {2, 0, 20}, {1, 0, 30}}));
}

}  // namespace
}  // namespace torpor::sched
