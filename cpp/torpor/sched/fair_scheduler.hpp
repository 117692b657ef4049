// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "torpor/base/units.hpp"
#include "torpor/engine/event_queue.hpp"
#include "torpor/sched/fair_cpus.hpp"
#include "torpor/sched/fair_rules.hpp"
#include "torpor/sched/fair_state.hpp"
#include "torpor/sched/load_signal.hpp"
#include "torpor/sched/piece_ends.hpp"
#include "torpor/sched/run_queues.hpp"
#include "torpor/sched/scheduler.hpp"

namespace torpor::sched {

/// What an entity does next with its CPU: work, which takes `scaled_ns` over the CPU's rate plus `fixed_ns`
/// (held at any rate; K4), or nothing, because it waits.
struct Work {
    std::int64_t scaled_ns{0};
    std::int64_t fixed_ns{0};
    bool waits{false};

    static constexpr Work waiting() { return {0, 0, true}; }
};

/// What the CPUs did since the last reset of the counters.
struct FairCounts {
    std::int64_t switches{0};    // of CPUs, idle included
    std::int64_t switch_ins{0};  // of entities
    std::int64_t wakeups{0};
    std::int64_t migrations{0};
    std::int64_t preemptions{0};
};

/// Entities that run in pieces on CPUs of different speed, with what decides in the kernel where they run:
/// per-CPU queues served in turn, wake-up placement with and without EAS, utilisation, pulling, idle exits
/// (Linux 6.1; no groups, clamps, frequency changes; the utilisation of a CPU is that of all that ran on it
/// and does not leave with a task). With a global queue it is the reference mode, in which everything can be
/// followed by hand.
///
/// An entity is a program of the client, which is asked for its next piece whenever the last one is over and
/// it has a CPU:
///   std::int64_t now_ns() const          the time
///   Work step(Entity, int cpu)           goes on in zero time to its next piece or wait; may wake others
///   void on_cpu(Entity, int cpu)         it gets a CPU
///   void off_cpu(Entity, int cpu, std::int64_t ran_ns)   it leaves it
///   std::int64_t priority(Entity) const  with by_priority: the highest goes first
///   bool gives_way(Entity) const         it leaves its CPU to whoever is ready while no CPU is free;
///   bool any_gives_way() const           there may be such an entity
///
/// Ties. Ends of pieces at one instant are handled in the order in which the pieces began, each with all
/// that follows from it in zero time. An entity woken inside a step takes an idle CPU at once, and a CPU that
/// is left takes the next of its queue at once, but their own steps come after, in the order in which the
/// CPUs were taken.
///
/// Costs are paid by who causes them, in front of the next piece or before the CPU is left.
template <class Client>
class FairScheduler {
  public:
    /// `client` and `events` must outlive the scheduler.
    FairScheduler(const FairMachine& machine, const FairRules& rules, const FairCosts& costs, Client& client,
                  Events& events)
        : rules_{rules},
          costs_{costs},
          client_{client},
          events_{events},
          ends_{machine.cpus.size(), rules.shared_cpus},
          cpus_{machine} {}

    /// Everything idle at the client's time, warm and unused.
    void reset() {
        entities_.clear();
        cpus_.reset(client_.now_ns());
        ends_.reset(client_.now_ns());
        queues_.reset(is_global() ? 1 : static_cast<std::size_t>(cpu_count()));
        starting_.clear();
        eas_ = rules_.eas;
        overutilised_ = false;
        next_tick_ns_ = kUnbounded;
        acting_ = kNoCpu;
        counts_ = {};
    }

    /// A new entity, blocked, that has run on `cpu` before.
    Entity add(int cpu) {
        const auto entity = static_cast<Entity>(entities_.size());
        entities_.push_back(FairEntity{});
        queues_.add_entity();
        entities_.back().cpu = cpu;
        return entity;
    }

