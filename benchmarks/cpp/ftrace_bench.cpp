// SPDX-License-Identifier: MIT
#include "torpor/ftrace/trace_log.hpp"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "torpor/ftrace/fields.hpp"

namespace {

constexpr int kRows = 200000;

// Rows as an idle trace has them, over eight CPUs.
std::string make_trace() {
    std::string text = "# tracer: nop\n#\n";
    for (int i = 0; i < kRows; ++i) {
        const int cpu = i % 8;
        const std::string number = std::to_string(1000000 + i);
        text +=
            "          <idle>-0       [00" + std::to_string(cpu) + "] d.h1.    12." + number.substr(1) + ": ";
        if (i % 3 == 0) {
            text += "cpu_idle: state=4294967295 cpu_id=" + std::to_string(cpu) + "\n";
        } else {
            text +=
                "hrtimer_start: hrtimer=00000000dc2c26d1 function=tick_sched_timer expires=9088000000 "
                "softexpires=9088000000 mode=ABS was_armed=0\n";
        }
    }
    return text;
}

// A fast reader that reads wrong is worth nothing: the answer first.
void check(const torpor::ftrace::TraceLog& log) {
    const bool ok = log.size() == kRows && log.bad_row_count() == 0 && log.event(3) == "cpu_idle" &&
                    log.cpu(kRows - 1) == (kRows - 1) % 8 && log.time_ns(7) == 12000007000 &&
                    torpor::ftrace::integer_field(log.args(1), "expires") == 9088000000;
    if (ok) return;
    std::fputs("ftrace_bench: the reader's answer is wrong\n", stderr);
    std::exit(1);
}

void read_rows(benchmark::State& state) {
    const std::string text = make_trace();
    check(torpor::ftrace::TraceLog{text, "bench"});
    for (auto _ : state) {
        torpor::ftrace::TraceLog log{text, "bench"};
        benchmark::DoNotOptimize(log.size());
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
    state.SetItemsProcessed(state.iterations() * kRows);
}
BENCHMARK(read_rows)->Unit(benchmark::kMillisecond);

void read_fields(benchmark::State& state) {
    const torpor::ftrace::TraceLog log{make_trace(), "bench"};
    check(log);
    for (auto _ : state) {
        std::int64_t sum = 0;
        for (std::size_t row = 0; row < log.size(); ++row) {
            sum += torpor::ftrace::integer_field(log.args(row), "expires").value_or(0);
        }
        benchmark::DoNotOptimize(sum);
    }
    state.SetItemsProcessed(state.iterations() * kRows);
}
BENCHMARK(read_fields)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
