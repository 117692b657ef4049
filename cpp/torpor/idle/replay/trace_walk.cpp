// SPDX-License-Identifier: MIT
#include "torpor/idle/replay/trace_walk.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "torpor/base/error.hpp"
#include "torpor/idle/replay/trace_context.hpp"
#include "torpor/idle/replay/trace_events.hpp"

namespace torpor::idle {

namespace {

using Kind = TraceEvent::Kind;

constexpr std::int64_t kUnset = std::numeric_limits<std::int64_t>::min();

class CpuWalk {
  public:
    CpuWalk(const std::vector<const TraceEvent*>& events, const StateTable& table, const TraceWalk& walk,
            const WalkOptions& options, const ftrace::TraceLog& log)
        : events_{events}, table_{table}, walk_{walk}, options_{options}, log_{log} {}

    void run(CpuTrace& cpu, const Timers& timers) {
        cpu_ = &cpu;
        guess_start(timers);
        for (const TraceEvent* event : events_) step(*event, timers);
        finish();
        look_ahead();
        first_hrtimers();
    }

  private:
    bool is_tick(const TraceEvent& event, const Timers& timers) const {
        const auto entry = timers.tick_of.find(event.timer);
        return entry != timers.tick_of.end() && entry->second == cpu_->cpu;
    }

    // The first thing that happens to the tick tells whether it was stopped before.
    void guess_start(const Timers& timers) {
        std::int64_t expired_ns = kNoTimer;
        for (const TraceEvent* event : events_) {
            if (event->kind == Kind::tick_stop) return;
            if (!is_tick(*event, timers)) continue;
            if (event->kind == Kind::timer_expire) {
                expired_ns = grid_before(event->value, options_.tick.ns);
                continue;
            }
            if (event->interrupt) return;
            stopped_ = true;
            wheel_ns_ = expired_ns;
            return;
        }
    }

    void step(const TraceEvent& event, const Timers& timers) {
        switch (event.kind) {
            case Kind::enter:
                return enter(event);
            case Kind::leave:
                return leave(event);
            case Kind::miss:
                return miss(event);
            case Kind::to_idle:
                return to_idle(event);
            case Kind::from_idle:
                return from_idle(event);
            case Kind::between_tasks:
                return;
            case Kind::tick_stop:
                stopped_ = true;
                stop_pending_ = true;
                ++cpu_->tick_stops;
                stop_rows_.push_back({event.row, kNoTimer});
                return idle_line(event);
            case Kind::timer_start:
            case Kind::timer_cancel:
            case Kind::timer_expire:
                return timer(event, is_tick(event, timers));
        }
    }

    void timer(const TraceEvent& event, bool tick) {
        if (event.kind == Kind::timer_expire && event.by_idle_task && period_ != nullptr) {
            if (!tick) {
                period_->cause |= kCauseHrtimer;
            } else {
                period_->cause |= stopped_ ? kCauseWheel : kCauseTick;
                period_->got_tick = true;
            }
        }
        if (tick && event.kind != Kind::timer_expire) aim(event);
        if (event.interrupt) {
            if (event.by_idle_task) interrupt_line(event);
        } else {
            idle_line(event);
        }
    }

    void aim(const TraceEvent& event) {
        const bool cancel = event.kind == Kind::timer_cancel;
        const bool in_loop = !event.interrupt && event.by_idle_task && !event.need_resched;
        if (in_loop) {
            stopped_ = true;
            wheel_ns_ = cancel ? kNoTimer : event.value;
            if (stop_pending_ && !stop_rows_.empty()) stop_rows_.back().wheel_ns = wheel_ns_;
        } else if (!cancel) {
            stopped_ = false;
            stop_pending_ = false;
            tick_due_ns_ = event.value;
        }
    }

