// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "torpor/base/policy_info.hpp"
#include "torpor/idle/governor.hpp"
#include "torpor/idle/state_table.hpp"

// Which policy decides, as small values: equal, printable, parseable. The governors themselves are in files
// of their own; with_governor.hpp makes one from a policy.
namespace torpor::idle {

/// How the idle loop carries out a governor's answer while the tick is already stopped: kernels 4.17 and 4.18
/// leave it as it is, Leo Yan's patch of August 2018 restarts it, 4.19 and later stop it again.
enum class TickLoop : std::uint8_t { v4_17, leo, v4_19 };

/// Kernel releases of menu that decide differently. The four marked "4.18+" were proposed in the linux-pm
/// thread of August 2018: two readings of the patch "Correct the criteria for stopping tick" (its text is
/// lost), Rafael Wysocki's reply and Leo Yan's answer to it.
enum class MenuVersion : std::uint8_t {
    v4_18,
    v4_18_p1,
    v4_18_p2,
    v4_18_rjw_reply,
    v4_18_leo_reply,
    v4_19,
    v4_20,
    v5_4,
    v6_1,
    v6_1_192,
    v6_12_117,
    v7_0,
    v7_1,
};

/// Kernel releases of teo that decide differently.
enum class TeoVersion : std::uint8_t { v5_5, v6_1, v6_12_117, v7_1 };

/// Kernel releases of ladder that decide differently.
enum class LadderVersion : std::uint8_t { v6_1 };

/// The idle loop that shipped with a version.
constexpr TickLoop default_loop(MenuVersion version) {
    return version <= MenuVersion::v4_18_leo_reply ? TickLoop::v4_17 : TickLoop::v4_19;
}

/// The menu governor.
struct Menu {
    MenuVersion version{MenuVersion::v6_1_192};
    TickLoop loop{default_loop(version)};

    bool operator==(const Menu&) const = default;
};

/// The timer events oriented governor. `first_update`: the very first select books an idle period of length
/// zero, as on a kernel whose device starts with last state 0; false starts with nothing to book.
struct Teo {
    TeoVersion version{TeoVersion::v6_1};
    bool first_update{true};
    TickLoop loop{TickLoop::v4_19};

    bool operator==(const Teo&) const = default;
};

/// The ladder governor: one state deeper or shallower at a time.
struct Ladder {
    LadderVersion version{LadderVersion::v6_1};
    TickLoop loop{TickLoop::v4_19};

    bool operator==(const Ladder&) const = default;
};

/// The governor of KVM guests: polls for a while before it halts.
struct Haltpoll {
    TickLoop loop{TickLoop::v4_19};

    bool operator==(const Haltpoll&) const = default;
};

/// Always the same state: a baseline, not a kernel governor.
struct Fixed {
    int state{0};
    bool stop_tick{true};
    TickLoop loop{TickLoop::v4_19};

    bool operator==(const Fixed&) const = default;
};

/// Bound: knows the length of every idle period.
struct Oracle {
    std::int64_t latency_limit_us{kNoLatencyLimitUs};

    bool operator==(const Oracle&) const = default;
};

/// Bound: the oracle, but only after it has waited `delay_us` in the shallowest state.
struct DelayedOracle {
    std::int64_t delay_us{0};
    std::int64_t latency_limit_us{kNoLatencyLimitUs};

    bool operator==(const DelayedOracle&) const = default;
};

using Policy = std::variant<Menu, Teo, Ladder, Haltpoll, Fixed, Oracle, DelayedOracle>;

/// Names as users write them: "4.18+P1", "6.12.117", "4.17", "leo".
std::string_view to_string(TickLoop loop);
std::string_view to_string(MenuVersion version);
std::string_view to_string(TeoVersion version);
std::string_view to_string(LadderVersion version);

/// Their inverse. "4.18.20" is accepted as another name of menu 4.19. Each throws ConfigError that lists the
/// known names.
TickLoop parse_tick_loop(std::string_view text);
MenuVersion parse_menu_version(std::string_view text);
TeoVersion parse_teo_version(std::string_view text);
LadderVersion parse_ladder_version(std::string_view text);

/// Canonical form: the constructor call that makes the policy, with the version always shown and every other
/// parameter only where it differs from its default, e.g. "menu(version=4.18+P1, loop=leo)".
std::string to_string(const Policy& policy);

/// Reads the canonical form. Spaces around names and values, the order of parameters and missing parentheses
/// ("menu") do not matter. Throws ConfigError that lists what is known for an unknown policy, version or
/// parameter, a parameter given twice or missing, and a value that cannot be read or is out of range.
Policy parse_policy(std::string_view text);

/// Name of the policy's family: "menu", "teo", "delayed_oracle".
std::string_view name_of(const Policy& policy);

/// The idle loop that the policy runs in; bounds run in that of 4.19.
TickLoop tick_loop(const Policy& policy);

/// True for Oracle and DelayedOracle, which are told the future and so are no governors.
bool is_bound(const Policy& policy);

/// Throws ConfigError when the parameters are out of range whatever the board.
void validate(const Policy& policy);

/// Throws ConfigError when the policy cannot work on this table: a fixed state that it lacks, haltpoll
/// without a polling state.
void validate(const Policy& policy, const StateTable& table);

/// Every policy that parse_policy() knows.
std::vector<PolicyInfo> known_policies();

}  // namespace torpor::idle
