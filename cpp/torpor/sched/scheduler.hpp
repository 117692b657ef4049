// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "torpor/base/error.hpp"
#include "torpor/base/units.hpp"
#include "torpor/engine/event_queue.hpp"
#include "torpor/sched/cpu.hpp"
#include "torpor/sched/rules.hpp"

namespace torpor::sched {

/// What runs: tasks 0 .. tasks-1, and above them drivers, which are never preempted, pay no wake latency and
/// are not counted among the task switch-ins (the task that runs the suspend).
using Entity = std::int32_t;
inline constexpr Entity kNobody = -1;
inline constexpr int kNoCpu = -1;

/// An event of a model with a scheduler; what it means is the model's.
struct Event {
    std::uint32_t kind{0};
    std::int32_t index{0};
};
using Events = engine::EventQueue<Event>;

/// Answers of Client::run_length other than a length in ns: the entity runs until it is told otherwise; it
/// gives the CPU up again at once.
inline constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t kLeaves = -1;

/// Context switches of all CPUs: one whenever a CPU starts something other than what it ran before, idle
/// included. `voluntary` and `involuntary` count the ways in which entities left their CPUs.
struct SwitchCounts {
    std::int64_t switches{0};
    std::int64_t task_switch_ins{0};
    std::int64_t voluntary{0};
    std::int64_t involuntary{0};
};

/// Entities on CPUs. In the reference mode (Rules{}) there is one FIFO queue, an idle CPU takes its head, a
/// woken entity takes the idle CPU of the lowest index, and nothing is time-sliced.
///
/// The client says what an entity does once it has a CPU:
///   std::int64_t now_ns() const               the time
///   void got_cpu(Entity, int cpu)             it starts, or goes on after it was preempted
///   std::int64_t run_length(Entity, int cpu)  it starts: ns to run, kUnbounded or kLeaves
///   void run_done(Entity, int cpu)            it has run that long and leaves the CPU by itself
///   void run_stopped(Entity, int cpu)         it is taken off the CPU before its end
///   bool gives_way(Entity) const              it runs without end, and only while nobody else wants the CPU
///   void went_idle(int cpu)                   nothing is left for the CPU
/// Inside run_done the client may wake others; inside run_length and run_stopped it may not.
///
/// The ends of runs are kept here, one per CPU, since they are nearly all events that there are; they take
/// their places among the model's own by the queue's sequence numbers.
template <class Client>
class Scheduler {
  public:
    /// `client` and `events` must outlive the scheduler.
    Scheduler(std::vector<Cpu> cpus, const Rules& rules, Client& client, Events& events)
        : rules_{rules}, client_{client}, events_{events}, specs_{std::move(cpus)} {
        cpus_.resize(specs_.size());
        queues_.resize(rules_.queues == Queues::global ? 1 : specs_.size());
    }

    /// Everything idle and counted from zero. `tasks` of the `entities` are tasks.
    void reset(std::size_t entities, Entity tasks) {
        tasks_ = tasks;
        entities_.assign(entities, EntityState{});
        if (rules_.slice_ns > 0) left_.assign(entities, Left{});
        const int count = cpu_count();
        for (std::size_t e = 0; e < entities; ++e) entities_[e].cpu = static_cast<int>(e) % count;
        std::fill(cpus_.begin(), cpus_.end(), CpuState{});
        std::fill(queues_.begin(), queues_.end(), ReadyQueue{});
        idle_ = count;
        giving_way_ = 0;
        counts_ = {};
        find_next_end();
    }

    /// When the next run or slice ends, kUnbounded when none does.
    std::int64_t next_end_ns() const { return next_end_ns_; }
    /// The next event of all, the model's own included.
    std::int64_t next_ns() const { return std::min(next_end_ns_, to_ns(events_.next_time())); }
    /// Whether it is an end of a run or slice: those of one instant come in the order in which they were set.
    bool next_is_end() const {
        const std::int64_t other_ns = to_ns(events_.next_time());
        if (next_end_ns_ != other_ns) return next_end_ns_ < other_ns;
        return next_end_ns_ != kUnbounded && next_end_sequence_ < events_.next_sequence();
    }
    /// Handles the end of the run or slice that is due, now.
    void handle_end() {
        const int cpu = next_end_cpu_;
        const bool sliced = cpus_[index(cpu)].ends_ns != next_end_ns_;
        sliced ? end_slice(cpu) : end_run(cpu);
    }

