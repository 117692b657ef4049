// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

#include "torpor/idle/governor.hpp"
#include "torpor/idle/governors/inspection.hpp"

namespace torpor::idle {

/// haltpoll, for guests under KVM: polls in state 0 until its own limit ends the poll, then halts in state 1.
/// The limit grows while halts are short enough that polling would have caught them, and shrinks when they
/// are not; it starts at zero. Kernel parameters at their defaults.
class HaltpollGovernor {
  public:
    /// Needs a polling state 0 and a state 1.
    HaltpollGovernor(const StateTable& /*table*/, const TickLength& /*tick*/) {}

    Selection select(const SelectInput& input, Device& device) {
        if (input.latency_limit_us == 0) return {0, false};
        if (poll_limit_ns_ == 0) return {1, true};
        if (last_ == 0 && device.poll_limit_hit) return {1, true};
        return {0, false};
    }

    void reflect(int state, bool /*tick_wakeup*/, std::int64_t /*now_ns*/, Device& device) {
        last_ = state;
        if (state == 0) return;
        const std::uint64_t halted_ns = device.last_residency_ns;
        if (halted_ns > kLongestPollNs) {
            poll_limit_ns_ /= 2;
        } else if (halted_ns > poll_limit_ns_) {
            poll_limit_ns_ = std::min(std::max(2 * poll_limit_ns_, kFirstPollNs), kLongestPollNs);
        }
    }

    /// Time limit of the next poll; it takes the place of the idle core's own when it is not zero.
    std::int64_t poll_limit_ns() const { return static_cast<std::int64_t>(poll_limit_ns_); }

    Inspection inspect() const { return {}; }

  private:
    static constexpr std::uint64_t kLongestPollNs = 200000;
    static constexpr std::uint64_t kFirstPollNs = 50000;

    std::uint64_t poll_limit_ns_{0};
    int last_{0};
};

}  // namespace torpor::idle
