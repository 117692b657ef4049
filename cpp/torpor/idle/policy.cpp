// SPDX-License-Identifier: MIT
#include "torpor/idle/policy.hpp"

#include <array>
#include <charconv>
#include <span>
#include <type_traits>
#include <utility>

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

template <class Names>
std::string joined(const Names& names) {
    std::string text;
    for (const auto& name : names) {
        if (!text.empty()) text += ", ";
        text += name;
    }
    return text;
}

std::string quoted(std::string_view text) {
    return std::string{"'"}.append(text).append("'");
}

template <class Enum>
Enum parse_name(std::string_view text, std::span<const std::string_view> names, const std::string& key) {
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == text) return static_cast<Enum>(i);
    }
    throw ConfigError{key, quoted(text) + " is unknown; known: " + joined(names)};
}

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(' ');
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::int64_t parse_integer(std::string_view text, const std::string& key) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || text.empty()) {
        throw ConfigError{key, quoted(text) + " is not a whole number"};
    }
    return value;
}

bool parse_bool(std::string_view text, const std::string& key) {
    if (text == "true") return true;
    if (text == "false") return false;
    throw ConfigError{key, quoted(text) + " is neither true nor false"};
}

void require_range(const std::string& key, std::int64_t value, std::int64_t low, std::int64_t high) {
    if (value >= low && value <= high) return;
    throw ConfigError{key, std::to_string(value) + " is out of range; it must be " + std::to_string(low) +
                               ".." + std::to_string(high)};
}

/// The parameters of one policy string, taken out one by one; what is left over at the end is unknown.
class Arguments {
  public:
    Arguments(std::string_view name, std::string_view list) : name_{name} {
        while (!list.empty()) {
            const auto comma = list.find(',');
            add(trimmed(list.substr(0, comma)));
            if (comma == std::string_view::npos) break;
            list.remove_prefix(comma + 1);
            if (trimmed(list).empty())
                throw ConfigError{name_, "a parameter is missing after the last comma"};
        }
    }

    /// Value of a parameter, or nullptr.
    const std::string_view* take(std::string_view parameter) {
        known_.emplace_back(parameter);
        for (auto& [key, value] : given_) {
            if (key != parameter) continue;
            ++taken_;
            return &value;
        }
        return nullptr;
    }

    std::string key(std::string_view parameter) const { return name_ + "." + std::string{parameter}; }

    template <class Value, class Parse>
    void read(std::string_view parameter, Value& target, Parse parse) {
        if (const auto* text = take(parameter)) target = parse(*text, key(parameter));
    }

    std::string_view require(std::string_view parameter) {
        if (const auto* text = take(parameter)) return *text;
        throw ConfigError{key(parameter),
                          "must be given, e.g. " + name_ + "(" + std::string{parameter} + "=1)"};
    }

    /// Throws for the first parameter that nobody has asked for.
    void finish() const {
        if (taken_ == given_.size()) return;
        for (const auto& [parameter, value] : given_) {
            bool is_known = false;
            for (const auto& known : known_) is_known = is_known || known == parameter;
            if (!is_known) {
                throw ConfigError{key(parameter),
                                  "is no parameter of " + name_ + "; known: " + joined(known_)};
            }
        }
    }

  private:
    void add(std::string_view text) {
        const auto equals = text.find('=');
        if (equals == std::string_view::npos) {
            throw ConfigError{name_, quoted(text) + " is not of the form parameter=value"};
        }
        const auto parameter = trimmed(text.substr(0, equals));
        for (const auto& [known, value] : given_) {
            if (known == parameter) throw ConfigError{key(parameter), "is given twice"};
        }
        given_.emplace_back(parameter, trimmed(text.substr(equals + 1)));
    }

    std::string name_;
    std::vector<std::pair<std::string_view, std::string_view>> given_;
    std::vector<std::string> known_;
    std::size_t taken_{0};
};

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

/// Writes "name(a=b, c=d)".
class Call {
  public:
    explicit Call(std::string_view name) : text_{std::string{name} + "("} {}

    Call& show(std::string_view parameter, std::string_view value) {
        if (text_.back() != '(') text_ += ", ";
        ((text_ += parameter) += "=") += value;
        return *this;
    }
    Call& show_unless_default(std::string_view parameter, TickLoop loop, TickLoop usual) {
        return loop == usual ? *this : show(parameter, to_string(loop));
    }
    Call& show_unless_default(std::string_view parameter, bool value, bool usual) {
        return value == usual ? *this : show(parameter, value ? "true" : "false");
    }
    Call& show_unless_default(std::string_view parameter, std::int64_t value, std::int64_t usual) {
        return value == usual ? *this : show(parameter, std::to_string(value));
    }
    std::string str() const { return text_ + ")"; }

  private:
    std::string text_;
};

void describe(Call& call, const Menu& menu) {
    call.show("version", to_string(menu.version))
        .show_unless_default("loop", menu.loop, default_loop(menu.version));
}

void describe(Call& call, const Teo& teo) {
    call.show("version", to_string(teo.version))
        .show_unless_default("first_update", teo.first_update, Teo{}.first_update)
        .show_unless_default("loop", teo.loop, Teo{}.loop);
}

void describe(Call& call, const Ladder& ladder) {
    call.show("version", to_string(ladder.version)).show_unless_default("loop", ladder.loop, Ladder{}.loop);
}

void describe(Call& call, const Haltpoll& haltpoll) {
    call.show_unless_default("loop", haltpoll.loop, Haltpoll{}.loop);
}

void describe(Call& call, const Fixed& fixed) {
    call.show("state", std::to_string(fixed.state))
        .show_unless_default("stop_tick", fixed.stop_tick, Fixed{}.stop_tick)
        .show_unless_default("loop", fixed.loop, Fixed{}.loop);
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
    const auto whole = trimmed(text);
    const auto open = whole.find('(');
    const auto name = trimmed(whole.substr(0, open));
    const auto index = parse_name<std::size_t>(name, kNames, "policy");
    std::string_view list;
    if (open != std::string_view::npos) {
        if (whole.back() != ')')
            throw ConfigError{"policy", quoted(whole) + " lacks the closing parenthesis"};
        list = trimmed(whole.substr(open + 1, whole.size() - open - 2));
    }
    Arguments arguments{name, list};
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
