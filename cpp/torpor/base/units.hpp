// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <limits>

#include "torpor/base/error.hpp"

// Quantities that cannot be mixed up. Durations and times are integer nanoseconds and decide the order of
// events; power and energy are floating point, since they never do.
namespace torpor {

/// Length of time, integer nanoseconds.
using Duration = std::chrono::duration<std::int64_t, std::nano>;

/// Clock of the simulated machine. It has no now(): only an engine knows what time it is.
struct SimClock {
    using duration = Duration;
    using rep = Duration::rep;
    using period = Duration::period;
    using time_point = std::chrono::time_point<SimClock, Duration>;
    static constexpr bool is_steady = true;
};

/// Instant of simulated time; zero is the start of the run.
using Time = SimClock::time_point;

/// The kernel's "no timer": the largest signed 64-bit nanosecond count.
inline constexpr Time kTimeMax = Time::max();

constexpr Duration from_ns(std::int64_t ns) {
    return Duration{ns};
}
constexpr Duration from_us(std::int64_t us) {
    return std::chrono::microseconds{us};
}
constexpr Duration from_ms(std::int64_t ms) {
    return std::chrono::milliseconds{ms};
}
constexpr std::int64_t to_ns(Duration duration) {
    return duration.count();
}
constexpr std::int64_t to_ns(Time time) {
    return time.time_since_epoch().count();
}
constexpr Time time_from_ns(std::int64_t ns) {
    return Time{Duration{ns}};
}

namespace detail {
__extension__ using Wide = __int128;
inline constexpr std::int64_t kNsPerSecond = 1000000000;

/// Values that a 64-bit count cannot hold stop at its ends.
constexpr std::int64_t saturated(Wide value) {
    constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
    return value > Wide{kMax} ? kMax : static_cast<std::int64_t>(value);
}
}  // namespace detail

/// Clock frequency, integer hertz.
class Frequency {
  public:
    static constexpr Frequency hz(std::int64_t value) { return Frequency{value}; }
    static constexpr Frequency khz(std::int64_t value) { return Frequency{value * 1000}; }
    static constexpr Frequency mhz(std::int64_t value) { return Frequency{value * 1000000}; }
    constexpr std::int64_t in_hz() const { return hz_; }
    constexpr std::int64_t in_khz() const { return hz_ / 1000; }
    auto operator<=>(const Frequency&) const = default;

  private:
    explicit constexpr Frequency(std::int64_t value) : hz_{value} {}
    std::int64_t hz_;
};

/// Amount of CPU work, integer clock cycles.
class Cycles {
  public:
    constexpr Cycles() = default;
    static constexpr Cycles of(std::int64_t value) { return Cycles{value}; }
    constexpr std::int64_t count() const { return count_; }
    auto operator<=>(const Cycles&) const = default;
    friend constexpr Cycles operator+(Cycles a, Cycles b) { return Cycles{a.count_ + b.count_}; }
    friend constexpr Cycles operator-(Cycles a, Cycles b) { return Cycles{a.count_ - b.count_}; }
    friend constexpr Cycles operator*(Cycles a, std::int64_t times) { return Cycles{a.count_ * times}; }
    friend constexpr Cycles operator*(std::int64_t times, Cycles a) { return a * times; }
    constexpr Cycles& operator+=(Cycles other) {
        count_ += other.count_;
        return *this;
    }
    constexpr Cycles& operator-=(Cycles other) {
        count_ -= other.count_;
        return *this;
    }

  private:
    explicit constexpr Cycles(std::int64_t value) : count_{value} {}
    std::int64_t count_{0};
};

/// Time that the work takes, rounded up: work never ends early. 128-bit inside, since 2e10 cycles times 1e9
/// overflows 64. Throws InternalError for negative work and for a clock that stands still; stops at the
/// longest Duration.
constexpr Duration operator/(Cycles work, Frequency frequency) {
    if (work.count() < 0 || frequency.in_hz() <= 0) {
        throw InternalError{"cycles must not be negative and frequency must be positive"};
    }
    const detail::Wide hz = frequency.in_hz();
    return Duration{detail::saturated((detail::Wide{work.count()} * detail::kNsPerSecond + hz - 1) / hz)};
}

/// Work done in that time, rounded down: a cycle that has not ended is not done. The same limits as above.
constexpr Cycles operator*(Frequency frequency, Duration duration) {
    if (duration.count() < 0 || frequency.in_hz() <= 0) {
        throw InternalError{"duration must not be negative and frequency must be positive"};
    }
    return Cycles::of(
        detail::saturated(detail::Wide{frequency.in_hz()} * duration.count() / detail::kNsPerSecond));
}
constexpr Cycles operator*(Duration duration, Frequency frequency) {
    return frequency * duration;
}

/// Power, milliwatts.
class Power {
  public:
    constexpr Power() = default;
    static constexpr Power mw(double value) { return Power{value}; }
    constexpr double in_mw() const { return mw_; }
    auto operator<=>(const Power&) const = default;
    friend constexpr Power operator+(Power a, Power b) { return Power{a.mw_ + b.mw_}; }
    friend constexpr Power operator-(Power a, Power b) { return Power{a.mw_ - b.mw_}; }
    friend constexpr Power operator*(Power a, double factor) { return Power{a.mw_ * factor}; }
    friend constexpr Power operator*(double factor, Power a) { return a * factor; }
    friend constexpr Power operator/(Power a, double divisor) { return Power{a.mw_ / divisor}; }
    friend constexpr double operator/(Power a, Power b) { return a.mw_ / b.mw_; }
    constexpr Power& operator+=(Power other) {
        mw_ += other.mw_;
        return *this;
    }
    constexpr Power& operator-=(Power other) {
        mw_ -= other.mw_;
        return *this;
    }

  private:
    explicit constexpr Power(double value) : mw_{value} {}
    double mw_{0.0};
};

/// Energy, millijoules.
class Energy {
  public:
    constexpr Energy() = default;
    static constexpr Energy mj(double value) { return Energy{value}; }
    constexpr double in_mj() const { return mj_; }
    auto operator<=>(const Energy&) const = default;
    friend constexpr Energy operator+(Energy a, Energy b) { return Energy{a.mj_ + b.mj_}; }
    friend constexpr Energy operator-(Energy a, Energy b) { return Energy{a.mj_ - b.mj_}; }
    friend constexpr Energy operator*(Energy a, double factor) { return Energy{a.mj_ * factor}; }
    friend constexpr Energy operator*(double factor, Energy a) { return a * factor; }
    friend constexpr Energy operator/(Energy a, double divisor) { return Energy{a.mj_ / divisor}; }
    friend constexpr double operator/(Energy a, Energy b) { return a.mj_ / b.mj_; }
    constexpr Energy& operator+=(Energy other) {
        mj_ += other.mj_;
        return *this;
    }
    constexpr Energy& operator-=(Energy other) {
        mj_ -= other.mj_;
        return *this;
    }

  private:
    explicit constexpr Energy(double value) : mj_{value} {}
    double mj_{0.0};
};

constexpr Energy operator*(Power power, Duration duration) {
    return Energy::mj(power.in_mw() * static_cast<double>(duration.count()) * 1e-9);
}
constexpr Energy operator*(Duration duration, Power power) {
    return power * duration;
}

/// Mean power over a length of time that is not zero.
constexpr Power operator/(Energy energy, Duration duration) {
    return Power::mw(energy.in_mj() / (static_cast<double>(duration.count()) * 1e-9));
}

}  // namespace torpor