    int cpu_count() const { return static_cast<int>(specs_.size()); }
    const Cpu& spec(int cpu) const { return specs_[index(cpu)]; }
    const SwitchCounts& counts() const { return counts_; }
    Entity running_on(int cpu) const { return cpus_[index(cpu)].current; }
    /// The CPU that an entity runs on, kNoCpu when it does not run.
    int cpu_of(Entity entity) const {
        const int cpu = entities_[slot(entity)].cpu;
        return cpus_[index(cpu)].current == entity ? cpu : kNoCpu;
    }
    std::int64_t voluntary(Entity entity) const { return entities_[slot(entity)].voluntary; }
    std::int64_t involuntary(Entity entity) const { return entities_[slot(entity)].involuntary; }

    /// Busy time of a CPU up to now, a run in progress included.
    std::int64_t busy_ns(int cpu) const {
        const CpuState& state = cpus_[index(cpu)];
        const bool running = state.current != kNobody;
        return state.busy_ns + (running ? std::max<std::int64_t>(client_.now_ns() - state.since_ns, 0) : 0);
    }

    /// Whether something waits in the queue that this CPU takes from.
    bool has_waiting(int cpu) const { return queues_[queue_of(cpu)].head != kNobody; }

    /// Puts an entity on an idle CPU; a start that is no context switch was running there already.
    void start(int cpu, Entity entity, bool counts_as_switch) {
        if (!counts_as_switch) cpus_[index(cpu)].last = entity;
        occupy(cpu, entity, false);
    }

    /// Puts an entity at the end of a queue, as one that waited before the start; `cpu` matters only with
    /// queues of their own.
    void start_waiting(int cpu, Entity entity) { push_tail(queue_of(cpu), entity); }

    /// An entity becomes ready: it takes an idle CPU at once, else that of an entity which gives way, else it
    /// waits.
    void make_ready(Entity entity, int waker, bool at_head = false) {
        const int cpu = idle_cpu_for(entity, waker);
        if (cpu != kNoCpu) {
            occupy(cpu, entity, true);
            return;
        }
        if (take_from_giving_way(entity)) return;
        const std::size_t queue = queue_for(entity, waker);
        at_head ? push_head(queue, entity) : push_tail(queue, entity);
    }

    /// What runs on a CPU leaves it by itself.
    void leave(int cpu) {
        const Entity entity = put_off(cpu);
        count_voluntary(entity);
        take_next(cpu);
    }

    /// What runs on a CPU goes to the tail of its queue.
    void yield_to_tail(int cpu) {
        const Entity entity = put_off(cpu);
        count_involuntary(entity);
        push_tail(queue_of(cpu), entity);
        take_next(cpu);
    }

    /// What runs on a CPU without end starts a run of known length there: no switch.
    void cut(int cpu, std::int64_t length_ns) {
        set_gives_way(cpu, false);
        begin_run(cpu, client_.now_ns(), length_ns);
    }

  private:
    struct EntityState {
        Entity next{kNobody};
        int cpu{0};  // on which it runs or ran last
        std::uint32_t voluntary{0};
        std::uint32_t involuntary{0};
    };
    /// What is left of a preempted run, on the clock of the CPU that it ran on.
    struct Left {
        std::int64_t ns{0};
        std::int64_t rate_hz{0};
    };
    struct CpuState {
        Entity current{kNobody};
        Entity last{kNobody};
        std::int64_t since_ns{0};  // start of the current run
        std::int64_t ends_ns{0};   // of the run, beyond the slice; kUnbounded
        std::int64_t busy_ns{0};
        std::int64_t event_ns{kUnbounded};  // end of the run or of its slice
        std::uint64_t sequence{0};
        bool gives_way{false};
    };
    struct ReadyQueue {
        Entity head{kNobody};
        Entity tail{kNobody};
        std::int64_t size{0};
    };

