// SPDX-License-Identifier: MIT
#include "torpor/base/units.hpp"

using namespace torpor;
using namespace std::chrono_literals;

[[maybe_unused]] const Duration right = 2ms;
#ifdef MISUSE
[[maybe_unused]] const Duration wrong = 1.5ms;
#endif
