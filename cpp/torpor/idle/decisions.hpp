// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "torpor/idle/governor.hpp"
#include "torpor/idle/governors/inspection.hpp"
#include "torpor/idle/policy.hpp"
#include "torpor/idle/state_table.hpp"

// Open-loop decisions: a governor is shown a recorded sequence of idle periods and answers each. Its answers
// change nothing about the inputs; that is what makes governors comparable row by row.
namespace torpor::idle {

/// `entered` of a row: the state selected was entered, or the entry was refused.
inline constexpr std::int32_t kEnterSelected = -1;
inline constexpr std::int32_t kEnterRefused = -2;

/// One sequence, a column per input. An empty column stands for its default in every row; the others have one
/// length.
struct DecisionColumns {
    std::span<const std::int64_t> sleep_length_ns;
    std::span<const std::int64_t> next_event_ns;
    std::span<const std::uint8_t> tick_stopped{};      // 0
    std::span<const std::int64_t> latency_limit_us{};  // kNoLatencyLimitUs
    std::span<const std::uint32_t> iowait{};           // 0
    std::span<const std::uint32_t> load{};             // 0
    std::span<const std::uint32_t> disabled{};         // 0
    std::span<const std::int64_t> span_ns{};  // local clock from select to reflect; default: the residency
    std::span<const std::uint64_t> residency_ns;
    std::span<const std::uint8_t> tick_wakeup{};     // 0
    std::span<const std::uint8_t> poll_limit_hit{};  // 0; counts only when a polling state is entered
    std::span<const std::int32_t> entered{};         // kEnterSelected
};

/// Where the answers go; the columns of debug figures may be empty.
struct DecisionAnswers {
    std::span<std::int32_t> state;
    std::span<std::uint8_t> stop_tick;
    std::span<Inspection> inspections{};
};

/// The idle core's bookkeeping for an entry that was refused: no reflect follows.
inline void refuse_entry(Device& device) {
    device.last_residency_ns = 0;
}

/// The idle core's bookkeeping after an idle period in `state`, then the governor's reflect.
template <Governor G>
void finish_period(G& governor, Device& device, const StateTable& table, int state,
                   std::uint64_t residency_ns, bool tick_wakeup, bool poll_limit_hit, std::int64_t now_ns) {
    device.last_residency_ns = residency_ns;
    if (table.polling(state)) device.poll_limit_hit = poll_limit_hit;
    governor.reflect(state, tick_wakeup, now_ns, device);
}

/// Throws ConfigError that names row and column when columns differ in length or a value is out of range.
void validate(const DecisionColumns& columns, const StateTable& table);

/// Runs a fresh governor of `policy` over the sequence. Throws ConfigError for a policy that is a bound or
/// does not fit the table, for bad columns, and for answers of another length.
void decide(const Policy& policy, const StateTable& table, const TickLength& tick,
            const DecisionColumns& columns, const DecisionAnswers& answers);

}  // namespace torpor::idle
