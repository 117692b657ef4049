// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "graph_testing.hpp"
#include "torpor/base/distributions.hpp"
#include "torpor/base/random.hpp"
#include "torpor/dpm/graph.hpp"

namespace torpor::dpm {
namespace {

TEST(GraphOrder, IsTheOrderOfRegistrationWithoutLinks) {
    EXPECT_EQ(order_of({{device("z"), device("a", "z"), device("m")}, {}, {}}), (Names{"z", "a", "m"}));
}

TEST(GraphOrder, ALinkMovesItsConsumerToTheEnd) {
    EXPECT_EQ(order_of({{device("a"), device("b"), device("c")}, {link("c", "a")}, {}}),
              (Names{"b", "c", "a"}));
}

TEST(GraphOrder, ALinkMovesItsConsumerEvenBehindAnEarlierSupplier) {
    EXPECT_EQ(order_of({{device("a"), device("b"), device("c")}, {link("a", "b")}, {}}),
              (Names{"a", "c", "b"}));
}

TEST(GraphOrder, AMovedDeviceTakesItsChildrenAndThenItsConsumersAlong) {
    // z uses a, and a has the children b and c: linking a to s moves a, b, c, z.
    const GraphSpec spec{{device("a"), device("z"), device("b", "a"), device("c", "a"), device("s")},
                         {link("a", "z"), link("s", "a")},
                         {}};
    EXPECT_EQ(order_of(spec), (Names{"s", "a", "b", "c", "z"}));
}

TEST(GraphOrder, WhatDependsOnAChildMovesBeforeTheNextChild) {
    const GraphSpec spec{{device("a"), device("b", "a"), device("c", "a"), device("d", "b"), device("s")},
                         {link("s", "a")},
                         {}};
    EXPECT_EQ(order_of(spec), (Names{"s", "a", "b", "d", "c"}));
}

TEST(GraphOrder, TheLastMoveOfADeviceCounts) {
    // d is moved after its parent b and again as consumer of c.
    const GraphSpec spec{{device("a"), device("b", "a"), device("d", "b"), device("c", "a"), device("s")},
                         {link("c", "d"), link("s", "a")},
                         {}};
    EXPECT_EQ(order_of(spec), (Names{"s", "a", "b", "c", "d"}));
}

TEST(GraphOrder, LinksThatDoNotExistYetMoveNothing) {
    // When a is moved, z is no consumer of it; linking z afterwards moves it behind x.
    const GraphSpec spec{{device("a"), device("z"), device("x"), device("s")},
                         {link("s", "a"), link("s", "x"), link("a", "z")},
                         {}};
    EXPECT_EQ(order_of(spec), (Names{"s", "a", "x", "z"}));
}

TEST(GraphOrder, DormantLinksMoveDevicesToo) {
    EXPECT_EQ(order_of({{device("a"), device("b"), device("c")}, {dormant("c", "a")}, {}}),
              (Names{"b", "c", "a"}));
}

TEST(GraphOrder, SyncStateOnlyLinksMoveNothing) {
    EXPECT_EQ(order_of({{device("a"), device("b"), device("c")}, {sync_state_only("c", "a")}, {}}),
              (Names{"a", "b", "c"}));
}

TEST(GraphOrder, SyncStateOnlyLinksAreNotFollowed) {
    const GraphSpec spec{
        {device("a"), device("b"), device("s")}, {sync_state_only("a", "b"), link("s", "a")}, {}};
    EXPECT_EQ(order_of(spec), (Names{"b", "s", "a"}));
}

TEST(GraphOrder, AnInferredLinkToAnEarlierSupplierMovesNothing) {
    EXPECT_EQ(order_of({{device("a"), device("b"), device("c")}, {inferred("a", "b")}, {}}),
              (Names{"a", "b", "c"}));
}

TEST(GraphOrder, AnInferredLinkMovesItsConsumerWhenTheSupplierIsRegistered) {
    const GraphSpec spec{
        {device("a"), device("b", "a"), device("c"), device("s"), device("d"), device("e", "b")},
        {inferred("s", "a")},
        {}};
    EXPECT_EQ(order_of(spec), (Names{"c", "s", "a", "b", "d", "e"}));
}

TEST(GraphOrder, NothingMovesWhenDevicesAreInListOrder) {
    GraphSpec spec{{device("a"), device("b"), device("c")}, {link("a", "b")}, {}};
    spec.in_list_order = true;
    const Graph graph = compile(spec);
    EXPECT_EQ(graph.names, (Names{"a", "b", "c"}));
    EXPECT_EQ(named(graph, graph.suppliers[1]), (Names{"a"}));
}

TEST(GraphOrder, AListThatContradictsALinkIsRefused) {
    GraphSpec spec{{device("a"), device("b")}, {link("b", "a")}, {}};
    spec.in_list_order = true;
    EXPECT_EQ(
        error_of(spec),
        "links[b--a]: the consumer comes before its supplier, but in_list_order says that devices are in "
        "the order of the list");
}

/// The rule as it is told, a move at a time; exponential in the worst case.
class SlowList {
  public:
    explicit SlowList(const GraphSpec& spec) : spec_{spec} {
        for (const DeviceSpec& registered : spec.devices) {
            list_.push_back(registered.name);
            for (const Link& added : spec.links) {
                if (added.inferred && last_end(added) == registered.name) add(added);
            }
        }
        for (const Link& added : spec.links) {
            if (!added.inferred) add(added);
        }
    }

