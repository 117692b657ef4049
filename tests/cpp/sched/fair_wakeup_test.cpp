// SPDX-License-Identifier: MIT
// No wake-up is lost: by hand, and over random machines and rules.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "fair_bench.hpp"
#include "torpor/base/distributions.hpp"
#include "torpor/base/random.hpp"

namespace torpor::sched {
namespace {

using namespace testing;

FairRules global() {
    FairRules rules = plain();
    rules.queues = Queues::global;
    return rules;
}

constexpr FairCosts kSwitch{100, 0, 0, 0};

// Whoever has something to pay before it waits can be woken meanwhile: it must not wait then.
TEST(WakeUp, OfOneThatPaysBeforeItWaitsIsNotLost) {
    Bench bench{identical(2), global(), kSwitch};
    const Entity sleeper = bench.add(0, {waits(), waits(), runs(7)});
    bench.wake(0, sleeper);
    bench.wake(50, sleeper);  // pays until 100 for having been switched in
    bench.run();
    EXPECT_EQ(bench.done_ns(sleeper), 107);
    EXPECT_EQ(bench.text(), "0@0[0,107)");
}

TEST(WakeUp, OfOneThatWasPreemptedWhileItPaidIsNotLost) {
    FairRules rules = pinned();
    rules.wakeup_granularity_ns = 10;
    Bench bench{identical(1), rules, kSwitch};
    const Entity sleeper = bench.add(0, {waits(), waits(), runs(7)});
    const Entity other = bench.add(0, {runs(200)});
    bench.wake(0, sleeper);
    bench.wake(10, other);  // takes the CPU when 90 are left to pay
    bench.wake(20, sleeper);
    bench.run();
    EXPECT_EQ(bench.text(), "0@0[0,10) 1@0[10,310) 0@0[310,507)");
}

TEST(WakeUp, OfOneThatGaveWayWhileItPaidIsNotLost) {
    Bench bench{identical(1), global(), kSwitch};
    const Entity main = bench.add(0, {waits(), waits(), runs(7)});
    const Entity other = bench.add(0, {runs(200)});
    bench.let_give_way(main);
    bench.wake(0, main);
    bench.wake(10, other);
    bench.wake(20, main);
    bench.run();
    EXPECT_EQ(bench.text(), "0@0[0,10) 1@0[10,310) 0@0[310,507)");
}

TEST(WakeUp, OfOneThatMovedWhileItPaidIsNotLost) {
    FairRules rules = plain();
    rules.tick_ns = 50;
    Bench bench{little_and_big(), rules, kSwitch};
    const Entity heavy = bench.add(0, {waits(), waits(), runs(7)});
    const Entity other = bench.add(2, {runs(20)});
    bench.scheduler.begin_window(heavy, 0, 230.0, false);
    bench.wake(0, other);
    bench.wake(1, heavy);
    bench.wake(130, heavy);  // on the big CPU, still paying
    bench.run();
    ASSERT_EQ(bench.scheduler.cpu_of(heavy), 2);
    EXPECT_GT(bench.done_ns(heavy), 0);
}

TEST(WakeUp, DoesNotComeOfBeingPreemptedWhilePaying) {
    // The sleeper still pays for its switch when it is preempted; having paid the rest it goes on sleeping.
    FairRules rules = pinned();
    rules.wakeup_granularity_ns = 10;
    Bench bench{identical(1), rules, kSwitch};
    const Entity sleeper = bench.add(0, {sleeps(1000), runs(7)});
    const Entity other = bench.add(0, {runs(200)});
    bench.wake(0, sleeper);
    bench.wake(10, other);
    bench.run();
    EXPECT_FALSE(bench.woken_too_early);
    EXPECT_EQ(bench.text(), "0@0[0,10) 1@0[10,310) 0@0[310,500) 0@0[1000,1107)");
}

TEST(WakeUp, IsSpentByGoingOnOnce) {
    Bench bench{identical(1), global(), kSwitch};
    const Entity sleeper = bench.add(0, {waits(), waits(), waits(), runs(7)});
    bench.wake(0, sleeper);
    bench.wake(50, sleeper);
    bench.run();
    EXPECT_EQ(bench.done_ns(sleeper), -1);
    EXPECT_EQ(bench.text(), "0@0[0,100)");
}

/// A ring of entities on random machines under random rules: each wakes random others, works and waits.
struct Ring {
    Ring(int number, FairCosts costs) : stream{{static_cast<std::uint64_t>(number), 0}, "ring"} {
        FairMachine machine = little_and_big(static_cast<std::size_t>(between(0, 2)));
        for (FairCpu& cpu : machine.cpus)
            cpu.idle_exits = {{0, between(0, 30)}, {between(1, 900), between(0, 300)}};
        if (machine.cpus.size() == 2) machine.domains.resize(1);
        FairRules rules;
        rules.queues = chance(25) ? Queues::global : Queues::per_cpu;
        rules.eas = chance(50);
        rules.pull = chance(50);
        rules.placement = static_cast<FairPlacement>(between(0, 2));
        rules.cache_hot_ns = between(0, 100);
        rules.slice_ns = chance(70) ? between(220, 500) : 0;  // longer than any switch takes
        rules.wakeup_granularity_ns = chance(70) ? between(1, 100) : 0;
        rules.tick_ns = chance(70) ? between(10, 200) : 0;
        rules.cluster_exit_ns = between(0, 50);
        rules.shared_cpus = chance(30) ? static_cast<double>(between(1, 8)) / 2.0 : 0.0;
        is_shared = rules.shared_cpus > 0.0;
        bench = std::make_unique<Bench>(machine, rules, costs);
        const auto count = static_cast<int>(between(2, 12));
        std::vector<Acts> all(static_cast<std::size_t>(count));
        std::vector<Entity> order(all.size());
        std::iota(order.begin(), order.end(), 0);
        // Each round is one permutation: everybody wakes one and waits for one.
        for (int round = 0; round < 20; ++round) {
            for (std::size_t i = order.size(); i-- > 1;)
                std::swap(order[i],
                          order[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(i)))]);
            for (std::size_t i = 0; i < all.size(); ++i) {
                if (chance(60)) all[i].push_back(runs(between(0, 150), between(0, 50)));
                if (chance(20)) all[i].push_back(sleeps(between(0, 200)));
                all[i].push_back(wakes(order[i]));
                if (chance(30)) all[i].push_back(runs(between(0, 150), between(0, 50)));
                all[i].push_back(waits());
            }
        }
        for (std::size_t i = 0; i < all.size(); ++i) {
            for (const Act& act : all[i]) {
                if (act.kind == Act::Kind::run) least_ns += act.first + act.second;
            }
            entities.push_back(bench->add(static_cast<int>(between(0, bench->scheduler.cpu_count() - 1)),
                                          std::move(all[i])));
        }
        if (chance(50)) bench->let_give_way(0);
        if (chance(50))
            bench->scheduler.begin_window(0, 0, static_cast<double>(between(0, 1024)), chance(50));
        for (const Entity each : entities) bench->wake(between(0, 300), each);
        bench->run();
    }

