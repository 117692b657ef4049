// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "torpor/ftrace/row_flags.hpp"

// Reader of the common text row of ftrace,
//
//     comm-pid [CPU] flags SECONDS.fraction: event: args
//
// as the kernel's `trace` file and `trace-cmd report` print it. The task name may hold spaces, dashes and
// brackets; a thread-group column "(tgid)" and the flag column are optional; the fraction has 1 to 9 digits.
// Comment lines ('#'), the head of trace-cmd ("version = 6", "cpus=8") and "CPU:n [LOST k EVENTS]" lines are
// understood.
namespace torpor::ftrace {

/// A line that is neither a row nor anything else known; the log goes on without it.
struct BadRow {
    std::size_t line{0};  // from 1
    std::string text;     // at most the first 120 bytes
};

/// The ring buffer of a CPU overran.
struct LostEvents {
    std::size_t line{0};
    int cpu{0};
    std::int64_t count{0};
};

/// Distinct strings in order of first appearance.
class Names {
  public:
    std::uint32_t intern(std::string_view text);
    std::optional<std::uint32_t> find(std::string_view text) const;
    std::string_view operator[](std::uint32_t id) const { return names_[id]; }
    std::size_t size() const { return names_.size(); }

  private:
    std::vector<std::string_view> names_;  // into the log's text
    std::unordered_map<std::string_view, std::uint32_t> ids_;
    std::uint32_t last_{0};
};

/// A trace in columns, one entry a row, in the order of the file. Owns the text; task names, events and
/// arguments are views into it.
class TraceLog {
  public:
    /// Reads the whole text. `source` names the file in messages. Throws ConfigError, with source, line and
    /// value, when the text is empty or binary, ends in the middle of a line, has no row at all, or when the
    /// time of a CPU runs backwards.
    TraceLog(std::string text, std::string source);

    TraceLog(const TraceLog&) = delete;
    TraceLog& operator=(const TraceLog&) = delete;

    const std::string& source() const { return source_; }
    std::size_t size() const { return time_ns_.size(); }

    std::int64_t time_ns(std::size_t row) const { return time_ns_[row]; }
    int cpu(std::size_t row) const { return cpu_[row]; }
    std::int32_t pid(std::size_t row) const { return pid_[row]; }
    std::uint32_t comm_id(std::size_t row) const { return comm_[row]; }
    std::string_view comm(std::size_t row) const { return comms_[comm_[row]]; }
    std::uint32_t event_id(std::size_t row) const { return event_[row]; }
    std::string_view event(std::size_t row) const { return events_[event_[row]]; }
    std::uint32_t flags_id(std::size_t row) const { return flags_[row]; }
    std::uint16_t flags(std::size_t row) const { return flag_bits_[flags_[row]]; }
    std::string_view flags_text(std::size_t row) const { return flag_texts_[flags_[row]]; }
    std::string_view args(std::size_t row) const {
        return std::string_view{text_}.substr(args_begin_[row], args_length_[row]);
    }
    /// Line of the file, from 1.
    std::size_t line(std::size_t row) const { return line_[row]; }

    const std::vector<std::int64_t>& times_ns() const { return time_ns_; }
    const std::vector<std::int32_t>& cpus() const { return cpu_; }
    const std::vector<std::int32_t>& pids() const { return pid_; }
    const std::vector<std::uint32_t>& comm_ids() const { return comm_; }
    const std::vector<std::uint32_t>& event_ids() const { return event_; }
    const std::vector<std::uint32_t>& flags_ids() const { return flags_; }
    const Names& comms() const { return comms_; }
    const Names& events() const { return events_; }
    const Names& flag_texts() const { return flag_texts_; }
    const std::vector<std::uint16_t>& flag_bits() const { return flag_bits_; }

    /// Id of an event, to compare with event_id(); nullopt when the trace has none of it.
    std::optional<std::uint32_t> find_event(std::string_view name) const { return events_.find(name); }
    /// CPUs that wrote at least one row, ascending.
    std::vector<int> cpus_seen() const;

    std::size_t lines() const { return lines_; }
    /// How many lines could not be read; the first kMaxBadRows of them are kept.
    std::size_t bad_row_count() const { return bad_row_count_; }
    const std::vector<BadRow>& bad_rows() const { return bad_rows_; }
    const std::vector<LostEvents>& lost() const { return lost_; }

    static constexpr std::size_t kMaxBadRows = 100;

  private:
    void read();
    bool read_row(std::string_view row, std::size_t line);
    bool read_other(std::string_view row, std::size_t line);
    void reject(std::string_view row, std::size_t line);
    [[noreturn]] void fail(std::size_t line, const std::string& message) const;

    std::string text_;
    std::string source_;
    std::vector<std::int64_t> time_ns_;
    std::vector<std::int32_t> cpu_;
    std::vector<std::int32_t> pid_;
    std::vector<std::uint32_t> comm_;
    std::vector<std::uint32_t> event_;
    std::vector<std::uint32_t> flags_;
    std::vector<std::uint64_t> args_begin_;
    std::vector<std::uint32_t> args_length_;
    std::vector<std::uint32_t> line_;
    Names comms_;
    Names events_;
    Names flag_texts_;
    std::vector<std::uint16_t> flag_bits_;
    std::vector<std::int64_t> last_time_ns_;  // by CPU
    std::vector<LostEvents> lost_;
    std::vector<BadRow> bad_rows_;
    std::size_t bad_row_count_{0};
    std::size_t lines_{0};
};

}  // namespace torpor::ftrace
