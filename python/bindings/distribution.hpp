// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <utility>

#include "torpor/base/distributions.hpp"

/// Any distribution, as Python holds it: a variant by itself would be taken apart by pybind11.
struct AnyDistribution {
    torpor::Distribution chosen;

    bool operator==(const AnyDistribution&) const = default;
};

inline std::optional<torpor::Distribution> unwrapped(std::optional<AnyDistribution> any) {
    return any ? std::optional{std::move(any->chosen)} : std::nullopt;
}
