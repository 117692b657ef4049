// SPDX-License-Identifier: MIT
// Freezes worked out by hand, exact to the nanosecond and to the count. Times in microseconds.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "example.hpp"

namespace torpor::freezer {
namespace {

using namespace testing;

TEST(OneTask, IsFrozenAtTheEndOfItsBurstAndSeenAfterTheSleep) {
    const Scenario scenario = example(1, {others()});
    const Result result = run(scenario, "v3.9");
    EXPECT_EQ(us(result.elapsed_ns), 20001);
    EXPECT_EQ(result.freeze.task_switch_ins, 1);
    EXPECT_EQ(result.freeze.switches, 5);
    EXPECT_EQ(result.restarts + result.visible_errors, 1);
    EXPECT_EQ(us(result.freeze.busy_ns), 26);
    EXPECT_EQ(result.freeze.voluntary, 2);
    EXPECT_EQ(result.freeze.involuntary, 1);
    EXPECT_EQ(result.user.passes, 2);
    EXPECT_EQ(frozen_us(scenario, "v3.9"), Times{25});
    EXPECT_EQ(passes(scenario, "v3.9"), (PassList{{0, 5, 1}, {20000, 20001, 0}}));
    EXPECT_EQ(sleep_starts(scenario, "v3.9"), Times{25});
    const TaskOutcome task = outcomes(scenario, "v3.9").front();
    EXPECT_EQ(task.voluntary, 1);
    EXPECT_EQ(task.involuntary, 0);
}

TEST(OneTask, WaitsForTheTicksOfTheKernelsHz) {
    Scenario late_in_the_tick = example(1, {others()});
    late_in_the_tick.kernel.since_tick_ns = 7'000'000;
    EXPECT_EQ(us(run(late_in_the_tick, "v3.9").elapsed_ns), 13001);
    EXPECT_EQ(us(run(example(1, {others()}, 250), "v3.9").elapsed_ns), 16001);
    EXPECT_EQ(us(run(example(1, {others()}, 1000), "v3.9").elapsed_ns), 11001);
    EXPECT_EQ(run(example(1, {others()}, 300), "v3.9").elapsed_ns, 13'334'332);
}

TEST(OneTask, IsSeenAfterAMillisecondWithBackoffAndAtOnceWithNotification) {
    const Scenario scenario = example(1, {others()});
    EXPECT_EQ(us(run(scenario, "p1").elapsed_ns), 1026);
    EXPECT_EQ(passes(scenario, "p1"), (PassList{{0, 5, 1}, {1025, 1026, 0}}));
    EXPECT_EQ(sleep_starts(scenario, "p1"), Times{25});
    EXPECT_EQ(us(run(scenario, "p1(sleep=notify)").elapsed_ns), 26);
    EXPECT_EQ(passes(scenario, "p1(sleep=notify)"), (PassList{{0, 5, 1}, {25, 26, 0}}));
}

TEST(FourTasks, ShareTwoCpusWithTheWalkerAtTheTail) {
    const Scenario scenario = example(2, {others(4)});
    const Result result = run(scenario, "p1");
    EXPECT_EQ(frozen_us(scenario, "p1"), (Times{25, 40, 45, 60}));
    EXPECT_EQ(us(result.elapsed_ns), 1049);
    EXPECT_EQ(passes(scenario, "p1"), (PassList{{0, 20, 4}, {1045, 1049, 0}}));
    EXPECT_EQ(sleep_starts(scenario, "p1"), Times{45});
    EXPECT_EQ(result.freeze.task_switch_ins, 4);
    EXPECT_EQ(result.freeze.switches, 9);
    ASSERT_EQ(result.freeze.cpu_busy_ns.size(), 2U);
    EXPECT_EQ(us(result.freeze.cpu_busy_ns[0]), 64);
    EXPECT_EQ(us(result.freeze.cpu_busy_ns[1]), 40);
    EXPECT_EQ(us(result.thaw_walker_ns), 35);
    EXPECT_EQ(us(result.thaw_all_ns), 50);
    EXPECT_EQ(result.thaw.task_switch_ins, 4);
}

TEST(FourTasks, FreezeDuringTheSleepWithoutPreemption) {
    Scenario scenario = example(2, {others(4)});
    scenario.kernel.preempt = Preempt::none;
    EXPECT_EQ(us(run(scenario, "p1").elapsed_ns), 1024);
    EXPECT_EQ(passes(scenario, "p1"), (PassList{{0, 20, 4}, {1020, 1024, 0}}));
    EXPECT_EQ(sleep_starts(scenario, "p1"), Times{20});
}

TEST(FourTasks, HoldTheOnlyCpuBeforeTheWalkerSleeps) {
    const Scenario scenario = example(1, {others(4)});
    EXPECT_EQ(frozen_us(scenario, "p1"), (Times{40, 60, 80, 100}));
    EXPECT_EQ(us(run(scenario, "p1").elapsed_ns), 1104);
    EXPECT_EQ(passes(scenario, "p1"), (PassList{{0, 20, 4}, {1100, 1104, 0}}));
    EXPECT_EQ(sleep_starts(scenario, "p1"), Times{100});
}

struct Row {
    const char* policy;
    double first_pass_us;
    std::int64_t todo;
    Times frozen;
    double sleep_us;
    double second_pass_us;
    double elapsed_us;
    std::int64_t switch_ins;
    std::int64_t switches;
    double thaw_walker_us;
    double thaw_all_us;
    std::int64_t thaw_switch_ins;
};

class TenTasks : public ::testing::TestWithParam<Row> {};

TEST_P(TenTasks, GoThroughTheSameStepsAsByHand) {
    const Row& row = GetParam();
    const Scenario scenario =
        example(2, {group("futex", 6, Site::futex), group("epoll", 2, Site::epoll), others(2)});
    const Result result = run(scenario, row.policy);
    EXPECT_EQ(passes(scenario, row.policy),
              (PassList{{0, row.first_pass_us, row.todo}, {row.second_pass_us, row.elapsed_us, 0}}));
    EXPECT_EQ(sleep_starts(scenario, row.policy), Times{row.sleep_us});
    EXPECT_EQ(frozen_us(scenario, row.policy), row.frozen);
    EXPECT_EQ(us(result.elapsed_ns), row.elapsed_us);
    EXPECT_EQ(result.freeze.task_switch_ins, row.switch_ins);
    EXPECT_EQ(result.freeze.switches, row.switches);
    EXPECT_EQ(us(result.thaw_walker_ns), row.thaw_walker_us);
    EXPECT_EQ(us(result.thaw_all_ns), row.thaw_all_us);
    EXPECT_EQ(result.thaw.task_switch_ins, row.thaw_switch_ins);
}

INSTANTIATE_TEST_SUITE_P(
    Versions, TenTasks,
    ::testing::Values(
        Row{"v3.9",
            50,
            10,
            {25, 45, 65, 70, 85, 90, 105, 110, 125, 130},
            125,
            20000,
            20010,
            10,
            15,
            95,
            110,
            10},
        Row{"p1", 50, 10, {25, 45, 65, 70, 85, 90, 105, 110, 125, 130}, 125, 1125, 1135, 10, 15, 95, 110, 10},
        Row{"full", 18, 2, {-1, -1, -1, -1, -1, -1, -1, -1, 33, 38}, 33, 1033, 1043, 2, 7, 28, 33, 2},
        Row{"v3.12", 26, 4, {-1, -1, -1, -1, -1, -1, 31, 46, 51, 66}, 51, 1051, 1061, 4, 9, 41, 56, 4},
        Row{"v6.1", 29, 4, {1.5, 3, 4.5, 6, 7.5, 9, 34, 49, 54, 69}, 54, 1054, 1064, 4, 9, 85, 90, 10},
        Row{"v6.7", 29, 4, {1.5, 3, 4.5, 6, 7.5, 9, 34, 49, 54, 69}, 54, 1054, 1064, 4, 9, 44, 59, 4}));

TEST(SkippedTask, WokenByAnotherGoesToTheRefrigeratorByItself) {
    Scenario scenario = example(2, {group("futex", 1, Site::futex), others()});
    EXPECT_EQ(run(scenario, "full").freeze.task_switch_ins, 1);
    scenario.tasks[0].wakes_at_ns = Constant{500'000.0};
    const Result result = run(scenario, "full");
    EXPECT_EQ(frozen_us(scenario, "full"), (Times{520, 26}));
    EXPECT_EQ(us(result.elapsed_ns), 1008);
    EXPECT_EQ(passes(scenario, "full"), (PassList{{0, 6, 1}, {1006, 1008, 0}}));
    EXPECT_EQ(outcomes(scenario, "full").front().interrupted, false);
    EXPECT_EQ(result.freeze.task_switch_ins, 2);
    EXPECT_EQ(result.restarts + result.visible_errors, 1);
    EXPECT_EQ(us(result.thaw_walker_ns), 20);
    EXPECT_EQ(us(result.thaw_all_ns), 25);
    EXPECT_EQ(result.thaw.task_switch_ins, 2);
}

Scenario with_both_loops(int hz) {
    Scenario scenario = example(2, {others(), kthread("worker"), kthread("fixed", Kind::knofreeze)}, hz);
    scenario.loops = Loops::both;
    return scenario;
}

TEST(KernelLoop, BeginsWhenTheUserLoopEnds) {
    const Result result = run(with_both_loops(100), "p1");
    EXPECT_EQ(us(result.user.elapsed_ns), 1010);
    EXPECT_EQ(us(result.kernel.elapsed_ns), 1010);
    EXPECT_EQ(us(result.elapsed_ns), 2020);
    EXPECT_EQ(passes(with_both_loops(100), "p1"),
              (PassList{{0, 7, 1}, {1007, 1010, 0}, {1010, 1017, 1}, {2017, 2020, 0}}));
    EXPECT_EQ(sleep_starts(with_both_loops(100), "p1"), (Times{7, 1017}));
    EXPECT_EQ(frozen_us(with_both_loops(100), "p1"), (Times{25, 1036, -1}));
}

TEST(KernelLoop, TakesWholeTicksWithMsleep) {
    const Result at_100 = run(with_both_loops(100), "v3.9");
    EXPECT_EQ(us(at_100.user.elapsed_ns), 20003);
    EXPECT_EQ(us(at_100.kernel.elapsed_ns), 20000);
    EXPECT_EQ(us(at_100.elapsed_ns), 40003);
    EXPECT_EQ(passes(with_both_loops(100), "v3.9"),
              (PassList{{0, 7, 1}, {20000, 20003, 0}, {20003, 20010, 1}, {40000, 40003, 0}}));
    const Result at_200 = run(with_both_loops(200), "v3.9");
    EXPECT_EQ(us(at_200.user.elapsed_ns), 15003);
    EXPECT_EQ(us(at_200.elapsed_ns), 30003);
}

TEST(KernelLoop, WaitsForActiveWorkOfFreezableWorkqueues) {
    Scenario scenario = with_both_loops(100);
    scenario.work = {{0, Constant{4'022'000.0}}};
    const PassList user{{0, 7, 1}, {1007, 1010, 0}};
    const auto and_then = [&user](const PassList& kernel) {
        PassList both = user;
        both.insert(both.end(), kernel.begin(), kernel.end());
        return both;
    };
    EXPECT_EQ(us(run(scenario, "p1").elapsed_ns), 4023);
    EXPECT_EQ(passes(scenario, "p1"), and_then({{1010, 1017, 2}, {2017, 2020, 1}, {4020, 4023, 0}}));
    scenario.work = {{0, Constant{4'024'000.0}}};
    EXPECT_EQ(us(run(scenario, "p1").elapsed_ns), 8026);
    EXPECT_EQ(passes(scenario, "p1"),
              and_then({{1010, 1017, 2}, {2017, 2020, 1}, {4020, 4023, 1}, {8023, 8026, 0}}));
}

TEST(TwentyTasks, AreWokenInOneWalk) {
    const Scenario scenario = example(2, {others(20)});
    const Result result = run(scenario, "p1");
    const Times frozen = frozen_us(scenario, "p1");
    EXPECT_EQ(*std::max_element(frozen.begin(), frozen.end()), 260);
    EXPECT_EQ(us(result.elapsed_ns), 1265);
    EXPECT_EQ(passes(scenario, "p1"), (PassList{{0, 100, 20}, {1245, 1265, 0}}));
    EXPECT_EQ(sleep_starts(scenario, "p1"), Times{245});
    EXPECT_EQ(result.freeze.task_switch_ins, 20);
    EXPECT_EQ(result.freeze.switches, 25);
}

TEST(CgroupV2, TellsWhenTheLastTaskHasStopped) {
    const Result result = run(example(2, {others(4)}), "cgroup2");
    EXPECT_EQ(us(result.elapsed_ns), 60);
    EXPECT_EQ(passes(example(2, {others(4)}), "cgroup2"), (PassList{{0, 20, 4}}));
    EXPECT_EQ(result.user.sleeps, 0);
}

TEST(VforkParent, IsSignalledButNotWokenBeforePatchTwo) {
    const Scenario scenario = example(2, {group("vfork", 1, Site::vfork), others()});
    const Result before = run(scenario, "v3.9");
    EXPECT_EQ(us(before.elapsed_ns), 20003);
    EXPECT_EQ(before.freeze.task_switch_ins, 1);
    EXPECT_EQ(passes(scenario, "v3.9"), (PassList{{0, 7, 1}, {20000, 20003, 0}}));
    EXPECT_EQ(frozen_us(scenario, "v3.9"), (Times{-1, 27}));
    EXPECT_EQ(states(scenario, "v3.9"), (std::vector<std::string>{"blocked", "frozen"}));
    const Result after = run(scenario, "p1p2");
    EXPECT_EQ(us(after.elapsed_ns), 1008);
    EXPECT_EQ(passes(scenario, "p1p2"), (PassList{{0, 6, 1}, {1006, 1008, 0}}));
    EXPECT_EQ(after.freeze.task_switch_ins, 1);
}

}  // namespace
}  // namespace torpor::freezer
