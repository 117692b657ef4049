// SPDX-License-Identifier: MIT
#include "torpor/freezer/population.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "torpor/base/distributions.hpp"

namespace torpor::freezer {

namespace {

Task blueprint(const TaskGroup& group, std::int32_t number_of_group, Version version) {
    Task task;
    task.group = number_of_group;
    task.kind = group.kind;
    task.handling = handling(group.site, version);
    task.interrupted = interrupted(group.site);
    switch (group.start) {
        case Start::blocked:
            break;
        case Start::uninterruptible:
            task.state = State::uninterruptible;
            break;
        case Start::user_mode:
            task.state = State::runnable;
            task.flags = kComputes;
            break;
        case Start::spinning:
            task.state = State::runnable;
            task.flags = kSpins;
            break;
        case Start::stopped:
            task.state = State::stopped;
            break;
        case Start::zombie:
            task.state = State::zombie;
            break;
    }
    return task;
}

}  // namespace

Population::Population(const Scenario& scenario, Version version) : scenario_{scenario} {
    listed_.reserve(static_cast<std::size_t>(task_count(scenario)));
    for (std::size_t g = 0; g < scenario.tasks.size(); ++g) {
        const TaskGroup& group = scenario.tasks[g];
        first_of_group_.push_back(static_cast<std::uint32_t>(listed_.size()));
        Task task = blueprint(group, static_cast<std::int32_t>(g), version);
        for (std::int64_t i = 0; i < group.count; ++i) {
            if (i % group.threads == 0) units_.push_back({static_cast<std::uint32_t>(listed_.size()), 0});
            ++units_.back().count;
            task.number = static_cast<std::int32_t>(i);
            listed_.push_back(task);
        }
        timed_ = timed_ || group.d_ends_ns || group.wakes_at_ns || group.forks_at_ns;
    }
    place_of_.resize(listed_.size());
    std::iota(place_of_.begin(), place_of_.end(), 0U);
    tasks_ = listed_;
}

void Population::draw(StreamKey key, engine::StopCheck& stop) {
    if (scenario_.order == Order::shuffled) place(key, stop);
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
        tasks_[i].next = i + 1 == tasks_.size() ? kNoTask : static_cast<std::uint32_t>(i + 1);
    }
    if (timed_) draw_events(key, stop);
    find_dependencies();
}

void Population::place(StreamKey key, engine::StopCheck& stop) {
    // From the listed order each time, so that a replicate does not depend on the one before it.
    shuffled_ = units_;
    std::vector<Unit>& units = shuffled_;
    RandomStream stream{key, "freezer/order"};
    for (std::size_t i = units.size(); i > 1; --i) {
        const auto j = static_cast<std::size_t>(UniformInt{0, static_cast<std::int64_t>(i) - 1}(stream));
        std::swap(units[i - 1], units[j]);
        stop.step();
    }
    std::uint32_t at = 0;
    for (const Unit& unit : units) {
        stop.step();
        for (std::uint32_t i = unit.first; i < unit.first + unit.count; ++i) {
            place_of_[i] = at;
            tasks_[at++] = listed_[i];
        }
    }
}

void Population::draw_events(StreamKey key, engine::StopCheck& stop) {
    events_.clear();
    for (std::size_t g = 0; g < scenario_.tasks.size(); ++g) {
        const TaskGroup& group = scenario_.tasks[g];
        const auto draw_all = [&](const std::optional<Distribution>& when, std::string_view field,
                                  std::uint32_t kind) {
            if (!when) return;
            RandomStream stream{key, std::string{"freezer/"}.append(group.name).append("/").append(field)};
            for (std::int64_t i = 0; i < group.count; ++i) {
                const std::uint32_t task = place_of_[first_of_group_[g] + static_cast<std::size_t>(i)];
                events_.push_back({to_ns(sample_duration(*when, stream)), task, kind});
                stop.step();
            }
        };
        draw_all(group.d_ends_ns, "d_ends", kWaitEnds);
        draw_all(group.wakes_at_ns, "wakes_at", kWakeUp);
        draw_all(group.forks_at_ns, "forks_at", kForks);
    }
    std::sort(events_.begin(), events_.end(), [](const TimedEvent& a, const TimedEvent& b) {
        return std::pair{a.task, a.kind} < std::pair{b.task, b.kind};
    });
}

void Population::find_dependencies() {
    dependencies_.clear();
    for (std::size_t g = 0; g < scenario_.tasks.size(); ++g) {
        const TaskGroup& group = scenario_.tasks[g];
        if (group.waits_on.empty()) continue;
        const auto server =
            std::find_if(scenario_.tasks.begin(), scenario_.tasks.end(),
                         [&](const TaskGroup& other) { return other.name == group.waits_on; });
        const auto s = static_cast<std::size_t>(server - scenario_.tasks.begin());
        for (std::int64_t i = 0; i < group.count; ++i) {
            const auto of_server = static_cast<std::size_t>(i % server->count);
            dependencies_.push_back({place_of_[first_of_group_[g] + static_cast<std::size_t>(i)],
                                     place_of_[first_of_group_[s] + of_server], server->reply_after_cycles});
        }
    }
}

}  // namespace torpor::freezer
