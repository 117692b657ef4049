// SPDX-License-Identifier: MIT
#include "torpor/base/units.hpp"

using namespace torpor;

[[maybe_unused]] const auto right = Cycles::of(1) + Cycles::of(2);
#ifdef MISUSE
[[maybe_unused]] const auto wrong = Cycles::of(1) + from_ns(2);
#endif
