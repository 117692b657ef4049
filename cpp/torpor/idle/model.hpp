// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <stop_token>

#include "torpor/base/random.hpp"
#include "torpor/engine/timeline.hpp"
#include "torpor/idle/policy.hpp"
#include "torpor/idle/result.hpp"
#include "torpor/idle/scenario.hpp"

namespace torpor::idle {

/// All CPUs of a board going idle under one policy. Built once per (scenario, policy), run once per
/// replicate: replicate r of a seed meets the same arrivals, refusals and tick phase whatever the policy.
///
/// The loop is compiled for each policy by itself; the one indirect call is that of run().
class Model {
  public:
    /// Keeps a copy of the scenario. Throws ConfigError when the scenario or the policy cannot be.
    Model(const Scenario& scenario, const Policy& policy);
    Model(Model&&) noexcept;
    Model& operator=(Model&&) noexcept;
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;
    ~Model();

    /// One replicate. `sink`, if given, is told every entry, exit and change of the tick (see TimelineKind).
    Result run(StreamKey key, const std::stop_token& stop, engine::TimelineSink* sink = nullptr);

    /// A model of one policy; the template behind it is not visible outside.
    class Loop;

  private:
    std::unique_ptr<Loop> loop_;
};

}  // namespace torpor::idle
