// SPDX-License-Identifier: MIT
#include "torpor/idle/replay/closed_loop.hpp"

#include <utility>

#include "torpor/idle/with_governor.hpp"

namespace torpor::idle {

namespace {

std::int64_t median(std::vector<std::int64_t>& values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

}  // namespace

LoopCosts measure_costs(const TraceWalk& walk, const WalkOptions& options) {
    std::vector<std::int64_t> to_entry;
    std::vector<std::int64_t> to_entry_stop;
    std::vector<std::int64_t> tick_delay;
    std::vector<std::int64_t> to_idle_entry;
    const std::int64_t tick_ns = options.tick.ns;
    for (const CpuTrace& cpu : walk.cpus) {
        for (std::size_t i = 0; i < cpu.decisions.size(); ++i) {
            const TraceDecision& decision = cpu.decisions[i];
            const bool polled_before = i > 0 && cpu.decisions[i - 1].polls_to_limit();
            if (!polled_before) {
                (decision.stops_tick() ? to_entry_stop : to_entry)
                    .push_back(decision.entry_ns - decision.idle_entry_ns);
            }
            if (decision.cause == kCauseTick && decision.end == PeriodEnd::loop) {
                const std::int64_t grid_ns = decision.entry_ns - decision.entry_ns % tick_ns + tick_ns;
                if (decision.exit_ns >= grid_ns) tick_delay.push_back(decision.exit_ns - grid_ns);
            }
            if (decision.end == PeriodEnd::loop && !decision.polls && i + 1 < cpu.decisions.size()) {
                to_idle_entry.push_back(cpu.decisions[i + 1].idle_entry_ns - decision.exit_ns);
            }
        }
    }
    return {median(to_entry), median(to_entry_stop), median(tick_delay), median(to_idle_entry),
            options.line_cost_ns};
}

std::vector<ClosedCpu> replay_closed(const TraceWalk& walk, const std::map<int, StateTable>& tables,
                                     const TickLength& tick, const Policy& policy, const ReplayRules& rules,
                                     const LoopCosts& costs, const PowerByCpu& powers) {
    std::vector<ClosedCpu> result;
    for (const CpuTrace& cpu : walk.cpus) {
        const StateTable& table = tables.at(cpu.cpu);
        const std::int64_t poll_limit_ns = PollLimit{poll_rule(policy)}.ns(table, 0, tick);
        const int first_state = cpu.decisions.empty() ? 0 : cpu.decisions.front().state;
        const auto run = [&]<class G>(const G& governor) {
            return ClosedLoop<ClosedPolicy<G>>{
                cpu,           table, tick, ClosedPolicy<G>{governor, first_state}, tick_loop(policy),
                poll_limit_ns, rules, costs}
                .run();
        };
        if (is_bound(policy)) {
            const auto known = powers.find(cpu.cpu);
            const auto power = known == powers.end() ? std::optional<ClusterPower>{} : known->second;
            const auto* delayed = std::get_if<DelayedOracle>(&policy);
            const std::int64_t limit_us =
                delayed != nullptr ? delayed->latency_limit_us : std::get<Oracle>(policy).latency_limit_us;
            result.push_back(run(OracleChooser{
                table, power, {}, limit_us, delayed != nullptr ? delayed->delay_us * 1000 : 0}));
        } else {
            result.push_back(with_governor(policy, table, tick, run));
        }
    }
    return result;
}

std::vector<ClosedCpu> recorded_periods(const TraceWalk& walk) {
    std::vector<ClosedCpu> result;
    for (const CpuTrace& cpu : walk.cpus) {
        ClosedCpu recorded;
        recorded.tick_stops = cpu.tick_stops;
        for (const TraceDecision& decision : cpu.decisions) {
            WakeKind wake = WakeKind::outside;
            if (!ends_outside(decision))
                wake = decision.polls_to_limit() ? WakeKind::poll_limit : WakeKind::tick;
            recorded.periods.push_back({decision.entry_ns, decision.exit_ns, decision.residency_ns,
                                        decision.state, wake, true, was_awaited(decision)});
        }
        result.push_back(std::move(recorded));
    }
    return result;
}

}  // namespace torpor::idle
