// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace torpor::sched {

/// One queue for all CPUs (the reference mode: exact, simple to follow by hand), or one for each.
enum class Queues : std::uint8_t { global, per_cpu };

/// Which idle CPU a woken entity takes.
///   first_idle   the lowest index
///   biggest_idle the highest capacity, then the lowest index
///   wake_affine  the one it ran on last, else one of the waker's cluster, else any
/// With none idle it waits in the global queue, or, with per-CPU queues: wake_affine in the shorter of its
/// last CPU's and its waker's queue, the others in the shortest of all.
enum class Placement : std::uint8_t { first_idle, biggest_idle, wake_affine };

struct Rules {
    Queues queues{Queues::global};
    Placement placement{Placement::first_idle};
    /// A CPU about to go idle takes the head of the longest queue of the others.
    bool steal{true};
    /// What runs longer goes to the tail of its queue when others wait; 0: never.
    std::int64_t slice_ns{0};

    bool operator==(const Rules&) const = default;
};

}  // namespace torpor::sched
