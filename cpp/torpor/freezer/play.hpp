// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string_view>
#include <vector>

#include "torpor/engine/cancellation.hpp"
#include "torpor/engine/timeline.hpp"
#include "torpor/freezer/model.hpp"
#include "torpor/freezer/population.hpp"
#include "torpor/freezer/prices.hpp"
#include "torpor/sched/scheduler.hpp"

namespace torpor::freezer {

/// One freeze and its thaw, event by event: the walker goes through the task list visit by visit, the tasks
/// that it wakes run on the CPUs of the scheduler.
///
/// A visit is decided at its start and takes effect at its end; the end of one and the decision for the next
/// are one step, which comes after all events of the same time.
///
/// The parts: play.cpp (the run loop and what tasks do), walks.cpp (visits), loops.cpp (what the walker does
/// at the end of a pass), attempt.cpp (worlds, attempts, results).
class Model::Play {
  public:
    Play(const Scenario& scenario, const Policy& policy);

    Result run(StreamKey key, const std::stop_token& stop, engine::TimelineSink* sink);
    void keep_tasks() { keep_tasks_ = true; }
    const std::vector<TaskOutcome>& tasks() const { return outcomes_; }

    // What the scheduler asks for.
    std::int64_t now_ns() const { return now_ns_; }
    void got_cpu(sched::Entity entity, int cpu);
    std::int64_t run_length(sched::Entity entity, int cpu);
    void run_done(sched::Entity entity, int cpu);
    void run_stopped(sched::Entity entity, int cpu);
    bool gives_way(sched::Entity entity) const {
        return entity != walker_ && (tasks_[static_cast<std::size_t>(entity)].flags & kSpins) != 0;
    }
    void went_idle(int cpu) { tell(TimelineKind::run, cpu, kIdleEntity); }

  private:
    /// What the walker walks the list for.
    enum class Walk : std::uint8_t {
        freeze_user,
        freeze_kernel,
        thaw_kernel,
        thaw,
        cgroup1_write,
        cgroup1_read,
        cgroup2_write,
        cgroup_thaw
    };
    /// What the walker does when it next has a CPU.
    enum class Next : std::uint8_t { loop, pass, sleep, report };
    /// What a visit does to a task at its end. `absent`: no member of the group, costs nothing; `unread`:
    /// only read, and found not frozen.
    enum class Action : std::uint8_t {
        none,
        absent,
        unread,
        wake,
        resig,
        request,
        skip,
        mark,
        thaw_wake,
        thaw_resleep,
        restore
    };
    static constexpr std::size_t kActions = 11;

    /// All that the answer to a freeze depends on, in one number.
    static std::size_t task_key(const Task& task) {
        return static_cast<std::size_t>(task.state) | static_cast<std::size_t>(task.kind) << 3 |
               static_cast<std::size_t>(task.handling) << 5;
    }
    static constexpr std::size_t kTaskKeys = 128;

    struct RunningDependency {
        Dependency what;
        std::int64_t since_ns{0};
        engine::EventHandle reply{};
    };
    struct Work {
        std::int64_t queued_ns{0};
        std::int64_t runs_ns{0};
    };
    struct World {
        std::int64_t since_tick_ns{0};
        std::int64_t wakeup_at_ns{kNever};
        std::vector<Work> work;
    };
    static constexpr std::int64_t kNever = std::int64_t{1} << 62;

    // attempt.cpp
    void draw_world(StreamKey key);
    std::int64_t serial_work_ns() const;
    void begin_attempt(std::int64_t at_ns);
    bool is_held(const Work& item) const;
    void release_held_work(std::int64_t at_ns);
    void place_running_tasks();
    void freeze(std::int64_t at_ns, const Sleep& sleep);
    void thaw();
    void sleep_through();
    std::int64_t bound(std::int64_t at_ns);
    void collect_freeze();
    void collect_refusing();
    void collect_tasks();
    void collect_thaw();
    Activity activity(std::int64_t time_ns) const;
    bool remote_mark() const { return version_ >= Version::v6_1; }
    bool restores_marked() const { return version_ >= Version::v6_7; }

    // play.cpp
    void run_until_done();
    void run_until_idle();
    void take_event();
    void handle(const sched::Event& event);
    void make_runnable(std::uint32_t task, int waker);
    void wait_ends(std::uint32_t task);
    bool finds_freezing(const Task& task) const;
    void wake_up(std::uint32_t task);
    void fork(std::uint32_t parent);
    void reply(std::size_t dependency);
    void start_replies(std::uint32_t server, int cpu);
    void stop_replies(std::uint32_t server, int cpu);
    void cut_if_running(std::uint32_t task);
    void freeze_task(std::uint32_t task);
    void thaw_task(std::uint32_t task);
    void wake_walker();

