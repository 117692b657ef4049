// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "columns.hpp"
#include "replicate_call.hpp"
#include "torpor/idle/cpu_loop.hpp"
#include "torpor/idle/model.hpp"
#include "torpor/replicate/replicate.hpp"

namespace {

using namespace torpor;
using namespace torpor::idle;

py::dict to_columns(const std::vector<Result>& results, std::size_t states) {
    using I = std::int64_t;
    const ResultColumns<Result> columns{results};
    const std::size_t cpus = results.front().cpus.size();
    const std::size_t clusters = results.front().cluster_off_ns.size();
    const auto per_state = [&](auto get) {
        return columns.per_part<I>(cpus, states, [get](const Result& r, std::size_t cpu, std::size_t state) {
            return get(r.cpus[cpu].states[state]);
        });
    };
    const auto per_cpu = [&]<class T>(T, auto get) {
        return columns.per_item<T>(cpus,
                                   [get](const Result& r, std::size_t cpu) { return get(r.cpus[cpu]); });
    };
    py::dict out;
    out["residency_ns"] = per_state([](const StateCounters& s) { return s.residency_ns; });
    out["usage"] = per_state([](const StateCounters& s) { return s.usage; });
    out["above"] = per_state([](const StateCounters& s) { return s.above; });
    out["below"] = per_state([](const StateCounters& s) { return s.below; });
    out["rejected"] = per_state([](const StateCounters& s) { return s.rejected; });
    out["ticks"] = per_cpu(I{}, [](const CpuResult& c) { return c.ticks; });
    out["tick_stops"] = per_cpu(I{}, [](const CpuResult& c) { return c.tick_stops; });
    out["tick_restarts_in_loop"] = per_cpu(I{}, [](const CpuResult& c) { return c.tick_restarts_in_loop; });
    out["end_ns"] = per_cpu(I{}, [](const CpuResult& c) { return c.end_ns; });
    out["cpu_energy_mj"] = per_cpu(double{}, [](const CpuResult& c) { return c.energy_mj; });
    out["cpu_wakeups"] = per_cpu(I{}, [](const CpuResult& c) { return c.latency.wakeups; });
    out["cpu_wake_latency_p50_ns"] = per_cpu(I{}, [](const CpuResult& c) { return c.latency.p50_ns; });
    out["cpu_wake_latency_p95_ns"] = per_cpu(I{}, [](const CpuResult& c) { return c.latency.p95_ns; });
    out["cpu_wake_latency_p99_ns"] = per_cpu(I{}, [](const CpuResult& c) { return c.latency.p99_ns; });
    out["cpu_wake_latency_max_ns"] = per_cpu(I{}, [](const CpuResult& c) { return c.latency.max_ns; });
    out["cluster_off_ns"] = columns.per_item<I>(
        clusters, [](const Result& r, std::size_t cluster) { return r.cluster_off_ns[cluster]; });
    out["energy_mj"] = columns.per_run<double>([](const Result& r) { return r.energy_mj; });
    out["wakeups"] = columns.per_run<I>([](const Result& r) { return r.latency.wakeups; });
    out["wake_latency_p50_ns"] = columns.per_run<I>([](const Result& r) { return r.latency.p50_ns; });
    out["wake_latency_p95_ns"] = columns.per_run<I>([](const Result& r) { return r.latency.p95_ns; });
    out["wake_latency_p99_ns"] = columns.per_run<I>([](const Result& r) { return r.latency.p99_ns; });
    out["wake_latency_max_ns"] = columns.per_run<I>([](const Result& r) { return r.latency.max_ns; });
    return out;
}

std::size_t most_states(const Scenario& scenario) {
    std::size_t states = 0;
    for (const board::Cluster& cluster : scenario.board.clusters)
        states = std::max(states, cluster.idle_states.size());
    return states;
}

py::dict run_scenario(const Scenario& scenario, const Policy& policy, std::int64_t runs, std::int64_t first,
                      std::uint64_t seed, int threads, const py::object& progress) {
    const auto results = call_replicates(progress, [&](const replicate::Progress& callback) {
        const auto make_model = [&] { return Model{scenario, policy}; };
        make_model();  // a policy that does not fit is refused here, before any thread starts
        return replicate::run_replicates(make_model, {first, runs, threads, seed}, callback);
    });
    return to_columns(results, most_states(scenario));
}

py::dict run_timeline(const Scenario& scenario, const Policy& policy, std::uint64_t seed,
                      std::int64_t replicate) {
    engine::VectorSink sink;
    call_replicates(py::none(), [&](const replicate::Progress& callback) {
        return replicate::run_replicates(
            [&] {
                return WatchedModel<Model>{Model{scenario, policy}, &sink};
            },
            {replicate, 1, 1, seed}, callback);
    });
    return timeline_columns(sink);
}

void bind_arrivals(py::module_& module) {
    py::class_<PeriodicArrivals>(module, "PeriodicArrivals")
        .def(py::init([](std::int64_t period_ns, std::int64_t first_ns, std::int64_t first_spread_ns,
                         std::int64_t jitter_ns) {
                 return PeriodicArrivals{period_ns, first_ns, first_spread_ns, jitter_ns};
             }),
             py::kw_only(), py::arg("period_ns"), py::arg("first_ns"), py::arg("first_spread_ns") = 0,
             py::arg("jitter_ns") = 0);
    py::class_<PoissonArrivals>(module, "PoissonArrivals")
        .def(py::init([](std::int64_t mean_gap_ns) { return PoissonArrivals{mean_gap_ns}; }), py::kw_only(),
             py::arg("mean_gap_ns"));
    py::class_<LognormalArrivals>(module, "LognormalArrivals")
        .def(py::init([](std::int64_t median_gap_ns, double sigma) {
                 return LognormalArrivals{median_gap_ns, sigma};
             }),
             py::kw_only(), py::arg("median_gap_ns"), py::arg("sigma"));
    py::class_<BurstyArrivals>(module, "BurstyArrivals")
        .def(py::init([](std::int64_t quiet_min_ns, std::int64_t quiet_max_ns, std::int64_t gap_min_ns,
                         std::int64_t gap_max_ns, std::int64_t burst_min, std::int64_t burst_max) {
                 return BurstyArrivals{quiet_min_ns, quiet_max_ns, gap_min_ns,
                                       gap_max_ns,   burst_min,    burst_max};
             }),
             py::kw_only(), py::arg("quiet_min_ns"), py::arg("quiet_max_ns"), py::arg("gap_min_ns"),
             py::arg("gap_max_ns"), py::arg("burst_min"), py::arg("burst_max"));
    py::class_<RecordedArrivals>(module, "RecordedArrivals")
        .def(py::init(
                 [](std::vector<std::int64_t> times_ns) { return RecordedArrivals{std::move(times_ns)}; }),
             py::kw_only(), py::arg("times_ns"));
}

}  // namespace

