// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "torpor/idle/governor.hpp"

// What a governor knew when the trace began is not in the trace. menu: nothing in the history and the
// correction factors at one, except that of timers 1 to 10 ms away. While a needed tick keeps a CPU from
// sleeping longer than one tick, that factor settles between what the two deep states train it to; 0.69 is
// where the captures of 6.1 settle. ladder: the first recorded state.
namespace torpor::idle {

inline constexpr std::uint32_t kSettledFactor = 5650;  // of 8192
inline constexpr std::size_t kTickBucket = 3;          // timers 1 to 10 ms away

/// A governor in the middle of its life. Deriving gives access to what it keeps protected; it adds no state.
template <class G>
class StartedGovernor : public G {
  public:
    StartedGovernor(const G& governor, int first_state) : G{governor} {
        if constexpr (requires { this->factors_[kTickBucket]; }) {
            this->factors_[kTickBucket] = kSettledFactor;
        } else if constexpr (requires { this->promotions(); }) {
            Device device;
            this->reflect(first_state, false, 0, device);
        }
    }
};

}  // namespace torpor::idle
