// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "torpor/idle/governor.hpp"
#include "torpor/idle/governors/inspection.hpp"
#include "torpor/idle/governors/walk.hpp"

namespace torpor::idle {

/// Always the same state and the same answer about the tick, whatever the latency limit. A disabled state is
/// replaced by the next shallower enabled one.
class FixedGovernor {
  public:
    FixedGovernor(const StateTable& /*table*/, const TickLength& /*tick*/, int state, bool stop_tick)
        : answer_{state, stop_tick} {}

    Selection select(const SelectInput& input, Device& /*device*/) const {
        Selection selection = answer_;
        while (selection.state > 0 && !is_enabled(input, selection.state)) --selection.state;
        return selection;
    }

    void reflect(int /*state*/, bool /*tick_wakeup*/, std::int64_t /*now_ns*/, Device& /*device*/) {}

    Inspection inspect() const { return {}; }

  private:
    Selection answer_;
};

}  // namespace torpor::idle
