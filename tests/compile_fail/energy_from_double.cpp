// SPDX-License-Identifier: MIT
#include "torpor/base/units.hpp"

using namespace torpor;

[[maybe_unused]] const Energy right = Energy::mj(1.0);
#ifdef MISUSE
[[maybe_unused]] const Energy wrong = 1.0;
#endif
