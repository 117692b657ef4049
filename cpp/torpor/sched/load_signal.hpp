// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace torpor::sched {

/// What is left of a utilisation signal after so long: 2^(-t / 32 ms), and exactly 0 after 64 half-lives
/// (2.05 s). Within 1e-11 of the true value and the same bits on every machine. (PELT, Linux 6.1)
double decay(std::int64_t elapsed_ns);

inline constexpr std::int64_t kUtilisationHalfLifeNs = 32'000'000;

/// The same for at most 125 us, by its Taylor series.
inline constexpr std::int64_t kShortDecayNs = kUtilisationHalfLifeNs / 256;
inline double short_decay(std::int64_t elapsed_ns) {
    constexpr double kLn2 = 0x1.62e42fefa39efp-1;
    const double x = static_cast<double>(elapsed_ns) * (kLn2 / static_cast<double>(kUtilisationHalfLifeNs));
    return 1.0 - x * (1.0 - x * (1.0 / 2.0 - x * (1.0 / 6.0)));
}

/// Utilisation after so long, 0 to 1024: it approaches the capacity that a task or CPU runs at, at the
/// frequency of that time, while it runs, and 0 while it does not.
inline double utilisation_after(double utilisation, double target, std::int64_t elapsed_ns) {
    return target + (utilisation - target) * decay(elapsed_ns);
}

/// A clock that makes many utilisations cheap. Each is kept as the number that it would have been at the
/// origin of the clock, which does not change while nothing runs: it is that number times decay(now -
/// origin). Running at a target T from a to b adds T / decay(b - origin) - T / decay(a - origin) to it.
class LoadClock {
  public:
    void begin(std::int64_t now_ns) {
        origin_ns_ = now_ns;
        now_ns_ = now_ns;
        factor_ = 1.0;
    }
    /// What the numbers are to be multiplied with now; `now_ns` never falls.
    double factor(std::int64_t now_ns) {
        if (now_ns != now_ns_) {
            factor_ = ahead(now_ns);
            now_ns_ = now_ns;
        }
        return factor_;
    }
    /// The same at a later time.
    double ahead(std::int64_t at_ns) const {
        const std::int64_t further_ns = at_ns - now_ns_;
        return further_ns <= kShortDecayNs ? factor_ * short_decay(further_ns) : decay(at_ns - origin_ns_);
    }
    /// Far enough from the origin for a new one, with all numbers multiplied with the factor.
    bool is_stale(std::int64_t now_ns) const { return now_ns - origin_ns_ > kLongestNs; }

  private:
    static constexpr std::int64_t kLongestNs = 1'000'000'000;

    std::int64_t origin_ns_{0};
    std::int64_t now_ns_{0};
    double factor_{1.0};
};

/// Whether a utilisation fits a capacity: it is below 80 % of it. (fits_capacity, Linux 6.1)
inline bool fits(double utilisation, double capacity) {
    return utilisation * 1280.0 < capacity * 1024.0;
}

}  // namespace torpor::sched
