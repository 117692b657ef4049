// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "torpor/idle/tick.hpp"
#include "torpor/idle/workload.hpp"

namespace torpor::idle {

/// The pending events of one CPU's sources. Few per CPU, so the next of each kind is found by looking at all.
class PendingEvents {
  public:
    struct Entry {
        const Source* source;
        ArrivalStream arrivals;
        std::int64_t next_ns;
        std::int64_t chain_ns{kNoTimer};
        int chain_left{0};
    };

    void clear() { entries_.clear(); }

    void add(const Source& source, RandomStream random) {
        Entry entry{&source, ArrivalStream{source.arrivals, random}, 0};
        entry.next_ns = entry.arrivals.next_ns();
        entries_.push_back(entry);
    }

    std::int64_t next_interrupt_ns() const { return next_of(SourceKind::interrupt); }
    std::int64_t next_wheel_ns() const { return next_of(SourceKind::wheel); }

    std::int64_t next_hrtimer_ns() const {
        std::int64_t next = next_of(SourceKind::hrtimer);
        for (const Entry& entry : entries_) next = std::min(next, entry.chain_ns);
        return next;
    }

    /// The entry of `kind` that is due first, nullptr if none is due by `now_ns`; ties go to the source named
    /// first.
    Entry* due(SourceKind kind, std::int64_t now_ns) {
        Entry* found = nullptr;
        for (Entry& entry : entries_) {
            if (entry.source->kind != kind || entry.next_ns > now_ns) continue;
            if (found == nullptr || entry.next_ns < found->next_ns) found = &entry;
        }
        return found;
    }

    /// The entry whose chain timer is due first, nullptr if none is due by `now_ns`.
    Entry* due_chain(std::int64_t now_ns) {
        Entry* found = nullptr;
        for (Entry& entry : entries_) {
            if (entry.chain_ns > now_ns) continue;
            if (found == nullptr || entry.chain_ns < found->chain_ns) found = &entry;
        }
        return found;
    }

  private:
    std::int64_t next_of(SourceKind kind) const {
        std::int64_t next = kNoTimer;
        for (const Entry& entry : entries_) {
            if (entry.source->kind == kind) next = std::min(next, entry.next_ns);
        }
        return next;
    }

    std::vector<Entry> entries_;
};

}  // namespace torpor::idle
