// SPDX-License-Identifier: MIT
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "torpor/base/error.hpp"
#include "torpor/board/board.hpp"

namespace {

using namespace torpor;
using board::Board;
using board::Cluster;
using board::IdleCosts;
using board::IdleState;
using board::Opp;
using MaybeMw = std::optional<double>;

std::optional<Power> power_of(MaybeMw mw) {
    return mw ? std::optional{Power::mw(*mw)} : std::nullopt;
}
MaybeMw mw_of(const std::optional<Power>& power) {
    return power ? MaybeMw{power->in_mw()} : std::nullopt;
}

Frequency khz_of(std::int64_t value) {
    constexpr std::int64_t limit = std::numeric_limits<std::int64_t>::max() / 1000;
    if (value > limit || value < -limit)
        throw ConfigError("freq_khz",
                          "value " + std::to_string(value) + " is beyond the limit " + std::to_string(limit));
    return Frequency::khz(value);
}

template <class T>
using DurationMember = Duration T::*;
template <class T>
using PowerMember = std::optional<Power> T::*;

template <class T>
void ns_property(py::class_<T>& type, const char* name, DurationMember<T> member) {
    type.def_property_readonly(name, [member](const T& self) { return to_ns(self.*member); });
}

template <class T>
void mw_property(py::class_<T>& type, const char* name, PowerMember<T> member) {
    type.def_property_readonly(name, [member](const T& self) { return mw_of(self.*member); });
}

// What every record shares: equality, a repr that reads back and a pickle, both made of its keyword
// arguments.
template <class T>
void value_protocol(py::class_<T>& type, std::initializer_list<const char*> field_list) {
    const std::vector<const char*> fields{field_list};
    type.def(py::self == py::self);
    type.def(py::self != py::self);
    type.def("__repr__", [fields](const py::object& self) {
        std::string out = py::cast<std::string>(py::type::of(self).attr("__name__")) + "(";
        std::string_view separator;
        for (const char* field : fields) {
            out.append(separator).append(field).append("=");
            out.append(py::cast<std::string>(py::repr(self.attr(field))));
            separator = ", ";
        }
        return out + ")";
    });
    type.def(py::pickle(
        [fields](const py::object& self) {
            py::dict state;
            for (const char* field : fields) state[field] = self.attr(field);
            return state;
        },
        [](const py::dict& state) { return py::cast<T>(py::type::of<T>()(**state)); }));
}

IdleState make_state(std::string name, std::int64_t exit_latency_ns, std::int64_t target_residency_ns,
                     std::int64_t entry_latency_ns, std::int64_t wake_latency_ns, bool polling, bool cluster,
                     MaybeMw power_mw, MaybeMw cluster_power_mw) {
    return {std::move(name),
            from_ns(entry_latency_ns),
            from_ns(wake_latency_ns),
            from_ns(exit_latency_ns),
            from_ns(target_residency_ns),
            polling,
            cluster,
            power_of(power_mw),
            power_of(cluster_power_mw)};
}

}  // namespace

