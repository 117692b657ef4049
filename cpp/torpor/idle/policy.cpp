// SPDX-License-Identifier: MIT
#include "torpor/idle/policy.hpp"

#include <array>
#include <span>
#include <type_traits>
#include <utility>

#include "torpor/base/call_text.hpp"
#include "torpor/base/error.hpp"

namespace torpor::idle {

namespace {

// In the order of the enumerators.
constexpr std::array<std::string_view, 3> kLoops{"4.17", "leo", "4.19"};
constexpr std::array<std::string_view, 13> kMenuVersions{
    "4.18", "4.18+P1", "4.18+P2", "4.18+rjw-reply", "4.18+leo-reply", "4.19",
    "4.20", "5.4",     "6.1",     "6.1.192",        "6.12.117",       "7.0",
    "7.1"};
constexpr std::array<std::string_view, 4> kTeoVersions{"5.5", "6.1", "6.12.117", "7.1"};
constexpr std::array<std::string_view, 1> kLadderVersions{"6.1"};
// In the order of the variant's alternatives.
constexpr std::array<std::string_view, 7> kNames{"menu",  "teo",    "ladder",        "haltpoll",
                                                 "fixed", "oracle", "delayed_oracle"};

constexpr auto kAsLoop = [](std::string_view text, const std::string& key) {
    return parse_name<TickLoop>(text, kLoops, key);
};
constexpr auto kAsMenuVersion = [](std::string_view text, const std::string& key) {
    return text == "4.18.20" ? MenuVersion::v4_19 : parse_name<MenuVersion>(text, kMenuVersions, key);
};
constexpr auto kAsTeoVersion = [](std::string_view text, const std::string& key) {
    return parse_name<TeoVersion>(text, kTeoVersions, key);
};
constexpr auto kAsLadderVersion = [](std::string_view text, const std::string& key) {
    return parse_name<LadderVersion>(text, kLadderVersions, key);
};

void read_arguments(Arguments& arguments, Menu& menu) {
    arguments.read("version", menu.version, kAsMenuVersion);
    menu.loop = default_loop(menu.version);
    arguments.read("loop", menu.loop, kAsLoop);
}

void read_arguments(Arguments& arguments, Teo& teo) {
    arguments.read("version", teo.version, kAsTeoVersion);
    arguments.read("first_update", teo.first_update, parse_bool);
    arguments.read("loop", teo.loop, kAsLoop);
}

void read_arguments(Arguments& arguments, Ladder& ladder) {
    arguments.read("version", ladder.version, kAsLadderVersion);
    arguments.read("loop", ladder.loop, kAsLoop);
}

void read_arguments(Arguments& arguments, Haltpoll& haltpoll) {
    arguments.read("loop", haltpoll.loop, kAsLoop);
}

void read_arguments(Arguments& arguments, Fixed& fixed) {
    const auto state = parse_integer(arguments.require("state"), arguments.key("state"));
    require_range(arguments.key("state"), state, 0, kMaxStates - 1);
    fixed.state = static_cast<int>(state);
    arguments.read("stop_tick", fixed.stop_tick, parse_bool);
    arguments.read("loop", fixed.loop, kAsLoop);
}

void read_arguments(Arguments& arguments, Oracle& oracle) {
    arguments.read("latency_limit_us", oracle.latency_limit_us, parse_integer);
}

void read_arguments(Arguments& arguments, DelayedOracle& oracle) {
    oracle.delay_us = parse_integer(arguments.require("delay_us"), arguments.key("delay_us"));
    arguments.read("latency_limit_us", oracle.latency_limit_us, parse_integer);
}

template <std::size_t Index = 0>
Policy parse_alternative(std::size_t index, Arguments& arguments) {
    if constexpr (Index < std::variant_size_v<Policy>) {
        if (index != Index) return parse_alternative<Index + 1>(index, arguments);
        std::variant_alternative_t<Index, Policy> policy;
        read_arguments(arguments, policy);
        return policy;
    } else {
        throw InternalError{"policy index out of range"};
    }
}

Call& show_loop(Call& call, TickLoop loop, TickLoop usual) {
    return loop == usual ? call : call.show("loop", to_string(loop));
}

void describe(Call& call, const Menu& menu) {
    show_loop(call.show("version", to_string(menu.version)), menu.loop, default_loop(menu.version));
}

void describe(Call& call, const Teo& teo) {
    call.show("version", to_string(teo.version))
        .show_unless_default("first_update", teo.first_update, Teo{}.first_update);
    show_loop(call, teo.loop, Teo{}.loop);
}

void describe(Call& call, const Ladder& ladder) {
    show_loop(call.show("version", to_string(ladder.version)), ladder.loop, Ladder{}.loop);
}

void describe(Call& call, const Haltpoll& haltpoll) {
    show_loop(call, haltpoll.loop, Haltpoll{}.loop);
}

void describe(Call& call, const Fixed& fixed) {
    call.show("state", std::to_string(fixed.state))
        .show_unless_default("stop_tick", fixed.stop_tick, Fixed{}.stop_tick);
    show_loop(call, fixed.loop, Fixed{}.loop);
}

void describe(Call& call, const Oracle& oracle) {
    call.show_unless_default("latency_limit_us", oracle.latency_limit_us, kNoLatencyLimitUs);
}

void describe(Call& call, const DelayedOracle& oracle) {
    call.show("delay_us", std::to_string(oracle.delay_us))
        .show_unless_default("latency_limit_us", oracle.latency_limit_us, kNoLatencyLimitUs);
}

std::vector<std::string> listed(std::span<const std::string_view> names) {
    return {names.begin(), names.end()};
}

ParameterInfo loop_parameter(std::string default_value) {
    return {"loop", std::move(default_value),
            "idle loop: what happens to a tick that is already stopped (" + joined(kLoops) + ")"};
}

ParameterInfo limit_parameter() {
    return {"latency_limit_us", std::to_string(kNoLatencyLimitUs),
            "largest exit latency that it may choose, microseconds"};
}

}  // namespace

std::string_view to_string(TickLoop loop) {
    return kLoops[static_cast<std::size_t>(loop)];
}
std::string_view to_string(MenuVersion version) {
    return kMenuVersions[static_cast<std::size_t>(version)];
}
std::string_view to_string(TeoVersion version) {
    return kTeoVersions[static_cast<std::size_t>(version)];
}
std::string_view to_string(LadderVersion version) {
    return kLadderVersions[static_cast<std::size_t>(version)];
}

TickLoop parse_tick_loop(std::string_view text) {
    return kAsLoop(text, "loop");
}
MenuVersion parse_menu_version(std::string_view text) {
    return kAsMenuVersion(text, "menu.version");
}
TeoVersion parse_teo_version(std::string_view text) {
    return kAsTeoVersion(text, "teo.version");
}
LadderVersion parse_ladder_version(std::string_view text) {
    return kAsLadderVersion(text, "ladder.version");
}

std::string to_string(const Policy& policy) {
    Call call{name_of(policy)};
    std::visit([&call](const auto& value) { describe(call, value); }, policy);
    return call.str();
}

Policy parse_policy(std::string_view text) {
    const CallText call = split_call(text, "policy");
    const auto index = parse_name<std::size_t>(call.name, kNames, "policy");
    Arguments arguments{call.name, call.arguments};
    Policy policy = parse_alternative(index, arguments);
    arguments.finish();
    validate(policy);
    return policy;
}

std::string_view name_of(const Policy& policy) {
    return kNames[policy.index()];
}

TickLoop tick_loop(const Policy& policy) {
    return std::visit(
        [](const auto& value) {
            if constexpr (requires { value.loop; }) {
                return value.loop;
            } else {
                return TickLoop::v4_19;
            }
        },
        policy);
}

bool is_bound(const Policy& policy) {
    return std::holds_alternative<Oracle>(policy) || std::holds_alternative<DelayedOracle>(policy);
}

void validate(const Policy& policy) {
    const std::string name{name_of(policy)};
    std::visit(
        [&name](const auto& value) {
            if constexpr (requires { value.state; })
                require_range(name + ".state", value.state, 0, kMaxStates - 1);
            if constexpr (requires { value.delay_us; })
                require_range(name + ".delay_us", value.delay_us, 0, 1000000000);
            if constexpr (requires { value.latency_limit_us; }) {
                require_range(name + ".latency_limit_us", value.latency_limit_us, 0, kNoLatencyLimitUs);
            }
        },
        policy);
}

void validate(const Policy& policy, const StateTable& table) {
    validate(policy);
    if (const auto* fixed = std::get_if<Fixed>(&policy); fixed != nullptr && fixed->state >= table.count()) {
        throw ConfigError{"fixed.state", std::to_string(fixed->state) +
                                             " is not a state of this table; it has 0.." +
                                             std::to_string(table.count() - 1)};
    }
    if (std::holds_alternative<Haltpoll>(policy) && (table.count() < 2 || !table.polling(0))) {
        throw ConfigError{"haltpoll",
                          "needs a polling state 0 and a state 1 to halt in; this table lacks them"};
    }
}

std::vector<PolicyInfo> known_policies() {
    return {
        {"menu",
         "predicts the idle period from the next timer, corrected by experience, and from repeating "
         "intervals",
         "drivers/cpuidle/governors/menu.c of the releases named; variants '+' from linux-pm, August 2018",
         false,
         listed(kMenuVersions),
         {{"version", std::string{to_string(Menu{}.version)},
           "kernel release (4.18.20 is another name of 4.19)"},
          loop_parameter("4.17 for 4.18 and its variants, else 4.19")}},
        {"teo",
         "trusts the next timer unless recent wakeups came earlier than it",
         "drivers/cpuidle/governors/teo.c of the releases named",
         false,
         listed(kTeoVersions),
         {{"version", std::string{to_string(Teo{}.version)}, "kernel release"},
          {"first_update", "true", "the first decision books an idle period of length zero"},
          loop_parameter("4.19")}},
        {"ladder",
         "climbs to deeper states step by step while idle periods stay long enough",
         "drivers/cpuidle/governors/ladder.c",
         false,
         listed(kLadderVersions),
         {{"version", std::string{to_string(Ladder{}.version)}, "kernel release"}, loop_parameter("4.19")}},
        {"haltpoll",
         "polls before it halts, for guests under KVM",
         "drivers/cpuidle/governors/haltpoll.c",
         false,
         {},
         {loop_parameter("4.19")}},
        {"fixed",
         "always the same state",
         "baseline of our own",
         false,
         {},
         {{"state", "", "index of the state; a disabled one is replaced by the next shallower enabled one"},
          {"stop_tick", "true", "answer about the tick"},
          loop_parameter("4.19")}},
        {"oracle",
         "knows when each idle period ends and takes the cheapest state for it",
         "bound of our own",
         true,
         {},
         {limit_parameter()}},
        {"delayed_oracle",
         "waits in the shallowest state, then knows when the next wakeup comes",
         "bound of our own",
         true,
         {},
         {{"delay_us", "", "time spent in the shallowest state first, microseconds"}, limit_parameter()}},
    };
}

}  // namespace torpor::idle