    /// A new thread: on the idle CPU of the shortest exit latency, else the shortest queue; its utilisation
    /// starts at half of what that CPU has left. (Slow path, Linux 6.1)
    Entity add_new_thread() {
        int best = 0;
        for (int cpu = 1; cpu < cpu_count(); ++cpu) {
            if (cost_of_new(cpu) < cost_of_new(best)) best = cpu;
        }
        const Entity entity = add(best);
        if (!is_global()) {
            const std::int64_t now_ns = client_.now_ns();
            const double left = cpus_.capacity_of(best) - cpus_.utilisation(best, now_ns);
            entities_[slot(entity)].load = std::max(left / 2.0, 0.0) / cpus_.load_factor(now_ns);
        }
        return entity;
    }

    /// Where the window of a new side begins: utilisation of all entities is gone, `entity` sits blocked on
    /// `cpu` with the given one, which its CPU has at least. Cold CPUs have been idle for ever, but for its
    /// own. Nothing may be running or ready.
    void begin_window(Entity entity, int cpu, double utilisation, bool cold) {
        const std::int64_t now_ns = client_.now_ns();
        cpus_.begin_window(cpu, utilisation, cold, now_ns);
        ends_.reset(now_ns);
        for (FairEntity& each : entities_) each.load = 0.0;
        entities_[slot(entity)].cpu = cpu;
        entities_[slot(entity)].load = utilisation;
        overutilised_ = false;
        next_tick_ns_ = kUnbounded;
    }

    /// An entity never leaves the CPU where its window begins.
    void pin(Entity entity) { entities_[slot(entity)].pinned = true; }

    /// A blocked entity is running already, on its CPU, which is idle otherwise.
    void start(Entity entity) { occupy(entities_[slot(entity)].cpu, entity, false); }

    /// The admin's or the core's switch; takes effect from the next decision on.
    void set_eas(bool on) { eas_ = on && rules_.eas; }
    bool is_eas_active() const { return eas_ && !overutilised_; }

    std::int64_t next_ns() {
        next_end_ns_ = ends_.next_ns();
        return std::min(
            {next_end_ns_, cpus_.is_all_idle() ? kUnbounded : next_tick_ns_, to_ns(events_.next_time())});
    }
    /// Handles what is next if it is one of the scheduler's own; false when it is an event of the model. The
    /// client's clock must stand at next_ns().
    bool handle_own(std::int64_t now_ns) {
        cpus_.renew_loads(entities_, now_ns);
        if (next_tick_ns_ <= now_ns && !cpus_.is_all_idle()) {
            tick(now_ns);
            settle();
            return true;
        }
        if (next_end_ns_ > now_ns) return false;
        if (to_ns(events_.next_time()) <= now_ns && events_.next_sequence() < ends_.next_sequence())
            return false;
        end_piece(ends_.next_cpu());
        settle();
        return true;
    }

    /// Lets all that has been woken go on to its first piece. To be called after every event of the model.
    void settle() {
        for (std::size_t i = 0; i < starting_.size(); ++i) begin(starting_[i]);
        starting_.clear();
    }

    int cpu_count() const { return cpus_.size(); }
    int clusters() const { return cpus_.clusters(); }
    const FairCounts& counts() const { return counts_; }
    int cpu_of(Entity entity) const { return entities_[slot(entity)].cpu; }
    /// Utilisation now.
    double utilisation(Entity entity) { return cpus_.utilisation(entities_[slot(entity)], client_.now_ns()); }
    double utilisation_of_cpu(int cpu) { return cpus_.utilisation(cpu, client_.now_ns()); }
    std::size_t entities() const { return entities_.size(); }

    /// Busy time of a CPU up to now.
    std::int64_t busy_ns(int cpu) const {
        const FairCpuState& state = cpus_[cpu];
        const bool running = state.current != kNobody;
        return state.busy_ns + (running ? std::max<std::int64_t>(client_.now_ns() - state.since_ns, 0) : 0);
    }

