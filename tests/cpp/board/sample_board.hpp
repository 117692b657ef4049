// SPDX-License-Identifier: MIT
#pragma once

#include "torpor/board/board.hpp"

namespace torpor::board {

/// A board that breaks no rule: two clusters of two CPUs, three states each. Tests spoil one entry at a time.
inline Board sample_board() {
    const auto state = [](const char* name, std::int64_t latency_us, std::int64_t residency_us, double mw) {
        IdleState made;
        made.name = name;
        made.wake_latency = from_us(latency_us);
        made.exit_latency = from_us(latency_us);
        made.target_residency = from_us(residency_us);
        made.power = Power::mw(mw);
        made.cluster_power = Power::mw(mw == 0 ? 0 : 50);
        return made;
    };
    Cluster little;
    little.name = "little";
    little.cpus = {0, 1};
    little.capacity = 512;
    little.opps = {{Frequency::khz(500000), Power::mw(50), Power::mw(10)},
                   {Frequency::khz(1000000), Power::mw(120), Power::mw(20)}};
    little.idle_states = {state("WFI", 1, 1, 5), state("cpu-sleep", 950, 1000, 1),
                          state("cluster-sleep", 1500, 2700, 0)};
    little.idle_states.back().cluster = true;
    Cluster big = little;
    big.name = "big";
    big.cpus = {2, 3};
    big.capacity = 1024;
    Board board;
    board.name = "sample";
    board.clusters = {little, big};
    return board;
}

}  // namespace torpor::board
