// SPDX-License-Identifier: MIT
#include "torpor/idle/state_table.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "torpor/base/error.hpp"

namespace torpor::idle {

namespace {

/// The field of struct cpuidle_state is 32 bits wide; longer times saturate instead of wrapping to a short
/// one.
std::uint32_t whole_us(std::int64_t ns) {
    constexpr std::int64_t kLargest = std::numeric_limits<std::uint32_t>::max();
    return static_cast<std::uint32_t>(std::min(ns / 1000, kLargest));
}

void require_time(std::size_t state, const char* field, std::int64_t ns) {
    if (ns >= 0) return;
    throw ConfigError{"states[" + std::to_string(state) + "]." + field,
                      std::to_string(ns) + " is negative; a time must be 0 or more"};
}

}  // namespace

StateTable::StateTable(std::span<const GovernorState> states) {
    if (states.empty()) throw ConfigError{"states", "is empty; a table needs at least one idle state"};
    if (states.size() > std::size_t{kMaxStates}) {
        throw ConfigError{"states", "has " + std::to_string(states.size()) + " idle states; at most " +
                                        std::to_string(kMaxStates) + " are possible"};
    }
    count_ = static_cast<int>(states.size());
    for (std::size_t i = 0; i < states.size(); ++i) {
        require_time(i, "exit_latency_ns", states[i].exit_latency_ns);
        require_time(i, "target_residency_ns", states[i].target_residency_ns);
        latency_ns_[i] = states[i].exit_latency_ns;
        residency_ns_[i] = states[i].target_residency_ns;
        latency_us_[i] = whole_us(states[i].exit_latency_ns);
        residency_us_[i] = whole_us(states[i].target_residency_ns);
        polling_[i] = states[i].polling;
    }
}

StateTable StateTable::of(const board::Cluster& cluster) {
    std::vector<GovernorState> states;
    for (const board::IdleState& state : cluster.idle_states) {
        states.push_back({to_ns(state.exit_latency), to_ns(state.target_residency), state.polling});
    }
    return StateTable{states};
}

TickLength::TickLength(int frequency_hz) : hz{frequency_hz}, ns{0}, us{0} {
    if (hz < 1 || hz > 10000) {
        throw ConfigError{"hz", std::to_string(hz) + " is not a tick frequency; it must be 1..10000"};
    }
    ns = (1000000000 + hz / 2) / hz;
    us = (1000000 + hz / 2) / hz;
}

}  // namespace torpor::idle
