// SPDX-License-Identifier: MIT
// Cgroups frozen and thawed, worked out by hand. Times in microseconds.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "example.hpp"

namespace torpor::freezer {
namespace {

using namespace testing;

TEST(CgroupV1, AsksOnceAndReadsUntilAllAreFrozen) {
    const Result result = run(example(2, {others(4)}), "cgroup1");
    // Written 0-20, read 20-24, asleep from 45 for 10 ms, written and read again. (The rest must not be
    // ended by the last freeze.)
    EXPECT_EQ(us(result.elapsed_ns), 45 + 10000 + 8);
    EXPECT_EQ(result.user.passes, 4);
    EXPECT_EQ(result.user.sleeps, 1);
    EXPECT_EQ(us(result.thaw_all_ns), 50);
}

TEST(CgroupV1, CountsSkippedTasksAndIgnoresKernelThreads) {
    const Scenario scenario = example(2, {group("futex", 1, Site::futex), kthread("worker")});
    const Result result = run(scenario, "cgroup1(version=full)");
    EXPECT_EQ(us(result.elapsed_ns), 2);
    EXPECT_EQ(result.user.sleeps, 0);
    EXPECT_EQ(states(scenario, "cgroup1(version=full)"), (std::vector<std::string>{"skipped", "blocked"}));
}

TEST(CgroupV1, GivesUpAfterItsTries) {
    const Scenario scenario = example(2, {others(), d_task("d", -1)});
    const Result result = run(scenario, "cgroup1(poll_us=1000, tries=3)");
    EXPECT_EQ(result.outcome, Outcome::failed);
    EXPECT_EQ(result.refusing, 1);
    // Written 0-7 and read 7-9; each later try takes 3 and 2.
    EXPECT_EQ(us(result.elapsed_ns), 9 + 2 * (1000 + 5));
    EXPECT_EQ(us(result.thaw_walker_ns), 6);
    EXPECT_EQ(us(result.thaw_all_ns), 20);
    EXPECT_EQ(result.thaw.task_switch_ins, 1);
}

TEST(CgroupV1, ReadsAtOnceAgainWithoutARest) {
    const Result result = run(example(2, {d_task("d", -1)}), "cgroup1(poll_us=0, tries=3)");
    EXPECT_EQ(us(result.elapsed_ns), 9);
    EXPECT_EQ(result.user.sleeps, 0);
    EXPECT_EQ(result.user.passes, 6);
}

TEST(CgroupV2, WakesTasksWhereverTheySleep) {
    const Scenario scenario = example(2, {group("futex", 1, Site::futex), group("epoll", 1, Site::epoll)});
    const Result result = run(scenario, "cgroup2");
    EXPECT_EQ(frozen_us(scenario, "cgroup2"), (Times{25, 30}));
    EXPECT_EQ(us(result.elapsed_ns), 30);
    EXPECT_EQ(result.freeze.task_switch_ins, 2);
    EXPECT_EQ(result.thaw.task_switch_ins, 2);
    EXPECT_EQ(result.restarts, 1);
    EXPECT_EQ(result.visible_errors, 1);
}

TEST(CgroupV2, CountsStoppedTasksAndIgnoresKernelThreads) {
    const Scenario scenario =
        example(2, {kthread("worker"), starting(others(1, "stopped"), Start::stopped), others()});
    EXPECT_EQ(us(run(scenario, "cgroup2").elapsed_ns), 26);
    EXPECT_EQ(states(scenario, "cgroup2"), (std::vector<std::string>{"blocked", "stopped", "frozen"}));
}

TEST(CgroupV2, SpacesItsNotifications) {
    const Scenario scenario = example(2, {others(4)});
    EXPECT_EQ(us(run(scenario, "cgroup2(since_notification_us=4000)").elapsed_ns), 6000);
    EXPECT_EQ(us(run(scenario, "cgroup2(since_notification_us=9950)").elapsed_ns), 60);
}

TEST(CgroupV2, NeverFreezesWithATaskInDAndIsGivenUpAtTheTimeout) {
    const Result result = run(example(2, {others(), d_task("d", -1)}), "cgroup2");
    EXPECT_EQ(result.outcome, Outcome::failed);
    EXPECT_EQ(us(result.elapsed_ns), 20'000'000);
    EXPECT_EQ(result.refusing, 1);
    const Result late = run(example(2, {others(), d_task("d", 5'000'000)}), "cgroup2");
    EXPECT_EQ(late.outcome, Outcome::frozen);
    EXPECT_EQ(us(late.elapsed_ns), 5'000'020);
}

TEST(CgroupV1, IsBoundedByItsLastFreeze) {
    const Result result = run(example(2, {others(4)}), "cgroup1");
    EXPECT_GT(us(result.elapsed_ns), 10000);
    // The read of 20-24 keeps CPU 0, so the last task freezes 4 later than by a v2 group's one walk.
    EXPECT_EQ(us(result.bound_ns), 64);
}

TEST(CgroupV1, ThawsAStoppedTaskWithoutRunningIt) {
    // Marked 0-1.5 and read; thawed in the same time. The site must not matter: it does not sleep there.
    const Scenario scenario = example(2, {starting(group("stopped", 1, Site::sigtimedwait), Start::stopped)});
    const Result result = run(scenario, "cgroup1(version=v6.1)");
    EXPECT_EQ(states(scenario, "cgroup1(version=v6.1)"), std::vector<std::string>{"marked"});
    EXPECT_EQ(states_after_thaw(scenario, "cgroup1(version=v6.1)"), std::vector<std::string>{"stopped"});
    EXPECT_EQ(us(result.elapsed_ns), 2.5);
    EXPECT_EQ(us(result.thaw_walker_ns), 1.5);
    EXPECT_EQ(us(result.thaw_all_ns), 1.5);
    EXPECT_EQ(result.thaw.task_switch_ins, 0);
    EXPECT_EQ(result.thaw_visible_errors, 0);
}

TEST(CgroupV1, WakesATaskAtTheThawThatWasWokenWhileMarked) {
    // The second try, from 10008.5 on, finds the other one frozen.
    Scenario scenario = example(2, {group("futex", 1, Site::futex), others()});
    const Result undisturbed = run(scenario, "cgroup1(version=v6.7)");
    EXPECT_EQ(us(undisturbed.elapsed_ns), 10008.5 + 4);
    EXPECT_EQ(undisturbed.running_on, 0);
    EXPECT_EQ(undisturbed.thaw.task_switch_ins, 1);
    scenario.tasks.front() = waking(scenario.tasks.front(), 500);
    const Result woken = run(scenario, "cgroup1(version=v6.7)");
    EXPECT_EQ(woken.elapsed_ns, undisturbed.elapsed_ns);
    EXPECT_EQ(woken.freeze.task_switch_ins, 1);
    EXPECT_EQ(woken.running_on, 1);
    EXPECT_EQ(woken.thaw.task_switch_ins, 2);
}

TEST(CgroupV1, GivesWayBetweenTwoTriesWithoutARest) {
    // Written 0-5, read 5-6; the task runs 6-26, and is found frozen by the next try.
    const Scenario scenario = example(1, {others()});
    const Result result = run(scenario, "cgroup1(poll_us=0)");
    EXPECT_EQ(result.outcome, Outcome::frozen);
    EXPECT_EQ(us(result.elapsed_ns), 28);
    EXPECT_EQ(passes(scenario, "cgroup1(poll_us=0)"),
              (PassList{{0, 5, 1}, {5, 6, 1}, {26, 27, 0}, {27, 28, 0}}));
    EXPECT_EQ(result.user.sleeps, 0);
}

TEST(CgroupV2, LeavesATaskToFreezeByItselfThatIsWokenAfterItWasSkipped) {
    // Skipped 0-1. The D task keeps the group from being frozen before 1020.
    const Scenario scenario = example(2, {waking(group("vfork", 1, Site::vfork), 500), d_task("d", 1000)});
    EXPECT_EQ(frozen_us(scenario, "cgroup2"), (Times{520, 1020}));
    EXPECT_EQ(states(scenario, "cgroup2"), (std::vector<std::string>{"frozen", "frozen"}));
    const Result result = run(scenario, "cgroup2");
    EXPECT_EQ(us(result.elapsed_ns), 1020);
    EXPECT_EQ(result.restarts + result.visible_errors, 0);
    EXPECT_EQ(result.running_on, 1);
    EXPECT_EQ(us(result.thaw_walker_ns), 20);
    EXPECT_EQ(us(result.thaw_all_ns), 25);
    const Scenario undisturbed = example(2, {group("vfork", 1, Site::vfork), d_task("d", 1000)});
    EXPECT_EQ(states(undisturbed, "cgroup2"), (std::vector<std::string>{"skipped", "frozen"}));
}

TEST(CgroupV2, TakesEnergyUntilItsNotification) {
    const Result result = run(with_power(example(2, {others(4)})), "cgroup2(since_notification_us=4000)");
    EXPECT_EQ(us(result.elapsed_ns), 6000);
    // One walk of 20 and four bursts of 20.
    EXPECT_DOUBLE_EQ(result.freeze.energy_mj, (300.0 * 6000 + 100.0 * 100) * 1e-6);
}

}  // namespace
}  // namespace torpor::freezer
