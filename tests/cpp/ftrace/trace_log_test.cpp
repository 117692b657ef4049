// SPDX-License-Identifier: MIT
#include "torpor/ftrace/trace_log.hpp"

#include <gtest/gtest.h>

#include <string>

#include "torpor/base/error.hpp"

namespace torpor::ftrace {
namespace {

const std::string kRow = "  <idle>-0       [003] dN.1.  9.000001: cpu_idle: state=1 cpu_id=3\n";

std::string error_of(const std::string& text) {
    try {
        const TraceLog log{text, "t.txt"};
    } catch (const ConfigError& error) {
        return error.what();
    }
    return {};
}

TEST(TraceLog, ReadsEveryColumnOfAKernelRow) {
    const TraceLog log{kRow, "t"};
    ASSERT_EQ(log.size(), 1U);
    EXPECT_EQ(log.comm(0), "<idle>");
    EXPECT_EQ(log.pid(0), 0);
    EXPECT_EQ(log.cpu(0), 3);
    EXPECT_EQ(log.flags(0), kIrqsOff | kNeedResched | kPreemptOff);
    EXPECT_EQ(log.flags_text(0), "dN.1.");
    EXPECT_EQ(log.time_ns(0), 9000001000);
    EXPECT_EQ(log.event(0), "cpu_idle");
    EXPECT_EQ(log.args(0), "state=1 cpu_id=3");
    EXPECT_EQ(log.line(0), 1U);
}

TEST(TraceLog, TaskNameMayHoldSpacesDashesAndBrackets) {
    const TraceLog log{"  my [0] a-b c-17 [001] .... 1.5: e: x\n", "t"};
    ASSERT_EQ(log.size(), 1U);
    EXPECT_EQ(log.comm(0), "my [0] a-b c");
    EXPECT_EQ(log.pid(0), 17);
    EXPECT_EQ(log.cpu(0), 1);
}

TEST(TraceLog, ThreadGroupColumnIsSkipped) {
    const TraceLog log{
        "  kworker/0:1-17  (-----) [001] d..2 1.5: e: x\n  bash-9 (    9) [000] d..2 1.5: e: x\n", "t"};
    ASSERT_EQ(log.size(), 2U);
    EXPECT_EQ(log.comm(0), "kworker/0:1");
    EXPECT_EQ(log.pid(1), 9);
}

TEST(TraceLog, FlagsMayBeAbsent) {
    const TraceLog log{"cpus=4\n   rs:main Q:Reg-645   [000]    52.063123: sched_switch:         x=1\n", "t"};
    ASSERT_EQ(log.size(), 1U);
    EXPECT_EQ(log.comm(0), "rs:main Q:Reg");
    EXPECT_EQ(log.flags(0), 0);
    EXPECT_EQ(log.args(0), "x=1");
}

TEST(TraceLog, FractionMayHaveNineDigits) {
    EXPECT_EQ((TraceLog{"a-1 [000] 1.000000007: e: x\n", "t"}.time_ns(0)), 1000000007);
}

TEST(TraceLog, BracketsInArgumentsDoNotConfuse) {
    const TraceLog log{"a-1 [000] .... 2.000000: suspend_resume: x-1 [002] .... 3.0: e: y\n", "t"};
    EXPECT_EQ(log.cpu(0), 0);
    EXPECT_EQ(log.event(0), "suspend_resume");
}

TEST(TraceLog, EventMayHaveNoArguments) {
    const TraceLog log{"a-1 [000] .... 2.000000: irq_noise:\n", "t"};
    ASSERT_EQ(log.size(), 1U);
    EXPECT_EQ(log.args(0), "");
}

TEST(TraceLog, CarriageReturnsAreNoArguments) {
    EXPECT_EQ((TraceLog{"a-1 [000] .... 2.0: e: x=1\r\n", "t"}.args(0)), "x=1");
}

TEST(TraceLog, LostEventsAreReported) {
    const TraceLog log{kRow + "CPU:3 [LOST 117 EVENTS]\n", "t"};
    ASSERT_EQ(log.lost().size(), 1U);
    EXPECT_EQ(log.lost()[0].cpu, 3);
    EXPECT_EQ(log.lost()[0].count, 117);
    EXPECT_EQ(log.bad_row_count(), 0U);
}

TEST(TraceLog, BadRowsAreCountedWithTheirLine) {
    const TraceLog log{"# comment\n" + kRow + " => some_function\n" + kRow, "t"};
    EXPECT_EQ(log.size(), 2U);
    EXPECT_EQ(log.bad_row_count(), 1U);
    ASSERT_EQ(log.bad_rows().size(), 1U);
    EXPECT_EQ(log.bad_rows()[0].line, 3U);
}

TEST(TraceLog, SameNamesShareAnId) {
    const TraceLog log{kRow + "b-2 [001] .... 9.5: other: x\n" + kRow, "t"};
    EXPECT_EQ(log.event_id(0), log.event_id(2));
    EXPECT_NE(log.event_id(0), log.event_id(1));
    EXPECT_EQ(log.find_event("other"), log.event_id(1));
    EXPECT_EQ(log.find_event("absent"), std::nullopt);
}

TEST(TraceLog, TimesOfDifferentCpusMayCross) {
    EXPECT_EQ((TraceLog{"a-1 [000] .... 2.0: e: x\na-1 [001] .... 1.0: e: x\n", "t"}.size()), 2U);
}

TEST(TraceLog, TimeThatRunsBackwardsNamesTheLineAndBothTimes) {
    const std::string error = error_of("a-1 [000] .... 2.0: e: x\na-1 [000] .... 1.0: e: x\n");
    EXPECT_NE(error.find("t.txt:2"), std::string::npos) << error;
    EXPECT_NE(error.find("1000000000 ns after 2000000000 ns"), std::string::npos) << error;
}

TEST(TraceLog, EmptyFileIsAnError) {
    EXPECT_NE(error_of("").find("t.txt: the file is empty"), std::string::npos);
}

TEST(TraceLog, BinaryFileIsAnError) {
    EXPECT_NE(error_of(std::string{"a\0b\n", 4}).find("byte 0 at offset 1"), std::string::npos);
}

TEST(TraceLog, FileCutInTheMiddleOfARowIsAnError) {
    EXPECT_NE(error_of(kRow + kRow.substr(0, 30)).find("t.txt:2: the file ends in the middle"),
              std::string::npos);
}

TEST(TraceLog, ForeignTextIsAnErrorThatQuotesIt) {
    const std::string error = error_of("{\"json\":\n1}\n");
    EXPECT_NE(error.find("t.txt:1: no row of a kernel trace in 2 lines"), std::string::npos) << error;
    EXPECT_NE(error.find("\"{\"json\":\""), std::string::npos) << error;
}

TEST(TraceLog, TimeBeyondTheRangeIsABadRow) {
    const TraceLog log{kRow + "a-1 [000] .... 99999999999999.0: e: x\n", "t"};
    EXPECT_EQ(log.bad_row_count(), 1U);
}

}  // namespace
}  // namespace torpor::ftrace
