// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>

#include "governor_testing.hpp"
#include "torpor/idle/governors/teo_5_5.hpp"
#include "torpor/idle/governors/teo_6_1.hpp"
#include "torpor/idle/governors/teo_6_12.hpp"
#include "torpor/idle/governors/teo_7_1.hpp"

namespace torpor::idle {
namespace {

using testing::hi6220;
using testing::kMs;
using testing::kUs;
using testing::running;
using testing::stopped;

constexpr Selection kKeep(int state) {
    return {state, false};
}
constexpr Selection kStop(int state) {
    return {state, true};
}
constexpr std::int64_t kNotAsked = std::numeric_limits<std::int64_t>::max();

using Bins = std::array<std::uint32_t, 3>;

Bins first_three(const TeoBins& bins) {
    return {bins[0], bins[1], bins[2]};
}

/// The feed of the worked examples: 50 ms to the timer, a running tick, and every period over after 1.2 ms.
template <class Teo>
class Feed {
  public:
    explicit Feed(bool first_update) : governor{table, TickLength{250}, first_update} {}

    Selection next(const SelectInput& shown = running(50 * kMs, 4 * kMs)) {
        SelectInput input = shown;
        input.now_ns = now_ns;
        const Selection selection = governor.select(input, device);
        now_ns += 1230 * kUs;
        device.last_residency_ns = 1200 * kUs;
        governor.reflect(selection.state, false, now_ns, device);
        return selection;
    }

