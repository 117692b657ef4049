// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "torpor/board/board.hpp"

namespace torpor::sched {

/// One CPU at a frozen frequency.
struct Cpu {
    std::int64_t freq_hz{0};
    int capacity{1024};
    int cluster{0};
    /// From a wakeup to the first instruction when the CPU was idle; not counted as busy.
    std::int64_t wake_latency_ns{0};
    /// How fast it gets through work that is measured in cycles of the biggest CPUs; 0: at its frequency.
    std::int64_t work_hz{0};

    std::int64_t rate_hz() const { return work_hz == 0 ? freq_hz : work_hz; }

    bool operator==(const Cpu&) const = default;
};

/// Most CPUs of a machine, the kernel's NR_CPUS limit on arm64 and x86 distributions.
inline constexpr std::size_t kMaxCpus = 8192;

/// The CPUs of a board, each cluster at the operating point of its index in `opps`. Capacity says how much a
/// cluster does at its highest frequency, so one of capacity c at frequency f works as fast as the biggest
/// cluster would at f (c / c_biggest) (f_max of the biggest / own f_max).
std::vector<Cpu> cpus_of(const board::Board& board, const std::vector<std::size_t>& opps);

/// Throws ConfigError for no CPUs, too many, a frequency or capacity that is not positive, a negative
/// latency.
void validate(const std::vector<Cpu>& cpus);

/// Work in cycles on a clock, rounded to the nearest nanosecond, halves up.
std::int64_t cycles_to_ns(std::int64_t cycles, std::int64_t freq_hz);

}  // namespace torpor::sched
