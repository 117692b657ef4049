// SPDX-License-Identifier: MIT
#include "torpor/base/call_text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

namespace torpor {

std::string quoted(std::string_view text) {
    return std::string{"'"}.append(text).append("'");
}

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(' ');
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::int64_t parse_integer(std::string_view text, const std::string& key) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || text.empty()) {
        throw ConfigError{key, quoted(text) + " is not a whole number"};
    }
    return value;
}

double parse_number(std::string_view text, const std::string& key) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || text.empty() || !std::isfinite(value)) {
        throw ConfigError{key, quoted(text) + " is not a number"};
    }
    return value;
}

bool parse_bool(std::string_view text, const std::string& key) {
    if (text == "true") return true;
    if (text == "false") return false;
    throw ConfigError{key, quoted(text) + " is neither true nor false"};
}

void require_range(const std::string& key, std::int64_t value, std::int64_t low, std::int64_t high) {
    if (value >= low && value <= high) return;
    throw ConfigError{key, std::to_string(value) + " is out of range; it must be " + std::to_string(low) +
                               ".." + std::to_string(high)};
}

CallText split_call(std::string_view text, const std::string& key) {
    const auto whole = trimmed(text);
    const auto open = whole.find('(');
    if (open == std::string_view::npos) return {whole, {}};
    if (whole.back() != ')') throw ConfigError{key, quoted(whole) + " lacks the closing parenthesis"};
    return {trimmed(whole.substr(0, open)), trimmed(whole.substr(open + 1, whole.size() - open - 2))};
}

Arguments::Arguments(std::string_view name, std::string_view list) : name_{name} {
    while (!list.empty()) {
        const auto comma = list.find(',');
        add(trimmed(list.substr(0, comma)));
        if (comma == std::string_view::npos) break;
        list.remove_prefix(comma + 1);
        if (trimmed(list).empty()) throw ConfigError{name_, "a parameter is missing after the last comma"};
    }
}

const std::string_view* Arguments::take(std::string_view parameter) {
    known_.emplace_back(parameter);
    for (auto& [key, value] : given_) {
        if (key != parameter) continue;
        ++taken_;
        return &value;
    }
    return nullptr;
}

std::string Arguments::key(std::string_view parameter) const {
    return name_ + "." + std::string{parameter};
}

std::string_view Arguments::require(std::string_view parameter) {
    if (const auto* text = take(parameter)) return *text;
    throw ConfigError{key(parameter), "must be given, e.g. " + name_ + "(" + std::string{parameter} + "=1)"};
}

void Arguments::finish() const {
    if (taken_ == given_.size()) return;
    for (const auto& [parameter, value] : given_) {
        bool is_known = false;
        for (const auto& known : known_) is_known = is_known || known == parameter;
        if (!is_known) {
            throw ConfigError{key(parameter), "is no parameter of " + name_ + "; known: " + joined(known_)};
        }
    }
}

void Arguments::add(std::string_view text) {
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) {
        throw ConfigError{name_, quoted(text) + " is not of the form parameter=value"};
    }
    const auto parameter = trimmed(text.substr(0, equals));
    for (const auto& [known, value] : given_) {
        if (known == parameter) throw ConfigError{key(parameter), "is given twice"};
    }
    given_.emplace_back(parameter, trimmed(text.substr(equals + 1)));
}

Call& Call::show(std::string_view parameter, std::string_view value) {
    if (text_.back() != '(') text_ += ", ";
    ((text_ += parameter) += "=") += value;
    return *this;
}

Call& Call::show_unless_default(std::string_view parameter, bool value, bool usual) {
    return value == usual ? *this : show(parameter, value ? "true" : "false");
}

Call& Call::show_unless_default(std::string_view parameter, std::int64_t value, std::int64_t usual) {
    return value == usual ? *this : show(parameter, std::to_string(value));
}

Call& Call::show_unless_default(std::string_view parameter, double value, double usual) {
    if (value == usual) return *this;
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    return show(parameter, std::string_view{digits.data(), static_cast<std::size_t>(end - digits.data())});
}

}  // namespace torpor
