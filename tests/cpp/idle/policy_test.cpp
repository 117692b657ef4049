// SPDX-License-Identifier: MIT
#include "torpor/idle/policy.hpp"

#include <gtest/gtest.h>

#include <string>

#include "governor_testing.hpp"
#include "torpor/base/error.hpp"
#include "torpor/idle/with_governor.hpp"

namespace torpor::idle {
namespace {

using testing::hi6220;

std::string canonical(std::string_view text) {
    return to_string(parse_policy(text));
}

std::string message_of(std::string_view text) {
    try {
        parse_policy(text);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "accepted";
}

void expect_message(std::string_view text, std::string_view part) {
    const std::string message = message_of(text);
    EXPECT_NE(message.find(part), std::string::npos) << text << ": " << message;
}

TEST(PolicyText, CanonicalFormReadsBackForEveryVersionAndLoop) {
    for (const PolicyInfo& info : known_policies()) {
        for (const std::string& version : info.versions) {
            for (const char* loop : {"4.17", "leo", "4.19"}) {
                const Policy policy =
                    parse_policy(info.name + "(version=" + version + ", loop=" + loop + ")");
                EXPECT_EQ(parse_policy(to_string(policy)), policy) << to_string(policy);
            }
        }
    }
}

TEST(PolicyText, ShowsTheVersionAndOtherwiseOnlyWhatIsNotTheDefault) {
    EXPECT_EQ(canonical("menu"), "menu(version=6.1.192)");
    EXPECT_EQ(canonical("menu(version=4.18, loop=4.17)"), "menu(version=4.18)");
    EXPECT_EQ(canonical("menu(loop=leo, version=4.18+P1)"), "menu(version=4.18+P1, loop=leo)");
    EXPECT_EQ(canonical("teo()"), "teo(version=6.1)");
    EXPECT_EQ(canonical("teo(version=7.1,first_update=false)"), "teo(version=7.1, first_update=false)");
    EXPECT_EQ(canonical("ladder"), "ladder(version=6.1)");
    EXPECT_EQ(canonical("haltpoll"), "haltpoll()");
    EXPECT_EQ(canonical(" fixed( state = 2 ) "), "fixed(state=2)");
    EXPECT_EQ(canonical("fixed(state=2, stop_tick=false)"), "fixed(state=2, stop_tick=false)");
    EXPECT_EQ(canonical("oracle"), "oracle()");
    EXPECT_EQ(canonical("oracle(latency_limit_us=100)"), "oracle(latency_limit_us=100)");
    EXPECT_EQ(canonical("delayed_oracle(delay_us=500)"), "delayed_oracle(delay_us=500)");
}

TEST(PolicyText, StableReleaseThatCarriesTheFixesOf419IsAnotherNameOfIt) {
    EXPECT_EQ(canonical("menu(version=4.18.20)"), "menu(version=4.19)");
}

TEST(PolicyText, LoopFollowsTheVersion) {
    EXPECT_EQ(tick_loop(parse_policy("menu(version=4.18+leo-reply)")), TickLoop::v4_17);
    EXPECT_EQ(tick_loop(parse_policy("menu(version=4.19)")), TickLoop::v4_19);
    EXPECT_EQ(tick_loop(parse_policy("teo(version=5.5)")), TickLoop::v4_19);
    EXPECT_EQ(tick_loop(Policy{Menu{MenuVersion::v4_18}}), TickLoop::v4_17);
}

TEST(PolicyText, ErrorsListWhatIsKnown) {
    expect_message("menus", "menu, teo, ladder, haltpoll, fixed, oracle, delayed_oracle");
    expect_message("", "known: menu");
    expect_message("menu(version=4.17)", "4.18, 4.18+P1");
    expect_message("teo(version=6.2)", "5.5, 6.1, 6.12.117, 7.1");
    expect_message("menu(loop=4.18)", "4.17, leo, 4.19");
    expect_message("menu(verison=4.18)", "menu.verison: is no parameter of menu; known: version, loop");
    expect_message("haltpoll(version=6.1)", "is no parameter of haltpoll");
}

TEST(PolicyText, RejectsBadFormAndBadValues) {
    expect_message("menu(version=4.18", "closing parenthesis");
    expect_message("menu(4.18)", "not of the form");
    expect_message("menu(version=4.18,)", "after the last comma");
    expect_message("menu(version=4.18, version=4.19)", "menu.version: is given twice");
    expect_message("fixed", "fixed.state: must be given");
    expect_message("fixed(state=two)", "'two' is not a whole number");
    expect_message("fixed(state=)", "is not a whole number");
    expect_message("fixed(state=10)", "it must be 0..9");
    expect_message("fixed(state=-1)", "it must be 0..9");
    expect_message("fixed(state=1, stop_tick=yes)", "neither true nor false");
    expect_message("oracle(latency_limit_us=-1)", "oracle.latency_limit_us: -1 is out of range");
    expect_message("oracle(latency_limit_us=99999999999999999999)", "is not a whole number");
    expect_message("delayed_oracle", "delayed_oracle.delay_us: must be given");
}

TEST(PolicyOnTable, FixedStateMustExist) {
    EXPECT_NO_THROW(validate(parse_policy("fixed(state=2)"), hi6220()));
    EXPECT_THROW(validate(parse_policy("fixed(state=3)"), hi6220()), ConfigError);
}

TEST(PolicyOnTable, HaltpollNeedsAPollingState) {
    EXPECT_NO_THROW(validate(parse_policy("haltpoll"), testing::polling_table()));
    EXPECT_THROW(validate(parse_policy("haltpoll"), hi6220()), ConfigError);
}

TEST(WithGovernor, GivesEachPolicyItsOwnGovernorThatMeetsTheContract) {
    const StateTable table = testing::polling_table();
    for (const PolicyInfo& info : known_policies()) {
        if (info.bound) continue;
        const auto versions = info.versions.empty() ? std::vector<std::string>{""} : info.versions;
        for (const std::string& version : versions) {
            const std::string text = info.name == "fixed" ? "fixed(state=1)"
                                     : version.empty()    ? info.name
                                                          : info.name + "(version=" + version + ")";
            const int state =
                with_governor(parse_policy(text), table, TickLength{250}, []<class G>(G governor) -> int {
                    static_assert(Governor<G>);
                    Device device;
                    return governor.select(testing::running(50 * testing::kMs, 4 * testing::kMs), device)
                        .state;
                });
            EXPECT_GE(state, 0) << text;
            EXPECT_LT(state, table.count()) << text;
        }
    }
}

TEST(WithGovernor, RefusesABound) {
    const StateTable table = hi6220();
    const auto ask = [&table](std::string_view text) {
        with_governor(parse_policy(text), table, TickLength{250}, [](const auto&) {});
    };
    EXPECT_THROW(ask("oracle"), ConfigError);
    EXPECT_THROW(ask("delayed_oracle(delay_us=1)"), ConfigError);
    EXPECT_TRUE(is_bound(Oracle{}));
    EXPECT_FALSE(is_bound(Menu{}));
}

TEST(FixedGovernor, GoesShallowerWhenItsStateIsDisabled) {
    const StateTable table = hi6220();
    FixedGovernor governor{table, TickLength{250}, 2, false};
    Device device;
    EXPECT_EQ(governor.select({}, device), (Selection{2, false}));
    EXPECT_EQ(governor.select({.disabled = 0b100}, device), (Selection{1, false}));
    EXPECT_EQ(governor.select({.disabled = 0b110}, device), (Selection{0, false}));
}

}  // namespace
}  // namespace torpor::idle
