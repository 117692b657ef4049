// SPDX-License-Identifier: MIT
#include "torpor/dpm/graph.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "torpor/base/call_text.hpp"
#include "torpor/base/error.hpp"
#include "torpor/dpm/graph_check.hpp"
#include "torpor/dpm/graph_order.hpp"

namespace torpor::dpm {
namespace {

using Numbers = std::unordered_map<std::string_view, std::int32_t>;
using Pairs = std::vector<std::array<std::int32_t, 2>>;

std::size_t at(std::int32_t number) {
    return static_cast<std::size_t>(number);
}

std::string link_key(const Link& link) {
    return "links[" + link.supplier + "--" + link.consumer + "]";
}

Numbers number_devices(const GraphSpec& spec) {
    Numbers numbers;
    numbers.reserve(spec.devices.size());
    for (std::size_t i = 0; i < spec.devices.size(); ++i) {
        const auto [place, is_new] = numbers.emplace(spec.devices[i].name, static_cast<std::int32_t>(i));
        if (!is_new) {
            throw ConfigError{
                device_key(spec, i) + ".name",
                "device " + std::to_string(i) + " has the name of device " + std::to_string(place->second)};
        }
    }
    return numbers;
}

std::vector<std::int32_t> find_parents(const GraphSpec& spec, const Numbers& numbers) {
    std::vector<std::int32_t> parents(spec.devices.size(), kNoDevice);
    for (std::size_t i = 0; i < parents.size(); ++i) {
        const std::string& parent = spec.devices[i].parent;
        if (parent.empty()) continue;
        const auto fail = [&](const char* message) {
            throw ConfigError{device_key(spec, i) + ".parent", quoted(parent), message};
        };
        const auto found = numbers.find(parent);
        if (found == numbers.end()) fail("there is no such device");
        if (at(found->second) == i) fail("a device cannot be its own parent");
        if (at(found->second) > i) fail("is registered later; parents come first");
        parents[i] = found->second;
    }
    return parents;
}

/// Links that order, in the order in which they are added; checks them all.
std::vector<OrderLink> find_links(const GraphSpec& spec, const Numbers& numbers) {
    if (spec.links.size() > kMaxLinks) {
        throw ConfigError{"links", std::to_string(spec.links.size()) + " are too many; at most " +
                                       std::to_string(kMaxLinks)};
    }
    std::vector<OrderLink> links;
    links.reserve(spec.links.size());
    std::unordered_set<std::uint64_t> pairs;
    pairs.reserve(spec.links.size());
    for (std::size_t i = 0; i < spec.links.size(); ++i) {
        const Link& link = spec.links[i];
        const auto find = [&](const char* end, const std::string& name) {
            const auto found = numbers.find(name);
            if (found == numbers.end()) {
                throw ConfigError{link_key(link) + "." + end, quoted(name), "there is no such device"};
            }
            return found->second;
        };
        const std::int32_t supplier = find("supplier", link.supplier);
        const std::int32_t consumer = find("consumer", link.consumer);
        if (supplier == consumer) throw ConfigError{link_key(link), "a device cannot be its own supplier"};
        const auto pair = static_cast<std::uint64_t>(supplier) << 32 | static_cast<std::uint32_t>(consumer);
        if (!pairs.insert(pair).second) throw ConfigError{link_key(link), "these two are linked already"};
        if (link.sync_state_only) continue;
        // Inferred links of the last device come before those that are added when all are registered.
        const auto all = static_cast<std::int32_t>(spec.devices.size()) + 1;
        const auto registered = link.inferred ? std::max(supplier, consumer) + 1 : all;
        links.push_back({supplier, consumer, registered, static_cast<std::int32_t>(i)});
    }
    std::stable_sort(links.begin(), links.end(),
                     [](const OrderLink& a, const OrderLink& b) { return a.registered < b.registered; });
    return links;
}

/// Takes out the inferred links that lie on a loop, and gives their indices in the spec.
std::vector<std::int32_t> relax(const GraphSpec& spec, std::span<const std::int32_t> parents,
                                std::vector<OrderLink>& links) {
    const auto component = Dependents{parents, links}.components();
    std::vector<std::int32_t> relaxed;
    std::erase_if(links, [&](const OrderLink& link) {
        const bool goes = spec.links[at(link.number)].inferred &&
                          component[at(link.supplier)] == component[at(link.consumer)];
        if (goes) relaxed.push_back(link.number);
        return goes;
    });
    std::sort(relaxed.begin(), relaxed.end());
    return relaxed;
}

void refuse_loops(const GraphSpec& spec, std::span<const std::int32_t> parents,
                  std::span<const OrderLink> links) {
    const std::size_t closing = first_closing(parents, links);
    if (closing == links.size()) return;
    const OrderLink& link = links[closing];
    const auto path = Dependents{parents, links.first(closing)}.path(link.consumer, link.supplier);
    constexpr std::size_t kShown = 12;
    std::string loop = spec.devices[at(link.supplier)].name;
    for (std::size_t i = 0; i < path.size(); ++i) {
        if (i == kShown && path.size() > 2 * kShown) {
            i = path.size() - kShown;
            loop += " -> ...";
        }
        loop += " -> " + spec.devices[at(path[i])].name;
    }
    throw ConfigError{link_key(spec.links[at(link.number)]),
                      "closes a loop, and no inferred link lies on it that could be relaxed: " + loop};
}

/// Numbers of the devices in list order.
std::vector<std::int32_t> find_order(const GraphSpec& spec, std::span<const std::int32_t> parents,
                                     std::span<const OrderLink> links) {
    if (!spec.in_list_order) return Dependents{parents, links}.list_order();
    for (const OrderLink& link : links) {
        if (link.supplier < link.consumer) continue;
        throw ConfigError{
            link_key(spec.links[at(link.number)]),
            "the consumer comes before its supplier, but in_list_order says that devices are in "
            "the order of the list"};
    }
    std::vector<std::int32_t> order(parents.size());
    std::iota(order.begin(), order.end(), 0);
    return order;
}

class Assembly {
  public:
    Assembly(const GraphSpec& spec, std::span<const std::int32_t> parents, std::span<const OrderLink> links)
        : spec_{spec}, parents_{parents}, links_{links} {
        graph_.registered = find_order(spec, parents, links);
        place_.resize(parents.size());
        for (std::int32_t i = 0; i < static_cast<std::int32_t>(place_.size()); ++i) {
            place_[at(graph_.registered[at(i)])] = i;
        }
    }