    static std::size_t index(int cpu) { return static_cast<std::size_t>(cpu); }
    static std::size_t slot(Entity entity) { return static_cast<std::size_t>(entity); }
    std::size_t queue_of(int cpu) const { return queues_.size() == 1 ? 0 : index(cpu); }

    int idle_cpu_for(Entity entity, int waker) const {
        if (idle_ == 0) return kNoCpu;
        const int count = cpu_count();
        if (rules_.placement == Placement::first_idle) {
            for (int cpu = 0; cpu < count; ++cpu) {
                if (is_idle(cpu)) return cpu;
            }
            return kNoCpu;
        }
        if (rules_.placement == Placement::biggest_idle) {
            int best = kNoCpu;
            for (int cpu = 0; cpu < count; ++cpu) {
                if (is_idle(cpu) && (best == kNoCpu || spec(cpu).capacity > spec(best).capacity)) best = cpu;
            }
            return best;
        }
        const int last = entities_[slot(entity)].cpu;
        if (is_idle(last)) return last;
        const int cluster = spec(waker == kNoCpu ? last : waker).cluster;
        int any = kNoCpu;
        for (int cpu = 0; cpu < count; ++cpu) {
            if (!is_idle(cpu)) continue;
            if (spec(cpu).cluster == cluster) return cpu;
            if (any == kNoCpu) any = cpu;
        }
        return any;
    }

    std::size_t queue_for(Entity entity, int waker) const {
        if (queues_.size() == 1) return 0;
        if (rules_.placement == Placement::wake_affine) {
            const auto last = index(entities_[slot(entity)].cpu);
            const std::size_t other = waker == kNoCpu ? last : index(waker);
            return load(other) < load(last) ? other : last;
        }
        std::size_t best = 0;
        for (std::size_t queue = 1; queue < queues_.size(); ++queue) {
            if (load(queue) < load(best)) best = queue;
        }
        return best;
    }
    std::int64_t load(std::size_t queue) const { return queues_[queue].size; }

    bool is_idle(int cpu) const { return cpus_[index(cpu)].current == kNobody; }

    void push_tail(std::size_t queue, Entity entity) {
        ReadyQueue& ready = queues_[queue];
        entities_[slot(entity)].next = kNobody;
        (ready.tail == kNobody ? ready.head : entities_[slot(ready.tail)].next) = entity;
        ready.tail = entity;
        if (++ready.size == 1) slice_runs(queue);
    }

    void push_head(std::size_t queue, Entity entity) {
        ReadyQueue& ready = queues_[queue];
        entities_[slot(entity)].next = ready.head;
        if (ready.head == kNobody) ready.tail = entity;
        ready.head = entity;
        if (++ready.size == 1) slice_runs(queue);
    }

    Entity pop_head(std::size_t queue) {
        ReadyQueue& ready = queues_[queue];
        const Entity entity = ready.head;
        ready.head = entities_[slot(entity)].next;
        if (ready.head == kNobody) ready.tail = kNobody;
        --ready.size;
        return entity;
    }

    /// The next one for a CPU that has nothing to run: of its own queue, else, if it may, of the longest.
    Entity pop_for(int cpu) {
        const std::size_t own = queue_of(cpu);
        if (queues_[own].head != kNobody) return pop_pressing(own);
        if (queues_.size() == 1 || !rules_.steal) return kNobody;
        std::size_t longest = own;
        for (std::size_t queue = 0; queue < queues_.size(); ++queue) {
            if (load(queue) > load(longest)) longest = queue;
        }
        return load(longest) == 0 ? kNobody : pop_pressing(longest);
    }

    /// The first that does not give way; the head when all do.
    Entity pop_pressing(std::size_t queue) {
        for (std::int64_t left = load(queue); left > 0 && client_.gives_way(queues_[queue].head); --left) {
            push_tail(queue, pop_head(queue));
        }
        return pop_head(queue);
    }

