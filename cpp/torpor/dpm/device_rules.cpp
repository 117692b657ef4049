// SPDX-License-Identifier: MIT
#include "torpor/dpm/play.hpp"

// What each phase does with a device. (Linux 6.1, section 3 of the model)
namespace torpor::dpm {

/// On resume a device that has nothing to undo in this phase does not wait for anybody.
bool Model::Play::finishes_at_once(std::int32_t device) const {
    if (!is_resume()) return false;
    if (graph_->flags[slot(device)].syscore || has(device, kDirectComplete)) return true;
    switch (phase_) {
        case Phase::resume_noirq:
            return !has(device, kNoirqSuspended);
        case Phase::resume_early:
            return !has(device, kLateSuspended);
        default:
            return !has(device, kSuspended);
    }
}

/// The inline rule of breadth-first.
bool Model::Play::is_handled_in_place(std::int32_t device) const {
    if (policy_.order != Order::breadth_first || !policy_.inline_calls) return false;
    return graph_->flags[slot(device)].no_pm_callbacks || has(device, kDirectComplete);
}

void Model::Play::fail(Outcome outcome, std::int32_t device) {
    if (failed()) return;
    error_ = outcome;
    cycle_.outcome = outcome;
    cycle_.ended_in = phase_;
    cycle_.device = device;
    if (!is_suspend_type(phase_)) return;
    // With these orders nobody starts async devices any more, but the walk may be waiting for one.
    if (policy_.order != Order::breadth_first && policy_.order != Order::bound) return;
    for (std::int32_t other = 0; other < device_count(); ++other) {
        if (!is_async(other) || has(other, kQueued) || has(other, kDone)) continue;
        set(other, kQueued);
        complete_device(other);
    }
}

Model::Play::Decision Model::Play::decide(std::int32_t device) {
    const DeviceFlags& flags = graph_->flags[slot(device)];
    const Decision by_callback =
        callback_of(device).exists && !flags.no_pm_callbacks ? Decision::call : Decision::pass;
    const auto with_wakeup = [&] {
        if (by_callback == Decision::call && callback_of(device).wakes_system) wakeup_pending_ = true;
        return by_callback;
    };
    switch (phase_) {
        case Phase::prepare:
            return flags.syscore ? Decision::pass : with_wakeup();
        case Phase::suspend:
            if (failed()) {
                unset(device, kDirectComplete);
                return Decision::leave;
            }
            if (wakeup_pending_) {
                fail(Outcome::aborted, device);
                return Decision::leave;
            }
            if (flags.syscore) return Decision::leave;
            if (flags.wakeup || has(device, kWakeupPath)) unset(device, kDirectComplete);
            if (has(device, kDirectComplete) && flags.runtime_suspended) {
                set(device, kSuspended);
                return Decision::leave;
            }
            unset(device, kDirectComplete);
            return with_wakeup();
        case Phase::suspend_late:
        case Phase::suspend_noirq:
            if (failed()) return Decision::leave;
            if (wakeup_pending_ && phase_ == Phase::suspend_late) {
                fail(Outcome::aborted, device);
                return Decision::leave;
            }
            if (flags.syscore || has(device, kDirectComplete)) return Decision::leave;
            if (flags.smart_suspend && flags.runtime_suspended) return Decision::pass;
            return with_wakeup();
        case Phase::resume_noirq:
        case Phase::resume_early:
        case Phase::resume:
            if (finishes_at_once(device)) return Decision::leave;
            return has(device, kLeftSuspended) ? Decision::pass : by_callback;
        case Phase::complete:
            return flags.syscore ? Decision::pass : by_callback;
    }
    return Decision::leave;
}

void Model::Play::after_callback(std::int32_t device, bool called) {
    const DeviceFlags& flags = graph_->flags[slot(device)];
    if (called && callback_of(device).fails && is_suspend_type(phase_)) {
        fail(Outcome::failed, device);
        return;
    }
    switch (phase_) {
        case Phase::prepare: {
            const PrepareResult result = called ? graph_->prepare_results[slot(device)] : PrepareResult::ok;
            if (result == PrepareResult::again) return;
            if (result == PrepareResult::error || (called && callback_of(device).fails))
                return fail(Outcome::failed, device);
            set(device, kPrepared);
            if (scenario_.direct_complete && !flags.no_direct_complete &&
                (result == PrepareResult::direct_complete || flags.no_pm_callbacks)) {
                set(device, kDirectComplete);
            }
            return;
        }
        case Phase::suspend:
            return after_suspend(device);
        case Phase::suspend_late:
            return set(device, kLateSuspended);
        case Phase::suspend_noirq:
            return after_suspend_noirq(device);
        case Phase::resume_noirq:
            return unset(device, kNoirqSuspended);
        case Phase::resume_early:
            return unset(device, kLateSuspended);
        case Phase::resume:
            return unset(device, kSuspended);
        case Phase::complete:
            return;
    }
}

/// Whoever stands above a device that has really been suspended cannot be left alone.
void Model::Play::after_suspend(std::int32_t device) {
    set(device, kSuspended);
    const std::int32_t parent = graph_->parent[slot(device)];
    if (graph_->flags[slot(device)].wakeup) set(device, kWakeupPath);
    if (parent != kNoDevice) {
        if (has(device, kWakeupPath)) set(parent, kWakeupPath);
        unset(parent, kDirectComplete);
    }
    for (const std::int32_t supplier : graph_->suppliers[device]) unset(supplier, kDirectComplete);
}

/// What must be resumed needs its parent and suppliers.
void Model::Play::after_suspend_noirq(std::int32_t device) {
    set(device, kNoirqSuspended);
    const DeviceFlags& flags = graph_->flags[slot(device)];
    const bool needed = has(device, kMustResume) || has(device, kWakeupPath) ||
                        !(flags.may_skip_resume && flags.runtime_suspended);
    if (!needed) return set(device, kLeftSuspended);
    const std::int32_t parent = graph_->parent[slot(device)];
    if (parent != kNoDevice) set(parent, kMustResume);
    for (const std::int32_t supplier : graph_->suppliers[device]) set(supplier, kMustResume);
}

}  // namespace torpor::dpm
