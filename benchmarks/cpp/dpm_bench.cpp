// SPDX-License-Identifier: MIT
// One cycle of suspending and resuming all devices: all eight phases, on the CPUs of a phone with every cost
// and rule switched on, and in the reference mode.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>

#include "torpor/dpm/model.hpp"
#include "torpor/replicate/replicate.hpp"

namespace torpor::dpm {
namespace {

sched::FairMachine phone() {
    struct Kind {
        int cpus;
        int capacity;
        std::int64_t residency_ns;
        std::int64_t exit_ns;
    };
    constexpr Kind kKinds[] = {
        {4, 161, 2'000'000, 160'000}, {2, 499, 2'500'000, 190'000}, {2, 1024, 3'500'000, 220'000}};
    sched::FairMachine machine;
    for (int cluster = 0; cluster < 3; ++cluster) {
        const Kind& kind = kKinds[cluster];
        for (int i = 0; i < kind.cpus; ++i) {
            machine.cpus.push_back({kind.capacity / 1024.0 * 0.9,
                                    kind.capacity,
                                    0.9,
                                    cluster,
                                    {{0, 3'000}, {kind.residency_ns / 5, kind.exit_ns}}});
        }
        machine.domains.push_back(
            {{{kind.capacity * 0.3, kind.capacity * 0.1}, {kind.capacity * 1.0, kind.capacity * 0.8}}});
    }
    return machine;
}

std::shared_ptr<const Graph> graph_of(std::int64_t devices) {
    Generator generator;
    generator.devices = devices;
    generator.lock_share = {0.1, 0.1};
    return std::make_shared<const Graph>(compile(generate(generator, {1, 0})));
}

Scenario on_phone(std::int64_t devices) {
    Scenario scenario;
    scenario.machine = phone();
    scenario.rules.eas = true;
    scenario.sched_costs = {1500, 1500, 1000, 1000};
    Costs costs;
    costs.queue_ns = 1500;
    costs.dispatch_ns = 500;
    costs.core_ns = 1000;
    costs.list_step_ns = 200;
    costs.check_ns = 50;
    costs.recheck_ns = 300;
    costs.create_ns = 10'000;
    costs.create_latency_ns = 50'000;
    scenario.costs.fill(costs);
    scenario.main = {6, 100.0, 0, 100.0, false};
    scenario.jitter = 0.1;
    scenario.async.kind = AsyncDevices::Kind::all;
    scenario.devices = graph_of(devices);
    scenario.warmup_cycles = 2;
    scenario.cycles = 10;
    return scenario;
}

void cycles(benchmark::State& state, const char* policy, const Scenario& scenario) {
    Model model{scenario, parse_policy(policy)};
    const Result expected = model.run({1, 0}, {});
    if (!expected.stuck.empty() || !(model.run({1, 0}, {}) == expected)) {
        state.SkipWithError("the answer is wrong");
        return;
    }
    for (auto _ : state) benchmark::DoNotOptimize(model.run({1, 0}, {}));
    const auto per_run = static_cast<double>(scenario.warmup_cycles + scenario.cycles);
    state.counters["cycle"] = benchmark::Counter(
        per_run, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
    state.SetComplexityN(state.range(0));
}

void old_on_phone(benchmark::State& state) {
    cycles(state, "old", on_phone(state.range(0)));
}
void breadth_first_on_phone(benchmark::State& state) {
    cycles(state, "breadth-first", on_phone(state.range(0)));
}
void sync_on_phone(benchmark::State& state) {
    cycles(state, "sync", on_phone(state.range(0)));
}
void old_in_reference_mode(benchmark::State& state) {
    Scenario scenario = reference_scenario(graph_of(state.range(0)), 8);
    scenario.cycles = 10;
    cycles(state, "old", scenario);
}

void sizes(benchmark::internal::Benchmark* benchmark) {
    for (const std::int64_t devices : {600, 1250, 2500, 5000, 10'000}) benchmark->Arg(devices);
    benchmark->Unit(benchmark::kMillisecond)->Complexity(benchmark::oNLogN);
}

BENCHMARK(old_on_phone)->Apply(sizes);
BENCHMARK(breadth_first_on_phone)->Apply(sizes);
BENCHMARK(sync_on_phone)->Arg(600)->Unit(benchmark::kMillisecond);
BENCHMARK(old_in_reference_mode)->Arg(100)->Arg(600)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace torpor::dpm

BENCHMARK_MAIN();
