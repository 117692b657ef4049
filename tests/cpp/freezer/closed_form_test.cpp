// SPDX-License-Identifier: MIT
// Random populations against the closed forms of the freezer, exact to the nanosecond.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "dice.hpp"
#include "example.hpp"
#include "list_schedule.hpp"
#include "nexus10.hpp"

namespace torpor::freezer {
namespace {

using namespace testing;
constexpr int kCases = 300;

Scenario random_scenario(Dice& dice) {
    const auto cpus = static_cast<int>(dice.between(1, 8));
    const int hz = dice.one_of(std::vector<int>{100, 200, 250, 300, 1000});
    Scenario scenario =
        example(cpus, random_sleepers(dice, dice.between(0, 50), static_cast<int>(dice.between(0, 100))), hz);
    scenario.costs = random_costs(dice);
    for (TaskGroup& task : scenario.tasks) {
        if (dice.chance(20)) task.freeze_run_cycles = dice.between(1, 60000);
        if (dice.chance(20)) task.thaw_run_cycles = dice.between(1, 60000);
    }
    scenario.kernel.since_tick_ns = dice.between(0, TickGrid::at(hz, 0).period_ns - 1);
    return scenario;
}

Version version(const std::string& name) {
    return parse_version(name, "version");
}

std::size_t cpus_of(const Scenario& scenario) {
    return scenario.cpus.size();
}

std::vector<Ns> told(const Scenario& scenario, const std::string& policy, TimelineKind kind) {
    engine::VectorSink sink;
    Model{scenario, parse_policy(policy)}.run({1, 0}, {}, &sink);
    return times(sink, kind);
}

Ns last_frozen(const Scenario& scenario, const std::string& policy, bool kernel_threads = false) {
    Model model{scenario, parse_policy(policy)};
    model.keep_tasks();
    model.run({1, 0}, {});
    Ns last = 0;
    for (const TaskOutcome& task : model.tasks()) {
        const Kind kind = scenario.tasks[static_cast<std::size_t>(task.group)].kind;
        const bool member = kernel_threads || kind == Kind::user;
        if (member && task.state == "frozen") last = std::max(last, task.frozen_ns);
    }
    return last;
}

TEST(ClosedForm, FirstWalkIsItsVisitsAndWhatTheyDo) {
    for (int i = 0; i < kCases; ++i) {
        Dice dice{"first walk", i};
        const Scenario scenario = random_scenario(dice);
        const std::string policy = random_version(dice);
        const std::vector<Ns> ends = told(scenario, policy, TimelineKind::pass_end);
        ASSERT_EQ(ends.front(), first_walk(scenario, version(policy)).end) << i << " " << policy;
    }
}

TEST(ClosedForm, VerifyingWalkIsItsVisits) {
    for (int i = 0; i < kCases; ++i) {
        Dice dice{"verifying walk", i};
        const Scenario scenario = random_scenario(dice);
        const std::string policy = random_version(dice);
        if (first_walk(scenario, version(policy)).bursts.empty()) continue;
        const Ns begin = told(scenario, policy, TimelineKind::pass_begin).back();
        const std::vector<Ns> ends = told(scenario, policy, TimelineKind::pass_end);
        ASSERT_EQ(ends[1] - begin, visits(scenario)) << i << " " << policy;
    }
}

TEST(ClosedForm, LastFreezeIsThatOfAListSchedule) {
    for (const Preempt preempt : {Preempt::full, Preempt::none}) {
        for (int i = 0; i < kCases; ++i) {
            Dice dice{"last freeze", i};
            Scenario scenario = random_scenario(dice);
            scenario.kernel.preempt = preempt;
            const std::string name = random_version(dice);
            const std::string policy = name + "(sleep=msleep, msleep_ms=40)";
            const Walk walk = first_walk(scenario, version(name));
            ASSERT_EQ(last_frozen(scenario, policy), schedule(walk, cpus_of(scenario)).last_end)
                << i << " " << policy;
        }
    }
}

/// Equal tasks, all woken.
Scenario even(Dice& dice, int cpus) {
    Scenario scenario = example(cpus, {others(dice.between(2, 200))});
    scenario.costs = random_costs(dice);
    return scenario;
}

TEST(ClosedForm, LastFreezeIsTheFluidValueWithinABurstAndTheStartWhenBacklogged) {
    for (int i = 0; i < kCases; ++i) {
        Dice dice{"backlogged", i};
        const auto cpus = static_cast<int>(dice.between(1, 8));
        Scenario scenario = even(dice, cpus);
        const Ns step = scenario.costs.visit_cycles + scenario.costs.wake_cycles;
        scenario.costs.freeze_run_cycles = (cpus - 1) * step + dice.between(1, 40000);
        const Ns n = scenario.tasks.front().count;
        const Ns r = scenario.costs.freeze_run_cycles;
        const double fluid = static_cast<double>(n * step + n * r) / cpus;
        const double limit = cpus == 1 ? 0.0
                                       : static_cast<double>(r) +
                                             static_cast<double>(step) * static_cast<double>(cpus - 1) / cpus;
        ASSERT_NEAR(static_cast<double>(last_frozen(scenario, "v3.9(msleep_ms=60)")), fluid, limit) << i;
    }
}

TEST(ClosedForm, LastFreezeIsABurstAfterTheLastWakeWhenTheOthersKeepUp) {
    for (int i = 0; i < kCases; ++i) {
        Dice dice{"keep up", i};
        const auto cpus = static_cast<int>(dice.between(2, 8));
        Scenario scenario = even(dice, cpus);
        const Ns step = scenario.costs.visit_cycles + scenario.costs.wake_cycles;
        scenario.costs.freeze_run_cycles = dice.between(0, (cpus - 1) * step - 1);
        ASSERT_EQ(last_frozen(scenario, "v3.9"),
                  scenario.tasks.front().count * step + scenario.costs.freeze_run_cycles)
            << i;
    }
}

TEST(ClosedForm, FirstSleepStartsWhenTheWalkerComesOutOfTheQueue) {
    int waited = 0;
    for (int i = 0; i < kCases; ++i) {
        Dice dice{"first sleep", i};
        Scenario scenario = random_scenario(dice);
        const std::string policy = random_version(dice);
        const Walk walk = first_walk(scenario, version(policy));
        if (walk.bursts.empty()) continue;
        const Schedule expected = schedule(walk, cpus_of(scenario));
        ASSERT_EQ(told(scenario, policy, TimelineKind::sleep_begin).front(), expected.walker_at) << i;
        waited += expected.walker_at > walk.end ? 1 : 0;
        scenario.kernel.preempt = Preempt::none;
        ASSERT_EQ(told(scenario, policy, TimelineKind::sleep_begin).front(), walk.end) << i;
    }
    EXPECT_GT(waited, kCases / 10);
}

TEST(ClosedForm, FirstSleepStartsAtMostABurstBeforeTheLastFreezeWhenTasksWait) {
    for (int i = 0; i < kCases; ++i) {
        Dice dice{"late sleep", i};
        const Scenario scenario = even(dice, static_cast<int>(dice.between(1, 4)));
        const Ns sleeps = told(scenario, "p1", TimelineKind::sleep_begin).front();
        const Ns frozen = last_frozen(scenario, "p1");
        if (sleeps == first_walk(scenario, Version::p1).end) continue;
        ASSERT_LE(sleeps, frozen) << i;
        ASSERT_GE(sleeps, frozen - scenario.costs.freeze_run_cycles) << i;
    }
}

TEST(ClosedForm, UserLoopWithPreemptionIsOneSleepAndTwoWalks) {
    for (const RangeMode mode : {RangeMode::hard, RangeMode::tick, RangeMode::uniform, RangeMode::soft}) {
        for (const std::string sleep : {"msleep", "backoff"}) {
            for (int i = 0; i < kCases; ++i) {
                Dice dice{"user loop", i};
                Scenario scenario = random_scenario(dice);
                scenario.kernel.range_mode = mode;
                const std::string name = random_version(dice);
                const Result result = run(scenario, name + "(sleep=" + sleep + ")");
                const Walk walk = first_walk(scenario, version(name));
                if (walk.bursts.empty()) {
                    ASSERT_EQ(result.elapsed_ns, walk.end) << i;
                    continue;
                }
                const Ns starts = schedule(walk, cpus_of(scenario)).walker_at;
                const Lasts lasts = sleep_at(scenario, sleep, mode, starts);
                ASSERT_EQ(result.user.sleeps, 1) << i << " " << name;
                ASSERT_GE(result.elapsed_ns, starts + lasts.least + visits(scenario)) << i << " " << name;
                ASSERT_LE(result.elapsed_ns, starts + lasts.most + visits(scenario)) << i << " " << name;
                ASSERT_EQ(result.elapsed_ns, starts + result.user.slept_ns + visits(scenario)) << i;
            }
        }
    }
}

/// D tasks that end by themselves, each with a CPU of its own: passes and freezes do not meet.
Scenario tails(Dice& dice, std::vector<Ns>& ends) {
    const std::int64_t d_tasks = dice.between(1, 6);
    Scenario scenario =
        example(static_cast<int>(d_tasks + 1), {}, dice.one_of(std::vector<int>{100, 250, 1000}));
    scenario.kernel.since_tick_ns = dice.between(0, kMs - 1);
    scenario.kernel.preempt = dice.chance(50) ? Preempt::none : Preempt::full;
    scenario.costs = random_costs(dice);
    for (std::int64_t i = 0; i < d_tasks; ++i) {
        const Ns end = dice.between(kMs / 2, 60 * kMs);
        TaskGroup task = d_task(numbered("d", i), 0);
        task.d_ends_ns = Constant{static_cast<double>(end)};
        ends.push_back(end);
        scenario.tasks.push_back(task);
        if (dice.chance(50)) scenario.tasks.push_back(kthread(numbered("k", i), Kind::knofreeze));
    }
    return scenario;
}

/// Passes and sleeps in turn, up to the first pass that visits every task after it froze.
Passes passes_over(const Scenario& scenario, const std::vector<Ns>& ends, bool msleep) {
    const Costs& costs = scenario.costs;
    Passes made;
    Ns now = 0;
    Ns sleep = kMs;
    for (;;) {
        bool found = false;
        std::size_t next = 0;
        for (const TaskGroup& task : scenario.tasks) {
            const Ns began = now;
            now += costs.visit_cycles;
            if (task.kind == Kind::knofreeze) continue;
            if (began >= ends[next++] + costs.freeze_run_cycles) continue;
            now += costs.resig_cycles;
            found = true;
        }
        ++made.count;
        made.end = now;
        if (!found) return made;
        now += msleep ? sleep_at(scenario, "msleep", RangeMode::hard, now).most : sleep;
        if (sleep < 8 * kMs) sleep *= 2;
    }
}

TEST(ClosedForm, UserLoopWithTailsIsTheSumOfPassesAndSleeps) {
    for (const bool msleep : {false, true}) {
        for (int i = 0; i < kCases; ++i) {
            Dice dice{"tails", i};
            std::vector<Ns> ends;
            const Scenario scenario = tails(dice, ends);
            const Result result = run(scenario, msleep ? "v3.9" : "p1");
            const Passes expected = passes_over(scenario, ends, msleep);
            ASSERT_EQ(result.elapsed_ns, expected.end) << i;
            ASSERT_EQ(result.user.passes, expected.count) << i;
        }
    }
}

TEST(ClosedForm, KernelLoopWithMsleepTakesWholeTicks) {
    int exact = 0;
    for (int i = 0; i < kCases; ++i) {
        Dice dice{"kernel ticks", i};
        Scenario scenario = random_scenario(dice);
        scenario.loops = Loops::both;
        const std::string policy = dice.one_of(std::vector<std::string>{"v3.9", "p2", "skip-only"});
        const Walk kernel = first_walk(scenario, version(policy), true);
        if (kernel.bursts.empty() || first_walk(scenario, version(policy)).bursts.empty()) continue;
        const int hz = scenario.kernel.hz;
        const Ns period = TickGrid::at(hz, 0).period_ns;
        if (visits(scenario) + schedule(kernel, cpus_of(scenario)).walker_at >= period) continue;
        ++exact;
        ASSERT_EQ(run(scenario, policy).kernel.elapsed_ns, ((10 * hz + 999) / 1000 + 1) * period) << i;
    }
    EXPECT_GT(exact, kCases / 4);
}

TEST(ClosedForm, KernelLoopWithBackoffIsASleepAndTwoWalks) {
    for (int i = 0; i < kCases; ++i) {
        Dice dice{"kernel backoff", i};
        Scenario scenario = random_scenario(dice);
        scenario.loops = Loops::both;
        const std::string policy = dice.one_of(std::vector<std::string>{"p1", "full", "v6.1"});
        const Walk kernel = first_walk(scenario, version(policy), true);
        const Result result = run(scenario, policy);
        const Ns expected = kernel.bursts.empty()
                                ? visits(scenario)
                                : schedule(kernel, cpus_of(scenario)).walker_at + kMs + visits(scenario);
        ASSERT_EQ(result.kernel.elapsed_ns, expected) << i;
        ASSERT_EQ(result.elapsed_ns, result.user.elapsed_ns + result.kernel.elapsed_ns) << i;
    }
}

TEST(ClosedForm, BoundIsTheWalkOrTheLastFreezeOfEachLoop) {
    for (int i = 0; i < kCases; ++i) {
        Dice dice{"bound", i};
        Scenario scenario = random_scenario(dice);
        scenario.loops = Loops::both;
        scenario.kernel.preempt = dice.chance(50) ? Preempt::none : Preempt::full;
        const std::string policy = random_version(dice);
        Ns bound = 0;
        for (const bool kernel_loop : {false, true}) {
            const Walk walk = first_walk(scenario, version(policy), kernel_loop);
            bound += std::max(walk.end, schedule(walk, cpus_of(scenario)).last_end);
        }
        ASSERT_EQ(run(scenario, policy).bound_ns, bound) << i << " " << policy;
    }
}

TEST(ClosedForm, NotificationTakesTheBoundAndAVerifyingWalkPerLoop) {
    for (int i = 0; i < kCases; ++i) {
        Dice dice{"notify", i};
        Scenario scenario = random_scenario(dice);
        scenario.loops = Loops::both;
        const std::string name = random_version(dice);
        const Result result = run(scenario, name + "(sleep=notify)");
        for (const bool kernel_loop : {false, true}) {
            const Walk walk = first_walk(scenario, version(name), kernel_loop);
            const Ns expected =
                walk.bursts.empty()
                    ? walk.end
                    : std::max(walk.end, schedule(walk, cpus_of(scenario)).last_end) + visits(scenario);
            ASSERT_EQ((kernel_loop ? result.kernel : result.user).elapsed_ns, expected) << i << " " << name;
        }
    }
}

TEST(ClosedForm, ThawIsAWalkAndAListSchedule) {
    for (int i = 0; i < kCases; ++i) {
        Dice dice{"thaw", i};
        Scenario scenario = random_scenario(dice);
        scenario.loops = Loops::both;
        scenario.kernel.preempt = dice.chance(50) ? Preempt::none : Preempt::full;
        const std::string policy = random_version(dice);
        const Walk walk = thaw_walk(scenario, version(policy));
        const Schedule expected = schedule(walk, cpus_of(scenario));
        const Result result = run(scenario, policy);
        ASSERT_EQ(result.thaw_walker_ns, expected.walker_at) << i << " " << policy;
        ASSERT_EQ(result.thaw_all_ns, std::max(expected.last_end, expected.walker_at)) << i << " " << policy;
        ASSERT_EQ(result.thaw.task_switch_ins, static_cast<std::int64_t>(walk.bursts.size())) << i;
    }
}

TEST(ClosedForm, ThawIsTheFluidValueWithinABurstAndTheStartWhenBacklogged) {
    for (int i = 0; i < kCases; ++i) {
        Dice dice{"fluid thaw", i};
        const auto cpus = static_cast<int>(dice.between(2, 8));
        Scenario scenario = even(dice, cpus);
        const Ns step = scenario.costs.visit_cycles + scenario.costs.thaw_wake_cycles;
        scenario.costs.thaw_run_cycles = (cpus - 1) * step + dice.between(1, 40000);
        const Ns n = scenario.tasks.front().count;
        const Ns r = scenario.costs.thaw_run_cycles;
        const double limit =
            static_cast<double>(r) + static_cast<double>(step) * static_cast<double>(cpus - 1) / cpus;
        ASSERT_NEAR(static_cast<double>(run(scenario, "p1").thaw_all_ns),
                    static_cast<double>(n * step + n * r) / cpus, limit)
            << i;
    }
}

TEST(ClosedForm, SwitchInsAreTheTasksWokenAtAVisit) {
    for (int i = 0; i < kCases; ++i) {
        Dice dice{"counts", i};
        Scenario scenario = random_scenario(dice);
        scenario.loops = Loops::both;
        const std::string policy = random_version(dice);
        std::int64_t woken_users = 0;
        std::int64_t errors = 0;
        std::int64_t kernel_threads = 0;
        for (const TaskGroup& task : scenario.tasks) {
            kernel_threads += task.kind == Kind::kfreezable ? 1 : 0;
            if (task.kind != Kind::user || handling(task.site, version(policy)) != Handling::wake) continue;
            ++woken_users;
            const bool fails =
                task.site == Site::epoll || task.site == Site::sigtimedwait || task.site == Site::semop;
            errors += fails ? 1 : 0;
        }
        const Result result = run(scenario, policy);
        ASSERT_EQ(result.freeze.task_switch_ins, woken_users + kernel_threads) << i << " " << policy;
        ASSERT_EQ(result.visible_errors, errors) << i << " " << policy;
        ASSERT_EQ(result.restarts, woken_users - errors) << i << " " << policy;
    }
}

TEST(ClosedForm, InterruptedCallsOfTheTabletAreSplitByTheirSites) {
    const Result before = run(nexus10(), "v3.9");
    EXPECT_EQ(before.freeze.task_switch_ins, 1000);
    EXPECT_EQ(before.restarts, 750);
    EXPECT_EQ(before.visible_errors, 240);
    const Result after = run(nexus10(), "v3.12");
    EXPECT_EQ(after.freeze.task_switch_ins, 245);
    EXPECT_EQ(after.restarts, 75);
    EXPECT_EQ(after.visible_errors, 160);
    EXPECT_EQ(run(nexus10(), "v6.1").thaw.task_switch_ins, 1000);
    EXPECT_EQ(run(nexus10(), "v6.7").thaw.task_switch_ins, 245);
}

TEST(ClosedForm, TwiceTheFrequencyHalvesAllButTheSleeps) {
    for (int i = 0; i < kCases; ++i) {
        Dice dice{"frequency", i};
        Scenario scenario = random_scenario(dice);
        scenario.loops = Loops::both;
        const std::string policy = dice.one_of(std::vector<std::string>{"p1", "full", "v3.12", "v6.7"});
        const auto at = [&](std::int64_t freq_hz) {
            for (sched::Cpu& cpu : scenario.cpus) cpu.freq_hz = freq_hz;
            return run(scenario, policy);
        };
        const Result slow = at(500'000'000);
        const Result fast = at(1'000'000'000);
        const auto awake = [](const Result& result) {
            return result.elapsed_ns - result.user.slept_ns - result.kernel.slept_ns;
        };
        ASSERT_EQ(slow.user.slept_ns + slow.kernel.slept_ns, fast.user.slept_ns + fast.kernel.slept_ns) << i;
        ASSERT_EQ(awake(slow), 2 * awake(fast)) << i << " " << policy;
        ASSERT_EQ(slow.freeze.busy_ns, 2 * fast.freeze.busy_ns) << i;
        ASSERT_EQ(slow.thaw_all_ns, 2 * fast.thaw_all_ns) << i;
    }
}

}  // namespace
}  // namespace torpor::freezer
