// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "torpor/idle/oracle.hpp"
#include "torpor/idle/polling.hpp"
#include "torpor/idle/replay/open_loop.hpp"
#include "torpor/idle/replay/replay.hpp"
#include "torpor/idle/replay/start.hpp"
#include "torpor/idle/tick.hpp"

namespace torpor::idle {

/// True when the period ended for a reason that a model cannot change: anything but the running tick alone or
/// a polling limit, with the idle loop going round again.
inline bool ends_outside(const TraceDecision& decision) {
    if (decision.end != PeriodEnd::loop) return true;
    return decision.cause != kCauseTick && !decision.polls_to_limit();
}

/// True when somebody waited for the wakeup that ended the period: a device, another CPU or an hrtimer, not
/// the tick's timer.
inline bool was_awaited(const TraceDecision& decision) {
    if (decision.end == PeriodEnd::window) return false;
    return (decision.cause & kCauseHrtimer) != 0 || decision.cause == 0;
}

/// A policy for the closed loop: a governor, or a bound that is told the next wakeup.
template <class G>
class ClosedPolicy {
  public:
    static constexpr bool kIsBound = false;
    ClosedPolicy(const G& governor, int first_state) : governor_{governor, first_state} {}

    Selection select(const SelectInput& input, Device& device, std::int64_t /*gap_ns*/) {
        return governor_.select(input, device);
    }
    void reflect(int state, bool got_tick, std::int64_t now_ns, Device& device) {
        governor_.reflect(state, got_tick, now_ns, device);
    }
    /// Time after which the policy ends its period by itself.
    std::optional<std::int64_t> own_wakeup_ns() const { return std::nullopt; }
    void start_stretch() {}

  private:
    StartedGovernor<G> governor_;
};

template <>
class ClosedPolicy<OracleChooser> {
  public:
    static constexpr bool kIsBound = true;
    ClosedPolicy(const OracleChooser& chooser, int /*first_state*/) : chooser_{chooser} {}

    Selection select(const SelectInput& input, Device& /*device*/, std::int64_t gap_ns) {
        waiting_ = chooser_.delay_ns() > 0 && !waited_;
        waited_ = true;
        const int state = waiting_ ? chooser_.shallowest(input.disabled)
                                   : chooser_.best(gap_ns, input.latency_limit_us, input.disabled);
        return {state, true};
    }
    void reflect(int /*state*/, bool /*got_tick*/, std::int64_t /*now_ns*/, Device& /*device*/) {}
    std::optional<std::int64_t> own_wakeup_ns() const {
        return waiting_ ? std::optional{chooser_.delay_ns()} : std::nullopt;
    }
    void start_stretch() { waited_ = false; }

  private:
    OracleChooser chooser_;
    bool waiting_{false};
    bool waited_{false};
};

/// The closed loop of one CPU. The recorded decisions are cut into stretches, each ending with an outside
/// wakeup; inside a stretch the model decides, is woken by its own ticks and timers, and decides again.
template <class P>
class ClosedLoop {
  public:
    ClosedLoop(const CpuTrace& cpu, const StateTable& table, const TickLength& tick, P policy, TickLoop loop,
               std::int64_t poll_limit_ns, const ReplayRules& rules, const LoopCosts& costs)
        : cpu_{cpu},
          table_{table},
          tick_length_{tick},
          policy_{std::move(policy)},
          tick_{tick, loop},
          poll_limit_ns_{poll_limit_ns},
          rules_{rules},
          costs_{costs} {}

    ClosedCpu run() {
        const std::vector<TraceDecision>& decisions = cpu_.decisions;
        result_.periods.reserve(decisions.size() + decisions.size() / 4);
        std::size_t i = 0;
        const auto warm_up = static_cast<std::size_t>(rules_.warm_up);
        for (; i < decisions.size() && i < warm_up; ++i) force(decisions[i]);
        if (i < decisions.size()) start(decisions[i]);
        const std::int64_t stops_before = tick_.stops();
        bool after_task = i == 0;
        while (i < decisions.size()) {
            std::size_t last = i;
            while (last + 1 < decisions.size() && !ends_outside(decisions[last])) ++last;
            const bool restarts = after_task || (i > 0 && decisions[i - 1].end == PeriodEnd::task);
            after_task = false;
            stretch(i, last, restarts);
            i = last + 1;
        }
        result_.tick_stops += tick_.stops() - stops_before;
        return std::move(result_);
    }

