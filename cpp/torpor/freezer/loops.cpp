// SPDX-License-Identifier: MIT
#include <algorithm>
#include <variant>

#include "torpor/base/overloaded.hpp"
#include "torpor/freezer/play.hpp"

namespace torpor::freezer {

void Model::Play::begin_loop(Walk walk) {
    walk_ = walk;
    loop_began_ns_ = now_ns_;
    end_jiffy_ = tick_.jiffy(now_ns_) + tick_.jiffies_of_ms(scenario_.kernel.timeout_ms);
    if (const auto* backoff = std::get_if<Backoff>(&sleep_)) backoff_.emplace(*backoff);
    if (walk == Walk::freeze_kernel) {
        kernel_loop_begun_ = true;
        kernel_loop_at_ns_ = now_ns_;
    }
    const int told = is_thaw() ? 2 : in_kernel_loop() ? 1 : 0;
    tell(TimelineKind::loop_begin, walker_cpu_, told);
    if (walk <= Walk::freeze_kernel) list_freeze_actions();
    begin_pass();
    if (walk == Walk::freeze_user) step_at_ns_ += price_->user_loop_ns;
    if (walk == Walk::freeze_kernel) step_at_ns_ += price_->kernel_loop_ns;
    if (walk == Walk::thaw || walk == Walk::cgroup_thaw) step_at_ns_ += price_->thaw_ns;
}

void Model::Play::begin_pass() {
    walking_ = true;
    step_at_ns_ = now_ns_;
    pass_began_ns_ = now_ns_;
    todo_ = 0;
    price_visits();
    action_ = Action::none;
    cursor_ = kNoTask;
    upcoming_ = tasks_.empty() ? kNoTask : 0;
    if (loop_ != nullptr) {
        ++loop_->passes;
        tell(TimelineKind::pass_begin, walker_cpu_, loop_->passes);
    }
}

void Model::Play::end_pass() {
    stop_check_->check();
    switch (walk_) {
        case Walk::freeze_user:
        case Walk::freeze_kernel:
            return end_freeze_pass();
        case Walk::cgroup1_write:
        case Walk::cgroup1_read:
            return end_cgroup1_pass();
        case Walk::cgroup2_write:
            tell(TimelineKind::pass_end, walker_cpu_, todo_);
            if (pending_ == 0) return finish(Outcome::frozen);
            walking_ = false;
            asleep_ = true;
            walker_timer_ = events_.schedule(
                time_from_ns(std::max(loop_began_ns_ + scenario_.kernel.timeout_ms * 1'000'000, now_ns_)),
                {kDeadline, 0});
            return scheduler_.leave(walker_cpu_);
        case Walk::thaw_kernel:
        case Walk::thaw:
        case Walk::cgroup_thaw:
            walking_ = false;
            if (!scheduler_.has_waiting(walker_cpu_)) {
                if (report()) scheduler_.leave(walker_cpu_);
                return;
            }
            next_ = Next::report;
            return scheduler_.yield_to_tail(walker_cpu_);
    }
}

/// The three tests of a pass are made here and nowhere else, in this order.
void Model::Play::end_freeze_pass() {
    result_.workqueue_busy = in_kernel_loop() && work_is_active();
    tell(TimelineKind::pass_end, walker_cpu_, todo_ + (result_.workqueue_busy ? 1 : 0));
    result_.refusing = todo_;
    if (todo_ == 0 && !result_.workqueue_busy) return end_loop();
    if (now_ns_ >= deadline_ns()) return finish(Outcome::failed);
    if (wakeup_at_ns_ <= now_ns_) return finish(Outcome::aborted);
    sleep_or_yield();
}

/// A write is followed by a read at once; a read that finds a task not frozen by a rest and the next try.
void Model::Play::end_cgroup1_pass() {
    tell(TimelineKind::pass_end, walker_cpu_, todo_);
    if (walk_ == Walk::cgroup1_write) {
        // Only the first write does more than verify.
        bound_ns_ = (tries_ == 0 ? now_ns_ : pass_began_ns_) - loop_began_ns_;
        walk_ = Walk::cgroup1_read;
        return begin_pass();
    }
    result_.refusing = todo_;
    if (todo_ == 0) return finish(Outcome::frozen);
    const auto& cgroup = std::get<Cgroup1>(policy_);
    ++tries_;
    if (bounding_ ? now_ns_ >= deadline_ns() : tries_ == cgroup.tries) return finish(Outcome::failed);
    walk_ = Walk::cgroup1_write;
    if (cgroup.poll_us > 0 || bounding_) return sleep_or_yield();
    // The writer is in user space between two tries, where it gives way to what waits.
    if (!scheduler_.has_waiting(walker_cpu_)) return begin_pass();
    walking_ = false;
    next_ = Next::pass;
    scheduler_.yield_to_tail(walker_cpu_);
}

void Model::Play::end_loop() {
    loop_->elapsed_ns = now_ns_ - loop_began_ns_;
    bound_ns_ += loop_->passes == 1 ? loop_->elapsed_ns : pass_began_ns_ - loop_began_ns_;
    tell(TimelineKind::loop_end, walker_cpu_, in_kernel_loop() ? 1 : 0);
    if (in_kernel_loop() || scenario_.loops == Loops::user_only) {
        done_ = true;
        walking_ = false;
        return;
    }
    loop_ = &result_.kernel;
    begin_loop(Walk::freeze_kernel);
}

void Model::Play::finish(Outcome outcome) {
    result_.outcome = outcome;
    loop_->elapsed_ns = now_ns_ - loop_began_ns_;
    if (walk_ == Walk::cgroup2_write) {
        result_.refusing = pending_;
        bound_ns_ = loop_->elapsed_ns;
    }
    tell(TimelineKind::loop_end, walker_cpu_, in_kernel_loop() ? 1 : 0);
    done_ = true;
    walking_ = false;
}

Preempt Model::Play::preempt() const {
    return in_kernel_loop() ? scenario_.kernel.kernel_loop_preempt.value_or(scenario_.kernel.preempt)
                            : scenario_.kernel.preempt;
}

void Model::Play::sleep_or_yield() {
    if (preempt() == Preempt::full && scheduler_.has_waiting(walker_cpu_)) {
        walking_ = false;
        next_ = Next::sleep;
        return scheduler_.yield_to_tail(walker_cpu_);
    }
    if (go_to_sleep()) scheduler_.leave(walker_cpu_);
}

/// False when there is nothing to sleep for, and the next pass has begun instead.
bool Model::Play::go_to_sleep() {
    walking_ = false;
    next_ = Next::pass;
    if (bounding_) return wait_for_notification();
    if (const auto* cgroup = std::get_if<Cgroup1>(&policy_)) {
        const std::int64_t rest_ns = cgroup->poll_us * 1000;
        return start_sleep(now_ns_ + rest_ns, rest_ns);
    }
    return std::visit(Overloaded{[this](const Msleep& msleep) {
                                     const std::int64_t end_ns =
                                         msleep_end(tick_, now_ns_, msleep.ms, scenario_.kernel.wheel_extra);
                                     return start_sleep(end_ns, end_ns - now_ns_);
                                 },
                                 [this](const Backoff&) {
                                     const std::int64_t high_ns = backoff_->high_ns();
                                     const std::int64_t end_ns =
                                         range_sleep_end(tick_, scenario_.kernel.range_mode, now_ns_,
                                                         backoff_->low_ns(), high_ns, *range_stream_);
                                     backoff_->grow();
                                     return start_sleep(end_ns + scenario_.costs.sleep_overhead_ns, high_ns);
                                 },
                                 [this](const Notify&) { return wait_for_notification(); }},
                      sleep_);
}

bool Model::Play::start_sleep(std::int64_t until_ns, std::int64_t told_ns) {
    ++loop_->sleeps;
    asleep_ = true;
    sleep_began_ns_ = now_ns_;
    tell(TimelineKind::sleep_begin, walker_cpu_, told_ns);
    walker_timer_ = events_.schedule(time_from_ns(until_ns), {kWalkerTimer, 0});
    return true;
}

/// Woken by the last task that freezes, by the last item of a workqueue, or at the timeout.
bool Model::Play::wait_for_notification() {
    std::int64_t until_ns = deadline_ns();
    if (pending_ == 0) {
        std::int64_t work_done_ns = 0;
        if (in_kernel_loop() && work_is_active()) {
            for (const Work& item : world_.work) {
                if (item.queued_ns - begun_ns_ <= kernel_loop_at_ns_)
                    work_done_ns = std::max(work_done_ns, item.queued_ns + item.runs_ns - begun_ns_);
            }
        }
        if (work_done_ns <= now_ns_) {
            begin_pass();
            return false;
        }
        until_ns = std::min(until_ns, work_done_ns);
    }
    return start_sleep(std::max(until_ns, now_ns_), -1);
}

/// The first instant at which the test for the timeout holds: the jiffy is past the last one. The bound knows
/// no timeout, but an end: when nothing is left that could still freeze a task.
std::int64_t Model::Play::deadline_ns() const {
    if (bounding_) return bound_deadline_ns_;
    return (end_jiffy_ + 1) * tick_.period_ns - tick_.since_tick_ns;
}

bool Model::Play::work_is_active() const {
    for (const Work& item : world_.work) {
        const std::int64_t queued_ns = item.queued_ns - begun_ns_;
        if (queued_ns <= kernel_loop_at_ns_ && queued_ns + item.runs_ns > now_ns_) return true;
    }
    return false;
}

/// The thaw is reported; what it has woken may still run. False when another walk follows.
bool Model::Play::report() {
    if (walk_ == Walk::thaw_kernel) {
        begin_loop(Walk::thaw);
        return false;
    }
    result_.thaw_walker_ns = now_ns_;
    tell(TimelineKind::loop_end, walker_cpu_, 2);
    return true;
}

}  // namespace torpor::freezer
