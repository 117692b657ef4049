// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <stop_token>
#include <utility>

#include "torpor/base/error.hpp"

namespace torpor::engine {

/// How a run loop listens to a wish to stop: it calls step() once per event, which looks at the token only
/// every kInterval events, so it costs a decrement, and throws Cancelled there. At 50 ns an event that is
/// every 0.2 ms; a model whose events take longer than 20 us each asks for a shorter interval.
class StopCheck {
  public:
    static constexpr std::int32_t kInterval = 4096;

    explicit StopCheck(std::stop_token token, std::int32_t interval = kInterval)
        : token_{std::move(token)}, interval_{interval < 1 ? 1 : interval}, left_{interval_} {}

    void step() {
        if (--left_ == 0) {
            left_ = interval_;
            check();
        }
    }

    /// Looks at once.
    void check() const {
        if (token_.stop_requested()) {
            throw Cancelled{"the run was asked to stop"};
        }
    }

  private:
    std::stop_token token_;
    std::int32_t interval_;
    std::int32_t left_;
};

}  // namespace torpor::engine
