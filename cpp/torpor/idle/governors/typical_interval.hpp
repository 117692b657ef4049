// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

// The typical interval of menu: do the last eight idle periods, without outliers, repeat? Whole microseconds.
// Three versions: A up to 6.5, A' after it, B from 6.15 on. All divisions truncate and all sums are modulo
// 2^64, as in the kernel; that makes the incremental sums kept here exact, whatever the values.
namespace torpor::idle {

/// Also what the kernels with the push of invalid intervals store for a refused entry.
inline constexpr std::uint32_t kNoTypicalInterval = std::numeric_limits<std::uint32_t>::max();

/// The last eight idle durations with their sum and sum of squares.
class IntervalHistory {
  public:
    static constexpr std::size_t kLength = 8;

    void push(std::uint32_t interval_us) {
        const std::uint64_t added = interval_us;
        const std::uint64_t dropped = values_[position_];
        sum_ += added - dropped;
        squares_ += added * added - dropped * dropped;
        values_[position_] = interval_us;
        position_ = (position_ + 1) % kLength;
    }

    const std::array<std::uint32_t, kLength>& values() const { return values_; }
    /// Slot that the next push overwrites.
    std::size_t position() const { return position_; }
    std::uint64_t sum() const { return sum_; }
    std::uint64_t squares() const { return squares_; }

  private:
    std::array<std::uint32_t, kLength> values_{};
    std::size_t position_{0};
    std::uint64_t sum_{0};
    std::uint64_t squares_{0};
};

namespace detail {

/// Verdict on one set of intervals.
struct Round {
    std::uint64_t average;
    bool steady;
};

/// A set of `count` intervals is steady when its standard deviation is below a sixth of the average (only if
/// at least six are left) or below 20 us. The kernel divides the sum of squared deviations and compares the
/// truncated variance; here both sides are multiplied out, which gives the same answer with divisions by
/// constants only.
constexpr Round judge(std::uint64_t count, std::uint64_t sum, std::uint64_t squares) {
    const std::uint64_t average = sum / count;
    const std::uint64_t deviations = squares - 2 * average * sum + count * average * average;
    const std::uint64_t largest = (average * average + 35) / 36;
    const bool relative = count >= 6 && deviations < largest * count;
    return {average, relative || deviations < 401 * count};
}

/// Version A in general: any threshold, any number of equal maxima. With `ignore_zeros` it is A'.
inline std::uint32_t typical_in_rounds(const IntervalHistory& history, std::uint64_t threshold,
                                       bool ignore_zeros) {
    for (;;) {
        std::uint64_t count = 0, sum = 0, squares = 0, largest = 0;
        for (const std::uint64_t value : history.values()) {
            if (value > threshold) continue;
            ++count;
            sum += value;
            squares += value * value;
            largest = std::max(largest, value);
        }
        if (count == 0 || (ignore_zeros && largest == 0)) return kNoTypicalInterval;
        const Round round = judge(count, sum, squares);
        if (round.steady) return static_cast<std::uint32_t>(round.average);
        // Fewer than three quarters left. A zero maximum is always steady, so the threshold stays above zero.
        if (count <= 6) return kNoTypicalInterval;
        threshold = largest - 1;
    }
}

template <bool kIgnoreZeros>
std::uint32_t typical_high_outliers(const IntervalHistory& history, std::uint32_t threshold) {
    std::uint64_t first = 0, second = 0, third = 0;
    for (const std::uint64_t value : history.values()) {
        const std::uint64_t below_first = std::min(first, value);
        first = std::max(first, value);
        const std::uint64_t below_second = std::min(second, below_first);
        second = std::max(second, below_first);
        third = std::max(third, below_second);
    }
    // Equal maxima leave together, and so do those above the threshold: count again in each round.
    if (first == second || second == third || first > threshold) [[unlikely]] {
        return typical_in_rounds(history, threshold, kIgnoreZeros);
    }
    // The usual case: at most two intervals can go, one per round. All three verdicts at once, since which of
    // them counts is a coin toss for the branch predictor.
    const std::uint64_t sum7 = history.sum() - first;
    const std::uint64_t squares7 = history.squares() - first * first;
    const Round eight = judge(8, history.sum(), history.squares());
    const Round seven = judge(7, sum7, squares7);
    const Round six = judge(6, sum7 - second, squares7 - second * second);
    const bool six_counts = six.steady && (!kIgnoreZeros || third > 0);
    std::uint64_t typical = six_counts ? six.average : kNoTypicalInterval;
    typical = seven.steady ? seven.average : typical;
    typical = eight.steady ? eight.average : typical;
    return static_cast<std::uint32_t>(typical);
}

}  // namespace detail

/// Largest interval that counts from 4.20 on, until version B. Before, every interval does.
inline constexpr std::uint32_t kIntervalThreshold = std::numeric_limits<std::int32_t>::max();

/// Version A: drops the largest intervals until the rest is steady. A history of zeros is a typical interval
/// of zero.
inline std::uint32_t typical_interval_a(const IntervalHistory& history, std::uint32_t threshold) {
    return detail::typical_high_outliers<false>(history, threshold);
}

/// Version A': as A, but zeros alone are no pattern.
inline std::uint32_t typical_interval_a_prime(const IntervalHistory& history) {
    return detail::typical_high_outliers<true>(history, kIntervalThreshold);
}

/// Version B: drops one value at a time from the side that lies farther from the average.
inline std::uint32_t typical_interval_b(const IntervalHistory& history) {
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max() / 36;
    std::int64_t low = -1;
    std::int64_t high = kNoTypicalInterval;
    for (;;) {
        std::uint64_t count = 0, sum = 0, squares = 0;
        std::int64_t smallest = high;
        std::int64_t largest = 0;
        for (const std::int64_t value : history.values()) {
            if (value <= low || value >= high) continue;
            const auto magnitude = static_cast<std::uint64_t>(value);
            ++count;
            sum += magnitude;
            squares += magnitude * magnitude;
            smallest = std::min(smallest, value);
            largest = std::max(largest, value);
        }
        if (largest == 0) return kNoTypicalInterval;
        // Mean of the squares less the square of the truncated mean: larger than the variance of version A.
        const std::uint64_t average = sum / count;
        const std::uint64_t variance = squares / count - average * average;
        const bool relative = count >= 6 && average * average > 36 * variance;
        if (variance <= kMost && (relative || variance <= 400)) return static_cast<std::uint32_t>(average);
        if (count <= 6) return kNoTypicalInterval;
        const auto middle = static_cast<std::int64_t>(average);
        if (middle - smallest > largest - middle) {
            low = smallest;
        } else {
            high = largest;
        }
    }
}

}  // namespace torpor::idle