    const Names& names() const { return list_; }

  private:
    std::string last_end(const Link& added) const {
        for (auto i = spec_.devices.rbegin(); i != spec_.devices.rend(); ++i) {
            if (i->name == added.supplier || i->name == added.consumer) return i->name;
        }
        return {};
    }

    void add(const Link& added) {
        if (added.sync_state_only) return;
        move(added.consumer);
        added_.push_back(added);
    }

    void move(const std::string& name) {
        list_.erase(std::find(list_.begin(), list_.end(), name));
        list_.push_back(name);
        for (const DeviceSpec& child : spec_.devices) {
            const bool is_registered = std::find(list_.begin(), list_.end(), child.name) != list_.end();
            if (child.parent == name && is_registered) move(child.name);
        }
        // By index: the list of links does not grow while devices move.
        for (std::size_t i = 0; i < added_.size(); ++i) {
            if (added_[i].supplier == name) move(added_[i].consumer);
        }
    }

    const GraphSpec& spec_;
    Names list_;
    std::vector<Link> added_;
};

/// Links run from lower to higher ranks, ranks being a random permutation that agrees with the parents.
GraphSpec random_graph(std::uint64_t seed, double share_inferred) {
    RandomStream stream{StreamKey{seed, 0}, "test/graph"};
    const auto draw = [&](std::size_t count) {
        return static_cast<std::size_t>(UniformInt{0, static_cast<std::int64_t>(count) - 1}(stream));
    };
    GraphSpec spec;
    const std::size_t count = 2 + draw(12);
    std::vector<double> rank;
    for (std::size_t i = 0; i < count; ++i) {
        spec.devices.push_back(device(numbered("d", i)));
        rank.push_back(stream.uniform01());
        if (i == 0 || stream.uniform01() < 0.4) continue;
        const std::size_t parent = draw(i);
        spec.devices[i].parent = spec.devices[parent].name;
        rank[i] = std::max(rank[i], rank[parent] + 1e-6);
    }
    for (std::size_t tries = draw(20); tries > 0; --tries) {
        const std::size_t a = draw(count);
        const std::size_t b = draw(count);
        if (rank[a] >= rank[b]) continue;
        Link made = link(spec.devices[a].name, spec.devices[b].name);
        const bool again = std::any_of(spec.links.begin(), spec.links.end(), [&](const Link& other) {
            return std::tie(other.supplier, other.consumer) == std::tie(made.supplier, made.consumer);
        });
        if (again) continue;
        made.inferred = stream.uniform01() < share_inferred;
        made.sync_state_only = stream.uniform01() < 0.1;
        if (stream.uniform01() < 0.1) made.state = LinkState::dormant;
        spec.links.push_back(made);
    }
    return spec;
}

TEST(GraphOrder, IsThatOfTheRuleCarriedOutMoveByMove) {
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
        const GraphSpec spec = random_graph(seed, seed % 3 == 0 ? 0.0 : 0.5);
        ASSERT_EQ(order_of(spec), SlowList{spec}.names()) << "seed " << seed;
    }
}

TEST(GraphOrder, IsTopological) {
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        const Graph graph = compile(random_graph(seed, 0.5));
        for (std::int32_t i = 0; i < graph.size(); ++i) {
            ASSERT_LT(graph.parent[static_cast<std::size_t>(i)], i) << "seed " << seed;
            for (const std::int32_t supplier : graph.suppliers[i]) ASSERT_LT(supplier, i) << "seed " << seed;
        }
    }
}

