// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "example.hpp"
#include "torpor/base/distributions.hpp"
#include "torpor/base/random.hpp"
#include "torpor/engine/timeline.hpp"

namespace torpor::freezer::testing {

/// "t7"
inline std::string numbered(std::string_view name, std::int64_t number) {
    return std::string{name}.append(std::to_string(number));
}

/// Random parameters of test cases, the same on every machine.
class Dice {
  public:
    Dice(std::string_view test, int number) : stream_{{static_cast<std::uint64_t>(number), 0}, test} {}

    std::int64_t between(std::int64_t low, std::int64_t high) { return UniformInt{low, high}(stream_); }
    bool chance(int percent) { return between(1, 100) <= percent; }
    template <class T>
    const T& one_of(const std::vector<T>& choices) {
        return choices[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(choices.size()) - 1))];
    }

  private:
    RandomStream stream_;
};

/// When something of a kind happened in a run.
inline std::vector<std::int64_t> times(const engine::VectorSink& told, TimelineKind kind) {
    std::vector<std::int64_t> found;
    for (const engine::TimelineRecord& record : told.records()) {
        if (record.kind == static_cast<std::uint16_t>(kind)) found.push_back(to_ns(record.at));
    }
    return found;
}

/// Costs of a cycle a nanosecond, at random; a burst is shorter than any sleep.
inline Costs random_costs(Dice& dice) {
    Costs costs;
    costs.visit_cycles = dice.between(1, 3000);
    costs.wake_cycles = dice.between(0, 9000);
    costs.resig_cycles = dice.between(0, 3000);
    costs.mark_cycles = dice.between(0, 2000);
    costs.freeze_run_cycles = dice.between(1, 60000);
    costs.thaw_wake_cycles = dice.between(0, 9000);
    costs.thaw_run_cycles = dice.between(1, 60000);
    costs.resleep_cycles = dice.between(1, 40000);
    return costs;
}

/// Tasks that all sleep where signals reach them, in sites of every kind and in random order, `percent` of
/// them woken by every kernel; some kernel threads that are never asked, and some that are.
inline std::vector<TaskGroup> random_sleepers(Dice& dice, std::int64_t count, int percent) {
    static const std::vector<Site> kept{Site::futex, Site::binder, Site::nanosleep, Site::sigtimedwait};
    static const std::vector<Site> back{Site::epoll, Site::select, Site::poll};
    static const std::vector<Site> never{Site::other, Site::pipe, Site::semop, Site::tty};
    std::vector<TaskGroup> tasks;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::string name = numbered("t", i);
        if (dice.chance(10)) {
            tasks.push_back(kthread(name, dice.chance(50) ? Kind::kfreezable : Kind::knofreeze));
            continue;
        }
        const std::vector<Site>& sites = dice.chance(percent) ? never : dice.chance(30) ? back : kept;
        tasks.push_back(group(name, 1, dice.one_of(sites)));
    }
    return tasks;
}

/// Anything that may happen in a freeze that ends well: tails in D, late wake-ups, tasks in user mode that
/// fork, stopped and dead ones, kernel threads, work.
inline Scenario random_world(Dice& dice, bool with_user_mode = true) {
    const int hz = dice.one_of(std::vector<int>{100, 200, 250, 300, 1000});
    Scenario scenario = example(static_cast<int>(dice.between(1, 8)), {}, hz);
    scenario.costs = random_costs(dice);
    scenario.loops = Loops::both;
    scenario.kernel.preempt = dice.chance(50) ? Preempt::none : Preempt::full;
    scenario.kernel.walker_wake = dice.chance(20) ? WalkerWake::tail : WalkerWake::head;
    scenario.kernel.range_mode = dice.one_of(
        std::vector<RangeMode>{RangeMode::hard, RangeMode::tick, RangeMode::uniform, RangeMode::soft});
    scenario.kernel.since_tick_ns.reset();
    if (dice.chance(50)) scenario.order = Order::shuffled;
    scenario.tasks = random_sleepers(dice, dice.between(0, 30), 40);
    for (TaskGroup& task : scenario.tasks) {
        if (task.kind != Kind::knofreeze && dice.chance(15)) task.wakes_at_ns = LogNormal{1e6, 2.0};
    }
    for (std::int64_t i = dice.between(0, 4); i > 0; --i) {
        TaskGroup task = d_task(numbered("d", i), 0, dice.chance(70) ? Kind::user : Kind::kfreezable);
        task.count = dice.between(1, 3);
        task.d_ends_ns = LogNormal{3e5, 2.0};
        scenario.tasks.push_back(task);
    }
    TaskGroup stopped = others(dice.between(0, 3), "stopped");
    stopped.start = Start::stopped;
    TaskGroup dead = others(dice.between(0, 5), "dead");
    dead.start = Start::zombie;
    scenario.tasks.push_back(stopped);
    scenario.tasks.push_back(dead);
    if (with_user_mode && dice.chance(50)) {
        TaskGroup computing = others(dice.between(1, 4), "computing");
        computing.start = Start::user_mode;
        if (dice.chance(50)) computing.forks_at_ns = Uniform{0.0, 1e5};
        scenario.tasks.push_back(computing);
    }
    WorkItem item;
    item.queued_at_ns = dice.between(0, 3'000'000);
    item.runs_ns = Exponential{2e6};
    if (dice.chance(30)) scenario.work.push_back(item);
    return scenario;
}

inline std::string random_version(Dice& dice) {
    return dice.one_of(
        std::vector<std::string>{"v3.9", "p1", "p2", "p1p2", "skip-only", "full", "v3.12", "v6.1", "v6.7"});
}

}  // namespace torpor::freezer::testing
