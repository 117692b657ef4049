// SPDX-License-Identifier: MIT
#include "torpor/base/stable_hash.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <set>
#include <string>

namespace torpor {
namespace {

// From an implementation of the definition in another language.
TEST(StableHash, OfBytesIsAsDefined) {
    EXPECT_EQ(stable_hash(""), 0xf52a15e9a9b5e89bU);
    EXPECT_EQ(stable_hash("a"), 0x02c0bdbf481420f8U);
    EXPECT_EQ(stable_hash("device:ufs:resume"), 0x869a4b3f6d352133U);
    EXPECT_EQ(stable_hash(std::string("\x00\xff", 2)), 0xa70bee94c6c8447bU);
}

TEST(StableHash, OfFieldsIsAsDefined) {
    EXPECT_EQ(StableHash{}.add(std::uint64_t{1}).add(std::uint64_t{2}).value(), 0x31981b0b122e645eU);
    EXPECT_EQ(StableHash{}.add("menu").add(1.5).value(), 0x0aaaf0b2c951b431U);
}

TEST(StableHash, TellsWhereOneFieldEndsAndTheNextBegins) {
    EXPECT_NE(StableHash{}.add("ab").add("c").value(), StableHash{}.add("a").add("bc").value());
    EXPECT_NE(StableHash{}.add("").add("a").value(), StableHash{}.add("a").add("").value());
}

TEST(StableHash, TellsANumberFromATextOfTheSameBytes) {
    EXPECT_NE(StableHash{}.add(std::uint64_t{0}).value(), StableHash{}.add("").value());
    EXPECT_NE(StableHash{}.add(std::uint64_t{0}).value(), StableHash{}.add(0.0).value());
}

TEST(StableHash, TakesEqualNumbersAsEqual) {
    EXPECT_EQ(StableHash{}.add(0.0).value(), StableHash{}.add(-0.0).value());
}

TEST(StableHash, SpreadsNamesThatDifferInOneDigitOverAllBits) {
    std::set<std::uint64_t> high_bytes;
    int flipped = 0;
    for (int i = 0; i < 1000; ++i) {
        const std::uint64_t hash = stable_hash("cpu" + std::to_string(i));
        high_bytes.insert(hash >> 56);
        flipped += std::popcount(hash ^ stable_hash("cpu" + std::to_string(i + 1)));
    }
    EXPECT_GT(high_bytes.size(), 240U);
    EXPECT_NEAR(flipped / 1000.0, 32.0, 1.0);
}

static_assert(stable_hash("a") != stable_hash("b"), "works at compile time");

}  // namespace
}  // namespace torpor
