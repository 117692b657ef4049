// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "torpor/base/deterministic_math.hpp"
#include "torpor/base/random.hpp"
#include "torpor/base/units.hpp"

// Our own distributions: the C++ standard fixes its engines but not its distributions, so those differ
// between libraries.
//
// Every real-valued one is defined by its quantile function: sample(stream) =
// quantile(stream.uniform_open()), with quantile as written at the type and deterministic_log,
// deterministic_exp inside. So a sample takes exactly two words of the stream, is bit-identical on any
// machine, and a larger u gives a larger value: two distributions drawn from one stream move together (common
// random numbers).
//
// Real values have no unit; where they stand for a time they are nanoseconds, and to_duration rounds them.
namespace torpor {

/// Longest time that is drawn, 2^62 ns (146 years): a heavy tail stops here, so that sums of draws do not
/// overflow.
inline constexpr Duration kLongestDraw{std::int64_t{1} << 62};

/// Rounds nanoseconds to the nearest integer, halves up; below zero gives zero, above kLongestDraw gives
/// that.
constexpr Duration to_duration(double ns) {
    if (!(ns > 0.0)) {
        return Duration::zero();
    }
    if (ns >= static_cast<double>(kLongestDraw.count())) {
        return kLongestDraw;
    }
    const auto whole = static_cast<std::int64_t>(ns);
    return Duration{whole + (ns - static_cast<double>(whole) >= 0.5 ? 1 : 0)};
}

/// Inverse of the standard normal distribution function for 0 < p < 1, relative error about 1e-16.
/// M. J. Wichura, "Algorithm AS 241: the percentage points of the normal distribution", Applied Statistics 37
/// (1988), its 16-digit variant (PPND16): a ratio of two polynomials of degree 7 in each of three ranges.
double normal_quantile(double p);

/// Integers low .. high, both included, each equally likely without any bias.
///
/// Lemire's rule (ACM TOMACS 29, 2019): with n = high - low + 1 and x = next_u64, the value is low + floor(x
/// n / 2^64), and x is drawn again while (x n mod 2^64) < (2^64 mod n). The one distribution that may take
/// more than two words.
class UniformInt {
  public:
    /// Throws ConfigError when low > high.
    UniformInt(std::int64_t low, std::int64_t high);

    std::int64_t operator()(RandomStream& stream) const;
    std::int64_t low() const { return low_; }
    std::int64_t high() const { return high_; }
    bool operator==(const UniformInt&) const = default;

  private:
    std::int64_t low_;
    std::int64_t high_;
};

/// quantile(p) = value. Draws nothing from the stream that matters, but takes its two words like the others.
class Constant {
  public:
    /// Throws ConfigError unless finite.
    explicit Constant(double value);
    explicit Constant(Duration value) : Constant{static_cast<double>(value.count())} {}

    double quantile(double) const { return value_; }
    double value() const { return value_; }
    bool operator==(const Constant&) const = default;

  private:
    double value_;
};

/// quantile(p) = low + (high - low) p.
class Uniform {
  public:
    /// Throws ConfigError unless low <= high, both and their difference finite.
    Uniform(double low, double high);
    Uniform(Duration low, Duration high)
        : Uniform{static_cast<double>(low.count()), static_cast<double>(high.count())} {}

    double quantile(double p) const { return low_ + (high_ - low_) * p; }
    double low() const { return low_; }
    double high() const { return high_; }
    bool operator==(const Uniform&) const = default;

  private:
    double low_;
    double high_;
};

/// quantile(p) = -mean ln(1 - p).
class Exponential {
  public:
    /// Throws ConfigError unless mean is positive and finite.
    explicit Exponential(double mean);
    explicit Exponential(Duration mean) : Exponential{static_cast<double>(mean.count())} {}

    double quantile(double p) const { return -mean_ * deterministic_log(1.0 - p); }
    double mean() const { return mean_; }
    bool operator==(const Exponential&) const = default;

