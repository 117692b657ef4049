// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "torpor/freezer/scenario.hpp"
#include "torpor/sched/cpu.hpp"

namespace torpor::freezer {

/// A freeze and a thaw as one would write them first: a std::priority_queue of std::function, one event for
/// each visit and each burst. What the freezer of 3.9 does in the reference mode, to tasks that sleep where
/// every signal reaches them, on equal CPUs.
class NaiveFreezer {
  public:
    struct Answer {
        std::int64_t elapsed_ns{0};
        std::int64_t thaw_walker_ns{0};
        std::int64_t thaw_all_ns{0};
        std::int64_t busy_ns{0};
        std::int64_t freeze_switches{0};
        std::int64_t freeze_switch_ins{0};
        std::int64_t thaw_switch_ins{0};

        bool operator==(const Answer&) const = default;
    };

    explicit NaiveFreezer(const Scenario& scenario)
        : cpus_(scenario.cpus.size()),
          hz_{scenario.kernel.hz},
          since_tick_ns_{scenario.kernel.since_tick_ns.value_or(0)},
          latency_ns_{scenario.cpus.front().wake_latency_ns} {
        const auto ns = [&scenario](std::int64_t cycles) {
            return sched::cycles_to_ns(cycles, scenario.cpus.front().freq_hz);
        };
        visit_ns_ = ns(scenario.costs.visit_cycles);
        wake_ns_ = ns(scenario.costs.wake_cycles);
        resig_ns_ = ns(scenario.costs.resig_cycles);
        thaw_wake_ns_ = ns(scenario.costs.thaw_wake_cycles);
        freeze_run_ns_ = ns(scenario.costs.freeze_run_cycles);
        thaw_run_ns_ = ns(scenario.costs.thaw_run_cycles);
        for (const TaskGroup& group : scenario.tasks) {
            for (std::int64_t i = 0; i < group.count; ++i) kinds_.push_back(group.kind);
        }
    }

    Answer run() {
        answer_ = {};
        states_.assign(kinds_.size(), State::blocked);
        thawing_ = false;
        asks_ = Kind::user;
        start([this] { begin_pass(); });
        answer_.elapsed_ns = now_;
        answer_.freeze_switches = switches_;
        answer_.freeze_switch_ins = switch_ins_;
        thawing_ = true;
        start([this] { visit(0); });
        answer_.thaw_switch_ins = switch_ins_;
        answer_.thaw_all_ns = std::max(answer_.thaw_all_ns, answer_.thaw_walker_ns);
        return answer_;
    }

  private:
    enum class State { blocked, runnable, frozen };
    struct Event {
        std::int64_t at;
        int order;  // 1 for the walker's steps, which come last
        std::uint64_t sequence;
        std::function<void()> act;

        bool operator<(const Event& other) const {
            return std::tie(at, order, sequence) > std::tie(other.at, other.order, other.sequence);
        }
    };
    struct Cpu {
        int current{kIdle};
        int last{kIdle};
    };
    static constexpr int kIdle = -1;
    static constexpr int kWalker = -2;

    void start(std::function<void()> walk) {
        now_ = 0;
        switches_ = switch_ins_ = 0;
        std::fill(cpus_.begin(), cpus_.end(), Cpu{});
        ready_.clear();
        events_ = {};
        walker_goes_on_ = std::move(walk);
        run_on(0, kWalker, 0);
        while (!events_.empty()) {
            Event event = events_.top();
            events_.pop();
            now_ = event.at;
            event.act();
        }
    }

    void schedule(std::int64_t at, int order, std::function<void()> act) {
        events_.push({at, order, sequence_++, std::move(act)});
    }

    void make_ready(int entity, bool at_head) {
        for (std::size_t cpu = 0; cpu < cpus_.size(); ++cpu) {
            if (cpus_[cpu].current == kIdle) return run_on(cpu, entity, entity == kWalker ? 0 : latency_ns_);
        }
        at_head ? ready_.push_front(entity) : ready_.push_back(entity);
    }

