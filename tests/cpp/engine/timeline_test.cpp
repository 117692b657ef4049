// SPDX-License-Identifier: MIT
#include "torpor/engine/timeline.hpp"

#include <gtest/gtest.h>

namespace torpor::engine {
namespace {

TEST(VectorSink, KeepsRecordsInTheOrderOfTheirArrival) {
    const TimelineRecord late{.at = time_from_ns(20), .value = -1, .lane = 1, .kind = 7};
    const TimelineRecord early{.at = time_from_ns(10), .value = 2, .lane = 0, .kind = 8};
    VectorSink sink;
    TimelineSink& any = sink;
    any.record(late);
    any.record(early);
    EXPECT_EQ(sink.records(), (std::vector<TimelineRecord>{late, early}));
}

TEST(VectorSink, ForgetsWhenCleared) {
    VectorSink sink;
    sink.record({});
    sink.clear();
    EXPECT_TRUE(sink.records().empty());
}

TEST(TimelineRecord, IsSmall) {
    EXPECT_EQ(sizeof(TimelineRecord), 24U);
}

}  // namespace
}  // namespace torpor::engine
