// SPDX-License-Identifier: MIT
// Cycles, replicates, costs, what is told and counted.
#include "torpor/dpm/model.hpp"

#include <gtest/gtest.h>

#include "worlds.hpp"

namespace torpor::dpm {
namespace {

Scenario small(int devices = 40) {
    Scenario scenario = phone(nullptr);
    Generator generator;
    generator.devices = devices;
    generator.lock_share = {0.3, 0.3};
    scenario.devices = generator;
    scenario.jitter = 0.1;
    return scenario;
}

Result replicate(const Scenario& scenario, std::uint64_t number, std::uint64_t seed = 1) {
    return Model{scenario, parse_policy("old")}.run({seed, number}, {});
}

std::int64_t replicate_of(const Scenario& scenario, const char* policy) {
    return Model{scenario, parse_policy(policy)}.run({1, 0}, {}).cycles.at(0).suspend.ns;
}

TEST(Replicates, DoNotDependOnThoseBefore) {
    Model model{small(), parse_policy("old")};
    for (const std::uint64_t number : {4U, 0U, 9U, 4U})
        EXPECT_EQ(model.run({1, number}, {}), replicate(small(), number));
}

TEST(Replicates, DoNotDependOnAnotherModelInBetween) {
    Model one{small(), parse_policy("breadth-first")};
    Model other{small(60), parse_policy("up-6.17")};
    const Result alone = one.run({1, 3}, {});
    other.run({1, 3}, {});
    EXPECT_EQ(one.run({1, 3}, {}), alone);
}

TEST(Replicates, DifferByNumberAndSeed) {
    EXPECT_NE(replicate(small(), 0), replicate(small(), 1));
    EXPECT_NE(replicate(small(), 0, 1), replicate(small(), 0, 2));
}

TEST(Replicates, HaveTheSameGraphWhateverThePolicy) {
    Model one{small(), parse_policy("sync")};
    Model other{small(), parse_policy("breadth-first(eas_off=both)")};
    one.run({5, 2}, {});
    other.run({5, 1}, {});
    EXPECT_NE(one.graph(), other.graph());
    other.run({5, 2}, {});
    EXPECT_EQ(one.graph(), other.graph());
}

TEST(Cycles, OfTheWarmUpAreRunAndNotReported) {
    Scenario scenario = small();
    scenario.cycles = 5;
    const Result all = replicate(scenario, 0);
    scenario.warmup_cycles = 2;
    scenario.cycles = 3;
    const Result some = replicate(scenario, 0);
    ASSERT_EQ(some.cycles.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(some.cycles[i], all.cycles[i + 2]);
    EXPECT_EQ(some.cluster_busy_ns.size(), 3U * 2U * 3U);
    EXPECT_EQ(some.main_ns.size(), 3U * 2U * 3U);
}

TEST(Cycles, DrawNewLengths) {
    Scenario scenario = small();
    scenario.cycles = 2;
    const Result result = replicate(scenario, 0);
    const auto sum = [&](std::size_t cycle) {
        return result.cycles[cycle].phases[index_of(Phase::resume)].bounds.sum_ns;
    };
    EXPECT_NE(sum(0), sum(1));
}

TEST(Cycles, WithoutJitterHaveTheLengthsOfTheGraph) {
    Scenario scenario = small();
    scenario.jitter = 0.0;
    scenario.cycles = 2;
    const Result result = replicate(scenario, 0);
    const auto sum = [&](std::size_t cycle) {
        return result.cycles[cycle].phases[index_of(Phase::resume)].bounds.sum_ns;
    };
    EXPECT_EQ(sum(0), sum(1));
}

TEST(Cycles, BeginAnewAfterOneThatCouldNotEnd) {
    GraphSpec spec = in_list_order({called("A"), called("B"), called("S"), called("F")});
    spec.locks = {"x", "y"};
    spec.devices[2].async_suspend = false;
    spec.devices[2].callbacks[index_of(Phase::suspend)] = {{SegmentKind::sleep, 50, 0}};
    spec.devices[3].callbacks[index_of(Phase::suspend)] = {{SegmentKind::sleep, 10, 0}};
    for (const std::int64_t i : {0, 1}) {
        spec.devices[static_cast<std::size_t>(i)].callbacks[index_of(Phase::suspend_late)] = {
            {SegmentKind::lock, i, 0},
            {SegmentKind::sleep, 5, 0},
            {SegmentKind::lock, 1 - i, 0},
            {SegmentKind::unlock, i, 0},
            {SegmentKind::unlock, 1 - i, 0}};
    }
    Scenario scenario = reference_scenario(compiled(spec), 4);
    scenario.cycles = 3;
    const Ran ran{scenario, "old"};
    for (std::size_t cycle = 0; cycle < 3; ++cycle) {
        EXPECT_EQ(ran.cycle(cycle), ran.cycle(0)) << cycle;
        EXPECT_EQ(ran.cycle(cycle).outcome, Outcome::stuck);
        EXPECT_EQ(ran.cycle(cycle).ended_in, Phase::suspend_late);
        EXPECT_EQ(ran.phase(Phase::suspend, cycle).ns, 51);
    }
    EXPECT_EQ(ran.calls(Phase::complete), "");
}

TEST(Scales, BelongToTheReplicateOfTheirPlaceAndToASide) {
    Scenario scenario = reference_scenario(compiled(in_list_order({called("A", "", 100)})), 1);
    scenario.scales = {{1.0, 1.0}, {2.0, 0.5}};
    Model model{scenario, parse_policy("sync")};
    EXPECT_EQ(model.run({1, 0}, {}).cycles[0].suspend.ns, 300);
    const Result scaled = model.run({1, 1}, {});
    EXPECT_EQ(scaled.cycles[0].suspend.ns, 600);
    EXPECT_EQ(scaled.cycles[0].resume.ns, 150);
}

TEST(Scales, AreNeededForEachReplicate) {
    Scenario scenario = reference_scenario(compiled(in_list_order({called("A", "", 100)})), 1);
    scenario.scales = {{1.0, 1.0}, {2.0, 0.5}};
    Model model{scenario, parse_policy("sync")};
    try {
        model.run({1, 2}, {});
        FAIL() << "no error";
    } catch (const ConfigError& error) {
        EXPECT_STREQ(error.what(), "scales: 2 are given, none for replicate 2");
    }
}

TEST(Jitter, HasAMedianOfOne) {
    GraphSpec spec;
    for (int i = 0; i < 400; ++i)
        spec.devices.push_back(called(std::string{"d"}.append(std::to_string(i)), "", 1'000'000));
    Scenario scenario = reference_scenario(compiled(spec), 1);
    scenario.jitter = 0.5;
    const Ran ran{scenario, "sync"};
    int above = 0;
    for (const Interval& each : ran.intervals) {
        if (each.phase == Phase::resume && each.end_ns - each.begin_ns > 1'000'000) ++above;
    }
    EXPECT_GT(above, 160);
    EXPECT_LT(above, 240);
}

std::vector<bool> async_devices(double share) {
    Scenario scenario = small(200);
    scenario.async = {AsyncDevices::Kind::share, share};
    const Ran ran{scenario, "old"};
    std::vector<bool> async;
    for (const Interval& each : ran.intervals) {
        if (each.phase == Phase::suspend) async.push_back(each.queued_ns >= 0);
    }
    return async;
}

TEST(AsyncShare, AddsDevicesAndTakesNoneAway) {
    std::vector<bool> before = async_devices(0.0);
    EXPECT_EQ(std::count(before.begin(), before.end(), true), 0);
    for (const double share : {0.25, 0.5, 0.75, 1.0}) {
        const std::vector<bool> now = async_devices(share);
        for (std::size_t i = 0; i < now.size(); ++i) EXPECT_TRUE(now[i] || !before[i]) << share;
        EXPECT_NEAR(static_cast<double>(std::count(now.begin(), now.end(), true)), share * 200.0, 25.0);
        before = now;
    }
    EXPECT_EQ(std::count(before.begin(), before.end(), true), 200);
}

TEST(AsyncDevices, AreThoseOfTheFlagsOrAllOrNone) {
    GraphSpec spec = in_list_order({called("A"), called("B")});
    spec.devices[0].async_suspend = false;
    Scenario scenario = reference_scenario(compiled(spec), 2);
    const auto items = [&](AsyncDevices::Kind kind) {
        scenario.async.kind = kind;
        return Ran{scenario, "old"}.phase(Phase::resume).items;
    };
    EXPECT_EQ(items(AsyncDevices::Kind::flagged), 1);
    EXPECT_EQ(items(AsyncDevices::Kind::all), 2);
    EXPECT_EQ(items(AsyncDevices::Kind::none), 0);
}

TEST(AsyncDevices, DoNotMatterToSync) {
    Scenario scenario = small();
    scenario.async.kind = AsyncDevices::Kind::none;
    const Result none = Model{scenario, parse_policy("sync")}.run({1, 0}, {});
    scenario.async.kind = AsyncDevices::Kind::all;
    EXPECT_EQ((Model{scenario, parse_policy("sync")}.run({1, 0}, {})), none);
}

/// One CPU, no scheduling costs, `count` roots that work for 100 in each phase.
Scenario roots(int count, int cpus = 1) {
    GraphSpec spec;
    spec.in_list_order = true;
    for (int i = 0; i < count; ++i)
        spec.devices.push_back(called(std::string(1, static_cast<char>('A' + i)), "", 100));
    return reference_scenario(compiled(spec), cpus);
}

TEST(Costs, OfSyncAreOneListStepAndCorePerDevice) {
    Scenario scenario = roots(3);
    Costs& costs = scenario.costs[index_of(Phase::resume)];
    costs.list_step_ns = 1;
    costs.core_ns = 20;
    costs.callback_ns = 3;
    costs.tail_ns = 5000;
    costs.queue_ns = costs.dispatch_ns = 700'000;
    const Ran ran{scenario, "sync"};
    EXPECT_EQ(ran.phase(Phase::resume).ns, 3 * 124 + 5000);
    EXPECT_EQ(ran.phase(Phase::suspend).ns, 300);
}

TEST(Costs, OfAsyncDevicesAreQueueingByMainAndDispatchByTheWorker) {
    Scenario scenario = roots(1, 2);
    Costs& costs = scenario.costs[index_of(Phase::suspend)];
    costs.list_step_ns = 1;
    costs.queue_ns = 30;
    costs.dispatch_ns = 400;
    costs.core_ns = 5000;
    costs.callback_ns = 60'000;
    const Ran ran{scenario, "old"};
    EXPECT_EQ(ran.of(Phase::suspend, "A").queued_ns, 31);
    EXPECT_EQ(ran.phase(Phase::suspend).ns, 31 + 400 + 5000 + 60'000 + 100);
    EXPECT_EQ(ran.phase(Phase::suspend).bounds.ovh_ns, 30);
}

TEST(Costs, OfChecksStopAtTheFirstUnfinishedDependency) {
    // X waits for S1, S2 and S3, of which the first is the slowest: whoever is done before it looks at S1
    // only.
    GraphSpec spec = in_list_order(
        {called("S1", "", 300), called("S2", "", 100), called("S3", "", 200), called("X", "", 100)},
        {{"S1", "X"}, {"S2", "X"}, {"S3", "X"}});
    const auto with = [&](std::int64_t check_ns) {
        Scenario scenario = reference_scenario(compiled(spec), 4);
        scenario.costs[index_of(Phase::resume)].check_ns = check_ns;
        return Ran{scenario, "breadth-first"};
    };
    const Ran free = with(0);
    const Ran dear = with(1);
    EXPECT_EQ(free.phase(Phase::resume).ns, 400);
    // S1 looks at all three, then X itself does before its callback.
    EXPECT_EQ(dear.phase(Phase::resume).ns, 400 + 3 + 3);
    // Main, S2 and S3 have looked at one each.
    EXPECT_EQ(dear.result.cluster_busy_ns[1] - free.result.cluster_busy_ns[1], 3 + 3 + 3);
}

TEST(Costs, ArePaidAtTheRateOfTheCpu) {
    Scenario scenario = roots(1);
    scenario.machine.cpus[0].rate = 0.25;
    scenario.costs[index_of(Phase::resume)].core_ns = 10;
    EXPECT_EQ((Ran{scenario, "sync"}.phase(Phase::resume).ns), 440);
}

TEST(EasSwitch, IsPaidInThePhaseThatItPrecedes) {
    Scenario scenario = roots(1);
    scenario.eas_switch_ns = 1000;
    const auto times = [&](const char* policy) {
        const Ran ran{scenario, policy};
        return std::pair{ran.phase(Phase::suspend).ns, ran.phase(Phase::resume_noirq).ns};
    };
    EXPECT_EQ(times("sync"), (std::pair<std::int64_t, std::int64_t>{100, 100}));
    EXPECT_EQ(times("sync(eas_off=suspend)"), (std::pair<std::int64_t, std::int64_t>{1100, 100}));
    EXPECT_EQ(times("sync(eas_off=resume)"), (std::pair<std::int64_t, std::int64_t>{100, 1100}));
    EXPECT_EQ(times("sync(eas_off=both)"), (std::pair<std::int64_t, std::int64_t>{1100, 1100}));
}

TEST(MainThread, GivesWayToAReadyWorker) {
    GraphSpec spec = in_list_order({called("S", "", 100), called("A", "", 30)});
    spec.devices[0].async_suspend = false;
    Scenario scenario = reference_scenario(compiled(spec), 1);
    EXPECT_EQ((Ran{scenario, "old"}.of(Phase::suspend, "A").begin_ns), 100);
    scenario.main.gives_way = true;
    EXPECT_EQ((Ran{scenario, "old"}.of(Phase::suspend, "A").begin_ns), 0);
}

TEST(MainThread, BeginsEachSideOnItsCpu) {
    Scenario scenario = phone(compiled(in_list_order({called("A", "", 100)})));
    scenario.main.suspend_cpu = 3;
    scenario.main.resume_cpu = 2;
    const Ran ran{scenario, "sync"};
    EXPECT_EQ(ran.of(Phase::suspend, "A").cpu, 3);
    EXPECT_EQ(ran.of(Phase::resume, "A").cpu, 2);
}

TEST(Intervals, TellWhatADeviceWaitedForLast) {
    GraphSpec spec =
        in_list_order({called("P", "", 5), called("S", "", 9), called("X", "P", 1)}, {{"S", "X"}});
    const Ran ran{reference_scenario(compiled(spec), 4), "old(list_mutex=false)"};
    EXPECT_EQ(ran.of(Phase::resume, "X").waited_for, 1);
    EXPECT_EQ(ran.of(Phase::resume, "X").begin_ns, 9);
    EXPECT_EQ(ran.of(Phase::resume, "S").waited_for, kNoDevice);
}

TEST(Intervals, TellWhatWasHandledInPlace) {
    GraphSpec spec = in_list_order({called("P", "", 5), called("N", "P")});
    spec.devices[1].callbacks = {};
    spec.devices[1].no_pm_callbacks = true;
    const Ran ran{reference_scenario(compiled(spec), 4), "breadth-first"};
    EXPECT_TRUE(ran.of(Phase::resume, "N").in_place);
    EXPECT_EQ(ran.of(Phase::resume, "N").worker, ran.of(Phase::resume, "P").worker);
    EXPECT_FALSE(ran.of(Phase::resume, "P").in_place);
    EXPECT_FALSE((Ran{reference_scenario(compiled(spec), 4), "breadth-first(inline_calls=false)"}
                      .of(Phase::resume, "N")
                      .in_place));
}

TEST(Intervals, AreThoseOfTheFirstReportedCycle) {
    Scenario scenario = small();
    scenario.cycles = 2;
    scenario.warmup_cycles = 1;
    const Ran ran{scenario, "sync"};
    std::int64_t calls = 0;
    for (const Interval& each : ran.intervals) calls += each.phase == Phase::resume && each.called ? 1 : 0;
    EXPECT_EQ(calls, ran.phase(Phase::resume).callbacks);
    std::int64_t last_ns = 0;
    for (const Interval& each : ran.intervals) {
        if (each.phase == Phase::resume) last_ns = std::max(last_ns, each.end_ns);
    }
    EXPECT_LE(last_ns, ran.phase(Phase::resume, 0).ns);
    EXPECT_GT(last_ns, ran.phase(Phase::resume, 0).ns / 2);
}

std::vector<engine::TimelineRecord> told(const Scenario& scenario, const char* policy) {
    engine::VectorSink sink;
    Model model{scenario, parse_policy(policy)};
    model.run({1, 0}, {}, &sink);
    return sink.records();
}

TEST(Timeline, StartsWithTheFirstReportedCycle) {
    Scenario scenario = roots(2);
    scenario.cycles = 2;
    const auto first = told(scenario, "sync");
    ASSERT_FALSE(first.empty());
    EXPECT_EQ(to_ns(first.front().at), 0);
    scenario.warmup_cycles = 1;
    scenario.cycles = 1;
    EXPECT_EQ(told(scenario, "sync"), first);
    EXPECT_EQ(to_ns(first.back().at), 8 * 200);
}

TEST(Timeline, TellsPhasesDevicesAndRuns) {
    const auto records = told(roots(2), "sync");
    std::vector<std::int64_t> phases;
    int begun = 0;
    int ended = 0;
    int on = 0;
    for (const engine::TimelineRecord& record : records) {
        switch (static_cast<TimelineKind>(record.kind)) {
            case TimelineKind::phase_begin:
                phases.push_back(record.value);
                break;
            case TimelineKind::device_begin:
                ++begun;
                break;
            case TimelineKind::device_end:
                ++ended;
                break;
            case TimelineKind::run_begin:
                ++on;
                break;
            case TimelineKind::run_end:
                --on;
                break;
            case TimelineKind::phase_end:
                break;
        }
    }
    EXPECT_EQ(phases, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(begun, 16);
    EXPECT_EQ(ended, 16);
    EXPECT_EQ(on, 0);
}

TEST(Timeline, ChangesNothing) {
    engine::VectorSink sink;
    Model model{small(), parse_policy("old")};
    const Result watched = model.run({1, 0}, {}, &sink);
    EXPECT_EQ(watched, replicate(small(), 0));
    EXPECT_FALSE(sink.records().empty());
}

TEST(Side, IsTheSumOfItsThreePhases) {
    const Result result = replicate(small(), 0);
    for (const Cycle& cycle : result.cycles) {
        EXPECT_EQ(cycle.suspend.ns, cycle.phases[1].ns + cycle.phases[2].ns + cycle.phases[3].ns);
        EXPECT_EQ(cycle.resume.ns, cycle.phases[4].ns + cycle.phases[5].ns + cycle.phases[6].ns);
    }
}

TEST(Energy, IsBusyAndIdleCpusAndTheClusterItself) {
    Scenario scenario = roots(1, 2);
    scenario.power = {{1000.0, 10.0, 3.0}};
    const Ran ran{scenario, "sync"};
    // 300 ns, one of two CPUs busy all the time.
    EXPECT_EQ(ran.result.cluster_busy_ns, (std::vector<std::int64_t>{300, 300}));
    EXPECT_DOUBLE_EQ(ran.cycle().suspend.energy_mj, 300.0 * (1000.0 + 10.0 + 3.0) / 1e9);
    EXPECT_DOUBLE_EQ(ran.cycle().resume.energy_mj, ran.cycle().suspend.energy_mj);
}

TEST(Energy, IsNothingWithoutPowers) {
    EXPECT_EQ((Ran{roots(1), "sync"}.cycle().suspend.energy_mj), 0.0);
}

TEST(Counts, OfCallbacksByWorkers) {
    GraphSpec spec = in_list_order({called("A"), called("B"), called("C")});
    spec.devices[1].async_suspend = false;
    const Ran ran{reference_scenario(compiled(spec), 4), "old"};
    EXPECT_EQ(ran.phase(Phase::resume).callbacks, 3);
    EXPECT_EQ(ran.phase(Phase::resume).callbacks_by_workers, 2);
    EXPECT_EQ(ran.phase(Phase::prepare).callbacks_by_workers, 0);
}

TEST(Counts, OfSwitchInsAreOnePerRunOnOneCpu) {
    // Main once at the start, then three workers and main for the barrier in each of three phases.
    Scenario scenario = roots(3);
    const Ran ran{scenario, "old(list_mutex=false)"};
    EXPECT_EQ(ran.cycle().resume.switch_ins, 1 + 3 * 4);
    EXPECT_EQ(ran.cycle().resume.wakeups, 3 * 4);
    EXPECT_EQ(ran.cycle().resume.migrations, 0);
}

TEST(Run, CanBeStopped) {
    std::stop_source source;
    source.request_stop();
    Scenario scenario = small(500);
    scenario.cycles = 20;
    Model model{scenario, parse_policy("old")};
    EXPECT_THROW(model.run({1, 0}, source.get_token()), Cancelled);
    EXPECT_EQ(model.run({1, 0}, {}).cycles.size(), 20U);
}

/// Time of the main thread per cluster on the way down, in ns.
std::vector<std::int64_t> main_on_clusters(const Scenario& scenario, const char* policy) {
    const Result result = Model{scenario, parse_policy(policy)}.run({1, 0}, {});
    const std::size_t clusters = result.main_ns.size() / result.cycles.size() / 2;
    return {result.main_ns.begin(), result.main_ns.begin() + static_cast<std::ptrdiff_t>(clusters)};
}

TEST(Switches, APinnedMainThreadStaysOnItsCpu) {
    Scenario scenario = small();
    const auto last = static_cast<int>(scenario.machine.cpus.size()) - 1;
    const auto home = static_cast<std::size_t>(scenario.machine.cpus.back().cluster);
    scenario.main.suspend_cpu = last;
    scenario.main.suspend_utilisation = 50.0;
    scenario.rules.eas = true;
    const auto elsewhere = [&] {
        std::int64_t ns = 0;
        const auto on = main_on_clusters(scenario, "sync");
        for (std::size_t c = 0; c < on.size(); ++c) ns += c == home ? 0 : on[c];
        return ns;
    };
    EXPECT_GT(elsewhere(), 0);
    scenario.main.pinned = true;
    EXPECT_EQ(elsewhere(), 0);
}

TEST(Switches, ACheckOfAllDependenciesCostsMore) {
    Scenario scenario = small(200);
    scenario.costs[index_of(Phase::suspend)].check_ns = 10'000;
    const auto suspend_ns = [&] { return replicate_of(scenario, "breadth-first"); };
    const std::int64_t stopping = suspend_ns();
    scenario.checks_all = true;
    EXPECT_GT(suspend_ns(), stopping);
}

TEST(Switches, WakeAffinityMatters) {
    Scenario scenario = small(120);
    scenario.rules.eas = false;
    const auto result = [&] { return Model{scenario, parse_policy("old")}.run({1, 0}, {}); };
    const Result affine = result();
    scenario.rules.wake_affine = false;
    EXPECT_NE(result(), affine);
}

}  // namespace
}  // namespace torpor::dpm