void bind_idle(py::module_& module) {
    module.attr("NO_LATENCY_LIMIT_US") = kNoLatencyLimitUs;
    bind_arrivals(module);
    py::native_enum<SourceKind>(module, "SourceKind", "enum.Enum")
        .value("interrupt", SourceKind::interrupt)
        .value("hrtimer", SourceKind::hrtimer)
        .value("wheel", SourceKind::wheel)
        .finalize();
    py::native_enum<TimelineKind>(module, "IdleTimelineKind", "enum.IntEnum")
        .value("enter_state", TimelineKind::enter_state)
        .value("leave_state", TimelineKind::leave_state)
        .value("tick_stop", TimelineKind::tick_stop)
        .value("tick_restart", TimelineKind::tick_restart)
        .finalize();
    py::class_<Source>(module, "Source")
        .def(py::init([](std::string name, int cpu, SourceKind kind, Arrivals arrivals,
                         std::int64_t chain_first_ns, std::int64_t chain_next_ns, int chain_repeats,
                         std::int64_t task_run_ns) {
                 return Source{std::move(name), cpu,           kind,          std::move(arrivals),
                               chain_first_ns,  chain_next_ns, chain_repeats, task_run_ns};
             }),
             py::arg("name"), py::kw_only(), py::arg("cpu"), py::arg("kind"), py::arg("arrivals"),
             py::arg("chain_first_ns") = 0, py::arg("chain_next_ns") = 0, py::arg("chain_repeats") = 0,
             py::arg("task_run_ns") = 0)
        .def_readonly("name", &Source::name)
        .def_readonly("cpu", &Source::cpu)
        .def_readonly("kind", &Source::kind)
        .def("__eq__", [](const Source& a, const Source& b) { return a == b; });
    py::class_<Scenario>(module, "IdleScenario")
        .def(py::init([](board::Board board, std::vector<Source> sources, std::int64_t duration_ns,
                         std::optional<std::int64_t> tick_phase_ns, std::int64_t latency_limit_us,
                         std::vector<std::uint32_t> disabled, std::vector<std::size_t> opps,
                         double refusal_probability, std::uint32_t iowait, std::uint32_t load) {
                 Scenario scenario{std::move(board), std::move(sources),
                                   duration_ns,      tick_phase_ns,
                                   latency_limit_us, std::move(disabled),
                                   std::move(opps),  refusal_probability,
                                   iowait,           load};
                 validate(scenario);
                 return scenario;
             }),
             py::arg("board"), py::kw_only(), py::arg("sources"), py::arg("duration_ns"),
             py::arg("tick_phase_ns"), py::arg("latency_limit_us"), py::arg("disabled"), py::arg("opps"),
             py::arg("refusal_probability"), py::arg("iowait"), py::arg("load"));
    module.def("run_idle", &run_scenario, py::arg("scenario"), py::arg("policy"), py::kw_only(),
               py::arg("runs"), py::arg("first"), py::arg("seed"), py::arg("threads"),
               py::arg("progress") = py::none());
    module.def("run_idle_timeline", &run_timeline, py::arg("scenario"), py::arg("policy"), py::kw_only(),
               py::arg("seed"), py::arg("replicate"));
}
