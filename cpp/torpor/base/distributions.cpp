// SPDX-License-Identifier: MIT
#include "torpor/base/distributions.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <string>

namespace torpor {
namespace {

__extension__ using UnsignedWide = unsigned __int128;

// Largest magnitude of a parameter: products with any quantile stay finite.
constexpr double kLargest = 1e150;
// The smallest and the largest uniform_open lie 8.2 deviations out; with these the exponent stays below 709.
constexpr double kLargestSigma = 80.0;
constexpr double kSmallestShape = 0.06;

// The shortest text that reads back as the value.
std::string text(double value) {
    std::array<char, 32> buffer;
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
    return std::string(buffer.data(), end);
}

void require(bool met, const char* key, double value, const char* limit) {
    if (!met) {
        throw ConfigError{key, text(value), limit};
    }
}

bool is_bounded(double value) {
    return value >= -kLargest && value <= kLargest;
}
bool is_positive(double value) {
    return value > 0.0 && value <= kLargest;
}

constexpr const char* kBounded = "must be a number between -1e150 and 1e150";
constexpr const char* kPositive = "must be above 0 and at most 1e150";

// Coefficients from the constant term upwards.
double polynomial(const std::array<double, 8>& c, double x) {
    double value = c[7];
    for (std::size_t i = 7; i-- > 0;) {
        value = value * x + c[i];
    }
    return value;
}

constexpr std::array<double, 8> kCentreTop{
    3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
    4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3};
constexpr std::array<double, 8> kCentreBottom{1.0,
                                              4.2313330701600911252e1,
                                              6.8718700749205790830e2,
                                              5.3941960214247511077e3,
                                              2.1213794301586595867e4,
                                              3.9307895800092710610e4,
                                              2.8729085735721942674e4,
                                              5.2264952788528545610e3};
constexpr std::array<double, 8> kMiddleTop{1.42343711074968357734e0,  4.63033784615654529590e0,
                                           5.76949722146069140550e0,  3.64784832476320460504e0,
                                           1.27045825245236838258e0,  2.41780725177450611770e-1,
                                           2.27238449892691845833e-2, 7.74545014278341407640e-4};
constexpr std::array<double, 8> kMiddleBottom{1.0,
                                              2.05319162663775882187e0,
                                              1.67638483018380384940e0,
                                              6.89767334985100004550e-1,
                                              1.48103976427480074590e-1,
                                              1.51986665636164571966e-2,
                                              5.47593808499534494600e-4,
                                              1.05075007164441684324e-9};
constexpr std::array<double, 8> kTailTop{6.65790464350110377720e0,  5.46378491116411436990e0,
                                         1.78482653991729133580e0,  2.96560571828504891230e-1,
                                         2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                         2.71155556874348757815e-5, 2.01033439929228813265e-7};
constexpr std::array<double, 8> kTailBottom{1.0,
                                            5.99832206555887937690e-1,
                                            1.36929880922735805310e-1,
                                            1.48753612908506148525e-2,
                                            7.86869131145613259100e-4,
                                            1.84631831751005468180e-5,
                                            1.42151175831644588870e-7,
                                            2.04426310338993978564e-15};

}  // namespace

double normal_quantile(double p) {
    const double q = p - 0.5;
    if (q >= -0.425 && q <= 0.425) {
        const double r = 0.180625 - q * q;
        return q * polynomial(kCentreTop, r) / polynomial(kCentreBottom, r);
    }
    const double r = deterministic_sqrt(-deterministic_log(q < 0.0 ? p : 1.0 - p));
    const double size = r <= 5.0 ? polynomial(kMiddleTop, r - 1.6) / polynomial(kMiddleBottom, r - 1.6)
                                 : polynomial(kTailTop, r - 5.0) / polynomial(kTailBottom, r - 5.0);
    return q < 0.0 ? -size : size;
}

UniformInt::UniformInt(std::int64_t low, std::int64_t high) : low_{low}, high_{high} {
    if (low > high) {
        throw ConfigError{"low", std::to_string(low), "must be at most high=" + std::to_string(high)};
    }
}

std::int64_t UniformInt::operator()(RandomStream& stream) const {
    const std::uint64_t low = static_cast<std::uint64_t>(low_);
    const std::uint64_t range = static_cast<std::uint64_t>(high_) - low + 1;
    if (range == 0) {  // all 2^64 values
        return static_cast<std::int64_t>(stream.next_u64());
    }
    UnsignedWide product = UnsignedWide{stream.next_u64()} * range;
    if (static_cast<std::uint64_t>(product) < range) {
        const std::uint64_t threshold = (0 - range) % range;
        while (static_cast<std::uint64_t>(product) < threshold) {
            product = UnsignedWide{stream.next_u64()} * range;
        }
    }
    return static_cast<std::int64_t>(low + static_cast<std::uint64_t>(product >> 64));
}

Constant::Constant(double value) : value_{value} {
    require(is_bounded(value), "value", value, kBounded);
}

Uniform::Uniform(double low, double high) : low_{low}, high_{high} {
    require(is_bounded(low), "low", low, kBounded);
    require(is_bounded(high), "high", high, kBounded);
    if (low > high) {
        throw ConfigError{"low", text(low), "must be at most high=" + text(high)};
    }
}

Exponential::Exponential(double mean) : mean_{mean} {
    require(is_positive(mean), "mean", mean, kPositive);
}

Normal::Normal(double mean, double deviation) : mean_{mean}, deviation_{deviation} {
    require(is_bounded(mean), "mean", mean, kBounded);
    require(deviation >= 0.0 && is_bounded(deviation), "deviation", deviation,
            "must be at least 0 and at most 1e150");
}

LogNormal::LogNormal(double median, double sigma) : median_{median}, sigma_{sigma} {
    require(is_positive(median), "median", median, kPositive);
    require(sigma >= 0.0 && sigma <= kLargestSigma, "sigma", sigma, "must be at least 0 and at most 80");
}

Pareto::Pareto(double scale, double shape) : scale_{scale}, shape_{shape} {
    require(is_positive(scale), "scale", scale, kPositive);
    require(shape >= kSmallestShape && shape <= kLargest, "shape", shape,
            "must be at least 0.06 and at most 1e150");
}

Empirical Empirical::of_samples(std::span<const double> samples) {
    if (samples.empty()) {
        throw ConfigError{"samples", "there are none, at least 1 is needed"};
    }
    Empirical result;
    result.values_.assign(samples.begin(), samples.end());
    for (std::size_t i = 0; i < samples.size(); ++i) {
        if (!is_bounded(samples[i])) {
            throw ConfigError{"samples[" + std::to_string(i) + "]", text(samples[i]), kBounded};
        }
    }
    std::sort(result.values_.begin(), result.values_.end());
    return result;
}

Empirical Empirical::of_quantiles(std::span<const QuantilePoint> points) {
    if (points.size() < 2) {
        throw ConfigError{"quantiles",
                          "there are " + std::to_string(points.size()) + ", at least 2 are needed"};
    }
    Empirical result;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const std::string key = "quantiles[" + std::to_string(i) + "]";
        const QuantilePoint& point = points[i];
        if (!is_bounded(point.value)) {
            throw ConfigError{key + ".value", text(point.value), kBounded};
        }
        if (i == 0 && point.p != 0.0) {
            throw ConfigError{key + ".p", text(point.p), "the first must be 0"};
        }
        if (i + 1 == points.size() && point.p != 1.0) {
            throw ConfigError{key + ".p", text(point.p), "the last must be 1"};
        }
        if (i > 0 && !(point.p > points[i - 1].p)) {
            throw ConfigError{key + ".p", text(point.p),
                              "must be above " + text(points[i - 1].p) + " before it"};
        }
        if (i > 0 && point.value < points[i - 1].value) {
            throw ConfigError{key + ".value", text(point.value),
                              "must not be below " + text(points[i - 1].value) + " before it"};
        }
        result.shares_.push_back(point.p);
        result.values_.push_back(point.value);
    }
    return result;
}

double Empirical::quantile(double p) const {
    if (shares_.empty()) {
        const double index = p * static_cast<double>(values_.size());
        return values_[std::min(static_cast<std::size_t>(index), values_.size() - 1)];
    }
    const auto inside = std::upper_bound(shares_.begin() + 1, shares_.end() - 1, p);
    const auto right = static_cast<std::size_t>(inside - shares_.begin());
    const double part = (p - shares_[right - 1]) / (shares_[right] - shares_[right - 1]);
    return values_[right - 1] + (values_[right] - values_[right - 1]) * part;
}

}  // namespace torpor
