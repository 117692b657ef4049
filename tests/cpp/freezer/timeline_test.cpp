// SPDX-License-Identifier: MIT
// What a run tells its timeline.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <vector>

#include "dice.hpp"
#include "example.hpp"

namespace torpor::freezer {
namespace {

using namespace testing;

constexpr int kCases = 300;

/// What a CPU runs from a time on.
struct Runs {
    double at_us;
    int cpu;
    std::int64_t entity;

    bool operator==(const Runs&) const = default;
};

void PrintTo(const Runs& runs, std::ostream* out) {
    *out << runs.entity << " on " << runs.cpu << " at " << runs.at_us;
}

/// Of the freeze; what the records say at its very end belongs to it.
std::vector<Runs> runs_of_freeze(const Scenario& scenario, std::string_view policy) {
    std::vector<Runs> found;
    const std::int64_t end_ns = run(scenario, policy).elapsed_ns;
    bool ended = false;
    for (const engine::TimelineRecord& record : told(scenario, policy)) {
        if (record.kind == static_cast<std::uint16_t>(TimelineKind::loop_end)) {
            ended = to_ns(record.at) == end_ns;
        }
        if (record.kind != static_cast<std::uint16_t>(TimelineKind::run)) continue;
        // The thaw starts the walker on CPU 0 again.
        if (ended && record.value == kWalkerEntity) break;
        found.push_back({us(to_ns(record.at)), record.lane, record.value});
    }
    return found;
}

TEST(Timeline, TellsOfARunThatGoesOnAfterItsSlice) {
    Scenario scenario = example(1, {others(2)});
    scenario.rules.slice_ns = 15'000;
    // Woken at 5 and 10; each burst of 20 is cut after 15, the walker sleeps in between.
    EXPECT_EQ(runs_of_freeze(scenario, "p1"), (std::vector<Runs>{{0, 0, kWalkerEntity},
                                                                 {10, 0, 0},
                                                                 {25, 0, 1},
                                                                 {40, 0, kWalkerEntity},
                                                                 {40, 0, 0},
                                                                 {45, 0, 1},
                                                                 {50, 0, kIdleEntity},
                                                                 {1040, 0, kWalkerEntity},
                                                                 {1042, 0, kIdleEntity}}));
    EXPECT_EQ(frozen_us(scenario, "p1"), (Times{45, 50}));
}

TEST(Timeline, TellsOfIdleCpusAtTheEndOfAFreezeWhateverStillRuns) {
    // Woken 0.5 before the end, in the middle of the last pass.
    const Scenario scenario = example(2, {waking(group("futex", 1, Site::futex), 1007.5), others()});
    EXPECT_EQ(runs_of_freeze(scenario, "full"), (std::vector<Runs>{{0, 0, kWalkerEntity},
                                                                   {6, 1, 1},
                                                                   {6, 0, kIdleEntity},
                                                                   {26, 1, kIdleEntity},
                                                                   {1006, 0, kWalkerEntity},
                                                                   {1007.5, 1, 0},
                                                                   {1008, 0, kIdleEntity},
                                                                   {1008, 1, kIdleEntity}}));
}

/// Busy time of each CPU from what the timeline tells of the freeze.
std::vector<std::int64_t> busy_told(const std::vector<engine::TimelineRecord>& records, std::size_t cpus,
                                    std::int64_t end_ns) {
    std::vector<std::int64_t> busy(cpus, 0);
    std::vector<std::int64_t> since(cpus, -1);
    for (const engine::TimelineRecord& record : records) {
        const bool thaw =
            record.kind == static_cast<std::uint16_t>(TimelineKind::loop_begin) && record.value == 2;
        const std::int64_t at_ns = to_ns(record.at);
        if (thaw) break;
        if (record.kind != static_cast<std::uint16_t>(TimelineKind::run)) continue;
        const auto cpu = static_cast<std::size_t>(record.lane);
        if (since[cpu] >= 0) busy[cpu] += at_ns - since[cpu];
        since[cpu] = record.value == kIdleEntity ? -1 : at_ns;
        if (at_ns == end_ns && record.value == kWalkerEntity) since[cpu] = -1;
    }
    return busy;
}

TEST(Timeline, TellsTheBusyTimesOfAllCpus) {
    for (int i = 0; i < kCases; ++i) {
        Dice dice{"told busy", i};
        Scenario scenario = random_world(dice);
        if (dice.chance(50)) scenario.rules.slice_ns = dice.between(1000, 50000);
        const std::string policy = random_version(dice);
        const Result result = run(scenario, policy);
        ASSERT_EQ(busy_told(told(scenario, policy), scenario.cpus.size(), result.elapsed_ns),
                  result.freeze.cpu_busy_ns)
            << i << " " << policy;
    }
}

TEST(Timeline, NeverGoesBack) {
    for (int i = 0; i < kCases; ++i) {
        Dice dice{"timeline", i};
        engine::VectorSink told;
        Model{random_world(dice), parse_policy(random_version(dice))}.run({7, 5}, {}, &told);
        const bool in_order = std::is_sorted(told.records().begin(), told.records().end(),
                                             [](const auto& a, const auto& b) { return a.at < b.at; });
        ASSERT_TRUE(in_order) << i;
    }
}

}  // namespace
}  // namespace torpor::freezer
