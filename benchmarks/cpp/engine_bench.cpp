// SPDX-License-Identifier: MIT
#include <benchmark/benchmark.h>

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "torpor/base/distributions.hpp"
#include "torpor/engine/event_queue.hpp"
#include "torpor/engine/timeline.hpp"

// The queue in the pattern of a simulation: as many events pending as the argument says; each one popped
// schedules another a random time later. One item is one pop with its push. Goal: no slower than a
// std::priority_queue of the same record from 4096 pending on, although ours can cancel and the peer cannot.
namespace {

using torpor::Duration;
using torpor::Time;

struct Record {
    std::int32_t lane;
    std::uint16_t kind;
    std::uint16_t flags;
};

// Delays made beforehand, so that drawing them is not timed.
std::vector<Duration> make_delays() {
    constexpr std::size_t kDelays = std::size_t{1} << 16;
    torpor::RandomStream stream{{1, 0}, "delays"};
    const torpor::Exponential delay{Duration{100000}};
    std::vector<Duration> delays;
    for (std::size_t i = 0; i < kDelays; ++i) {
        delays.push_back(torpor::sample_duration(delay, stream));
    }
    return delays;
}

const std::vector<Duration>& delays() {
    static const std::vector<Duration> made = make_delays();
    return made;
}

// Our queue behind the two calls that every contender offers.
class Ours {
  public:
    void push(Time at, Record record) { queue_.schedule(at, record); }
    Time pop(std::int64_t& sum) {
        const auto event = queue_.pop();
        sum += event.payload.lane;
        return event.at;
    }

  private:
    torpor::engine::EventQueue<Record> queue_;
};

class PriorityQueue {
  public:
    void push(Time at, Record record) { queue_.push({at, sequence_++, record}); }
    Time pop(std::int64_t& sum) {
        const Item item = queue_.top();
        queue_.pop();
        sum += item.record.lane;
        return item.at;
    }

  private:
    struct Item {
        Time at;
        std::uint64_t sequence;
        Record record;
    };
    struct Later {
        bool operator()(const Item& a, const Item& b) const {
            return a.at != b.at ? a.at > b.at : a.sequence > b.sequence;
        }
    };
    std::priority_queue<Item, std::vector<Item>, Later> queue_;
    std::uint64_t sequence_{0};
};

class FunctionQueue {
  public:
    void push(Time at, Record record) {
        // What a callback of a real model would hold: its object, the record and the time. Too large to stay
        // in place.
        queue_.push(
            {at, sequence_++, [record, at](std::int64_t& sum) { sum += at > Time{} ? record.lane : 0; }});
    }
    Time pop(std::int64_t& sum) {
        Item item = std::move(const_cast<Item&>(queue_.top()));
        queue_.pop();
        item.action(sum);
        return item.at;
    }

  private:
    struct Item {
        Time at;
        std::uint64_t sequence;
        std::function<void(std::int64_t&)> action;
    };
    struct Later {
        bool operator()(const Item& a, const Item& b) const {
            return a.at != b.at ? a.at > b.at : a.sequence > b.sequence;
        }
    };
    std::priority_queue<Item, std::vector<Item>, Later> queue_;
    std::uint64_t sequence_{0};
};

template <class Queue>
void fill(Queue& queue, std::int64_t pending) {
    for (std::int64_t i = 0; i < pending; ++i) {
        queue.push(Time{} + delays()[static_cast<std::size_t>(i) % delays().size()] + Duration{1},
                   {static_cast<std::int32_t>(i), 0, 0});
    }
}

template <class Queue>
void cycle(Queue& queue, std::size_t& next, std::int64_t& sum) {
    const std::int64_t before = sum;
    const Time now = queue.pop(sum);
    queue.push(now + delays()[next], {static_cast<std::int32_t>(sum - before), 0, 0});
    next = (next + 1) % delays().size();
}

// Sum of lanes weighted by place: any difference in order shows.
template <class Queue>
std::int64_t fingerprint(std::int64_t pending) {
    Queue queue;
    fill(queue, pending);
    std::size_t next = 0;
    std::int64_t result = 0;
    for (std::int64_t i = 0; i < 2 * pending; ++i) {
        std::int64_t lane = 0;
        cycle(queue, next, lane);
        result += lane * (i % 1009);
    }
    return result;
}

template <class Queue>
void push_pop(benchmark::State& state) {
    const std::int64_t pending = state.range(0);
    if (fingerprint<Queue>(pending) != fingerprint<PriorityQueue>(pending)) {
        state.SkipWithError("events left in another order than from std::priority_queue");
        return;
    }
    Queue queue;
    fill(queue, pending);
    std::size_t next = 0;
    std::int64_t sum = 0;
    for (auto _ : state) {
        cycle(queue, next, sum);
    }
    benchmark::DoNotOptimize(sum);
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK_TEMPLATE(push_pop, Ours)->Arg(64)->Arg(4096)->Arg(65536);
BENCHMARK_TEMPLATE(push_pop, PriorityQueue)->Arg(64)->Arg(4096)->Arg(65536);
BENCHMARK_TEMPLATE(push_pop, FunctionQueue)->Arg(64)->Arg(4096)->Arg(65536);

// A timer that is aimed anew before it fires, as the tick and most timeouts are: one item is one cancel with
// its push.
void cancel_and_rearm(benchmark::State& state) {
    const std::int64_t pending = state.range(0);
    torpor::engine::EventQueue<Record> queue;
    std::vector<torpor::engine::EventHandle> handles;
    for (std::int64_t i = 0; i < pending; ++i) {
        handles.push_back(
            queue.schedule(Time{} + delays()[static_cast<std::size_t>(i) % delays().size()], {}));
    }
    if (!queue.cancel(handles[0]) || queue.cancel(handles[0]) ||
        queue.size() != static_cast<std::size_t>(pending - 1)) {
        state.SkipWithError("cancel does not do what it says");
        return;
    }
    handles[0] = queue.schedule(Time{} + delays()[0], {});
    std::size_t next = 0;
    for (auto _ : state) {
        const std::size_t which = next % handles.size();
        queue.cancel(handles[which]);
        handles[which] = queue.schedule(Time{} + delays()[next % delays().size()], {});
        next += 7919;
    }
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(cancel_and_rearm)->Arg(64)->Arg(4096)->Arg(65536);

}  // namespace

BENCHMARK_MAIN();
