// SPDX-License-Identifier: MIT
#include "torpor/idle/replay/open_loop.hpp"

#include "torpor/idle/with_governor.hpp"

namespace torpor::idle {

OpenLoop replay_open(const TraceWalk& walk, const std::map<int, StateTable>& tables, const TickLength& tick,
                     const Policy& policy, const ReplayRules& rules) {
    OpenLoop result;
    for (const CpuTrace& cpu : walk.cpus) {
        result.push_back(with_governor(policy, tables.at(cpu.cpu), tick, [&](auto&& governor) {
            return open_loop(cpu, governor, tick, rules);
        }));
    }
    return result;
}

}  // namespace torpor::idle
