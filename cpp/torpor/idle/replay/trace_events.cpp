// SPDX-License-Identifier: MIT
#include "torpor/idle/replay/trace_events.hpp"

#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "torpor/base/error.hpp"
#include "torpor/ftrace/fields.hpp"

namespace torpor::idle {

namespace {

using Kind = TraceEvent::Kind;

constexpr std::int64_t kExitState = 4294967295;
constexpr std::uint32_t kNoEvent = std::numeric_limits<std::uint32_t>::max();

class Decoder {
  public:
    Decoder(const ftrace::TraceLog& log, std::vector<std::string>& names)
        : log_{log},
          names_{names},
          idle_{id("cpu_idle")},
          miss_{id("cpu_idle_miss")},
          stop_{id("tick_stop")},
          start_{id("hrtimer_start")},
          expire_{id("hrtimer_expire_entry")},
          cancel_{id("hrtimer_cancel")},
          switch_{id("sched_switch")} {
        for (std::uint32_t i = 0; i < log.comms().size(); ++i) task_id(log.comms()[i]);
    }

    bool has_idle() const { return idle_ != kNoEvent; }

    /// False when the row tells nothing about idle.
    bool decode(std::size_t row, TraceEvent& event) {
        const std::uint32_t id = log_.event_id(row);
        const std::string_view args = log_.args(row);
        event = TraceEvent{};
        event.row = row;
        event.cpu = log_.cpu(row);
        event.time_ns = log_.time_ns(row);
        event.interrupt = (log_.flags(row) & ftrace::kInterrupt) != 0;
        event.need_resched = (log_.flags(row) & ftrace::kNeedResched) != 0;
        event.by_idle_task = log_.pid(row) == 0;
        event.task = log_.comm_id(row);
        if (id == idle_) {
            event.value = integer(row, "state");
            event.kind = event.value == kExitState ? Kind::leave : Kind::enter;
            event.cpu = static_cast<int>(integer(row, "cpu_id"));
            return true;
        }
        if (id == miss_) {
            event.kind = Kind::miss;
            return true;
        }
        if (id == stop_) {
            event.kind = Kind::tick_stop;
            return integer(row, "success") != 0;
        }
        if (id == start_ || id == expire_ || id == cancel_) {
            event.kind = id == start_    ? Kind::timer_start
                         : id == expire_ ? Kind::timer_expire
                                         : Kind::timer_cancel;
            const auto timer = ftrace::pointer_field(args, "hrtimer");
            if (!timer) fail(row, "hrtimer");
            event.timer = *timer;
            if (id == cancel_) return true;
            const auto function = ftrace::field(args, "function");
            if (!function) fail(row, "function");
            // Renamed in 6.8.
            event.tick_function = *function == "tick_sched_timer" || *function == "tick_nohz_handler";
            event.sleep_function = *function == "hrtimer_wakeup";
            event.value = integer(row, id == start_ ? "expires" : "now");
            if (event.value < 0) fail(row, id == start_ ? "expires" : "now");
            return true;
        }
        if (id == switch_) {
            const bool from_idle = integer(row, "prev_pid") == 0;
            const bool to_idle = integer(row, "next_pid") == 0;
            const auto next = ftrace::field_before(args, "next_comm", "next_pid");
            if (!next) fail(row, "next_comm");
            event.kind = to_idle ? Kind::to_idle : from_idle ? Kind::from_idle : Kind::between_tasks;
            event.task = task_id(*next);
            return true;
        }
        return false;
    }

  private:
    std::uint32_t id(std::string_view name) const { return log_.find_event(name).value_or(kNoEvent); }

    std::uint32_t task_id(std::string_view name) {
        const auto [entry, added] = ids_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
        if (added) names_.emplace_back(name);
        return entry->second;
    }

    std::int64_t integer(std::size_t row, std::string_view key) const {
        const auto value = ftrace::integer_field(log_.args(row), key);
        if (!value) fail(row, key);
        return *value;
    }

    [[noreturn]] void fail(std::size_t row, std::string_view key) const {
        std::string args;
        for (const char c : log_.args(row).substr(0, 120)) args += c >= ' ' && c <= '~' ? c : '?';
        throw ConfigError{log_.source() + ":" + std::to_string(log_.line(row)),
                          "event " + std::string{log_.event(row)} + " has no readable \"" + std::string{key} +
                              "=\" in \"" + args + "\""};
    }

    const ftrace::TraceLog& log_;
    std::vector<std::string>& names_;
    std::unordered_map<std::string_view, std::uint32_t> ids_;
    std::uint32_t idle_;
    std::uint32_t miss_;
    std::uint32_t stop_;
    std::uint32_t start_;
    std::uint32_t expire_;
    std::uint32_t cancel_;
    std::uint32_t switch_;
};

}  // namespace

std::vector<TraceEvent> decode_events(const ftrace::TraceLog& log, std::vector<std::string>& names) {
    Decoder decoder{log, names};
    if (!decoder.has_idle()) {
        throw ConfigError{log.source(),
                          "no cpu_idle event in " + std::to_string(log.size()) +
                              " rows: record with `trace-cmd record -e cpu_idle -e sched_switch -e timer`"};
    }
    std::vector<TraceEvent> events;
    events.reserve(log.size());
    TraceEvent event;
    for (std::size_t row = 0; row < log.size(); ++row) {
        if (decoder.decode(row, event)) events.push_back(event);
    }
    return events;
}

}  // namespace torpor::idle
