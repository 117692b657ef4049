// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

// The whole tree of errors. What is part of a model (a refused entry, a failed freeze) is data in its result,
// never thrown.
namespace torpor {

/// Root of every error that torpor throws.
class Error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// A parameter, a board or an input that cannot be used. `key` is the path of the offending entry
/// (for example "clusters[0].idle_states[2].target_residency_us"); empty when there is none.
class ConfigError : public Error {
  public:
    explicit ConfigError(const std::string& message) : Error{message} {}
    ConfigError(std::string key, const std::string& message)
        : Error{key + ": " + message}, key_{std::move(key)} {}
    /// Text "key=value: message", for a value that is out of its limits.
    ConfigError(std::string key, const std::string& value, const std::string& message)
        : Error{key + "=" + value + ": " + message}, key_{std::move(key)} {}
    const std::string& key() const { return key_; }

  private:
    std::string key_;
};

/// The simulated system cannot go on: a deadlock, a dependency cycle.
class ModelError : public Error {
  public:
    using Error::Error;
};

/// The caller asked to stop: work was left undone and its results are gone.
class Cancelled : public Error {
  public:
    using Error::Error;
};

/// A bug of ours.
class InternalError : public Error {
  public:
    using Error::Error;
};

}  // namespace torpor
