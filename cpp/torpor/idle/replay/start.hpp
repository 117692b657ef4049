// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "torpor/idle/governor.hpp"
#include "torpor/idle/governors/menu_6_1.hpp"

// What a governor knew when the trace began is not in the trace. menu: nothing in the history and the
// correction factors at one, except, for menu 6.1, that of timers 1 to 10 ms away. While a needed tick keeps
// a CPU from sleeping longer than one tick, that factor settles between what the two deep states train it to;
// 0.69 is fitted: where recorded runs of 6.1.192 with HZ 250 and residencies of 1000 and 2700 us settle.
// ladder: the first recorded state.
namespace torpor::idle {

inline constexpr std::uint32_t kSettledFactor = 5650;  // of 8192
inline constexpr std::size_t kTickBucket = 3;          // timers 1 to 10 ms away

/// A governor in the middle of its life. Deriving gives access to what it keeps protected; it adds no state.
template <class G>
class StartedGovernor : public G {
  public:
    StartedGovernor(const G& governor, int first_state) : G{governor} {
        if constexpr (std::same_as<G, Menu61> || std::same_as<G, Menu61192>) {
            this->factors_[kTickBucket] = kSettledFactor;
        } else if constexpr (requires { this->promotions(); }) {
            Device device;
            this->reflect(first_state, false, 0, device);
        }
    }
};

}  // namespace torpor::idle