void bind_board(py::module_& module) {
    py::class_<IdleState> state{module, "IdleState"};
    py::class_<Opp> opp{module, "Opp"};
    py::class_<Cluster> cluster{module, "Cluster"};
    py::class_<IdleCosts> costs{module, "IdleCosts"};
    py::class_<Board> whole{module, "Board"};

    using namespace py::literals;
    state.def(py::init(&make_state), py::kw_only(), "name"_a, "exit_latency_ns"_a, "target_residency_ns"_a,
              "entry_latency_ns"_a = 0, "wake_latency_ns"_a = 0, "polling"_a = false, "cluster"_a = false,
              "power_mw"_a = py::none(), "cluster_power_mw"_a = py::none());
    state.def_readonly("name", &IdleState::name);
    ns_property<IdleState>(state, "exit_latency_ns", &IdleState::exit_latency);
    ns_property<IdleState>(state, "target_residency_ns", &IdleState::target_residency);
    ns_property<IdleState>(state, "entry_latency_ns", &IdleState::entry_latency);
    ns_property<IdleState>(state, "wake_latency_ns", &IdleState::wake_latency);
    state.def_readonly("polling", &IdleState::polling);
    state.def_readonly("cluster", &IdleState::cluster);
    mw_property<IdleState>(state, "power_mw", &IdleState::power);
    mw_property<IdleState>(state, "cluster_power_mw", &IdleState::cluster_power);
    value_protocol(state, {"name", "exit_latency_ns", "target_residency_ns", "entry_latency_ns",
                           "wake_latency_ns", "polling", "cluster", "power_mw", "cluster_power_mw"});

    opp.def(py::init([](std::int64_t freq_khz, MaybeMw power_mw, MaybeMw cluster_power_mw) {
                return Opp{khz_of(freq_khz), power_of(power_mw), power_of(cluster_power_mw)};
            }),
            py::kw_only(), "freq_khz"_a, "power_mw"_a = py::none(), "cluster_power_mw"_a = py::none());
    opp.def_property_readonly("freq_khz", [](const Opp& self) { return self.frequency.in_khz(); });
    mw_property<Opp>(opp, "power_mw", &Opp::power);
    mw_property<Opp>(opp, "cluster_power_mw", &Opp::cluster_power);
    value_protocol(opp, {"freq_khz", "power_mw", "cluster_power_mw"});

    cluster.def(py::init([](std::string name, std::vector<int> cpus, std::vector<IdleState> idle_states,
                            std::vector<Opp> opps, int capacity) {
                    return Cluster{std::move(name), std::move(cpus), capacity, std::move(opps),
                                   std::move(idle_states)};
                }),
                py::kw_only(), "name"_a, "cpus"_a, "idle_states"_a, "opps"_a = std::vector<Opp>{},
                "capacity"_a = 1024);
    cluster.def_readonly("name", &Cluster::name);
    cluster.def_readonly("cpus", &Cluster::cpus);
    // Copies, since a reference into the vector would let its owner die first.
    cluster.def_property_readonly("idle_states", [](const Cluster& self) { return self.idle_states; });
    cluster.def_property_readonly("opps", [](const Cluster& self) { return self.opps; });
    cluster.def_readonly("capacity", &Cluster::capacity);
    value_protocol(cluster, {"name", "cpus", "idle_states", "opps", "capacity"});

    costs.def(py::init([](std::int64_t select_to_entry_ns, std::int64_t ipi_handler_ns,
                          std::int64_t timer_handler_ns, std::int64_t tick_handler_ns,
                          std::int64_t interrupt_exit_ns, std::int64_t reflect_ns) {
                  return IdleCosts{from_ns(select_to_entry_ns), from_ns(ipi_handler_ns),
                                   from_ns(timer_handler_ns),   from_ns(tick_handler_ns),
                                   from_ns(interrupt_exit_ns),  from_ns(reflect_ns)};
              }),
              py::kw_only(), "select_to_entry_ns"_a = 0, "ipi_handler_ns"_a = 0, "timer_handler_ns"_a = 0,
              "tick_handler_ns"_a = 0, "interrupt_exit_ns"_a = 0, "reflect_ns"_a = 0);
    ns_property<IdleCosts>(costs, "select_to_entry_ns", &IdleCosts::select_to_entry);
    ns_property<IdleCosts>(costs, "ipi_handler_ns", &IdleCosts::ipi_handler);
    ns_property<IdleCosts>(costs, "timer_handler_ns", &IdleCosts::timer_handler);
    ns_property<IdleCosts>(costs, "tick_handler_ns", &IdleCosts::tick_handler);
    ns_property<IdleCosts>(costs, "interrupt_exit_ns", &IdleCosts::interrupt_exit);
    ns_property<IdleCosts>(costs, "reflect_ns", &IdleCosts::reflect);
    value_protocol(costs, {"select_to_entry_ns", "ipi_handler_ns", "timer_handler_ns", "tick_handler_ns",
                           "interrupt_exit_ns", "reflect_ns"});

    whole.def(
        py::init([](std::string name, std::vector<Cluster> clusters, int tick_hz, IdleCosts idle_costs) {
            return Board{std::move(name), tick_hz, std::move(clusters), idle_costs};
        }),
        py::kw_only(), "name"_a, "clusters"_a, "tick_hz"_a = 250, "idle_costs"_a = IdleCosts{});
    whole.def_readonly("name", &Board::name);
    whole.def_property_readonly("clusters", [](const Board& self) { return self.clusters; });
    whole.def_readonly("tick_hz", &Board::tick_hz);
    whole.def_property_readonly("idle_costs", [](const Board& self) { return self.idle_costs; });
    whole.def_property_readonly("cpu_count", &Board::cpu_count);
    whole.def(
        "cluster_of", [](const Board& self, int cpu) { return self.cluster_of(cpu); }, "cpu"_a);
    whole.def(
        "validate", [](const Board& self) { board::validate(self); },
        "Raise ConfigError for the first entry that breaks a rule.");
    value_protocol(whole, {"name", "clusters", "tick_hz", "idle_costs"});

    module.attr("MAX_IDLE_STATES") = board::kMaxIdleStates;
}
