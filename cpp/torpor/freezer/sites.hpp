// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

// Where tasks sleep, and which kernel leaves them asleep there while it freezes. The series is Colin Cross,
// "optimize freezing tasks by reducing task wakeups", v2, 1 May 2013; later rows follow the kernel releases.
namespace torpor::freezer {

/// Kernels that treat sleeping tasks differently: before the series, its patches one by one and together
/// (`full` is 3.11), the releases after it, and a bound that leaves every interruptible sleep alone.
enum class Version : std::uint8_t { v3_9, p1, p2, p1p2, skip_only, full, v3_12, v6_1, v6_7, ideal };

/// Blocking sites. `rpc` is the killable wait of NFS and CIFS; `cgroup_frozen` that of a task which a v2
/// cgroup has frozen already; `af_unix_splice` a stream read with a pipe lock held.
enum class Site : std::uint8_t {
    binder,
    epoll,
    select,
    poll,
    futex,
    nanosleep,
    sigtimedwait,
    af_unix,
    af_unix_timeout,
    af_unix_splice,
    vfork,
    coredump,
    usermodehelper,
    rpc,
    cgroup_frozen,
    pipe,
    tty,
    inet_socket,
    eventfd,
    inotify,
    waitpid,
    pause,
    msgrcv,
    semop,
    kthread,
    other,
};
inline constexpr std::size_t kSiteCount = static_cast<std::size_t>(Site::other) + 1;

/// What the fake signal does to the system call that sleeps in a site: restarted with its arguments,
/// restarted with the time that is left, or ended by an error that the program sees (signal(7): epoll_wait,
/// semop, sigtimedwait and sockets with a timeout fail with EINTR although no handler runs).
enum class Interrupted : std::uint8_t { never, restarted, restart_block, visible_error };

/// What the walker does to a task that sleeps in a site. `request`: before patch 2 such a task was signalled
/// but neither woken nor counted. `skip`: counted as frozen where it sleeps. `mark`: its state is set to
/// frozen where it sleeps (6.1 and later).
enum class Handling : std::uint8_t { wake, request, skip, mark };

Handling handling(Site site, Version version);
Interrupted interrupted(Site site);

/// Names as users write them: "sigtimedwait", "skip-only", "v6.1".
std::string_view to_string(Site site);
std::string_view to_string(Version version);
std::string_view to_string(Interrupted interrupted);
std::string_view to_string(Handling handling);
std::span<const std::string_view> site_names();
std::span<const std::string_view> version_names();

/// The conversion's mail or release, for listings.
std::string_view source_of(Site site);

}  // namespace torpor::freezer
