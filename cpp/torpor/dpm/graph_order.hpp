// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "torpor/dpm/graph.hpp"

// Cycles and list order of a device graph, over numbers in the order of registration. For compile().
namespace torpor::dpm {

/// A link that orders suspend and resume.
struct OrderLink {
    std::int32_t supplier{0};
    std::int32_t consumer{0};
    /// Devices that are registered when the link is added; one more than all for links after that.
    std::int32_t registered{0};
    /// Index in the spec.
    std::int32_t number{0};
};

/// Who depends on whom. `parents` has kNoDevice or an earlier device for each, `links` are in the order in
/// which they are added; both must outlive this.
class Dependents {
  public:
    Dependents(std::span<const std::int32_t> parents, std::span<const OrderLink> links);

    /// For each device the number of its strongly connected component: two devices share one exactly if each
    /// depends on the other.
    std::vector<std::int32_t> components() const;

    /// Devices in list order, as Graph says. The graph must have no cycle.
    std::vector<std::int32_t> list_order() const;

    /// Devices from one to another that depends on it, both included, by a shortest way.
    std::vector<std::int32_t> path(std::int32_t from, std::int32_t to) const;

  private:
    struct Frame {
        std::int32_t device;
        std::size_t next;
    };

    std::int32_t size() const { return static_cast<std::int32_t>(parents_.size()); }
    void move_to_tail(std::int32_t moved, std::vector<bool>& placed, std::vector<std::int32_t>& backwards,
                      std::vector<Frame>& stack) const;

    std::span<const std::int32_t> parents_;
    std::span<const OrderLink> links_;
    Rows dependents_;  // children, then consumers
};

/// The first link that closes a loop, as an index into `links`, or links.size().
std::size_t first_closing(std::span<const std::int32_t> parents, std::span<const OrderLink> links);

}  // namespace torpor::dpm
