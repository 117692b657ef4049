// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

namespace torpor::ftrace {

/// What the flag column of a row says about the context in which the event was written. The letters are those
/// of the kernel's latency format; a text without the column (trace-cmd report) has no bit set.
enum RowFlag : std::uint16_t {
    kIrqsOff = 1U << 0U,
    kBottomHalfOff = 1U << 1U,
    kNeedResched = 1U << 2U,
    kHardirq = 1U << 3U,
    kSoftirq = 1U << 4U,
    kNmi = 1U << 5U,
    kPreemptOff = 1U << 6U,
    kMigrateOff = 1U << 7U,
};

/// Any interrupt context.
inline constexpr std::uint16_t kInterrupt = kHardirq | kSoftirq | kNmi;

/// Decodes the column by position: interrupts, rescheduling, context, preemption depth, migration depth.
/// Unknown letters set nothing: newer kernels keep adding some.
std::uint16_t decode_flags(std::string_view text);

}  // namespace torpor::ftrace
