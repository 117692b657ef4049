// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "torpor/base/units.hpp"

namespace torpor::engine {

/// One thing that happened in a run. The engine gives it no meaning: each family says what its kinds and
/// values are, and what a lane is (a CPU, a device, a task).
struct TimelineRecord {
    Time at{};
    std::int64_t value{0};
    std::int32_t lane{0};
    std::uint16_t kind{0};

    bool operator==(const TimelineRecord&) const = default;
};

/// Where a model tells what happened, in the order in which it happened. Models hold a pointer that is null
/// by default, so a run that nobody watches pays one branch per record.
class TimelineSink {
  public:
    TimelineSink() = default;
    TimelineSink(const TimelineSink&) = delete;
    TimelineSink& operator=(const TimelineSink&) = delete;
    virtual ~TimelineSink();

    virtual void record(const TimelineRecord& what) = 0;
};

/// Keeps everything.
class VectorSink final : public TimelineSink {
  public:
    void record(const TimelineRecord& what) override { records_.push_back(what); }
    const std::vector<TimelineRecord>& records() const { return records_; }
    void clear() { records_.clear(); }

  private:
    std::vector<TimelineRecord> records_;
};

}  // namespace torpor::engine
