// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace torpor::idle {

/// What a governor believed right after a select, for debugging one decision at a time; -1 where it has no
/// such figure.
struct Inspection {
    /// Typical interval of menu's history, microseconds; 4294967295 when there is none.
    std::int64_t typical_us{-1};
    /// menu's predicted idle duration in its own unit: microseconds up to 5.4, then nanoseconds. Stale after
    /// an early return.
    std::int64_t predicted{-1};
    /// menu's correction bucket, and the factor in it (8192 is unity).
    std::int64_t bucket{-1};
    std::int64_t factor{-1};
    /// Sum of teo's hits and intercepts.
    std::int64_t total{-1};

    bool operator==(const Inspection&) const = default;
};

}  // namespace torpor::idle
