// SPDX-License-Identifier: MIT
// A freeze and its thaw, beside the event loop that one would write first. Every answer is checked before it
// is timed.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>

#include "../../tests/cpp/freezer/nexus10.hpp"
#include "naive_freezer.hpp"
#include "torpor/freezer/model.hpp"
#include "torpor/replicate/replicate.hpp"

namespace torpor::freezer {
namespace {

/// The tablet with that many tasks in all, its shares kept; in the order of the list, at a tick.
Scenario tablet(std::int64_t tasks, bool with_bound) {
    Scenario scenario = testing::nexus10();
    scenario.order = Order::listed;
    scenario.kernel.since_tick_ns = 0;
    scenario.kernel.timeout_ms = 1'000'000;
    scenario.bound = with_bound;
    std::int64_t others = tasks;
    for (TaskGroup& group : scenario.tasks) {
        group.count = group.count * tasks / 1100;
        others -= group.count;
    }
    scenario.tasks.back().count += others;
    return scenario;
}

NaiveFreezer::Answer answer_of(const Result& result) {
    return {result.elapsed_ns,          result.thaw_walker_ns,
            result.thaw_all_ns,         result.freeze.busy_ns + result.thaw.busy_ns,
            result.freeze.switches,     result.freeze.task_switch_ins,
            result.thaw.task_switch_ins};
}

bool answers_agree(benchmark::State& state, const Scenario& scenario, const Result& result) {
    if (result.outcome == Outcome::frozen && NaiveFreezer{scenario}.run() == answer_of(result)) return true;
    state.SkipWithError("the answers differ");
    return false;
}

void per_task(benchmark::State& state, std::int64_t tasks) {
    state.counters["tasks/s"] =
        benchmark::Counter(static_cast<double>(tasks), benchmark::Counter::kIsIterationInvariantRate);
}

void freeze_and_thaw(benchmark::State& state, bool with_bound) {
    const std::int64_t tasks = state.range(0);
    const Scenario scenario = tablet(tasks, with_bound);
    Model model{scenario, parse_policy("v3.9")};
    const Result expected = model.run({}, {});
    if (!answers_agree(state, scenario, expected)) return;
    if (tasks == 1100 && (expected.freeze.task_switch_ins != 1000 || expected.visible_errors != 240)) {
        state.SkipWithError("the answer is wrong");
        return;
    }
    for (auto _ : state) benchmark::DoNotOptimize(model.run({}, {}));
    per_task(state, tasks);
    state.SetComplexityN(tasks);
}

void naive_freeze_and_thaw(benchmark::State& state) {
    const std::int64_t tasks = state.range(0);
    const Scenario scenario = tablet(tasks, false);
    if (!answers_agree(state, scenario, Model{scenario, parse_policy("v3.9")}.run({}, {}))) return;
    NaiveFreezer naive{scenario};
    for (auto _ : state) benchmark::DoNotOptimize(naive.run());
    per_task(state, tasks);
    state.SetComplexityN(tasks);
}

void tablet_with_bound(benchmark::State& state) {
    freeze_and_thaw(state, true);
}
void tablet_without_bound(benchmark::State& state) {
    freeze_and_thaw(state, false);
}
void by_size(benchmark::State& state) {
    freeze_and_thaw(state, false);
}
void naive_by_size(benchmark::State& state) {
    naive_freeze_and_thaw(state);
}

BENCHMARK(tablet_with_bound)->Arg(1100)->Unit(benchmark::kMicrosecond);
BENCHMARK(tablet_without_bound)->Arg(1100)->Unit(benchmark::kMicrosecond);
BENCHMARK(naive_freeze_and_thaw)->Arg(1100)->Unit(benchmark::kMicrosecond);
BENCHMARK(by_size)
    ->RangeMultiplier(10)
    ->Range(1000, 100000)
    ->Complexity(benchmark::oNLogN)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(naive_by_size)
    ->RangeMultiplier(10)
    ->Range(1000, 100000)
    ->Complexity(benchmark::oNLogN)
    ->Unit(benchmark::kMicrosecond);

/// One policy of each kind, as users run them: list order and tick phase drawn, bound included.
void replicate_of(benchmark::State& state, const std::string& policy, std::int64_t switch_ins) {
    Model model{testing::nexus10(), parse_policy(policy)};
    if (model.run({1, 0}, {}).freeze.task_switch_ins != switch_ins) {
        state.SkipWithError("the answer is wrong");
        return;
    }
    std::uint64_t replicate = 0;
    for (auto _ : state) benchmark::DoNotOptimize(model.run({1, replicate++}, {}));
}
BENCHMARK_CAPTURE(replicate_of, v3_9, "v3.9", 1000)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(replicate_of, full, "full", 25)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(replicate_of, v6_1, "v6.1", 245)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(replicate_of, v6_7, "v6.7", 245)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(replicate_of, cgroup2, "cgroup2", 990)->Unit(benchmark::kMicrosecond);

void replicates(benchmark::State& state) {
    const Scenario scenario = testing::nexus10();
    const Policy policy = parse_policy("v3.9");
    replicate::Request request;
    request.replicates = 256;
    const auto make_model = [&] { return Model{scenario, policy}; };
    request.threads = 1;
    const auto expected = replicate::run_replicates(make_model, request);
    request.threads = static_cast<int>(state.range(0));
    if (replicate::run_replicates(make_model, request) != expected) {
        state.SkipWithError("results depend on the number of threads");
        return;
    }
    for (auto _ : state) benchmark::DoNotOptimize(replicate::run_replicates(make_model, request));
    state.counters["replicates/s"] = benchmark::Counter(256.0, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(replicates)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace torpor::freezer

BENCHMARK_MAIN();
