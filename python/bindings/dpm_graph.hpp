// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "torpor/dpm/graph.hpp"

/// A device graph as Python holds it: what was given, and what the engine reads.
struct DpmGraph {
    torpor::dpm::GraphSpec spec;
    std::shared_ptr<const torpor::dpm::Graph> graph;
};
