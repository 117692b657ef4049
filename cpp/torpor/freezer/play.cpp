// SPDX-License-Identifier: MIT
#include "torpor/freezer/play.hpp"

#include <algorithm>

#include "torpor/base/error.hpp"

namespace torpor::freezer {

void Model::Play::run_until_done() {
    while (!done_) {
        if (walking_) walk();
        if (!done_) take_event();
    }
}

void Model::Play::run_until_idle() {
    while (walking_ || scheduler_.next_ns() != sched::kUnbounded) {
        if (walking_) walk();
        if (scheduler_.next_ns() != sched::kUnbounded) take_event();
    }
}

void Model::Play::take_event() {
    if (scheduler_.next_is_end()) {
        now_ns_ = scheduler_.next_end_ns();
        scheduler_.handle_end();
    } else {
        if (events_.empty()) throw InternalError{"nobody is left to wake the walker"};
        const auto event = events_.pop();
        now_ns_ = to_ns(event.at);
        handle(event.payload);
    }
    stop_check_->step();
}

void Model::Play::handle(const sched::Event& event) {
    const auto task = static_cast<std::uint32_t>(event.index);
    switch (event.kind) {
        case kWaitEnds:
            return wait_ends(task);
        case kWakeUp:
            return wake_up(task);
        case kForks:
            return fork(task);
        case kReply:
            return reply(task);
        case kWalkerTimer:
            return wake_walker();
        case kDeadline:
            return finish(Outcome::failed);
        default:
            throw InternalError{"an event of no kind"};
    }
}

void Model::Play::got_cpu(sched::Entity entity, int cpu) {
    tell(TimelineKind::run, cpu, entity == walker_ ? kWalkerEntity : entity);
}

std::int64_t Model::Play::run_length(sched::Entity entity, int cpu) {
    if (entity == walker_) {
        walker_cpu_ = cpu;
        price_ = &prices_.walker(cpu);
        switch (next_) {
            case Next::loop:
                next_ = Next::pass;
                begin_loop(walk_);
                return sched::kUnbounded;
            case Next::pass:
                begin_pass();
                return sched::kUnbounded;
            case Next::sleep:
                return go_to_sleep() ? sched::kLeaves : sched::kUnbounded;
            case Next::report:
                return report() ? sched::kLeaves : sched::kUnbounded;
        }
    }
    const auto number = static_cast<std::uint32_t>(entity);
    Task& task = at(number);
    const BurstPrices& burst = prices_.burst(cpu, task.group);
    if (is_thaw()) return (task.flags & kResleeps) != 0 ? burst.resleep_ns : burst.thaw_run_ns;
    if ((task.flags & kSpins) != 0) return sched::kUnbounded;
    if ((task.flags & kComputes) != 0) {
        if ((task.flags & kAsked) == 0) {
            start_replies(number, cpu);
            return sched::kUnbounded;
        }
        task.flags &= ~kComputes;
    }
    return burst.freeze_run_ns;
}

void Model::Play::run_done(sched::Entity entity, int) {
    const auto task = static_cast<std::uint32_t>(entity);
    is_thaw() ? thaw_task(task) : freeze_task(task);
}

void Model::Play::run_stopped(sched::Entity entity, int cpu) {
    if (entity != walker_) stop_replies(static_cast<std::uint32_t>(entity), cpu);
}

/// The end of a burst: into the refrigerator, or back to sleep when nobody has asked.
void Model::Play::freeze_task(std::uint32_t number) {
    Task& task = at(number);
    const bool freezes =
        task.kind == Kind::user ? (task.flags & (kAsked | kFreezes)) != 0 : kernel_loop_begun_;
    if (!freezes) {
        task.state = State::blocked;
        return;
    }
    task.state = State::frozen;
    frozen_at_ns_[number] = now_ns_;
    tell(TimelineKind::frozen, scheduler_.cpu_of(entity_of(number)), entity_of(number));
    if ((task.flags & kCounted) != 0 && --pending_ == 0 && asleep_) {
        if (walk_ == Walk::cgroup2_write) {
            events_.cancel(walker_timer_);
            finish(Outcome::frozen);
        } else if (notified()) {
            events_.cancel(walker_timer_);
            walker_timer_ = events_.schedule(time_from_ns(now_ns_), {kWalkerTimer, 0});
        }
    }
}

void Model::Play::thaw_task(std::uint32_t number) {
    Task& task = at(number);
    task.state = State::blocked;
    if ((task.flags & kWoken) != 0) ++result_.running_on;
    reblocked_at_ns_[number] = now_ns_;
    last_reblock_ns_ = now_ns_;
    tell(TimelineKind::reblocked, scheduler_.cpu_of(entity_of(number)), entity_of(number));
}

void Model::Play::make_runnable(std::uint32_t number, int waker) {
    at(number).state = State::runnable;
    at(number).flags += kOneWakeup;
    ++wakeups_;
    scheduler_.make_ready(entity_of(number), waker);
}

void Model::Play::wait_ends(std::uint32_t number) {
    if (at(number).state == State::uninterruptible) make_runnable(number, sched::kNoCpu);
}

/// Whether a task that somebody else wakes out of its site finds the freezing condition there by itself.
bool Model::Play::finds_freezing(const Task& task) const {
    const bool in_helper =
        task.state == State::skipped || task.handling == Handling::skip || task.handling == Handling::request;
    return in_helper && (task.kind == Kind::user || kernel_loop_begun_);
}

/// Somebody else wakes a task. One that sleeps where its kernel would skip it finds the freezing condition by
/// itself; a marked or frozen one does not run before the thaw.
void Model::Play::wake_up(std::uint32_t number) {
    Task& task = at(number);
    switch (task.state) {
        case State::blocked:
        case State::skipped:
            if (finds_freezing(task)) task.flags |= kFreezes | kWoken;
            return make_runnable(number, sched::kNoCpu);
        case State::marked:
        case State::frozen:
            task.flags |= kWoken;
            return;
        case State::uninterruptible:
        case State::runnable:
        case State::stopped:
        case State::zombie:
            return;
    }
}

/// The child stands behind its parent in the list, and freezes when it first returns to user space.
void Model::Play::fork(std::uint32_t parent) {
    const int cpu = scheduler_.cpu_of(entity_of(parent));
    if ((at(parent).flags & kComputes) == 0 || cpu == sched::kNoCpu) return;
    const auto child = static_cast<std::uint32_t>(tasks_.size());
    Task task = at(parent);
    task.flags = kForked | kFreezes;
    tasks_.push_back(task);
    at(parent).next = child;
    if (cursor_ == parent && upcoming_ == task.next) upcoming_ = child;
    frozen_at_ns_.push_back(-1);
    reblocked_at_ns_.push_back(-1);
    make_runnable(child, cpu);
}

void Model::Play::start_replies(std::uint32_t server, int cpu) {
    for (std::size_t i = 0; i < dependencies_.size(); ++i) {
        RunningDependency& dependency = dependencies_[i];
        if (dependency.what.server != server || dependency.what.left_cycles < 0) continue;
        const std::int64_t left_ns =
            sched::cycles_to_ns(dependency.what.left_cycles, scheduler_.spec(cpu).rate_hz());
        dependency.since_ns = now_ns_;
        dependency.reply =
            events_.schedule(time_from_ns(now_ns_ + left_ns), {kReply, static_cast<std::int32_t>(i)});
    }
}

void Model::Play::stop_replies(std::uint32_t server, int cpu) {
    for (RunningDependency& dependency : dependencies_) {
        if (dependency.what.server != server || !events_.cancel(dependency.reply)) continue;
        const Cycles done =
            Frequency::hz(scheduler_.spec(cpu).rate_hz()) * from_ns(now_ns_ - dependency.since_ns);
        dependency.what.left_cycles = std::max<std::int64_t>(dependency.what.left_cycles - done.count(), 0);
    }
}

void Model::Play::reply(std::size_t index) {
    dependencies_[index].what.left_cycles = -1;
    if (!bounding_) replied_[index] = true;
    const std::uint32_t client = dependencies_[index].what.client;
    wait_ends(client);
    Task& task = at(client);
    if ((task.flags & kSpins) == 0) return;
    task.flags = (task.flags & ~kSpins) | kComputes;
    const int cpu = scheduler_.cpu_of(entity_of(client));
    if ((task.flags & kAsked) != 0) {
        cut_if_running(client);
    } else if (cpu != sched::kNoCpu) {
        start_replies(client, cpu);
    }
}

/// The interrupt that asks a running task takes it out of user mode at once: it goes on with its freeze
/// burst.
void Model::Play::cut_if_running(std::uint32_t number) {
    Task& task = at(number);
    const int cpu = scheduler_.cpu_of(entity_of(number));
    if ((task.flags & kComputes) == 0 || cpu == sched::kNoCpu) return;
    stop_replies(number, cpu);
    task.flags &= ~kComputes;
    scheduler_.cut(cpu, prices_.burst(cpu, task.group).freeze_run_ns);
}

void Model::Play::wake_walker() {
    events_.cancel(walker_timer_);
    asleep_ = false;
    if (loop_ != nullptr) loop_->slept_ns += now_ns_ - sleep_began_ns_;
    tell(TimelineKind::sleep_end, walker_cpu_, 0);
    next_ = Next::pass;
    scheduler_.make_ready(walker_, sched::kNoCpu, scenario_.kernel.walker_wake == WalkerWake::head);
}

}  // namespace torpor::freezer
