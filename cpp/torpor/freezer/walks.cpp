// SPDX-License-Identifier: MIT
#include "torpor/freezer/play.hpp"

namespace torpor::freezer {

/// Visits up to the next event. Each step is the end of a visit with its effects, then the decision for the
/// next.
void Model::Play::walk() {
    while (walking_ && step_at_ns_ < scheduler_.next_ns()) {
        now_ns_ = step_at_ns_;
        stop_check_->step();
        if (action_ > Action::unread) take_effect(action_, cursor_);
        cursor_ = upcoming_;
        if (cursor_ == kNoTask) {
            end_pass();
            continue;
        }
        const Task& task = at(cursor_);
        upcoming_ = task.next;
        action_ = action_for(task);
        if (action_ == Action::wake || action_ == Action::resig || action_ == Action::unread) ++todo_;
        step_at_ns_ = now_ns_ + visit_ns_[static_cast<std::size_t>(action_)];
    }
}

Model::Play::Action Model::Play::action_for(const Task& task) const {
    switch (walk_) {
        case Walk::freeze_user:
        case Walk::freeze_kernel:
            return freeze_actions_[task_key(task)];
        case Walk::thaw_kernel:
        case Walk::thaw:
            return thaw_action(task);
        case Walk::cgroup1_write:
        case Walk::cgroup1_read:
        case Walk::cgroup2_write:
        case Walk::cgroup_thaw:
            break;
    }
    return cgroup_action(task);
}

void Model::Play::list_freeze_actions() {
    for (std::size_t key = 0; key < kTaskKeys; ++key) {
        Task task;
        task.state = static_cast<State>(key & 7);
        task.kind = static_cast<Kind>(key >> 3 & 3);
        task.handling = static_cast<Handling>(key >> 5);
        freeze_actions_[key] = freeze_action(task);
    }
}

Model::Play::Action Model::Play::freeze_action(const Task& task) const {
    switch (task.state) {
        case State::frozen:
        case State::marked:
        case State::zombie:
            return Action::none;
        default:
            break;
    }
    if (task.kind == Kind::knofreeze || (task.kind == Kind::kfreezable && walk_ == Walk::freeze_user)) {
        return Action::none;
    }
    switch (task.state) {
        case State::blocked:
        case State::skipped:
            switch (task.handling) {
                case Handling::wake:
                    return Action::wake;
                case Handling::request:
                    return Action::request;
                case Handling::skip:
                    return Action::skip;
                case Handling::mark:
                    return Action::mark;
            }
            return Action::none;
        case State::stopped:
            return remote_mark() ? Action::mark : Action::none;
        default:
            return Action::resig;
    }
}

Model::Play::Action Model::Play::thaw_action(const Task& task) const {
    if (task.kind == Kind::user && walk_ == Walk::thaw_kernel) return Action::none;
    if (task.state == State::frozen) return Action::thaw_wake;
    if (task.state != State::marked) return Action::none;
    if (group_of(task).start == Start::stopped) return Action::restore;
    const bool woken = !restores_marked() || (task.flags & kWoken) != 0;
    return woken ? Action::thaw_resleep : Action::restore;
}

/// Kernel threads belong to no group. A v2 group counts a stopped task as frozen, and one whose wait no
/// signal ends but which its kernel lets freeze there (vfork and its like).
Model::Play::Action Model::Play::cgroup_action(const Task& task) const {
    if (task.kind != Kind::user || task.state == State::zombie) {
        return task.kind == Kind::user ? Action::none : Action::absent;
    }
    const bool sleeps = task.state == State::blocked || task.state == State::skipped;
    switch (walk_) {
        case Walk::cgroup_thaw:
            return thaw_action(task);
        case Walk::cgroup1_read: {
            const bool done = task.state == State::frozen || task.state == State::skipped ||
                              task.state == State::marked || task.state == State::stopped ||
                              (sleeps && task.handling == Handling::request);
            return done ? Action::none : Action::unread;
        }
        case Walk::cgroup2_write:
            if (sleeps && task.interrupted == Interrupted::never) return Action::skip;
            if (sleeps) return Action::wake;
            return task.state == State::uninterruptible || task.state == State::runnable ? Action::resig
                                                                                         : Action::none;
        default:
            return freeze_action(task);
    }
}

void Model::Play::price_visits() {
    const std::int64_t visit_ns = walk_ == Walk::freeze_kernel ? price_->visit_kernel_ns : price_->visit_ns;
    const auto set = [this](Action action, std::int64_t ns) {
        visit_ns_[static_cast<std::size_t>(action)] = ns;
    };
    set(Action::absent, 0);
    for (const Action action : {Action::none, Action::unread, Action::skip}) set(action, visit_ns);
    for (const Action action : {Action::resig, Action::request}) set(action, visit_ns + price_->resig_ns);
    for (const Action action : {Action::mark, Action::restore}) set(action, visit_ns + price_->mark_ns);
    for (const Action action : {Action::thaw_wake, Action::thaw_resleep}) {
        set(action, visit_ns + price_->thaw_wake_ns);
    }
    set(Action::wake, visit_ns + price_->wake_ns);
}

void Model::Play::take_effect(Action action, std::uint32_t number) {
    Task& task = at(number);
    switch (action) {
        case Action::none:
        case Action::absent:
        case Action::unread:
            return;
        case Action::wake:
            return wake_for_freeze(number);
        case Action::resig:
            // One that has gone to sleep meanwhile is woken like any other.
            if (task.state == State::blocked) return wake_for_freeze(number);
            ask(task);
            return cut_if_running(number);
        case Action::request:
            task.flags |= kAsked;
            return;
        case Action::skip:
            if (task.state == State::blocked) {
                task.state = State::skipped;
            } else if (task.state == State::runnable && walk_ == Walk::cgroup2_write) {
                ask(task);  // woken by itself meanwhile: the group is not frozen before it
            } else if (task.state == State::runnable) {
                task.flags |= kAsked;
            }
            return;
        case Action::mark:
            return mark(task);
        case Action::thaw_wake:
            return make_runnable(number, walker_cpu_);
        case Action::thaw_resleep:
            task.flags |= kResleeps;
            // To sigtimedwait the wake-up looks like the end of its wait (6.1 to 6.6).
            if (!restores_marked() && group_of(task).site == Site::sigtimedwait)
                ++result_.thaw_visible_errors;
            return make_runnable(number, walker_cpu_);
        case Action::restore:
            task.state = group_of(task).start == Start::stopped ? State::stopped : State::blocked;
            return;
    }
}

/// The request that the walker waits for.
void Model::Play::ask(Task& task) {
    if (task.state == State::frozen) return;
    if ((task.flags & kCounted) == 0) ++pending_;
    task.flags |= kAsked | kCounted;
}

void Model::Play::wake_for_freeze(std::uint32_t number) {
    Task& task = at(number);
    ask(task);
    // One that has woken by itself meanwhile is only asked.
    if (task.state != State::blocked && task.state != State::skipped) return;
    if (task.kind == Kind::user) {
        task.flags |= kInterrupted;
        const bool visible = task.interrupted == Interrupted::visible_error;
        if (visible) ++result_.visible_errors;
        if (!visible && task.interrupted != Interrupted::never) ++result_.restarts;
    }
    make_runnable(number, walker_cpu_);
}

void Model::Play::mark(Task& task) {
    if (task.state != State::blocked && task.state != State::stopped) {
        ++todo_;
        ask(task);
        return;
    }
    task.state = State::marked;
    const auto number = static_cast<std::uint32_t>(&task - tasks_.data());
    frozen_at_ns_[number] = now_ns_;
    tell(TimelineKind::marked, walker_cpu_, entity_of(number));
}

}  // namespace torpor::freezer
