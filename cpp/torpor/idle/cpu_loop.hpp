// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

#include "torpor/base/random.hpp"
#include "torpor/board/board.hpp"
#include "torpor/engine/cancellation.hpp"
#include "torpor/engine/timeline.hpp"
#include "torpor/idle/counters.hpp"
#include "torpor/idle/governor.hpp"
#include "torpor/idle/oracle.hpp"
#include "torpor/idle/pending_events.hpp"
#include "torpor/idle/polling.hpp"
#include "torpor/idle/result.hpp"
#include "torpor/idle/scenario.hpp"
#include "torpor/idle/tick.hpp"

namespace torpor::idle {

/// Meaning of TimelineRecord::kind in this family; the lane is the CPU.
enum class TimelineKind : std::uint16_t { enter_state = 1, leave_state = 2, tick_stop = 3, tick_restart = 4 };

/// The idle loop of one CPU with policy P: select, tick, entry, wakeup, handlers, reflect, again.
///
/// Interrupts are served in the order device or IPI, hrtimer, tick, round after round until nothing is due.
/// An interrupt that wakes no task leaves the tick as it was; one that does restarts it on the way out.
/// `idle_entry_ns` (the kernel's idle entry time) is the end of the last interrupt; sleep length and next
/// event are measured from it. Rules: the idle loop of Linux 4.17 to 7.1, one variant apart (see Tick). Times
/// are nanoseconds since the start of the run.
///
/// Left out: forced idle, suspend-to-idle, offline CPUs, coupled states, the cap on sleep length of the CPU
/// that keeps the time, per-CPU latency limits, and the rare select that is given up because a task has come
/// meanwhile. A load that leaves no time to idle runs to the end of the run and stops there.
template <class P>
class CpuLoop {
  public:
    static constexpr bool kIsBound = std::same_as<P, OracleChooser>;

    CpuLoop(const Scenario& scenario, int cpu, const StateTable& table, const P& policy,
            TickLength tick_length, TickLoop loop, PollLimit poll_limit)
        : costs_{&scenario.board.idle_costs},
          table_{&table},
          fresh_policy_{policy},
          policy_{policy},
          tick_{tick_length, loop},
          cpu_{cpu},
          duration_ns_{scenario.duration_ns},
          latency_limit_us_{scenario.latency_limit_us},
          iowait_{scenario.iowait},
          load_{scenario.load},
          refusal_probability_{scenario.refusal_probability} {
        const board::Cluster& cluster = scenario.board.cluster_of(cpu);
        const auto c = static_cast<std::size_t>(&cluster - scenario.board.clusters.data());
        disabled_ = scenario.disabled[c];
        for (std::size_t i = 0; i < cluster.idle_states.size(); ++i) {
            wake_ns_[i] = to_ns(cluster.idle_states[i].wake_latency);
        }
        poll_limit_ns_ = poll_limit.ns(table, disabled_, tick_length);
        for (const Source& source : scenario.sources) {
            if (source.cpu == cpu) sources_.push_back(&source);
        }
    }

    /// `stop` outlives the run; it is asked once per event.
    void reset(StreamKey key, std::int64_t tick_phase_ns, engine::TimelineSink* sink,
               engine::StopCheck& stop) {
        policy_ = fresh_policy_;
        device_ = Device{};
        counters_.reset();
        latencies_ns_.clear();
        tick_.reset(tick_phase_ns);
        pending_.clear();
        for (const Source* source : sources_) pending_.add(*source, RandomStream{key, source->name});
        refusals_ = RandomStream{key, "refusals/cpu" + std::to_string(cpu_)};
        sink_ = sink;
        stop_ = &stop;
        now_ns_ = idle_entry_ns_ = 0;
        ticks_ = 0;
        task_left_ns_ = 0;
        got_tick_ = false;
        delay_paid_ = false;
    }

    std::int64_t now_ns() const { return now_ns_; }
    int state() const { return state_; }