    void count_voluntary(Entity entity) {
        ++entities_[slot(entity)].voluntary;
        ++counts_.voluntary;
    }
    void count_involuntary(Entity entity) {
        ++entities_[slot(entity)].involuntary;
        ++counts_.involuntary;
    }

    /// A CPU without a current entity takes the next one, or goes idle.
    void take_next(int cpu) {
        for (;;) {
            const Entity entity = pop_for(cpu);
            if (entity == kNobody) {
                cpus_[index(cpu)].last = kNobody;
                ++counts_.switches;
                ++idle_;
                client_.went_idle(cpu);
                return;
            }
            if (try_occupy(cpu, entity, false)) return;
        }
    }

    void occupy(int cpu, Entity entity, bool wakes_cpu) {
        --idle_;
        if (!try_occupy(cpu, entity, wakes_cpu)) take_next(cpu);
    }

    /// False when the entity gives the CPU up at once.
    bool try_occupy(int cpu, Entity entity, bool wakes_cpu) {
        CpuState& state = cpus_[index(cpu)];
        if (state.last != entity) {
            ++counts_.switches;
            if (entity < tasks_) ++counts_.task_switch_ins;
            state.last = entity;
        }
        state.current = entity;
        entities_[slot(entity)].cpu = cpu;
        client_.got_cpu(entity, cpu);
        std::int64_t length_ns = left_of(entity, cpu);
        if (length_ns == 0) length_ns = client_.run_length(entity, cpu);
        if (length_ns == kLeaves) {
            state.current = kNobody;
            count_voluntary(entity);
            return false;
        }
        const bool waits = wakes_cpu && entity < tasks_;
        state.since_ns = client_.now_ns() + (waits ? spec(cpu).wake_latency_ns : 0);
        set_gives_way(cpu, length_ns == kUnbounded && client_.gives_way(entity));
        begin_run(cpu, state.since_ns, length_ns);
        return true;
    }

    void begin_run(int cpu, std::int64_t from_ns, std::int64_t length_ns) {
        CpuState& state = cpus_[index(cpu)];
        state.ends_ns = length_ns == kUnbounded ? kUnbounded : from_ns + length_ns;
        set_end(cpu);
    }

    /// Sets the end of the run, or that of its slice if it comes first and somebody waits for the CPU.
    void set_end(int cpu) {
        CpuState& state = cpus_[index(cpu)];
        state.event_ns = state.ends_ns;
        if (is_sliced(cpu) && has_waiting(cpu))
            state.event_ns = std::min(state.ends_ns, next_slice_ns(state));
        if (state.event_ns != kUnbounded) state.sequence = events_.take_sequence();
        if (next_end_cpu_ == cpu) return find_next_end();
        if (state.event_ns < next_end_ns_) {
            next_end_ns_ = state.event_ns;
            next_end_sequence_ = state.sequence;
            next_end_cpu_ = cpu;
        }
    }

    bool is_sliced(int cpu) const {
        const Entity current = cpus_[index(cpu)].current;
        return rules_.slice_ns > 0 && current != kNobody && current < tasks_;
    }

    /// Slices are counted from the start of the run.
    std::int64_t next_slice_ns(const CpuState& state) const {
        const std::int64_t ran_ns = std::max<std::int64_t>(client_.now_ns() - state.since_ns, 0);
        return state.since_ns + (ran_ns / rules_.slice_ns + 1) * rules_.slice_ns;
    }

    /// Somebody begins to wait: what has run alone so far is sliced from now on.
    void slice_runs(std::size_t queue) {
        for (int cpu = 0; rules_.slice_ns > 0 && cpu < cpu_count(); ++cpu) {
            const CpuState& state = cpus_[index(cpu)];
            if (queue_of(cpu) == queue && is_sliced(cpu) && state.event_ns == state.ends_ns) set_end(cpu);
        }
    }

