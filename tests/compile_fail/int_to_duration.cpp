// SPDX-License-Identifier: MIT
#include "torpor/base/units.hpp"

using namespace torpor;

[[maybe_unused]] const Duration right = from_ns(10);
#ifdef MISUSE
[[maybe_unused]] const Duration wrong = 10;
#endif
