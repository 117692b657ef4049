// SPDX-License-Identifier: MIT
#include "torpor/sched/load_signal.hpp"

#include <array>
#include <cstddef>

#include "torpor/base/deterministic_math.hpp"

namespace torpor::sched {

namespace {

constexpr double kLn2 = 0x1.62e42fefa39efp-1;
constexpr std::int64_t kSteps = kUtilisationHalfLifeNs / kShortDecayNs;

constexpr std::array<double, kSteps> table_of_powers() {
    std::array<double, kSteps> table{};
    for (std::size_t i = 0; i < table.size(); ++i) {
        table[i] = deterministic_exp(-kLn2 * static_cast<double>(i) / static_cast<double>(kSteps));
    }
    return table;
}

constexpr std::array<double, kSteps> kPowers = table_of_powers();
constexpr std::int64_t kStepNs = kShortDecayNs;

}  // namespace

double decay(std::int64_t elapsed_ns) {
    if (elapsed_ns <= 0) return 1.0;
    if (elapsed_ns < kStepNs) return short_decay(elapsed_ns);
    const std::int64_t halvings = elapsed_ns / kUtilisationHalfLifeNs;
    if (halvings >= 64) return 0.0;
    const std::int64_t rest_ns = elapsed_ns - halvings * kUtilisationHalfLifeNs;
    const std::int64_t step = rest_ns / kStepNs;
    return detail::power_of_two(-static_cast<int>(halvings)) * kPowers[static_cast<std::size_t>(step)] *
           short_decay(rest_ns - step * kStepNs);
}

}  // namespace torpor::sched
