// SPDX-License-Identifier: MIT
#include "torpor/base/units.hpp"

using namespace torpor;

[[maybe_unused]] const auto right = Frequency::mhz(200) == Frequency::hz(200000000);
#ifdef MISUSE
[[maybe_unused]] const auto wrong = Frequency::mhz(200) == 200000000;
#endif
