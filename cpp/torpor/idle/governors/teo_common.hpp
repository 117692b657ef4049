// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "torpor/idle/governor.hpp"
#include "torpor/idle/governors/inspection.hpp"
#include "torpor/idle/governors/walk.hpp"

// What the timer events oriented governors share. They sort idle periods into one bin per state: a duration
// belongs to the deepest state whose target residency it reaches. A period that ends in the bin of the next
// timer is a hit, one that ends in a shallower bin an intercept.
namespace torpor::idle {

/// Weight of one period; every bin loses an eighth per period.
inline constexpr std::uint32_t kPulse = 1024;

/// Residencies below this are too short to be worth a look at the timers.
inline constexpr std::int64_t kTeoWorthAskingNs = 15000;

/// "As long as the timer allowed": more than every residency.
inline constexpr std::int64_t kTeoInfinite = std::numeric_limits<std::int64_t>::max();

constexpr std::uint32_t decayed(std::uint32_t value) {
    return value - (value >> 3);
}

/// One counter per bin. The unused ones stay zero, so loops over all of them have a constant length.
using TeoBins = std::array<std::uint32_t, kMaxStates>;

constexpr std::size_t bin(int state) {
    return static_cast<std::size_t>(state);
}

class TeoBase {
  public:
    std::int64_t sleep_length_ns() const { return sleep_length_ns_; }

  protected:
    /// `first_update`: the first select books a period, as on a kernel whose device starts with last state 0.
    TeoBase(const StateTable& table, const TickLength& tick, bool first_update)
        : table_{&table}, tick_ns_{tick.ns}, last_{first_update ? 0 : kNothingToBook} {}

    static constexpr int kNothingToBook = -1;

    /// With the tick stopped a state shorter than one tick must not be chosen on a guess: nothing would
    /// correct it.
    bool acceptable(const SelectInput& input, std::int64_t duration_ns) const {
        return !input.tick_stopped || duration_ns >= tick_ns_;
    }

    /// Decides about the tick, and steps back to a state that fits before the next event if it is kept.
    Selection with_tick(const SelectInput& input, int chosen, int shallowest, std::int64_t duration_ns,
                        std::int64_t next_event_ns) const {
        const StateTable& table = *table_;
        if (input.tick_stopped || (!table.polling(chosen) && duration_ns >= tick_ns_)) return {chosen, true};
        if (chosen > shallowest && table.residency_ns(chosen) > next_event_ns) {
            chosen = shallower_ns(table, input, chosen, next_event_ns);
        }
        return {chosen, false};
    }

    const StateTable* table_;
    std::int64_t tick_ns_;
    /// Time to the next timer as seen by the last select; infinite where it was not asked for.
    std::int64_t sleep_length_ns_{0};
    /// State of the period that is still to be booked.
    int last_;
};

/// Up to 6.12: the governor measures the period itself, with the local clock, to learn whether the timer
/// ended it.
class TimedTeo : public TeoBase {
  public:
    void reflect(int state, bool tick_wakeup, std::int64_t now_ns, Device& device) {
        last_ = state;
        if (device.poll_limit_hit || (tick_wakeup && sleep_length_ns_ > tick_ns_)) {
            device.poll_limit_hit = false;
            span_ns_ = static_cast<std::uint64_t>(sleep_length_ns_);
        } else {
            span_ns_ = static_cast<std::uint64_t>(now_ns) - span_ns_;
        }
    }

  protected:
    using TeoBase::TeoBase;

    void start_span(std::int64_t now_ns) { span_ns_ = static_cast<std::uint64_t>(now_ns); }
    std::uint64_t span_ns() const { return span_ns_; }

    /// Length of a period for the bins: infinite if it lasted until the timer, else without the likely exit
    /// latency.
    std::int64_t booked_ns(std::uint64_t measured_ns) const {
        const auto latency_ns = static_cast<std::uint64_t>(table_->latency_ns(last_));
        const std::uint64_t long_ns = measured_ns - latency_ns / 2;
        measured_ns = measured_ns >= latency_ns ? long_ns : measured_ns / 2;
        measured_ns = span_ns_ >= static_cast<std::uint64_t>(sleep_length_ns_) ? kTeoInfinite : measured_ns;
        return static_cast<std::int64_t>(std::min(measured_ns, std::uint64_t{kTeoInfinite}));
    }

  private:
    std::uint64_t span_ns_{0};
};

}  // namespace torpor::idle
