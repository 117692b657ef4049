// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <vector>

#include "torpor/idle/replay/trace_walk.hpp"

namespace torpor::idle {

// Rows of a hand-written trace of CPU 0. Times are microseconds.
class TraceText {
  public:
    TraceText& row(const std::string& task, const std::string& flags, std::int64_t us,
                   const std::string& event) {
        const std::string micros = std::to_string(us % 1000000);
        text_ += task + " [000] " + flags + " " + std::to_string(us / 1000000) + "." +
                 std::string(6 - micros.size(), '0') + micros + ": " + event + "\n";
        return *this;
    }
    TraceText& idle(std::int64_t us, const std::string& event) { return row("<idle>-0", "d....", us, event); }
    TraceText& interrupt(std::int64_t us, const std::string& event) {
        return row("<idle>-0", "d.h..", us, event);
    }
    TraceText& enter(std::int64_t us, int state) {
        return idle(us, "cpu_idle: state=" + std::to_string(state) + " cpu_id=0");
    }
    TraceText& leave(std::int64_t us) { return idle(us, "cpu_idle: state=4294967295 cpu_id=0"); }
    /// The running tick: handler and re-arm.
    TraceText& tick(std::int64_t us, std::int64_t next_us) {
        interrupt(us, "hrtimer_expire_entry: hrtimer=aa function=tick_sched_timer now=" +
                          std::to_string(us * 1000 - 1000));
        return interrupt(us + 4, start("aa", "tick_sched_timer", next_us));
    }
    TraceText& stop_tick(std::int64_t us, std::int64_t wheel_us) {
        idle(us, "tick_stop: success=1 dependency=NONE");
        return idle(us + 2, start("aa", "tick_sched_timer", wheel_us));
    }
    TraceText& to_task(std::int64_t us, const std::string& task) {
        return row("<idle>-0", "dN...", us,
                   "sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=" +
                       task + " next_pid=9 next_prio=120");
    }
    TraceText& to_idle(std::int64_t us, const std::string& task) {
        return row(
            task + "-9", "d....", us,
            "sched_switch: prev_comm=" + task +
                " prev_pid=9 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120");
    }
    static std::string start(const std::string& timer, const std::string& function, std::int64_t us) {
        return "hrtimer_start: hrtimer=" + timer + " function=" + function +
               " expires=" + std::to_string(us * 1000) + " softexpires=" + std::to_string(us * 1000) +
               " mode=ABS was_armed=0";
    }
    const std::string& text() const { return text_; }

  private:
    std::string text_;
};

/// WFI, cpu-sleep and cluster-sleep of the HiKey board, or four states of which the first polls.
inline std::map<int, StateTable> sample_tables(bool polling = false) {
    std::vector<GovernorState> states{
        {1000, 1000, false}, {950000, 1000000, false}, {1500000, 2700000, false}};
    if (polling) states.insert(states.begin(), {0, 0, true});
    return {{0, StateTable{states}}};
}

inline TraceWalk walk_text(const TraceText& text, bool polling = false,
                           std::optional<std::vector<std::string>> workload = std::nullopt) {
    const ftrace::TraceLog log{text.text(), "t"};
    WalkOptions options;
    options.workload_tasks = std::move(workload);
    return walk_trace(log, sample_tables(polling), options);
}

}  // namespace torpor::idle
