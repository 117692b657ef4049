// SPDX-License-Identifier: MIT
#include "torpor/idle/scenario.hpp"

#include <set>
#include <string>

#include "torpor/base/error.hpp"

namespace torpor::idle {

void validate(const Scenario& scenario) {
    board::validate(scenario.board);
    if (scenario.duration_ns <= 0 || scenario.duration_ns > kLongestTime) {
        throw ConfigError("duration_ns", std::to_string(scenario.duration_ns) + " is outside 1.." +
                                             std::to_string(kLongestTime));
    }
    const TickLength tick{scenario.board.tick_hz};
    if (scenario.tick_phase_ns && (*scenario.tick_phase_ns < 0 || *scenario.tick_phase_ns >= tick.ns)) {
        throw ConfigError("tick_phase_ns", std::to_string(*scenario.tick_phase_ns) + " is outside 0.." +
                                               std::to_string(tick.ns - 1) + " (one tick)");
    }
    if (scenario.latency_limit_us < 0 || scenario.latency_limit_us > kNoLatencyLimitUs) {
        throw ConfigError("latency_limit_us", std::to_string(scenario.latency_limit_us) + " is outside 0.." +
                                                  std::to_string(kNoLatencyLimitUs));
    }
    if (!(scenario.refusal_probability >= 0.0 && scenario.refusal_probability < 1.0)) {
        throw ConfigError("refusal_probability",
                          std::to_string(scenario.refusal_probability) + " is outside 0 <= p < 1");
    }
    const std::size_t clusters = scenario.board.clusters.size();
    if (scenario.disabled.size() != clusters || scenario.opps.size() != clusters) {
        throw ConfigError("disabled, opps",
                          "one entry per cluster is needed (" + std::to_string(clusters) + ")");
    }
    std::set<std::string> names;
    for (const Source& source : scenario.sources) {
        validate(source, scenario.board.cpu_count());
        if (!names.insert(source.name).second) {
            throw ConfigError("sources", "two sources are named '" + source.name + "'");
        }
    }
}

}  // namespace torpor::idle
