// SPDX-License-Identifier: MIT
// The calibrated tablet against the figures of an independent event-driven prototype: means over 20 tick
// phases, every figure to its last printed digit. The list order decides whether the queue is empty when the
// first walk ends, which moves a total by up to 0.04 ms.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string>
#include <vector>

#include "example.hpp"
#include "nexus10.hpp"

namespace torpor::freezer {
namespace {

using namespace testing;

constexpr double kOrderMs = 0.04;
constexpr int kPhases = 20;

struct Mean {
    double user_ms{0};
    double kernel_ms{0};
    double total_ms{0};
    double least_ms{1e9};
    double most_ms{0};
    double switch_ins{0};
    double interrupted{0};
    double busy_ms{0};
    double thaw_all_ms{0};
    double thaw_switch_ins{0};
    double freeze_mj{0};
    double thaw_mj{0};
    double bound_ms{0};
    double slept_ms{0};
};

double ms(std::int64_t ns) {
    return static_cast<double>(ns) / 1e6;
}

Mean over_phases(Scenario scenario, const std::string& policy) {
    const std::int64_t period_ns = TickGrid::at(scenario.kernel.hz, 0).period_ns;
    Mean mean;
    const auto add = [](double& sum, double value) { sum += value / kPhases; };
    for (int i = 0; i < kPhases; ++i) {
        scenario.kernel.since_tick_ns = i * period_ns / kPhases;
        const Result result = run(scenario, policy);
        add(mean.user_ms, ms(result.user.elapsed_ns));
        add(mean.kernel_ms, ms(result.kernel.elapsed_ns));
        add(mean.total_ms, ms(result.elapsed_ns));
        mean.least_ms = std::min(mean.least_ms, ms(result.elapsed_ns));
        mean.most_ms = std::max(mean.most_ms, ms(result.elapsed_ns));
        add(mean.switch_ins, static_cast<double>(result.freeze.task_switch_ins));
        add(mean.interrupted, static_cast<double>(result.restarts + result.visible_errors));
        add(mean.busy_ms, ms(result.freeze.busy_ns));
        add(mean.thaw_all_ms, ms(result.thaw_all_ns));
        add(mean.thaw_switch_ins, static_cast<double>(result.thaw.task_switch_ins));
        add(mean.freeze_mj, result.freeze.energy_mj);
        add(mean.thaw_mj, result.thaw.energy_mj);
        add(mean.bound_ms, ms(result.bound_ns));
        add(mean.slept_ms, ms(result.user.slept_ns + result.kernel.slept_ns));
    }
    return mean;
}

double total_ms(const Scenario& scenario, const std::string& policy) {
    return over_phases(scenario, policy).total_ms;
}

/// Half of the last digit, and what the order of the list may do.
#define EXPECT_DIGIT(value, printed, digit) EXPECT_NEAR(value, printed, (digit) / 2 + kOrderMs)

struct Row {
    const char* version;
    double user_ms, user_digit;
    double kernel_ms, kernel_digit;
    double total_ms, total_digit;
    double switch_ins;
    double interrupted;
    double busy_ms;
    double thaw_all_ms;
    double thaw_switch_ins;
    double freeze_mj, thaw_mj, cycle_mj;
    double cycle_mw;
};

class Tablet : public ::testing::TestWithParam<Row> {
  protected:
    const Row& row() const { return GetParam(); }
    Mean mean() const { return over_phases(nexus10(), row().version); }
};

TEST_P(Tablet, TakesTheTimesOfTheTable) {
    EXPECT_DIGIT(mean().user_ms, row().user_ms, row().user_digit);
    EXPECT_DIGIT(mean().kernel_ms, row().kernel_ms, row().kernel_digit);
    EXPECT_DIGIT(mean().total_ms, row().total_ms, row().total_digit);
    EXPECT_DIGIT(mean().thaw_all_ms, row().thaw_all_ms, 0.1);
}

TEST_P(Tablet, CountsAsTheTable) {
    EXPECT_EQ(mean().switch_ins, row().switch_ins);
    EXPECT_EQ(mean().interrupted, row().interrupted);
    EXPECT_EQ(mean().thaw_switch_ins, row().thaw_switch_ins);
}

TEST_P(Tablet, IsBusyAsLongAsTheTable) {
    // Sums of exact costs; the reference's one digit was made from two.
    EXPECT_NEAR(mean().busy_ms, row().busy_ms, 0.055);
}

TEST_P(Tablet, TakesTheEnergyOfTheTable) {
    constexpr double kOrderMj = kOrderMs * 0.5;  // both CPUs and the board
    EXPECT_NEAR(mean().freeze_mj, row().freeze_mj, 0.05 + kOrderMj);
    EXPECT_NEAR(mean().thaw_mj, row().thaw_mj, 0.05 + kOrderMj);
    EXPECT_NEAR(mean().freeze_mj + mean().thaw_mj, row().cycle_mj, 0.05 + kOrderMj);
    EXPECT_NEAR((mean().freeze_mj + mean().thaw_mj) / 3.0, row().cycle_mw, 0.05 + kOrderMj);
}

INSTANTIATE_TEST_SUITE_P(
    Versions, Tablet,
    ::testing::Values(
        Row{"v3.9", 35.9, 0.1, 15.0, 0.1, 50.9, 0.1, 1000, 990, 48.1, 22.9, 1000, 20.1, 11.4, 31.5, 10.5},
        Row{"p1", 24.4, 0.1, 2.6, 0.1, 27.05, 0.01, 1000, 990, 48.1, 22.9, 1000, 12.9, 11.4, 24.4, 8.1},
        Row{"skip-only", 14.1, 0.1, 15.0, 0.1, 29.1, 0.1, 25, 15, 4.2, 1.0, 25, 9.2, 0.5, 9.6, 3.2},
        Row{"full", 2.65, 0.01, 2.62, 0.01, 5.27, 0.01, 25, 15, 4.2, 1.0, 25, 2.0, 0.5, 2.5, 0.8},
        Row{"v3.12", 7.45, 0.01, 2.62, 0.01, 10.07, 0.01, 245, 235, 14.1, 5.9, 245, 4.4, 3.0, 7.4, 2.5},
        Row{"v6.1", 7.91, 0.01, 2.62, 0.01, 10.5, 0.1, 245, 235, 15.1, 18.2, 1000, 4.7, 9.1, 13.8, 4.6},
        Row{"v6.7", 7.91, 0.01, 2.62, 0.01, 10.5, 0.1, 245, 235, 15.1, 6.4, 245, 4.7, 3.2, 7.9, 2.6}),
    [](const auto& row) {
        std::string name = row.param.version;
        std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
        return name;
    });

TEST(TabletTotals, SpreadOverTheTickPhasesWithMsleepOnly) {
    const Mean before = over_phases(nexus10(), "v3.9");
    EXPECT_DIGIT(before.least_ms, 48.5, 0.1);
    EXPECT_DIGIT(before.most_ms, 53.3, 0.1);
    const Mean skip_only = over_phases(nexus10(), "skip-only");
    EXPECT_DIGIT(skip_only.least_ms, 26.8, 0.1);
    EXPECT_DIGIT(skip_only.most_ms, 31.5, 0.1);
    const Mean full = over_phases(nexus10(), "full");
    EXPECT_EQ(full.least_ms, full.most_ms);  // of one list order
}

TEST(TabletTotals, AreTwoSleepsAndWork) {
    EXPECT_NEAR(over_phases(nexus10(), "v3.9").slept_ms, 26.0, 0.5);
    EXPECT_NEAR(over_phases(nexus10(), "full").slept_ms, 2.0, 1e-9);
}

TEST(TabletTotals, HaveTheLowerBoundsOfTheTable) {
    EXPECT_DIGIT(over_phases(nexus10(), "v3.9").bound_ms, 23.5, 0.1);
    EXPECT_DIGIT(over_phases(nexus10(), "p1").bound_ms, 23.5, 0.1);
    EXPECT_DIGIT(over_phases(nexus10(), "full").bound_ms, 1.73, 0.01);
}

TEST(TabletTotals, GainATenthAndAFifthByTheSeries) {
    const double full = total_ms(nexus10(), "full");
    EXPECT_NEAR(total_ms(nexus10(), "v3.9") / full, 9.7, 0.1);
    EXPECT_NEAR(total_ms(nexus10(), "p1") / full, 5.1, 0.1);
}

TEST(TabletTotals, FreezeAllTasksWithinTenMillisecondsOnlyAtHigherFrequencies) {
    const auto last_freeze_ms = [](std::int64_t mhz) {
        Model model{nexus10(mhz), parse_policy("p1(sleep=notify)")};
        model.keep_tasks();
        model.run({1, 0}, {});
        std::int64_t last = 0;
        for (const TaskOutcome& task : model.tasks()) {
            const bool user = nexus10().tasks[static_cast<std::size_t>(task.group)].kind == Kind::user;
            if (user) last = std::max(last, task.frozen_ns);
        }
        return ms(last);
    };
    EXPECT_DIGIT(last_freeze_ms(200), 22.7, 0.1);
    EXPECT_DIGIT(last_freeze_ms(400), 11.3, 0.1);
    EXPECT_DIGIT(last_freeze_ms(600), 7.6, 0.1);
    EXPECT_DIGIT(last_freeze_ms(1700), 2.7, 0.1);
    EXPECT_GT(last_freeze_ms(445), 10.0);
    EXPECT_LT(last_freeze_ms(465), 10.0);
}

TEST(TabletTotals, TakeLongerAtThawWhenMarkedTasksAreWoken) {
    const Mean woken = over_phases(nexus10(), "v6.1");
    const Mean restored = over_phases(nexus10(), "v6.7");
    EXPECT_NEAR(woken.thaw_switch_ins / restored.thaw_switch_ins, 4.08, 0.005);
    EXPECT_NEAR(woken.thaw_all_ms / restored.thaw_all_ms, 2.85, 0.02);
}

struct Sweep {
    std::int64_t mhz;
    double before, p1, skip_only, full, v3_12, v6_1;
};

TEST(TabletTotals, FollowTheFrequency) {
    // The reference prints 50.9, 39.3, ... of msleep with one digit, the others with two.
    for (const Sweep& row :
         {Sweep{200, 50.9, 27.05, 29.1, 5.27, 10.07, 10.52}, Sweep{400, 39.3, 14.53, 28.3, 3.63, 6.03, 6.26},
          Sweep{800, 33.3, 8.26, 27.8, 2.82, 4.02, 4.14}, Sweep{1700, 30.2, 4.95, 27.7, 2.38, 2.95, 3.01}}) {
        const Scenario scenario = nexus10(row.mhz);
        EXPECT_DIGIT(total_ms(scenario, "v3.9"), row.before, 0.1) << row.mhz;
        EXPECT_DIGIT(total_ms(scenario, "p1"), row.p1, 0.01) << row.mhz;
        EXPECT_DIGIT(total_ms(scenario, "skip-only"), row.skip_only, 0.1) << row.mhz;
        EXPECT_DIGIT(total_ms(scenario, "full"), row.full, 0.01) << row.mhz;
        EXPECT_DIGIT(total_ms(scenario, "v3.12"), row.v3_12, 0.01) << row.mhz;
        EXPECT_DIGIT(total_ms(scenario, "v6.1"), row.v6_1, 0.01) << row.mhz;
    }
}

TEST(TabletTotals, FollowTheNumberOfCpus) {
    struct ByCpus {
        int cpus;
        double before, p1, full, full_digit;
    };
    for (const ByCpus& row : {ByCpus{1, 73.6, 50.1, 6.2, 0.1}, ByCpus{4, 39.6, 15.7, 5.27, 0.01},
                              ByCpus{8, 36.4, 12.6, 5.27, 0.01}}) {
        const Scenario scenario = nexus10(200, row.cpus);
        EXPECT_DIGIT(total_ms(scenario, "v3.9"), row.before, 0.1) << row.cpus;
        EXPECT_DIGIT(total_ms(scenario, "p1"), row.p1, 0.1) << row.cpus;
        EXPECT_DIGIT(total_ms(scenario, "full"), row.full, row.full_digit) << row.cpus;
    }
}

TEST(TabletTotals, DependOnPreemption) {
    Scenario scenario = nexus10();
    scenario.kernel.preempt = Preempt::none;
    EXPECT_DIGIT(total_ms(scenario, "v3.9"), 49.1, 0.1);
    EXPECT_DIGIT(total_ms(scenario, "p1"), 32.7, 0.1);
    EXPECT_DIGIT(total_ms(scenario, "full"), 5.27, 0.01);
}

TEST(TabletTotals, DependOnHowARangeSleepEnds) {
    const auto full = [](RangeMode mode) {
        Scenario scenario = nexus10();
        scenario.kernel.range_mode = mode;
        return total_ms(scenario, "full");
    };
    EXPECT_DIGIT(full(RangeMode::soft), 4.27, 0.01);
    EXPECT_DIGIT(full(RangeMode::tick), 5.20, 0.01);
    EXPECT_DIGIT(full(RangeMode::hard), 5.27, 0.01);
}

TEST(TabletTotals, LieHalfwayWithUniformRangeSleeps) {
    Scenario scenario = nexus10();
    scenario.kernel.range_mode = RangeMode::uniform;
    Model model{scenario, parse_policy("full")};
    double sum_ms = 0;
    constexpr int kRuns = 2000;
    for (std::uint64_t i = 0; i < kRuns; ++i) sum_ms += ms(model.run({1, i}, {}).elapsed_ns);
    // Two sleeps of variance (0.5 ms)^2 / 12 each: a standard error of 0.0046 ms.
    EXPECT_NEAR(sum_ms / kRuns, 4.77, 0.005 + 4 * 0.0046);
}

TEST(TabletTotals, GrowByHalfATaskPerTaskWoken) {
    const double base_ms = over_phases(nexus10(), "v3.9").user_ms;
    Scenario more = nexus10();
    more.tasks[7].count += 100;
    const double per_task_us = (over_phases(more, "v3.9").user_ms - base_ms) * 10.0;
    EXPECT_NEAR(per_task_us, 22.85 + 0.7, 0.5);
}

#undef EXPECT_DIGIT

}  // namespace
}  // namespace torpor::freezer
