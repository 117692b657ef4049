// SPDX-License-Identifier: MIT
#include "torpor/dpm/policy.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include "torpor/base/call_text.hpp"
#include "torpor/base/error.hpp"

namespace torpor::dpm {

namespace {

struct OrderInfo {
    Order order;
    std::string_view name;
    std::string_view description;
    std::string_view source;
};

constexpr std::array<OrderInfo, 7> kOrders{{
    {Order::sync, "sync", "one device after the other in the main thread", "pm_async=0, every version"},
    {Order::old, "old",
     "resume queues every async device before the walk, suspend in the walk; workers wait for what is "
     "missing",
     "v2.6.34 to v6.15; commit 3e999770ac1c"},
    {Order::old_inline, "old-inline", "as old, but resume too queues in the walk",
     "6.1.y and 6.6.y stable kernels; commit 7839d0078e0d"},
    {Order::breadth_first, "breadth-first",
     "a device is queued when all that it waits for is done; workers never wait; no callback, no worker",
     "S. Kannan, linux-pm, 14 Nov 2024, v1 patches 1-5"},
    {Order::up_6_16, "up-6.16",
     "roots (leaves) first, then all; a finished device starts its children (parent)",
     "v6.16 with its fixes; commits 8887abccf8aa, ebd6884167ea"},
    {Order::up_6_17, "up-6.17", "as up-6.16, device links included",
     "v6.17; commits ed18738fff02, 06799631d522"},
    {Order::bound, "bound",
     "no policy: list schedule by critical path without any overhead, all devices async", "list scheduling"},
}};

constexpr std::array<std::string_view, 4> kEasOffNames{"none", "suspend", "resume", "both"};
constexpr std::int64_t kMostActive = std::numeric_limits<std::int32_t>::max();

const OrderInfo& info_of(Order order) {
    return kOrders[static_cast<std::size_t>(order)];
}

bool has_workers(Order order) {
    return order != Order::sync && order != Order::bound;
}

}  // namespace

std::int64_t max_active_of(const Policy& policy, int cpus) {
    if (policy.max_active != 0) return policy.max_active;
    switch (policy.order) {
        case Order::old:
        case Order::old_inline:
            return std::max<std::int64_t>(512, std::int64_t{4} * cpus);
        case Order::breadth_first:
            return 256;
        case Order::up_6_16:
        case Order::up_6_17:
            return 1024;
        case Order::sync:
        case Order::bound:
            break;
    }
    return kMostActive;
}

std::string to_string(const Policy& policy) {
    const Policy usual{policy.order};
    Call call{info_of(policy.order).name};
    if (policy.eas_off != usual.eas_off)
        call.show("eas_off", kEasOffNames[static_cast<std::size_t>(policy.eas_off)]);
    call.show_unless_default("max_active", policy.max_active, usual.max_active);
    call.show_unless_default("inline_calls", policy.inline_calls, usual.inline_calls);
    call.show_unless_default("list_mutex", policy.list_mutex, usual.list_mutex);
    return call.str();
}

Policy parse_policy(std::string_view text) {
    const CallText call = split_call(text, "policy");
    const auto found = std::find_if(kOrders.begin(), kOrders.end(),
                                    [&](const OrderInfo& info) { return info.name == call.name; });
    if (found == kOrders.end()) {
        std::vector<std::string_view> names;
        for (const OrderInfo& info : kOrders) names.push_back(info.name);
        throw ConfigError{"policy", quoted(call.name) + " is unknown; known: " + joined(names)};
    }
    Policy policy{found->order};
    Arguments arguments{call.name, call.arguments};
    arguments.read("eas_off", policy.eas_off, [](std::string_view value, const std::string& key) {
        return parse_name<EasOff>(value, kEasOffNames, key);
    });
    if (has_workers(policy.order)) {
        arguments.read("max_active", policy.max_active, [](std::string_view value, const std::string& key) {
            const std::int64_t limit = parse_integer(value, key);
            require_range(key, limit, 1, kMostActive);
            return limit;
        });
        arguments.read("list_mutex", policy.list_mutex, parse_bool);
    }
    if (policy.order == Order::breadth_first) arguments.read("inline_calls", policy.inline_calls, parse_bool);
    arguments.finish();
    return policy;
}

void validate(const Policy& policy) {
    const std::string key{info_of(policy.order).name};
    require_range(key + ".max_active", policy.max_active, 0, kMostActive);
    if (policy.max_active != 0 && !has_workers(policy.order))
        throw ConfigError{key + ".max_active", std::to_string(policy.max_active), "has no meaning here"};
    if (!policy.list_mutex && !has_workers(policy.order))
        throw ConfigError{key + ".list_mutex", "false", "has no meaning here"};
    if (!policy.inline_calls && policy.order != Order::breadth_first)
        throw ConfigError{key + ".inline_calls", "false", "only breadth-first handles devices in place"};
}

std::vector<PolicyInfo> known_policies() {
    const ParameterInfo eas_off{"eas_off", "none", "when EAS is switched off: none, suspend, resume, both"};
    const ParameterInfo max_active{"max_active", "by version", "most work items that are active at a time"};
    const ParameterInfo list_mutex{"list_mutex", "true", "the mutex of the device lists is taken"};
    const ParameterInfo inline_calls{"inline_calls", "true",
                                     "devices without callbacks are handled in place, not by a worker"};
    std::vector<PolicyInfo> all;
    for (const OrderInfo& info : kOrders) {
        PolicyInfo policy{std::string{info.name},
                          std::string{info.description},
                          std::string{info.source},
                          info.order == Order::bound,
                          {},
                          {eas_off}};
        if (has_workers(info.order))
            policy.parameters.insert(policy.parameters.end(), {max_active, list_mutex});
        if (info.order == Order::breadth_first) policy.parameters.push_back(inline_calls);
        all.push_back(std::move(policy));
    }
    return all;
}

}  // namespace torpor::dpm
