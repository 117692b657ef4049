// SPDX-License-Identifier: MIT
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bindings.hpp"
#include "torpor/ftrace/trace_log.hpp"

namespace {

using torpor::ftrace::Names;
using torpor::ftrace::TraceLog;

// The bytes of a trace are whatever tasks called themselves.
py::str to_text(std::string_view bytes) {
    PyObject* text = PyUnicode_DecodeUTF8(bytes.data(), static_cast<py::ssize_t>(bytes.size()), "replace");
    if (text == nullptr) throw py::error_already_set();
    return py::reinterpret_steal<py::str>(text);
}

template <class T>
py::array_t<T> copied(const std::vector<T>& column) {
    return py::array_t<T>(static_cast<py::ssize_t>(column.size()), column.data());
}

py::list texts(const Names& names) {
    py::list list;
    for (std::uint32_t id = 0; id < names.size(); ++id) list.append(to_text(names[id]));
    return list;
}

py::list arguments(const TraceLog& log) {
    py::list list(log.size());
    for (std::size_t row = 0; row < log.size(); ++row) list[row] = to_text(log.args(row));
    return list;
}

}  // namespace

void bind_ftrace(py::module_& module) {
    using namespace py::literals;
    py::class_<TraceLog> log{module, "TraceLog", "Rows of a kernel's text trace, in columns."};
    log.def(py::init([](const py::bytes& text, std::string source) {
                std::string copy = text;
                const py::gil_scoped_release release;
                return std::make_unique<TraceLog>(std::move(copy), std::move(source));
            }),
            "text"_a, "source"_a);
    log.def("__len__", &TraceLog::size);
    log.def_property_readonly("source", &TraceLog::source);
    log.def_property_readonly("lines", &TraceLog::lines);
    log.def_property_readonly("time_ns", [](const TraceLog& self) { return copied(self.times_ns()); });
    log.def_property_readonly("cpu", [](const TraceLog& self) { return copied(self.cpus()); });
    log.def_property_readonly("pid", [](const TraceLog& self) { return copied(self.pids()); });
    log.def_property_readonly("comm_id", [](const TraceLog& self) { return copied(self.comm_ids()); });
    log.def_property_readonly("event_id", [](const TraceLog& self) { return copied(self.event_ids()); });
    log.def_property_readonly("flags_id", [](const TraceLog& self) { return copied(self.flags_ids()); });
    log.def_property_readonly("comms", [](const TraceLog& self) { return texts(self.comms()); });
    log.def_property_readonly("events", [](const TraceLog& self) { return texts(self.events()); });
    log.def_property_readonly("flag_texts", [](const TraceLog& self) { return texts(self.flag_texts()); });
    log.def_property_readonly("flag_bits", [](const TraceLog& self) { return copied(self.flag_bits()); });
    log.def_property_readonly("args", &arguments);
    log.def(
        "args_of",
        [](const TraceLog& self, std::size_t row) {
            if (row >= self.size()) throw py::index_error();
            return to_text(self.args(row));
        },
        "row"_a);
    log.def(
        "line_of",
        [](const TraceLog& self, std::size_t row) {
            if (row >= self.size()) throw py::index_error();
            return self.line(row);
        },
        "row"_a);
    log.def_property_readonly("cpus_seen", &TraceLog::cpus_seen);
    log.def_property_readonly("bad_row_count", &TraceLog::bad_row_count);
    log.def_property_readonly("bad_rows", [](const TraceLog& self) {
        py::list list;
        for (const auto& bad : self.bad_rows()) list.append(py::make_tuple(bad.line, to_text(bad.text)));
        return list;
    });
    log.def_property_readonly("lost", [](const TraceLog& self) {
        py::list list;
        for (const auto& lost : self.lost()) list.append(py::make_tuple(lost.line, lost.cpu, lost.count));
        return list;
    });
}
