// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

#include "torpor/idle/governors/menu_us.hpp"

namespace torpor::idle {

/// menu of Linux 4.20 (false) and 5.4 (true): no run-queue load, a shortcut to state 0 when state 1 is out of
/// reach, and the polling rule inside the walk. 5.4 may stop the tick in the shortcut and under a latency
/// limit, 4.20 does not.
template <bool kIs54>
class MenuLateUs : public MenuUs {
  public:
    using MenuUs::MenuUs;

    Selection select(const SelectInput& input, Device& device) {
        update(device, true);
        note_timer(input);
        const StateTable& table = *table_;
        std::int64_t limit_us = input.latency_limit_us;
        if (table.count() <= 1 || limit_us == 0 ||
            ((next_timer_us_ < table.residency_us(1) || limit_us < table.latency_us(1)) &&
             is_enabled(input, 0))) {
            return {0, kIs54 && !table.polling(0)};
        }
        const std::uint32_t next_event_us = wrapped_us(input.next_event_ns);
        // The kernel gives up early when no interval is below the timer's prediction; the minimum is the
        // same.
        std::uint32_t predicted_us = std::min(timer_prediction_us(), typical_us());
        if (input.tick_stopped) {
            if (predicted_us < tick_us_) predicted_us = next_event_us;
        } else {
            limit_us = std::min(
                limit_us, static_cast<std::int64_t>(predicted_us / performance_multiplier(0, input.iowait)));
        }
        predicted_us_ = predicted_us;

        int chosen = -1;
        for (int i = 0; i < table.count(); ++i) {
            if (!is_enabled(input, i)) continue;
            if (chosen < 0) chosen = i;
            if (table.residency_us(i) > predicted_us) {
                if (table.polling(chosen) && table.latency_us(i) <= limit_us &&
                    table.residency_us(i) <= next_timer_us_) {
                    predicted_us = table.residency_us(i);
                    chosen = i;
                    break;
                }
                if (predicted_us < tick_us_) break;
                if (!input.tick_stopped) {
                    predicted_us = table.residency_us(chosen);
                    break;
                }
                return {deepened(chosen, i, input), true};
            }
            if (table.latency_us(i) > limit_us) {
                if constexpr (!kIs54) predicted_us = table.residency_us(chosen);
                break;
            }
            chosen = i;
        }
        return with_tick(input, std::max(chosen, 0), predicted_us, next_event_us);
    }

    Inspection inspect() const { return inspected(typical_us()); }

  private:
    std::uint32_t typical_us() const { return typical_interval_a(history_, kIntervalThreshold); }
};

using Menu420 = MenuLateUs<false>;
using Menu54 = MenuLateUs<true>;

}  // namespace torpor::idle
