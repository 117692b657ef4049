// SPDX-License-Identifier: MIT
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "policy_class.hpp"
#include "torpor/base/error.hpp"
#include "torpor/idle/decisions.hpp"
#include "torpor/idle/policy.hpp"
#include "torpor/idle/state_table.hpp"

namespace {

using namespace torpor;
using namespace torpor::idle;

template <class P>
void add_loop(py::class_<P>& type) {
    type.def_property_readonly(
        "loop", [](const P& self) { return to_string(self.loop); }, "Idle loop: '4.17', 'leo' or '4.19'.");
}

template <class P>
P checked(P policy) {
    validate(Policy{policy});
    return policy;
}

TickLoop loop_or(const std::optional<std::string>& loop, TickLoop fallback) {
    return loop ? parse_tick_loop(*loop) : fallback;
}

void bind_kernel_governors(py::module_& module) {
    py::class_<Menu> menu(module, "Menu", "The menu governor of one kernel release.");
    menu.def(py::init([](const std::string& version, const std::optional<std::string>& loop) {
                 const MenuVersion parsed = parse_menu_version(version);
                 return Menu{parsed, loop_or(loop, default_loop(parsed))};
             }),
             py::arg("version") = to_string(Menu{}.version), py::kw_only(), py::arg("loop") = py::none())
        .def_property_readonly("version", [](const Menu& self) { return to_string(self.version); })
        .def("__repr__", [](const Menu& self) {
            return py::str("Menu(version={}, loop={})")
                .format(repr_of(to_string(self.version)), repr_of(to_string(self.loop)));
        });
    add_loop(menu);
    add_value_methods<Policy>(menu, parse_policy);

    py::class_<Teo> teo(module, "Teo", "The timer events oriented governor of one kernel release.");
    teo.def(py::init(
                [](const std::string& version, bool first_update, const std::optional<std::string>& loop) {
                    return Teo{parse_teo_version(version), first_update, loop_or(loop, Teo{}.loop)};
                }),
            py::arg("version") = to_string(Teo{}.version), py::kw_only(),
            py::arg("first_update") = Teo{}.first_update, py::arg("loop") = py::none())
        .def_property_readonly("version", [](const Teo& self) { return to_string(self.version); })
        .def_readonly("first_update", &Teo::first_update, "The first select books a period of length zero.")
        .def("__repr__", [](const Teo& self) {
            return py::str("Teo(version={}, first_update={}, loop={})")
                .format(repr_of(to_string(self.version)), self.first_update, repr_of(to_string(self.loop)));
        });
    add_loop(teo);
    add_value_methods<Policy>(teo, parse_policy);

    py::class_<Ladder> ladder(module, "Ladder", "The ladder governor of one kernel release.");
    ladder
        .def(py::init([](const std::string& version, const std::optional<std::string>& loop) {
                 return Ladder{parse_ladder_version(version), loop_or(loop, Ladder{}.loop)};
             }),
             py::arg("version") = to_string(Ladder{}.version), py::kw_only(), py::arg("loop") = py::none())
        .def_property_readonly("version", [](const Ladder& self) { return to_string(self.version); })
        .def("__repr__", [](const Ladder& self) {
            return py::str("Ladder(version={}, loop={})")
                .format(repr_of(to_string(self.version)), repr_of(to_string(self.loop)));
        });
    add_loop(ladder);
    add_value_methods<Policy>(ladder, parse_policy);

    py::class_<Haltpoll> haltpoll(module, "Haltpoll", "The governor of KVM guests.");
    haltpoll
        .def(py::init([](const std::optional<std::string>& loop) {
                 return Haltpoll{loop_or(loop, Haltpoll{}.loop)};
             }),
             py::kw_only(), py::arg("loop") = py::none())
        .def("__repr__", [](const Haltpoll& self) {
            return py::str("Haltpoll(loop={})").format(repr_of(to_string(self.loop)));
        });
    add_loop(haltpoll);
    add_value_methods<Policy>(haltpoll, parse_policy);
}

void bind_baselines_and_bounds(py::module_& module) {
    py::class_<Fixed> fixed(module, "Fixed", "Always the same idle state: a baseline.");
    fixed
        .def(py::init([](int state, bool stop_tick, const std::optional<std::string>& loop) {
                 return checked(Fixed{state, stop_tick, loop_or(loop, Fixed{}.loop)});
             }),
             py::arg("state"), py::kw_only(), py::arg("stop_tick") = Fixed{}.stop_tick,
             py::arg("loop") = py::none())
        .def_readonly("state", &Fixed::state)
        .def_readonly("stop_tick", &Fixed::stop_tick)
        .def("__repr__", [](const Fixed& self) {
            return py::str("Fixed(state={}, stop_tick={}, loop={})")
                .format(self.state, self.stop_tick, repr_of(to_string(self.loop)));
        });
    add_loop(fixed);
    add_value_methods<Policy>(fixed, parse_policy);

    py::class_<Oracle> oracle(module, "Oracle", "Bound, not a governor: knows when the next wakeup comes.");
    oracle
        .def(py::init([](std::int64_t latency_limit_us) { return checked(Oracle{latency_limit_us}); }),
             py::kw_only(), py::arg("latency_limit_us") = kNoLatencyLimitUs)
        .def_readonly("latency_limit_us", &Oracle::latency_limit_us)
        .def("__repr__", [](const Oracle& self) {
            return py::str("Oracle(latency_limit_us={})").format(self.latency_limit_us);
        });
    add_value_methods<Policy>(oracle, parse_policy);

    py::class_<DelayedOracle> delayed(module, "DelayedOracle",
                                      "Bound, not a governor: waits in the shallowest state, then knows.");
    delayed
        .def(py::init([](std::int64_t delay_us, std::int64_t latency_limit_us) {
                 return checked(DelayedOracle{delay_us, latency_limit_us});
             }),
             py::arg("delay_us"), py::kw_only(), py::arg("latency_limit_us") = kNoLatencyLimitUs)
        .def_readonly("delay_us", &DelayedOracle::delay_us)
        .def_readonly("latency_limit_us", &DelayedOracle::latency_limit_us)
        .def("__repr__", [](const DelayedOracle& self) {
            return py::str("DelayedOracle(delay_us={}, latency_limit_us={})")
                .format(self.delay_us, self.latency_limit_us);
        });
    add_value_methods<Policy>(delayed, parse_policy);
}

void bind_policy_texts(py::module_& module) {
    module.def("parse_policy", &parse_policy, py::arg("text"),
               "Policy of a text such as 'menu(version=4.18)'; ConfigError lists what is known.");
    module.def("known_policies", &known_policies,
               "Every policy with its versions, parameters, defaults and source.");
}

StateTable make_table(const std::vector<std::int64_t>& exit_latency_ns,
                      const std::vector<std::int64_t>& target_residency_ns,
                      const std::vector<bool>& polling) {
    const std::size_t count = exit_latency_ns.size();
    if (target_residency_ns.size() != count || polling.size() != count) {
        throw ConfigError{"states", "exit_latency_ns, target_residency_ns and polling differ in length"};
    }
    std::vector<GovernorState> states;
    for (std::size_t i = 0; i < count; ++i) {
        states.push_back({exit_latency_ns[i], target_residency_ns[i], polling[i]});
    }
    return StateTable{states};
}

/// One figure of every state of a table.
template <class Get>
py::list listed(const StateTable& table, Get get) {
    py::list list;
    for (int i = 0; i < table.count(); ++i) list.append(get(i));
    return list;
}

py::list latencies(const StateTable& table) {
    return listed(table, [&table](int i) { return table.latency_ns(i); });
}

py::list residencies(const StateTable& table) {
    return listed(table, [&table](int i) { return table.residency_ns(i); });
}

py::list polling(const StateTable& table) {
    return listed(table, [&table](int i) { return table.polling(i); });
}

void bind_tables(py::module_& module) {
    py::class_<StateTable>(module, "StateTable",
                           "Idle states of one CPU as a governor sees them, shallow to deep.")
        .def(py::init(&make_table), py::arg("exit_latency_ns"), py::kw_only(), py::arg("target_residency_ns"),
             py::arg("polling"))
        .def_property_readonly("exit_latency_ns", &latencies)
        .def_property_readonly("target_residency_ns", &residencies)
        .def_property_readonly("polling", &polling)
        .def("__len__", &StateTable::count)
        .def(py::self == py::self)
        .def("__hash__",
             [](const StateTable& self) {
                 return py::hash(py::make_tuple(py::tuple(latencies(self)), py::tuple(residencies(self)),
                                                py::tuple(polling(self))));
             })
        .def("__repr__",
             [](const StateTable& self) {
                 return py::str("StateTable({}, target_residency_ns={}, polling={})")
                     .format(latencies(self), residencies(self), polling(self));
             })
        .def(py::pickle(
            [](const StateTable& self) {
                return py::make_tuple(latencies(self), residencies(self), polling(self));
            },
            [](const py::tuple& state) {
                return make_table(state[0].cast<std::vector<std::int64_t>>(),
                                  state[1].cast<std::vector<std::int64_t>>(),
                                  state[2].cast<std::vector<bool>>());
            }));
    py::class_<TickLength>(module, "TickLength",
                           "Length of the scheduler tick as the kernel computes it from HZ.")
        .def(py::init<int>(), py::arg("hz"))
        .def_readonly("hz", &TickLength::hz)
        .def_readonly("ns", &TickLength::ns)
        .def_readonly("us", &TickLength::us)
        .def(py::self == py::self)
        .def("__hash__", [](const TickLength& self) { return py::hash(py::int_(self.hz)); })
        .def("__repr__", [](const TickLength& self) { return py::str("TickLength({})").format(self.hz); })
        .def(py::pickle([](const TickLength& self) { return self.hz; },
                        [](int hz) { return TickLength{hz}; }));
}

// No forced casts: a column of another type is an error, not a rounding.
template <class T>
using Column = py::array_t<T, py::array::c_style>;

template <class T>
std::span<const T> view(const char* name, const Column<T>& column) {
    if (column.ndim() != 1) throw ConfigError{name, "is not a one-dimensional array"};
    return {column.data(), static_cast<std::size_t>(column.size())};
}

template <class T>
std::span<const T> view(const char* name, const std::optional<Column<T>>& column) {
    return column ? view(name, *column) : std::span<const T>{};
}

template <class T>
std::span<T> writable(Column<T>& column) {
    return {column.mutable_data(), static_cast<std::size_t>(column.size())};
}

py::array_t<std::int64_t> figures(const std::vector<Inspection>& inspections,
                                  std::int64_t Inspection::*figure) {
    py::array_t<std::int64_t> column(static_cast<py::ssize_t>(inspections.size()));
    std::int64_t* out = column.mutable_data();
    for (const Inspection& inspection : inspections) *out++ = inspection.*figure;
    return column;
}

py::dict decide_columns(
    const Policy& policy, const StateTable& table, const TickLength& tick,
    const Column<std::int64_t>& sleep_ns, const Column<std::int64_t>& tick_ns,
    const Column<std::uint64_t>& resid_ns, const std::optional<Column<std::uint8_t>>& stopped,
    const std::optional<Column<std::int64_t>>& lat_us, const std::optional<Column<std::uint32_t>>& iowait,
    const std::optional<Column<std::uint32_t>>& load, const std::optional<Column<std::uint32_t>>& dis,
    const std::optional<Column<std::int64_t>>& span_ns, const std::optional<Column<std::uint8_t>>& got_tick,
    const std::optional<Column<std::uint8_t>>& poll_to, const std::optional<Column<std::int32_t>>& enter,
    bool debug) {
    const DecisionColumns columns{
        .sleep_length_ns = view("sleep_ns", sleep_ns),
        .next_event_ns = view("tick_ns", tick_ns),
        .tick_stopped = view("stopped", stopped),
        .latency_limit_us = view("lat_us", lat_us),
        .iowait = view("iowait", iowait),
        .load = view("load", load),
        .disabled = view("dis", dis),
        .span_ns = view("span_ns", span_ns),
        .residency_ns = view("resid_ns", resid_ns),
        .tick_wakeup = view("got_tick", got_tick),
        .poll_limit_hit = view("poll_to", poll_to),
        .entered = view("enter", enter),
    };
    Column<std::int32_t> idx(sleep_ns.size());
    Column<std::uint8_t> stop(sleep_ns.size());
    std::vector<Inspection> inspections(debug ? columns.sleep_length_ns.size() : 0);
    const DecisionAnswers answers{writable(idx), writable(stop), inspections};
    {
        const py::gil_scoped_release release;
        decide(policy, table, tick, columns, answers);
    }
    py::dict result;
    result["idx"] = idx;
    result["stop"] = stop;
    if (debug) {
        result["typ"] = figures(inspections, &Inspection::typical_us);
        result["pred"] = figures(inspections, &Inspection::predicted);
        result["bkt"] = figures(inspections, &Inspection::bucket);
        result["fac"] = figures(inspections, &Inspection::factor);
        result["total"] = figures(inspections, &Inspection::total);
    }
    return result;
}

void bind_decide(py::module_& module) {
    module.def("decide", &decide_columns, py::arg("policy"), py::kw_only(), py::arg("table"), py::arg("tick"),
               py::arg("sleep_ns"), py::arg("tick_ns"), py::arg("resid_ns"), py::arg("stopped") = py::none(),
               py::arg("lat_us") = py::none(), py::arg("iowait") = py::none(), py::arg("load") = py::none(),
               py::arg("dis") = py::none(), py::arg("span_ns") = py::none(), py::arg("got_tick") = py::none(),
               py::arg("poll_to") = py::none(), py::arg("enter") = py::none(), py::arg("debug") = false,
               "Answers of a fresh governor to a recorded sequence: arrays 'idx' and 'stop', and with debug "
               "'typ' (us), 'pred', 'bkt', 'fac' and 'total', -1 where the governor has no such figure.");
}

}  // namespace

void bind_governors(py::module_& module) {
    bind_kernel_governors(module);
    bind_baselines_and_bounds(module);
    bind_policy_texts(module);
    bind_tables(module);
    bind_decide(module);
}
