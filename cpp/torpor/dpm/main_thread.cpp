// SPDX-License-Identifier: MIT
#include <algorithm>

#include "torpor/dpm/play.hpp"

// The walks of the main thread. The list is 0, 1, 2, ... on resume, complete's is that of suspend.
namespace torpor::dpm {

namespace {

struct Lists {
    Stage source;
    Stage target;
};

constexpr std::int64_t kLatestNs = 8'000'000'000'000'000'000;

constexpr std::array<Lists, kPhases> kLists{{
    {Stage::none, Stage::prepared},
    {Stage::prepared, Stage::suspended},
    {Stage::suspended, Stage::late_early},
    {Stage::late_early, Stage::noirq},
    {Stage::noirq, Stage::late_early},
    {Stage::late_early, Stage::suspended},
    {Stage::suspended, Stage::prepared},
    {Stage::prepared, Stage::none},
}};

}  // namespace

Model::Play::PhaseRules Model::Play::rules_of(Phase phase) const {
    const Order order = policy_.order;
    const bool up = order == Order::up_6_16 || order == Order::up_6_17;
    PhaseRules rules;
    rules.resume = is_resume_type(phase);
    rules.middle = is_middle(phase);
    rules.from_head = rules.resume || phase == Phase::prepare;
    rules.observed = rules.middle && order != Order::sync;
    rules.only_ready = order == Order::breadth_first || order == Order::bound;
    rules.starts_neighbours = rules.middle && (rules.only_ready || up);
    rules.first_pass = rules.starts_neighbours || (order == Order::old && rules.resume);
    rules.walk_queues = rules.middle && !rules.only_ready;
    // The mutex matters on resume only: nobody else asks for it on the way down.
    const bool mutex = policy_.list_mutex && rules.resume;
    rules.walk_holds_mutex = mutex && order != Order::sync && order != Order::bound;
    rules.workers_read_parent = mutex && (order == Order::old || order == Order::old_inline);
    rules.starts_neighbours_locked = mutex && up;
    return rules;
}

/// Whether the first pass queues an async device, and what finding out costs.
bool Model::Play::queues_in_first_pass(std::int32_t device) {
    const DeviceFlags& flags = graph_->flags[slot(device)];
    switch (policy_.order) {
        case Order::sync:
        case Order::old_inline:
            return false;
        case Order::old:
            return true;
        case Order::breadth_first:
        case Order::bound:
            return is_ready(device, program(kMain).owed_ns);
        case Order::up_6_16:
        case Order::up_6_17: {
            const bool by_links = policy_.order == Order::up_6_17;
            if (is_resume())
                return graph_->parent[slot(device)] == kNoDevice && !(by_links && flags.has_supplier_link);
            return graph_->children[device].empty() && !(by_links && flags.has_consumer_link);
        }
    }
    return false;
}

void Model::Play::release_mutex(Entity entity) {
    Program& holder = program(entity);
    if (!holder.holds_mutex) return;
    holder.holds_mutex = false;
    const Entity next = mutex_.release();
    if (next == sched::kNobody) return;
    program(next).holds_mutex = true;
    program(next).waiting_for_mutex = false;
    scheduler_.wake(next);
}

void Model::Play::begin_phase() {
    const auto [source, target] = kLists[index_of(phase_)];
    source_ = source;
    target_ = target;
    costs_ = &scenario_.costs[index_of(phase_)];
    rules_ = rules_of(phase_);
    if (now_ns_ > kLatestNs)
        throw ModelError{"the cycles of one replicate take too long: more than 250 years"};
    phase_began_ns_ = now_ns_;
    walked_ = 0;
    walk_ended_ = false;
    pending_ = 0;
    queue_calls_ = 0;
    queue_.begin_phase();
    bounds_.begin(*graph_);
    for (std::int32_t device = 0; device < device_count(); ++device) {
        unset(device, kQueued);
        if (on_list(device)) {
            unset(device, kDone);
        } else {
            set(device, kDone);
            bounds_.waits_for_nothing(device);
        }
    }
    if (policy_.order == Order::bound)
        priorities_ = critical_path_priorities(*graph_, phase_, scenario_.tick_ns);
    tell(TimelineKind::phase_begin, 0, static_cast<std::int64_t>(phase_));
}

void Model::Play::end_phase() {
    here().ns = now_ns_ - phase_began_ns_;
    here().bounds = bounds_.finish(*graph_, rules_.from_head, queue_calls_, costs_->queue_ns);
    tell(TimelineKind::phase_end, 0, static_cast<std::int64_t>(phase_));
}

/// The device leaves its list for the next one.
void Model::Play::move_on(std::int32_t device) {
    stages_[slot(device)] = target_;
}

/// An error ends the walk on the way down. From breadth-first on the rest of the list counts as moved, since
/// async devices anywhere in it may be done; and nothing may be left waiting for a device that is not going
/// to be handled.
void Model::Play::end_walk_early() {
    walk_ended_ = true;
    if (!rules_.middle) return;
    const bool splices = policy_.order == Order::breadth_first || policy_.order == Order::up_6_16 ||
                         policy_.order == Order::up_6_17 || policy_.order == Order::bound;
    for (std::int32_t device = 0; device < device_count(); ++device) {
        if (!on_list(device)) continue;
        if (splices) move_on(device);
        if (!has(device, kQueued) && !has(device, kDone)) complete_device(device);
    }
}

sched::Work Model::Play::step_main() {
    Program& main = program(kMain);
    Work work;
    for (;;) {
        switch (main.at) {
            case At::phase_begin:
                begin_phase();
                main.at = At::mutex_taken;
                if (scenario_.eas_switch_ns > 0) {
                    const bool down = phase_ == Phase::suspend && policy_.eas_off != EasOff::none &&
                                      policy_.eas_off != EasOff::resume;
                    const bool up = phase_ == Phase::resume_noirq && policy_.eas_off != EasOff::none &&
                                    policy_.eas_off != EasOff::suspend;
                    if (down || up) main.owed_ns += scenario_.eas_switch_ns;
                }
                if (rules_.walk_holds_mutex) {
                    main.then = rules_.first_pass ? At::first_pass : At::walk;
                    if (!take_mutex(kMain)) return Work::waiting();
                } else {
                    main.then = rules_.first_pass ? At::first_pass : At::walk;
                }
                break;
            case At::mutex_taken:
                if (main.waiting_for_mutex) return Work::waiting();
                main.at = main.then;
                break;

            case At::first_pass: {
                if (walk_over()) {
                    walked_ = 0;
                    main.at = At::walk;
                    break;
                }
                const std::int32_t device = walked_device();
                if (!on_list(device)) {
                    ++walked_;
                    break;
                }
                main.owed_ns += costs_->list_step_ns;
                if (!is_async(device) || has(device, kQueued) || !queues_in_first_pass(device)) {
                    ++walked_;
                    if (main.owed_ns >= kLongestDebtNs) return pay(main);
                    break;
                }
                set(device, kQueued);
                if (is_handled_in_place(device)) {
                    ++walked_;
                    begin_device(kMain, device, At::first_pass);
                    break;
                }
                main.owed_ns += costs_->queue_ns;
                main.at = At::first_pass_queue;
                if (main.owed_ns > 0) return pay(main);
                break;
            }
            case At::first_pass_queue:
                queue_item(kMain, walked_device());
                ++walked_;
                main.at = At::first_pass;
                break;

            case At::walk: {
                if (walk_ended_ || walk_over()) {
                    if (main.owed_ns > 0) return pay(main);
                    release_mutex(kMain);
                    main.at = At::barrier;
                    break;
                }
                const std::int32_t device = walked_device();
                if (!on_list(device)) {
                    ++walked_;
                    break;
                }
                main.owed_ns += costs_->list_step_ns;
                if (is_async(device) && rules_.middle) {
                    if (!rules_.walk_queues || has(device, kQueued)) {
                        move_on(device);
                        ++walked_;
                        if (main.owed_ns >= kLongestDebtNs) return pay(main);
                        break;
                    }
                    set(device, kQueued);
                    main.owed_ns += costs_->queue_ns;
                    main.at = At::walk_queue;
                    if (main.owed_ns > 0) return pay(main);
                    break;
                }
                set(device, kQueued);
                release_mutex(kMain);
                main.at = At::walk_device;
                break;
            }
            case At::walk_queue: {
                const std::int32_t device = walked_device();
                queue_item(kMain, device);
                move_on(device);
                ++walked_;
                main.at = At::walk;
                if (failed() && is_suspend_type(phase_)) end_walk_early();
                break;
            }
            case At::walk_device:
                begin_device(kMain, walked_device(), At::walk_after_device);
                break;
            case At::walk_after_device: {
                const std::int32_t device = walked_device();
                const bool fails = cycle_.device == device && failed() && cycle_.ended_in == phase_;
                if (!fails && (phase_ != Phase::prepare || has(device, kPrepared))) move_on(device);
                ++walked_;
                main.at = At::walk;
                if (failed() && (is_suspend_type(phase_) || phase_ == Phase::prepare)) {
                    end_walk_early();
                    break;
                }
                if (rules_.walk_holds_mutex) {
                    main.then = At::walk;
                    main.at = At::mutex_taken;
                    if (!take_mutex(kMain)) return Work::waiting();
                }
                break;
            }

            case At::barrier:
                if (main.owed_ns > 0) return pay(main);
                if (pending_ > 0) {
                    in_barrier_ = true;
                    main.at = At::barrier_woken;
                    return Work::waiting();
                }
                in_barrier_ = false;
                main.owed_ns += costs_->tail_ns;
                main.at = At::phase_end;
                break;
            case At::barrier_woken:
                main.owed_ns += costs_->recheck_ns;
                main.at = At::barrier;
                break;
            case At::phase_end:
                if (main.owed_ns > 0) return pay(main);
                end_phase();
                if (phase_ == last_phase_ || (failed() && is_suspend_side(phase_))) {
                    finished_ = true;
                    return Work::waiting();
                }
                phase_ = static_cast<Phase>(index_of(phase_) + 1);
                main.at = At::phase_begin;
                break;

            default:
                if (step_device(kMain, work)) return work;
                break;
        }
    }
}

}  // namespace torpor::dpm
