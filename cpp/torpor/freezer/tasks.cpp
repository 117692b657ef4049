// SPDX-License-Identifier: MIT
#include "torpor/freezer/tasks.hpp"

#include <array>

namespace torpor::freezer {

namespace {

// In the order of the enumerators.
constexpr std::array<std::string_view, 3> kKinds{"user", "kfreezable", "knofreeze"};
constexpr std::array<std::string_view, 6> kStarts{"blocked",  "uninterruptible", "user_mode",
                                                  "spinning", "stopped",         "zombie"};

}  // namespace

std::string_view to_string(Kind kind) {
    return kKinds[static_cast<std::size_t>(kind)];
}

std::string_view to_string(Start start) {
    return kStarts[static_cast<std::size_t>(start)];
}

std::span<const std::string_view> kind_names() {
    return kKinds;
}

std::span<const std::string_view> start_names() {
    return kStarts;
}

}  // namespace torpor::freezer
