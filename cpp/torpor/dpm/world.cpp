// SPDX-License-Identifier: MIT
#include "torpor/dpm/world.hpp"

#include <algorithm>
#include <string>

#include "torpor/base/deterministic_math.hpp"
#include "torpor/base/distributions.hpp"
#include "torpor/base/error.hpp"

namespace torpor::dpm {

namespace {

constexpr std::uint64_t kWordsPerDraw = 2;

/// Words of a stream that belong to one cycle and phase, `draws` of them.
std::uint64_t place_of(std::int64_t cycle, Phase phase, std::uint64_t draws) {
    return (static_cast<std::uint64_t>(cycle) * kPhases + index_of(phase)) * draws * kWordsPerDraw;
}

}  // namespace

World::World(const Scenario& scenario) : scenario_{scenario} {
    if (const auto* graph = std::get_if<std::shared_ptr<const Graph>>(&scenario.devices)) {
        graph_ = *graph;
        name_streams();
    }
}

void World::draw(StreamKey key) {
    key_ = key;
    const std::vector<Scales>& scales = scenario_.scales;
    if (!scales.empty() && key.replicate >= scales.size()) {
        throw ConfigError{"scales", std::to_string(scales.size()) + " are given, none for replicate " +
                                        std::to_string(key.replicate)};
    }
    scales_ = scales.empty() ? Scales{} : scales[static_cast<std::size_t>(key.replicate)];
    if (const auto* generator = std::get_if<Generator>(&scenario_.devices)) {
        graph_ = std::make_shared<const Graph>(compile(generate(*generator, key)));
        name_streams();
    }
    open_streams();
}

void World::name_streams() {
    length_ids_.clear();
    lot_ids_.clear();
    has_tick_sleeps_ =
        std::any_of(graph_->segments.begin(), graph_->segments.end(),
                    [](const Segment& segment) { return segment.kind == SegmentKind::tick_sleep; });
    for (const std::string& name : graph_->names) {
        length_ids_.emplace_back("length:" + name);
        lot_ids_.emplace_back("tick:" + name);
    }
}

void World::open_streams() {
    lengths_.clear();
    lots_.clear();
    if (scenario_.jitter > 0.0) {
        for (const StreamId id : length_ids_) lengths_.emplace_back(key_, id);
    }
    if (has_tick_sleeps_) {
        for (const StreamId id : lot_ids_) lots_.emplace_back(key_, id);
    }
}

bool World::is_async(std::int32_t device) const {
    using Kind = AsyncDevices::Kind;
    switch (scenario_.async.kind) {
        case Kind::none:
            return false;
        case Kind::all:
            return true;
        case Kind::share: {
            RandomStream stream{key_, "async:" + graph_->names[static_cast<std::size_t>(device)]};
            return stream.uniform01() < scenario_.async.share;
        }
        case Kind::flagged:
            break;
    }
    return graph_->flags[static_cast<std::size_t>(device)].async_suspend;
}

double World::factor(std::int32_t device, Phase phase, std::int64_t cycle) {
    const double scale = is_suspend_side(phase) ? scales_.suspend : scales_.resume;
    if (scenario_.jitter == 0.0) return scale;
    RandomStream& stream = lengths_[static_cast<std::size_t>(device)];
    stream.seek(place_of(cycle, phase, 1));
    return scale * deterministic_exp(scenario_.jitter * normal_quantile(stream.uniform_open()));
}

double World::lot(std::int32_t device, Phase phase, std::int64_t cycle, std::int64_t number) {
    constexpr std::uint64_t kMostSleeps = 64;
    RandomStream& stream = lots_[static_cast<std::size_t>(device)];
    stream.seek(place_of(cycle, phase, kMostSleeps) +
                (static_cast<std::uint64_t>(number) % kMostSleeps) * kWordsPerDraw);
    return stream.uniform01();
}

std::int64_t World::since_tick_ns(bool suspend, std::int64_t cycle) const {
    if (scenario_.since_tick_ns) return *scenario_.since_tick_ns;
    RandomStream stream{key_, suspend ? "tick phase:suspend" : "tick phase:resume"};
    stream.seek(static_cast<std::uint64_t>(cycle) * kWordsPerDraw);
    return static_cast<std::int64_t>(stream.uniform01() * static_cast<double>(scenario_.tick_ns));
}

}  // namespace torpor::dpm
