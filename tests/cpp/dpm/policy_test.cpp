// SPDX-License-Identifier: MIT
#include "torpor/dpm/policy.hpp"

#include <gtest/gtest.h>

#include "torpor/base/error.hpp"

namespace torpor::dpm {
namespace {

std::string complaint_of(std::string_view text) {
    try {
        validate(parse_policy(text));
    } catch (const ConfigError& error) {
        EXPECT_EQ(std::string{error.what()}.rfind(error.key(), 0), 0U) << error.what();
        return error.what();
    }
    return "none";
}
std::string complaint_of(const Policy& policy) {
    try {
        validate(policy);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "none";
}

TEST(PolicyText, ReadsBackAsItIsWritten) {
    for (const char* text :
         {"sync()", "sync(eas_off=both)", "old()", "old-inline()", "breadth-first()", "up-6.16()",
          "up-6.17()", "bound()", "breadth-first(eas_off=resume)", "breadth-first(inline_calls=false)",
          "old(eas_off=suspend, max_active=3, list_mutex=false)",
          "breadth-first(eas_off=both, max_active=7, inline_calls=false, list_mutex=false)"}) {
        EXPECT_EQ(to_string(parse_policy(text)), text);
        EXPECT_EQ(complaint_of(text), "none");
    }
}

TEST(PolicyText, LeavesOutWhatIsUsual) {
    EXPECT_EQ(to_string(parse_policy("breadth-first(eas_off=none, inline_calls=true, list_mutex=true)")),
              "breadth-first()");
}

TEST(PolicyText, NeedsNoParentheses) {
    EXPECT_EQ(parse_policy("up-6.17"), parse_policy(" up-6.17( ) "));
}

TEST(PolicyText, SetsTheParameters) {
    const Policy policy =
        parse_policy("breadth-first(eas_off=resume, max_active=9, inline_calls=false, list_mutex=false)");
    EXPECT_EQ(policy, (Policy{Order::breadth_first, EasOff::resume, 9, false, false}));
}

TEST(PolicyText, OfAnUnknownNameListsTheKnownOnes) {
    EXPECT_EQ(
        complaint_of("async"),
        "policy: 'async' is unknown; known: sync, old, old-inline, breadth-first, up-6.16, up-6.17, bound");
}

TEST(PolicyText, OfAnUnknownParameterListsTheKnownOnes) {
    EXPECT_EQ(complaint_of("old(inline_calls=true)"),
              "old.inline_calls: is no parameter of old; known: eas_off, max_active, list_mutex");
    EXPECT_NE(complaint_of("sync(max_active=3)"), "none");
    EXPECT_NE(complaint_of("bound(list_mutex=false)"), "none");
}

TEST(PolicyText, RefusesValuesThatCannotBe) {
    EXPECT_EQ(complaint_of("old(max_active=0)"),
              "old.max_active: 0 is out of range; it must be 1..2147483647");
    EXPECT_EQ(complaint_of("old(eas_off=always)"),
              "old.eas_off: 'always' is unknown; known: none, suspend, resume, both");
    EXPECT_NE(complaint_of("old(list_mutex=maybe)"), "none");
    EXPECT_NE(complaint_of("old(max_active=many)"), "none");
    EXPECT_NE(complaint_of("old(max_active=3"), "none");
}

TEST(ValidatePolicy, RefusesWhatMeansNothingForTheOrder) {
    EXPECT_EQ(complaint_of(Policy{Order::sync, EasOff::none, 5}), "sync.max_active=5: has no meaning here");
    EXPECT_EQ(complaint_of(Policy{Order::bound, EasOff::none, 5}), "bound.max_active=5: has no meaning here");
    EXPECT_EQ(complaint_of(Policy{Order::sync, EasOff::none, 0, true, false}),
              "sync.list_mutex=false: has no meaning here");
    EXPECT_EQ(complaint_of(Policy{Order::old, EasOff::none, 0, false}),
              "old.inline_calls=false: only breadth-first handles devices in place");
}

TEST(ValidatePolicy, RefusesALimitOutOfRange) {
    EXPECT_EQ(complaint_of(Policy{Order::old, EasOff::none, -1}),
              "old.max_active: -1 is out of range; it must be 0..2147483647");
}

TEST(KnownPolicies, AreThoseThatCanBeRead) {
    const std::vector<PolicyInfo> all = known_policies();
    ASSERT_EQ(all.size(), 7U);
    for (const PolicyInfo& info : all) {
        EXPECT_EQ(complaint_of(info.name), "none");
        EXPECT_FALSE(info.description.empty());
        EXPECT_FALSE(info.source.empty());
        for (const ParameterInfo& parameter : info.parameters) {
            const std::string text = info.name + "(" + parameter.name + "=x)";
            EXPECT_EQ(complaint_of(text).find("is no parameter"), std::string::npos) << text;
        }
    }
}

TEST(KnownPolicies, NameTheBoundAsNoPolicy) {
    for (const PolicyInfo& info : known_policies()) EXPECT_EQ(info.bound, info.name == "bound");
}

}  // namespace
}  // namespace torpor::dpm
