// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "torpor/base/policy_info.hpp"
#include "torpor/freezer/sites.hpp"
#include "torpor/freezer/sleep.hpp"

// Who freezes and how, as small values: equal, printable, parseable.
namespace torpor::freezer {

/// The sleep that shipped with a version: msleep(10) for v3.9, p2 and skip-only, notification for the bound,
/// backoff for all others.
Sleep default_sleep(Version version);

/// The freezer of a system suspend.
struct Freezer {
    Version version{Version::v6_7};
    Sleep sleep{default_sleep(version)};

    bool operator==(const Freezer&) const = default;
};

/// A v1 (legacy) cgroup, written and read again from user space: each try asks every task once, by the rules
/// of `version`, and then reads the state, which costs a visit per task; after a try that finds tasks not
/// frozen the writer sleeps `poll_us` (0: not at all). After `tries` it thaws and gives up.
struct Cgroup1 {
    Version version{Version::v3_12};
    std::int64_t poll_us{10000};
    std::int64_t tries{1000};

    bool operator==(const Cgroup1&) const = default;
};

/// A v2 (unified) cgroup: a trap for every user task, woken like by a signal wherever it sleeps, and an event
/// when the last has stopped. A notification follows the one before it after 10 ms at the earliest;
/// `since_notification_us` is the time since then at the start, none by default.
struct Cgroup2 {
    std::int64_t since_notification_us{10000};

    bool operator==(const Cgroup2&) const = default;
};

using Policy = std::variant<Freezer, Cgroup1, Cgroup2>;

/// Canonical form, with the version always shown and other parameters where they differ from the version's:
/// "freezer(version=v3.9)", "freezer(version=full, cap_us=4000)", "freezer(version=p2, sleep=backoff)",
/// "cgroup2()".
std::string to_string(const Policy& policy);

/// Reads the canonical form; a version by itself ("v3.9") stands for the freezer of that version, with
/// parameters if any ("full(sleep=notify)"). Throws ConfigError that lists what is known for an unknown name,
/// version, sleep or parameter, and for a value that cannot be read or is out of range.
Policy parse_policy(std::string_view text);

/// Version named by its text, under `key`. Throws ConfigError that lists the known ones.
Version parse_version(std::string_view text, const std::string& key);

/// "msleep", "backoff" or "notify".
std::string_view name_of(const Sleep& sleep);

/// Throws ConfigError when a parameter is out of range.
void validate(const Policy& policy);

/// Every policy that parse_policy() knows.
std::vector<PolicyInfo> known_policies();

}  // namespace torpor::freezer
