// SPDX-License-Identifier: MIT
// Loops that wait for a task in D: when they fail, and what one straggler costs.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "dice.hpp"
#include "example.hpp"
#include "list_schedule.hpp"

namespace torpor::freezer {
namespace {

using namespace testing;

constexpr int kCases = 300;

/// A loop over a task that never freezes.
Passes endless_passes(const Scenario& scenario, bool msleep) {
    const Ns period = TickGrid::at(scenario.kernel.hz, 0).period_ns;
    const Ns phase = *scenario.kernel.since_tick_ns;
    const Ns last_jiffy = phase / period + (scenario.kernel.timeout_ms * scenario.kernel.hz + 999) / 1000;
    Passes made;
    Ns now = 0;
    Ns sleep = kMs;
    for (;;) {
        now += visits(scenario) + scenario.costs.resig_cycles;
        ++made.count;
        made.end = now;
        if ((now + phase) / period > last_jiffy) return made;
        now += msleep ? sleep_at(scenario, "msleep", RangeMode::hard, now).most : sleep;
        if (sleep < 8 * kMs) sleep *= 2;
    }
}

Scenario endless(Dice& dice) {
    const int hz = dice.one_of(std::vector<int>{100, 200, 250, 300, 1000});
    Scenario scenario = example(static_cast<int>(dice.between(1, 4)), {d_task("d", -1)}, hz);
    for (std::int64_t i = dice.between(0, 5); i > 0; --i) {
        scenario.tasks.push_back(kthread(numbered("k", i), Kind::knofreeze));
    }
    scenario.costs = random_costs(dice);
    scenario.kernel.since_tick_ns = dice.between(0, TickGrid::at(hz, 0).period_ns - 1);
    return scenario;
}

TEST(Failure, ComesAtTheFirstPassPastTheTimeoutsJiffy) {
    for (const bool msleep : {false, true}) {
        for (int i = 0; i < kCases; ++i) {
            Dice dice{"failure", i};
            Scenario scenario = endless(dice);
            scenario.kernel.timeout_ms = dice.between(1, 400);
            const Result result = run(scenario, msleep ? "v3.9" : "full");
            const Passes expected = endless_passes(scenario, msleep);
            ASSERT_EQ(result.outcome, Outcome::failed) << i;
            ASSERT_EQ(result.elapsed_ns, expected.end) << i;
            ASSERT_EQ(result.user.passes, expected.count) << i;
            ASSERT_EQ(result.refusing, 1) << i;
        }
    }
}

TEST(Failure, WithBackoffIsWithinASleepATickAndAPassOfTheTimeout) {
    for (int i = 0; i < 40; ++i) {
        Dice dice{"failure window", i};
        const Scenario scenario = endless(dice);
        const Result result = run(scenario, "v6.7");
        const Ns pass = visits(scenario) + scenario.costs.resig_cycles;
        ASSERT_GE(result.elapsed_ns, 20'000 * kMs) << i;
        ASSERT_LE(result.elapsed_ns, 20'008 * kMs + TickGrid::at(scenario.kernel.hz, 0).period_ns + pass)
            << i;
    }
}

Scenario free_of_cost(Ns d_ends, int hz) {
    Scenario scenario = example(2, {d_task("d", 0)}, hz);
    scenario.tasks.front().d_ends_ns = Constant{static_cast<double>(d_ends)};
    scenario.costs = {};
    return scenario;
}

Ns seen_after(Ns d_ends) {
    return run(free_of_cost(d_ends, 1000), "p1").elapsed_ns;
}

TEST(Straggler, IsSeenAtTheFirstEndOfASleepAfterIt) {
    for (int i = 0; i < kCases; ++i) {
        Dice dice{"straggler", i};
        const Ns ends = dice.between(1, 100 * kMs);
        Ns sum = 0;
        Ns sleep = kMs;
        while (sum < ends) {
            sum += sleep;
            if (sleep < 8 * kMs) sleep *= 2;
        }
        ASSERT_EQ(seen_after(ends), sum) << ends;
        ASSERT_LE(sum - ends, 8 * kMs);
    }
}

TEST(Straggler, CostsThreeTimesItsTimeAtWorst) {
    EXPECT_NEAR(static_cast<double>(seen_after(kMs + 1)) / (kMs + 1.0), 3.0, 1e-5);
    EXPECT_NEAR(static_cast<double>(seen_after(3 * kMs + 1)) / (3 * kMs + 1.0), 7.0 / 3.0, 1e-5);
    EXPECT_NEAR(static_cast<double>(seen_after(7 * kMs + 1)) / (7 * kMs + 1.0), 15.0 / 7.0, 1e-5);
}

TEST(Straggler, IsSeenAtAMultipleOfThePeriodOfMsleep) {
    for (int i = 0; i < kCases; ++i) {
        Dice dice{"straggler msleep", i};
        const int hz = dice.one_of(std::vector<int>{100, 200, 250, 300, 1000});
        const Ns ends = dice.between(1, 200 * kMs);
        const Ns period = ((10 * hz + 999) / 1000 + 1) * TickGrid::at(hz, 0).period_ns;
        ASSERT_EQ(run(free_of_cost(ends, hz), "v3.9").elapsed_ns, (ends + period - 1) / period * period)
            << ends;
    }
}

}  // namespace
}  // namespace torpor::freezer
