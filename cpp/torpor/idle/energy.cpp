// SPDX-License-Identifier: MIT
#include "torpor/idle/energy.hpp"

#include <limits>
#include <utility>

namespace torpor::idle {

namespace {

double energy_mj(double mw, std::int64_t ns) {
    return mw * static_cast<double>(ns) * 1e-9;
}

int shallowest(const std::array<int, kMaxStates>& idle_in) {
    int state = 0;
    while (state < kMaxStates - 1 && idle_in[static_cast<std::size_t>(state)] == 0) ++state;
    return state;
}

}  // namespace

std::optional<ClusterPower> ClusterPower::make(const board::Cluster& cluster, std::size_t opp) {
    if (opp >= cluster.opps.size() || !cluster.opps[opp].power) return std::nullopt;
    ClusterPower result;
    result.busy_cpu_mw_ = cluster.opps[opp].power->in_mw();
    result.busy_cluster_mw_ = cluster.opps[opp].cluster_power.value_or(Power{}).in_mw();
    for (std::size_t i = 0; i < cluster.idle_states.size(); ++i) {
        const board::IdleState& state = cluster.idle_states[i];
        if (!state.power) return std::nullopt;
        result.cpu_mw_[i] = state.power->in_mw();
        result.cluster_mw_[i] = state.cluster_power.value_or(Power{}).in_mw();
        if (i == 0) continue;
        const std::int64_t residency_ns = to_ns(state.target_residency);
        result.cpu_transition_mj_[i] = result.cpu_transition_mj_[i - 1] +
                                       energy_mj(result.cpu_mw_[i - 1] - result.cpu_mw_[i], residency_ns);
        result.cluster_transition_mj_[i] =
            result.cluster_transition_mj_[i - 1] +
            energy_mj(result.cluster_mw_[i - 1] - result.cluster_mw_[i], residency_ns);
    }
    return result;
}

EnergyLedger::EnergyLedger(const board::Board& board, std::span<const std::size_t> opps,
                           Coordination coordination, std::span<const std::uint32_t> disabled,
                           std::int64_t latency_limit_us)
    : coordination_{coordination}, cpus_(static_cast<std::size_t>(board.cpu_count())) {
    for (std::size_t c = 0; c < board.clusters.size(); ++c) {
        const board::Cluster& given = board.clusters[c];
        Cluster cluster;
        cluster.cpus = static_cast<int>(given.cpus.size());
        cluster.power = ClusterPower::make(given, opps[c]);
        for (std::size_t i = 0; i < given.idle_states.size(); ++i) {
            const board::IdleState& state = given.idle_states[i];
            cluster.votes[i] = state.cluster;
            cluster.residency_ns[i] = to_ns(state.target_residency);
            const bool enabled = disabled.empty() || ((disabled[c] >> i) & 1U) == 0;
            if (state.cluster && enabled && state.exit_latency <= from_us(latency_limit_us)) {
                cluster.hindsight_state = static_cast<int>(i);
            }
        }
        for (const int cpu : given.cpus) cpus_[static_cast<std::size_t>(cpu)].cluster = c;
        clusters_.push_back(std::move(cluster));
    }
    reset(0);
}

void EnergyLedger::reset(std::int64_t start_ns) {
    for (Cpu& cpu : cpus_) {
        cpu.state = kRunning;
        cpu.since_ns = start_ns;
        cpu.mj = 0.0;
    }
    for (Cluster& cluster : clusters_) {
        cluster.running = cluster.cpus;
        cluster.idle_in = {};
        cluster.since_ns = start_ns;
        cluster.mj = 0.0;
        cluster.off_ns = 0;
        cluster.level = kUp;
    }
}

void EnergyLedger::settle_cpu(Cpu& cpu, std::int64_t now_ns) const {
    if (const std::optional<ClusterPower>& power = clusters_[cpu.cluster].power) {
        const double mw = cpu.state == kRunning ? power->busy_cpu_mw() : power->cpu_mw(cpu.state);
        cpu.mj += energy_mj(mw, now_ns - cpu.since_ns);
    }
    cpu.since_ns = now_ns;
}

void EnergyLedger::settle_cluster(Cluster& cluster, std::int64_t now_ns) {
    const std::int64_t length_ns = now_ns - cluster.since_ns;
    cluster.since_ns = now_ns;
    if (cluster.level != kUp) cluster.down_ns += length_ns;
    if (!cluster.power) return;
    const ClusterPower& power = *cluster.power;
    if (cluster.level != kUp) {
        cluster.down_mj += energy_mj(power.cluster_mw(cluster.level), length_ns);
        cluster.up_mj += energy_mj(power.cluster_mw(0), length_ns);
    } else {
        const double mw =
            cluster.running > 0 ? power.busy_cluster_mw() : power.cluster_mw(shallowest(cluster.idle_in));
        cluster.mj += energy_mj(mw, length_ns);
    }
}

int EnergyLedger::level_of(const Cluster& cluster) const {
    if (cluster.running > 0) return kUp;
    if (coordination_ == Coordination::hindsight) return cluster.hindsight_state;
    const int state = shallowest(cluster.idle_in);
    return cluster.votes[static_cast<std::size_t>(state)] ? state : kUp;
}

void EnergyLedger::change_level(Cluster& cluster) const {
    const int level = level_of(cluster);
    if (level == cluster.level) return;
    if (level == kUp) {
        come_up(cluster);
        return;
    }
    if (cluster.level == kUp) {
        cluster.down_ns = 0;
        cluster.down_mj = cluster.up_mj = 0.0;
    }
    if (cluster.power && level > cluster.level) {
        const double paid_mj =
            cluster.level == kUp ? 0.0 : cluster.power->cluster_transition_mj(cluster.level);
        cluster.down_mj += cluster.power->cluster_transition_mj(level) - paid_mj;
    }
    cluster.level = level;
}

void EnergyLedger::come_up(Cluster& cluster) const {
    bool went_down = true;
    if (coordination_ == Coordination::hindsight) {
        const std::int64_t least_ns = cluster.residency_ns[static_cast<std::size_t>(cluster.level)];
        went_down = cluster.power ? cluster.down_mj < cluster.up_mj : cluster.down_ns >= least_ns;
    }
    cluster.mj += went_down ? cluster.down_mj : cluster.up_mj;
    if (went_down) cluster.off_ns += cluster.down_ns;
    cluster.level = kUp;
}

void EnergyLedger::enter(int cpu_index, int state, std::int64_t now_ns) {
    Cpu& cpu = cpus_[static_cast<std::size_t>(cpu_index)];
    Cluster& cluster = clusters_[cpu.cluster];
    settle_cluster(cluster, now_ns);
    settle_cpu(cpu, now_ns);
    cpu.state = state;
    if (cluster.power) cpu.mj += cluster.power->cpu_transition_mj(state);
    cluster.running -= 1;
    cluster.idle_in[static_cast<std::size_t>(state)] += 1;
    change_level(cluster);
}

void EnergyLedger::leave(int cpu_index, std::int64_t now_ns) {
    Cpu& cpu = cpus_[static_cast<std::size_t>(cpu_index)];
    Cluster& cluster = clusters_[cpu.cluster];
    settle_cluster(cluster, now_ns);
    settle_cpu(cpu, now_ns);
    cluster.idle_in[static_cast<std::size_t>(cpu.state)] -= 1;
    cluster.running += 1;
    cpu.state = kRunning;
    change_level(cluster);
}

void EnergyLedger::finish(std::int64_t end_ns) {
    for (Cluster& cluster : clusters_) {
        settle_cluster(cluster, end_ns);
        if (cluster.level != kUp) come_up(cluster);
    }
    for (Cpu& cpu : cpus_) settle_cpu(cpu, end_ns);
}

double EnergyLedger::total_mj() const {
    double mj = 0.0;
    for (int cpu = 0; cpu < static_cast<int>(cpus_.size()); ++cpu) mj += cpu_mj(cpu);
    return mj;
}

double EnergyLedger::cpu_mj(int cpu_index) const {
    const Cpu& cpu = cpus_[static_cast<std::size_t>(cpu_index)];
    const Cluster& cluster = clusters_[cpu.cluster];
    if (!cluster.power) return std::numeric_limits<double>::quiet_NaN();
    return cpu.mj + cluster.mj / cluster.cpus;
}

}  // namespace torpor::idle
