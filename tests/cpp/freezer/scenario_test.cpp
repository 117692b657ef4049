// SPDX-License-Identifier: MIT
#include "torpor/freezer/scenario.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "torpor/base/error.hpp"

namespace torpor::freezer {
namespace {

constexpr std::int64_t kTrillion = 1'000'000'000'000;

TaskGroup group(std::string name, std::int64_t count = 1) {
    TaskGroup made;
    made.name = std::move(name);
    made.count = count;
    return made;
}

TaskGroup starting(std::string name, Start start) {
    TaskGroup made = group(std::move(name));
    made.start = start;
    return made;
}

Distribution at(double ns) {
    return Constant{ns};
}

class ValidateScenario : public testing::Test {
  protected:
    ValidateScenario() {
        scenario_.cpus = {{200'000'000, 1024, 0, 10'000}, {200'000'000, 1024, 0, 10'000}};
        scenario_.busy_power_mw = {100.0, 100.0};
        scenario_.base_power_mw = 300.0;
        scenario_.costs.visit_cycles = 140;
        scenario_.costs.wake_cycles = 1500;
        scenario_.tasks = {group("apps", 10), group("io")};
    }

    TaskGroup& apps() { return scenario_.tasks[0]; }
    TaskGroup& io() { return scenario_.tasks[1]; }

    // What validate() says; nothing when it is content.
    std::string complaint() const {
        try {
            validate(scenario_);
        } catch (const ConfigError& error) {
            EXPECT_EQ(std::string{error.what()}.rfind(error.key(), 0), 0U) << error.what();
            return error.what();
        }
        return "";
    }

    void expect(const std::string& part) const {
        EXPECT_NE(complaint().find(part), std::string::npos) << complaint();
    }

