// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "example.hpp"

namespace torpor::freezer::testing {

/// The calibrated tablet: 2 CPUs, HZ 200, 1,000 tasks woken by 3.9 and 100 kernel threads that are never
/// asked.
inline Scenario nexus10(std::int64_t freq_mhz = 200, int cpus = 2) {
    Scenario scenario;
    scenario.cpus.assign(static_cast<std::size_t>(cpus), sched::Cpu{freq_mhz * 1'000'000, 1024, 0, 10'000});
    scenario.busy_power_mw.assign(static_cast<std::size_t>(cpus), 100.0);
    scenario.base_power_mw = 300.0;
    Costs& costs = scenario.costs;
    costs.visit_cycles = 140;
    costs.wake_cycles = costs.thaw_wake_cycles = 1500;
    costs.freeze_run_cycles = costs.thaw_run_cycles = 7500;
    costs.resig_cycles = 500;
    costs.mark_cycles = 250;
    costs.resleep_cycles = 5000;
    scenario.kernel.hz = 200;
    scenario.order = Order::shuffled;
    TaskGroup kernel_threads = group("kfreezable", 10, Site::kthread);
    kernel_threads.kind = Kind::kfreezable;
    TaskGroup never_frozen = group("knofreeze", 100, Site::kthread);
    never_frozen.kind = Kind::knofreeze;
    scenario.tasks = {group("futex", 410, Site::futex),
                      group("binder", 225, Site::binder),
                      group("epoll", 160, Site::epoll),
                      group("sigtimedwait", 80, Site::sigtimedwait),
                      group("select", 60, Site::select),
                      group("nanosleep", 20, Site::nanosleep),
                      group("af_unix", 20, Site::af_unix),
                      others(15),
                      kernel_threads,
                      never_frozen};
    return scenario;
}

}  // namespace torpor::freezer::testing
