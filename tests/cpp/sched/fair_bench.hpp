// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "torpor/base/error.hpp"
#include "torpor/sched/fair_scheduler.hpp"

namespace torpor::sched::testing {

inline constexpr std::int64_t kUs = 1'000;
inline constexpr std::int64_t kMs = 1'000'000;

/// What an entity of a bench does next.
struct Act {
    enum class Kind : std::uint8_t { run, wait, wake, sleep };
    Kind kind{Kind::run};
    std::int64_t first{0};
    std::int64_t second{0};
};
inline Act runs(std::int64_t scaled_ns, std::int64_t fixed_ns = 0) {
    return {Act::Kind::run, scaled_ns, fixed_ns};
}
/// Until it is woken; at once if it has been already.
inline Act waits() {
    return {Act::Kind::wait, 0, 0};
}
inline Act wakes(Entity entity) {
    return {Act::Kind::wake, entity, 0};
}

/// By a timer; whoever is asked to go on earlier has been woken too early.
inline Act sleeps(std::int64_t ns) {
    return {Act::Kind::sleep, ns, 0};
}

using Acts = std::vector<Act>;

/// Entities that work off their acts; whoever has none left blocks for ever. Writes down who had which CPU,
/// from taking it (idle exit included) to leaving it.
class Bench {
  public:
    Bench(const FairMachine& machine, const FairRules& rules, const FairCosts& costs = {})
        : scheduler{machine, rules, costs, *this, events_} {
        scheduler.reset();
    }

    Entity add(int cpu, Acts acts) {
        programs_.push_back({std::move(acts), 0, 0, -1, -1, false});
        return scheduler.add(cpu);
    }
    Entity add_new_thread(Acts acts) {
        programs_.push_back({std::move(acts), 0, 0, -1, -1, false});
        return scheduler.add_new_thread();
    }
    void let_give_way(Entity entity) { programs_[slot(entity)].gives_way = true; }
    void prefer(Entity entity, std::int64_t priority) { programs_[slot(entity)].priority = priority; }

    /// From outside, so nobody pays.
    void wake(std::int64_t at_ns, Entity entity) { events_.schedule(time_from_ns(at_ns), {kSignal, entity}); }

    /// Handles everything up to a time, at which the clock then stands.
    void run(std::int64_t until_ns) {
        while (scheduler.next_ns() <= until_ns && scheduler.next_ns() < to_ns(kTimeMax)) {
            if (++steps_ > 1'000'000) throw InternalError{"the bench does not come to an end"};
            now_ns_ = scheduler.next_ns();
            if (scheduler.handle_own(now_ns_)) continue;
            const Event event = events_.pop().payload;
            event.kind == kSleepEnd ? scheduler.wake(event.index) : signal(event.index);
            scheduler.settle();
        }
        now_ns_ = until_ns;
    }
    /// Until nothing is left to do.
    void run() {
        while (scheduler.next_ns() < to_ns(kTimeMax)) run(scheduler.next_ns());
    }
    void run_for(std::int64_t ns) { run(now_ns_ + ns); }

    // The scheduler's client.
    std::int64_t now_ns() const { return now_ns_; }
    Work step(Entity entity, int) {
        for (;;) {
            Program& who = programs_[slot(entity)];
            if (now_ns_ < who.sleeps_until_ns) woken_too_early = true;
            if (who.next == who.acts.size()) {
                if (who.done_ns < 0) who.done_ns = now_ns_;
                return Work::waiting();
            }
            const Act act = who.acts[who.next];
            switch (act.kind) {
                case Act::Kind::run:
                    ++who.next;
                    return {act.first, act.second, false};
                case Act::Kind::wait:
                    if (who.signals == 0) return Work::waiting();
                    --who.signals;
                    ++who.next;
                    break;
                case Act::Kind::sleep:
                    ++who.next;
                    who.sleeps_until_ns = now_ns_ + act.first;
                    events_.schedule(time_from_ns(who.sleeps_until_ns), {kSleepEnd, entity});
                    return Work::waiting();
                case Act::Kind::wake:
                    ++who.next;
                    signal(static_cast<Entity>(act.first));
                    break;
            }
        }
    }
    void on_cpu(Entity entity, int) { programs_[slot(entity)].since_ns = now_ns_; }
    void off_cpu(Entity entity, int cpu, std::int64_t ran_ns) {
        runs.push_back({entity, cpu, programs_[slot(entity)].since_ns, now_ns_});
        ran_sum_ns += ran_ns;
    }
    std::int64_t priority(Entity entity) const { return programs_[slot(entity)].priority; }
    bool gives_way(Entity entity) const { return programs_[slot(entity)].gives_way; }
    bool any_gives_way() const { return true; }

