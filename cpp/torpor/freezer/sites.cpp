// SPDX-License-Identifier: MIT
#include "torpor/freezer/sites.hpp"

#include <array>

namespace torpor::freezer {

namespace {

// In the order of the enumerators.
constexpr std::array<std::string_view, 10> kVersions{"v3.9", "p1",    "p2",   "p1p2", "skip-only",
                                                     "full", "v3.12", "v6.1", "v6.7", "ideal"};
constexpr std::array<std::string_view, 4> kInterrupted{"never", "restarted", "restart_block",
                                                       "visible_error"};
constexpr std::array<std::string_view, 4> kHandlings{"wake", "request", "skip", "mark"};

// How far the kernel has come with a site.
enum class Conversion : std::uint8_t {
    before,     // exempt from the count already before the series
    kept,       // converted by the series, and still so
    withdrawn,  // converted by the series, taken back for 3.12
    rewrite,    // left asleep since the rewrite of 6.1
    none,       // always woken
    kthread,    // woken even by the bound: the thread itself has to call the check
};

using HandlingRow = std::array<Handling, kVersions.size()>;

constexpr Handling kWake = Handling::wake;
constexpr Handling kReq = Handling::request;
constexpr Handling kSkip = Handling::skip;
constexpr Handling kMark = Handling::mark;

// clang-format off
constexpr std::array<HandlingRow, 6> kHandlingTable{{
    //               v3.9   p1     p2     p1p2   skip-  full   v3.12  v6.1   v6.7   ideal
    /* before    */ {kReq,  kReq,  kSkip, kSkip, kSkip, kSkip, kSkip, kMark, kMark, kMark},
    /* kept      */ {kWake, kWake, kWake, kWake, kSkip, kSkip, kSkip, kMark, kMark, kMark},
    /* withdrawn */ {kWake, kWake, kWake, kWake, kSkip, kSkip, kWake, kWake, kWake, kMark},
    /* rewrite   */ {kWake, kWake, kWake, kWake, kWake, kWake, kWake, kMark, kMark, kMark},
    /* none      */ {kWake, kWake, kWake, kWake, kWake, kWake, kWake, kWake, kWake, kMark},
    /* kthread   */ {kWake, kWake, kWake, kWake, kWake, kWake, kWake, kWake, kWake, kWake},
}};
// clang-format on

struct SiteRow {
    Site site;
    std::string_view name;
    Conversion conversion;
    Interrupted interrupted;
    std::string_view source;
};

using C = Conversion;
using I = Interrupted;

constexpr std::string_view kReverted5 = "series v2, patch 5; reverted for 3.12";
constexpr std::string_view kReverted6 = "series v2, patch 6; reverted for 3.12";
constexpr std::string_view kNoSplice = "series v2, patch 10; not for splice from 3.12 on";
constexpr std::string_view kUncounted = "not counted before the series; patch 2 stops the signal";
constexpr std::string_view kUnsafe = "not counted before the series; 'unsafe' helpers from 3.11";
constexpr std::string_view kCgroup = "v2 cgroup freezer of 5.2: a freezable wait";
constexpr std::string_view kThread = "kernel threads call the freeze check themselves";
constexpr std::string_view kNobody = "any sleep that no kernel converts";
constexpr std::string_view kRestarts = "signal(7): restarted unless a handler runs";
constexpr std::string_view kMeasured = "traces of 6.1: wait4 is left asleep and woken by the thaw";
constexpr std::string_view kFails = "signal(7): fails with EINTR even without a handler";

// clang-format off
constexpr std::array<SiteRow, kSiteCount> kSites{{
    {Site::binder,          "binder",          C::kept,      I::restarted,     "series v2, patch 4"},
    {Site::epoll,           "epoll",           C::withdrawn, I::visible_error, kReverted5},
    {Site::select,          "select",          C::withdrawn, I::restarted,     kReverted6},
    {Site::poll,            "poll",            C::withdrawn, I::restart_block, kReverted6},
    {Site::futex,           "futex",           C::kept,      I::restarted,     "series v2, patch 7"},
    {Site::nanosleep,       "nanosleep",       C::kept,      I::restart_block, "series v2, patch 8"},
    {Site::sigtimedwait,    "sigtimedwait",    C::kept,      I::visible_error, "series v2, patch 9"},
    {Site::af_unix,         "af_unix",         C::kept,      I::restarted,     "series v2, patch 10"},
    {Site::af_unix_timeout, "af_unix_timeout", C::kept,      I::visible_error, "series v2, patch 10"},
    {Site::af_unix_splice,  "af_unix_splice",  C::withdrawn, I::restarted,     kNoSplice},
    {Site::vfork,           "vfork",           C::before,    I::never,         kUncounted},
    {Site::coredump,        "coredump",        C::before,    I::never,         kUncounted},
    {Site::usermodehelper,  "usermodehelper",  C::before,    I::never,         kUncounted},
    {Site::rpc,             "rpc",             C::before,    I::never,         kUnsafe},
    {Site::cgroup_frozen,   "cgroup_frozen",   C::before,    I::never,         kCgroup},
    {Site::pipe,            "pipe",            C::none,      I::restarted,     kRestarts},
    {Site::tty,             "tty",             C::none,      I::restarted,     kRestarts},
    {Site::inet_socket,     "inet_socket",     C::none,      I::restarted,     kRestarts},
    {Site::eventfd,         "eventfd",         C::none,      I::restarted,     kRestarts},
    {Site::inotify,         "inotify",         C::none,      I::restarted,     kRestarts},
    {Site::waitpid,         "waitpid",         C::rewrite,   I::restarted,     kMeasured},
    {Site::pause,           "pause",           C::none,      I::restarted,     kRestarts},
    {Site::msgrcv,          "msgrcv",          C::none,      I::restarted,     kRestarts},
    {Site::semop,           "semop",           C::none,      I::visible_error, kFails},
    {Site::kthread,         "kthread",         C::kthread,   I::never,         kThread},
    {Site::other,           "other",           C::none,      I::restarted,     kNobody},
}};
// clang-format on

constexpr bool rows_match_enumerators() {
    for (std::size_t i = 0; i < kSites.size(); ++i) {
        if (kSites[i].site != static_cast<Site>(i)) return false;
    }
    return true;
}
static_assert(rows_match_enumerators());

constexpr auto kSiteNames = [] {
    std::array<std::string_view, kSiteCount> names;
    for (std::size_t i = 0; i < names.size(); ++i) names[i] = kSites[i].name;
    return names;
}();

const SiteRow& row(Site site) {
    return kSites[static_cast<std::size_t>(site)];
}

}  // namespace

Handling handling(Site site, Version version) {
    const HandlingRow& by_version = kHandlingTable[static_cast<std::size_t>(row(site).conversion)];
    return by_version[static_cast<std::size_t>(version)];
}

Interrupted interrupted(Site site) {
    return row(site).interrupted;
}

std::string_view to_string(Site site) {
    return row(site).name;
}

std::string_view to_string(Version version) {
    return kVersions[static_cast<std::size_t>(version)];
}

std::string_view to_string(Interrupted interrupted) {
    return kInterrupted[static_cast<std::size_t>(interrupted)];
}

std::string_view to_string(Handling handling) {
    return kHandlings[static_cast<std::size_t>(handling)];
}

std::span<const std::string_view> site_names() {
    return kSiteNames;
}

std::span<const std::string_view> version_names() {
    return kVersions;
}

std::string_view source_of(Site site) {
    return row(site).source;
}

}  // namespace torpor::freezer
