// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "pybind.hpp"

/// A text as Python writes it.
inline py::str repr_of(std::string_view text) {
    return py::repr(py::str(text.data(), text.size()));
}

/// What all policies share: value semantics, canonical text, pickling by that text. `Policy` is the variant
/// of the family, `parse` reads its text.
template <class Policy, class P>
void add_value_methods(py::class_<P>& type, Policy (*parse)(std::string_view)) {
    type.def(py::self == py::self)
        .def("__hash__", [](const P& self) { return py::hash(py::str(to_string(Policy{self}))); })
        .def("__str__", [](const P& self) { return to_string(Policy{self}); })
        .def("_repr_html_", [](const P& self) { return "<code>" + to_string(Policy{self}) + "</code>"; })
        .def(py::pickle([](const P& self) { return to_string(Policy{self}); },
                        [parse](const std::string& text) { return std::get<P>(parse(text)); }));
}
