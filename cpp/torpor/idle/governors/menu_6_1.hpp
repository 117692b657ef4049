// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

#include "torpor/idle/governors/menu_ns.hpp"

namespace torpor::idle {

/// menu of Linux 6.1 as released (false) and of stable 6.1.192 (true), which also notes refused entries.
/// Tasks that wait for I/O have correction buckets of their own and tighten the latency limit.
template <bool kNotesRefusals>
class MenuSixOne : public MenuNs<2 * kMagnitudes> {
  public:
    using MenuNs::MenuNs;

    Selection select(const SelectInput& input, Device& device) {
        update(device, kNotesRefusals);
        const bool expired = input.sleep_length_ns < 0;
        const std::int64_t next_event_ns = expired ? 0 : input.next_event_ns;
        std::int64_t limit_ns = input.latency_limit_us * 1000;
        next_timer_ns_ = expired ? 0 : input.sleep_length_ns;
        bucket_ = magnitude(static_cast<std::uint64_t>(next_timer_ns_), 1000) +
                  (input.iowait > 0 ? kMagnitudes : 0);
        const StateTable& table = *table_;
        if (only_state_zero(input, limit_ns)) return {0, !table.polling(0)};

        // The kernel gives up early when no interval is below the timer's prediction; the minimum is the
        // same.
        std::int64_t predicted_ns = std::int64_t{std::min(timer_prediction_us(), typical_us())} * 1000;
        if (input.tick_stopped) {
            if (predicted_ns < tick_ns_) predicted_ns = next_timer_ns_;
        } else {
            const std::int64_t patience_ns =
                input.iowait == 0 ? predicted_ns : predicted_ns / (1 + 10 * std::int64_t{input.iowait});
            limit_ns = std::min(limit_ns, patience_ns);
        }
        predicted_ns_ = predicted_ns;

        int chosen = -1;
        for (int i = 0; i < table.count(); ++i) {
            if (!is_enabled(input, i)) continue;
            if (chosen < 0) chosen = i;
            if (table.residency_ns(i) > predicted_ns) {
                if (table.polling(chosen) && table.latency_ns(i) <= limit_ns &&
                    table.residency_ns(i) <= next_timer_ns_) {
                    predicted_ns = table.residency_ns(i);
                    chosen = i;
                    break;
                }
                if (predicted_ns < tick_ns_) break;
                if (input.tick_stopped) return {deepened(chosen, i, next_event_ns), true};
                predicted_ns = table.residency_ns(chosen);
                break;
            }
            if (table.latency_ns(i) > limit_ns) break;
            chosen = i;
        }
        return with_tick(input, std::max(chosen, 0), predicted_ns, next_event_ns);
    }

    Inspection inspect() const { return inspected(typical_us()); }

  private:
    std::uint32_t typical_us() const { return typical_interval_a(history_, kIntervalThreshold); }
};

using Menu61 = MenuSixOne<false>;
using Menu61192 = MenuSixOne<true>;

}  // namespace torpor::idle
