// SPDX-License-Identifier: MIT
#pragma once

#include "pybind.hpp"

// One per folder of cpp/torpor (several for the families and base), each in the file of its name.
void bind_base(py::module_& module);
void bind_board(py::module_& module);
void bind_distributions(py::module_& module);
void bind_dpm(py::module_& module);
void bind_dpm_graph(py::module_& module);
void bind_dpm_policies(py::module_& module);
void bind_freezer(py::module_& module);
void bind_freezer_policies(py::module_& module);
void bind_ftrace(py::module_& module);
void bind_governors(py::module_& module);
void bind_idle(py::module_& module);
void bind_replay(py::module_& module);
