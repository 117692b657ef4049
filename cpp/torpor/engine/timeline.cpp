// SPDX-License-Identifier: MIT
#include "torpor/engine/timeline.hpp"

namespace torpor::engine {

TimelineSink::~TimelineSink() = default;

}  // namespace torpor::engine
