// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "torpor/sched/load_signal.hpp"
#include "torpor/sched/performance_domain.hpp"
#include "torpor/sched/scheduler.hpp"

namespace torpor::sched {

/// Wake-up placement of energy-aware scheduling. (find_energy_efficient_cpu, Linux 6.1)
class EnergyAware {
  public:
    /// Capacities of all CPUs, the CPUs of each cluster, and its performance domain.
    EnergyAware(std::vector<double> capacities, std::vector<std::vector<int>> clusters,
                const std::vector<PerformanceDomain>& domains)
        : capacities_{std::move(capacities)},
          clusters_{std::move(clusters)},
          cluster_of_(capacities_.size()) {
        for (std::size_t c = 0; c < clusters_.size(); ++c) {
            for (const int cpu : clusters_[c]) cluster_of_[static_cast<std::size_t>(cpu)] = c;
        }
        for (const PerformanceDomain& domain : domains) domains_.emplace_back(domain);
    }

    /// A task without utilisation stays on its previous CPU, however long that one's queue is. Another goes
    /// where it costs least among its previous CPU and, of each performance domain, the CPU with most spare
    /// capacity that it fits, if that has more than the previous one; a draw keeps the previous one.
    /// Queues are not looked at. `use_of(cpu)` is the utilisation of a CPU.
    template <class UseOf>
    int cheapest(int previous, double load, const UseOf& use_of) const {
        if (load < 1.0) return previous;
        const double at_previous = use_of(previous);
        Choice choice{previous, std::numeric_limits<double>::infinity()};
        const std::size_t home = cluster_of_[static_cast<std::size_t>(previous)];
        look_at(home, previous, load, at_previous, use_of, choice);
        for (std::size_t c = 0; c < clusters_.size(); ++c) {
            if (c != home && domains_[c].least_mw(load) < choice.mw)
                look_at(c, previous, load, at_previous, use_of, choice);
        }
        return choice.cpu;
    }

  private:
    struct Choice {
        int cpu;
        double mw;  // that it adds
    };

    double capacity_of(int cpu) const { return capacities_[static_cast<std::size_t>(cpu)]; }

    template <class UseOf>
    void look_at(std::size_t cluster, int previous, double load, double at_previous, const UseOf& use_of,
                 Choice& choice) const {
        double sum = 0.0;
        double highest = 0.0;
        double previous_use = -1.0;  // without the task; negative when it does not fit or is elsewhere
        int roomiest = kNoCpu;
        double roomiest_use = 0.0;
        double room = 0.0;
        for (const int cpu : clusters_[cluster]) {
            const double capacity = capacity_of(cpu);
            if (cpu == previous) {
                const double use = std::max(at_previous - load, 0.0);
                if (fits(std::max(at_previous, load), capacity)) previous_use = use;
                sum += use;
                if (use > highest) highest = use;
                continue;
            }
            const double use = use_of(cpu);
            sum += use;
            if (use > highest) highest = use;
            if (capacity - use > room && fits(use + load, capacity)) {
                roomiest = cpu;
                roomiest_use = use;
                room = capacity - use;
            }
        }
        if (previous_use >= 0.0 && capacity_of(previous) - previous_use >= room) roomiest = kNoCpu;
        if (previous_use < 0.0 && roomiest == kNoCpu) return;
        const EnergyEstimate& domain = domains_[cluster];
        const double base_mw = domain.power_mw(highest, sum);
        const auto increase_mw = [&](double use) {
            return domain.power_mw(std::max(highest, use + load), sum + load) - base_mw;
        };
        if (previous_use >= 0.0) choice = {previous, increase_mw(previous_use)};
        if (roomiest != kNoCpu) {
            const double mw = increase_mw(roomiest_use);
            if (mw < choice.mw) choice = {roomiest, mw};
        }
    }

    std::vector<double> capacities_;
    std::vector<std::vector<int>> clusters_;
    std::vector<std::size_t> cluster_of_;
    std::vector<EnergyEstimate> domains_;
};

}  // namespace torpor::sched
