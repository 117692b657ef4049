// SPDX-License-Identifier: MIT
// How entities share a CPU, and what they pay.
#include <gtest/gtest.h>

#include "fair_bench.hpp"

namespace torpor::sched {
namespace {

using namespace testing;

FairRules global() {
    FairRules rules = plain();
    rules.queues = Queues::global;
    return rules;
}
FairRules sliced(std::int64_t slice_ns) {
    FairRules rules = pinned();
    rules.slice_ns = slice_ns;
    return rules;
}

/// All woken at 0, in their order, each having run before on the CPU of its place.
std::string together(Bench& bench, const std::vector<Acts>& all, int cpu = 0) {
    std::vector<Entity> entities;
    for (const Acts& acts : all) entities.push_back(bench.add(cpu, acts));
    for (const Entity each : entities) bench.wake(0, each);
    bench.run();
    return bench.text();
}

TEST(GlobalQueue, GivesTheLowestIdleCpuAndThenTakesTurns) {
    Bench bench{identical(2), global()};
    EXPECT_EQ(together(bench, {{runs(5)}, {runs(3)}, {runs(4)}, {runs(1)}}),
              "1@1[0,3) 0@0[0,5) 3@0[5,6) 2@1[3,7)");
}

TEST(GlobalQueue, EndsOfOneInstantAreHandledInTheOrderOfTheirBeginnings) {
    Bench bench{identical(2), global()};
    const Entity late = bench.add(0, {runs(2)});
    const Entity early = bench.add(0, {runs(5)});
    const Entity last = bench.add(0, {runs(3)});
    bench.wake(0, late);
    bench.wake(0, early);
    bench.wake(2, last);  // on CPU 0 until 5, as CPU 1
    bench.run();
    EXPECT_EQ(bench.text(), "0@0[0,2) 1@1[0,5) 2@0[2,5)");
}

TEST(Work, TakesLongerOnASlowCpuButForItsFixedPart) {
    Bench bench{little_and_big(), pinned()};
    const Entity little = bench.add(0, {runs(10, 7)});
    const Entity big = bench.add(2, {runs(10, 7)});
    bench.wake(0, little);
    bench.wake(0, big);
    bench.run();
    EXPECT_EQ(bench.done_ns(little), 47);
    EXPECT_EQ(bench.done_ns(big), 17);
}

TEST(Work, InterruptedShrinksBothItsParts) {
    // 100 scaled and 100 fixed take 500 on the little CPU; after 250 of them 50 and 50 are left.
    FairRules rules = plain();
    rules.tick_ns = 250;
    Bench bench{little_and_big(), rules};
    const Entity heavy = bench.add(0, {runs(100, 100)});
    bench.scheduler.begin_window(heavy, 0, 230.0, false);
    const Entity other = bench.add(2, {runs(100)});
    bench.wake(0, other);
    bench.wake(0, heavy);  // no idle CPU fits it but for the big one, which is busy: CPU 0
    bench.run();
    EXPECT_EQ(bench.text(), "1@2[0,100) 0@0[0,250) 0@2[250,350)");
}

TEST(Slices, TakeTurns) {
    Bench bench{identical(1), sliced(10)};
    EXPECT_EQ(together(bench, {{runs(25)}, {runs(15)}, {runs(5)}}),
              "0@0[0,10) 1@0[10,20) 2@0[20,25) 0@0[25,35) 1@0[35,40) 0@0[40,45)");
    EXPECT_EQ(bench.scheduler.counts().preemptions, 3);
}

TEST(Slices, DoNotEndWhileNobodyWaits) {
    Bench bench{identical(1), sliced(10)};
    EXPECT_EQ(together(bench, {{runs(100)}}), "0@0[0,100)");
}

TEST(Slices, DoNotEndWhenWhoWaitedHasBeenPulledAway) {
    FairRules rules = sliced(10);
    rules.pull = true;
    Bench bench{identical(2), rules};
    const Entity runner = bench.add(0, {runs(100)});
    const Entity waiting = bench.add(0, {runs(3)});
    const Entity other = bench.add(1, {runs(5)});
    for (const Entity each : {runner, waiting, other}) bench.wake(0, each);
    bench.run();
    EXPECT_EQ(bench.text(), "2@1[0,5) 1@1[5,8) 0@0[0,100)");
    EXPECT_EQ(bench.scheduler.counts().preemptions, 0);
}

TEST(Slices, DoNotChangeTheOrderOfPiecesThatEndAtOneInstant) {
    // The one that waits from 5 on gives the first piece a slice, which is longer than the piece.
    Bench bench{identical(2), sliced(30)};
    const Entity first = bench.add(0, {runs(20)});
    const Entity second = bench.add(1, {runs(20)});
    const Entity waiting = bench.add(0, {runs(1)});
    bench.wake(0, first);
    bench.wake(0, second);
    bench.wake(5, waiting);
    bench.run();
    EXPECT_EQ(bench.text(), "0@0[0,20) 1@1[0,20) 2@0[20,21)");
}

TEST(Slices, SpanThePiecesOfARun) {
    Bench bench{identical(1), sliced(10)};
    EXPECT_EQ(together(bench, {{runs(4), runs(4), runs(4)}, {runs(1)}}), "0@0[0,10) 1@0[10,11) 0@0[11,13)");
}

TEST(Slices, OfOneThatRanAloneForLongerEndWhenSomebodyWaits) {
    Bench bench{identical(1), sliced(10)};
    const Entity alone = bench.add(0, {runs(100)});
    const Entity woken = bench.add(0, {runs(5)});
    bench.wake(0, alone);
    bench.wake(35, woken);
    bench.run();
    EXPECT_EQ(bench.text(), "0@0[0,35) 1@0[35,40) 0@0[40,105)");
}

TEST(Slices, AreWorkedOffInTurnsOfAGlobalQueueToo) {
    FairRules rules = global();
    rules.slice_ns = 10;
    Bench bench{identical(2), rules};
    EXPECT_EQ(together(bench, {{runs(15)}, {runs(15)}, {runs(5)}}),
              "0@0[0,10) 1@1[0,10) 2@0[10,15) 0@1[10,15) 1@0[15,20)");
}

FairRules granular(std::int64_t granularity_ns) {
    FairRules rules = pinned();
    rules.wakeup_granularity_ns = granularity_ns;
    return rules;
}

std::string woken_at(const FairRules& rules, std::int64_t at) {
    Bench bench{identical(1), rules};
    const Entity running = bench.add(0, {runs(20)});
    const Entity woken = bench.add(0, {runs(3)});
    bench.wake(0, running);
    bench.wake(at, woken);
    bench.run();
    return bench.text();
}

TEST(WakeupGranularity, AWokenEntityTakesTheCpuOfOneThatHasRunForSoLong) {
    EXPECT_EQ(woken_at(granular(10), 10), "0@0[0,10) 1@0[10,13) 0@0[13,23)");
}
TEST(WakeupGranularity, NotEarlier) {
    EXPECT_EQ(woken_at(granular(10), 9), "0@0[0,20) 1@0[20,23)");
}
TEST(WakeupGranularity, OfZeroNeverPreempts) {
    EXPECT_EQ(woken_at(granular(0), 15), "0@0[0,20) 1@0[20,23)");
}

TEST(WakeupGranularity, AWakerLeavesAfterItsStep) {
    Bench bench{identical(1), granular(10)};
    const Entity waker = bench.add(0, {runs(12), wakes(1), wakes(2), runs(5)});
    const Entity first = bench.add(0, {waits(), runs(3)});
    const Entity second = bench.add(0, {waits(), runs(4)});
    bench.wake(0, waker);
    bench.run();
    EXPECT_EQ(bench.text(), "0@0[0,12) 1@0[12,15) 2@0[15,19) 0@0[19,24)");
    EXPECT_EQ(bench.done_ns(first), 15);
    EXPECT_EQ(bench.done_ns(second), 19);
}

TEST(WakeupGranularity, AWakerThatWaitsAfterItsStepIsNotPreempted) {
    Bench bench{identical(1), granular(10)};
    const Entity waker = bench.add(0, {runs(12), wakes(1)});
    bench.add(0, {waits(), runs(3)});
    bench.wake(0, waker);
    bench.run();
    EXPECT_EQ(bench.text(), "0@0[0,12) 1@0[12,15)");
    EXPECT_EQ(bench.scheduler.counts().preemptions, 0);
}

FairRules sharing(double cpus, FairRules rules = global()) {
    rules.shared_cpus = cpus;
    return rules;
}

TEST(SharedCpus, TwoGoAtHalfTheSpeedOfOne) {
    Bench bench{identical(2), sharing(1.0)};
    EXPECT_EQ(together(bench, {{runs(10)}, {runs(10)}}), "0@0[0,20) 1@1[0,20)");
}

TEST(SharedCpus, WhoIsLeftAloneGoesFaster) {
    // Until 20 each gets through 10, then 10 are left of the second.
    Bench bench{identical(2), sharing(1.0)};
    EXPECT_EQ(together(bench, {{runs(10)}, {runs(20)}}), "0@0[0,20) 1@1[0,30)");
}

TEST(SharedCpus, ANewcomerSlowsTheOthersDown) {
    Bench bench{identical(4), sharing(2.0)};
    const std::vector<Entity> all{bench.add(0, {runs(10)}), bench.add(0, {runs(10)}),
                                  bench.add(0, {runs(10)}), bench.add(0, {runs(10)})};
    bench.wake(0, all[0]);
    bench.wake(0, all[1]);
    bench.wake(5, all[2]);
    bench.wake(5, all[3]);
    bench.run();
    // The first two have 5 left at 5, for which four at half speed take 10; then all go at full speed.
    EXPECT_EQ(bench.text(), "0@0[0,15) 1@1[0,15) 2@2[5,20) 3@3[5,20)");
}

TEST(SharedCpus, ChangeNothingWhenThereAreEnough) {
    Bench bench{identical(2), sharing(2.0)};
    EXPECT_EQ(together(bench, {{runs(10)}, {runs(7)}}), "1@1[0,7) 0@0[0,10)");
}

TEST(SharedCpus, SlicesLastLongerToo) {
    FairRules rules = sharing(1.0);
    rules.slice_ns = 10;
    Bench bench{identical(2), rules};
    EXPECT_EQ(together(bench, {{runs(15)}, {runs(20)}, {runs(5)}}),
              "0@0[0,20) 1@1[0,20) 2@0[20,30) 0@1[20,30) 1@0[30,40)");
}

TEST(SharedCpus, AnIdleExitIsNotWork) {
    FairMachine machine = identical(2);
    machine.cpus[0].idle_exits = {{0, 100}};
    Bench bench{machine, sharing(2.0)};
    EXPECT_EQ(together(bench, {{runs(10)}, {runs(10)}}), "1@1[0,10) 0@0[0,110)");
    EXPECT_EQ(bench.scheduler.busy_ns(0), 10);
}

TEST(SharedCpus, WhatIsInterruptedInItsIdleExitHasDoneNothing) {
    FairMachine machine = identical(2);
    machine.cpus[0].idle_exits = {{0, 100}};
    machine.cpus[1].capacity = 2;
    FairRules rules = sharing(2.0, plain());
    rules.tick_ns = 50;
    machine.cpus[0].capacity = 1;
    Bench bench{machine, rules};
    const Entity heavy = bench.add(0, {runs(10)});
    const Entity other = bench.add(1, {runs(20)});
    bench.scheduler.begin_window(heavy, 0, 500.0, false);
    bench.wake(0, other);
    bench.wake(1, heavy);
    bench.run();
    EXPECT_EQ(bench.text(), "1@1[0,20) 0@0[1,50) 0@1[50,60)");
}

TEST(GivesWay, ToWhoeverBecomesReadyWhenNoCpuIsFree) {
    Bench bench{identical(1), global()};
    const Entity main = bench.add(0, {runs(10)});
    const Entity worker = bench.add(0, {runs(3)});
    bench.let_give_way(main);
    bench.wake(0, main);
    bench.wake(4, worker);
    bench.run();
    EXPECT_EQ(bench.text(), "0@0[0,4) 1@0[4,7) 0@0[7,13)");
}

TEST(GivesWay, NotWhenACpuIsFree) {
    Bench bench{identical(2), global()};
    const Entity main = bench.add(0, {runs(10)});
    const Entity worker = bench.add(0, {runs(3)});
    bench.let_give_way(main);
    bench.wake(0, main);
    bench.wake(4, worker);
    bench.run();
    EXPECT_EQ(bench.text(), "1@1[4,7) 0@0[0,10)");
}

TEST(GivesWay, AfterItsStepToWhomItWakesItself) {
    Bench bench{identical(1), global()};
    const Entity main = bench.add(0, {runs(2), wakes(1), runs(8)});
    bench.add(0, {waits(), runs(3)});
    bench.let_give_way(main);
    bench.wake(0, main);
    bench.run();
    EXPECT_EQ(bench.text(), "0@0[0,2) 1@0[2,5) 0@0[5,13)");
}

TEST(GivesWay, OthersDoNot) {
    Bench bench{identical(1), global()};
    const Entity main = bench.add(0, {runs(3)});
    const Entity worker = bench.add(0, {runs(10)});
    bench.let_give_way(main);
    bench.wake(0, worker);
    bench.wake(4, main);
    bench.run();
    EXPECT_EQ(bench.text(), "1@0[0,10) 0@0[10,13)");
}

FairMachine with_exits(std::size_t cpus) {
    FairMachine machine = identical(cpus);
    for (FairCpu& cpu : machine.cpus) cpu.idle_exits = {{0, 3}, {400, 160}};
    return machine;
}

TEST(IdleExit, DependsOnHowLongTheCpuWasIdle) {
    Bench bench{with_exits(1), pinned()};
    const Entity entity = bench.add(0, {runs(10), waits(), waits(), runs(10), waits(), runs(10)});
    bench.wake(399, entity);
    bench.wake(600, entity);
    bench.wake(1200, entity);
    bench.run();
    // Idle for 399: 3; from 412 to 600: 3; from 613 to 1200: 160.
    EXPECT_EQ(bench.text(), "0@0[399,412) 0@0[600,613) 0@0[1200,1370)");
    EXPECT_EQ(bench.done_ns(entity), 1370);
}

TEST(IdleExit, IsNotBusyTime) {
    Bench bench{with_exits(1), pinned()};
    bench.wake(400, bench.add(0, {runs(10)}));
    bench.run(500);
    EXPECT_EQ(bench.scheduler.busy_ns(0), 0);
    bench.run();
    EXPECT_EQ(bench.scheduler.busy_ns(0), 10);
}

TEST(IdleExit, IsNotPaidByWhoFollowsAnother) {
    Bench bench{with_exits(1), pinned()};
    EXPECT_EQ(together(bench, {{runs(10)}, {runs(10)}}), "0@0[0,13) 1@0[13,23)");
}

TEST(IdleExit, IsTheLongestOnColdCpusButForTheStartersOwn) {
    Bench bench{with_exits(2), pinned()};
    const Entity main = bench.add(0, {runs(10)});
    const Entity other = bench.add(1, {runs(10)});
    bench.scheduler.begin_window(main, 0, 0.0, true);
    bench.wake(0, main);
    bench.wake(0, other);
    bench.run();
    EXPECT_EQ(bench.text(), "0@0[0,13) 1@1[0,170)");
}

TEST(IdleExit, IsShortOnWarmCpus) {
    Bench bench{with_exits(2), pinned()};
    const Entity main = bench.add(0, {runs(10)});
    const Entity other = bench.add(1, {runs(10)});
    bench.scheduler.begin_window(main, 0, 0.0, false);
    bench.wake(0, main);
    bench.wake(0, other);
    bench.run();
    EXPECT_EQ(bench.text(), "0@0[0,13) 1@1[0,13)");
}

TEST(ClusterExit, IsPaidWhenAllItsCpusWereIdleForLong) {
    FairRules rules = pinned();
    rules.cluster_exit_ns = 1000;
    Bench bench{with_exits(2), rules};
    const Entity first = bench.add(0, {runs(10)});
    const Entity second = bench.add(1, {runs(10)});
    bench.wake(400, first);
    bench.wake(401, second);
    bench.run();
    EXPECT_EQ(bench.text(), "1@1[401,571) 0@0[400,1570)");
}

TEST(ClusterExit, IsNotPaidWhenOneOfItsCpusWasIdleForLess) {
    FairRules rules = pinned();
    rules.cluster_exit_ns = 1000;
    Bench bench{with_exits(2), rules};
    bench.wake(0, bench.add(1, {runs(10)}));
    bench.wake(400, bench.add(0, {runs(10)}));
    bench.run();
    EXPECT_EQ(bench.text(), "0@1[0,13) 1@0[400,570)");
}

TEST(ClusterExit, IsEachClustersOwn) {
    FairRules rules = pinned();
    rules.cluster_exit_ns = 1000;
    FairMachine machine = with_exits(2);
    machine.cpus[1].cluster = 1;
    machine.domains.push_back(machine.domains[0]);
    Bench bench{machine, rules};
    bench.wake(0, bench.add(1, {runs(10)}));
    bench.wake(400, bench.add(0, {runs(10)}));
    bench.run();
    EXPECT_EQ(bench.text(), "0@1[0,13) 1@0[400,1570)");
}

constexpr FairCosts kSwitch{100, 0, 0, 0};
constexpr FairCosts kWake{0, 10, 0, 0};
constexpr FairCosts kIpi{0, 0, 20, 0};
constexpr FairCosts kMigration{0, 0, 0, 1000};

TEST(SwitchCost, IsPaidByWhoIsSwitchedInAndAtItsRate) {
    Bench bench{little_and_big(), pinned(), kSwitch};
    bench.wake(0, bench.add(0, {runs(5)}));
    bench.wake(0, bench.add(2, {runs(5)}));
    bench.run();
    EXPECT_EQ(bench.text(), "1@2[0,105) 0@0[0,420)");
}

TEST(SwitchCost, IsPaidEachTimeThatSomebodyElseRanOrNobody) {
    Bench bench{identical(1), pinned(), kSwitch};
    const Entity entity = bench.add(0, {runs(5), waits(), waits(), runs(5), runs(5)});
    bench.wake(0, entity);
    bench.wake(1000, entity);
    bench.run();
    EXPECT_EQ(bench.text(), "0@0[0,105) 0@0[1000,1110)");
}

TEST(SwitchCost, IsPaidBeforeLeavingByWhoDoesNothing) {
    Bench bench{identical(1), pinned(), kSwitch};
    EXPECT_EQ(together(bench, {{}, {runs(5)}}), "0@0[0,100) 1@0[100,205)");
}

TEST(WakeCost, IsPaidByTheWakerBeforeItsNextPiece) {
    Bench bench{identical(2), global(), kWake};
    const Entity waker = bench.add(0, {runs(5), wakes(1), runs(5)});
    bench.add(0, {waits(), runs(1)});
    bench.wake(0, waker);
    bench.run();
    EXPECT_EQ(bench.text(), "1@1[5,6) 0@0[0,20)");
}

TEST(WakeCost, IsPaidBeforeTheWakerLeavesItsCpu) {
    Bench bench{identical(1), global(), kWake};
    const Entity waker = bench.add(0, {runs(5), wakes(1), wakes(2)});
    bench.add(0, {waits(), runs(1)});
    bench.add(0, {waits(), runs(1)});
    bench.wake(0, waker);
    bench.run();
    EXPECT_EQ(bench.text(), "0@0[0,25) 1@0[25,26) 2@0[26,27)");
}

TEST(WakeCost, IsNotPaidForWhoIsAwakeNorByTheOutside) {
    Bench bench{identical(1), global(), kWake};
    const Entity waker = bench.add(0, {runs(5), wakes(1), wakes(1), runs(5)});
    bench.add(0, {waits(), waits(), runs(1)});
    bench.wake(0, waker);
    bench.run();
    EXPECT_EQ(bench.text(), "0@0[0,20) 1@0[20,21)");
    EXPECT_EQ(bench.scheduler.counts().wakeups, 2);
}

TEST(IpiCost, IsPaidByTheWakerForAnIdleCpuOnly) {
    const auto end_of_waker = [](std::size_t cpus) {
        Bench bench{identical(cpus), global(), kIpi};
        const Entity waker = bench.add(0, {runs(5), wakes(1), runs(5)});
        bench.add(0, {waits(), runs(1)});
        bench.wake(0, waker);
        bench.run();
        return bench.done_ns(waker);
    };
    EXPECT_EQ(end_of_waker(1), 10);
    EXPECT_EQ(end_of_waker(2), 30);
}

TEST(MigrationCost, IsPaidByWhoStartsOnAnotherCpu) {
    Bench bench{identical(2), plain(), kMigration};
    const Entity stays = bench.add(0, {runs(50), waits(), waits(), runs(50)});
    const Entity moves = bench.add(0, {runs(5), waits(), waits(), runs(5)});
    bench.wake(0, stays);
    bench.wake(0, moves);
    bench.wake(2000, stays);
    bench.wake(2000, moves);
    bench.run();
    EXPECT_EQ(bench.text(), "0@0[0,50) 1@1[0,1005) 1@1[2000,2005) 0@0[2000,2050)");
    EXPECT_EQ(bench.scheduler.counts().migrations, 1);
}

TEST(MigrationCost, IsPaidByWhatIsPulled) {
    FairRules rules = pinned();
    rules.pull = true;
    Bench bench{identical(2), rules, kMigration};
    const Entity a = bench.add(0, {runs(50)});
    const Entity b = bench.add(0, {runs(50)});
    const Entity c = bench.add(1, {runs(10)});
    for (const Entity each : {a, b, c}) bench.wake(0, each);
    bench.run();
    EXPECT_EQ(bench.text(), "2@1[0,10) 0@0[0,50) 1@1[10,1060)");
}

TEST(Counts, OfSwitchesIncludeIdle) {
    Bench bench{identical(1), pinned()};
    const Entity a = bench.add(0, {runs(5), waits(), waits(), runs(5)});
    const Entity b = bench.add(0, {runs(5)});
    bench.wake(0, a);
    bench.wake(0, b);
    bench.wake(100, a);
    bench.run();
    // idle, a, b, idle, a, idle
    EXPECT_EQ(bench.scheduler.counts().switches, 5);
    EXPECT_EQ(bench.scheduler.counts().switch_ins, 3);
    EXPECT_EQ(bench.scheduler.counts().wakeups, 3);
    EXPECT_EQ(bench.scheduler.counts().migrations, 0);
}

TEST(Reset, StartsTheCountsAndClocksAnew) {
    Bench bench{identical(2), plain()};
    bench.wake(0, bench.add(0, {runs(5)}));
    bench.run();
    bench.scheduler.reset();
    EXPECT_EQ(bench.scheduler.busy_ns(0), 0);
    EXPECT_EQ(bench.scheduler.counts().switches, 0);
    EXPECT_EQ(bench.scheduler.entities(), 0U);
}

}  // namespace
}  // namespace torpor::sched
