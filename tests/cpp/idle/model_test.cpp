// SPDX-License-Identifier: MIT
#include "torpor/idle/model.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "reference_board.hpp"
#include "torpor/base/error.hpp"
#include "torpor/engine/timeline.hpp"
#include "torpor/idle/cpu_loop.hpp"

namespace torpor::idle {
namespace {

const std::vector<std::string> kGovernors{"menu(version=4.18)", "menu(version=4.18+P1, loop=leo)",
                                          "menu(version=4.19)", "menu(version=6.1.192)",
                                          "menu(version=7.1)",  "teo(version=5.5)",
                                          "teo(version=6.1)",   "teo(version=7.1)",
                                          "ladder(version=6.1)"};

/// Two clusters of two CPUs with power, lognormal interrupts on all of them, timers on one, tasks on another.
Scenario busy_scenario(int hz) {
    Scenario scenario;
    scenario.board.name = "busy";
    scenario.board.tick_hz = hz;
    scenario.board.idle_costs = reference::costs();
    for (int c = 0; c < 2; ++c) {
        board::Cluster cluster = reference::hi6220(hz).clusters.front();
        cluster.name = "cluster" + std::to_string(c);
        cluster.cpus = {2 * c, 2 * c + 1};
        cluster.opps = {{Frequency::mhz(1200), Power::mw(670), Power::mw(112)}};
        const std::array<double, 3> cpu_mw{15, 0, 0};
        const std::array<double, 3> cluster_mw{47, 47, 0};
        for (std::size_t i = 0; i < 3; ++i) {
            cluster.idle_states[i].power = Power::mw(cpu_mw[i]);
            cluster.idle_states[i].cluster_power = Power::mw(cluster_mw[i]);
        }
        scenario.board.clusters.push_back(cluster);
    }
    for (int cpu = 0; cpu < 4; ++cpu) {
        Source source;
        source.name = "irq" + std::to_string(cpu);
        source.cpu = cpu;
        source.arrivals = LognormalArrivals{2000000, 1.5};
        source.task_run_ns = cpu == 2 ? 150000 : 0;
        scenario.sources.push_back(source);
    }
    Source timer;
    timer.name = "timer";
    timer.cpu = 1;
    timer.kind = SourceKind::hrtimer;
    timer.arrivals = PeriodicArrivals{3000000, 0, 2999999, 0};
    scenario.sources.push_back(timer);
    Source wheel = timer;
    wheel.name = "wheel";
    wheel.cpu = 3;
    wheel.kind = SourceKind::wheel;
    wheel.arrivals = PeriodicArrivals{40000000, 0, 39999999, 0};
    scenario.sources.push_back(wheel);
    scenario.duration_ns = 2000000000;
    scenario.disabled = {0, 0};
    scenario.opps = {0, 0};
    return scenario;
}

Result run(const Scenario& scenario, const std::string& policy, std::uint64_t replicate = 0) {
    Model model{scenario, parse_policy(policy)};
    return model.run(StreamKey{1, replicate}, {});
}

TEST(IdleModel, RunsOfOneKeyAreEqualWhateverRanBefore) {
    Model model{busy_scenario(250), parse_policy("menu(version=6.1.192)")};
    const Result first = model.run(StreamKey{1, 5}, {});
    model.run(StreamKey{1, 6}, {});
    EXPECT_EQ(model.run(StreamKey{1, 5}, {}), first);
}

TEST(IdleModel, ReplicatesDiffer) {
    EXPECT_NE(run(busy_scenario(250), "menu", 0), run(busy_scenario(250), "menu", 1));
}

TEST(IdleModel, AddingASourceOnOneCpuMovesNoOther) {
    Scenario more = busy_scenario(250);
    Source extra = more.sources.front();
    extra.name = "extra";
    more.sources.insert(more.sources.begin(), extra);
    const Result a = run(busy_scenario(250), "teo");
    const Result b = run(more, "teo");
    EXPECT_NE(a.cpus[0], b.cpus[0]);
    for (std::size_t cpu = 1; cpu < 4; ++cpu) EXPECT_EQ(a.cpus[cpu].states, b.cpus[cpu].states) << cpu;
}

TEST(IdleModel, AKernelFrom419OnNeverRestartsTheTickInItsLoop) {
    for (const std::string& policy : kGovernors) {
        if (policy.find("leo") != std::string::npos) continue;
        for (const CpuResult& cpu : run(busy_scenario(1000), policy).cpus) {
            EXPECT_EQ(cpu.tick_restarts_in_loop, 0) << policy;
        }
    }
}

TEST(IdleModel, WithTheTickRunningEveryIdlePeriodEndsWithinATickAndTheWakeUp) {
    Scenario scenario = busy_scenario(1000);
    engine::VectorSink sink;
    Model model{scenario, parse_policy("fixed(state=2, stop_tick=false)")};
    model.run(StreamKey{1, 0}, {}, &sink);
    std::array<Time, 4> entered{};
    int periods = 0;
    for (const engine::TimelineRecord& record : sink.records()) {
        const auto cpu = static_cast<std::size_t>(record.lane);
        if (record.kind == static_cast<std::uint16_t>(TimelineKind::enter_state)) entered[cpu] = record.at;
        if (record.kind == static_cast<std::uint16_t>(TimelineKind::leave_state)) {
            ++periods;
            EXPECT_LE(record.at - entered[cpu], from_us(1000 + 700));
        }
    }
    EXPECT_GT(periods, 4000);
}

TEST(IdleModel, ATaskLeavesTheTickRunning) {
    engine::VectorSink sink;
    Model model{busy_scenario(250), parse_policy("ladder")};
    model.run(StreamKey{1, 0}, {}, &sink);
    bool stopped = false;
    int restarts = 0;
    int leaves = 0;
    for (const engine::TimelineRecord& record : sink.records()) {
        if (record.lane != 2) continue;
        if (record.kind == static_cast<std::uint16_t>(TimelineKind::leave_state)) ++leaves;
        if (record.kind == static_cast<std::uint16_t>(TimelineKind::tick_stop)) stopped = true;
        if (record.kind == static_cast<std::uint16_t>(TimelineKind::tick_restart)) {
            EXPECT_TRUE(stopped);
            stopped = false;
            ++restarts;
        }
    }
    EXPECT_GT(restarts, 100);
    EXPECT_GT(leaves, restarts / 2);
}

// On the reference run P changes only the stop flag, which a loop that leaves a stopped tick alone ignores.
TEST(IdleModel, PatchPAloneChangesNoStateOnTheReferenceRun) {
    for (const int hz : {100, 250, 1000}) {
        std::vector<std::vector<engine::TimelineRecord>> seen;
        for (const char* policy : {"menu(version=4.18)", "menu(version=4.18+P1)"}) {
            engine::VectorSink sink;
            Model model{reference::scenario(reference::hi6220(hz)), parse_policy(policy)};
            model.run(StreamKey{}, {}, &sink);
            seen.push_back(sink.records());
        }
        EXPECT_EQ(seen[0], seen[1]) << hz;
    }
}

TEST(IdleModel, IdleAndBusyTimeAddUpToTheRun) {
    for (const std::string& policy : kGovernors) {
        const Result result = run(busy_scenario(300), policy);
        for (const CpuResult& cpu : result.cpus) {
            const std::int64_t idle_ns = std::accumulate(
                cpu.states.begin(), cpu.states.end(), std::int64_t{0},
                [](std::int64_t sum, const StateCounters& state) { return sum + state.residency_ns; });
            EXPECT_LT(idle_ns, cpu.end_ns) << policy;
            EXPECT_GT(idle_ns, cpu.end_ns / 2) << policy;
            EXPECT_GE(cpu.end_ns, 2000000000) << policy;
        }
    }
}

TEST(IdleModel, ADisabledStateIsNotEntered) {
    Scenario scenario = busy_scenario(250);
    scenario.disabled = {0b100, 0};
    const Result result = run(scenario, "menu(version=6.1)");
    EXPECT_EQ(result.cpus[0].states[2].usage, 0);
    EXPECT_GT(result.cpus[0].states[1].usage, 0);
    EXPECT_GT(result.cpus[3].states[2].usage, 0);
}

TEST(IdleModel, ALatencyLimitKeepsDeepStatesAway) {
    Scenario scenario = busy_scenario(250);
    scenario.latency_limit_us = 1000;
    for (const char* policy : {"menu(version=7.1)", "teo(version=6.1)", "ladder", "oracle"}) {
        const Result result = run(scenario, policy);
        EXPECT_EQ(result.cpus[1].states[2].usage, 0) << policy;
        EXPECT_LE(result.latency.p50_ns, 250000 + 30000) << policy;
    }
}

TEST(IdleModel, RefusedEntriesAreCountedAndCostNoResidency) {
    Scenario scenario = busy_scenario(250);
    scenario.refusal_probability = 0.25;
    const Result result = run(scenario, "menu(version=6.1.192)");
    std::int64_t rejected = 0;
    std::int64_t usage = 0;
    for (const CpuResult& cpu : result.cpus) {
        for (const StateCounters& state : cpu.states) {
            rejected += state.rejected;
            usage += state.usage;
        }
    }
    const double share = static_cast<double>(rejected) / static_cast<double>(rejected + usage);
    EXPECT_NEAR(share, 0.25, 0.02);
    EXPECT_EQ(run(busy_scenario(250), "menu(version=6.1.192)").cpus[0].states[0].rejected, 0);
}

// Gaps longer than the wake-ups, so that being late merges no interrupts.
TEST(IdleModel, NoGovernorBeatsTheOracleOnTheSameIdlePeriods) {
    for (const int hz : {100, 250, 1000}) {
        for (const double sigma : {0.2, 0.5}) {
            Scenario scenario = busy_scenario(hz);
            scenario.sources.clear();
            for (int cpu = 0; cpu < 4; ++cpu) {
                Source source;
                source.name = "irq" + std::to_string(cpu);
                source.cpu = cpu;
                source.arrivals = LognormalArrivals{cpu < 2 ? 3000000 : 20000000, sigma};
                scenario.sources.push_back(source);
            }
            for (std::uint64_t replicate = 0; replicate < 3; ++replicate) {
                const double bound_mj = run(scenario, "oracle", replicate).energy_mj;
                for (const std::string& policy : kGovernors) {
                    EXPECT_GT(run(scenario, policy, replicate).energy_mj, bound_mj) << policy << ' ' << sigma;
                }
                EXPECT_GT(run(scenario, "fixed(state=0)", replicate).energy_mj, bound_mj) << sigma;
                EXPECT_GT(run(scenario, "fixed(state=1)", replicate).energy_mj, bound_mj) << sigma;
            }
        }
    }
}

// A grid that does not pass through zero must not keep the first select from stopping the tick.
TEST(IdleModel, TheTickCanBeStoppedAtOnceWhateverItsPhase) {
    for (const std::int64_t phase_ns : {0, 1, 1500000, 3999999}) {
        Scenario scenario = reference::scenario(reference::hi6220(250));
        scenario.tick_phase_ns = phase_ns;
        engine::VectorSink sink;
        Model model{scenario, parse_policy("ladder")};
        model.run(StreamKey{}, {}, &sink);
        ASSERT_FALSE(sink.records().empty());
        EXPECT_EQ(sink.records().front().kind, static_cast<std::uint16_t>(TimelineKind::tick_stop));
        EXPECT_EQ(sink.records().front().at, Time{}) << phase_ns;
    }
}

TEST(IdleModel, ACpuThatNothingWakesSleepsToTheEnd) {
    Scenario scenario = busy_scenario(250);
    scenario.sources.clear();
    const Result result = run(scenario, "teo(version=6.1)");
    for (const CpuResult& cpu : result.cpus) {
        EXPECT_EQ(cpu.end_ns, scenario.duration_ns);
        EXPECT_EQ(cpu.states[2].usage, 1);
        EXPECT_GT(cpu.states[2].residency_ns, scenario.duration_ns - 1000000);
    }
}

TEST(IdleModel, ALoadThatLeavesNoTimeToIdleEndsWithTheRun) {
    Scenario scenario = busy_scenario(250);
    scenario.sources[0].arrivals = PeriodicArrivals{1000, 0, 0, 0};
    scenario.sources[2].arrivals = PeriodicArrivals{100000, 0, 0, 0};
    scenario.sources[2].task_run_ns = 200000;
    const Result result = run(scenario, "menu");
    for (const std::size_t cpu : {0U, 2U}) {
        EXPECT_GE(result.cpus[cpu].end_ns, scenario.duration_ns);
        EXPECT_LT(result.cpus[cpu].end_ns, scenario.duration_ns + 1000000);
    }
}

TEST(IdleModel, TheDelayedOraclePaysForItsDelay) {
    const Scenario scenario = busy_scenario(250);
    const Result oracle = run(scenario, "oracle");
    double last_mj = oracle.energy_mj;
    for (const char* policy : {"delayed_oracle(delay_us=100)", "delayed_oracle(delay_us=1000)"}) {
        const Result delayed = run(scenario, policy);
        EXPECT_GT(delayed.energy_mj, last_mj) << policy;
        last_mj = delayed.energy_mj;
    }
}

TEST(IdleModel, EnergyIsUnknownWithoutPower) {
    Scenario scenario = busy_scenario(250);
    scenario.board.clusters[1].opps.clear();
    const Result result = run(scenario, "menu");
    EXPECT_TRUE(std::isnan(result.energy_mj));
    EXPECT_TRUE(std::isnan(result.cpus[3].energy_mj));
    EXPECT_FALSE(std::isnan(result.cpus[0].energy_mj));
}

TEST(IdleModel, APollingStateEndsAtItsTimeLimit) {
    Scenario scenario = reference::scenario(reference::hi6220(250));
    board::IdleState poll;
    poll.name = "POLL";
    poll.polling = true;
    auto& states = scenario.board.clusters[0].idle_states;
    states.insert(states.begin(), poll);
    scenario.duration_ns = 50000000;
    engine::VectorSink sink;
    Model model{scenario, parse_policy("fixed(state=0)")};
    model.run(StreamKey{}, {}, &sink);
    ASSERT_GT(sink.records().size(), 3U);
    // A sixteenth of 4 ms is 250 us; the first deeper state of at least 10 us has a residency of 1000 us.
    std::vector<engine::TimelineRecord> own;
    for (const engine::TimelineRecord& record : sink.records()) {
        if (record.kind <= static_cast<std::uint16_t>(TimelineKind::leave_state)) own.push_back(record);
    }
    EXPECT_EQ(own[1].at - own[0].at, from_us(250));
}

// The polling state gives up after 250 us; the bound pays its delay all the same.
TEST(IdleModel, TheDelayedOraclePaysInAPollingStateToo) {
    Scenario scenario = busy_scenario(250);
    for (board::Cluster& cluster : scenario.board.clusters) {
        board::IdleState poll = cluster.idle_states.front();
        poll.name = "POLL";
        poll.polling = true;
        poll.exit_latency = poll.target_residency = poll.wake_latency = from_ns(0);
        poll.power = Power::mw(300);
        cluster.idle_states.insert(cluster.idle_states.begin(), poll);
    }
    std::int64_t last_ns = 0;
    for (const char* policy : {"delayed_oracle(delay_us=100)", "delayed_oracle(delay_us=400)"}) {
        const std::int64_t polled_ns = run(scenario, policy).cpus[0].states[0].residency_ns;
        EXPECT_GT(polled_ns, 2 * last_ns);
        last_ns = polled_ns;
    }
}

TEST(IdleModel, AStopRequestEndsTheRun) {
    Scenario scenario = busy_scenario(250);
    scenario.duration_ns = 3600000000000;
    std::stop_source source;
    source.request_stop();
    Model model{scenario, parse_policy("menu")};
    EXPECT_THROW(model.run(StreamKey{}, source.get_token()), Error);
}

TEST(IdleScenario, ErrorsNameTheKeyAndTheLimit) {
    const auto message = [](const Scenario& scenario) -> std::string {
        try {
            validate(scenario);
        } catch (const ConfigError& error) {
            return error.what();
        }
        return "";
    };
    Scenario scenario = busy_scenario(250);
    EXPECT_EQ(message(scenario), "");
    scenario.duration_ns = 0;
    EXPECT_EQ(message(scenario), "duration_ns: 0 is outside 1..1000000000000000000");
    scenario = busy_scenario(250);
    scenario.sources[0].cpu = 4;
    EXPECT_EQ(message(scenario), "source 'irq0'.cpu: 4 is not on the board (0..3)");
    scenario = busy_scenario(250);
    scenario.sources[1].name = "irq0";
    EXPECT_EQ(message(scenario), "sources: two sources are named 'irq0'");
    scenario = busy_scenario(250);
    scenario.refusal_probability = 1.0;
    EXPECT_NE(message(scenario), "");
    scenario = busy_scenario(250);
    scenario.sources[0].arrivals = RecordedArrivals{{5, 4}};
    EXPECT_EQ(message(scenario), "source 'irq0'.times_ns: 5 is followed by 4: times must ascend");
    scenario = busy_scenario(250);
    scenario.sources[0].arrivals = PoissonArrivals{0};
    EXPECT_EQ(message(scenario), "source 'irq0'.mean_gap_ns: 0 is outside 1..1000000000000000000");
}

}  // namespace
}  // namespace torpor::idle
