// SPDX-License-Identifier: MIT
// Every family on several threads at once: equal results, and nothing shared that is written.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "../freezer/nexus10.hpp"
#include "../idle/reference_board.hpp"
#include "torpor/dpm/model.hpp"
#include "torpor/freezer/model.hpp"
#include "torpor/idle/model.hpp"
#include "torpor/replicate/replicate.hpp"

namespace torpor {
namespace {

template <class MakeModel>
auto on_threads(const MakeModel& make_model, int threads) {
    return replicate::run_replicates(make_model, {.replicates = 12, .threads = threads, .seed = 1});
}

TEST(Threads, DoNotChangeTheIdleFamily) {
    const idle::Scenario scenario = idle::reference::scenario(idle::reference::hi6220(1000));
    const auto make = [&] { return idle::Model{scenario, idle::parse_policy("menu(version=6.1.192)")}; };
    // Not the whole result: without a published power its energy is not a number, which equals nothing.
    const auto residencies = [&](int threads) {
        std::vector<std::int64_t> all_ns;
        for (const idle::Result& result : on_threads(make, threads)) {
            for (const idle::StateCounters& state : result.cpus.front().states)
                all_ns.push_back(state.residency_ns);
        }
        return all_ns;
    };
    EXPECT_EQ(residencies(1), residencies(4));
}

TEST(Threads, DoNotChangeTheFreezerFamily) {
    const freezer::Scenario scenario = freezer::testing::nexus10();
    const auto make = [&] { return freezer::Model{scenario, freezer::parse_policy("v6.7")}; };
    EXPECT_EQ(on_threads(make, 1), on_threads(make, 4));
}

TEST(Threads, DoNotChangeTheDpmFamily) {
    dpm::Generator generator;
    generator.devices = 60;
    dpm::Scenario scenario = dpm::reference_scenario(nullptr, 4);
    scenario.devices = generator;
    scenario.jitter = 0.1;
    for (const auto* policy : {"old", "breadth-first"}) {
        const auto make = [&] { return dpm::Model{scenario, dpm::parse_policy(policy)}; };
        EXPECT_EQ(on_threads(make, 1), on_threads(make, 4)) << policy;
    }
}

TEST(Threads, ShareAGivenGraph) {
    const auto graph = std::make_shared<const dpm::Graph>(dpm::compile(dpm::generate({}, {1, 0})));
    dpm::Scenario scenario = dpm::reference_scenario(graph, 4);
    scenario.jitter = 0.1;
    const auto make = [&] { return dpm::Model{scenario, dpm::parse_policy("up-6.17")}; };
    EXPECT_EQ(on_threads(make, 1), on_threads(make, 4));
}

}  // namespace
}  // namespace torpor
