// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "torpor/engine/timeline.hpp"
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

inline TaskGroup starting(TaskGroup made, Start start) {
    made.start = start;
    return made;
}

inline TaskGroup computing(std::string name, std::int64_t reply_after_cycles = 0) {
    TaskGroup made = starting(others(1, std::move(name)), Start::user_mode);
    made.reply_after_cycles = reply_after_cycles;
    return made;
}

inline TaskGroup waking(TaskGroup made, double at_us) {
    made.wakes_at_ns = Constant{at_us * 1000.0};
    return made;
}

inline TaskGroup waiting_on(TaskGroup made, std::string server) {
    made.waits_on = std::move(server);
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

inline double us(std::int64_t ns) {
    return static_cast<double>(ns) / 1000.0;
}

/// Every task of a run, in list order.
inline std::vector<TaskOutcome> outcomes(const Scenario& scenario, std::string_view policy,
                                         StreamKey key = {1, 0}) {
    Model model{scenario, parse_policy(policy)};
    model.keep_tasks();
    model.run(key, {});
    return model.tasks();
}

using Times = std::vector<double>;

/// When each task froze (or was marked), in list order, microseconds; -1 for never.
inline Times frozen_us(const Scenario& scenario, std::string_view policy) {
    Times found;
    for (const TaskOutcome& task : outcomes(scenario, policy)) {
        found.push_back(task.frozen_ns < 0 ? -1.0 : us(task.frozen_ns));
    }
    return found;
}

/// The state of each task at the end of the freeze, and at the end of the thaw.
inline std::vector<std::string> states(const Scenario& scenario, std::string_view policy) {
    std::vector<std::string> found;
    for (const TaskOutcome& task : outcomes(scenario, policy)) found.emplace_back(task.state);
    return found;
}
inline std::vector<std::string> states_after_thaw(const Scenario& scenario, std::string_view policy) {
    std::vector<std::string> found;
    for (const TaskOutcome& task : outcomes(scenario, policy)) found.emplace_back(task.state_after_thaw);
    return found;
}

inline std::vector<engine::TimelineRecord> told(const Scenario& scenario, std::string_view policy) {
    engine::VectorSink sink;
    Model{scenario, parse_policy(policy)}.run({1, 0}, {}, &sink);
    return sink.records();
}

/// One pass of a loop, microseconds, and what it counted.
struct Pass {
    double start_us{0.0};
    double end_us{0.0};
    std::int64_t todo{0};

    bool operator==(const Pass&) const = default;
};
using PassList = std::vector<Pass>;

inline void PrintTo(const Pass& pass, std::ostream* out) {
    *out << pass.start_us << "-" << pass.end_us << " (" << pass.todo << ")";
}

/// The passes of both loops, one after the other.
inline PassList passes(const Scenario& scenario, std::string_view policy) {
    PassList found;
    for (const engine::TimelineRecord& record : told(scenario, policy)) {
        if (record.kind == static_cast<std::uint16_t>(TimelineKind::pass_begin)) {
            found.push_back({us(to_ns(record.at)), -1.0, -1});
        } else if (record.kind == static_cast<std::uint16_t>(TimelineKind::pass_end)) {
            found.back().end_us = us(to_ns(record.at));
            found.back().todo = record.value;
        }
    }
    return found;
}

inline Times sleep_starts(const Scenario& scenario, std::string_view policy) {
    Times found;
    for (const engine::TimelineRecord& record : told(scenario, policy)) {
        if (record.kind == static_cast<std::uint16_t>(TimelineKind::sleep_begin)) {
            found.push_back(us(to_ns(record.at)));
        }
    }
    return found;
}

/// A board that takes 300 mW, and 100 mW more for each busy CPU.
inline Scenario with_power(Scenario scenario) {
    scenario.base_power_mw = 300.0;
    scenario.busy_power_mw.assign(scenario.cpus.size(), 100.0);
    return scenario;
}

}  // namespace torpor::freezer::testing
