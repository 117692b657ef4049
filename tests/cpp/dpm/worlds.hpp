// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "torpor/base/distributions.hpp"
#include "torpor/base/error.hpp"
#include "torpor/base/random.hpp"
#include "torpor/dpm/model.hpp"

// Worlds to run the model in, and short words for what it did.
namespace torpor::dpm {

/// Random parameters of test cases, the same on every machine.
class Dice {
  public:
    Dice(std::string_view test, int number) : stream_{{static_cast<std::uint64_t>(number), 0}, test} {}

    std::int64_t between(std::int64_t low, std::int64_t high) { return UniformInt{low, high}(stream_); }
    bool chance(int percent) { return between(1, 100) <= percent; }

  private:
    RandomStream stream_;
};

inline constexpr std::array<Phase, 6> kMiddle{Phase::suspend,      Phase::suspend_late, Phase::suspend_noirq,
                                              Phase::resume_noirq, Phase::resume_early, Phase::resume};
inline constexpr std::array<Phase, 3> kDown{Phase::suspend, Phase::suspend_late, Phase::suspend_noirq};

/// The phase on the way up that undoes one on the way down.
inline Phase opposite(Phase phase) {
    return static_cast<Phase>(kPhases - 1 - index_of(phase));
}

/// All orders, without and with what could make a difference.
inline const std::vector<std::string>& policies() {
    static const std::vector<std::string> all{"sync",          "old",     "old-inline",
                                              "breadth-first", "up-6.16", "up-6.17"};
    return all;
}
inline const std::vector<std::string>& policies_and_variants() {
    static const std::vector<std::string> all{"sync",
                                              "old",
                                              "old-inline",
                                              "breadth-first",
                                              "up-6.16",
                                              "up-6.17",
                                              "old(list_mutex=false)",
                                              "old(eas_off=both)",
                                              "breadth-first(inline_calls=false)",
                                              "breadth-first(eas_off=resume)",
                                              "up-6.17(list_mutex=false)",
                                              "bound"};
    return all;
}

/// A device with a callback of so long in each phase.
inline DeviceSpec called(std::string name, std::string parent = {}, std::int64_t length = 1) {
    DeviceSpec made;
    made.name = std::move(name);
    made.parent = std::move(parent);
    for (std::vector<Segment>& segments : made.callbacks) segments = {{SegmentKind::cpu, length, 0}};
    return made;
}

inline GraphSpec in_list_order(std::vector<DeviceSpec> devices, std::vector<Link> links = {}) {
    GraphSpec spec;
    spec.devices = std::move(devices);
    spec.links = std::move(links);
    spec.in_list_order = true;
    return spec;
}
inline std::shared_ptr<const Graph> compiled(const GraphSpec& spec) {
    return std::make_shared<const Graph>(compile(spec));
}

/// A model, its first replicate, and what became of each device in it.
struct Ran {
    Ran(const Scenario& scenario, std::string_view policy, StreamKey key = {1, 0})
        : model{scenario, parse_policy(policy)}, result{model.run(key, {})}, intervals{model.intervals()} {}

    const Graph& graph() const { return model.graph(); }
    const Cycle& cycle(std::size_t number = 0) const { return result.cycles.at(number); }
    const PhaseResult& phase(Phase phase, std::size_t number = 0) const {
        return cycle(number).phases[index_of(phase)];
    }
    const Interval& of(Phase phase, std::string_view name) const {
        const auto& names = graph().names;
        const auto device = std::find(names.begin(), names.end(), name) - names.begin();
        return intervals.at(index_of(phase) * names.size() + static_cast<std::size_t>(device));
    }
    /// Names of the devices whose callback ran, in the order in which they began.
    std::string calls(Phase phase) const {
        std::vector<const Interval*> found;
        for (const Interval& each : intervals) {
            if (each.phase == phase && each.called) found.push_back(&each);
        }
        std::stable_sort(found.begin(), found.end(),
                         [](const Interval* a, const Interval* b) { return a->begin_ns < b->begin_ns; });
        std::string text;
        for (const Interval* each : found) {
            if (!text.empty()) text += " ";
            text += graph().names[static_cast<std::size_t>(each->device)];
        }
        return text;
    }
    /// "suspend: D C; resume: D; complete: ...", phases without calls left out.
    std::string calls() const {
        std::string text;
        for (std::size_t i = 0; i < kPhases; ++i) {
            const std::string names = calls(static_cast<Phase>(i));
            if (names.empty()) continue;
            if (!text.empty()) text += "; ";
            text.append(kPhaseNames[i]).append(": ").append(names);
        }
        return text;
    }