    /// An entity becomes ready. What runs or is ready already goes on as it is; one that is just paying for
    /// what it did before it waits does not wait.
    void wake(Entity entity) {
        FairEntity& woken = entities_[slot(entity)];
        if (woken.state == State::running) {
            if (cpus_[woken.cpu].paying) woken.woken = true;
            return;
        }
        if (woken.state == State::ready) {
            woken.woken = woken.paying;
            return;
        }
        ++counts_.wakeups;
        const int cpu = is_global() ? idle_cpu_of_all() : place(entity);
        const bool idle = cpu != kNoCpu && cpus_.is_idle(cpu);
        if (acting_ != kNoCpu) {
            FairEntity& waker = entities_[slot(cpus_[acting_].current)];
            waker.owed_ns += costs_.wake_ns + (idle && cpu != acting_ ? costs_.idle_ipi_ns : 0);
        }
        if (!is_global() && cpu != woken.cpu) move(entity, cpu);
        if (idle) return occupy(cpu, entity, true);
        woken.state = State::ready;
        enqueue(cpu, entity);
        if (!is_global()) {
            note_overutilised(cpu);
            preempt_if_due(cpu);
        }
        make_way();
    }

  private:
    using State = FairEntity::State;

    static std::size_t slot(Entity entity) { return static_cast<std::size_t>(entity); }
    bool is_global() const { return rules_.queues == Queues::global; }
    std::size_t queue_of(int cpu) const { return is_global() ? 0 : static_cast<std::size_t>(cpu); }
    bool any_ready(int cpu) const { return queues_.size(queue_of(cpu)) > 0; }
    std::int64_t runnable(int cpu) const {
        return queues_.size(queue_of(cpu)) + (cpus_.is_idle(cpu) ? 0 : 1);
    }

    void note_overutilised(int cpu) {
        if (eas_ && !overutilised_) overutilised_ = cpus_.is_overutilised(cpu, client_.now_ns());
    }

    void move(Entity entity, int cpu) {
        FairEntity& state = entities_[slot(entity)];
        state.cpu = cpu;
        state.migrated = true;
        ++counts_.migrations;
    }

    // Placement.
    bool is_pinned(Entity entity) const {
        return rules_.placement == FairPlacement::pinned || entities_[slot(entity)].pinned;
    }
    int idle_cpu_of_all() const { return rules_.by_priority ? cpus_.fastest_idle() : cpus_.first_idle(); }

    int place(Entity entity) {
        const int previous = entities_[slot(entity)].cpu;
        if (is_pinned(entity)) return previous;
        const double load = utilisation(entity);
        if (is_eas_active()) return cpus_.cheapest(previous, load, client_.now_ns());
        const int target = spread_target(previous);
        if (!cpus_.has_idle()) return target;
        const bool spreads = rules_.placement == FairPlacement::spread;
        const int fitting = spreads ? cpus_.idle_that_fits(target, load) : kNoCpu;
        return fitting == kNoCpu ? cpus_.largest_idle() : fitting;
    }
    int spread_target(int previous) const {
        if (cpus_.is_idle(previous) || acting_ == kNoCpu || !rules_.wake_affine) return previous;
        return runnable(acting_) < runnable(previous) ? acting_ : previous;
    }

    /// An idle CPU by what leaving idle takes, a busy one behind all of them, by its queue.
    std::pair<std::int64_t, std::int64_t> cost_of_new(int cpu) const {
        if (cpus_.is_idle(cpu)) return {0, exit_ns(cpu)};
        return {runnable(cpu), 0};
    }

    // Queues.
    void enqueue(int cpu, Entity entity) {
        const std::size_t queue = queue_of(cpu);
        queues_.push_tail(queue, entity);
        if (queues_.size(queue) == 1 && rules_.slice_ns > 0) slice_runs(cpu);
    }
    Entity take_highest() {
        std::int64_t best = std::numeric_limits<std::int64_t>::min();
        for (Entity each = queues_.head(0); each != kNobody; each = queues_.next(each))
            best = std::max(best, client_.priority(each));
        return queues_.take_first(0, [&](Entity each) { return client_.priority(each) == best; });
    }
    Entity take_for(int cpu) {
        if (any_ready(cpu))
            return rules_.by_priority ? take_highest() : queues_.take_after(queue_of(cpu), kNobody);
        if (is_global() || !rules_.pull || is_eas_active()) return kNobody;
        const Entity pulled = queues_.take_first(queues_.longest(), [this](Entity each) {
            return !entities_[slot(each)].pinned &&
                   client_.now_ns() - entities_[slot(each)].ran_until_ns >= rules_.cache_hot_ns;
        });
        if (pulled != kNobody) move(pulled, cpu);
        return pulled;
    }