    void enter(const TraceEvent& event) {
        idle_line(event);
        if (event.value < 0 || event.value >= table_.count()) {
            throw ConfigError{log_.source() + ":" + std::to_string(log_.line(event.row)),
                              "CPU " + std::to_string(cpu_->cpu) + " enters state " +
                                  std::to_string(event.value) + ", but its idle table has states 0.." +
                                  std::to_string(table_.count() - 1)};
        }
        close_without_exit(event);
        TraceDecision decision;
        decision.line = log_.line(event.row);
        decision.state = static_cast<int>(event.value);
        decision.polls = table_.polling(decision.state);
        decision.entry_ns = event.time_ns;
        decision.exit_ns = walk_.end_ns;
        decision.stopped = stopped_;
        decision.stopped_before = stopped_ && !stop_pending_;
        decision.wheel_ns = stopped_ ? wheel_ns_ : kNoTimer;
        decision.idle_entry_ns = idle_entry(event);
        const std::int64_t grid_ns = grid_before(decision.idle_entry_ns, options_.tick.ns) + options_.tick.ns;
        decision.tick_ns = decision.stopped_before  ? kNoTimer
                           : tick_due_ns_ == kUnset ? grid_ns
                                                    : tick_due_ns_;
        if (period_ != nullptr && !left_idle_) period_->end = PeriodEnd::loop;
        decision.rcu_need = cpu_->rcu_needs_tick(decision.idle_entry_ns);
        cpu_->decisions.push_back(decision);
        entry_rows_.push_back(event.row);
        period_ = &cpu_->decisions.back();
        last_idle_entry_ns_ = decision.idle_entry_ns;
        stop_pending_ = false;
        left_idle_ = false;
        clear_segment();
    }

    void leave(const TraceEvent& event) {
        exit_ns_ = event.time_ns;
        interrupts_before_exit_ = interrupt_ns_ != kUnset;
        idle_line_ns_ = kUnset;
        if (cpu_->decisions.empty() && cpu_->idle_until_ns == walk_.begin_ns)
            cpu_->idle_until_ns = event.time_ns;
        if (period_ == nullptr || period_->exit_ns != walk_.end_ns) return;
        period_->exit_ns = event.time_ns;
    }

    // The exit line was lost: the period ends with the next thing that cannot happen in it.
    void close_without_exit(const TraceEvent& event) {
        if (period_ != nullptr && period_->exit_ns == walk_.end_ns) period_->exit_ns = event.time_ns;
    }

    void miss(const TraceEvent& event) { miss_ns_ = event.time_ns; }

    void to_idle(const TraceEvent& event) {
        clear_segment();
        to_idle_ns_ = event.time_ns;
    }

    void from_idle(const TraceEvent& event) {
        close_without_exit(event);
        if (period_ != nullptr) period_->end = PeriodEnd::task;
        close_period();
        left_idle_ = true;
        clear_segment();
    }

    void interrupt_line(const TraceEvent& event) {
        interrupt_ns_ = event.time_ns;
        miss_ns_ = kUnset;
        idle_line_ns_ = kUnset;
    }

    void idle_line(const TraceEvent& event) {
        if (event.by_idle_task && !event.interrupt && idle_line_ns_ == kUnset) idle_line_ns_ = event.time_ns;
    }

    void clear_segment() {
        exit_ns_ = interrupt_ns_ = miss_ns_ = idle_line_ns_ = to_idle_ns_ = kUnset;
        interrupts_before_exit_ = false;
    }

    // What can be said of a finished period once its last line is known.
    void close_period() {
        if (period_ == nullptr) return;
        TraceDecision& period = *period_;
        period.residency_ns =
            std::max<std::int64_t>(0, period.exit_ns - period.entry_ns - options_.line_cost_ns);
        if (period.polls && period.end == PeriodEnd::loop) period.cause |= kCausePollLimit;
        period_ = nullptr;
    }

