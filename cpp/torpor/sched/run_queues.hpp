// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "torpor/sched/scheduler.hpp"

namespace torpor::sched {

/// Queues of entities that wait for a CPU, first in first out; an entity is in one at most.
class RunQueues {
  public:
    void reset(std::size_t queues) {
        queues_.assign(queues, Queue{});
        next_.clear();
    }
    void add_entity() { next_.push_back(kNobody); }

    std::int64_t size(std::size_t queue) const { return queues_[queue].size; }
    Entity head(std::size_t queue) const { return queues_[queue].head; }
    Entity next(Entity entity) const { return next_[static_cast<std::size_t>(entity)]; }

    void push_tail(std::size_t queue, Entity entity) {
        Queue& ready = queues_[queue];
        next_[static_cast<std::size_t>(entity)] = kNobody;
        (ready.tail == kNobody ? ready.head : next_[static_cast<std::size_t>(ready.tail)]) = entity;
        ready.tail = entity;
        ++ready.size;
    }
    /// Takes the entity after `before` out; kNobody: the head.
    Entity take_after(std::size_t queue, Entity before) {
        Queue& ready = queues_[queue];
        Entity& link = before == kNobody ? ready.head : next_[static_cast<std::size_t>(before)];
        const Entity entity = link;
        link = next(entity);
        if (ready.tail == entity) ready.tail = before;
        --ready.size;
        return entity;
    }
    /// Takes the first entity for which the predicate holds out, or returns kNobody.
    template <class Predicate>
    Entity take_first(std::size_t queue, const Predicate& holds) {
        Entity before = kNobody;
        for (Entity each = head(queue); each != kNobody; each = next(each)) {
            if (holds(each)) return take_after(queue, before);
            before = each;
        }
        return kNobody;
    }
    /// The queue with most entities, the first of equals.
    std::size_t longest() const {
        std::size_t longest = 0;
        for (std::size_t queue = 1; queue < queues_.size(); ++queue) {
            if (size(queue) > size(longest)) longest = queue;
        }
        return longest;
    }

  private:
    struct Queue {
        Entity head{kNobody};
        Entity tail{kNobody};
        std::int64_t size{0};
    };

    std::vector<Queue> queues_;
    std::vector<Entity> next_;  // per entity
};

}  // namespace torpor::sched
