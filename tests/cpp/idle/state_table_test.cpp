// SPDX-License-Identifier: MIT
#include "torpor/idle/state_table.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "governor_testing.hpp"
#include "torpor/base/error.hpp"

namespace torpor::idle {
namespace {

TEST(StateTable, HoldsTimesInNanosecondsAndWholeMicroseconds) {
    const std::vector<GovernorState> states{{1999, 2001, true}};
    const StateTable table{states};
    EXPECT_EQ(table.count(), 1);
    EXPECT_EQ(table.latency_ns(0), 1999);
    EXPECT_EQ(table.latency_us(0), 1u);
    EXPECT_EQ(table.residency_us(0), 2u);
    EXPECT_TRUE(table.polling(0));
}

TEST(StateTable, TimesBeyond32BitsOfMicrosecondsSaturate) {
    const std::vector<GovernorState> states{{0, std::numeric_limits<std::int64_t>::max()}};
    EXPECT_EQ(StateTable{states}.residency_us(0), std::numeric_limits<std::uint32_t>::max());
}

TEST(StateTable, RejectsNoStatesTooManyAndNegativeTimes) {
    EXPECT_THROW(StateTable{std::vector<GovernorState>{}}, ConfigError);
    EXPECT_THROW(StateTable{std::vector<GovernorState>(11)}, ConfigError);
    EXPECT_NO_THROW(StateTable{std::vector<GovernorState>(10)});
    const std::vector<GovernorState> negative{{0, 0}, {1, -1}};
    try {
        StateTable{negative};
        FAIL();
    } catch (const ConfigError& error) {
        EXPECT_EQ(error.key(), "states[1].target_residency_ns");
    }
}

TEST(TickLength, RoundsToTheNearestUnit) {
    EXPECT_EQ(TickLength{1000}.ns, 1000000);
    EXPECT_EQ(TickLength{300}.ns, 3333333);
    EXPECT_EQ(TickLength{300}.us, 3333);
    EXPECT_EQ(TickLength{7}.us, 142857);
    EXPECT_EQ(TickLength{6}.us, 166667);
}

TEST(TickLength, RejectsFrequenciesOutsideOneToTenThousand) {
    EXPECT_THROW(TickLength{0}, ConfigError);
    EXPECT_THROW(TickLength{-250}, ConfigError);
    EXPECT_THROW(TickLength{10001}, ConfigError);
    EXPECT_NO_THROW(TickLength{10000});
}

}  // namespace
}  // namespace torpor::idle
