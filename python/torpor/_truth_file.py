# SPDX-License-Identifier: MIT
"""The recorder's own figures of a capture, truth.json, as every family reads them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from torpor._checks import shown
from torpor._core import ConfigError

__all__ = ["TruthFile", "check_regular"]


class TruthFile:
    """Parsed truth.json of a capture; what is wrong with it is told with file, key and value.

    Parameters
    ----------
    path : Path
        The file.
    kind : str
        The kind of capture that it has to be of.

    Raises
    ------
    ConfigError
        When it cannot be read, is no JSON or belongs to a capture of another kind.
    """

    def __init__(self, path: Path, kind: str) -> None:
        self.path = path
        check_regular(path)
        try:
            data = json.loads(path.read_bytes())
        except OSError as error:
            raise ConfigError(f"{path}: cannot be read ({error.strerror})") from None
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"{path}: not JSON ({error})") from None
        self.data: dict[str, Any] = data if isinstance(data, dict) else {}
        found = self.get("kind", str)
        if found != kind:
            raise ConfigError(f"{path}: kind is {shown(found)}, expected '{kind}'")

    def get(self, key: str, kind: type) -> Any:
        """Value of a key, of a type."""
        value = self.data.get(key)
        if not isinstance(value, kind) or isinstance(value, bool):
            raise ConfigError(f"{self.path}: {key}: {shown(value)} is no {kind.__name__}")
        return value

    def records(self, key: str, value: Any) -> list[dict[str, Any]]:
        """List of records that stands at a key, for example ``traces.dev_50_async0.trace``."""
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            raise ConfigError(f"{self.path}: {key}: expected a list of records")
        return value


def check_regular(path: Path) -> None:
    """Refuse a pipe or a device: reading it may never end. What is missing is told by its reader."""
    if path.exists() and not path.is_file():
        raise ConfigError(f"{path}: is no regular file")
