// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "torpor/sched/load_signal.hpp"
#include "torpor/sched/scheduler.hpp"

// What the fair scheduler keeps of its entities and CPUs, and their utilisation.
namespace torpor::sched {

/// One cache line, since every wakeup of another entity begins with it.
struct alignas(64) FairEntity {
    enum class State : std::uint8_t { blocked, ready, running };

    double load{0.0};  // on the load clock
    std::int64_t owed_ns{0};
    std::int64_t left_scaled_ns{0};  // of a piece that was interrupted
    std::int64_t left_fixed_ns{0};
    std::int64_t ran_until_ns{std::numeric_limits<std::int64_t>::min() / 2};
    int cpu{0};  // on which it runs or ran last
    State state{State::blocked};
    bool woken{false};
    bool paying{false};  // was preempted while it paid
    bool migrated{false};
    bool pinned{false};  // to its CPU
};

struct FairCpuState {
    Entity current{kNobody};
    Entity last{kNobody};
    bool paying{false};             // its entity pays for what it did before it waits
    bool leaves{false};             // to whoever is ready, as soon as its step is over
    bool waking{false};             // it leaves idle: its entity has not come to its first instruction
    std::int64_t since_ns{0};       // start of the current run, after the idle exit
    std::int64_t piece_from_ns{0};  // start of the current piece
    std::int64_t scaled_ns{0};      // of the current piece
    std::int64_t fixed_ns{0};
    std::int64_t length_ns{0};
    std::int64_t idle_since_ns{0};
    std::int64_t busy_ns{0};
    double load{0.0};         // on the load clock
    double load_before{0.0};  // that counts while it leaves idle
    double approaches{0.0};   // the utilisation that it approaches: `target` while it runs, else 0
    double target{0.0};
    double ns_per_scaled{1.0};
};

/// Utilisation of entities and CPUs.
class FairLoads {
  public:
    /// All numbers count from now.
    void begin(std::int64_t now_ns) { clock_.begin(now_ns); }
    double factor(std::int64_t now_ns) { return clock_.factor(now_ns); }

    double of(const FairCpuState& cpu, std::int64_t now_ns) {
        const double factor = clock_.factor(now_ns);
        if (now_ns < cpu.since_ns) return std::max(cpu.load_before * factor, 0.0);
        return std::max(cpu.load * factor + cpu.approaches, 0.0);
    }
    /// Of an entity on, or last on, a CPU.
    double of(const FairEntity& entity, const FairCpuState& cpu, std::int64_t now_ns) {
        const double factor = clock_.factor(now_ns);
        double load = entity.load * factor;
        if (entity.state == FairEntity::State::running) {
            // While its CPU leaves idle, what begin_run() has taken off is not there to be approached yet.
            load += now_ns >= cpu.since_ns ? cpu.target : cpu.target * factor / later_factor(cpu.since_ns);
        }
        return std::max(load, 0.0);
    }

    /// An entity has got a CPU and runs from its `since_ns` on.
    void begin_run(FairCpuState& cpu, FairEntity& entity, std::int64_t now_ns) {
        clock_.factor(now_ns);
        const double change = cpu.target / later_factor(cpu.since_ns);
        cpu.load_before = cpu.load;
        cpu.approaches = cpu.target;
        cpu.load -= change;
        entity.load -= change;
    }
    /// It leaves it.
    void end_run(FairCpuState& cpu, FairEntity& entity, std::int64_t now_ns) {
        clock_.factor(now_ns);
        const double change = cpu.target / later_factor(std::max(now_ns, cpu.since_ns));
        cpu.approaches = 0.0;
        cpu.load += change;
        entity.load += change;
    }

    bool is_stale(std::int64_t now_ns) const { return clock_.is_stale(now_ns); }
    void renew(std::int64_t now_ns, std::vector<FairCpuState>& cpus, std::vector<FairEntity>& entities) {
        const double factor = clock_.factor(now_ns);
        for (FairEntity& each : entities) each.load *= factor;
        for (FairCpuState& each : cpus) {
            each.load *= factor;
            each.load_before *= factor;
        }
        clock_.begin(now_ns);
    }

  private:
    /// Never 0, however long leaving idle takes.
    double later_factor(std::int64_t at_ns) const { return std::max(clock_.ahead(at_ns), 1e-18); }

    LoadClock clock_;
};

}  // namespace torpor::sched
