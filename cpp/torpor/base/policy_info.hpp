// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace torpor {

/// One parameter of a policy, for listings.
struct ParameterInfo {
    std::string name;
    std::string default_value;  // empty: it must be given
    std::string description;
};

/// One policy of any family, as `torpor policies` shows it.
struct PolicyInfo {
    std::string name;
    std::string description;
    std::string source;
    bool bound;
    std::vector<std::string> versions;
    std::vector<ParameterInfo> parameters;
};

}  // namespace torpor
