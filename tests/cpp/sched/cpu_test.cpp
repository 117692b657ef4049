// SPDX-License-Identifier: MIT
#include "torpor/sched/cpu.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "torpor/base/distributions.hpp"
#include "torpor/base/error.hpp"

namespace torpor::sched {
namespace {

constexpr std::int64_t kMHz = 1'000'000;

board::Cluster cluster(std::string name, std::vector<int> cpus, int capacity,
                       const std::vector<std::int64_t>& mhz) {
    board::Cluster made;
    made.name = std::move(name);
    made.cpus = std::move(cpus);
    made.capacity = capacity;
    for (const std::int64_t each : mhz) made.opps.push_back({Frequency::hz(each * kMHz), {}, {}});
    return made;
}

board::Board two_clusters() {
    board::Board board;
    board.name = "two";
    board.clusters = {cluster("big", {1, 3}, 1024, {800, 1600}), cluster("little", {0, 2}, 400, {500})};
    return board;
}

std::string complaint(const std::vector<Cpu>& cpus) {
    try {
        validate(cpus);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

TEST(CpusOf, OrdersByCpuNumberAndTakesTheChosenOperatingPoint) {
    const std::vector<Cpu> expected{{500 * kMHz, 400, 1, 0},
                                    {1600 * kMHz, 1024, 0, 0},
                                    {500 * kMHz, 400, 1, 0},
                                    {1600 * kMHz, 1024, 0, 0}};
    EXPECT_EQ(cpus_of(two_clusters(), {1, 0}), expected);
}

TEST(CpusOf, NeedsOnePointPerCluster) {
    EXPECT_THROW(cpus_of(two_clusters(), {1}), ConfigError);
    EXPECT_THROW(cpus_of(two_clusters(), {1, 0, 0}), ConfigError);
}

TEST(CpusOf, RefusesAPointThatTheClusterDoesNotHave) {
    try {
        cpus_of(two_clusters(), {0, 1});
        FAIL();
    } catch (const ConfigError& error) {
        EXPECT_STREQ(error.what(), "opps[1]=1: cluster 'little' has operating points 0..0");
    }
    board::Board bare = two_clusters();
    bare.clusters[0].opps.clear();
    EXPECT_THROW(cpus_of(bare, {0, 0}), ConfigError);
}

TEST(ValidateCpus, AcceptsOneCpuAndTheMostThereMayBe) {
    EXPECT_EQ(complaint({{1, 1, 0, 0}}), "");
    EXPECT_EQ(complaint(std::vector<Cpu>(kMaxCpus, Cpu{kMHz, 1024, 0, 10'000})), "");
}

TEST(ValidateCpus, RefusesNoneAndTooMany) {
    EXPECT_EQ(complaint({}), "cpus=0: there must be 1..8192 CPUs");
    EXPECT_EQ(complaint(std::vector<Cpu>(kMaxCpus + 1, Cpu{kMHz, 1024, 0, 0})),
              "cpus=8193: there must be 1..8192 CPUs");
}

TEST(ValidateCpus, NamesTheCpuTheFieldAndTheLimit) {
    const Cpu good{kMHz, 1024, 0, 0};
    EXPECT_EQ(complaint({good, {0, 1024, 0, 0}}), "cpus[1].freq_hz=0: must be above 0");
    EXPECT_EQ(complaint({{kMHz, 0, 0, 0}}), "cpus[0].capacity=0: must be above 0");
    EXPECT_EQ(complaint({{kMHz, 1, -1, 0}}), "cpus[0].cluster=-1: must be 0 or more");
    EXPECT_EQ(complaint({{kMHz, 1, 0, -1}}).rfind("cpus[0].wake_latency_ns=-1: must be 0..", 0), 0U);
}

TEST(CyclesToNs, IsExactWhereTheClockDividesASecond) {
    EXPECT_EQ(cycles_to_ns(140, 200 * kMHz), 700);
    EXPECT_EQ(cycles_to_ns(7500, 200 * kMHz), 37'500);
    EXPECT_EQ(cycles_to_ns(1000, 1000 * kMHz), 1000);
    EXPECT_EQ(cycles_to_ns(0, kMHz), 0);
}

TEST(CyclesToNs, RoundsToTheNearestAndHalvesUp) {
    EXPECT_EQ(cycles_to_ns(140, 1700 * kMHz), 82);    // 82.35
    EXPECT_EQ(cycles_to_ns(1500, 1700 * kMHz), 882);  // 882.35
    EXPECT_EQ(cycles_to_ns(1, 2000 * kMHz), 1);       // 0.5
    EXPECT_EQ(cycles_to_ns(3, 2000 * kMHz), 2);       // 1.5
    EXPECT_EQ(cycles_to_ns(1, 3000 * kMHz), 0);       // 0.33
    EXPECT_EQ(cycles_to_ns(2, 3000 * kMHz), 1);       // 0.67
}

TEST(CyclesToNs, DoesNotOverflow) {
    EXPECT_EQ(cycles_to_ns(4'000'000'000'000'000'000, 1000 * kMHz), 4'000'000'000'000'000'000);
    EXPECT_EQ(cycles_to_ns(std::numeric_limits<std::int64_t>::max(), 1), kLongestDraw.count());
    EXPECT_EQ(cycles_to_ns(1, std::numeric_limits<std::int64_t>::max()), 0);
}

}  // namespace
}  // namespace torpor::sched
