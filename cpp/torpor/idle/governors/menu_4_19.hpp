// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

#include "torpor/idle/governors/menu_us.hpp"

namespace torpor::idle {

/// menu of Linux 4.19 and of stable 4.18.20: with the tick stopped a short prediction gives way to the next
/// event, and a shallow state to the next deeper one that still fits before it.
class Menu419 : public MenuUs {
  public:
    using MenuUs::MenuUs;

    Selection select(const SelectInput& input, Device& device) {
        update(device, false);
        std::int64_t limit_us = input.latency_limit_us;
        if (limit_us == 0) return {0, false};
        note_timer(input);
        const std::uint32_t next_event_us = wrapped_us(input.next_event_ns);
        predicted_us_ = std::min({timer_prediction_us(), typical_us(), next_timer_us_});
        if (input.tick_stopped) {
            if (predicted_us_ < tick_us_) predicted_us_ = next_event_us;
        } else {
            limit_us = std::min(
                limit_us,
                static_cast<std::int64_t>(predicted_us_ / performance_multiplier(input.load, input.iowait)));
        }

        const StateTable& table = *table_;
        std::uint32_t expected_us = predicted_us_;
        int chosen = -1;
        for (int i = first_candidate(table, input, next_timer_us_); i < table.count(); ++i) {
            if (!is_enabled(input, i)) continue;
            if (chosen < 0) chosen = i;
            if (table.residency_us(i) > predicted_us_) {
                if (predicted_us_ < tick_us_) break;
                if (!input.tick_stopped) {
                    expected_us = table.residency_us(chosen);
                    break;
                }
                return {deepened(chosen, i, input), true};
            }
            if (table.latency_us(i) > limit_us) {
                expected_us = table.residency_us(chosen);
                break;
            }
            chosen = i;
        }
        return with_tick(input, std::max(chosen, 0), expected_us, next_event_us);
    }

    Inspection inspect() const { return inspected(typical_us()); }

  private:
    std::uint32_t typical_us() const { return typical_interval_a(history_, kNoTypicalInterval); }
};

}  // namespace torpor::idle
