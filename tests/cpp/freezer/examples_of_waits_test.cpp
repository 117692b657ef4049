// SPDX-License-Identifier: MIT
// Freezes with waits in D and tasks in user mode worked out by hand, exact to the nanosecond and to the
// count. Times in microseconds.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "example.hpp"

namespace torpor::freezer {
namespace {

using namespace testing;

TEST(StragglerInD, FreezesWhenItsWaitEndsAndIsSeenAfterTheRunningSleep) {
    const Scenario scenario = example(2, {others(), d_task("d", 3300)});
    const Result result = run(scenario, "p1");
    EXPECT_EQ(us(result.elapsed_ns), 7015);
    EXPECT_EQ(passes(scenario, "p1"),
              (PassList{{0, 7, 2}, {1007, 1010, 1}, {3010, 3013, 1}, {7013, 7015, 0}}));
    EXPECT_EQ(sleep_starts(scenario, "p1"), (Times{7, 1010, 3013}));
    EXPECT_EQ(frozen_us(scenario, "p1"), (Times{25, 3320}));
    EXPECT_EQ(us(result.elapsed_ns - outcomes(scenario, "p1").back().frozen_ns), 3695);
    EXPECT_EQ(us(run(scenario, "v3.9").elapsed_ns), 20002);
    EXPECT_EQ(passes(scenario, "v3.9"), (PassList{{0, 7, 2}, {20000, 20002, 0}}));
}

TEST(EndlessD, FailsAtTheFirstPassBeyondTheTimeout) {
    const auto scenario = [](int hz) { return example(2, {others(), d_task("d", -1)}, hz); };
    for (const int hz : {1000, 250}) {
        const Result result = run(scenario(hz), "p1");
        EXPECT_EQ(result.outcome, Outcome::failed);
        EXPECT_EQ(us(result.elapsed_ns), 20'006'513);
        EXPECT_EQ(result.elapsed_ns / 1'000'000, 20'006);  // as printed
        EXPECT_EQ(result.user.passes, 2503);
        PassList first = passes(scenario(hz), "p1");
        EXPECT_EQ(first.back(), (Pass{20'006'510, 20'006'513, 1}));
        first.resize(5);
        EXPECT_EQ(
            first,
            (PassList{{0, 7, 2}, {1007, 1010, 1}, {3010, 3013, 1}, {7013, 7016, 1}, {15016, 15019, 1}}));
        EXPECT_EQ(result.refusing, 1);
        EXPECT_EQ(result.refusing_by_group, (std::vector<std::int64_t>{0, 1}));
    }
    EXPECT_EQ(us(run(scenario(100), "p1").elapsed_ns), 20'014'516);
    EXPECT_EQ(run(scenario(100), "p1").user.passes, 2504);
    EXPECT_EQ(us(run(scenario(100), "v3.9").elapsed_ns), 20'020'003);
    EXPECT_EQ(run(scenario(100), "v3.9").user.passes, 1002);
    EXPECT_EQ(us(run(scenario(250), "v3.9").elapsed_ns), 20'016'003);
    EXPECT_EQ(run(scenario(250), "v3.9").user.passes, 1252);
}

TEST(WakeupEvent, AbortsAtTheEndOfTheNextPass) {
    Scenario scenario = example(1, {d_task("d", -1)});
    scenario.wakeup_at_ns = Constant{2'000'000.0};
    const Result result = run(scenario, "p1");
    EXPECT_EQ(result.outcome, Outcome::aborted);
    EXPECT_EQ(us(result.elapsed_ns), 3006);
    EXPECT_EQ(passes(scenario, "p1"), (PassList{{0, 2, 1}, {1002, 1004, 1}, {3004, 3006, 1}}));
    EXPECT_EQ(sleep_starts(scenario, "p1"), (Times{2, 1004}));
}

TEST(Passes, ThatCostNothingFailAtTheFirstEndOfASleepPastTheTimeout) {
    const auto failed = [](int hz, const char* policy) {
        Scenario scenario = example(2, {d_task("d", -1)}, hz);
        scenario.costs = {};
        const Result result = run(scenario, policy);
        EXPECT_EQ(result.outcome, Outcome::failed);
        return us(result.elapsed_ns);
    };
    EXPECT_EQ(failed(1000, "p1"), 20'007'000);
    EXPECT_EQ(failed(100, "v3.9"), 20'020'000);
    EXPECT_EQ(failed(250, "v3.9"), 20'016'000);
}

TEST(FuseClient, RefusesWhenItsDaemonIsFrozenFirst) {
    TaskGroup client = d_task("client", -1);
    client.waits_on = "daemon";
    const TaskGroup daemon = others(1, "daemon");
    for (const std::vector<TaskGroup>& tasks : {std::vector{client, daemon}, std::vector{daemon, client}}) {
        const Scenario scenario = example(2, tasks, 1000);
        const Result result = run(scenario, "p1");
        const std::size_t place = tasks.front().name == "client" ? 0 : 1;
        EXPECT_EQ(states(scenario, "p1").at(place), "uninterruptible");
        EXPECT_EQ(states(scenario, "p1").at(1 - place), "frozen");
        EXPECT_EQ(frozen_us(scenario, "p1"), (place == 0 ? Times{-1, 27} : Times{25, -1}));
        EXPECT_EQ(result.refusing_by_group.at(place), 1);
        EXPECT_EQ(result.outcome, Outcome::failed);
        EXPECT_EQ(result.refusing, 1);
        EXPECT_EQ(us(result.elapsed_ns), 20'006'513);
    }
}

TEST(Overshoot, IsAtMostTheLastSleep) {
    const auto elapsed_ms = [](double ends_ms, RangeMode mode = RangeMode::hard) {
        Scenario scenario = example(2, {d_task("d", 0)});
        scenario.tasks[0].d_ends_ns = Constant{ends_ms * 1e6};
        scenario.costs = {};
        scenario.kernel.range_mode = mode;
        return static_cast<double>(run(scenario, "p1").elapsed_ns) / 1e6;
    };
    EXPECT_EQ(elapsed_ms(0.2), 1);
    EXPECT_EQ(elapsed_ms(1.0), 1);
    EXPECT_EQ(elapsed_ms(1.01), 3);
    EXPECT_EQ(elapsed_ms(3.5), 7);
    EXPECT_EQ(elapsed_ms(7.2), 15);
    EXPECT_EQ(elapsed_ms(15.1), 23);
    EXPECT_EQ(elapsed_ms(2.9), 3);
    EXPECT_EQ(elapsed_ms(2.9, RangeMode::soft), 3.5);
}

Scenario with_d_tails(int hz) {
    Scenario scenario =
        example(2,
                {others(5), d_task("a", 3), d_task("c", 3300), d_task("k1", 500, Kind::kfreezable),
                 d_task("k2", 12000, Kind::kfreezable), kthread("x", Kind::knofreeze)},
                hz);
    scenario.loops = Loops::both;
    return scenario;
}

struct Busy {
    double first_us;
    double second_us;
};

void expect_same_end(const Scenario& scenario, const char* policy, const Busy& busy) {
    const Result result = run(scenario, policy);
    EXPECT_EQ(result.restarts + result.visible_errors, 6);
    ASSERT_EQ(result.freeze.cpu_busy_ns.size(), 2U);
    EXPECT_EQ(us(result.freeze.cpu_busy_ns[0]), busy.first_us);
    EXPECT_EQ(us(result.freeze.cpu_busy_ns[1]), busy.second_us);
    EXPECT_EQ(us(result.freeze.busy_ns), busy.first_us + busy.second_us);
    EXPECT_EQ(us(result.thaw_walker_ns), 91);
    EXPECT_EQ(us(result.thaw_all_ns), 95);
    EXPECT_EQ(result.thaw.task_switch_ins, 9);
}

TEST(DTails, InBothLoopsFollowTheBackoffAtAnyHz) {
    for (const int hz : {100, 200, 250, 300, 1000}) {
        SCOPED_TRACE(hz);
        const Scenario scenario = with_d_tails(hz);
        const Result result = run(scenario, "p1");
        EXPECT_EQ(us(result.user.elapsed_ns), 7115);
        EXPECT_EQ(us(result.elapsed_ns), 14162);
        EXPECT_EQ(passes(scenario, "p1"), (PassList{{0, 35, 7},
                                                    {1083, 1094, 1},
                                                    {3094, 3105, 1},
                                                    {7105, 7115, 0},
                                                    {7115, 7130, 2},
                                                    {8130, 8141, 1},
                                                    {10141, 10152, 1},
                                                    {14152, 14162, 0}}));
        EXPECT_EQ(sleep_starts(scenario, "p1"), (Times{83, 1094, 3105, 7130, 8141, 10152}));
        EXPECT_EQ(frozen_us(scenario, "p1"), (Times{43, 55, 63, 75, 83, 95, 3320, 7147, 12020, -1}));
        EXPECT_EQ(result.freeze.task_switch_ins, 11);
        EXPECT_EQ(result.freeze.switches, 30);
        expect_same_end(scenario, "p1", {234, 100});
    }
}

TEST(DTails, InBothLoopsFollowTheTicksOfMsleep) {
    for (const auto& [hz, period_us] : {std::pair{100, 20000.0}, std::pair{200, 15000.0}}) {
        SCOPED_TRACE(hz);
        const Scenario scenario = with_d_tails(hz);
        const Result result = run(scenario, "v3.9");
        EXPECT_EQ(us(result.user.elapsed_ns), period_us + 10);
        EXPECT_EQ(us(result.elapsed_ns), 2 * period_us + 10);
        EXPECT_EQ(passes(scenario, "v3.9"), (PassList{{0, 35, 7},
                                                      {period_us, period_us + 10, 0},
                                                      {period_us + 10, period_us + 28, 2},
                                                      {2 * period_us, 2 * period_us + 10, 0}}));
        EXPECT_EQ(sleep_starts(scenario, "v3.9"), (Times{83, period_us + 42}));
        EXPECT_EQ(frozen_us(scenario, "v3.9"),
                  (Times{43, 55, 63, 75, 83, 95, 3320, period_us + 42, period_us + 48, -1}));
        EXPECT_EQ(result.freeze.task_switch_ins, 12);
        EXPECT_EQ(result.freeze.switches, 24);
        expect_same_end(scenario, "v3.9", {213, 100});
    }
}

TEST(UserMode, IsCutShortByTheRequest) {
    const Scenario scenario = example(2, {computing("u1"), computing("u2"), others()});
    const Result result = run(scenario, "p1");
    EXPECT_EQ(frozen_us(scenario, "p1"), (Times{22, 29, 42}));
    EXPECT_EQ(us(result.elapsed_ns), 1032);
    EXPECT_EQ(passes(scenario, "p1"), (PassList{{0, 9, 3}, {1029, 1032, 0}}));
    EXPECT_EQ(sleep_starts(scenario, "p1"), Times{29});
    EXPECT_EQ(result.freeze.task_switch_ins, 2);
    EXPECT_EQ(result.freeze.switches, 7);
    EXPECT_EQ(result.restarts + result.visible_errors, 1);
    EXPECT_EQ(us(result.thaw_walker_ns), 30);
    EXPECT_EQ(us(result.thaw_all_ns), 35);
    EXPECT_EQ(result.thaw.task_switch_ins, 3);
}

TEST(UserMode, NeedsNoSwitchWhenItsTaskHoldsItsCpuAlready) {
    const Scenario scenario = example(2, {computing("u1"), computing("u2"), others()});
    // CPU 1 runs task 0 from the start, and then task 2; task 1 comes to CPU 0 after the walk.
    std::vector<std::pair<std::int64_t, std::int64_t>> started;  // task, time
    for (const engine::TimelineRecord& record : told(scenario, "p1")) {
        if (record.kind == static_cast<std::uint16_t>(TimelineKind::loop_begin) && record.value == 2) break;
        if (record.kind != static_cast<std::uint16_t>(TimelineKind::run) || record.value < 0) continue;
        started.emplace_back(record.value, to_ns(record.at));
    }
    EXPECT_EQ(started, (std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 0}, {1, 9000}, {2, 22000}}));
    EXPECT_EQ(run(example(2, {computing("u1")}), "p1").freeze.task_switch_ins, 0);
}

Scenario client_and_server(std::int64_t reply_after, bool server_first) {
    const TaskGroup client = waiting_on(d_task("a", -1), "b");
    const TaskGroup server = computing("b", reply_after);
    return example(2, server_first ? std::vector{server, client} : std::vector{client, server}, 1000);
}

TEST(UserMode, RepliesUpToTheInstantAtWhichItIsCut) {
    for (const std::int64_t reply_after : {0, 1000, 3000, 4000}) {
        SCOPED_TRACE(reply_after);
        const Scenario scenario = client_and_server(reply_after, false);
        EXPECT_EQ(us(run(scenario, "p1").elapsed_ns), 1026);
        EXPECT_EQ(passes(scenario, "p1"), (PassList{{0, 4, 2}, {1024, 1026, 0}}));
        EXPECT_EQ(frozen_us(scenario, "p1"), (Times{24, 24}));
    }
    // Cut at 2, its own burst until 22; the client runs 4-24.
    EXPECT_EQ(us(run(client_and_server(2000, true), "p1").elapsed_ns), 1024);
}

TEST(UserMode, LeavesItsClientStuckWhenItIsCutBefore) {
    for (const std::int64_t reply_after : {4001, 5000}) {
        const Result stuck = run(client_and_server(reply_after, false), "p1");
        EXPECT_EQ(stuck.outcome, Outcome::failed) << reply_after;
        EXPECT_EQ(us(stuck.elapsed_ns), 20'006'510) << reply_after;
    }
    EXPECT_EQ(run(client_and_server(2001, true), "p1").outcome, Outcome::failed);
    EXPECT_EQ(run(client_and_server(3000, true), "p1").outcome, Outcome::failed);
}

}  // namespace
}  // namespace torpor::freezer
