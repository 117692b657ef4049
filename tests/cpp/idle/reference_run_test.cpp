// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "reference_board.hpp"
#include "torpor/engine/timeline.hpp"
#include "torpor/idle/cpu_loop.hpp"
#include "torpor/idle/model.hpp"

namespace torpor::idle {
namespace {

struct Row {
    const char* policy;
    int hz;
    std::array<std::int64_t, 3> residency_ns;
    std::array<std::int64_t, 3> entries;
    std::int64_t ticks;
    std::int64_t restarts;
};

std::ostream& operator<<(std::ostream& out, const Row& row) {
    return out << row.policy << " at HZ " << row.hz;
}

CpuResult run(const Scenario& scenario, const std::string& policy) {
    Model model{scenario, parse_policy(policy)};
    return model.run(StreamKey{}, {}).cpus.front();
}

class ReferenceRun : public testing::TestWithParam<Row> {};

// The deterministic results of the reference cost model, every row to the nanosecond.
TEST_P(ReferenceRun, EqualsTheIndependentImplementations) {
    const Row& row = GetParam();
    const CpuResult result = run(reference::scenario(reference::hi6220(row.hz)), row.policy);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(result.states[i].residency_ns, row.residency_ns[i]) << "state " << i;
        EXPECT_EQ(result.states[i].usage, row.entries[i]) << "state " << i;
    }
    EXPECT_EQ(result.ticks, row.ticks);
    EXPECT_EQ(result.tick_restarts_in_loop, row.restarts);
}

constexpr std::array<std::int64_t, 3> kStuck{1967986000, 7936560000, 47393000};
constexpr std::array<std::int64_t, 3> kRestarted{2047537000, 0, 7856076000};
constexpr std::array<std::int64_t, 3> kDeep{1967986000, 0, 7984403000};
constexpr std::array<std::int64_t, 3> kSeven{1961147000, 0, 7991403000};
constexpr std::array<std::int64_t, 3> kTeo{1960150000, 0, 7992423000};
constexpr std::array<std::int64_t, 3> kLadder{1657568000, 8294555000, 0};

INSTANTIATE_TEST_SUITE_P(
    Hz1000, ReferenceRun,
    testing::Values(Row{"menu(version=4.18)", 1000, kStuck, {1998, 397, 2}, 8, 0},
                    Row{"menu(version=4.18+P1)", 1000, kStuck, {1998, 397, 2}, 8, 0},
                    Row{"menu(version=4.18+P2)", 1000, kStuck, {1998, 397, 2}, 8, 0},
                    Row{"menu(version=4.18, loop=leo)", 1000, kRestarted, {4096, 0, 413}, 2160, 213},
                    Row{"menu(version=4.18+P1, loop=leo)", 1000, kRestarted, {4096, 0, 413}, 2160, 213},
                    Row{"menu(version=4.18+P2, loop=leo)", 1000, kRestarted, {4096, 0, 413}, 2160, 213},
                    Row{"menu(version=4.18+rjw-reply)", 1000, kDeep, {1998, 0, 399}, 8, 0},
                    Row{"menu(version=4.18+leo-reply)", 1000, kDeep, {1998, 0, 399}, 8, 0},
                    Row{"menu(version=4.19)", 1000, kDeep, {1998, 0, 399}, 8, 0},
                    Row{"menu(version=6.1)", 1000, kDeep, {1998, 0, 399}, 8, 0},
                    Row{"menu(version=6.1.192)", 1000, {1967009000, 0, 7985403000}, {1997, 0, 399}, 7, 0},
                    Row{"menu(version=6.12.117)", 1000, kSeven, {1991, 0, 399}, 1, 0},
                    Row{"menu(version=7.0)", 1000, kSeven, {1991, 0, 399}, 1, 0},
                    Row{"menu(version=7.1)", 1000, kSeven, {1991, 0, 399}, 1, 0},
                    Row{"teo(version=5.5, first_update=false)", 1000, kTeo, {1990, 0, 399}, 0, 0},
                    Row{"teo(version=6.1, first_update=false)", 1000, kTeo, {1990, 0, 399}, 0, 0},
                    Row{"teo(version=6.12.117, first_update=false)", 1000, kTeo, {1990, 0, 399}, 0, 0},
                    Row{"teo(version=7.1, first_update=false)", 1000, kTeo, {1990, 0, 399}, 0, 0},
                    Row{"teo(version=5.5)", 1000, kTeo, {1990, 0, 399}, 0, 0},
                    Row{"teo(version=6.1)", 1000, kTeo, {1990, 0, 399}, 0, 0},
                    Row{"teo(version=6.12.117)", 1000, kTeo, {1990, 0, 399}, 0, 0},
                    Row{"teo(version=7.1)", 1000, kTeo, {1990, 0, 399}, 0, 0},
                    Row{"ladder(version=6.1)", 1000, kLadder, {1595, 794, 0}, 0, 0}));

constexpr std::array<std::int64_t, 3> kDeep250{1991986000, 0, 7960403000};
constexpr std::array<std::int64_t, 3> kRestarted250{2063714000, 226570000, 7646708000};
constexpr std::array<std::int64_t, 3> kSeven250{1964147000, 0, 7988403000};

INSTANTIATE_TEST_SUITE_P(
    Hz250, ReferenceRun,
    testing::Values(
        Row{"menu(version=4.18)", 250, kDeep250, {1998, 0, 399}, 8, 0},
        Row{"menu(version=4.18+P1)", 250, kDeep250, {1998, 0, 399}, 8, 0},
        Row{"menu(version=4.18+P2)", 250, kDeep250, {1998, 0, 399}, 8, 0},
        Row{"menu(version=4.18+rjw-reply)", 250, kDeep250, {1998, 0, 399}, 8, 0},
        Row{"menu(version=4.18+leo-reply)", 250, kDeep250, {1998, 0, 399}, 8, 0},
        Row{"menu(version=4.19)", 250, kDeep250, {1998, 0, 399}, 8, 0},
        Row{"menu(version=6.1)", 250, kDeep250, {1998, 0, 399}, 8, 0},
        Row{"menu(version=6.1.192)", 250, {1988009000, 0, 7964403000}, {1997, 0, 399}, 7, 0},
        Row{"menu(version=4.18, loop=leo)", 250, kRestarted250, {2567, 83, 406}, 715, 206},
        Row{"menu(version=4.18+P1, loop=leo)", 250, kRestarted250, {2567, 83, 406}, 715, 206},
        Row{"menu(version=4.18+P2, loop=leo)", 250, {2028146000, 0, 7912491000}, {2503, 0, 403}, 526, 203},
        Row{"menu(version=6.12.117)", 250, kSeven250, {1991, 0, 399}, 1, 0},
        Row{"menu(version=7.0)", 250, kSeven250, {1991, 0, 399}, 1, 0},
        Row{"menu(version=7.1)", 250, {2753177000, 0, 7199373000}, {2189, 0, 201}, 1, 0},
        Row{"teo(version=5.5, first_update=false)", 250, kTeo, {1990, 0, 399}, 0, 0},
        Row{"teo(version=6.1, first_update=false)", 250, kTeo, {1990, 0, 399}, 0, 0},
        Row{"teo(version=6.12.117, first_update=false)", 250, kTeo, {1990, 0, 399}, 0, 0},
        Row{"teo(version=7.1, first_update=false)", 250, {2749180000, 0, 7203370000}, {2188, 0, 202}, 1, 0},
        Row{"teo(version=5.5)", 250, kTeo, {1990, 0, 399}, 0, 0},
        Row{"teo(version=6.1)", 250, kTeo, {1990, 0, 399}, 0, 0},
        Row{"teo(version=6.12.117)", 250, kTeo, {1990, 0, 399}, 0, 0},
        Row{"teo(version=7.1)", 250, {2749180000, 0, 7203393000}, {2188, 0, 201}, 0, 0},
        Row{"ladder(version=6.1)", 250, kLadder, {1595, 794, 0}, 0, 0}));

TEST(ReferenceRunControls, BoardsWithDeeperResidenciesStickElsewhere) {
    const CpuResult hz1000 = run(reference::scenario(reference::hi3660_a73(1000)), "menu(version=4.18)");
    EXPECT_EQ(hz1000.states[0].residency_ns, 9904299000);
    EXPECT_EQ(hz1000.states[1].residency_ns, 0);
    EXPECT_EQ(hz1000.states[2].residency_ns, 47393000);
    const CpuResult hz300 = run(reference::scenario(reference::hi3660_a73(300)), "menu(version=4.18)");
    EXPECT_EQ(hz300.states[0].residency_ns, 1986652664);
    EXPECT_EQ(hz300.states[1].residency_ns, 7936560000);
    EXPECT_EQ(hz300.states[2].residency_ns, 28726336);
}

// The golden cycle of menu 4.18 at HZ 1000: the 4 ms gap in C1, ten gaps of 1 ms in C0, 36 ms in C1.
TEST(ReferenceRunCycle, StatesAndTimesAreThoseOfTheGoldenCycle) {
    engine::VectorSink sink;
    Model model{reference::scenario(reference::hi6220(1000)), parse_policy("menu(version=4.18)")};
    model.run(StreamKey{}, {}, &sink);
    std::vector<std::pair<std::int64_t, std::int64_t>> seen;
    for (const engine::TimelineRecord& record : sink.records()) {
        const std::int64_t selected_ns = to_ns(record.at) - 6000;
        if (record.kind != static_cast<std::uint16_t>(TimelineKind::enter_state)) continue;
        if (selected_ns < 1001010000 || selected_ns > 1051047000) continue;
        seen.emplace_back(selected_ns, record.value);
    }
    std::vector<std::pair<std::int64_t, std::int64_t>> golden{{1001010000, 1}};
    for (int i = 0; i < 10; ++i) golden.emplace_back(1005265000 + i * 1008000, 0);
    golden.emplace_back(1015345000, 1);
    golden.emplace_back(1051047000, 1);
    EXPECT_EQ(seen, golden);
}

struct Phase {
    std::int64_t phase_us;
    double c0_s;
    double c2_s;
};

// The result of the patched kernel depends on where the IPI falls between two ticks.
TEST(ReferenceRunPhases, ThePatchedKernelDependsOnThePhaseOfTheIpi) {
    for (const Phase& phase :
         {Phase{0, 2.41, 7.48}, Phase{25, 3.38, 6.49}, Phase{75, 2.40, 7.49}, Phase{500, 1.92, 7.98}}) {
        const Scenario scenario =
            reference::scenario(reference::hi6220(1000), 50000000 + phase.phase_us * 1000, 50000000);
        const CpuResult result = run(scenario, "menu(version=4.18+P1, loop=leo)");
        EXPECT_NEAR(static_cast<double>(result.states[0].residency_ns) * 1e-9, phase.c0_s, 0.006)
            << phase.phase_us;
        EXPECT_NEAR(static_cast<double>(result.states[2].residency_ns) * 1e-9, phase.c2_s, 0.006)
            << phase.phase_us;
    }
}

// With no cost of leaving an interrupt, 1 ms timers arrive exactly at the residency of cpu-sleep.
TEST(ReferenceRunKnifeEdge, WithoutExitCostOnlyBothPatchesTogetherHelp) {
    Scenario scenario = reference::scenario(reference::hi6220(1000));
    scenario.board.idle_costs.interrupt_exit = from_ns(0);
    for (const char* policy :
         {"menu(version=4.18)", "menu(version=4.18+P1)", "menu(version=4.18, loop=leo)"}) {
        const CpuResult result = run(scenario, policy);
        EXPECT_NEAR(static_cast<double>(result.states[0].residency_ns) * 1e-9, 0.008, 0.0006) << policy;
        EXPECT_NEAR(static_cast<double>(result.states[1].residency_ns) * 1e-9, 9.921, 0.0006) << policy;
        EXPECT_NEAR(static_cast<double>(result.states[2].residency_ns) * 1e-9, 0.047, 0.0006) << policy;
    }
    const CpuResult both = run(scenario, "menu(version=4.18+P1, loop=leo)");
    EXPECT_NEAR(static_cast<double>(both.states[0].residency_ns) * 1e-9, 2.372, 0.0006);
    EXPECT_NEAR(static_cast<double>(both.states[1].residency_ns) * 1e-9, 0.143, 0.0006);
    EXPECT_NEAR(static_cast<double>(both.states[2].residency_ns) * 1e-9, 7.429, 0.0006);
}

}  // namespace
}  // namespace torpor::idle
