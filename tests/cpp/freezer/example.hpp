// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "torpor/freezer/model.hpp"

namespace torpor::freezer::testing {

/// Costs that are easy to follow by hand: 1 GHz, so that a cycle is a nanosecond.
inline Costs example_costs() {
    Costs costs;
    costs.visit_cycles = 1000;
    costs.wake_cycles = 4000;
    costs.resig_cycles = 1000;
    costs.mark_cycles = 500;
    costs.freeze_run_cycles = 20000;
    costs.thaw_wake_cycles = 4000;
    costs.thaw_run_cycles = 15000;
    costs.resleep_cycles = 10000;
    return costs;
}

inline TaskGroup group(std::string name, std::int64_t count, Site site) {
    TaskGroup made;
    made.name = std::move(name);
    made.count = count;
    made.site = site;
    return made;
}

inline TaskGroup others(std::int64_t count = 1, std::string name = "other") {
    return group(std::move(name), count, Site::other);
}

inline TaskGroup kthread(std::string name, Kind kind = Kind::kfreezable) {
    TaskGroup made = group(std::move(name), 1, Site::kthread);
    made.kind = kind;
    return made;
}

/// A D task; negative: its wait never ends.
inline TaskGroup d_task(std::string name, std::int64_t ends_us, Kind kind = Kind::user) {
    TaskGroup made = group(std::move(name), 1, Site::other);
    made.kind = kind;
    made.start = Start::uninterruptible;
    if (ends_us >= 0) made.d_ends_ns = Constant{static_cast<double>(ends_us) * 1000.0};
    return made;
}

/// User loop only, ticks at multiples of the period, no wake latency.
inline Scenario example(int cpus, std::vector<TaskGroup> tasks, int hz = 100) {
    Scenario scenario;
    scenario.cpus.assign(static_cast<std::size_t>(cpus), sched::Cpu{1'000'000'000, 1024, 0, 0});
    scenario.busy_power_mw.assign(static_cast<std::size_t>(cpus), 0.0);
    scenario.costs = example_costs();
    scenario.kernel.hz = hz;
    scenario.kernel.since_tick_ns = 0;
    scenario.loops = Loops::user_only;
    scenario.tasks = std::move(tasks);
    return scenario;
}

inline Result run(const Scenario& scenario, std::string_view policy, StreamKey key = {1, 0}) {
    return Model{scenario, parse_policy(policy)}.run(key, {});
}

/// When each task froze (or was marked), in list order, microseconds; -1 for never.
inline std::vector<double> frozen_us(const Scenario& scenario, std::string_view policy) {
    Model model{scenario, parse_policy(policy)};
    model.keep_tasks();
    model.run({1, 0}, {});
    std::vector<double> times;
    for (const TaskOutcome& task : model.tasks()) {
        times.push_back(task.frozen_ns < 0 ? -1.0 : static_cast<double>(task.frozen_ns) / 1000.0);
    }
    return times;
}

inline double us(std::int64_t ns) {
    return static_cast<double>(ns) / 1000.0;
}

}  // namespace torpor::freezer::testing
