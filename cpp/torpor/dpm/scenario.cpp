// SPDX-License-Identifier: MIT
#include "torpor/dpm/scenario.hpp"

#include <algorithm>
#include <cmath>

#include "torpor/base/call_text.hpp"
#include "torpor/base/error.hpp"

namespace torpor::dpm {

namespace {

void require_between(const std::string& key, double value, double low, double high) {
    if (value >= low && value <= high) return;
    throw ConfigError{key, std::to_string(value),
                      "must be " + std::to_string(low) + ".." + std::to_string(high)};
}

double slowest_rate(const Scenario& scenario) {
    double slowest = scenario.machine.cpus.front().rate;
    for (const sched::FairCpu& cpu : scenario.machine.cpus) slowest = std::min(slowest, cpu.rate);
    return slowest;
}

/// What takes kMaxCostNs on the slowest CPU when all are busy.
std::int64_t most_expensive(const Scenario& scenario) {
    double speed = std::min(slowest_rate(scenario), 1.0);
    if (scenario.rules.shared_cpus > 0.0) {
        speed *=
            std::min(scenario.rules.shared_cpus / static_cast<double>(scenario.machine.cpus.size()), 1.0);
    }
    return std::llround(static_cast<double>(kMaxCostNs) * speed);
}

void require_cost(const std::string& key, std::int64_t value, std::int64_t most) {
    if (value >= 0 && value <= most) return;
    throw ConfigError{key, std::to_string(value),
                      "must be 0.." + std::to_string(most) + ", which takes " +
                          std::to_string(kMaxCostNs / 1'000'000'000) + " s on the slowest CPU"};
}

void validate(const Costs& costs, const std::string& key, std::int64_t most) {
    const auto require = [&](const char* name, std::int64_t value) {
        require_cost(key + "." + name, value, most);
    };
    require("queue_ns", costs.queue_ns);
    require("dispatch_ns", costs.dispatch_ns);
    require("core_ns", costs.core_ns);
    require("list_step_ns", costs.list_step_ns);
    require("check_ns", costs.check_ns);
    require("recheck_ns", costs.recheck_ns);
    require("callback_ns", costs.callback_ns);
    require("tail_ns", costs.tail_ns);
    require("create_ns", costs.create_ns);
    require_range(key + ".create_latency_ns", costs.create_latency_ns, 0, kMaxCostNs);
}

/// Entities that take turns would get nowhere if a slice went by with switching.
void validate_slice(const Scenario& scenario) {
    const sched::FairCosts& costs = scenario.sched_costs;
    const auto switching_ns = static_cast<std::int64_t>(
        std::ceil(static_cast<double>(costs.switch_ns + costs.migration_ns) / slowest_rate(scenario)));
    if (scenario.rules.slice_ns == 0 || scenario.rules.slice_ns > switching_ns) return;
    throw ConfigError{"rules.slice_ns", std::to_string(scenario.rules.slice_ns),
                      "must be 0, or longer than a switch and a migration take on the slowest CPU (" +
                          std::to_string(switching_ns) + " ns)"};
}

}  // namespace

void validate(const Scenario& scenario) {
    sched::validate(scenario.machine, scenario.rules);
    const std::int64_t most = most_expensive(scenario);
    const auto cost = [&](const char* name, std::int64_t value) {
        require_cost(std::string{"costs."} + name, value, most);
    };
    cost("switch_ns", scenario.sched_costs.switch_ns);
    cost("wake_ns", scenario.sched_costs.wake_ns);
    cost("idle_ipi_ns", scenario.sched_costs.idle_ipi_ns);
    cost("migration_ns", scenario.sched_costs.migration_ns);
    validate_slice(scenario);
    for (std::size_t phase = 0; phase < kPhases; ++phase)
        validate(scenario.costs[phase], "costs[" + std::string{kPhaseNames[phase]} + "]", most);
    const auto last_cpu = static_cast<std::int64_t>(scenario.machine.cpus.size()) - 1;
    require_range("main.suspend_cpu", scenario.main.suspend_cpu, 0, last_cpu);
    require_range("main.resume_cpu", scenario.main.resume_cpu, 0, last_cpu);
    require_between("main.suspend_utilisation", scenario.main.suspend_utilisation, 0.0, 1024.0);
    require_between("main.resume_utilisation", scenario.main.resume_utilisation, 0.0, 1024.0);
    require_range("workers.initial", scenario.workers.initial, scenario.workers.per_item ? 0 : 1, 100'000);
    require_between("async_share", scenario.async.share, 0.0, 1.0);
    require_between("jitter", scenario.jitter, 0.0, 10.0);
    require_range("eas_switch_ns", scenario.eas_switch_ns, 0, kMaxCostNs);
    require_range("tick_ns", scenario.tick_ns, 1, kMaxSegmentNs);
    if (scenario.since_tick_ns)
        require_range("since_tick_ns", *scenario.since_tick_ns, 0, scenario.tick_ns - 1);
    require_range("warmup_cycles", scenario.warmup_cycles, 0, 1'000'000);
    require_range("cycles", scenario.cycles, 1, 1'000'000);
    for (const Scales& scales : scenario.scales) {
        require_between("scales.suspend", scales.suspend, 0.0, 1e6);
        require_between("scales.resume", scales.resume, 0.0, 1e6);
    }
    if (!scenario.power.empty()) {
        std::size_t clusters = 0;
        for (const sched::FairCpu& cpu : scenario.machine.cpus)
            clusters = std::max(clusters, static_cast<std::size_t>(cpu.cluster) + 1);
        require_range("power", static_cast<std::int64_t>(scenario.power.size()),
                      static_cast<std::int64_t>(clusters), static_cast<std::int64_t>(clusters));
    }
    if (const auto* generator = std::get_if<Generator>(&scenario.devices)) {
        validate(*generator);
    } else if (std::get<std::shared_ptr<const Graph>>(scenario.devices) == nullptr) {
        throw ConfigError{"devices", "none", "a graph is needed"};
    }
}

Scenario reference_scenario(std::shared_ptr<const Graph> graph, int cpus) {
    Scenario scenario;
    scenario.machine.cpus.resize(static_cast<std::size_t>(cpus));
    scenario.rules.queues = sched::Queues::global;
    scenario.rules.slice_ns = 0;
    scenario.rules.tick_ns = 0;
    scenario.workers.per_item = true;
    scenario.barrier_wakes = false;
    scenario.since_tick_ns = 0;
    scenario.devices = std::move(graph);
    return scenario;
}

}  // namespace torpor::dpm
