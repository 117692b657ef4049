// SPDX-License-Identifier: MIT
#include "torpor/dpm/bounds.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include "torpor/base/error.hpp"

namespace torpor::dpm {

namespace {

std::size_t slot(std::int32_t device) {
    return static_cast<std::size_t>(device);
}

/// Longest path that ends with each device's `lengths`; suspend goes against the order of the list.
template <class Free>
void longest_paths(const Graph& graph, bool resume, const std::vector<std::int64_t>& lengths,
                   const Free& is_free, std::vector<std::int64_t>& ends) {
    ends.assign(lengths.size(), 0);
    const std::int32_t count = graph.size();
    const auto after = [&](std::int32_t device, std::int32_t before) {
        ends[slot(device)] = std::max(ends[slot(device)], ends[slot(before)]);
    };
    for (std::int32_t i = 0; i < count; ++i) {
        const std::int32_t device = resume ? i : count - 1 - i;
        if (resume && !is_free(device)) {
            if (graph.parent[slot(device)] != kNoDevice) after(device, graph.parent[slot(device)]);
            for (const std::int32_t supplier : graph.suppliers[device]) after(device, supplier);
        }
        if (!resume && is_free(device)) ends[slot(device)] = 0;
        ends[slot(device)] += lengths[slot(device)];
        if (resume) continue;
        if (graph.parent[slot(device)] != kNoDevice) after(graph.parent[slot(device)], device);
        for (const std::int32_t supplier : graph.suppliers[device]) after(supplier, device);
    }
}

/// Of each of so many busy CPUs.
double speed_of(const sched::FairRules& rules, double busy) {
    return rules.shared_cpus > 0.0 ? std::min(1.0, rules.shared_cpus / busy) : 1.0;
}

}  // namespace

CallbackLength length_of(std::span<const Segment> segments, double factor, std::int64_t tick_ns) {
    CallbackLength length;
    for (const Segment& segment : segments) {
        switch (segment.kind) {
            case SegmentKind::cpu:
                length.scaled_ns += scaled_by(segment.first, factor);
                length.fixed_ns += scaled_by(segment.second, factor);
                break;
            case SegmentKind::sleep:
                length.asleep_ns += scaled_by(segment.first, factor);
                break;
            case SegmentKind::tick_sleep:
                length.asleep_ns += std::max<std::int64_t>(segment.first - 1, 0) * tick_ns;
                break;
            case SegmentKind::range_sleep:
                length.asleep_ns += segment.first;
                break;
            case SegmentKind::lock:
            case SegmentKind::unlock:
                break;
        }
    }
    return length;
}

PhaseBounds::PhaseBounds(const sched::FairMachine& machine, const sched::FairRules& rules,
                         std::int64_t tick_ns)
    : rates_{0.0}, tick_ns_{tick_ns} {
    std::vector<double> rates;
    for (const sched::FairCpu& cpu : machine.cpus) rates.push_back(cpu.rate);
    std::sort(rates.rbegin(), rates.rend());
    fastest_ = rates.front();
    slowest_ = rates.back();
    if (rules.shared_cpus > 0.0) longest_ns_ = kLongestSharedNs;
    // Of CPUs that share their capacity a few fast ones may do more than all at a lower speed.
    double sum = 0.0;
    double count = 0.0;
    for (const double rate : rates) {
        sum += rate;
        count += 1.0;
        rates_ = std::max(rates_, sum * speed_of(rules, count));
    }
    cpus_ = count * speed_of(rules, count);
}

void PhaseBounds::begin(const Graph& graph) {
    lengths_.assign(graph.names.size(), 0);
    free_.assign(graph.names.size(), 0);
    holds_.assign(graph.locks.size(), 0);
    scaled_ns_ = 0;
    held_ns_ = 0;
    sum_ns_ = 0;
    at_most_ns_ = 0.0;
}

void PhaseBounds::add(std::int32_t device, std::span<const Segment> segments, double factor) {
    for (const Segment& segment : segments) {
        const bool runs = segment.kind == SegmentKind::cpu;
        const bool ticks = segment.kind == SegmentKind::tick_sleep;
        at_most_ns_ += static_cast<double>(segment.first) * (runs ? factor / slowest_ : factor) *
                       (ticks ? static_cast<double>(tick_ns_) : 1.0);
        at_most_ns_ += static_cast<double>(segment.second) * factor;
    }
    if (!(at_most_ns_ <= longest_ns_)) {
        throw ModelError{"the callbacks of one phase take too long: together more than " +
                         std::to_string(static_cast<std::int64_t>(longest_ns_ / 3.6e12)) +
                         " hours on the slowest CPU"};
    }
    const CallbackLength length = length_of(segments, factor, tick_ns_);
    const std::int64_t cpu_ns = on_fastest(length.scaled_ns) + length.fixed_ns;
    lengths_[slot(device)] = cpu_ns + length.asleep_ns;
    scaled_ns_ += length.scaled_ns;
    held_ns_ += cpu_ns;
    sum_ns_ += lengths_[slot(device)];
    for (std::size_t i = 0; i < segments.size(); ++i) {
        if (segments[i].kind != SegmentKind::lock) continue;
        std::size_t end = i + 1;
        while (segments[end].kind != SegmentKind::unlock || segments[end].first != segments[i].first) ++end;
        const CallbackLength held = length_of(segments.subspan(i, end - i), factor, tick_ns_);
        holds_[static_cast<std::size_t>(segments[i].first)] +=
            on_fastest(held.scaled_ns) + held.fixed_ns + held.asleep_ns;
    }
}

void PhaseBounds::waits_for_nothing(std::int32_t device) {
    free_[slot(device)] = 1;
}

Bounds PhaseBounds::finish(const Graph& graph, bool resume, std::int64_t queue_calls_of_main,
                           std::int64_t queue_ns) {
    longest_paths(
        graph, resume, lengths_, [&](std::int32_t device) { return free_[slot(device)] != 0; }, ends_);
    Bounds bounds;
    for (const std::int64_t end_ns : ends_) bounds.cp_ns = std::max(bounds.cp_ns, end_ns);
    bounds.w_ns = std::max(static_cast<std::int64_t>(static_cast<double>(scaled_ns_) / rates_),
                           static_cast<std::int64_t>(static_cast<double>(held_ns_) / cpus_));
    bounds.ovh_ns = on_fastest(queue_calls_of_main * queue_ns);
    for (const std::int64_t hold_ns : holds_) bounds.sh_ns = std::max(bounds.sh_ns, hold_ns);
    bounds.sum_ns = sum_ns_;
    return bounds;
}

std::vector<std::int64_t> critical_path_priorities(const Graph& graph, Phase phase, std::int64_t tick_ns) {
    std::vector<std::int64_t> lengths(graph.names.size());
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        const CallbackLength length =
            length_of(graph.segments_of(graph.callbacks[index_of(phase)][i]), 1.0, tick_ns);
        lengths[i] = length.scaled_ns + length.fixed_ns + length.asleep_ns;
    }
    std::vector<std::int64_t> ends;
    // From the end of the phase backwards is the other direction of the list.
    longest_paths(
        graph, !is_resume_type(phase), lengths, [](std::int32_t) { return false; }, ends);
    return ends;
}

}  // namespace torpor::dpm
