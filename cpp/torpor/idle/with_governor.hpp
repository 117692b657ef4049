// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "torpor/base/error.hpp"
#include "torpor/idle/governors/fixed.hpp"
#include "torpor/idle/governors/haltpoll.hpp"
#include "torpor/idle/governors/ladder.hpp"
#include "torpor/idle/governors/menu_4_18.hpp"
#include "torpor/idle/governors/menu_4_19.hpp"
#include "torpor/idle/governors/menu_5_4.hpp"
#include "torpor/idle/governors/menu_6_1.hpp"
#include "torpor/idle/governors/menu_7_1.hpp"
#include "torpor/idle/governors/teo_5_5.hpp"
#include "torpor/idle/governors/teo_6_1.hpp"
#include "torpor/idle/governors/teo_6_12.hpp"
#include "torpor/idle/governors/teo_7_1.hpp"
#include "torpor/idle/policy.hpp"

namespace torpor::idle {

namespace detail {

template <class F>
decltype(auto) with_menu(MenuVersion version, const StateTable& table, const TickLength& tick, F&& f) {
    switch (version) {
        case MenuVersion::v4_18:
            return f(Menu418<August2018::released>{table, tick});
        case MenuVersion::v4_18_p1:
            return f(Menu418<August2018::p1>{table, tick});
        case MenuVersion::v4_18_p2:
            return f(Menu418<August2018::p2>{table, tick});
        case MenuVersion::v4_18_rjw_reply:
            return f(Menu418<August2018::rjw_reply>{table, tick});
        case MenuVersion::v4_18_leo_reply:
            return f(Menu418<August2018::leo_reply>{table, tick});
        case MenuVersion::v4_19:
            return f(Menu419{table, tick});
        case MenuVersion::v4_20:
            return f(Menu420{table, tick});
        case MenuVersion::v5_4:
            return f(Menu54{table, tick});
        case MenuVersion::v6_1:
            return f(Menu61{table, tick});
        case MenuVersion::v6_1_192:
            return f(Menu61192{table, tick});
        case MenuVersion::v6_12_117:
            return f(Menu612117{table, tick});
        case MenuVersion::v7_0:
            return f(Menu70{table, tick});
        case MenuVersion::v7_1:
            return f(Menu71{table, tick});
    }
    throw InternalError{"menu version out of range"};
}

template <class F>
decltype(auto) with_teo(const Teo& teo, const StateTable& table, const TickLength& tick, F&& f) {
    switch (teo.version) {
        case TeoVersion::v5_5:
            return f(Teo55{table, tick, teo.first_update});
        case TeoVersion::v6_1:
            return f(Teo61{table, tick, teo.first_update});
        case TeoVersion::v6_12_117:
            return f(Teo612117{table, tick, teo.first_update});
        case TeoVersion::v7_1:
            return f(Teo71{table, tick, teo.first_update});
    }
    throw InternalError{"teo version out of range"};
}

}  // namespace detail

/// Calls `f` with a fresh governor of the policy, as an rvalue of its own type: `f` is instantiated once per
/// governor, and nothing in it is called indirectly. The governor refers to `table`, which must outlive it.
/// Throws ConfigError when the policy does not fit the table or is a bound.
template <class F>
decltype(auto) with_governor(const Policy& policy, const StateTable& table, const TickLength& tick, F&& f) {
    using Returned = decltype(f(Menu61{table, tick}));
    validate(policy, table);
    return std::visit(
        [&]<class P>(const P& value) -> Returned {
            if constexpr (std::is_same_v<P, Menu>) {
                return detail::with_menu(value.version, table, tick, f);
            } else if constexpr (std::is_same_v<P, Teo>) {
                return detail::with_teo(value, table, tick, f);
            } else if constexpr (std::is_same_v<P, Ladder>) {
                return f(Ladder61{table, tick});
            } else if constexpr (std::is_same_v<P, Haltpoll>) {
                return f(HaltpollGovernor{table, tick});
            } else if constexpr (std::is_same_v<P, Fixed>) {
                return f(FixedGovernor{table, tick, value.state, value.stop_tick});
            } else {
                throw ConfigError{"policy", to_string(policy) + " is a bound, not a governor"};
            }
        },
        policy);
}

}  // namespace torpor::idle
