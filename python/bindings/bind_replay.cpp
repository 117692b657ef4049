// SPDX-License-Identifier: MIT
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "torpor/ftrace/trace_log.hpp"
#include "torpor/idle/replay/open_loop.hpp"
#include "torpor/idle/replay/replay.hpp"
#include "torpor/idle/replay/score.hpp"
#include "torpor/idle/replay/start.hpp"
#include "torpor/idle/replay/trace_walk.hpp"

namespace {

using namespace torpor;
using namespace torpor::idle;

// Exit latency and target residency in nanoseconds, polling.
using StateRow = std::tuple<std::int64_t, std::int64_t, bool>;

/// A walk and what every replay of it needs.
struct Walk {
    std::map<int, StateTable> tables;
    WalkOptions options;
    TraceWalk trace;
    LoopCosts costs;
};

std::map<int, StateTable> make_tables(const std::map<int, std::vector<StateRow>>& rows) {
    std::map<int, StateTable> tables;
    for (const auto& [cpu, states] : rows) {
        std::vector<GovernorState> table;
        for (const auto& [latency_ns, residency_ns, polling] : states) {
            table.push_back({latency_ns, residency_ns, polling});
        }
        tables.emplace(cpu, StateTable{table});
    }
    return tables;
}

std::unique_ptr<Walk> make_walk(const ftrace::TraceLog& log, std::map<int, StateTable> tables, int hz,
                                std::optional<std::vector<std::string>> workload_tasks) {
    const py::gil_scoped_release release;
    WalkOptions options;
    options.tick = TickLength{hz};
    options.workload_tasks = std::move(workload_tasks);
    TraceWalk trace = walk_trace(log, tables, options);
    const LoopCosts costs = measure_costs(trace, options);
    return std::make_unique<Walk>(Walk{std::move(tables), std::move(options), std::move(trace), costs});
}

template <class T, class Items, class Get>
py::array_t<T> column(const Items& items, Get get) {
    py::array_t<T> array(static_cast<py::ssize_t>(items.size()));
    auto view = array.template mutable_unchecked<1>();
    for (std::size_t i = 0; i < items.size(); ++i)
        view(static_cast<py::ssize_t>(i)) = static_cast<T>(get(items[i]));
    return array;
}

const CpuTrace& cpu_at(const Walk& walk, std::size_t index) {
    if (index >= walk.trace.cpus.size()) throw py::index_error();
    return walk.trace.cpus[index];
}

py::dict decisions(const Walk& walk, std::size_t index) {
    using D = TraceDecision;
    const std::vector<D>& all = cpu_at(walk, index).decisions;
    const std::int64_t tick_ns = walk.options.tick.ns;
    py::dict out;
    out["line"] = column<std::int64_t>(all, [](const D& d) { return d.line; });
    out["state"] = column<std::int32_t>(all, [](const D& d) { return d.state; });
    out["entry_ns"] = column<std::int64_t>(all, [](const D& d) { return d.entry_ns; });
    out["exit_ns"] = column<std::int64_t>(all, [](const D& d) { return d.exit_ns; });
    out["residency_ns"] = column<std::int64_t>(all, [](const D& d) { return d.residency_ns; });
    out["idle_entry_ns"] = column<std::int64_t>(all, [](const D& d) { return d.idle_entry_ns; });
    out["stopped_before"] = column<bool>(all, [](const D& d) { return d.stopped_before; });
    out["stopped"] = column<bool>(all, [](const D& d) { return d.stopped; });
    out["tick_ns"] = column<std::int64_t>(all, [](const D& d) { return d.tick_ns; });
    out["wheel_ns"] = column<std::int64_t>(all, [](const D& d) { return d.wheel_ns; });
    out["hrtimer_ns"] = column<std::int64_t>(all, [](const D& d) { return d.hrtimer_ns; });
    const auto view = [tick_ns](const D& d) { return recorded_view(d, d.rcu_need, tick_ns); };
    out["next_event_ns"] = column<std::int64_t>(all, [&](const D& d) { return view(d).next_event_ns; });
    out["sleep_length_ns"] = column<std::int64_t>(all, [&](const D& d) { return view(d).sleep_length_ns; });
    out["tick_needed"] = column<bool>(all, [&](const D& d) { return view(d).needed; });
    out["rcu_need"] = column<bool>(all, [](const D& d) { return d.rcu_need; });
    out["got_tick"] = column<bool>(all, [](const D& d) { return d.got_tick; });
    out["end"] = column<std::uint8_t>(all, [](const D& d) { return static_cast<std::uint8_t>(d.end); });
    out["cause"] = column<std::uint8_t>(all, [](const D& d) { return d.cause; });
    return out;
}

py::dict periods(const ClosedCpu& cpu) {
    using P = ReplayPeriod;
    py::dict out;
    out["entry_ns"] = column<std::int64_t>(cpu.periods, [](const P& p) { return p.entry_ns; });
    out["exit_ns"] = column<std::int64_t>(cpu.periods, [](const P& p) { return p.exit_ns; });
    out["residency_ns"] = column<std::int64_t>(cpu.periods, [](const P& p) { return p.residency_ns; });
    out["state"] = column<std::int32_t>(cpu.periods, [](const P& p) { return p.state; });
    out["wake"] =
        column<std::uint8_t>(cpu.periods, [](const P& p) { return static_cast<std::uint8_t>(p.wake); });
    out["recorded"] = column<bool>(cpu.periods, [](const P& p) { return p.recorded; });
    return out;
}

py::list open_columns(const Walk& walk, const Policy& policy, const ReplayRules& rules) {
    py::list out;
    for (const auto& choices : replay_open(walk.trace, walk.tables, walk.options.tick, policy, rules)) {
        py::dict columns;
        columns["state"] = column<std::int32_t>(choices, [](const OpenChoice& c) { return c.state; });
        columns["stopped"] = column<bool>(choices, [](const OpenChoice& c) { return c.stopped; });
        columns["needed"] = column<bool>(choices, [](const OpenChoice& c) { return c.needed; });
        out.append(columns);
    }
    return out;
}

void check_opps(const board::Board& board, const std::vector<std::size_t>& opps) {
    if (opps.size() == board.clusters.size()) return;
    throw ConfigError{"opps", std::to_string(opps.size()) + " operating points for " +
                                  std::to_string(board.clusters.size()) + " clusters"};
}

std::vector<ClosedCpu> closed(const Walk& walk, const Policy& policy, const ReplayRules& rules,
                              const board::Board* board, const std::vector<std::size_t>& opps) {
    if (board != nullptr) check_opps(*board, opps);
    const py::gil_scoped_release release;
    const PowerByCpu powers = board != nullptr ? powers_of(*board, opps) : PowerByCpu{};
    return replay_closed(walk.trace, walk.tables, walk.options.tick, policy, rules, walk.costs, powers);
}

py::dict latency(const LatencySummary& summary) {
    py::dict out;
    out["wakeups"] = summary.wakeups;
    out["p50_ns"] = summary.p50_ns;
    out["p95_ns"] = summary.p95_ns;
    out["p99_ns"] = summary.p99_ns;
    out["max_ns"] = summary.max_ns;
    return out;
}

py::dict score(const Walk& walk, const std::vector<ClosedCpu>& cpus, const board::Board& board,
               const std::vector<std::size_t>& opps, bool hindsight, std::int64_t latency_limit_us) {
    check_opps(board, opps);
    const Coordination coordination = hindsight ? Coordination::hindsight : Coordination::firmware;
    const ReplayScore result = score_periods(walk.trace, cpus, board, opps, coordination, latency_limit_us);
    py::list list;
    for (const ReplayCpuScore& cpu : result.cpus) {
        py::dict one;
        one["residency_ns"] =
            column<std::int64_t>(cpu.states, [](const StateCounters& s) { return s.residency_ns; });
        one["usage"] = column<std::int64_t>(cpu.states, [](const StateCounters& s) { return s.usage; });
        one["above"] = column<std::int64_t>(cpu.states, [](const StateCounters& s) { return s.above; });
        one["below"] = column<std::int64_t>(cpu.states, [](const StateCounters& s) { return s.below; });
        one["tick_stops"] = cpu.tick_stops;
        one["energy_mj"] = cpu.energy_mj;
        one["latency"] = latency(cpu.latency);
        list.append(one);
    }
    py::dict out;
    out["cpus"] = list;
    out["energy_mj"] = result.energy_mj;
    out["latency"] = latency(result.latency);
    return out;
}

ReplayRules make_rules(int warm_up, bool rcu_need, bool contradiction, bool got_tick,
                       std::int64_t latency_limit_us) {
    if (warm_up < 0) throw ConfigError{"warm_up", std::to_string(warm_up) + " is below the limit 0"};
    if (latency_limit_us < 0 || latency_limit_us > kNoLatencyLimitUs) {
        throw ConfigError{"latency_limit_us", std::to_string(latency_limit_us) + " is outside 0.." +
                                                  std::to_string(kNoLatencyLimitUs)};
    }
    return {warm_up, rcu_need, contradiction, got_tick, latency_limit_us};
}

}  // namespace

