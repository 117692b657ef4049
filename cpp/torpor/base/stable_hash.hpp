// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

// A 64-bit hash that is part of our promise: the same bytes give the same number on every machine and in
// every version. It names random streams and content, so changing one bit of it changes every result. Not for
// keys an enemy can choose.
//
//   FNV-1a, 64 bits: start at cbf29ce484222325; for each byte: xor it in, multiply by 100000001b3 (modulo
//   2^64). Finaliser of splitmix64: z ^= z >> 30, z *= bf58476d1ce4e5b9, z ^= z >> 27, z *= 94d049bb133111eb,
//   z ^= z >> 31. (FNV alone leaves the high bits of short strings poorly mixed.)
namespace torpor {

/// Hash of a sequence of fields. Each field is a tag byte and then its bytes, so that neither ("ab", "c") and
/// ("a", "bc") nor a number and a text of the same bytes fall together:
///   'u' unsigned 64-bit, little endian;  's' length as 64-bit little endian, then the bytes;
///   'd' the bits of the double as 64-bit little endian, with -0.0 written as 0.0, since they are equal.
class StableHash {
  public:
    constexpr StableHash& add(std::uint64_t value) {
        byte('u');
        word(value);
        return *this;
    }
    constexpr StableHash& add(std::string_view text) {
        byte('s');
        word(text.size());
        return add_raw(text);
    }
    constexpr StableHash& add(double value) {
        byte('d');
        word(std::bit_cast<std::uint64_t>(value == 0.0 ? 0.0 : value));
        return *this;
    }
    constexpr StableHash& add(const char* text) { return add(std::string_view{text}); }

    /// Bytes with neither tag nor length.
    constexpr StableHash& add_raw(std::string_view bytes) {
        for (const char c : bytes) {
            byte(static_cast<unsigned char>(c));
        }
        return *this;
    }

    constexpr std::uint64_t value() const {
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31);
    }

  private:
    constexpr void byte(unsigned char value) { state_ = (state_ ^ value) * 0x100000001b3U; }
    constexpr void word(std::uint64_t value) {
        for (int shift = 0; shift < 64; shift += 8) {
            byte(static_cast<unsigned char>((value >> shift) & 0xffU));
        }
    }

    std::uint64_t state_{0xcbf29ce484222325U};
};

/// Hash of a plain byte string: no tag, no length.
constexpr std::uint64_t stable_hash(std::string_view bytes) {
    return StableHash{}.add_raw(bytes).value();
}

}  // namespace torpor
