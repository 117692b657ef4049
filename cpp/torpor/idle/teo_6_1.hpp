// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "torpor/idle/teo_common.hpp"

namespace torpor::idle {

/// teo of Linux 6.1 (6.1.192 decides alike): hits and intercepts per bin, and which bins the last nine
/// periods were intercepted in.
class Teo61 : public TimedTeo {
  public:
    static constexpr std::size_t kRecent = 9;

    Teo61(const StateTable& table, const TickLength& tick, bool first_update = true)
        : TimedTeo{table, tick, first_update} {
        recent_bins_.fill(-1);
    }

    Selection select(const SelectInput& input, Device& device) {
        if (last_ != kNothingToBook) {
            update(device);
            last_ = kNothingToBook;
        }
        start_span(input.now_ns);
        sleep_length_ns_ = input.sleep_length_ns;
        const StateTable& table = *table_;
        const int count = table.count();
        const std::int64_t limit_ns = input.latency_limit_us * 1000;
        std::int64_t duration_ns = sleep_length_ns_;
        if (count < 2) return with_tick(input, 0, 0, duration_ns, input.next_event_ns);

        const std::uint32_t enabled = ~input.disabled & table.mask();
        if ((enabled & 1u) != 0 && table.residency_ns(1) > duration_ns)
            return with_tick(input, 0, 0, duration_ns, input.next_event_ns);
        if (enabled == 0) return with_tick(input, 0, 0, duration_ns, input.next_event_ns);
        // The walk ends at the first enabled state above 0 that does not fit. In masks, since where it ends
        // is what no branch predictor can know.
        const std::uint32_t too_deep = enabled & ~table.residency_mask(duration_ns) & ~1u;
        const std::uint32_t walked = enabled & ((too_deep & (0u - too_deep)) - 1);
        const int shallowest = std::countr_zero(enabled);
        const int chosen_by_timer = walked != 0 ? deepest_of(walked) : shallowest;
        const int constraint = deepest_of(walked & table.latency_mask(limit_ns) & ~1u);
        int chosen = chosen_by_timer;
        const Sums shallower = sums_below(walked != 0 ? chosen : 0);
        if (chosen != shallowest) {
            const bool often = 2 * shallower.intercepts > total_ - shallower.hits;
            const bool lately = shallower.recent > kRecent / 2;
            if (often || lately) chosen = intercepted(input, chosen, shallower, often, lately, duration_ns);
            chosen = std::min(chosen, constraint);
        }
        return with_tick(input, chosen, shallowest, duration_ns, input.next_event_ns);
    }

    const TeoBins& hits() const { return hits_; }
    const TeoBins& intercepts() const { return intercepts_; }
    const TeoBins& recent() const { return recent_; }
    const std::array<std::int32_t, kRecent>& recent_bins() const { return recent_bins_; }
    std::size_t next_recent() const { return next_recent_; }
    std::uint32_t total() const { return total_; }

    Inspection inspect() const { return {.total = total_}; }

  private:
    struct Sums {
        std::uint32_t intercepts{0};
        std::uint32_t hits{0};
        std::uint32_t recent{0};
    };

    /// Over all bins below that of `state`.
    Sums sums_below(int state) const {
        Sums sums;
        for (std::size_t i = 0; i < hits_.size(); ++i) {
            const std::uint32_t counts = i < bin(state) ? ~0u : 0u;
            sums.intercepts += intercepts_[i] & counts;
            sums.hits += hits_[i] & counts;
            sums.recent += recent_[i] & counts;
        }
        return sums;
    }

    void update(const Device& device) {
        const StateTable& table = *table_;
        const std::int64_t reached_ns = std::min(sleep_length_ns_, booked_ns(device.last_residency_ns));
        std::uint32_t total = kPulse;
        for (std::size_t i = 0; i < hits_.size(); ++i) {
            hits_[i] = decayed(hits_[i]);
            intercepts_[i] = decayed(intercepts_[i]);
            total += hits_[i] + intercepts_[i];
        }
        total_ = total;
        const int timer_bin = deepest_of(table.residency_mask(sleep_length_ns_));
        const int reached_bin = deepest_of(table.residency_mask(reached_ns));
        // Without branches: whether a period hits its timer is what no branch predictor can know.
        std::int32_t& recent_bin = recent_bins_[next_recent_];
        next_recent_ = next_recent_ + 1 < kRecent ? next_recent_ + 1 : 0;
        recent_[bin(std::max(recent_bin, 0))] -= static_cast<std::uint32_t>(recent_bin >= 0);
        const bool intercept = timer_bin != reached_bin;
        hits_[bin(timer_bin)] += intercept ? 0 : kPulse;
        intercepts_[bin(reached_bin)] += intercept ? kPulse : 0;
        recent_[bin(reached_bin)] += static_cast<std::uint32_t>(intercept);
        recent_bin = intercept ? reached_bin : -1;
    }

    /// Wakeups before the timer prevail: the deepest state that half of them still leave time for, and the
    /// middle of its bin as the expected duration.
    int intercepted(const SelectInput& input, int chosen, const Sums& all, bool often, bool lately,
                    std::int64_t& duration_ns) const {
        const StateTable& table = *table_;
        const int start = chosen;
        int fallback = chosen;
        std::int64_t fallback_ns = duration_ns;
        std::uint32_t intercepts = 0;
        std::uint32_t recent = 0;
        for (int i = start - 1; i >= 0; --i) {
            intercepts += intercepts_[bin(i)];
            recent += recent_[bin(i)];
            const std::int64_t middle_ns = (table.residency_ns(i) + table.residency_ns(i + 1)) / 2;
            const bool usable = acceptable(input, middle_ns);
            const bool enabled = is_enabled(input, i);
            if ((!lately || 2 * recent > all.recent) && (!often || 2 * intercepts > all.intercepts)) {
                duration_ns = usable && enabled ? middle_ns : fallback_ns;
                return usable && enabled ? i : fallback;
            }
            if (!enabled) continue;
            if (!usable) {
                if (fallback != start) continue;
                break;
            }
            fallback_ns = middle_ns;
            fallback = i;
        }
        return start;
    }

    TeoBins hits_{};
    TeoBins intercepts_{};
    TeoBins recent_{};
    std::array<std::int32_t, kRecent> recent_bins_{};
    std::size_t next_recent_{0};
    std::uint32_t total_{0};
};

}  // namespace torpor::idle
