// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "torpor/board/board.hpp"

namespace torpor::idle {

/// The kernel's CPUIDLE_STATE_MAX.
inline constexpr int kMaxStates = static_cast<int>(board::kMaxIdleStates);

/// What a governor may know of one idle state.
struct GovernorState {
    std::int64_t exit_latency_ns{0};
    std::int64_t target_residency_ns{0};
    bool polling{false};

    bool operator==(const GovernorState&) const = default;
};

/// The driver's table, shallow to deep, in both unit families: kernels up to 5.4 keep whole microseconds.
class StateTable {
  public:
    /// Throws ConfigError when there are no states or more than kMaxStates, or when a time is negative.
    explicit StateTable(std::span<const GovernorState> states);
    /// What the governor of a CPU of this cluster sees.
    static StateTable of(const board::Cluster& cluster);

    int count() const { return count_; }
    std::int64_t latency_ns(int i) const { return latency_ns_[index(i)]; }
    std::int64_t residency_ns(int i) const { return residency_ns_[index(i)]; }
    std::uint32_t latency_us(int i) const { return latency_us_[index(i)]; }
    std::uint32_t residency_us(int i) const { return residency_us_[index(i)]; }
    bool polling(int i) const { return polling_[index(i)]; }

    bool operator==(const StateTable&) const = default;

  private:
    static std::size_t index(int i) { return static_cast<std::size_t>(i); }

    int count_{0};
    std::array<std::int64_t, kMaxStates> latency_ns_{};
    std::array<std::int64_t, kMaxStates> residency_ns_{};
    std::array<std::uint32_t, kMaxStates> latency_us_{};
    std::array<std::uint32_t, kMaxStates> residency_us_{};
    std::array<bool, kMaxStates> polling_{};
};

/// Tick length as the kernel computes it from HZ (rounded to nearest).
struct TickLength {
    explicit TickLength(int hz);  // throws ConfigError unless 1 <= hz <= 10000
    int hz;
    std::int64_t ns;
    std::int64_t us;

    bool operator==(const TickLength&) const = default;
};

}  // namespace torpor::idle
