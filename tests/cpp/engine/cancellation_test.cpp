// SPDX-License-Identifier: MIT
#include "torpor/engine/cancellation.hpp"

#include <gtest/gtest.h>

namespace torpor::engine {
namespace {

int steps_until_cancelled(StopCheck check, int limit) {
    for (int step = 1; step <= limit; ++step) {
        try {
            check.step();
        } catch (const Cancelled&) {
            return step;
        }
    }
    return 0;
}

TEST(StopCheck, StopsWithinOneIntervalOfTheWish) {
    std::stop_source source;
    source.request_stop();
    EXPECT_EQ(steps_until_cancelled(StopCheck{source.get_token()}, 10000), StopCheck::kInterval);
    EXPECT_EQ(steps_until_cancelled(StopCheck{source.get_token(), 10}, 10000), 10);
}

TEST(StopCheck, HearsAWishThatComesLate) {
    std::stop_source source;
    StopCheck check{source.get_token(), 4};
    for (int i = 0; i < 9; ++i) check.step();
    source.request_stop();
    EXPECT_NO_THROW(check.step());
    EXPECT_NO_THROW(check.step());
    EXPECT_THROW(check.step(), Cancelled);
}

TEST(StopCheck, LetsARunGoOnThatNobodyStops) {
    std::stop_source source;
    EXPECT_EQ(steps_until_cancelled(StopCheck{source.get_token()}, 10000), 0);
    EXPECT_EQ(steps_until_cancelled(StopCheck{std::stop_token{}}, 10000), 0);
}

TEST(StopCheck, LooksAtOnceWhenAsked) {
    std::stop_source source;
    const StopCheck check{source.get_token()};
    EXPECT_NO_THROW(check.check());
    source.request_stop();
    EXPECT_THROW(check.check(), Cancelled);
}

}  // namespace
}  // namespace torpor::engine