  private:
    double mean_;
};

/// quantile(p) = mean + deviation normal_quantile(p).
class Normal {
  public:
    /// Throws ConfigError unless mean is finite and deviation is finite and not negative.
    Normal(double mean, double deviation);
    Normal(Duration mean, Duration deviation)
        : Normal{static_cast<double>(mean.count()), static_cast<double>(deviation.count())} {}

    double quantile(double p) const { return mean_ + deviation_ * normal_quantile(p); }
    double mean() const { return mean_; }
    double deviation() const { return deviation_; }
    bool operator==(const Normal&) const = default;

  private:
    double mean_;
    double deviation_;
};

/// quantile(p) = median exp(sigma normal_quantile(p)); its mean is median exp(sigma^2 / 2).
class LogNormal {
  public:
    /// Throws ConfigError unless median is positive and finite and 0 <= sigma <= 80 (beyond that draws
    /// overflow).
    LogNormal(double median, double sigma);
    LogNormal(Duration median, double sigma) : LogNormal{static_cast<double>(median.count()), sigma} {}

    double quantile(double p) const { return median_ * deterministic_exp(sigma_ * normal_quantile(p)); }
    double median() const { return median_; }
    double sigma() const { return sigma_; }
    bool operator==(const LogNormal&) const = default;

  private:
    double median_;
    double sigma_;
};

/// quantile(p) = scale exp(-ln(1 - p) / shape): P(X > x) = (scale / x)^shape for x >= scale.
class Pareto {
  public:
    /// Throws ConfigError unless scale is positive and finite and 0.06 <= shape, finite (below that draws
    /// overflow).
    Pareto(double scale, double shape);
    Pareto(Duration scale, double shape) : Pareto{static_cast<double>(scale.count()), shape} {}

    double quantile(double p) const {
        return scale_ * deterministic_exp(-deterministic_log(1.0 - p) / shape_);
    }
    double scale() const { return scale_; }
    double shape() const { return shape_; }
    bool operator==(const Pareto&) const = default;

  private:
    double scale_;
    double shape_;
};

/// One point of a table of quantiles: a share p of the values is at most `value`.
struct QuantilePoint {
    double p{0.0};
    double value{0.0};

    bool operator==(const QuantilePoint&) const = default;
};

/// What was measured, as samples or as a table of quantiles.
class Empirical {
  public:
    /// Draws the samples themselves, each equally likely: with x_0 <= ... <= x_{n-1}, quantile(p) = x_floor(p
    /// n). Throws ConfigError when there are none or one is not finite.
    static Empirical of_samples(std::span<const double> samples);
    /// Straight lines between the points. Throws ConfigError unless there are at least two, p rises strictly
    /// from exactly 0 to exactly 1, and the values are finite and do not fall.
    static Empirical of_quantiles(std::span<const QuantilePoint> points);

    double quantile(double p) const;
    bool operator==(const Empirical&) const = default;

  private:
    Empirical() = default;

    std::vector<double> values_;
    std::vector<double> shares_;  // as long as values_ for a table, empty for samples
};

/// Any of the real-valued ones, for records that let a user choose.
using Distribution = std::variant<Constant, Uniform, Exponential, Normal, LogNormal, Pareto, Empirical>;

template <class D>
concept Invertible = requires(const D& distribution, double p) {
    { distribution.quantile(p) } -> std::same_as<double>;
};

template <Invertible D>
double sample(const D& distribution, RandomStream& stream) {
    return distribution.quantile(stream.uniform_open());
}

inline double sample(const Distribution& distribution, RandomStream& stream) {
    return std::visit([&stream](const auto& chosen) { return sample(chosen, stream); }, distribution);
}

/// A sample taken as nanoseconds and rounded by to_duration.
template <class D>
Duration sample_duration(const D& distribution, RandomStream& stream) {
    return to_duration(sample(distribution, stream));
}

}  // namespace torpor
