// SPDX-License-Identifier: MIT
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bindings.hpp"
#include "policy_class.hpp"
#include "torpor/base/call_text.hpp"
#include "torpor/base/error.hpp"
#include "torpor/dpm/policy.hpp"

namespace {

using namespace torpor;
using namespace torpor::dpm;

// In the order of the enumerators.
constexpr std::array<std::string_view, 7> kOrders{"sync",    "old",     "old-inline", "breadth-first",
                                                  "up-6.16", "up-6.17", "bound"};
constexpr std::array<std::string_view, 7> kMakers{"Sync",  "Old",   "OldInline", "BreadthFirst",
                                                  "Up616", "Up617", "Bound"};
constexpr std::array<std::string_view, 4> kEasOff{"none", "suspend", "resume", "both"};

template <class Enum, std::size_t N>
std::string_view name_in(const std::array<std::string_view, N>& names, Enum value) {
    return names[static_cast<std::size_t>(value)];
}

Policy make_policy(const std::string& order, const std::string& eas_off,
                   std::optional<std::int64_t> max_active, bool inline_calls, bool list_mutex) {
    const std::string key = order + ".";
    Policy policy;
    policy.order = parse_name<Order>(order, kOrders, "order");
    policy.eas_off = parse_name<EasOff>(eas_off, kEasOff, key + "eas_off");
    // 0 is how the engine writes the version's own limit.
    if (max_active && *max_active == 0) throw ConfigError{key + "max_active", "0", "must be at least 1"};
    policy.max_active = max_active.value_or(0);
    policy.inline_calls = inline_calls;
    policy.list_mutex = list_mutex;
    validate(policy);
    return policy;
}

/// Reads back; parameters that are as usual are left out.
std::string representation(const Policy& policy) {
    const Policy usual{policy.order};
    std::string text;
    const auto show = [&text](const char* name, const py::object& value) {
        if (!text.empty()) text += ", ";
        text.append(name).append("=").append(py::str(py::repr(value)));
    };
    if (policy.eas_off != usual.eas_off) show("eas_off", py::cast(name_in(kEasOff, policy.eas_off)));
    if (policy.max_active != usual.max_active) show("max_active", py::cast(policy.max_active));
    if (policy.inline_calls != usual.inline_calls) show("inline_calls", py::cast(policy.inline_calls));
    if (policy.list_mutex != usual.list_mutex) show("list_mutex", py::cast(policy.list_mutex));
    return std::string{name_in(kMakers, policy.order)} + "(" + text + ")";
}

}  // namespace

void bind_dpm_policies(py::module_& module) {
    py::class_<Policy>(module, "DpmPolicy", "How the device core orders the work of a phase.")
        .def(py::init(&make_policy), py::arg("order"), py::kw_only(), py::arg("eas_off") = "none",
             py::arg("max_active") = py::none(), py::arg("inline_calls") = true, py::arg("list_mutex") = true)
        .def_property_readonly("order", [](const Policy& self) { return name_in(kOrders, self.order); })
        .def_property_readonly("eas_off", [](const Policy& self) { return name_in(kEasOff, self.eas_off); })
        .def_property_readonly(
            "max_active",
            [](const Policy& self) {
                return self.max_active == 0 ? std::nullopt : std::optional{self.max_active};
            },
            "Most work items that are active at a time; None is the limit of the version.")
        .def_readonly("inline_calls", &Policy::inline_calls)
        .def_readonly("list_mutex", &Policy::list_mutex)
        .def(py::self == py::self)
        .def("__hash__", [](const Policy& self) { return py::hash(py::str(to_string(self))); })
        .def("__str__", [](const Policy& self) { return to_string(self); })
        .def("__repr__", &representation)
        .def("_repr_html_", [](const Policy& self) { return "<code>" + to_string(self) + "</code>"; })
        .def(py::pickle([](const Policy& self) { return to_string(self); },
                        [](const std::string& text) { return parse_policy(text); }));
    module.def("parse_dpm_policy", &parse_policy, py::arg("text"),
               "Policy of a text such as 'old' or 'breadth-first(eas_off=resume)'; ConfigError lists what is "
               "known.");
    module.def("known_dpm_policies", &known_policies,
               "Every policy with its parameters, defaults and source.");
    module.def("dpm_max_active", &max_active_of, py::arg("policy"), py::arg("cpus"),
               "Most work items that are active at a time on so many CPUs.");
}
