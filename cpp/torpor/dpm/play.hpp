// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "torpor/dpm/bounds.hpp"
#include "torpor/dpm/model.hpp"
#include "torpor/dpm/work_queue.hpp"
#include "torpor/dpm/world.hpp"
#include "torpor/engine/cancellation.hpp"
#include "torpor/sched/fair_scheduler.hpp"

namespace torpor::dpm {

/// What a device has been through in this cycle.
enum Progress : std::uint16_t {
    kPrepared = 1U << 0U,
    kSuspended = 1U << 1U,
    kLateSuspended = 1U << 2U,
    kNoirqSuspended = 1U << 3U,
    kDirectComplete = 1U << 4U,
    kMustResume = 1U << 5U,  // a subordinate must
    kWakeupPath = 1U << 6U,
    kQueued = 1U << 7U,  // or begun, in this phase
    kDone = 1U << 8U,    // the completion of this phase
    kLeftSuspended = 1U << 9U,
};

/// The list of the device core that a device is on.
enum class Stage : std::uint8_t { none, prepared, suspended, late_early, noirq };

/// One model at work. The main thread and the workers are programs that the scheduler asks for their next
/// piece (step); this class holds what they share. Its parts, one source file each:
///   play.cpp         cycles, windows, the event loop
///   main_thread.cpp  the walks of each order (4.1 to 4.7 of the model), the barrier
///   workers.cpp      the pool: who takes which item, creating workers
///   device.cpp       handling one device: waits, callback, completion, starting neighbours
///   device_rules.cpp what a phase does with a device: when it is skipped, when it fails, what is undone
///   stuck.cpp        who waits for whom when nothing goes on
class Model::Play {
  public:
    Play(const Scenario& scenario, const Policy& policy);
    Play(const Play&) = delete;
    Play& operator=(const Play&) = delete;

    Result run(StreamKey key, const std::stop_token& stop, engine::TimelineSink* sink);
    std::vector<Interval> intervals() const;
    const Graph& graph() const { return world_.graph(); }

    // The scheduler's client.
    std::int64_t now_ns() const { return now_ns_; }
    sched::Work step(sched::Entity entity, int) {
        return entity == kMain ? step_main() : step_worker(entity);
    }
    void on_cpu(sched::Entity entity, int cpu) { tell(TimelineKind::run_begin, cpu, entity); }
    void off_cpu(sched::Entity entity, int cpu, std::int64_t ran_ns) {
        if (entity == kMain) note_main(cpu, ran_ns);
        tell(TimelineKind::run_end, cpu, entity);
    }
    std::int64_t priority(sched::Entity entity) const;
    bool gives_way(sched::Entity entity) const { return entity == kMain; }
    bool any_gives_way() const { return scenario_.main.gives_way; }

  private:
    using Entity = sched::Entity;
    using Work = sched::Work;
    static constexpr Entity kMain = 0;
    /// What is owed for steps that nobody sees is paid when it comes to this.
    static constexpr std::int64_t kLongestDebtNs = 10'000;

    /// Where a program goes on. First those of the main thread, then those of a worker, then those of
    /// handling a device, which both share.
    enum class At : std::uint8_t {
        phase_begin,
        mutex_taken,
        first_pass,
        first_pass_queue,
        walk,
        walk_queue,
        walk_device,
        walk_after_device,
        barrier,
        barrier_woken,
        phase_end,
        window_end,

        idle,
        look,
        creating,
        created,
        item_begin,
        item_end,

        device_begin,  // from here on there is a device that is not done
        device_mutex,
        device_waits,
        callback,
        callback_locked,
        complete,
        neighbours,
        neighbour_mutex,
        neighbour_queue,
    };

    /// A device handled in place of another's neighbour: where to go on with that other.
    struct Frame {
        std::int32_t device;
        std::int32_t cursor;
    };

    /// One cache line, since every step of another entity begins with it.
    struct alignas(64) Program {
        At at{At::idle};
        At then{At::idle};  // after the device
        bool holds_mutex{false};
        bool waiting_for_mutex{false};
        std::int32_t depth{0};  // of frames
        std::int32_t device{kNoDevice};
        std::int32_t cursor{0};  // among what the device waits for (-1: nothing), or its neighbours
        std::int32_t chosen{kNoDevice};
        std::int32_t waits_for{kNoDevice};
        std::int32_t waits_for_lock{-1};
        Entity next_waiter{sched::kNobody};
        std::uint32_t segment{0};
        double factor{1.0};
        std::int64_t owed_ns{0};
        std::int64_t since_ns{0};
    };

