// SPDX-License-Identifier: MIT
#include "torpor/board/board.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <sstream>

#include "torpor/base/error.hpp"

namespace torpor::board {
namespace {

template <class... Parts>
std::string text(const Parts&... parts) {
    std::ostringstream out;
    out.precision(15);
    (out << ... << parts);
    return out.str();
}

double in_us(Duration duration) {
    return static_cast<double>(duration.count()) / 1000.0;
}

std::string element(const std::string& array, std::size_t index) {
    return text(array, "[", index, "]");
}

void check_name(const std::string& key, const std::string& name) {
    if (name.empty()) throw ConfigError(key, "value \"\" is empty, limit: at least one character");
    const auto plain = [](char c) { return c >= ' ' && c <= '~' && c != '[' && c != ']'; };
    if (name.size() > 64 || !std::all_of(name.begin(), name.end(), plain))
        throw ConfigError(key, "value is no name, limit: 64 printable ASCII characters without brackets");
}

// Costs are written in ns and the times of states in us, so the message speaks the unit of the file.
void check_time(const std::string& key, Duration time, bool as_ns) {
    const std::int64_t unit = as_ns ? 1 : 1000;
    const char* name = as_ns ? " ns" : " us";
    const double value = static_cast<double>(time.count()) / static_cast<double>(unit);
    if (time < Duration::zero()) throw ConfigError(key, text("value ", value, name, " is below the limit 0"));
    if (time > kMaxStateTime)
        throw ConfigError(key,
                          text("value ", value, name, " is above the limit ", kMaxStateTime.count() / unit));
}

void check_power(const std::string& key, const std::optional<Power>& power) {
    if (!power) return;
    const double mw = power->in_mw();
    if (!std::isfinite(mw)) throw ConfigError(key, text("value ", mw, " mW is not finite, limit: a number"));
    if (mw < 0.0) throw ConfigError(key, text("value ", mw, " mW is below the limit 0"));
}

// A table that knows only some of its powers would make a sum over it silently wrong.
template <class Row>
void check_all_or_none(const std::string& table, const std::vector<Row>& rows,
                       std::optional<Power> Row::*member, const char* name) {
    const auto given = static_cast<std::size_t>(std::count_if(
        rows.begin(), rows.end(), [member](const Row& row) { return (row.*member).has_value(); }));
    if (given == 0 || given == rows.size()) return;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!(rows[i].*member))
            throw ConfigError(element(table, i) + "." + name,
                              text("value missing, but ", given, " of ", rows.size(),
                                   " rows have one; limit: all rows of a table or none"));
    }
}

void check_opps(const std::string& table, const std::vector<Opp>& opps) {
    for (std::size_t i = 0; i < opps.size(); ++i) {
        const std::string key = element(table, i);
        const std::int64_t hz = opps[i].frequency.in_hz();
        const std::int64_t floor = i == 0 ? 0 : opps[i - 1].frequency.in_hz();
        if (hz <= floor)
            throw ConfigError(key + ".freq_khz",
                              text("value ", hz / 1000, " kHz must be above ",
                                   i == 0 ? "the limit " : "that of the point before it, ", floor / 1000));
        check_power(key + ".power_mw", opps[i].power);
        check_power(key + ".cluster_power_mw", opps[i].cluster_power);
    }
    check_all_or_none(table, opps, &Opp::power, "power_mw");
    check_all_or_none(table, opps, &Opp::cluster_power, "cluster_power_mw");
}

void check_rising(const std::string& key, Duration value, Duration shallower) {
    if (value < shallower)
        throw ConfigError(key, text("value ", in_us(value),
                                    " us is below that of the shallower state, limit ", in_us(shallower)));
}

