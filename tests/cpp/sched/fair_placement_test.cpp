// SPDX-License-Identifier: MIT
// Where entities go: wake-ups with and without EAS, misfits, pulls.
#include <gtest/gtest.h>

#include "fair_bench.hpp"

namespace torpor::sched {
namespace {

using namespace testing;

/// So many tasks of 4 ms of work, woken together, that all ran on little CPU 0 before.
std::string herd(const FairRules& rules, int tasks) {
    Bench bench{little_and_big(), rules};
    for (int i = 0; i < tasks; ++i) bench.wake(0, bench.add(0, {runs(4 * kMs)}));
    bench.run();
    return bench.text(kMs);
}

TEST(Herd, QueuesOnOneLittleCpuUnderEas) {
    EXPECT_EQ(herd(plain_eas(), 2), "0@0[0,16) 1@0[16,32)");
}

TEST(Herd, SpreadsOverTheFirstIdleCpusWithoutEas) {
    EXPECT_EQ(herd(plain(), 2), "0@0[0,16) 1@1[0,16)");
    EXPECT_EQ(herd(plain(), 3), "2@2[0,4) 0@0[0,16) 1@1[0,16)");
}

TEST(Herd, QueuesAtTheTargetWhenNoCpuIsIdle) {
    EXPECT_EQ(herd(plain(), 4), "2@2[0,4) 0@0[0,16) 1@1[0,16) 3@0[16,32)");
}

TEST(Herd, TakesTheBigCpuFirstWhenToldSo) {
    FairRules rules = plain();
    rules.placement = FairPlacement::biggest_idle;
    EXPECT_EQ(herd(rules, 2), "0@2[0,4) 1@0[0,16)");
}

TEST(Herd, StaysWhereItWasWhenPinned) {
    EXPECT_EQ(herd(pinned(), 2), "0@0[0,16) 1@0[16,32)");
}

/// One entity of the given utilisation that ran on `previous` wakes while everything is idle.
int woken_to(const FairMachine& machine, const FairRules& rules, int previous, double utilisation) {
    Bench bench{machine, rules};
    const Entity entity = bench.add(previous, {runs(kMs)});
    bench.scheduler.begin_window(entity, previous, utilisation, false);
    bench.wake(0, entity);
    bench.run();
    return bench.scheduler.cpu_of(entity);
}

TEST(Eas, LeavesWithoutUtilisationWhereItWas) {
    EXPECT_EQ(woken_to(little_and_big(), plain_eas(), 2, 0.0), 2);
    EXPECT_EQ(woken_to(little_and_big(), plain_eas(), 2, 0.9), 2);
}

TEST(Eas, MovesToTheCheapestDomain) {
    EXPECT_EQ(woken_to(little_and_big(), plain_eas(), 2, 50.0), 0);
    EXPECT_EQ(woken_to(little_and_big(), plain(), 2, 50.0), 2);
}

TEST(Eas, KeepsThePreviousCpuOfEqualOnes) {
    EXPECT_EQ(woken_to(little_and_big(), plain_eas(), 1, 50.0), 1);
    FairMachine machine = little_and_big();
    machine.domains[1] = machine.domains[0];
    EXPECT_EQ(woken_to(machine, plain_eas(), 2, 50.0), 2);
    EXPECT_EQ(woken_to(machine, plain_eas(), 0, 50.0), 0);
}

TEST(Eas, DoesNotPutOnACpuWhatDoesNotFitIt) {
    // 80 % of 256 are 204.8.
    EXPECT_EQ(woken_to(little_and_big(), plain_eas(), 2, 204.0), 0);
    EXPECT_EQ(woken_to(little_and_big(), plain_eas(), 2, 205.0), 2);
}

TEST(Eas, LooksAtThePointThatADomainWouldNeed) {
    // Above 100 / 1.25 = 80 the little ones would have to go to their dear second point.
    FairMachine machine = little_and_big();
    machine.domains[0] = {{{100.0, 20.0}, {256.0, 1000.0}}};
    EXPECT_EQ(woken_to(machine, plain_eas(), 2, 79.0), 0);
    EXPECT_EQ(woken_to(machine, plain_eas(), 2, 81.0), 2);
}

/// Entity 0 runs on little CPU 0 for `busy_ns`, then entity 1 of the given utilisation at that time wakes.
int woken_beside(const FairMachine& machine, std::int64_t busy_ns, int previous, double utilisation) {
    Bench bench{machine, plain_eas()};
    const Entity busy = bench.add(0, {runs(1000 * kMs)});
    const Entity woken = bench.add(previous, {runs(kMs)});
    bench.scheduler.begin_window(woken, previous, utilisation / decay(busy_ns), false);
    bench.wake(0, busy);
    bench.wake(busy_ns, woken);
    bench.run(busy_ns);
    return bench.scheduler.cpu_of(woken);
}

TEST(Eas, TakesTheCpuOfADomainWithMostRoom) {
    EXPECT_EQ(woken_beside(little_and_big(), 20 * kMs, 2, 50.0), 1);
}

TEST(Eas, KeepsABusyPreviousCpuIfAnotherIsNoCheaper) {
    EXPECT_EQ(woken_beside(little_and_big(), 20 * kMs, 0, 50.0), 0);
}

TEST(Eas, LeavesAPreviousCpuThatHasNoRoomForIt) {
    // 256 (1 - 2^-2) = 192 and 50 are more than 204.8.
    EXPECT_EQ(woken_beside(little_and_big(), 64 * kMs, 0, 50.0), 1);
}

TEST(Eas, DoesNotLookAtQueues) {
    // Both little CPUs have as much room; that CPU 0 has a queue of its own does not count.
    Bench bench{little_and_big(), plain_eas()};
    const Entity woken = bench.add(0, {runs(kMs)});
    const Entity first = bench.add(0, {runs(kMs)});
    const Entity second = bench.add(0, {runs(kMs)});
    bench.scheduler.begin_window(woken, 0, 100.0, false);
    for (const Entity each : {first, second, woken}) bench.wake(0, each);
    bench.run();
    EXPECT_EQ(bench.text(kMs), "1@0[0,4) 2@0[4,8) 0@0[8,12)");
}

TEST(Eas, TheBusyDomainMayBecomeTooDear) {
    // The running one asks for the second point, which makes the little CPUs dearer than the big one.
    FairMachine machine = little_and_big();
    machine.domains[0] = {{{100.0, 20.0}, {256.0, 1000.0}}};
    EXPECT_EQ(woken_beside(machine, 1 * kMs, 2, 50.0), 1);
    EXPECT_EQ(woken_beside(machine, 32 * kMs, 2, 50.0), 2);
}

TEST(Eas, CanBeSwitchedOffAndOn) {
    Bench bench{little_and_big(), plain_eas()};
    const Entity first = bench.add(0, {runs(4 * kMs)});
    const Entity second = bench.add(0, {runs(4 * kMs)});
    const Entity third = bench.add(0, {runs(4 * kMs)});
    bench.wake(0, first);
    bench.run(0);
    bench.scheduler.set_eas(false);
    EXPECT_FALSE(bench.scheduler.is_eas_active());
    bench.wake(kMs, second);
    bench.run(kMs);
    bench.scheduler.set_eas(true);
    EXPECT_TRUE(bench.scheduler.is_eas_active());
    bench.wake(2 * kMs, third);
    bench.run();
    EXPECT_EQ(bench.text(kMs), "0@0[0,16) 1@1[1,17) 2@0[16,32)");
}

TEST(Eas, CannotBeSwitchedOnWhereTheMachineHasNone) {
    Bench bench{little_and_big(), plain()};
    bench.scheduler.set_eas(true);
    EXPECT_FALSE(bench.scheduler.is_eas_active());
}

FairRules ticking(FairPlacement placement, bool eas = true) {
    FairRules rules = plain();
    rules.placement = placement;
    rules.eas = eas;
    rules.tick_ns = 4 * kMs;
    return rules;
}

TEST(Overutilised, SetWhenSomethingTooHeavyTakesACpu) {
    Bench bench{little_and_big(), ticking(FairPlacement::pinned)};
    const Entity heavy = bench.add(0, {runs(kMs)});
    bench.scheduler.begin_window(heavy, 0, 205.0, false);
    EXPECT_TRUE(bench.scheduler.is_eas_active());
    bench.wake(0, heavy);
    bench.run(0);
    EXPECT_FALSE(bench.scheduler.is_eas_active());
}

TEST(Overutilised, SetWhenSomethingQueuesOnACpuThatIsTooBusy) {
    Bench bench{little_and_big(), ticking(FairPlacement::pinned)};
    const Entity heavy = bench.add(0, {runs(kMs)});
    const Entity light = bench.add(0, {runs(kMs)});
    bench.scheduler.begin_window(heavy, 0, 204.0, false);
    bench.wake(0, heavy);
    bench.wake(2 * kMs, light);
    bench.run(2 * kMs - 1);
    EXPECT_TRUE(bench.scheduler.is_eas_active());
    bench.run(2 * kMs);
    EXPECT_FALSE(bench.scheduler.is_eas_active());
}

TEST(Overutilised, SetByTheTick) {
    // From 204 to 204.8 of 256 it takes less than a millisecond, but nobody looks before the tick.
    Bench bench{little_and_big(), ticking(FairPlacement::pinned)};
    const Entity heavy = bench.add(0, {runs(10 * kMs)});
    bench.scheduler.begin_window(heavy, 0, 204.0, false);
    bench.wake(0, heavy);
    bench.run(4 * kMs - 1);
    EXPECT_TRUE(bench.scheduler.is_eas_active());
    bench.run(4 * kMs);
    EXPECT_FALSE(bench.scheduler.is_eas_active());
}

TEST(Overutilised, ClearedByTheTick) {
    // From 256 to 204.8 the utilisation of the idle CPU falls in 10.3 ms.
    Bench bench{little_and_big(), ticking(FairPlacement::pinned)};
    const Entity heavy = bench.add(0, {runs(kUs)});
    const Entity light = bench.add(2, {runs(30 * kMs)});
    bench.scheduler.begin_window(heavy, 0, 256.0, false);
    bench.wake(0, heavy);
    bench.wake(0, light);
    bench.run(12 * kMs - 1);
    EXPECT_FALSE(bench.scheduler.is_eas_active());
    bench.run(12 * kMs);
    EXPECT_TRUE(bench.scheduler.is_eas_active());
}

TEST(Overutilised, IsForgottenWhenAWindowBegins) {
    Bench bench{little_and_big(), ticking(FairPlacement::pinned)};
    const Entity heavy = bench.add(0, {runs(kMs)});
    bench.scheduler.begin_window(heavy, 0, 256.0, false);
    bench.wake(0, heavy);
    bench.run();
    ASSERT_FALSE(bench.scheduler.is_eas_active());
    bench.scheduler.begin_window(heavy, 0, 0.0, false);
    EXPECT_TRUE(bench.scheduler.is_eas_active());
}

TEST(Overutilised, MeansThatWakeUpsSpread) {
    Bench bench{little_and_big(), ticking(FairPlacement::spread)};
    const Entity heavy = bench.add(0, {runs(kUs), runs(kUs)});
    const Entity light = bench.add(0, {runs(kMs)});
    bench.scheduler.begin_window(heavy, 0, 220.0, false);
    bench.wake(0, heavy);  // goes to the big CPU, for it does not fit
    bench.run();
    ASSERT_EQ(bench.scheduler.cpu_of(heavy), 2);
    EXPECT_TRUE(bench.scheduler.is_eas_active());
    bench.scheduler.begin_window(light, 0, 0.0, false);
    bench.wake(kMs, light);
    bench.run();
    EXPECT_EQ(bench.scheduler.cpu_of(light), 0);
}

/// Heavy work of 20 ms on little CPU 0, too heavy for it from the first tick on.
std::string misfit(const FairRules& rules, const FairMachine& machine, std::int64_t big_busy_ns = 0) {
    Bench bench{machine, rules};
    const Entity heavy = bench.add(0, {runs(20 * kMs)});
    bench.scheduler.begin_window(heavy, 0, 204.0, false);
    bench.wake(0, heavy);
    if (big_busy_ns > 0) bench.wake(0, bench.add(2, {runs(big_busy_ns)}));
    bench.run();
    return bench.text(kMs);
}

TEST(Misfit, MovesToTheLargestIdleCpuAtTheTick) {
    // After 4 ms at a quarter of the rate 19 ms are left.
    EXPECT_EQ(misfit(ticking(FairPlacement::spread, true), little_and_big()), "0@0[0,4) 0@2[4,23)");
    EXPECT_EQ(misfit(ticking(FairPlacement::spread, false), little_and_big()), "0@0[0,4) 0@2[4,23)");
}

TEST(Misfit, WaitsForALargerCpuToBeIdle) {
    EXPECT_EQ(misfit(ticking(FairPlacement::spread), little_and_big(), 6 * kMs),
              "1@2[0,6) 0@0[0,8) 0@2[8,26)");
}

TEST(Misfit, StaysWithoutATickOrWhenPinned) {
    EXPECT_EQ(misfit(plain(), little_and_big()), "0@0[0,80)");
    EXPECT_EQ(misfit(ticking(FairPlacement::pinned), little_and_big()), "0@0[0,80)");
}

TEST(Misfit, DoesNotMoveToACpuOfTheSameSize) {
    EXPECT_EQ(misfit(ticking(FairPlacement::spread), little_and_big(0)), "0@0[0,80)");
}

TEST(Misfit, MovesWhileItsCpuStillLeavesIdle) {
    FairRules rules = plain();
    rules.tick_ns = 250;
    FairMachine machine = little_and_big();
    machine.cpus[0].idle_exits = {{0, 400}};
    Bench bench{machine, rules};
    const Entity heavy = bench.add(0, {runs(100, 100)});
    bench.scheduler.begin_window(heavy, 0, 230.0, false);
    const Entity other = bench.add(2, {runs(100)});
    bench.wake(0, other);
    bench.wake(0, heavy);  // no idle CPU fits it
    bench.run();
    EXPECT_EQ(bench.text(), "1@2[0,100) 0@0[0,250) 0@2[250,450)");
}

TEST(Misfit, LeavesItsCpuToWhoWaitedThere) {
    Bench bench{little_and_big(), ticking(FairPlacement::spread)};
    const Entity heavy = bench.add(0, {runs(20 * kMs)});
    const Entity light = bench.add(0, {runs(kMs)});
    bench.scheduler.begin_window(heavy, 0, 204.0, false);
    bench.wake(0, heavy);
    bench.wake(0, light);
    bench.run();
    EXPECT_EQ(bench.text(kMs), "0@0[0,4) 1@0[4,8) 0@2[4,23)");
}

/// Entity 0 runs on CPU 0, 1 waits there, 2 leaves CPU 1 after 3 ms. Where is entity 1 then?
int waiting_one_is_on(const FairRules& rules) {
    Bench bench{identical(2), rules};
    const Entity first = bench.add(0, {runs(10 * kMs)});
    const Entity second = bench.add(0, {runs(10 * kMs)});
    const Entity third = bench.add(1, {runs(3 * kMs)});
    for (const Entity each : {first, second, third}) bench.wake(0, each);
    bench.run(4 * kMs);
    return bench.scheduler.cpu_of(second);
}

FairRules pulling() {
    FairRules rules = pinned();
    rules.pull = true;
    return rules;
}

TEST(Pull, TakesWhatWaitsToACpuThatWouldGoIdle) {
    EXPECT_EQ(waiting_one_is_on(pulling()), 1);
}

TEST(Pull, DoesNotHappenWhenItIsOff) {
    EXPECT_EQ(waiting_one_is_on(pinned()), 0);
}

TEST(Pull, LeavesAloneWhatRanLessThanHalfAMillisecondAgo) {
    // Entity 0 has waited since 600 us.
    FairRules rules = pulling();
    const auto pulled = [&](std::int64_t busy_us) {
        rules.slice_ns = 600 * kUs;
        Bench bench{identical(2), rules};
        const Entity first = bench.add(0, {runs(10 * kMs)});
        const Entity second = bench.add(0, {runs(10 * kMs)});
        const Entity third = bench.add(1, {runs(busy_us * kUs)});
        for (const Entity each : {first, second, third}) bench.wake(0, each);
        bench.run(busy_us * kUs);
        return bench.scheduler.cpu_of(first) == 1;
    };
    EXPECT_FALSE(pulled(1099));
    EXPECT_TRUE(pulled(1100));
}

TEST(Pull, SkipsTheHotHeadOfAQueue) {
    FairRules rules = pulling();
    rules.slice_ns = kMs;
    Bench bench{identical(2), rules};
    const Entity first = bench.add(0, {runs(10 * kMs)});
    const Entity second = bench.add(0, {runs(10 * kMs)});
    const Entity third = bench.add(0, {runs(10 * kMs)});
    const Entity other = bench.add(1, {runs(3'100 * kUs)});
    for (const Entity each : {first, second, third, other}) bench.wake(0, each);
    bench.run(3'100 * kUs);  // 0 runs again; 1 has waited since 2 ms, 2 since 3 ms
    EXPECT_EQ(bench.scheduler.cpu_of(second), 1);
    EXPECT_EQ(bench.scheduler.cpu_of(third), 0);
}

TEST(Pull, TakesFromTheLongestQueue) {
    Bench bench{identical(3), pulling()};
    const Entity a = bench.add(0, {runs(10 * kMs)});
    const Entity b = bench.add(0, {runs(10 * kMs)});
    const Entity c = bench.add(1, {runs(10 * kMs)});
    const Entity d = bench.add(1, {runs(10 * kMs)});
    const Entity e = bench.add(1, {runs(10 * kMs)});
    const Entity f = bench.add(2, {runs(kMs)});
    for (const Entity each : {a, b, c, d, e, f}) bench.wake(0, each);
    bench.run(2 * kMs);
    EXPECT_EQ(bench.scheduler.cpu_of(b), 0);
    EXPECT_EQ(bench.scheduler.cpu_of(d), 2);
    EXPECT_EQ(bench.scheduler.cpu_of(e), 1);
}

TEST(Pull, IsForbiddenUnderEas) {
    FairRules rules = pulling();
    rules.eas = true;
    EXPECT_EQ(waiting_one_is_on(rules), 0);
}

TEST(Pull, IsAllowedUnderEasWhenACpuIsOverutilised) {
    FairRules rules = pulling();
    rules.eas = true;
    rules.tick_ns = 4 * kMs;
    Bench bench{little_and_big(), rules};
    const Entity heavy = bench.add(0, {runs(10 * kMs)});
    const Entity waiting = bench.add(0, {runs(kMs)});
    const Entity other = bench.add(2, {runs(5 * kMs)});
    bench.scheduler.begin_window(heavy, 0, 206.0, false);
    for (const Entity each : {heavy, waiting, other}) bench.wake(0, each);
    bench.run();
    EXPECT_EQ(bench.text(kMs), "2@2[0,5) 1@2[5,6) 0@0[0,40)");
}

/// CPUs 0 to 2 (and 3) of one kind; entity 0 wakes entity 1, which ran on CPU 0, after 1 ms.
int woken_by(int waker_cpu, int on_previous, std::vector<int> others, std::size_t cpus) {
    Bench bench{identical(cpus), plain()};
    const Entity waker = bench.add(waker_cpu, {runs(kMs), wakes(1), runs(20 * kMs)});
    const Entity woken = bench.add(0, {waits(), runs(kMs)});
    for (int i = 0; i < on_previous; ++i) others.push_back(0);
    bench.wake(0, waker);
    std::vector<Entity> rest;
    for (const int cpu : others) rest.push_back(bench.add(cpu, {runs(20 * kMs)}));
    for (const Entity each : rest) bench.wake(0, each);
    bench.run(kMs);
    return bench.scheduler.cpu_of(woken);
}

TEST(WakeAffine, KeepsThePreviousCpuWhenItIsIdle) {
    EXPECT_EQ(woken_by(1, 0, {}, 3), 0);
}

TEST(WakeAffine, ScansUpwardFromThePreviousCpu) {
    EXPECT_EQ(woken_by(2, 1, {}, 4), 1);
}

TEST(WakeAffine, StaysInTheQueueOfThePreviousCpuIfThatIsAsShort) {
    EXPECT_EQ(woken_by(1, 1, {2}, 3), 0);
}

/// CPU 0 has one that runs and one that waits; the waker runs alone on its CPU.
int woken_from_a_long_queue(int waker_cpu, const std::vector<int>& busy, std::size_t cpus) {
    Bench bench{identical(cpus), plain_eas()};  // so that both stay on CPU 0
    const Entity waker = bench.add(waker_cpu, {runs(kMs), wakes(1), runs(20 * kMs)});
    const Entity woken = bench.add(0, {waits(), runs(kMs)});
    std::vector<Entity> rest{bench.add(0, {runs(20 * kMs)}), bench.add(0, {runs(20 * kMs)})};
    for (const int cpu : busy) rest.push_back(bench.add(cpu, {runs(20 * kMs)}));
    bench.wake(0, waker);
    for (const Entity each : rest) bench.wake(0, each);
    bench.run(0);
    bench.scheduler.set_eas(false);
    bench.run(kMs);
    return bench.scheduler.cpu_of(woken);
}

TEST(WakeAffine, GoesToTheQueueOfTheWakerIfThatIsShorter) {
    EXPECT_EQ(woken_from_a_long_queue(1, {2}, 3), 1);
}

TEST(WakeAffine, ScansUpwardFromTheWakerWithWrap) {
    EXPECT_EQ(woken_from_a_long_queue(2, {}, 4), 3);
    EXPECT_EQ(woken_from_a_long_queue(2, {3}, 4), 1);
}

TEST(Spread, SkipsIdleCpusThatTheEntityDoesNotFit) {
    EXPECT_EQ(woken_to(little_and_big(), plain(), 0, 100.0), 0);
    EXPECT_EQ(woken_to(little_and_big(), plain(), 0, 230.0), 2);
}

TEST(Spread, TakesTheLargestIdleCpuWhenNoneFits) {
    EXPECT_EQ(woken_to(little_and_big(2), plain(), 0, 1000.0), 2);
    FairMachine machine = little_and_big(2);
    machine.cpus[2].capacity = 512;
    EXPECT_EQ(woken_to(machine, plain(), 0, 1000.0), 3);
}

TEST(NewThread, GoesToTheIdleCpuThatWakesSoonest) {
    FairMachine machine = identical(3);
    machine.cpus[0].idle_exits = {{0, 9 * kUs}};
    machine.cpus[1].idle_exits = {{0, 2 * kUs}};
    machine.cpus[2].idle_exits = {{0, 2 * kUs}};
    Bench bench{machine, plain()};
    EXPECT_EQ(bench.scheduler.cpu_of(bench.add_new_thread({})), 1);
}

TEST(NewThread, GoesToTheShortestQueueWhenNoCpuIsIdle) {
    Bench bench{identical(2), pinned()};
    for (const int cpu : {0, 0, 1}) bench.wake(0, bench.add(cpu, {runs(kMs)}));
    bench.run(0);
    EXPECT_EQ(bench.scheduler.cpu_of(bench.add_new_thread({})), 1);
}

TEST(NewThread, HasHalfOfWhatItsCpuHasLeft) {
    Bench bench{little_and_big(), pinned()};
    const Entity heavy = bench.add(0, {runs(40 * kMs)});
    bench.scheduler.begin_window(heavy, 0, 56.0, false);
    EXPECT_EQ(bench.scheduler.utilisation(bench.add_new_thread({})), 100.0);
}

TEST(Migration, TakesUtilisationAlong) {
    // What is left on CPU 0 is not the entity's any more, so that has room for another one.
    Bench bench{little_and_big(), plain_eas()};
    const Entity heavy = bench.add(2, {runs(kMs)});
    bench.scheduler.begin_window(heavy, 2, 150.0, false);
    bench.wake(0, heavy);
    bench.run(0);
    ASSERT_EQ(bench.scheduler.cpu_of(heavy), 0);
    const Entity other = bench.add_new_thread({runs(kMs)});
    EXPECT_EQ(bench.scheduler.cpu_of(other), 1);
    EXPECT_EQ(bench.scheduler.utilisation(heavy), 150.0);
}

TEST(ByPriority, TheHighestGoesFirstAndToTheFastestIdleCpu) {
    FairRules rules = plain();
    rules.queues = Queues::global;
    rules.by_priority = true;
    Bench bench{little_and_big(), rules};
    std::vector<Entity> all;
    for (int i = 0; i < 5; ++i) all.push_back(bench.add(0, {runs(4 * kMs)}));
    for (const Entity each : all) bench.prefer(each, each);
    for (const Entity each : all) bench.wake(0, each);
    bench.run();
    EXPECT_EQ(bench.text(kMs), "0@2[0,4) 4@2[4,8) 3@2[8,12) 1@0[0,16) 2@1[0,16)");
}

}  // namespace
}  // namespace torpor::sched