    // E of the decision whose entry line this is: the end of the last interrupt, as near as the lines tell
    // (inferred).
    std::int64_t idle_entry(const TraceEvent& entry) {
        constexpr std::int64_t kLine = 1000;     // from the end of the interrupt to the next line, at least
        constexpr std::int64_t kHalfLine = 500;  // from an interrupt's last line to its end, at least
        constexpr std::int64_t kToNextLine =
            5000;  // from the end of the interrupt to the next select's first line
        constexpr std::int64_t kFromHandler =
            3000;  // from the handler's last line to the end of the interrupt
        const bool polled = period_ != nullptr && period_->polls && !left_idle_;
        if (to_idle_ns_ != kUnset && interrupt_ns_ == kUnset) return to_idle_ns_ + kLine;
        if (polled && interrupt_ns_ == kUnset) return last_idle_entry_ns_;
        if (walk_.handlers_before_exit && to_idle_ns_ == kUnset) {
            if (interrupt_ns_ == kUnset) return exit_ns_ != kUnset ? exit_ns_ : entry.time_ns - kToNextLine;
            // From the interrupt's end it is only a few instructions to the exit line; before it, softirqs
            // may have taken any time since the handler's last line.
            const bool before_exit = interrupts_before_exit_ && exit_ns_ >= interrupt_ns_;
            return before_exit ? std::max(exit_ns_ - kLine, interrupt_ns_ + kHalfLine)
                               : std::min(interrupt_ns_ + kFromHandler, entry.time_ns);
        }
        const std::int64_t least_ns = interrupt_ns_ != kUnset ? interrupt_ns_ + kHalfLine
                                      : exit_ns_ != kUnset    ? exit_ns_
                                                              : walk_.begin_ns;
        if (miss_ns_ != kUnset) return std::max(miss_ns_ - kLine, least_ns);
        const std::int64_t next_ns = idle_line_ns_ != kUnset ? idle_line_ns_ : entry.time_ns;
        return std::max(next_ns - kToNextLine, least_ns);
    }

    void finish() {
        for (std::size_t i = 0; i + 1 < cpu_->decisions.size(); ++i) {
            TraceDecision& decision = cpu_->decisions[i];
            period_ = &decision;
            close_period();
        }
        if (cpu_->decisions.empty()) return;
        period_ = &cpu_->decisions.back();
        if (period_->exit_ns == walk_.end_ns) period_->end = PeriodEnd::window;
        close_period();
    }

    // A running tick does not show the next wheel expiry: the one seen at the next stop was, most likely,
    // already there.
    void look_ahead() {
        std::size_t stop = stop_rows_.size();
        for (std::size_t i = cpu_->decisions.size(); i-- > 0;) {
            while (stop > 0 && stop_rows_[stop - 1].row > entry_rows_[i]) --stop;
            TraceDecision& decision = cpu_->decisions[i];
            if (decision.stopped || stop == stop_rows_.size()) continue;
            if (stop_rows_[stop].wheel_ns > decision.idle_entry_ns)
                decision.wheel_ns = stop_rows_[stop].wheel_ns;
        }
    }

    void first_hrtimers() {
        std::vector<const TimerSpan*> armed;
        std::size_t next = 0;
        for (std::size_t i = 0; i < cpu_->decisions.size(); ++i) {
            const std::size_t row = entry_rows_[i];
            for (; next < cpu_->hrtimers.size() && cpu_->hrtimers[next].begin_row <= row; ++next) {
                armed.push_back(&cpu_->hrtimers[next]);
            }
            std::erase_if(armed, [&](const TimerSpan* span) { return span->end_row < row; });
            for (const TimerSpan* span : armed) {
                cpu_->decisions[i].hrtimer_ns = std::min(cpu_->decisions[i].hrtimer_ns, span->expires_ns);
            }
        }
    }

    struct Stop {
        std::size_t row{0};
        std::int64_t wheel_ns{kNoTimer};
    };

