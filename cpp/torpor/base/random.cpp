// SPDX-License-Identifier: MIT
#include "torpor/base/random.hpp"

namespace torpor {
namespace {

std::array<std::uint32_t, 2> halves(std::uint64_t value) {
    return {static_cast<std::uint32_t>(value), static_cast<std::uint32_t>(value >> 32)};
}

}  // namespace

RandomStream::RandomStream(StreamKey key, StreamId consumer)
    : key_{halves(StableHash{}.add(key.seed).add(key.replicate).value())}, consumer_{halves(consumer.hash)} {}

void RandomStream::refill() {
    for (std::size_t i = 0; i < kBlocks; ++i) {
        const auto number = halves(block_ + i);
        const PhiloxCounter block = philox4x32_10({number[0], number[1], consumer_[0], consumer_[1]}, key_);
        for (std::size_t word = 0; word < kWordsPerBlock; ++word) {
            words_[i * kWordsPerBlock + word] = block[word];
        }
    }
    block_ += kBlocks;
    next_ = 0;
}

void RandomStream::seek(std::uint64_t position) {
    block_ = position / kWordsPerBlock;
    next_ = kBuffer;
    if (const std::size_t inside = position % kWordsPerBlock; inside != 0) {
        refill();
        next_ = inside;
    }
}

}  // namespace torpor
