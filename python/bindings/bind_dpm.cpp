// SPDX-License-Identifier: MIT
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "bindings.hpp"
#include "columns.hpp"
#include "dpm_graph.hpp"
#include "replicate_call.hpp"
#include "torpor/base/call_text.hpp"
#include "torpor/dpm/model.hpp"
#include "torpor/replicate/replicate.hpp"

namespace {

using namespace torpor;
using namespace torpor::dpm;
using I = std::int64_t;

// In the order of the enumerators.
constexpr std::array<std::string_view, 2> kQueues{"global", "per_cpu"};
constexpr std::array<std::string_view, 3> kPlacements{"spread", "biggest_idle", "pinned"};
constexpr std::array<std::string_view, 4> kAsyncKinds{"flagged", "none", "all", "share"};

using TwoScales = std::array<double, 2>;

/// Everything but the policy, as Python holds it.
struct Held {
    Scenario scenario;
    /// Of every replicate, when the scenario has none for each.
    std::optional<Scales> every;

    /// What replicates up to `end` need.
    Scenario until(std::int64_t end) const {
        Scenario whole = scenario;
        if (every) whole.scales.assign(static_cast<std::size_t>(end), *every);
        if (!whole.scales.empty())
            require_range("replicates", end, 1, static_cast<std::int64_t>(whole.scales.size()));
        return whole;
    }
};

/// Where the columns of one call are collected.
class Table {
  public:
    Table(const std::vector<Result>& results, py::dict& out)
        : columns_{results}, cycles_{results.front().cycles.size()}, out_{out} {}

    template <class T, class Get>
    void per_cycle(const char* name, Get get) const {
        out_[name] = columns_.per_item<T>(
            cycles_, [&](const Result& result, std::size_t cycle) { return get(result.cycles[cycle]); });
    }

    template <class Get>
    void per_phase(const char* name, Get get) const {
        out_[name] = columns_.per_part<I>(cycles_, kPhases,
                                          [&](const Result& result, std::size_t cycle, std::size_t phase) {
                                              return get(result.cycles[cycle].phases[phase]);
                                          });
    }

    /// Shape (runs, cycles, 2, clusters).
    void per_cluster(const char* name, std::vector<I> Result::*figures) const {
        const std::size_t parts = (columns_.at(0).*figures).size() / cycles_;
        const py::object flat = columns_.per_part<I>(
            cycles_, parts, [&](const Result& result, std::size_t cycle, std::size_t part) {
                return (result.*figures)[cycle * parts + part];
            });
        out_[name] = flat.attr("reshape")(columns_.runs(), cycles_, 2, parts / 2);
    }

    void side(const std::string& name, Side Cycle::*side) const {
        const auto add = [&]<class T>(const char* figure_name, T Side::*figure) {
            per_cycle<T>((name + "_" + figure_name).c_str(),
                         [=](const Cycle& cycle) { return cycle.*side.*figure; });
        };
        add("ns", &Side::ns);
        add("switches", &Side::switches);
        add("switch_ins", &Side::switch_ins);
        add("wakeups", &Side::wakeups);
        add("migrations", &Side::migrations);
        add("energy_mj", &Side::energy_mj);
    }

