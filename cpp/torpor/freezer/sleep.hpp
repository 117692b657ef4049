// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <variant>

#include "torpor/base/distributions.hpp"
#include "torpor/base/random.hpp"

// How the walker waits between two passes. `msleep` counts jiffies, `usleep_range` is one high-resolution
// timer.
namespace torpor::freezer {

/// The tick: period round(1e9 / HZ), and where the grid lies at time zero.
struct TickGrid {
    int hz{250};
    std::int64_t period_ns{4'000'000};
    std::int64_t since_tick_ns{0};  // at time zero, 0 .. period_ns - 1

    static TickGrid at(int hz, std::int64_t since_tick_ns) {
        return {hz, (2'000'000'000 / hz + 1) / 2, since_tick_ns};
    }
    std::int64_t jiffy(std::int64_t now_ns) const { return (now_ns + since_tick_ns) / period_ns; }
    std::int64_t since_tick(std::int64_t now_ns) const { return (now_ns + since_tick_ns) % period_ns; }

    /// Jiffies of a time in ms, rounded up, worked out from HZ in integers: dividing by the rounded period
    /// would give one tick too many at HZ 300.
    std::int64_t jiffies_of_ms(std::int64_t ms) const { return (ms * hz + 999) / 1000; }
};

/// When msleep(ms) called at `now_ns` ends: ceil(ms HZ / 1000) + 1 ticks ahead, plus `wheel_extra`, which is
/// 1 on kernels from 4.8 on, whose timer wheel rounds a low-resolution timer up once more.
inline std::int64_t msleep_end(const TickGrid& tick, std::int64_t now_ns, std::int64_t ms, int wheel_extra) {
    const std::int64_t ticks = tick.jiffies_of_ms(ms) + 1 + wheel_extra;
    return now_ns + ticks * tick.period_ns - tick.since_tick(now_ns);
}

/// When usleep_range(low, high) ends. The timer is programmed for its far end; any timer interrupt of the
/// same CPU past the near end also ends it.
///   hard     at the far end: an otherwise idle CPU without a tick
///   tick     at the first tick past the near end, at the latest at the far end
///   uniform  anywhere in the range, each nanosecond equally likely: many unrelated timers
///   soft     at the near end: a bound
enum class RangeMode : std::uint8_t { hard, tick, uniform, soft };

inline std::int64_t range_sleep_end(const TickGrid& tick, RangeMode mode, std::int64_t now_ns,
                                    std::int64_t low_ns, std::int64_t high_ns, RandomStream& stream) {
    switch (mode) {
        case RangeMode::hard:
            return now_ns + high_ns;
        case RangeMode::soft:
            return now_ns + low_ns;
        case RangeMode::uniform:
            return now_ns + UniformInt{low_ns, high_ns}(stream);
        case RangeMode::tick:
            break;
    }
    const std::int64_t past = tick.since_tick(now_ns + low_ns);
    const std::int64_t first_tick_ns = now_ns + low_ns + (past == 0 ? 0 : tick.period_ns - past);
    return std::min(first_tick_ns, now_ns + high_ns);
}

/// msleep(ms) between all passes; 10 ms up to 3.10.
struct Msleep {
    std::int64_t ms{10};

    bool operator==(const Msleep&) const = default;
};

/// usleep_range(lower * s, s) with s = first, growing after each sleep by `growth` while it is below `cap`;
/// the test comes before the growth, so s passes a cap that is no first * growth^j. `clamp` stops it there.
/// The defaults are patch 1 of the series: 1, 2, 4, 8, 8, ... ms.
struct Backoff {
    std::int64_t first_us{1000};
    double growth{2.0};
    std::int64_t cap_us{8000};
    double lower{0.5};
    bool clamp{false};

    bool operator==(const Backoff&) const = default;
};

/// Bound: woken at the instant when the last task that was asked has frozen.
struct Notify {
    bool operator==(const Notify&) const = default;
};

using Sleep = std::variant<Msleep, Backoff, Notify>;

/// The length s of the running backoff, nanoseconds; each loop starts again.
class BackoffState {
  public:
    explicit BackoffState(const Backoff& backoff) : backoff_{backoff}, length_ns_{backoff.first_us * 1000} {}

    std::int64_t high_ns() const { return length_ns_; }
    std::int64_t low_ns() const {
        return to_duration(backoff_.lower * static_cast<double>(length_ns_)).count();
    }
    void grow() {
        const std::int64_t cap_ns = backoff_.cap_us * 1000;
        if (length_ns_ >= cap_ns) return;
        const std::int64_t grown_ns = to_duration(backoff_.growth * static_cast<double>(length_ns_)).count();
        length_ns_ = backoff_.clamp ? std::min(grown_ns, cap_ns) : grown_ns;
    }

  private:
    Backoff backoff_;
    std::int64_t length_ns_;
};

}  // namespace torpor::freezer