    void clear_end(int cpu) {
        cpus_[index(cpu)].event_ns = kUnbounded;
        if (next_end_cpu_ == cpu) find_next_end();
    }

    void find_next_end() {
        next_end_ns_ = kUnbounded;
        next_end_sequence_ = 0;
        next_end_cpu_ = kNoCpu;
        for (int cpu = 0; cpu < cpu_count(); ++cpu) {
            const CpuState& state = cpus_[index(cpu)];
            const bool first = state.event_ns < next_end_ns_ ||
                               (state.event_ns == next_end_ns_ && state.event_ns != kUnbounded &&
                                state.sequence < next_end_sequence_);
            if (!first) continue;
            next_end_ns_ = state.event_ns;
            next_end_sequence_ = state.sequence;
            next_end_cpu_ = cpu;
        }
    }

    void set_gives_way(int cpu, bool gives_way) {
        bool& known = cpus_[index(cpu)].gives_way;
        if (known == gives_way) return;
        known = gives_way;
        giving_way_ += gives_way ? 1 : -1;
    }

    /// Takes the current entity off its CPU.
    Entity put_off(int cpu) {
        CpuState& state = cpus_[index(cpu)];
        state.busy_ns += std::max<std::int64_t>(client_.now_ns() - state.since_ns, 0);
        if (state.event_ns != kUnbounded) clear_end(cpu);
        set_gives_way(cpu, false);
        return std::exchange(state.current, kNobody);
    }

    void end_run(int cpu) {
        const Entity entity = cpus_[index(cpu)].current;
        client_.run_done(entity, cpu);
        put_off(cpu);
        count_voluntary(entity);
        take_next(cpu);
    }

    void end_slice(int cpu) {
        if (!has_waiting(cpu)) {
            set_end(cpu);
            return;
        }
        const Entity entity = preempt(cpu);
        push_tail(queue_of(cpu), entity);
        take_next(cpu);
    }

    /// Takes the current entity off its CPU before the end of its run, and remembers what is left of it.
    Entity preempt(int cpu) {
        const CpuState& state = cpus_[index(cpu)];
        if (state.ends_ns != kUnbounded) {
            left_[slot(state.current)] = {state.ends_ns - client_.now_ns(), spec(cpu).rate_hz()};
        }
        client_.run_stopped(state.current, cpu);
        const Entity entity = put_off(cpu);
        count_involuntary(entity);
        return entity;
    }

    /// What a preempted run still needs on this CPU; 0 when it starts a new one.
    std::int64_t left_of(Entity entity, int cpu) {
        if (left_.empty() || left_[slot(entity)].ns == 0) return 0;
        const Left left = std::exchange(left_[slot(entity)], Left{});
        if (left.rate_hz == spec(cpu).rate_hz()) return left.ns;
        const double scaled = static_cast<double>(left.ns) * static_cast<double>(left.rate_hz) /
                              static_cast<double>(spec(cpu).rate_hz());
        return std::max<std::int64_t>(static_cast<std::int64_t>(scaled + 0.5), 1);
    }

    bool take_from_giving_way(Entity entity) {
        for (int cpu = 0; giving_way_ > 0 && cpu < cpu_count(); ++cpu) {
            if (!cpus_[index(cpu)].gives_way || !client_.gives_way(running_on(cpu))) continue;
            push_tail(queue_of(cpu), preempt(cpu));
            ++idle_;
            occupy(cpu, entity, false);
            return true;
        }
        return false;
    }

    Rules rules_;
    Client& client_;
    Events& events_;
    std::vector<Cpu> specs_;
    std::vector<CpuState> cpus_;
    std::vector<ReadyQueue> queues_;
    std::vector<EntityState> entities_;
    std::vector<Left> left_;  // only with time slices
    Entity tasks_{0};
    int idle_{0};
    int giving_way_{0};  // CPUs that run what gives way
    std::int64_t next_end_ns_{kUnbounded};
    std::uint64_t next_end_sequence_{0};
    int next_end_cpu_{kNoCpu};
    SwitchCounts counts_;
};

}  // namespace torpor::sched
