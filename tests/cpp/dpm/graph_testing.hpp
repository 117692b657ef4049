// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "torpor/base/error.hpp"
#include "torpor/dpm/graph.hpp"

// Short words for device graphs and for what became of them.
namespace torpor::dpm {

/// "d", 7: "d7". (g++ 12 warns of a literal + a std::string where nothing is wrong.)
template <class Number>
std::string numbered(std::string text, Number number) {
    return text.append(std::to_string(number));
}

using Names = std::vector<std::string>;

inline DeviceSpec device(std::string name, std::string parent = {}) {
    DeviceSpec made;
    made.name = std::move(name);
    made.parent = std::move(parent);
    return made;
}

inline Link link(std::string supplier, std::string consumer) {
    Link made;
    made.supplier = std::move(supplier);
    made.consumer = std::move(consumer);
    return made;
}

inline Link inferred(std::string supplier, std::string consumer) {
    Link made = link(std::move(supplier), std::move(consumer));
    made.inferred = true;
    return made;
}

inline Link dormant(std::string supplier, std::string consumer) {
    Link made = link(std::move(supplier), std::move(consumer));
    made.state = LinkState::dormant;
    return made;
}

inline Link sync_state_only(std::string supplier, std::string consumer) {
    Link made = link(std::move(supplier), std::move(consumer));
    made.sync_state_only = true;
    return made;
}

inline Names order_of(const GraphSpec& spec) {
    return compile(spec).names;
}

inline Names named(const Graph& graph, std::span<const std::int32_t> devices) {
    Names names;
    for (const std::int32_t i : devices) names.push_back(graph.names[static_cast<std::size_t>(i)]);
    return names;
}

inline std::int32_t place(const Graph& graph, const std::string& name) {
    return static_cast<std::int32_t>(std::find(graph.names.begin(), graph.names.end(), name) -
                                     graph.names.begin());
}

inline const DeviceFlags& flags_of(const Graph& graph, const std::string& name) {
    return graph.flags[static_cast<std::size_t>(place(graph, name))];
}

inline std::string error_of(const GraphSpec& spec) {
    try {
        compile(spec);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "no error";
}

}  // namespace torpor::dpm
