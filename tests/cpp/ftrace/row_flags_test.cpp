// SPDX-License-Identifier: MIT
#include "torpor/ftrace/row_flags.hpp"

#include <gtest/gtest.h>

namespace torpor::ftrace {
namespace {

TEST(RowFlags, DotsSetNothing) {
    EXPECT_EQ(decode_flags("....."), 0);
}

TEST(RowFlags, AbsentColumnSetsNothing) {
    EXPECT_EQ(decode_flags(""), 0);
}

TEST(RowFlags, IrqsOffInHardirqWithReschedulingPending) {
    EXPECT_EQ(decode_flags("dNh1."), kIrqsOff | kNeedResched | kHardirq | kPreemptOff);
}

TEST(RowFlags, LowerCaseNIsReschedulingToo) {
    EXPECT_EQ(decode_flags("dn..."), kIrqsOff | kNeedResched);
}

TEST(RowFlags, FourCharactersAreEnough) {
    EXPECT_EQ(decode_flags("..s1"), kSoftirq | kPreemptOff);
}

TEST(RowFlags, HardirqInsideSoftirqSetsBoth) {
    EXPECT_EQ(decode_flags("d.H2."), kIrqsOff | kHardirq | kSoftirq | kPreemptOff);
}

TEST(RowFlags, UnknownLettersSetNothing) {
    EXPECT_EQ(decode_flags("?x!?"), 0);
}

}  // namespace
}  // namespace torpor::ftrace
