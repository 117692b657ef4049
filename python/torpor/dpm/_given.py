# SPDX-License-Identifier: MIT
"""Checks of lists, names and paths that users give."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from torpor._checks import shown, word
from torpor._core import ConfigError

__all__ = ["each", "folder_of", "text"]


def each(key: str, given: Any, what: str) -> Iterator[Any]:
    """Go through a list; a text is none, nor is an array without dimensions, which only looks like one."""
    if not isinstance(given, str):
        try:
            return iter(given)
        except TypeError:
            pass
    raise ConfigError(f"{key}={shown(given)} is no {what}")


def text(name: str, given: Any) -> str:
    """Return a text that the engine can spell."""
    found = word(name, given)
    try:
        found.encode()
    except UnicodeEncodeError:
        raise ConfigError(f"{name}={shown(found)} is no Unicode text (half of a surrogate pair)") from None
    return found


def folder_of(name: str, given: str | os.PathLike[str]) -> Path:
    """Return a path."""
    if not isinstance(given, str | os.PathLike) or not isinstance(os.fspath(given), str):
        raise ConfigError(f"{name}={shown(given)} is no path")
    return Path(given)
