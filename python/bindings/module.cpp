// SPDX-License-Identifier: MIT
#include "bindings.hpp"

// Two passes: first every class is declared, then methods are added, so that signatures show Python names.
PYBIND11_MODULE(_core, module) {
    module.doc() = "Private extension of torpor: use the package's modules instead.";
    bind_base(module);
    bind_board(module);
    bind_distributions(module);
    bind_ftrace(module);
    bind_governors(module);
    bind_idle(module);
    bind_replay(module);
    bind_freezer_policies(module);
    bind_freezer(module);
    bind_dpm_policies(module);
    bind_dpm_graph(module);
    bind_dpm(module);
}
