// SPDX-License-Identifier: MIT
#include "torpor/base/random.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace torpor {
namespace {

std::vector<std::uint32_t> words(RandomStream stream, int count) {
    std::vector<std::uint32_t> result;
    for (int i = 0; i < count; ++i) {
        result.push_back(stream.next_u32());
    }
    return result;
}

// Known answers published with the algorithm's reference implementation (Random123).
TEST(Philox, GivesThePublishedAnswerForZeros) {
    EXPECT_EQ(philox4x32_10({0, 0, 0, 0}, {0, 0}),
              (PhiloxCounter{0x6627e8d5U, 0xe169c58dU, 0xbc57ac4cU, 0x9b00dbd8U}));
}

TEST(Philox, GivesThePublishedAnswerForOnes) {
    constexpr std::uint32_t kOnes = 0xffffffffU;
    EXPECT_EQ(philox4x32_10({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
              (PhiloxCounter{0x408f276dU, 0x41c83b0eU, 0xa20bc7c6U, 0x6d5451fdU}));
}

TEST(Philox, GivesThePublishedAnswerForDigitsOfPi) {
    EXPECT_EQ(philox4x32_10({0x243f6a88U, 0x85a308d3U, 0x13198a2eU, 0x03707344U}, {0xa4093822U, 0x299f31d0U}),
              (PhiloxCounter{0xd16cfe09U, 0x94fdccebU, 0x5001e420U, 0x24126ea1U}));
}

TEST(RandomStream, GivesTheseWordsEverywhere) {
    EXPECT_EQ(words({{1, 2}, "timer"}, 10),
              (std::vector<std::uint32_t>{0x3426c7c6U, 0xcc8d9fe6U, 0x9d10627bU, 0xb85fe3c3U, 0x3976dc96U,
                                          0x28d09d80U, 0x85d38a79U, 0x8d91f65aU, 0x33ac30b8U, 0x01a3fef3U}));
}

TEST(RandomStream, IsTheBlocksOfItsDefinitionInOrder) {
    const std::uint64_t key = StableHash{}.add(std::uint64_t{7}).add(std::uint64_t{9}).value();
    const std::uint64_t consumer = stable_hash("a");
    std::vector<std::uint32_t> expected;
    for (std::uint32_t block = 0; block < 5; ++block) {
        for (const std::uint32_t word : philox4x32_10(
                 {block, 0, static_cast<std::uint32_t>(consumer), static_cast<std::uint32_t>(consumer >> 32)},
                 {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)})) {
            expected.push_back(word);
        }
    }
    EXPECT_EQ(words({{7, 9}, "a"}, 20), expected);
}

TEST(RandomStream, DiffersWithSeedReplicateAndConsumer) {
    const auto base = words({{1, 2}, "a"}, 4);
    EXPECT_NE(words({{2, 2}, "a"}, 4), base);
    EXPECT_NE(words({{1, 3}, "a"}, 4), base);
    EXPECT_NE(words({{2, 1}, "a"}, 4), base);
    EXPECT_NE(words({{1, 2}, "b"}, 4), base);
}

TEST(RandomStream, DoesNotMoveWhenAnotherConsumerDraws) {
    const auto alone = words({{1, 0}, "device:ufs"}, 50);
    RandomStream mine{{1, 0}, "device:ufs"};
    RandomStream newcomer{{1, 0}, "device:wifi"};
    for (const std::uint32_t expected : alone) {
        newcomer.next_u64();
        ASSERT_EQ(mine.next_u32(), expected);
    }
}

TEST(RandomStream, PutsTheFirstWordIntoTheLowHalfOf64Bits) {
    const auto w = words({{1, 0}, "a"}, 4);
    RandomStream stream{{1, 0}, "a"};
    EXPECT_EQ(stream.next_u64(), std::uint64_t{w[1]} << 32 | w[0]);
    EXPECT_EQ(stream.next_u64(), std::uint64_t{w[3]} << 32 | w[2]);
}

TEST(RandomStream, LosesNoWordWhen64BitsStraddleItsBuffer) {
    const auto w = words({{1, 0}, "a"}, 33);
    RandomStream stream{{1, 0}, "a"};
    EXPECT_EQ(stream.next_u32(), w[0]);
    for (std::size_t i = 1; i < 33; i += 2) {
        ASSERT_EQ(stream.next_u64(), std::uint64_t{w[i + 1]} << 32 | w[i]) << i;
    }
}

TEST(RandomStream, DrawsFractionsFromTheUpperBits) {
    RandomStream a{{1, 0}, "a"};
    RandomStream b{{1, 0}, "a"};
    for (int i = 0; i < 1000; ++i) {
        const double u = a.uniform01();
        ASSERT_EQ(u, static_cast<double>(b.next_u64() >> 11) * 0x1p-53);
        ASSERT_GE(u, 0.0);
        ASSERT_LT(u, 1.0);
    }
}

TEST(RandomStream, DrawsOpenFractionsWhoseComplementIsExact) {
    RandomStream stream{{1, 0}, "a"};
    for (int i = 0; i < 1000; ++i) {
        const double u = stream.uniform_open();
        ASSERT_GT(u, 0.0);
        ASSERT_LT(u, 1.0);
        ASSERT_EQ(1.0 - (1.0 - u), u);
    }
}

TEST(RandomStream, CountsItsWords) {
    RandomStream stream{{1, 0}, "a"};
    EXPECT_EQ(stream.position(), 0U);
    stream.next_u32();
    EXPECT_EQ(stream.position(), 1U);
    for (int i = 0; i < 10; ++i) {
        stream.uniform01();
    }
    EXPECT_EQ(stream.position(), 21U);
}

TEST(RandomStream, SeeksToAnyWord) {
    const auto w = words({{1, 0}, "a"}, 40);
    for (std::uint64_t position = 0; position < 40; ++position) {
        RandomStream stream{{1, 0}, "a"};
        stream.next_u32();
        stream.seek(position);
        ASSERT_EQ(stream.position(), position);
        ASSERT_EQ(stream.next_u32(), w[position]);
    }
}

TEST(RandomStream, CarriesIntoTheUpperHalfOfTheBlockNumber) {
    RandomStream stream{{7, 9}, "a"};
    stream.seek(std::uint64_t{4} << 32);
    const std::uint64_t key = StableHash{}.add(std::uint64_t{7}).add(std::uint64_t{9}).value();
    const std::uint64_t consumer = stable_hash("a");
    EXPECT_EQ(stream.next_u32(),
              philox4x32_10(
                  {0, 1, static_cast<std::uint32_t>(consumer), static_cast<std::uint32_t>(consumer >> 32)},
                  {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)})[0]);
}

TEST(RandomStream, FillsItsBitsEvenly) {
    RandomStream stream{{1, 0}, "bits"};
    constexpr int kDraws = 20000;
    std::vector<int> ones(64);
    for (int i = 0; i < kDraws; ++i) {
        const std::uint64_t word = stream.next_u64();
        for (std::size_t bit = 0; bit < 64; ++bit) {
            ones[bit] += static_cast<int>(word >> bit & 1U);
        }
    }
    for (const int count : ones) {
        EXPECT_NEAR(count, kDraws / 2, 5.0 * 70.7);  // five standard deviations
    }
}

}  // namespace
}  // namespace torpor
