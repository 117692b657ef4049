// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "torpor/ftrace/trace_log.hpp"
#include "torpor/idle/state_table.hpp"
#include "torpor/idle/tick.hpp"

// From the text of a kernel trace back to what every idle decision saw.
//
// Needs cpu_idle; uses cpu_idle_miss, tick_stop, hrtimer_start, hrtimer_expire_entry, hrtimer_cancel,
// sched_switch and the flag column. The clock of the trace must be `mono`, the one in which timers expire.
// Timer-wheel and RCU events are not needed; what they would tell is inferred (see TraceDecision::wheel_ns
// and CpuTrace::rcu_need). Rules that are inferences and not facts of the kernel are marked "inferred".
// Measured against Linux 6.1.
namespace torpor::idle {

/// How an idle period ended.
enum class PeriodEnd : std::uint8_t {
    loop,    // the idle loop went round again
    task,    // a task ran
    window,  // the trace ended first
};

/// What ended a period, as bits; none of the first three means an IPI, a device interrupt or a task made
/// runnable remotely.
enum CauseBit : std::uint8_t {
    kCauseTick = 1U << 0U,       // the running tick
    kCauseWheel = 1U << 1U,      // the stopped tick's timer, aimed at a timer-wheel expiry
    kCauseHrtimer = 1U << 2U,    // another hrtimer
    kCausePollLimit = 1U << 3U,  // a polling state gave up
};

/// One recorded idle decision with everything that the governor could see. Times are those of the trace,
/// nanoseconds.
struct TraceDecision {
    std::size_t line{0};  // of the entry, from 1
    int state{0};
    PeriodEnd end{PeriodEnd::window};
    std::uint8_t cause{0};
    /// The tick when the governor was asked, and when the state was entered.
    bool stopped_before{false};
    bool stopped{false};
    /// The tick handler ran in this period, as the running tick or as the re-aimed timer.
    bool got_tick{false};
    /// The state is a polling one.
    bool polls{false};
    /// The rule for RCU says that the CPU needed its tick.
    bool rcu_need{false};
    std::int64_t entry_ns{0};
    std::int64_t exit_ns{0};        // end of the trace if the period did not end before
    std::int64_t residency_ns{0};   // as the kernel booked it
    std::int64_t idle_entry_ns{0};  // E: end of the last interrupt, or entry of the idle loop
    std::int64_t wheel_ns{
        kNoTimer};  // next timer-wheel expiry; with the tick running that of the next stop (inferred)
    std::int64_t hrtimer_ns{kNoTimer};  // first other hrtimer
    /// Expiry of the tick as it ran before the decision: the grid point ahead of E, or one before E that is
    /// overdue.
    std::int64_t tick_ns{kNoTimer};

    bool stops_tick() const { return stopped && !stopped_before; }
    bool polls_to_limit() const { return (cause & kCausePollLimit) != 0; }
};

/// A stretch of time, half open.
struct TimeSpan {
    std::int64_t begin_ns{0};
    std::int64_t end_ns{0};
};

/// An armed hrtimer other than the tick, of the CPU on which it fires.
struct TimerSpan {
    std::size_t begin_row{0};
    std::size_t end_row{0};  // of the expiry, the cancellation or the new start; past the last row if none
    std::int64_t begin_ns{0};
    std::int64_t end_ns{0};
    std::int64_t expires_ns{0};
};

struct CpuTrace {
    int cpu{0};
    std::vector<TraceDecision> decisions;
    std::vector<TimerSpan> hrtimers;
    /// When RCU keeps the tick of this CPU (inferred): from the first foreign task in a grace period to its
    /// end.
    std::vector<TimeSpan> rcu_need;
    /// End of a period that was in progress when the trace began, whose state is not in the trace; its
    /// beginning if none.
    std::int64_t idle_until_ns{0};
    /// Stops of the tick, those of asked governors whose state was then not entered included.
    std::int64_t tick_stops{0};

    bool rcu_needs_tick(std::int64_t now_ns) const;
};

struct TraceWalk {
    std::int64_t begin_ns{0};
    std::int64_t end_ns{0};
    /// Interrupts are handled before the exit line (x86, halting with interrupts on) or after it (arm64).
    bool handlers_before_exit{false};
    /// The tasks that the rule for RCU leaves out.
    std::vector<std::string> workload_tasks;
    std::vector<CpuTrace> cpus;  // ascending
};

struct WalkOptions {
    TickLength tick{250};
    /// The entry line is written before the clock is read and the exit line after: this much is taken off.
    std::int64_t line_cost_ns{1000};
    /// Tasks of the measured workload, which leave no RCU callbacks behind. When not given: those that armed
    /// their own sleep timer at least kWorkloadSleeps times.
    std::optional<std::vector<std::string>> workload_tasks{};

    static constexpr int kWorkloadSleeps = 20;
};

/// HZ of the kernel that wrote the trace, from the expiries of its running ticks; nullopt when there are
/// fewer than kLeastTicks of them or when they are on no grid.
std::optional<int> tick_hz_of(const ftrace::TraceLog& log);

inline constexpr int kLeastTicks = 16;

/// Rebuilds every CPU's decisions. `tables` has the idle states by CPU. Throws ConfigError when there is no
/// cpu_idle event, when a CPU of the trace or one of its states is not in `tables`, when an argument of a
/// needed event cannot be read, or when the clock is not the one of the timers.
TraceWalk walk_trace(const ftrace::TraceLog& log, const std::map<int, StateTable>& tables,
                     const WalkOptions& options);

}  // namespace torpor::idle
