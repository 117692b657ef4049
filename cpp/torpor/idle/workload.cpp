// SPDX-License-Identifier: MIT
#include "torpor/idle/workload.hpp"

#include <algorithm>
#include <cmath>

#include "torpor/base/distributions.hpp"
#include "torpor/base/error.hpp"
#include "torpor/base/overloaded.hpp"
#include "torpor/idle/tick.hpp"

namespace torpor::idle {

namespace {

class Checker {
  public:
    explicit Checker(const Source& source) : source_{&source} {}

    void time(const char* key, std::int64_t value, std::int64_t least) const {
        within(key, value, least, kLongestTime);
    }
    void within(const char* key, std::int64_t value, std::int64_t low, std::int64_t high) const {
        if (value < low || value > high) {
            throw ConfigError(path(key), std::to_string(value) + " is outside " + std::to_string(low) + ".." +
                                             std::to_string(high));
        }
    }
    void ordered(const char* low_key, std::int64_t low, const char* high_key, std::int64_t high) const {
        if (low > high) {
            throw ConfigError(path(low_key),
                              std::to_string(low) + " is above " + high_key + "=" + std::to_string(high));
        }
    }
    std::string path(const char* key) const { return "source '" + source_->name + "'." + key; }

  private:
    const Source* source_;
};

}  // namespace

void validate(const Source& source, int cpu_count) {
    const Checker check{source};
    if (source.name.empty())
        throw ConfigError("source.name", "a source needs a name: it keys its random stream");
    if (source.cpu < 0 || source.cpu >= cpu_count) {
        throw ConfigError(check.path("cpu"), std::to_string(source.cpu) + " is not on the board (0.." +
                                                 std::to_string(cpu_count - 1) + ")");
    }
    check.time("chain_first_ns", source.chain_first_ns, 0);
    check.time("chain_next_ns", source.chain_next_ns, source.chain_repeats > 0 ? 1 : 0);
    check.within("chain_repeats", source.chain_repeats, 0, 1000000);
    check.time("task_run_ns", source.task_run_ns, 0);
    std::visit(
        Overloaded{
            [&](const PeriodicArrivals& a) {
                check.time("period_ns", a.period_ns, 1);
                check.time("first_ns", a.first_ns, 0);
                check.time("first_spread_ns", a.first_spread_ns, 0);
                check.time("jitter_ns", a.jitter_ns, 0);
            },
            [&](const PoissonArrivals& a) { check.time("mean_gap_ns", a.mean_gap_ns, 1); },
            [&](const LognormalArrivals& a) {
                check.time("median_gap_ns", a.median_gap_ns, 1);
                if (!(a.sigma >= 0.0 && a.sigma <= 10.0)) {
                    throw ConfigError(check.path("sigma"), std::to_string(a.sigma) + " is outside 0..10");
                }
            },
            [&](const BurstyArrivals& a) {
                check.time("quiet_min_ns", a.quiet_min_ns, 1);
                check.time("quiet_max_ns", a.quiet_max_ns, 1);
                check.time("gap_min_ns", a.gap_min_ns, 1);
                check.time("gap_max_ns", a.gap_max_ns, 1);
                check.within("burst_min", a.burst_min, 1, 1000000000);
                check.within("burst_max", a.burst_max, 1, 1000000000);
                check.ordered("quiet_min_ns", a.quiet_min_ns, "quiet_max_ns", a.quiet_max_ns);
                check.ordered("gap_min_ns", a.gap_min_ns, "gap_max_ns", a.gap_max_ns);
                check.ordered("burst_min", a.burst_min, "burst_max", a.burst_max);
            },
            [&](const RecordedArrivals& a) {
                const auto back = std::adjacent_find(a.times_ns.begin(), a.times_ns.end(), std::greater{});
                if (back != a.times_ns.end()) {
                    throw ConfigError(check.path("times_ns"), std::to_string(*back) + " is followed by " +
                                                                  std::to_string(*(back + 1)) +
                                                                  ": times must ascend");
                }
                if (!a.times_ns.empty()) {
                    check.time("times_ns[0]", a.times_ns.front(), 0);
                    check.time("times_ns[-1]", a.times_ns.back(), 0);
                }
            },
        },
        source.arrivals);
}

ArrivalStream::ArrivalStream(const Arrivals& arrivals, RandomStream random)
    : arrivals_{&arrivals}, random_{random} {}

std::int64_t ArrivalStream::next_ns() {
    const bool first = drawn_++ == 0;
    const auto uniform = [this](std::int64_t low, std::int64_t high) {
        return UniformInt{low, high}(random_);
    };
    const std::int64_t gap_ns = std::visit(
        Overloaded{
            [&](const PeriodicArrivals& a) {
                if (first) return a.first_ns + uniform(0, a.first_spread_ns);
                return a.period_ns + uniform(0, a.jitter_ns);
            },
            [&](const PoissonArrivals& a) {
                return to_ns(sample_duration(Exponential{from_ns(a.mean_gap_ns)}, random_));
            },
            [&](const LognormalArrivals& a) {
                return to_ns(sample_duration(LogNormal{from_ns(a.median_gap_ns), a.sigma}, random_));
            },
            [&](const BurstyArrivals& a) {
                if (left_in_burst_ > 0) {
                    --left_in_burst_;
                    return uniform(a.gap_min_ns, a.gap_max_ns);
                }
                left_in_burst_ = uniform(a.burst_min, a.burst_max) - 1;
                return uniform(a.quiet_min_ns, a.quiet_max_ns);
            },
            [&](const RecordedArrivals& a) {
                return drawn_ <= a.times_ns.size() ? a.times_ns[drawn_ - 1] - last_ns_ : kNoTimer - last_ns_;
            },
        },
        *arrivals_);
    last_ns_ = gap_ns > kNoTimer - last_ns_ ? kNoTimer : last_ns_ + gap_ns;
    return last_ns_;
}

}  // namespace torpor::idle
