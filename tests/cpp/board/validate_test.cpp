// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "sample_board.hpp"
#include "torpor/base/error.hpp"
#include "torpor/board/board.hpp"

namespace torpor::board {
namespace {

// What validate() says of a board: "key: message", or nothing when it is content.
std::string complaint(const Board& board) {
    try {
        validate(board);
    } catch (const ConfigError& error) {
        EXPECT_EQ(std::string{error.what()}.rfind(error.key() + ": ", 0), 0U) << error.what();
        return error.what();
    }
    return "";
}

class Validate : public testing::Test {
  protected:
    Board board_ = sample_board();
    Cluster& little() { return board_.clusters[0]; }
    IdleState& state(std::size_t i) { return little().idle_states[i]; }
};

TEST_F(Validate, AcceptsTheSampleBoard) {
    EXPECT_EQ(complaint(board_), "");
}

TEST_F(Validate, AcceptsEqualResidenciesAsSkylakeHasThem) {
    state(2).target_residency = state(1).target_residency;
    EXPECT_EQ(complaint(board_), "");
}

TEST_F(Validate, AcceptsAResidencyBelowTheLatencyAsBayTrailHasIt) {
    state(1).exit_latency = from_us(1200);
    EXPECT_EQ(complaint(board_), "");
}

TEST_F(Validate, AcceptsATableWithoutAnyPower) {
    for (IdleState& each : little().idle_states) {
        each.power.reset();
        each.cluster_power.reset();
    }
    EXPECT_EQ(complaint(board_), "");
}

TEST_F(Validate, AcceptsAClusterWithoutOperatingPoints) {
    little().opps.clear();
    EXPECT_EQ(complaint(board_), "");
}

TEST_F(Validate, AcceptsAFirstStateThatPolls) {
    state(0).polling = true;
    state(0).exit_latency = from_us(0);
    state(0).target_residency = from_us(0);
    EXPECT_EQ(complaint(board_), "");
}

TEST_F(Validate, AcceptsTheLimitsOfHz) {
    board_.tick_hz = 1;
    EXPECT_EQ(complaint(board_), "");
    board_.tick_hz = 10000;
    EXPECT_EQ(complaint(board_), "");
}

TEST_F(Validate, RefusesHzZero) {
    board_.tick_hz = 0;
    EXPECT_EQ(complaint(board_), "tick.hz: value 0 is outside the limits 1..10000");
}

TEST_F(Validate, RefusesHzAboveTenThousand) {
    board_.tick_hz = 10001;
    EXPECT_EQ(complaint(board_), "tick.hz: value 10001 is outside the limits 1..10000");
}

TEST_F(Validate, RefusesABoardWithoutAName) {
    board_.name.clear();
    EXPECT_EQ(complaint(board_), "name: value \"\" is empty, limit: at least one character");
}

TEST_F(Validate, RefusesABoardWithoutClusters) {
    board_.clusters.clear();
    EXPECT_EQ(complaint(board_), "clusters: value has 0 clusters, limit: at least 1");
}

TEST_F(Validate, RefusesAClusterWithoutAName) {
    board_.clusters[1].name.clear();
    EXPECT_EQ(complaint(board_), "clusters[1].name: value \"\" is empty, limit: at least one character");
}

TEST_F(Validate, RefusesTwoClustersOfOneName) {
    board_.clusters[1].name = "little";
    EXPECT_EQ(complaint(board_),
              "clusters[1].name: value \"little\" is taken by an earlier cluster, limit: one cluster for "
              "each name");
}

TEST_F(Validate, RefusesAClusterWithoutCpus) {
    little().cpus.clear();
    EXPECT_EQ(complaint(board_), "clusters[0].cpus: value has 0 CPUs, limit: at least 1");
}

TEST_F(Validate, RefusesACpuInTwoClusters) {
    board_.clusters[1].cpus = {1, 3};
    EXPECT_EQ(complaint(board_),
              "clusters[1].cpus[0]: value 1 is already in clusters[0], limit: one cluster for each CPU");
}

TEST_F(Validate, RefusesAGapInTheCpuNumbers) {
    board_.clusters[1].cpus = {2, 4};
    EXPECT_EQ(complaint(board_),
              "clusters[1].cpus[1]: value 4 is outside the limits 0..3 of a board with 4 CPUs");
}

TEST_F(Validate, RefusesANegativeCpu) {
    board_.clusters[1].cpus = {-1, 3};
    EXPECT_EQ(complaint(board_),
              "clusters[1].cpus[0]: value -1 is outside the limits 0..3 of a board with 4 CPUs");
}

TEST_F(Validate, RefusesCapacityZero) {
    little().capacity = 0;
    EXPECT_EQ(complaint(board_), "clusters[0].capacity: value 0 is outside the limits 1..1024");
}

TEST_F(Validate, RefusesACapacityAboveTheScale) {
    little().capacity = 1025;
    EXPECT_EQ(complaint(board_), "clusters[0].capacity: value 1025 is outside the limits 1..1024");
}

TEST_F(Validate, RefusesAnEmptyIdleTable) {
    little().idle_states.clear();
    EXPECT_EQ(complaint(board_), "clusters[0].idle_states: value has 0 states, limit: at least 1");
}

TEST_F(Validate, AcceptsTenStatesAndRefusesEleven) {
    const auto add = [&] {
        IdleState copy = state(2);
        copy.name = std::to_string(little().idle_states.size());
        little().idle_states.push_back(copy);
    };
    while (little().idle_states.size() < kMaxIdleStates) add();
    EXPECT_EQ(complaint(board_), "");
    add();
    EXPECT_EQ(complaint(board_), "clusters[0].idle_states: value has 11 states, limit 10");
}

TEST_F(Validate, RefusesAStateWithoutAName) {
    state(1).name.clear();
    EXPECT_EQ(complaint(board_),
              "clusters[0].idle_states[1].name: value \"\" is empty, limit: at least one character");
}

TEST_F(Validate, RefusesTwoStatesOfOneName) {
    state(1).name = state(0).name;
    EXPECT_EQ(complaint(board_),
              "clusters[0].idle_states[1].name: value \"WFI\" is also the name of state 0");
}

TEST_F(Validate, RefusesANameThatATerminalCannotShow) {
    for (const char* name : {"a\nb", "\x1b[31m", "[bold]", "\xc3\xa9"}) {
        state(1).name = name;
        EXPECT_EQ(complaint(board_),
                  "clusters[0].idle_states[1].name: value is no name, limit: 64 printable ASCII "
                  "characters without brackets");
    }
}

TEST_F(Validate, RefusesADeeperStateThatWakesFaster) {
    state(2).wake_latency = from_us(900);
    EXPECT_NE(complaint(board_).find("clusters[0].idle_states[2].wake_latency_us"), std::string::npos);
}

TEST_F(Validate, RefusesAClusterPowerThatChangesWithoutAVote) {
    state(1).cluster_power = Power::mw(49);
    EXPECT_NE(complaint(board_).find("clusters[0].idle_states[1].cluster_power_mw: value 49, limit: 50"),
              std::string::npos);
}

TEST_F(Validate, RefusesAPollingStateThatIsNotTheFirst) {
    state(1).polling = true;
    EXPECT_EQ(complaint(board_),
              "clusters[0].idle_states[1].polling: value true at index 1, limit: only index 0 may poll");
}

TEST_F(Validate, RefusesASecondPollingState) {
    state(0).polling = true;
    state(1).polling = true;
    EXPECT_EQ(complaint(board_),
              "clusters[0].idle_states[1].polling: value true at index 1, limit: only index 0 may poll");
}

TEST_F(Validate, RefusesANegativeEntryLatency) {
    state(1).entry_latency = from_us(-700);
    EXPECT_EQ(complaint(board_), "clusters[0].idle_states[1].entry_us: value -700 us is below the limit 0");
}

TEST_F(Validate, RefusesANegativeWakeLatency) {
    state(1).wake_latency = from_ns(-1500);
    EXPECT_EQ(complaint(board_),
              "clusters[0].idle_states[1].wake_latency_us: value -1.5 us is below the limit 0");
}

TEST_F(Validate, RefusesANegativeExitLatency) {
    state(0).exit_latency = from_us(-1);
    EXPECT_EQ(complaint(board_),
              "clusters[0].idle_states[0].exit_latency_us: value -1 us is below the limit 0");
}

TEST_F(Validate, RefusesANegativeTargetResidency) {
    state(0).target_residency = from_us(-1);
    EXPECT_EQ(complaint(board_),
              "clusters[0].idle_states[0].target_residency_us: value -1 us is below the limit 0");
}

TEST_F(Validate, RefusesATimeThatTheKernelCouldNotHold) {
    state(2).target_residency = kMaxStateTime;
    EXPECT_EQ(complaint(board_), "");
    state(2).target_residency = kMaxStateTime + from_us(1);
    EXPECT_EQ(
        complaint(board_),
        "clusters[0].idle_states[2].target_residency_us: value 2147483648 us is above the limit 2147483647");
}

TEST_F(Validate, RefusesATargetResidencyThatFallsWithDepth) {
    state(2).target_residency = from_us(999);
    EXPECT_EQ(
        complaint(board_),
        "clusters[0].idle_states[2].target_residency_us: value 999 us is below that of the shallower state, "
        "limit 1000");
}

TEST_F(Validate, RefusesADeeperStateThatIsCheaperToLeave) {
    state(2).exit_latency = from_us(949);
    EXPECT_EQ(complaint(board_),
              "clusters[0].idle_states[2].exit_latency_us: value 949 us is below that of the shallower "
              "state, limit "
              "950");
}

TEST_F(Validate, RefusesNegativePowerOfAState) {
    state(1).power = Power::mw(-0.5);
    EXPECT_EQ(complaint(board_), "clusters[0].idle_states[1].power_mw: value -0.5 mW is below the limit 0");
}

TEST_F(Validate, RefusesPowerOfAStateThatIsNotANumber) {
    state(1).power = Power::mw(std::numeric_limits<double>::quiet_NaN());
    EXPECT_EQ(complaint(board_),
              "clusters[0].idle_states[1].power_mw: value nan mW is not finite, limit: a number");
}

TEST_F(Validate, RefusesInfiniteClusterPowerOfAState) {
    state(1).cluster_power = Power::mw(std::numeric_limits<double>::infinity());
    EXPECT_EQ(complaint(board_),
              "clusters[0].idle_states[1].cluster_power_mw: value inf mW is not finite, limit: a number");
}

TEST_F(Validate, RefusesPowerOnOnlySomeStates) {
    state(2).power.reset();
    EXPECT_EQ(
        complaint(board_),
        "clusters[0].idle_states[2].power_mw: value missing, but 2 of 3 rows have one; limit: all rows of a "
        "table or none");
}

TEST_F(Validate, RefusesClusterPowerOnOnlySomeStates) {
    state(0).cluster_power.reset();
    EXPECT_EQ(complaint(board_),
              "clusters[0].idle_states[0].cluster_power_mw: value missing, but 2 of 3 rows have one; limit: "
              "all rows "
              "of a table or none");
}

TEST_F(Validate, RefusesFrequencyZero) {
    little().opps[0].frequency = Frequency::khz(0);
    EXPECT_EQ(complaint(board_), "clusters[0].opps[0].freq_khz: value 0 kHz must be above the limit 0");
}

TEST_F(Validate, RefusesANegativeFrequency) {
    little().opps[0].frequency = Frequency::khz(-100);
    EXPECT_EQ(complaint(board_), "clusters[0].opps[0].freq_khz: value -100 kHz must be above the limit 0");
}

TEST_F(Validate, RefusesOperatingPointsThatDoNotAscend) {
    little().opps[1].frequency = Frequency::khz(500000);
    EXPECT_EQ(
        complaint(board_),
        "clusters[0].opps[1].freq_khz: value 500000 kHz must be above that of the point before it, 500000");
}

TEST_F(Validate, RefusesNegativePowerOfAnOperatingPoint) {
    little().opps[1].power = Power::mw(-1);
    EXPECT_EQ(complaint(board_), "clusters[0].opps[1].power_mw: value -1 mW is below the limit 0");
}

TEST_F(Validate, RefusesPowerOnOnlySomeOperatingPoints) {
    little().opps[0].power.reset();
    EXPECT_EQ(complaint(board_),
              "clusters[0].opps[0].power_mw: value missing, but 1 of 2 rows have one; limit: all rows of a "
              "table or "
              "none");
}

TEST_F(Validate, RefusesClusterPowerOnOnlySomeOperatingPoints) {
    little().opps[1].cluster_power.reset();
    EXPECT_EQ(
        complaint(board_),
        "clusters[0].opps[1].cluster_power_mw: value missing, but 1 of 2 rows have one; limit: all rows of a "
        "table or none");
}

TEST_F(Validate, LooksAtEveryCluster) {
    board_.clusters[1].idle_states[2].target_residency = from_us(10);
    EXPECT_EQ(
        complaint(board_),
        "clusters[1].idle_states[2].target_residency_us: value 10 us is below that of the shallower state, "
        "limit 1000");
}

struct Cost {
    Duration IdleCosts::*member;
    const char* key;
};

class ValidateCosts : public testing::TestWithParam<Cost> {};

TEST_P(ValidateCosts, RefusesANegativeCost) {
    Board board = sample_board();
    board.idle_costs.*(GetParam().member) = from_ns(-1);
    EXPECT_EQ(complaint(board),
              std::string{"idle_costs."} + GetParam().key + ": value -1 ns is below the limit 0");
}

INSTANTIATE_TEST_SUITE_P(EveryCost, ValidateCosts,
                         testing::Values(Cost{&IdleCosts::select_to_entry, "select_to_entry_ns"},
                                         Cost{&IdleCosts::ipi_handler, "ipi_handler_ns"},
                                         Cost{&IdleCosts::timer_handler, "timer_handler_ns"},
                                         Cost{&IdleCosts::tick_handler, "tick_handler_ns"},
                                         Cost{&IdleCosts::interrupt_exit, "interrupt_exit_ns"},
                                         Cost{&IdleCosts::reflect, "reflect_ns"}),
                         [](const testing::TestParamInfo<Cost>& cost) {
                             return std::string{cost.param.key};
                         });

}  // namespace
}  // namespace torpor::board
