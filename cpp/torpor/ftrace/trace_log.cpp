// SPDX-License-Identifier: MIT
#include "torpor/ftrace/trace_log.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "torpor/base/error.hpp"

namespace torpor::ftrace {

namespace {

constexpr int kMaxCpu = 65535;
// Far from where sums of times would overflow.
constexpr std::int64_t kMaxSeconds = 4000000000;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_event_char(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' ||
           c == '.' || c == '/' || c == '<' || c == '>';
}

std::string_view trim_left(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(' ');
    return begin == std::string_view::npos ? std::string_view{} : text.substr(begin);
}

std::string_view trim_right(std::string_view text) {
    const std::size_t end = text.find_last_not_of(" \r");
    return end == std::string_view::npos ? std::string_view{} : text.substr(0, end + 1);
}

template <class Number>
bool read_number(std::string_view text, Number& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size();
}

// "comm-pid" or "comm-pid (tgid)", blanks around.
bool read_task(std::string_view text, std::string_view& comm, std::int32_t& pid) {
    text = trim_right(text);
    if (!text.empty() && text.back() == ')') {
        const std::size_t open = text.rfind('(');
        if (open == std::string_view::npos) return false;
        text = trim_right(text.substr(0, open));
    }
    std::size_t digits = text.size();
    while (digits > 0 && is_digit(text[digits - 1])) --digits;
    if (digits == text.size() || digits == 0 || text[digits - 1] != '-') return false;
    if (!read_number(text.substr(digits), pid)) return false;
    comm = trim_left(text.substr(0, digits - 1));
    return true;
}

// What a message may show of a line: printable ASCII only.
std::string quoted(std::string_view text) {
    std::string result{'"'};
    for (const char c : text.substr(0, 120)) result += c >= ' ' && c <= '~' ? c : '?';
    return result += '"';
}

struct Tail {
    std::string_view flags;
    std::int64_t time_ns{0};
    std::string_view event;
    std::size_t args{0};  // offset in the text given
};

// "flags SECONDS.fraction: event: args" with the flags optional; what stands behind "[CPU]".
bool read_tail(std::string_view text, Tail& tail) {
    std::size_t at = text.find_first_not_of(' ');
    if (at == std::string_view::npos || at == 0) return false;
    const auto token_end = [&](std::size_t from) { return std::min(text.find(' ', from), text.size()); };
    std::size_t end = token_end(at);
    if (text[end - 1] != ':') {
        tail.flags = text.substr(at, end - at);
        if (tail.flags.size() > 8) return false;
        at = text.find_first_not_of(' ', end);
        if (at == std::string_view::npos) return false;
        end = token_end(at);
        if (text[end - 1] != ':') return false;
    }
    const std::string_view stamp = text.substr(at, end - 1 - at);
    const std::size_t dot = stamp.find('.');
    if (dot == std::string_view::npos || dot == 0) return false;
    const std::string_view fraction = stamp.substr(dot + 1);
    std::int64_t seconds = 0;
    std::int64_t sub = 0;
    if (!is_digit(stamp[0]) || !read_number(stamp.substr(0, dot), seconds)) return false;
    if (fraction.empty() || fraction.size() > 9 || !is_digit(fraction[0]) || !read_number(fraction, sub))
        return false;
    if (seconds > kMaxSeconds) return false;
    for (std::size_t i = fraction.size(); i < 9; ++i) sub *= 10;
    tail.time_ns = seconds * 1000000000 + sub;

    at = text.find_first_not_of(' ', end);
    if (at == std::string_view::npos) return false;
    end = at;
    while (end < text.size() && is_event_char(text[end])) ++end;
    if (end == at || end == text.size() || text[end] != ':') return false;
    if (end + 1 < text.size() && text[end + 1] != ' ') return false;
    tail.event = text.substr(at, end - at);
    const std::size_t args = text.find_first_not_of(' ', end + 1);
    tail.args = args == std::string_view::npos ? text.size() : args;
    return true;
}

}  // namespace

std::uint32_t Names::intern(std::string_view text) {
    if (last_ < names_.size() && names_[last_] == text) return last_;
    const auto [entry, added] = ids_.try_emplace(text, static_cast<std::uint32_t>(names_.size()));
    if (added) names_.push_back(text);
    last_ = entry->second;
    return last_;
}

std::optional<std::uint32_t> Names::find(std::string_view text) const {
    const auto entry = ids_.find(text);
    if (entry == ids_.end()) return std::nullopt;
    return entry->second;
}

TraceLog::TraceLog(std::string text, std::string source)
    : text_{std::move(text)}, source_{std::move(source)} {
    read();
}

void TraceLog::fail(std::size_t line, const std::string& message) const {
    throw ConfigError{source_ + ":" + std::to_string(line), message};
}

std::vector<int> TraceLog::cpus_seen() const {
    std::vector<int> seen;
    for (std::size_t cpu = 0; cpu < last_time_ns_.size(); ++cpu) {
        if (last_time_ns_[cpu] >= 0) seen.push_back(static_cast<int>(cpu));
    }
    return seen;
}

void TraceLog::read() {
    if (text_.empty()) throw ConfigError{source_, "the file is empty, expected the text of a kernel trace"};
    const std::size_t zero = text_.find('\0');
    if (zero != std::string::npos) {
        throw ConfigError{source_, "not a text: byte 0 at offset " + std::to_string(zero) +
                                       " (a binary trace.dat has to be converted with `trace-cmd report`)"};
    }
    const std::size_t estimate = text_.size() / 120 + 16;
    for (auto* column : {&comm_, &event_, &flags_, &args_length_, &line_}) column->reserve(estimate);
    for (auto* column : {&cpu_, &pid_}) column->reserve(estimate);
    time_ns_.reserve(estimate);
    args_begin_.reserve(estimate);

    const std::string_view all{text_};
    std::size_t begin = 0;
    while (begin < all.size()) {
        const std::size_t newline = all.find('\n', begin);
        ++lines_;
        if (newline == std::string_view::npos) {
            fail(lines_, "the file ends in the middle of a row: " + quoted(all.substr(begin)));
        }
        const std::string_view row = all.substr(begin, newline - begin);
        begin = newline + 1;
        if (row.empty() || row[0] == '#') continue;
        if (!read_row(row, lines_) && !read_other(row, lines_)) reject(row, lines_);
    }
    if (time_ns_.empty()) {
        if (!bad_rows_.empty()) {
            fail(bad_rows_.front().line,
                 "no row of a kernel trace in " + std::to_string(lines_) +
                     " lines; the first other text is " + quoted(bad_rows_.front().text) +
                     ", expected \"comm-pid [CPU] flags SECONDS.micros: event: args\"");
        }
        throw ConfigError{source_, "no row of a kernel trace in " + std::to_string(lines_) + " lines"};
    }
}

bool TraceLog::read_row(std::string_view row, std::size_t line) {
    // A task name may hold brackets too: the first one whose both sides make sense is the CPU's.
    for (std::size_t open = row.find('['); open != std::string_view::npos; open = row.find('[', open + 1)) {
        const std::size_t close = row.find(']', open);
        if (close == std::string_view::npos) return false;
        std::int32_t cpu = 0;
        std::string_view comm;
        std::int32_t pid = 0;
        Tail tail;
        if (!read_number(row.substr(open + 1, close - open - 1), cpu) || cpu < 0 || cpu > kMaxCpu) continue;
        if (!read_task(row.substr(0, open), comm, pid) || !read_tail(row.substr(close + 1), tail)) continue;

        const auto index = static_cast<std::size_t>(cpu);
        if (index >= last_time_ns_.size()) last_time_ns_.resize(index + 1, -1);
        if (tail.time_ns < last_time_ns_[index]) {
            fail(line, "time of CPU " + std::to_string(cpu) +
                           " runs backwards: " + std::to_string(tail.time_ns) + " ns after " +
                           std::to_string(last_time_ns_[index]) + " ns");
        }
        last_time_ns_[index] = tail.time_ns;
        const std::size_t args = close + 1 + tail.args;
        const std::string_view args_text = trim_right(row.substr(args));
        time_ns_.push_back(tail.time_ns);
        cpu_.push_back(cpu);
        pid_.push_back(pid);
        comm_.push_back(comms_.intern(comm));
        event_.push_back(events_.intern(tail.event));
        const std::uint32_t flags = flag_texts_.intern(tail.flags);
        if (flags == flag_bits_.size()) flag_bits_.push_back(decode_flags(tail.flags));
        flags_.push_back(flags);
        args_begin_.push_back(static_cast<std::uint64_t>(row.data() - text_.data()) + args);
        args_length_.push_back(static_cast<std::uint32_t>(args_text.size()));
        line_.push_back(static_cast<std::uint32_t>(line));
        return true;
    }
    return false;
}

bool TraceLog::read_other(std::string_view row, std::size_t line) {
    if (row.substr(0, 10) == "version = " || row.substr(0, 5) == "cpus=") return true;
    row = trim_right(row);
    constexpr std::string_view kCpu = "CPU:";
    constexpr std::string_view kLost = " [LOST ";
    constexpr std::string_view kEvents = " EVENTS]";
    const std::size_t lost = row.find(kLost);
    if (row.substr(0, kCpu.size()) != kCpu || lost == std::string_view::npos) return false;
    if (row.size() < kEvents.size() || row.substr(row.size() - kEvents.size()) != kEvents) return false;
    LostEvents entry{line, 0, 0};
    const std::size_t count = lost + kLost.size();
    if (!read_number(row.substr(kCpu.size(), lost - kCpu.size()), entry.cpu)) return false;
    if (!read_number(row.substr(count, row.size() - kEvents.size() - count), entry.count)) return false;
    lost_.push_back(entry);
    return true;
}

void TraceLog::reject(std::string_view row, std::size_t line) {
    ++bad_row_count_;
    if (bad_rows_.size() < kMaxBadRows) bad_rows_.push_back({line, std::string{row.substr(0, 120)}});
}

}  // namespace torpor::ftrace
