// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

namespace torpor::sched {

/// What the scheduler knows of the energy of the CPUs of one cluster: its operating points in ascending
/// order. The kernel asks it which CPU would be cheapest, whatever frequency the CPUs really run at.
/// (Energy model, Linux 6.1)
struct PerformanceDomain {
    struct Point {
        double capacity{0.0};  // at this operating point, 0 to 1024
        double power_mw{0.0};  // of one busy CPU

        bool operator==(const Point&) const = default;
    };

    std::vector<Point> points;

    bool operator==(const PerformanceDomain&) const = default;
};

/// A performance domain made ready to be asked often.
class EnergyEstimate {
  public:
    explicit EnergyEstimate(const PerformanceDomain& domain) {
        bool ascends = true;
        for (const auto& [capacity, power_mw] : domain.points) {
            ascends = ascends && (points_.empty() || power_mw / capacity >= points_.back().mw_per_capacity);
            points_.push_back({capacity / kHeadroom, power_mw / capacity});
        }
        least_mw_per_capacity_ = ascends ? points_.front().mw_per_capacity : 0.0;
    }

    /// What more utilisation costs at least, wherever it goes in the domain.
    double least_mw(double more_utilisation) const { return least_mw_per_capacity_ * more_utilisation; }

    /// Power for a sum of utilisations when the busiest CPU asks for `max_utilisation`: schedutil picks the
    /// lowest point with 1.25 times that much capacity, the highest when there is none.
    double power_mw(double max_utilisation, double sum_utilisation) const {
        for (const Point& point : points_) {
            if (point.serves_up_to >= max_utilisation) return point.mw_per_capacity * sum_utilisation;
        }
        return points_.back().mw_per_capacity * sum_utilisation;
    }

  private:
    static constexpr double kHeadroom = 1.25;
    struct Point {
        double serves_up_to;
        double mw_per_capacity;
    };
    std::vector<Point> points_;
    double least_mw_per_capacity_{0.0};  // 0 unless a higher point costs more per capacity
};

}  // namespace torpor::sched
