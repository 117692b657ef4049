# SPDX-License-Identifier: MIT
"""Where a board's text came from, so that an error can point at it."""

from typing import NamedTuple

from torpor._core import ConfigError
from torpor.board._keys import line_of


def config_error(key: str, message: str) -> ConfigError:
    """Make the error that every bad input ends in, with the key path as an attribute."""
    error = ConfigError(message)
    vars(error)["key"] = key
    return error


class Source(NamedTuple):
    """A file and its TOML text; without a text (a dictionary, a capture) errors carry no line."""

    label: str
    text: str | None = None

    def error(self, key: str, message: str, *, anchor: str | None = None) -> ConfigError:
        """Make an error about `key`; `anchor` is the key whose line is shown, by default the same."""
        where = self.label
        if self.text is not None:
            where += f":{line_of(self.text, key if anchor is None else anchor)}"
        return config_error(key, f"{where}: {key}: {message}")
