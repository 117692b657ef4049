// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <type_traits>
#include <utility>
#include <vector>

#include "torpor/base/random.hpp"
#include "torpor/replicate/crew.hpp"

// Many replicates of any model over all cores.
namespace torpor::replicate {

/// A model that can be run again and again. run() starts from nothing but its arguments: whatever an earlier
/// replicate left behind must not show, since which replicates share a model depends on the threads. It polls
/// `stop` at least every 50 ms and then throws Cancelled (engine::StopCheck) or returns anything at once;
/// that result is thrown away. Result is a value that can be made empty and moved. bool is refused: its
/// vector packs several into one byte, which two threads must not write.
template <class M>
concept Replicable = requires(M model, StreamKey key, const std::stop_token& stop) {
    { model.run(key, stop) } -> std::default_initializable;
    requires std::movable<decltype(model.run(key, stop))>;
    requires !std::same_as<decltype(model.run(key, stop)), bool>;
};

template <Replicable M>
using ResultOf = decltype(std::declval<M&>().run(StreamKey{}, std::declval<const std::stop_token&>()));

/// Makes models, each a value of its own.
template <class F>
concept ModelMaker = std::invocable<const F&> && Replicable<std::invoke_result_t<const F&>> &&
    !std::is_reference_v<std::invoke_result_t<const F&>>;

/// What a call asks for: replicates first .. first + replicates - 1 of the worlds of `seed`.
struct Request {
    std::int64_t first{0};
    std::int64_t replicates{1};
    /// 0 means every CPU that the process may use.
    int threads{0};
    std::uint64_t seed{0};
};

/// Runs the replicates and returns their results in order of their numbers: the same bits for any number of
/// threads.
///
/// `make_model()` is called once on each worker thread, several at a time, so it only reads what it shares.
/// `progress` is called on the calling thread, about ten times a second, and once with done == total after
/// the last replicate, when its answer no longer matters.
///
/// Throws ConfigError for first < 0, replicates < 1, threads < 0 or above 4096. The first exception of a
/// worker stops the others and is rethrown. Throws Cancelled when `progress` returned false or `stop` asked
/// for it before the work was complete. Always returns or throws with no thread left running.
template <ModelMaker MakeModel>
auto run_replicates(const MakeModel& make_model, const Request& request, const Progress& progress = {},
                    const std::stop_token& stop = {}) {
    using Model = std::invoke_result_t<const MakeModel&>;
    const int threads = detail::checked_threads(request.first, request.replicates, request.threads);
    std::vector<ResultOf<Model>> results(static_cast<std::size_t>(request.replicates));
    const auto work = [&](detail::Worker& worker) {
        Model model = make_model();
        for (auto chunk = worker.dispenser->next(); chunk.begin != chunk.end;
             chunk = worker.dispenser->next()) {
            for (std::int64_t i = chunk.begin; i < chunk.end; ++i) {
                if (worker.stop.stop_requested()) {
                    return;
                }
                const StreamKey key{request.seed, static_cast<std::uint64_t>(request.first + i)};
                auto result = model.run(key, worker.stop);
                if (worker.stop.stop_requested()) {
                    return;
                }
                results[static_cast<std::size_t>(i)] = std::move(result);
                worker.done.fetch_add(1, std::memory_order_relaxed);
            }
        }
    };
    detail::run_crew(request.replicates, threads, work, progress, stop);
    return results;
}

}  // namespace torpor::replicate
