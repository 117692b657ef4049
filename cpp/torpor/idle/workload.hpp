// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "torpor/base/random.hpp"

// What wakes the CPUs: a set of named sources. Each source owns a random stream of its own name, so that
// adding one moves no other, and its arrivals do not depend on the policy: two policies meet the same world.
namespace torpor::idle {

/// Longest time that a scenario may name, 10^18 ns (31 years): sums of a few stay within 64 bits.
inline constexpr std::int64_t kLongestTime = 1000000000000000000;

/// One arrival each `period_ns`, the first at `first_ns` plus a uniform share of `first_spread_ns`; every gap
/// is lengthened by a uniform share of `jitter_ns`.
struct PeriodicArrivals {
    std::int64_t period_ns{0};
    std::int64_t first_ns{0};
    std::int64_t first_spread_ns{0};
    std::int64_t jitter_ns{0};

    bool operator==(const PeriodicArrivals&) const = default;
};

/// Poisson process: exponential gaps.
struct PoissonArrivals {
    std::int64_t mean_gap_ns{0};

    bool operator==(const PoissonArrivals&) const = default;
};

/// Lognormal gaps given by their median and the standard deviation of the logarithm.
struct LognormalArrivals {
    std::int64_t median_gap_ns{0};
    double sigma{0.0};

    bool operator==(const LognormalArrivals&) const = default;
};

/// Bursts of `burst_min..burst_max` arrivals with uniform gaps `gap_min_ns..gap_max_ns`, parted by uniform
/// quiet times.
struct BurstyArrivals {
    std::int64_t quiet_min_ns{0};
    std::int64_t quiet_max_ns{0};
    std::int64_t gap_min_ns{0};
    std::int64_t gap_max_ns{0};
    std::int64_t burst_min{1};
    std::int64_t burst_max{1};

    bool operator==(const BurstyArrivals&) const = default;
};

/// Given instants, ascending.
struct RecordedArrivals {
    std::vector<std::int64_t> times_ns;

    bool operator==(const RecordedArrivals&) const = default;
};

using Arrivals =
    std::variant<PeriodicArrivals, PoissonArrivals, LognormalArrivals, BurstyArrivals, RecordedArrivals>;

/// How the kernel knows of an arrival before it happens.
enum class SourceKind {
    interrupt,  // not at all: a device or another CPU
    hrtimer,    // programmed in the clock-event device, seen by the governor
    wheel,  // timer wheel: expires on a tick (or on the stopped tick's re-aimed timer), seen by the governor
};

/// A source of wakeups of one CPU, and what its handler does.
struct Source {
    std::string name;
    int cpu{0};
    SourceKind kind{SourceKind::interrupt};
    Arrivals arrivals;
    /// Each arrival arms an hrtimer `chain_first_ns` ahead, which re-arms itself `chain_next_ns` ahead
    /// `chain_repeats` times.
    std::int64_t chain_first_ns{0};
    std::int64_t chain_next_ns{0};
    int chain_repeats{0};
    /// Run time of the task that the handler wakes; 0 wakes none, so the idle loop goes on with the tick as
    /// it was.
    std::int64_t task_run_ns{0};

    bool has_chain() const { return chain_first_ns > 0; }
    bool operator==(const Source&) const = default;
};

/// Throws ConfigError naming the source and the first parameter that cannot be.
void validate(const Source& source, int cpu_count);

/// Draws one source's arrival times.
class ArrivalStream {
  public:
    ArrivalStream(const Arrivals& arrivals, RandomStream random);
    /// The next instant, never before the last; kNoTimer when a recording has ended.
    std::int64_t next_ns();

  private:
    const Arrivals* arrivals_;
    RandomStream random_;
    std::int64_t last_ns_{0};
    std::int64_t left_in_burst_{0};
    std::size_t drawn_{0};
};

}  // namespace torpor::idle
