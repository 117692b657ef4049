// SPDX-License-Identifier: MIT
#include "torpor/base/units.hpp"

using namespace torpor;

[[maybe_unused]] const auto right = Power::mw(1.0) * 2.0;
#ifdef MISUSE
[[maybe_unused]] const auto wrong = Power::mw(1.0) * Power::mw(2.0);
#endif
