// SPDX-License-Identifier: MIT
#include "torpor/freezer/policy.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "torpor/base/distributions.hpp"
#include "torpor/base/error.hpp"
#include "torpor/base/random.hpp"

namespace torpor::freezer {
namespace {

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

class RandomPolicies {
  public:
    Policy next() {
        switch (integer(0, 3)) {
            case 0:
                return Cgroup1{version(), integer(0, 60'000'000), integer(1, 1'000'000'000)};
            case 1:
                return Cgroup2{integer(0, 60'000'000)};
            default:
                return Freezer{version(), sleep()};
        }
    }

  private:
    std::int64_t integer(std::int64_t low, std::int64_t high) { return UniformInt{low, high}(stream_); }
    Version version() {
        const auto last = static_cast<std::int64_t>(version_names().size()) - 1;
        return static_cast<Version>(integer(0, last));
    }
    Sleep sleep() {
        switch (integer(0, 2)) {
            case 0:
                return Msleep{integer(0, 60'000)};
            case 1:
                return Backoff{integer(1, 1'000'000), 1.0 + 63.0 * stream_.uniform01(),
                               integer(1, 60'000'000), stream_.uniform01(), integer(0, 1) == 1};
            default:
                return Notify{};
        }
    }

    RandomStream stream_{StreamKey{1, 0}, "policies"};
};

TEST(PolicyText, RandomPoliciesReadBackAsTheyWere) {
    RandomPolicies policies;
    for (int i = 0; i < 5000; ++i) {
        const Policy policy = policies.next();
        ASSERT_EQ(parse_policy(to_string(policy)), policy) << to_string(policy);
    }
}

TEST(PolicyText, ShowsTheVersionAndTheSleepOnlyWhereItIsNotTheVersions) {
    EXPECT_EQ(canonical("freezer"), "freezer(version=v6.7)");
    EXPECT_EQ(canonical("freezer(version=v3.9, sleep=msleep, msleep_ms=10)"), "freezer(version=v3.9)");
    EXPECT_EQ(canonical("freezer(cap_us=4000, version=full)"), "freezer(version=full, cap_us=4000)");
    EXPECT_EQ(canonical("freezer(version=p2, msleep_ms=20)"), "freezer(version=p2, msleep_ms=20)");
    EXPECT_EQ(canonical("freezer(version=full, sleep=msleep)"), "freezer(version=full, sleep=msleep)");
    EXPECT_EQ(canonical("freezer(version=v3.9, sleep=backoff, growth=1.5, lower=1, clamp=true)"),
              "freezer(version=v3.9, sleep=backoff, growth=1.5, lower=1, clamp=true)");
    EXPECT_EQ(canonical("freezer(version=ideal, sleep=notify)"), "freezer(version=ideal)");
    EXPECT_EQ(canonical("cgroup1"), "cgroup1(version=v3.12)");
    EXPECT_EQ(canonical("cgroup1(tries=5, poll_us=0, version=v6.1)"),
              "cgroup1(version=v6.1, poll_us=0, tries=5)");
    EXPECT_EQ(canonical("cgroup2()"), "cgroup2()");
    EXPECT_EQ(canonical("cgroup2(since_notification_us=0)"), "cgroup2(since_notification_us=0)");
}

TEST(PolicyText, AVersionByItselfIsTheFreezerOfThatVersion) {
    for (const std::string_view version : version_names()) {
        EXPECT_EQ(canonical(version), "freezer(version=" + std::string{version} + ")");
    }
    EXPECT_EQ(canonical("full(cap_us=4000)"), "freezer(version=full, cap_us=4000)");
    EXPECT_EQ(canonical(" v3.9 ( sleep = notify ) "), "freezer(version=v3.9, sleep=notify)");
}

TEST(PolicyText, Release311IsAnotherNameOfTheFullSeries) {
    EXPECT_EQ(canonical("v3.11"), "freezer(version=full)");
    EXPECT_EQ(canonical("freezer(version=v3.11)"), "freezer(version=full)");
    EXPECT_EQ(canonical("cgroup1(version=v3.11)"), "cgroup1(version=full)");
    EXPECT_EQ(parse_version("v3.11", "key"), Version::full);
}

TEST(PolicyText, EachVersionComesWithItsOwnSleep) {
    for (const Version version : {Version::v3_9, Version::p2, Version::skip_only}) {
        EXPECT_EQ(Freezer{version}.sleep, Sleep{Msleep{10}}) << to_string(version);
    }
    for (const Version version :
         {Version::p1, Version::p1p2, Version::full, Version::v3_12, Version::v6_1, Version::v6_7}) {
        EXPECT_EQ(Freezer{version}.sleep, Sleep{Backoff{}}) << to_string(version);
    }
    EXPECT_EQ(Freezer{Version::ideal}.sleep, Sleep{Notify{}});
    EXPECT_EQ(parse_policy("p1"), Policy{Freezer{Version::p1}});
}

TEST(PolicyText, NamesTheKindOfASleep) {
    EXPECT_EQ(name_of(Sleep{Msleep{}}), "msleep");
    EXPECT_EQ(name_of(Sleep{Backoff{}}), "backoff");
    EXPECT_EQ(name_of(Sleep{Notify{}}), "notify");
}

TEST(PolicyText, ErrorsListWhatIsKnown) {
    expect_message("frezer",
                   "'frezer' is unknown; known: freezer, cgroup1, cgroup2, or a version by itself: "
                   "v3.9, p1, p2, p1p2, skip-only, full, v3.12, v6.1, v6.7, ideal");
    expect_message("", "known: freezer");
    expect_message("freezer(version=v4.0)", "freezer.version: 'v4.0' is unknown; known: v3.9, p1");
    expect_message("cgroup1(version=3.9)", "cgroup1.version: '3.9' is unknown");
    expect_message("v3.9(sleep=usleep)",
                   "freezer.sleep: 'usleep' is unknown; known: msleep, backoff, notify");
    expect_message("full(cup_us=1)",
                   "freezer.cup_us: is no parameter of freezer; known: version, sleep, first_us");
    expect_message("cgroup2(version=v6.1)", "cgroup2.version: is no parameter of cgroup2; known: since_");
}

TEST(PolicyText, RefusesParametersOfAnotherSleep) {
    expect_message("v3.9(cap_us=4000)", "freezer.cap_us: is no parameter of msleep; known: msleep_ms");
    expect_message("full(msleep_ms=10)", "freezer.msleep_ms: is no parameter of backoff; known: first_us");
    expect_message("full(sleep=notify, clamp=true)", "freezer.clamp: is no parameter of notify; it has none");
    expect_message("full(sleep=msleep, growth=2)", "is no parameter of msleep");
}

TEST(PolicyText, RefusesTwoVersions) {
    expect_message("full(version=p1)", "freezer.version: is given twice");
    expect_message("freezer(version=p1, version=p1)", "freezer.version: is given twice");
}

TEST(PolicyText, RefusesBadForm) {
    expect_message("freezer(version=full", "closing parenthesis");
    expect_message("freezer(full)", "not of the form");
    expect_message("full(cap_us=4000,)", "after the last comma");
    expect_message("full(cap_us=4e3)", "freezer.cap_us: '4e3' is not a whole number");
    expect_message("full(growth=two)", "freezer.growth: 'two' is not a number");
    expect_message("full(clamp=1)", "neither true nor false");
}

TEST(PolicyText, AcceptsTheLimitsOfEachParameter) {
    for (const char* text :
         {"v3.9(msleep_ms=0)", "v3.9(msleep_ms=60000)", "full(first_us=1)", "full(first_us=1000000)",
          "full(growth=1)", "full(growth=64)", "full(cap_us=1)", "full(cap_us=60000000)", "full(lower=0.001)",
          "full(lower=1)", "cgroup1(poll_us=0)", "cgroup1(poll_us=60000000)", "cgroup1(tries=1)",
          "cgroup1(tries=1000000000)", "cgroup2(since_notification_us=0)"}) {
        EXPECT_EQ(message_of(text), "accepted") << text;
    }
}

TEST(PolicyText, RefusesWhatIsBeyondTheLimits) {
    expect_message("v3.9(msleep_ms=-1)", "freezer.msleep_ms: -1 is out of range; it must be 0..60000");
    expect_message("v3.9(msleep_ms=60001)", "it must be 0..60000");
    expect_message("full(first_us=0)", "freezer.first_us: 0 is out of range; it must be 1..1000000");
    expect_message("full(first_us=1000001)", "it must be 1..1000000");
    expect_message("full(growth=0.99)", "freezer.growth: 0.99 is out of range; it must be 1..64");
    expect_message("full(growth=64.1)", "it must be 1..64");
    expect_message("full(cap_us=0)", "freezer.cap_us: 0 is out of range; it must be 1..60000000");
    expect_message("full(cap_us=60000001)", "it must be 1..60000000");
    expect_message("full(lower=-0.1)", "freezer.lower: -0.1 is out of range; it must be 0..1");
    expect_message("full(lower=1.1)", "it must be 0..1");
    expect_message("full(lower=0)", "lower * first_us must not round to 0 ns");
    expect_message("cgroup1(poll_us=-1)", "cgroup1.poll_us: -1 is out of range; it must be 0..60000000");
    expect_message("cgroup1(tries=0)", "cgroup1.tries: 0 is out of range; it must be 1..1000000000");
    expect_message("cgroup2(since_notification_us=-1)", "cgroup2.since_notification_us: -1 is out of range");
}

TEST(PolicyValue, IsCheckedAlsoWhenItWasNotParsed) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THROW(validate(Freezer{Version::full, Backoff{1000, nan, 8000, 0.5, false}}), ConfigError);
    EXPECT_THROW(validate(Freezer{Version::full, Backoff{1000, 2.0, 8000, nan, false}}), ConfigError);
    EXPECT_THROW(validate(Cgroup1{Version::full, 0, 0}), ConfigError);
    EXPECT_NO_THROW(validate(Freezer{Version::v3_9, Notify{}}));
}

TEST(KnownPolicies, ListEveryPolicyWithTheVersionsAndParametersItReads) {
    std::string names;
    for (const PolicyInfo& info : known_policies()) {
        names += info.name + " ";
        EXPECT_FALSE(info.source.empty());
        for (const std::string& version : info.versions) {
            EXPECT_EQ(message_of(info.name + "(version=" + version + ")"), "accepted");
        }
        for (const ParameterInfo& parameter : info.parameters) {
            EXPECT_EQ(
                message_of(info.name + "(" + parameter.name + "=?)").find("is no parameter of " + info.name),
                std::string::npos)
                << parameter.name;
        }
    }
    EXPECT_EQ(names, "freezer cgroup1 cgroup2 ");
}

TEST(KnownPolicies, DefaultsThatTheyTellAreTheOnesThatApply) {
    for (const PolicyInfo& info : known_policies()) {
        for (const ParameterInfo& parameter : info.parameters) {
            if (parameter.name == "sleep") continue;
            const std::string sleep = parameter.name == "msleep_ms" ? "sleep=msleep, " : "";
            const std::string plain =
                sleep.empty() ? canonical(info.name) : canonical(info.name + "(sleep=msleep)");
            EXPECT_EQ(
                canonical(info.name + "(" + sleep + parameter.name + "=" + parameter.default_value + ")"),
                plain)
                << parameter.name;
        }
    }
}

}  // namespace
}  // namespace torpor::freezer
