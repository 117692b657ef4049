// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "torpor/idle/governor.hpp"
#include "torpor/idle/governors/inspection.hpp"
#include "torpor/idle/governors/menu_common.hpp"
#include "torpor/idle/governors/typical_interval.hpp"
#include "torpor/idle/governors/walk.hpp"

namespace torpor::idle {

/// Common part of the menu governors up to kernel 5.4. They compute in whole microseconds and keep times in
/// 32 bits, so a CPU without any timer reads a number that depends on its uptime, and an expired timer reads
/// as very far away.
class MenuUs {
  public:
    MenuUs(const StateTable& table, const TickLength& tick)
        : table_{&table}, tick_us_{static_cast<std::uint32_t>(tick.us)} {
        factors_.fill(kUnityFactor);
    }

    void reflect(int state, bool tick_wakeup, std::int64_t /*now_ns*/, Device& /*device*/) {
        last_ = state;
        tick_wakeup_ = tick_wakeup;
        pending_ = true;
    }

    const std::array<std::uint32_t, 2 * kMagnitudes>& factors() const { return factors_; }
    const IntervalHistory& history() const { return history_; }
    std::uint32_t next_timer_us() const { return next_timer_us_; }
    std::uint32_t predicted_us() const { return predicted_us_; }

  protected:
    static std::int64_t whole_us(std::int64_t ns) { return ns / 1000; }
    static std::uint32_t wrapped_us(std::int64_t ns) { return static_cast<std::uint32_t>(whole_us(ns)); }

    /// Books the idle period that the last reflect ended. Kernels from 4.20 on take a polling period that ran
    /// into its time limit for one that lasted until the timer.
    void update(const Device& device, bool knows_poll_limit) {
        if (!pending_) return;
        pending_ = false;
        std::uint32_t measured_us;
        if (tick_wakeup_ && next_timer_us_ > tick_us_) {
            measured_us = kTickWakeupUs;
        } else if (knows_poll_limit && device.poll_limit_hit && table_->polling(last_)) {
            measured_us = next_timer_us_;
        } else {
            constexpr std::uint64_t kLargest = std::numeric_limits<std::int32_t>::max();
            measured_us = static_cast<std::uint32_t>(std::min(device.last_residency_ns / 1000, kLargest));
            const std::uint64_t latency_us = table_->latency_us(last_);
            if (measured_us > 2 * latency_us) {
                measured_us -= static_cast<std::uint32_t>(latency_us);
            } else {
                measured_us /= 2;
            }
        }
        measured_us = std::min(measured_us, next_timer_us_);
        factors_[bucket_] = updated_factor(factors_[bucket_], measured_us, next_timer_us_, kInterestingUs);
        history_.push(measured_us);
    }

    void note_timer(const SelectInput& input) {
        next_timer_us_ = wrapped_us(input.sleep_length_ns);
        bucket_ = magnitude(next_timer_us_, 1) + (input.iowait > 0 ? kMagnitudes : 0);
    }

    /// The next timer, corrected by experience.
    std::uint32_t timer_prediction_us() const {
        return static_cast<std::uint32_t>(
            (std::uint64_t{next_timer_us_} * factors_[bucket_] + kUnityFactor / 2) / kUnityFactor);
    }

    /// Decides about the tick, from 4.19 on: a stopped one stays stopped; a running one is kept for a polling
    /// state or a period below its length, and then the state must fit the next event.
    Selection with_tick(const SelectInput& input, int chosen, std::uint32_t expected_us,
                        std::uint32_t next_event_us) const {
        const StateTable& table = *table_;
        if (input.tick_stopped || (!table.polling(chosen) && expected_us >= tick_us_)) return {chosen, true};
        if (chosen > 0 && table.residency_us(chosen) > next_event_us) {
            chosen = shallower_us(table, input, chosen, next_event_us);
        }
        return {chosen, false};
    }

    /// With the tick stopped, one state deeper if it fits the next event and the chosen one is shorter than a
    /// tick. Signed here, wrapped everywhere else: an expired event does not deepen.
    int deepened(int chosen, int next, const SelectInput& input) const {
        const bool fits = table_->residency_us(next) <= whole_us(input.next_event_ns);
        return table_->residency_us(chosen) < tick_us_ && fits ? next : chosen;
    }

    Inspection inspected(std::uint32_t typical_us) const {
        return {.typical_us = typical_us,
                .predicted = predicted_us_,
                .bucket = bucket_,
                .factor = factors_[bucket_]};
    }

    const StateTable* table_;
    std::uint32_t tick_us_;
    std::uint32_t next_timer_us_{0};
    std::uint32_t predicted_us_{0};
    std::uint32_t bucket_{0};

    std::array<std::uint32_t, 2 * kMagnitudes> factors_{};
    IntervalHistory history_;

  private:
    int last_{0};
    bool pending_{false};
    bool tick_wakeup_{false};
};

/// Divisor of the latency limit in kernels 4.18 and 4.19: run-queue load and tasks waiting for I/O make a CPU
/// impatient.
constexpr std::uint64_t performance_multiplier(std::uint32_t load, std::uint32_t iowait) {
    const std::uint64_t whole = load >> 11;
    const std::uint64_t hundredths = (std::uint64_t{load & 2047} * 100) >> 11;
    return 1 + 2 * (whole * 10 + hundredths / 10) + 10 * std::uint64_t{iowait};
}

/// The first state that 4.18 and 4.19 consider: the polling state is passed over unless the timer is very
/// near or state 1 cannot be used.
inline int first_candidate(const StateTable& table, const SelectInput& input, std::uint32_t next_timer_us) {
    if (table.count() < 2 || !table.polling(0) || !is_enabled(input, 1)) return 0;
    const bool timer_near = next_timer_us <= std::max(20u, table.residency_us(1));
    return !timer_near && input.latency_limit_us > table.latency_us(1) ? 1 : 0;
}

}  // namespace torpor::idle
