// SPDX-License-Identifier: MIT
#include "torpor/dpm/graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "graph_testing.hpp"

namespace torpor::dpm {
namespace {

GraphSpec with_callback(std::vector<Segment> segments) {
    GraphSpec spec{{device("a")}, {}, {"clk", "i2c"}};
    spec.devices[0].callbacks[index_of(Phase::suspend)] = std::move(segments);
    return spec;
}

TEST(GraphNeighbours, AreGivenByTheirPlaceInTheList) {
    const GraphSpec spec{{device("r"), device("x", "r"), device("y", "r"), device("s")},
                         {link("s", "x"), link("s", "y"), link("r", "s")},
                         {}};
    const Graph graph = compile(spec);
    EXPECT_EQ(graph.names, (Names{"r", "s", "x", "y"}));
    EXPECT_EQ(graph.registered, (std::vector<std::int32_t>{0, 3, 1, 2}));
    EXPECT_EQ(graph.parent, (std::vector<std::int32_t>{kNoDevice, kNoDevice, 0, 0}));
    EXPECT_EQ(named(graph, graph.consumers[place(graph, "s")]), (Names{"x", "y"}));
    EXPECT_EQ(named(graph, graph.suppliers[place(graph, "s")]), (Names{"r"}));
    EXPECT_TRUE(graph.consumers[place(graph, "y")].empty());
}

TEST(GraphNeighbours, ChildrenKeepTheOrderOfRegistrationWhenTheListChanges) {
    const GraphSpec spec{
        {device("r"), device("x", "r"), device("y", "r"), device("s")}, {link("s", "x")}, {}};
    const Graph graph = compile(spec);
    EXPECT_EQ(graph.names, (Names{"r", "y", "s", "x"}));
    EXPECT_EQ(named(graph, graph.children[place(graph, "r")]), (Names{"x", "y"}));
}

TEST(GraphNeighbours, SuppliersKeepTheOrderOfTheirLinks) {
    const GraphSpec spec{{device("a"), device("b"), device("c"), device("x")},
                         {link("c", "x"), link("a", "x"), link("b", "x")},
                         {}};
    const Graph graph = compile(spec);
    EXPECT_EQ(named(graph, graph.suppliers[place(graph, "x")]), (Names{"c", "a", "b"}));
}

TEST(GraphNeighbours, DormantLinksAreLeftOutButCountAsLinks) {
    const Graph graph = compile({{device("a"), device("b")}, {dormant("a", "b")}, {}});
    EXPECT_TRUE(graph.suppliers[1].empty());
    EXPECT_TRUE(graph.consumers[0].empty());
    EXPECT_TRUE(flags_of(graph, "b").has_supplier_link);
    EXPECT_TRUE(flags_of(graph, "a").has_consumer_link);
    EXPECT_FALSE(flags_of(graph, "a").has_supplier_link);
    EXPECT_FALSE(flags_of(graph, "b").has_consumer_link);
}

TEST(GraphNeighbours, SyncStateOnlyLinksDoNotCount) {
    const Graph graph = compile({{device("a"), device("b")}, {sync_state_only("a", "b")}, {}});
    EXPECT_TRUE(graph.suppliers[1].empty());
    EXPECT_FALSE(flags_of(graph, "b").has_supplier_link);
    EXPECT_FALSE(flags_of(graph, "a").has_consumer_link);
}

TEST(GraphDevices, KeepTheirFlags) {
    GraphSpec spec{{device("plain"), device("marked"), device("never")}, {}, {}};
    DeviceSpec& marked = spec.devices[1];
    marked.async_suspend = false;
    marked.syscore = marked.no_pm_callbacks = marked.wakeup = marked.smart_suspend = true;
    marked.may_skip_resume = marked.no_direct_complete = true;
    marked.runtime_status = RuntimeStatus::suspended;
    spec.devices[2].runtime_status = RuntimeStatus::unsupported;
    const Graph graph = compile(spec);
    DeviceFlags plain{};
    plain.async_suspend = true;
    DeviceFlags all{};
    all.syscore = all.no_pm_callbacks = all.runtime_suspended = all.wakeup = all.smart_suspend = true;
    all.may_skip_resume = all.no_direct_complete = true;
    EXPECT_EQ(graph.flags[0], plain);
    EXPECT_EQ(graph.flags[1], all);
    EXPECT_TRUE(graph.flags[2].runtime_suspended);
}

TEST(GraphCallbacks, AreFoundByPhaseAndPlace) {
    GraphSpec spec{{device("a"), device("b")}, {link("b", "a")}, {"clk"}};
    spec.devices[0].callbacks[index_of(Phase::resume)] = {{SegmentKind::cpu, 5, 6},
                                                          {SegmentKind::sleep, 7, 0}};
    spec.devices[0].fails[index_of(Phase::resume)] = true;
    spec.devices[1].empty_callbacks[index_of(Phase::resume)] = true;
    spec.devices[1].wakes_system[index_of(Phase::resume)] = true;
    const Graph graph = compile(spec);
    const auto& callbacks = graph.callbacks[index_of(Phase::resume)];
    const auto segments = graph.segments_of(callbacks[1]);
    EXPECT_TRUE(std::equal(segments.begin(), segments.end(), spec.devices[0].callbacks[6].begin(),
                           spec.devices[0].callbacks[6].end()));
    EXPECT_TRUE(callbacks[1].exists && callbacks[1].fails && !callbacks[1].wakes_system);
    EXPECT_TRUE(callbacks[0].exists && !callbacks[0].fails && callbacks[0].wakes_system);
    EXPECT_EQ(callbacks[0].count, 0U);
    EXPECT_FALSE(graph.callbacks[index_of(Phase::suspend)][1].exists);
}

TEST(GraphCallbacks, APrepareThatAnswersExists) {
    GraphSpec spec{{device("a"), device("b")}, {}, {}};
    spec.devices[1].prepare_result = PrepareResult::again;
    const Graph graph = compile(spec);
    EXPECT_FALSE(graph.callbacks[index_of(Phase::prepare)][0].exists);
    EXPECT_TRUE(graph.callbacks[index_of(Phase::prepare)][1].exists);
    EXPECT_EQ(graph.prepare_results[1], PrepareResult::again);
}

TEST(GraphCallbacks, MayHoldLocksInAnyNesting) {
    EXPECT_EQ(error_of(with_callback({{SegmentKind::lock, 0, 0},
                                      {SegmentKind::lock, 1, 0},
                                      {SegmentKind::unlock, 0, 0},
                                      {SegmentKind::lock, 0, 0},
                                      {SegmentKind::unlock, 1, 0},
                                      {SegmentKind::unlock, 0, 0}})),
              "no error");
}

TEST(GraphErrors, NameTheDeviceTheKeyAndTheLimit) {
    const auto changed = [](const std::function<void(GraphSpec&)>& change) {
        GraphSpec spec{{device("a"), device("b", "a")}, {}, {"clk"}};
        change(spec);
        return error_of(spec);
    };
    const std::vector<std::pair<std::string, std::string>> cases{
        {changed([](GraphSpec& s) { s.devices.clear(); }), "devices: there are none; at least one is needed"},
        {changed([](GraphSpec& s) { s.devices.resize(kMaxDevices + 1); }),
         "devices: 1000001 are too many; at most 1000000"},
        {changed([](GraphSpec& s) { s.devices[1].name.clear(); }), "devices[1].name: is empty"},
        {changed([](GraphSpec& s) { s.devices[1].name = "a"; }),
         "devices[a].name: device 1 has the name of device 0"},
        {changed([](GraphSpec& s) { s.devices[1].parent = "x"; }),
         "devices[b].parent='x': there is no such device"},
        {changed([](GraphSpec& s) { s.devices[1].parent = "b"; }),
         "devices[b].parent='b': a device cannot be its own parent"},
        {changed([](GraphSpec& s) { s.devices[0].parent = "b"; }),
         "devices[a].parent='b': is registered later; parents come first"},
        {changed([](GraphSpec& s) { s.links = {link("a", "x")}; }),
         "links[a--x].consumer='x': there is no such device"},
        {changed([](GraphSpec& s) { s.links = {link("x", "a")}; }),
         "links[x--a].supplier='x': there is no such device"},
        {changed([](GraphSpec& s) { s.links = {link("a", "a")}; }),
         "links[a--a]: a device cannot be its own supplier"},
        {changed([](GraphSpec& s) {
             s.links = {link("a", "b"), sync_state_only("a", "b")};
         }),
         "links[a--b]: these two are linked already"},
        {changed([](GraphSpec& s) {
             s.locks = {"clk", "clk"};
         }),
         "locks[1]='clk': is the name of an earlier lock"},
        {changed([](GraphSpec& s) {
             s.locks = {"clk", ""};
         }),
         "locks[1]: has no name"},
    };
    for (const auto& [got, expected] : cases) EXPECT_EQ(got, expected);
}

TEST(GraphErrors, NameTheSegment) {
    const auto limit = std::to_string(kMaxSegmentNs);
    const auto over = std::to_string(kMaxSegmentNs + 1);
    const std::string key = "devices[a].callbacks.suspend";
    const std::vector<std::pair<std::vector<Segment>, std::string>> cases{
        {{{SegmentKind::cpu, 1, 0}, {SegmentKind::cpu, -1, 0}}, key + "[1].first=-1: is outside 0.." + limit},
        {{{SegmentKind::cpu, kMaxSegmentNs + 1, 0}}, key + "[0].first=" + over + ": is outside 0.." + limit},
        {{{SegmentKind::cpu, 0, -2}}, key + "[0].second=-2: is outside 0.." + limit},
        {{{SegmentKind::sleep, kMaxSegmentNs + 1, 0}},
         key + "[0].first=" + over + ": is outside 0.." + limit},
        {{{SegmentKind::sleep, 1, 1}}, key + "[0].second=1: is outside 0..0"},
        {{{SegmentKind::tick_sleep, 0, 0}}, key + "[0].first=0: is outside 1..100000000"},
        {{{SegmentKind::range_sleep, 9, 8}}, key + "[0].second=8: is outside 9.." + limit},
        {{{SegmentKind::lock, 2, 0}}, key + "[0].first=2: is outside 0..1"},
        {{{SegmentKind::lock, 1, 0}, {SegmentKind::lock, 1, 0}},
         key + "[1]: takes lock 'i2c', which this callback holds already"},
        {{{SegmentKind::unlock, 0, 0}},
         key + "[0]: gives back lock 'clk', which this callback does not hold"},
        {{{SegmentKind::lock, 0, 0}}, key + ": ends while it holds lock 'clk'"},
    };
    for (const auto& [segments, expected] : cases) EXPECT_EQ(error_of(with_callback(segments)), expected);
}

TEST(GraphErrors, ALockNeedsAName) {
    GraphSpec spec = with_callback({{SegmentKind::lock, 0, 0}});
    spec.locks.clear();
    EXPECT_EQ(error_of(spec), "devices[a].callbacks.suspend[0]: names a lock, but there are none");
}

TEST(GraphErrors, AllCallbacksTogetherAreLimited) {
    GraphSpec spec;
    for (int i = 0; i < 101; ++i) {
        spec.devices.push_back(device(numbered("d", i)));
        spec.devices.back().callbacks[index_of(Phase::resume)] = {{SegmentKind::sleep, kMaxSegmentNs, 0}};
    }
    EXPECT_EQ(error_of(spec),
              "devices: callbacks up to that of 'd100' take 101000000000000000 ns together; at most "
              "100000000000000000");
    spec.devices.pop_back();
    EXPECT_EQ(error_of(spec), "no error");
}

TEST(GraphErrors, ContradictionsAreRefused) {
    const auto changed = [](const std::function<void(DeviceSpec&)>& change) {
        GraphSpec spec{{device("a")}, {}, {}};
        change(spec.devices[0]);
        return error_of(spec);
    };
    const std::size_t resume = index_of(Phase::resume);
    const std::vector<std::pair<std::string, std::string>> cases{
        {changed([&](DeviceSpec& d) {
             d.no_pm_callbacks = true;
             d.callbacks[resume] = {{SegmentKind::cpu, 1, 0}};
         }),
         "devices[a].callbacks.resume: there is one, but no_pm_callbacks says that there is none"},
        {changed([&](DeviceSpec& d) { d.no_pm_callbacks = d.empty_callbacks[resume] = true; }),
         "devices[a].callbacks.resume: there is one, but no_pm_callbacks says that there is none"},
        {changed([&](DeviceSpec& d) {
             d.no_pm_callbacks = true;
             d.prepare_result = PrepareResult::error;
         }),
         "devices[a].prepare_result: there is none with no_pm_callbacks"},
        {changed([&](DeviceSpec& d) {
             d.empty_callbacks[resume] = true;
             d.callbacks[resume] = {{SegmentKind::cpu, 1, 0}};
         }),
         "devices[a].empty_callbacks.resume: this callback has segments"},
        {changed([&](DeviceSpec& d) { d.fails[resume] = true; }),
         "devices[a].fails.resume: this phase has no callback"},
        {changed([&](DeviceSpec& d) { d.wakes_system[resume] = true; }),
         "devices[a].wakes_system.resume: this phase has no callback"},
        {changed([](DeviceSpec& d) { d.fails[index_of(Phase::prepare)] = true; }),
         "devices[a].fails.prepare: is said by prepare_result"},
        {changed([](DeviceSpec& d) { d.fails[index_of(Phase::complete)] = true; }),
         "devices[a].fails.complete: this phase returns no errors"},
    };
    for (const auto& [got, expected] : cases) EXPECT_EQ(got, expected);
}

TEST(Rows, KeepTheOrderOfThePairsOfARow) {
    const std::vector<std::array<std::int32_t, 2>> pairs{{2, 9}, {0, 5}, {2, 1}, {0, 4}};
    const Rows rows = Rows::from_pairs(3, pairs);
    const auto row = [&](std::int32_t number) {
        return std::vector<std::int32_t>(rows[number].begin(), rows[number].end());
    };
    EXPECT_EQ(row(0), (std::vector<std::int32_t>{5, 4}));
    EXPECT_TRUE(row(1).empty());
    EXPECT_EQ(row(2), (std::vector<std::int32_t>{9, 1}));
    EXPECT_EQ(rows.size(), 4U);
}

}  // namespace
}  // namespace torpor::dpm
