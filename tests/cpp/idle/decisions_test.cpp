// SPDX-License-Identifier: MIT
#include "torpor/idle/decisions.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "governor_testing.hpp"
#include "torpor/base/error.hpp"
#include "torpor/idle/governors/typical_interval.hpp"

namespace torpor::idle {
namespace {

using testing::hi6220;
using testing::kMs;

/// Twelve equal rows that a test may change.
struct Sequence {
    static constexpr std::size_t kRows = 12;

    std::vector<std::int64_t> sleep = std::vector<std::int64_t>(kRows, 20 * kMs);
    std::vector<std::int64_t> event = std::vector<std::int64_t>(kRows, 4 * kMs);
    std::vector<std::uint8_t> stopped = std::vector<std::uint8_t>(kRows, 0);
    std::vector<std::int64_t> limit = std::vector<std::int64_t>(kRows, kNoLatencyLimitUs);
    std::vector<std::uint64_t> residency = std::vector<std::uint64_t>(kRows, 3 * kMs);
    std::vector<std::int32_t> entered = std::vector<std::int32_t>(kRows, kEnterSelected);

    std::vector<std::int32_t> state = std::vector<std::int32_t>(kRows);
    std::vector<std::uint8_t> stop = std::vector<std::uint8_t>(kRows);
    std::vector<Inspection> inspections = std::vector<Inspection>(kRows);

    void decide(const char* policy) {
        const StateTable table = hi6220();
        idle::decide(parse_policy(policy), table, TickLength{250},
                     {.sleep_length_ns = sleep,
                      .next_event_ns = event,
                      .tick_stopped = stopped,
                      .latency_limit_us = limit,
                      .residency_ns = residency,
                      .entered = entered},
                     {state, stop, inspections});
    }
};

std::string message_after(const std::function<void(Sequence&)>& change) {
    Sequence sequence;
    change(sequence);
    try {
        sequence.decide("menu");
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "accepted";
}

TEST(Decisions, StartWithAColdGovernorEachTime) {
    Sequence first;
    first.decide("menu(version=4.18)");
    Sequence second;
    second.decide("menu(version=4.18)");
    EXPECT_EQ(first.state, second.state);
    EXPECT_EQ(first.state.front(), 0);
    EXPECT_EQ(first.state.back(), 2);
}

TEST(Decisions, RefusedEntryLeavesNothingToBookButAnInvalidInterval) {
    Sequence sequence;
    sequence.entered.assign(Sequence::kRows, kEnterRefused);
    sequence.decide("menu(version=6.1.192)");
    EXPECT_EQ(sequence.inspections.front().typical_us, 0);
    EXPECT_EQ(sequence.inspections.back().typical_us, std::int64_t{kNoTypicalInterval});
    EXPECT_EQ(sequence.inspections.back().factor, 8192);
}

TEST(Decisions, StateThatTheDriverEnteredInsteadIsTheOneBooked) {
    Sequence shallow;
    shallow.entered.assign(Sequence::kRows, 0);
    shallow.decide("menu(version=4.18)");
    EXPECT_EQ(shallow.inspections.back().typical_us, 2999);
    Sequence deep;
    deep.entered.assign(Sequence::kRows, 2);
    deep.decide("menu(version=4.18)");
    EXPECT_EQ(deep.inspections.back().typical_us, 1500);
}

TEST(Decisions, FiguresThatAGovernorLacksAreMinusOne) {
    Sequence sequence;
    sequence.decide("ladder");
    EXPECT_EQ(sequence.inspections.back(), Inspection{});
    sequence.decide("teo");
    EXPECT_EQ(sequence.inspections.back().bucket, -1);
    EXPECT_GT(sequence.inspections.back().total, 0);
}

TEST(Decisions, BadInputIsNamedByRowAndColumn) {
    EXPECT_EQ(message_after([](Sequence& s) { s.entered[7] = 3; }),
              "row 7, column enter: 3 is out of range; it must be -2..2");
    EXPECT_EQ(message_after([](Sequence& s) { s.stopped[2] = 2; }),
              "row 2, column stopped: 2 is out of range; it must be 0..1");
    EXPECT_EQ(message_after([](Sequence& s) { s.limit[0] = -1; }),
              "row 0, column lat_us: -1 is out of range; it must be 0..2147483647");
}

TEST(Decisions, ColumnsMustHaveOneLength) {
    EXPECT_EQ(message_after([](Sequence& s) { s.residency.pop_back(); }),
              "resid_ns: has 11 rows, but sleep_ns has 12");
    EXPECT_EQ(message_after([](Sequence& s) { s.state.pop_back(); }),
              "state: has 11 rows, but sleep_ns has 12");
}

TEST(Decisions, BoundsAreRefused) {
    Sequence sequence;
    EXPECT_THROW(sequence.decide("oracle"), ConfigError);
}

}  // namespace
}  // namespace torpor::idle
