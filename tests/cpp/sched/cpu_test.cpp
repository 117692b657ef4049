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
    // The little ones do 400/1024 of the big ones' work at 1600 MHz with their 500 MHz.
    const std::vector<Cpu> expected{{500 * kMHz, 400, 1, 0, 625 * kMHz},
                                    {1600 * kMHz, 1024, 0, 0, 1600 * kMHz},
                                    {500 * kMHz, 400, 1, 0, 625 * kMHz},
                                    {1600 * kMHz, 1024, 0, 0, 1600 * kMHz}};
    EXPECT_EQ(cpus_of(two_clusters(), {1, 0}), expected);
}

std::int64_t rate_of(const board::Board& board, const std::vector<std::size_t>& opps, std::size_t cpu) {
    return cpus_of(board, opps).at(cpu).rate_hz();
}

TEST(CpusOf, MeasuresWorkInCyclesOfTheBiggestClusterAtItsHighestFrequency) {
    board::Board board = two_clusters();
    board.clusters[1] = cluster("little", {0, 2}, 400, {250, 500});
    // Each at either point: 800 and 1600; 250 and 500 times 400/1024 times 1600/500.
    EXPECT_EQ(rate_of(board, {0, 0}, 1), 800 * kMHz);
    EXPECT_EQ(rate_of(board, {1, 0}, 1), 1600 * kMHz);
    EXPECT_EQ(rate_of(board, {0, 0}, 0), 312'500'000);
    EXPECT_EQ(rate_of(board, {1, 1}, 0), 625 * kMHz);
}

TEST(CpusOf, TakesTheBiggestClusterWhereverItIs) {
    board::Board board = two_clusters();
    board.clusters = {cluster("little", {0}, 512, {1800}), cluster("big", {1}, 1024, {500, 2000}),
                      cluster("middle", {2}, 768, {1000})};
    EXPECT_EQ(rate_of(board, {0, 0, 0}, 0), 1000 * kMHz);
    EXPECT_EQ(rate_of(board, {0, 0, 0}, 1), 500 * kMHz);
    EXPECT_EQ(rate_of(board, {0, 0, 0}, 2), 1500 * kMHz);
}

TEST(CpusOf, RoundsTheRateToTheNearestHertz) {
    board::Board board = two_clusters();
    board.clusters = {cluster("big", {0}, 7, {1000}), cluster("little", {1}, 3, {1000}),
                      cluster("least", {2}, 2, {1000})};
    EXPECT_EQ(rate_of(board, {0, 0, 0}, 1), 428'571'429);  // 428571428.57
    EXPECT_EQ(rate_of(board, {0, 0, 0}, 2), 285'714'286);  // 285714285.71
}

TEST(Cpu, WorksAtItsFrequencyUnlessARateIsGiven) {
    EXPECT_EQ((Cpu{kMHz, 1024, 0, 0}).rate_hz(), kMHz);
    EXPECT_EQ((Cpu{kMHz, 1024, 0, 0, 500}).rate_hz(), 500);
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
    EXPECT_EQ(complaint({{kMHz, 1, 0, 0, -1}}), "cpus[0].work_hz=-1: must be 0 or more");
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
