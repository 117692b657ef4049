// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "torpor/ftrace/trace_log.hpp"

namespace torpor::idle {

/// The events that an idle trace is read from, decoded.
struct TraceEvent {
    enum class Kind : std::uint8_t {
        enter,
        leave,
        miss,
        tick_stop,
        timer_start,
        timer_expire,
        timer_cancel,
        to_idle,
        from_idle,
        between_tasks
    };

    Kind kind{Kind::enter};
    bool interrupt{false};
    bool need_resched{false};
    bool by_idle_task{false};
    bool tick_function{false};   // the function named is the tick handler
    bool sleep_function{false};  // ... is that of a sleeping task
    int cpu{0};
    std::uint32_t task{0};  // comm id of the row, or of the next task of a switch
    std::size_t row{0};
    std::int64_t time_ns{0};
    std::uint64_t timer{0};  // address
    std::int64_t value{0};   // state; expiry; the handler's clock
};

/// Rows of interest in file order. Throws ConfigError naming source, line and event when an argument cannot
/// be read. `names` receives the task names that TraceEvent::task refers to.
std::vector<TraceEvent> decode_events(const ftrace::TraceLog& log, std::vector<std::string>& names);

}  // namespace torpor::idle
