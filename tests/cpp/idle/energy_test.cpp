// SPDX-License-Identifier: MIT
#include "torpor/idle/energy.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace torpor::idle {
namespace {

constexpr std::int64_t kSecond = 1000000000;

/// Two CPUs in one cluster: WFI 10 mW, CPU off 2 mW, cluster off 0 mW; the cluster takes 40 mW until it is
/// off; busy 100 + 50.
board::Board two_cpus() {
    board::Cluster cluster;
    cluster.name = "c";
    cluster.cpus = {0, 1};
    cluster.opps = {{Frequency::mhz(1000), Power::mw(100), Power::mw(50)}};
    const std::array<double, 3> cpu_mw{10, 2, 0};
    const std::array<double, 3> cluster_mw{40, 40, 0};
    const std::array<std::int64_t, 3> residency_us{1, 1000, 3000};
    for (std::size_t i = 0; i < 3; ++i) {
        board::IdleState state;
        state.name = std::to_string(i);
        state.target_residency = from_us(residency_us[i]);
        state.power = Power::mw(cpu_mw[i]);
        state.cluster_power = Power::mw(cluster_mw[i]);
        cluster.idle_states.push_back(state);
    }
    cluster.idle_states[2].cluster = true;
    return {"two", 250, {cluster}, {}};
}

const std::vector<std::size_t> kFirstOpp{0};

// CPU: T1 = (10 - 2) mW * 1 ms = 8 uJ, T2 = T1 + 2 mW * 3 ms = 14 uJ. Cluster: T2 = 40 mW * 3 ms = 120 uJ.
TEST(ClusterPower, TransitionEnergyFollowsFromTheTargetResidency) {
    const auto power = ClusterPower::make(two_cpus().clusters[0], 0);
    ASSERT_TRUE(power);
    EXPECT_DOUBLE_EQ(power->cpu_transition_mj(0), 0.0);
    EXPECT_DOUBLE_EQ(power->cpu_transition_mj(1), 0.008);
    EXPECT_DOUBLE_EQ(power->cpu_transition_mj(2), 0.014);
    EXPECT_DOUBLE_EQ(power->cluster_transition_mj(1), 0.0);
    EXPECT_DOUBLE_EQ(power->cluster_transition_mj(2), 0.120);
}

TEST(ClusterPower, NeighbouringStatesCostTheSameAtTheTargetResidency) {
    const auto power = ClusterPower::make(two_cpus().clusters[0], 0);
    ASSERT_TRUE(power);
    EXPECT_NEAR(power->period_mj(0, 1000000), power->period_mj(1, 1000000), 1e-12);
    EXPECT_NEAR(power->period_mj(1, 3000000), power->period_mj(2, 3000000), 1e-12);
    EXPECT_LT(power->period_mj(2, 3000001), power->period_mj(1, 3000001));
}

TEST(ClusterPower, IsUnknownWhenTheTableHasNone) {
    board::Board board = two_cpus();
    board.clusters[0].idle_states[1].power.reset();
    EXPECT_FALSE(ClusterPower::make(board.clusters[0], 0));
    board = two_cpus();
    board.clusters[0].opps.clear();
    EXPECT_FALSE(ClusterPower::make(board.clusters[0], 0));
}

TEST(EnergyLedger, BusyCpusTakeTheirOperatingPoint) {
    EnergyLedger ledger{two_cpus(), kFirstOpp};
    ledger.finish(kSecond);
    EXPECT_DOUBLE_EQ(ledger.total_mj(), 2 * 100 + 50);
    EXPECT_DOUBLE_EQ(ledger.cpu_mj(0), 100 + 25);
}

TEST(EnergyLedger, TheClusterStaysUpUntilItsLastCpuAllowsIt) {
    EnergyLedger ledger{two_cpus(), kFirstOpp};
    ledger.enter(0, 2, 0);
    ledger.enter(1, 2, kSecond);
    ledger.finish(3 * kSecond);
    EXPECT_EQ(ledger.cluster_off_ns(0), 2 * kSecond);
    // One second with CPU 1 busy and the cluster at its operating point; two entries, the cluster down once.
    EXPECT_NEAR(ledger.total_mj(), 100 + 50 + 2 * 0.014 + 0.120, 1e-9);
}

TEST(EnergyLedger, TheShallowestIdleCpuDecidesForItsCluster) {
    EnergyLedger ledger{two_cpus(), kFirstOpp};
    ledger.enter(0, 2, 0);
    ledger.enter(1, 1, 0);
    ledger.finish(kSecond);
    EXPECT_EQ(ledger.cluster_off_ns(0), 0);
    EXPECT_NEAR(ledger.total_mj(), 2 + 40 + 0.014 + 0.008, 1e-9);
}

TEST(EnergyLedger, TheClusterComesUpWithItsFirstCpu) {
    EnergyLedger ledger{two_cpus(), kFirstOpp};
    ledger.enter(0, 2, 0);
    ledger.enter(1, 2, 0);
    ledger.leave(0, kSecond);
    ledger.enter(0, 2, 2 * kSecond);
    ledger.finish(3 * kSecond);
    EXPECT_EQ(ledger.cluster_off_ns(0), 2 * kSecond);
    EXPECT_NEAR(ledger.total_mj(), 100 + 50 + 3 * 0.014 + 2 * 0.120, 1e-9);
}

TEST(EnergyLedger, TheCpusAddUpToTheTotal) {
    EnergyLedger ledger{two_cpus(), kFirstOpp};
    ledger.enter(0, 2, 0);
    ledger.enter(1, 0, kSecond / 2);
    ledger.leave(0, kSecond);
    ledger.leave(1, 2 * kSecond);
    ledger.finish(3 * kSecond);
    EXPECT_NEAR(ledger.cpu_mj(0) + ledger.cpu_mj(1), ledger.total_mj(), 1e-9);
}

// 2 ms of both idle cost 80 uJ up and 120 uJ down; 4 ms cost 160 uJ up.
TEST(EnergyLedger, HindsightTakesTheClusterDownWhenThatPays) {
    for (const auto& [length_ns, mj, off_ns] :
         {std::tuple{2000000L, 0.080, 0L}, std::tuple{4000000L, 0.120, 4000000L}}) {
        EnergyLedger ledger{two_cpus(), kFirstOpp, Coordination::hindsight};
        ledger.enter(0, 1, 0);
        ledger.enter(1, 1, 0);
        ledger.finish(length_ns);
        EXPECT_EQ(ledger.cluster_off_ns(0), off_ns);
        EXPECT_NEAR(ledger.total_mj(), 2 * 0.008 + 2 * 2 * static_cast<double>(length_ns) * 1e-9 + mj, 1e-9);
    }
}

TEST(EnergyLedger, HindsightKeepsTheLatencyLimitAndDisabledStates) {
    board::Board board = two_cpus();
    board.clusters[0].idle_states[2].exit_latency = from_us(1500);
    const std::vector<std::uint32_t> none{0};
    const std::vector<std::uint32_t> deepest{0b100};
    for (const auto& [disabled, limit_us, off_ns] :
         {std::tuple{none, 1499L, 0L}, std::tuple{none, 1500L, kSecond}, std::tuple{deepest, 1500L, 0L}}) {
        EnergyLedger ledger{board, kFirstOpp, Coordination::hindsight, disabled, limit_us};
        ledger.enter(0, 1, 0);
        ledger.enter(1, 1, 0);
        ledger.finish(kSecond);
        EXPECT_EQ(ledger.cluster_off_ns(0), off_ns) << limit_us;
    }
}

TEST(EnergyLedger, StartsAnewAfterReset) {
    EnergyLedger ledger{two_cpus(), kFirstOpp};
    ledger.enter(0, 2, 0);
    ledger.finish(kSecond);
    ledger.reset(0);
    ledger.finish(kSecond);
    EXPECT_DOUBLE_EQ(ledger.total_mj(), 250);
}

}  // namespace
}  // namespace torpor::idle
