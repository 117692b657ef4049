// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

// What the menu governors of every release share.
namespace torpor::idle {

/// Fixed point one of the correction factors, and the weight of one observation: a factor is an exponential
/// average of measured / expected over about eight periods.
inline constexpr std::uint32_t kUnityFactor = 8192;
inline constexpr std::uint32_t kFactorStep = 1024;
/// An idle period of this length or more counts as a perfect prediction.
inline constexpr std::uint32_t kInterestingUs = 50000;
/// What a period that the tick ended is taken for: nine tenths of the above.
inline constexpr std::uint32_t kTickWakeupUs = 45000;
/// Correction buckets per half: below 10 us, 100 us, 1 ms, 10 ms, 100 ms, and the rest.
inline constexpr std::uint32_t kMagnitudes = 6;

/// Bucket of a duration; `unit` is one microsecond in the unit of the duration.
constexpr std::uint32_t magnitude(std::uint64_t duration, std::uint64_t unit) {
    std::uint32_t result = 0;
    for (std::uint64_t border = 10 * unit; border <= 100000 * unit; border *= 10) {
        result += static_cast<std::uint32_t>(duration >= border);
    }
    return result;
}

/// One step of the exponential average of a correction factor.
constexpr std::uint32_t updated_factor(std::uint32_t factor, std::uint64_t measured, std::uint64_t expected,
                                       std::uint64_t interesting) {
    factor -= factor / 8;
    if (expected == 0 || measured >= interesting) return factor + kFactorStep;
    return factor + static_cast<std::uint32_t>(kFactorStep * measured / expected);
}

}  // namespace torpor::idle
