// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "example.hpp"

// Walks and bursts of a freeze worked out without events: walks are sums, bursts a list schedule. Holds while
// nothing but the walker wakes anybody.
namespace torpor::freezer::testing {

using Ns = std::int64_t;

inline constexpr Ns kMs = 1'000'000;

struct Burst {
    Ns release;
    Ns length;
};

/// One walk over a population at 1 GHz, from its start.
struct Walk {
    Ns end{0};
    std::vector<Burst> bursts;
    std::int64_t marked{0};
};

inline Ns burst_of(const Scenario& scenario, const TaskGroup& task) {
    return task.freeze_run_cycles.value_or(scenario.costs.freeze_run_cycles);
}

inline Walk first_walk(const Scenario& scenario, Version version, bool kernel_loop = false) {
    const Costs& costs = scenario.costs;
    Walk walk;
    for (const TaskGroup& task : scenario.tasks) {
        walk.end += costs.visit_cycles;
        if (task.kind != (kernel_loop ? Kind::kfreezable : Kind::user)) continue;
        const Handling handled = handling(task.site, version);
        if (handled == Handling::request) walk.end += costs.resig_cycles;
        if (handled == Handling::mark) {
            walk.end += costs.mark_cycles;
            ++walk.marked;
        }
        if (handled != Handling::wake) continue;
        walk.end += costs.wake_cycles;
        walk.bursts.push_back({walk.end, burst_of(scenario, task)});
    }
    return walk;
}

inline Walk thaw_walk(const Scenario& scenario, Version version) {
    const Costs& costs = scenario.costs;
    Walk walk;
    for (const TaskGroup& task : scenario.tasks) {
        walk.end += costs.visit_cycles;
        if (task.kind == Kind::knofreeze) continue;
        const Handling handled = handling(task.site, version);
        if (handled == Handling::mark && version >= Version::v6_7) walk.end += costs.mark_cycles;
        const bool resleeps = handled == Handling::mark && version == Version::v6_1;
        if (handled != Handling::wake && !resleeps) continue;
        walk.end += costs.thaw_wake_cycles;
        walk.bursts.push_back({walk.end, resleeps ? costs.resleep_cycles
                                                  : task.thaw_run_cycles.value_or(costs.thaw_run_cycles)});
    }
    return walk;
}

/// First come, first served: CPU 0 takes part from the end of the walk on, the others from the start.
struct Schedule {
    Ns last_end{0};
    Ns walker_at{0};  // has a CPU again after it has gone to the tail of the queue, if there is one
};

inline Schedule schedule(const Walk& walk, std::size_t cpus) {
    const auto assign = [&walk](std::vector<Ns> free, Ns& last_start, Ns& last_end) {
        for (const Burst& burst : walk.bursts) {
            Ns& cpu = *std::min_element(free.begin(), free.end());
            last_start = std::max(last_start, std::max(cpu, burst.release));
            cpu = std::max(cpu, burst.release) + burst.length;
            last_end = std::max(last_end, cpu);
        }
        return free;
    };
    Ns last_start = 0;
    Ns last_end = 0;
    if (cpus > 1) assign(std::vector<Ns>(cpus - 1, 0), last_start, last_end);
    const bool queued = cpus == 1 ? !walk.bursts.empty() : last_start > walk.end;
    std::vector<Ns> free(cpus, 0);
    free.front() = walk.end;
    Schedule made;
    free = assign(free, last_start, made.last_end);
    made.walker_at = queued ? std::max(walk.end, *std::min_element(free.begin(), free.end())) : walk.end;
    return made;
}

inline Ns visits(const Scenario& scenario) {
    return static_cast<Ns>(scenario.tasks.size()) * scenario.costs.visit_cycles;
}

/// How long a sleep that starts at a time lasts; a range for one that is drawn.
struct Lasts {
    Ns least;
    Ns most;
};

inline Lasts sleep_at(const Scenario& scenario, const std::string& sleep, RangeMode mode, Ns at) {
    const int hz = scenario.kernel.hz;
    const Ns period = (2'000'000'000 / hz + 1) / 2;
    const Ns phase = (at + *scenario.kernel.since_tick_ns) % period;
    if (sleep == "msleep") {
        const Ns ticks = (10 * hz + 999) / 1000 + 1;
        return {ticks * period - phase, ticks * period - phase};
    }
    const Ns low = kMs / 2;
    if (mode == RangeMode::soft) return {low, low};
    if (mode == RangeMode::hard) return {kMs, kMs};
    if (mode == RangeMode::uniform) return {low, kMs};
    Ns tick = 0;
    while (tick < at + *scenario.kernel.since_tick_ns + low) tick += period;
    const Ns lasts = std::min(tick - at - *scenario.kernel.since_tick_ns, kMs);
    return {lasts, lasts};
}

/// Where a loop over D tasks ends, and after how many passes.
struct Passes {
    Ns end{0};
    std::int64_t count{0};
};

}  // namespace torpor::freezer::testing
