// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "torpor/dpm/phases.hpp"

// Devices, what must come before what, and what their callbacks do. A user writes a GraphSpec; compile()
// checks it and makes the Graph that the engine reads.
namespace torpor::dpm {

inline constexpr std::int32_t kNoDevice = -1;
inline constexpr std::size_t kMaxDevices = 1'000'000;
inline constexpr std::size_t kMaxLinks = 10'000'000;
/// Longest segment, hold or sleep: about 12 days.
inline constexpr std::int64_t kMaxSegmentNs = 1'000'000'000'000'000;
/// Longest tick sleep: as long at 100 Hz.
inline constexpr std::int64_t kMaxTicks = 100'000'000;
/// All segments of a graph together, ticks taken as 10 ms: about 3 years. So no clock overflows, even on a
/// CPU with a fiftieth of the reference rate.
inline constexpr std::int64_t kMaxTotalNs = 100'000'000'000'000'000;

/// What a callback does next.
///   cpu         `first` reference-CPU ns (divided by the CPU's rate) and `second` ns during which the CPU is
///               held whatever its rate (register access, polling); mechanism K4
///   sleep       `first` ns by a high-resolution timer
///   tick_sleep  until the `first`-th tick from now (from 1): a sleep through the timer wheel
///   range_sleep from `first` to `second` ns: ends with a timer interrupt inside the range, else at its far
///   end lock        takes shared lock `first`, FIFO; waits for it without the CPU unlock      gives it to
///   the first that waits
/// `second` is zero where nothing is said of it.
enum class SegmentKind : std::uint8_t { cpu, sleep, tick_sleep, range_sleep, lock, unlock };

struct Segment {
    SegmentKind kind{SegmentKind::cpu};
    std::int64_t first{0};
    std::int64_t second{0};

    bool operator==(const Segment&) const = default;
};

/// State of a device link. Only dormant ones are ignored by suspend and resume.
enum class LinkState : std::uint8_t { dormant, available, consumer_probe, active, supplier_unbind, none };
inline constexpr std::array<std::string_view, 6> kLinkStateNames{
    "dormant", "available", "consumer_probe", "active", "supplier_unbind", "none"};

struct Link {
    std::string supplier;
    std::string consumer;
    LinkState state{LinkState::active};
    /// Orders sync_state callbacks only: no order of suspend and resume, and no cycle.
    bool sync_state_only{false};
    /// Made from the firmware's description: added as soon as both ends are registered, and relaxed to
    /// sync_state_only when it lies on a cycle. Others are added when all devices are registered.
    bool inferred{false};

    bool operator==(const Link&) const = default;
};

/// What runtime power management says of a device when the suspend begins.
enum class RuntimeStatus : std::uint8_t { active, suspended, unsupported };
inline constexpr std::array<std::string_view, 3> kRuntimeStatusNames{"active", "suspended", "unsupported"};

/// What prepare() returns. All but ok imply that there is such a callback.
///   ok               0
///   direct_complete  > 0: may stay as it is if it is runtime suspended
///   again            -EAGAIN: the device is left out of this cycle
///   error            any other error: the suspend is given up
enum class PrepareResult : std::uint8_t { ok, direct_complete, again, error };
inline constexpr std::array<std::string_view, 4> kPrepareResultNames{"ok", "direct_complete", "again",
                                                                     "error"};

struct DeviceSpec {
    std::string name;
    /// Name of the parent, empty for none.
    std::string parent;
    /// May be handled by a worker.
    bool async_suspend{true};
    /// Handled outside of the device core, which skips its callbacks.
    bool syscore{false};
    /// Neither bus, class, type, domain nor driver supplies any callback. Otherwise a phase without segments
    /// has a callback of no length only if `empty_callbacks` has it.
    bool no_pm_callbacks{false};
    RuntimeStatus runtime_status{RuntimeStatus::active};
    /// May wake the system: never left alone by direct_complete, and neither are its ancestors.
    bool wakeup{false};
    /// Skips late and noirq callbacks of its driver when it is runtime suspended already.
    bool smart_suspend{false};
    /// May stay suspended on resume if nobody needs it.
    bool may_skip_resume{false};
    /// Has opted out of direct_complete.
    bool no_direct_complete{false};
    PrepareResult prepare_result{PrepareResult::ok};
    /// Phases whose callback returns an error; not prepare (see prepare_result) nor complete (returns
    /// nothing).
    std::array<bool, kPhases> fails{};
    /// A wakeup event becomes pending while the callback of this phase runs.
    std::array<bool, kPhases> wakes_system{};
    std::array<std::vector<Segment>, kPhases> callbacks;
    /// Phases with a callback that takes no time.
    std::array<bool, kPhases> empty_callbacks{};

    bool operator==(const DeviceSpec&) const = default;
};

/// Devices in the order in which they were registered, and links in the order in which they were added (those
/// inferred from firmware are added earlier, see Link::inferred).
struct GraphSpec {
    std::vector<DeviceSpec> devices;
    std::vector<Link> links;
    /// Names of the shared locks; a segment's lock is an index into them.
    std::vector<std::string> locks;
    /// The devices are in the order of the list already, as read from a running kernel: links move nothing.
    bool in_list_order{false};

