// SPDX-License-Identifier: MIT
#include <algorithm>

#include "torpor/base/call_text.hpp"
#include "torpor/dpm/play.hpp"

namespace torpor::dpm {

/// Follows one chain of waiting from the first device that is not done to where it closes or ends.
std::string Model::Play::describe_stuck() const {
    const auto name = [&](std::int32_t device) { return quoted(graph_->names[slot(device)]); };
    const auto holder = [&](std::int32_t device) -> const Program* {
        const auto found = std::find_if(programs_.begin(), programs_.end(), [&](const Program& who) {
            return who.device == device && who.at >= At::device_begin;
        });
        return found == programs_.end() ? nullptr : &*found;
    };
    std::string text{name_of(phase_)};
    text += " cannot end";
    const auto unfinished = [&](std::int32_t device) { return has(device, kQueued) && !has(device, kDone); };
    std::int32_t device = 0;
    while (device < device_count() && !unfinished(device)) ++device;
    std::vector<std::int32_t> seen;
    while (device != kNoDevice && device < device_count()) {
        text += seen.empty() ? ": " : "; ";
        if (std::find(seen.begin(), seen.end(), device) != seen.end()) {
            text += "which closes the circle at " + name(device);
            break;
        }
        seen.push_back(device);
        text += name(device);
        const Program* who = holder(device);
        std::int32_t next = kNoDevice;
        if (who != nullptr && who->waits_for != kNoDevice) {
            next = who->waits_for;
            text += " waits for " + name(next);
        } else if (who != nullptr && who->waits_for_lock >= 0) {
            const auto lock = static_cast<std::size_t>(who->waits_for_lock);
            next = program(locks_[lock].lock.owner()).device;
            text += " waits for lock " + quoted(graph_->locks[lock]) + ", held by " + name(next);
        } else if (std::find(queue_.held_back().begin(), queue_.held_back().end(), device) !=
                   queue_.held_back().end()) {
            text += " is held back by the limit of " +
                    std::to_string(max_active_of(policy_, scheduler_.cpu_count()));
            text += " active items";
            for (const Program& other : programs_) {
                if (other.device != kNoDevice && other.device != device && unfinished(other.device) &&
                    other.waits_for != kNoDevice) {
                    next = other.device;
                    break;
                }
            }
            if (next != kNoDevice) text += ", one of which is " + name(next);
        } else if (!has(device, kQueued)) {
            text += " has not been started";
        } else {
            text += " does not go on";
        }
        device = next;
    }
    return text;
}

}  // namespace torpor::dpm
