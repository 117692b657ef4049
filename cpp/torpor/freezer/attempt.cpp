// SPDX-License-Identifier: MIT
#include <algorithm>
#include <string>
#include <utility>

#include "torpor/base/error.hpp"
#include "torpor/freezer/play.hpp"

namespace torpor::freezer {

namespace {

const Scenario& checked(const Scenario& scenario, const Policy& policy) {
    validate(scenario);
    validate(policy);
    return scenario;
}

Version version_of(const Policy& policy) {
    if (const auto* freezer = std::get_if<Freezer>(&policy)) return freezer->version;
    if (const auto* cgroup = std::get_if<Cgroup1>(&policy)) return cgroup->version;
    return Version::v6_7;
}

Sleep sleep_of(const Policy& policy) {
    const auto* freezer = std::get_if<Freezer>(&policy);
    return freezer == nullptr ? Sleep{Notify{}} : freezer->sleep;
}

std::string_view name_of(State state) {
    switch (state) {
        case State::blocked:
            return "blocked";
        case State::uninterruptible:
            return "uninterruptible";
        case State::runnable:
            return "runnable";
        case State::frozen:
            return "frozen";
        case State::skipped:
            return "skipped";
        case State::marked:
            return "marked";
        case State::stopped:
            return "stopped";
        case State::zombie:
            return "zombie";
    }
    throw InternalError{"a task has no state"};
}

}  // namespace

Model::Play::Play(const Scenario& scenario, const Policy& policy)
    : scenario_{checked(scenario, policy)},
      policy_{policy},
      version_{version_of(policy)},
      prices_{scenario_},
      population_{scenario_, version_},
      scheduler_{scenario_.cpus, scenario_.rules, *this, events_},
      may_fork_{std::any_of(scenario_.tasks.begin(), scenario_.tasks.end(),
                            [](const TaskGroup& group) { return group.forks_at_ns.has_value(); })},
      sleep_{sleep_of(policy)},
      serial_ns_{serial_work_ns()} {}

std::int64_t Model::Play::serial_work_ns() const {
    std::int64_t sum_ns = 0;
    for (std::size_t g = 0; g < scenario_.tasks.size(); ++g) {
        const TaskGroup& group = scenario_.tasks[g];
        std::int64_t longest_ns = 0;
        for (int cpu = 0; cpu < scheduler_.cpu_count(); ++cpu) {
            const sched::Cpu& spec = scheduler_.spec(cpu);
            longest_ns =
                std::max(longest_ns, prices_.burst(cpu, static_cast<std::int32_t>(g)).freeze_run_ns +
                                         spec.wake_latency_ns +
                                         sched::cycles_to_ns(group.reply_after_cycles, spec.rate_hz()));
        }
        sum_ns += group.count * longest_ns;
    }
    return sum_ns;
}

Result Model::Play::run(StreamKey key, const std::stop_token& stop, engine::TimelineSink* sink) {
    stop_check_.emplace(stop);
    key_ = key;
    draw_world(key);
    replied_.assign(population_.dependencies().size(), false);
    std::int64_t at_ns = 0;
    double energy_mj = 0.0;
    for (attempt_ = 1;; ++attempt_) {
        sink_ = nullptr;
        const std::int64_t bound_ns = scenario_.bound ? bound(at_ns) : -1;
        sink_ = sink;
        base_ns_ = at_ns;
        result_ = {};
        result_.refusing_by_group.assign(scenario_.tasks.size(), 0);
        result_.attempts = attempt_;
        freeze(at_ns, sleep_of(policy_));
        collect_freeze();
        const bool ends_well = result_.outcome == Outcome::frozen;
        result_.bound_ns = ends_well ? bound_ns : -1;
        sleep_through();
        release_held_work(at_ns + result_.elapsed_ns);
        base_ns_ = at_ns + result_.elapsed_ns;
        thaw();
        collect_thaw();
        at_ns += result_.elapsed_ns + result_.thaw_all_ns;
        energy_mj += result_.freeze.energy_mj + result_.thaw.energy_mj;
        if (ends_well || attempt_ == scenario_.attempts) break;
        at_ns += scenario_.retry_gap_ns;
        energy_mj += (Power::mw(scenario_.base_power_mw) * from_ns(scenario_.retry_gap_ns)).in_mj();
    }
    result_.cycle_ns = at_ns;
    result_.cycle_energy_mj = energy_mj;
    return result_;
}

void Model::Play::draw_world(StreamKey key) {
    population_.draw(key, *stop_check_);
    const std::int64_t period_ns = TickGrid::at(scenario_.kernel.hz, 0).period_ns;
    if (scenario_.kernel.since_tick_ns) {
        world_.since_tick_ns = *scenario_.kernel.since_tick_ns;
    } else {
        RandomStream stream{key, "freezer/tick"};
        world_.since_tick_ns = UniformInt{0, period_ns - 1}(stream);
    }
    world_.wakeup_at_ns = kNever;
    if (scenario_.wakeup_at_ns) {
        RandomStream stream{key, "freezer/wakeup"};
        world_.wakeup_at_ns = to_ns(sample_duration(*scenario_.wakeup_at_ns, stream));
    }
    world_.work.clear();
    RandomStream stream{key, "freezer/work"};
    for (const WorkItem& item : scenario_.work) {
        const std::int64_t runs_ns = to_ns(sample_duration(item.runs_ns, stream));
        world_.work.push_back({item.queued_at_ns, runs_ns});
    }
}

/// Back to the state in which the tasks are at this time of the world: each attempt finds them as the first
/// did, except for the waits that are over and the wake-ups that have been.
void Model::Play::begin_attempt(std::int64_t at_ns) {
    begun_ns_ = at_ns;
    now_ns_ = 0;
    events_.clear();
    tasks_ = population_.tasks();
    walker_ = static_cast<sched::Entity>(tasks_.size() * (may_fork_ ? 2 : 1));
    scheduler_.reset(static_cast<std::size_t>(walker_) + 1, walker_);
    dependencies_.clear();
    for (const Dependency& dependency : population_.dependencies()) {
        const bool replied = replied_[dependencies_.size()];
        dependencies_.push_back({dependency, 0, {}});
        if (!replied) continue;
        dependencies_.back().what.left_cycles = -1;
        Task& client = at(dependency.client);
        if (client.state == State::uninterruptible) client.state = State::blocked;
        if ((client.flags & kSpins) != 0) client.flags = kComputes;
    }
    frozen_at_ns_.assign(tasks_.size(), -1);
    reblocked_at_ns_.assign(tasks_.size(), -1);
    const TickGrid tick = TickGrid::at(scenario_.kernel.hz, 0);
    tick_ = TickGrid::at(scenario_.kernel.hz, (world_.since_tick_ns + at_ns) % tick.period_ns);
    range_stream_.emplace(key_, std::string{"freezer/range_sleep/"}.append(std::to_string(attempt_)));
    done_ = false;
    walking_ = false;
    asleep_ = false;
    pending_ = 0;
    bound_ns_ = 0;
    tries_ = 0;
    wakeups_ = 0;
    kernel_loop_begun_ = false;
    wakeup_at_ns_ = bounding_ || world_.wakeup_at_ns < at_ns ? kNever : world_.wakeup_at_ns - at_ns;
    std::int64_t last_ns = 0;
    for (const Work& item : world_.work) last_ns = std::max(last_ns, item.queued_ns + item.runs_ns - at_ns);
    for (const TimedEvent& event : population_.events()) {
        const std::int64_t left_ns = event.at_ns - at_ns;
        last_ns = std::max(last_ns, left_ns);
        if (left_ns >= 0) {
            events_.schedule(time_from_ns(left_ns), {event.kind, static_cast<std::int32_t>(event.task)});
        } else if (event.kind == kWaitEnds) {
            at(event.task).state = State::blocked;
        }
    }
    // Each task runs twice at most, and replies take no longer than the server's own work.
    bound_deadline_ns_ = last_ns + 4 * serial_ns_ + detail::kNsPerSecond;
}

/// Tasks in user mode hold CPUs from the highest index down, never CPU 0; further ones wait.
void Model::Play::place_running_tasks() {
    int cpu = scheduler_.cpu_count() - 1;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
        if ((tasks_[i].flags & (kComputes | kSpins)) == 0) continue;
        const auto entity = static_cast<sched::Entity>(i);
        if (cpu > 0) {
            scheduler_.start(cpu--, entity, false);
        } else {
            scheduler_.start_waiting(static_cast<int>(i) % scheduler_.cpu_count(), entity);
        }
    }
}

