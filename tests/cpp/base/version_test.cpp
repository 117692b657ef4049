// SPDX-License-Identifier: MIT
#include "torpor/base/version.hpp"

#include <gtest/gtest.h>

namespace torpor {
namespace {

TEST(Version, IsTheOneOfTheBuild) {
    EXPECT_EQ(kVersion, TORPOR_EXPECTED_VERSION);
}

TEST(Version, NamesTheCompilerAndItsVersion) {
    EXPECT_NE(kCompiler.find(' '), std::string_view::npos);
    EXPECT_EQ(kCompiler.find('@'), std::string_view::npos);
}

}  // namespace
}  // namespace torpor
