// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "torpor/base/random.hpp"
#include "torpor/engine/timeline.hpp"
#include "torpor/freezer/policy.hpp"
#include "torpor/freezer/result.hpp"
#include "torpor/freezer/scenario.hpp"

namespace torpor::freezer {

/// One freeze and its thaw of a population. Built once per (scenario, policy), run once per replicate:
/// replicate r of a seed has the same tick phase, list order, D tails and wake-ups whatever the policy.
class Model {
  public:
    /// Keeps a copy of the scenario. Throws ConfigError when the scenario or the policy cannot be.
    Model(const Scenario& scenario, const Policy& policy);
    Model(Model&&) noexcept;
    Model& operator=(Model&&) noexcept;
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;
    ~Model();

    /// One replicate. `sink`, if given, is told what happens (see TimelineKind): the freeze from time zero,
    /// then the thaw from the instant at which it starts.
    Result run(StreamKey key, const std::stop_token& stop, engine::TimelineSink* sink = nullptr);

    /// From now on tasks() tells of the last run; without it a run keeps no more than its result.
    void keep_tasks();

    /// Every task of the last run, in list order; none before keep_tasks().
    std::vector<TaskOutcome> tasks() const;

    class Play;

  private:
    std::unique_ptr<Play> play_;
};

}  // namespace torpor::freezer
