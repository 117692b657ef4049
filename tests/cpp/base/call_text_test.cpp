// SPDX-License-Identifier: MIT
#include "torpor/base/call_text.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace torpor {
namespace {

enum class Fruit { apple, pear };
constexpr std::array<std::string_view, 2> kFruits{"apple", "pear"};

template <class Action>
std::string complaint(Action action) {
    try {
        action();
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "accepted";
}

TEST(Words, JoinQuoteAndTrim) {
    EXPECT_EQ(joined(kFruits), "apple, pear");
    EXPECT_EQ(joined(std::vector<std::string>{}), "");
    EXPECT_EQ(quoted("a b"), "'a b'");
    EXPECT_EQ(trimmed("  a b "), "a b");
    EXPECT_EQ(trimmed("   "), "");
    EXPECT_EQ(trimmed(""), "");
}

TEST(ParseName, GivesTheEnumeratorAtThePositionOfTheName) {
    EXPECT_EQ(parse_name<Fruit>("pear", kFruits, "fruit"), Fruit::pear);
}

TEST(ParseName, ListsTheNamesItKnows) {
    EXPECT_EQ(complaint([] { parse_name<Fruit>("plum", kFruits, "fruit"); }),
              "fruit: 'plum' is unknown; known: apple, pear");
    EXPECT_EQ(complaint([] { parse_name<Fruit>("", kFruits, "fruit"); }),
              "fruit: '' is unknown; known: apple, pear");
}

TEST(ParseInteger, ReadsTheWholeRangeAndNothingElse) {
    EXPECT_EQ(parse_integer("-9223372036854775808", "n"), std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(parse_integer("9223372036854775807", "n"), std::numeric_limits<std::int64_t>::max());
    for (const char* bad : {"", "1.5", "1 ", "+1", "0x10", "one", "9223372036854775808"}) {
        EXPECT_EQ(complaint([bad] { parse_integer(bad, "n"); }),
                  std::string{"n: '"} + bad + "' is not a whole number");
    }
}

TEST(ParseNumber, ReadsFiniteNumbersAndNothingElse) {
    EXPECT_EQ(parse_number("2", "x"), 2.0);
    EXPECT_EQ(parse_number("-1.25e3", "x"), -1250.0);
    for (const char* bad : {"", "inf", "nan", "1e999", "1,5", "two"}) {
        EXPECT_EQ(complaint([bad] { parse_number(bad, "x"); }),
                  std::string{"x: '"} + bad + "' is not a number");
    }
}

TEST(ParseBool, ReadsTrueAndFalseOnly) {
    EXPECT_TRUE(parse_bool("true", "b"));
    EXPECT_FALSE(parse_bool("false", "b"));
    EXPECT_EQ(complaint([] { parse_bool("True", "b"); }), "b: 'True' is neither true nor false");
}

TEST(RequireRange, TakesBothLimitsAndNamesThem) {
    EXPECT_NO_THROW(require_range("n", 1, 1, 3));
    EXPECT_NO_THROW(require_range("n", 3, 1, 3));
    EXPECT_EQ(complaint([] { require_range("n", 0, 1, 3); }), "n: 0 is out of range; it must be 1..3");
    EXPECT_EQ(complaint([] { require_range("n", 4, 1, 3); }), "n: 4 is out of range; it must be 1..3");
}

TEST(SplitCall, CutsTheNameFromWhatIsBetweenTheParentheses) {
    const CallText call = split_call("  fixed ( state = 2 ) ", "policy");
    EXPECT_EQ(call.name, "fixed");
    EXPECT_EQ(call.arguments, "state = 2");
}

TEST(SplitCall, ParenthesesMayBeMissingOrEmpty) {
    EXPECT_EQ(split_call(" menu ", "policy").name, "menu");
    EXPECT_EQ(split_call("menu", "policy").arguments, "");
    EXPECT_EQ(split_call("menu( )", "policy").arguments, "");
    EXPECT_EQ(split_call("", "policy").name, "");
}

TEST(SplitCall, RefusesACallThatIsNotClosed) {
    EXPECT_EQ(complaint([] { split_call("menu(a=1", "policy"); }),
              "policy: 'menu(a=1' lacks the closing parenthesis");
    EXPECT_EQ(complaint([] { split_call("(", "policy"); }), "policy: '(' lacks the closing parenthesis");
}

TEST(ArgumentsList, ReadsGivenParametersAndLeavesOthersAsTheyAre) {
    Arguments arguments{"f", "a=1,  b = two"};
    std::int64_t a = 0;
    std::int64_t c = 7;
    arguments.read("a", a, parse_integer);
    arguments.read("c", c, parse_integer);
    EXPECT_EQ(a, 1);
    EXPECT_EQ(c, 7);
    EXPECT_EQ(arguments.require("b"), "two");
    EXPECT_NO_THROW(arguments.finish());
}

TEST(ArgumentsList, NamesTheFunctionAndTheParameterInErrors) {
    Arguments arguments{"f", "a=x"};
    std::int64_t a = 0;
    EXPECT_EQ(arguments.key("a"), "f.a");
    EXPECT_EQ(complaint([&] { arguments.read("a", a, parse_integer); }), "f.a: 'x' is not a whole number");
    EXPECT_EQ(complaint([&] { arguments.require("b"); }), "f.b: must be given, e.g. f(b=1)");
}

TEST(ArgumentsList, FinishRefusesWhatNobodyAskedFor) {
    Arguments arguments{"f", "a=1, z=2"};
    EXPECT_NE(arguments.take("a"), nullptr);
    EXPECT_EQ(arguments.take("b"), nullptr);
    EXPECT_EQ(complaint([&] { arguments.finish(); }), "f.z: is no parameter of f; known: a, b");
}

TEST(ArgumentsList, RefusesWhatIsNotOfTheForm) {
    EXPECT_EQ(complaint([] { Arguments("f", "a"); }), "f: 'a' is not of the form parameter=value");
    EXPECT_EQ(complaint([] { Arguments("f", "a=1,,b=2"); }), "f: '' is not of the form parameter=value");
    EXPECT_EQ(complaint([] { Arguments("f", "a=1, "); }), "f: a parameter is missing after the last comma");
    EXPECT_EQ(complaint([] { Arguments("f", "a=1, a=2"); }), "f.a: is given twice");
}

TEST(CallWriter, SeparatesWhatItShows) {
    EXPECT_EQ(Call{"f"}.str(), "f()");
    EXPECT_EQ(Call{"f"}.show("a", "1").show("b", "x").str(), "f(a=1, b=x)");
}

TEST(CallWriter, LeavesOutWhatIsAsUsual) {
    Call call{"f"};
    call.show_unless_default("a", std::int64_t{1}, std::int64_t{1}).show_unless_default("b", true, true);
    call.show_unless_default("c", 0.5, 0.5);
    EXPECT_EQ(call.str(), "f()");
    call.show_unless_default("a", std::int64_t{-2}, std::int64_t{1}).show_unless_default("b", false, true);
    EXPECT_EQ(call.str(), "f(a=-2, b=false)");
}

TEST(CallWriter, WritesTheShortestDigitsThatReadBack) {
    EXPECT_EQ(Call{"f"}.show_unless_default("x", 0.1, 0.0).str(), "f(x=0.1)");
    const double third = 1.0 / 3.0;
    const std::string text = Call{"f"}.show_unless_default("x", third, 0.0).str();
    EXPECT_EQ(parse_number(text.substr(4, text.size() - 5), "x"), third) << text;
}

}  // namespace
}  // namespace torpor
