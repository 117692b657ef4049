// SPDX-License-Identifier: MIT
#include "torpor/replicate/crew.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "torpor/base/error.hpp"

namespace torpor::replicate::detail {
namespace {

std::string refusal(std::int64_t first, std::int64_t replicates, int threads) {
    try {
        checked_threads(first, replicates, threads);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "accepted";
}

TEST(CheckedThreads, RefusesRequestsThatMakeNoSense) {
    EXPECT_EQ(refusal(0, 0, 1), "replicates=0: must be at least 1");
    EXPECT_EQ(refusal(0, -3, 1), "replicates=-3: must be at least 1");
    EXPECT_EQ(refusal(-1, 1, 1), "first=-1: must be at least 0");
    EXPECT_EQ(refusal(0, 1, -1), "threads=-1: must be 0 (all cores) to 4096");
    EXPECT_EQ(refusal(0, 1, 4097), "threads=4097: must be 0 (all cores) to 4096");
    EXPECT_EQ(refusal(0, 1, 4096), "accepted");
}

TEST(CheckedThreads, TakesEveryCpuForZero) {
    EXPECT_EQ(checked_threads(0, 1000000, 0), available_threads());
    EXPECT_GE(available_threads(), 1);
}

TEST(CheckedThreads, NeverStartsMoreThanThereIsWorkFor) {
    EXPECT_EQ(checked_threads(0, 3, 8), 3);
}

TEST(Dispenser, GivesEachReplicateOnceAndInOrder) {
    for (const std::int64_t count : {1, 2, 7, 100, 12345}) {
        for (const int threads : {1, 2, 16}) {
            Dispenser dispenser{count, threads};
            std::int64_t expected = 0;
            for (Chunk chunk = dispenser.next(); chunk.begin != chunk.end; chunk = dispenser.next()) {
                ASSERT_EQ(chunk.begin, expected);
                ASSERT_GT(chunk.end, chunk.begin);
                expected = chunk.end;
            }
            ASSERT_EQ(expected, count);
        }
    }
}

TEST(Dispenser, GivesLargeChunksFirstAndSingleOnesLast) {
    Dispenser dispenser{16000, 2};
    EXPECT_EQ(dispenser.next().end, 1000);
    std::int64_t last = 0;
    int chunks = 1;
    for (Chunk chunk = dispenser.next(); chunk.begin != chunk.end; chunk = dispenser.next()) {
        last = chunk.end - chunk.begin;
        ++chunks;
    }
    EXPECT_EQ(last, 1);
    EXPECT_LT(chunks, 200);
}

}  // namespace
}  // namespace torpor::replicate::detail
