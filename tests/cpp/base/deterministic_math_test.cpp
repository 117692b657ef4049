// SPDX-License-Identifier: MIT
#include "torpor/base/deterministic_math.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "torpor/base/random.hpp"

namespace torpor {
namespace {

// Distance in units of the last place of the reference, which is itself good to one of them.
double ulps(double value, double reference) {
    const double size = std::abs(reference);
    return std::abs(value - reference) /
           (std::nextafter(size, std::numeric_limits<double>::infinity()) - size);
}

constexpr double kLimit = 4.0;
constexpr int kPoints = 200000;

TEST(DeterministicLog, AgreesWithTheLibraryOverTheWholeRange) {
    RandomStream stream{{1, 0}, "log"};
    for (int i = 0; i < kPoints; ++i) {
        const double x = std::bit_cast<double>(stream.next_u64() >> 1);
        if (std::isfinite(x) && x > 0.0) {
            ASSERT_LE(ulps(deterministic_log(x), std::log(x)), kLimit) << x;
        }
    }
}

TEST(DeterministicLog, AgreesWithTheLibraryNearOneWhereDigitsCancel) {
    RandomStream stream{{1, 0}, "log near one"};
    for (int i = 0; i < kPoints; ++i) {
        const double x = 0.5 + 1.5 * stream.uniform01();
        ASSERT_LE(ulps(deterministic_log(x), std::log(x)), kLimit) << x;
    }
    EXPECT_EQ(deterministic_log(1.0), 0.0);
    EXPECT_LE(ulps(deterministic_log(1.0 + 0x1p-52), std::log(1.0 + 0x1p-52)), kLimit);
    EXPECT_LE(ulps(deterministic_log(1.0 - 0x1p-53), std::log(1.0 - 0x1p-53)), kLimit);
}

TEST(DeterministicLog, AgreesWithTheLibraryForSubnormals) {
    for (const double x : {0x1p-1074, 0x1p-1030, 0x1.8p-1023, std::numeric_limits<double>::min()}) {
        EXPECT_LE(ulps(deterministic_log(x), std::log(x)), kLimit) << x;
    }
}

TEST(DeterministicLog, RefusesWhatHasNone) {
    EXPECT_THROW(deterministic_log(0.0), InternalError);
    EXPECT_THROW(deterministic_log(-1.0), InternalError);
    EXPECT_THROW(deterministic_log(std::numeric_limits<double>::infinity()), InternalError);
    EXPECT_THROW(deterministic_log(std::numeric_limits<double>::quiet_NaN()), InternalError);
}

TEST(DeterministicExp, AgreesWithTheLibraryOverTheNormalRange) {
    RandomStream stream{{1, 0}, "exp"};
    for (int i = 0; i < kPoints; ++i) {
        const double x = -708.0 + 1417.7 * stream.uniform01();
        ASSERT_LE(ulps(deterministic_exp(x), std::exp(x)), kLimit) << x;
    }
}

TEST(DeterministicExp, AgreesWithTheLibraryNearZero) {
    RandomStream stream{{1, 0}, "exp near zero"};
    for (int i = 0; i < kPoints; ++i) {
        const double x = 4.0 * (stream.uniform01() - 0.5);
        ASSERT_LE(ulps(deterministic_exp(x), std::exp(x)), kLimit) << x;
    }
    EXPECT_EQ(deterministic_exp(0.0), 1.0);
}

TEST(DeterministicExp, AgreesWithTheLibraryForSubnormalResults) {
    for (const double x : {-708.5, -720.0, -740.0, -745.1}) {
        EXPECT_LE(ulps(deterministic_exp(x), std::exp(x)), kLimit) << x;
    }
}

TEST(DeterministicExp, ReachesTheEndsOfTheRange) {
    EXPECT_LE(ulps(deterministic_exp(709.78), std::exp(709.78)), kLimit);
    EXPECT_EQ(deterministic_exp(710.0), std::numeric_limits<double>::infinity());
    EXPECT_EQ(deterministic_exp(-746.0), 0.0);
    EXPECT_EQ(deterministic_exp(-std::numeric_limits<double>::infinity()), 0.0);
    EXPECT_TRUE(std::isnan(deterministic_exp(std::numeric_limits<double>::quiet_NaN())));
}

TEST(DeterministicExp, UndoesTheLogarithm) {
    for (const double x : {1e-300, 1e-5, 0.3, 7.0, 1e10, 1e300}) {
        EXPECT_NEAR(deterministic_exp(deterministic_log(x)) / x, 1.0, 1e-12) << x;
    }
}

// The very bits, computed once: another machine, compiler or flag must give them too.
TEST(DeterministicMath, GivesTheseBitsEverywhere) {
    EXPECT_EQ(deterministic_log(3.0), 1.0986122886681096);
    EXPECT_EQ(deterministic_log(0.1), -2.3025850929940455);
    EXPECT_EQ(deterministic_log(1e-300), -690.77552789821368);
    EXPECT_EQ(deterministic_exp(1.0), 2.7182818284590455);
    EXPECT_EQ(deterministic_exp(-0.7), 0.49658530379140953);
    EXPECT_EQ(deterministic_exp(300.3), 2.6220013776845459e+130);
}

}  // namespace
}  // namespace torpor
