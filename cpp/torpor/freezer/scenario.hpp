// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "torpor/freezer/sleep.hpp"
#include "torpor/freezer/tasks.hpp"
#include "torpor/sched/cpu.hpp"
#include "torpor/sched/rules.hpp"

namespace torpor::freezer {

/// What everything costs, CPU cycles; a stall is time that no frequency shortens (cold-cache misses times the
/// latency of memory). Each is converted once per cluster, round(cycles 1e9 / Hz) + stall.
struct Costs {
    std::int64_t visit_cycles{0};
    /// A visit of the kernel loop, where one flag decides; none: as in the user loop.
    std::optional<std::int64_t> visit_kernel_cycles{};
    std::int64_t wake_cycles{0};
    std::int64_t resig_cycles{0};
    std::int64_t mark_cycles{0};
    std::int64_t freeze_run_cycles{0};
    std::int64_t thaw_wake_cycles{0};
    std::int64_t thaw_run_cycles{0};
    std::int64_t resleep_cycles{0};
    std::int64_t per_fd_cycles{0};
    std::int64_t visit_stall_ns{0};
    std::int64_t run_stall_ns{0};
    /// Once per loop, before its first pass; once per thaw.
    std::int64_t user_loop_cycles{0};
    std::int64_t kernel_loop_cycles{0};
    std::int64_t thaw_cycles{0};
    /// Added to each range sleep: the timer's interrupt and the way back to the walker.
    std::int64_t sleep_overhead_ns{0};

    bool operator==(const Costs&) const = default;
};

/// Whether a pass that has found tasks to wait for gives its CPU to the ones it has woken before it sleeps.
enum class Preempt : std::uint8_t { none, full };

/// Where a walker that wakes while every CPU is busy enters the ready queue. A fair scheduler places tasks
/// that slept long ahead of one that slept a millisecond: `tail`.
enum class WalkerWake : std::uint8_t { head, tail };

enum class Order : std::uint8_t { listed, shuffled };
enum class Loops : std::uint8_t { user_only, both };

/// Kernel configuration that matters to freezing.
struct Kernel {
    int hz{250};
    /// Time since the last tick when the freeze starts; drawn uniformly per replicate when not given.
    std::optional<std::int64_t> since_tick_ns{};
    Preempt preempt{Preempt::full};
    /// Of the kernel loop, where it differs.
    std::optional<Preempt> kernel_loop_preempt{};
    WalkerWake walker_wake{WalkerWake::head};
    int wheel_extra{0};
    RangeMode range_mode{RangeMode::hard};
    std::int64_t timeout_ms{20000};

    bool operator==(const Kernel&) const = default;
};

/// A population on CPUs, and the conditions of the freeze. It holds no policy.
struct Scenario {
    std::vector<sched::Cpu> cpus;
    /// Power of each busy CPU above idle, milliwatts; and of the rest of the awake board.
    std::vector<double> busy_power_mw;
    double base_power_mw{0.0};
    sched::Rules rules;
    Costs costs;
    Kernel kernel;
    std::vector<TaskGroup> tasks;
    std::vector<WorkItem> work;
    /// When a wakeup event arrives; it aborts the freeze at the end of the pass that is then under way.
    std::optional<Distribution> wakeup_at_ns{};
    Order order{Order::listed};
    Loops loops{Loops::both};
    /// A freeze that fails or is aborted is tried again, `retry_gap_ns` after its thaw, up to this many times
    /// in all.
    std::int64_t attempts{1};
    std::int64_t retry_gap_ns{0};
    /// From the end of the freeze to the thaw; a task woken meanwhile runs on after it.
    std::int64_t asleep_ns{0};
    /// Whether the lower bound is worked out: a second freeze of the same world, with notification.
    bool bound{true};

    bool operator==(const Scenario&) const = default;
};

/// Throws ConfigError with the key of the first entry that cannot be.
void validate(const Scenario& scenario);

/// Number of tasks in all.
std::int64_t task_count(const Scenario& scenario);

}  // namespace torpor::freezer