    Scenario scenario_;
};

TEST_F(ValidateScenario, AcceptsAnOrdinaryPopulation) {
    EXPECT_EQ(complaint(), "");
}

TEST_F(ValidateScenario, AcceptsNoTasksAndEmptyGroups) {
    apps().count = 0;
    EXPECT_EQ(complaint(), "");
    scenario_.tasks.clear();
    EXPECT_EQ(complaint(), "");
}

TEST_F(ValidateScenario, CountsTheTasksOfAllGroups) {
    EXPECT_EQ(task_count(scenario_), 11);
    scenario_.tasks.clear();
    EXPECT_EQ(task_count(scenario_), 0);
}

TEST_F(ValidateScenario, RefusesAMachineWithoutCpusOrClock) {
    scenario_.cpus[1].freq_hz = 0;
    EXPECT_EQ(complaint(), "cpus[1].freq_hz=0: must be above 0");
    scenario_.cpus.clear();
    expect("cpus=0: there must be 1..8192 CPUs");
}

TEST_F(ValidateScenario, NeedsAPowerForEachCpu) {
    scenario_.busy_power_mw.pop_back();
    EXPECT_EQ(complaint(), "busy_power_mw=1 entries: one per CPU is needed (2)");
}

TEST_F(ValidateScenario, RefusesAPowerThatIsNegativeOrNotFinite) {
    scenario_.busy_power_mw[1] = -1.5;
    expect("busy_power_mw[1]=-1.5: must be a finite number of milliwatts, 0 or more");
    scenario_.busy_power_mw[1] = std::numeric_limits<double>::infinity();
    expect("busy_power_mw[1]=inf");
    scenario_.busy_power_mw[1] = 0.0;
    scenario_.base_power_mw = std::numeric_limits<double>::quiet_NaN();
    expect("base_power_mw=");
}

TEST_F(ValidateScenario, LimitsEachCostInCycles) {
    using Member = std::int64_t Costs::*;
    const std::vector<std::pair<std::string, Member>> members{
        {"visit_cycles", &Costs::visit_cycles},
        {"wake_cycles", &Costs::wake_cycles},
        {"resig_cycles", &Costs::resig_cycles},
        {"mark_cycles", &Costs::mark_cycles},
        {"freeze_run_cycles", &Costs::freeze_run_cycles},
        {"thaw_wake_cycles", &Costs::thaw_wake_cycles},
        {"thaw_run_cycles", &Costs::thaw_run_cycles},
        {"resleep_cycles", &Costs::resleep_cycles},
        {"per_fd_cycles", &Costs::per_fd_cycles},
        {"user_loop_cycles", &Costs::user_loop_cycles},
        {"kernel_loop_cycles", &Costs::kernel_loop_cycles},
        {"thaw_cycles", &Costs::thaw_cycles}};
    for (const auto& [name, member] : members) {
        scenario_.costs.*member = -1;
        EXPECT_EQ(complaint(), "costs." + name + "=-1: must be 0..1000000000000");
        scenario_.costs.*member = kTrillion + 1;
        expect("costs." + name + "=1000000000001: must be 0..1000000000000");
        scenario_.costs.*member = kTrillion;
        EXPECT_EQ(complaint(), "");
        scenario_.costs.*member = 0;
    }
    scenario_.costs.visit_kernel_cycles = -5;
    expect("costs.visit_kernel_cycles=-5: must be 0..");
}

TEST_F(ValidateScenario, RefusesNegativeStalls) {
    scenario_.costs.visit_stall_ns = -1;
    expect("costs.visit_stall_ns=-1: must be 0..");
    scenario_.costs.visit_stall_ns = 0;
    scenario_.costs.run_stall_ns = -1;
    expect("costs.run_stall_ns=-1: must be 0..");
    scenario_.costs.run_stall_ns = 0;
    scenario_.costs.sleep_overhead_ns = -1;
    expect("costs.sleep_overhead_ns=-1: must be 0..");
}

TEST_F(ValidateScenario, LimitsHz) {
    for (const int hz : {0, -1, 10'001}) {
        scenario_.kernel.hz = hz;
        EXPECT_EQ(complaint(), "kernel.hz=" + std::to_string(hz) + ": must be 1..10000");
    }
    for (const int hz : {1, 10'000}) {
        scenario_.kernel.hz = hz;
        EXPECT_EQ(complaint(), "");
    }
}

TEST_F(ValidateScenario, KeepsTheTickPhaseWithinOneTick) {
    scenario_.kernel.hz = 300;
    scenario_.kernel.since_tick_ns = 3'333'332;
    EXPECT_EQ(complaint(), "");
    scenario_.kernel.since_tick_ns = 3'333'333;
    EXPECT_EQ(complaint(), "kernel.since_tick_ns=3333333: must be 0..3333332, within one tick at HZ 300");
    scenario_.kernel.since_tick_ns = -1;
    expect("kernel.since_tick_ns=-1");
}

TEST_F(ValidateScenario, LimitsTimeoutAndWheelExtra) {
    scenario_.kernel.timeout_ms = 0;
    expect("kernel.timeout_ms=0: must be 1..4294967295");
    scenario_.kernel.timeout_ms = 1;
    scenario_.kernel.wheel_extra = 1;
    EXPECT_EQ(complaint(), "");
    scenario_.kernel.wheel_extra = 2;
    expect("kernel.wheel_extra=2: must be 0..1");
    scenario_.kernel.wheel_extra = -1;
    expect("kernel.wheel_extra=-1: must be 0..1");
}

TEST_F(ValidateScenario, LimitsTheTimeSlice) {
    for (const std::int64_t slice_ns : {0, 1000, 3'000'000}) {
        scenario_.rules.slice_ns = slice_ns;
        EXPECT_EQ(complaint(), "");
    }
    for (const std::int64_t slice_ns : {-1, 1, 999}) {
        scenario_.rules.slice_ns = slice_ns;
        expect("rules.slice_ns=" + std::to_string(slice_ns) + ": must be 0 (never) or 1000..");
    }
}

TEST_F(ValidateScenario, NamesGroupsByNameAndNamelessOnesByNumber) {
    io().count = -1;
    EXPECT_EQ(complaint(), "tasks[io].count=-1: must be 0..10000000");
    io() = group("");
    EXPECT_EQ(complaint(), "tasks[1].name='': must not be empty: it keys the group's random streams");
}

TEST_F(ValidateScenario, RefusesTwoGroupsOfOneName) {
    io().name = "apps";
    EXPECT_EQ(complaint(), "tasks[apps].name='apps': must be the name of one group only");
}

TEST_F(ValidateScenario, LimitsTheNumbersOfAGroup) {
    io().threads = 0;
    expect("tasks[io].threads=0: must be 1..");
    io() = group("io");
    io().reply_after_cycles = -1;
    expect("tasks[io].reply_after_cycles=-1: must be 0..1000000000000");
    io() = group("io");
    io().freeze_run_cycles = -1;
    expect("tasks[io].freeze_run_cycles=-1: must be 0..");
    io() = group("io");
    io().thaw_run_cycles = kTrillion + 1;
    expect("tasks[io].thaw_run_cycles=1000000000001: must be 0..");
    io() = group("io");
    io().nfds = -1;
    expect("tasks[io].nfds=-1: must be 0..");
}

TEST_F(ValidateScenario, OnlySelectAndPollHaveDescriptors) {
    io().nfds = 3;
    io().site = Site::epoll;
    expect("tasks[io].nfds=3: must be 0 in site epoll");
    for (const Site site : {Site::select, Site::poll}) {
        io().site = site;
        EXPECT_EQ(complaint(), "");
    }
}

TEST_F(ValidateScenario, LimitsTheNumberOfTasksInAll) {
    apps().count = 9'999'999;
    EXPECT_EQ(complaint(), "");
    apps().count = 10'000'000;
    EXPECT_EQ(complaint(), "tasks=10000001 tasks: must be at most 10000000 in all");
}

TEST_F(ValidateScenario, LimitsTheNumberOfTimedEvents) {
    apps().wakes_at_ns = at(5.0);
    apps().count = 1'000'000;
    EXPECT_EQ(complaint(), "");
    apps().count = 1'000'001;
    expect("tasks=1000001 timed events: must be at most 1000000");
    apps() = starting("apps", Start::uninterruptible);
    apps().count = 500'001;
    apps().d_ends_ns = at(1.0);
    EXPECT_EQ(complaint(), "");
    apps().wakes_at_ns = at(5.0);
    expect("tasks=1000002 timed events");
}

TEST_F(ValidateScenario, OnlyUserTasksComputeSpinStopOrDie) {
    for (const Kind kind : {Kind::kfreezable, Kind::knofreeze}) {
        io().kind = kind;
        for (const Start start : {Start::user_mode, Start::spinning, Start::stopped, Start::zombie}) {
            io().start = start;
            EXPECT_EQ(complaint(), "tasks[io].start=" + std::string{to_string(start)} +
                                       ": must be blocked or uninterruptible for kind " +
                                       std::string{to_string(kind)});
        }
        for (const Start start : {Start::blocked, Start::uninterruptible}) {
            io().start = start;
            EXPECT_EQ(complaint(), "");
        }
    }
    io().kind = Kind::user;
    for (const Start start : {Start::user_mode, Start::stopped, Start::zombie}) {
        io().start = start;
        EXPECT_EQ(complaint(), "");
    }
}

TEST_F(ValidateScenario, KernelThreadsMaySleepAnywhere) {
    for (const Site site : {Site::kthread, Site::other, Site::futex}) {
        io().kind = Kind::kfreezable;
        io().site = site;
        EXPECT_EQ(complaint(), "");
    }
}

TEST_F(ValidateScenario, OnlyUninterruptibleWaitsEnd) {
    io().d_ends_ns = at(5.0);
    expect("tasks[io].d_ends_ns: must not be given for start blocked, only for uninterruptible");
    io().start = Start::uninterruptible;
    EXPECT_EQ(complaint(), "");
}

TEST_F(ValidateScenario, OnlyTasksInUserModeFork) {
    io().forks_at_ns = at(5.0);
    expect("tasks[io].forks_at_ns: must not be given for start blocked, only for user_mode");
    io().start = Start::user_mode;
    EXPECT_EQ(complaint(), "");
}

TEST_F(ValidateScenario, NobodyWakesAThreadThatIsNeverAsked) {
    io().wakes_at_ns = at(5.0);
    EXPECT_EQ(complaint(), "");
    io().kind = Kind::knofreeze;
    expect("tasks[io].wakes_at_ns: must not be given for kind knofreeze");
}

TEST_F(ValidateScenario, RefusesDrawnTimesBelowZero) {
    io().wakes_at_ns = at(-1.0);
    EXPECT_EQ(complaint(), "tasks[io].wakes_at_ns=-1: must be 0 or more nanoseconds");
    io().wakes_at_ns = Distribution{Uniform{-2.0, 5.0}};
    expect("tasks[io].wakes_at_ns=-2: must be");
    const std::vector<double> samples{3.0, -4.0};
    io().wakes_at_ns = Distribution{Empirical::of_samples(samples)};
    expect("tasks[io].wakes_at_ns=-4: must be");
    io().wakes_at_ns = Distribution{LogNormal{1e6, 2.0}};
    EXPECT_EQ(complaint(), "");
    scenario_.wakeup_at_ns = at(-1.0);
    expect("wakeup_at_ns=-1: must be 0 or more nanoseconds");
}

TEST_F(ValidateScenario, TasksInDMayWaitForAnotherGroupAlsoWithAnEnd) {
    io() = starting("io", Start::uninterruptible);
    io().waits_on = "apps";
    EXPECT_EQ(complaint(), "");
    io().d_ends_ns = at(5.0);
    EXPECT_EQ(complaint(), "");
}

TEST_F(ValidateScenario, SpinningTasksMustWaitForAGroup) {
    io() = starting("io", Start::spinning);
    expect("tasks[io].waits_on='': must name the group");
    io().waits_on = "apps";
    EXPECT_EQ(complaint(), "");
}

TEST_F(ValidateScenario, RefusesADependencyOfTasksThatDoNotWait) {
    for (const Start start : {Start::blocked, Start::user_mode, Start::stopped, Start::zombie}) {
        io() = starting("io", start);
        io().waits_on = "apps";
        EXPECT_EQ(complaint(),
                  "tasks[io].waits_on='apps': only uninterruptible and spinning tasks wait, not "
                  "start=" +
                      std::string{to_string(start)});
    }
}

TEST_F(ValidateScenario, RefusesADependencyThatNamesNoOtherGroupWithTasks) {
    io() = starting("io", Start::uninterruptible);
    io().waits_on = "daemon";
    EXPECT_EQ(complaint(), "tasks[io].waits_on='daemon': is no group of tasks; known: apps, io");
    io().waits_on = "io";
    EXPECT_EQ(complaint(), "tasks[io].waits_on='io': must be another group than its own");
    io().waits_on = "apps";
    apps().count = 0;
    EXPECT_EQ(complaint(), "tasks[io].waits_on='apps': must name a group that has tasks");
    io().count = 0;
    EXPECT_EQ(complaint(), "");
}

TEST_F(ValidateScenario, RefusesNegativeTimesOfWork) {
    scenario_.work = {WorkItem{}, WorkItem{5, at(7.0)}};
    EXPECT_EQ(complaint(), "");
    scenario_.work[1].queued_at_ns = -1;
    expect("work[1].queued_at_ns=-1: must be 0..");
    scenario_.work[1] = {0, at(-1.0)};
    expect("work[1].runs_ns=-1: must be 0 or more nanoseconds");
}

TEST_F(ValidateScenario, LimitsAttemptsAndTheTimesAroundThem) {
    for (const std::int64_t attempts : {0, 1'000'001}) {
        scenario_.attempts = attempts;
        EXPECT_EQ(complaint(), "attempts=" + std::to_string(attempts) + ": must be 1..1000000");
    }
    scenario_.attempts = 1'000'000;
    EXPECT_EQ(complaint(), "");
    scenario_.retry_gap_ns = -1;
    expect("retry_gap_ns=-1: must be 0..");
    scenario_.retry_gap_ns = 0;
    scenario_.asleep_ns = -1;
    expect("asleep_ns=-1: must be 0..");
    scenario_.asleep_ns = std::numeric_limits<std::int64_t>::max();
    expect("asleep_ns=9223372036854775807: must be 0..");
}

TEST_F(ValidateScenario, RefusesWhatCouldAddUpBeyond64Bits) {
    scenario_.attempts = 1'000'000;
    scenario_.retry_gap_ns = kTrillion * 5;
    expect("scenario=");
    scenario_.retry_gap_ns = 0;
    scenario_.costs.freeze_run_cycles = kTrillion;
    apps().count = 9'000'000;
    expect("ns at the longest: must be at most 4611686018427387904");
    scenario_.costs.freeze_run_cycles = 7500;
    EXPECT_EQ(complaint(), "");
}

TEST_F(ValidateScenario, ChecksTheSumsAlsoForAnEmptyGroup) {
    io().count = 0;
    io().site = Site::poll;
    io().nfds = 1'000'000;
    scenario_.costs.per_fd_cycles = kTrillion;
    expect("ns at the longest");
    scenario_.costs.per_fd_cycles = 1000;
    EXPECT_EQ(complaint(), "");
}

TEST(TaskNames, AreTheEnumeratorsNamesInTheirOrder) {
    EXPECT_EQ(to_string(Kind::knofreeze), "knofreeze");
    EXPECT_EQ(kind_names().size(), 3U);
    EXPECT_EQ(kind_names()[static_cast<std::size_t>(Kind::kfreezable)], "kfreezable");
    EXPECT_EQ(to_string(Start::uninterruptible), "uninterruptible");
    EXPECT_EQ(start_names().size(), 6U);
    EXPECT_EQ(start_names()[static_cast<std::size_t>(Start::zombie)], "zombie");
    EXPECT_EQ(start_names()[static_cast<std::size_t>(Start::user_mode)], "user_mode");
}

}  // namespace
}  // namespace torpor::freezer
