// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "torpor/idle/policy.hpp"
#include "torpor/idle/state_table.hpp"

namespace torpor::idle {

/// The kernel's "no timer", KTIME_MAX in nanoseconds.
inline constexpr std::int64_t kNoTimer = std::numeric_limits<std::int64_t>::max();

/// The scheduler tick of one CPU. Running, it fires on a grid that all CPUs share; stopped, its timer is
/// aimed at the next timer-wheel expiry or at nothing. Three idle loops differ in what they do with a
/// governor's answer while the tick is already stopped: 4.17 and 4.18 leave everything as it is, Leo Yan's
/// patch (August 2018) restarts the tick, 4.19 and later stop it again, which only refreshes the aim.
class Tick {
  public:
    Tick(TickLength length, TickLoop loop) : length_{length}, loop_{loop} {}

    /// Starts running with the first tick at `phase_ns` (0 means one period from the start).
    void reset(std::int64_t phase_ns) {
        phase_ns_ = phase_ns;
        stopped_ = false;
        due_ns_ = phase_ns > 0 ? phase_ns : length_.ns;
        restarts_in_loop_ = 0;
        stops_ = 0;
    }

    bool stopped() const { return stopped_; }
    /// When the tick's timer fires: the next grid point, the wheel expiry it is aimed at, or kNoTimer.
    std::int64_t due_ns() const { return due_ns_; }
    std::int64_t stops() const { return stops_; }
    /// Times that a running idle loop restarted the tick; only Leo Yan's patch does.
    std::int64_t restarts_in_loop() const { return restarts_in_loop_; }

    /// Last grid point at or before `now_ns`: the time of the last jiffies update.
    std::int64_t grid_before(std::int64_t now_ns) const {
        const std::int64_t since = now_ns - phase_ns_;
        std::int64_t periods = since / length_.ns;
        if (since % length_.ns < 0) --periods;
        return phase_ns_ + periods * length_.ns;
    }

    /// First grid point at or after `time_ns`, where the timer wheel serves what expires at that time.
    std::int64_t grid_from(std::int64_t time_ns) const {
        return time_ns > kNoTimer - length_.ns ? kNoTimer : grid_before(time_ns - 1) + length_.ns;
    }

    /// A stop request is ignored while the tick runs and the wheel has a timer within one period.
    bool stoppable(std::int64_t entry_ns, std::int64_t wheel_ns) const {
        return stopped_ || wheel_ns == kNoTimer || wheel_ns > grid_before(entry_ns) + length_.ns;
    }

    /// Carries out a governor's answer.
    void apply(bool stop, bool may_stop, std::int64_t now_ns, std::int64_t wheel_ns) {
        if (stop && may_stop) {
            this->stop(wheel_ns);
            return;
        }
        if (!stopped_) return;
        switch (loop_) {
            case TickLoop::v4_17:
                return;
            case TickLoop::leo:
                ++restarts_in_loop_;
                restart(now_ns);
                return;
            case TickLoop::v4_19:
                this->stop(wheel_ns);
                return;
        }
    }

    /// The first saved tick time, moved on by whole periods until it lies ahead.
    void restart(std::int64_t now_ns) {
        if (!stopped_) return;
        stopped_ = false;
        due_ns_ = last_tick_ns_;
        if (due_ns_ <= now_ns) due_ns_ = grid_before(now_ns) + length_.ns;
    }

    /// The timer fired. Running: re-armed on the grid. Stopped: it stays dead until the next select aims it
    /// again.
    void serve(std::int64_t now_ns) { due_ns_ = stopped_ ? kNoTimer : grid_before(now_ns) + length_.ns; }

  private:
    void stop(std::int64_t wheel_ns) {
        if (!stopped_) {
            stopped_ = true;
            last_tick_ns_ = due_ns_;
            ++stops_;
        }
        due_ns_ = wheel_ns;
    }

    TickLength length_;
    TickLoop loop_;
    std::int64_t phase_ns_{0};
    bool stopped_{false};
    std::int64_t due_ns_{0};
    std::int64_t last_tick_ns_{0};
    std::int64_t stops_{0};
    std::int64_t restarts_in_loop_{0};
};

}  // namespace torpor::idle
