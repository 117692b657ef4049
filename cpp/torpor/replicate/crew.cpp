// SPDX-License-Identifier: MIT
#include "torpor/replicate/crew.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "torpor/base/error.hpp"

namespace torpor::replicate::detail {
namespace {

constexpr std::chrono::milliseconds kProgressInterval{100};
constexpr int kMaxThreads = 4096;

// How the workers tell the waiting thread that they are through.
struct Outcome {
    std::mutex mutex;
    std::condition_variable all_ended;
    int running{0};
    std::exception_ptr error;
};

}  // namespace

Chunk Dispenser::next() {
    constexpr std::int64_t kShare = 8;
    std::int64_t begin = given_.load(std::memory_order_relaxed);
    std::int64_t end = begin;
    do {
        if (begin == count_) {
            return {};
        }
        end = begin + std::max<std::int64_t>(1, (count_ - begin) / (kShare * threads_));
    } while (!given_.compare_exchange_weak(begin, end, std::memory_order_relaxed));
    return {begin, end};
}

int available_threads() {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
        return std::max(1, CPU_COUNT(&allowed));
    }
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

int checked_threads(std::int64_t first, std::int64_t replicates, int threads) {
    if (first < 0) {
        throw ConfigError{"first", std::to_string(first), "must be at least 0"};
    }
    if (replicates < 1) {
        throw ConfigError{"replicates", std::to_string(replicates), "must be at least 1"};
    }
    if (threads < 0 || threads > kMaxThreads) {
        throw ConfigError{"threads", std::to_string(threads),
                          "must be 0 (all cores) to " + std::to_string(kMaxThreads)};
    }
    const int wanted = threads == 0 ? available_threads() : threads;
    return static_cast<int>(std::min<std::int64_t>(wanted, replicates));
}

void run_crew(std::int64_t replicates, int threads, const std::function<void(Worker&)>& work,
              const Progress& progress, const std::stop_token& stop) {
    Dispenser dispenser{replicates, threads};
    std::stop_source stopping;
    Outcome outcome;
    std::deque<Worker> workers(static_cast<std::size_t>(threads));
    for (Worker& worker : workers) {
        worker.stop = stopping.get_token();
        worker.dispenser = &dispenser;
    }
    const auto done = [&workers] {
        std::int64_t sum = 0;
        for (const Worker& worker : workers) {
            sum += worker.done.load(std::memory_order_relaxed);
        }
        return sum;
    };
    const auto body = [&](Worker& worker) {
        std::exception_ptr error;
        try {
            work(worker);
        } catch (const Cancelled&) {
            // A model that heard the wish to stop; if nobody has asked, it is an error like any other.
            if (!worker.stop.stop_requested()) {
                error = std::current_exception();
            }
        } catch (...) {
            error = std::current_exception();
        }
        if (error) {
            stopping.request_stop();
        }
        const std::lock_guard lock{outcome.mutex};
        if (error && !outcome.error) {
            outcome.error = error;
        }
        if (--outcome.running == 0) {
            outcome.all_ended.notify_one();
        }
    };
    {
        const std::stop_callback forward{stop, [&stopping] { stopping.request_stop(); }};
        std::vector<std::jthread> crew;
        // Whatever is thrown below, the workers are told to stop before the crew is joined.
        struct StopOnExit {
            std::stop_source& source;
            bool armed{true};
            ~StopOnExit() {
                if (armed) {
                    source.request_stop();
                }
            }
        } stop_on_exit{stopping};
        crew.reserve(workers.size());
        for (Worker& worker : workers) {
            {
                const std::lock_guard lock{outcome.mutex};
                ++outcome.running;
            }
            try {
                crew.emplace_back([&body, &worker] { body(worker); });
            } catch (...) {
                const std::lock_guard lock{outcome.mutex};
                --outcome.running;
                throw;
            }
        }
        std::unique_lock lock{outcome.mutex};
        while (!outcome.all_ended.wait_for(lock, kProgressInterval, [&] { return outcome.running == 0; })) {
            if (progress && !stopping.stop_requested()) {
                lock.unlock();
                if (!progress(done(), replicates)) {
                    stopping.request_stop();
                }
                lock.lock();
            }
        }
        stop_on_exit.armed = false;
    }
    if (outcome.error) {
        std::rethrow_exception(outcome.error);
    }
    if (done() < replicates) {
        throw Cancelled{"stopped after " + std::to_string(done()) + " of " + std::to_string(replicates) +
                        " replicates"};
    }
    if (progress) {
        progress(replicates, replicates);
    }
}

}  // namespace torpor::replicate::detail
