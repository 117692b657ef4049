// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "torpor/idle/governors/menu_ns.hpp"

namespace torpor::idle {

enum class LateMenu : std::uint8_t { v6_12_117, v7_0, v7_1 };

/// menu of stable Linux 6.12.117, of 7.0 and of 7.1. The intervals come first, and the timers are asked only
/// when these suggest more than 15 us or the tick is stopped; otherwise the next timer is taken to be
/// infinitely far and the next event half a tick away. Waiting for I/O no longer counts. 7.1 trusts a short
/// prediction with the tick stopped as long as a timer comes within two ticks.
template <LateMenu kVersion>
class MenuLateNs : public MenuNs<kMagnitudes> {
  public:
    using MenuNs::MenuNs;

    Selection select(const SelectInput& input, Device& device) {
        update(device, true);
        const std::int64_t limit_ns = input.latency_limit_us * 1000;
        std::int64_t predicted_ns = std::int64_t{typical_us()} * 1000;
        std::int64_t next_event_ns;
        if (predicted_ns > kWorthAskingNs || input.tick_stopped) {
            const bool expired = input.sleep_length_ns < 0;
            next_event_ns = expired ? 0 : input.next_event_ns;
            next_timer_ns_ = expired ? 0 : input.sleep_length_ns;
            bucket_ = magnitude(static_cast<std::uint64_t>(next_timer_ns_), 1000);
            predicted_ns = std::min(std::int64_t{timer_prediction_us()} * 1000, predicted_ns);
            if (input.tick_stopped && predicted_ns < tick_ns_ && !timer_is_net())
                predicted_ns = next_timer_ns_;
        } else {
            next_event_ns = tick_ns_ / 2;
            next_timer_ns_ = std::numeric_limits<std::int64_t>::max();
            bucket_ = kMagnitudes - 1;
        }
        predicted_ns_ = predicted_ns;
        const StateTable& table = *table_;
        if (only_state_zero(input, limit_ns)) return {0, !table.polling(0)};

        int chosen = -1;
        for (int i = 0; i < table.count(); ++i) {
            if (!is_enabled(input, i)) continue;
            if (chosen < 0) chosen = i;
            if (table.latency_ns(i) > limit_ns) break;
            if (table.residency_ns(i) <= predicted_ns) {
                chosen = i;
                continue;
            }
            if (table.polling(chosen) && table.residency_ns(i) < kWorthAskingNs &&
                table.residency_ns(i) <= next_timer_ns_ && table.latency_ns(i) <= predicted_ns) {
                predicted_ns = table.residency_ns(i);
                chosen = i;
                break;
            }
            if (predicted_ns < tick_ns_) break;
            if (input.tick_stopped) return {deepened(chosen, i, next_event_ns), true};
            predicted_ns = table.residency_ns(chosen);
            break;
        }
        return with_tick(input, std::max(chosen, 0), predicted_ns, next_event_ns);
    }

    Inspection inspect() const { return inspected(typical_us()); }

  private:
    /// Residencies below this are too short to be worth a look at the timers.
    static constexpr std::int64_t kWorthAskingNs = 15000;

    std::uint32_t typical_us() const {
        if constexpr (kVersion == LateMenu::v6_12_117) {
            return typical_interval_a_prime(history_);
        } else {
            return typical_interval_b(history_);
        }
    }

    /// A timer this near ends a wrong choice soon enough.
    bool timer_is_net() const { return kVersion == LateMenu::v7_1 && next_timer_ns_ <= 2 * tick_ns_; }
};

using Menu612117 = MenuLateNs<LateMenu::v6_12_117>;
using Menu70 = MenuLateNs<LateMenu::v7_0>;
using Menu71 = MenuLateNs<LateMenu::v7_1>;

}  // namespace torpor::idle
