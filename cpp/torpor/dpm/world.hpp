// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "torpor/base/random.hpp"
#include "torpor/dpm/scenario.hpp"

namespace torpor::dpm {

/// What is drawn for one replicate, whatever the policy: its graph, its async devices, the lengths of its
/// callbacks. Every device has streams of its own, named by the device.
class World {
  public:
    explicit World(const Scenario& scenario);

    /// The world of a replicate.
    void draw(StreamKey key);

    const Graph& graph() const { return *graph_; }
    bool is_async(std::int32_t device) const;
    /// Factor on the length of a callback in one cycle: scale and jitter.
    double factor(std::int32_t device, Phase phase, std::int64_t cycle);
    /// Orders those whose sleeps end on the same tick.
    double lot(std::int32_t device, Phase phase, std::int64_t cycle, std::int64_t number);
    /// Time since the last tick when a side begins.
    std::int64_t since_tick_ns(bool suspend, std::int64_t cycle) const;

  private:
    void open_streams();
    void name_streams();

    const Scenario& scenario_;
    std::shared_ptr<const Graph> graph_;
    std::vector<StreamId> length_ids_;  // per device
    std::vector<StreamId> lot_ids_;
    bool has_tick_sleeps_{false};
    StreamKey key_{};
    Scales scales_;
    std::vector<RandomStream> lengths_;  // per device, those with a callback
    std::vector<RandomStream> lots_;
};

}  // namespace torpor::dpm
