// SPDX-License-Identifier: MIT
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "dpm_graph.hpp"
#include "torpor/base/call_text.hpp"
#include "torpor/dpm/generator.hpp"

namespace {

using namespace torpor;
using namespace torpor::dpm;
using Pair = std::array<double, 2>;

// In the order of the enumerators.
constexpr std::array<std::string_view, 6> kSegmentKinds{"cpu", "sleep", "ticks", "range", "lock", "unlock"};

// Records travel as tuples, all of a graph in one call.
using SegmentRow = std::tuple<std::string, std::int64_t, std::int64_t, std::string>;  // the last names a lock
using CallbackRow = std::tuple<std::string, std::vector<SegmentRow>>;
// async_suspend, syscore, no_pm_callbacks, wakeup, smart_suspend, may_skip_resume, no_direct_complete
using FlagsRow = std::array<bool, 7>;
// Name, parent, flags, runtime status, prepare, phases that fail, phases that wake the system, callbacks.
using DeviceRow = std::tuple<std::string, std::string, FlagsRow, std::string, std::string,
                             std::vector<std::string>, std::vector<std::string>, std::vector<CallbackRow>>;
// Supplier, consumer, state, sync_state_only, inferred.
using LinkRow = std::tuple<std::string, std::string, std::string, bool, bool>;

/// Numbers locks in the order in which they are first named.
class Locks {
  public:
    std::int64_t number(const std::string& name) {
        const auto [place, is_new] = numbers_.emplace(name, static_cast<std::int64_t>(names.size()));
        if (is_new) names.push_back(name);
        return place->second;
    }

    std::vector<std::string> names;