    bool operator==(const GraphSpec&) const = default;
};

/// Lists of neighbours, one row per device, in one block.
class Rows {
  public:
    std::span<const std::int32_t> operator[](std::int32_t row) const {
        const auto r = static_cast<std::size_t>(row);
        return std::span{items_}.subspan(begins_[r], begins_[r + 1] - begins_[r]);
    }
    std::size_t size() const { return items_.size(); }

    /// Rows from (row, item) pairs: those of one row keep their order.
    static Rows from_pairs(std::size_t rows, std::span<const std::array<std::int32_t, 2>> pairs);

    bool operator==(const Rows&) const = default;

  private:
    std::vector<std::uint32_t> begins_{0};
    std::vector<std::int32_t> items_;
};

/// What the engine needs to know of a device besides its neighbours and callbacks.
struct DeviceFlags {
    bool async_suspend : 1;
    bool syscore : 1;
    bool no_pm_callbacks : 1;
    bool runtime_suspended : 1;  // suspended, or never enabled
    bool wakeup : 1;
    bool smart_suspend : 1;
    bool may_skip_resume : 1;
    bool no_direct_complete : 1;
    bool has_supplier_link : 1;  // dormant or not, but not sync_state_only: what up-6.17 calls no root
    bool has_consumer_link : 1;  // likewise: no leaf

    bool operator==(const DeviceFlags&) const = default;
};

/// A callback of one device in one phase.
struct Callback {
    std::uint32_t begin{0};  // into Graph::segments
    std::uint32_t count{0};
    bool exists{false};
    bool fails{false};
    bool wakes_system{false};

    bool operator==(const Callback&) const = default;
};

/// The graph as the engine reads it. Devices are numbered by their place in the list of the device core, so
/// resume walks 0, 1, 2, ... and suspend the other way.
///
/// The list is in the order of registration, changed by each link that is added to a registered consumer: it
/// goes to the end of the list, then its children in their order, then its consumers, each with all that
/// depends on it; the last move of a device counts. Dormant links do that, too, sync_state_only ones do not.
/// A link inferred from firmware moves nothing if its supplier was registered before its consumer. Nothing
/// moves in a GraphSpec that is in_list_order.
///
/// No cycles: links that are inferred and lie on a loop of parents and links are relaxed to sync_state_only,
/// all of them and from the beginning, since the firmware's description is known before its devices are
/// registered; a link that closes a loop of others is refused. So the list is a topological order. (Linux
/// 6.1: drivers/base/core.c, device_link_add)
struct Graph {
    std::vector<std::string> names;
    /// Index in the spec of each device.
    std::vector<std::int32_t> registered;
    std::vector<std::int32_t> parent;
    Rows children;   // in the order of registration
    Rows suppliers;  // in the order in which the links were added; dormant and sync_state_only ones left out
    Rows consumers;  // likewise
    Rows superiors;  // the parent, then suppliers: what a device waits for on resume
    Rows subordinates;  // children, then consumers: what it waits for on suspend
    std::vector<DeviceFlags> flags;
    std::vector<PrepareResult> prepare_results;
    /// callbacks[phase][device].
    std::array<std::vector<Callback>, kPhases> callbacks;
    std::vector<Segment> segments;
    std::vector<std::string> locks;
    /// Inferred links that were relaxed because they closed a cycle, as indices into the spec's links.
    std::vector<std::int32_t> relaxed_links;

    std::int32_t size() const { return static_cast<std::int32_t>(names.size()); }
    std::span<const Segment> segments_of(const Callback& callback) const {
        return std::span{segments}.subspan(callback.begin, callback.count);
    }

    bool operator==(const Graph&) const = default;
};

/// Takes time in proportion to devices, links and segments, however deep the graph.
///
/// Throws ConfigError for
///   devices         none, more than kMaxDevices, segments of more than kMaxTotalNs together
///   devices[NAME]   (or the number of a device without name) an empty or repeated name; a parent that is
///                   unknown, the device itself or registered later; no_pm_callbacks, but a callback; an
///                   empty callback with segments; an error or a wakeup event in a phase without callback, an
///                   error of prepare or complete
///   devices[NAME].callbacks.PHASE   (with [i]: its i-th segment) a number out of its limits, a range that
///   ends
///                   before it begins, an unknown lock, one taken twice, given back but not held, or held at
///                   the end
///   links           more than kMaxLinks
///   links[SUPPLIER--CONSUMER]       an unknown end, a device linked to itself, a pair that is linked
///   already,
///                   a loop that has no inferred link to relax (spelt out), a consumer before its supplier if
///                   the devices are in_list_order
///   locks[i]        an empty or repeated name
Graph compile(const GraphSpec& spec);

}  // namespace torpor::dpm
