// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "torpor/base/random.hpp"
#include "torpor/engine/cancellation.hpp"
#include "torpor/freezer/policy.hpp"
#include "torpor/freezer/scenario.hpp"
#include "torpor/sched/scheduler.hpp"

namespace torpor::freezer {

/// `runnable`: ready or running. `marked`: set frozen where it sleeps (6.1 and later).
enum class State : std::uint8_t {
    blocked,
    uninterruptible,
    runnable,
    frozen,
    skipped,
    marked,
    stopped,
    zombie
};

/// One task as the walker sees it: 20 bytes, in list order, since a walk does little but read them.
struct Task {
    std::uint32_t next{0};
    std::int32_t group{0};
    std::int32_t number{0};
    State state{State::blocked};
    Kind kind{Kind::user};
    Handling handling{Handling::wake};
    Interrupted interrupted{Interrupted::never};
    std::uint32_t flags{0};
};

static_assert(sizeof(Task) == 20);

/// Bits of Task::flags.
inline constexpr std::uint32_t kAsked = 1;      // the fake signal, or the wish to freeze
inline constexpr std::uint32_t kCounted = 2;    // asked in a way that the walker waits for
inline constexpr std::uint32_t kFreezes = 4;    // finds the freezing condition by itself
inline constexpr std::uint32_t kComputes = 8;   // in user mode until it is asked
inline constexpr std::uint32_t kSpins = 16;     // in the kernel until somebody replies
inline constexpr std::uint32_t kWoken = 32;     // woken while marked or frozen
inline constexpr std::uint32_t kResleeps = 64;  // at thaw only looks at its condition again
inline constexpr std::uint32_t kInterrupted = 128;
inline constexpr std::uint32_t kForked = 256;
inline constexpr std::uint32_t kOneWakeup = 1U << 16;  // the upper half counts wake-ups

inline constexpr std::uint32_t kNoTask = ~std::uint32_t{0};

/// A time at which something happens to a task by itself, from the start of the first freeze.
struct TimedEvent {
    std::int64_t at_ns{0};
    std::uint32_t task{0};
    std::uint32_t kind{0};  // an event of the model
};

/// A task that needs a reply of another.
struct Dependency {
    std::uint32_t client{0};
    std::uint32_t server{0};
    std::int64_t left_cycles{0};
};

/// The tasks of a scenario under one policy, drawn anew for each replicate.
class Population {
  public:
    Population(const Scenario& scenario, Version version);

    /// What happens in one replicate: the list order, and every time drawn from the group's own streams.
    void draw(StreamKey key, engine::StopCheck& stop);

    /// The tasks in list order, as they are when the first freeze begins.
    const std::vector<Task>& tasks() const { return tasks_; }
    /// In list order; for one task the end of its wait, its wake-up, its fork.
    const std::vector<TimedEvent>& events() const { return events_; }
    const std::vector<Dependency>& dependencies() const { return dependencies_; }

  private:
    struct Unit {
        std::uint32_t first{0};
        std::uint32_t count{0};
    };
    void place(StreamKey key, engine::StopCheck& stop);
    void draw_events(StreamKey key, engine::StopCheck& stop);
    void find_dependencies();

    const Scenario& scenario_;
    std::vector<Task> listed_;
    std::vector<Unit> units_;
    std::vector<Unit> shuffled_;
    std::vector<Task> tasks_;
    std::vector<TimedEvent> events_;
    std::vector<Dependency> dependencies_;
    std::vector<std::uint32_t> first_of_group_;  // in listed_
    std::vector<std::uint32_t> place_of_;        // of listed_ in tasks_
    bool timed_{false};
};

/// Events of the model beside the ends of runs.
enum ModelEvent : std::uint32_t {
    kWaitEnds,
    kWakeUp,
    kForks,
    kReply,
    kWalkerTimer,
    kDeadline,
};

}  // namespace torpor::freezer
