// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

#include "torpor/idle/governors/teo_common.hpp"

namespace torpor::idle {

/// teo of Linux 7.1: counters that decay to zero, wakeups by the tick and intercepts within a tick counted
/// apart, and a count of short periods that decides whether the timers are asked at all.
class Teo71 : public TeoBase {
  public:
    Teo71(const StateTable& table, const TickLength& tick, bool first_update = true)
        : TeoBase{table, tick, first_update} {}

    void reflect(int state, bool tick_wakeup, std::int64_t /*now_ns*/, Device& /*device*/) {
        last_ = state;
        tick_wakeup_ = tick_wakeup;
    }

    Selection select(const SelectInput& input, Device& device) {
        if (last_ != kNothingToBook) {
            update(device);
            last_ = kNothingToBook;
        }
        sleep_length_ns_ = kTeoInfinite;
        const StateTable& table = *table_;
        const std::int64_t limit_ns = input.latency_limit_us * 1000;

        int chosen = is_enabled(input, 0) ? 0 : -1;
        int shallowest = 0;
        int constraint = 0;
        std::uint32_t intercepts = 0, hits = 0;
        std::uint32_t intercepts_below = 0, hits_below = 0;
        std::uint32_t most_intercepts = 0;
        int most_intercepted = 0;
        for (int i = 1; i < table.count(); ++i) {
            const std::uint32_t intercepts_here = intercepts_[bin(i - 1)];
            intercepts += intercepts_here;
            hits += hits_[bin(i - 1)];
            if (intercepts_here >= most_intercepts) {
                most_intercepts = intercepts_here;
                most_intercepted = i - 1;
            }
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
        if (2 * intercepts_below > total_ - hits_below) {
            chosen = intercepted(input, chosen, shallowest, intercepts_below, most_intercepted);
        }
        chosen = std::min(chosen, constraint);

        const bool shallow = chosen == 0 || table.residency_ns(chosen) < kTeoWorthAskingNs;
        if (!input.tick_stopped && shallow &&
            (2 * short_idles_ >= total_ || limit_ns < kTeoWorthAskingNs / 2)) {
            return {chosen, false};
        }
        sleep_length_ns_ = input.sleep_length_ns;
        std::int64_t duration_ns = sleep_length_ns_;
        if (input.tick_stopped && duration_ns > 2 * tick_ns_ && table.residency_ns(chosen) < tick_ns_) {
            // No timer comes soon enough to end a wrong shallow choice.
            for (int i = chosen + 1; i <= constraint; ++i) {
                if (is_enabled(input, i) && table.residency_ns(i) <= duration_ns) chosen = i;
            }
            return {chosen, true};
        }
        if (chosen == 0) return {0, false};
        if (table.residency_ns(chosen) > duration_ns)
            chosen = shallower_ns(table, input, chosen, duration_ns);
        if (table.residency_ns(chosen) < tick_ns_ && 3 * tick_intercepts_ >= 2 * total_)
            duration_ns = tick_ns_ / 2;
        return with_tick(input, chosen, shallowest, duration_ns, input.next_event_ns);
    }

    const TeoBins& hits() const { return hits_; }
    const TeoBins& intercepts() const { return intercepts_; }
    std::uint32_t total() const { return total_; }
    std::uint32_t total_tick() const { return total_tick_; }
    std::uint32_t tick_intercepts() const { return tick_intercepts_; }
    std::uint32_t short_idles() const { return short_idles_; }

    Inspection inspect() const { return {.total = total_}; }

  private:
    /// Reaches zero, unlike decayed(): what is left below eight goes at once.
    static constexpr std::uint32_t decayed_to_zero(std::uint32_t value) {
        const std::uint32_t lost = value >> 3;
        return lost > 0 ? value - lost : 0;
    }

    void update(Device& device) {
        const StateTable& table = *table_;
        const std::int64_t latency_ns = table.latency_ns(last_);
        const std::int64_t duration_ns = measure(device, latency_ns);
        std::uint32_t booked = 0;
        for (std::size_t i = 0; i < hits_.size(); ++i) {
            hits_[i] = decayed_to_zero(hits_[i]);
            intercepts_[i] = decayed_to_zero(intercepts_[i]);
            booked += hits_[i] + intercepts_[i];
        }
        int timer_bin = 0;
        int reached_bin = 0;
        for (int i = 1; i < table.count(); ++i) {
            if (table.residency_ns(i) > sleep_length_ns_) continue;
            timer_bin = i;
            if (table.residency_ns(i) <= duration_ns) reached_bin = i;
        }
        total_ = booked + kPulse;
        tick_intercepts_ = decayed_to_zero(tick_intercepts_);
        total_tick_ = decayed_to_zero(total_tick_);
        if (tick_wakeup_) {
            total_tick_ += kPulse;
            // The tick says nothing about what else would have come: it counts as a hit unless intercepts
            // prevail.
            if (3 * total_tick_ > 2 * total_) {
                hits_[bin(table.count() - 1)] += kPulse;
                return;
            }
            if (3 * tick_intercepts_ < 2 * booked) {
                hits_[bin(timer_bin)] += kPulse;
                return;
            }
        }
        // Signed and wrapping, as the kernel subtracts.
        const auto missing_ns = static_cast<std::int64_t>(static_cast<std::uint64_t>(sleep_length_ns_) -
                                                          static_cast<std::uint64_t>(duration_ns));
        if (timer_bin == reached_bin && missing_ns < latency_ns / 2) {
            hits_[bin(timer_bin)] += kPulse;
        } else {
            intercepts_[bin(reached_bin)] += kPulse;
            if (duration_ns <= tick_ns_) tick_intercepts_ += kPulse;
        }
    }

    /// Length of the period for the bins, without the likely exit latency; also counts short periods.
    std::int64_t measure(Device& device, std::int64_t latency_ns) {
        short_idles_ = decayed_to_zero(short_idles_);
        if (device.poll_limit_hit) {
            device.poll_limit_hit = false;
            return kTeoInfinite;
        }
        auto duration_ns = static_cast<std::int64_t>(device.last_residency_ns);
        if (duration_ns >= latency_ns) {
            duration_ns -= latency_ns / 2;
            if (duration_ns < kTeoWorthAskingNs) short_idles_ += kPulse;
        } else {
            duration_ns /= 2;
            short_idles_ += kPulse;
        }
        return duration_ns;
    }

    int intercepted(const SelectInput& input, int chosen, int shallowest, std::uint32_t all,
                    int most_intercepted) const {
        std::uint32_t intercepts = 0;
        for (int i = chosen - 1; i >= shallowest; --i) {
            intercepts += intercepts_[bin(i)];
            if (!is_enabled(input, i)) continue;
            chosen = i;
            if (2 * intercepts > all && i <= most_intercepted) break;
        }
        return chosen;
    }

    TeoBins hits_{};
    TeoBins intercepts_{};
    std::uint32_t total_{0};
    std::uint32_t total_tick_{0};
    std::uint32_t tick_intercepts_{0};
    std::uint32_t short_idles_{0};
    bool tick_wakeup_{false};
};

}  // namespace torpor::idle