  private:
    std::unordered_map<std::string, std::int64_t> numbers_;
};

bool is_about_lock(SegmentKind kind) {
    return kind == SegmentKind::lock || kind == SegmentKind::unlock;
}

std::size_t phase_number(const std::string& name, const std::string& key) {
    return index_of(parse_name<Phase>(name, kPhaseNames, key));
}

std::array<bool, kPhases> phase_set(const std::vector<std::string>& names, const std::string& key) {
    std::array<bool, kPhases> found{};
    for (const std::string& name : names) found[phase_number(name, key)] = true;
    return found;
}

DeviceSpec to_device(DeviceRow& row, Locks& locks) {
    auto& [name, parent, flags, runtime_status, prepare, fails, wakes_system, callbacks] = row;
    const std::string key = "devices[" + name + "].";
    DeviceSpec device;
    device.name = std::move(name);
    device.parent = std::move(parent);
    device.async_suspend = flags[0];
    device.syscore = flags[1];
    device.no_pm_callbacks = flags[2];
    device.wakeup = flags[3];
    device.smart_suspend = flags[4];
    device.may_skip_resume = flags[5];
    device.no_direct_complete = flags[6];
    device.runtime_status =
        parse_name<RuntimeStatus>(runtime_status, kRuntimeStatusNames, key + "runtime_status");
    device.prepare_result = parse_name<PrepareResult>(prepare, kPrepareResultNames, key + "prepare");
    device.fails = phase_set(fails, key + "fails");
    device.wakes_system = phase_set(wakes_system, key + "wakes_system");
    for (auto& [phase_name, segments] : callbacks) {
        const std::size_t phase = phase_number(phase_name, key + "callbacks");
        device.empty_callbacks[phase] = segments.empty();
        device.callbacks[phase].reserve(segments.size());
        for (const auto& [kind_name, first, second, lock] : segments) {
            const auto kind = parse_name<SegmentKind>(kind_name, kSegmentKinds, key + "callbacks");
            device.callbacks[phase].push_back(
                {kind, is_about_lock(kind) ? locks.number(lock) : first, second});
        }
    }
    return device;
}

GraphSpec to_spec(const std::vector<py::handle>& devices, const std::vector<LinkRow>& links,
                  bool in_list_order) {
    GraphSpec spec;
    Locks locks;
    spec.devices.reserve(devices.size());
    for (const py::handle& device : devices) {
        auto row = device.cast<DeviceRow>();
        spec.devices.push_back(to_device(row, locks));
    }
    spec.links.reserve(links.size());
    for (const auto& [supplier, consumer, state, sync_state_only, inferred] : links) {
        Link link;
        link.supplier = supplier;
        link.consumer = consumer;
        link.state =
            parse_name<LinkState>(state, kLinkStateNames, "links[" + supplier + "--" + consumer + "].state");
        link.sync_state_only = sync_state_only;
        link.inferred = inferred;
        spec.links.push_back(std::move(link));
    }
    spec.locks = std::move(locks.names);
    spec.in_list_order = in_list_order;
    return spec;
}

std::unique_ptr<DpmGraph> compiled(GraphSpec spec) {
    const py::gil_scoped_release release;
    auto graph = std::make_shared<const Graph>(compile(spec));
    return std::make_unique<DpmGraph>(DpmGraph{std::move(spec), std::move(graph)});
}

std::vector<std::string> phases_of(const std::array<bool, kPhases>& set) {
    std::vector<std::string> names;
    for (std::size_t phase = 0; phase < kPhases; ++phase) {
        if (set[phase]) names.emplace_back(kPhaseNames[phase]);
    }
    return names;
}

DeviceRow to_row(const DeviceSpec& device, const std::vector<std::string>& locks) {
    std::vector<CallbackRow> callbacks;
    for (std::size_t phase = 0; phase < kPhases; ++phase) {
        if (device.callbacks[phase].empty() && !device.empty_callbacks[phase]) continue;
        std::vector<SegmentRow> rows;
        for (const auto& [kind, first, second] : device.callbacks[phase]) {
            const std::string name{kSegmentKinds[static_cast<std::size_t>(kind)]};
            if (is_about_lock(kind)) {
                rows.emplace_back(name, 0, second, locks[static_cast<std::size_t>(first)]);
            } else {
                rows.emplace_back(name, first, second, "");
            }
        }
        callbacks.emplace_back(kPhaseNames[phase], std::move(rows));
    }
    return {device.name,
            device.parent,
            {device.async_suspend, device.syscore, device.no_pm_callbacks, device.wakeup,
             device.smart_suspend, device.may_skip_resume, device.no_direct_complete},
            std::string{kRuntimeStatusNames[static_cast<std::size_t>(device.runtime_status)]},
            std::string{kPrepareResultNames[static_cast<std::size_t>(device.prepare_result)]},
            phases_of(device.fails),
            phases_of(device.wakes_system),
            std::move(callbacks)};
}

std::vector<DeviceRow> device_rows(const DpmGraph& held) {
    std::vector<DeviceRow> rows;
    rows.reserve(held.spec.devices.size());
    for (const DeviceSpec& device : held.spec.devices) rows.push_back(to_row(device, held.spec.locks));
    return rows;
}

std::vector<LinkRow> link_rows(const DpmGraph& held) {
    std::vector<LinkRow> rows;
    rows.reserve(held.spec.links.size());
    for (const Link& link : held.spec.links) {
        rows.emplace_back(link.supplier, link.consumer,
                          std::string{kLinkStateNames[static_cast<std::size_t>(link.state)]},
                          link.sync_state_only, link.inferred);
    }
    return rows;
}

/// How many neighbours each device has, by place in the list.
std::vector<std::size_t> counts(const Graph& graph, const Rows& rows) {
    std::vector<std::size_t> found;
    found.reserve(static_cast<std::size_t>(graph.size()));
    for (std::int32_t device = 0; device < graph.size(); ++device) found.push_back(rows[device].size());
    return found;
}

void bind_graph(py::module_& module) {
    py::class_<DpmGraph>(module, "DpmGraph", "A device graph, checked and in list order.")
        .def(py::init([](const std::vector<py::handle>& devices, const std::vector<LinkRow>& links,
                         bool in_list_order) { return compiled(to_spec(devices, links, in_list_order)); }),
             py::kw_only(), py::arg("devices"), py::arg("links"), py::arg("in_list_order") = false)
        .def("devices", &device_rows, "Records as they were given.")
        .def("links", &link_rows, "Records as they were given.")
        .def_property_readonly("in_list_order", [](const DpmGraph& held) { return held.spec.in_list_order; })
        .def_property_readonly("names", [](const DpmGraph& held) { return held.graph->names; })
        .def_property_readonly("registered", [](const DpmGraph& held) { return held.graph->registered; })
        .def_property_readonly("relaxed_links",
                               [](const DpmGraph& held) { return held.graph->relaxed_links; })
        .def("child_counts", [](const DpmGraph& held) { return counts(*held.graph, held.graph->children); })
        .def("supplier_counts",
             [](const DpmGraph& held) { return counts(*held.graph, held.graph->suppliers); })
        .def("consumer_counts",
             [](const DpmGraph& held) { return counts(*held.graph, held.graph->consumers); });
}

std::unique_ptr<DpmGraph> draw(const Generator& generator, std::uint64_t seed, std::uint64_t replicate) {
    GraphSpec spec;
    {
        const py::gil_scoped_release release;
        spec = generate(generator, {seed, replicate});
    }
    return compiled(std::move(spec));
}

void bind_generator(py::module_& module) {
    const Generator usual;
    py::class_<Generator>(module, "DpmGenerator", "Random device graphs.")
        .def(py::init([](std::int64_t devices, double class_ratio, std::int64_t max_depth, double p_root,
                         double p_link, double p_more_links, double skew, double p_no_callbacks,
                         double class_p_no_callbacks, double p_late, Pair median_us, Pair sigma,
                         double cap_us, double late_median_us, Pair cpu_share, double fixed_share,
                         std::int64_t chunks, std::int64_t locks, Pair lock_share) {
                 const Generator made{devices,     class_ratio,    max_depth,
                                      p_root,      p_link,         p_more_links,
                                      skew,        p_no_callbacks, class_p_no_callbacks,
                                      p_late,      median_us,      sigma,
                                      cap_us,      late_median_us, cpu_share,
                                      fixed_share, chunks,         locks,
                                      lock_share};
                 validate(made);
                 return made;
             }),
             py::kw_only(), py::arg("devices") = usual.devices, py::arg("class_ratio") = usual.class_ratio,
             py::arg("max_depth") = usual.max_depth, py::arg("p_root") = usual.p_root,
             py::arg("p_link") = usual.p_link, py::arg("p_more_links") = usual.p_more_links,
             py::arg("skew") = usual.skew, py::arg("p_no_callbacks") = usual.p_no_callbacks,
             py::arg("class_p_no_callbacks") = usual.class_p_no_callbacks, py::arg("p_late") = usual.p_late,
             py::arg("median_us") = usual.median_us, py::arg("sigma") = usual.sigma,
             py::arg("cap_us") = usual.cap_us, py::arg("late_median_us") = usual.late_median_us,
             py::arg("cpu_share") = usual.cpu_share, py::arg("fixed_share") = usual.fixed_share,
             py::arg("chunks") = usual.chunks, py::arg("locks") = usual.locks,
             py::arg("lock_share") = usual.lock_share)
        .def("draw", &draw, py::arg("seed"), py::arg("replicate") = 0)
        .def(py::self == py::self);
}

}  // namespace

void bind_dpm_graph(py::module_& module) {
    bind_graph(module);
    bind_generator(module);
}
