// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "torpor/board/board.hpp"
#include "torpor/idle/counters.hpp"
#include "torpor/idle/replay/replay.hpp"
#include "torpor/idle/result.hpp"

// What the periods of a replay, or of the trace itself, amount to on a board.
namespace torpor::idle {

struct ReplayCpuScore {
    std::array<StateCounters, kMaxStates> states{};
    std::int64_t tick_stops{0};
    LatencySummary latency;
    /// With an equal part of the cluster's energy; NaN when the board publishes no power.
    double energy_mj{0.0};
};

struct ReplayScore {
    std::vector<ReplayCpuScore> cpus;  // in the order of TraceWalk::cpus
    LatencySummary latency;
    /// Whole board; NaN when it publishes no power.
    double energy_mj{0.0};
};

/// Idle tables of all CPUs of a board.
std::map<int, StateTable> tables_of(const board::Board& board);

/// What the bounds choose by; `opps` as for EnergyLedger.
PowerByCpu powers_of(const board::Board& board, std::span<const std::size_t> opps);

/// Energy follows EnergyLedger from the first to the last line of the trace. A period in progress at the
/// beginning, and a CPU of the board without a line in the trace, is taken to be in the deepest state,
/// whatever the policy. The latency of a wakeup that somebody waited for is the wake latency of the state it
/// finds; the tick counts for nothing. Bounds are scored in hindsight, within the latency limit.
ReplayScore score_periods(const TraceWalk& walk, const std::vector<ClosedCpu>& cpus,
                          const board::Board& board, std::span<const std::size_t> opps,
                          Coordination coordination = Coordination::firmware,
                          std::int64_t latency_limit_us = kNoLatencyLimitUs);

}  // namespace torpor::idle