    // Running.
    std::int64_t exit_ns(int cpu) const {
        return cpus_.exit_ns(cpu, rules_.cluster_exit_ns, client_.now_ns());
    }

    void occupy(int cpu, Entity entity, bool from_idle) {
        FairCpuState& state = cpus_[cpu];
        FairEntity& chosen = entities_[slot(entity)];
        const std::int64_t now_ns = client_.now_ns();
        const std::int64_t latency_ns = from_idle ? exit_ns(cpu) : 0;
        if (state.last != entity) {
            ++counts_.switches;
            ++counts_.switch_ins;
            chosen.owed_ns += costs_.switch_ns;
            state.last = entity;
        }
        if (is_global() && chosen.cpu != cpu) {
            chosen.cpu = cpu;
            chosen.migrated = true;
            ++counts_.migrations;
        }
        if (chosen.migrated) chosen.owed_ns += costs_.migration_ns;
        chosen.migrated = false;
        chosen.state = State::running;
        state.current = entity;
        state.paying = chosen.paying;
        chosen.paying = false;
        state.since_ns = now_ns + latency_ns;
        if (!is_global()) cpus_.begin_run(cpu, chosen, now_ns);
        cpus_.note_busy();
        ends_.set_busy(now_ns, cpus_.busy());
        if (rules_.tick_ns > 0 && !is_global()) {
            if (next_tick_ns_ == kUnbounded || next_tick_ns_ < now_ns)
                next_tick_ns_ = (now_ns / rules_.tick_ns + 1) * rules_.tick_ns;
            note_overutilised(cpu);
        }
        client_.on_cpu(entity, cpu);
        starting_.push_back(cpu);
    }

    /// Its current entity leaves a CPU, which has nobody then.
    Entity put_off(int cpu, State state) {
        FairCpuState& from = cpus_[cpu];
        const Entity entity = from.current;
        FairEntity& left = entities_[slot(entity)];
        const std::int64_t now_ns = client_.now_ns();
        if (!is_global()) cpus_.end_run(cpu, left, now_ns);
        const std::int64_t ran_ns = std::max<std::int64_t>(now_ns - from.since_ns, 0);
        from.busy_ns += ran_ns;
        left.ran_until_ns = now_ns;
        left.state = state;
        from.current = kNobody;
        from.since_ns = now_ns;
        from.paying = false;
        from.leaves = false;
        ends_.clear(cpu);
        cpus_.note_idle();
        ends_.set_busy(now_ns, cpus_.busy());
        client_.off_cpu(entity, cpu, ran_ns);
        return entity;
    }

    /// A CPU without a current entity takes the next, or stays idle.
    void take_next(int cpu) {
        const Entity entity = take_for(cpu);
        if (entity == kNobody) {
            FairCpuState& state = cpus_[cpu];
            state.last = kNobody;
            state.idle_since_ns = client_.now_ns();
            ++counts_.switches;
            return;
        }
        occupy(cpu, entity, false);
    }

