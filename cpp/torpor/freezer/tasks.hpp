// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "torpor/base/distributions.hpp"
#include "torpor/freezer/sites.hpp"

namespace torpor::freezer {

/// `kfreezable`: a kernel thread that has opted in; `knofreeze`: one that is never asked.
enum class Kind : std::uint8_t { user, kfreezable, knofreeze };

/// What a task does when the freeze starts.
///   blocked          asleep in its site
///   uninterruptible  D: does not wake on the fake signal; ends after `d_ends_ns`, or when what it waits for
///                    replies, or never
///   user_mode        computes; takes a CPU, the highest index first, never CPU 0
///   spinning         runs inside the kernel until what it waits for replies; a signal does not stop it
///   stopped          stopped or traced
///   zombie           costs its visits
enum class Start : std::uint8_t { blocked, uninterruptible, user_mode, spinning, stopped, zombie };

/// Equal tasks. Times are nanoseconds from the start of the (first) freeze; each task of the group draws its
/// own from the stream "freezer/<name>/<field>".
struct TaskGroup {
    std::string name;
    std::int64_t count{1};
    /// Threads of one process, neighbours in the task list also when it is shuffled.
    std::int64_t threads{1};
    Kind kind{Kind::user};
    /// Where it sleeps; for a D task, where it sleeps once its wait is over.
    Site site{Site::other};
    Start start{Start::blocked};
    /// When the wait of a D task ends; none: never by itself.
    std::optional<Distribution> d_ends_ns{};
    /// When somebody else wakes the task: a timer that runs out, a message that arrives.
    std::optional<Distribution> wakes_at_ns{};
    /// When a task in user mode forks, if it still computes then.
    std::optional<Distribution> forks_at_ns{};
    /// Name of the group whose task this one needs a reply of: task i waits for task i modulo its count. Only
    /// D and spinning tasks wait.
    std::string waits_on{};
    /// A server replies while it computes in user mode, to all that wait for it, once it has had this much of
    /// a CPU. One that sleeps never replies.
    std::int64_t reply_after_cycles{0};
    /// The group's own bursts, in place of the board's.
    std::optional<std::int64_t> freeze_run_cycles{};
    std::optional<std::int64_t> thaw_run_cycles{};
    /// File descriptors of a select or poll, set up again at thaw.
    std::int64_t nfds{0};

    bool operator==(const TaskGroup&) const = default;
};

/// An item of a freezable workqueue: queued at a time, done `runs_ns` later. One queued after the kernel loop
/// has begun is held until the thaw.
struct WorkItem {
    std::int64_t queued_at_ns{0};
    Distribution runs_ns{Constant{0.0}};

    bool operator==(const WorkItem&) const = default;
};

/// Names as users write them.
std::string_view to_string(Kind kind);
std::string_view to_string(Start start);
std::span<const std::string_view> kind_names();
std::span<const std::string_view> start_names();

}  // namespace torpor::freezer
