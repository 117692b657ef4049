// SPDX-License-Identifier: MIT
#include "torpor/base/units.hpp"

using namespace torpor;

[[maybe_unused]] const Frequency right = Frequency::hz(1000);
#ifdef MISUSE
[[maybe_unused]] const Frequency wrong{1000};
#endif
