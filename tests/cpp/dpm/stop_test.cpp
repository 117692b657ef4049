// SPDX-License-Identifier: MIT
// A run that is asked to stop.
#include <gtest/gtest.h>

#include <stop_token>

#include "torpor/base/error.hpp"
#include "worlds.hpp"

namespace torpor::dpm {
namespace {

// A cycle of one device has a few events, fewer than pass between two looks at the token.
TEST(Stop, EndsAlsoARunOfManyShortCycles) {
    Scenario scenario = phone(nullptr);
    Generator generator;
    generator.devices = 1;
    scenario.devices = generator;
    scenario.warmup_cycles = 100;
    std::stop_source source;
    Model model{scenario, parse_policy("old")};
    EXPECT_NO_THROW(model.run({1, 0}, source.get_token()));
    source.request_stop();
    EXPECT_THROW(model.run({1, 0}, source.get_token()), Cancelled);
}

}  // namespace
}  // namespace torpor::dpm
