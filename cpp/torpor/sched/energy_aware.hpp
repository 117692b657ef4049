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
    /// CPUs of each cluster, and its performance domain.
    EnergyAware(std::vector<std::vector<int>> clusters, const std::vector<PerformanceDomain>& domains)
        : clusters_{std::move(clusters)} {
        for (const PerformanceDomain& domain : domains) domains_.emplace_back(domain);
    }

    /// A task without utilisation stays on its previous CPU, however long that one's queue is. Another goes
    /// where it costs least among its previous CPU and, of each performance domain, the CPU with most spare
    /// capacity that it fits, if that has more than the previous one; a draw keeps the previous one.
    /// Queues are not looked at. `use_of(cpu)` and `capacity_of(cpu)` tell of a CPU.
    template <class UseOf, class CapacityOf>
    int cheapest(int previous, double load, const UseOf& use_of, const CapacityOf& capacity_of) const {
        if (load < 1.0) return previous;
        const bool previous_fits = fits(std::max(use_of(previous), load), capacity_of(previous));
        int best = previous;
        double best_mw = std::numeric_limits<double>::infinity();
        for (std::size_t c = 0; c < clusters_.size(); ++c) {
            double sum = 0.0;
            double highest = 0.0;
            double previous_use = -1.0;
            int roomiest = kNoCpu;
            double roomiest_use = 0.0;
            double room = 0.0;
            for (const int cpu : clusters_[c]) {
                double use = use_of(cpu);
                if (cpu == previous) use = std::max(use - load, 0.0);
                sum += use;
                highest = std::max(highest, use);
                const double left = capacity_of(cpu) - use;
                if (cpu == previous) {
                    if (previous_fits) previous_use = use;
                } else if (left > room && fits(use + load, capacity_of(cpu))) {
                    roomiest = cpu;
                    roomiest_use = use;
                    room = left;
                }
            }
            if (previous_use >= 0.0 && capacity_of(previous) - previous_use >= room) roomiest = kNoCpu;
            if (previous_use < 0.0 && roomiest == kNoCpu) continue;
            const double base_mw = domains_[c].power_mw(highest, sum);
            const auto increase_mw = [&](double use) {
                return domains_[c].power_mw(std::max(highest, use + load), sum + load) - base_mw;
            };
            if (previous_use >= 0.0) {
                const double mw = increase_mw(previous_use);
                if (mw <= best_mw) {
                    best_mw = mw;
                    best = previous;
                }
            }
            if (roomiest != kNoCpu) {
                const double mw = increase_mw(roomiest_use);
                if (mw < best_mw) {
                    best_mw = mw;
                    best = roomiest;
                }
            }
        }
        return best;
    }

  private:
    std::vector<std::vector<int>> clusters_;
    std::vector<EnergyEstimate> domains_;
};

}  // namespace torpor::sched
