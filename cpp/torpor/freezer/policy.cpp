// SPDX-License-Identifier: MIT
#include "torpor/freezer/policy.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <initializer_list>
#include <span>

#include "torpor/base/call_text.hpp"
#include "torpor/base/error.hpp"

namespace torpor::freezer {

namespace {

// In the order of the variants' alternatives.
constexpr std::array<std::string_view, 3> kNames{"freezer", "cgroup1", "cgroup2"};
constexpr std::array<std::string_view, 3> kSleeps{"msleep", "backoff", "notify"};

constexpr std::array<std::string_view, 1> kMsleepParameters{"msleep_ms"};
constexpr std::array<std::string_view, 5> kBackoffParameters{"first_us", "growth", "cap_us", "lower",
                                                             "clamp"};
constexpr std::array<std::span<const std::string_view>, 3> kSleepParameters{
    std::span<const std::string_view>{kMsleepParameters},
    std::span<const std::string_view>{kBackoffParameters}, std::span<const std::string_view>{}};

constexpr std::int64_t kMinuteMs = 60'000;
constexpr std::int64_t kMinuteUs = 60'000'000;

Sleep sleep_of_kind(std::size_t kind) {
    switch (kind) {
        case 0:
            return Msleep{};
        case 1:
            return Backoff{};
        default:
            return Notify{};
    }
}

// A parameter that the chosen sleep does not have would be ignored, so it is refused.
void refuse_parameters_of_others(Arguments& arguments, std::size_t kind) {
    const std::string known =
        kSleepParameters[kind].empty() ? "it has none" : "known: " + joined(kSleepParameters[kind]);
    for (std::size_t other = 0; other < kSleepParameters.size(); ++other) {
        if (other == kind) continue;
        for (const std::string_view parameter : kSleepParameters[other]) {
            if (arguments.take(parameter) == nullptr) continue;
            throw ConfigError{arguments.key(parameter),
                              std::string{"is no parameter of "}.append(kSleeps[kind]) + "; " + known};
        }
    }
}

void read_sleep(Arguments& arguments, Msleep& msleep) {
    arguments.read("msleep_ms", msleep.ms, parse_integer);
}

void read_sleep(Arguments& arguments, Backoff& backoff) {
    arguments.read("first_us", backoff.first_us, parse_integer);
    arguments.read("growth", backoff.growth, parse_number);
    arguments.read("cap_us", backoff.cap_us, parse_integer);
    arguments.read("lower", backoff.lower, parse_number);
    arguments.read("clamp", backoff.clamp, parse_bool);
}

void read_sleep(Arguments&, Notify&) {}

Freezer parse_freezer(Arguments& arguments, Version version) {
    Freezer freezer{version, default_sleep(version)};
    if (const auto* text = arguments.take("sleep")) {
        const auto kind = parse_name<std::size_t>(*text, kSleeps, arguments.key("sleep"));
        if (kind != freezer.sleep.index()) freezer.sleep = sleep_of_kind(kind);
    }
    std::visit([&arguments](auto& sleep) { read_sleep(arguments, sleep); }, freezer.sleep);
    refuse_parameters_of_others(arguments, freezer.sleep.index());
    return freezer;
}

Policy parse_call(const CallText& call, Arguments& arguments) {
    if (call.name == kNames[0]) {
        Version version = Freezer{}.version;
        arguments.read("version", version, parse_version);
        return parse_freezer(arguments, version);
    }
    if (call.name == kNames[1]) {
        Cgroup1 cgroup;
        arguments.read("version", cgroup.version, parse_version);
        arguments.read("poll_us", cgroup.poll_us, parse_integer);
        arguments.read("tries", cgroup.tries, parse_integer);
        return cgroup;
    }
    Cgroup2 cgroup;
    arguments.read("since_notification_us", cgroup.since_notification_us, parse_integer);
    return cgroup;
}

bool is_one_of(std::string_view text, std::span<const std::string_view> names) {
    return std::find(names.begin(), names.end(), text) != names.end();
}

bool is_version(std::string_view text) {
    return text == "v3.11" || is_one_of(text, version_names());
}

void describe(Call& call, const Msleep& msleep) {
    call.show_unless_default("msleep_ms", msleep.ms, Msleep{}.ms);
}

void describe(Call& call, const Backoff& backoff) {
    constexpr Backoff kUsual;
    call.show_unless_default("first_us", backoff.first_us, kUsual.first_us)
        .show_unless_default("growth", backoff.growth, kUsual.growth)
        .show_unless_default("cap_us", backoff.cap_us, kUsual.cap_us)
        .show_unless_default("lower", backoff.lower, kUsual.lower)
        .show_unless_default("clamp", backoff.clamp, kUsual.clamp);
}

void describe(Call&, const Notify&) {}

void describe(Call& call, const Freezer& freezer) {
    call.show("version", to_string(freezer.version));
    if (freezer.sleep.index() != default_sleep(freezer.version).index()) {
        call.show("sleep", name_of(freezer.sleep));
    }
    std::visit([&call](const auto& sleep) { describe(call, sleep); }, freezer.sleep);
}

void describe(Call& call, const Cgroup1& cgroup) {
    call.show("version", to_string(cgroup.version))
        .show_unless_default("poll_us", cgroup.poll_us, Cgroup1{}.poll_us)
        .show_unless_default("tries", cgroup.tries, Cgroup1{}.tries);
}

void describe(Call& call, const Cgroup2& cgroup) {
    call.show_unless_default("since_notification_us", cgroup.since_notification_us,
                             Cgroup2{}.since_notification_us);
}

std::string shortest(double value) {
    std::array<char, 32> digits{};
    return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
}

void require_number(const std::string& key, double value, int low, int high) {
    if (value >= low && value <= high) return;
    throw ConfigError{key, shortest(value) + " is out of range; it must be " + std::to_string(low) + ".." +
                               std::to_string(high)};
}

void check(const Msleep& msleep) {
    require_range("freezer.msleep_ms", msleep.ms, 0, kMinuteMs);
}

void check(const Backoff& backoff) {
    require_range("freezer.first_us", backoff.first_us, 1, 1'000'000);
    require_number("freezer.growth", backoff.growth, 1, 64);
    require_range("freezer.cap_us", backoff.cap_us, 1, kMinuteUs);
    require_number("freezer.lower", backoff.lower, 0, 1);
    if (BackoffState{backoff}.low_ns() == 0) {
        throw ConfigError{"freezer.lower",
                          shortest(backoff.lower) + " is too small; lower * first_us must not round to 0 ns"};
    }
}

void check(const Notify&) {}

void check(const Freezer& freezer) {
    std::visit([](const auto& sleep) { check(sleep); }, freezer.sleep);
}

void check(const Cgroup1& cgroup) {
    require_range("cgroup1.poll_us", cgroup.poll_us, 0, kMinuteUs);
    require_range("cgroup1.tries", cgroup.tries, 1, 1'000'000'000);
}

void check(const Cgroup2& cgroup) {
    require_range("cgroup2.since_notification_us", cgroup.since_notification_us, 0, kMinuteUs);
}

std::vector<std::string> listed(std::span<const std::string_view> names) {
    return {names.begin(), names.end()};
}

}  // namespace

Sleep default_sleep(Version version) {
    switch (version) {
        case Version::v3_9:
        case Version::p2:
        case Version::skip_only:
            return Msleep{};
        case Version::ideal:
            return Notify{};
        default:
            return Backoff{};
    }
}

std::string to_string(const Policy& policy) {
    Call call{kNames[policy.index()]};
    std::visit([&call](const auto& value) { describe(call, value); }, policy);
    return call.str();
}

Policy parse_policy(std::string_view text) {
    const CallText call = split_call(text, "policy");
    const bool is_short = is_version(call.name);
    if (!is_short && !is_one_of(call.name, kNames)) {
        throw ConfigError{"policy", quoted(call.name) + " is unknown; known: " + joined(kNames) +
                                        ", or a version by itself: " + joined(version_names())};
    }
    Arguments arguments{is_short ? kNames[0] : call.name, call.arguments};
    if (is_short && arguments.take("version") != nullptr) {
        throw ConfigError{arguments.key("version"), "is given twice; the policy is named by its version"};
    }
    Policy policy =
        is_short ? parse_freezer(arguments, parse_version(call.name, "policy")) : parse_call(call, arguments);
    arguments.finish();
    validate(policy);
    return policy;
}

Version parse_version(std::string_view text, const std::string& key) {
    return text == "v3.11" ? Version::full : parse_name<Version>(text, version_names(), key);
}

std::string_view name_of(const Sleep& sleep) {
    return kSleeps[sleep.index()];
}

void validate(const Policy& policy) {
    std::visit([](const auto& value) { check(value); }, policy);
}

std::vector<PolicyInfo> known_policies() {
    constexpr Backoff kBackoff;
    return {
        {"freezer",
         "the freezer of a system suspend: asks all tasks, sleeps, and looks again until a pass finds "
         "nothing",
         "Colin Cross, 'optimize freezing tasks by reducing task wakeups', v2, 1 May 2013; "
         "kernel/power/process.c "
         "and kernel/freezer.c of the releases named",
         false,
         listed(version_names()),
         {{"version", std::string{to_string(Freezer{}.version)},
           "kernel, or state of the series (v3.11 is another name of full; ideal is a bound)"},
          {"sleep", "msleep for v3.9, p2 and skip-only, notify for ideal, else backoff",
           "how it waits between two passes (" + joined(kSleeps) + "); notify is a bound"},
          {"msleep_ms", std::to_string(Msleep{}.ms), "msleep: length, milliseconds"},
          {"first_us", std::to_string(kBackoff.first_us), "backoff: longest first sleep, microseconds"},
          {"growth", shortest(kBackoff.growth), "backoff: factor from one sleep to the next"},
          {"cap_us", std::to_string(kBackoff.cap_us), "backoff: length from which it no longer grows"},
          {"lower", shortest(kBackoff.lower), "backoff: shortest sleep as a share of the longest"},
          {"clamp", "false", "backoff: the last growth stops at the cap instead of passing it"}}},
        {"cgroup1",
         "a legacy cgroup, frozen by a writer that asks, reads the state and tries again",
         "kernel/cgroup/legacy_freezer.c of the releases named; retries of container runtimes",
         false,
         listed(version_names()),
         {{"version", std::string{to_string(Cgroup1{}.version)}, "whose rules for sleeping tasks apply"},
          {"poll_us", std::to_string(Cgroup1{}.poll_us), "sleep between two tries, microseconds; 0: none"},
          {"tries", std::to_string(Cgroup1{}.tries), "tries before the writer thaws and gives up"}}},
        {"cgroup2",
         "a unified cgroup: every user task runs into a trap, and an event tells when the last has stopped",
         "kernel/cgroup/freezer.c, 5.2",
         false,
         {},
         {{"since_notification_us", std::to_string(Cgroup2{}.since_notification_us),
           "time since the last notification at the start, microseconds"}}},
    };
}

}  // namespace torpor::freezer
