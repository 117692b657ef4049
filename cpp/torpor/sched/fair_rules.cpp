// SPDX-License-Identifier: MIT
#include "torpor/sched/fair_rules.hpp"

#include <cmath>
#include <cstddef>
#include <string>

#include "torpor/base/error.hpp"
#include "torpor/sched/cpu.hpp"

namespace torpor::sched {

namespace {

constexpr std::int64_t kLongestNs = 1'000'000'000'000'000;
// Of an idle CPU, paid at each wakeup.
constexpr std::int64_t kLongestExitNs = 100'000'000'000;
// Speeds are whole numbers of 1/65536.
constexpr double kLeastShare = 0.001;

void require(bool met, const std::string& key, const std::string& value, const std::string& limit) {
    if (!met) throw ConfigError{key, value, limit};
}

void require_time(const std::string& key, std::int64_t value_ns, std::int64_t most_ns = kLongestNs) {
    require(value_ns >= 0 && value_ns <= most_ns, key, std::to_string(value_ns),
            "must be 0.." + std::to_string(most_ns));
}

void validate(const FairCpu& cpu, const std::string& key) {
    require(cpu.rate >= 1e-6 && cpu.rate <= 1024.0, key + ".rate", std::to_string(cpu.rate),
            "must be 0.000001..1024");
    require(cpu.capacity >= 1 && cpu.capacity <= 1024, key + ".capacity", std::to_string(cpu.capacity),
            "must be 1..1024");
    require(cpu.relative_freq > 0.0 && cpu.relative_freq <= 1.0, key + ".relative_freq",
            std::to_string(cpu.relative_freq), "must be above 0 and at most 1");
    require(cpu.cluster >= 0 && cpu.cluster < static_cast<int>(kMaxCpus), key + ".cluster",
            std::to_string(cpu.cluster), "must be 0.." + std::to_string(kMaxCpus - 1));
    std::int64_t before_ns = -1;
    for (const IdleExit& exit : cpu.idle_exits) {
        require_time(key + ".idle_exits.exit_ns", exit.exit_ns, kLongestExitNs);
        require_time(key + ".idle_exits.after_ns", exit.after_ns);
        require(exit.after_ns > before_ns, key + ".idle_exits.after_ns", std::to_string(exit.after_ns),
                "must ascend");
        before_ns = exit.after_ns;
    }
}

}  // namespace

void validate(const FairMachine& machine, const FairRules& rules) {
    require(!machine.cpus.empty() && machine.cpus.size() <= kMaxCpus, "cpus",
            std::to_string(machine.cpus.size()), "there must be 1.." + std::to_string(kMaxCpus) + " CPUs");
    std::size_t clusters = 0;
    for (std::size_t i = 0; i < machine.cpus.size(); ++i) {
        std::string key{"cpus["};
        key.append(std::to_string(i)).append("]");
        validate(machine.cpus[i], key);
        clusters = std::max(clusters, static_cast<std::size_t>(machine.cpus[i].cluster) + 1);
    }
    require(!rules.eas || machine.domains.size() == clusters, "domains",
            std::to_string(machine.domains.size()),
            "EAS needs one per cluster (" + std::to_string(clusters) + ")");
    for (std::size_t i = 0; i < machine.domains.size(); ++i) {
        std::string key{"domains["};
        key.append(std::to_string(i)).append("]");
        require(!machine.domains[i].points.empty(), key, "no operating points", "at least one is needed");
        double before = 0.0;
        for (const PerformanceDomain::Point& point : machine.domains[i].points) {
            require(point.capacity > before && point.capacity <= 1024.0, key + ".capacity",
                    std::to_string(point.capacity), "must ascend, above 0 and at most 1024");
            require(point.power_mw >= 0.0 && std::isfinite(point.power_mw), key + ".power_mw",
                    std::to_string(point.power_mw), "must be 0 or more");
            before = point.capacity;
        }
    }
    require_time("rules.cache_hot_ns", rules.cache_hot_ns);
    require_time("rules.slice_ns", rules.slice_ns);
    require_time("rules.wakeup_granularity_ns", rules.wakeup_granularity_ns);
    require_time("rules.tick_ns", rules.tick_ns);
    require_time("rules.cluster_exit_ns", rules.cluster_exit_ns, kLongestExitNs);
    require(rules.shared_cpus == 0.0 || (rules.shared_cpus >= 0.01 && rules.shared_cpus <= 8192.0),
            "rules.shared_cpus", std::to_string(rules.shared_cpus), "must be 0, or 0.01..8192");
    const auto cpus = static_cast<double>(machine.cpus.size());
    require(rules.shared_cpus == 0.0 || rules.shared_cpus >= cpus * kLeastShare, "rules.shared_cpus",
            std::to_string(rules.shared_cpus),
            "must be 0, or at least a thousandth of the " + std::to_string(machine.cpus.size()) + " CPUs");
}

}  // namespace torpor::sched