    /// Whoever holds the CPU goes on until its next piece is known, or the CPU is idle.
    void begin(int cpu) {
        const int before = std::exchange(acting_, cpu);
        for (;;) {
            FairCpuState& state = cpus_[cpu];
            if (client_.now_ns() < state.since_ns) {
                leave_idle(cpu);
                break;
            }
            const Entity entity = state.current;
            Work work = next_work(cpu, entity);
            FairEntity& who = entities_[slot(entity)];
            if (work.waits) {
                if (who.owed_ns == 0) {
                    put_off(cpu, State::blocked);
                    take_next(cpu);
                    break;
                }
                state.paying = true;
                work = {};
            }
            work.scaled_ns += std::exchange(who.owed_ns, 0);
            const std::int64_t length_ns = length_of(cpu, work);
            if (state.leaves) {
                state.leaves = false;
                if (any_ready(cpu)) {
                    keep_rest(cpu, work.scaled_ns, work.fixed_ns);
                    requeue(cpu);
                    break;
                }
            }
            if (length_ns == 0) {
                if (end_of_payment(cpu)) continue;
                break;
            }
            state.scaled_ns = work.scaled_ns;
            state.fixed_ns = work.fixed_ns;
            state.length_ns = length_ns;
            state.piece_from_ns = client_.now_ns();
            ends_.set(cpu, ends_.after(state.piece_from_ns, state.piece_from_ns, length_ns), slice_end(cpu),
                      events_.take_sequence());
            break;
        }
        acting_ = before;
    }

    /// What is left of an interrupted piece, or the next step of the program.
    Work next_work(int cpu, Entity entity) {
        FairEntity& who = entities_[slot(entity)];
        if (who.left_scaled_ns != 0 || who.left_fixed_ns != 0) {
            const Work rest{who.left_scaled_ns, who.left_fixed_ns, false};
            who.left_scaled_ns = 0;
            who.left_fixed_ns = 0;
            return rest;
        }
        if (cpus_[cpu].paying) return {};
        return client_.step(entity, cpu);
    }

    std::int64_t length_of(int cpu, const Work& work) const {
        return rounded_up(static_cast<double>(work.scaled_ns) * cpus_[cpu].ns_per_scaled) + work.fixed_ns;
    }
    static std::int64_t rounded_up(double ns) {
        const auto whole = static_cast<std::int64_t>(ns);
        return whole + (static_cast<double>(whole) < ns ? 1 : 0);
    }

    /// False when the entity has left the CPU.
    bool end_of_payment(int cpu) {
        FairCpuState& state = cpus_[cpu];
        if (!state.paying) return true;
        state.paying = false;
        FairEntity& who = entities_[slot(state.current)];
        if (std::exchange(who.woken, false)) return true;
        put_off(cpu, State::blocked);
        take_next(cpu);
        return false;
    }

    void end_piece(int cpu) {
        if (ends_.is_slice(cpu)) {
            // Whoever waited may have been pulled away.
            if (!any_ready(cpu)) return ends_.set_slice(cpu, kUnbounded, 0);
            interrupt(cpu);
            requeue(cpu);
            return;
        }
        ends_.clear(cpu);
        if (std::exchange(cpus_[cpu].waking, false) || end_of_payment(cpu)) begin(cpu);
    }

    /// Nothing happens on a CPU before it has left idle. (K3)
    void leave_idle(int cpu) {
        FairCpuState& state = cpus_[cpu];
        state.waking = true;
        ends_.set(cpu, ends_.after(client_.now_ns(), state.since_ns, 0), kUnbounded, events_.take_sequence());
    }

    /// The current piece stops where it is; both parts of what is left shrink alike.
    void interrupt(int cpu) {
        FairCpuState& state = cpus_[cpu];
        if (std::exchange(state.waking, false)) {
            entities_[slot(state.current)].paying = state.paying;
            return;
        }
        const std::int64_t left_ns =
            ends_.left_ns(cpu, client_.now_ns(), state.piece_from_ns, state.length_ns);
        const double share = static_cast<double>(left_ns) / static_cast<double>(state.length_ns);
        keep_rest(cpu, rounded_up(static_cast<double>(state.scaled_ns) * share),
                  rounded_up(static_cast<double>(state.fixed_ns) * share));
    }
    void keep_rest(int cpu, std::int64_t scaled_ns, std::int64_t fixed_ns) {
        FairCpuState& state = cpus_[cpu];
        FairEntity& who = entities_[slot(state.current)];
        who.left_scaled_ns = scaled_ns;
        who.left_fixed_ns = fixed_ns;
        who.paying = state.paying;
    }
    /// The current entity goes to the tail of its queue, the next one takes the CPU.
    void requeue(int cpu) {
        ++counts_.preemptions;
        enqueue(cpu, put_off(cpu, State::ready));
        take_next(cpu);
    }

