// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "torpor/idle/governor.hpp"
#include "torpor/idle/state_table.hpp"

// Small steps over a state table that several governors share.
namespace torpor::idle {

inline bool is_enabled(const SelectInput& input, int state) {
    return ((input.disabled >> state) & 1u) == 0;
}

/// Walks down the enabled states below `state` and stops at the first whose target residency is at most
/// `limit_ns`; the shallowest enabled one if none is; `state` itself if nothing below it is enabled.
inline int shallower_ns(const StateTable& table, const SelectInput& input, int state, std::int64_t limit_ns) {
    for (int i = state - 1; i >= 0; --i) {
        if (!is_enabled(input, i)) continue;
        state = i;
        if (table.residency_ns(i) <= limit_ns) break;
    }
    return state;
}

/// The same in whole microseconds, as kernels up to 5.4 compare.
inline int shallower_us(const StateTable& table, const SelectInput& input, int state,
                        std::uint32_t limit_us) {
    for (int i = state - 1; i >= 0; --i) {
        if (!is_enabled(input, i)) continue;
        state = i;
        if (table.residency_us(i) <= limit_us) break;
    }
    return state;
}

}  // namespace torpor::idle
