// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "torpor/idle/counters.hpp"

namespace torpor::idle {

/// Order statistics of the time from a wakeup (interrupt or timer, not the tick) to the first handler,
/// nearest rank.
struct LatencySummary {
    std::int64_t wakeups{0};
    std::int64_t p50_ns{0};
    std::int64_t p95_ns{0};
    std::int64_t p99_ns{0};
    std::int64_t max_ns{0};

    bool operator==(const LatencySummary&) const = default;

    /// Reorders `samples_ns`.
    static LatencySummary of(std::vector<std::int64_t>& samples_ns) {
        LatencySummary summary;
        summary.wakeups = static_cast<std::int64_t>(samples_ns.size());
        if (samples_ns.empty()) return summary;
        std::sort(samples_ns.begin(), samples_ns.end());
        const auto rank = [&](std::size_t percent) {
            return samples_ns[(samples_ns.size() * percent + 99) / 100 - 1];
        };
        summary.p50_ns = rank(50);
        summary.p95_ns = rank(95);
        summary.p99_ns = rank(99);
        summary.max_ns = samples_ns.back();
        return summary;
    }
};

/// One CPU's figures of one run. Times of residency count the idle period in flight at the end whole.
struct CpuResult {
    std::array<StateCounters, kMaxStates> states{};
    std::int64_t ticks{0};
    std::int64_t tick_stops{0};
    std::int64_t tick_restarts_in_loop{0};
    std::int64_t end_ns{0};
    LatencySummary latency;
    /// The CPU's energy and an equal part of its cluster's; NaN when the board publishes no power.
    double energy_mj{0.0};

    bool operator==(const CpuResult&) const = default;
};

struct Result {
    std::vector<CpuResult> cpus;
    /// Per cluster: time for which it could be powered down.
    std::vector<std::int64_t> cluster_off_ns;
    /// Board total with the clusters' real states; NaN when the board publishes no power.
    double energy_mj{0.0};
    /// Latencies of all CPUs together.
    LatencySummary latency;

    bool operator==(const Result&) const = default;
};

}  // namespace torpor::idle
