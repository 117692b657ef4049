// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "torpor/base/error.hpp"
#include "torpor/base/units.hpp"

namespace torpor::engine {

/// Names one scheduled event. The sequence number is never used twice by one queue, so a handle whose event
/// has been popped, cancelled or cleared away is recognised for ever, even after its place has been taken by
/// another event. One that was never given out names none.
struct EventHandle {
    std::uint64_t sequence{0};
    std::uint32_t slot{~std::uint32_t{0}};

    bool operator==(const EventHandle&) const = default;
};

/// Pending events and the clock of one simulation. Events leave in the order (time, sequence): those of one
/// instant in the order in which they were scheduled.
///
/// Payload is a plain record; the queue gives it no meaning. Nothing is allocated once the queue has been as
/// full as it gets (or after reserve); clear() keeps the memory.
///
/// Invariants, checked in every build: an event is not scheduled before now(), and the clock never goes back;
/// either throws InternalError.
///
/// Inside: a 4-ary heap of 16-byte keys beside a table of payloads that never move, so a sift touches one
/// cache line per level (faster here than 2 or 8 children per node). A key is one 128-bit integer, time above
/// sequence above slot, and is compared as such. A cancelled event only gives back its slot; its key stays
/// until it comes up, and the heap is rebuilt when more than half of it is dead.
template <class Payload>
class EventQueue {
    static_assert(std::is_trivially_copyable_v<Payload>, "events are plain records");

  public:
    struct Event {
        Time at{};
        Payload payload{};
    };

    /// Limits of the packed key. Going past the first means that events leak; the second lasts for days at
    /// full speed.
    static constexpr std::size_t kMaxPending = std::size_t{1} << 20;
    static constexpr std::uint64_t kMaxSequence = std::uint64_t{1} << 44;

    bool empty() const { return live_ == 0; }
    std::size_t size() const { return live_; }
    Time now() const { return now_; }

    /// When the next event is due; kTimeMax when there is none.
    Time next_time() const { return heap_.empty() ? kTimeMax : time_of(heap_.front()); }

    /// Sequence number of the next event due; meaningless when there is none.
    std::uint64_t next_sequence() const {
        return heap_.empty() ? kMaxSequence : static_cast<std::uint64_t>(heap_.front()) >> kSlotBits;
    }

    /// A place in the order of events for one that its owner keeps elsewhere.
    std::uint64_t take_sequence() {
        if (sequence_ == kMaxSequence) {
            throw InternalError{"an event queue has used up its sequence numbers"};
        }
        return sequence_++;
    }

    /// Room for that many pending events, and for the keys of those cancelled meanwhile.
    void reserve(std::size_t pending) {
        heap_.reserve(2 * pending + kSlack + 1);
        slots_.reserve(pending);
        free_.reserve(pending);
    }

    EventHandle schedule(Time at, const Payload& payload) {
        if (at < now_) {
            throw InternalError{"an event is scheduled before the current time"};
        }
        const std::uint32_t slot = take_slot(payload);
        const EventHandle handle{take_sequence(), slot};
        slots_[slot].sequence = handle.sequence;
        ++live_;
        const Key key = key_of(at, handle);
        heap_.push_back(key);
        sift_up(heap_.size() - 1, key);
        return handle;
    }

    EventHandle schedule_after(Duration delay, const Payload& payload) {
        return schedule(now_ + delay, payload);
    }

    /// Whether the event still waits.
    bool is_pending(EventHandle handle) const {
        return handle.slot < slots_.size() && slots_[handle.slot].sequence == handle.sequence;
    }

    /// True when the event waited and is gone now, false when the handle is stale. Amortised O(1) unless the
    /// event is the next one due.
    bool cancel(EventHandle handle) {
        if (!is_pending(handle)) {
            return false;
        }
        release(handle.slot);
        if (heap_.size() > 2 * live_ + kSlack) {
            rebuild();
        }
        drop_dead();
        return true;
    }

    /// Takes the next event and moves the clock to it.
    Event pop() {
        if (heap_.empty()) {
            throw InternalError{"an event is taken from an empty queue"};
        }
        const Key key = heap_.front();
        const Time at = time_of(key);
        if (at < now_) {
            throw InternalError{"the simulated clock would go back"};
        }
        now_ = at;
        const std::uint32_t slot = slot_of(key);
        const Event event{at, slots_[slot].payload};
        release(slot);
        remove_front();
        drop_dead();
        return event;
    }