  private:
    ResultColumns<Result> columns_;
    std::size_t cycles_;
    py::dict& out_;
};

py::dict to_columns(const std::vector<Result>& results) {
    py::dict out;
    const Table table{results, out};
    table.per_cycle<std::int8_t>("outcome",
                                 [](const Cycle& cycle) { return static_cast<std::int8_t>(cycle.outcome); });
    table.per_cycle<std::int8_t>("ended_in",
                                 [](const Cycle& cycle) { return static_cast<std::int8_t>(cycle.ended_in); });
    table.per_cycle<std::int32_t>("device", [](const Cycle& cycle) { return cycle.device; });
    table.side("suspend", &Cycle::suspend);
    table.side("resume", &Cycle::resume);
    const auto phase = [&](const char* name, I PhaseResult::*figure) {
        table.per_phase(name, [=](const PhaseResult& result) { return result.*figure; });
    };
    phase("phase_ns", &PhaseResult::ns);
    phase("items", &PhaseResult::items);
    phase("blocks", &PhaseResult::blocks);
    phase("mutex_blocks", &PhaseResult::mutex_blocks);
    phase("lock_blocks", &PhaseResult::lock_blocks);
    phase("live_workers", &PhaseResult::live_workers);
    phase("created_workers", &PhaseResult::created_workers);
    phase("callbacks", &PhaseResult::callbacks);
    phase("callbacks_by_workers", &PhaseResult::callbacks_by_workers);
    const auto bound = [&](const char* name, I Bounds::*figure) {
        table.per_phase(name, [=](const PhaseResult& result) { return result.bounds.*figure; });
    };
    bound("cp_ns", &Bounds::cp_ns);
    bound("w_ns", &Bounds::w_ns);
    bound("ovh_ns", &Bounds::ovh_ns);
    bound("sh_ns", &Bounds::sh_ns);
    bound("sum_ns", &Bounds::sum_ns);
    table.per_phase("bound_ns", [](const PhaseResult& result) { return result.bounds.bound_ns(); });
    table.per_cluster("cluster_busy_ns", &Result::cluster_busy_ns);
    table.per_cluster("main_ns", &Result::main_ns);
    py::list stuck;
    for (const Result& result : results) stuck.append(result.stuck);
    out["stuck"] = stuck;
    return out;
}

py::dict run_scenario(const Held& held, const Policy& policy, std::int64_t runs, std::int64_t first,
                      std::uint64_t seed, int threads, const py::object& progress) {
    const auto results = call_replicates(progress, [&](const replicate::Progress& callback) {
        const Scenario scenario = held.until(first + runs);
        const auto make_model = [&] { return Model{scenario, policy}; };
        return replicate::run_replicates(make_model, {first, runs, threads, seed}, callback);
    });
    return to_columns(results);
}

/// What is kept of the one replicate that is watched.
struct Watched {
    engine::VectorSink records;
    std::vector<Interval> intervals;
    std::vector<std::string> names;
};

struct WatchedPlay {
    Model model;
    Watched* kept;

