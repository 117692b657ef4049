// SPDX-License-Identifier: MIT
#include "torpor/dpm/play.hpp"

// The workers of an unbound workqueue: each looks for an item whenever it runs, wakes one more idle worker
// while items are left, and creates one when none is idle. (Linux 6.1)
namespace torpor::dpm {

void Model::Play::queue_item(Entity by, std::int32_t device) {
    ++here().items;
    ++pending_;
    if (by == kMain) ++queue_calls_;
    if (keeps_) interval(device).queued_ns = now_ns_ - phase_began_ns_;
    if (!queue_.insert(device)) return;
    scenario_.workers.per_item ? start_item(queue_.take()) : kick();
}

/// A worker of its own for an item.
void Model::Play::start_item(std::int32_t device) {
    Entity worker = sched::kNobody;
    if (spare_workers_.empty()) {
        worker = scheduler_.add(0);
        add_program();
    } else {
        worker = spare_workers_.back();
        spare_workers_.pop_back();
    }
    program(worker).device = device;
    program(worker).at = At::item_begin;
    scheduler_.wake(worker);
}

void Model::Play::kick() {
    if (queue_.has_idle()) scheduler_.wake(queue_.first_idle());
}

void Model::Play::finish_item() {
    --pending_;
    const std::int32_t next = queue_.retire();
    if (in_barrier_ && (scenario_.barrier_wakes || pending_ == 0)) scheduler_.wake(kMain);
    if (scenario_.workers.per_item && next != kNoDevice) start_item(queue_.take());
}

sched::Work Model::Play::step_worker(Entity entity) {
    Work work;
    for (;;) {
        Program& worker = program(entity);
        switch (worker.at) {
            case At::idle:
                queue_.leave_idle(entity);
                worker.at = At::look;
                break;
            case At::look:
                if (!queue_.has_listed()) {
                    if (worker.owed_ns > 0) return pay(worker);
                    worker.device = kNoDevice;
                    worker.at = At::idle;
                    queue_.enter_idle(entity);
                    return Work::waiting();
                }
                if (!queue_.has_idle() && queue_.manager() == sched::kNobody) {
                    queue_.set_manager(entity);
                    worker.owed_ns += costs_->create_ns;
                    worker.at = At::creating;
                    if (worker.owed_ns > 0) return pay(worker);
                    break;
                }
                worker.device = queue_.take();
                if (queue_.has_listed()) kick();
                worker.at = At::item_begin;
                break;
            case At::creating:
                worker.at = At::created;
                if (costs_->create_latency_ns == 0) break;
                sleep_ns(entity, costs_->create_latency_ns);
                return Work::waiting();
            case At::created: {
                worker.at = At::look;
                const Entity made = scheduler_.add_new_thread();
                add_program();  // which may move this worker's
                ++here().created_workers;
                queue_.enter_idle(made);
                queue_.set_manager(sched::kNobody);
                scheduler_.wake(made);
                break;
            }
            case At::item_begin:
                queue_.begin_item();
                worker.owed_ns += costs_->dispatch_ns;
                begin_device(entity, worker.device, At::item_end);
                break;
            case At::item_end:
                finish_item();
                if (!scenario_.workers.per_item) {
                    worker.at = At::look;
                    break;
                }
                spare_workers_.push_back(entity);
                return Work::waiting();
            default:
                if (step_device(entity, work)) return work;
                break;
        }
    }
}

}  // namespace torpor::dpm
