// SPDX-License-Identifier: MIT
#include "torpor/ftrace/fields.hpp"

#include <gtest/gtest.h>

namespace torpor::ftrace {
namespace {

constexpr std::string_view kSwitch =
    "prev_comm=a b=c prev_pid=7 prev_state=R ==> next_comm=swapper/0 next_pid=0 next_prio=120";

TEST(Fields, ValueEndsAtTheNextSpace) {
    EXPECT_EQ(field("state=1 cpu_id=3", "state"), "1");
}

TEST(Fields, LastValueEndsWithTheText) {
    EXPECT_EQ(field("state=1 cpu_id=3", "cpu_id"), "3");
}

TEST(Fields, MissingKeyIsNothing) {
    EXPECT_EQ(field("state=1", "cpu_id"), std::nullopt);
}

TEST(Fields, EndOfALongerKeyIsNotTheKey) {
    EXPECT_EQ(field("softexpires=5 expires=9", "expires"), "9");
}

TEST(Fields, TaskNameMayHoldSpacesAndEqualSigns) {
    EXPECT_EQ(field_before(kSwitch, "prev_comm", "prev_pid"), "a b=c");
}

TEST(Fields, TextWithoutItsSuccessorIsNothing) {
    EXPECT_EQ(field_before("next_comm=x", "next_comm", "next_pid"), std::nullopt);
}

TEST(Fields, IntegersAreSigned) {
    EXPECT_EQ(integer_field("ret=-22 x=1", "ret"), -22);
}

TEST(Fields, IntegerWithATailIsNothing) {
    EXPECT_EQ(integer_field("x=12us", "x"), std::nullopt);
}

TEST(Fields, IntegerBeyond64BitsIsNothing) {
    EXPECT_EQ(integer_field("x=9223372036854775808", "x"), std::nullopt);
}

TEST(Fields, PointerMayHaveAPrefix) {
    EXPECT_EQ(pointer_field("hrtimer=0xffff0010", "hrtimer"), 0xffff0010U);
    EXPECT_EQ(pointer_field("hrtimer=00000000ee63d578", "hrtimer"), 0xee63d578U);
}

}  // namespace
}  // namespace torpor::ftrace