    Result run(StreamKey key, const std::stop_token& stop) {
        Result result = model.run(key, stop, &kept->records);
        kept->intervals = model.intervals();
        kept->names = model.graph().names;
        return result;
    }
};

void watch(const Held& held, const Policy& policy, std::uint64_t seed, std::int64_t number, Watched& kept) {
    call_replicates(py::none(), [&](const replicate::Progress& callback) {
        Scenario scenario = held.until(number + 1);
        scenario.cycles = 1;  // only the first is watched
        return replicate::run_replicates(
            [&] {
                return WatchedPlay{Model{scenario, policy}, &kept};
            },
            {number, 1, 1, seed}, callback);
    });
}

py::dict run_timeline(const Held& held, const Policy& policy, std::uint64_t seed, std::int64_t replicate) {
    Watched kept;
    watch(held, policy, seed, replicate, kept);
    py::dict out = timeline_columns(kept.records);
    out["lane"] = out.attr("pop")("cpu");
    out["devices"] = kept.names;
    return out;
}

py::dict run_intervals(const Held& held, const Policy& policy, std::uint64_t seed, std::int64_t replicate) {
    Watched kept;
    watch(held, policy, seed, replicate, kept);
    py::dict out;
    const auto add = [&](const char* name, auto get) {
        using T = decltype(get(Interval{}));
        out[name] = Column<T>::NullaryExpr(static_cast<Index>(kept.intervals.size()), [&](Index i) {
                        return get(kept.intervals[static_cast<std::size_t>(i)]);
                    }).eval();
    };
    add("phase", [](const Interval& one) { return static_cast<std::int8_t>(one.phase); });
    add("device", [](const Interval& one) { return one.device; });
    add("queued_ns", [](const Interval& one) { return one.queued_ns; });
    add("taken_ns", [](const Interval& one) { return one.taken_ns; });
    add("begin_ns", [](const Interval& one) { return one.begin_ns; });
    add("end_ns", [](const Interval& one) { return one.end_ns; });
    add("lock_wait_ns", [](const Interval& one) { return one.lock_wait_ns; });
    add("worker", [](const Interval& one) { return one.worker; });
    add("cpu", [](const Interval& one) { return one.cpu; });
    add("called", [](const Interval& one) { return one.called; });
    add("in_place", [](const Interval& one) { return one.in_place; });
    add("waited_for", [](const Interval& one) { return one.waited_for; });
    add("lock_after", [](const Interval& one) { return one.lock_after; });
    out["devices"] = kept.names;
    return out;
}

void bind_machine(py::module_& module) {
    py::class_<sched::FairCpu>(module, "FairCpu", "One CPU of a heterogeneous machine at a frozen frequency.")
        .def(py::init([](double rate, int capacity, double relative_freq, int cluster,
                         const std::vector<std::array<I, 2>>& idle_exits) {
                 sched::FairCpu cpu{rate, capacity, relative_freq, cluster, {}};
                 for (const auto& [after_ns, exit_ns] : idle_exits)
                     cpu.idle_exits.push_back({after_ns, exit_ns});
                 return cpu;
             }),
             py::kw_only(), py::arg("rate") = 1.0, py::arg("capacity") = 1024, py::arg("relative_freq") = 1.0,
             py::arg("cluster") = 0, py::arg("idle_exits") = py::list{})
        .def_readonly("rate", &sched::FairCpu::rate)
        .def_readonly("capacity", &sched::FairCpu::capacity)
        .def_readonly("relative_freq", &sched::FairCpu::relative_freq)
        .def_readonly("cluster", &sched::FairCpu::cluster)
        .def_property_readonly("idle_exits",
                               [](const sched::FairCpu& self) {
                                   std::vector<std::array<I, 2>> pairs;
                                   for (const sched::IdleExit& one : self.idle_exits)
                                       pairs.push_back({one.after_ns, one.exit_ns});
                                   return pairs;
                               })
        .def(py::self == py::self);
    py::class_<sched::FairRules>(module, "FairRules", "How CPUs share what is ready to run.")
        .def(py::init([](const std::string& queues, const std::string& placement, bool eas, bool wake_affine,
                         bool pull, I slice_ns, I wakeup_granularity_ns, I tick_ns, I cluster_exit_ns,
                         double shared_cpus) {
                 sched::FairRules rules;
                 rules.queues = parse_name<sched::Queues>(queues, kQueues, "queues");
                 rules.placement = parse_name<sched::FairPlacement>(placement, kPlacements, "placement");
                 rules.eas = eas;
                 rules.wake_affine = wake_affine;
                 rules.pull = pull;
                 rules.slice_ns = slice_ns;
                 rules.wakeup_granularity_ns = wakeup_granularity_ns;
                 rules.tick_ns = tick_ns;
                 rules.cluster_exit_ns = cluster_exit_ns;
                 rules.shared_cpus = shared_cpus;
                 return rules;
             }),
             py::kw_only(), py::arg("queues"), py::arg("placement"), py::arg("eas"), py::arg("wake_affine"),
             py::arg("pull"), py::arg("slice_ns"), py::arg("wakeup_granularity_ns"), py::arg("tick_ns"),
             py::arg("cluster_exit_ns"), py::arg("shared_cpus"))
        .def(py::self == py::self);
    py::class_<sched::FairCosts>(module, "FairCosts", "CPU time of scheduling, reference-CPU nanoseconds.")
        .def(py::init([](I switch_ns, I wake_ns, I idle_ipi_ns, I migration_ns) {
                 return sched::FairCosts{switch_ns, wake_ns, idle_ipi_ns, migration_ns};
             }),
             py::kw_only(), py::arg("switch_ns") = 0, py::arg("wake_ns") = 0, py::arg("idle_ipi_ns") = 0,
             py::arg("migration_ns") = 0)
        .def(py::self == py::self);
    py::class_<Costs>(module, "DpmCosts", "CPU time of the device core, reference-CPU nanoseconds.")
        .def(py::init([](I queue_ns, I dispatch_ns, I core_ns, I list_step_ns, I check_ns, I recheck_ns,
                         I callback_ns, I tail_ns, I create_ns, I create_latency_ns) {
                 return Costs{queue_ns,   dispatch_ns, core_ns, list_step_ns, check_ns,
                              recheck_ns, callback_ns, tail_ns, create_ns,    create_latency_ns};
             }),
             py::kw_only(), py::arg("queue_ns") = 0, py::arg("dispatch_ns") = 0, py::arg("core_ns") = 0,
             py::arg("list_step_ns") = 0, py::arg("check_ns") = 0, py::arg("recheck_ns") = 0,
             py::arg("callback_ns") = 0, py::arg("tail_ns") = 0, py::arg("create_ns") = 0,
             py::arg("create_latency_ns") = 0)
        .def(py::self == py::self);
}

/// Operating points of each performance domain: capacity and power of a busy CPU.
using Points = std::vector<std::vector<std::array<double, 2>>>;

Held make_scenario(std::variant<const DpmGraph*, const Generator*> devices, std::vector<sched::FairCpu> cpus,
                   const Points& domains, const sched::FairRules& rules, const sched::FairCosts& sched_costs,
                   const std::array<Costs, kPhases>& costs, int main_suspend_cpu, double main_suspend_util,
                   int main_resume_cpu, double main_resume_util, bool main_gives_way, bool main_pinned,
                   bool worker_per_item, I initial_workers, const std::string& async_kind, double async_share,
                   bool barrier_wakes, bool checks_all, bool direct_complete, I eas_switch_ns, double jitter,
                   I tick_ns, std::optional<I> since_tick_ns, I warmup_cycles, I cycles,
                   const std::vector<TwoScales>& scales, std::optional<TwoScales> every_scale,
                   const std::vector<std::array<double, 3>>& power) {
    Held held;
    Scenario& scenario = held.scenario;
    scenario.machine.cpus = std::move(cpus);
    for (const auto& points : domains) {
        sched::PerformanceDomain& domain = scenario.machine.domains.emplace_back();
        for (const auto& [capacity, power_mw] : points) domain.points.push_back({capacity, power_mw});
    }
    scenario.rules = rules;
    scenario.sched_costs = sched_costs;
    scenario.costs = costs;
    scenario.main = {main_suspend_cpu, main_suspend_util, main_resume_cpu,
                     main_resume_util, main_gives_way,    main_pinned};
    scenario.workers = {worker_per_item, initial_workers};
    if (const auto* generator = std::get_if<const Generator*>(&devices)) {
        scenario.devices = **generator;
    } else {
        scenario.devices = std::get<const DpmGraph*>(devices)->graph;
    }
    scenario.async = {parse_name<AsyncDevices::Kind>(async_kind, kAsyncKinds, "async_devices"), async_share};
    scenario.barrier_wakes = barrier_wakes;
    scenario.checks_all = checks_all;
    scenario.direct_complete = direct_complete;
    scenario.eas_switch_ns = eas_switch_ns;
    scenario.jitter = jitter;
    scenario.tick_ns = tick_ns;
    scenario.since_tick_ns = since_tick_ns;
    scenario.warmup_cycles = warmup_cycles;
    scenario.cycles = cycles;
    for (const auto& [suspend, resume] : scales) scenario.scales.push_back({suspend, resume});
    if (every_scale) held.every = Scales{(*every_scale)[0], (*every_scale)[1]};
    for (const auto& [busy_mw, idle_mw, cluster_mw] : power)
        scenario.power.push_back({busy_mw, idle_mw, cluster_mw});
    validate(held.until(1));
    return held;
}

}  // namespace