    /// From the top of the loop to the entry of a state; returns the instant of entry. Refused entries are
    /// played on the way.
    std::int64_t select() {
        for (;;) {
            stop_->step();
            const std::int64_t hrtimer_ns = pending_.next_hrtimer_ns();
            const std::int64_t wheel_ns = tick_.grid_from(pending_.next_wheel_ns());
            const bool may_stop = tick_.stoppable(idle_entry_ns_, wheel_ns);
            SelectInput input;
            input.next_event_ns = std::min(tick_.due_ns(), hrtimer_ns) - idle_entry_ns_;
            input.sleep_length_ns =
                may_stop ? std::min(wheel_ns, hrtimer_ns) - idle_entry_ns_ : input.next_event_ns;
            input.now_ns = now_ns_;
            input.latency_limit_us = latency_limit_us_;
            input.iowait = iowait_;
            input.load = load_;
            input.disabled = disabled_;
            input.tick_stopped = tick_.stopped();
            const std::int64_t kept_tick_ns = may_stop ? kNoTimer : tick_.due_ns();
            const Selection selection =
                ask(input, std::min({kept_tick_ns, wheel_ns, hrtimer_ns, pending_.next_interrupt_ns()}));
            const bool was_stopped = tick_.stopped();
            tick_.apply(selection.stop_tick, may_stop, now_ns_, wheel_ns);
            if (sink_ != nullptr && tick_.stopped() != was_stopped) record_tick();
            now_ns_ += to_ns(costs_->select_to_entry);
            state_ = selection.state;
            if (refusal_probability_ > 0.0 && now_ns_ < duration_ns_ &&
                refusals_.uniform01() < refusal_probability_) {
                refuse();
                continue;
            }
            entered_ns_ = now_ns_;
            return entered_ns_;
        }
    }

    /// From the entry to the end of the wake-up; returns that instant, or kNoTimer if nothing will ever wake
    /// the CPU.
    std::int64_t sleep() {
        if (sink_ != nullptr) record(TimelineKind::enter_state, state_);
        served_ = false;
        if (table_->polling(state_)) {
            poll();
        } else {
            const std::int64_t limit_ns = self_wake_ns();
            const std::int64_t tick_ns = tick_.due_ns();
            const std::int64_t other_ns = std::min(pending_.next_hrtimer_ns(), pending_.next_interrupt_ns());
            const std::int64_t event_ns = std::min(tick_ns, other_ns);
            if (std::min(event_ns, limit_ns) == kNoTimer) {
                sleep_to_the_end();
                return kNoTimer;
            }
            if (limit_ns < event_ns) {
                now_ns_ = limit_ns;
                served_ = true;
            } else {
                now_ns_ = std::max(event_ns, now_ns_) + wake_ns_[static_cast<std::size_t>(state_)];
                if (other_ns <= tick_ns) latencies_ns_.push_back(now_ns_ - event_ns);
            }
        }
        if (sink_ != nullptr) record(TimelineKind::leave_state, state_);
        return now_ns_;
    }

    /// From the end of the wake-up back to the top of the loop: handlers, reflect, and the tasks that were
    /// woken.
    void wake() {
        const std::int64_t residency_ns = now_ns_ - entered_ns_;
        counters_.book(*table_, state_, residency_ns, disabled_);
        device_.last_residency_ns = static_cast<std::uint64_t>(residency_ns);
        if (!served_) {
            serve();
            now_ns_ += to_ns(costs_->interrupt_exit);
            idle_entry_ns_ = now_ns_;
        }
        now_ns_ += to_ns(costs_->reflect);
        if constexpr (!kIsBound) policy_.reflect(state_, got_tick_, now_ns_, device_);
        got_tick_ = false;
        if (task_left_ns_ > 0) run_tasks();
    }

    CpuResult result(double energy_mj) {
        CpuResult result;
        result.states = counters_.states();
        result.ticks = ticks_;
        result.tick_stops = tick_.stops();
        result.tick_restarts_in_loop = tick_.restarts_in_loop();
        result.end_ns = now_ns_;
        result.latency = LatencySummary::of(latencies_ns_);
        result.energy_mj = energy_mj;
        return result;
    }

