// SPDX-License-Identifier: MIT
#include "torpor/freezer/model.hpp"

#include "torpor/freezer/play.hpp"

namespace torpor::freezer {

Model::Model(const Scenario& scenario, const Policy& policy)
    : play_{std::make_unique<Play>(scenario, policy)} {}
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::~Model() = default;

Result Model::run(StreamKey key, const std::stop_token& stop, engine::TimelineSink* sink) {
    return play_->run(key, stop, sink);
}

void Model::keep_tasks() {
    play_->keep_tasks();
}

std::vector<TaskOutcome> Model::tasks() const {
    return play_->tasks();
}

}  // namespace torpor::freezer
