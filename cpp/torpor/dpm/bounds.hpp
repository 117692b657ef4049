// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "torpor/dpm/graph.hpp"
#include "torpor/dpm/result.hpp"
#include "torpor/sched/fair_rules.hpp"

namespace torpor::dpm {

/// What one callback takes at least.
struct CallbackLength {
    std::int64_t scaled_ns{0};
    std::int64_t fixed_ns{0};
    std::int64_t asleep_ns{0};
};

/// Length of the segments, with a factor on CPU work and plain sleeps; a sleep to the n-th tick takes n - 1
/// periods at least.
CallbackLength length_of(std::span<const Segment> segments, double factor, std::int64_t tick_ns);

/// A segment's length in ns times the factor of its callback, rounded.
inline std::int64_t scaled_by(std::int64_t length_ns, double factor) {
    return factor == 1.0 ? length_ns
                         : static_cast<std::int64_t>(static_cast<double>(length_ns) * factor + 0.5);
}

/// Collects what is executed in a phase and works out its lower bounds.
class PhaseBounds {
  public:
    PhaseBounds() = default;
    PhaseBounds(const sched::FairMachine& machine, const sched::FairRules& rules, std::int64_t tick_ns);

    void begin(const Graph& graph);
    /// A callback is about to be executed. Throws ModelError when those of the phase take absurdly long.
    void add(std::int32_t device, std::span<const Segment> segments, double factor);
    /// A device that waits for nothing in this phase, whatever it depends on.
    void waits_for_nothing(std::int32_t device);
    Bounds finish(const Graph& graph, bool resume, std::int64_t queue_calls_of_main, std::int64_t queue_ns);

  private:
    // What 64 bits hold: nanoseconds, or the finer clock of CPUs that share their capacity.
    static constexpr double kLongestNs = 1e17;
    static constexpr double kLongestSharedNs = 1e13;

    std::int64_t on_fastest(std::int64_t scaled_ns) const {
        return static_cast<std::int64_t>(static_cast<double>(scaled_ns) / fastest_);
    }

    double fastest_{1.0};
    double slowest_{1.0};
    double longest_ns_{kLongestNs};
    double at_most_ns_{0.0};  // all of the phase, one after the other on the slowest CPU
    double rates_{1.0};
    double cpus_{1.0};  // that do work at the same time
    std::int64_t tick_ns_{0};
    std::vector<std::int64_t> lengths_;  // per device
    std::vector<std::int64_t> ends_;
    std::vector<std::uint8_t> free_;
    std::vector<std::int64_t> holds_;  // per lock
    std::int64_t scaled_ns_{0};
    std::int64_t held_ns_{0};
    std::int64_t sum_ns_{0};
};

/// For each device the longest path from its start to the end of the phase, in the order of the phase: what
/// a list schedule by critical path goes by.
std::vector<std::int64_t> critical_path_priorities(const Graph& graph, Phase phase, std::int64_t tick_ns);

}  // namespace torpor::dpm
