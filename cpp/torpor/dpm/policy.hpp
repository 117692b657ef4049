// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "torpor/base/policy_info.hpp"

namespace torpor::dpm {

/// How the device core orders the work of a phase.
///   sync           one device after the other in the main thread (pm_async=0)
///   old            v2.6.34 to v6.15: resume queues all async devices before the walk, suspend in the walk;
///                  workers wait for what is missing
///   old_inline     some 6.1.y and 6.6.y stable kernels: resume too queues in the walk
///   breadth_first  Kannan's v1 series (Nov 2024): a device is queued when all that it waits for is done, by
///                  whoever was last; workers never wait, devices without callbacks are handled in place
///   up_6_16        v6.16: roots (leaves) first, then all others; a finished device starts its async children
///                  (parent), ready or not
///   up_6_17        v6.17: the same with device links
///   bound          no policy: a list schedule by critical path, without any overhead
enum class Order : std::uint8_t { sync, old, old_inline, breadth_first, up_6_16, up_6_17, bound };

/// When EAS is switched off.
enum class EasOff : std::uint8_t { none, suspend, resume, both };

struct Policy {
    Order order{Order::old};
    EasOff eas_off{EasOff::none};
    /// Most work items of a phase that are active at a time; 0: the limit of the workqueue of the time (see
    /// max_active_of()).
    std::int64_t max_active{0};
    /// breadth_first: devices without callbacks are handled in place instead of by a worker.
    bool inline_calls{true};
    /// The mutex around the device lists is taken at all.
    bool list_mutex{true};

    bool operator==(const Policy&) const = default;
};

/// Limit of active items where a policy gives none: max(512, 4 CPUs) for the shared unbound workqueue up to
/// v6.8 (old and old_inline); 256 for the async workqueue from v6.9 on (breadth_first, written on v6.12);
/// 1024 from v6.13 on (up_6_16, up_6_17); none for the bound. The old order on v6.9 to v6.12 needs
/// max_active=256, on v6.13 to v6.15 1024. That v6.6 and later may move a wakeup inside a group of CPUs that
/// share a cache is not modelled.
std::int64_t max_active_of(const Policy& policy, int cpus);

/// Canonical form, parameters where they differ from the default: "old()",
/// "breadth-first(eas_off=resume)".
std::string to_string(const Policy& policy);

/// Reads the canonical form; parentheses may be missing. Throws ConfigError that lists what is known for an
/// unknown name or parameter, and for a value that cannot be read or is out of range.
Policy parse_policy(std::string_view text);

/// Throws ConfigError when a parameter is out of range or means nothing for the order.
void validate(const Policy& policy);

/// Every policy that parse_policy() knows.
std::vector<PolicyInfo> known_policies();

}  // namespace torpor::dpm
