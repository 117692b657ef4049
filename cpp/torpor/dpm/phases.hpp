// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace torpor::dpm {

/// The phases of one cycle, in their order. Suspend-type phases (suspend, suspend_late, suspend_noirq) walk
/// the device list from its tail and wait for children and consumers; resume-type phases (resume_noirq,
/// resume_early, resume) walk it from its head and wait for the parent and suppliers. prepare walks from the
/// head, complete from the tail; both are never asynchronous and wait for nothing. (Linux 6.1)
enum class Phase : std::uint8_t {
    prepare,
    suspend,
    suspend_late,
    suspend_noirq,
    resume_noirq,
    resume_early,
    resume,
    complete,
};

inline constexpr std::size_t kPhases = 8;

inline constexpr std::array<std::string_view, kPhases> kPhaseNames{
    "prepare",      "suspend",      "suspend_late", "suspend_noirq",
    "resume_noirq", "resume_early", "resume",       "complete"};

constexpr std::size_t index_of(Phase phase) {
    return static_cast<std::size_t>(phase);
}
constexpr std::string_view name_of(Phase phase) {
    return kPhaseNames[index_of(phase)];
}
constexpr bool is_middle(Phase phase) {
    return phase != Phase::prepare && phase != Phase::complete;
}
/// suspend, suspend_late, suspend_noirq.
constexpr bool is_suspend_type(Phase phase) {
    return phase >= Phase::suspend && phase <= Phase::suspend_noirq;
}
/// resume_noirq, resume_early, resume.
constexpr bool is_resume_type(Phase phase) {
    return phase >= Phase::resume_noirq && phase <= Phase::resume;
}
/// Whether a phase belongs to the way down; the other half is the way up.
constexpr bool is_suspend_side(Phase phase) {
    return phase <= Phase::suspend_noirq;
}

}  // namespace torpor::dpm