  private:
    /// One decision of the warm-up: the governor is asked, and told what the kernel did.
    void force(const TraceDecision& decision) {
        const TimerView view = recorded_view(decision, rules_.rcu_need && decision.rcu_need, tick_length_.ns);
        SelectInput input;
        input.next_event_ns = view.next_event_ns;
        input.sleep_length_ns = view.sleep_length_ns;
        input.now_ns = decision.entry_ns;
        input.latency_limit_us = rules_.latency_limit_us;
        input.tick_stopped = decision.stopped_before;
        policy_.start_stretch();
        policy_.select(input, device_, decision.exit_ns - decision.entry_ns);
        if (decision.polls) device_.poll_limit_hit = decision.polls_to_limit();
        reflect(decision.state, decision.residency_ns, decision.got_tick, decision.exit_ns);
        result_.tick_stops += decision.stops_tick() ? 1 : 0;
        result_.periods.push_back({decision.entry_ns, decision.exit_ns, decision.residency_ns, decision.state,
                                   WakeKind::outside, true, was_awaited(decision)});
    }

    void start(const TraceDecision& decision) {
        tick_.reset(0);
        if (decision.stopped_before) tick_.apply(true, true, decision.idle_entry_ns, decision.wheel_ns);
    }

    void reflect(int state, std::int64_t residency_ns, bool got_tick, std::int64_t now_ns) {
        device_.last_residency_ns = static_cast<std::uint64_t>(residency_ns);
        policy_.reflect(state, rules_.got_tick && got_tick, now_ns, device_);
    }

    /// Next wheel expiry as the recorded decisions from `index` on know it.
    std::int64_t wheel_ahead(std::size_t index, std::int64_t now_ns) const {
        for (; index < cpu_.decisions.size(); ++index) {
            if (cpu_.decisions[index].wheel_ns > now_ns) return cpu_.decisions[index].wheel_ns;
        }
        return kNoTimer;
    }

    std::int64_t hrtimer_ahead(std::int64_t now_ns) {
        while (next_span_ < cpu_.hrtimers.size() && cpu_.hrtimers[next_span_].begin_ns <= now_ns) {
            armed_.push_back(&cpu_.hrtimers[next_span_++]);
        }
        std::erase_if(armed_, [&](const TimerSpan* span) { return span->end_ns <= now_ns; });
        std::int64_t first_ns = kNoTimer;
        for (const TimerSpan* span : armed_) first_ns = std::min(first_ns, span->expires_ns);
        return first_ns;
    }

    void stretch(std::size_t first, std::size_t last, bool restarts) {
        const TraceDecision& start = cpu_.decisions[first];
        const TraceDecision& final = cpu_.decisions[last];
        const std::int64_t end_ns = final.exit_ns;
        idle_entry_ns_ = start.idle_entry_ns;
        now_ns_ = idle_entry_ns_;
        if (restarts) tick_.restart(idle_entry_ns_);
        if (!tick_.stopped()) tick_.serve(idle_entry_ns_);
        policy_.start_stretch();
        std::size_t at = first;
        for (bool opening = true;; opening = false) {
            while (at < last && cpu_.decisions[at + 1].idle_entry_ns <= idle_entry_ns_) ++at;
            const std::int64_t wheel_ns = wheel_ahead(at, idle_entry_ns_);
            const std::int64_t hrtimer_ns = opening ? start.hrtimer_ns : hrtimer_ahead(idle_entry_ns_);
            if (opening) hrtimer_ahead(idle_entry_ns_);
            const bool rcu_need = rules_.rcu_need && cpu_.rcu_needs_tick(idle_entry_ns_);
            const TimerView view = view_timers(idle_entry_ns_, tick_.due_ns(), wheel_ns, hrtimer_ns,
                                               tick_.stopped(), rcu_need, tick_length_.ns);
            SelectInput input;
            input.next_event_ns = view.next_event_ns;
            input.sleep_length_ns = view.sleep_length_ns;
            input.now_ns = now_ns_;
            input.latency_limit_us = rules_.latency_limit_us;
            input.tick_stopped = tick_.stopped();
            const std::int64_t gap_ns = std::min(end_ns, view.needed ? tick_.due_ns() : wheel_ns) - now_ns_;
            const Selection selection = policy_.select(input, device_, std::max<std::int64_t>(0, gap_ns));
            const bool was_stopped = tick_.stopped();
            tick_.apply(selection.stop_tick, !view.needed, now_ns_, wheel_ns);
            const bool stops = tick_.stopped() && !was_stopped;
            const std::int64_t cost_ns = stops ? costs_.to_entry_stop_ns : costs_.to_entry_ns;
            std::int64_t entry_ns = std::max(idle_entry_ns_ + cost_ns, now_ns_);
            if (entry_ns >= end_ns) {
                // The recorded CPU did enter here; the median cost is only too long for this one.
                if (!opening) {
                    result_.found_awake += was_awaited(final) ? 1 : 0;
                    return;
                }
                entry_ns = std::min(start.entry_ns, end_ns);
            }
            if (!sleep(selection.state, entry_ns, end_ns, final)) return;
        }
    }

