// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "torpor/idle/governor.hpp"
#include "torpor/idle/governors/inspection.hpp"
#include "torpor/idle/governors/walk.hpp"

namespace torpor::idle {

/// ladder of Linux 6.1: four idle periods longer than the current state's exit latency lead one state deeper,
/// one shorter period one state back. It knows no timer and always stops the tick.
///
/// The period beyond the latency is an unsigned difference, so a period shorter than the latency counts as a
/// very long one. A polling state 0 has no thresholds at all: the first longer period leaves it.
class Ladder61 {
  public:
    static constexpr int kPromotions = 4;

    Ladder61(const StateTable& table, const TickLength& /*tick*/)
        : table_{&table}, first_{table.polling(0) ? 1 : 0}, current_{first_} {}

    Selection select(const SelectInput& input, Device& device) {
        const StateTable& table = *table_;
        const std::int64_t limit_ns = input.latency_limit_us * 1000;
        if (limit_ns == 0) return go(0);
        const std::int64_t latency_ns = table.latency_ns(current_);
        const std::uint64_t beyond_ns = device.last_residency_ns - static_cast<std::uint64_t>(latency_ns);
        const bool has_thresholds = current_ >= first_;
        const auto threshold_ns = static_cast<std::uint64_t>(has_thresholds ? latency_ns : 0);

        const int next = current_ + 1;
        if (next < table.count() && is_enabled(input, next) && beyond_ns > threshold_ns &&
            table.latency_ns(next) <= limit_ns) {
            ++promotions_[index()];
            demotions_[index()] = 0;
            if (promotions_[index()] >= (has_thresholds ? kPromotions : 0)) return go(next);
        }
        if (current_ <= first_) return {current_, true};
        if (!is_enabled(input, current_) || latency_ns > limit_ns) {
            int target = current_ - 1;
            while (target > first_ && table.latency_ns(target) > limit_ns) --target;
            return go(target);
        }
        if (beyond_ns < threshold_ns) return go(current_ - 1);
        return {current_, true};
    }

    void reflect(int state, bool /*tick_wakeup*/, std::int64_t /*now_ns*/, Device& /*device*/) {
        if (state > 0) current_ = state;
    }

    int current() const { return current_; }
    const std::array<int, kMaxStates>& promotions() const { return promotions_; }
    const std::array<int, kMaxStates>& demotions() const { return demotions_; }

    Inspection inspect() const { return {}; }

  private:
    std::size_t index() const { return static_cast<std::size_t>(current_); }

    Selection go(int state) {
        promotions_[index()] = 0;
        demotions_[index()] = 0;
        current_ = state;
        return {state, true};
    }

    const StateTable* table_;
    int first_;
    int current_;
    std::array<int, kMaxStates> promotions_{};
    std::array<int, kMaxStates> demotions_{};
};

}  // namespace torpor::idle
