// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "torpor/board/board.hpp"
#include "torpor/idle/governor.hpp"
#include "torpor/idle/workload.hpp"

namespace torpor::idle {

/// A board, what wakes it, and the conditions of the run. It holds no policy.
struct Scenario {
    board::Board board;
    std::vector<Source> sources;
    std::int64_t duration_ns{0};
    /// Place of the tick grid; drawn uniformly per replicate when not given.
    std::optional<std::int64_t> tick_phase_ns{};
    std::int64_t latency_limit_us{kNoLatencyLimitUs};
    /// Per cluster: bit i disables state i.
    std::vector<std::uint32_t> disabled;
    /// Per cluster: index of the operating point that all its CPUs run at.
    std::vector<std::size_t> opps;
    /// Chance that the driver refuses an entry.
    double refusal_probability{0.0};
    std::uint32_t iowait{0};
    std::uint32_t load{0};

    bool operator==(const Scenario&) const = default;
};

/// Throws ConfigError with the key of the first entry that cannot be.
void validate(const Scenario& scenario);

}  // namespace torpor::idle
