// SPDX-License-Identifier: MIT
#include "torpor/idle/workload.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "torpor/idle/tick.hpp"

namespace torpor::idle {
namespace {

std::vector<std::int64_t> draw(const Arrivals& arrivals, std::size_t count, std::uint64_t replicate = 0) {
    ArrivalStream stream{arrivals, RandomStream{StreamKey{1, replicate}, "test"}};
    std::vector<std::int64_t> times_ns;
    for (std::size_t i = 0; i < count; ++i) times_ns.push_back(stream.next_ns());
    return times_ns;
}

double mean_gap_ns(const Arrivals& arrivals, std::size_t count) {
    return static_cast<double>(draw(arrivals, count).back()) / static_cast<double>(count);
}

TEST(ArrivalStream, PeriodicWithoutChanceIsExact) {
    EXPECT_EQ(draw(PeriodicArrivals{100, 7, 0, 0}, 3), (std::vector<std::int64_t>{7, 107, 207}));
}

TEST(ArrivalStream, PeriodicJitterOnlyLengthensGaps) {
    const auto times_ns = draw(PeriodicArrivals{1000, 0, 500, 60}, 2000);
    EXPECT_LE(times_ns.front(), 500);
    std::int64_t least = 2000;
    std::int64_t most = 0;
    for (std::size_t i = 1; i < times_ns.size(); ++i) {
        least = std::min(least, times_ns[i] - times_ns[i - 1]);
        most = std::max(most, times_ns[i] - times_ns[i - 1]);
    }
    EXPECT_EQ(least, 1000);
    EXPECT_EQ(most, 1060);
}

// The mean of n exponential gaps has a standard error of mean / sqrt(n); five of them.
TEST(ArrivalStream, PoissonGapsHaveTheirMean) {
    EXPECT_NEAR(mean_gap_ns(PoissonArrivals{1000000}, 40000), 1e6, 5e6 / 200);
}

// exp(sigma^2 / 2) is the ratio of mean to median; the relative standard error of the mean is 1.3 / sqrt(n)
// at sigma 1.
TEST(ArrivalStream, LognormalGapsHaveTheirMean) {
    EXPECT_NEAR(mean_gap_ns(LognormalArrivals{1000000, 1.0}, 40000), 1648721, 5 * 1.3 / 200 * 1648721);
}

TEST(ArrivalStream, BurstsStayWithinTheirLimits) {
    const auto times_ns = draw(BurstyArrivals{1000000, 2000000, 10, 20, 3, 3}, 300);
    for (std::size_t i = 1; i < times_ns.size(); ++i) {
        const std::int64_t gap_ns = times_ns[i] - times_ns[i - 1];
        if (i % 3 == 0) {
            EXPECT_GE(gap_ns, 1000000);
            EXPECT_LE(gap_ns, 2000000);
        } else {
            EXPECT_GE(gap_ns, 10);
            EXPECT_LE(gap_ns, 20);
        }
    }
}

TEST(ArrivalStream, ARecordingEndsWithNoTimer) {
    EXPECT_EQ(draw(RecordedArrivals{{3, 3, 9}}, 5), (std::vector<std::int64_t>{3, 3, 9, kNoTimer, kNoTimer}));
}

TEST(ArrivalStream, ReplicatesDiffer) {
    EXPECT_NE(draw(PoissonArrivals{1000}, 4, 0), draw(PoissonArrivals{1000}, 4, 1));
}

}  // namespace
}  // namespace torpor::idle
