// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include "torpor/base/distributions.hpp"
#include "torpor/engine/event_queue.hpp"

namespace {

std::atomic<long> allocations{0};

void* counted(std::size_t size) noexcept {
    ++allocations;
    return std::malloc(size == 0 ? 1 : size);
}

void* counted_or_throw(std::size_t size) {
    if (void* memory = counted(size)) {
        return memory;
    }
    throw std::bad_alloc{};
}

}  // namespace

void* operator new(std::size_t size) {
    return counted_or_throw(size);
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return counted(size);
}
void* operator new[](std::size_t size) {
    return counted_or_throw(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
    return counted(size);
}
// Below -O2, g++ sees the malloc of an inlined new but not the free of its delete.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete[](void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
    std::free(memory);
}

namespace torpor::engine {
namespace {

struct Record {
    int lane;
};

// Pops, schedules, and cancels now and then, with `pending` events waiting.
void churn(EventQueue<Record>& queue, std::vector<EventHandle>& handles, RandomStream& stream, int events) {
    const Exponential delay{1000.0};
    for (int i = 0; i < events; ++i) {
        const auto event = queue.pop();
        const auto lane = static_cast<std::size_t>(event.payload.lane);
        handles[lane] = queue.schedule_after(sample_duration(delay, stream), event.payload);
        const auto other = static_cast<std::size_t>(stream.next_u32()) % handles.size();
        if (i % 3 == 0 && queue.cancel(handles[other])) {
            handles[other] = queue.schedule_after(sample_duration(delay, stream), {static_cast<int>(other)});
        }
    }
}

std::vector<EventHandle> fill(EventQueue<Record>& queue, int pending) {
    std::vector<EventHandle> handles;
    for (int lane = 0; lane < pending; ++lane) {
        handles.push_back(queue.schedule(time_from_ns(lane), {lane}));
    }
    return handles;
}

TEST(Allocations, AreCountedHere) {
    const long before = allocations;
    std::vector<int> vector(100);
    EXPECT_GT(allocations, before) << vector.size();
}

TEST(EventQueueAllocations, DoNotHappenAfterReserve) {
    EventQueue<Record> queue;
    queue.reserve(500);
    RandomStream stream{{1, 0}, "churn"};
    std::vector<EventHandle> handles(500);
    const long before = allocations;
    for (int lane = 0; lane < 500; ++lane) {
        handles[static_cast<std::size_t>(lane)] = queue.schedule(time_from_ns(lane), {lane});
    }
    churn(queue, handles, stream, 20000);
    EXPECT_EQ(allocations, before);
}

TEST(EventQueueAllocations, DoNotHappenInSteadyState) {
    EventQueue<Record> queue;
    RandomStream stream{{1, 0}, "churn"};
    std::vector<EventHandle> handles = fill(queue, 500);
    churn(queue, handles, stream, 20000);
    const long before = allocations;
    churn(queue, handles, stream, 20000);
    EXPECT_EQ(allocations, before);
}

TEST(EventQueueAllocations, DoNotHappenInTheNextReplicate) {
    EventQueue<Record> queue;
    fill(queue, 500);
    queue.clear();
    const long before = allocations;
    for (int lane = 0; lane < 500; ++lane) {
        queue.schedule(time_from_ns(lane), {lane});
    }
    EXPECT_EQ(allocations, before);
}

TEST(EventQueueAllocations, DoNotGrowWithTimersThatAreAimedAnewAndNeverFire) {
    EventQueue<Record> queue;
    queue.reserve(4);
    queue.schedule(time_from_ns(1), {0});  // stays in front, so that what is cancelled behind it is not next
    const long before = allocations;
    EventHandle timer = queue.schedule(time_from_ns(1000), {0});
    for (int i = 0; i < 100000; ++i) {
        queue.cancel(timer);
        timer = queue.schedule(time_from_ns(1000000 - i), {0});
    }
    EXPECT_EQ(allocations, before);
}

}  // namespace
}  // namespace torpor::engine
