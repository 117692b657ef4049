// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "torpor/idle/energy.hpp"
#include "torpor/idle/policy.hpp"
#include "torpor/idle/replay/trace_walk.hpp"
#include "torpor/idle/state_table.hpp"

// Running policies on a recorded trace.
//
// Open loop: the model is told the recorded past before every decision, and its answers are compared one by
// one. Closed loop: the model lives with its own choices; only what no governor can change is taken from the
// trace (interrupts that are not the tick, timers, how long tasks ran, grace periods of RCU).
namespace torpor::idle {

/// Which rules a replay keeps. All are on for a real replay; turning one off shows what it is worth (a
/// negative control).
struct ReplayRules {
    /// Decisions of each CPU that are taken from the trace before a closed loop runs free; an open loop
    /// reports them apart.
    int warm_up{8};
    /// RCU keeps the tick of a CPU that ran a foreign task in a grace period.
    bool rcu_need{true};
    /// Open loop: a stop that the model wants and the trace does not show means that the tick was needed.
    bool contradiction{true};
    /// The governor learns that the tick ended a period.
    bool got_tick{true};
    /// Latency limit of PM QoS that governors are told.
    std::int64_t latency_limit_us{kNoLatencyLimitUs};

    bool operator==(const ReplayRules&) const = default;
};

/// The model's answer to one recorded decision.
struct OpenChoice {
    int state{0};
    bool stopped{false};  // the tick when the state would be entered
    bool needed{false};   // the tick was taken to be needed
};

/// Answers per CPU in the order of TraceWalk::cpus, one per recorded decision.
using OpenLoop = std::vector<std::vector<OpenChoice>>;

/// Throws ConfigError for a policy that needs the future (Oracle, DelayedOracle) or that does not fit a
/// table.
OpenLoop replay_open(const TraceWalk& walk, const std::map<int, StateTable>& tables, const TickLength& tick,
                     const Policy& policy, const ReplayRules& rules);

/// What ended a period of a closed loop.
enum class WakeKind : std::uint8_t {
    outside,     // an interrupt other than the tick's, or the end of the trace
    tick,        // the running tick
    wheel,       // the stopped tick's timer
    poll_limit,  // a polling state gave up
    delay,       // a delayed bound's own timer
};

/// One idle period of a closed loop.
struct ReplayPeriod {
    std::int64_t entry_ns{0};
    std::int64_t exit_ns{0};
    std::int64_t residency_ns{0};
    int state{0};
    WakeKind wake{WakeKind::outside};
    bool recorded{false};  // taken from the trace in the warm-up
    /// The recorded wakeup that ended it was a device, another CPU or an hrtimer: someone waited for it.
    bool awaited{false};
};

struct ClosedCpu {
    std::vector<ReplayPeriod> periods;
    std::int64_t tick_stops{0};
    /// Awaited wakeups that found the model's CPU between two periods.
    std::int64_t found_awake{0};
};

/// Medians of a trace's own overheads, nanoseconds.
struct LoopCosts {
    std::int64_t to_entry_ns{0};       // from E to the entry line
    std::int64_t to_entry_stop_ns{0};  // ... when the tick is stopped on the way
    std::int64_t tick_delay_ns{0};     // from the grid point to the exit line
    std::int64_t to_idle_entry_ns{0};  // from the exit line to the next E; negative if E comes first
    std::int64_t line_ns{0};           // of WalkOptions: what a residency is shorter than its lines' distance

    bool operator==(const LoopCosts&) const = default;
};

LoopCosts measure_costs(const TraceWalk& walk, const WalkOptions& options);

/// Power of the clusters that publish it, by CPU.
using PowerByCpu = std::map<int, std::optional<ClusterPower>>;

/// Per CPU in the order of TraceWalk::cpus. Bounds are allowed: they are told when the next wakeup comes, and
/// choose by energy where `powers` has the CPU. A recorded period ends at its recorded exit whatever the
/// state, so they add no wake latency.
std::vector<ClosedCpu> replay_closed(const TraceWalk& walk, const std::map<int, StateTable>& tables,
                                     const TickLength& tick, const Policy& policy, const ReplayRules& rules,
                                     const LoopCosts& costs, const PowerByCpu& powers = {});

/// The trace itself in the shape of a closed loop.
std::vector<ClosedCpu> recorded_periods(const TraceWalk& walk);

}  // namespace torpor::idle
