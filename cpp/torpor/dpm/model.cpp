// SPDX-License-Identifier: MIT
#include "torpor/dpm/model.hpp"

#include "torpor/dpm/play.hpp"

namespace torpor::dpm {

namespace {

/// What a list schedule runs on: no overhead of any kind, the largest idle CPU, the most critical first.
Scenario without_overhead(Scenario scenario) {
    scenario.rules.queues = sched::Queues::global;
    scenario.rules.by_priority = true;
    scenario.rules.slice_ns = 0;
    scenario.sched_costs = {};
    scenario.costs = {};
    scenario.workers.per_item = true;
    scenario.barrier_wakes = false;
    scenario.eas_switch_ns = 0;
    scenario.main.gives_way = false;
    for (sched::FairCpu& cpu : scenario.machine.cpus) cpu.idle_exits.clear();
    return scenario;
}

}  // namespace

Model::Model(const Scenario& scenario, const Policy& policy) {
    validate(scenario);
    validate(policy);
    play_ = policy.order == Order::bound ? std::make_unique<Play>(without_overhead(scenario), policy)
                                         : std::make_unique<Play>(scenario, policy);
}
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::~Model() = default;

Result Model::run(StreamKey key, const std::stop_token& stop, engine::TimelineSink* sink) {
    return play_->run(key, stop, sink);
}

std::vector<Interval> Model::intervals() const {
    return play_->intervals();
}

const Graph& Model::graph() const {
    return play_->graph();
}

}  // namespace torpor::dpm
