// SPDX-License-Identifier: MIT
#include "torpor/dpm/generator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "torpor/base/error.hpp"

namespace torpor::dpm {
namespace {

constexpr StreamKey kKey{7, 0};

Generator wide() {
    Generator generator;
    generator.devices = 20'000;
    return generator;
}

double share(const GraphSpec& spec, const std::function<bool(const DeviceSpec&)>& holds) {
    const auto count = std::count_if(spec.devices.begin() + 1, spec.devices.end(), holds);
    return static_cast<double>(count) / static_cast<double>(spec.devices.size() - 1);
}

/// Five standard deviations of a share of `count` draws.
double tolerance(double p, double count) {
    return 5.0 * std::sqrt(p * (1.0 - p) / count);
}

bool is_class(const DeviceSpec& device) {
    return device.name.starts_with("class");
}

const std::vector<Segment>& callback(const DeviceSpec& device, Phase phase) {
    return device.callbacks[index_of(phase)];
}

std::int64_t length(const std::vector<Segment>& segments) {
    std::int64_t total = 0;
    for (const Segment& segment : segments) {
        if (segment.kind == SegmentKind::cpu || segment.kind == SegmentKind::sleep) {
            total += segment.first + segment.second;
        }
    }
    return total;
}

std::vector<std::int64_t> lengths(const GraphSpec& spec, Phase phase) {
    std::vector<std::int64_t> found;
    for (const DeviceSpec& device : spec.devices) {
        if (!callback(device, phase).empty()) found.push_back(length(callback(device, phase)));
    }
    std::sort(found.begin(), found.end());
    return found;
}

std::map<std::string, std::int64_t> depths(const GraphSpec& spec) {
    std::map<std::string, std::int64_t> depth;
    for (const DeviceSpec& device : spec.devices) {
        depth[device.name] = device.parent.empty() ? 0 : depth.at(device.parent) + 1;
    }
    return depth;
}

TEST(Generator, IsAFunctionOfParametersAndKey) {
    const Generator generator;
    EXPECT_EQ(generate(generator, kKey), generate(generator, kKey));
    EXPECT_NE(generate(generator, kKey), generate(generator, (StreamKey{7, 1})));
    EXPECT_NE(generate(generator, kKey), generate(generator, (StreamKey{8, 0})));
}

TEST(Generator, DrawsTheSameWorldOnEveryMachine) {
    Generator generator;
    generator.devices = 6;
    generator.p_no_callbacks = 0.0;
    const GraphSpec spec = generate(generator, {1, 2});
    std::string text;
    for (const DeviceSpec& device : spec.devices) {
        text += device.name + "<" + device.parent + " " +
                std::to_string(length(callback(device, Phase::resume))) + "; ";
    }
    for (const Link& link : spec.links) text += link.supplier + "--" + link.consumer + " ";
    EXPECT_EQ(text,
              "root< 0; dev1<root 778794; dev2<root 89244; dev3<root 252000; dev4<root 277069; "
              "dev5<dev3 42188; dev1--dev2 ");
}

TEST(Generator, MakesGraphsThatCompileInTheOrderOfTheirNumbers) {
    for (std::uint64_t replicate = 0; replicate < 100; ++replicate) {
        Generator generator;
        generator.class_ratio = replicate % 2 == 0 ? 0.0 : 3.0;
        generator.lock_share = {0.5, 0.5};
        const Graph graph = compile(generate(generator, {1, replicate}));
        ASSERT_TRUE(std::is_sorted(graph.registered.begin(), graph.registered.end()));
        ASSERT_TRUE(graph.relaxed_links.empty());
    }
}

TEST(Generator, MakesASingleDevice) {
    Generator generator;
    generator.devices = 1;
    generator.class_ratio = 3.0;
    const GraphSpec spec = generate(generator, kKey);
    ASSERT_EQ(spec.devices.size(), 1U);
    EXPECT_EQ(spec.devices[0].name, "root");
    EXPECT_TRUE(spec.devices[0].no_pm_callbacks);
}

TEST(Generator, ParentsNeverExceedTheDepth) {
    Generator generator = wide();
    generator.p_root = 0.0;
    generator.max_depth = 3;
    std::int64_t deepest = 0;
    for (const auto& [name, depth] : depths(generate(generator, kKey))) deepest = std::max(deepest, depth);
    EXPECT_EQ(deepest, 3);
}

TEST(Generator, TheRootHasItsShareOfChildren) {
    Generator generator = wide();
    generator.p_root = 0.3;
    const double found =
        share(generate(generator, kKey), [](const DeviceSpec& device) { return device.parent == "root"; });
    // Other parents are uniform, so the root gets a few more: far below a permille here.
    EXPECT_NEAR(found, 0.3, tolerance(0.3, 20'000) + 0.001);
}

TEST(Generator, LinksHaveTheirShareAndMeanNumber) {
    Generator generator = wide();
    generator.skew = 1.0;  // suppliers hardly ever repeat
    std::map<std::string, int> suppliers;
    for (const Link& link : generate(generator, kKey).links) ++suppliers[link.consumer];
    EXPECT_NEAR(static_cast<double>(suppliers.size()) / 20'000, 0.6, tolerance(0.6, 20'000) + 0.001);
    const auto with_two_or_more = std::count_if(suppliers.begin(), suppliers.end(),
                                                [](const auto& entry) { return entry.second >= 2; });
    EXPECT_NEAR(static_cast<double>(with_two_or_more) / static_cast<double>(suppliers.size()), 0.5,
                tolerance(0.5, 12'000) + 0.002);
}

TEST(Generator, SuppliersComeFirstInTheList) {
    // With skew 2 a quarter of the devices supplies half of the links: index i u^2 < i/4 for u < 1/2.
    const GraphSpec spec = generate(wide(), kKey);
    double low = 0;
    for (const Link& link : spec.links) {
        const auto number = [](const std::string& name) {
            return name == "root" ? 0.0 : std::stod(name.substr(3));
        };
        ASSERT_LT(number(link.supplier), number(link.consumer));
        low += number(link.supplier) < number(link.consumer) / 4 ? 1 : 0;
        EXPECT_TRUE(link.inferred);
    }
    const auto count = static_cast<double>(spec.links.size());
    EXPECT_NEAR(low / count, 0.5, tolerance(0.5, count) + 0.005);
}

TEST(Generator, CallbacksHaveTheirShares) {
    Generator generator = wide();
    generator.p_no_callbacks = 0.3;
    generator.p_late = 0.2;
    const GraphSpec spec = generate(generator, kKey);
    EXPECT_NEAR(share(spec, [](const DeviceSpec& device) { return device.no_pm_callbacks; }), 0.3,
                tolerance(0.3, 20'000));
    EXPECT_NEAR(share(spec, [](const DeviceSpec& d) { return !callback(d, Phase::suspend).empty(); }), 0.7,
                tolerance(0.3, 20'000));
    EXPECT_NEAR(share(spec, [](const DeviceSpec& d) { return !callback(d, Phase::resume_noirq).empty(); }),
                0.7 * 0.2, tolerance(0.14, 20'000));
    for (const DeviceSpec& device : spec.devices) {
        const bool late = !callback(device, Phase::suspend_late).empty();
        for (const Phase phase : {Phase::suspend_noirq, Phase::resume_noirq, Phase::resume_early}) {
            ASSERT_EQ(!callback(device, phase).empty(), late) << device.name;
        }
        ASSERT_TRUE(callback(device, Phase::prepare).empty() && callback(device, Phase::complete).empty());
    }
}

TEST(Generator, DurationsAreLognormal) {
    Generator generator = wide();
    generator.p_no_callbacks = 0.0;
    generator.p_late = 1.0;
    generator.median_us = {100.0, 50.0};
    generator.sigma = {0.5, 1.0};
    generator.cap_us = 1e7;
    const GraphSpec spec = generate(generator, kKey);
    const auto check = [&](Phase phase, double median_us, double sigma) {
        const auto sorted = lengths(spec, phase);
        const auto quantile = [&](double p) {
            return static_cast<double>(
                sorted[static_cast<std::size_t>(p * static_cast<double>(sorted.size()))]);
        };
        // A sample median of n lies within about 1.25 sigma / sqrt(n) of the logarithm.
        const double slack = 5.0 * 1.25 * sigma / std::sqrt(static_cast<double>(sorted.size()));
        EXPECT_NEAR(std::log(quantile(0.5)), std::log(median_us * 1000), slack) << name_of(phase);
        EXPECT_NEAR(std::log(quantile(0.8413) / quantile(0.5)), sigma, 2.0 * slack) << name_of(phase);
    };
    check(Phase::suspend, 100.0, 0.5);
    check(Phase::resume, 50.0, 1.0);
    check(Phase::suspend_noirq, 20.0, 0.5);
    check(Phase::resume_early, 20.0, 1.0);
}

TEST(Generator, DurationsStopAtTheCap) {
    Generator generator = wide();
    generator.cap_us = 70.0;
    EXPECT_EQ(lengths(generate(generator, kKey), Phase::suspend).back(), 70'000);
    EXPECT_EQ(lengths(generate(generator, kKey), Phase::resume_noirq).back(), 70'000);
}

TEST(Generator, CallbacksAlternateBetweenCpuAndSleep) {
    Generator generator;
    generator.devices = 2;
    generator.p_no_callbacks = 0.0;
    generator.sigma = {0.0, 0.0};
    generator.median_us = {0.101, 1.0};
    generator.cpu_share = {0.4, 1.0};
    generator.fixed_share = 0.25;
    generator.p_late = 0.0;
    const GraphSpec spec = generate(generator, kKey);
    EXPECT_EQ(callback(spec.devices[1], Phase::suspend), (std::vector<Segment>{{SegmentKind::cpu, 15, 5},
                                                                               {SegmentKind::sleep, 30, 0},
                                                                               {SegmentKind::cpu, 15, 5},
                                                                               {SegmentKind::sleep, 31, 0}}));
    EXPECT_EQ(callback(spec.devices[1], Phase::resume),
              (std::vector<Segment>{{SegmentKind::cpu, 375, 125}, {SegmentKind::cpu, 375, 125}}));
}

TEST(Generator, ACallbackThatRoundsToNothingIsEmpty) {
    Generator generator;
    generator.devices = 2;
    generator.p_no_callbacks = 0.0;
    generator.sigma = {10.0, 10.0};
    generator.median_us = {0.001, 0.001};
    generator.cap_us = 0.001;
    generator.lock_share = {1.0, 1.0};
    int empty = 0;
    for (std::uint64_t replicate = 0; replicate < 50; ++replicate) {
        const GraphSpec spec = generate(generator, {1, replicate});
        empty += spec.devices[1].empty_callbacks[index_of(Phase::suspend)] ? 1 : 0;
        EXPECT_EQ(spec.devices[1].empty_callbacks[index_of(Phase::suspend)],
                  callback(spec.devices[1], Phase::suspend).empty());
    }
    EXPECT_GT(empty, 5);
    EXPECT_LT(empty, 45);
}

TEST(Generator, LocksAreHeldOverTheWholeCallbackByTheirShare) {
    Generator generator = wide();
    generator.p_no_callbacks = 0.0;
    generator.lock_share = {0.5, 0.2};
    generator.locks = 4;
    const GraphSpec spec = generate(generator, kKey);
    EXPECT_EQ(spec.locks, (std::vector<std::string>{"lock1", "lock2", "lock3", "lock4"}));
    std::array<int, 4> used{};
    const auto locked = [&](const DeviceSpec& device, Phase phase) {
        const auto& segments = callback(device, phase);
        if (segments.front().kind != SegmentKind::lock) return false;
        EXPECT_EQ(segments.back(), (Segment{SegmentKind::unlock, segments.front().first, 0}));
        ++used[static_cast<std::size_t>(segments.front().first)];
        return true;
    };
    EXPECT_NEAR(share(spec, [&](const DeviceSpec& d) { return locked(d, Phase::suspend); }), 0.5,
                tolerance(0.5, 20'000));
    EXPECT_NEAR(share(spec, [&](const DeviceSpec& d) { return locked(d, Phase::resume); }), 0.2,
                tolerance(0.2, 20'000));
    for (const int count : used) EXPECT_NEAR(count / 14'000.0, 0.25, tolerance(0.25, 14'000) + 0.005);
}

TEST(Generator, ClassDevicesFollowTheFirmwareDevicesAndAreRarelyParents) {
    Generator generator = wide();
    generator.devices = 80'000;
    generator.class_ratio = 3.0;
    const GraphSpec spec = generate(generator, kKey);
    EXPECT_FALSE(is_class(spec.devices[19'999]));
    EXPECT_TRUE(std::all_of(spec.devices.begin() + 20'000, spec.devices.end(), is_class));
    EXPECT_EQ(spec.devices[20'000].name, "class1");
    double below_class = 0;
    double expected = 0;
    double without_callbacks = 0;
    for (std::size_t i = 20'000; i < 80'000; ++i) {
        below_class += spec.devices[i].parent.starts_with("class") ? 1 : 0;
        without_callbacks += spec.devices[i].no_pm_callbacks ? 1 : 0;
        const double p = static_cast<double>(i - 20'000) / static_cast<double>(i);
        expected += p * (0.2 + 0.8 * p);
    }
    EXPECT_NEAR(below_class / 60'000, expected / 60'000, tolerance(expected / 60'000, 60'000));
    EXPECT_NEAR(without_callbacks / 60'000, 0.9, tolerance(0.9, 60'000));
    EXPECT_TRUE(std::none_of(spec.links.begin(), spec.links.end(), [](const Link& link) {
        return link.consumer.starts_with("class") || link.supplier.starts_with("class");
    }));
}

TEST(Generator, MoreDevicesLeaveTheEarlierOnesAlone) {
    Generator few;
    few.devices = 100;
    Generator many = few;
    many.devices = 300;
    const GraphSpec a = generate(few, kKey);
    const GraphSpec b = generate(many, kKey);
    EXPECT_TRUE(std::equal(a.devices.begin(), a.devices.end(), b.devices.begin()));
    EXPECT_TRUE(std::equal(a.links.begin(), a.links.end(), b.links.begin()));
}

TEST(Generator, MoreDevicesLeaveTheCallbacksOfClassDevicesAlone) {
    Generator few;
    few.devices = 100;
    few.class_ratio = 3.0;
    few.class_p_no_callbacks = 0.1;
    Generator many = few;
    many.devices = 300;
    const GraphSpec a = generate(few, kKey);
    const GraphSpec b = generate(many, kKey);
    for (std::size_t i = 0; i < 75; ++i) {
        EXPECT_EQ(a.devices[25 + i].name, b.devices[75 + i].name);
        EXPECT_EQ(a.devices[25 + i].callbacks, b.devices[75 + i].callbacks);
    }
}

TEST(Generator, OneParameterShiftsNoOtherDraw) {
    Generator plain;
    plain.devices = 200;
    const GraphSpec before = generate(plain, kKey);
    const auto changed = [&](const std::function<void(Generator&)>& change) {
        Generator generator = plain;
        change(generator);
        return generate(generator, kKey);
    };
    // Another shape: all callbacks stay. Other callbacks: the shape stays.
    const GraphSpec shape = changed([](Generator& g) {
        g.p_root = 0.9;
        g.p_link = 0.1;
        g.skew = 1.0;
    });
    const GraphSpec durations = changed([](Generator& g) {
        g.sigma = {1.0, 2.0};
        g.p_late = 0.9;
        g.p_no_callbacks = 0.1;
        g.lock_share = {1.0, 0.0};
    });
    EXPECT_EQ(before.links, durations.links);
    for (std::size_t i = 0; i < before.devices.size(); ++i) {
        EXPECT_EQ(before.devices[i].callbacks, shape.devices[i].callbacks);
        EXPECT_EQ(before.devices[i].parent, durations.devices[i].parent);
        if (before.devices[i].no_pm_callbacks) continue;
        EXPECT_EQ(callback(before.devices[i], Phase::resume), callback(durations.devices[i], Phase::resume));
    }
}

TEST(Generator, ValidateNamesTheKeyAndTheLimit) {
    const auto error = [](const std::function<void(Generator&)>& change) -> std::string {
        Generator generator;
        change(generator);
        try {
            generate(generator, kKey);
        } catch (const ConfigError& complaint) {
            return complaint.what();
        }
        return "no error";
    };
    const std::vector<std::pair<std::string, std::string>> cases{
        {error([](Generator& g) { g.devices = 0; }), "devices: 0 is out of range; it must be 1..1000000"},
        {error([](Generator& g) { g.class_ratio = -1; }),
         "class_ratio: -1 is out of range; it must be 0..1000"},
        {error([](Generator& g) { g.max_depth = 0; }), "max_depth: 0 is out of range; it must be 1..1000000"},
        {error([](Generator& g) { g.p_root = 1.5; }), "p_root: 1.5 is out of range; it must be 0..1"},
        {error([](Generator& g) { g.p_link = -0.5; }), "p_link: -0.5 is out of range; it must be 0..1"},
        {error([](Generator& g) { g.p_more_links = 1; }),
         "p_more_links: 1 is out of range; it must be 0..0.99"},
        {error([](Generator& g) { g.skew = 101; }), "skew: 101 is out of range; it must be 0..100"},
        {error([](Generator& g) { g.p_no_callbacks = std::nan(""); }),
         "p_no_callbacks: nan is out of range; it must be 0..1"},
        {error([](Generator& g) { g.class_p_no_callbacks = 2; }),
         "class_p_no_callbacks: 2 is out of range; it must be 0..1"},
        {error([](Generator& g) { g.p_late = 2; }), "p_late: 2 is out of range; it must be 0..1"},
        {error([](Generator& g) { g.median_us[1] = 0; }),
         "median_us[1]: 0 is out of range; it must be 0.001..1e+07"},
        {error([](Generator& g) { g.sigma[0] = 11; }), "sigma[0]: 11 is out of range; it must be 0..10"},
        {error([](Generator& g) { g.cap_us = 2e7; }),
         "cap_us: 2e+07 is out of range; it must be 0.001..1e+07"},
        {error([](Generator& g) { g.late_median_us = 0; }),
         "late_median_us: 0 is out of range; it must be 0.001..1e+07"},
        {error([](Generator& g) { g.cpu_share[1] = 2; }), "cpu_share[1]: 2 is out of range; it must be 0..1"},
        {error([](Generator& g) { g.fixed_share = 2; }), "fixed_share: 2 is out of range; it must be 0..1"},
        {error([](Generator& g) { g.chunks = 0; }), "chunks: 0 is out of range; it must be 1..1000"},
        {error([](Generator& g) { g.locks = 0; }), "locks: 0 is out of range; it must be 1..100000"},
        {error([](Generator& g) { g.lock_share[0] = 2; }),
         "lock_share[0]: 2 is out of range; it must be 0..1"},
    };
    for (const auto& [got, expected] : cases) EXPECT_EQ(got, expected);
}

}  // namespace
}  // namespace torpor::dpm
