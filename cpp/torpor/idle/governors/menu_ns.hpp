// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "torpor/idle/governor.hpp"
#include "torpor/idle/governors/inspection.hpp"
#include "torpor/idle/governors/menu_common.hpp"
#include "torpor/idle/governors/typical_interval.hpp"
#include "torpor/idle/governors/walk.hpp"

namespace torpor::idle {

/// Common part of the menu governors after kernel 5.4, which compute in nanoseconds. The timer's prediction
/// is a 64-bit product that wraps above about 26 days and then keeps 32 bits of microseconds, as in the
/// kernel.
template <std::size_t kBuckets>
class MenuNs {
  public:
    MenuNs(const StateTable& table, const TickLength& tick) : table_{&table}, tick_ns_{tick.ns} {
        factors_.fill(kUnityFactor);
    }

    void reflect(int state, bool tick_wakeup, std::int64_t /*now_ns*/, Device& /*device*/) {
        last_ = state;
        tick_wakeup_ = tick_wakeup;
        pending_ = true;
    }

    const std::array<std::uint32_t, kBuckets>& factors() const { return factors_; }
    const IntervalHistory& history() const { return history_; }
    std::int64_t next_timer_ns() const { return next_timer_ns_; }
    std::int64_t predicted_ns() const { return predicted_ns_; }

  protected:
    /// Books the idle period that the last reflect ended. With `notes_refusals`, a select that finds nothing
    /// to book and no residency (the entry was refused, or this is the first select) stores an interval that
    /// means "invalid".
    void update(const Device& device, bool notes_refusals) {
        if (!pending_) {
            if (notes_refusals && device.last_residency_ns == 0) history_.push(kNoTypicalInterval);
            return;
        }
        pending_ = false;
        const auto next_timer_ns = static_cast<std::uint64_t>(next_timer_ns_);
        std::uint64_t measured_ns;
        if (tick_wakeup_ && next_timer_ns_ > tick_ns_) {
            measured_ns = std::uint64_t{kTickWakeupUs} * 1000;
        } else if (device.poll_limit_hit && table_->polling(last_)) {
            measured_ns = next_timer_ns;
        } else {
            measured_ns = device.last_residency_ns;
            const auto latency_ns = static_cast<std::uint64_t>(table_->latency_ns(last_));
            measured_ns = measured_ns > 2 * latency_ns ? measured_ns - latency_ns : measured_ns / 2;
        }
        measured_ns = std::min(measured_ns, next_timer_ns);
        factors_[bucket_] = updated_factor(factors_[bucket_], measured_ns, next_timer_ns,
                                           std::uint64_t{kInterestingUs} * 1000);
        history_.push(static_cast<std::uint32_t>(measured_ns / 1000));
    }

    /// The next timer, corrected by experience, whole microseconds.
    std::uint32_t timer_prediction_us() const {
        constexpr std::uint64_t kScale = std::uint64_t{kUnityFactor} * 1000;
        return static_cast<std::uint32_t>(
            (static_cast<std::uint64_t>(next_timer_ns_) * factors_[bucket_] + kScale / 2) / kScale);
    }

    /// State 1 is out of reach before any prediction.
    bool only_state_zero(const SelectInput& input, std::int64_t limit_ns) const {
        const StateTable& table = *table_;
        return table.count() <= 1 || limit_ns == 0 ||
               ((next_timer_ns_ < table.residency_ns(1) || limit_ns < table.latency_ns(1)) &&
                is_enabled(input, 0));
    }

    /// The walk met a state that needs longer than the prediction while the tick is stopped: a state
    /// shallower than one tick has no safety net, so the deeper one is taken if it still fits before the next
    /// event.
    int deepened(int chosen, int next, std::int64_t next_event_ns) const {
        const StateTable& table = *table_;
        return table.residency_ns(chosen) < tick_ns_ && table.residency_ns(next) <= next_event_ns ? next
                                                                                                  : chosen;
    }

    /// Decides about the tick, and steps back to a state that fits before it if it is kept.
    Selection with_tick(const SelectInput& input, int chosen, std::int64_t predicted_ns,
                        std::int64_t next_event_ns) const {
        const StateTable& table = *table_;
        if (input.tick_stopped || (!table.polling(chosen) && predicted_ns >= tick_ns_)) return {chosen, true};
        if (chosen > 0 && table.residency_ns(chosen) > next_event_ns) {
            chosen = shallower_ns(table, input, chosen, next_event_ns);
        }
        return {chosen, false};
    }

    Inspection inspected(std::uint32_t typical_us) const {
        return {.typical_us = typical_us,
                .predicted = predicted_ns_,
                .bucket = bucket_,
                .factor = factors_[bucket_]};
    }

    const StateTable* table_;
    std::int64_t tick_ns_;
    std::int64_t next_timer_ns_{0};
    std::int64_t predicted_ns_{0};
    std::uint32_t bucket_{0};
    std::array<std::uint32_t, kBuckets> factors_{};
    IntervalHistory history_;

  private:
    int last_{0};
    bool pending_{false};
    bool tick_wakeup_{false};
};

}  // namespace torpor::idle
