// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "torpor/board/board.hpp"
#include "torpor/idle/state_table.hpp"

// Energy of idle periods.
//
// A CPU takes its state's power from entry to the end of the wake-up (the residency that the kernel books)
// and its operating point's power otherwise. A cluster takes its operating point's power while one of its
// CPUs runs, and the cluster power of the shallowest state among them while all idle (firmware coordination:
// it goes down only as far as its last CPU allows).
//
// Going down costs a transition energy. Nobody publishes it, but the target residency defines it: at exactly
// that length two neighbouring states cost the same. So T(i) = T(i-1) + (P(i-1) - P(i)) * target_residency(i)
// with T(0) = 0, once with the CPU's powers, paid at each entry, and once with the cluster's, paid when the
// cluster really goes down.
namespace torpor::idle {

/// Power model of one cluster; only made for clusters whose tables carry power.
class ClusterPower {
  public:
    /// nullopt when the board publishes no power for this cluster. `opp` indexes the cluster's operating
    /// points.
    static std::optional<ClusterPower> make(const board::Cluster& cluster, std::size_t opp);

    double busy_cpu_mw() const { return busy_cpu_mw_; }
    double busy_cluster_mw() const { return busy_cluster_mw_; }
    double cpu_mw(int state) const { return cpu_mw_[index(state)]; }
    double cluster_mw(int state) const { return cluster_mw_[index(state)]; }
    double cpu_transition_mj(int state) const { return cpu_transition_mj_[index(state)]; }
    double cluster_transition_mj(int state) const { return cluster_transition_mj_[index(state)]; }

    /// A CPU's own energy of one idle period.
    double period_mj(int state, std::int64_t residency_ns) const {
        return cpu_transition_mj(state) + cpu_mw(state) * static_cast<double>(residency_ns) * 1e-9;
    }

  private:
    static std::size_t index(int state) { return static_cast<std::size_t>(state); }

    double busy_cpu_mw_{0.0};
    double busy_cluster_mw_{0.0};
    std::array<double, kMaxStates> cpu_mw_{};
    std::array<double, kMaxStates> cluster_mw_{};
    std::array<double, kMaxStates> cpu_transition_mj_{};
    std::array<double, kMaxStates> cluster_transition_mj_{};
};

/// Who decides whether a cluster goes down.
enum class Coordination {
    /// The firmware, from the states that the CPUs have entered.
    firmware,
    /// Hindsight: the cluster is down for each stretch in which all its CPUs idle, in whatever states, if
    /// that is cheaper
    /// than staying up. With each CPU's own energy least as well, no policy on the same gaps can spend less:
    /// a bound.
    hindsight,
};

/// Books the energy of a whole board from entries and exits given in time order.
class EnergyLedger {
  public:
    /// `opps[c]` is the operating point of cluster c, an index into its table. Hindsight uses the deepest
    /// state that votes the cluster down, is not disabled (bit i of disabled[c]) and leaves within the
    /// latency limit.
    EnergyLedger(const board::Board& board, std::span<const std::size_t> opps,
                 Coordination coordination = Coordination::firmware,
                 std::span<const std::uint32_t> disabled = {}, std::int64_t latency_limit_us = kNoLimitUs);

    /// All CPUs run from `start_ns` on.
    void reset(std::int64_t start_ns);
    void enter(int cpu, int state, std::int64_t now_ns);
    void leave(int cpu, std::int64_t now_ns);
    void finish(std::int64_t end_ns);

    /// Energy of the board, millijoules; NaN unless every cluster publishes its power. Valid after finish().
    double total_mj() const;
    /// One CPU's own energy and an equal part of its cluster's, millijoules; these add up to the total.
    double cpu_mj(int cpu) const;
    /// Time for which a cluster was down.
    std::int64_t cluster_off_ns(int cluster) const {
        return clusters_[static_cast<std::size_t>(cluster)].off_ns;
    }

  private:
    static constexpr std::int64_t kNoLimitUs = 2000000000;
    static constexpr int kRunning = -1;
    static constexpr int kUp = -1;

    struct Cpu {
        std::size_t cluster{0};
        int state{kRunning};
        std::int64_t since_ns{0};
        double mj{0.0};
    };
    struct Cluster {
        int cpus{0};
        std::optional<ClusterPower> power;
        std::array<bool, kMaxStates> votes{};
        std::array<std::int64_t, kMaxStates> residency_ns{};
        int hindsight_state{kUp};
        int running{0};
        std::array<int, kMaxStates> idle_in{};
        std::int64_t since_ns{0};
        double mj{0.0};
        std::int64_t off_ns{0};
        // The stretch of being down that is in progress, and what staying up would have cost meanwhile.
        int level{kUp};
        std::int64_t down_ns{0};
        double down_mj{0.0};
        double up_mj{0.0};
    };

    void settle_cpu(Cpu& cpu, std::int64_t now_ns) const;
    static void settle_cluster(Cluster& cluster, std::int64_t now_ns);
    int level_of(const Cluster& cluster) const;
    void change_level(Cluster& cluster) const;
    void come_up(Cluster& cluster) const;

    Coordination coordination_;
    std::vector<Cpu> cpus_;
    std::vector<Cluster> clusters_;
};

}  // namespace torpor::idle