    Graph assemble() {
        add_devices();
        add_relations();
        add_callbacks();
        graph_.locks = spec_.locks;
        return std::move(graph_);
    }

  private:
    void add_devices() {
        for (const std::int32_t number : graph_.registered) {
            const DeviceSpec& device = spec_.devices[at(number)];
            graph_.names.push_back(device.name);
            graph_.parent.push_back(parents_[at(number)] == kNoDevice ? kNoDevice
                                                                      : place_[at(parents_[at(number)])]);
            graph_.prepare_results.push_back(device.prepare_result);
            DeviceFlags flags{};
            flags.async_suspend = device.async_suspend;
            flags.syscore = device.syscore;
            flags.no_pm_callbacks = device.no_pm_callbacks;
            flags.runtime_suspended = device.runtime_status != RuntimeStatus::active;
            flags.wakeup = device.wakeup;
            flags.smart_suspend = device.smart_suspend;
            flags.may_skip_resume = device.may_skip_resume;
            flags.no_direct_complete = device.no_direct_complete;
            graph_.flags.push_back(flags);
        }
    }

    void add_relations() {
        Pairs children;
        for (std::size_t i = 0; i < parents_.size(); ++i) {
            if (parents_[i] != kNoDevice) children.push_back({place_[at(parents_[i])], place_[i]});
        }
        Pairs suppliers;
        Pairs consumers;
        for (const OrderLink& link : links_) {
            const std::int32_t supplier = place_[at(link.supplier)];
            const std::int32_t consumer = place_[at(link.consumer)];
            graph_.flags[at(supplier)].has_consumer_link = true;
            graph_.flags[at(consumer)].has_supplier_link = true;
            if (spec_.links[at(link.number)].state == LinkState::dormant) continue;
            suppliers.push_back({consumer, supplier});
            consumers.push_back({supplier, consumer});
        }
        Pairs superiors;
        for (const auto& [parent, child] : children) superiors.push_back({child, parent});
        superiors.insert(superiors.end(), suppliers.begin(), suppliers.end());
        Pairs subordinates = children;
        subordinates.insert(subordinates.end(), consumers.begin(), consumers.end());
        graph_.superiors = Rows::from_pairs(parents_.size(), superiors);
        graph_.subordinates = Rows::from_pairs(parents_.size(), subordinates);
        graph_.children = Rows::from_pairs(parents_.size(), children);
        graph_.suppliers = Rows::from_pairs(parents_.size(), suppliers);
        graph_.consumers = Rows::from_pairs(parents_.size(), consumers);
    }

    void add_callbacks() {
        for (std::size_t phase = 0; phase < kPhases; ++phase) {
            graph_.callbacks[phase].reserve(parents_.size());
            for (const std::int32_t number : graph_.registered) {
                const DeviceSpec& device = spec_.devices[at(number)];
                const std::vector<Segment>& segments = device.callbacks[phase];
                Callback callback;
                callback.begin = static_cast<std::uint32_t>(graph_.segments.size());
                callback.count = static_cast<std::uint32_t>(segments.size());
                callback.exists =
                    !segments.empty() || device.empty_callbacks[phase] ||
                    (phase == index_of(Phase::prepare) && device.prepare_result != PrepareResult::ok);
                callback.fails = device.fails[phase];
                callback.wakes_system = device.wakes_system[phase];
                graph_.callbacks[phase].push_back(callback);
                graph_.segments.insert(graph_.segments.end(), segments.begin(), segments.end());
            }
        }
    }

    const GraphSpec& spec_;
    std::span<const std::int32_t> parents_;
    std::span<const OrderLink> links_;
    std::vector<std::int32_t> place_;
    Graph graph_;
};

}  // namespace

Graph compile(const GraphSpec& spec) {
    check_devices(spec);
    const Numbers numbers = number_devices(spec);
    const std::vector<std::int32_t> parents = find_parents(spec, numbers);
    std::vector<OrderLink> links = find_links(spec, numbers);
    auto relaxed = relax(spec, parents, links);
    refuse_loops(spec, parents, links);
    Graph graph = Assembly{spec, parents, links}.assemble();
    graph.relaxed_links = std::move(relaxed);
    return graph;
}

}  // namespace torpor::dpm
