// SPDX-License-Identifier: MIT
#include "torpor/sched/cpu.hpp"

#include <algorithm>
#include <string>

#include "torpor/base/distributions.hpp"
#include "torpor/base/error.hpp"

namespace torpor::sched {

namespace {

__extension__ using Wide = __int128;

std::string element(const std::string& array, std::size_t index) {
    return array + "[" + std::to_string(index) + "]";
}

const board::Opp& opp_of(const board::Cluster& cluster, std::size_t index, const std::string& key) {
    if (cluster.opps.empty()) {
        throw ConfigError{key, std::to_string(index),
                          "cluster '" + cluster.name + "' has no operating points to choose from"};
    }
    if (index >= cluster.opps.size()) {
        throw ConfigError{key, std::to_string(index),
                          "cluster '" + cluster.name + "' has operating points 0.." +
                              std::to_string(cluster.opps.size() - 1)};
    }
    return cluster.opps[index];
}

}  // namespace

std::vector<Cpu> cpus_of(const board::Board& board, const std::vector<std::size_t>& opps) {
    if (opps.size() != board.clusters.size()) {
        throw ConfigError{"opps", std::to_string(opps.size()) + " entries",
                          "one per cluster is needed (" + std::to_string(board.clusters.size()) + ")"};
    }
    const auto& clusters = board.clusters;
    const auto biggest = std::max_element(clusters.begin(), clusters.end(), [](const auto& a, const auto& b) {
        return a.capacity < b.capacity;
    });
    std::vector<Cpu> cpus(static_cast<std::size_t>(board.cpu_count()));
    for (std::size_t c = 0; c < opps.size(); ++c) {
        const board::Cluster& cluster = clusters[c];
        const std::int64_t freq_hz = opp_of(cluster, opps[c], element("opps", c)).frequency.in_hz();
        const Wide work = Wide{freq_hz} * cluster.capacity * biggest->opps.back().frequency.in_hz();
        const Wide per = Wide{biggest->capacity} * cluster.opps.back().frequency.in_hz();
        for (const int cpu : cluster.cpus) {
            cpus.at(static_cast<std::size_t>(cpu)) = {freq_hz, cluster.capacity, static_cast<int>(c), 0,
                                                      static_cast<std::int64_t>((work + per / 2) / per)};
        }
    }
    return cpus;
}

void validate(const std::vector<Cpu>& cpus) {
    if (cpus.empty() || cpus.size() > kMaxCpus) {
        throw ConfigError{"cpus", std::to_string(cpus.size()),
                          "there must be 1.." + std::to_string(kMaxCpus) + " CPUs"};
    }
    const auto require = [](bool met, std::size_t cpu, const char* field, std::int64_t value,
                            const std::string& limit) {
        if (!met) throw ConfigError{element("cpus", cpu) + "." + field, std::to_string(value), limit};
    };
    const std::int64_t longest_ns = kLongestDraw.count();
    for (std::size_t i = 0; i < cpus.size(); ++i) {
        const Cpu& cpu = cpus[i];
        require(cpu.freq_hz > 0, i, "freq_hz", cpu.freq_hz, "must be above 0");
        require(cpu.work_hz >= 0, i, "work_hz", cpu.work_hz, "must be 0 or more");
        require(cpu.capacity > 0, i, "capacity", cpu.capacity, "must be above 0");
        require(cpu.cluster >= 0, i, "cluster", cpu.cluster, "must be 0 or more");
        require(cpu.wake_latency_ns >= 0 && cpu.wake_latency_ns <= longest_ns, i, "wake_latency_ns",
                cpu.wake_latency_ns, "must be 0.." + std::to_string(longest_ns));
    }
}

std::int64_t cycles_to_ns(std::int64_t cycles, std::int64_t freq_hz) {
    const Wide twice_hz = Wide{2} * freq_hz;
    const Wide ns = (Wide{cycles} * 2'000'000'000 + freq_hz) / twice_hz;
    return static_cast<std::int64_t>(std::min<Wide>(ns, kLongestDraw.count()));
}

}  // namespace torpor::sched
