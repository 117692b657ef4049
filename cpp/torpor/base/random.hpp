// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "torpor/base/philox.hpp"
#include "torpor/base/stable_hash.hpp"

namespace torpor {

/// Which world is drawn: the root seed that a user gives, and the number of the replicate.
struct StreamKey {
    std::uint64_t seed{0};
    std::uint64_t replicate{0};

    bool operator==(const StreamKey&) const = default;
};

/// Which consumer draws, by name ("device:ufs:resume", "timer:irq"). Made once, where the name is at hand.
struct StreamId {
    explicit constexpr StreamId(std::string_view consumer) : hash{stable_hash(consumer)} {}
    std::uint64_t hash;

    bool operator==(const StreamId&) const = default;
};

/// The random numbers of one consumer in one replicate. Each consumer owns its stream, found by name and
/// never by order of creation: adding a consumer or a draw in one place moves no draw of another, so two
/// policies under one seed see the same world.
///
/// Exact definition. A stream is a sequence of 32-bit words. Words 4n .. 4n+3 are the Philox-4x32-10 block
/// with
///   key     = StableHash{}.add(seed).add(replicate).value(), low half first;
///   counter = n (64 bits, low half first), then stable_hash(consumer) (64 bits, low half first).
/// next_u32 takes one word; everything else takes two: next_u64 puts the first in the low half.
class RandomStream {
  public:
    RandomStream(StreamKey key, StreamId consumer);
    RandomStream(StreamKey key, std::string_view consumer) : RandomStream{key, StreamId{consumer}} {}

    std::uint32_t next_u32() {
        if (next_ == kBuffer) {
            refill();
        }
        return words_[next_++];
    }

    std::uint64_t next_u64() {
        if (next_ + 2 <= kBuffer) {
            const std::uint64_t low = words_[next_];
            const std::uint64_t high = words_[next_ + 1];
            next_ += 2;
            return high << 32 | low;
        }
        const std::uint64_t low = next_u32();
        return std::uint64_t{next_u32()} << 32 | low;
    }

    /// In [0, 1), a multiple of 2^-53: the upper 53 bits of next_u64.
    double uniform01() { return static_cast<double>(next_u64() >> 11) * 0x1p-53; }

    /// In (0, 1), an odd multiple of 2^-53: the upper 52 bits of next_u64 plus a half, over 2^52. Never 0 or
    /// 1, and 1 - u is exact, which is what inverting a distribution needs.
    double uniform_open() { return (static_cast<double>(next_u64() >> 12) + 0.5) * 0x1p-52; }

    /// Words drawn so far.
    std::uint64_t position() const { return block_ * kWordsPerBlock - (kBuffer - next_); }

    /// Goes to any word of the stream; takes the same time for each.
    void seek(std::uint64_t position);

  private:
    static constexpr std::size_t kWordsPerBlock = 4;
    /// Blocks are made in pairs: two independent chains of multiplications fill the pipeline that one leaves
    /// half empty.
    static constexpr std::size_t kBlocks = 2;
    static constexpr std::size_t kBuffer = kWordsPerBlock * kBlocks;

    void refill();

    PhiloxKey key_;
    std::array<std::uint32_t, 2> consumer_;
    std::uint64_t block_{0};  // the next one to make
    std::size_t next_{kBuffer};
    std::array<std::uint32_t, kBuffer> words_{};
};

}  // namespace torpor