    /// "0@1[0,16) 2@0[3,4)": entity, CPU and time of each run that is over, in the order of their ends.
    std::string text(std::int64_t unit_ns = 1) const {
        std::string all;
        for (const Run& run : runs) {
            if (!all.empty()) all += " ";
            all.append(std::to_string(run.entity)).append("@").append(std::to_string(run.cpu)).append("[");
            all.append(number(run.from_ns, unit_ns))
                .append(",")
                .append(number(run.to_ns, unit_ns))
                .append(")");
        }
        return all;
    }
    /// When an entity had done all its acts; -1: not yet.
    std::int64_t done_ns(Entity entity) const { return programs_[slot(entity)].done_ns; }

  private:
    enum EventKind : std::uint32_t { kSignal, kSleepEnd };
    struct Program {
        Acts acts;
        std::size_t next;
        std::int64_t signals;
        std::int64_t since_ns;
        std::int64_t done_ns;
        bool gives_way;
        std::int64_t priority{0};
        std::int64_t sleeps_until_ns{0};
    };
    struct Run {
        Entity entity;
        int cpu;
        std::int64_t from_ns;
        std::int64_t to_ns;
    };

    static std::size_t slot(Entity entity) { return static_cast<std::size_t>(entity); }
    static std::string number(std::int64_t ns, std::int64_t unit_ns) {
        std::string whole = std::to_string(ns / unit_ns);
        if (ns % unit_ns != 0) whole.append("+").append(std::to_string(ns % unit_ns)).append("ns");
        return whole;
    }
    void signal(Entity entity) {
        Program& who = programs_[slot(entity)];
        ++who.signals;
        if (now_ns_ >= who.sleeps_until_ns) scheduler.wake(entity);
    }

    Events events_;
    std::vector<Program> programs_;
    std::int64_t now_ns_{0};
    std::int64_t steps_{0};

  public:
    FairScheduler<Bench> scheduler;
    std::vector<Run> runs;
    std::int64_t ran_sum_ns{0};
    bool woken_too_early{false};
};

inline FairMachine identical(std::size_t count) {
    FairMachine machine;
    machine.cpus.resize(count);
    machine.domains = {{{{1024.0, 1000.0}}}};
    return machine;
}

/// Two little CPUs of a quarter of the rate, then big ones; a unit of capacity costs five times as much on a
/// big one.
inline FairMachine little_and_big(std::size_t bigs = 1) {
    FairMachine machine;
    machine.cpus = {{0.25, 256, 1.0, 0, {}}, {0.25, 256, 1.0, 0, {}}};
    for (std::size_t i = 0; i < bigs; ++i) machine.cpus.push_back({1.0, 1024, 1.0, 1, {}});
    machine.domains = {{{{256.0, 100.0}}}, {{{1024.0, 2000.0}}}};
    return machine;
}

/// Nothing but placement: no slices, pulls or ticks.
inline FairRules plain() {
    FairRules rules;
    rules.slice_ns = 0;
    rules.tick_ns = 0;
    rules.pull = false;
    return rules;
}
inline FairRules plain_eas() {
    FairRules rules = plain();
    rules.eas = true;
    return rules;
}
inline FairRules pinned() {
    FairRules rules = plain();
    rules.placement = FairPlacement::pinned;
    return rules;
}

}  // namespace torpor::sched::testing
