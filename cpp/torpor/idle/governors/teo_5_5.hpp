// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "torpor/idle/governors/teo_common.hpp"

namespace torpor::idle {

/// teo of Linux 5.5 to 5.13: hits, misses and early hits per state, and the last eight durations for a
/// pattern among the wakeups that came before the timer. A latency limit caps the choice at the first state
/// that exceeds it, not at the last that keeps it: that is what these releases do.
class Teo55 : public TimedTeo {
  public:
    Teo55(const StateTable& table, const TickLength& tick, bool first_update = true)
        : TimedTeo{table, tick, first_update} {
        intervals_.fill(kTeoInfinite);
    }

    Selection select(const SelectInput& input, Device& /*device*/) {
        if (last_ != kNothingToBook) {
            update();
            last_ = kNothingToBook;
        }
        start_span(input.now_ns);
        sleep_length_ns_ = input.sleep_length_ns;
        const StateTable& table = *table_;
        const std::int64_t limit_ns = input.latency_limit_us * 1000;
        std::int64_t duration_ns = sleep_length_ns_;

        Early early;
        std::uint32_t hits = 0, misses = 0;
        int constraint = table.count();
        int chosen = -1;
        for (int i = 0; i < table.count(); ++i) {
            const bool fits = table.residency_ns(i) <= duration_ns;
            if (!is_enabled(input, i)) {
                if (!fits) continue;
                hits = hits_[bin(i)];
                misses = misses_[bin(i)];
                if (chosen >= 0) {
                    const bool usable = acceptable(input, table.residency_ns(chosen));
                    early.credit_disabled(chosen, early_[bin(i)], usable);
                }
                continue;
            }
            if (chosen < 0) {
                chosen = i;
                hits = hits_[bin(i)];
                misses = misses_[bin(i)];
            }
            if (!fits) break;
            if (table.latency_ns(i) > limit_ns) constraint = std::min(constraint, i);
            chosen = i;
            hits = hits_[bin(i)];
            misses = misses_[bin(i)];
            if (early_[bin(i)] > early.most && acceptable(input, table.residency_ns(i))) {
                early.move_to(i, early_[bin(i)]);
            }
        }
        if (hits <= misses) {
            const int candidate = early.state == chosen ? early.previous : early.state;
            if (candidate >= 0) {
                chosen = candidate;
                duration_ns = table.residency_ns(chosen);
            }
        }
        chosen = std::max(std::min(chosen, constraint), 0);
        if (chosen > 0) chosen = follow_pattern(input, chosen, duration_ns);
        return with_tick(input, chosen, 0, duration_ns, input.next_event_ns);
    }

    const TeoBins& hits() const { return hits_; }
    const TeoBins& misses() const { return misses_; }
    const TeoBins& early_hits() const { return early_; }

    Inspection inspect() const { return {}; }

  private:
    static constexpr std::size_t kIntervals = 8;

    /// The state with the most early hits so far, and the one that was it before.
    struct Early {
        std::uint32_t most{0};
        int state{-1};
        int previous{-1};

        void move_to(int next, std::uint32_t hits) {
            previous = state;
            state = next;
            most = hits;
        }
        /// The early hits of a disabled state count for the enabled one above it.
        void credit_disabled(int enabled, std::uint32_t hits, bool usable) {
            if (most >= hits) return;
            if (state == enabled) {
                most = hits;
            } else if (usable) {
                move_to(enabled, hits);
            }
        }
    };

    void update() {
        const StateTable& table = *table_;
        const std::int64_t duration_ns = booked_ns(span_ns());
        int timer_bin = -1;
        int hit_bin = -1;
        for (int i = 0; i < table.count(); ++i) {
            early_[bin(i)] = decayed(early_[bin(i)]);
            if (table.residency_ns(i) > sleep_length_ns_) continue;
            timer_bin = i;
            if (table.residency_ns(i) <= duration_ns) hit_bin = i;
        }
        if (timer_bin >= 0) {
            hits_[bin(timer_bin)] = decayed(hits_[bin(timer_bin)]);
            misses_[bin(timer_bin)] = decayed(misses_[bin(timer_bin)]);
            if (timer_bin > hit_bin) {
                misses_[bin(timer_bin)] += kPulse;
                if (hit_bin >= 0) early_[bin(hit_bin)] += kPulse;
            } else {
                hits_[bin(timer_bin)] += kPulse;
            }
        }
        intervals_[next_interval_] = duration_ns;
        next_interval_ = (next_interval_ + 1) % kIntervals;
    }

    /// If most of the recent durations are shorter than the expected one, their average takes its place.
    int follow_pattern(const SelectInput& input, int chosen, std::int64_t& duration_ns) const {
        std::uint64_t count = 0;
        std::uint64_t sum = 0;
        for (const std::int64_t interval_ns : intervals_) {
            if (interval_ns >= duration_ns) continue;
            ++count;
            sum += static_cast<std::uint64_t>(interval_ns);
        }
        if (count <= kIntervals / 2) return chosen;
        const auto average_ns = static_cast<std::int64_t>(sum / count);
        if (!acceptable(input, average_ns)) return chosen;
        duration_ns = average_ns;
        return table_->residency_ns(chosen) > average_ns ? shallower_ns(*table_, input, chosen, average_ns)
                                                         : chosen;
    }

    TeoBins hits_{};
    TeoBins misses_{};
    TeoBins early_{};
    std::array<std::int64_t, kIntervals> intervals_{};
    std::size_t next_interval_{0};
};

}  // namespace torpor::idle
