// SPDX-License-Identifier: MIT
#pragma once

namespace torpor {

/// One visitor of a std::variant, put together from a lambda for each alternative.
template <class... Ts>
struct Overloaded : Ts... {
    using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

}  // namespace torpor
