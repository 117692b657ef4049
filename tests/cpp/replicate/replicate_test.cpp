// SPDX-License-Identifier: MIT
#include "torpor/replicate/replicate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "torpor/base/distributions.hpp"
#include "torpor/base/error.hpp"

namespace torpor::replicate {
namespace {

struct Sum {
    std::uint64_t replicate{0};
    double value{0.0};
    bool operator==(const Sum&) const = default;
};

// Adds up draws; how many depends on the replicate, so that threads meet in ever new orders.
class Adder {
  public:
    Sum run(StreamKey key, const std::stop_token&) {
        RandomStream stream{key, "adder"};
        const Exponential distribution{1.0};
        Sum sum{key.replicate, 0.0};
        const int draws = UniformInt{1, 200}(stream) > 190 ? 2000 : 20;
        for (int i = 0; i < draws; ++i) sum.value += sample(distribution, stream);
        return sum;
    }
};

// Runs until it is told to stop.
class Endless {
  public:
    int run(StreamKey, const std::stop_token& stop) {
        while (!stop.stop_requested()) std::this_thread::yield();
        throw Cancelled{"heard it"};
    }
};

class Failing {
  public:
    int run(StreamKey key, const std::stop_token& stop) {
        if (key.replicate == 37) throw ModelError{"replicate 37"};
        return key.replicate > 37 ? Endless{}.run(key, stop) : 0;
    }
};

static_assert(Replicable<Adder>);
struct ReturnsBool {
    bool run(StreamKey, const std::stop_token&) { return true; }
};
struct ReturnsNothing {
    void run(StreamKey, const std::stop_token&) {}
};
struct NoModel {};
static_assert(!Replicable<ReturnsBool>);
static_assert(!Replicable<ReturnsNothing>);
static_assert(!Replicable<NoModel>);

TEST(RunReplicates, GivesResultsInOrderOfTheReplicates) {
    const auto results =
        run_replicates([] { return Adder{}; }, {.first = 100, .replicates = 500, .threads = 3, .seed = 1});
    ASSERT_EQ(results.size(), 500U);
    for (std::size_t i = 0; i < results.size(); ++i) ASSERT_EQ(results[i].replicate, 100 + i);
}

TEST(RunReplicates, GivesTheSameBitsForAnyNumberOfThreads) {
    const auto one = run_replicates([] { return Adder{}; }, {.replicates = 2000, .threads = 1, .seed = 1});
    for (const int threads : {2, 5, 16, 0}) {
        EXPECT_EQ(run_replicates([] { return Adder{}; }, {.replicates = 2000, .threads = threads, .seed = 1}),
                  one)
            << threads;
    }
}

TEST(RunReplicates, GivesTheSameBitsInOneCallAsInTwo) {
    const auto whole = run_replicates([] { return Adder{}; }, {.replicates = 100, .threads = 2, .seed = 1});
    auto parts = run_replicates([] { return Adder{}; }, {.replicates = 60, .threads = 2, .seed = 1});
    const auto rest =
        run_replicates([] { return Adder{}; }, {.first = 60, .replicates = 40, .threads = 2, .seed = 1});
    parts.insert(parts.end(), rest.begin(), rest.end());
    EXPECT_EQ(parts, whole);
}

TEST(RunReplicates, GivesOtherWorldsForAnotherSeed) {
    const auto one = run_replicates([] { return Adder{}; }, {.replicates = 10, .threads = 1, .seed = 1});
    EXPECT_NE(run_replicates([] { return Adder{}; }, {.replicates = 10, .threads = 1, .seed = 2}), one);
}

TEST(RunReplicates, BuildsOneModelPerThread) {
    std::atomic<int> built{0};
    std::mutex mutex;
    std::set<std::thread::id> builders;
    const auto make = [&] {
        ++built;
        const std::lock_guard lock{mutex};
        builders.insert(std::this_thread::get_id());
        return Adder{};
    };
    run_replicates(make, {.replicates = 1000, .threads = 4, .seed = 1});
    EXPECT_EQ(built, 4);
    EXPECT_EQ(builders.size(), 4U);
    EXPECT_EQ(builders.count(std::this_thread::get_id()), 0U);
}

TEST(RunReplicates, PassesTheFirstExceptionOnAndStopsTheOthers) {
    try {
        run_replicates([] { return Failing{}; }, {.replicates = 1000, .threads = 4, .seed = 1});
        FAIL() << "no exception";
    } catch (const ModelError& error) {
        EXPECT_STREQ(error.what(), "replicate 37");
    }
}

TEST(RunReplicates, PassesOnWhatTheMakingOfAModelThrows) {
    const auto make = []() -> Adder { throw ConfigError{"board", "is bad"}; };
    EXPECT_THROW(run_replicates(make, {.replicates = 10, .threads = 2, .seed = 1}), ConfigError);
}

TEST(RunReplicates, TakesACancellationThatNobodyAskedForAsAnError) {
    struct Quitter {
        int run(StreamKey, const std::stop_token&) { throw Cancelled{"just so"}; }
    };
    try {
        run_replicates([] { return Quitter{}; }, {.replicates = 10, .threads = 2, .seed = 1});
        FAIL() << "no exception";
    } catch (const Cancelled& error) {
        EXPECT_STREQ(error.what(), "just so");
    }
}

TEST(RunReplicates, StopsWhenProgressSaysFalse) {
    const Progress progress = [](std::int64_t, std::int64_t) { return false; };
    try {
        run_replicates([] { return Endless{}; }, {.replicates = 10, .threads = 2, .seed = 1}, progress);
        FAIL() << "no exception";
    } catch (const Cancelled& error) {
        EXPECT_STREQ(error.what(), "stopped after 0 of 10 replicates");
    }
}

TEST(RunReplicates, StopsWhenProgressThrowsAndPassesThatOn) {
    const Progress progress = [](std::int64_t, std::int64_t) -> bool { throw std::out_of_range{"mine"}; };
    EXPECT_THROW(
        run_replicates([] { return Endless{}; }, {.replicates = 10, .threads = 2, .seed = 1}, progress),
        std::out_of_range);
}

TEST(RunReplicates, StopsWhenTheCallersTokenAsks) {
    std::stop_source source;
    const std::jthread other{[&source] { source.request_stop(); }};
    EXPECT_THROW(run_replicates([] { return Endless{}; }, {.replicates = 10, .threads = 2, .seed = 1}, {},
                                source.get_token()),
                 Cancelled);
}

TEST(RunReplicates, DoesNothingForACallThatIsStoppedBeforeItBegins) {
    std::stop_source source;
    source.request_stop();
    EXPECT_THROW(run_replicates([] { return Adder{}; }, {.replicates = 10, .threads = 2, .seed = 1}, {},
                                source.get_token()),
                 Cancelled);
}

TEST(RunReplicates, ReportsProgressOnTheCallingThreadAndTheEndOnce) {
    struct Slow {
        int run(StreamKey, const std::stop_token&) {
            std::this_thread::sleep_for(std::chrono::milliseconds{60});
            return 1;
        }
    };
    const auto caller = std::this_thread::get_id();
    std::vector<std::int64_t> seen;
    const Progress progress = [&](std::int64_t done, std::int64_t total) {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        EXPECT_EQ(total, 8);
        seen.push_back(done);
        return true;
    };
    run_replicates([] { return Slow{}; }, {.replicates = 8, .threads = 2, .seed = 1}, progress);
    ASSERT_GE(seen.size(), 2U);
    EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
    EXPECT_EQ(seen.back(), 8);
}

TEST(RunReplicates, IgnoresWhatProgressAnswersAfterTheLastReplicate) {
    const Progress progress = [](std::int64_t done, std::int64_t total) { return done < total; };
    EXPECT_NO_THROW(
        run_replicates([] { return Adder{}; }, {.replicates = 1, .threads = 1, .seed = 1}, progress));
}

TEST(RunReplicates, RefusesToRunNothing) {
    EXPECT_THROW(run_replicates([] { return Adder{}; }, {.replicates = 0}), ConfigError);
}

TEST(RunReplicates, TakesModelsThatCannotBeMovedAndResultsThatCannotBeCopied) {
    struct Pinned {
        Pinned() = default;
        Pinned(const Pinned&) = delete;
        std::unique_ptr<std::uint64_t> run(StreamKey key, const std::stop_token&) {
            return std::make_unique<std::uint64_t>(key.replicate);
        }
    };
    const auto results = run_replicates([] { return Pinned{}; }, {.replicates = 5, .threads = 2, .seed = 1});
    EXPECT_EQ(*results[4], 4U);
}

}  // namespace
}  // namespace torpor::replicate
