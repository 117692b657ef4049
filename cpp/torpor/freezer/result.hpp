// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "torpor/freezer/tasks.hpp"

namespace torpor::freezer {

enum class Outcome : std::uint8_t { frozen, failed, aborted };

/// One of the two loops of a freeze.
struct LoopResult {
    std::int64_t elapsed_ns{0};
    std::int64_t passes{0};
    std::int64_t sleeps{0};
    std::int64_t slept_ns{0};

    bool operator==(const LoopResult&) const = default;
};

/// What the CPUs did in a freeze or in a thaw.
struct Activity {
    std::int64_t task_switch_ins{0};
    /// All context switches: a CPU starts something other than what it ran before, idle included.
    std::int64_t switches{0};
    /// Times that a task or the walker left a CPU by itself, and against its will.
    std::int64_t voluntary{0};
    std::int64_t involuntary{0};
    /// Tasks woken: by the walker, by the end of a wait, by somebody else.
    std::int64_t wakeups{0};
    std::int64_t busy_ns{0};
    std::vector<std::int64_t> cpu_busy_ns;  // the same per CPU
    double energy_mj{0.0};

    bool operator==(const Activity&) const = default;
};

/// One freeze and its thaw; with retries those of the last attempt.
struct Result {
    Outcome outcome{Outcome::frozen};
    /// The freeze ended in the kernel loop (or got through it).
    bool in_kernel_loop{false};
    LoopResult user;
    LoopResult kernel;
    /// Both loops; for a v2 cgroup until the notification.
    std::int64_t elapsed_ns{0};
    Activity freeze;
    /// System calls interrupted at a visit, by what becomes of them.
    std::int64_t restarts{0};
    std::int64_t visible_errors{0};
    /// Tasks that the last pass counted, whether a freezable workqueue was busy, work held until the thaw.
    std::int64_t refusing{0};
    bool workqueue_busy{false};
    std::int64_t work_held{0};
    /// Per group: its tasks that are not frozen when the freeze fails or is aborted. One that has frozen
    /// since its last visit is not among them.
    std::vector<std::int64_t> refusing_by_group;
    /// Until the walker reports; until the last woken task sleeps again.
    std::int64_t thaw_walker_ns{0};
    std::int64_t thaw_all_ns{0};
    Activity thaw;
    /// System calls that fail because the thaw woke them (sigtimedwait in 6.1 to 6.6).
    std::int64_t thaw_visible_errors{0};
    /// Tasks woken while frozen, which run on after the thaw.
    std::int64_t running_on{0};
    /// With perfect notification and the walks kept; -1 for none: not asked for, or the freeze has not ended
    /// well.
    std::int64_t bound_ns{-1};
    /// Attempts made; time and energy from the first freeze to the end of the last thaw, gaps between
    /// attempts included, the time asleep before the thaw not.
    std::int64_t attempts{1};
    std::int64_t cycle_ns{0};
    double cycle_energy_mj{0.0};

    bool operator==(const Result&) const = default;
};

/// How a task got through one freeze and thaw; times from the start of either, -1 for never.
struct TaskOutcome {
    std::int32_t group{0};
    std::int64_t number{0};  // within the group; a forked child has that of its parent
    bool forked{false};
    /// State at the end of the freeze: "frozen", "skipped", "marked", or one in which it refused.
    std::string_view state;
    /// And at the end of the thaw.
    std::string_view state_after_thaw;
    std::int64_t frozen_ns{-1};
    std::int64_t reblocked_ns{-1};
    /// Of the freeze.
    std::int64_t voluntary{0};
    std::int64_t involuntary{0};
    /// Times that it was woken in freeze and thaw.
    std::int64_t wakeups{0};
    /// Whether the freeze interrupted its system call, and what becomes of the call.
    bool interrupted{false};
    Interrupted call{Interrupted::never};
};

/// What a timeline tells; lanes are CPUs.
///   run          value: number of the task in the list, kWalkerEntity or kIdleEntity
///   loop_begin   value: 0 user, 1 kernel, 2 thaw       loop_end  value: the same
///   pass_begin   value: number of the pass, from 1     pass_end  value: what it counted
///   sleep_begin  value: length in ns, of a range sleep its upper bound; -1 for notification
///   sleep_end
///   frozen, marked, reblocked   value: number of the task
enum class TimelineKind : std::uint16_t {
    run,
    loop_begin,
    loop_end,
    pass_begin,
    pass_end,
    sleep_begin,
    sleep_end,
    frozen,
    marked,
    reblocked,
};
inline constexpr std::int64_t kIdleEntity = -1;
inline constexpr std::int64_t kWalkerEntity = -2;

}  // namespace torpor::freezer
