// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "torpor/sched/scheduler.hpp"

namespace torpor::sched {

/// When the piece or the slice on each CPU ends, and which end comes first: those of one instant in the order
/// of their sequence numbers.
///
/// Ends are kept on a clock of their own: wall time, or, when all CPUs do `shared` CPUs' worth of work
/// together, the time at the common speed of min(1, shared / busy CPUs), in 1/65536 ns.
class PieceEnds {
  public:
    PieceEnds(std::size_t cpus, double shared) : ends_(cpus), shared_{shared} {}

    void reset(std::int64_t now_ns) {
        std::fill(ends_.begin(), ends_.end(), End{});
        virtual_ = 0;
        at_ns_ = now_ns;
        speed_ = kFullSpeed;
        next_ = {};
        next_cpu_ = kNoCpu;
        is_stale_ = false;
    }

    bool has_piece(int cpu) const { return end_of(cpu).event != kUnbounded; }
    /// What ends is the slice, not the piece.
    bool is_slice(int cpu) const { return end_of(cpu).event != end_of(cpu).piece; }

    /// The end of something that takes so long from then on, at the speed of now.
    std::int64_t after(std::int64_t now_ns, std::int64_t from_ns, std::int64_t length_ns) {
        if (!is_shared()) return from_ns + length_ns;
        advance(now_ns);
        return virtual_ + (from_ns - now_ns) * speed_ + length_ns * kFullSpeed;
    }
    /// What is left of the piece on a CPU that began or goes on at `from_ns`.
    std::int64_t left_ns(int cpu, std::int64_t now_ns, std::int64_t from_ns, std::int64_t length_ns) {
        if (!is_shared()) return end_of(cpu).piece - std::max(now_ns, from_ns);
        advance(now_ns);
        const std::int64_t left = (end_of(cpu).piece - virtual_ + kFullSpeed - 1) / kFullSpeed;
        return std::clamp<std::int64_t>(left, 0, length_ns);
    }

    void set(int cpu, std::int64_t piece, std::int64_t slice, std::uint64_t sequence) {
        put(cpu, {piece, std::min(piece, slice), sequence, sequence});
    }
    /// Another slice for the same piece, which keeps its place among those that end with it.
    void set_slice(int cpu, std::int64_t slice, std::uint64_t sequence) {
        const auto [piece, event, old, of_piece] = end_of(cpu);
        put(cpu, {piece, std::min(piece, slice), slice < piece ? sequence : of_piece, of_piece});
    }
    void clear(int cpu) {
        ends_[static_cast<std::size_t>(cpu)] = End{};
        if (cpu == next_cpu_) is_stale_ = true;
    }

    /// After the number of busy CPUs has changed.
    void set_busy(std::int64_t now_ns, int busy) {
        if (!is_shared()) return;
        advance(now_ns);
        const double speed = std::min(1.0, shared_ / std::max(busy, 1));
        speed_ = static_cast<std::int64_t>(speed * static_cast<double>(kFullSpeed));
    }

    /// The first end of all, in wall time; kUnbounded when there is none.
    std::int64_t next_ns() {
        if (is_stale_) find_next();
        if (!is_shared() || next_.event == kUnbounded) return next_.event;
        return at_ns_ + (std::max<std::int64_t>(next_.event - virtual_, 0) + speed_ - 1) / speed_;
    }
    // Of the end that next_ns() tells.
    int next_cpu() const { return next_cpu_; }
    std::uint64_t next_sequence() const { return next_.sequence; }

  private:
    struct End {
        std::int64_t piece{kUnbounded};
        std::int64_t event{kUnbounded};  // of the piece or of its slice
        std::uint64_t sequence{0};
        std::uint64_t piece_sequence{0};

        bool is_before(const End& other) const {
            return event < other.event || (event == other.event && sequence < other.sequence);
        }
    };
    static constexpr std::int64_t kFullSpeed = 65536;
    static constexpr std::int64_t kLatest = std::int64_t{1} << 60;

    const End& end_of(int cpu) const { return ends_[static_cast<std::size_t>(cpu)]; }
    bool is_shared() const { return shared_ > 0.0; }
    void put(int cpu, const End& end) {
        ends_[static_cast<std::size_t>(cpu)] = end;
        if (cpu == next_cpu_) {
            is_stale_ = true;
        } else if (!is_stale_ && end.is_before(next_)) {
            next_ = end;
            next_cpu_ = cpu;
        }
    }
    void advance(std::int64_t now_ns) {
        virtual_ += (now_ns - at_ns_) * speed_;
        at_ns_ = now_ns;
        if (virtual_ > kLatest) count_from_now();
    }
    /// 2^60 of these units are less than five hours.
    void count_from_now() {
        for (End& end : ends_) {
            if (end.piece != kUnbounded) end.piece -= virtual_;
            if (end.event != kUnbounded) end.event -= virtual_;
        }
        if (next_.event != kUnbounded) next_.event -= virtual_;
        virtual_ = 0;
    }
    void find_next() {
        is_stale_ = false;
        std::size_t first = 0;
        std::int64_t event = ends_[0].event;
        std::uint64_t sequence = ends_[0].sequence;
        for (std::size_t cpu = 1; cpu < ends_.size(); ++cpu) {
            const End& end = ends_[cpu];
            if (end.event < event || (end.event == event && end.sequence < sequence)) {
                first = cpu;
                event = end.event;
                sequence = end.sequence;
            }
        }
        next_ = ends_[first];
        next_cpu_ = event == kUnbounded ? kNoCpu : static_cast<int>(first);
    }

    std::vector<End> ends_;
    double shared_;
    std::int64_t virtual_{0};
    std::int64_t at_ns_{0};
    std::int64_t speed_{kFullSpeed};
    End next_;
    int next_cpu_{kNoCpu};
    bool is_stale_{false};
};

}  // namespace torpor::sched
