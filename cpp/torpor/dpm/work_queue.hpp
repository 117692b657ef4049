// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "torpor/dpm/graph.hpp"
#include "torpor/sched/scheduler.hpp"

namespace torpor::dpm {

/// First in, first out; keeps its memory.
template <class T>
class Fifo {
  public:
    bool empty() const { return head_ == items_.size(); }
    std::size_t size() const { return items_.size() - head_; }
    void push(const T& item) { items_.push_back(item); }
    T pop() {
        const T item = items_[head_++];
        if (empty()) clear();
        return item;
    }
    void clear() {
        items_.clear();
        head_ = 0;
    }
    auto begin() const { return items_.begin() + static_cast<std::ptrdiff_t>(head_); }
    auto end() const { return items_.end(); }

  private:
    std::vector<T> items_;
    std::size_t head_{0};
};

/// The items of an unbound workqueue and its pool of workers, without a clock: who may be woken and what is
/// next. A blocked item counts as active, and items beyond the limit wait in a queue of their own. Workers
/// never count as running, so nothing throttles them. (Linux 6.1)
class WorkQueue {
  public:
    void reset(std::int64_t max_active) {
        max_active_ = max_active;
        idle_.clear();
        manager_ = sched::kNobody;
        begin_phase();
    }
    void begin_phase() {
        listed_.clear();
        held_back_.clear();
        active_ = 0;
        started_ = 0;
    }

    /// Queues an item. False when the limit holds it back.
    bool insert(std::int32_t item) {
        if (active_ == max_active_) {
            held_back_.push(item);
            return false;
        }
        ++active_;
        listed_.push(item);
        return true;
    }
    bool has_listed() const { return !listed_.empty(); }
    std::int32_t take() { return listed_.pop(); }
    void begin_item() { ++started_; }
    /// An item is over; the first of those held back takes its place. kNoDevice: there is none.
    std::int32_t retire() {
        --started_;
        --active_;
        if (held_back_.empty()) return kNoDevice;
        ++active_;
        const std::int32_t item = held_back_.pop();
        listed_.push(item);
        return item;
    }
    /// Items that a worker has begun and not finished, blocked ones included.
    std::int64_t started() const { return started_; }
    std::int64_t active() const { return active_; }
    const Fifo<std::int32_t>& held_back() const { return held_back_; }

    // Idle workers, last in first out. The first stays in place until it really runs, so a burst of items
    // wakes only one.
    bool has_idle() const { return !idle_.empty(); }
    sched::Entity first_idle() const { return idle_.back(); }
    void enter_idle(sched::Entity worker) { idle_.push_back(worker); }
    void leave_idle(sched::Entity worker) {
        const auto place = std::find(idle_.rbegin(), idle_.rend(), worker);
        idle_.erase(std::next(place).base());
    }

    /// Who creates workers; one at a time.
    sched::Entity manager() const { return manager_; }
    void set_manager(sched::Entity worker) { manager_ = worker; }

  private:
    Fifo<std::int32_t> listed_;
    Fifo<std::int32_t> held_back_;
    std::vector<sched::Entity> idle_;
    std::int64_t max_active_{0};
    std::int64_t active_{0};
    std::int64_t started_{0};
    sched::Entity manager_{sched::kNobody};
};

/// The mutex of the device lists, or a lock that callbacks share: handed over in the order of asking.
class FifoLock {
  public:
    bool is_held() const { return owner_ != sched::kNobody; }
    sched::Entity owner() const { return owner_; }
    /// False when the entity has to wait.
    bool acquire(sched::Entity entity) {
        if (is_held()) {
            waiting_.push(entity);
            return false;
        }
        owner_ = entity;
        return true;
    }
    /// The new owner, to be woken, or kNobody.
    sched::Entity release() {
        owner_ = waiting_.empty() ? sched::kNobody : waiting_.pop();
        return owner_;
    }
    void clear() {
        owner_ = sched::kNobody;
        waiting_.clear();
    }

  private:
    sched::Entity owner_{sched::kNobody};
    Fifo<sched::Entity> waiting_;
};

}  // namespace torpor::dpm
