// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

#include "torpor/idle/governors/teo_common.hpp"

namespace torpor::idle {

/// teo of stable Linux 6.12.117: no recent intercepts; the timers are asked late or not at all, and then
/// taken to be infinitely far, with the next event half a tick away. If even the deepest state is shorter
/// than a tick, periods of a tick or more have a bin of their own.
class Teo612117 : public TimedTeo {
  public:
    Teo612117(const StateTable& table, const TickLength& tick, bool first_update = true)
        : TimedTeo{table, tick, first_update} {}

    Selection select(const SelectInput& input, Device& device) {
        if (last_ != kNothingToBook) {
            update(device);
            last_ = kNothingToBook;
        }
        start_span(input.now_ns);
        sleep_length_ns_ = kTeoInfinite;
        const StateTable& table = *table_;
        const int count = table.count();
        if (count < 2) return {0, false};
        const std::int64_t limit_ns = input.latency_limit_us * 1000;

        int chosen = is_enabled(input, 0) ? 0 : -1;
        int shallowest = 0;
        int constraint = 0;
        std::uint32_t intercepts = 0, hits = 0;
        std::uint32_t intercepts_below = 0, hits_below = 0;
        for (int i = 1; i < count; ++i) {
            intercepts += intercepts_[bin(i - 1)];
            hits += hits_[bin(i - 1)];
            if (!is_enabled(input, i)) continue;
            if (chosen < 0) shallowest = i;
            chosen = i;
            if (table.latency_ns(i) <= limit_ns) constraint = i;
            intercepts_below = intercepts;
            hits_below = hits;
        }
        if (chosen < 0) return {0, false};
        if (chosen == shallowest) {
            return with_tick(input, chosen, shallowest, table.residency_ns(chosen), tick_ns_ / 2);
        }
        intercepts += intercepts_[bin(count - 1)];
        if (2 * intercepts_below > total_ - hits_below) {
            chosen = intercepted(input, chosen, intercepts_below);
            if (chosen == 0) {
                // Asked for although this choice no longer depends on it: the next update does.
                sleep_length_ns_ = input.sleep_length_ns;
                return {0, false};
            }
        }
        chosen = std::min(chosen, constraint);
        if (chosen == 0 || (table.polling(0) && table.residency_ns(chosen) < kTeoWorthAskingNs)) {
            return {chosen, false};
        }
        sleep_length_ns_ = input.sleep_length_ns;
        std::int64_t duration_ns = sleep_length_ns_;
        if (table.residency_ns(chosen) > duration_ns)
            chosen = shallower_ns(table, input, chosen, duration_ns);
        // Mostly intercepts: wait for the tick rather than trust the timer.
        if (table.residency_ns(chosen) < tick_ns_ && intercepts > total_ / 2 + total_ / 8) {
            duration_ns = tick_ns_ / 2;
        }
        return with_tick(input, chosen, shallowest, duration_ns, input.next_event_ns);
    }

    const TeoBins& hits() const { return hits_; }
    const TeoBins& intercepts() const { return intercepts_; }
    std::uint32_t tick_hits() const { return tick_hits_; }
    std::uint32_t total() const { return total_; }

    Inspection inspect() const { return {.total = total_}; }

  private:
    void update(const Device& device) {
        const StateTable& table = *table_;
        const std::int64_t duration_ns = booked_ns(device.last_residency_ns);
        std::uint32_t total = kPulse;
        for (std::size_t i = 0; i < hits_.size(); ++i) {
            hits_[i] = decayed(hits_[i]);
            intercepts_[i] = decayed(intercepts_[i]);
            total += hits_[i] + intercepts_[i];
        }
        int timer_bin = 0;
        int reached_bin = 0;
        for (int i = 1; i < table.count(); ++i) {
            if (table.residency_ns(i) > sleep_length_ns_) continue;
            timer_bin = i;
            if (table.residency_ns(i) <= duration_ns) reached_bin = i;
        }
        if (table.residency_ns(table.count() - 1) < tick_ns_) {
            tick_hits_ = decayed(tick_hits_);
            total += tick_hits_;
            if (tick_ns_ <= sleep_length_ns_) {
                timer_bin = table.count();
                if (tick_ns_ <= duration_ns) {
                    tick_hits_ += kPulse;
                    total_ = total;
                    return;
                }
            }
        }
        total_ = total;
        (timer_bin == reached_bin ? hits_ : intercepts_)[bin(reached_bin)] += kPulse;
    }

    int intercepted(const SelectInput& input, int chosen, std::uint32_t all) const {
        const int start = chosen;
        int fallback = chosen;
        std::uint32_t intercepts = 0;
        for (int i = start - 1; i >= 0; --i) {
            intercepts += intercepts_[bin(i)];
            const bool usable = acceptable(input, table_->residency_ns(i));
            const bool enabled = is_enabled(input, i);
            if (2 * intercepts > all) return usable && enabled ? i : fallback;
            if (!enabled) continue;
            if (usable) {
                fallback = i;
            } else if (fallback == start) {
                break;
            }
        }
        return start;
    }

    TeoBins hits_{};
    TeoBins intercepts_{};
    std::uint32_t tick_hits_{0};
    std::uint32_t total_{0};
};

}  // namespace torpor::idle
