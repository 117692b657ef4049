// SPDX-License-Identifier: MIT
#include "torpor/idle/model.hpp"

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "torpor/base/distributions.hpp"
#include "torpor/base/error.hpp"
#include "torpor/engine/cancellation.hpp"
#include "torpor/engine/event_queue.hpp"
#include "torpor/idle/cpu_loop.hpp"
#include "torpor/idle/energy.hpp"
#include "torpor/idle/oracle.hpp"
#include "torpor/idle/with_governor.hpp"

namespace torpor::idle {

class Model::Loop {
  public:
    Loop() = default;
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;
    virtual ~Loop() = default;
    virtual Result run(StreamKey key, const std::stop_token& stop, engine::TimelineSink* sink) = 0;
};

namespace {

/// A scenario and what follows from it, shared by the CPUs of a model.
struct World {
    World(const Scenario& given, const Policy& policy)
        : scenario{given},
          tick_length{given.board.tick_hz},
          loop{tick_loop(policy)},
          poll_limit{poll_rule(policy)} {
        for (const board::Cluster& cluster : scenario.board.clusters)
            tables.push_back(StateTable::of(cluster));
        for (int cpu = 0; cpu < scenario.board.cpu_count(); ++cpu) {
            cluster_of.push_back(
                static_cast<std::size_t>(&scenario.board.cluster_of(cpu) - scenario.board.clusters.data()));
        }
    }

    const StateTable& table(int cpu) const { return tables[cluster_of[static_cast<std::size_t>(cpu)]]; }

    Scenario scenario;
    TickLength tick_length;
    TickLoop loop;
    PollLimit poll_limit;
    std::vector<StateTable> tables;
    std::vector<std::size_t> cluster_of;
};

/// The queue holds one event per CPU, its next entry or its next wake-up, so the ledger sees them in time
/// order. While one CPU's next event is the earliest of all, it is played without touching the queue.
template <class P>
class PolicyLoop final : public Model::Loop {
  public:
    /// `bound_limit_us` is the latency limit of a bound's own.
    template <class MakePolicy>
    PolicyLoop(std::unique_ptr<const World> world, const MakePolicy& make_policy,
               std::int64_t bound_limit_us = kNoLatencyLimitUs)
        : world_{std::move(world)},
          ledger_{world_->scenario.board, world_->scenario.opps,
                  CpuLoop<P>::kIsBound ? Coordination::hindsight : Coordination::firmware,
                  world_->scenario.disabled, std::min(world_->scenario.latency_limit_us, bound_limit_us)} {
        for (int cpu = 0; cpu < world_->scenario.board.cpu_count(); ++cpu) {
            cpus_.emplace_back(world_->scenario, cpu, world_->table(cpu), make_policy(cpu),
                               world_->tick_length, world_->loop, world_->poll_limit);
        }
        queue_.reserve(cpus_.size());
    }

    Result run(StreamKey key, const std::stop_token& stop, engine::TimelineSink* sink) override {
        engine::StopCheck stop_check{stop};
        start(key, sink, stop_check);
        while (!queue_.empty()) {
            const auto event = queue_.pop();
            auto [cpu, asleep] = event.payload;
            std::int64_t now_ns = to_ns(event.at);
            while (true) {
                now_ns = step(cpu, asleep, now_ns);
                asleep = !asleep;
                if (now_ns == kNoTimer) break;
                if (queue_.next_time() <= time_from_ns(now_ns)) {
                    queue_.schedule(time_from_ns(now_ns), {cpu, asleep});
                    break;
                }
            }
        }
        ledger_.finish(world_->scenario.duration_ns);
        return collect();
    }

  private:
    struct Step {
        int cpu;
        bool asleep;
    };

    CpuLoop<P>& at(int cpu) { return cpus_[static_cast<std::size_t>(cpu)]; }
    int cpu_count() const { return static_cast<int>(cpus_.size()); }

    void start(StreamKey key, engine::TimelineSink* sink, engine::StopCheck& stop_check) {
        queue_.clear();
        ledger_.reset(0);
        std::int64_t phase_ns = 0;
        if (world_->scenario.tick_phase_ns) {
            phase_ns = *world_->scenario.tick_phase_ns;
        } else {
            RandomStream stream{key, "tick/phase"};
            phase_ns = UniformInt{0, world_->tick_length.ns - 1}(stream);
        }
        for (int cpu = 0; cpu < cpu_count(); ++cpu) {
            at(cpu).reset(key, phase_ns, sink, stop_check);
            queue_.schedule(time_from_ns(at(cpu).select()), {cpu, false});
        }
    }

