// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "torpor/sched/energy_aware.hpp"
#include "torpor/sched/fair_rules.hpp"
#include "torpor/sched/fair_state.hpp"
#include "torpor/sched/load_signal.hpp"

namespace torpor::sched {

/// The CPUs of a heterogeneous machine: which are idle and since when, how busy they have been, and what the
/// kernel asks of them when it looks for a place.
class FairCpus {
  public:
    explicit FairCpus(const FairMachine& machine)
        : specs_{machine.cpus},
          clusters_{clusters_of(machine)},
          energy_{capacities_of(machine), clusters_, machine.domains} {
        reset(0);
    }

    /// All idle from now on, warm and unused.
    void reset(std::int64_t now_ns) {
        states_.assign(specs_.size(), FairCpuState{});
        for (std::size_t i = 0; i < specs_.size(); ++i) {
            states_[i].target = specs_[i].capacity * specs_[i].relative_freq;
            states_[i].ns_per_scaled = 1.0 / specs_[i].rate;
            states_[i].idle_since_ns = now_ns;
        }
        idle_ = size();
        loads_.begin(now_ns);
    }
    /// Utilisation counts anew: `utilisation` on one CPU, none on the others. Cold CPUs have been idle for
    /// ever, but for that one.
    void begin_window(int busiest, double utilisation, bool cold, std::int64_t now_ns) {
        loads_.begin(now_ns);
        for (int cpu = 0; cpu < size(); ++cpu) {
            FairCpuState& state = (*this)[cpu];
            state.load = cpu == busiest ? utilisation : 0.0;
            state.idle_since_ns = cold && cpu != busiest ? now_ns - kForEverNs : now_ns;
        }
    }

    int size() const { return static_cast<int>(states_.size()); }
    int clusters() const { return static_cast<int>(clusters_.size()); }
    FairCpuState& operator[](int cpu) { return states_[static_cast<std::size_t>(cpu)]; }
    const FairCpuState& operator[](int cpu) const { return states_[static_cast<std::size_t>(cpu)]; }
    double capacity_of(int cpu) const { return spec(cpu).capacity; }

    // Idle CPUs.
    bool is_idle(int cpu) const { return (*this)[cpu].current == kNobody; }
    int busy() const { return size() - idle_; }
    bool has_idle() const { return idle_ > 0; }
    bool is_all_idle() const { return idle_ == size(); }

    int first_idle() const {
        return find_idle([](int, int) { return false; });
    }
    int fastest_idle() const {
        return find_idle([this](int cpu, int best) { return spec(cpu).rate > spec(best).rate; });
    }
    int largest_idle() const {
        return find_idle([this](int cpu, int best) { return capacity_of(cpu) > capacity_of(best); });
    }
    /// The first idle one that the utilisation fits, from a CPU upward with wrap; kNoCpu: none.
    int idle_that_fits(int from, double load) const {
        for (int step = 0; step < size(); ++step) {
            const int cpu = (from + step) % size();
            if (is_idle(cpu) && fits(load, capacity_of(cpu))) return cpu;
        }
        return kNoCpu;
    }

    /// What leaving idle takes now.
    std::int64_t exit_ns(int cpu, std::int64_t cluster_exit_ns, std::int64_t now_ns) const {
        const auto& exits = spec(cpu).idle_exits;
        std::int64_t latency_ns = 0;
        for (const IdleExit& exit : exits) {
            if (now_ns - (*this)[cpu].idle_since_ns >= exit.after_ns) latency_ns = exit.exit_ns;
        }
        if (cluster_exit_ns > 0 && !exits.empty() && is_deep(spec(cpu).cluster, now_ns))
            latency_ns += cluster_exit_ns;
        return latency_ns;
    }

    // Runs. An entity has got a CPU, and runs on it from the CPU's `since_ns` on; it leaves it.
    void begin_run(int cpu, FairEntity& entity, std::int64_t now_ns) {
        loads_.begin_run((*this)[cpu], entity, now_ns);
    }
    void end_run(int cpu, FairEntity& entity, std::int64_t now_ns) {
        loads_.end_run((*this)[cpu], entity, now_ns);
    }
    void note_busy() { --idle_; }
    void note_idle() { ++idle_; }

    // Utilisation.
    double load_factor(std::int64_t now_ns) { return loads_.factor(now_ns); }
    double utilisation(int cpu, std::int64_t now_ns) { return loads_.of((*this)[cpu], now_ns); }
    double utilisation(const FairEntity& entity, std::int64_t now_ns) {
        return loads_.of(entity, (*this)[entity.cpu], now_ns);
    }
    bool is_overutilised(int cpu, std::int64_t now_ns) {
        return !fits(utilisation(cpu, now_ns), capacity_of(cpu));
    }
    /// Where EAS puts an entity.
    int cheapest(int previous, double load, std::int64_t now_ns) {
        return energy_.cheapest(previous, load, [&](int cpu) { return utilisation(cpu, now_ns); });
    }
    /// To be called as time goes on: what is kept of utilisation must not get too old.
    void renew_loads(std::vector<FairEntity>& entities, std::int64_t now_ns) {
        if (loads_.is_stale(now_ns)) loads_.renew(now_ns, states_, entities);
    }

  private:
    static constexpr std::int64_t kForEverNs = 3'600'000'000'000;

    static std::vector<double> capacities_of(const FairMachine& machine) {
        std::vector<double> capacities;
        for (const FairCpu& cpu : machine.cpus) capacities.push_back(cpu.capacity);
        return capacities;
    }
    static std::vector<std::vector<int>> clusters_of(const FairMachine& machine) {
        std::vector<std::vector<int>> clusters;
        for (std::size_t i = 0; i < machine.cpus.size(); ++i) {
            const auto cluster = static_cast<std::size_t>(machine.cpus[i].cluster);
            if (cluster >= clusters.size()) clusters.resize(cluster + 1);
            clusters[cluster].push_back(static_cast<int>(i));
        }
        return clusters;
    }

    const FairCpu& spec(int cpu) const { return specs_[static_cast<std::size_t>(cpu)]; }

    /// The first of the best idle ones; kNoCpu: none is idle.
    template <class IsBetter>
    int find_idle(const IsBetter& is_better) const {
        int best = kNoCpu;
        for (int cpu = 0; cpu < size() && has_idle(); ++cpu) {
            if (is_idle(cpu) && (best == kNoCpu || is_better(cpu, best))) best = cpu;
        }
        return best;
    }

    /// Whether all CPUs of a cluster have been idle for as long as the deepest exit asks.
    bool is_deep(int cluster, std::int64_t now_ns) const {
        const auto& cpus = clusters_[static_cast<std::size_t>(cluster)];
        return std::all_of(cpus.begin(), cpus.end(), [&](int cpu) {
            return is_idle(cpu) &&
                   now_ns - (*this)[cpu].idle_since_ns >= spec(cpu).idle_exits.back().after_ns;
        });
    }

    std::vector<FairCpu> specs_;
    std::vector<std::vector<int>> clusters_;
    EnergyAware energy_;
    std::vector<FairCpuState> states_;
    FairLoads loads_;
    int idle_{0};
};

}  // namespace torpor::sched
