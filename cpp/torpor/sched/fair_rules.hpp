// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "torpor/sched/performance_domain.hpp"
#include "torpor/sched/rules.hpp"

namespace torpor::sched {

/// Latency of leaving idle for a CPU that has been idle for at least so long: it passes before the first
/// instruction of what was woken (K3).
struct IdleExit {
    std::int64_t after_ns{0};
    std::int64_t exit_ns{0};

    bool operator==(const IdleExit&) const = default;
};

/// One CPU of a heterogeneous machine at a frozen frequency.
struct FairCpu {
    /// How fast it gets through work given in reference-CPU ns: capacity / 1024 times the frozen frequency
    /// over the highest.
    double rate{1.0};
    int capacity{1024};
    /// Frozen frequency over the highest.
    double relative_freq{1.0};
    int cluster{0};
    /// By ascending `after_ns`; none: no latency.
    std::vector<IdleExit> idle_exits;

    bool operator==(const FairCpu&) const = default;
};

/// Where a woken entity goes, with queues of their own, when EAS does not decide.
///   spread        the previous CPU if idle, else the waker's if fewer are runnable there; from this target
///                 upward with wrap the first idle CPU that the entity's utilisation fits; if none fits the
///                 idle one with most capacity; if none is idle the target (K9)
///   biggest_idle  the idle CPU with most capacity; if none is idle the target of `spread`
///   pinned        the previous CPU
enum class FairPlacement : std::uint8_t { spread, biggest_idle, pinned };

struct FairRules {
    /// global: one FIFO queue and the lowest idle CPU, the reference mode; nothing below but `shared_cpus`,
    /// `by_priority` and the costs matters then.
    Queues queues{Queues::per_cpu};
    FairPlacement placement{FairPlacement::spread};
    /// Energy-aware wake-up placement, and no balancing, while no CPU is overutilised.
    bool eas{false};
    /// The target of `spread` may be the waker's CPU; otherwise it is always the previous one (K9).
    bool wake_affine{true};
    /// A CPU about to go idle takes the head of the longest queue, unless EAS forbids it.
    bool pull{true};
    /// What ran less than this ago is not pulled.
    std::int64_t cache_hot_ns{500'000};
    /// What runs longer goes to the tail of its queue when others wait; 0: never.
    std::int64_t slice_ns{3'000'000};
    /// A woken entity takes the CPU of one that has run for this long; 0: never.
    std::int64_t wakeup_granularity_ns{0};
    /// Period of the scheduler's tick: a running entity that does not fit its CPU moves to the largest idle
    /// one, and the overutilised flag is worked out anew; 0: no tick.
    std::int64_t tick_ns{4'000'000};
    /// Extra exit latency when the whole cluster has been idle for the longest `after_ns`.
    std::int64_t cluster_exit_ns{0};
    /// How many CPUs' worth of work all CPUs do together: n running entities each go at min(1, shared / n).
    /// 0: as many as there are.
    double shared_cpus{0.0};
    /// Take the entity of the highest priority from the global queue instead of its head, and the idle CPU of
    /// most capacity.
    bool by_priority{false};

    bool operator==(const FairRules&) const = default;
};

/// CPU time of scheduling, in reference-CPU ns.
struct FairCosts {
    std::int64_t switch_ns{0};     // paid by what is switched in
    std::int64_t wake_ns{0};       // paid by the waker
    std::int64_t idle_ipi_ns{0};   // paid by the waker when the CPU was idle and not its own
    std::int64_t migration_ns{0};  // paid by what starts on another CPU than before

    bool operator==(const FairCosts&) const = default;
};

/// CPUs with their performance domains, one per cluster; none: no EAS.
struct FairMachine {
    std::vector<FairCpu> cpus;
    std::vector<PerformanceDomain> domains;

    bool operator==(const FairMachine&) const = default;
};

/// Throws ConfigError for no CPUs, too many, a rate or capacity that is not positive, clusters without a
/// domain when EAS is on, negative times.
void validate(const FairMachine& machine, const FairRules& rules);

}  // namespace torpor::sched
