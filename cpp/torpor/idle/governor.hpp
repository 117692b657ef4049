// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstdint>

#include "torpor/idle/state_table.hpp"

namespace torpor::idle {

/// "No latency limit" of PM QoS, microseconds.
inline constexpr std::int64_t kNoLatencyLimitUs = 2000000000;

/// Everything that a governor can see when it is asked. It holds no future. A version that does not query the
/// timers (menu from 6.6, teo from 6.6) must not read sleep_length_ns or next_event_ns where the kernel would
/// not have asked.
struct SelectInput {
    /// Time to the next timer event if the tick were stopped; signed, may be expired.
    std::int64_t sleep_length_ns{0};
    /// Time to the next programmed event with the tick as it now is; signed.
    std::int64_t next_event_ns{0};
    /// Local clock (read by teo only).
    std::int64_t now_ns{0};
    std::int64_t latency_limit_us{kNoLatencyLimitUs};
    /// Tasks of this CPU that wait for I/O.
    std::uint32_t iowait{0};
    /// Run-queue load weight (menu 4.18 and 4.19 only).
    std::uint32_t load{0};
    /// Bit i set: state i is disabled.
    std::uint32_t disabled{0};
    bool tick_stopped{false};
};

/// A governor's answer: the state, and whether the tick should be stopped.
struct Selection {
    int state{0};
    bool stop_tick{true};

    bool operator==(const Selection&) const = default;
};

/// What the idle core remembers of the last idle period of one CPU, shared with the governor. The core writes
/// it before reflect; a governor only ever clears the poll limit flag.
struct Device {
    /// Last state entered; governors keep what they need of it themselves.
    /// Unsigned on purpose: a clock step of -1 ns reads as "very long".
    std::uint64_t last_residency_ns{0};
    /// Rewritten at each entry of a polling state.
    bool poll_limit_hit{false};
};

/// A cpuidle governor of one CPU: a value, copyable, no allocation. `reflect` is called after each period
/// whose entry was not refused, with the state entered, whether the tick woke the CPU, and the local clock.
template <class G>
concept Governor = std::copyable<G> && requires(G governor, const SelectInput& input, Device& device,
                                                int state, bool tick_wakeup, std::int64_t now_ns) {
    { governor.select(input, device) } -> std::same_as<Selection>;
    { governor.reflect(state, tick_wakeup, now_ns, device) } -> std::same_as<void>;
};

}  // namespace torpor::idle
