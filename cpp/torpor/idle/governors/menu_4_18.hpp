// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

#include "torpor/idle/governors/menu_us.hpp"

namespace torpor::idle {

/// What the linux-pm thread of August 2018 made of menu 4.18. The two readings of the lost patch "Correct the
/// criteria for stopping tick" keep the tick for every state but the deepest enabled one (p1) or for
/// predictions below the deepest residency (p2).
enum class August2018 : std::uint8_t { released, p1, p2, rjw_reply, leo_reply };

/// menu of Linux 4.18, where a CPU whose tick is stopped can stick in a shallow state: the prediction is
/// raised to one tick at most, and nothing wakes the CPU before the next timer.
template <August2018 kVariant = August2018::released>
class Menu418 : public MenuUs {
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
            correct_for_stopped_tick(next_event_us);
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
            if (table.residency_us(i) > predicted_us_) break;
            if (table.latency_us(i) > limit_us) {
                expected_us = table.residency_us(chosen);
                break;
            }
            chosen = i;
        }
        chosen = std::max(chosen, 0);

        if (!keeps_tick(input, chosen, expected_us)) return {chosen, true};
        const bool may_walk = kVariant == August2018::leo_reply || !input.tick_stopped;
        if (may_walk && chosen > 0 && table.residency_us(chosen) > next_event_us) {
            chosen = shallower_us(table, input, chosen, next_event_us);
        }
        return {chosen, false};
    }

    Inspection inspect() const { return inspected(typical_us()); }

  private:
    std::uint32_t typical_us() const { return typical_interval_a(history_, kNoTypicalInterval); }

    void correct_for_stopped_tick(std::uint32_t next_event_us) {
        if constexpr (kVariant == August2018::leo_reply) {
            if (next_event_us >= table_->residency_us(table_->count() - 1)) predicted_us_ = next_event_us;
        } else if constexpr (kVariant == August2018::rjw_reply) {
            if (predicted_us_ < tick_us_) predicted_us_ = next_event_us;
        } else {
            if (predicted_us_ < tick_us_) predicted_us_ = std::min(tick_us_, next_event_us);
        }
    }

    bool keeps_tick(const SelectInput& input, int chosen, std::uint32_t expected_us) const {
        const bool below_tick = expected_us < tick_us_;
        if (table_->polling(chosen)) return true;
        if constexpr (kVariant == August2018::leo_reply) return below_tick && !input.tick_stopped;
        if constexpr (kVariant == August2018::p1) return below_tick || chosen < deepest_enabled(input);
        if constexpr (kVariant == August2018::p2) {
            return expected_us < table_->residency_us(table_->count() - 1);
        }
        return below_tick;
    }

    int deepest_enabled(const SelectInput& input) const {
        int i = table_->count() - 1;
        while (i > 0 && !is_enabled(input, i)) --i;
        return i;
    }
};

}  // namespace torpor::idle