    /// Plays one event of a CPU; returns the time of its next, kNoTimer when it has none within the run.
    std::int64_t step(int cpu, bool asleep, std::int64_t now_ns) {
        const std::int64_t duration_ns = world_->scenario.duration_ns;
        CpuLoop<P>& loop = at(cpu);
        if (!asleep) {
            if (now_ns < duration_ns) ledger_.enter(cpu, loop.state(), now_ns);
            return loop.sleep();
        }
        if (now_ns < duration_ns) ledger_.leave(cpu, now_ns);
        loop.wake();
        return loop.now_ns() < duration_ns ? loop.select() : kNoTimer;
    }

    Result collect() {
        Result result;
        all_latencies_ns_.clear();
        for (int cpu = 0; cpu < cpu_count(); ++cpu) {
            CpuLoop<P>& loop = at(cpu);
            const std::vector<std::int64_t>& latencies_ns = loop.latencies_ns();
            all_latencies_ns_.insert(all_latencies_ns_.end(), latencies_ns.begin(), latencies_ns.end());
            result.cpus.push_back(loop.result(ledger_.cpu_mj(cpu)));
        }
        for (std::size_t c = 0; c < world_->scenario.board.clusters.size(); ++c) {
            result.cluster_off_ns.push_back(ledger_.cluster_off_ns(static_cast<int>(c)));
        }
        result.energy_mj = ledger_.total_mj();
        result.latency = LatencySummary::of(all_latencies_ns_);
        return result;
    }

    std::unique_ptr<const World> world_;
    EnergyLedger ledger_;
    engine::EventQueue<Step> queue_;
    std::vector<CpuLoop<P>> cpus_;
    std::vector<std::int64_t> all_latencies_ns_;
};

/// The policy's governor on a table of its own; a policy makes the same type of governor whatever the table.
template <class G>
G governor_of(const Policy& policy, const StateTable& table, const TickLength& tick) {
    return with_governor(policy, table, tick, []<class Made>(Made&& made) -> G {
        if constexpr (std::same_as<Made, G>) {
            return std::move(made);
        } else {
            throw InternalError{"one policy made governors of two types"};
        }
    });
}

OracleChooser make_bound(const World& world, int cpu, std::int64_t latency_limit_us, std::int64_t delay_us) {
    const std::size_t c = world.cluster_of[static_cast<std::size_t>(cpu)];
    const board::Cluster& cluster = world.scenario.board.clusters[c];
    std::vector<std::int64_t> wake_ns;
    for (const board::IdleState& state : cluster.idle_states) wake_ns.push_back(to_ns(state.wake_latency));
    return OracleChooser{world.tables[c], ClusterPower::make(cluster, world.scenario.opps[c]), wake_ns,
                         latency_limit_us, delay_us * 1000};
}

std::unique_ptr<Model::Loop> make_loop(const Scenario& scenario, const Policy& policy) {
    validate(scenario);
    validate(policy);
    auto world = std::make_unique<const World>(scenario, policy);
    for (const StateTable& table : world->tables) validate(policy, table);
    const World& shared = *world;
    const auto bound = [&](std::int64_t latency_limit_us, std::int64_t delay_us) {
        const auto make = [&](int cpu) { return make_bound(shared, cpu, latency_limit_us, delay_us); };
        return std::make_unique<PolicyLoop<OracleChooser>>(std::move(world), make, latency_limit_us);
    };
    if (const auto* oracle = std::get_if<Oracle>(&policy)) return bound(oracle->latency_limit_us, 0);
    if (const auto* delayed = std::get_if<DelayedOracle>(&policy)) {
        return bound(delayed->latency_limit_us, delayed->delay_us);
    }
    return with_governor(policy, shared.tables.front(), shared.tick_length,
                         [&]<class G>(G&&) -> std::unique_ptr<Model::Loop> {
                             return std::make_unique<PolicyLoop<G>>(std::move(world), [&](int cpu) {
                                 return governor_of<G>(policy, shared.table(cpu), shared.tick_length);
                             });
                         });
}

}  // namespace

Model::Model(const Scenario& scenario, const Policy& policy) : loop_{make_loop(scenario, policy)} {}
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::~Model() = default;

Result Model::run(StreamKey key, const std::stop_token& stop, engine::TimelineSink* sink) {
    return loop_->run(key, stop, sink);
}

}  // namespace torpor::idle
