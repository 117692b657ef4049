// SPDX-License-Identifier: MIT
// Runs of the idle family. Goal: the deterministic reference run (one CPU, 10 s, about 2,400 idle periods) in
// at most 1 ms.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>

#include "../../tests/cpp/idle/reference_board.hpp"
#include "torpor/idle/model.hpp"
#include "torpor/replicate/replicate.hpp"

namespace torpor::idle {
namespace {

std::int64_t usage(const CpuResult& cpu) {
    std::int64_t sum = 0;
    for (const StateCounters& state : cpu.states) sum += state.usage;
    return sum;
}

/// `deepest_ns` is the known answer for the deepest state.
void reference_run(benchmark::State& state, const std::string& policy, std::int64_t deepest_ns) {
    Model model{reference::scenario(reference::hi6220(1000)), parse_policy(policy)};
    const CpuResult expected = model.run(StreamKey{}, {}).cpus.front();
    if (expected.states[2].residency_ns != deepest_ns) {
        state.SkipWithError("the answer is wrong");
        return;
    }
    for (auto _ : state) benchmark::DoNotOptimize(model.run(StreamKey{}, {}));
    state.counters["decisions/s"] = benchmark::Counter(static_cast<double>(usage(expected)),
                                                       benchmark::Counter::kIsIterationInvariantRate);
}

BENCHMARK_CAPTURE(reference_run, menu_4_18, "menu(version=4.18)", 47393000)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(reference_run, menu_4_18_P_L, "menu(version=4.18+P1, loop=leo)", 7856076000)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(reference_run, menu_6_1_192, "menu(version=6.1.192)", 7985403000)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(reference_run, teo_6_1, "teo(version=6.1)", 7992423000)->Unit(benchmark::kMicrosecond);

/// Eight CPUs in two clusters with power, lognormal interrupts on all: the queue and the ledger at work.
Scenario eight_cpus() {
    Scenario scenario;
    scenario.board.name = "eight";
    scenario.board.tick_hz = 250;
    scenario.board.idle_costs = reference::costs();
    for (int c = 0; c < 2; ++c) {
        board::Cluster cluster = reference::hi6220(250).clusters.front();
        cluster.name = "cluster" + std::to_string(c);
        cluster.cpus = {4 * c, 4 * c + 1, 4 * c + 2, 4 * c + 3};
        cluster.opps = {{Frequency::mhz(1200), Power::mw(670), Power::mw(112)}};
        for (board::IdleState& idle : cluster.idle_states) {
            idle.power = Power::mw(idle.name == "WFI" ? 15 : 0);
            idle.cluster_power = Power::mw(idle.cluster ? 0 : 47);
        }
        scenario.board.clusters.push_back(cluster);
    }
    for (int cpu = 0; cpu < 8; ++cpu) {
        Source source;
        source.name = "irq" + std::to_string(cpu);
        source.cpu = cpu;
        source.arrivals = LognormalArrivals{2000000, 1.5};
        scenario.sources.push_back(source);
    }
    scenario.duration_ns = 1000000000;
    scenario.disabled = {0, 0};
    scenario.opps = {0, 0};
    return scenario;
}

void replicates(benchmark::State& state) {
    const Scenario scenario = eight_cpus();
    const Policy policy = parse_policy("menu(version=6.1.192)");
    replicate::Request request;
    request.replicates = 64;
    request.threads = static_cast<int>(state.range(0));
    const auto make_model = [&] { return Model{scenario, policy}; };
    const auto expected = replicate::run_replicates(make_model, request);
    request.threads = 1;
    if (replicate::run_replicates(make_model, request) != expected) {
        state.SkipWithError("results depend on the number of threads");
        return;
    }
    request.threads = static_cast<int>(state.range(0));
    std::int64_t decisions = 0;
    for (const Result& result : expected) {
        for (const CpuResult& cpu : result.cpus) decisions += usage(cpu);
    }
    for (auto _ : state) benchmark::DoNotOptimize(replicate::run_replicates(make_model, request));
    state.counters["decisions/s"] =
        benchmark::Counter(static_cast<double>(decisions), benchmark::Counter::kIsIterationInvariantRate);
    state.counters["replicates/s"] = benchmark::Counter(64.0, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(replicates)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace torpor::idle

BENCHMARK_MAIN();
