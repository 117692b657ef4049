// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "torpor/base/random.hpp"
#include "torpor/dpm/graph.hpp"

namespace torpor::dpm {

/// Random device graphs with the shapes of real ones: wide and shallow, a few hubs with most of the links, a
/// heavy tail of callback durations. What cannot be read from a device tree (durations, who holds which lock)
/// is a parameter.
///
/// Device 0 is the root and has no callbacks. With class_ratio c > 0 the first floor(N/(1+c)), but at least
/// one, are firmware devices, the others class devices (see below); with 0 all are firmware devices.
/// A firmware device i > 0: parent is the root with probability p_root, else uniform among earlier firmware
/// devices of depth < max_depth. With p_link it gets 1 + geometric(p_more_links) suppliers among earlier
/// firmware devices, index floor(i u^skew): clock, pin and power controllers come first. A supplier that
/// repeats another or the parent is dropped. It is callback-free with p_no_callbacks. Links are inferred and
/// active; suppliers come first, so the list is in the order of the numbers.
/// A class device: one parent, uniform among all earlier devices; a class device drawn as parent is drawn
/// again with probability 0.8, once. No links; callback-free with class_p_no_callbacks.
/// A device with callbacks has one in suspend and one in resume, lognormal with median_us and sigma, at most
/// cap_us; a firmware device of these with p_late one in each of suspend_late, suspend_noirq, resume_noirq,
/// resume_early, lognormal with late_median_us and the sigma of its direction. A callback is `chunks` times
/// CPU work then sleep; cpu_share of it is CPU work, of which fixed_share does not depend on the CPU (K4,
/// K5); each rounded to nanoseconds, so that the sum stays the drawn duration. A callback holds a shared lock
/// over its whole length with lock_share (K6), drawn uniformly from `locks`. Depth counts parents: the root
/// has 0, a child of a device of max_depth - 1 has max_depth. Limits: devices 1..kMaxDevices; class_ratio
/// 0..1000; max_depth 1..kMaxDevices; skew 0..100; p_more_links 0..0.99; other probabilities and shares 0..1;
/// medians and cap 0.001..1e7 us; sigma 0..10; chunks 1..1000; locks 1..100000.
struct Generator {
    std::int64_t devices{350};
    double class_ratio{0.0};
    std::int64_t max_depth{6};
    double p_root{0.2};
    double p_link{0.6};
    double p_more_links{0.5};
    double skew{2.0};
    double p_no_callbacks{0.5};
    double class_p_no_callbacks{0.9};
    double p_late{0.25};
    std::array<double, 2> median_us{60.0, 60.0};  // suspend side, resume side; so are all pairs
    std::array<double, 2> sigma{2.0, 2.0};
    double cap_us{30000.0};
    double late_median_us{20.0};
    std::array<double, 2> cpu_share{0.4, 0.4};
    double fixed_share{0.0};
    std::int64_t chunks{2};
    std::int64_t locks{1};
    std::array<double, 2> lock_share{0.0, 0.0};

    bool operator==(const Generator&) const = default;
};

inline constexpr std::int64_t kMaxChunks = 1000;
inline constexpr std::int64_t kMaxLocks = 100'000;

/// Throws ConfigError with the key and limit of the first parameter that is out of range. Keys of pairs end
/// in
/// "[0]" or "[1]".
void validate(const Generator& generator);

/// The graph of one world: a function of the key and the parameters only. Each device draws from two streams
/// of its own, one for its place in the graph and one for its callbacks, named by its number among the
/// firmware or the class devices; each draw has its position, made or not. So neither more devices nor
/// another sigma change any other draw. All are async; names are "root", "dev1", "dev2", ..., "class1", ...,
/// locks "lock1", ...
GraphSpec generate(const Generator& generator, StreamKey key);

}  // namespace torpor::dpm
