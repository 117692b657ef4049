// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <stop_token>

namespace torpor::replicate {

/// Hears how far the call is, on the thread that made the call. False cancels; so does an exception, which is
/// passed on.
using Progress = std::function<bool(std::int64_t done, std::int64_t total)>;

namespace detail {

/// A run of neighbouring replicates, counted from the first of the call.
struct Chunk {
    std::int64_t begin{0};
    std::int64_t end{0};
};

/// What all workers of one call share: the place where the next chunk begins.
class Dispenser {
  public:
    Dispenser(std::int64_t count, int threads) : count_{count}, threads_{threads} {}

    /// An eighth of a fair share of what is left: few large chunks first, single replicates in the end, so
    /// that the threads end together. Empty when all have been given out.
    Chunk next();

  private:
    std::atomic<std::int64_t> given_{0};
    std::int64_t count_;
    std::int64_t threads_;
};

/// One worker's view of the call. Its count of finished replicates has a cache line of its own.
struct alignas(64) Worker {
    std::atomic<std::int64_t> done{0};
    std::stop_token stop;
    Dispenser* dispenser{nullptr};
};

/// Throws ConfigError unless first >= 0, replicates >= 1, threads >= 0; returns the threads to use.
int checked_threads(std::int64_t first, std::int64_t replicates, int threads);

/// CPUs that this process may run on.
int available_threads();

/// Calls `work` on `threads` threads and waits. `work` returns when there are no more chunks or its stop
/// token asks.
void run_crew(std::int64_t replicates, int threads, const std::function<void(Worker&)>& work,
              const Progress& progress, const std::stop_token& stop);

}  // namespace detail
}  // namespace torpor::replicate
