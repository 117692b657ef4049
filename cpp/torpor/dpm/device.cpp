// SPDX-License-Identifier: MIT
#include <algorithm>

#include "torpor/dpm/play.hpp"

// Handling one device, by a worker or the main thread: wait for what comes before it, run its callback, tell
// those that wait for it, start its neighbours if the order says so.
namespace torpor::dpm {

/// Whether all that a device waits for is done; the check stops at the first that is not (K7).
bool Model::Play::is_ready(std::int32_t device, std::int64_t& cost_ns) const {
    const auto others = awaited(device);
    const auto first =
        std::find_if(others.begin(), others.end(), [this](std::int32_t other) { return !has(other, kDone); });
    const auto looked_at = scenario_.checks_all || first == others.end() ? others.end() : first + 1;
    cost_ns += costs_->check_ns * (looked_at - others.begin());
    return first == others.end();
}

/// Those that wait for a device; v6.16 looks at children or the parent only.
std::span<const std::int32_t> Model::Play::neighbours(std::int32_t device) const {
    const auto row = is_resume() ? graph_->subordinates[device] : graph_->superiors[device];
    if (policy_.order != Order::up_6_16) return row;
    const std::size_t relatives =
        is_resume() ? graph_->children[device].size() : (graph_->parent[slot(device)] == kNoDevice ? 0U : 1U);
    return row.first(relatives);
}

void Model::Play::begin_device(Entity entity, std::int32_t device, At then) {
    Program& who = program(entity);
    who.device = device;
    who.cursor = 0;
    who.at = At::device_begin;
    if (who.depth == 0) who.then = then;
}

void Model::Play::complete_device(std::int32_t device) {
    set(device, kDone);
    Entity waiter = std::exchange(first_waiter_[slot(device)], sched::kNobody);
    last_waiter_[slot(device)] = sched::kNobody;
    while (waiter != sched::kNobody) {
        Program& who = program(waiter);
        const Entity next = std::exchange(who.next_waiter, sched::kNobody);
        who.waits_for = kNoDevice;
        scheduler_.wake(waiter);
        waiter = next;
    }
}

/// Goes through the stages of handling a device, from wherever it had to stop.
bool Model::Play::step_device(Entity entity, Work& work) {
    Program& who = program(entity);
    switch (who.at) {
        case At::device_begin:
            if (!enter_device(entity, work)) return true;
            [[fallthrough]];
        case At::device_mutex:
            if (who.waiting_for_mutex) return waits(work);
            release_mutex(entity);
            who.at = At::device_waits;
            [[fallthrough]];
        case At::device_waits:
            if (!wait_for_others(entity)) return waits(work);
            decide_device(entity);
            [[fallthrough]];
        case At::callback:
        case At::callback_locked:
            if (who.at != At::complete && !step_callback(entity, work)) return true;
            [[fallthrough]];
        case At::complete:
            if (who.owed_ns > 0 && (rules_.observed || who.owed_ns >= kLongestDebtNs)) {
                work = pay(who);
                return true;
            }
            if (!finish_device(entity)) return waits(work);
            return false;
        default:
            return step_neighbours(entity, work);
    }
}

/// False when it has to wait for the mutex.
bool Model::Play::enter_device(Entity entity, Work& work) {
    Program& who = program(entity);
    const std::int32_t device = who.device;
    who.owed_ns += costs_->core_ns;
    if (keeps_) {
        Interval& kept = interval(device);
        kept.taken_ns = now_ns_ - phase_began_ns_;
        kept.worker = entity;
        kept.in_place = is_async(device) && rules_.middle && kept.queued_ns < 0;
    }
    who.at = At::device_mutex;
    if (!rules_.middle || finishes_at_once(device)) {
        bounds_.waits_for_nothing(device);
        who.cursor = -1;
    } else if (rules_.workers_read_parent && entity != kMain && !take_mutex(entity)) {
        work = Work::waiting();
        return false;
    }
    return true;
}

/// False when the mutex belongs to another.
bool Model::Play::take_mutex(Entity entity) {
    Program& who = program(entity);
    if (mutex_.acquire(entity)) {
        who.holds_mutex = true;
        return true;
    }
    who.waiting_for_mutex = true;
    ++here().mutex_blocks;
    return false;
}

/// False when it waits for one of them.
bool Model::Play::wait_for_others(Entity entity) {
    Program& who = program(entity);
    if (who.waits_for != kNoDevice) return false;
    if (who.cursor < 0) return true;
    const std::int32_t device = who.device;
    const auto others = awaited(device);
    while (static_cast<std::size_t>(who.cursor) < others.size()) {
        const std::int32_t other = others[static_cast<std::size_t>(who.cursor++)];
        who.owed_ns += costs_->check_ns;
        if (!has_to_wait(device, other)) continue;
        Entity& last = last_waiter_[slot(other)];
        (last == sched::kNobody ? first_waiter_[slot(other)] : program(last).next_waiter) = entity;
        last = entity;
        who.waits_for = other;
        ++here().blocks;
        if (keeps_) interval(device).waited_for = other;
        return false;
    }
    return true;
}

void Model::Play::decide_device(Entity entity) {
    Program& who = program(entity);
    const std::int32_t device = who.device;
    if (keeps_) interval(device).begin_ns = now_ns_ - phase_began_ns_;
    tell(TimelineKind::device_begin, device, static_cast<std::int64_t>(phase_));
    const Decision decision = decide(device);
    who.at = At::complete;
    if (decision == Decision::call) {
        who.segment = 0;
        who.factor = world_.factor(device, phase_, cycle_number_);
        who.owed_ns += costs_->callback_ns;
        bounds_.add(device, graph_->segments_of(callback_of(device)), who.factor);
        ++here().callbacks;
        if (entity != kMain) ++here().callbacks_by_workers;
        if (keeps_) interval(device).called = true;
        who.at = At::callback;
    } else if (decision == Decision::pass) {
        after_callback(device, false);
    }
}

/// Tells those that wait. False when it has to wait for the mutex before it starts its neighbours.
bool Model::Play::finish_device(Entity entity) {
    Program& who = program(entity);
    const std::int32_t device = who.device;
    if (keeps_) {
        interval(device).end_ns = now_ns_ - phase_began_ns_;
        interval(device).cpu = scheduler_.cpu_of(entity);
    }
    tell(TimelineKind::device_end, device, static_cast<std::int64_t>(phase_));
    complete_device(device);
    if (!starts_neighbours()) {
        leave_device(entity);
        return true;
    }
    who.cursor = 0;
    who.at = At::neighbours;
    if (!rules_.starts_neighbours_locked) return true;
    who.at = At::neighbour_mutex;
    return take_mutex(entity);
}

/// Back to the device in whose place this one was handled, or to what comes after.
void Model::Play::leave_device(Entity entity) {
    Program& who = program(entity);
    if (who.depth == 0) {
        who.at = who.then;
        return;
    }
    std::vector<Frame>& frames = frames_[static_cast<std::size_t>(entity)];
    who.device = frames.back().device;
    who.cursor = frames.back().cursor;
    frames.pop_back();
    --who.depth;
    who.at = At::neighbours;
}

/// False when it has a piece or waits; true when the callback is over.
bool Model::Play::step_callback(Entity entity, Work& work) {
    Program& who = program(entity);
    const std::int32_t device = who.device;
    const auto segments = graph_->segments_of(callback_of(device));
    if (who.at == At::callback_locked) {
        if (who.waits_for_lock >= 0) return !waits(work);
        if (keeps_) interval(device).lock_wait_ns += now_ns_ - who.since_ns;
        ++who.segment;
        who.at = At::callback;
    }
    for (; who.segment < segments.size(); ++who.segment) {
        const Segment& segment = segments[who.segment];
        if (segment.kind == SegmentKind::cpu) {
            ++who.segment;
            work = {std::exchange(who.owed_ns, 0) + scaled_by(segment.first, who.factor),
                    scaled_by(segment.second, who.factor), false};
            return false;
        }
        const bool sleeps = segment.kind == SegmentKind::sleep;
        if (sleeps && scaled_by(segment.first, who.factor) == 0) continue;
        if (who.owed_ns > 0) {
            work = pay(who);
            return false;
        }
        if (segment.kind == SegmentKind::lock) {
            SharedLock& shared = locks_[static_cast<std::size_t>(segment.first)];
            if (shared.lock.acquire(entity)) continue;
            ++here().lock_blocks;
            who.waits_for_lock = static_cast<std::int32_t>(segment.first);
            who.since_ns = now_ns_;
            who.at = At::callback_locked;
            return !waits(work);
        }
        if (segment.kind == SegmentKind::unlock) {
            give_back(locks_[static_cast<std::size_t>(segment.first)], device);
            continue;
        }
        ++who.segment;
        if (sleeps) sleep_ns(entity, scaled_by(segment.first, who.factor));
        if (segment.kind == SegmentKind::tick_sleep) sleep_ticks(entity, segment.first);
        if (segment.kind == SegmentKind::range_sleep) sleep_range(entity, segment.first, segment.second);
        return !waits(work);
    }
    after_callback(device, true);
    who.at = At::complete;
    return true;
}

void Model::Play::give_back(SharedLock& shared, std::int32_t device) {
    const Entity next = shared.lock.release();
    if (next == sched::kNobody) return;
    program(next).waits_for_lock = -1;
    if (keeps_) interval(program(next).device).lock_after = device;
    scheduler_.wake(next);
}

bool Model::Play::step_neighbours(Entity entity, Work& work) {
    Program& who = program(entity);
    if (who.at == At::neighbour_mutex) {
        if (who.waiting_for_mutex) return waits(work);
        who.at = At::neighbours;
    } else if (who.at == At::neighbour_queue) {
        queue_item(entity, who.chosen);
        who.at = At::neighbours;
    }
    const auto others = neighbours(who.device);
    while (static_cast<std::size_t>(who.cursor) < others.size()) {
        const std::int32_t other = others[static_cast<std::size_t>(who.cursor++)];
        if (!is_async(other) || has(other, kQueued) || has(other, kDone)) continue;
        if (rules_.only_ready && !is_ready(other, who.owed_ns)) continue;
        set(other, kQueued);
        if (rules_.only_ready && is_handled_in_place(other)) {
            frames_[static_cast<std::size_t>(entity)].push_back({who.device, who.cursor});
            ++who.depth;
            begin_device(entity, other, who.then);
            return false;
        }
        who.chosen = other;
        who.owed_ns += costs_->queue_ns;
        who.at = At::neighbour_queue;
        if (who.owed_ns == 0) return false;
        work = pay(who);
        return true;
    }
    if (who.owed_ns > 0) {
        work = pay(who);
        return true;
    }
    release_mutex(entity);
    leave_device(entity);
    return false;
}

}  // namespace torpor::dpm