void Model::Play::freeze(std::int64_t at_ns, const Sleep& sleep) {
    stop_check_->check();
    begin_attempt(at_ns);
    stop_check_->check();
    sleep_ = sleep;
    loop_ = &result_.user;
    walk_ = std::holds_alternative<Freezer>(policy_)   ? Walk::freeze_user
            : std::holds_alternative<Cgroup1>(policy_) ? Walk::cgroup1_write
                                                       : Walk::cgroup2_write;
    next_ = Next::loop;
    place_running_tasks();
    scheduler_.start(0, walker_, true);
    run_until_done();
}

/// The same freeze with notification and without timeout or wakeup event, its verifying passes taken off.
std::int64_t Model::Play::bound(std::int64_t at_ns) {
    result_ = {};
    bounding_ = true;
    freeze(at_ns, Notify{});
    bounding_ = false;
    return result_.outcome == Outcome::frozen ? bound_ns_ : -1;
}

Activity Model::Play::activity(std::int64_t time_ns) const {
    Activity activity;
    const sched::SwitchCounts& counts = scheduler_.counts();
    activity.task_switch_ins = counts.task_switch_ins;
    activity.switches = counts.switches;
    activity.voluntary = counts.voluntary;
    activity.involuntary = counts.involuntary;
    activity.wakeups = wakeups_;
    Energy energy = Power::mw(scenario_.base_power_mw) * from_ns(time_ns);
    for (int cpu = 0; cpu < scheduler_.cpu_count(); ++cpu) {
        const std::int64_t busy_ns = scheduler_.busy_ns(cpu);
        activity.busy_ns += busy_ns;
        activity.cpu_busy_ns.push_back(busy_ns);
        energy += Power::mw(scenario_.busy_power_mw[static_cast<std::size_t>(cpu)]) * from_ns(busy_ns);
    }
    activity.energy_mj = energy.in_mj();
    return activity;
}