    /// What the order means for a phase.
    struct PhaseRules {
        bool resume{false};     // resume-type
        bool middle{false};     // one of the six that may be asynchronous
        bool from_head{false};  // the list is walked from its head
        bool observed{false};   // somebody can tell when a device is done
        bool first_pass{false};
        bool walk_queues{false};          // async devices, ready or not
        bool walk_holds_mutex{false};     // but for handling a device
        bool workers_read_parent{false};  // under the mutex, before they wait
        bool starts_neighbours{false};
        bool only_ready{false};                // those of which all is done that they wait for
        bool starts_neighbours_locked{false};  // under the mutex
    };

    enum EventKind : std::uint32_t { kSleepEnd, kTickEnd, kRangeEnd };

    struct TickSleeper {
        std::int64_t ends_ns;
        double lot;
        Entity entity;
    };
    struct RangeSleeper {
        std::int64_t earliest_ns;
        Entity entity;
        int cpu;
        engine::EventHandle hard;
    };
    struct SharedLock {
        FifoLock lock;
        std::int32_t last_device{kNoDevice};
    };

    // play.cpp
    void note_main(int cpu, std::int64_t ran_ns);
    void begin_replicate(StreamKey key);
    void run_cycle(std::int64_t cycle, const std::stop_token& stop);
    void begin_side(bool suspend);
    void end_side(bool suspend);
    void run_window(Phase first, Phase last, const std::stop_token& stop);
    void run_events(const std::stop_token& stop);
    void timer(const sched::Event& event);
    void end_ranges(int cpu);
    /// Items that overlap for no time at all do not count as live together.
    void sample_workers() {
        std::int64_t& most = here().live_workers;
        most = std::max(most, queue_.started());
    }
    void start_over();
    PhaseResult& here() { return cycle_.phases[index_of(phase_)]; }
    bool failed() const { return error_ != Outcome::done; }
    void sleep_ns(Entity entity, std::int64_t length_ns);
    void sleep_ticks(Entity entity, std::int64_t count);
    void sleep_range(Entity entity, std::int64_t low_ns, std::int64_t high_ns);
    void tell(TimelineKind kind, std::int32_t lane, std::int64_t value) {
        if (sink_ != nullptr)
            sink_->record(
                {time_from_ns(now_ns_ - cycle_began_ns_), value, lane, static_cast<std::uint16_t>(kind)});
    }

    // main_thread.cpp
    Work step_main();
    void begin_phase();
    void end_phase();
    bool walk_over() const { return walked_ == device_count(); }
    std::int32_t walked_device() const { return rules_.from_head ? walked_ : device_count() - 1 - walked_; }
    bool on_list(std::int32_t device) const { return stages_[slot(device)] == source_; }
    bool queues_in_first_pass(std::int32_t device);
    PhaseRules rules_of(Phase phase) const;
    void move_on(std::int32_t device);
    void end_walk_early();
    void release_mutex(Entity entity);

    // workers.cpp
    Work step_worker(Entity entity);
    void queue_item(Entity by, std::int32_t device);
    void start_item(std::int32_t device);
    void kick();
    void finish_item();

    // device.cpp
    /// Handles the device of a program until it has a piece (true, in `work`) or is over (false).
    bool step_device(Entity entity, Work& work);
    void begin_device(Entity entity, std::int32_t device, At then);
    /// Those that a device waits for in this phase.
    std::span<const std::int32_t> awaited(std::int32_t device) const {
        return is_resume() ? graph_->superiors[device] : graph_->subordinates[device];
    }
    std::span<const std::int32_t> neighbours(std::int32_t device) const;
    bool enter_device(Entity entity, Work& work);
    bool take_mutex(Entity entity);
    bool wait_for_others(Entity entity);
    void decide_device(Entity entity);
    bool finish_device(Entity entity);
    void leave_device(Entity entity);
    void give_back(SharedLock& shared, std::int32_t device);
    static bool waits(Work& work) {
        work = Work::waiting();
        return true;
    }
    bool starts_neighbours() const {
        return rules_.starts_neighbours && !(failed() && is_suspend_type(phase_));
    }
    /// A sync device never waits for a sync one: the order of the list has seen to it.
    bool has_to_wait(std::int32_t device, std::int32_t other) const {
        return !has(other, kDone) && (is_async(device) || is_async(other));
    }
    bool is_ready(std::int32_t device, std::int64_t& cost_ns) const;
    void complete_device(std::int32_t device);
    bool step_callback(Entity entity, Work& work);
    bool step_neighbours(Entity entity, Work& work);
    Work pay(Program& program) {
        const Work work{program.owed_ns, 0, false};
        program.owed_ns = 0;
        return work;
    }

