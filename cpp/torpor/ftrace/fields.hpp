// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

// Reading `key=value` arguments of an event in place, without allocation.
namespace torpor::ftrace {

/// Value of `key` in "a=1 key=value b=2": from the '=' to the next space. nullopt when the key is not there.
std::optional<std::string_view> field(std::string_view args, std::string_view key);

/// Value of `key` that may hold spaces (task names): up to " next_key=". nullopt when either key is not
/// there.
std::optional<std::string_view> field_before(std::string_view args, std::string_view key,
                                             std::string_view next_key);

/// Decimal value of `key`; nullopt when it is missing, is not a number or does not fit.
std::optional<std::int64_t> integer_field(std::string_view args, std::string_view key);

/// Hexadecimal value of `key`, with or without 0x (the kernel's hashed pointers).
std::optional<std::uint64_t> pointer_field(std::string_view args, std::string_view key);

}  // namespace torpor::ftrace
