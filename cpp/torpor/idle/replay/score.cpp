// SPDX-License-Identifier: MIT
#include "torpor/idle/replay/score.hpp"

#include <algorithm>

#include "torpor/idle/energy.hpp"

namespace torpor::idle {

namespace {

struct Step {
    std::int64_t time_ns{0};
    int cpu{0};
    int state{0};
    bool enter{false};
};

void add_period(std::vector<Step>& steps, int cpu, int state, std::int64_t entry_ns, std::int64_t exit_ns) {
    steps.push_back({entry_ns, cpu, state, true});
    steps.push_back({exit_ns, cpu, state, false});
}

// All CPUs' entries and exits in time order; the order within one CPU is kept.
std::vector<Step> steps_of(const TraceWalk& walk, const std::vector<ClosedCpu>& cpus,
                           const board::Board& board) {
    std::vector<Step> steps;
    std::vector<bool> seen(static_cast<std::size_t>(board.cpu_count()));
    const auto deepest = [&](int cpu) {
        return static_cast<int>(board.cluster_of(cpu).idle_states.size()) - 1;
    };
    for (std::size_t i = 0; i < cpus.size(); ++i) {
        const CpuTrace& trace = walk.cpus[i];
        seen[static_cast<std::size_t>(trace.cpu)] = true;
        if (trace.idle_until_ns > walk.begin_ns) {
            add_period(steps, trace.cpu, deepest(trace.cpu), walk.begin_ns, trace.idle_until_ns);
        }
        for (const ReplayPeriod& period : cpus[i].periods) {
            add_period(steps, trace.cpu, period.state, period.entry_ns, period.exit_ns);
        }
    }
    for (int cpu = 0; cpu < board.cpu_count(); ++cpu) {
        if (!seen[static_cast<std::size_t>(cpu)])
            add_period(steps, cpu, deepest(cpu), walk.begin_ns, walk.end_ns);
    }
    std::stable_sort(steps.begin(), steps.end(),
                     [](const Step& a, const Step& b) { return a.time_ns < b.time_ns; });
    return steps;
}

}  // namespace

std::map<int, StateTable> tables_of(const board::Board& board) {
    std::map<int, StateTable> tables;
    for (const board::Cluster& cluster : board.clusters) {
        const StateTable table = StateTable::of(cluster);
        for (const int cpu : cluster.cpus) tables.emplace(cpu, table);
    }
    return tables;
}

PowerByCpu powers_of(const board::Board& board, std::span<const std::size_t> opps) {
    PowerByCpu powers;
    for (std::size_t c = 0; c < board.clusters.size(); ++c) {
        const auto power = ClusterPower::make(board.clusters[c], opps[c]);
        for (const int cpu : board.clusters[c].cpus) powers.emplace(cpu, power);
    }
    return powers;
}

ReplayScore score_periods(const TraceWalk& walk, const std::vector<ClosedCpu>& cpus,
                          const board::Board& board, std::span<const std::size_t> opps,
                          Coordination coordination, std::int64_t latency_limit_us) {
    EnergyLedger ledger{board, opps, coordination, {}, latency_limit_us};
    ledger.reset(walk.begin_ns);
    for (const Step& step : steps_of(walk, cpus, board)) {
        if (step.enter) {
            ledger.enter(step.cpu, step.state, step.time_ns);
        } else {
            ledger.leave(step.cpu, step.time_ns);
        }
    }
    ledger.finish(walk.end_ns);

    ReplayScore score;
    score.energy_mj = ledger.total_mj();
    const std::map<int, StateTable> tables = tables_of(board);
    std::vector<std::int64_t> all_latencies_ns;
    for (std::size_t i = 0; i < cpus.size(); ++i) {
        const int cpu = walk.cpus[i].cpu;
        const board::Cluster& cluster = board.cluster_of(cpu);
        Counters counters;
        std::vector<std::int64_t> latencies_ns(static_cast<std::size_t>(cpus[i].found_awake), 0);
        for (const ReplayPeriod& period : cpus[i].periods) {
            counters.book(tables.at(cpu), period.state, period.residency_ns, 0);
            if (!period.awaited) continue;
            latencies_ns.push_back(
                to_ns(cluster.idle_states[static_cast<std::size_t>(period.state)].wake_latency));
        }
        all_latencies_ns.insert(all_latencies_ns.end(), latencies_ns.begin(), latencies_ns.end());
        score.cpus.push_back(
            {counters.states(), cpus[i].tick_stops, LatencySummary::of(latencies_ns), ledger.cpu_mj(cpu)});
    }
    score.latency = LatencySummary::of(all_latencies_ns);
    return score;
}

}  // namespace torpor::idle