void Model::Play::collect_freeze() {
    const auto* cgroup2 = std::get_if<Cgroup2>(&policy_);
    result_.in_kernel_loop = in_kernel_loop();
    result_.elapsed_ns = result_.user.elapsed_ns + result_.kernel.elapsed_ns;
    if (cgroup2 != nullptr && result_.outcome == Outcome::frozen) {
        // The file's next notification comes 10 ms after its last at the earliest.
        const std::int64_t spaced_ns = (10'000 - cgroup2->since_notification_us) * 1000;
        result_.elapsed_ns = std::max(result_.elapsed_ns, spaced_ns);
    }
    result_.freeze = activity(result_.elapsed_ns);
    // What still runs goes on outside the freeze.
    for (int cpu = 0; cpu < scheduler_.cpu_count(); ++cpu) {
        if (scheduler_.running_on(cpu) != sched::kNobody) went_idle(cpu);
    }
    if (result_.outcome != Outcome::frozen) collect_refusing();
    if (keep_tasks_) collect_tasks();
    for (const Work& item : world_.work) result_.work_held += is_held(item) ? 1 : 0;
}

/// Queued after the kernel loop had closed the freezable workqueues, and before the thaw opens them.
bool Model::Play::is_held(const Work& item) const {
    const std::int64_t queued_ns = item.queued_ns - begun_ns_;
    return kernel_loop_begun_ && queued_ns > kernel_loop_at_ns_ &&
           queued_ns <= result_.elapsed_ns + scenario_.asleep_ns;
}

void Model::Play::release_held_work(std::int64_t at_ns) {
    for (Work& item : world_.work) {
        if (is_held(item)) item.queued_ns = at_ns;
    }
}

/// The tasks that the kernel's report would name: asked in this loop, and not frozen when it ends.
void Model::Play::collect_refusing() {
    for (const Task& task : tasks_) {
        const bool member = task.kind == Kind::user || (task.kind == Kind::kfreezable && in_kernel_loop());
        const bool awake = task.state == State::blocked || task.state == State::uninterruptible ||
                           task.state == State::runnable;
        const bool only_requested = task.state == State::blocked && task.handling == Handling::request;
        if (member && awake && !only_requested)
            ++result_.refusing_by_group[static_cast<std::size_t>(task.group)];
    }
}

void Model::Play::collect_tasks() {
    outcomes_.clear();
    for (std::uint32_t i = tasks_.empty() ? kNoTask : 0; i != kNoTask; i = at(i).next) {
        const Task& task = at(i);
        TaskOutcome outcome;
        outcome.group = task.group;
        outcome.number = task.number;
        outcome.forked = (task.flags & kForked) != 0;
        outcome.state = name_of(task.state);
        outcome.frozen_ns = frozen_at_ns_[i];
        outcome.voluntary = scheduler_.voluntary(entity_of(i));
        outcome.involuntary = scheduler_.involuntary(entity_of(i));
        outcome.interrupted = (task.flags & kInterrupted) != 0;
        if (outcome.interrupted) outcome.call = task.interrupted;
        outcomes_.push_back(outcome);
    }
}

/// What wakes a task between the freeze and the thaw. One that was skipped goes to the refrigerator then.
void Model::Play::sleep_through() {
    const std::int64_t asleep_ns = result_.outcome == Outcome::frozen ? scenario_.asleep_ns : 0;
    while (!events_.empty() && to_ns(events_.next_time()) <= result_.elapsed_ns + asleep_ns) {
        const auto event = events_.pop();
        if (event.payload.kind != kWakeUp) continue;
        Task& task = at(static_cast<std::uint32_t>(event.payload.index));
        if (task.state == State::skipped || (task.state == State::blocked && finds_freezing(task))) {
            task.state = State::frozen;
        }
        if (task.state == State::frozen || task.state == State::marked) task.flags |= kWoken;
    }
}

/// A run of its own: the walker on CPU 0, all others idle. A failed kernel loop thaws the kernel threads
/// first, and its caller then user space.
void Model::Play::thaw() {
    events_.clear();
    now_ns_ = 0;
    scheduler_.reset(static_cast<std::size_t>(walker_) + 1, walker_);
    const bool froze = result_.outcome == Outcome::frozen;
    for (Task& task : tasks_) {
        // On its way to the refrigerator when the last pass had gone by.
        const bool enters = froze && task.state == State::runnable && (task.flags & kFreezes) != 0;
        if (enters) task.state = State::frozen;
        if (task.state == State::runnable || task.state == State::skipped) task.state = State::blocked;
        task.flags &= kWoken | kInterrupted | kForked | ~(kOneWakeup - 1);
    }
    wakeups_ = 0;
    last_reblock_ns_ = 0;
    loop_ = nullptr;
    walk_ = !std::holds_alternative<Freezer>(policy_) ? Walk::cgroup_thaw
            : !froze && result_.in_kernel_loop        ? Walk::thaw_kernel
                                                      : Walk::thaw;
    next_ = Next::loop;
    scheduler_.start(0, walker_, true);
    run_until_idle();
}

void Model::Play::collect_thaw() {
    result_.thaw_all_ns = std::max(last_reblock_ns_, result_.thaw_walker_ns);
    result_.thaw = activity(result_.thaw_all_ns);
    std::uint32_t task = 0;
    for (TaskOutcome& outcome : outcomes_) {
        outcome.reblocked_ns = reblocked_at_ns_[task];
        outcome.state_after_thaw = name_of(at(task).state);
        outcome.wakeups = at(task).flags / kOneWakeup;
        task = at(task).next;
    }
}

}  // namespace torpor::freezer
