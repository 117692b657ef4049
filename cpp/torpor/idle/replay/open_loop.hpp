// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "torpor/idle/replay/replay.hpp"
#include "torpor/idle/replay/start.hpp"

namespace torpor::idle {

/// The timers around one decision, measured from E (see SelectInput), for a tick that runs on the grid of
/// multiples of T.
struct TimerView {
    std::int64_t next_event_ns{0};
    std::int64_t sleep_length_ns{0};
    /// The kernel would not stop the tick now.
    bool needed{false};
};

/// `tick_ns` is the expiry of the running tick; it lies before E when the tick is overdue.
inline TimerView view_timers(std::int64_t idle_entry_ns, std::int64_t tick_ns, std::int64_t wheel_ns,
                             std::int64_t hrtimer_ns, bool tick_stopped, bool rcu_need,
                             std::int64_t period_ns) {
    const std::int64_t free_ns = std::min(wheel_ns, hrtimer_ns) - idle_entry_ns;
    if (tick_stopped) return {free_ns, free_ns, false};
    const std::int64_t base_ns = idle_entry_ns - idle_entry_ns % period_ns;
    const std::int64_t next_ns = std::min(tick_ns, hrtimer_ns) - idle_entry_ns;
    const bool needed = rcu_need || wheel_ns - base_ns <= period_ns;
    return {next_ns, needed ? next_ns : free_ns, needed};
}

/// What the governor saw at a recorded decision. One that the trace shows to stop the tick did not need it.
inline TimerView recorded_view(const TraceDecision& decision, bool rcu_need, std::int64_t period_ns) {
    TimerView view = view_timers(decision.idle_entry_ns, decision.tick_ns, decision.wheel_ns,
                                 decision.hrtimer_ns, decision.stopped_before, rcu_need, period_ns);
    if (decision.stops_tick()) {
        view.sleep_length_ns = std::min(decision.wheel_ns, decision.hrtimer_ns) - decision.idle_entry_ns;
        view.needed = false;
    }
    return view;
}

/// Answers of one governor on one CPU.
template <Governor G>
std::vector<OpenChoice> open_loop(const CpuTrace& cpu, G governor, const TickLength& tick,
                                  const ReplayRules& rules) {
    std::vector<OpenChoice> choices;
    choices.reserve(cpu.decisions.size());
    if (cpu.decisions.empty()) return choices;
    Device device;
    StartedGovernor<G> model{governor, cpu.decisions.front().state};
    for (const TraceDecision& decision : cpu.decisions) {
        const bool rcu_need = rules.rcu_need && decision.rcu_need;
        TimerView view = recorded_view(decision, rcu_need, tick.ns);
        SelectInput input;
        input.sleep_length_ns = view.sleep_length_ns;
        input.next_event_ns = view.next_event_ns;
        input.now_ns = decision.entry_ns;
        input.latency_limit_us = rules.latency_limit_us;
        input.tick_stopped = decision.stopped_before;
        const StartedGovernor<G> model_before = model;
        const Device device_before = device;
        Selection selection = model.select(input, device);
        if (rules.contradiction && selection.stop_tick && !view.needed && !decision.stopped &&
            view.sleep_length_ns > tick.ns) {
            model = model_before;
            device = device_before;
            view.needed = true;
            input.sleep_length_ns = input.next_event_ns;
            selection = model.select(input, device);
        }
        choices.push_back(
            {selection.state, decision.stopped_before || (selection.stop_tick && !view.needed), view.needed});
        device.last_residency_ns = static_cast<std::uint64_t>(decision.residency_ns);
        if (decision.polls) device.poll_limit_hit = decision.polls_to_limit();
        model.reflect(decision.state, rules.got_tick && decision.got_tick, decision.exit_ns, device);
    }
    return choices;
}

}  // namespace torpor::idle