    const std::vector<std::int64_t>& latencies_ns() const { return latencies_ns_; }

  private:
    void sleep_to_the_end() {
        if (entered_ns_ >= duration_ns_) return;
        now_ns_ = duration_ns_;
        counters_.book(*table_, state_, duration_ns_ - entered_ns_, disabled_);
        if (sink_ != nullptr) record(TimelineKind::leave_state, state_);
    }

    Selection ask(const SelectInput& input, std::int64_t next_wakeup_ns) {
        if constexpr (kIsBound) {
            const bool delayed = policy_.delay_ns() > 0 && !delay_paid_;
            const std::int64_t entry_ns = now_ns_ + to_ns(costs_->select_to_entry);
            const std::int64_t end_ns = std::min(next_wakeup_ns, duration_ns_);
            const std::int64_t gap_ns = std::max<std::int64_t>(end_ns - entry_ns, 0);
            const int state = delayed ? policy_.shallowest(input.disabled)
                                      : policy_.best(gap_ns, input.latency_limit_us, input.disabled);
            return Selection{state, true};
        } else {
            return policy_.select(input, device_);
        }
    }

    /// A delayed bound leaves the shallowest state by itself; nothing else does.
    std::int64_t self_wake_ns() {
        if constexpr (kIsBound) {
            const bool delayed = policy_.delay_ns() > 0 && !delay_paid_;
            delay_paid_ = delayed;
            return delayed ? entered_ns_ + policy_.delay_ns() : kNoTimer;
        } else {
            return kNoTimer;
        }
    }

    std::int64_t next_event_ns() const {
        return std::min({tick_.due_ns(), pending_.next_hrtimer_ns(), pending_.next_interrupt_ns()});
    }

    /// A polling CPU takes interrupts as they come and goes on, until a task is to run or the time limit is
    /// over.
    void poll() {
        std::int64_t length_ns = poll_limit_ns_;
        if constexpr (requires { policy_.poll_limit_ns(); }) {
            if (policy_.poll_limit_ns() > 0) length_ns = policy_.poll_limit_ns();
        }
        const std::int64_t own_ns = self_wake_ns();
        const std::int64_t limit_ns = own_ns == kNoTimer ? entered_ns_ + length_ns : own_ns;
        served_ = true;
        device_.poll_limit_hit = false;
        while (task_left_ns_ == 0) {
            const std::int64_t event_ns = next_event_ns();
            if (event_ns > limit_ns || now_ns_ > limit_ns) {
                now_ns_ = std::max(now_ns_, limit_ns);
                device_.poll_limit_hit = true;
                return;
            }
            const bool by_tick = event_ns == tick_.due_ns();
            now_ns_ = std::max(event_ns, now_ns_) + wake_ns_[static_cast<std::size_t>(state_)];
            if (!by_tick) latencies_ns_.push_back(now_ns_ - event_ns);
            serve();
            now_ns_ += to_ns(costs_->interrupt_exit);
            idle_entry_ns_ = now_ns_;
        }
    }

    void refuse() {
        counters_.reject(state_);
        device_.last_residency_ns = 0;
        if (next_event_ns() <= now_ns_) {
            serve();
            now_ns_ += to_ns(costs_->interrupt_exit);
            idle_entry_ns_ = now_ns_;
        }
        if (task_left_ns_ > 0) run_tasks();
    }

    /// Runs the handlers of everything that is due, and of what becomes due meanwhile.
    void serve() {
        delay_paid_ = false;
        bool again = true;
        while (again) {
            stop_->step();
            again = false;
            if (PendingEvents::Entry* entry = pending_.due(SourceKind::interrupt, now_ns_)) {
                now_ns_ += to_ns(costs_->ipi_handler);
                arrive(*entry);
                again = true;
            }
            again = serve_hrtimer() || again;
            if (tick_.due_ns() <= now_ns_) {
                serve_tick();
                again = true;
            }
            again = again && now_ns_ < duration_ns_;
        }
    }

