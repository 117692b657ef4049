// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "torpor/idle/energy.hpp"
#include "torpor/idle/governor.hpp"
#include "torpor/idle/policy.hpp"

// Bounds, not governors: they are told when the next wakeup comes, which no kernel can know.
namespace torpor::idle {

/// Chooses the state in which one idle period of known length costs the CPU least (ClusterPower::period_mj;
/// the deeper one of equals), among the enabled ones whose exit latency is within the limit, or the first
/// enabled one if none is. A board without power data gets the deepest state whose target residency fits,
/// which by definition of that residency is the same. The tick is always stopped, and clusters go down in
/// hindsight (Coordination). With `delay_ns`, every period first spends that long in the shallowest enabled
/// state: the price of a policy that has to watch before it knows.
///
/// A bound on the same idle periods: that of a replay, and of any load whose gaps are longer than the
/// wake-ups. Where interrupts come faster than the CPU wakes, a slow wake-up serves several at once and makes
/// fewer periods; there a policy that is late can come below it.
class OracleChooser {
  public:
    OracleChooser(const StateTable& table, std::optional<ClusterPower> power,
                  std::span<const std::int64_t> wake_ns, std::int64_t latency_limit_us, std::int64_t delay_ns)
        : table_{&table}, power_{power}, latency_limit_us_{latency_limit_us}, delay_ns_{delay_ns} {
        for (std::size_t i = 0; i < wake_ns.size(); ++i) wake_ns_[i] = wake_ns[i];
    }

    std::int64_t delay_ns() const { return delay_ns_; }

    int shallowest(std::uint32_t disabled) const {
        for (int i = 0; i < table_->count(); ++i) {
            if (((disabled >> i) & 1U) == 0) return i;
        }
        return 0;
    }

    /// `gap_ns`: from the entry to the next wakeup.
    int best(std::int64_t gap_ns, std::int64_t latency_limit_us, std::uint32_t disabled) const {
        const std::int64_t limit_ns = std::min(latency_limit_us, latency_limit_us_) * 1000;
        int best = shallowest(disabled);
        double best_mj = energy_mj(best, gap_ns);
        for (int i = best + 1; i < table_->count(); ++i) {
            if (((disabled >> i) & 1U) != 0 || table_->latency_ns(i) > limit_ns) continue;
            if (!power_) {
                if (table_->residency_ns(i) <= gap_ns + wake_ns_[static_cast<std::size_t>(i)]) best = i;
                continue;
            }
            const double mj = energy_mj(i, gap_ns);
            if (mj <= best_mj) {
                best = i;
                best_mj = mj;
            }
        }
        return best;
    }

  private:
    double energy_mj(int state, std::int64_t gap_ns) const {
        return power_ ? power_->period_mj(state, gap_ns + wake_ns_[static_cast<std::size_t>(state)]) : 0.0;
    }

    const StateTable* table_;
    std::optional<ClusterPower> power_;
    std::array<std::int64_t, kMaxStates> wake_ns_{};
    std::int64_t latency_limit_us_;
    std::int64_t delay_ns_;
};

}  // namespace torpor::idle