void bind_replay(py::module_& module) {
    using namespace py::literals;
    py::class_<ReplayRules> rules{module, "ReplayRules", "Which rules a replay keeps."};
    rules.def(py::init(&make_rules), py::kw_only(), "warm_up"_a = 8, "rcu_need"_a = true,
              "contradiction"_a = true, "got_tick"_a = true, "latency_limit_us"_a = kNoLatencyLimitUs);
    rules.def_readonly("warm_up", &ReplayRules::warm_up);
    rules.def_readonly("rcu_need", &ReplayRules::rcu_need);
    rules.def_readonly("contradiction", &ReplayRules::contradiction);
    rules.def_readonly("got_tick", &ReplayRules::got_tick);
    rules.def_readonly("latency_limit_us", &ReplayRules::latency_limit_us);

    py::class_<ClosedCpu> cpu{module, "ReplayedCpu", "Idle periods of one CPU."};
    cpu.def_property_readonly("periods", &periods);
    cpu.def_readonly("tick_stops", &ClosedCpu::tick_stops);

    py::class_<Walk> walk{module, "TraceWalk", "Every CPU's idle decisions, rebuilt from a trace."};
    walk.def(py::init([](const ftrace::TraceLog& log, const std::map<int, std::vector<StateRow>>& tables,
                         int hz, std::optional<std::vector<std::string>> workload_tasks) {
                 return make_walk(log, make_tables(tables), hz, std::move(workload_tasks));
             }),
             "log"_a, "tables"_a, py::kw_only(), "hz"_a, "workload_tasks"_a = py::none());
    walk.def_property_readonly("begin_ns", [](const Walk& self) { return self.trace.begin_ns; });
    walk.def_property_readonly("end_ns", [](const Walk& self) { return self.trace.end_ns; });
    walk.def_property_readonly("handlers_before_exit",
                               [](const Walk& self) { return self.trace.handlers_before_exit; });
    walk.def_property_readonly("workload_tasks", [](const Walk& self) { return self.trace.workload_tasks; });
    walk.def_property_readonly("cpus", [](const Walk& self) {
        std::vector<int> cpus;
        for (const CpuTrace& trace : self.trace.cpus) cpus.push_back(trace.cpu);
        return cpus;
    });
    walk.def_property_readonly("tick_stops", [](const Walk& self) {
        std::vector<std::int64_t> stops;
        for (const CpuTrace& trace : self.trace.cpus) stops.push_back(trace.tick_stops);
        return stops;
    });
    walk.def_property_readonly("costs_ns", [](const Walk& self) {
        py::dict out;
        out["to_entry"] = self.costs.to_entry_ns;
        out["to_entry_stop"] = self.costs.to_entry_stop_ns;
        out["tick_delay"] = self.costs.tick_delay_ns;
        out["to_idle_entry"] = self.costs.to_idle_entry_ns;
        return out;
    });
    walk.def("decisions", &decisions, "index"_a);
    walk.def("recorded", [](const Walk& self) { return recorded_periods(self.trace); });
    walk.def("open_loop", &open_columns, "policy"_a, "rules"_a);
    walk.def("closed_loop", &closed, "policy"_a, "rules"_a, "board"_a = py::none(),
             "opps"_a = std::vector<std::size_t>{});
    walk.def("score", &score, "cpus"_a, "board"_a, "opps"_a, "hindsight"_a = false,
             "latency_limit_us"_a = kNoLatencyLimitUs);
    walk.attr("NO_TIMER") = kNoTimer;
    walk.attr("SETTLED_FACTOR") = static_cast<double>(kSettledFactor) / kUnityFactor;
    module.def("tick_hz_of", &tick_hz_of, "log"_a,
               "HZ of the kernel that wrote a trace; None if it does not show.");
}
