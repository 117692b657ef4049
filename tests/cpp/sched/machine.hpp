// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <utility>
#include <vector>

#include "torpor/base/error.hpp"
#include "torpor/sched/scheduler.hpp"

namespace torpor::sched::testing {

/// Entity, CPU, time.
struct Started {
    Entity entity;
    int cpu;
    std::int64_t at;

    bool operator==(const Started&) const = default;
};

inline void PrintTo(const Started& started, std::ostream* out) {
    *out << started.entity << " on " << started.cpu << " at " << started.at;
}

/// Wakes entities at given times and writes down what the scheduler does with them. Work is in cycles; at 1
/// GHz a cycle is a nanosecond.
class Machine {
  public:
    Machine(std::vector<Cpu> cpus, const Rules& rules, std::vector<std::int64_t> work, int drivers = 0)
        : scheduler{std::move(cpus), rules, *this, events_}, work_{std::move(work)} {
        const std::size_t entities = work_.size() + static_cast<std::size_t>(drivers);
        work_.resize(entities, kUnbounded);
        scheduler.reset(entities, static_cast<Entity>(entities) - drivers);
    }

    void wake(std::int64_t at, Entity entity, int waker = kNoCpu, bool at_head = false) {
        wakes_.push_back({entity, waker, at_head});
        events_.schedule(time_from_ns(at), {kWake, static_cast<std::int32_t>(wakes_.size()) - 1});
    }
    /// What runs on a CPU then leaves it, or goes to the tail of its queue.
    void leave(std::int64_t at, int cpu) { events_.schedule(time_from_ns(at), {kLeave, cpu}); }
    void yield(std::int64_t at, int cpu) { events_.schedule(time_from_ns(at), {kYield, cpu}); }
    void cut(std::int64_t at, int cpu) { events_.schedule(time_from_ns(at), {kCut, cpu}); }

    void run(std::int64_t until = std::int64_t{1} << 60) {
        while (scheduler.next_ns() <= until) {
            if (++steps_ > 1'000'000) throw InternalError{"the machine does not come to an end"};
            if (scheduler.next_is_end()) {
                now_ = scheduler.next_end_ns();
                scheduler.handle_end();
                continue;
            }
            const auto event = events_.pop();
            now_ = to_ns(event.at);
            const auto index = event.payload.index;
            switch (event.payload.kind) {
                case kWake: {
                    const Wake& wake = wakes_[static_cast<std::size_t>(index)];
                    scheduler.make_ready(wake.entity, wake.waker, wake.at_head);
                    break;
                }
                case kLeave:
                    scheduler.leave(index);
                    break;
                case kYield:
                    scheduler.yield_to_tail(index);
                    break;
                case kCut:
                    scheduler.cut(index, 5);
                    break;
            }
        }
    }

    std::int64_t now_ns() const { return now_; }
    std::int64_t run_length(Entity entity, int cpu) {
        started.push_back({entity, cpu, now_});
        const std::int64_t work = work_[static_cast<std::size_t>(entity)];
        return work < 0 || work == kUnbounded ? work : cycles_to_ns(work, scheduler.spec(cpu).rate_hz());
    }
    void run_done(Entity entity, int cpu) { done.push_back({entity, cpu, now_}); }
    void run_stopped(Entity entity, int cpu) { stopped.push_back({entity, cpu, now_}); }
    void got_cpu(Entity, int) {}
    bool gives_way(Entity entity) const { return entity < giving_way; }
    void went_idle(int cpu) { idle.push_back({kNobody, cpu, now_}); }

  private:
    enum Kind : std::uint32_t { kWake, kLeave, kYield, kCut };
    struct Wake {
        Entity entity;
        int waker;
        bool at_head;
    };
    Events events_;
    std::vector<Wake> wakes_;
    std::int64_t now_{0};
    std::int64_t steps_{0};

  public:
    Scheduler<Machine> scheduler;
    /// The first entities run only while nobody else wants their CPU.
    Entity giving_way{0};
    std::vector<Started> started;
    std::vector<Started> done;
    std::vector<Started> stopped;
    std::vector<Started> idle;

  private:
    std::vector<std::int64_t> work_;
};

using Log = std::vector<Started>;

inline std::vector<Cpu> cpus(std::size_t count, std::int64_t latency_ns = 0) {
    return std::vector<Cpu>(count, Cpu{1'000'000'000, 1024, 0, latency_ns});
}

inline Rules per_cpu(Placement placement, bool steal = false) {
    return {Queues::per_cpu, placement, steal, 0};
}

inline Rules sliced(std::int64_t slice_ns) {
    Rules rules;
    rules.slice_ns = slice_ns;
    return rules;
}

inline Rules affine() {
    Rules rules;
    rules.placement = Placement::wake_affine;
    return rules;
}

}  // namespace torpor::sched::testing
