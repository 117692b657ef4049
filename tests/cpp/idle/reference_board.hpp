// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "torpor/idle/scenario.hpp"

// The deterministic reference run "R1": one CPU of a board, an IPI every 50.037 ms (so that its phase against
// the tick drifts), a 4 ms timer, ten of 1 ms; 10 s, ticks on a grid through zero.
namespace torpor::idle::reference {

inline board::IdleCosts costs() {
    return {from_us(6), from_us(8), from_us(5), from_us(5), from_us(10), from_us(2)};
}

struct StateSpec {
    const char* name;
    std::int64_t wake_us;
    std::int64_t exit_latency_us;
    std::int64_t target_residency_us;
};

inline board::Board board(const std::vector<StateSpec>& states, int hz) {
    board::Cluster cluster;
    cluster.name = "cluster0";
    cluster.cpus = {0};
    for (const StateSpec& spec : states) {
        board::IdleState state;
        state.name = spec.name;
        state.wake_latency = from_us(spec.wake_us);
        state.exit_latency = from_us(spec.exit_latency_us);
        state.target_residency = from_us(spec.target_residency_us);
        cluster.idle_states.push_back(state);
    }
    cluster.idle_states.back().cluster = true;
    return {"reference", hz, {cluster}, costs()};
}

inline board::Board hi6220(int hz) {
    return board({{"WFI", 3, 1, 1}, {"cpu-sleep", 250, 950, 1000}, {"cluster-sleep", 700, 1500, 2700}}, hz);
}

inline board::Board hi3660_a73(int hz) {
    return board({{"WFI", 3, 1, 1}, {"cpu-sleep", 250, 950, 1500}, {"cluster-sleep", 700, 3700, 3500}}, hz);
}

inline Source ipi_pattern(std::int64_t first_ns, std::int64_t period_ns) {
    Source source;
    source.name = "ipi";
    source.arrivals = PeriodicArrivals{period_ns, first_ns, 0, 0};
    source.chain_first_ns = 4000000;
    source.chain_next_ns = 1000000;
    source.chain_repeats = 10;
    return source;
}

inline Scenario scenario(const board::Board& board, std::int64_t first_ns = 50037000,
                         std::int64_t period_ns = 50037000) {
    Scenario scenario;
    scenario.board = board;
    scenario.sources = {ipi_pattern(first_ns, period_ns)};
    scenario.duration_ns = 10000000000;
    scenario.tick_phase_ns = 0;
    scenario.disabled = {0};
    scenario.opps = {0};
    return scenario;
}

}  // namespace torpor::idle::reference
