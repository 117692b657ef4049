// SPDX-License-Identifier: MIT
// Freezes that are tried again, worked out by hand. Times in microseconds.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "example.hpp"

namespace torpor::freezer {
namespace {

using namespace testing;

TEST(Retry, AddsUpFreezesThawsAndGaps) {
    Scenario scenario = with_power(example(2, {others(), d_task("d", 25'000'000)}, 1000));
    const Result failed = run(scenario, "p1");
    ASSERT_EQ(failed.outcome, Outcome::failed);
    EXPECT_EQ(us(failed.cycle_ns), 20'006'513 + 20);
    scenario.attempts = 3;
    scenario.retry_gap_ns = 100'000'000;
    const Result result = run(scenario, "p1");
    EXPECT_EQ(result.outcome, Outcome::frozen);
    EXPECT_EQ(result.attempts, 2);
    EXPECT_GT(us(result.elapsed_ns), 25'000'000 - 20'106'533);
    EXPECT_EQ(result.cycle_ns, failed.cycle_ns + 100'000'000 + result.elapsed_ns + result.thaw_all_ns);
    EXPECT_DOUBLE_EQ(result.cycle_energy_mj,
                     failed.cycle_energy_mj + 30.0 + result.freeze.energy_mj + result.thaw.energy_mj);
}

TEST(Retry, GivesUpAfterTheLastAttempt) {
    Scenario scenario = example(2, {others(), d_task("d", -1)}, 1000);
    scenario.attempts = 3;
    const Result result = run(scenario, "p1");
    EXPECT_EQ(result.outcome, Outcome::failed);
    EXPECT_EQ(result.attempts, 3);
    EXPECT_EQ(us(result.cycle_ns), 3 * (20'006'513 + 20));
}

TEST(Retry, FollowsAnAbortAndDoesNotSeeTheSameWakeupAgain) {
    Scenario scenario = example(1, {d_task("d", 5000)});
    scenario.wakeup_at_ns = Constant{2'000'000.0};
    scenario.attempts = 2;
    const Result result = run(scenario, "p1");
    EXPECT_EQ(result.outcome, Outcome::frozen);
    EXPECT_EQ(result.attempts, 2);
    // Aborted at 3006, thawed by 3007; its passes are at 0, 1002 and 3004 from there.
    EXPECT_EQ(us(result.elapsed_ns), 3005);
    EXPECT_EQ(us(result.cycle_ns), 3007 + 3005 + 5 + 15);
}

TEST(Retry, GoesOnWithTheTickWhereItIs) {
    Scenario scenario = example(2, {d_task("d", 25'000)}, 100);
    scenario.kernel.timeout_ms = 1;
    scenario.attempts = 2;
    scenario.retry_gap_ns = 3'000'000;
    // Failed at 20002, thawed by 20003; the second begins 3003 after a tick and sleeps for two.
    const Result result = run(scenario, "v3.9");
    EXPECT_EQ(result.outcome, Outcome::frozen);
    EXPECT_EQ(us(result.elapsed_ns), 20000 - 3003 + 1);
}

TEST(Retry, FollowsEachAbortOnce) {
    // One event, and a D task that never ends: the second attempt runs into the timeout.
    Scenario scenario = example(1, {d_task("d", -1)}, 1000);
    scenario.wakeup_at_ns = Constant{2'000'000.0};
    scenario.attempts = 2;
    const Result result = run(scenario, "p1");
    EXPECT_EQ(result.attempts, 2);
    EXPECT_EQ(result.outcome, Outcome::failed);
    scenario.attempts = 1;
    EXPECT_EQ(run(scenario, "p1").outcome, Outcome::aborted);
}

/// Aborted in the kernel loop at 3007, thawed by 3009, and then tried again; a work item of this length is
/// queued in between, at 2000.
Scenario with_held_work(double runs_us, std::int64_t attempts) {
    Scenario scenario = example(2, {d_task("thread", 5000, Kind::kfreezable)}, 1000);
    scenario.loops = Loops::both;
    scenario.wakeup_at_ns = Constant{2'500'000.0};
    scenario.work = {{2'000'000, Constant{runs_us * 1000.0}}};
    scenario.attempts = attempts;
    return scenario;
}

TEST(Retry, RunsHeldWorkFromTheThawOfTheAttemptThatHeldIt) {
    const Result aborted = run(with_held_work(3008, 1), "p1");
    EXPECT_EQ(aborted.outcome, Outcome::aborted);
    EXPECT_EQ(us(aborted.elapsed_ns), 3007);
    EXPECT_EQ(aborted.work_held, 1);
    EXPECT_EQ(us(aborted.cycle_ns), 3009);
    // From 3007 on, so 2 before the second attempt, whose kernel passes end at 3, 1005, 3006 and 7007.
    EXPECT_EQ(us(run(with_held_work(3008, 2), "p1").elapsed_ns), 3006);
    EXPECT_EQ(us(run(with_held_work(3009, 2), "p1").elapsed_ns), 7007);
    EXPECT_EQ(run(with_held_work(3009, 2), "p1").work_held, 0);
}

TEST(Retry, FindsAClientReleasedThatHadItsReplyInTheFirstAttempt) {
    // The reply comes at 4, where the first attempt is aborted. In the second the client sleeps in its site:
    // woken at 5, run 7-27 on CPU 0.
    Scenario scenario = example(2, {waiting_on(d_task("a", -1), "b"), computing("b", 4000)}, 1000);
    EXPECT_EQ(us(run(scenario, "p1").elapsed_ns), 1026);
    scenario.wakeup_at_ns = Constant{1000.0};
    scenario.attempts = 2;
    const Result result = run(scenario, "p1");
    EXPECT_EQ(result.outcome, Outcome::frozen);
    EXPECT_EQ(result.attempts, 2);
    EXPECT_EQ(us(result.elapsed_ns), 1029);
    EXPECT_EQ(result.restarts, 1);
}

TEST(Retry, DrawsOtherSleepsInEachAttempt) {
    Scenario scenario = example(2, {d_task("d", -1)}, 1000);
    scenario.kernel.range_mode = RangeMode::uniform;
    scenario.kernel.timeout_ms = 5;
    scenario.attempts = 2;
    std::vector<std::vector<std::int64_t>> lengths;
    std::int64_t began_ns = 0;
    for (const engine::TimelineRecord& record : told(scenario, "p1")) {
        const std::int64_t at_ns = to_ns(record.at);
        if (record.kind == static_cast<std::uint16_t>(TimelineKind::loop_begin) && record.value == 0) {
            lengths.emplace_back();
        } else if (record.kind == static_cast<std::uint16_t>(TimelineKind::sleep_begin)) {
            began_ns = at_ns;
        } else if (record.kind == static_cast<std::uint16_t>(TimelineKind::sleep_end)) {
            lengths.back().push_back(at_ns - began_ns);
        }
    }
    ASSERT_EQ(lengths.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) EXPECT_NE(lengths[0].at(i), lengths[1].at(i)) << i;
}

}  // namespace
}  // namespace torpor::freezer