    StateTable table{hi6220()};
    Teo governor;
    Device device;
    std::int64_t now_ns{0};
};

struct Call {
    Selection selection;
    Bins intercepts;
    std::uint32_t total;
};

template <class Teo>
void expect_calls(Feed<Teo>& feed, std::initializer_list<Call> calls) {
    int number = 1;
    for (const Call& call : calls) {
        SCOPED_TRACE("call " + std::to_string(++number));
        EXPECT_EQ(feed.next(), call.selection);
        EXPECT_EQ(first_three(feed.governor.intercepts()), call.intercepts);
        EXPECT_EQ(feed.governor.total(), call.total);
    }
}

TEST(Teo61, LearnsInterceptsAsInTheWorkedExample) {
    Feed<Teo61> feed{false};
    EXPECT_EQ(feed.next(), kStop(2));
    expect_calls(feed, {{kKeep(0), {1024, 0, 0}, 1024},
                        {kKeep(1), {896, 1024, 0}, 1920},
                        {kKeep(0), {1808, 896, 0}, 2704},
                        {kKeep(1), {1582, 1808, 0}, 3390},
                        {kKeep(0), {2409, 1582, 0}, 3991},
                        {kKeep(0), {2108, 2409, 0}, 4517},
                        {kKeep(1), {1845, 3132, 0}, 4977},
                        {kKeep(0), {2639, 2741, 0}, 5380},
                        {kKeep(1), {2310, 3423, 0}, 5733}});
}

TEST(Teo61, IgnoresInterceptsShorterThanATickWhenTheTickIsStopped) {
    Feed<Teo61> feed{false};
    for (int i = 0; i < 10; ++i) feed.next();
    EXPECT_EQ(feed.next(stopped(50 * kMs, 50 * kMs)), kStop(2));
    EXPECT_EQ(first_three(feed.governor.intercepts()), (Bins{3046, 2996, 0}));
    EXPECT_EQ(feed.governor.total(), 6042u);
}

TEST(Teo61, CountsTheBinsOfTheLastNineIntercepts) {
    Feed<Teo61> feed{false};
    feed.next();
    feed.next();
    feed.next();
    EXPECT_EQ(first_three(feed.governor.recent()), (Bins{1, 1, 0}));
    for (int i = 0; i < 4; ++i) feed.next();
    EXPECT_EQ(first_three(feed.governor.recent()), (Bins{3, 3, 0}));
}

TEST(Teo61, BooksOneHitInItsFirstSelectUnlessToldOtherwise) {
    Feed<Teo61> usual{true};
    Feed<Teo61> fresh{false};
    EXPECT_EQ(usual.next(), kStop(2));
    EXPECT_EQ(fresh.next(), kStop(2));
    EXPECT_EQ(first_three(usual.governor.hits()), (Bins{1024, 0, 0}));
    EXPECT_EQ(usual.governor.total(), 1024u);
    EXPECT_EQ(fresh.governor.total(), 0u);
}

TEST(Teo612117, LearnsInterceptsAsInTheWorkedExample) {
    Feed<Teo612117> feed{false};
    EXPECT_EQ(feed.next(), kStop(2));
    expect_calls(feed, {{kKeep(0), {1024, 0, 0}, 1024},
                        {kKeep(1), {896, 1024, 0}, 1920},
                        {kKeep(0), {1808, 896, 0}, 2704},
                        {kKeep(1), {1582, 1808, 0}, 3390},
                        {kKeep(0), {2409, 1582, 0}, 3991},
                        {kKeep(1), {2108, 2409, 0}, 4517},
                        {kKeep(0), {2869, 2108, 0}, 4977},
                        {kKeep(1), {2511, 2869, 0}, 5380},
                        {kKeep(0), {3222, 2511, 0}, 5733}});
    EXPECT_EQ(feed.next(stopped(50 * kMs, 50 * kMs)), kStop(2));
    EXPECT_EQ(first_three(feed.governor.intercepts()), (Bins{2820, 3222, 0}));
    EXPECT_EQ(feed.governor.total(), 6042u);
}

TEST(Teo612117, AsksForTheTimerWhenInterceptsLeadToStateZero) {
    Feed<Teo612117> feed{false};
    feed.next();
    EXPECT_EQ(feed.next(), kKeep(0));
    EXPECT_EQ(feed.governor.sleep_length_ns(), 50 * kMs);
}

TEST(Teo71, LearnsInterceptsAsInTheWorkedExample) {
    Feed<Teo71> feed{false};
    EXPECT_EQ(feed.next(), kKeep(2));
    EXPECT_EQ(feed.governor.total(), 0u);
    expect_calls(
        feed,
        {{kKeep(0), {1024, 0, 0}, 1024}, {kKeep(1), {896, 1024, 0}, 1920}, {kKeep(0), {1808, 896, 0}, 2704}});
    for (int i = 5; i <= 8; ++i) feed.next();
    EXPECT_EQ(feed.next(stopped(50 * kMs, 50 * kMs)), kStop(2));
    EXPECT_EQ(first_three(feed.governor.intercepts()), (Bins{2511, 2869, 0}));
    EXPECT_EQ(feed.governor.total(), 5380u);
    EXPECT_EQ(feed.next(stopped(6 * kMs, 6 * kMs)), kKeep(0));
    EXPECT_EQ(first_three(feed.governor.intercepts()), (Bins{3222, 2511, 0}));
}

TEST(Teo71, DoesNotAskForTheTimerAfterMostlyShortPeriods) {
    Feed<Teo71> feed{false};
    feed.next();
    EXPECT_EQ(feed.next(), kKeep(0));
    EXPECT_EQ(feed.governor.sleep_length_ns(), kNotAsked);
}

TEST(Teo71, StopsTheTickInItsFirstSelectWhenThatBooksAPeriod) {
    Feed<Teo71> feed{true};
    EXPECT_EQ(feed.next(), kStop(2));
}

TEST(Teo55, FollowsThePatternOfEarlyWakeups) {
    Feed<Teo55> feed{false};
    EXPECT_EQ(feed.next(), kStop(2));
    for (int i = 0; i < 12; ++i) feed.next();
    // Eight durations around 1.2 ms less half the latency: too short for cluster off and, on average, for CPU
    // off.
    const Selection selection = feed.next();
    EXPECT_LT(selection.state, 2);
    EXPECT_FALSE(selection.stop_tick);
}

TEST(Teo55, TrustsTheTimerAgainOnceItWasRight) {
    Feed<Teo55> feed{false};
    for (int i = 0; i < 12; ++i) feed.next();
    for (int i = 0; i < 24; ++i) {
        SelectInput input = running(50 * kMs, 4 * kMs);
        input.now_ns = feed.now_ns;
        const Selection selection = feed.governor.select(input, feed.device);
        feed.now_ns += 50 * kMs;
        feed.device.last_residency_ns = 50 * kMs;
        feed.governor.reflect(selection.state, false, feed.now_ns, feed.device);
    }
    EXPECT_EQ(feed.next(), kStop(2));
}

TEST(Teo55, StopsAtTheFirstStateThatIsTooSlowToLeave) {
    SelectInput input = running(50 * kMs, 4 * kMs);
    input.latency_limit_us = 1000;
    EXPECT_EQ(Feed<Teo55>{false}.next(input).state, 2);
    input.latency_limit_us = 900;
    EXPECT_EQ(Feed<Teo55>{false}.next(input).state, 1);
}

template <class Teo>
class AnyTeo : public ::testing::Test {};
using AllTeo = ::testing::Types<Teo55, Teo61, Teo612117, Teo71>;
TYPED_TEST_SUITE(AnyTeo, AllTeo);

TYPED_TEST(AnyTeo, ReturnsStateZeroWhenEverythingIsDisabled) {
    Feed<TypeParam> feed{true};
    SelectInput input = running(50 * kMs, 4 * kMs);
    input.disabled = 0b111;
    EXPECT_EQ(feed.next(input).state, 0);
}

template <class Teo>
class TeoWithTotal : public ::testing::Test {};
using WithTotal = ::testing::Types<Teo61, Teo612117, Teo71>;
TYPED_TEST_SUITE(TeoWithTotal, WithTotal);

std::uint64_t sum_of(const TeoBins& bins) {
    return std::accumulate(bins.begin(), bins.end(), std::uint64_t{0});
}

TYPED_TEST(TeoWithTotal, KeepsWithinTheLatencyLimit) {
    Feed<TypeParam> feed{true};
    SelectInput input = running(50 * kMs, 4 * kMs);
    input.latency_limit_us = 1000;
    EXPECT_EQ(feed.next(input).state, 1);
}

TYPED_TEST(TeoWithTotal, TotalIsTheSumOfAllBinsAfterEachUpdate) {
    const StateTable table = hi6220();
    TypeParam teo{table, TickLength{1000}};
    Device device;
    std::mt19937_64 random{5};
    std::int64_t now_ns = 0;
    for (int i = 0; i < 20000; ++i) {
        SelectInput input = running(static_cast<std::int64_t>(random() % (12 * kMs)), 900 * kUs);
        input.now_ns = now_ns;
        input.tick_stopped = random() % 3 == 0;
        const int state = teo.select(input, device).state;
        std::uint64_t sum = sum_of(teo.hits()) + sum_of(teo.intercepts());
        if constexpr (requires { teo.tick_hits(); }) sum += teo.tick_hits();
        ASSERT_EQ(sum, teo.total());
        if constexpr (requires { teo.recent(); }) {
            ASSERT_LE(sum_of(teo.recent()), 9u);
        }
        device.last_residency_ns = random() % (6 * kMs);
        now_ns += static_cast<std::int64_t>(device.last_residency_ns);
        teo.reflect(state, random() % 4 == 0, now_ns, device);
    }
}

TEST(TeoPollLimit, IsClearedWhenItHasBeenUsed) {
    const StateTable table = testing::polling_table();
    const TickLength tick{1000};
    Device device{.poll_limit_hit = true};
    Teo61 timed{table, tick};
    timed.select(running(1 * kMs, 1 * kMs), device);
    timed.reflect(0, false, 100, device);
    EXPECT_FALSE(device.poll_limit_hit);

    device.poll_limit_hit = true;
    Teo71 untimed{table, tick};
    untimed.reflect(0, false, 100, device);
    EXPECT_TRUE(device.poll_limit_hit);
    untimed.select(running(1 * kMs, 1 * kMs), device);
    EXPECT_FALSE(device.poll_limit_hit);
}

}  // namespace
}  // namespace torpor::idle
