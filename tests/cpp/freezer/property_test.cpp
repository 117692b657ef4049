// SPDX-License-Identifier: MIT
// What holds in every freeze, over random ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "dice.hpp"
#include "example.hpp"

namespace torpor::freezer {
namespace {

using namespace testing;

constexpr int kCases = 300;

/// Sleeping tasks only: nothing happens but what the walker does.
Scenario asleep(Dice& dice) {
    const int hz = dice.one_of(std::vector<int>{100, 250, 1000});
    Scenario scenario =
        example(static_cast<int>(dice.between(1, 8)),
                random_sleepers(dice, dice.between(0, 60), static_cast<int>(dice.between(0, 90))), hz);
    scenario.costs = random_costs(dice);
    scenario.loops = Loops::both;
    return scenario;
}

struct Counts {
    std::int64_t switch_ins, restarts, visible_errors, wakeups, thaw_switch_ins, thaw_wakeups, thaw_errors;

    bool operator==(const Counts&) const = default;
};

Counts counts_of(const Result& result) {
    return {
        result.freeze.task_switch_ins, result.restarts,     result.visible_errors,     result.freeze.wakeups,
        result.thaw.task_switch_ins,   result.thaw.wakeups, result.thaw_visible_errors};
}

TEST(Counts, DoNotDependOnTheSleep) {
    for (int i = 0; i < kCases; ++i) {
        Dice dice{"sleep and counts", i};
        Scenario scenario = asleep(dice);
        if (dice.chance(30)) scenario.costs.freeze_run_cycles *= 50;
        scenario.kernel.preempt = dice.chance(50) ? Preempt::none : Preempt::full;
        const std::string version = random_version(dice);
        const Counts expected = counts_of(run(scenario, version + "(sleep=msleep)"));
        for (const char* sleep : {"(sleep=msleep, msleep_ms=1)", "(sleep=backoff)", "(sleep=notify)",
                                  "(sleep=backoff, first_us=100, growth=1.5, cap_us=3000)"}) {
            ASSERT_EQ(counts_of(run(scenario, version + sleep)), expected) << i << " " << version << sleep;
        }
    }
}

TEST(Counts, DoNotDependOnTheOrderOfTheList) {
    for (int i = 0; i < kCases; ++i) {
        Dice dice{"order and counts", i};
        Scenario scenario = asleep(dice);
        const std::string version = random_version(dice);
        const Counts expected = counts_of(run(scenario, version));
        scenario.order = Order::shuffled;
        ASSERT_EQ(counts_of(run(scenario, version, {1, 5})), expected) << i << " " << version;
        scenario.order = Order::listed;
        std::reverse(scenario.tasks.begin(), scenario.tasks.end());
        ASSERT_EQ(counts_of(run(scenario, version)), expected) << i << " " << version;
    }
}

TEST(Elapsed, OfTheSeriesIsAtMostThatOf312AndThatOfPatch1UpToOneBurst) {
    for (int i = 0; i < kCases; ++i) {
        Dice dice{"versions", i};
        const Scenario scenario = asleep(dice);
        const std::int64_t burst = scenario.costs.freeze_run_cycles;
        const std::int64_t full = run(scenario, "full").elapsed_ns;
        const std::int64_t later = run(scenario, "v3.12").elapsed_ns;
        const std::int64_t p1 = run(scenario, "p1").elapsed_ns;
        ASSERT_LE(full, later + burst) << i;
        ASSERT_LE(later, p1 + burst) << i;
    }
}

TEST(Elapsed, FallsWithTheFrequencyUpToOneBurst) {
    for (int i = 0; i < kCases; ++i) {
        Dice dice{"frequencies", i};
        Scenario scenario = asleep(dice);
        const std::string version = random_version(dice);
        std::int64_t slower_ns = 0;
        for (const std::int64_t mhz : {200, 300, 777, 1000, 1700}) {
            for (sched::Cpu& cpu : scenario.cpus) cpu.freq_hz = mhz * 1'000'000;
            const std::int64_t elapsed_ns = run(scenario, version).elapsed_ns;
            const std::int64_t burst_ns = scenario.costs.freeze_run_cycles * 1000 / mhz;
            if (slower_ns > 0) {
                ASSERT_LE(elapsed_ns, slower_ns + burst_ns) << i << " " << version << " " << mhz;
            }
            slower_ns = elapsed_ns;
        }
    }
}

TEST(Cycle, IsTheSameEachTime) {
    for (int i = 0; i < kCases; ++i) {
        Dice dice{"as before", i};
        Model model{random_world(dice), parse_policy(random_version(dice))};
        const Result first = model.run({1, 3}, {});
        ASSERT_EQ(model.run({1, 3}, {}), first) << i;
    }
}

/// Length of each sleep, and the upper end of its range.
std::vector<std::pair<std::int64_t, std::int64_t>> sleeps_of(const Scenario& scenario) {
    engine::VectorSink told;
    Model{scenario, parse_policy("p1")}.run({1, 0}, {}, &told);
    std::vector<std::pair<std::int64_t, std::int64_t>> sleeps;
    std::int64_t began = 0;
    std::int64_t high = 0;
    for (const auto& record : told.records()) {
        if (record.kind == static_cast<std::uint16_t>(TimelineKind::sleep_begin)) {
            began = to_ns(record.at);
            high = record.value;
        } else if (record.kind == static_cast<std::uint16_t>(TimelineKind::sleep_end)) {
            sleeps.emplace_back(to_ns(record.at) - began, high);
        }
    }
    return sleeps;
}

TEST(RangeSleeps, LieBetweenSoftAndHard) {
    for (int i = 0; i < kCases; ++i) {
        Dice dice{"range sleeps", i};
        Scenario scenario = random_world(dice);
        for (const RangeMode mode : {RangeMode::soft, RangeMode::uniform, RangeMode::tick, RangeMode::hard}) {
            scenario.kernel.range_mode = mode;
            for (const auto& [length, high] : sleeps_of(scenario)) {
                if (mode == RangeMode::soft) {
                    ASSERT_EQ(length, high / 2) << i;
                }
                if (mode == RangeMode::hard) {
                    ASSERT_EQ(length, high) << i;
                }
                ASSERT_GE(length, high / 2) << i;
                ASSERT_LE(length, high) << i;
            }
        }
    }
}

TEST(Replicate, DoesNotDependOnTheOnesBeforeIt) {
    for (int i = 0; i < kCases; ++i) {
        Dice dice{"history", i};
        const Scenario scenario = random_world(dice);
        const Policy policy = parse_policy(random_version(dice));
        Model fresh{scenario, policy};
        Model used{scenario, policy};
        for (std::uint64_t r = 0; r < 5; ++r) used.run({7, r}, {});
        ASSERT_EQ(used.run({7, 5}, {}), fresh.run({7, 5}, {})) << i;
    }
}

TEST(Replicate, DoesNotDependOnWhetherItsBoundIsAskedFor) {
    for (int i = 0; i < kCases; ++i) {
        Dice dice{"with bound", i};
        Scenario scenario = random_world(dice);
        const std::string policy = random_version(dice);
        Result with = run(scenario, policy, {7, 5});
        scenario.bound = false;
        const Result without = run(scenario, policy, {7, 5});
        ASSERT_GE(with.bound_ns, 0) << i;
        ASSERT_EQ(without.bound_ns, -1) << i;
        with.bound_ns = -1;
        ASSERT_EQ(with, without) << i;
    }
}

TEST(Replicate, DoesNotDependOnWhoWatches) {
    for (int i = 0; i < kCases; ++i) {
        Dice dice{"watched", i};
        const Scenario scenario = random_world(dice);
        Model model{scenario, parse_policy(random_version(dice))};
        engine::VectorSink told;
        const Result watched = model.run({7, 5}, {}, &told);
        ASSERT_EQ(watched, model.run({7, 5}, {})) << i;
        ASSERT_FALSE(told.records().empty());
    }
}

TEST(Queues, OfEachCpuAreTheGlobalQueueOnOneCpu) {
    for (int i = 0; i < kCases; ++i) {
        Dice dice{"one queue", i};
        Scenario scenario = random_world(dice);
        scenario.cpus.resize(1);
        scenario.busy_power_mw.resize(1);
        scenario.rules.slice_ns = dice.chance(50) ? dice.between(1000, 50000) : 0;
        const std::string policy = random_version(dice);
        const Result global = run(scenario, policy);
        scenario.rules.queues = sched::Queues::per_cpu;
        scenario.rules.steal = dice.chance(50);
        scenario.rules.placement = dice.one_of(std::vector<sched::Placement>{
            sched::Placement::first_idle, sched::Placement::biggest_idle, sched::Placement::wake_affine});
        ASSERT_EQ(run(scenario, policy), global) << i << " " << policy;
    }
}

TEST(Bound, IsNeverAboveWhatAPolicyTakes) {
    for (int i = 0; i < 3000; ++i) {
        Dice dice{"bound", i};
        const Scenario scenario = random_world(dice);
        const std::string policy = random_version(dice);
        const Result result = run(scenario, policy, {9, 0});
        ASSERT_EQ(result.outcome, Outcome::frozen) << i;
        EXPECT_GE(result.bound_ns, 0) << i << " " << policy;
        EXPECT_LE(result.bound_ns, result.elapsed_ns) << i << " " << policy;
    }
}

/// When the tasks of a group froze. Nothing costs anything but the bursts, and each task has a CPU.
std::vector<std::int64_t> frozen_of(const Scenario& scenario, const std::string& policy,
                                    std::string_view name) {
    Model model{scenario, parse_policy(policy)};
    model.keep_tasks();
    model.run({4, 2}, {});
    std::map<std::int64_t, std::int64_t> frozen;
    for (const TaskOutcome& task : model.tasks()) {
        if (scenario.tasks[static_cast<std::size_t>(task.group)].name == name) {
            frozen[task.number] = task.frozen_ns;
        }
    }
    std::vector<std::int64_t> in_order;
    for (const auto& [number, frozen_ns] : frozen) in_order.push_back(frozen_ns);
    return in_order;
}

Scenario tails() {
    TaskGroup tail = d_task("tail", 0);
    tail.count = 3;
    tail.d_ends_ns = LogNormal{2e6, 1.0};
    Scenario scenario = example(8, {tail});
    scenario.costs = {};
    scenario.costs.freeze_run_cycles = 100;
    scenario.kernel.since_tick_ns.reset();
    return scenario;
}

TEST(Draws, OfAGroupDoNotMoveWithThePolicy) {
    const std::vector<std::int64_t> expected = frozen_of(tails(), "p1", "tail");
    EXPECT_EQ(expected.size(), 3U);
    EXPECT_NE(expected[0], expected[1]);
    for (const char* policy : {"v3.9", "v6.7", "full(sleep=notify)", "cgroup1", "cgroup2"}) {
        EXPECT_EQ(frozen_of(tails(), policy, "tail"), expected) << policy;
    }
}

TEST(Draws, OfAGroupDoNotMoveWithOtherGroups) {
    const std::vector<std::int64_t> expected = frozen_of(tails(), "p1", "tail");
    Scenario more = tails();
    TaskGroup other = d_task("another", 0);
    other.count = 2;
    other.d_ends_ns = Uniform{0.0, 1e7};
    TaskGroup sleeper = group("sleeper", 1, Site::futex);
    sleeper.wakes_at_ns = Exponential{1e6};
    more.tasks.insert(more.tasks.begin(), other);
    more.tasks.push_back(sleeper);
    more.kernel.range_mode = RangeMode::uniform;
    more.wakeup_at_ns = Constant{1e12};
    more.work.push_back({0, Exponential{1e6}});
    EXPECT_EQ(frozen_of(more, "p1", "tail"), expected);
    more.order = Order::shuffled;
    EXPECT_EQ(frozen_of(more, "p1", "tail"), expected);
}

TEST(Draws, OfTwoGroupsDiffer) {
    Scenario scenario = tails();
    scenario.tasks.push_back(scenario.tasks.front());
    scenario.tasks.back().name = "twin";
    EXPECT_NE(frozen_of(scenario, "p1", "tail"), frozen_of(scenario, "p1", "twin"));
}

TEST(Draws, OfTheTickDoNotMoveWithTheTasksOrThePolicy) {
    const auto first_sleep = [](const Scenario& scenario, const char* policy) {
        engine::VectorSink told;
        Model{scenario, parse_policy(policy)}.run({4, 2}, {}, &told);
        return times(told, TimelineKind::sleep_end).front();
    };
    Scenario more = tails();
    more.tasks.push_back(others(20));
    more.order = Order::shuffled;
    EXPECT_EQ(first_sleep(more, "v3.9"), first_sleep(tails(), "v3.9"));
    EXPECT_EQ(first_sleep(more, "skip-only"), first_sleep(tails(), "v3.9"));
}

}  // namespace
}  // namespace torpor::freezer