    const std::vector<const TraceEvent*>& events_;
    const StateTable& table_;
    const TraceWalk& walk_;
    const WalkOptions& options_;
    const ftrace::TraceLog& log_;
    CpuTrace* cpu_{nullptr};
    std::vector<std::size_t> entry_rows_;
    std::vector<Stop> stop_rows_;
    TraceDecision* period_{nullptr};  // from its entry to the next entry or switch
    bool left_idle_{false};           // a task ran since the last entry
    bool stopped_{false};
    bool stop_pending_{false};  // stopped for the decision in the making
    std::int64_t wheel_ns_{kNoTimer};
    std::int64_t tick_due_ns_{kUnset};  // of the running tick
    std::int64_t last_idle_entry_ns_{0};
    // Lines since the last entry or switch.
    std::int64_t exit_ns_{kUnset};
    std::int64_t interrupt_ns_{kUnset};
    std::int64_t miss_ns_{kUnset};
    std::int64_t idle_line_ns_{kUnset};  // first line of the idle task behind the last interrupt
    std::int64_t to_idle_ns_{kUnset};
    bool interrupts_before_exit_{false};
};

// Where the handlers' lines stand, by majority of all periods.
bool handlers_stand_before_exit(const std::vector<TraceEvent>& events) {
    std::map<int, bool> inside;
    std::int64_t votes = 0;
    for (const TraceEvent& event : events) {
        if (event.kind == Kind::enter) inside[event.cpu] = true;
        if (event.kind == Kind::leave) inside[event.cpu] = false;
        if (event.kind == Kind::timer_expire && event.by_idle_task) votes += inside[event.cpu] ? 1 : -1;
    }
    return votes > 0;
}

}  // namespace

bool CpuTrace::rcu_needs_tick(std::int64_t now_ns) const {
    const auto after =
        std::upper_bound(rcu_need.begin(), rcu_need.end(), now_ns,
                         [](std::int64_t ns, const TimeSpan& span) { return ns < span.begin_ns; });
    return after != rcu_need.begin() && now_ns < std::prev(after)->end_ns;
}

TraceWalk walk_trace(const ftrace::TraceLog& log, const std::map<int, StateTable>& tables,
                     const WalkOptions& options) {
    std::vector<std::string> names;
    const std::vector<TraceEvent> events = decode_events(log, names);
    check_clock(log, events);
    check_tick(log, events, options.tick);

    TraceWalk walk;
    walk.begin_ns = log.time_ns(0);
    walk.end_ns = log.time_ns(log.size() - 1);
    walk.handlers_before_exit = handlers_stand_before_exit(events);
    walk.workload_tasks = options.workload_tasks ? *options.workload_tasks : find_workload(events, names);

    const Timers timers = find_timers(events, walk.begin_ns, walk.end_ns, log.size(), options.tick.ns);
    const std::vector<TimeSpan> periods = grace_periods(events, names, walk.begin_ns, options.tick.ns);
    std::map<int, std::vector<const TraceEvent*>> by_cpu;
    for (const int cpu : log.cpus_seen()) by_cpu[cpu];
    for (const TraceEvent& event : events) by_cpu[event.cpu].push_back(&event);
    for (const auto& [cpu, own] : by_cpu) {
        const auto table = tables.find(cpu);
        if (table == tables.end()) {
            std::string known;
            for (const auto& [number, unused] : tables)
                known += (known.empty() ? "" : ", ") + std::to_string(number);
            throw ConfigError{log.source(),
                              "CPU " + std::to_string(cpu) +
                                  " of the trace has no idle table; there are tables for CPUs " + known};
        }
        CpuTrace trace;
        trace.cpu = cpu;
        trace.idle_until_ns = walk.begin_ns;
        if (const auto spans = timers.spans.find(cpu); spans != timers.spans.end())
            trace.hrtimers = spans->second;
        trace.rcu_need = needs_of_cpu(own, periods, names, walk.workload_tasks);
        CpuWalk{own, table->second, walk, options, log}.run(trace, timers);
        walk.cpus.push_back(std::move(trace));
    }
    return walk;
}

}  // namespace torpor::idle