    // device_rules.cpp
    bool finishes_at_once(std::int32_t device) const;
    bool is_handled_in_place(std::int32_t device) const;
    /// What becomes of a device whose waits are over.
    enum class Decision : std::uint8_t {
        leave,  // nothing: it is left as it is
        pass,   // as if its callback had returned at once
        call,
    };
    Decision decide(std::int32_t device);
    void after_callback(std::int32_t device, bool called);
    void after_suspend(std::int32_t device);
    void after_suspend_noirq(std::int32_t device);
    void fail(Outcome outcome, std::int32_t device);

    // stuck.cpp
    std::string describe_stuck() const;

    static std::size_t slot(std::int32_t device) { return static_cast<std::size_t>(device); }
    std::int32_t device_count() const { return graph_->size(); }
    bool is_resume() const { return rules_.resume; }
    bool is_async(std::int32_t device) const { return async_[slot(device)] != 0; }
    bool has(std::int32_t device, Progress what) const { return (progress_[slot(device)] & what) != 0; }
    void set(std::int32_t device, Progress what) {
        progress_[slot(device)] = static_cast<std::uint16_t>(progress_[slot(device)] | what);
    }
    void unset(std::int32_t device, Progress what) {
        progress_[slot(device)] = static_cast<std::uint16_t>(progress_[slot(device)] & ~what);
    }
    void add_program() {
        programs_.emplace_back();
        frames_.emplace_back();
    }
    Program& program(Entity entity) { return programs_[static_cast<std::size_t>(entity)]; }
    const Program& program(Entity entity) const { return programs_[static_cast<std::size_t>(entity)]; }
    const Callback& callback_of(std::int32_t device) const {
        return graph_->callbacks[index_of(phase_)][slot(device)];
    }
    Interval& interval(std::int32_t device) {
        return intervals_[index_of(phase_) * slot(device_count()) + slot(device)];
    }

    Scenario scenario_;
    Policy policy_;
    World world_;
    const Graph* graph_{nullptr};
    sched::Events events_;
    sched::FairScheduler<Play> scheduler_;
    std::int64_t now_ns_{0};

    // Of the replicate.
    std::vector<Program> programs_;
    std::vector<std::vector<Frame>> frames_;  // of each program
    std::vector<Entity> spare_workers_;       // with a worker per item
    std::vector<std::uint8_t> async_;
    WorkQueue queue_;
    Result result_;

    // Of the cycle.
    Cycle cycle_;
    std::int64_t cycle_number_{0};
    std::int64_t cycle_began_ns_{0};
    std::vector<std::uint16_t> progress_;
    std::vector<Stage> stages_;
    Outcome error_{Outcome::done};
    bool wakeup_pending_{false};
    bool keeps_{false};  // this cycle's intervals and timeline
    engine::TimelineSink* sink_{nullptr};
    std::vector<Interval> intervals_;
    std::int64_t tick_origin_ns_{0};
    std::vector<TickSleeper> tick_sleepers_;
    std::vector<RangeSleeper> range_sleepers_;
    std::vector<std::int64_t> busy_before_ns_;
    sched::FairCounts counts_before_;
    std::vector<std::int64_t> main_on_ns_;  // per cluster, of this side

    // Of the phase.
    Phase phase_{Phase::prepare};
    Phase last_phase_{Phase::prepare};
    PhaseRules rules_;
    const Costs* costs_{nullptr};
    Stage source_{Stage::none};
    Stage target_{Stage::none};
    std::int64_t phase_began_ns_{0};
    std::int32_t walked_{0};
    bool walk_ended_{false};
    bool in_barrier_{false};
    bool finished_{false};
    std::int64_t pending_{0};      // items queued and not finished
    std::int64_t queue_calls_{0};  // of the main thread
    FifoLock mutex_;
    std::vector<SharedLock> locks_;
    std::vector<Entity> first_waiter_;  // per device
    std::vector<Entity> last_waiter_;
    PhaseBounds bounds_;
    std::vector<std::int64_t> priorities_;  // of the bound
};

}  // namespace torpor::dpm