    bool serve_hrtimer() {
        PendingEvents::Entry* chain = pending_.due_chain(now_ns_);
        PendingEvents::Entry* timer = pending_.due(SourceKind::hrtimer, now_ns_);
        if (chain == nullptr && timer == nullptr) return false;
        now_ns_ += to_ns(costs_->timer_handler);
        if (timer == nullptr || (chain != nullptr && chain->chain_ns <= timer->next_ns)) {
            if (chain->chain_left > 0) {
                chain->chain_left -= 1;
                chain->chain_ns = now_ns_ + chain->source->chain_next_ns;
            } else {
                chain->chain_ns = kNoTimer;
            }
        } else {
            arrive(*timer);
        }
        return true;
    }

    void serve_tick() {
        got_tick_ = true;
        ticks_ += 1;
        now_ns_ += to_ns(costs_->tick_handler);
        tick_.serve(now_ns_);
        while (PendingEvents::Entry* entry = pending_.due(SourceKind::wheel, tick_.grid_before(now_ns_))) {
            now_ns_ += to_ns(costs_->timer_handler);
            arrive(*entry);
        }
    }

    void arrive(PendingEvents::Entry& entry) {
        entry.next_ns = entry.arrivals.next_ns();
        if (entry.source->has_chain()) {
            entry.chain_ns = now_ns_ + entry.source->chain_first_ns;
            entry.chain_left = entry.source->chain_repeats;
        }
        task_left_ns_ = std::min(task_left_ns_ + entry.source->task_run_ns, kLongestTime);
    }

    /// Out of the idle loop: the tick runs again, the tasks run, interrupted by whatever is due; then idle is
    /// entered anew.
    void run_tasks() {
        if (tick_.stopped()) {
            tick_.restart(now_ns_);
            if (sink_ != nullptr) record_tick();
        }
        while (task_left_ns_ > 0 && now_ns_ < duration_ns_) {
            stop_->step();
            const std::int64_t event_ns = std::max(next_event_ns(), now_ns_);
            const std::int64_t run_ns = std::min(task_left_ns_, event_ns - now_ns_);
            now_ns_ += run_ns;
            task_left_ns_ -= run_ns;
            if (task_left_ns_ > 0) serve();
        }
        got_tick_ = false;
        idle_entry_ns_ = now_ns_;
    }

    void record(TimelineKind kind, std::int64_t value) {
        sink_->record({time_from_ns(now_ns_), value, cpu_, static_cast<std::uint16_t>(kind)});
    }
    void record_tick() {
        record(tick_.stopped() ? TimelineKind::tick_stop : TimelineKind::tick_restart, tick_.due_ns());
    }

    const board::IdleCosts* costs_;
    const StateTable* table_;
    P fresh_policy_;
    P policy_;
    Tick tick_;
    int cpu_;
    std::int64_t duration_ns_;
    std::int64_t latency_limit_us_;
    std::uint32_t iowait_;
    std::uint32_t load_;
    std::uint32_t disabled_{0};
    double refusal_probability_;
    std::array<std::int64_t, kMaxStates> wake_ns_{};
    std::int64_t poll_limit_ns_{0};
    std::vector<const Source*> sources_;

    PendingEvents pending_;
    RandomStream refusals_{StreamKey{}, ""};
    Device device_;
    Counters counters_;
    std::vector<std::int64_t> latencies_ns_;
    engine::TimelineSink* sink_{nullptr};
    engine::StopCheck* stop_{nullptr};
    std::int64_t now_ns_{0};
    std::int64_t idle_entry_ns_{0};
    std::int64_t entered_ns_{0};
    std::int64_t ticks_{0};
    std::int64_t task_left_ns_{0};
    int state_{0};
    bool served_{false};
    bool got_tick_{false};
    bool delay_paid_{false};
};

}  // namespace torpor::idle
