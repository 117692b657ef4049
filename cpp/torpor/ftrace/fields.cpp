// SPDX-License-Identifier: MIT
#include "torpor/ftrace/fields.hpp"

#include <charconv>

namespace torpor::ftrace {

namespace {

// Position just after "key=" where the key starts an argument.
std::size_t value_begin(std::string_view args, std::string_view key) {
    std::size_t from = 0;
    while (true) {
        const std::size_t at = args.find(key, from);
        if (at == std::string_view::npos) return at;
        const std::size_t end = at + key.size();
        if (end < args.size() && args[end] == '=' && (at == 0 || args[at - 1] == ' ')) return end + 1;
        from = at + 1;
    }
}

template <class Number>
std::optional<Number> parse_number(std::string_view text, int base) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

}  // namespace

std::optional<std::string_view> field(std::string_view args, std::string_view key) {
    const std::size_t begin = value_begin(args, key);
    if (begin == std::string_view::npos) return std::nullopt;
    return args.substr(begin, args.find(' ', begin) - begin);
}

std::optional<std::string_view> field_before(std::string_view args, std::string_view key,
                                             std::string_view next_key) {
    const std::size_t begin = value_begin(args, key);
    if (begin == std::string_view::npos) return std::nullopt;
    const std::size_t next = value_begin(args.substr(begin), next_key);
    if (next == std::string_view::npos || next < next_key.size() + 2) return std::nullopt;
    return args.substr(begin, next - next_key.size() - 2);
}

std::optional<std::int64_t> integer_field(std::string_view args, std::string_view key) {
    const auto text = field(args, key);
    return text ? parse_number<std::int64_t>(*text, 10) : std::nullopt;
}

std::optional<std::uint64_t> pointer_field(std::string_view args, std::string_view key) {
    auto text = field(args, key);
    if (!text) return std::nullopt;
    if (text->substr(0, 2) == "0x") text->remove_prefix(2);
    return parse_number<std::uint64_t>(*text, 16);
}

}  // namespace torpor::ftrace