    std::int64_t slice_end(int cpu) {
        if (rules_.slice_ns == 0 || !any_ready(cpu)) return kUnbounded;
        const std::int64_t now_ns = client_.now_ns();
        const std::int64_t since_ns = cpus_[cpu].since_ns;
        const std::int64_t ran_ns = std::max<std::int64_t>(now_ns - since_ns, 0);
        return ends_.after(now_ns, std::max(now_ns, since_ns),
                           std::max<std::int64_t>(rules_.slice_ns - ran_ns, 0));
    }
    /// Somebody has begun to wait: what runs there alone has a slice from now on.
    void slice_runs(int woken_for) {
        const int first = is_global() ? 0 : woken_for;
        const int last = is_global() ? cpu_count() - 1 : woken_for;
        for (int cpu = first; cpu <= last; ++cpu) {
            if (ends_.has_piece(cpu)) ends_.set_slice(cpu, slice_end(cpu), events_.take_sequence());
        }
    }

    /// Who gives way leaves its CPU when nothing is idle and somebody waits.
    void make_way() {
        if (!client_.any_gives_way()) return;
        for (int cpu = 0; cpu < cpu_count(); ++cpu) {
            FairCpuState& state = cpus_[cpu];
            if (state.current == kNobody || !client_.gives_way(state.current) || !any_ready(cpu)) continue;
            if (cpu == acting_ || !ends_.has_piece(cpu)) {
                state.leaves = true;
            } else {
                interrupt(cpu);
                requeue(cpu);
            }
            return;
        }
    }
    void preempt_if_due(int cpu) {
        if (rules_.wakeup_granularity_ns == 0) return;
        FairCpuState& state = cpus_[cpu];
        if (client_.now_ns() - state.since_ns < rules_.wakeup_granularity_ns) return;
        if (cpu == acting_ || !ends_.has_piece(cpu)) {
            state.leaves = true;
            return;
        }
        interrupt(cpu);
        requeue(cpu);
    }

    void tick(std::int64_t now_ns) {
        next_tick_ns_ = (now_ns / rules_.tick_ns + 1) * rules_.tick_ns;
        bool over = false;
        for (int cpu = 0; cpu < cpu_count(); ++cpu) over = cpus_.is_overutilised(cpu, now_ns) || over;
        overutilised_ = eas_ && over;
        for (int cpu = 0; cpu < cpu_count() && cpus_.has_idle(); ++cpu) move_misfit(cpu);
    }
    void move_misfit(int cpu) {
        if (!ends_.has_piece(cpu) || is_pinned(cpus_[cpu].current)) return;
        if (fits(utilisation(cpus_[cpu].current), cpus_.capacity_of(cpu))) return;
        const int target = cpus_.largest_idle();
        if (cpus_.capacity_of(target) <= cpus_.capacity_of(cpu)) return;
        interrupt(cpu);
        const Entity entity = put_off(cpu, State::ready);
        move(entity, target);
        occupy(target, entity, true);
        take_next(cpu);
    }

    FairRules rules_;
    FairCosts costs_;
    Client& client_;
    Events& events_;
    PieceEnds ends_;
    RunQueues queues_;
    FairCpus cpus_;
    std::vector<FairEntity> entities_;
    std::vector<int> starting_;  // CPUs whose entity has not taken its first step yet
    bool eas_{false};
    bool overutilised_{false};
    std::int64_t next_tick_ns_{kUnbounded};
    std::int64_t next_end_ns_{kUnbounded};
    int acting_{kNoCpu};  // CPU whose entity is in a step
    FairCounts counts_;
};

}  // namespace torpor::sched