TEST(GraphOrder, IsFoundForAMillionDevicesInOneChain) {
    GraphSpec spec;
    for (std::size_t i = 0; i < kMaxDevices; ++i) {
        const std::string before = i == 0 ? "" : std::to_string(i - 1);
        spec.devices.push_back(device(std::to_string(i), i % 2 == 0 ? "" : before));
        if (i != 0 && i % 2 == 0) spec.links.push_back(link(before, std::to_string(i)));
    }
    spec.devices.back().parent.clear();
    spec.links.push_back(link(spec.devices[spec.devices.size() - 1].name, "0"));
    const Graph graph = compile(spec);
    EXPECT_EQ(graph.names.front(), spec.devices.back().name);
    EXPECT_EQ(graph.names.back(), spec.devices[spec.devices.size() - 2].name);
}

TEST(GraphCycles, InferredLinksOnALoopAreRelaxed) {
    const GraphSpec spec{{device("a"), device("b"), device("c")},
                         {link("a", "b"), inferred("b", "c"), inferred("c", "a")},
                         {}};
    const Graph graph = compile(spec);
    EXPECT_EQ(graph.relaxed_links, (std::vector<std::int32_t>{1, 2}));
    EXPECT_EQ(graph.suppliers.size(), 1U);
    EXPECT_EQ(graph.names, (Names{"a", "c", "b"}));
}

TEST(GraphCycles, ALoopThroughAParentIsRelaxed) {
    const GraphSpec spec{{device("a"), device("b", "a")}, {inferred("b", "a")}, {}};
    const Graph graph = compile(spec);
    EXPECT_EQ(graph.relaxed_links, (std::vector<std::int32_t>{0}));
    EXPECT_FALSE(flags_of(graph, "a").has_supplier_link);
}

TEST(GraphCycles, InferredLinksBesideALoopStay) {
    const GraphSpec spec{{device("a"), device("b"), device("c")},
                         {inferred("a", "b"), inferred("b", "a"), inferred("b", "c")},
                         {}};
    EXPECT_EQ(compile(spec).relaxed_links, (std::vector<std::int32_t>{0, 1}));
}

TEST(GraphCycles, SyncStateOnlyLinksCloseNone) {
    const GraphSpec spec{{device("a"), device("b")}, {link("a", "b"), sync_state_only("b", "a")}, {}};
    EXPECT_EQ(compile(spec).names, (Names{"a", "b"}));
}

TEST(GraphCycles, ALoopWithoutInferredLinksIsSpeltOut) {
    const GraphSpec spec{{device("a"), device("b", "a"), device("c"), device("d")},
                         {link("b", "c"), link("c", "a"), link("c", "d")},
                         {}};
    EXPECT_EQ(error_of(spec),
              "links[c--a]: closes a loop, and no inferred link lies on it that could be relaxed: "
              "c -> a -> b -> c");
}

TEST(GraphCycles, DormantLinksCloseThemToo) {
    const GraphSpec spec{{device("a"), device("b")}, {dormant("a", "b"), link("b", "a")}, {}};
    EXPECT_EQ(
        error_of(spec),
        "links[b--a]: closes a loop, and no inferred link lies on it that could be relaxed: b -> a -> b");
}

TEST(GraphCycles, TheFirstLinkThatClosesOneIsRefused) {
    const GraphSpec spec{{device("a"), device("b"), device("c")},
                         {link("a", "b"), link("b", "c"), link("b", "a"), link("c", "b")},
                         {}};
    EXPECT_EQ(error_of(spec).substr(0, 11), "links[b--a]");
}

TEST(GraphCycles, ALongLoopIsAbbreviated) {
    GraphSpec spec;
    for (int i = 0; i < 1000; ++i) {
        spec.devices.push_back(device(numbered("d", i)));
        if (i > 0) spec.links.push_back(link(numbered("d", i - 1), numbered("d", i)));
    }
    spec.links.push_back(link("d999", "d0"));
    const std::string error = error_of(spec);
    EXPECT_LT(error.size(), 400U);
    EXPECT_NE(error.find("d999 -> d0 -> d1 ->"), std::string::npos) << error;
    EXPECT_NE(error.find("-> ... -> d988 ->"), std::string::npos) << error;
}

}  // namespace
}  // namespace torpor::dpm