    // walks.cpp
    void walk();
    Action action_for(const Task& task) const;
    void list_freeze_actions();
    Action freeze_action(const Task& task) const;
    Action thaw_action(const Task& task) const;
    Action cgroup_action(const Task& task) const;
    void price_visits();
    void ask(Task& task);
    void wake_for_freeze(std::uint32_t task);
    void mark(Task& task);
    void take_effect(Action action, std::uint32_t task);

    // loops.cpp
    void begin_loop(Walk walk);
    void begin_pass();
    void end_pass();
    void end_freeze_pass();
    void end_cgroup1_pass();
    void end_loop();
    void finish(Outcome outcome);
    void sleep_or_yield();
    bool go_to_sleep();
    bool start_sleep(std::int64_t until_ns, std::int64_t told_ns);
    bool wait_for_notification();
    bool report();
    std::int64_t deadline_ns() const;
    bool work_is_active() const;
    Preempt preempt() const;
    bool notified() const {
        return bounding_ ||
               (std::holds_alternative<Freezer>(policy_) && std::holds_alternative<Notify>(sleep_));
    }
    bool in_kernel_loop() const { return walk_ == Walk::freeze_kernel; }
    bool is_thaw() const {
        return walk_ == Walk::thaw || walk_ == Walk::thaw_kernel || walk_ == Walk::cgroup_thaw;
    }

    Task& at(std::uint32_t task) { return tasks_[task]; }
    const TaskGroup& group_of(const Task& task) const {
        return scenario_.tasks[static_cast<std::size_t>(task.group)];
    }
    sched::Entity entity_of(std::uint32_t task) const { return static_cast<sched::Entity>(task); }
    void tell(TimelineKind kind, int lane, std::int64_t value) {
        if (sink_ != nullptr) {
            sink_->record({time_from_ns(base_ns_ + now_ns_), value, lane, static_cast<std::uint16_t>(kind)});
        }
    }

    Scenario scenario_;
    Policy policy_;
    Version version_;
    PriceTable prices_;
    Population population_;
    sched::Events events_;
    sched::Scheduler<Play> scheduler_;

    // The world of the replicate, in absolute time.
    StreamKey key_{};
    World world_;
    std::int64_t begun_ns_{0};  // of the attempt
    std::int64_t attempt_{1};
    std::vector<bool> replied_;  // by dependency
    bool may_fork_{false};

    // The attempt; times from its start, in the thaw from the start of that.
    TickGrid tick_;
    std::vector<Task> tasks_;
    std::vector<RunningDependency> dependencies_;
    std::vector<std::int64_t> frozen_at_ns_;
    std::vector<std::int64_t> reblocked_at_ns_;
    std::int64_t now_ns_{0};
    std::int64_t base_ns_{0};
    sched::Entity walker_{0};
    int walker_cpu_{0};
    const Prices* price_{nullptr};
    std::array<std::int64_t, kActions> visit_ns_{};  // by action, on the walker's CPU in this walk
    Next next_{Next::pass};
    bool walking_{false};
    bool asleep_{false};
    bool done_{false};
    std::int64_t step_at_ns_{0};
    std::uint32_t cursor_{kNoTask};
    std::uint32_t upcoming_{kNoTask};  // the next to visit
    Action action_{Action::none};
    std::array<Action, kTaskKeys> freeze_actions_{};  // by task_key, in this walk
    Walk walk_{Walk::freeze_user};
    std::int64_t todo_{0};
    std::int64_t pending_{0};
    bool kernel_loop_begun_{false};
    std::int64_t kernel_loop_at_ns_{0};
    Sleep sleep_;
    bool bounding_{false};       // this freeze only works out the bound
    std::int64_t serial_ns_{0};  // all bursts of a freeze, one after the other on the slowest CPU
    std::int64_t bound_deadline_ns_{0};
    std::optional<BackoffState> backoff_;
    std::optional<RandomStream> range_stream_;
    std::int64_t sleep_began_ns_{0};
    engine::EventHandle walker_timer_{};
    std::int64_t end_jiffy_{0};
    std::int64_t loop_began_ns_{0};
    std::int64_t pass_began_ns_{0};
    std::int64_t bound_ns_{0};
    std::int64_t tries_{0};
    std::int64_t last_reblock_ns_{0};
    std::int64_t wakeups_{0};
    std::int64_t wakeup_at_ns_{kNever};
    LoopResult* loop_{nullptr};
    Result result_;
    bool keep_tasks_{false};
    std::vector<TaskOutcome> outcomes_;  // in list order

    std::optional<engine::StopCheck> stop_check_;
    engine::TimelineSink* sink_{nullptr};
};

}  // namespace torpor::freezer