    Model model;
    Result result;
    std::vector<Interval> intervals;
};

inline std::string complaint(const Scenario& scenario) {
    try {
        validate(scenario);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "none";
}

/// Two little, one middling and two big CPUs with costs of about the size of a phone's.
inline Scenario phone(std::shared_ptr<const Graph> graph) {
    Scenario scenario;
    const std::vector<sched::IdleExit> exits{{0, 3'000}, {400'000, 160'000}};
    scenario.machine.cpus = {{0.1571, 161, 1.0, 0, exits},
                             {0.1571, 161, 1.0, 0, exits},
                             {0.4868, 498, 1.0, 1, exits},
                             {1.0, 1024, 1.0, 2, exits},
                             {1.0, 1024, 1.0, 2, exits}};
    scenario.machine.domains = {{{{27.0, 6.0}, {160.9, 104.0}}},
                                {{{88.0, 29.0}, {498.5, 600.0}}},
                                {{{183.0, 81.0}, {1024.0, 2032.0}}}};
    scenario.rules.eas = true;
    scenario.rules.wakeup_granularity_ns = 4'000'000;
    scenario.sched_costs = {600, 600, 400, 1'000};
    for (Costs& costs : scenario.costs)
        costs = {3'000, 2'000, 3'000, 200, 50, 300, 500, 1'000, 10'000, 50'000};
    scenario.main = {0, 100.0, 1, 70.0, false};
    scenario.power = {{100.0, 5.0, 10.0}, {500.0, 10.0, 20.0}, {2000.0, 20.0, 40.0}};
    scenario.devices = std::move(graph);
    return scenario;
}

struct Wild {
    int async_percent{100};
    int without_callbacks{20};
    std::int64_t most_devices{40};
    bool flags{true};  // of runtime power management, prepare and wakeup
    bool sleeps{true};
    bool locks{true};
    std::int64_t unit_ns{1};
};

/// Any graph that compiles.
inline GraphSpec wild_graph(Dice& dice, const Wild& wild) {
    GraphSpec spec;
    spec.locks = {"one", "two"};
    const auto count = dice.between(2, wild.most_devices);
    for (std::int64_t i = 0; i < count; ++i) {
        DeviceSpec device;
        device.name = std::string{"d"}.append(std::to_string(i));
        if (i > 0 && dice.chance(70))
            device.parent = spec.devices[static_cast<std::size_t>(dice.between(0, i - 1))].name;
        device.async_suspend = dice.chance(wild.async_percent);
        device.no_pm_callbacks = dice.chance(wild.without_callbacks);
        if (wild.flags) {
            device.syscore = dice.chance(5);
            device.runtime_status = static_cast<RuntimeStatus>(dice.between(0, 2));
            device.wakeup = dice.chance(10);
            device.smart_suspend = dice.chance(20);
            device.may_skip_resume = dice.chance(20);
            device.no_direct_complete = dice.chance(10);
        }
        for (std::size_t phase = 0; phase < kPhases && !device.no_pm_callbacks; ++phase) {
            const bool ends = phase == 0 || phase == kPhases - 1;
            if (!dice.chance(ends ? 100 : 80)) continue;
            std::vector<Segment>& segments = device.callbacks[phase];
            const auto length = [&] { return dice.between(0, 1000) * wild.unit_ns; };
            segments.push_back({SegmentKind::cpu, length(), length() / 2});
            if (ends) continue;
            const auto pieces = dice.between(0, 3);
            for (std::int64_t piece = 0; piece < pieces; ++piece) {
                const bool locks = wild.locks && dice.chance(40);
                const bool both = locks && dice.chance(20);
                if (locks) segments.push_back({SegmentKind::lock, both ? 0 : dice.between(0, 1), 0});
                const std::int64_t lock = locks ? segments.back().first : 0;
                if (both) segments.push_back({SegmentKind::lock, 1, 0});
                segments.push_back({SegmentKind::cpu, length(), 0});
                if (wild.sleeps) {
                    const std::int64_t low = length();
                    if (dice.chance(60)) segments.push_back({SegmentKind::sleep, length(), 0});
                    if (dice.chance(20)) segments.push_back({SegmentKind::tick_sleep, dice.between(1, 3), 0});
                    if (dice.chance(20)) segments.push_back({SegmentKind::range_sleep, low, low + length()});
                }
                if (both) segments.push_back({SegmentKind::unlock, 1, 0});
                if (locks) segments.push_back({SegmentKind::unlock, lock, 0});
            }
        }
        if (wild.flags && !device.no_pm_callbacks) {
            if (dice.chance(25)) device.prepare_result = PrepareResult::direct_complete;
            if (dice.chance(4)) device.prepare_result = PrepareResult::again;
        }
        spec.devices.push_back(std::move(device));
    }
    for (std::int64_t i = 0; i < count; ++i) {
        const auto supplier = dice.between(0, count - 2);
        const auto consumer = dice.between(supplier + 1, count - 1);
        Link link{spec.devices[static_cast<std::size_t>(supplier)].name,
                  spec.devices[static_cast<std::size_t>(consumer)].name};
        const bool known = std::any_of(spec.links.begin(), spec.links.end(), [&](const Link& other) {
            return other.supplier == link.supplier && other.consumer == link.consumer;
        });
        if (known || !dice.chance(60)) continue;
        link.inferred = dice.chance(50);
        if (dice.chance(10)) link.state = LinkState::dormant;
        spec.links.push_back(std::move(link));
    }
    return spec;
}

/// Segments of a kind out of all callbacks.
inline void drop(GraphSpec& spec, SegmentKind kind) {
    for (DeviceSpec& device : spec.devices) {
        for (std::vector<Segment>& segments : device.callbacks)
            std::erase_if(segments, [&](const Segment& segment) { return segment.kind == kind; });
    }
}

/// One of four machines: the reference one, one with costs and a pool, a phone, one that shares its CPUs.
inline Scenario wild_scenario(Dice& dice, std::shared_ptr<const Graph> graph) {
    const auto kind = dice.between(0, 3);
    if (kind == 0) {
        Scenario scenario = reference_scenario(std::move(graph), static_cast<int>(dice.between(1, 6)));
        scenario.tick_ns = 1'000;
        return scenario;
    }
    Scenario scenario = phone(std::move(graph));
    scenario.tick_ns = dice.between(1'000, 1'000'000);
    scenario.workers.initial = dice.between(1, 6);
    scenario.rules.eas = dice.chance(70);
    scenario.rules.pull = dice.chance(70);
    scenario.rules.placement = static_cast<sched::FairPlacement>(dice.between(0, 2));
    scenario.rules.slice_ns = dice.chance(70) ? dice.between(30'000, 3'000'000) : 0;
    scenario.rules.wakeup_granularity_ns = dice.chance(70) ? dice.between(1'000, 3'000'000) : 0;
    scenario.barrier_wakes = dice.chance(60);
    scenario.direct_complete = dice.chance(80);
    scenario.jitter = dice.chance(50) ? 0.2 : 0.0;
    scenario.main.suspend_cpu = static_cast<int>(dice.between(0, 4));
    scenario.main.resume_cpu = static_cast<int>(dice.between(0, 4));
    if (kind == 1) {
        scenario.rules.queues = sched::Queues::global;
        scenario.main.gives_way = dice.chance(50);
    }
    if (kind == 3) {
        scenario.rules.shared_cpus = static_cast<double>(dice.between(1, 12)) / 2.0;
        scenario.main.gives_way = dice.chance(50);
    }
    return scenario;
}

}  // namespace torpor::dpm
