// SPDX-License-Identifier: MIT
#include "torpor/board/board.hpp"

#include <gtest/gtest.h>

#include "sample_board.hpp"
#include "torpor/base/error.hpp"

namespace torpor::board {
namespace {

TEST(Board, CountsTheCpusOfAllClusters) {
    EXPECT_EQ(sample_board().cpu_count(), 4);
}

TEST(Board, WithoutClustersHasNoCpu) {
    EXPECT_EQ(Board{}.cpu_count(), 0);
}

TEST(Board, FindsTheClusterThatHoldsACpu) {
    const Board board = sample_board();
    EXPECT_EQ(board.cluster_of(1).name, "little");
    EXPECT_EQ(board.cluster_of(2).name, "big");
}

TEST(Board, RefusesToNameTheClusterOfACpuThatItDoesNotHave) {
    const Board board = sample_board();
    EXPECT_THROW(board.cluster_of(4), ConfigError);
    EXPECT_THROW(board.cluster_of(-1), ConfigError);
}

TEST(Board, ComparesByValueDownToThePowerOfAState) {
    Board other = sample_board();
    EXPECT_EQ(sample_board(), other);
    other.clusters[1].idle_states[2].power = Power::mw(0.5);
    EXPECT_NE(sample_board(), other);
}

TEST(Board, TellsUnknownPowerFromZeroPower) {
    Board other = sample_board();
    other.clusters[1].idle_states[2].power.reset();
    EXPECT_NE(sample_board(), other);
}

}  // namespace
}  // namespace torpor::board
