// SPDX-License-Identifier: MIT
#include "torpor/dpm/play.hpp"

#include <algorithm>
#include <limits>

namespace torpor::dpm {

Model::Play::Play(const Scenario& scenario, const Policy& policy)
    : scenario_{scenario},
      policy_{policy},
      world_{scenario_},
      scheduler_{scenario_.machine, scenario_.rules, scenario_.sched_costs, *this, events_},
      bounds_{scenario_.machine, scenario_.rules, scenario_.tick_ns} {}

Result Model::Play::run(StreamKey key, const std::stop_token& stop, engine::TimelineSink* sink) {
    begin_replicate(key);
    const std::int64_t all = scenario_.warmup_cycles + scenario_.cycles;
    const engine::StopCheck check{stop};
    for (std::int64_t cycle = 0; cycle < all; ++cycle) {
        check.check();  // short cycles have too few events to look there
        keeps_ = cycle == scenario_.warmup_cycles;
        sink_ = keeps_ ? sink : nullptr;
        run_cycle(cycle, stop);
    }
    return std::move(result_);
}

std::vector<Interval> Model::Play::intervals() const {
    return intervals_;
}

void Model::Play::begin_replicate(StreamKey key) {
    world_.draw(key);
    graph_ = &world_.graph();
    const auto count = graph_->names.size();
    async_.assign(count, 0);
    const bool is_sync = policy_.order == Order::sync;
    for (std::int32_t device = 0; device < device_count(); ++device) {
        async_[slot(device)] = policy_.order == Order::bound || (!is_sync && world_.is_async(device)) ? 1 : 0;
    }
    progress_.assign(count, 0);
    stages_.assign(count, Stage::none);
    first_waiter_.assign(count, sched::kNobody);
    last_waiter_.assign(count, sched::kNobody);
    locks_.resize(graph_->locks.size());
    result_ = {};
    main_on_ns_.assign(static_cast<std::size_t>(scheduler_.clusters()), 0);
    start_over();
}

/// As at boot: only the first workers, everything idle.
void Model::Play::start_over() {
    events_.clear();
    now_ns_ = 0;
    scheduler_.reset();
    programs_.clear();
    frames_.clear();
    spare_workers_.clear();
    tick_sleepers_.clear();
    range_sleepers_.clear();
    mutex_.clear();
    std::fill(first_waiter_.begin(), first_waiter_.end(), sched::kNobody);
    std::fill(last_waiter_.begin(), last_waiter_.end(), sched::kNobody);
    for (SharedLock& shared : locks_) shared = SharedLock{};
    queue_.reset(max_active_of(policy_, scheduler_.cpu_count()));
    programs_.reserve(graph_->names.size() + static_cast<std::size_t>(scenario_.workers.initial) + 4);
    add_program();
    scheduler_.add(scenario_.main.suspend_cpu);
    if (scenario_.main.pinned) scheduler_.pin(kMain);
    if (scenario_.workers.per_item) return;
    for (std::int64_t i = 0; i < scenario_.workers.initial; ++i) {
        const auto cpu = static_cast<int>(i % scheduler_.cpu_count());
        queue_.enter_idle(scheduler_.add(cpu));
        add_program();
    }
}

void Model::Play::run_cycle(std::int64_t cycle, const std::stop_token& stop) {
    cycle_number_ = cycle;
    cycle_began_ns_ = now_ns_;
    cycle_ = {};
    error_ = Outcome::done;
    wakeup_pending_ = false;
    std::fill(progress_.begin(), progress_.end(), std::uint16_t{0});
    std::fill(stages_.begin(), stages_.end(), Stage::none);
    if (keeps_) {
        intervals_.assign(kPhases * graph_->names.size(), Interval{});
        for (std::size_t phase = 0; phase < kPhases; ++phase) {
            for (std::int32_t device = 0; device < device_count(); ++device) {
                Interval& interval = intervals_[phase * slot(device_count()) + slot(device)];
                interval.phase = static_cast<Phase>(phase);
                interval.device = device;
            }
        }
    }
    begin_side(true);
    run_window(Phase::prepare, Phase::prepare, stop);
    if (!failed()) {
        begin_side(true);
        run_window(Phase::suspend, Phase::suspend_noirq, stop);
    }
    const Phase reached = phase_;
    end_side(true);
    begin_side(false);
    if (cycle_.outcome != Outcome::stuck && reached >= Phase::suspend) {
        const Phase first = !failed() || reached == Phase::suspend_noirq ? Phase::resume_noirq
                            : reached == Phase::suspend_late             ? Phase::resume_early
                                                                         : Phase::resume;
        run_window(first, Phase::resume, stop);
    }
    end_side(false);
    if (cycle_.outcome != Outcome::stuck) run_window(Phase::complete, Phase::complete, stop);
    if (cycle_.outcome == Outcome::stuck) start_over();
    if (cycle >= scenario_.warmup_cycles) result_.cycles.push_back(cycle_);
}

void Model::Play::begin_side(bool suspend) {
    const MainThread& main = scenario_.main;
    scheduler_.begin_window(kMain, suspend ? main.suspend_cpu : main.resume_cpu,
                            suspend ? main.suspend_utilisation : main.resume_utilisation, !suspend);
    const bool off =
        policy_.eas_off == EasOff::both || policy_.eas_off == (suspend ? EasOff::suspend : EasOff::resume);
    scheduler_.set_eas(!off);
    tick_origin_ns_ = now_ns_ - world_.since_tick_ns(suspend, cycle_number_);
    counts_before_ = scheduler_.counts();
    busy_before_ns_.clear();
    for (int cpu = 0; cpu < scheduler_.cpu_count(); ++cpu) busy_before_ns_.push_back(scheduler_.busy_ns(cpu));
    std::fill(main_on_ns_.begin(), main_on_ns_.end(), 0);
}

void Model::Play::end_side(bool suspend) {
    Side& side = suspend ? cycle_.suspend : cycle_.resume;
    const sched::FairCounts& counts = scheduler_.counts();
    side.switches = counts.switches - counts_before_.switches;
    side.switch_ins = counts.switch_ins - counts_before_.switch_ins;
    side.wakeups = counts.wakeups - counts_before_.wakeups;
    side.migrations = counts.migrations - counts_before_.migrations;
    side.ns = 0;
    const auto first = index_of(suspend ? Phase::suspend : Phase::resume_noirq);
    for (std::size_t phase = first; phase < first + 3; ++phase) side.ns += cycle_.phases[phase].ns;
    if (cycle_number_ < scenario_.warmup_cycles) return;
    std::vector<std::int64_t> busy_ns(main_on_ns_.size());
    std::vector<double> cpus(main_on_ns_.size());
    for (std::size_t i = 0; i < busy_before_ns_.size(); ++i) {
        const auto cluster = static_cast<std::size_t>(scenario_.machine.cpus[i].cluster);
        busy_ns[cluster] += scheduler_.busy_ns(static_cast<int>(i)) - busy_before_ns_[i];
        cpus[cluster] += 1.0;
    }
    double energy_pj = 0.0;
    for (std::size_t cluster = 0; cluster < scenario_.power.size(); ++cluster) {
        const ClusterPower& power = scenario_.power[cluster];
        const auto busy = static_cast<double>(busy_ns[cluster]);
        const auto all = static_cast<double>(side.ns);
        energy_pj += busy * power.busy_mw + std::max(all * cpus[cluster] - busy, 0.0) * power.idle_mw +
                     all * power.cluster_mw;
    }
    side.energy_mj = energy_pj / 1e9;
    result_.cluster_busy_ns.insert(result_.cluster_busy_ns.end(), busy_ns.begin(), busy_ns.end());
    result_.main_ns.insert(result_.main_ns.end(), main_on_ns_.begin(), main_on_ns_.end());
}

/// The main thread runs these phases one after the other; then everybody comes to rest.
void Model::Play::run_window(Phase first, Phase last, const std::stop_token& stop) {
    phase_ = first;
    last_phase_ = last;
    finished_ = false;
    program(kMain).at = At::phase_begin;
    scheduler_.start(kMain);
    scheduler_.settle();
    run_events(stop);
    if (finished_) return;
    cycle_.outcome = Outcome::stuck;
    cycle_.ended_in = phase_;
    here().ns = now_ns_ - phase_began_ns_;
    if (result_.stuck.empty()) result_.stuck = describe_stuck();
}

void Model::Play::run_events(const std::stop_token& stop) {
    engine::StopCheck check{stop};
    for (;;) {
        check.step();
        const std::int64_t next_ns = scheduler_.next_ns();
        if (next_ns == sched::kUnbounded || next_ns == to_ns(kTimeMax)) return;
        if (next_ns > now_ns_) sample_workers();
        now_ns_ = next_ns;
        if (scheduler_.handle_own(next_ns)) continue;
        timer(events_.pop().payload);
        scheduler_.settle();
    }
}

/// A sleep ends with the timer that was set on the CPU where it began.
void Model::Play::timer(const sched::Event& event) {
    const int cpu = scheduler_.cpu_of(event.index);
    if (event.kind == kTickEnd) {
        const auto due = std::stable_partition(tick_sleepers_.begin(), tick_sleepers_.end(),
                                               [this](const TickSleeper& s) { return s.ends_ns > now_ns_; });
        std::sort(due, tick_sleepers_.end(), [](const TickSleeper& a, const TickSleeper& b) {
            return a.lot != b.lot ? a.lot < b.lot : a.entity < b.entity;
        });
        for (auto each = due; each != tick_sleepers_.end(); ++each) scheduler_.wake(each->entity);
        tick_sleepers_.erase(due, tick_sleepers_.end());
    } else if (event.kind == kSleepEnd) {
        scheduler_.wake(event.index);
    }
    if (!range_sleepers_.empty()) end_ranges(cpu);
}

/// A timer interrupt ends every range sleep of its CPU whose range has begun.
void Model::Play::end_ranges(int cpu) {
    std::erase_if(range_sleepers_, [&](const RangeSleeper& sleeper) {
        const bool own = !events_.is_pending(sleeper.hard);
        if (!own && (sleeper.cpu != cpu || sleeper.earliest_ns > now_ns_)) return false;
        events_.cancel(sleeper.hard);
        scheduler_.wake(sleeper.entity);
        return true;
    });
}

void Model::Play::sleep_ns(Entity entity, std::int64_t length_ns) {
    events_.schedule(time_from_ns(now_ns_ + length_ns), {kSleepEnd, entity});
}

void Model::Play::sleep_ticks(Entity entity, std::int64_t count) {
    const std::int64_t passed = (now_ns_ - tick_origin_ns_) / scenario_.tick_ns;
    const std::int64_t ends_ns = tick_origin_ns_ + (passed + count) * scenario_.tick_ns;
    const std::int32_t device = program(entity).device;
    const double lot = world_.lot(device, phase_, cycle_number_, program(entity).segment);
    tick_sleepers_.push_back({ends_ns, lot, entity});
    events_.schedule(time_from_ns(ends_ns), {kTickEnd, entity});
}

void Model::Play::sleep_range(Entity entity, std::int64_t low_ns, std::int64_t high_ns) {
    const auto hard = events_.schedule(time_from_ns(now_ns_ + high_ns), {kRangeEnd, entity});
    range_sleepers_.push_back({now_ns_ + low_ns, entity, scheduler_.cpu_of(entity), hard});
}

void Model::Play::note_main(int cpu, std::int64_t ran_ns) {
    const int cluster = scenario_.machine.cpus[static_cast<std::size_t>(cpu)].cluster;
    main_on_ns_[static_cast<std::size_t>(cluster)] += ran_ns;
}

std::int64_t Model::Play::priority(Entity entity) const {
    const std::int32_t device = program(entity).device;
    return entity == kMain || device == kNoDevice ? std::numeric_limits<std::int64_t>::max()
                                                  : priorities_[slot(device)];
}

}  // namespace torpor::dpm
