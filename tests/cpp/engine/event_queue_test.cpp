// SPDX-License-Identifier: MIT
#include "torpor/engine/event_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "torpor/base/random.hpp"

namespace torpor::engine {
namespace {

using Queue = EventQueue<int>;

Time at(std::int64_t ns) {
    return time_from_ns(ns);
}

std::vector<int> drain(Queue& queue) {
    std::vector<int> order;
    while (!queue.empty()) order.push_back(queue.pop().payload);
    return order;
}

TEST(EventQueue, GivesEventsInOrderOfTime) {
    Queue queue;
    queue.schedule(at(30), 3);
    queue.schedule(at(10), 1);
    queue.schedule(at(20), 2);
    EXPECT_EQ(drain(queue), (std::vector<int>{1, 2, 3}));
}

TEST(EventQueue, GivesEventsOfOneInstantInOrderOfScheduling) {
    Queue queue;
    std::vector<int> expected;
    for (int i = 0; i < 100; ++i) {
        queue.schedule(at(5), i);
        expected.push_back(i);
    }
    EXPECT_EQ(drain(queue), expected);
}

TEST(EventQueue, PutsALateComerOfTheSameInstantLast) {
    Queue queue;
    queue.schedule(at(5), 1);
    queue.schedule(at(5), 2);
    EXPECT_EQ(queue.pop().payload, 1);
    queue.schedule(at(5), 3);
    EXPECT_EQ(drain(queue), (std::vector<int>{2, 3}));
}

TEST(EventQueue, MovesItsClockToEachEvent) {
    Queue queue;
    queue.schedule(at(7), 0);
    EXPECT_EQ(queue.now(), at(0));
    const auto event = queue.pop();
    EXPECT_EQ(event.at, at(7));
    EXPECT_EQ(queue.now(), at(7));
}

TEST(EventQueue, SchedulesRelativeToItsClock) {
    Queue queue;
    queue.schedule(at(7), 0);
    queue.pop();
    queue.schedule_after(from_ns(5), 0);
    EXPECT_EQ(queue.next_time(), at(12));
}

TEST(EventQueue, SaysWhenTheNextEventIsDue) {
    Queue queue;
    EXPECT_EQ(queue.next_time(), kTimeMax);
    queue.schedule(at(9), 0);
    const EventHandle first = queue.schedule(at(4), 0);
    EXPECT_EQ(queue.next_time(), at(4));
    queue.cancel(first);
    EXPECT_EQ(queue.next_time(), at(9));
}

TEST(EventQueue, CountsWhatWaits) {
    Queue queue;
    EXPECT_TRUE(queue.empty());
    const EventHandle handle = queue.schedule(at(1), 0);
    queue.schedule(at(2), 0);
    EXPECT_EQ(queue.size(), 2U);
    queue.cancel(handle);
    EXPECT_EQ(queue.size(), 1U);
    queue.pop();
    EXPECT_TRUE(queue.empty());
}

TEST(EventQueue, KeepsAnEventAtTheEndOfTime) {
    Queue queue;
    queue.schedule(kTimeMax, 2);
    queue.schedule(at(1), 1);
    EXPECT_EQ(drain(queue), (std::vector<int>{1, 2}));
    EXPECT_EQ(queue.now(), kTimeMax);
}

TEST(EventQueue, NeverGivesACancelledEvent) {
    Queue queue;
    std::vector<EventHandle> handles;
    for (int i = 0; i < 10; ++i) handles.push_back(queue.schedule(at(i), i));
    for (std::size_t i = 0; i < 10; i += 2) EXPECT_TRUE(queue.cancel(handles[i]));
    EXPECT_EQ(drain(queue), (std::vector<int>{1, 3, 5, 7, 9}));
}

TEST(EventQueue, KnowsAHandleThatWasCancelledBefore) {
    Queue queue;
    const EventHandle handle = queue.schedule(at(1), 0);
    EXPECT_TRUE(queue.is_pending(handle));
    EXPECT_TRUE(queue.cancel(handle));
    EXPECT_FALSE(queue.is_pending(handle));
    EXPECT_FALSE(queue.cancel(handle));
}

TEST(EventQueue, KnowsAHandleWhoseEventHasBeenTaken) {
    Queue queue;
    const EventHandle handle = queue.schedule(at(1), 0);
    queue.pop();
    EXPECT_FALSE(queue.cancel(handle));
}

TEST(EventQueue, DoesNotTakeAnOldHandleForTheEventThatNowHasItsPlace) {
    Queue queue;
    const EventHandle old = queue.schedule(at(1), 1);
    queue.cancel(old);
    const EventHandle fresh = queue.schedule(at(1), 2);
    ASSERT_EQ(fresh.slot, old.slot);
    EXPECT_FALSE(queue.cancel(old));
    EXPECT_EQ(drain(queue), (std::vector<int>{2}));
}

TEST(EventQueue, KnowsAHandleFromBeforeItWasCleared) {
    Queue queue;
    const EventHandle old = queue.schedule(at(1), 1);
    queue.clear();
    const EventHandle fresh = queue.schedule(at(1), 2);
    ASSERT_EQ(fresh.slot, old.slot);
    EXPECT_FALSE(queue.is_pending(old));
    EXPECT_TRUE(queue.is_pending(fresh));
}

TEST(EventQueue, KnowsAHandleThatItNeverGave) {
    Queue queue;
    EXPECT_FALSE(queue.is_pending({0, 0}));
    EXPECT_FALSE(queue.cancel({5, 1000}));
}

TEST(EventQueue, StartsAnewWhenCleared) {
    Queue queue;
    queue.schedule(at(5), 1);
    queue.schedule(at(6), 2);
    queue.pop();
    queue.clear();
    EXPECT_TRUE(queue.empty());
    EXPECT_EQ(queue.now(), at(0));
    EXPECT_EQ(queue.next_time(), kTimeMax);
    queue.schedule(at(1), 3);
    EXPECT_EQ(drain(queue), (std::vector<int>{3}));
}

TEST(EventQueue, RefusesAnEventInThePast) {
    Queue queue;
    EXPECT_THROW(queue.schedule(at(-1), 0), InternalError);
    queue.schedule(at(10), 0);
    queue.pop();
    EXPECT_THROW(queue.schedule(at(9), 0), InternalError);
    EXPECT_NO_THROW(queue.schedule(at(10), 0));
}

TEST(EventQueue, RefusesToGiveWhatItDoesNotHave) {
    Queue queue;
    EXPECT_THROW(queue.pop(), InternalError);
}

TEST(EventQueue, MovesItsClockWithoutAnEventUpToTheNextOne) {
    Queue queue;
    queue.schedule(at(10), 0);
    queue.advance_to(at(4));
    EXPECT_EQ(queue.now(), at(4));
    EXPECT_THROW(queue.advance_to(at(3)), InternalError);
    EXPECT_THROW(queue.advance_to(at(11)), InternalError);
    EXPECT_NO_THROW(queue.advance_to(at(10)));
}

TEST(EventQueue, RefusesMoreEventsThanItsKeysCanName) {
    Queue queue;
    for (std::size_t i = 0; i < Queue::kMaxPending; ++i) queue.schedule(at(1), 0);
    EXPECT_THROW(queue.schedule(at(1), 0), InternalError);
    EXPECT_EQ(queue.size(), Queue::kMaxPending);
}

// Random use beside an ordered map, which is slow and plainly right.
TEST(EventQueue, AgreesWithAnOrderedMapUnderRandomUse) {
    for (std::uint64_t replicate = 0; replicate < 20; ++replicate) {
        RandomStream random{{1, replicate}, "fuzz"};
        Queue queue;
        std::map<std::pair<std::int64_t, std::uint64_t>, int> model;
        std::vector<std::pair<EventHandle, std::int64_t>> handles;
        const std::uint32_t spread = replicate % 2 == 0 ? 10 : 100000;
        for (int step = 0; step < 5000; ++step) {
            const std::uint32_t dice = random.next_u32() % 100;
            if (dice < 45) {
                const std::int64_t ns = to_ns(queue.now()) + random.next_u32() % spread;
                const EventHandle handle = queue.schedule(at(ns), step);
                model[{ns, handle.sequence}] = step;
                handles.emplace_back(handle, ns);
            } else if (dice < 80 && !handles.empty()) {
                const auto& [handle, ns] = handles[random.next_u32() % handles.size()];
                ASSERT_EQ(queue.cancel(handle), model.erase({ns, handle.sequence}) == 1);
            } else if (!model.empty()) {
                const auto event = queue.pop();
                ASSERT_EQ(to_ns(event.at), model.begin()->first.first);
                ASSERT_EQ(event.payload, model.begin()->second);
                model.erase(model.begin());
            }
            ASSERT_EQ(queue.size(), model.size());
            ASSERT_EQ(queue.next_time(), model.empty() ? kTimeMax : at(model.begin()->first.first));
        }
    }
}

// Far more cancelled than pending, so that the heap is rebuilt often.
TEST(EventQueue, KeepsItsOrderThroughManyCancellations) {
    Queue queue;
    RandomStream random{{1, 0}, "cancel"};
    std::vector<std::pair<std::int64_t, int>> kept;
    for (int i = 0; i < 5000; ++i) {
        const std::int64_t ns = random.next_u32() % 1000;
        const EventHandle handle = queue.schedule(at(ns), i);
        if (i % 10 == 0) {
            kept.emplace_back(ns, i);
        } else {
            queue.cancel(handle);
        }
    }
    std::stable_sort(kept.begin(), kept.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<int> expected;
    for (const auto& [ns, payload] : kept) expected.push_back(payload);
    EXPECT_EQ(drain(queue), expected);
}

}  // namespace
}  // namespace torpor::engine