void check_idle_states(const std::string& table, const std::vector<IdleState>& states) {
    if (states.empty()) throw ConfigError(table, "value has 0 states, limit: at least 1");
    if (states.size() > kMaxIdleStates)
        throw ConfigError(table, text("value has ", states.size(), " states, limit ", kMaxIdleStates));
    for (std::size_t i = 0; i < states.size(); ++i) {
        const IdleState& state = states[i];
        const std::string key = element(table, i);
        check_name(key + ".name", state.name);
        for (std::size_t j = 0; j < i; ++j) {
            if (states[j].name == state.name)
                throw ConfigError(key + ".name",
                                  text("value \"", state.name, "\" is also the name of state ", j));
        }
        check_time(key + ".entry_us", state.entry_latency, false);
        check_time(key + ".wake_latency_us", state.wake_latency, false);
        check_time(key + ".exit_latency_us", state.exit_latency, false);
        check_time(key + ".target_residency_us", state.target_residency, false);
        if (state.polling && i > 0)
            throw ConfigError(key + ".polling",
                              text("value true at index ", i, ", limit: only index 0 may poll"));
        if (i > 0) {
            check_rising(key + ".wake_latency_us", state.wake_latency, states[i - 1].wake_latency);
            check_rising(key + ".exit_latency_us", state.exit_latency, states[i - 1].exit_latency);
            check_rising(key + ".target_residency_us", state.target_residency,
                         states[i - 1].target_residency);
        }
        check_power(key + ".power_mw", state.power);
        check_power(key + ".cluster_power_mw", state.cluster_power);
        if (!state.cluster && state.cluster_power && states.front().cluster_power &&
            *state.cluster_power != *states.front().cluster_power)
            throw ConfigError(
                key + ".cluster_power_mw",
                text("value ", state.cluster_power->in_mw(),
                     ", limit: ", states.front().cluster_power->in_mw(),
                     " as in the first state, since only a state that votes the cluster down (cluster "
                     "= true) changes its power"));
    }
    check_all_or_none(table, states, &IdleState::power, "power_mw");
    check_all_or_none(table, states, &IdleState::cluster_power, "cluster_power_mw");
}

void check_cpus(const std::vector<Cluster>& clusters, int count) {
    std::vector<std::size_t> owner(static_cast<std::size_t>(count), clusters.size());
    for (std::size_t c = 0; c < clusters.size(); ++c) {
        for (std::size_t i = 0; i < clusters[c].cpus.size(); ++i) {
            const int cpu = clusters[c].cpus[i];
            const std::string key = element(element("clusters", c) + ".cpus", i);
            if (cpu < 0 || cpu >= count)
                throw ConfigError(key, text("value ", cpu, " is outside the limits 0..", count - 1,
                                            " of a board with ", count, " CPUs"));
            std::size_t& holder = owner[static_cast<std::size_t>(cpu)];
            if (holder != clusters.size())
                throw ConfigError(key, text("value ", cpu, " is already in clusters[", holder,
                                            "], limit: one cluster for each CPU"));
            holder = c;
        }
    }
}

void check_costs(const IdleCosts& costs) {
    check_time("idle_costs.select_to_entry_ns", costs.select_to_entry, true);
    check_time("idle_costs.ipi_handler_ns", costs.ipi_handler, true);
    check_time("idle_costs.timer_handler_ns", costs.timer_handler, true);
    check_time("idle_costs.tick_handler_ns", costs.tick_handler, true);
    check_time("idle_costs.interrupt_exit_ns", costs.interrupt_exit, true);
    check_time("idle_costs.reflect_ns", costs.reflect, true);
}

}  // namespace

int Board::cpu_count() const {
    std::size_t count = 0;
    for (const Cluster& cluster : clusters) count += cluster.cpus.size();
    return static_cast<int>(count);
}

const Cluster& Board::cluster_of(int cpu) const {
    for (const Cluster& cluster : clusters) {
        if (std::find(cluster.cpus.begin(), cluster.cpus.end(), cpu) != cluster.cpus.end()) return cluster;
    }
    throw ConfigError("cpu",
                      text("value ", cpu, " is outside the limits 0..", cpu_count() - 1, " of board ", name));
}

void validate(const Board& board) {
    check_name("name", board.name);
    if (board.tick_hz < 1 || board.tick_hz > 10000)
        throw ConfigError("tick.hz", text("value ", board.tick_hz, " is outside the limits 1..10000"));
    if (board.clusters.empty()) throw ConfigError("clusters", "value has 0 clusters, limit: at least 1");
    std::set<std::string> names;
    for (std::size_t c = 0; c < board.clusters.size(); ++c) {
        const Cluster& cluster = board.clusters[c];
        const std::string key = element("clusters", c);
        check_name(key + ".name", cluster.name);
        if (!names.insert(cluster.name).second)
            throw ConfigError(key + ".name",
                              text("value \"", cluster.name,
                                   "\" is taken by an earlier cluster, limit: one cluster for each name"));
        if (cluster.cpus.empty()) throw ConfigError(key + ".cpus", "value has 0 CPUs, limit: at least 1");
        if (cluster.capacity < 1 || cluster.capacity > 1024)
            throw ConfigError(key + ".capacity",
                              text("value ", cluster.capacity, " is outside the limits 1..1024"));
    }
    check_cpus(board.clusters, board.cpu_count());
    for (std::size_t c = 0; c < board.clusters.size(); ++c) {
        const std::string key = element("clusters", c);
        check_opps(key + ".opps", board.clusters[c].opps);
        check_idle_states(key + ".idle_states", board.clusters[c].idle_states);
    }
    check_costs(board.idle_costs);
}

}  // namespace torpor::board
