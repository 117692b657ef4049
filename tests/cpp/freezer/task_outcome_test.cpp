// SPDX-License-Identifier: MIT
// How each task gets through a freeze and its thaw.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dice.hpp"
#include "example.hpp"

namespace torpor::freezer {
namespace {

using namespace testing;

struct Row {
    const char* policy;
    std::vector<std::string> states;
    std::vector<std::int64_t> wakeups;
    std::vector<Interrupted> calls;
};

constexpr Interrupted kNot = Interrupted::never;
constexpr Interrupted kAgain = Interrupted::restarted;
constexpr Interrupted kWithTime = Interrupted::restart_block;
constexpr Interrupted kError = Interrupted::visible_error;

class OutcomesOfTasks : public ::testing::TestWithParam<Row> {};

TEST_P(OutcomesOfTasks, TellStateWakeupsAndCall) {
    const Row& row = GetParam();
    const Scenario scenario =
        example(2, {group("futex", 1, Site::futex), group("epoll", 1, Site::epoll),
                    group("nanosleep", 1, Site::nanosleep), group("vfork", 1, Site::vfork), others(),
                    starting(others(1, "stopped"), Start::stopped)});
    std::vector<std::string> states;
    std::vector<std::int64_t> wakeups;
    std::vector<Interrupted> calls;
    for (const TaskOutcome& task : outcomes(scenario, row.policy)) {
        states.emplace_back(task.state);
        wakeups.push_back(task.wakeups);
        calls.push_back(task.call);
        EXPECT_EQ(task.interrupted, task.call != kNot);
        EXPECT_EQ(task.state_after_thaw, task.number == 0 && task.group == 5 ? "stopped" : "blocked");
    }
    EXPECT_EQ(states, row.states);
    EXPECT_EQ(wakeups, row.wakeups);
    EXPECT_EQ(calls, row.calls);
}

INSTANTIATE_TEST_SUITE_P(
    Versions, OutcomesOfTasks,
    ::testing::Values(Row{"v3.9",
                          {"frozen", "frozen", "frozen", "blocked", "frozen", "stopped"},
                          {2, 2, 2, 0, 2, 0},
                          {kAgain, kError, kWithTime, kNot, kAgain, kNot}},
                      Row{"full",
                          {"skipped", "skipped", "skipped", "skipped", "frozen", "stopped"},
                          {0, 0, 0, 0, 2, 0},
                          {kNot, kNot, kNot, kNot, kAgain, kNot}},
                      Row{"v3.12",
                          {"skipped", "frozen", "skipped", "skipped", "frozen", "stopped"},
                          {0, 2, 0, 0, 2, 0},
                          {kNot, kError, kNot, kNot, kAgain, kNot}},
                      Row{"v6.1",
                          {"marked", "frozen", "marked", "marked", "frozen", "marked"},
                          {1, 2, 1, 1, 2, 0},
                          {kNot, kError, kNot, kNot, kAgain, kNot}},
                      Row{"v6.7",
                          {"marked", "frozen", "marked", "marked", "frozen", "marked"},
                          {0, 2, 0, 0, 2, 0},
                          {kNot, kError, kNot, kNot, kAgain, kNot}},
                      Row{"cgroup2",
                          {"frozen", "frozen", "frozen", "skipped", "frozen", "stopped"},
                          {2, 2, 2, 0, 2, 0},
                          {kAgain, kError, kWithTime, kNot, kAgain, kNot}}));

TEST(Wakeups, AreThoseOfWaitsThatEndOfTheWalkerAndOfTheThaw) {
    // The first ends its wait before anybody asks it, blocks again, and is woken; the second is asked before.
    Scenario scenario = example(2, {others(5), d_task("early", 3), d_task("late", 3300)});
    const std::vector<TaskOutcome> tasks = outcomes(scenario, "p1");
    EXPECT_EQ(tasks.at(4).wakeups, 2);
    EXPECT_EQ(tasks.at(5).wakeups, 3);
    EXPECT_TRUE(tasks.at(5).interrupted);
    EXPECT_EQ(tasks.at(6).wakeups, 2);
    EXPECT_FALSE(tasks.at(6).interrupted);
}

TEST(Wakeups, OfATaskInUserModeAreThoseOfTheThaw) {
    const TaskOutcome task = outcomes(example(2, {computing("u")}), "p1").front();
    EXPECT_EQ(task.wakeups, 1);
    EXPECT_FALSE(task.interrupted);
}

TEST(Wakeups, OfAllTasksAddUpToThoseOfFreezeAndThaw) {
    for (int i = 0; i < 300; ++i) {
        Dice dice{"wakeups", i};
        const Scenario scenario = random_world(dice);
        Model model{scenario, parse_policy(random_version(dice))};
        model.keep_tasks();
        const Result result = model.run({3, 1}, {});
        std::int64_t sum = 0;
        std::int64_t calls = 0;
        std::int64_t errors = 0;
        for (const TaskOutcome& task : model.tasks()) {
            sum += task.wakeups;
            calls += task.call == kNot ? 0 : 1;
            errors += task.call == kError ? 1 : 0;
        }
        ASSERT_EQ(sum, result.freeze.wakeups + result.thaw.wakeups) << i;
        ASSERT_EQ(calls, result.restarts + result.visible_errors) << i;
        ASSERT_EQ(errors, result.visible_errors) << i;
    }
}

/// Where a task must be after a freeze that ends well and its thaw. A wait in D that has an end is over by
/// then, and who computes is taken to block at the end of its burst.
std::string_view state_before(const TaskGroup& group) {
    switch (group.start) {
        case Start::stopped:
            return "stopped";
        case Start::zombie:
            return "zombie";
        case Start::uninterruptible:
            return group.d_ends_ns ? "blocked" : "uninterruptible";
        case Start::blocked:
        case Start::user_mode:
        case Start::spinning:
            break;
    }
    return "blocked";
}

TEST(Cycle, LeavesEveryTaskInItsInitialState) {
    int ended_well = 0;
    for (int i = 0; i < 1000; ++i) {
        Dice dice{"initial state", i};
        Scenario scenario = random_world(dice);
        TaskGroup never_asked = d_task("never asked", -1, Kind::knofreeze);
        never_asked.count = dice.between(0, 2);
        scenario.tasks.push_back(never_asked);
        if (dice.chance(30)) scenario.asleep_ns = dice.between(0, 1'000'000'000);
        if (dice.chance(30)) scenario.rules.slice_ns = dice.between(1000, 50000);
        std::string policy = random_version(dice);
        const std::int64_t kind = dice.between(1, 5);
        if (kind == 4) policy = std::string{"cgroup1(version="}.append(policy).append(")");
        if (kind == 5) policy = "cgroup2";
        Model model{scenario, parse_policy(policy)};
        model.keep_tasks();
        if (model.run({1, 3}, {}).outcome != Outcome::frozen) continue;
        ++ended_well;
        for (const TaskOutcome& task : model.tasks()) {
            const TaskGroup& group = scenario.tasks[static_cast<std::size_t>(task.group)];
            // A thread that nobody asked may still wait when all others have frozen.
            const bool waits_on = task.state == "uninterruptible";
            ASSERT_EQ(task.state_after_thaw, waits_on ? task.state : state_before(group))
                << i << " " << policy << " " << group.name;
            if (task.state == "frozen") {
                ASSERT_GE(task.reblocked_ns, 0) << i << " " << policy << " " << group.name;
            }
            if (task.state == "skipped") {
                ASSERT_EQ(task.frozen_ns, -1) << i << " " << policy << " " << group.name;
            }
            if (group.kind == Kind::knofreeze) {
                ASSERT_EQ(task.wakeups, 0) << i << " " << policy << " " << group.name;
                ASSERT_EQ(task.reblocked_ns, -1) << i << " " << policy << " " << group.name;
            }
        }
    }
    EXPECT_GT(ended_well, 900);
}

}  // namespace
}  // namespace torpor::freezer
