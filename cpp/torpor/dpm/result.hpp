// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "torpor/dpm/phases.hpp"

namespace torpor::dpm {

/// How a cycle ended.
///   done     every phase ran
///   failed   a callback returned an error on the way down; what was suspended has been resumed
///   aborted  the same for a wakeup event
///   stuck    a phase can never end: the cycle stops where it stands
enum class Outcome : std::uint8_t { done, failed, aborted, stuck };

/// Lower bounds on the time of one phase, of what was really executed. None of them knows overheads but
/// `ovh`.
struct Bounds {
    /// Longest dependency path: CPU work on the fastest CPU, and sleeps.
    std::int64_t cp_ns{0};
    /// CPU work over all CPUs together.
    std::int64_t w_ns{0};
    /// What the main thread pays for queueing, on the fastest CPU.
    std::int64_t ovh_ns{0};
    /// Holds of the busiest shared lock.
    std::int64_t sh_ns{0};
    /// All callbacks one after the other on the fastest CPU; no bound, but what sync takes at best.
    std::int64_t sum_ns{0};

    std::int64_t bound_ns() const {
        const std::int64_t one = cp_ns > w_ns ? cp_ns : w_ns;
        const std::int64_t two = ovh_ns > sh_ns ? ovh_ns : sh_ns;
        return one > two ? one : two;
    }
    bool operator==(const Bounds&) const = default;
};

/// One phase of one cycle.
struct PhaseResult {
    std::int64_t ns{0};
    std::int64_t items{0};         // work items queued
    std::int64_t blocks{0};        // waits for another device that really slept
    std::int64_t mutex_blocks{0};  // for the mutex of the device lists
    std::int64_t lock_blocks{0};   // for shared locks
    std::int64_t live_workers{0};  // most items started and not finished at one time
    std::int64_t created_workers{0};
    std::int64_t callbacks{0};  // executed
    std::int64_t callbacks_by_workers{0};
    Bounds bounds;

    bool operator==(const PhaseResult&) const = default;
};

/// Of one side: suspend, suspend_late and suspend_noirq, or resume_noirq, resume_early and resume.
struct Side {
    std::int64_t ns{0};
    std::int64_t switches{0};    // of CPUs, idle included
    std::int64_t switch_ins{0};  // of the main thread and workers
    std::int64_t wakeups{0};
    std::int64_t migrations{0};
    double energy_mj{0.0};

    bool operator==(const Side&) const = default;
};

struct Cycle {
    Outcome outcome{Outcome::done};
    /// Phase in which it failed, was aborted or is stuck; prepare otherwise.
    Phase ended_in{Phase::prepare};
    /// Device that failed, or saw the wakeup event; kNoDevice otherwise. A place in the list.
    std::int32_t device{-1};
    std::array<PhaseResult, kPhases> phases{};
    Side suspend;
    Side resume;

    bool operator==(const Cycle&) const = default;
};

/// One replicate.
struct Result {
    std::vector<Cycle> cycles;
    /// Busy time per cycle, side (suspend first) and cluster, in this order.
    std::vector<std::int64_t> cluster_busy_ns;
    /// Time of the main thread on the CPUs of each cluster, likewise.
    std::vector<std::int64_t> main_ns;
    /// Who waits for whom, of the first cycle that is stuck; empty otherwise.
    std::string stuck;

    bool operator==(const Result&) const = default;
};

/// What became of one device in one phase of a cycle; times since the start of the phase.
struct Interval {
    Phase phase{Phase::prepare};
    std::int32_t device{0};      // place in the list
    std::int64_t queued_ns{-1};  // as a work item; -1: never
    std::int64_t taken_ns{-1};   // by its worker, or by the walk
    std::int64_t begin_ns{-1};   // all waits are over; -1: it was never reached
    std::int64_t end_ns{-1};
    std::int64_t lock_wait_ns{0};
    std::int32_t worker{0};  // 0: the main thread
    std::int32_t cpu{-1};    // on which it ended
    bool called{false};      // its callback ran
    bool in_place{false};    // handled without a worker though async
    /// Device that it waited for last, or kNoDevice.
    std::int32_t waited_for{-1};
    /// Device that held the shared lock before it, or kNoDevice.
    std::int32_t lock_after{-1};

    bool operator==(const Interval&) const = default;
};

}  // namespace torpor::dpm
