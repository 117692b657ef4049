// SPDX-License-Identifier: MIT
#include "torpor/base/error.hpp"

#include <gtest/gtest.h>

namespace torpor {
namespace {

TEST(ConfigError, PutsTheKeyBeforeTheMessage) {
    const ConfigError error{"tick.hz", "is missing"};
    EXPECT_STREQ(error.what(), "tick.hz: is missing");
    EXPECT_EQ(error.key(), "tick.hz");
}

TEST(ConfigError, NamesKeyValueAndLimit) {
    const ConfigError error{"tick.hz", "0", "must be at least 1"};
    EXPECT_STREQ(error.what(), "tick.hz=0: must be at least 1");
    EXPECT_EQ(error.key(), "tick.hz");
}

TEST(ConfigError, HasNoKeyWhenThereIsNone) {
    EXPECT_EQ(ConfigError{"empty file"}.key(), "");
}

TEST(Errors, AllHaveOneRoot) {
    EXPECT_THROW(throw ConfigError{"x"}, Error);
    EXPECT_THROW(throw ModelError{"x"}, Error);
    EXPECT_THROW(throw Cancelled{"x"}, Error);
    EXPECT_THROW(throw InternalError{"x"}, Error);
}

}  // namespace
}  // namespace torpor