void bind_dpm(py::module_& module) {
    py::native_enum<Outcome>(module, "DpmOutcome", "enum.IntEnum")
        .value("done", Outcome::done)
        .value("failed", Outcome::failed)
        .value("aborted", Outcome::aborted)
        .value("stuck", Outcome::stuck)
        .finalize();
    py::native_enum<TimelineKind>(module, "DpmTimelineKind", "enum.IntEnum")
        .value("run_begin", TimelineKind::run_begin)
        .value("run_end", TimelineKind::run_end)
        .value("phase_begin", TimelineKind::phase_begin)
        .value("phase_end", TimelineKind::phase_end)
        .value("device_begin", TimelineKind::device_begin)
        .value("device_end", TimelineKind::device_end)
        .finalize();
    bind_machine(module);
    py::class_<Held>(module, "DpmScenario")
        .def(py::init(&make_scenario), py::kw_only(), py::arg("devices"), py::arg("cpus"), py::arg("domains"),
             py::arg("rules"), py::arg("sched_costs"), py::arg("costs"), py::arg("main_suspend_cpu"),
             py::arg("main_suspend_util"), py::arg("main_resume_cpu"), py::arg("main_resume_util"),
             py::arg("main_gives_way"), py::arg("main_pinned"), py::arg("worker_per_item"),
             py::arg("initial_workers"), py::arg("async_kind"), py::arg("async_share"),
             py::arg("barrier_wakes"), py::arg("checks_all"), py::arg("direct_complete"),
             py::arg("eas_switch_ns"), py::arg("jitter"), py::arg("tick_ns"), py::arg("since_tick_ns"),
             py::arg("warmup_cycles"), py::arg("cycles"), py::arg("scales"), py::arg("every_scale"),
             py::arg("power"));
    module.def("run_dpm", &run_scenario, py::arg("scenario"), py::arg("policy"), py::kw_only(),
               py::arg("runs"), py::arg("first"), py::arg("seed"), py::arg("threads"),
               py::arg("progress") = py::none());
    module.def("run_dpm_timeline", &run_timeline, py::arg("scenario"), py::arg("policy"), py::kw_only(),
               py::arg("seed"), py::arg("replicate"));
    module.def("run_dpm_intervals", &run_intervals, py::arg("scenario"), py::arg("policy"), py::kw_only(),
               py::arg("seed"), py::arg("replicate"));
}
