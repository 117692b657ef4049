// SPDX-License-Identifier: MIT
#include "torpor/idle/decisions.hpp"

#include <string>

#include "torpor/base/error.hpp"
#include "torpor/idle/with_governor.hpp"

namespace torpor::idle {

namespace {

template <class T>
T value_at(std::span<const T> column, std::size_t row, T fallback) {
    return column.empty() ? fallback : column[row];
}

[[noreturn]] void reject(const std::string& column, std::size_t row, const std::string& value,
                         const std::string& allowed) {
    throw ConfigError{"row " + std::to_string(row) + ", column " + column,
                      value + " is out of range; it must be " + allowed};
}

template <class T>
void require(const char* name, std::span<const T> column, std::int64_t low, std::int64_t high) {
    for (std::size_t row = 0; row < column.size(); ++row) {
        const auto value = static_cast<std::int64_t>(column[row]);
        if (value < low || value > high) {
            reject(name, row, std::to_string(value), std::to_string(low) + ".." + std::to_string(high));
        }
    }
}

void require_length(const char* name, std::size_t length, std::size_t rows, bool may_be_empty) {
    if (length == rows || (length == 0 && may_be_empty)) return;
    throw ConfigError{name,
                      "has " + std::to_string(length) + " rows, but sleep_ns has " + std::to_string(rows)};
}

template <Governor G>
void run(G governor, const StateTable& table, const DecisionColumns& columns,
         const DecisionAnswers& answers) {
    Device device;
    std::uint64_t now_ns = 0;  // wraps with absurd spans
    for (std::size_t row = 0; row < columns.sleep_length_ns.size(); ++row) {
        const SelectInput input{
            .sleep_length_ns = columns.sleep_length_ns[row],
            .next_event_ns = columns.next_event_ns[row],
            .now_ns = static_cast<std::int64_t>(now_ns),
            .latency_limit_us = value_at(columns.latency_limit_us, row, kNoLatencyLimitUs),
            .iowait = value_at(columns.iowait, row, 0u),
            .load = value_at(columns.load, row, 0u),
            .disabled = value_at(columns.disabled, row, 0u),
            .tick_stopped = value_at(columns.tick_stopped, row, std::uint8_t{0}) != 0,
        };
        const Selection selection = governor.select(input, device);
        answers.state[row] = selection.state;
        answers.stop_tick[row] = selection.stop_tick ? 1 : 0;
        if (!answers.inspections.empty()) answers.inspections[row] = governor.inspect();

        const std::int32_t entered = value_at(columns.entered, row, kEnterSelected);
        if (entered == kEnterRefused) {
            refuse_entry(device);
            continue;
        }
        const std::uint64_t residency_ns = columns.residency_ns[row];
        now_ns += columns.span_ns.empty() ? residency_ns : static_cast<std::uint64_t>(columns.span_ns[row]);
        finish_period(governor, device, table, entered == kEnterSelected ? selection.state : entered,
                      residency_ns, value_at(columns.tick_wakeup, row, std::uint8_t{0}) != 0,
                      value_at(columns.poll_limit_hit, row, std::uint8_t{0}) != 0,
                      static_cast<std::int64_t>(now_ns));
    }
}

}  // namespace

void validate(const DecisionColumns& columns, const StateTable& table) {
    const std::size_t rows = columns.sleep_length_ns.size();
    require_length("tick_ns", columns.next_event_ns.size(), rows, false);
    require_length("stopped", columns.tick_stopped.size(), rows, true);
    require_length("lat_us", columns.latency_limit_us.size(), rows, true);
    require_length("iowait", columns.iowait.size(), rows, true);
    require_length("load", columns.load.size(), rows, true);
    require_length("dis", columns.disabled.size(), rows, true);
    require_length("span_ns", columns.span_ns.size(), rows, true);
    require_length("resid_ns", columns.residency_ns.size(), rows, false);
    require_length("got_tick", columns.tick_wakeup.size(), rows, true);
    require_length("poll_to", columns.poll_limit_hit.size(), rows, true);
    require_length("enter", columns.entered.size(), rows, true);
    require("stopped", columns.tick_stopped, 0, 1);
    require("lat_us", columns.latency_limit_us, 0, std::numeric_limits<std::int32_t>::max());
    require("got_tick", columns.tick_wakeup, 0, 1);
    require("poll_to", columns.poll_limit_hit, 0, 1);
    require("enter", columns.entered, kEnterRefused, table.count() - 1);
}

void decide(const Policy& policy, const StateTable& table, const TickLength& tick,
            const DecisionColumns& columns, const DecisionAnswers& answers) {
    validate(columns, table);
    const std::size_t rows = columns.sleep_length_ns.size();
    require_length("state", answers.state.size(), rows, false);
    require_length("stop_tick", answers.stop_tick.size(), rows, false);
    require_length("inspections", answers.inspections.size(), rows, true);
    with_governor(policy, table, tick, [&](auto governor) { run(governor, table, columns, answers); });
}

}  // namespace torpor::idle
