// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

#include "torpor/idle/policy.hpp"
#include "torpor/idle/state_table.hpp"

namespace torpor::idle {

/// How long a polling state spins before it gives up. Up to 4.20: a sixteenth of the tick. 5.0 to 5.10: the
/// target residency of the first enabled deeper state. From 5.11: that of the first one of at least 10 us.
/// Each at most a sixteenth of the tick. A governor with a limit of its own (haltpoll) overrides it.
enum class PollRule { sixteenth, first_deeper, first_deeper_10us };

struct PollLimit {
    PollRule rule{PollRule::first_deeper_10us};

    std::int64_t ns(const StateTable& table, std::uint32_t disabled, const TickLength& tick) const {
        const std::int64_t cap_ns = tick.ns / 16;
        if (rule == PollRule::sixteenth) return cap_ns;
        const std::int64_t least_ns = rule == PollRule::first_deeper_10us ? 10000 : 0;
        for (int i = 1; i < table.count(); ++i) {
            if (((disabled >> i) & 1U) != 0 || table.residency_ns(i) < least_ns) continue;
            return std::min(table.residency_ns(i), cap_ns);
        }
        return cap_ns;
    }
};

/// The rule of the kernel that the policy comes from; today's for policies of no kernel.
inline PollRule poll_rule(const Policy& policy) {
    if (const auto* menu = std::get_if<Menu>(&policy)) {
        if (menu->version <= MenuVersion::v4_20) return PollRule::sixteenth;
        if (menu->version == MenuVersion::v5_4) return PollRule::first_deeper;
    }
    const auto* teo = std::get_if<Teo>(&policy);
    return teo != nullptr && teo->version == TeoVersion::v5_5 ? PollRule::first_deeper
                                                              : PollRule::first_deeper_10us;
}

}  // namespace torpor::idle
