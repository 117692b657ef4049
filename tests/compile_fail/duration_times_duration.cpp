// SPDX-License-Identifier: MIT
#include "torpor/base/units.hpp"

using namespace torpor;

[[maybe_unused]] const auto right = 2 * from_ns(2);
#ifdef MISUSE
[[maybe_unused]] const auto wrong = from_ns(2) * from_ns(2);
#endif