    void run_on(std::size_t cpu, int entity, std::int64_t delay_ns) {
        if (cpus_[cpu].last != entity) {
            ++switches_;
            if (entity != kWalker) ++switch_ins_;
        }
        cpus_[cpu].last = cpus_[cpu].current = entity;
        if (entity == kWalker) {
            walker_cpu_ = cpu;
            walker_since_ns_ = now_;
            walker_goes_on_();
            return;
        }
        const std::int64_t length_ns = thawing_ ? thaw_run_ns_ : freeze_run_ns_;
        schedule(now_ + delay_ns + length_ns, 0, [this, cpu, entity, length_ns] {
            answer_.busy_ns += length_ns;
            states_[static_cast<std::size_t>(entity)] = thawing_ ? State::blocked : State::frozen;
            if (thawing_) answer_.thaw_all_ns = now_;
            run_next(cpu);
        });
    }

    void run_next(std::size_t cpu) {
        cpus_[cpu].current = kIdle;
        if (ready_.empty()) {
            cpus_[cpu].last = kIdle;
            ++switches_;
            return;
        }
        const int entity = ready_.front();
        ready_.pop_front();
        run_on(cpu, entity, 0);
    }

    void put_walker_off() {
        answer_.busy_ns += now_ - walker_since_ns_;
        run_next(walker_cpu_);
    }

    void begin_pass() {
        todo_ = 0;
        schedule(now_, 1, [this] { visit(0); });
    }

    void visit(std::size_t task) {
        if (task == kinds_.size()) return thawing_ ? end_thaw() : end_pass();
        std::int64_t cost_ns = visit_ns_;
        bool wakes = false;
        if (thawing_) {
            wakes = states_[task] == State::frozen;
            if (wakes) cost_ns += thaw_wake_ns_;
        } else if (states_[task] != State::frozen && asked(kinds_[task])) {
            wakes = states_[task] == State::blocked;
            cost_ns += wakes ? wake_ns_ : resig_ns_;
            ++todo_;
        }
        schedule(now_ + cost_ns, 1, [this, task, wakes] {
            if (wakes) {
                states_[task] = State::runnable;
                make_ready(static_cast<int>(task), false);
            }
            visit(task + 1);
        });
    }

    bool asked(Kind kind) const {
        return kind == Kind::user || (kind == Kind::kfreezable && asks_ == Kind::kfreezable);
    }

    void end_pass() {
        if (todo_ == 0) {
            if (asks_ == Kind::kfreezable) {
                answer_.busy_ns += now_ - walker_since_ns_;
                return;
            }
            asks_ = Kind::kfreezable;
            return begin_pass();
        }
        if (ready_.empty()) return sleep();
        ready_.push_back(kWalker);
        walker_goes_on_ = [this] { sleep(); };
        put_walker_off();
    }

    /// msleep(10).
    void sleep() {
        const std::int64_t period_ns = (2'000'000'000 / hz_ + 1) / 2;
        const std::int64_t ticks = (10 * hz_ + 999) / 1000 + 1;
        const std::int64_t end_ns = now_ + ticks * period_ns - (now_ + since_tick_ns_) % period_ns;
        walker_goes_on_ = [this] { begin_pass(); };
        schedule(end_ns, 0, [this] { make_ready(kWalker, true); });
        put_walker_off();
    }

    void end_thaw() {
        walker_goes_on_ = [this] {
            answer_.thaw_walker_ns = now_;
            put_walker_off();
        };
        if (ready_.empty()) return walker_goes_on_();
        ready_.push_back(kWalker);
        put_walker_off();
    }

    std::vector<Kind> kinds_;
    std::vector<State> states_;
    std::vector<Cpu> cpus_;
    std::deque<int> ready_;
    std::priority_queue<Event> events_;
    std::function<void()> walker_goes_on_;
    std::size_t walker_cpu_{0};
    std::int64_t walker_since_ns_{0};
    std::int64_t now_{0};
    std::uint64_t sequence_{0};
    std::int64_t todo_{0};
    std::int64_t switches_{0};
    std::int64_t switch_ins_{0};
    Kind asks_{Kind::user};
    bool thawing_{false};
    int hz_;
    std::int64_t since_tick_ns_;
    std::int64_t latency_ns_;
    std::int64_t visit_ns_{0};
    std::int64_t wake_ns_{0};
    std::int64_t resig_ns_{0};
    std::int64_t thaw_wake_ns_{0};
    std::int64_t freeze_run_ns_{0};
    std::int64_t thaw_run_ns_{0};
    Answer answer_;
};

}  // namespace torpor::freezer
