// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "torpor/freezer/scenario.hpp"

namespace torpor::freezer {

/// Costs on the clock of one cluster, nanoseconds. Each constant is converted by itself, so sums do not
/// depend on where the rounding is done.
struct Prices {
    std::int64_t visit_ns{0};
    std::int64_t visit_kernel_ns{0};
    std::int64_t wake_ns{0};
    std::int64_t resig_ns{0};
    std::int64_t mark_ns{0};
    std::int64_t thaw_wake_ns{0};
    std::int64_t user_loop_ns{0};
    std::int64_t kernel_loop_ns{0};
    std::int64_t thaw_ns{0};
    std::int64_t rate_hz{0};
};

/// Bursts of one group on the clock of one cluster.
struct BurstPrices {
    std::int64_t freeze_run_ns{0};
    std::int64_t thaw_run_ns{0};
    std::int64_t resleep_ns{0};
};

/// Every cost of a scenario for every CPU of it; CPUs of one rate share a row.
class PriceTable {
  public:
    explicit PriceTable(const Scenario& scenario);

    const Prices& walker(int cpu) const { return rows_[row_of_[static_cast<std::size_t>(cpu)]]; }
    const BurstPrices& burst(int cpu, std::int32_t group) const {
        return bursts_[row_of_[static_cast<std::size_t>(cpu)] * groups_ + static_cast<std::size_t>(group)];
    }

  private:
    std::size_t groups_;
    std::vector<std::size_t> row_of_;
    std::vector<Prices> rows_;
    std::vector<BurstPrices> bursts_;
};

}  // namespace torpor::freezer
