// SPDX-License-Identifier: MIT
#include "torpor/base/units.hpp"

using namespace torpor;

[[maybe_unused]] const auto right = Time{} + from_ns(1);
#ifdef MISUSE
[[maybe_unused]] const auto wrong = Time{} + Power::mw(1.0);
#endif
