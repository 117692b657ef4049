// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

// Philox-4x32 with ten rounds: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers:
// as easy as 1, 2, 3", SC'11. A counter-based generator: block number n of a key is computed on its own, so
// streams need no state beyond a counter and any part of any stream can be recomputed. Integers only, hence
// the same bits everywhere.
namespace torpor {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

/// The four words of one block.
constexpr PhiloxCounter philox4x32_10(PhiloxCounter counter, PhiloxKey key) {
    constexpr int kRounds = 10;
    for (int round = 0; round < kRounds; ++round) {
        const std::uint64_t a = std::uint64_t{0xd2511f53U} * counter[0];
        const std::uint64_t b = std::uint64_t{0xcd9e8d57U} * counter[2];
        counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
                   static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
        key[0] += 0x9e3779b9U;
        key[1] += 0xbb67ae85U;
    }
    return counter;
}

}  // namespace torpor
