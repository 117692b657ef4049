// SPDX-License-Identifier: MIT
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "columns.hpp"
#include "distribution.hpp"
#include "replicate_call.hpp"
#include "torpor/base/call_text.hpp"
#include "torpor/freezer/model.hpp"
#include "torpor/replicate/replicate.hpp"

namespace {

using namespace torpor;
using namespace torpor::freezer;
using I = std::int64_t;

// In the order of the enumerators.
constexpr std::array<std::string_view, 2> kPreempts{"none", "full"};
constexpr std::array<std::string_view, 2> kWalkerWakes{"head", "tail"};
constexpr std::array<std::string_view, 4> kRangeModes{"hard", "tick", "uniform", "soft"};
constexpr std::array<std::string_view, 2> kOrders{"listed", "shuffled"};
constexpr std::array<std::string_view, 2> kLoops{"user_only", "both"};
constexpr std::array<std::string_view, 2> kQueues{"global", "per_cpu"};
constexpr std::array<std::string_view, 3> kPlacements{"first_idle", "biggest_idle", "wake_affine"};

void add_loop(py::dict& out, const ResultColumns<Result>& columns, const char* loop,
              LoopResult Result::*member) {
    const auto add = [&](const char* name, I LoopResult::*figure) {
        out[py::str("{}_{}").format(loop, name)] =
            columns.per_run<I>([=](const Result& r) { return r.*member.*figure; });
    };
    add("elapsed_ns", &LoopResult::elapsed_ns);
    add("passes", &LoopResult::passes);
    add("sleeps", &LoopResult::sleeps);
    add("slept_ns", &LoopResult::slept_ns);
}

void add_activity(py::dict& out, const ResultColumns<Result>& columns, const char* phase,
                  Activity Result::*member) {
    const auto add = [&]<class T>(const char* name, T Activity::*figure) {
        out[py::str("{}_{}").format(phase, name)] =
            columns.per_run<T>([=](const Result& r) { return r.*member.*figure; });
    };
    add("task_switch_ins", &Activity::task_switch_ins);
    add("switches", &Activity::switches);
    add("voluntary", &Activity::voluntary);
    add("involuntary", &Activity::involuntary);
    add("wakeups", &Activity::wakeups);
    add("busy_ns", &Activity::busy_ns);
    add("energy_mj", &Activity::energy_mj);
}

py::dict to_columns(const std::vector<Result>& results) {
    const ResultColumns<Result> columns{results};
    py::dict out;
    const auto add = [&]<class T>(const char* name, T Result::*figure) {
        out[name] = columns.per_run<T>([=](const Result& r) { return r.*figure; });
    };
    out["outcome"] =
        columns.per_run<std::int8_t>([](const Result& r) { return static_cast<std::int8_t>(r.outcome); });
    add("in_kernel_loop", &Result::in_kernel_loop);
    add_loop(out, columns, "user", &Result::user);
    add_loop(out, columns, "kernel", &Result::kernel);
    add("elapsed_ns", &Result::elapsed_ns);
    add_activity(out, columns, "freeze", &Result::freeze);
    add("restarts", &Result::restarts);
    add("visible_errors", &Result::visible_errors);
    add("refusing", &Result::refusing);
    add("workqueue_busy", &Result::workqueue_busy);
    add("work_held", &Result::work_held);
    out["refusing_by_group"] =
        columns.per_item<I>(results.front().refusing_by_group.size(),
                            [](const Result& r, std::size_t group) { return r.refusing_by_group[group]; });
    add("thaw_walker_ns", &Result::thaw_walker_ns);
    add("thaw_all_ns", &Result::thaw_all_ns);
    add_activity(out, columns, "thaw", &Result::thaw);
    add("thaw_visible_errors", &Result::thaw_visible_errors);
    add("running_on", &Result::running_on);
    out["bound_ns"] = columns.per_run<double>([](const Result& r) {
        return r.bound_ns < 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(r.bound_ns);
    });
    add("attempts", &Result::attempts);
    add("cycle_ns", &Result::cycle_ns);
    add("cycle_energy_mj", &Result::cycle_energy_mj);
    const std::size_t cpus = results.front().freeze.cpu_busy_ns.size();
    out["freeze_cpu_busy_ns"] =
        columns.per_item<I>(cpus, [](const Result& r, std::size_t cpu) { return r.freeze.cpu_busy_ns[cpu]; });
    out["thaw_cpu_busy_ns"] =
        columns.per_item<I>(cpus, [](const Result& r, std::size_t cpu) { return r.thaw.cpu_busy_ns[cpu]; });
    return out;
}

py::dict run_scenario(const Scenario& scenario, const Policy& policy, std::int64_t runs, std::int64_t first,
                      std::uint64_t seed, int threads, const py::object& progress) {
    const auto results = call_replicates(progress, [&](const replicate::Progress& callback) {
        validate(policy);  // the scenario has been checked when it was made
        const auto make_model = [&] { return Model{scenario, policy}; };
        return replicate::run_replicates(make_model, {first, runs, threads, seed}, callback);
    });
    return to_columns(results);
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

/// A model that hands out what became of its tasks.
struct TaskModel {
    Model model;
    std::vector<TaskOutcome>* tasks;

    Result run(StreamKey key, const std::stop_token& stop) {
        Result result = model.run(key, stop);
        *tasks = model.tasks();
        return result;
    }
};

py::dict run_tasks(const Scenario& scenario, const Policy& policy, std::uint64_t seed,
                   std::int64_t replicate) {
    std::vector<TaskOutcome> tasks;
    call_replicates(py::none(), [&](const replicate::Progress& callback) {
        return replicate::run_replicates(
            [&] {
                TaskModel made{Model{scenario, policy}, &tasks};
                made.model.keep_tasks();
                return made;
            },
            {replicate, 1, 1, seed}, callback);
    });
    const auto column = [&]<class T>(T TaskOutcome::*figure) {
        return Column<T>::NullaryExpr(static_cast<Index>(tasks.size()),
                                      [&](Index i) { return tasks[static_cast<std::size_t>(i)].*figure; })
            .eval();
    };
    py::list states;
    py::list states_after_thaw;
    py::list calls;
    for (const TaskOutcome& task : tasks) {
        states.append(task.state);
        states_after_thaw.append(task.state_after_thaw);
        calls.append(to_string(task.call));
    }
    py::dict out;
    out["group"] = column(&TaskOutcome::group);
    out["number"] = column(&TaskOutcome::number);
    out["forked"] = column(&TaskOutcome::forked);
    out["state"] = states;
    out["state_after_thaw"] = states_after_thaw;
    out["frozen_ns"] = column(&TaskOutcome::frozen_ns);
    out["reblocked_ns"] = column(&TaskOutcome::reblocked_ns);
    out["voluntary"] = column(&TaskOutcome::voluntary);
    out["involuntary"] = column(&TaskOutcome::involuntary);
    out["wakeups"] = column(&TaskOutcome::wakeups);
    out["interrupted"] = column(&TaskOutcome::interrupted);
    out["call"] = calls;
    return out;
}

TaskGroup make_group(std::string name, std::int64_t count, std::int64_t threads, const std::string& kind,
                     const std::string& site, const std::string& start,
                     std::optional<AnyDistribution> d_ends_ns, std::optional<AnyDistribution> wakes_at_ns,
                     std::optional<AnyDistribution> forks_at_ns, std::string waits_on,
                     std::int64_t reply_after_cycles, std::optional<std::int64_t> freeze_run_cycles,
                     std::optional<std::int64_t> thaw_run_cycles, std::int64_t nfds) {
    const std::string key = "tasks[" + name + "].";
    TaskGroup group;
    group.kind = parse_name<Kind>(kind, kind_names(), key + "kind");
    group.site = parse_name<Site>(site, site_names(), key + "site");
    group.start = parse_name<Start>(start, start_names(), key + "start");
    group.name = std::move(name);
    group.count = count;
    group.threads = threads;
    group.d_ends_ns = unwrapped(std::move(d_ends_ns));
    group.wakes_at_ns = unwrapped(std::move(wakes_at_ns));
    group.forks_at_ns = unwrapped(std::move(forks_at_ns));
    group.waits_on = std::move(waits_on);
    group.reply_after_cycles = reply_after_cycles;
    group.freeze_run_cycles = freeze_run_cycles;
    group.thaw_run_cycles = thaw_run_cycles;
    group.nfds = nfds;
    return group;
}

void bind_tasks(py::module_& module) {
    py::class_<TaskGroup>(module, "TaskGroup")
        .def(py::init(&make_group), py::arg("name"), py::kw_only(), py::arg("count") = 1,
             py::arg("threads") = 1, py::arg("kind") = "user", py::arg("site") = "other",
             py::arg("start") = "blocked", py::arg("d_ends_ns") = py::none(),
             py::arg("wakes_at_ns") = py::none(), py::arg("forks_at_ns") = py::none(),
             py::arg("waits_on") = "", py::arg("reply_after_cycles") = 0,
             py::arg("freeze_run_cycles") = py::none(), py::arg("thaw_run_cycles") = py::none(),
             py::arg("nfds") = 0)
        .def_readonly("name", &TaskGroup::name)
        .def_readonly("count", &TaskGroup::count)
        .def(py::self == py::self);
    py::class_<WorkItem>(module, "WorkItem")
        .def(py::init([](std::int64_t queued_at_ns, AnyDistribution runs_ns) {
                 return WorkItem{queued_at_ns, std::move(runs_ns.chosen)};
             }),
             py::kw_only(), py::arg("queued_at_ns"), py::arg("runs_ns"))
        .def(py::self == py::self);
}

void bind_machine(py::module_& module) {
    py::class_<sched::Cpu>(module, "Cpu", "One CPU at a frozen frequency.")
        .def(py::init([](std::int64_t freq_hz, int capacity, int cluster, std::int64_t wake_latency_ns,
                         std::int64_t work_hz) {
                 return sched::Cpu{freq_hz, capacity, cluster, wake_latency_ns, work_hz};
             }),
             py::kw_only(), py::arg("freq_hz"), py::arg("capacity") = 1024, py::arg("cluster") = 0,
             py::arg("wake_latency_ns") = 0, py::arg("work_hz") = 0)
        .def_readonly("freq_hz", &sched::Cpu::freq_hz)
        .def_readonly("capacity", &sched::Cpu::capacity)
        .def_readonly("cluster", &sched::Cpu::cluster)
        .def_readonly("wake_latency_ns", &sched::Cpu::wake_latency_ns)
        .def_readonly("work_hz", &sched::Cpu::work_hz)
        .def(py::self == py::self);
    py::class_<sched::Rules>(module, "Rules", "How CPUs share what is ready to run.")
        .def(py::init([](const std::string& queues, const std::string& placement, bool steal,
                         std::int64_t slice_ns) {
                 return sched::Rules{parse_name<sched::Queues>(queues, kQueues, "queues"),
                                     parse_name<sched::Placement>(placement, kPlacements, "placement"), steal,
                                     slice_ns};
             }),
             py::kw_only(), py::arg("queues") = "global", py::arg("placement") = "first_idle",
             py::arg("steal") = true, py::arg("slice_ns") = 0)
        .def(py::self == py::self);
    module.def("board_cpus", &sched::cpus_of, py::arg("board"), py::arg("opps"),
               "The CPUs of a board, each cluster at the operating point of its index in 'opps'.");
}

void bind_conditions(py::module_& module) {
    py::class_<Costs>(module, "Costs", "What everything costs, CPU cycles, and stalls in nanoseconds.")
        .def(py::init([](I visit_cycles, std::optional<I> visit_kernel_cycles, I wake_cycles, I resig_cycles,
                         I mark_cycles, I freeze_run_cycles, I thaw_wake_cycles, I thaw_run_cycles,
                         I resleep_cycles, I per_fd_cycles, I visit_stall_ns, I run_stall_ns,
                         I user_loop_cycles, I kernel_loop_cycles, I thaw_cycles, I sleep_overhead_ns) {
                 return Costs{visit_cycles,     visit_kernel_cycles, wake_cycles,      resig_cycles,
                              mark_cycles,      freeze_run_cycles,   thaw_wake_cycles, thaw_run_cycles,
                              resleep_cycles,   per_fd_cycles,       visit_stall_ns,   run_stall_ns,
                              user_loop_cycles, kernel_loop_cycles,  thaw_cycles,      sleep_overhead_ns};
             }),
             py::kw_only(), py::arg("visit_cycles") = 0, py::arg("visit_kernel_cycles") = py::none(),
             py::arg("wake_cycles") = 0, py::arg("resig_cycles") = 0, py::arg("mark_cycles") = 0,
             py::arg("freeze_run_cycles") = 0, py::arg("thaw_wake_cycles") = 0,
             py::arg("thaw_run_cycles") = 0, py::arg("resleep_cycles") = 0, py::arg("per_fd_cycles") = 0,
             py::arg("visit_stall_ns") = 0, py::arg("run_stall_ns") = 0, py::arg("user_loop_cycles") = 0,
             py::arg("kernel_loop_cycles") = 0, py::arg("thaw_cycles") = 0, py::arg("sleep_overhead_ns") = 0)
        .def(py::self == py::self);
    py::class_<Kernel>(module, "Kernel", "Kernel configuration that matters to freezing.")
        .def(
            py::init([](int hz, std::optional<I> since_tick_ns, const std::string& preempt,
                        const std::optional<std::string>& kernel_loop_preempt, const std::string& walker_wake,
                        int wheel_extra, const std::string& range_mode, I timeout_ms) {
                Kernel kernel;
                kernel.hz = hz;
                kernel.since_tick_ns = since_tick_ns;
                kernel.preempt = parse_name<Preempt>(preempt, kPreempts, "preempt");
                if (kernel_loop_preempt) {
                    kernel.kernel_loop_preempt =
                        parse_name<Preempt>(*kernel_loop_preempt, kPreempts, "kernel_loop_preempt");
                }
                kernel.walker_wake = parse_name<WalkerWake>(walker_wake, kWalkerWakes, "walker_wake");
                kernel.wheel_extra = wheel_extra;
                kernel.range_mode = parse_name<RangeMode>(range_mode, kRangeModes, "range_mode");
                kernel.timeout_ms = timeout_ms;
                return kernel;
            }),
            py::kw_only(), py::arg("hz"), py::arg("since_tick_ns") = py::none(), py::arg("preempt") = "full",
            py::arg("kernel_loop_preempt") = py::none(), py::arg("walker_wake") = "head",
            py::arg("wheel_extra") = 0, py::arg("range_mode") = "hard", py::arg("timeout_ms") = 20000)
        .def(py::self == py::self);
}

Scenario make_scenario(std::vector<sched::Cpu> cpus, std::vector<double> busy_power_mw, double base_power_mw,
                       const sched::Rules& rules, const Costs& costs, const Kernel& kernel,
                       std::vector<TaskGroup> tasks, std::vector<WorkItem> work,
                       std::optional<AnyDistribution> wakeup_at_ns, const std::string& order,
                       const std::string& loops, std::int64_t attempts, std::int64_t retry_gap_ns,
                       std::int64_t asleep_ns, bool bound) {
    Scenario scenario{std::move(cpus),
                      std::move(busy_power_mw),
                      base_power_mw,
                      rules,
                      costs,
                      kernel,
                      std::move(tasks),
                      std::move(work),
                      unwrapped(std::move(wakeup_at_ns)),
                      parse_name<Order>(order, kOrders, "order"),
                      parse_name<Loops>(loops, kLoops, "loops"),
                      attempts,
                      retry_gap_ns,
                      asleep_ns,
                      bound};
    validate(scenario);
    return scenario;
}

}  // namespace

void bind_freezer(py::module_& module) {
    py::native_enum<Outcome>(module, "FreezeOutcome", "enum.IntEnum")
        .value("frozen", Outcome::frozen)
        .value("failed", Outcome::failed)
        .value("aborted", Outcome::aborted)
        .finalize();
    py::native_enum<TimelineKind>(module, "FreezerTimelineKind", "enum.IntEnum")
        .value("run", TimelineKind::run)
        .value("loop_begin", TimelineKind::loop_begin)
        .value("loop_end", TimelineKind::loop_end)
        .value("pass_begin", TimelineKind::pass_begin)
        .value("pass_end", TimelineKind::pass_end)
        .value("sleep_begin", TimelineKind::sleep_begin)
        .value("sleep_end", TimelineKind::sleep_end)
        .value("frozen", TimelineKind::frozen)
        .value("marked", TimelineKind::marked)
        .value("reblocked", TimelineKind::reblocked)
        .finalize();
    module.attr("IDLE_ENTITY") = kIdleEntity;
    module.attr("WALKER_ENTITY") = kWalkerEntity;
    bind_tasks(module);
    bind_machine(module);
    bind_conditions(module);
    py::class_<Scenario>(module, "FreezerScenario")
        .def(py::init(&make_scenario), py::kw_only(), py::arg("cpus"), py::arg("busy_power_mw"),
             py::arg("base_power_mw"), py::arg("rules"), py::arg("costs"), py::arg("kernel"),
             py::arg("tasks"), py::arg("work"), py::arg("wakeup_at_ns"), py::arg("order"), py::arg("loops"),
             py::arg("attempts"), py::arg("retry_gap_ns"), py::arg("asleep_ns"), py::arg("bound"))
        .def_property_readonly("task_count", &task_count);
    module.def("run_freezer", &run_scenario, py::arg("scenario"), py::arg("policy"), py::kw_only(),
               py::arg("runs"), py::arg("first"), py::arg("seed"), py::arg("threads"),
               py::arg("progress") = py::none());
    module.def("run_freezer_timeline", &run_timeline, py::arg("scenario"), py::arg("policy"), py::kw_only(),
               py::arg("seed"), py::arg("replicate"));
    module.def("run_freezer_tasks", &run_tasks, py::arg("scenario"), py::arg("policy"), py::kw_only(),
               py::arg("seed"), py::arg("replicate"));
}
