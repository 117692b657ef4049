// SPDX-License-Identifier: MIT
#include "torpor/idle/governors/typical_interval.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>

namespace torpor::idle {
namespace {

using Intervals = std::array<std::uint32_t, 8>;

IntervalHistory history_of(const Intervals& intervals_us) {
    IntervalHistory history;
    for (const std::uint32_t interval_us : intervals_us) history.push(interval_us);
    return history;
}

std::uint32_t a(const Intervals& intervals) {
    return typical_interval_a(history_of(intervals), kNoTypicalInterval);
}
std::uint32_t a_prime(const Intervals& intervals) {
    return typical_interval_a_prime(history_of(intervals));
}
std::uint32_t b(const Intervals& intervals) {
    return typical_interval_b(history_of(intervals));
}

struct Example {
    Intervals intervals;
    std::uint32_t a;
    std::uint32_t b;
};

class TypicalIntervalExample : public ::testing::TestWithParam<Example> {};

TEST_P(TypicalIntervalExample, VersionAGivesTheWorkedResult) {
    EXPECT_EQ(a(GetParam().intervals), GetParam().a);
}

TEST_P(TypicalIntervalExample, VersionAPrimeAgreesWithA) {
    EXPECT_EQ(a_prime(GetParam().intervals), GetParam().a);
}

TEST_P(TypicalIntervalExample, VersionBGivesTheWorkedResult) {
    EXPECT_EQ(b(GetParam().intervals), GetParam().b);
}

constexpr std::uint32_t kNone = kNoTypicalInterval;

INSTANTIATE_TEST_SUITE_P(
    Worked, TypicalIntervalExample,
    ::testing::Values(
        Example{{34726, 984, 984, 984, 984, 984, 984, 984}, 984, 984},            // one long gap
        Example{{45000, 984, 45000, 984, 45000, 984, 984, 984}, 984, 984},        // three equal ones
        Example{{201, 758, 192, 769, 179, 782, 169, 792}, kNone, kNone},          // two modes
        Example{{485, 476, 472, 490, 463, 498, 497, 464}, 480, 480},              // one mode
        Example{{45000, 45000, 45000, 490, 463, 498, 45000, 45000}, 483, kNone},  // A and B disagree
        Example{{20, 1000, 1010, 990, 1005, 995, 1000, 1000}, kNone, 1000}));     // low outlier

TEST(TypicalInterval, VersionATakesAHistoryOfZerosForAPatternAndTheOthersDoNot) {
    const Intervals zeros{};
    EXPECT_EQ(a(zeros), 0u);
    EXPECT_EQ(a_prime(zeros), kNone);
    EXPECT_EQ(b(zeros), kNone);
}

TEST(TypicalInterval, InvalidIntervalsNeverCountAboveTheThreshold) {
    const auto history = history_of({kNone, kNone, kNone, kNone, kNone, 700, 700, 700});
    EXPECT_EQ(typical_interval_a(history, kIntervalThreshold), 700u);
    EXPECT_EQ(typical_interval_a_prime(history), 700u);
    EXPECT_EQ(a({kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone}), kNone);
}

TEST(IntervalHistory, ReplacesTheOldestIntervalAndWrapsItsPosition) {
    auto history = history_of({1, 2, 3, 4, 5, 6, 7, 8});
    EXPECT_EQ(history.position(), 0u);
    history.push(9);
    EXPECT_EQ(history.position(), 1u);
    EXPECT_EQ(history.values(), (Intervals{9, 2, 3, 4, 5, 6, 7, 8}));
    EXPECT_EQ(history.sum(), 44u);
}

/// Version A as one would write it down: round by round, with plain divisions.
std::uint32_t plain_a(const Intervals& intervals, std::uint64_t threshold) {
    for (;;) {
        std::uint64_t count = 0, sum = 0, largest = 0;
        for (const std::uint64_t x : intervals) {
            if (x > threshold) continue;
            ++count;
            sum += x;
            largest = std::max(largest, x);
        }
        if (count == 0) return kNone;
        const std::uint64_t average = sum / count;
        std::uint64_t variance = 0;
        for (const std::uint64_t x : intervals) {
            if (x <= threshold) variance += (x - average) * (x - average);
        }
        variance /= count;
        const bool relative = average * average > 36 * variance && 4 * count >= 24;
        if (variance <= UINT64_MAX / 36 && (relative || variance <= 400))
            return static_cast<std::uint32_t>(average);
        if (4 * count <= 24) return kNone;
        threshold = largest - 1;
    }
}

TEST(TypicalInterval, TheIncrementalSumsGiveWhatPlainArithmeticGives) {
    std::mt19937_64 random{1};
    IntervalHistory history;
    int found = 0;
    for (std::uint64_t i = 0; i < 200000; ++i) {
        // Runs of similar intervals with outliers, equal maxima, zeros and 32-bit extremes in between.
        const std::uint64_t r = random();
        const std::uint64_t centre = (random() % 3 == 0 ? 20 : 1000) + (i / 64) % 7;
        std::uint64_t value = centre + r % (1 + centre / 4);
        if (r % 11 == 0) value = 45000;
        if (r % 13 == 0) value = r >> 32;
        if (r % 17 == 0) value = 0;
        if (r % 19 == 0) value = kNone;
        history.push(static_cast<std::uint32_t>(value));
        const std::uint32_t threshold = i % 2 == 0 ? kNone : kIntervalThreshold;
        const std::uint32_t expected = plain_a(history.values(), threshold);
        ASSERT_EQ(typical_interval_a(history, threshold), expected) << "push " << i;
        found += expected != kNone;
    }
    EXPECT_GT(found, 1000);
    EXPECT_LT(found, 199000);
}

}  // namespace
}  // namespace torpor::idle
