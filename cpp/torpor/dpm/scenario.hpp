// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "torpor/dpm/generator.hpp"
#include "torpor/dpm/graph.hpp"
#include "torpor/sched/fair_rules.hpp"

namespace torpor::dpm {

/// Longest cost on the slowest CPU. A million devices with ten costs each stay far below the longest time
/// that the engine reckons with.
inline constexpr std::int64_t kMaxCostNs = 100'000'000'000;

/// CPU time of the device core and its workers, in reference-CPU ns (divided by the rate of the CPU).
struct Costs {
    std::int64_t queue_ns{0};           // queue one work item
    std::int64_t dispatch_ns{0};        // take and retire one
    std::int64_t core_ns{0};            // per device and phase, whoever handles it
    std::int64_t list_step_ns{0};       // per device and walk
    std::int64_t check_ns{0};           // per dependency looked at
    std::int64_t recheck_ns{0};         // of main, each time that the barrier wakes it
    std::int64_t callback_ns{0};        // in front of each callback
    std::int64_t tail_ns{0};            // of main, after the barrier
    std::int64_t create_ns{0};          // creating a worker: CPU time ...
    std::int64_t create_latency_ns{0};  // ... and time asleep

    bool operator==(const Costs&) const = default;
};

/// Where the main thread stands when a side begins.
struct MainThread {
    int suspend_cpu{0};
    double suspend_utilisation{0.0};
    int resume_cpu{0};
    double resume_utilisation{0.0};
    /// Leaves its CPU to ready workers when none is free.
    bool gives_way{false};
    /// Stays on these CPUs instead of being placed like any other thread (K2).
    bool pinned{false};

    bool operator==(const MainThread&) const = default;
};

struct Workers {
    /// A worker of its own for every item, without any rule of a pool.
    bool per_item{false};
    /// Workers that exist already.
    std::int64_t initial{4};

    bool operator==(const Workers&) const = default;
};

/// Which devices are async: those of the graph's flags, none, all, or each with probability `share` (a
/// device that is async at one share is so at every larger one).
struct AsyncDevices {
    enum class Kind : std::uint8_t { flagged, none, all, share };
    Kind kind{Kind::flagged};
    double share{1.0};

    bool operator==(const AsyncDevices&) const = default;
};

/// Power while a side lasts, per cluster.
struct ClusterPower {
    double busy_mw{0.0};     // of one busy CPU
    double idle_mw{0.0};     // of one idle CPU
    double cluster_mw{0.0};  // of the cluster itself

    bool operator==(const ClusterPower&) const = default;
};

/// Factors on all CPU work and sleeps of callbacks.
struct Scales {
    double suspend{1.0};
    double resume{1.0};

    bool operator==(const Scales&) const = default;
};

/// Everything but the policy.
struct Scenario {
    sched::FairMachine machine;
    sched::FairRules rules;
    sched::FairCosts sched_costs;
    std::array<Costs, kPhases> costs{};
    MainThread main;
    Workers workers;
    /// One graph, or a new one for each replicate.
    std::variant<std::shared_ptr<const Graph>, Generator> devices;
    AsyncDevices async;
    /// Every finished async item wakes the main thread while it waits in the barrier (K1); otherwise only
    /// the last.
    bool barrier_wakes{true};
    /// The check whether a device is ready costs all that it depends on, instead of ending with the first
    /// that is not done (K7).
    bool checks_all{false};
    /// Devices without callbacks are left alone when runtime power management allows it.
    bool direct_complete{true};
    /// Switching EAS off takes the main thread this long, inside the phase that it precedes.
    std::int64_t eas_switch_ns{0};
    /// Standard deviation of the logarithm of a factor on the length of each callback, drawn per cycle, with
    /// median 1.
    double jitter{0.0};
    /// Period of the tick that ends sleeps through the timer wheel, and the phase of its grid when a side
    /// begins; drawn per side when not given.
    std::int64_t tick_ns{4'000'000};
    std::optional<std::int64_t> since_tick_ns{};
    /// Of one replicate: cycles that are run but not reported, then those that are.
    std::int64_t warmup_cycles{0};
    std::int64_t cycles{1};
    /// Of replicate r at place r; none: 1.
    std::vector<Scales> scales;
    /// Per cluster; none: no energy.
    std::vector<ClusterPower> power;

    bool operator==(const Scenario&) const = default;
};

/// Throws ConfigError with the key of the first entry that breaks a rule.
void validate(const Scenario& scenario);

/// The reference mode: identical CPUs of rate 1, one global FIFO queue, no cost, a worker per item.
Scenario reference_scenario(std::shared_ptr<const Graph> graph, int cpus);

}  // namespace torpor::dpm
