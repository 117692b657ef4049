// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "torpor/dpm/model.hpp"

// Small worlds, their devices in list order, that can be followed by hand: identical CPUs, one queue, no
// costs, times in ticks of 1 ns.
namespace torpor::dpm {

struct Piece {
    SegmentKind kind;
    std::int64_t length;
};
inline Piece cpu(std::int64_t length) {
    return {SegmentKind::cpu, length};
}
inline Piece asleep(std::int64_t length) {
    return {SegmentKind::sleep, length};
}

struct Example {
    GraphSpec spec{{}, {}, {}, true};

    Example& add(const std::string& name, const std::string& parent, bool async, std::vector<Piece> pieces) {
        DeviceSpec device;
        device.name = name;
        device.parent = parent;
        device.async_suspend = async;
        for (const Phase phase : {Phase::suspend, Phase::resume}) {
            for (const Piece& piece : pieces)
                device.callbacks[index_of(phase)].push_back({piece.kind, piece.length, 0});
        }
        spec.devices.push_back(device);
        return *this;
    }
    Example& async(const std::string& name, std::int64_t length, const std::string& parent = "") {
        return add(name, parent, true, {cpu(length)});
    }
    Example& sync(const std::string& name, std::int64_t length, const std::string& parent = "") {
        return add(name, parent, false, {cpu(length)});
    }
    Example& without_callback(const std::string& name, const std::string& parent = "") {
        add(name, parent, true, {});
        spec.devices.back().no_pm_callbacks = true;
        return *this;
    }
    Example& link(const std::string& supplier, const std::string& consumer) {
        spec.links.push_back({supplier, consumer});
        return *this;
    }
};

struct Seen {
    std::int64_t end{0};
    std::string text;  // "A[0,2)m B[2,5)" in list order, those with a callback
    std::int64_t blocks{0};
    std::int64_t workers{0};
    std::int64_t items{0};
    std::int64_t mutex_blocks{0};
    std::string stuck;
};

struct Conditions {
    int cpus{2};
    std::int64_t queue_ns{0};
    bool list_mutex{false};
    std::int64_t max_active{0};
};

inline Seen watch(const Example& example, Phase phase, std::string_view policy_text,
                  const Conditions& conditions = {}) {
    const auto graph = std::make_shared<const Graph>(compile(example.spec));
    Scenario scenario = reference_scenario(graph, conditions.cpus);
    scenario.costs[index_of(phase)].queue_ns = conditions.queue_ns;
    Policy policy = parse_policy(policy_text);
    if (policy.order != Order::sync && policy.order != Order::bound) {
        policy.list_mutex = conditions.list_mutex;
        policy.max_active = conditions.max_active;
    }
    Model model{scenario, policy};
    const Result result = model.run({1, 0}, {});
    const PhaseResult& here = result.cycles.at(0).phases[index_of(phase)];
    Seen seen{here.ns, "", here.blocks, here.live_workers, here.items, here.mutex_blocks, result.stuck};
    for (const Interval& interval : model.intervals()) {
        if (interval.phase != phase || !interval.called) continue;
        if (!seen.text.empty()) seen.text += " ";
        seen.text.append(graph->names[static_cast<std::size_t>(interval.device)]).append("[");
        seen.text.append(std::to_string(interval.begin_ns)).append(",");
        seen.text.append(std::to_string(interval.end_ns)).append(")");
        if (interval.worker == 0) seen.text += "m";
    }
    return seen;
}

}  // namespace torpor::dpm
