// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "torpor/base/random.hpp"
#include "torpor/dpm/policy.hpp"
#include "torpor/dpm/result.hpp"
#include "torpor/dpm/scenario.hpp"
#include "torpor/engine/timeline.hpp"

namespace torpor::dpm {

/// What a timeline record tells; `lane` is a CPU for the first two, a device (place in the list) otherwise.
///   run_begin       value: entity (0 the main thread, else a worker) gets the CPU
///   run_end         value: entity leaves it
///   phase_begin     value: the phase; lane 0
///   phase_end       likewise
///   device_begin    value: the phase; all waits of the device are over
///   device_end      value: the phase
enum class TimelineKind : std::uint16_t {
    run_begin,
    run_end,
    phase_begin,
    phase_end,
    device_begin,
    device_end
};

/// Cycles of suspending and resuming a device graph. Built once per (scenario, policy), run once per
/// replicate: replicate r of a seed has the same graph, async devices, callback lengths and tick phases
/// whatever the policy. Workers and the places where everybody ran last live on from cycle to cycle.
class Model {
  public:
    /// Keeps a copy of the scenario. Throws ConfigError when the scenario or the policy cannot be.
    Model(const Scenario& scenario, const Policy& policy);
    Model(Model&&) noexcept;
    Model& operator=(Model&&) noexcept;
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;
    ~Model();

    /// One replicate. `sink`, if given, is told what happens in the first cycle that is reported; its clock
    /// starts with that cycle, each window (prepare, the way down, the way up, complete) after the other.
    Result run(StreamKey key, const std::stop_token& stop, engine::TimelineSink* sink = nullptr);

    /// Every device and phase of the first reported cycle of the last run, in the order of phases, then list.
    std::vector<Interval> intervals() const;
    /// The graph of the last run.
    const Graph& graph() const;

    class Play;

  private:
    std::unique_ptr<Play> play_;
};

}  // namespace torpor::dpm
