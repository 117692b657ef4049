// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "torpor/idle/governors/teo_common.hpp"

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

        int chosen = -1;
        if (is_enabled(input, 0)) {
            chosen = 0;
            if (table.residency_ns(1) > duration_ns)
                return with_tick(input, 0, 0, duration_ns, input.next_event_ns);
        }
        Sums below;      // all bins below the state looked at
        Sums shallower;  // all bins below the state chosen
        int shallowest = 0;
        int constraint = 0;
        for (int i = 1; i < count; ++i) {
            below.add(*this, i - 1);
            if (!is_enabled(input, i)) continue;
            if (chosen < 0) chosen = shallowest = i;
            if (table.residency_ns(i) > duration_ns) break;
            chosen = i;
            if (table.latency_ns(i) <= limit_ns) constraint = i;
            shallower = below;
        }
        if (chosen < 0) return with_tick(input, 0, 0, duration_ns, input.next_event_ns);
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

        void add(const Teo61& teo, int b) {
            intercepts += teo.intercepts_[bin(b)];
            hits += teo.hits_[bin(b)];
            recent += teo.recent_[bin(b)];
        }
    };

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
        int timer_bin = 0;
        int reached_bin = 0;
        for (int i = 1; i < table.count(); ++i) {
            timer_bin = table.residency_ns(i) <= sleep_length_ns_ ? i : timer_bin;
            reached_bin = table.residency_ns(i) <= reached_ns ? i : reached_bin;
        }
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