    std::int64_t between(std::int64_t low, std::int64_t high) { return UniformInt{low, high}(stream); }
    bool chance(int percent) { return between(1, 100) <= percent; }

    RandomStream stream;
    std::unique_ptr<Bench> bench;
    std::vector<Entity> entities;
    std::int64_t least_ns{0};
    bool is_shared{false};
};

constexpr FairCosts kAll{13, 7, 5, 40};

TEST(Ring, NobodyIsLeftBehind) {
    for (int i = 0; i < 500; ++i) {
        const Ring ring{i, kAll};
        for (const Entity each : ring.entities) ASSERT_GE(ring.bench->done_ns(each), 0) << i << " " << each;
        ASSERT_EQ(ring.bench->scheduler.next_ns(), to_ns(kTimeMax)) << i;
        ASSERT_FALSE(ring.bench->woken_too_early) << i;
    }
}

TEST(Ring, BusyTimesAddUpToWhatTheEntitiesRan) {
    for (int i = 0; i < 300; ++i) {
        const Ring ring{i, kAll};
        std::int64_t busy_ns = 0;
        for (int cpu = 0; cpu < ring.bench->scheduler.cpu_count(); ++cpu)
            busy_ns += ring.bench->scheduler.busy_ns(cpu);
        ASSERT_EQ(busy_ns, ring.bench->ran_sum_ns) << i;
        ASSERT_GE(busy_ns, ring.least_ns) << i;
    }
}

TEST(Ring, NoCpuRunsTwoAtATimeAndNobodyIsOnTwo) {
    for (int i = 0; i < 300; ++i) {
        const Ring ring{i, kAll};
        const auto& runs = ring.bench->runs;
        std::vector<std::int64_t> cpu_free(8, 0);
        std::vector<std::int64_t> entity_free(ring.entities.size(), 0);
        for (const auto& run : runs) {  // in the order of their ends
            auto& cpu = cpu_free[static_cast<std::size_t>(run.cpu)];
            auto& entity = entity_free[static_cast<std::size_t>(run.entity)];
            ASSERT_GE(run.from_ns, cpu) << i;
            ASSERT_GE(run.from_ns, entity) << i;
            ASSERT_GE(run.to_ns, run.from_ns) << i;
            cpu = run.to_ns;
            entity = run.to_ns;
        }
    }
}

TEST(Ring, SwitchInsAreNoMoreThanRunsAndSwitchesNoMoreThanTwice) {
    for (int i = 0; i < 300; ++i) {
        const Ring ring{i, kAll};
        const FairCounts& counts = ring.bench->scheduler.counts();
        ASSERT_LE(counts.switch_ins, static_cast<std::int64_t>(ring.bench->runs.size())) << i;
        ASSERT_LE(counts.switches, 2 * static_cast<std::int64_t>(ring.bench->runs.size())) << i;
        ASSERT_GE(counts.switches, counts.switch_ins) << i;
    }
}

}  // namespace
}  // namespace torpor::sched
