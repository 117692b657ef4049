// SPDX-License-Identifier: MIT
#pragma once

#include "torpor/dpm/graph.hpp"

namespace torpor::dpm {

/// What compile() checks of each device and lock by itself; throws as it says.
void check_devices(const GraphSpec& spec);

/// "devices[NAME]", or with the number of a device that has no name.
std::string device_key(const GraphSpec& spec, std::size_t number);

}  // namespace torpor::dpm
