// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "example.hpp"

// Small graphs whose timelines were worked out by hand, tick for tick.
namespace torpor::dpm {
namespace {

constexpr Phase kSuspend = Phase::suspend;
constexpr Phase kResume = Phase::resume;

void expect(const Seen& seen, std::int64_t end, std::string_view text, std::int64_t blocks) {
    EXPECT_EQ(seen.end, end);
    EXPECT_EQ(seen.text, text);
    EXPECT_EQ(seen.blocks, blocks);
    EXPECT_EQ(seen.stuck, "");
}

Example diamond() {
    return Example{}.async("A", 2).async("B", 3, "A").async("C", 5, "A").async("D", 1, "B").link("C", "D");
}

TEST(Diamond, ResumesOneAfterTheOtherInSync) {
    expect(watch(diamond(), kResume, "sync"), 11, "A[0,2)m B[2,5)m C[5,10)m D[10,11)m", 0);
}
TEST(Diamond, ResumesInEightTicksWhateverTheAsyncOrder) {
    const std::string_view text = "A[0,2) B[2,5) C[2,7) D[7,8)";
    expect(watch(diamond(), kResume, "old"), 8, text, 4);
    expect(watch(diamond(), kResume, "old-inline"), 8, text, 4);
    expect(watch(diamond(), kResume, "breadth-first"), 8, text, 0);
    expect(watch(diamond(), kResume, "up-6.16"), 8, text, 4);
    expect(watch(diamond(), kResume, "up-6.17"), 8, text, 4);
}
TEST(Diamond, SuspendsBackwards) {
    expect(watch(diamond(), kSuspend, "sync"), 11, "A[9,11)m B[6,9)m C[1,6)m D[0,1)m", 0);
    const std::string_view text = "A[6,8) B[1,4) C[1,6) D[0,1)";
    expect(watch(diamond(), kSuspend, "old"), 8, text, 4);
    expect(watch(diamond(), kSuspend, "old-inline"), 8, text, 4);
    expect(watch(diamond(), kSuspend, "breadth-first"), 8, text, 0);
    expect(watch(diamond(), kSuspend, "up-6.16"), 8, text, 4);
    expect(watch(diamond(), kSuspend, "up-6.17"), 8, text, 4);
}

Example hazard() {
    return Example{}.async("A", 4).sync("B", 6).async("C", 3);
}

TEST(ListOrderHazard, AnAsyncDeviceBehindASlowSyncOneIsQueuedLateOnSuspend) {
    expect(watch(hazard(), kSuspend, "sync"), 13, "A[9,13)m B[3,9)m C[0,3)m", 0);
    expect(watch(hazard(), kSuspend, "old"), 10, "A[6,10) B[0,6)m C[0,3)", 0);
    for (const auto* policy : {"breadth-first", "up-6.16", "up-6.17"})
        expect(watch(hazard(), kSuspend, policy), 7, "A[3,7) B[0,6)m C[0,3)", 0);
}
TEST(ListOrderHazard, OldInlineHasItOnResumeToo) {
    expect(watch(hazard(), kResume, "sync"), 13, "A[0,4)m B[4,10)m C[10,13)m", 0);
    for (const auto* policy : {"old", "breadth-first", "up-6.16", "up-6.17"})
        expect(watch(hazard(), kResume, policy), 7, "A[0,4) B[0,6)m C[4,7)", 0);
    expect(watch(hazard(), kResume, "old-inline"), 9, "A[0,4) B[0,6)m C[6,9)", 0);
}

TEST(Limit, BlockedItemsUseItUp) {
    const Example example = Example{}.async("P", 4).async("C1", 1, "P").async("X", 5);
    Conditions two;
    two.max_active = 2;
    expect(watch(example, kResume, "sync"), 10, "P[0,4)m C1[4,5)m X[5,10)m", 0);
    expect(watch(example, kResume, "old", two), 9, "P[0,4) C1[4,5) X[4,9)", 1);
    for (const auto* policy : {"breadth-first", "up-6.16", "up-6.17"})
        expect(watch(example, kResume, policy, two), 5, "P[0,4) C1[4,5) X[0,5)", 0);
}

Example sync_parent() {
    return Example{}.sync("S", 3).async("K", 2, "S").async("L", 2, "K").sync("T", 4);
}

TEST(SyncParent, Resumes) {
    expect(watch(sync_parent(), kResume, "sync"), 11, "S[0,3)m K[3,5)m L[5,7)m T[7,11)m", 0);
    const std::string_view text = "S[0,3)m K[3,5) L[5,7) T[3,7)m";
    expect(watch(sync_parent(), kResume, "old"), 7, text, 2);
    for (const auto* policy : {"breadth-first", "up-6.16", "up-6.17", "old-inline"})
        expect(watch(sync_parent(), kResume, policy), 7, text, 0);
}
TEST(SyncParent, Suspends) {
    expect(watch(sync_parent(), kSuspend, "sync"), 11, "S[8,11)m K[6,8)m L[4,6)m T[0,4)m", 0);
    expect(watch(sync_parent(), kSuspend, "old"), 11, "S[8,11)m K[6,8) L[4,6) T[0,4)m", 2);
    for (const auto* policy : {"breadth-first", "up-6.16", "up-6.17"})
        expect(watch(sync_parent(), kSuspend, policy), 7, "S[4,7)m K[2,4) L[0,2) T[0,4)m", 1);
}

Example four_roots() {
    return Example{}.async("A", 1).async("B", 1).async("C", 1).async("D", 1);
}

TEST(ListMutex, HeldDuringTheUpfrontPassItBlocksEveryWorker) {
    Conditions conditions{2, 1, true, 0};
    for (const auto* policy : {"old", "old-inline"}) {
        const Seen seen = watch(four_roots(), kResume, policy, conditions);
        expect(seen, 6, "A[4,5) B[4,5) C[5,6) D[5,6)", 0);
        EXPECT_EQ(seen.workers, 4);
        EXPECT_EQ(seen.mutex_blocks, 4);
    }
    conditions.list_mutex = false;
    for (const auto* policy : {"old", "old-inline"}) {
        const Seen seen = watch(four_roots(), kResume, policy, conditions);
        expect(seen, 5, "A[1,2) B[2,3) C[3,4) D[4,5)", 0);
        EXPECT_EQ(seen.workers, 1);
        EXPECT_EQ(seen.mutex_blocks, 0);
    }
}
TEST(ListMutex, DoesNotDelayTheOrdersWhoseWorkersDoNotTakeItFirst) {
    for (const auto* policy : {"breadth-first", "up-6.16", "up-6.17"})
        expect(watch(four_roots(), kResume, policy, {2, 1, true, 0}), 5, "A[1,2) B[2,3) C[3,4) D[4,5)", 0);
}

Example async_supplier() {
    return Example{}.add("U", "", true, {asleep(5)}).sync("V", 1).async("W", 3).link("U", "V");
}

TEST(AsyncSupplier, TheMainThreadWaitsForIt) {
    const Conditions one{1, 0, false, 0};
    expect(watch(async_supplier(), kResume, "sync", one), 9, "U[0,5)m V[5,6)m W[6,9)m", 0);
    for (const auto* policy : {"old", "breadth-first", "up-6.16", "up-6.17"})
        expect(watch(async_supplier(), kResume, policy, one), 6, "U[0,5) V[5,6)m W[0,3)", 1);
    expect(watch(async_supplier(), kResume, "old-inline", one), 9, "U[0,5) V[5,6)m W[6,9)", 1);
}
TEST(AsyncSupplier, GoesLastOnSuspend) {
    const Conditions one{1, 0, false, 0};
    expect(watch(async_supplier(), kSuspend, "sync", one), 9, "U[4,9)m V[3,4)m W[0,3)m", 0);
    for (const auto* policy : {"old", "breadth-first", "up-6.16", "up-6.17"})
        EXPECT_EQ(watch(async_supplier(), kSuspend, policy, one).text, "U[4,9) V[0,1)m W[1,4)") << policy;
}

TEST(Star, SleepersOverlapOnOneCpu) {
    const Example example = Example{}
                                .async("R", 1)
                                .add("c0", "R", true, {asleep(4)})
                                .add("c1", "R", true, {asleep(4)})
                                .add("c2", "R", true, {asleep(4)})
                                .async("z", 2, "R");
    const Conditions one{1, 0, false, 0};
    EXPECT_EQ(watch(example, kResume, "sync", one).end, 15);
    EXPECT_EQ(watch(example, kSuspend, "sync", one).end, 15);
    for (const auto* policy : {"old", "old-inline", "breadth-first", "up-6.16", "up-6.17"})
        EXPECT_EQ(watch(example, kResume, policy, one).end, 5) << policy;
    expect(watch(example, kSuspend, "old", one), 7, "R[6,7) c0[2,6) c1[2,6) c2[2,6) z[0,2)", 1);
    expect(watch(example, kSuspend, "breadth-first", one), 7, "R[6,7) c0[2,6) c1[2,6) c2[2,6) z[0,2)", 0);
    expect(watch(example, kSuspend, "up-6.17", one), 7, "R[6,7) c0[2,6) c1[2,6) c2[2,6) z[0,2)", 1);
}

Example mixed() {
    return Example{}
        .async("R", 1)
        .sync("S1", 4, "R")
        .async("a", 3, "R")
        .async("b", 2, "a")
        .sync("S2", 1)
        .link("a", "S2");
}

TEST(Mixed, Suspends) {
    expect(watch(mixed(), kSuspend, "old"), 7, "R[6,7) S1[1,5)m a[3,6) b[1,3) S2[0,1)m", 1);
    const std::string_view text = "R[5,6) S1[1,5)m a[2,5) b[0,2) S2[0,1)m";
    expect(watch(mixed(), kSuspend, "breadth-first"), 6, text, 0);
    expect(watch(mixed(), kSuspend, "up-6.16"), 6, text, 1);
    expect(watch(mixed(), kSuspend, "up-6.17"), 6, text, 1);
    EXPECT_EQ(watch(mixed(), kSuspend, "sync").end, 11);
}
TEST(Mixed, Resumes) {
    const std::string_view text = "R[0,1) S1[1,5)m a[1,4) b[4,6) S2[5,6)m";
    expect(watch(mixed(), kResume, "old"), 6, text, 3);
    expect(watch(mixed(), kResume, "breadth-first"), 6, text, 1);
    expect(watch(mixed(), kResume, "up-6.16"), 6, text, 1);
    expect(watch(mixed(), kResume, "up-6.17"), 6, text, 1);
    expect(watch(mixed(), kResume, "old-inline"), 10, "R[0,1) S1[1,5)m a[5,8) b[8,10) S2[8,9)m", 3);
    EXPECT_EQ(watch(mixed(), kResume, "sync").end, 11);
}

TEST(Limit, AChainUsesItUp) {
    const Example example = Example{}.async("A", 1).async("B", 1, "A").async("C", 1, "B").async("Z", 6);
    const Conditions three{2, 0, false, 3};
    EXPECT_EQ(watch(example, kResume, "sync").end, 9);
    expect(watch(example, kResume, "old", three), 7, "A[0,1) B[1,2) C[2,3) Z[1,7)", 2);
    for (const auto* policy : {"breadth-first", "up-6.16", "up-6.17"})
        expect(watch(example, kResume, policy, three), 6, "A[0,1) B[1,2) C[2,3) Z[0,6)", 0);
}

Example early_start() {
    return Example{}.async("P", 1).sync("Y", 3).async("S", 1, "Y").async("X", 1, "P").link("S", "X");
}

TEST(Limit, AnItemStartedEarlyCanHoldTheLastSlotForEver) {
    const Conditions one{2, 0, false, 1};
    const std::string_view text = "P[0,1) Y[0,3)m S[3,4) X[4,5)";
    EXPECT_EQ(watch(early_start(), kResume, "sync").end, 6);
    expect(watch(early_start(), kResume, "old", one), 5, text, 1);
    expect(watch(early_start(), kResume, "old-inline", one), 5, text, 0);
    expect(watch(early_start(), kResume, "breadth-first", one), 5, text, 0);
    for (const auto* policy : {"up-6.16", "up-6.17"}) {
        EXPECT_EQ(
            watch(early_start(), kResume, policy, one).stuck,
            "resume cannot end: 'S' is held back by the limit of 1 active items, one of which is 'X'; 'X' "
            "waits for 'S'; which closes the circle at 'S'")
            << policy;
    }
}
TEST(Limit, OfTwoItIsEnough) {
    const Conditions two{2, 0, false, 2};
    const std::string_view text = "P[0,1) Y[0,3)m S[3,4) X[4,5)";
    expect(watch(early_start(), kResume, "old", two), 5, text, 2);
    expect(watch(early_start(), kResume, "old-inline", two), 5, text, 1);
    expect(watch(early_start(), kResume, "breadth-first", two), 5, text, 0);
    expect(watch(early_start(), kResume, "up-6.16", two), 5, text, 1);
    expect(watch(early_start(), kResume, "up-6.17", two), 5, text, 1);
}

Example with_empty_ones() {
    return Example{}
        .without_callback("R")
        .async("P", 2, "R")
        .without_callback("N", "P")
        .async("C", 3, "N")
        .sync("S", 4)
        .without_callback("M", "S")
        .async("F", 1, "M");
}

TEST(InlineRule, SavesTheItemsOfDevicesWithoutCallbacks) {
    const std::string_view resume = "P[0,2) C[2,5) S[0,4)m F[4,5)";
    EXPECT_EQ(watch(with_empty_ones(), kResume, "sync").end, 10);
    for (const auto* policy : {"old", "old-inline", "up-6.16", "up-6.17"}) {
        const Seen seen = watch(with_empty_ones(), kResume, policy);
        expect(seen, 5, resume, 0);
        EXPECT_EQ(seen.items, 6) << policy;
    }
    const Seen seen = watch(with_empty_ones(), kResume, "breadth-first");
    expect(seen, 5, resume, 0);
    EXPECT_EQ(seen.items, 3);
}
TEST(InlineRule, OnSuspendToo) {
    EXPECT_EQ(watch(with_empty_ones(), kSuspend, "sync").end, 10);
    const Seen old = watch(with_empty_ones(), kSuspend, "old");
    EXPECT_EQ(old.text, "P[8,10) C[5,8) S[1,5)m F[0,1)");
    EXPECT_EQ(old.items, 6);
    for (const auto* policy : {"breadth-first", "up-6.16", "up-6.17"}) {
        const Seen seen = watch(with_empty_ones(), kSuspend, policy);
        EXPECT_EQ(seen.text, "P[3,5) C[0,3) S[1,5)m F[0,1)") << policy;
        EXPECT_EQ(seen.items, std::string_view{policy} == "breadth-first" ? 3 : 6) << policy;
    }
}

TEST(WakingOrder, AWokenWorkerStartsAfterItsWakersWholeStep) {
    const Example suspend = Example{}
                                .sync("A", 4)
                                .async("B", 6)
                                .add("C", "", true, {asleep(4), cpu(3)})
                                .add("D", "", false, {asleep(4)});
    expect(watch(suspend, kSuspend, "breadth-first"), 9, "A[4,8)m B[0,6) C[0,9) D[0,4)m", 0);
    const Example resume = Example{}
                               .sync("A", 4)
                               .async("C", 3, "A")
                               .async("D", 3, "A")
                               .async("E", 5, "A")
                               .async("F", 1, "C")
                               .async("G", 1, "D");
    expect(watch(resume, kResume, "breadth-first"), 12, "A[0,4)m C[4,7) D[4,7) E[7,12) F[7,8) G[8,9)", 0);
}

}  // namespace
}  // namespace torpor::dpm