    /// One period. False when the outside wakeup ended it.
    bool sleep(int state, std::int64_t entry_ns, std::int64_t end_ns, const TraceDecision& final) {
        const std::int64_t due_ns = tick_.due_ns();
        const bool tick_runs = !tick_.stopped();
        const bool polls = table_.polling(state);
        std::int64_t exit_ns = end_ns;
        WakeKind wake = WakeKind::outside;
        bool got_tick = false;
        const auto ends_at = [&](std::int64_t ns, WakeKind kind) {
            ns = std::max(ns, entry_ns);
            if (ns >= exit_ns) return;
            exit_ns = ns;
            wake = kind;
        };
        if (const auto own = policy_.own_wakeup_ns()) ends_at(entry_ns + *own, WakeKind::delay);
        if (polls) {
            ends_at(entry_ns + poll_limit_ns_, WakeKind::poll_limit);
        } else if (due_ns < end_ns) {
            ends_at(due_ns + costs_.tick_delay_ns, tick_runs ? WakeKind::tick : WakeKind::wheel);
        }
        // A polling CPU takes the tick as it comes and goes on polling.
        const bool ticked = due_ns != kNoTimer && due_ns + costs_.tick_delay_ns <= exit_ns;
        switch (wake) {
            case WakeKind::tick:
            case WakeKind::wheel:
                got_tick = true;
                break;
            case WakeKind::outside:
                got_tick = (final.cause & kCauseWheel) != 0 ||
                           ((final.cause & kCauseTick) != 0 && final.end == PeriodEnd::task) ||
                           (tick_runs && due_ns <= exit_ns);
                break;
            case WakeKind::poll_limit:
            case WakeKind::delay:
                got_tick = ticked;
                break;
        }
        if (polls) device_.poll_limit_hit = wake == WakeKind::poll_limit;
        const std::int64_t residency_ns = std::max<std::int64_t>(0, exit_ns - entry_ns - costs_.line_ns);
        result_.periods.push_back({entry_ns, exit_ns, residency_ns, state, wake, false,
                                   wake == WakeKind::outside && was_awaited(final)});
        reflect(state, residency_ns, got_tick, exit_ns);
        if (wake == WakeKind::outside) return false;
        // A bound that has waited pays nothing for going on.
        now_ns_ =
            exit_ns + (wake == WakeKind::delay ? 0 : std::max<std::int64_t>(0, costs_.to_idle_entry_ns));
        if (wake == WakeKind::tick || wake == WakeKind::wheel) {
            idle_entry_ns_ = exit_ns + costs_.to_idle_entry_ns;
            now_ns_ = std::max(now_ns_, idle_entry_ns_);
        } else if (ticked) {
            idle_entry_ns_ = due_ns + costs_.tick_delay_ns;
        }
        if (got_tick) tick_.serve(std::max(idle_entry_ns_, due_ns));
        return true;
    }

    const CpuTrace& cpu_;
    const StateTable& table_;
    TickLength tick_length_;
    P policy_;
    Tick tick_;
    std::int64_t poll_limit_ns_;
    ReplayRules rules_;
    LoopCosts costs_;
    Device device_;
    ClosedCpu result_;
    std::int64_t idle_entry_ns_{0};
    std::int64_t now_ns_{0};
    std::vector<const TimerSpan*> armed_;
    std::size_t next_span_{0};
};

}  // namespace torpor::idle
