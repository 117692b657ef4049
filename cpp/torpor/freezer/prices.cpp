// SPDX-License-Identifier: MIT
#include "torpor/freezer/prices.hpp"

#include <algorithm>

namespace torpor::freezer {

PriceTable::PriceTable(const Scenario& scenario) : groups_{scenario.tasks.size()} {
    const Costs& costs = scenario.costs;
    for (const sched::Cpu& cpu : scenario.cpus) {
        const auto known = std::find_if(rows_.begin(), rows_.end(),
                                        [&cpu](const Prices& row) { return row.rate_hz == cpu.rate_hz(); });
        row_of_.push_back(static_cast<std::size_t>(known - rows_.begin()));
        if (known != rows_.end()) continue;
        const auto ns = [&cpu](std::int64_t cycles) { return sched::cycles_to_ns(cycles, cpu.rate_hz()); };
        Prices row;
        row.rate_hz = cpu.rate_hz();
        row.visit_ns = ns(costs.visit_cycles) + costs.visit_stall_ns;
        row.visit_kernel_ns =
            ns(costs.visit_kernel_cycles.value_or(costs.visit_cycles)) + costs.visit_stall_ns;
        row.wake_ns = ns(costs.wake_cycles);
        row.resig_ns = ns(costs.resig_cycles);
        row.mark_ns = ns(costs.mark_cycles);
        row.thaw_wake_ns = ns(costs.thaw_wake_cycles);
        row.user_loop_ns = ns(costs.user_loop_cycles);
        row.kernel_loop_ns = ns(costs.kernel_loop_cycles);
        row.thaw_ns = ns(costs.thaw_cycles);
        rows_.push_back(row);
        for (const TaskGroup& group : scenario.tasks) {
            bursts_.push_back(
                {ns(group.freeze_run_cycles.value_or(costs.freeze_run_cycles)) + costs.run_stall_ns,
                 ns(group.thaw_run_cycles.value_or(costs.thaw_run_cycles)) +
                     group.nfds * ns(costs.per_fd_cycles) + costs.run_stall_ns,
                 ns(costs.resleep_cycles) + costs.run_stall_ns});
        }
    }
}

}  // namespace torpor::freezer
