// SPDX-License-Identifier: MIT
#include "torpor/ftrace/row_flags.hpp"

namespace torpor::ftrace {

std::uint16_t decode_flags(std::string_view text) {
    unsigned bits = 0;
    const auto at = [&](std::size_t i) { return i < text.size() ? text[i] : '.'; };
    switch (at(0)) {
        case 'd':
            bits |= kIrqsOff;
            break;
        case 'b':
            bits |= kBottomHalfOff;
            break;
        case 'D':
            bits |= kIrqsOff | kBottomHalfOff;
            break;
        default:
            break;
    }
    switch (at(1)) {
        case 'N':  // both the task's flag and the preempt count's
        case 'n':
        case 'p':
        case 'B':  // lazy rescheduling pending as well
        case 'b':
        case 'L':
        case 'l':
            bits |= kNeedResched;
            break;
        default:
            break;
    }
    switch (at(2)) {
        case 'h':
            bits |= kHardirq;
            break;
        case 's':
            bits |= kSoftirq;
            break;
        case 'H':
            bits |= kHardirq | kSoftirq;
            break;
        case 'z':
            bits |= kNmi;
            break;
        case 'Z':
            bits |= kNmi | kHardirq;
            break;
        default:
            break;
    }
    const auto depth = [](char c) { return (c >= '1' && c <= '9') || (c >= 'a' && c <= 'f'); };
    if (depth(at(3))) bits |= kPreemptOff;
    if (depth(at(4))) bits |= kMigrateOff;
    return static_cast<std::uint16_t>(bits);
}

}  // namespace torpor::ftrace
