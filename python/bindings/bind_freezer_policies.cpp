// SPDX-License-Identifier: MIT
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bindings.hpp"
#include "policy_class.hpp"
#include "torpor/base/call_text.hpp"
#include "torpor/base/error.hpp"
#include "torpor/freezer/policy.hpp"
#include "torpor/freezer/sites.hpp"
#include "torpor/freezer/tasks.hpp"

namespace {

using namespace torpor;
using namespace torpor::freezer;

/// In the order of the alternatives of Sleep.
constexpr std::array<std::string_view, 3> kSleepNames{"msleep", "backoff", "notify"};

Sleep sleep_of(const std::optional<std::string>& name, Version version) {
    Sleep usual = default_sleep(version);
    if (!name || name_of(usual) == *name) return usual;
    switch (parse_name<std::size_t>(*name, kSleepNames, "freezer.sleep")) {
        case 0:
            return Msleep{};
        case 1:
            return Backoff{};
        default:
            return Notify{};
    }
}

/// Sets a parameter of the sleep in force, when it is given.
template <class S, class T>
void set(Sleep& sleep, const char* name, T S::*parameter, const std::optional<T>& value) {
    if (!value) return;
    S* own = std::get_if<S>(&sleep);
    if (own == nullptr) {
        throw ConfigError{std::string{"freezer."} + name,
                          "is no parameter of sleep '" + std::string{name_of(sleep)} + "'"};
    }
    own->*parameter = *value;
}

/// Value of a parameter of the sleep in force; none where the sleep has no such parameter.
template <class S, class T>
std::optional<T> get(const Sleep& sleep, T S::*parameter) {
    const S* own = std::get_if<S>(&sleep);
    return own == nullptr ? std::nullopt : std::optional<T>{own->*parameter};
}

template <class P>
P checked(P policy) {
    validate(Policy{policy});
    return policy;
}

Freezer make_freezer(const std::string& version, const std::optional<std::string>& sleep,
                     std::optional<std::int64_t> msleep_ms, std::optional<std::int64_t> first_us,
                     std::optional<double> growth, std::optional<std::int64_t> cap_us,
                     std::optional<double> lower, std::optional<bool> clamp) {
    Freezer freezer{parse_version(version, "freezer.version")};
    freezer.sleep = sleep_of(sleep, freezer.version);
    set(freezer.sleep, "msleep_ms", &Msleep::ms, msleep_ms);
    set(freezer.sleep, "first_us", &Backoff::first_us, first_us);
    set(freezer.sleep, "growth", &Backoff::growth, growth);
    set(freezer.sleep, "cap_us", &Backoff::cap_us, cap_us);
    set(freezer.sleep, "lower", &Backoff::lower, lower);
    set(freezer.sleep, "clamp", &Backoff::clamp, clamp);
    return checked(freezer);
}

/// Reads back; parameters that are as the version has them are left out.
std::string representation(const Freezer& freezer) {
    const std::string version{repr_of(to_string(freezer.version))};
    std::string text = "Freezer(version=" + version;
    const Sleep usual = default_sleep(freezer.version);
    const bool other = usual.index() != freezer.sleep.index();
    if (other) text += ", sleep=" + std::string{repr_of(name_of(freezer.sleep))};
    const auto show = [&text]<class T>(const char* name, const T& value, const T& unless) {
        if (!(value == unless)) {
            text += std::string{", "} + name + "=" + std::string{py::str(py::repr(py::cast(value)))};
        }
    };
    if (const auto* msleep = std::get_if<Msleep>(&freezer.sleep)) {
        show("msleep_ms", msleep->ms, (other ? Msleep{} : std::get<Msleep>(usual)).ms);
    } else if (const auto* backoff = std::get_if<Backoff>(&freezer.sleep)) {
        const Backoff plain = other ? Backoff{} : std::get<Backoff>(usual);
        show("first_us", backoff->first_us, plain.first_us);
        show("growth", backoff->growth, plain.growth);
        show("cap_us", backoff->cap_us, plain.cap_us);
        show("lower", backoff->lower, plain.lower);
        show("clamp", backoff->clamp, plain.clamp);
    }
    return text + ")";
}

template <class S, class T>
auto parameter_of_sleep(T S::*parameter) {
    return [parameter](const Freezer& self) { return get(self.sleep, parameter); };
}

void bind_freezer_policy(py::module_& module) {
    py::class_<Freezer> freezer(module, "Freezer", "The freezer of a system suspend in one kernel.");
    freezer
        .def(py::init(&make_freezer), py::arg("version") = to_string(Freezer{}.version), py::kw_only(),
             py::arg("sleep") = py::none(), py::arg("msleep_ms") = py::none(),
             py::arg("first_us") = py::none(), py::arg("growth") = py::none(), py::arg("cap_us") = py::none(),
             py::arg("lower") = py::none(), py::arg("clamp") = py::none())
        .def_property_readonly("version", [](const Freezer& self) { return to_string(self.version); })
        .def_property_readonly(
            "sleep", [](const Freezer& self) { return name_of(self.sleep); },
            "How the walker waits between passes: 'msleep', 'backoff' or 'notify'.")
        .def_property_readonly("msleep_ms", parameter_of_sleep(&Msleep::ms), "Of 'msleep', else None.")
        .def_property_readonly("first_us", parameter_of_sleep(&Backoff::first_us), "Of 'backoff', else None.")
        .def_property_readonly("growth", parameter_of_sleep(&Backoff::growth), "Of 'backoff', else None.")
        .def_property_readonly("cap_us", parameter_of_sleep(&Backoff::cap_us), "Of 'backoff', else None.")
        .def_property_readonly("lower", parameter_of_sleep(&Backoff::lower), "Of 'backoff', else None.")
        .def_property_readonly("clamp", parameter_of_sleep(&Backoff::clamp), "Of 'backoff', else None.")
        .def("__repr__", &representation);
    add_value_methods<Policy>(freezer, parse_policy);
}

void bind_cgroup_policies(py::module_& module) {
    py::class_<Cgroup1> first(module, "Cgroup1", "A v1 (legacy) freezer cgroup, written and read again.");
    first
        .def(py::init([](const std::string& version, std::int64_t poll_us, std::int64_t tries) {
                 return checked(Cgroup1{parse_version(version, "cgroup1.version"), poll_us, tries});
             }),
             py::arg("version") = to_string(Cgroup1{}.version), py::kw_only(),
             py::arg("poll_us") = Cgroup1{}.poll_us, py::arg("tries") = Cgroup1{}.tries)
        .def_property_readonly("version", [](const Cgroup1& self) { return to_string(self.version); })
        .def_readonly("poll_us", &Cgroup1::poll_us)
        .def_readonly("tries", &Cgroup1::tries)
        .def("__repr__", [](const Cgroup1& self) {
            return py::str("Cgroup1(version={}, poll_us={}, tries={})")
                .format(repr_of(to_string(self.version)), self.poll_us, self.tries);
        });
    add_value_methods<Policy>(first, parse_policy);

    py::class_<Cgroup2> second(module, "Cgroup2", "A v2 (unified) cgroup, which notifies.");
    second
        .def(py::init(
                 [](std::int64_t since_notification_us) { return checked(Cgroup2{since_notification_us}); }),
             py::kw_only(), py::arg("since_notification_us") = Cgroup2{}.since_notification_us)
        .def_readonly("since_notification_us", &Cgroup2::since_notification_us)
        .def("__repr__", [](const Cgroup2& self) {
            return py::str("Cgroup2(since_notification_us={})").format(self.since_notification_us);
        });
    add_value_methods<Policy>(second, parse_policy);
}

template <class Names>
py::list listed(const Names& names) {
    py::list list;
    for (const std::string_view name : names) list.append(name);
    return list;
}

py::list sites_table() {
    py::list rows;
    for (std::size_t s = 0; s < kSiteCount; ++s) {
        const auto site = static_cast<Site>(s);
        py::dict handlings;
        for (std::size_t v = 0; v < version_names().size(); ++v) {
            handlings[py::cast(version_names()[v])] = to_string(handling(site, static_cast<Version>(v)));
        }
        py::dict row;
        row["site"] = to_string(site);
        row["interrupted"] = to_string(interrupted(site));
        row["handling"] = handlings;
        row["source"] = source_of(site);
        rows.append(row);
    }
    return rows;
}

}  // namespace

void bind_freezer_policies(py::module_& module) {
    bind_freezer_policy(module);
    bind_cgroup_policies(module);
    module.def(
        "parse_freezer_policy", &parse_policy, py::arg("text"),
        "Policy of a text such as 'v3.9' or 'freezer(version=full, cap_us=4000)'; ConfigError lists what "
        "is known.");
    module.def("known_freezer_policies", &known_policies,
               "Every policy with its versions, parameters, defaults and source.");
    module.def("freezer_site_names", [] { return listed(site_names()); });
    module.def("freezer_version_names", [] { return listed(version_names()); });
    module.def("freezer_kind_names", [] { return listed(kind_names()); });
    module.def("freezer_start_names", [] { return listed(start_names()); });
    module.def("freezer_sites", &sites_table,
               "Per blocking site: 'site', 'interrupted', 'handling' by version, 'source'.");
}
