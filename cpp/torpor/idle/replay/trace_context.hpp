// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "torpor/idle/replay/trace_events.hpp"
#include "torpor/idle/replay/trace_walk.hpp"

// What concerns all CPUs of a trace at once: its clock and tick, the timers, grace periods, the workload.
namespace torpor::idle {

inline std::int64_t grid_before(std::int64_t now_ns, std::int64_t tick_ns) {
    return now_ns - now_ns % tick_ns;
}

/// Timers expire in the monotonic clock, and a handler's `now` is read just before its line is written.
/// Throws ConfigError when the lines are not stamped with that clock.
void check_clock(const ftrace::TraceLog& log, const std::vector<TraceEvent>& events);

/// Throws ConfigError when the running ticks of the trace are not those of `tick`.
void check_tick(const ftrace::TraceLog& log, const std::vector<TraceEvent>& events, const TickLength& tick);

struct Timers {
    std::unordered_map<std::uint64_t, int> tick_of;  // address of a tick timer -> CPU
    std::map<int, std::vector<TimerSpan>> spans;     // by CPU, in the order in which they were armed
};

/// Pairs each start of an hrtimer with its end. The timer belongs to the CPU on which it expires.
Timers find_timers(const std::vector<TraceEvent>& events, std::int64_t begin_ns, std::int64_t end_ns,
                   std::size_t rows, std::int64_t tick_ns);

/// Times at which a CPU may need its tick: while the thread of RCU that drives grace periods runs about every
/// second tick (inferred). A pause of more than 25/8 ticks ends a grace period; it covers two ticks before
/// the first run, or all since the trace began if that is no more than five ticks earlier, and ends with the
/// tick after the last run.
std::vector<TimeSpan> grace_periods(const std::vector<TraceEvent>& events,
                                    const std::vector<std::string>& names, std::int64_t begin_ns,
                                    std::int64_t tick_ns);

/// From when to when each grace period makes the CPU of these events need its tick: once a task has run that
/// is neither RCU's thread nor of the workload.
std::vector<TimeSpan> needs_of_cpu(const std::vector<const TraceEvent*>& events,
                                   const std::vector<TimeSpan>& periods,
                                   const std::vector<std::string>& names,
                                   const std::vector<std::string>& workload);

/// Sleepers that arm their own timers again and again are the workload; everything else is the system's.
std::vector<std::string> find_workload(const std::vector<TraceEvent>& events,
                                       const std::vector<std::string>& names);

}  // namespace torpor::idle
