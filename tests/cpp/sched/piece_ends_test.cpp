// SPDX-License-Identifier: MIT
#include "torpor/sched/piece_ends.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace torpor::sched {
namespace {

constexpr std::int64_t kDay = 86'400'000'000'000;

TEST(PieceEnds, OfCpusThatShareTheirCapacityAreRightAfterManyDays) {
    PieceEnds ends{2, 1.0};
    ends.reset(0);
    ends.set_busy(0, 1);
    for (std::int64_t day = 0; day < 400; ++day) {
        const std::int64_t now_ns = day * kDay;
        ends.set(0, ends.after(now_ns, now_ns, kDay), kUnbounded, 1);
        ASSERT_EQ(ends.next_ns(), now_ns + kDay) << "day " << day;
        ends.set_busy(now_ns + kDay, 1);
        ends.clear(0);
    }
}

TEST(PieceEnds, OfCpusThatShareTheirCapacityKeepWhatIsLeft) {
    PieceEnds ends{2, 1.0};
    ends.reset(0);
    ends.set_busy(0, 1);
    ends.set(0, ends.after(0, 0, kDay), kUnbounded, 1);
    for (std::int64_t hour = 1; hour < 24; ++hour) {
        ends.set_busy(hour * kDay / 24, 1);
        EXPECT_EQ(ends.left_ns(0, hour * kDay / 24, 0, kDay), kDay - hour * kDay / 24);
        EXPECT_EQ(ends.next_ns(), kDay);
    }
}

}  // namespace
}  // namespace torpor::sched