    /// Moves the clock without an event, at most up to the next one due.
    void advance_to(Time at) {
        if (at < now_ || at > next_time()) {
            throw InternalError{"the clock is moved back or past an event"};
        }
        now_ = at;
    }

    /// Back to time zero with no events; handles given out before stay stale.
    void clear() {
        heap_.clear();
        free_.clear();
        for (std::size_t i = slots_.size(); i-- > 0;) {
            slots_[i].sequence = kNobody;
            free_.push_back(static_cast<std::uint32_t>(i));
        }
        live_ = 0;
        now_ = Time{};
    }

  private:
    __extension__ using Key = unsigned __int128;

    struct Slot {
        std::uint64_t sequence;
        Payload payload;
    };

    static constexpr std::size_t kArity = 4;
    static constexpr std::size_t kSlack = 64;
    static constexpr unsigned kSlotBits = 20;
    static constexpr std::uint64_t kNobody = ~std::uint64_t{0};

    static Key key_of(Time at, EventHandle handle) {
        return Key{static_cast<std::uint64_t>(to_ns(at))} << 64 |
               (handle.sequence << kSlotBits | handle.slot);
    }
    static Time time_of(Key key) { return time_from_ns(static_cast<std::int64_t>(key >> 64)); }
    static std::uint32_t slot_of(Key key) {
        return static_cast<std::uint32_t>(key) & ((std::uint32_t{1} << kSlotBits) - 1);
    }
    bool is_dead(Key key) const {
        return slots_[slot_of(key)].sequence != static_cast<std::uint64_t>(key) >> kSlotBits;
    }

    std::uint32_t take_slot(const Payload& payload) {
        if (!free_.empty()) {
            const std::uint32_t slot = free_.back();
            free_.pop_back();
            slots_[slot].payload = payload;
            return slot;
        }
        if (slots_.size() == kMaxPending) {
            throw InternalError{"more than 1048576 events are pending"};
        }
        slots_.push_back({kNobody, payload});
        return static_cast<std::uint32_t>(slots_.size() - 1);
    }

    void release(std::uint32_t slot) {
        slots_[slot].sequence = kNobody;
        free_.push_back(slot);
        --live_;
    }

    void sift_up(std::size_t hole, Key key) {
        while (hole > 0) {
            const std::size_t parent = (hole - 1) / kArity;
            if (heap_[parent] < key) {
                break;
            }
            heap_[hole] = heap_[parent];
            hole = parent;
        }
        heap_[hole] = key;
    }

    void sift_down(std::size_t hole, Key key) {
        const std::size_t size = heap_.size();
        for (;;) {
            const std::size_t first = hole * kArity + 1;
            if (first >= size) {
                break;
            }
            std::size_t least = first;
            Key least_key = heap_[first];
            const std::size_t end = std::min(first + kArity, size);
            for (std::size_t child = first + 1; child < end; ++child) {
                const Key child_key = heap_[child];
                const bool smaller = child_key < least_key;
                least = smaller ? child : least;
                least_key = smaller ? child_key : least_key;
            }
            if (key < least_key) {
                break;
            }
            heap_[hole] = least_key;
            hole = least;
        }
        heap_[hole] = key;
    }

    void remove_front() {
        const Key last = heap_.back();
        heap_.pop_back();
        if (!heap_.empty()) {
            sift_down(0, last);
        }
    }

    // The front of the heap is always alive, so next_time() can look at it.
    void drop_dead() {
        while (!heap_.empty() && is_dead(heap_.front())) {
            remove_front();
        }
    }

    void rebuild() {
        std::erase_if(heap_, [this](Key key) { return is_dead(key); });
        for (std::size_t i = heap_.size() / kArity + 1; i-- > 0;) {
            if (i < heap_.size()) {
                sift_down(i, heap_[i]);
            }
        }
    }

    std::vector<Key> heap_;
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> free_;
    std::uint64_t sequence_{0};
    std::size_t live_{0};
    Time now_{};
};

}  // namespace torpor::engine
