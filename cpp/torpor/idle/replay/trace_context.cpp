// SPDX-License-Identifier: MIT
#include "torpor/idle/replay/trace_context.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "torpor/base/error.hpp"

namespace torpor::idle {

namespace {

using Kind = TraceEvent::Kind;

// Greatest common divisor of the running ticks' expiries, 0 when there are too few.
std::int64_t tick_grid_ns(const std::vector<TraceEvent>& events) {
    std::int64_t grid_ns = 0;
    int ticks = 0;
    for (const TraceEvent& event : events) {
        if (event.kind != Kind::timer_start || !event.tick_function || !event.interrupt) continue;
        grid_ns = std::gcd(grid_ns, event.value);
        ++ticks;
    }
    return ticks < kLeastTicks ? 0 : grid_ns;
}

std::optional<int> hz_of_grid(std::int64_t grid_ns) {
    for (const int hz : {100, 250, 300, 1000}) {
        if (TickLength{hz}.ns == grid_ns) return hz;
    }
    return std::nullopt;
}

bool is_rcu_thread(const std::string& task) {
    return task == "rcu_sched" || task == "rcu_preempt";
}

// An expired timer that nobody was seen to arm: most expire on the tick grid, and the handler runs a little
// late.
std::int64_t expiry_of_unseen(std::int64_t now_ns, std::int64_t tick_ns) {
    constexpr std::int64_t kNear = 300000;
    const std::int64_t grid_ns = grid_before(now_ns, tick_ns);
    return now_ns - grid_ns <= kNear ? grid_ns : now_ns;
}

bool runs_task(const TraceEvent& event) {
    return event.kind == Kind::from_idle || event.kind == Kind::between_tasks;
}

}  // namespace

void check_clock(const ftrace::TraceLog& log, const std::vector<TraceEvent>& events) {
    constexpr std::int64_t kEarly = -5000;
    constexpr std::int64_t kLate = 1000000;
    constexpr std::int64_t kJump = 1000000000;
    std::int64_t least_ns = kNoTimer;
    std::size_t row = 0;
    for (const TraceEvent& event : events) {
        if (event.kind != Kind::timer_expire) continue;
        if (event.time_ns - event.value > kJump) {
            throw ConfigError{log.source() + ":" + std::to_string(log.line(event.row)),
                              "the trace clock is not `mono` or jumps: this row is " +
                                  std::to_string(event.time_ns - event.value) +
                                  " ns after the timer clock (limit " + std::to_string(kJump) + ")"};
        }
        if (event.time_ns - event.value >= least_ns) continue;
        least_ns = event.time_ns - event.value;
        row = event.row;
    }
    if (least_ns == kNoTimer || (least_ns >= kEarly && least_ns <= kLate)) return;
    throw ConfigError{log.source() + ":" + std::to_string(log.line(row)),
                      "the trace clock is not `mono`: this row is " + std::to_string(least_ns) +
                          " ns after the timer clock (limits " + std::to_string(kEarly) + ".." +
                          std::to_string(kLate) + "); record with trace_clock=mono"};
}

void check_tick(const ftrace::TraceLog& log, const std::vector<TraceEvent>& events, const TickLength& tick) {
    const std::int64_t grid_ns = tick_grid_ns(events);
    if (grid_ns == 0 || grid_ns == tick.ns) return;
    const std::optional<int> hz = hz_of_grid(grid_ns);
    throw ConfigError{"tick.hz",
                      std::to_string(tick.hz) + " does not fit " + log.source() +
                          ", whose ticks are on a grid of " + std::to_string(grid_ns) + " ns" +
                          (hz ? ", HZ = " + std::to_string(*hz) : std::string{", no HZ of a kernel"})};
}

std::optional<int> tick_hz_of(const ftrace::TraceLog& log) {
    std::vector<std::string> names;
    return hz_of_grid(tick_grid_ns(decode_events(log, names)));
}

Timers find_timers(const std::vector<TraceEvent>& events, std::int64_t begin_ns, std::int64_t end_ns,
                   std::size_t rows, std::int64_t tick_ns) {
    struct Open {
        TimerSpan span;
        int cpu{0};
    };
    Timers timers;
    for (const TraceEvent& event : events) {
        if (event.tick_function) timers.tick_of[event.timer] = event.cpu;
    }
    std::map<std::uint64_t, Open> open;  // ordered: what is left over is taken in the order of addresses
    for (const TraceEvent& event : events) {
        const bool start = event.kind == Kind::timer_start;
        const bool expire = event.kind == Kind::timer_expire;
        if (!start && !expire && event.kind != Kind::timer_cancel) continue;
        if (timers.tick_of.contains(event.timer)) continue;
        const auto entry = open.find(event.timer);
        if (entry != open.end()) {
            TimerSpan span = entry->second.span;
            span.end_row = event.row;
            span.end_ns = event.time_ns;
            timers.spans[expire ? event.cpu : entry->second.cpu].push_back(span);
            open.erase(entry);
        } else if (expire) {
            timers.spans[event.cpu].push_back(
                {0, event.row, begin_ns, event.time_ns, expiry_of_unseen(event.value, tick_ns)});
        }
        if (start) open[event.timer] = {{event.row, rows, event.time_ns, end_ns, event.value}, event.cpu};
    }
    for (const auto& [timer, left] : open) timers.spans[left.cpu].push_back(left.span);
    for (auto& [cpu, spans] : timers.spans) {
        std::stable_sort(spans.begin(), spans.end(),
                         [](const TimerSpan& a, const TimerSpan& b) { return a.begin_row < b.begin_row; });
    }
    return timers;
}

std::vector<TimeSpan> grace_periods(const std::vector<TraceEvent>& events,
                                    const std::vector<std::string>& names, std::int64_t begin_ns,
                                    std::int64_t tick_ns) {
    std::vector<TimeSpan> periods;
    std::optional<std::int64_t> last_run_ns;
    for (const TraceEvent& event : events) {
        if (!runs_task(event) || !is_rcu_thread(names[event.task])) continue;
        const bool joins = last_run_ns && event.time_ns - *last_run_ns <= tick_ns * 25 / 8;
        if (!joins) {
            const bool before_window = event.time_ns - begin_ns <= 5 * tick_ns;
            const std::int64_t first_ns = grid_before(event.time_ns, tick_ns) - 2 * tick_ns;
            periods.push_back({before_window ? begin_ns : std::max(begin_ns, first_ns), 0});
        }
        last_run_ns = event.time_ns;
        periods.back().end_ns = grid_before(event.time_ns, tick_ns) + tick_ns;
    }
    return periods;
}

std::vector<TimeSpan> needs_of_cpu(const std::vector<const TraceEvent*>& events,
                                   const std::vector<TimeSpan>& periods,
                                   const std::vector<std::string>& names,
                                   const std::vector<std::string>& workload) {
    std::vector<TimeSpan> needs;
    auto period = periods.begin();
    for (const TraceEvent* event : events) {
        while (period != periods.end() && event->time_ns >= period->end_ns) ++period;
        if (period == periods.end()) break;
        if (!runs_task(*event) || event->time_ns < period->begin_ns) continue;
        const std::string& task = names[event->task];
        if (is_rcu_thread(task) || std::find(workload.begin(), workload.end(), task) != workload.end())
            continue;
        needs.push_back({event->time_ns, period->end_ns});
        ++period;
    }
    return needs;
}

std::vector<std::string> find_workload(const std::vector<TraceEvent>& events,
                                       const std::vector<std::string>& names) {
    std::map<std::string, int> sleeps;
    for (const TraceEvent& event : events) {
        if (event.kind != Kind::timer_start || !event.sleep_function || event.interrupt) continue;
        if (!event.by_idle_task) ++sleeps[names[event.task]];
    }
    std::vector<std::string> workload;
    for (const auto& [task, count] : sleeps) {
        if (count >= WalkOptions::kWorkloadSleeps) workload.push_back(task);
    }
    return workload;
}

}  // namespace torpor::idle
