// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "torpor/base/error.hpp"

// Text of the form "name(key=value, key=value)": how a user and a store write a policy.
namespace torpor {

/// "a, b, c".
template <class Names>
std::string joined(const Names& names) {
    std::string text;
    for (const auto& name : names) {
        if (!text.empty()) text += ", ";
        text += name;
    }
    return text;
}

/// Text in single quotes.
std::string quoted(std::string_view text);

/// Text without the spaces around it.
std::string_view trimmed(std::string_view text);

/// Position of a name in a list, as an enumerator. Throws ConfigError that lists the names.
template <class Enum>
Enum parse_name(std::string_view text, std::span<const std::string_view> names, const std::string& key) {
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == text) return static_cast<Enum>(i);
    }
    throw ConfigError{key, quoted(text) + " is unknown; known: " + joined(names)};
}

/// Each throws ConfigError that names the key and quotes the text.
std::int64_t parse_integer(std::string_view text, const std::string& key);
double parse_number(std::string_view text, const std::string& key);
bool parse_bool(std::string_view text, const std::string& key);

/// Throws ConfigError with the key, the value and the limits unless low <= value <= high.
void require_range(const std::string& key, std::int64_t value, std::int64_t low, std::int64_t high);

/// A call, cut into its name and what stands between its parentheses, which may be missing.
struct CallText {
    std::string_view name;
    std::string_view arguments;
};

/// Throws ConfigError under `key` when the closing parenthesis is missing.
CallText split_call(std::string_view text, const std::string& key);

/// The parameters of one call, taken out one by one; what is left over at the end is unknown.
class Arguments {
  public:
    /// Throws ConfigError for text that is not of the form parameter=value, and for a parameter given twice.
    Arguments(std::string_view name, std::string_view list);

    /// Value of a parameter, or nullptr.
    const std::string_view* take(std::string_view parameter);

    /// "name.parameter".
    std::string key(std::string_view parameter) const;

    /// Reads a parameter into `target` when it is given.
    template <class Value, class Parse>
    void read(std::string_view parameter, Value& target, Parse parse) {
        if (const auto* text = take(parameter)) target = parse(*text, key(parameter));
    }

    /// Throws ConfigError when the parameter is not given.
    std::string_view require(std::string_view parameter);

    /// Throws ConfigError for the first parameter that nobody has asked for.
    void finish() const;

  private:
    void add(std::string_view text);

    std::string name_;
    std::vector<std::pair<std::string_view, std::string_view>> given_;
    std::vector<std::string> known_;
    std::size_t taken_{0};
};

/// Writes "name(a=b, c=d)".
class Call {
  public:
    explicit Call(std::string_view name) : text_{std::string{name} + "("} {}

    Call& show(std::string_view parameter, std::string_view value);
    Call& show_unless_default(std::string_view parameter, bool value, bool usual);
    Call& show_unless_default(std::string_view parameter, std::int64_t value, std::int64_t usual);
    /// Shortest digits that read back to the same number.
    Call& show_unless_default(std::string_view parameter, double value, double usual);
    std::string str() const { return text_ + ")"; }

  private:
    std::string text_;
};

}  // namespace torpor
