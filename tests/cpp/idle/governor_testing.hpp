// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>

#include "torpor/idle/governor.hpp"
#include "torpor/idle/state_table.hpp"

// Tables and inputs that the governors' tests share.
namespace torpor::idle::testing {

inline constexpr std::int64_t kUs = 1000;
inline constexpr std::int64_t kMs = 1000000;

/// HiKey (hi6220, Cortex-A53): WFI, CPU off, cluster off.
inline StateTable hi6220() {
    const std::array<GovernorState, 3> states{
        {{1 * kUs, 1 * kUs}, {950 * kUs, 1000 * kUs}, {1500 * kUs, 2700 * kUs}}};
    return StateTable{states};
}

/// A polling state, a cheap and a deep one: the table of the latency defect fixed by commit 779b1a1cb13a.
inline StateTable polling_table() {
    const std::array<GovernorState, 3> states{{{0, 0, true}, {5 * kUs, 5 * kUs}, {200 * kUs, 2000 * kUs}}};
    return StateTable{states};
}

inline SelectInput running(std::int64_t sleep_ns, std::int64_t event_ns) {
    return {.sleep_length_ns = sleep_ns, .next_event_ns = event_ns};
}

inline SelectInput stopped(std::int64_t sleep_ns, std::int64_t event_ns) {
    return {.sleep_length_ns = sleep_ns, .next_event_ns = event_ns, .tick_stopped = true};
}

/// A menu governor whose memory the test sets by hand.
template <class Menu>
class Primed : public Menu {
  public:
    using Menu::Menu;

    Primed& remember(std::initializer_list<std::uint32_t> intervals_us) {
        for (const std::uint32_t interval_us : intervals_us) this->history_.push(interval_us);
        return *this;
    }
    Primed& remember_eight(std::uint32_t interval_us) {
        for (int i = 0; i < 8; ++i) this->history_.push(interval_us);
        return *this;
    }
    Primed& learn(std::size_t bucket, std::uint32_t factor) {
        this->factors_.at(bucket) = factor;
        return *this;
    }
    /// The memory of a HiKey CPU in a steady cycle of one long and seven short gaps.
    Primed& live_through_nightmare() {
        return remember({34726, 984, 984, 984, 984, 984, 984, 984})
            .learn(2, 8143)
            .learn(3, 6853)
            .learn(5, 198);
    }
};

}  // namespace torpor::idle::testing
