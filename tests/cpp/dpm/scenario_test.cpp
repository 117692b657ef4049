// SPDX-License-Identifier: MIT
#include "torpor/dpm/scenario.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "worlds.hpp"

namespace torpor::dpm {
namespace {

/// A scenario that is fine but for one change.
std::string complaint_after(const std::function<void(Scenario&)>& change) {
    Scenario scenario = phone(compiled(in_list_order({called("A")})));
    change(scenario);
    try {
        validate(scenario);
    } catch (const ConfigError& error) {
        EXPECT_EQ(std::string{error.what()}.rfind(error.key(), 0), 0U) << error.what();
        return error.what();
    }
    return "none";
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(ValidateScenario, TakesAPhoneAndTheReference) {
    EXPECT_EQ(complaint_after([](Scenario&) {}), "none");
    EXPECT_EQ(complaint(reference_scenario(compiled(in_list_order({called("A")})), 3)), "none");
}

TEST(ValidateScenario, NeedsCpus) {
    EXPECT_EQ(complaint_after([](Scenario& s) { s.machine.cpus.clear(); }),
              "cpus=0: there must be 1..8192 CPUs");
}

TEST(ValidateScenario, ChecksEachCpu) {
    EXPECT_EQ(complaint_after([](Scenario& s) { s.machine.cpus[2].rate = 0.0; }),
              "cpus[2].rate=0.000000: must be 0.000001..1024");
    EXPECT_EQ(complaint_after([](Scenario& s) { s.machine.cpus[1].capacity = 1025; }),
              "cpus[1].capacity=1025: must be 1..1024");
    EXPECT_EQ(complaint_after([](Scenario& s) { s.machine.cpus[0].relative_freq = 1.1; }),
              "cpus[0].relative_freq=1.100000: must be above 0 and at most 1");
    EXPECT_EQ(complaint_after([](Scenario& s) { s.machine.cpus[0].cluster = -1; }),
              "cpus[0].cluster=-1: must be 0..8191");
    EXPECT_EQ(complaint_after([](Scenario& s) { s.machine.cpus[3].idle_exits[1].after_ns = 0; }),
              "cpus[3].idle_exits.after_ns=0: must ascend");
    EXPECT_EQ(complaint_after([](Scenario& s) { s.machine.cpus[3].idle_exits[0].exit_ns = -1; }),
              "cpus[3].idle_exits.exit_ns=-1: must be 0..100000000000");
    EXPECT_NE(complaint_after([](Scenario& s) { s.machine.cpus[0].rate = kNan; }), "none");
}

TEST(ValidateScenario, NeedsADomainForEachClusterWithEas) {
    const auto drop = [](Scenario& s) { s.machine.domains.pop_back(); };
    EXPECT_EQ(complaint_after(drop), "domains=2: EAS needs one per cluster (3)");
    EXPECT_EQ(complaint_after([&](Scenario& s) {
                  drop(s);
                  s.rules.eas = false;
              }),
              "none");
}

TEST(ValidateScenario, ChecksOperatingPoints) {
    EXPECT_EQ(complaint_after([](Scenario& s) { s.machine.domains[1].points.clear(); }),
              "domains[1]=no operating points: at least one is needed");
    EXPECT_EQ(complaint_after([](Scenario& s) { s.machine.domains[1].points[1].capacity = 5.0; }),
              "domains[1].capacity=5.000000: must ascend, above 0 and at most 1024");
    EXPECT_EQ(complaint_after([](Scenario& s) { s.machine.domains[1].points[0].power_mw = -1.0; }),
              "domains[1].power_mw=-1.000000: must be 0 or more");
    EXPECT_NE(complaint_after([](Scenario& s) { s.machine.domains[1].points[0].power_mw = kNan; }), "none");
}

TEST(ValidateScenario, ChecksTheRulesOfTheScheduler) {
    EXPECT_EQ(complaint_after([](Scenario& s) { s.rules.cache_hot_ns = -1; }),
              "rules.cache_hot_ns=-1: must be 0..1000000000000000");
    EXPECT_NE(complaint_after([](Scenario& s) { s.rules.slice_ns = -1; }), "none");
    EXPECT_NE(complaint_after([](Scenario& s) { s.rules.wakeup_granularity_ns = -1; }), "none");
    EXPECT_NE(complaint_after([](Scenario& s) { s.rules.tick_ns = -1; }), "none");
    EXPECT_NE(complaint_after([](Scenario& s) { s.rules.cluster_exit_ns = -1; }), "none");
    EXPECT_EQ(complaint_after([](Scenario& s) { s.rules.shared_cpus = -1.0; }),
              "rules.shared_cpus=-1.000000: must be 0, or 0.01..8192");
    EXPECT_NE(complaint_after([](Scenario& s) { s.rules.shared_cpus = kNan; }), "none");
    EXPECT_EQ(complaint_after([](Scenario& s) {
                  s.machine.cpus.resize(11);
                  s.rules.shared_cpus = 0.0109;
              }),
              "rules.shared_cpus=0.010900: must be 0, or at least a thousandth of the 11 CPUs");
}

// Else two entities would take turns for ever without getting anywhere.
TEST(ValidateScenario, NeedsSlicesLongerThanSwitching) {
    const auto slices = [](std::int64_t ns) {
        return complaint_after([&](Scenario& s) {
            s.sched_costs = {1'000, 0, 0, 571};  // at 0.1571 of the rate: 10000
            s.rules.slice_ns = ns;
        });
    };
    EXPECT_EQ(slices(0), "none");
    EXPECT_EQ(slices(10'001), "none");
    EXPECT_EQ(slices(10'000),
              "rules.slice_ns=10000: must be 0, or longer than a switch and a migration take on "
              "the slowest CPU (10000 ns)");
}

TEST(ValidateScenario, ChecksCosts) {
    EXPECT_EQ(complaint_after([](Scenario& s) { s.sched_costs.switch_ns = -1; }),
              "costs.switch_ns=-1: must be 0..15710000000, which takes 100 s on the slowest CPU");
    EXPECT_EQ(complaint_after([](Scenario& s) { s.sched_costs.wake_ns = -1; }),
              "costs.wake_ns=-1: must be 0..15710000000, which takes 100 s on the slowest CPU");
    EXPECT_EQ(complaint_after([](Scenario& s) { s.sched_costs.idle_ipi_ns = -1; }),
              "costs.idle_ipi_ns=-1: must be 0..15710000000, which takes 100 s on the slowest CPU");
    EXPECT_EQ(complaint_after([](Scenario& s) { s.sched_costs.migration_ns = -1; }),
              "costs.migration_ns=-1: must be 0..15710000000, which takes 100 s on the slowest CPU");
    const std::vector<std::pair<std::int64_t Costs::*, std::string>> all{
        {&Costs::queue_ns, "queue_ns"},       {&Costs::dispatch_ns, "dispatch_ns"},
        {&Costs::core_ns, "core_ns"},         {&Costs::list_step_ns, "list_step_ns"},
        {&Costs::check_ns, "check_ns"},       {&Costs::recheck_ns, "recheck_ns"},
        {&Costs::callback_ns, "callback_ns"}, {&Costs::tail_ns, "tail_ns"},
        {&Costs::create_ns, "create_ns"}};
    for (const auto& [member, name] : all) {
        EXPECT_EQ(complaint_after([cost = member](Scenario& s) { s.costs[2].*cost = -1; }),
                  "costs[suspend_late]." + name +
                      "=-1: must be 0..15710000000, which takes 100 s on the slowest CPU");
        EXPECT_EQ(complaint_after([cost = member](Scenario& s) { s.costs[2].*cost = 15'710'000'000; }),
                  "none");
        EXPECT_NE(complaint_after([cost = member](Scenario& s) { s.costs[2].*cost = 15'710'000'001; }),
                  "none");
    }
    EXPECT_EQ(complaint_after([](Scenario& s) { s.costs[2].create_latency_ns = -1; }),
              "costs[suspend_late].create_latency_ns: -1 is out of range; it must be 0..100000000000");
}

// Sums of costs would overflow, and times come out wrong.
TEST(ValidateScenario, ChecksCostsAtTheSpeedOfCpusThatShareTheirCapacity) {
    EXPECT_EQ(complaint_after([](Scenario& s) {
                  s.rules.shared_cpus = 0.5;  // of five: a tenth of 0.1571
                  s.costs[2].core_ns = 1'571'000'001;
              }),
              "costs[suspend_late].core_ns=1571000001: must be 0..1571000000, which takes 100 s on the "
              "slowest CPU");
}

TEST(ValidateScenario, ChecksWhatLeavingIdleTakes) {
    EXPECT_EQ(complaint_after([](Scenario& s) { s.rules.cluster_exit_ns = 100'000'000'001; }),
              "rules.cluster_exit_ns=100000000001: must be 0..100000000000");
    EXPECT_EQ(complaint_after([](Scenario& s) {
                  s.machine.cpus[0].idle_exits = {{0, 100'000'000'001}};
              }),
              "cpus[0].idle_exits.exit_ns=100000000001: must be 0..100000000000");
}

TEST(ValidateScenario, ChecksTheMainThread) {
    EXPECT_EQ(complaint_after([](Scenario& s) { s.main.suspend_cpu = 5; }),
              "main.suspend_cpu: 5 is out of range; it must be 0..4");
    EXPECT_EQ(complaint_after([](Scenario& s) { s.main.resume_cpu = -1; }),
              "main.resume_cpu: -1 is out of range; it must be 0..4");
    EXPECT_EQ(complaint_after([](Scenario& s) { s.main.suspend_utilisation = 1025.0; }),
              "main.suspend_utilisation=1025.000000: must be 0.000000..1024.000000");
    EXPECT_NE(complaint_after([](Scenario& s) { s.main.resume_utilisation = kNan; }), "none");
}

TEST(ValidateScenario, NeedsAWorkerInThePool) {
    const auto none = [](Scenario& s) { s.workers.initial = 0; };
    EXPECT_EQ(complaint_after(none), "workers.initial: 0 is out of range; it must be 1..100000");
    EXPECT_EQ(complaint_after([&](Scenario& s) {
                  none(s);
                  s.workers.per_item = true;
              }),
              "none");
}

TEST(ValidateScenario, ChecksTheOtherNumbers) {
    EXPECT_EQ(complaint_after([](Scenario& s) { s.async.share = 1.5; }),
              "async_share=1.500000: must be 0.000000..1.000000");
    EXPECT_EQ(complaint_after([](Scenario& s) { s.jitter = -0.1; }),
              "jitter=-0.100000: must be 0.000000..10.000000");
    EXPECT_EQ(complaint_after([](Scenario& s) { s.eas_switch_ns = -1; }),
              "eas_switch_ns: -1 is out of range; it must be 0..100000000000");
    EXPECT_EQ(complaint_after([](Scenario& s) { s.tick_ns = 0; }),
              "tick_ns: 0 is out of range; it must be 1..1000000000000000");
    EXPECT_EQ(complaint_after([](Scenario& s) { s.since_tick_ns = 4'000'000; }),
              "since_tick_ns: 4000000 is out of range; it must be 0..3999999");
    EXPECT_EQ(complaint_after([](Scenario& s) { s.warmup_cycles = -1; }),
              "warmup_cycles: -1 is out of range; it must be 0..1000000");
    EXPECT_EQ(complaint_after([](Scenario& s) { s.cycles = 0; }),
              "cycles: 0 is out of range; it must be 1..1000000");
    EXPECT_EQ(complaint_after([](Scenario& s) {
                  s.scales = {{1.0, -1.0}};
              }),
              "scales.resume=-1.000000: must be 0.000000..1000000.000000");
    EXPECT_NE(complaint_after([](Scenario& s) { s.scales = {{kNan, 1.0}}; }), "none");
}

TEST(ValidateScenario, NeedsPowerForAllClustersOrNone) {
    EXPECT_EQ(complaint_after([](Scenario& s) { s.power.pop_back(); }),
              "power: 2 is out of range; it must be 3..3");
    EXPECT_EQ(complaint_after([](Scenario& s) { s.power.clear(); }), "none");
}

TEST(ValidateScenario, NeedsDevices) {
    EXPECT_EQ(complaint_after([](Scenario& s) { s.devices = std::shared_ptr<const Graph>{}; }),
              "devices=none: a graph is needed");
    EXPECT_NE(complaint_after([](Scenario& s) {
                  Generator generator;
                  generator.devices = 0;
                  s.devices = generator;
              }),
              "none");
}

TEST(ValidateScenario, IsDoneByTheModel) {
    Scenario scenario = phone(compiled(in_list_order({called("A")})));
    EXPECT_THROW((Model{scenario, Policy{Order::sync, EasOff::none, 5}}), ConfigError);
    scenario.cycles = 0;
    EXPECT_THROW((Model{scenario, Policy{}}), ConfigError);
}

}  // namespace
}  // namespace torpor::dpm
