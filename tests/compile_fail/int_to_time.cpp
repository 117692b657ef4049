// SPDX-License-Identifier: MIT
#include "torpor/base/units.hpp"

using namespace torpor;

[[maybe_unused]] const Time right = time_from_ns(10);
#ifdef MISUSE
[[maybe_unused]] const Time wrong = 10;
#endif
