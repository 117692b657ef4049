// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "torpor/base/units.hpp"

// What a board is to the models: plain records, checked once by validate(). Where each number comes from is
// kept beside them by the Python face; no model reads it.
namespace torpor::board {

/// One idle state as the governor and the power model see it.
struct IdleState {
    std::string name;
    /// Time the hardware needs to go down; part of the residency that the kernel books.
    Duration entry_latency{0};
    /// Time from the interrupt to the first instruction, the hardware's own wake-up cost.
    Duration wake_latency{0};
    /// Worst case that the governor is told: wakeup-latency-us when the device tree has it, else entry +
    /// exit.
    Duration exit_latency{0};
    Duration target_residency{0};
    /// The CPU spins (x86 POLL); never more than one, and only the first.
    bool polling{false};
    /// Votes for powering the cluster down; takes effect while every CPU of the cluster votes so.
    bool cluster{false};
    /// Power of one CPU in this state.
    std::optional<Power> power{};
    /// Power of the cluster while this is the deepest state that all its CPUs have agreed on; that of the
    /// first state unless this one votes the cluster down.
    std::optional<Power> cluster_power{};

    bool operator==(const IdleState&) const = default;
};

/// One operating point.
struct Opp {
    Frequency frequency{Frequency::hz(0)};
    std::optional<Power> power{};          // one busy CPU
    std::optional<Power> cluster_power{};  // the cluster while at least one CPU is not in a cluster state

    bool operator==(const Opp&) const = default;
};

/// CPUs that share a power domain, a frequency and one idle table.
struct Cluster {
    std::string name;
    std::vector<int> cpus;
    int capacity{1024};
    std::vector<Opp> opps;
    std::vector<IdleState> idle_states;

    bool operator==(const Cluster&) const = default;
};

/// Time that the idle loop and the interrupt handlers take on this board.
struct IdleCosts {
    Duration select_to_entry{0};  // from select to the entry of the state
    Duration ipi_handler{0};
    Duration timer_handler{0};
    Duration tick_handler{0};
    Duration interrupt_exit{0};  // from the last handler to the new idle entry time E
    Duration reflect{0};         // from E to reflect

    bool operator==(const IdleCosts&) const = default;
};

struct Board {
    std::string name;
    int tick_hz{250};
    std::vector<Cluster> clusters;
    IdleCosts idle_costs;

    int cpu_count() const;
    /// Cluster that holds `cpu`; throws ConfigError when none does.
    const Cluster& cluster_of(int cpu) const;

    bool operator==(const Board&) const = default;
};

/// Throws ConfigError with the key path of the first entry that breaks a rule; the path is the one of the
/// board file, for example "clusters[0].idle_states[2].target_residency_us". The rules:
/// - HZ is 1..10000; board and clusters have names, and cluster names differ; a capacity is 1..1024 as in the
/// scheduler;
/// - the clusters share out CPUs 0..n-1, each exactly once;
/// - an idle table has 1..kMaxIdleStates named states, of which only the first may poll; no time is negative
/// or beyond
///   kMaxStateTime; neither target residency nor exit latency ever falls with depth. Equal ones are fine
///   (Skylake's C7s and C8), and so is a residency below the latency (Bay Trail's C6N);
/// - operating points have ascending frequencies above zero; there may be none;
/// - a power is finite and not negative, and one table gives it for all its rows or for none.
void validate(const Board& board);

/// Longest time that a state or a cost may have: the kernel keeps both as 32-bit microseconds.
inline constexpr Duration kMaxStateTime{std::chrono::microseconds{2147483647}};

/// The kernel's CPUIDLE_STATE_MAX.
inline constexpr std::size_t kMaxIdleStates = 10;

}  // namespace torpor::board
