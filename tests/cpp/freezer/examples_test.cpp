// SPDX-License-Identifier: MIT
// Freezes worked out by hand, exact to the nanosecond and to the count. Times in microseconds.
#include <gtest/gtest.h>

#include "example.hpp"

namespace torpor::freezer {
namespace {

using namespace testing;
using Times = std::vector<double>;

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
    EXPECT_EQ(us(run(scenario, "p1(sleep=notify)").elapsed_ns), 26);
}

TEST(FourTasks, ShareTwoCpusWithTheWalkerAtTheTail) {
    const Scenario scenario = example(2, {others(4)});
    const Result result = run(scenario, "p1");
    EXPECT_EQ(frozen_us(scenario, "p1"), (Times{25, 40, 45, 60}));
    EXPECT_EQ(us(result.elapsed_ns), 1049);
    EXPECT_EQ(result.freeze.task_switch_ins, 4);
    EXPECT_EQ(result.freeze.switches, 9);
    ASSERT_EQ(result.cpu_busy_ns.size(), 2U);
    EXPECT_EQ(us(result.freeze.busy_ns), 64 + 40);
    EXPECT_EQ(us(result.thaw_walker_ns), 35);
    EXPECT_EQ(us(result.thaw_all_ns), 50);
    EXPECT_EQ(result.thaw.task_switch_ins, 4);
}

TEST(FourTasks, FreezeDuringTheSleepWithoutPreemption) {
    Scenario scenario = example(2, {others(4)});
    scenario.kernel.preempt = Preempt::none;
    EXPECT_EQ(us(run(scenario, "p1").elapsed_ns), 1024);
}

TEST(FourTasks, HoldTheOnlyCpuBeforeTheWalkerSleeps) {
    const Scenario scenario = example(1, {others(4)});
    EXPECT_EQ(frozen_us(scenario, "p1"), (Times{40, 60, 80, 100}));
    EXPECT_EQ(us(run(scenario, "p1").elapsed_ns), 1104);
}

struct Row {
    const char* policy;
    Times frozen;
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
    ::testing::Values(Row{"v3.9", {25, 45, 65, 70, 85, 90, 105, 110, 125, 130}, 20010, 10, 15, 95, 110, 10},
                      Row{"p1", {25, 45, 65, 70, 85, 90, 105, 110, 125, 130}, 1135, 10, 15, 95, 110, 10},
                      Row{"full", {-1, -1, -1, -1, -1, -1, -1, -1, 33, 38}, 1043, 2, 7, 28, 33, 2},
                      Row{"v3.12", {-1, -1, -1, -1, -1, -1, 31, 46, 51, 66}, 1061, 4, 9, 41, 56, 4},
                      Row{"v6.1", {1.5, 3, 4.5, 6, 7.5, 9, 34, 49, 54, 69}, 1064, 4, 9, 85, 90, 10},
                      Row{"v6.7", {1.5, 3, 4.5, 6, 7.5, 9, 34, 49, 54, 69}, 1064, 4, 9, 44, 59, 4}));

TEST(StragglerInD, FreezesWhenItsWaitEndsAndIsSeenAfterTheRunningSleep) {
    const Scenario scenario = example(2, {others(), d_task("d", 3300)});
    const Result result = run(scenario, "p1");
    EXPECT_EQ(us(result.elapsed_ns), 7015);
    EXPECT_EQ(result.user.passes, 4);
    EXPECT_EQ(frozen_us(scenario, "p1"), (Times{25, 3320}));
    EXPECT_EQ(us(run(scenario, "v3.9").elapsed_ns), 20002);
}

TEST(EndlessD, FailsAtTheFirstPassBeyondTheTimeout) {
    const auto scenario = [](int hz) { return example(2, {others(), d_task("d", -1)}, hz); };
    for (const int hz : {1000, 250}) {
        const Result result = run(scenario(hz), "p1");
        EXPECT_EQ(result.outcome, Outcome::failed);
        EXPECT_EQ(us(result.elapsed_ns), 20'006'513);
        EXPECT_EQ(result.user.passes, 2503);
        EXPECT_EQ(result.refusing, 1);
        EXPECT_EQ(result.refusing_by_group, (std::vector<std::int64_t>{0, 1}));
    }
    EXPECT_EQ(us(run(scenario(100), "p1").elapsed_ns), 20'014'516);
    EXPECT_EQ(run(scenario(100), "p1").user.passes, 2504);
    EXPECT_EQ(us(run(scenario(100), "v3.9").elapsed_ns), 20'020'003);
    EXPECT_EQ(run(scenario(100), "v3.9").user.passes, 1002);
    EXPECT_EQ(us(run(scenario(250), "v3.9").elapsed_ns), 20'016'003);
    EXPECT_EQ(run(scenario(250), "v3.9").user.passes, 1252);
}

TEST(WakeupEvent, AbortsAtTheEndOfTheNextPass) {
    Scenario scenario = example(1, {d_task("d", -1)});
    scenario.wakeup_at_ns = Constant{2'000'000.0};
    const Result result = run(scenario, "p1");
    EXPECT_EQ(result.outcome, Outcome::aborted);
    EXPECT_EQ(us(result.elapsed_ns), 3006);
    EXPECT_EQ(result.user.passes, 3);
}

TEST(SkippedTask, WokenByAnotherGoesToTheRefrigeratorByItself) {
    Scenario scenario = example(2, {group("futex", 1, Site::futex), others()});
    EXPECT_EQ(run(scenario, "full").freeze.task_switch_ins, 1);
    scenario.tasks[0].wakes_at_ns = Constant{500'000.0};
    const Result result = run(scenario, "full");
    EXPECT_EQ(frozen_us(scenario, "full"), (Times{520, 26}));
    EXPECT_EQ(us(result.elapsed_ns), 1008);
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
    EXPECT_EQ(frozen_us(with_both_loops(100), "p1"), (Times{25, 1036, -1}));
}

TEST(KernelLoop, TakesWholeTicksWithMsleep) {
    const Result at_100 = run(with_both_loops(100), "v3.9");
    EXPECT_EQ(us(at_100.user.elapsed_ns), 20003);
    EXPECT_EQ(us(at_100.elapsed_ns), 40003);
    const Result at_200 = run(with_both_loops(200), "v3.9");
    EXPECT_EQ(us(at_200.user.elapsed_ns), 15003);
    EXPECT_EQ(us(at_200.elapsed_ns), 30003);
}

TEST(KernelLoop, WaitsForActiveWorkOfFreezableWorkqueues) {
    Scenario scenario = with_both_loops(100);
    scenario.work = {{0, Constant{4'022'000.0}}};
    EXPECT_EQ(us(run(scenario, "p1").elapsed_ns), 4023);
    EXPECT_EQ(run(scenario, "p1").kernel.passes, 3);
    scenario.work = {{0, Constant{4'024'000.0}}};
    EXPECT_EQ(us(run(scenario, "p1").elapsed_ns), 8026);
}

TEST(TwentyTasks, AreWokenInOneWalk) {
    const Scenario scenario = example(2, {others(20)});
    const Result result = run(scenario, "p1");
    const Times frozen = frozen_us(scenario, "p1");
    EXPECT_EQ(*std::max_element(frozen.begin(), frozen.end()), 260);
    EXPECT_EQ(us(result.elapsed_ns), 1265);
    EXPECT_EQ(result.freeze.task_switch_ins, 20);
    EXPECT_EQ(result.freeze.switches, 25);
}

TEST(CgroupV2, TellsWhenTheLastTaskHasStopped) {
    const Result result = run(example(2, {others(4)}), "cgroup2");
    EXPECT_EQ(us(result.elapsed_ns), 60);
    EXPECT_EQ(result.user.passes, 1);
    EXPECT_EQ(result.user.sleeps, 0);
}

TEST(VforkParent, IsSignalledButNotWokenBeforePatchTwo) {
    const Scenario scenario = example(2, {group("vfork", 1, Site::vfork), others()});
    const Result before = run(scenario, "v3.9");
    EXPECT_EQ(us(before.elapsed_ns), 20003);
    EXPECT_EQ(before.freeze.task_switch_ins, 1);
    const Result after = run(scenario, "p1p2");
    EXPECT_EQ(us(after.elapsed_ns), 1008);
    EXPECT_EQ(after.freeze.task_switch_ins, 1);
}

TEST(FuseClient, RefusesWhenItsDaemonIsFrozenFirst) {
    TaskGroup client = d_task("client", -1);
    client.waits_on = "daemon";
    const TaskGroup daemon = others(1, "daemon");
    for (const std::vector<TaskGroup>& tasks : {std::vector{client, daemon}, std::vector{daemon, client}}) {
        const Result result = run(example(2, tasks, 1000), "p1");
        EXPECT_EQ(result.outcome, Outcome::failed);
        EXPECT_EQ(result.refusing, 1);
        EXPECT_EQ(us(result.elapsed_ns), 20'006'513);
    }
}

TEST(Overshoot, IsAtMostTheLastSleep) {
    const auto elapsed_ms = [](double ends_ms, RangeMode mode = RangeMode::hard) {
        Scenario scenario = example(2, {d_task("d", 0)});
        scenario.tasks[0].d_ends_ns = Constant{ends_ms * 1e6};
        scenario.costs = {};
        scenario.kernel.range_mode = mode;
        return static_cast<double>(run(scenario, "p1").elapsed_ns) / 1e6;
    };
    EXPECT_EQ(elapsed_ms(0.2), 1);
    EXPECT_EQ(elapsed_ms(1.0), 1);
    EXPECT_EQ(elapsed_ms(1.01), 3);
    EXPECT_EQ(elapsed_ms(3.5), 7);
    EXPECT_EQ(elapsed_ms(7.2), 15);
    EXPECT_EQ(elapsed_ms(15.1), 23);
    EXPECT_EQ(elapsed_ms(2.9), 3);
    EXPECT_EQ(elapsed_ms(2.9, RangeMode::soft), 3.5);
}

Scenario with_d_tails(int hz) {
    Scenario scenario =
        example(2,
                {others(5), d_task("a", 3), d_task("c", 3300), d_task("k1", 500, Kind::kfreezable),
                 d_task("k2", 12000, Kind::kfreezable), kthread("x", Kind::knofreeze)},
                hz);
    scenario.loops = Loops::both;
    return scenario;
}

TEST(DTails, InBothLoopsFollowTheBackoff) {
    const Scenario scenario = with_d_tails(100);
    const Result result = run(scenario, "p1");
    EXPECT_EQ(us(result.user.elapsed_ns), 7115);
    EXPECT_EQ(us(result.elapsed_ns), 14162);
    EXPECT_EQ(result.user.passes, 4);
    EXPECT_EQ(result.kernel.passes, 4);
    EXPECT_EQ(frozen_us(scenario, "p1"), (Times{43, 55, 63, 75, 83, 95, 3320, 7147, 12020, -1}));
    EXPECT_EQ(result.freeze.task_switch_ins, 11);
    EXPECT_EQ(result.freeze.switches, 30);
    EXPECT_EQ(result.restarts + result.visible_errors, 6);
    EXPECT_EQ(us(result.freeze.busy_ns), 234 + 100);
    EXPECT_EQ(us(result.thaw_walker_ns), 91);
    EXPECT_EQ(us(result.thaw_all_ns), 95);
    EXPECT_EQ(result.thaw.task_switch_ins, 9);
}

TEST(DTails, InBothLoopsFollowTheTicksOfMsleep) {
    for (const auto& [hz, period_us] : {std::pair{100, 20000.0}, std::pair{200, 15000.0}}) {
        const Scenario scenario = with_d_tails(hz);
        const Result result = run(scenario, "v3.9");
        EXPECT_EQ(us(result.user.elapsed_ns), period_us + 10);
        EXPECT_EQ(us(result.elapsed_ns), 2 * period_us + 10);
        EXPECT_EQ(frozen_us(scenario, "v3.9"),
                  (Times{43, 55, 63, 75, 83, 95, 3320, period_us + 42, period_us + 48, -1}));
        EXPECT_EQ(result.freeze.task_switch_ins, 12);
        EXPECT_EQ(result.freeze.switches, 24);
        EXPECT_EQ(us(result.freeze.busy_ns), 213 + 100);
        EXPECT_EQ(result.restarts + result.visible_errors, 6);
    }
}

TaskGroup computing(std::string name) {
    TaskGroup made = others(1, std::move(name));
    made.start = Start::user_mode;
    return made;
}

TEST(UserMode, IsCutShortByTheRequest) {
    const Scenario scenario = example(2, {computing("u1"), computing("u2"), others()});
    const Result result = run(scenario, "p1");
    EXPECT_EQ(frozen_us(scenario, "p1"), (Times{22, 29, 42}));
    EXPECT_EQ(us(result.elapsed_ns), 1032);
    EXPECT_EQ(result.freeze.task_switch_ins, 2);
    EXPECT_EQ(result.freeze.switches, 7);
    EXPECT_EQ(result.restarts + result.visible_errors, 1);
    EXPECT_EQ(us(result.thaw_walker_ns), 30);
    EXPECT_EQ(us(result.thaw_all_ns), 35);
    EXPECT_EQ(result.thaw.task_switch_ins, 3);
}

TEST(UserMode, RepliesInTimeOrNever) {
    const auto scenario = [](std::int64_t reply_after, bool server_first) {
        TaskGroup client = d_task("a", -1);
        client.waits_on = "b";
        TaskGroup server = computing("b");
        server.reply_after_cycles = reply_after;
        return example(2, server_first ? std::vector{server, client} : std::vector{client, server}, 1000);
    };
    EXPECT_EQ(us(run(scenario(4000, false), "p1").elapsed_ns), 1026);
    EXPECT_EQ(us(run(scenario(3000, false), "p1").elapsed_ns), 1026);
    const Result stuck = run(scenario(5000, false), "p1");
    EXPECT_EQ(stuck.outcome, Outcome::failed);
    EXPECT_EQ(us(stuck.elapsed_ns), 20'006'510);
    EXPECT_EQ(run(scenario(3000, true), "p1").outcome, Outcome::failed);
}

}  // namespace
}  // namespace torpor::freezer
