// SPDX-License-Identifier: MIT
// What seldom happens in a freeze, worked out by hand. Times in microseconds.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "example.hpp"

namespace torpor::freezer {
namespace {

using namespace testing;

TEST(Abort, NeedsAnEventByTheEndOfAPassThatHasFoundTasks) {
    const auto elapsed_us = [](double wakeup_us) {
        Scenario scenario = example(1, {d_task("d", 2500)});
        scenario.wakeup_at_ns = Constant{wakeup_us * 1000.0};
        const Result result = run(scenario, "p1");
        EXPECT_EQ(result.outcome, wakeup_us > 1004 ? Outcome::frozen : Outcome::aborted) << wakeup_us;
        return us(result.elapsed_ns);
    };
    EXPECT_EQ(elapsed_us(0), 2);
    EXPECT_EQ(elapsed_us(2), 2);
    EXPECT_EQ(elapsed_us(2.001), 1004);
    EXPECT_EQ(elapsed_us(1004), 1004);
    // The pass at 3004 finds nothing, so the event is not asked for.
    EXPECT_EQ(elapsed_us(1004.001), 3005);
}

/// Sleeps where `full` would skip it, and is woken while user space freezes (0-6, 1006-1008).
Scenario with_woken_thread(double at_us) {
    TaskGroup thread = waking(group("thread", 1, Site::futex), at_us);
    thread.kind = Kind::kfreezable;
    return example(2, {thread, others()});
}

TEST(KernelThread, WokenInASkippableSiteInTheUserLoopBlocksAgain) {
    for (const char* policy : {"v3.9", "full", "v6.7"}) {
        SCOPED_TRACE(policy);
        const Scenario scenario = with_woken_thread(500);
        EXPECT_EQ(states(scenario, policy), (std::vector<std::string>{"blocked", "frozen"}));
        EXPECT_EQ(frozen_us(scenario, policy).front(), -1);
        const Result result = run(scenario, policy);
        EXPECT_EQ(result.freeze.task_switch_ins, 2);
        EXPECT_EQ(result.thaw.task_switch_ins, 1);
        EXPECT_EQ(result.running_on, 0);
    }
    Scenario both = with_woken_thread(500);
    both.loops = Loops::both;
    EXPECT_EQ(states(both, "full"), (std::vector<std::string>{"skipped", "frozen"}));
    EXPECT_EQ(run(both, "full").freeze.task_switch_ins, 2);
    EXPECT_EQ(us(run(both, "full").elapsed_ns), 1008 + 2);
}

TEST(KernelThread, WokenShortlyBeforeTheEndOfTheUserLoopIsNotFrozenByThat) {
    const Scenario scenario = with_woken_thread(1007.5);
    EXPECT_EQ(us(run(scenario, "full").elapsed_ns), 1008);
    EXPECT_EQ(states(scenario, "full"), (std::vector<std::string>{"runnable", "frozen"}));
    EXPECT_EQ(states_after_thaw(scenario, "full"), (std::vector<std::string>{"blocked", "blocked"}));
    const Result result = run(scenario, "full");
    EXPECT_EQ(result.thaw.task_switch_ins, 1);
    EXPECT_EQ(result.running_on, 0);
}

TEST(KernelThread, FreezesUnaskedOnceTheKernelLoopHasBegun) {
    TaskGroup fixed = kthread("fixed", Kind::knofreeze);
    fixed.count = 30;
    Scenario scenario = example(2, {others(), fixed, d_task("thread", 1070, Kind::kfreezable)});
    scenario.loops = Loops::both;
    // The kernel loop begins at 1036 + 32, and comes to the thread at 1099.
    const Result result = run(scenario, "p1");
    EXPECT_EQ(us(result.kernel.elapsed_ns), 32);
    EXPECT_EQ(result.kernel.passes, 1);
    EXPECT_EQ(frozen_us(scenario, "p1").back(), 1090);
}

TEST(Energy, IsThatOfTheBoardAndOfTheBusyCpus) {
    const Result result = run(with_power(example(2, {others(4)})), "p1");
    EXPECT_DOUBLE_EQ(result.freeze.energy_mj, (300.0 * 1049 + 100.0 * (64 + 40)) * 1e-6);
    // Two walks of the list cost nothing at thaw: one of 20, and four bursts of 15.
    EXPECT_DOUBLE_EQ(result.thaw.energy_mj, (300.0 * 50 + 100.0 * (20 + 60)) * 1e-6);
    EXPECT_DOUBLE_EQ(result.cycle_energy_mj, result.freeze.energy_mj + result.thaw.energy_mj);
}

TaskGroup forking(double at_us) {
    TaskGroup made = starting(others(1, "parent"), Start::user_mode);
    made.forks_at_ns = Constant{at_us * 1000.0};
    return made;
}

TEST(Fork, PutsTheChildBeforeTheWalkerThatVisitsItsParent) {
    const Scenario scenario = example(2, {forking(1), others()});
    EXPECT_EQ(frozen_us(scenario, "p1"), (Times{22, 29, 42}));
    const Result result = run(scenario, "p1");
    EXPECT_EQ(us(result.elapsed_ns), 1032);
    EXPECT_EQ(result.thaw.task_switch_ins, 3);
}

TEST(Fork, PutsTheChildNextToAParentStillToBeVisited) {
    const Scenario scenario = example(2, {others(), forking(1), others(1, "last")});
    Model model{scenario, parse_policy("p1")};
    model.keep_tasks();
    const Result result = model.run({1, 0}, {});
    const std::vector<TaskOutcome> tasks = model.tasks();
    ASSERT_EQ(tasks.size(), 4U);
    EXPECT_FALSE(tasks[1].forked);
    EXPECT_TRUE(tasks[2].forked);
    EXPECT_EQ(tasks[2].group, 1);
    EXPECT_EQ(tasks[2].state, "frozen");
    EXPECT_EQ(us(tasks[1].frozen_ns), 27);
    EXPECT_EQ(us(tasks[2].frozen_ns), 34);
    EXPECT_EQ(result.freeze.task_switch_ins, 3);
}

TEST(Fork, DoesNotHappenOnceTheParentIsAsked) {
    const Scenario scenario = example(2, {forking(3), others()});
    EXPECT_EQ(frozen_us(scenario, "p1").size(), 2U);
}

TEST(Fork, HappensAgainInEachAttempt) {
    Scenario scenario = example(4, {forking(1), d_task("d", -1)}, 1000);
    scenario.attempts = 2;
    Model model{scenario, parse_policy("p1")};
    model.keep_tasks();
    EXPECT_EQ(model.run({1, 0}, {}).attempts, 2);
    EXPECT_EQ(model.tasks().size(), 2U);  // the event is over by the second
}

std::vector<TaskGroup> helper_and_spinner(std::int64_t reply_after, bool helper_first) {
    const TaskGroup spinner = waiting_on(starting(others(1, "spinner"), Start::spinning), "helper");
    const TaskGroup helper = computing("helper", reply_after);
    return helper_first ? std::vector{helper, spinner} : std::vector{spinner, helper};
}

TEST(SpinningTask, RefusesWhenItsHelperIsFrozenFirst) {
    const Scenario scenario = example(3, helper_and_spinner(3000, true), 1000);
    const Result result = run(scenario, "p1");
    EXPECT_EQ(result.outcome, Outcome::failed);
    EXPECT_EQ(result.refusing_by_group, (std::vector<std::int64_t>{0, 1}));
    EXPECT_EQ(states(scenario, "p1"), (std::vector<std::string>{"frozen", "runnable"}));
    EXPECT_GT(result.freeze.busy_ns, result.elapsed_ns);
}

TEST(SpinningTask, GoesBackToUserModeByAReplyInTime) {
    for (const std::int64_t reply_after : {1000, 2000}) {
        const Scenario scenario = example(3, helper_and_spinner(reply_after, true), 1000);
        EXPECT_EQ(frozen_us(scenario, "p1"), (Times{22, 24})) << reply_after;
        EXPECT_EQ(us(run(scenario, "p1").elapsed_ns), 1006) << reply_after;
    }
}

TEST(SpinningTask, FreezesAtOnceWhenTheReplyFindsItAsked) {
    const Scenario scenario = example(3, helper_and_spinner(3000, false), 1000);
    EXPECT_EQ(frozen_us(scenario, "p1"), (Times{23, 24}));
}

TEST(SpinningTask, DoesNotKeepTheWalkerFromTheOnlyCpuForEver) {
    const TaskGroup spinner = waiting_on(starting(others(1, "spinner"), Start::spinning), "helper");
    for (const Preempt preempt : {Preempt::full, Preempt::none}) {
        Scenario scenario = example(1, {spinner, others(1, "helper")}, 1000);
        scenario.kernel.preempt = preempt;
        Result result;
        EXPECT_NO_THROW(result = run(scenario, "p1")) << static_cast<int>(preempt);
        EXPECT_EQ(result.outcome, Outcome::failed) << static_cast<int>(preempt);
    }
}

TEST(SpinningTask, WhoseHelperHasFrozenLeavesTheFreezeWithoutABound) {
    for (const std::int64_t slice_ns : {0, 4'000'000}) {
        for (const int cpus : {1, 2, 3}) {
            Scenario scenario = example(cpus, helper_and_spinner(3000, true), 1000);
            scenario.rules.slice_ns = slice_ns;
            const Result result = run(scenario, "p1");
            EXPECT_EQ(result.outcome, Outcome::failed) << slice_ns << " " << cpus;
            EXPECT_EQ(result.bound_ns, -1) << slice_ns << " " << cpus;
        }
    }
}

TEST(SpinningTasks, ThatShareACpuForEverLeaveTheFreezeWithoutABound) {
    TaskGroup spinners = waiting_on(starting(others(3, "spinners"), Start::spinning), "helper");
    Scenario scenario = example(2, {computing("helper", 3000), spinners}, 1000);
    scenario.rules.slice_ns = 4'000'000;
    const Result result = run(scenario, "p1");
    EXPECT_EQ(result.outcome, Outcome::failed);
    EXPECT_EQ(result.refusing, 3);
    EXPECT_EQ(result.bound_ns, -1);
}

/// C waits in D for B, which spins until A replies from user mode.
Scenario chain_of_three(std::int64_t reply_after) {
    return example(4,
                   {waiting_on(d_task("c", -1), "b"),
                    waiting_on(starting(others(1, "b"), Start::spinning), "a"), computing("a", reply_after)},
                   1000);
}

TEST(SpinningTask, ThatIsAServerRepliesOnceItComputes) {
    // B replies at the instant of A's reply: it needs no time in user mode. It is cut at 4, A at 6.
    EXPECT_EQ(frozen_us(chain_of_three(1000), "p1"), (Times{21, 24, 26}));
    EXPECT_EQ(frozen_us(chain_of_three(3000), "p1"), (Times{23, 24, 26}));
    EXPECT_EQ(us(run(chain_of_three(3000), "p1").elapsed_ns), 1009);
}

TEST(SpinningTask, ThatIsAServerNeverRepliesOnceItIsAsked) {
    const Result result = run(chain_of_three(5000), "p1");
    EXPECT_EQ(result.outcome, Outcome::failed);
    EXPECT_EQ(result.refusing_by_group, (std::vector<std::int64_t>{1, 0, 0}));
    EXPECT_EQ(states(chain_of_three(5000), "p1"),
              (std::vector<std::string>{"uninterruptible", "frozen", "frozen"}));
}

TEST(StoppedTask, IsLeftAloneBefore61AndMarkedFromThenOn) {
    const Scenario scenario = example(2, {starting(others(1, "stopped"), Start::stopped), others()});
    for (const char* version : {"p1", "full", "v3.12"}) {
        EXPECT_EQ(us(run(scenario, version).elapsed_ns), 1008) << version;
        EXPECT_EQ(states(scenario, version), (std::vector<std::string>{"stopped", "frozen"})) << version;
        EXPECT_EQ(us(run(scenario, version).thaw_walker_ns), 6) << version;
    }
    for (const char* version : {"v6.1", "v6.7"}) {
        EXPECT_EQ(us(run(scenario, version).elapsed_ns), 1008.5) << version;
        EXPECT_EQ(states(scenario, version), (std::vector<std::string>{"marked", "frozen"})) << version;
        EXPECT_EQ(us(run(scenario, version).thaw_walker_ns), 6.5) << version;
        EXPECT_EQ(run(scenario, version).thaw.task_switch_ins, 1) << version;
    }
}

TEST(Zombies, CostTheirVisits) {
    const Scenario scenario = example(2, {others(), starting(others(100, "zombies"), Start::zombie)});
    const Result result = run(scenario, "p1");
    EXPECT_EQ(us(result.elapsed_ns), 105 + 1000 + 101);
    EXPECT_EQ(us(result.thaw_walker_ns), 105);
    EXPECT_EQ(result.freeze.task_switch_ins, 1);
}

TEST(Sigtimedwait, FailsVisiblyAtTheThawOf61) {
    const Scenario scenario =
        example(2, {group("sig", 3, Site::sigtimedwait), group("futex", 2, Site::futex)});
    EXPECT_EQ(run(scenario, "v6.1").thaw_visible_errors, 3);
    EXPECT_EQ(run(scenario, "v6.1").visible_errors, 0);
    EXPECT_EQ(run(scenario, "v6.7").thaw_visible_errors, 0);
    EXPECT_EQ(run(scenario, "v3.12").thaw_visible_errors, 0);
    EXPECT_EQ(run(scenario, "v3.9").visible_errors, 3);
    EXPECT_EQ(run(scenario, "v3.9").thaw_visible_errors, 0);
}

TEST(Sigtimedwait, ThatHasGotItsSignalWhileMarkedDoesNotFail) {
    const Scenario scenario = example(2, {waking(group("sig", 1, Site::sigtimedwait), 500), others()});
    EXPECT_EQ(run(scenario, "v6.7").thaw_visible_errors, 0);
    EXPECT_EQ(run(scenario, "v6.7").thaw.task_switch_ins, 2);
}

TEST(MarkedTask, WokenByAnotherRunsOnlyAtTheThaw) {
    const Scenario scenario = example(2, {waking(group("futex", 1, Site::futex), 500), others()});
    for (const char* version : {"v6.1", "v6.7"}) {
        const Result result = run(scenario, version);
        EXPECT_EQ(result.freeze.task_switch_ins, 1) << version;
        EXPECT_EQ(result.thaw.task_switch_ins, 2) << version;
        EXPECT_EQ(result.running_on, 1) << version;
    }
    const Scenario undisturbed = example(2, {group("futex", 1, Site::futex), others()});
    EXPECT_EQ(run(undisturbed, "v6.7").thaw.task_switch_ins, 1);
    EXPECT_EQ(run(undisturbed, "v6.7").running_on, 0);
}

TEST(TaskWokenBeforeItsVisit, RunsAndIsWokenAgain) {
    // From 6.1 on it does not look at the freezing condition by itself. It runs 1-21 while its predecessors
    // are visited, and blocks again before its turn.
    const Scenario scenario = example(3, {others(5), waking(group("futex", 1, Site::futex), 1)});
    EXPECT_EQ(states(scenario, "v6.7").back(), "marked");
    EXPECT_EQ(frozen_us(scenario, "v6.7").back(), 26.5);
    EXPECT_EQ(run(scenario, "v6.7").freeze.task_switch_ins, 6);
    // Before, it goes to the refrigerator.
    EXPECT_EQ(frozen_us(scenario, "full").back(), 21);
}

/// Runs 1-21 before anybody asks it, and blocks again during its visit of 20-22.
Scenario blocks_during_its_visit() {
    return example(3, {others(4), d_task("d", 1)});
}

TEST(TaskThatBlocksDuringItsVisit, IsWokenByTheRequest) {
    for (const char* policy : {"p1(sleep=notify)", "cgroup2"}) {
        const Result result = run(blocks_during_its_visit(), policy);
        EXPECT_EQ(result.outcome, Outcome::frozen) << policy;
        EXPECT_LT(us(result.elapsed_ns), 1000) << policy;
    }
    EXPECT_GE(run(blocks_during_its_visit(), "p1").bound_ns, 0);
}

TEST(SkippedTask, WokenAfterItsLastVisitGoesToTheRefrigeratorAndIsThawed) {
    // The last pass visits it 1006-1007 and ends at 1008; its burst is not over by then.
    Scenario scenario = example(2, {group("futex", 1, Site::futex), others()});
    scenario.tasks.front().wakes_at_ns = Constant{1'007'500.0};
    const Result result = run(scenario, "full");
    EXPECT_EQ(us(result.elapsed_ns), 1008);
    EXPECT_EQ(result.thaw.task_switch_ins, 2);
    EXPECT_EQ(result.running_on, 1);
}

TEST(Timer, ThatRunsOutWhileFrozenLetsItsTaskRunOn) {
    Scenario scenario = example(2, {waking(group("sleep", 1, Site::nanosleep), 5e6), others()});
    EXPECT_EQ(run(scenario, "v3.9").running_on, 0);
    scenario.asleep_ns = 10'000'000'000;
    for (const char* version : {"v3.9", "full", "v6.1", "v6.7"}) {
        EXPECT_EQ(run(scenario, version).running_on, 1) << version;
        EXPECT_EQ(run(scenario, version).thaw.task_switch_ins, 2) << version;
    }
    scenario.asleep_ns = 4'000'000'000;
    EXPECT_EQ(run(scenario, "v3.9").running_on, 0);
}

TEST(VforkParent, WokenWhileAsleepRunsOnWhetherItWasSkippedOrOnlySignalled) {
    Scenario scenario = example(2, {waking(group("vfork", 1, Site::vfork), 5e6), others()});
    EXPECT_EQ(run(scenario, "p1").running_on, 0);
    scenario.asleep_ns = 10'000'000'000;
    for (const char* version : {"p1", "p1p2"}) {
        const Result result = run(scenario, version);
        EXPECT_EQ(result.running_on, 1) << version;
        EXPECT_EQ(result.thaw.task_switch_ins, 2) << version;
        EXPECT_EQ(result.freeze.task_switch_ins, 1) << version;
    }
}

TEST(Work, QueuedAfterTheKernelLoopHasBegunIsHeld) {
    Scenario scenario = example(2, {others(), kthread("worker"), kthread("fixed", Kind::knofreeze)});
    scenario.loops = Loops::both;
    // It begins at 1010.
    for (const std::int64_t queued_ns : {1'010'001, 1'500'000, 2'020'000}) {
        scenario.work = {{queued_ns, Constant{1e10}}};
        const Result result = run(scenario, "p1");
        EXPECT_EQ(us(result.elapsed_ns), 2020) << queued_ns;
        EXPECT_EQ(result.work_held, 1) << queued_ns;
    }
    scenario.work = {{2'021'000, Constant{1e6}}};
    EXPECT_EQ(run(scenario, "p1").work_held, 0);
}

TEST(Work, QueuedAtTheInstantAtWhichTheKernelLoopBeginsIsActive) {
    Scenario scenario = example(2, {others(), kthread("worker"), kthread("fixed", Kind::knofreeze)});
    scenario.loops = Loops::both;
    scenario.work = {{1'010'000, Constant{2e6}}};
    const Result result = run(scenario, "p1");
    // Until 3010, past the pass of 2017-2020.
    EXPECT_EQ(us(result.elapsed_ns), 4023);
    EXPECT_EQ(result.work_held, 0);
}

TEST(Work, QueuedBeforeTheKernelLoopMustFinish) {
    Scenario scenario = example(2, {others(), kthread("worker"), kthread("fixed", Kind::knofreeze)}, 1000);
    scenario.loops = Loops::both;
    scenario.work = {{1'009'000, Constant{2'000'000.0}}};
    EXPECT_EQ(us(run(scenario, "p1").elapsed_ns), 4023);
    EXPECT_EQ(run(scenario, "p1").work_held, 0);
    scenario.work = {{500'000, Constant{1e11}}};
    const Result result = run(scenario, "p1");
    EXPECT_EQ(result.outcome, Outcome::failed);
    EXPECT_TRUE(result.workqueue_busy);
    EXPECT_EQ(result.refusing, 0);
}

TEST(KernelLoopThatFails, ThawsKernelThreadsAndThenUserSpace) {
    Scenario scenario =
        example(2, {others(), kthread("worker"), d_task("stuck", -1, Kind::kfreezable)}, 1000);
    scenario.loops = Loops::both;
    const Result result = run(scenario, "p1");
    EXPECT_EQ(result.outcome, Outcome::failed);
    EXPECT_TRUE(result.in_kernel_loop);
    EXPECT_EQ(result.refusing_by_group, (std::vector<std::int64_t>{0, 0, 1}));
    // Kernel threads 0-7, all 7-14; the worker runs 6-21 on CPU 1, the user task 14-29 on CPU 0.
    EXPECT_EQ(us(result.thaw_walker_ns), 21);
    EXPECT_EQ(us(result.thaw_all_ns), 29);
    EXPECT_EQ(result.thaw.task_switch_ins, 2);
}

TEST(UserLoopThatFails, ThawsInOneWalk) {
    Scenario scenario = example(2, {others(), kthread("worker"), d_task("stuck", -1)}, 1000);
    scenario.loops = Loops::both;
    const Result result = run(scenario, "p1");
    EXPECT_EQ(result.outcome, Outcome::failed);
    EXPECT_FALSE(result.in_kernel_loop);
    EXPECT_EQ(us(result.thaw_walker_ns), 7);
    EXPECT_EQ(us(result.thaw_all_ns), 20);
    EXPECT_EQ(result.bound_ns, -1);
}

TEST(WalkerAtTheTail, GetsItsOnlyCpuWhenAllHaveFrozen) {
    Scenario scenario = example(1, {others(4)});
    scenario.costs.freeze_run_cycles = 600'000;
    scenario.kernel.preempt = Preempt::none;
    // Its timer runs out at 1020, in the second burst.
    scenario.kernel.walker_wake = WalkerWake::tail;
    EXPECT_EQ(us(run(scenario, "p1").elapsed_ns), 20 + 4 * 600 + 4);
    EXPECT_EQ(run(scenario, "p1").user.sleeps, 1);
    scenario.kernel.walker_wake = WalkerWake::head;
    EXPECT_EQ(us(run(scenario, "p1").elapsed_ns), 20 + 2 * 600 + 6 + 2000 + 4);
    EXPECT_EQ(run(scenario, "p1").user.sleeps, 2);
}

TEST(WakeLatency, DelaysABurstAndIsNotBusy) {
    Scenario scenario = example(2, {others()});
    for (sched::Cpu& cpu : scenario.cpus) cpu.wake_latency_ns = 10'000;
    EXPECT_EQ(frozen_us(scenario, "p1"), Times{35});
    EXPECT_EQ(us(run(scenario, "p1").freeze.busy_ns), 26);
}

TEST(WorkRate, StandsInForTheFrequency) {
    Scenario scenario = example(1, {others()});
    scenario.cpus.front().work_hz = 500'000'000;
    EXPECT_EQ(frozen_us(scenario, "p1"), Times{50});
    EXPECT_EQ(us(run(scenario, "p1(sleep=notify)").elapsed_ns), 52);
    EXPECT_EQ(us(run(scenario, "p1").thaw_all_ns), 40);
}

TEST(Stalls, AreNotShortenedByTheClock) {
    Scenario scenario = example(1, {others()});
    scenario.costs.visit_stall_ns = 300;
    scenario.costs.run_stall_ns = 7000;
    scenario.cpus.front().freq_hz = 2'000'000'000;
    EXPECT_DOUBLE_EQ(us(run(scenario, "p1").elapsed_ns), 2.5 + 0.3 + 10 + 7 + 1000 + 0.5 + 0.3);
}

TEST(KernelConstants, AreChargedOncePerLoopAndPerThaw) {
    Scenario scenario = example(2, {others(), kthread("worker")});
    scenario.loops = Loops::both;
    scenario.costs.user_loop_cycles = 100'000;
    scenario.costs.kernel_loop_cycles = 57'000;
    scenario.costs.visit_kernel_cycles = 400;
    scenario.costs.thaw_cycles = 30'000;
    scenario.costs.sleep_overhead_ns = 7000;
    const Result result = run(scenario, "p1");
    EXPECT_EQ(us(result.user.elapsed_ns), 100 + 6 + 1007 + 2);
    EXPECT_EQ(us(result.kernel.elapsed_ns), 57 + 4.8 + 1007 + 0.8);
    EXPECT_EQ(us(result.thaw_all_ns), 30 + 5 + 5 + 15);
}

TEST(Descriptors, AreSetUpAgainAtThaw) {
    Scenario scenario = example(2, {group("select", 1, Site::select)});
    scenario.tasks.front().nfds = 3;
    scenario.costs.per_fd_cycles = 1000;
    EXPECT_EQ(us(run(scenario, "v3.9").thaw_all_ns), 5 + 15 + 3);
    EXPECT_EQ(us(run(scenario, "v3.9").elapsed_ns), 20001);
}

TEST(WheelExtra, AddsATickToEachMsleep) {
    Scenario scenario = example(1, {others()});
    scenario.kernel.wheel_extra = 1;
    EXPECT_EQ(us(run(scenario, "v3.9").elapsed_ns), 30001);
}

TEST(Bound, KnowsNeitherTimeoutNorWakeupEvent) {
    Scenario scenario = example(2, {others(), d_task("d", 3300)}, 1000);
    const std::int64_t bound_ns = run(scenario, "p1").bound_ns;
    EXPECT_EQ(us(bound_ns), 3320);
    // Both come after the last pass that looks at them.
    scenario.kernel.timeout_ms = 3;
    scenario.wakeup_at_ns = Constant{3'200'000.0};
    const Result result = run(scenario, "p1");
    EXPECT_EQ(result.outcome, Outcome::frozen);
    EXPECT_EQ(result.bound_ns, bound_ns);
}

}  // namespace
}  // namespace torpor::freezer
