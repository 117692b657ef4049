// SPDX-License-Identifier: MIT
#include "torpor/base/units.hpp"

using namespace torpor;

[[maybe_unused]] const Time right = Time{} + from_ns(1);
#ifdef MISUSE
[[maybe_unused]] const Time wrong = std::chrono::steady_clock::now();
#endif
