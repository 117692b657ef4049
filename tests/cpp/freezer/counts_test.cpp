// SPDX-License-Identifier: MIT
// Busy times and counts of random freezes and thaws, added up from what was charged and from who was woken.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dice.hpp"
#include "example.hpp"

namespace torpor::freezer {
namespace {

using namespace testing;

constexpr int kCases = 300;

TEST(BusyTime, IsTheSumOfWhatWasCharged) {
    for (int i = 0; i < kCases; ++i) {
        Dice dice{"busy time", i};
        Scenario scenario = random_world(dice, false);
        for (TaskGroup& task : scenario.tasks) {
            task.wakes_at_ns.reset();
            // Later than the first walk, so that a wait does not end within a visit.
            if (task.d_ends_ns) task.d_ends_ns = Uniform{1e6, 2e7};
        }
        scenario.work.clear();
        const std::string version = random_version(dice);
        engine::VectorSink told;
        Model model{scenario, parse_policy(version)};
        model.keep_tasks();
        const Result result = model.run({1, 0}, {}, &told);
        ASSERT_EQ(result.outcome, Outcome::frozen);

        std::int64_t waits_over = 0;
        std::int64_t marked = 0;
        std::int64_t marked_where_stopped = 0;
        std::int64_t frozen = 0;
        std::int64_t requests = 0;
        std::int64_t asked = 0;
        for (const TaskOutcome& task : model.tasks()) {
            const TaskGroup& group = scenario.tasks[static_cast<std::size_t>(task.group)];
            waits_over += group.start == Start::uninterruptible ? 1 : 0;
            frozen += task.state == "frozen" ? 1 : 0;
            marked += task.state == "marked" ? 1 : 0;
            marked_where_stopped += task.state == "marked" && group.start == Start::stopped ? 1 : 0;
            const bool sleeps = group.start == Start::blocked && group.kind == Kind::user;
            requests +=
                sleeps && handling(group.site, parse_version(version, "")) == Handling::request ? 1 : 0;
        }
        for (const auto& record : told.records()) {
            if (record.kind == static_cast<std::uint16_t>(TimelineKind::pass_end)) asked += record.value;
        }
        const Costs& costs = scenario.costs;
        const std::int64_t tasks = task_count(scenario);
        const std::int64_t woken = result.freeze.wakeups - waits_over;
        const std::int64_t passes = result.user.passes + result.kernel.passes;
        std::int64_t charged = passes * tasks * costs.visit_cycles;
        charged += woken * costs.wake_cycles + (asked - woken) * costs.resig_cycles;
        charged += marked * costs.mark_cycles + requests * result.user.passes * costs.resig_cycles;
        charged += result.freeze.task_switch_ins * costs.freeze_run_cycles;
        ASSERT_EQ(result.freeze.busy_ns, charged) << i << " " << version;

        // From 6.1 to 6.6 a marked task is woken, from 6.7 on it gets its state back; one that was stopped
        // does in both.
        const std::int64_t resleeps = version == "v6.1" ? marked - marked_where_stopped : 0;
        std::int64_t thawed = tasks * costs.visit_cycles;
        thawed += frozen * (costs.thaw_wake_cycles + costs.thaw_run_cycles);
        thawed += resleeps * (costs.thaw_wake_cycles + costs.resleep_cycles);
        thawed += (marked - resleeps) * costs.mark_cycles;
        ASSERT_EQ(result.thaw.busy_ns, thawed) << i << " " << version;
        ASSERT_EQ(result.thaw.task_switch_ins, frozen + resleeps) << i << " " << version;
    }
}

TEST(BusyTime, IsSharedOutAmongTheCpus) {
    for (int i = 0; i < kCases; ++i) {
        Dice dice{"cpus", i};
        const Result result = run(random_world(dice), random_version(dice), {2, 0});
        for (const auto& [activity, length_ns] :
             {std::pair{result.freeze, result.elapsed_ns}, std::pair{result.thaw, result.thaw_all_ns}}) {
            std::int64_t sum = 0;
            for (const std::int64_t busy_ns : activity.cpu_busy_ns) {
                ASSERT_LE(busy_ns, length_ns) << i;
                sum += busy_ns;
            }
            ASSERT_EQ(sum, activity.busy_ns) << i;
        }
    }
}

/// What a freeze should count, added up group by group.
struct Expected {
    std::int64_t switch_ins{0};
    std::int64_t interrupted{0};
    std::int64_t running_on{0};
    std::int64_t thaw_switch_ins{0};
};

/// One group with a late wake-up, and what it adds. Bursts are over long before anything else happens: the
/// walk and its bursts take less than 4 ms, wake-ups come at 5 to 8 ms, waits of user tasks end at 10 to 20
/// ms, so that the user loop ends between 10 and 40 ms.
TaskGroup sleeper(Dice& dice, std::int64_t number, Version version, Expected& expected) {
    static const std::vector<Site> sites{Site::futex, Site::epoll, Site::vfork, Site::other, Site::nanosleep};
    TaskGroup task = group(numbered("t", number), 1, dice.one_of(sites));
    const bool wakes = dice.chance(50);
    if (wakes) task.wakes_at_ns = Uniform{5e6, 8e6};
    const Handling handled = handling(task.site, version);
    const bool late = wakes && handled != Handling::wake;
    const bool freezes = handled == Handling::wake || (late && handled != Handling::mark);
    const bool resleeps = handled == Handling::mark && (version == Version::v6_1 || wakes);
    expected.interrupted += handled == Handling::wake ? 1 : 0;
    expected.switch_ins += freezes ? 1 : 0;
    expected.running_on += wakes ? 1 : 0;
    expected.thaw_switch_ins += freezes || resleeps ? 1 : 0;
    return task;
}

/// A wait whose end is one switch-in, of a thread that blocks again in the user loop two.
TaskGroup tail(Dice& dice, std::int64_t number, Expected& expected) {
    TaskGroup task = d_task(numbered("d", number), 0);
    const std::int64_t kind = number == 0 ? 1 : dice.between(1, 3);
    task.kind = kind == 1 ? Kind::user : Kind::kfreezable;
    task.d_ends_ns = kind == 1 ? Uniform{1e7, 2e7} : kind == 2 ? Uniform{5e6, 8e6} : Uniform{1e8, 1.1e8};
    expected.switch_ins += kind == 2 ? 2 : 1;
    ++expected.thaw_switch_ins;
    return task;
}

TEST(Counts, AreTasksWokenAtAVisitLateWakesAndWaitsThatEnd) {
    for (int i = 0; i < kCases; ++i) {
        Dice dice{"late wakes and tails", i};
        Scenario scenario = example(static_cast<int>(dice.between(1, 8)), {});
        scenario.costs = random_costs(dice);
        scenario.loops = Loops::both;
        scenario.kernel.preempt = dice.chance(50) ? Preempt::none : Preempt::full;
        const std::string policy = random_version(dice);
        Expected expected;
        for (std::int64_t t = dice.between(0, 30); t > 0; --t) {
            scenario.tasks.push_back(sleeper(dice, t, parse_version(policy, ""), expected));
        }
        for (std::int64_t t = dice.between(0, 3); t >= 0; --t) {
            scenario.tasks.push_back(tail(dice, t, expected));
        }
        for (std::int64_t t = dice.between(0, 3); t > 0; --t) {
            scenario.tasks.push_back(kthread(numbered("k", t)));
            ++expected.switch_ins;
            ++expected.thaw_switch_ins;
        }
        if (dice.chance(50)) scenario.order = Order::shuffled;
        const Result result = run(scenario, policy, {6, 0});
        ASSERT_EQ(result.outcome, Outcome::frozen) << i;
        ASSERT_EQ(result.freeze.task_switch_ins, expected.switch_ins) << i << " " << policy;
        ASSERT_EQ(result.freeze.wakeups, expected.switch_ins) << i << " " << policy;
        ASSERT_EQ(result.restarts + result.visible_errors, expected.interrupted) << i << " " << policy;
        ASSERT_EQ(result.thaw.task_switch_ins, expected.thaw_switch_ins) << i << " " << policy;
        ASSERT_EQ(result.running_on, expected.running_on) << i << " " << policy;
    }
}

}  // namespace
}  // namespace torpor::freezer
