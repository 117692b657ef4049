// SPDX-License-Identifier: MIT
#include "torpor/dpm/graph_order.hpp"

#include <algorithm>
#include <array>

namespace torpor::dpm {
namespace {

std::size_t at(std::int32_t number) {
    return static_cast<std::size_t>(number);
}

Rows dependents_of(std::span<const std::int32_t> parents, std::span<const OrderLink> links) {
    std::vector<std::array<std::int32_t, 2>> pairs;
    pairs.reserve(parents.size() + links.size());
    for (std::size_t child = 0; child < parents.size(); ++child) {
        if (parents[child] != kNoDevice) pairs.push_back({parents[child], static_cast<std::int32_t>(child)});
    }
    for (const OrderLink& link : links) pairs.push_back({link.supplier, link.consumer});
    return Rows::from_pairs(parents.size(), pairs);
}

}  // namespace

Rows Rows::from_pairs(std::size_t rows, std::span<const std::array<std::int32_t, 2>> pairs) {
    Rows made;
    made.begins_.assign(rows + 1, 0);
    made.items_.resize(pairs.size());
    for (const auto& [row, item] : pairs) ++made.begins_[at(row) + 1];
    for (std::size_t row = 0; row < rows; ++row) made.begins_[row + 1] += made.begins_[row];
    std::vector<std::uint32_t> next(made.begins_.begin(), made.begins_.end() - 1);
    for (const auto& [row, item] : pairs) made.items_[next[at(row)]++] = item;
    return made;
}

Dependents::Dependents(std::span<const std::int32_t> parents, std::span<const OrderLink> links)
    : parents_{parents}, links_{links}, dependents_{dependents_of(parents, links)} {}

// Tarjan's algorithm (SIAM J. Comput. 1, 1972) with a stack of our own: graphs may be a million devices deep.
std::vector<std::int32_t> Dependents::components() const {
    constexpr std::int32_t kNew = -1;
    std::vector<std::int32_t> component(parents_.size(), kNew);
    std::vector<std::int32_t> index(parents_.size(), kNew);
    std::vector<std::int32_t> low(parents_.size());
    std::vector<std::int32_t> open;
    std::vector<Frame> stack;
    std::int32_t visited = 0;
    std::int32_t found = 0;
    const auto enter = [&](std::int32_t device) {
        index[at(device)] = low[at(device)] = visited++;
        open.push_back(device);
        stack.push_back({device, 0});
    };
    for (std::int32_t root = 0; root < size(); ++root) {
        if (index[at(root)] != kNew) continue;
        enter(root);
        while (!stack.empty()) {
            Frame& top = stack.back();
            const std::int32_t device = top.device;
            const auto dependents = dependents_[device];
            if (top.next < dependents.size()) {
                const std::int32_t end = dependents[top.next++];
                if (index[at(end)] == kNew) {
                    enter(end);
                } else if (component[at(end)] == kNew) {
                    low[at(device)] = std::min(low[at(device)], index[at(end)]);
                }
                continue;
            }
            stack.pop_back();
            if (!stack.empty()) {
                const std::size_t before = at(stack.back().device);
                low[before] = std::min(low[before], low[at(device)]);
            }
            if (low[at(device)] != index[at(device)]) continue;
            std::int32_t member = kNew;
            do {
                member = open.back();
                open.pop_back();
                component[at(member)] = found;
            } while (member != device);
            ++found;
        }
    }
    return component;
}

// Only the last move of a device counts, so time is walked backwards and each device is placed once, from the
// tail of the list. What depends on a placed device is placed as well, since links only become more with
// time; and so is what does not exist yet at that time, the consumers of later links and devices registered
// later. Within one move the recursion visits a device, its children, its consumers; its last visits,
// backwards, are the first visits of a postorder walk that takes the edges from the last to the first.
std::vector<std::int32_t> Dependents::list_order() const {
    std::vector<bool> placed(parents_.size(), false);
    std::vector<std::int32_t> backwards;
    backwards.reserve(parents_.size());
    std::vector<Frame> stack;
    std::size_t link = links_.size();
    for (std::int32_t registered = size(); registered > 0; --registered) {
        while (link > 0 && links_[link - 1].registered >= registered) {
            move_to_tail(links_[--link].consumer, placed, backwards, stack);
        }
        const std::int32_t device = registered - 1;
        if (!placed[at(device)]) {
            placed[at(device)] = true;
            backwards.push_back(device);
        }
    }
    std::reverse(backwards.begin(), backwards.end());
    return backwards;
}

void Dependents::move_to_tail(std::int32_t moved, std::vector<bool>& placed,
                              std::vector<std::int32_t>& backwards, std::vector<Frame>& stack) const {
    const auto enter = [&](std::int32_t device) {
        if (placed[at(device)]) return;
        placed[at(device)] = true;
        stack.push_back({device, dependents_[device].size()});
    };
    enter(moved);
    while (!stack.empty()) {
        Frame& top = stack.back();
        if (top.next == 0) {
            backwards.push_back(top.device);
            stack.pop_back();
            continue;
        }
        enter(dependents_[top.device][--top.next]);
    }
}

std::vector<std::int32_t> Dependents::path(std::int32_t from, std::int32_t to) const {
    std::vector<std::int32_t> before(parents_.size(), kNoDevice);
    std::vector<std::int32_t> reached{from};
    before[at(from)] = from;
    for (std::size_t i = 0; i < reached.size() && before[at(to)] == kNoDevice; ++i) {
        for (const std::int32_t end : dependents_[reached[i]]) {
            if (before[at(end)] != kNoDevice) continue;
            before[at(end)] = reached[i];
            reached.push_back(end);
        }
    }
    std::vector<std::int32_t> path{to};
    while (path.back() != from) path.push_back(before[at(path.back())]);
    std::reverse(path.begin(), path.end());
    return path;
}

std::size_t first_closing(std::span<const std::int32_t> parents, std::span<const OrderLink> links) {
    const auto has_loop = [&](std::size_t count) {
        const auto component = Dependents{parents, links.first(count)}.components();
        return std::any_of(links.begin(), links.begin() + static_cast<std::ptrdiff_t>(count),
                           [&](const OrderLink& link) {
                               return component[at(link.supplier)] == component[at(link.consumer)];
                           });
    };
    if (!has_loop(links.size())) return links.size();
    std::size_t without = 0;
    std::size_t with = links.size();
    while (with - without > 1) {
        const std::size_t middle = without + (with - without) / 2;
        (has_loop(middle) ? with : without) = middle;
    }
    return without;
}

}  // namespace torpor::dpm
