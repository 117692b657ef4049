// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "torpor/idle/state_table.hpp"

namespace torpor::idle {

/// One state's figures as /sys/devices/system/cpu/cpuN/cpuidle/stateK shows them.
struct StateCounters {
    std::int64_t residency_ns{0};
    std::int64_t usage{0};
    std::int64_t above{0};
    std::int64_t below{0};
    std::int64_t rejected{0};

    bool operator==(const StateCounters&) const = default;
};

/// Counters of one CPU, booked as the idle core does (`above` and `below` exist since 5.1). The residency is
/// the raw one: it includes the time to go down and to come up.
class Counters {
  public:
    void reset() { states_ = {}; }

    void book(const StateTable& table, int state, std::int64_t residency_ns, std::uint32_t disabled) {
        StateCounters& counters = at(state);
        counters.usage += 1;
        counters.residency_ns += residency_ns;
        if (residency_ns < table.residency_ns(state)) {
            for (int i = 0; i < state; ++i) {
                if (((disabled >> i) & 1U) == 0) {
                    counters.above += 1;
                    break;
                }
            }
        } else if (residency_ns > table.latency_ns(state)) {
            for (int i = state + 1; i < table.count(); ++i) {
                if (((disabled >> i) & 1U) != 0) continue;
                if (residency_ns - table.latency_ns(state) >= table.residency_ns(i)) counters.below += 1;
                break;
            }
        }
    }

    void reject(int state) { at(state).rejected += 1; }

    const std::array<StateCounters, kMaxStates>& states() const { return states_; }

  private:
    StateCounters& at(int state) { return states_[static_cast<std::size_t>(state)]; }

    std::array<StateCounters, kMaxStates> states_{};
};

}  // namespace torpor::idle
