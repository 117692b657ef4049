// SPDX-License-Identifier: MIT
#include "torpor/dpm/graph_check.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <unordered_set>

#include "torpor/base/call_text.hpp"
#include "torpor/base/error.hpp"

namespace torpor::dpm {
namespace {

constexpr std::int64_t kTickNs = 10'000'000;

// `+=`, not `+`: g++ 12 warns falsely of an overlapping copy where it inlines the latter.
std::string bracketed(std::size_t number) {
    std::string text{"["};
    text += std::to_string(number);
    text += "]";
    return text;
}

void check_locks(const GraphSpec& spec) {
    std::unordered_set<std::string_view> seen;
    for (std::size_t i = 0; i < spec.locks.size(); ++i) {
        const std::string key = "locks" + bracketed(i);
        if (spec.locks[i].empty()) throw ConfigError{key, "has no name"};
        if (!seen.insert(spec.locks[i]).second) {
            throw ConfigError{key, quoted(spec.locks[i]), "is the name of an earlier lock"};
        }
    }
}

/// Walks one callback; keys are built only when something is wrong.
class CallbackCheck {
  public:
    CallbackCheck(const GraphSpec& spec, std::size_t device, std::size_t phase)
        : spec_{spec}, device_{device}, phase_{phase} {}

    /// Nanoseconds of all segments.
    std::int64_t total() {
        const std::vector<Segment>& segments = spec_.devices[device_].callbacks[phase_];
        std::int64_t total = 0;
        for (std::size_t i = 0; i < segments.size(); ++i) {
            total += length(segments[i], i);
            // Checked as it grows: each segment is short enough for the sum not to overflow before.
            if (total > kMaxTotalNs) fail("", "takes more than " + std::to_string(kMaxTotalNs) + " ns");
        }
        if (!held_.empty()) fail("", "ends while it holds lock " + quoted(spec_.locks[held_.back()]));
        return total;
    }

  private:
    [[noreturn]] void fail(const std::string& where, const std::string& message) const {
        throw ConfigError{key() + where, message};
    }

    std::string key() const {
        return device_key(spec_, device_) + ".callbacks." + std::string{kPhaseNames[phase_]};
    }

    void check(std::size_t i, const char* member, std::int64_t value, std::int64_t low,
               std::int64_t high) const {
        if (value >= low && value <= high) return;
        throw ConfigError{key() + bracketed(i) + "." + member, std::to_string(value),
                          "is outside " + std::to_string(low) + ".." + std::to_string(high)};
    }

    std::int64_t length(const Segment& segment, std::size_t i) {
        const auto [kind, first, second] = segment;
        switch (kind) {
            case SegmentKind::cpu:
                check(i, "first", first, 0, kMaxSegmentNs);
                check(i, "second", second, 0, kMaxSegmentNs);
                return first + second;
            case SegmentKind::sleep:
                check(i, "first", first, 0, kMaxSegmentNs);
                check(i, "second", second, 0, 0);
                return first;
            case SegmentKind::tick_sleep:
                check(i, "first", first, 1, kMaxTicks);
                check(i, "second", second, 0, 0);
                return first * kTickNs;
            case SegmentKind::range_sleep:
                check(i, "first", first, 0, kMaxSegmentNs);
                check(i, "second", second, first, kMaxSegmentNs);
                return second;
            case SegmentKind::lock:
            case SegmentKind::unlock:
                lock(segment, i);
                return 0;
        }
        fail(bracketed(i), "is of an unknown kind");
    }

    void lock(const Segment& segment, std::size_t i) {
        if (spec_.locks.empty()) fail(bracketed(i), "names a lock, but there are none");
        check(i, "first", segment.first, 0, static_cast<std::int64_t>(spec_.locks.size()) - 1);
        check(i, "second", segment.second, 0, 0);
        const auto number = static_cast<std::size_t>(segment.first);
        const auto place = std::find(held_.begin(), held_.end(), number);
        if (segment.kind == SegmentKind::lock) {
            if (place != held_.end()) complain(i, "takes", number, "which this callback holds already");
            held_.push_back(number);
        } else {
            if (place == held_.end()) complain(i, "gives back", number, "which this callback does not hold");
            held_.erase(place);
        }
    }

    [[noreturn]] void complain(std::size_t i, const char* does, std::size_t number, const char* why) const {
        fail(bracketed(i), std::string{does} + " lock " + quoted(spec_.locks[number]) + ", " + why);
    }

    const GraphSpec& spec_;
    std::size_t device_;
    std::size_t phase_;
    std::vector<std::size_t> held_;
};

void check_flags(const GraphSpec& spec, std::size_t number) {
    const DeviceSpec& device = spec.devices[number];
    const auto fail = [&](const std::string& member, const std::string& message) {
        throw ConfigError{device_key(spec, number) + "." + member, message};
    };
    const bool answers = device.prepare_result != PrepareResult::ok;
    if (answers && device.no_pm_callbacks) fail("prepare_result", "there is none with no_pm_callbacks");
    for (std::size_t phase = 0; phase < kPhases; ++phase) {
        const std::string name{kPhaseNames[phase]};
        const bool has_segments = !device.callbacks[phase].empty();
        const bool has_callback = has_segments || device.empty_callbacks[phase];
        if (has_callback && device.no_pm_callbacks) {
            fail("callbacks." + name, "there is one, but no_pm_callbacks says that there is none");
        }
        if (has_segments && device.empty_callbacks[phase]) {
            fail("empty_callbacks." + name, "this callback has segments");
        }
        if (device.fails[phase] && phase == index_of(Phase::prepare)) {
            fail("fails.prepare", "is said by prepare_result");
        }
        if (device.fails[phase] && phase == index_of(Phase::complete)) {
            fail("fails.complete", "this phase returns no errors");
        }
        const bool runs = has_callback || (answers && phase == index_of(Phase::prepare));
        if (device.fails[phase] && !runs) fail("fails." + name, "this phase has no callback");
        if (device.wakes_system[phase] && !runs) fail("wakes_system." + name, "this phase has no callback");
    }
}

}  // namespace

std::string device_key(const GraphSpec& spec, std::size_t number) {
    const std::string& name = spec.devices[number].name;
    return "devices[" + (name.empty() ? std::to_string(number) : name) + "]";
}

void check_devices(const GraphSpec& spec) {
    const std::size_t count = spec.devices.size();
    if (count == 0) throw ConfigError{"devices", "there are none; at least one is needed"};
    if (count > kMaxDevices) {
        throw ConfigError{"devices",
                          std::to_string(count) + " are too many; at most " + std::to_string(kMaxDevices)};
    }
    check_locks(spec);
    std::int64_t total = 0;
    std::size_t segments = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (spec.devices[i].name.empty()) throw ConfigError{device_key(spec, i) + ".name", "is empty"};
        check_flags(spec, i);
        for (std::size_t phase = 0; phase < kPhases; ++phase) {
            total += CallbackCheck{spec, i, phase}.total();
            if (total > kMaxTotalNs) {
                throw ConfigError{"devices", "callbacks up to that of " + quoted(spec.devices[i].name) +
                                                 " take " + std::to_string(total) + " ns together; at most " +
                                                 std::to_string(kMaxTotalNs)};
            }
            segments += spec.devices[i].callbacks[phase].size();
        }
    }
    if (segments > std::numeric_limits<std::uint32_t>::max()) {
        throw ConfigError{"devices", std::to_string(segments) + " segments are too many; at most " +
                                         std::to_string(std::numeric_limits<std::uint32_t>::max())};
    }
}

}  // namespace torpor::dpm
