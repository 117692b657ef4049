// SPDX-License-Identifier: MIT
#include "torpor/freezer/scenario.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "torpor/base/call_text.hpp"
#include "torpor/base/error.hpp"

namespace torpor::freezer {

namespace {

// 36 years: any sum of a few of them stays within 64 bits.
constexpr std::int64_t kLongestNs = kLongestDraw.count() / 4;
constexpr std::int64_t kMostCycles = 1'000'000'000'000;
constexpr std::int64_t kMostTasks = 10'000'000;
// The queue holds 2^20 pending events; the CPUs and the walker need some of them.
constexpr std::int64_t kMostTimedEvents = 1'000'000;
constexpr std::int64_t kMostFds = 1'048'576;               // the kernel's default fs.nr_open
constexpr std::int64_t kLongestTimeoutMs = 4'294'967'295;  // pm_freeze_timeout is 32 bits wide

std::string text(double value) {
    std::array<char, 32> digits{};
    return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
}

void within(const std::string& key, std::int64_t value, std::int64_t low, std::int64_t high) {
    if (value >= low && value <= high) return;
    throw ConfigError{key, std::to_string(value),
                      "must be " + std::to_string(low) + ".." + std::to_string(high)};
}

void time_within(const std::string& key, std::int64_t value) {
    within(key, value, 0, kLongestNs);
}

void power(const std::string& key, double mw) {
    if (std::isfinite(mw) && mw >= 0.0) return;
    throw ConfigError{key, text(mw), "must be a finite number of milliwatts, 0 or more"};
}

// The tail of a normal distribution is cut at zero, as every drawn time is; a bound below zero is a mistake.
template <class D>
double least_of(const D& distribution) {
    if constexpr (std::is_same_v<D, Constant> || std::is_same_v<D, Uniform> || std::is_same_v<D, Empirical>) {
        return distribution.quantile(0.0);
    } else {
        return 0.0;
    }
}

void drawn_time(const std::string& key, const Distribution& distribution) {
    const double least = std::visit([](const auto& chosen) { return least_of(chosen); }, distribution);
    if (least < 0.0) throw ConfigError{key, text(least), "must be 0 or more nanoseconds"};
}

void drawn_time(const std::string& key, const std::optional<Distribution>& distribution) {
    if (distribution) drawn_time(key, *distribution);
}

void check_powers(const Scenario& scenario) {
    if (scenario.busy_power_mw.size() != scenario.cpus.size()) {
        throw ConfigError{"busy_power_mw", std::to_string(scenario.busy_power_mw.size()) + " entries",
                          "one per CPU is needed (" + std::to_string(scenario.cpus.size()) + ")"};
    }
    for (std::size_t i = 0; i < scenario.busy_power_mw.size(); ++i) {
        power("busy_power_mw[" + std::to_string(i) + "]", scenario.busy_power_mw[i]);
    }
    power("base_power_mw", scenario.base_power_mw);
}

void check_costs(const Costs& costs) {
    const std::array<std::pair<const char*, std::int64_t>, 13> cycles{{
        {"visit_cycles", costs.visit_cycles},
        {"visit_kernel_cycles", costs.visit_kernel_cycles.value_or(0)},
        {"wake_cycles", costs.wake_cycles},
        {"resig_cycles", costs.resig_cycles},
        {"mark_cycles", costs.mark_cycles},
        {"freeze_run_cycles", costs.freeze_run_cycles},
        {"thaw_wake_cycles", costs.thaw_wake_cycles},
        {"thaw_run_cycles", costs.thaw_run_cycles},
        {"resleep_cycles", costs.resleep_cycles},
        {"per_fd_cycles", costs.per_fd_cycles},
        {"user_loop_cycles", costs.user_loop_cycles},
        {"kernel_loop_cycles", costs.kernel_loop_cycles},
        {"thaw_cycles", costs.thaw_cycles},
    }};
    for (const auto& [key, value] : cycles) within(std::string{"costs."} + key, value, 0, kMostCycles);
    time_within("costs.visit_stall_ns", costs.visit_stall_ns);
    time_within("costs.run_stall_ns", costs.run_stall_ns);
    time_within("costs.sleep_overhead_ns", costs.sleep_overhead_ns);
}

void check_kernel(const Kernel& kernel) {
    within("kernel.hz", kernel.hz, 1, 10'000);
    const std::int64_t period_ns = TickGrid::at(kernel.hz, 0).period_ns;
    const std::int64_t since_ns = kernel.since_tick_ns.value_or(0);
    if (since_ns < 0 || since_ns >= period_ns) {
        throw ConfigError{"kernel.since_tick_ns", std::to_string(since_ns),
                          "must be 0.." + std::to_string(period_ns - 1) + ", within one tick at HZ " +
                              std::to_string(kernel.hz)};
    }
    within("kernel.timeout_ms", kernel.timeout_ms, 1, kLongestTimeoutMs);
    within("kernel.wheel_extra", kernel.wheel_extra, 0, 1);
}

void check_rules(const sched::Rules& rules) {
    if (rules.slice_ns == 0 || (rules.slice_ns >= 1000 && rules.slice_ns <= kLongestNs)) return;
    throw ConfigError{"rules.slice_ns", std::to_string(rules.slice_ns),
                      "must be 0 (never) or 1000.." + std::to_string(kLongestNs)};
}

bool waits(Start start) {
    return start == Start::uninterruptible || start == Start::spinning;
}

/// Rules of one group; errors name the entry as "tasks[<name>].<field>".
class GroupCheck {
  public:
    GroupCheck(const TaskGroup& group, std::size_t index)
        : group_{&group},
          path_{"tasks[" + (group.name.empty() ? std::to_string(index) : group.name) + "]."} {}

    std::string key(const char* field) const { return path_ + field; }

    void fields() const {
        const TaskGroup& group = *group_;
        if (group.name.empty()) {
            throw ConfigError{key("name"), "''", "must not be empty: it keys the group's random streams"};
        }
        within(key("count"), group.count, 0, kMostTasks);
        within(key("threads"), group.threads, 1, kMostTasks);
        within(key("reply_after_cycles"), group.reply_after_cycles, 0, kMostCycles);
        if (group.reply_after_cycles > 0 && group.start != Start::user_mode) {
            throw ConfigError{key("reply_after_cycles"), std::to_string(group.reply_after_cycles),
                              "must be 0: only a task that starts in user_mode replies"};
        }
        within(key("freeze_run_cycles"), group.freeze_run_cycles.value_or(0), 0, kMostCycles);
        within(key("thaw_run_cycles"), group.thaw_run_cycles.value_or(0), 0, kMostCycles);
        within(key("nfds"), group.nfds, 0, kMostFds);
        if (group.nfds > 0 && group.site != Site::select && group.site != Site::poll) {
            throw ConfigError{key("nfds"), std::to_string(group.nfds),
                              "must be 0 in site " + std::string{to_string(group.site)} +
                                  ": only select and poll set descriptors up again"};
        }
        drawn_time(key("d_ends_ns"), group.d_ends_ns);
        drawn_time(key("wakes_at_ns"), group.wakes_at_ns);
        drawn_time(key("forks_at_ns"), group.forks_at_ns);
    }

    void start() const {
        const TaskGroup& group = *group_;
        const bool any_kind = group.start == Start::blocked || group.start == Start::uninterruptible;
        if (!any_kind && group.kind != Kind::user) {
            throw ConfigError{
                key("start"), std::string{to_string(group.start)},
                "must be blocked or uninterruptible for kind " + std::string{to_string(group.kind)}};
        }
        if (group.d_ends_ns) only(Start::uninterruptible, "d_ends_ns");
        if (group.forks_at_ns) only(Start::user_mode, "forks_at_ns");
        if (group.wakes_at_ns && group.kind == Kind::knofreeze) {
            throw ConfigError{key("wakes_at_ns"), "must not be given for kind knofreeze, which is ignored"};
        }
    }

    void dependency(const std::map<std::string, std::int64_t, std::less<>>& counts) const {
        const TaskGroup& group = *group_;
        if (group.waits_on.empty()) {
            if (group.start != Start::spinning) return;
            throw ConfigError{key("waits_on"), "''", "must name the group that a spinning task waits for"};
        }
        if (!waits(group.start)) {
            refuse_dependency("only uninterruptible and spinning tasks wait, not start=" +
                              std::string{to_string(group.start)});
        }
        if (group.waits_on == group.name) refuse_dependency("must be another group than its own");
        const auto server = counts.find(group.waits_on);
        if (server == counts.end()) {
            std::vector<std::string_view> names;
            for (const auto& [name, count] : counts) names.push_back(name);
            refuse_dependency("is no group of tasks; known: " + joined(names));
        }
        if (server->second == 0 && group.count > 0) refuse_dependency("must name a group that has tasks");
    }

  private:
    void only(Start start, const char* field) const {
        if (group_->start == start) return;
        throw ConfigError{key(field), "must not be given for start " + std::string{to_string(group_->start)} +
                                          ", only for " + std::string{to_string(start)}};
    }

    [[noreturn]] void refuse_dependency(const std::string& why) const {
        throw ConfigError{key("waits_on"), quoted(group_->waits_on), why};
    }

    const TaskGroup* group_;
    std::string path_;
};

void check_numbers(const Scenario& scenario) {
    std::int64_t tasks = 0;
    std::int64_t events =
        2 * static_cast<std::int64_t>(std::min<std::size_t>(scenario.work.size(), kMostTasks));
    for (const TaskGroup& group : scenario.tasks) {
        const int timed = int{group.d_ends_ns.has_value()} + int{group.wakes_at_ns.has_value()} +
                          int{group.forks_at_ns.has_value()};
        tasks += group.count;
        events += group.count * timed;
        if (tasks > kMostTasks) {
            throw ConfigError{"tasks", std::to_string(tasks) + " tasks",
                              "must be at most " + std::to_string(kMostTasks) + " in all"};
        }
    }
    if (events > kMostTimedEvents) {
        throw ConfigError{"tasks", std::to_string(events) + " timed events",
                          "must be at most " + std::to_string(kMostTimedEvents) +
                              " waits that end, wake-ups, forks and ends of work in all"};
    }
}

void check_tasks(const Scenario& scenario) {
    std::map<std::string, std::int64_t, std::less<>> counts;
    for (std::size_t i = 0; i < scenario.tasks.size(); ++i) {
        const TaskGroup& group = scenario.tasks[i];
        const GroupCheck check{group, i};
        check.fields();
        check.start();
        if (!counts.emplace(group.name, group.count).second) {
            throw ConfigError{check.key("name"), quoted(group.name), "must be the name of one group only"};
        }
    }
    for (std::size_t i = 0; i < scenario.tasks.size(); ++i) {
        GroupCheck{scenario.tasks[i], i}.dependency(counts);
    }
    check_numbers(scenario);
}

void check_work(const std::vector<WorkItem>& work) {
    for (std::size_t i = 0; i < work.size(); ++i) {
        const std::string key = "work[" + std::to_string(i) + "].";
        time_within(key + "queued_at_ns", work[i].queued_at_ns);
        drawn_time(key + "runs_ns", work[i].runs_ns);
    }
}

// Everything that one pass and one thaw can charge, on the slowest CPU, from above.
double longest_walk_ns(const Scenario& scenario) {
    const Costs& costs = scenario.costs;
    const auto real = [](std::int64_t value) { return static_cast<double>(value); };
    const double per_task = real(std::max(costs.visit_cycles, costs.visit_kernel_cycles.value_or(0))) +
                            real(costs.wake_cycles) + real(costs.resig_cycles) + real(costs.mark_cycles) +
                            real(costs.thaw_wake_cycles) + real(costs.resleep_cycles);
    double cycles = real(costs.user_loop_cycles) + real(costs.kernel_loop_cycles) + real(costs.thaw_cycles) +
                    per_task + real(costs.freeze_run_cycles) + real(costs.thaw_run_cycles);
    for (const TaskGroup& group : scenario.tasks) {
        const double runs = real(group.freeze_run_cycles.value_or(costs.freeze_run_cycles)) +
                            real(group.thaw_run_cycles.value_or(costs.thaw_run_cycles)) +
                            real(costs.per_fd_cycles) * real(group.nfds);
        // Prices are worked out for empty groups too.
        cycles +=
            real(std::max<std::int64_t>(group.count, 1)) * (per_task + runs + real(group.reply_after_cycles));
    }
    std::int64_t slowest_hz = scenario.cpus.front().rate_hz();
    std::int64_t latency_ns = 0;
    for (const sched::Cpu& cpu : scenario.cpus) {
        slowest_hz = std::min(slowest_hz, cpu.rate_hz());
        latency_ns = std::max(latency_ns, cpu.wake_latency_ns);
    }
    const double stalls_ns = real(costs.visit_stall_ns) + real(costs.run_stall_ns) + real(latency_ns);
    return cycles * 1e9 / real(slowest_hz) + real(task_count(scenario) + 1) * stalls_ns;
}

// Times are added up in 64 bits, so what a run can add up to is limited, not only each part.
void check_total(const Scenario& scenario) {
    const auto real = [](std::int64_t value) { return static_cast<double>(value); };
    // A loop goes on for at most one pass and one sleep after the timeout; a fork doubles its tasks.
    const double attempt_ns = 2.0 * (real(scenario.kernel.timeout_ms) * 1e6 + 60e9) +
                              4.0 * longest_walk_ns(scenario) + 2.0 * real(scenario.costs.sleep_overhead_ns);
    const double total_ns =
        real(scenario.attempts) * (attempt_ns + real(scenario.retry_gap_ns)) + real(scenario.asleep_ns);
    if (total_ns <= real(kLongestDraw.count())) return;
    throw ConfigError{"scenario", text(total_ns) + " ns at the longest",
                      "must be at most " + std::to_string(kLongestDraw.count()) +
                          ": lower costs, tasks, kernel.timeout_ms, attempts or retry_gap_ns"};
}

}  // namespace

void validate(const Scenario& scenario) {
    sched::validate(scenario.cpus);
    check_powers(scenario);
    check_rules(scenario.rules);
    check_costs(scenario.costs);
    check_kernel(scenario.kernel);
    check_tasks(scenario);
    check_work(scenario.work);
    drawn_time("wakeup_at_ns", scenario.wakeup_at_ns);
    within("attempts", scenario.attempts, 1, 1'000'000);
    time_within("retry_gap_ns", scenario.retry_gap_ns);
    time_within("asleep_ns", scenario.asleep_ns);
    check_total(scenario);
}

std::int64_t task_count(const Scenario& scenario) {
    std::int64_t count = 0;
    for (const TaskGroup& group : scenario.tasks) count += group.count;
    return count;
}

}  // namespace torpor::freezer
