// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>

#include "torpor/base/error.hpp"

// Logarithm and exponential with the same bits on every machine. The C library's differ between its versions
// and between CPUs; these use only + - * / of doubles, which IEEE 754 rounds correctly, in an order that is
// written down, and bit operations. Needs 64-bit doubles without excess precision and a build that fuses no
// multiply-add (-ffp-contract=off). Within 2 ulp of the true value; tests hold them against the C library.
namespace torpor {

static_assert(std::numeric_limits<double>::is_iec559 && DBL_MANT_DIG == 53);
static_assert(FLT_EVAL_METHOD == 0, "excess precision would change results");

namespace detail {

/// ln 2 in two parts. The first has 32 significant bits, so its product with an exponent is exact.
inline constexpr double kLn2High = 0x1.62e42fee00000p-1;
inline constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
inline constexpr double kInverseLn2 = 0x1.71547652b82fep+0;

/// 2^exponent for -1022 <= exponent <= 1023.
constexpr double power_of_two(int exponent) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

}  // namespace detail

/// Natural logarithm of a positive finite number; InternalError for anything else.
///
/// x = 2^k m with m in [sqrt(1/2), sqrt(2)). With f = m - 1 and s = f / (2 + f), ln m = 2 atanh s
/// = 2s + s R, R = 2 z (1/3 + z/5 + z^2/7 + ... + z^9/21), z = s^2 <= 0.0295; and since 2s = f - s f exactly
/// in real numbers, ln m = f - s (f - R), where the large term f carries no rounding error.
constexpr double deterministic_log(double x) {
    if (!(x > 0.0) || x > std::numeric_limits<double>::max()) {
        throw InternalError{"logarithm of a number that is not positive and finite"};
    }
    int k = 0;
    if (x < std::numeric_limits<double>::min()) {
        x *= 0x1p54;
        k = -54;
    }
    constexpr std::uint64_t kSqrtHalf = 0x3fe6a09e667f3bcdU;
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
    // Distance to sqrt(1/2) in the order of the bit patterns: its upper part is the exponent relative to that
    // bound.
    const std::uint64_t above = bits - kSqrtHalf;
    const std::int64_t exponent = static_cast<std::int64_t>(above) >> 52;
    k += static_cast<int>(exponent);
    const double f = std::bit_cast<double>(bits - (static_cast<std::uint64_t>(exponent) << 52)) - 1.0;
    const double s = f / (2.0 + f);
    const double z = s * s;
    const double w = z * z;
    // Even and odd powers of z apart: two short chains instead of a long one.
    const double even = 2.0 / 3.0 + w * (2.0 / 7.0 + w * (2.0 / 11.0 + w * (2.0 / 15.0 + w * (2.0 / 19.0))));
    const double odd = 2.0 / 5.0 + w * (2.0 / 9.0 + w * (2.0 / 13.0 + w * (2.0 / 17.0 + w * (2.0 / 21.0))));
    const double r = z * (even + z * odd);
    const double e = static_cast<double>(k);
    return e * detail::kLn2High + (f - (s * (f - r) - e * detail::kLn2Low));
}

/// e to the power x: infinity above 709.79, zero below -745.2, NaN for NaN.
///
/// x = k ln 2 + r with |r| <= ln(2)/2; e^r by its Taylor series up to r^13, whose remainder is below 2^-57.
constexpr double deterministic_exp(double x) {
    if (x != x) {
        return x;
    }
    if (x > 709.79) {
        return std::numeric_limits<double>::infinity();
    }
    if (x < -745.2) {
        return 0.0;
    }
    // Adding and taking away 1.5 * 2^52 rounds to the nearest integer, and leaves it in the low bits of the
    // sum.
    const double shifted = x * detail::kInverseLn2 + 0x1.8p52;
    const double e = shifted - 0x1.8p52;
    const int k = static_cast<int>(static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(shifted)));
    const double high = x - e * detail::kLn2High;
    const double low = e * detail::kLn2Low;
    const double r = high - low;
    const double w = r * r;
    const double even =
        1.0 / 2.0 +
        w * (1.0 / 24.0 +
             w * (1.0 / 720.0 + w * (1.0 / 40320.0 + w * (1.0 / 3628800.0 + w * (1.0 / 479001600.0)))));
    const double odd =
        1.0 / 6.0 +
        w * (1.0 / 120.0 +
             w * (1.0 / 5040.0 + w * (1.0 / 362880.0 + w * (1.0 / 39916800.0 + w * (1.0 / 6227020800.0)))));
    // (high - r) - low is what rounding took from r.
    const double value = 1.0 + (r + (w * (even + r * odd) + ((high - r) - low)));
    // In two steps where one power of two would leave the range of normal numbers.
    if (k > 1023) {
        return value * 2.0 * detail::power_of_two(k - 1);
    }
    if (k < -1022) {
        return value * detail::power_of_two(k + 54) * 0x1p-54;
    }
    return value * detail::power_of_two(k);
}

/// Square root; IEEE 754 demands the correctly rounded one, so the library's will do.
inline double deterministic_sqrt(double x) {
    return std::sqrt(x);
}

}  // namespace torpor
