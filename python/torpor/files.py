# SPDX-License-Identifier: MIT
"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from torpor._core import ConfigError

__all__ = ["check_writable", "write_whole"]


def write_whole(path: str | os.PathLike[str], write: Callable[[BinaryIO], object]) -> None:
    """Write a file so that a crash at any instant leaves the old one or the new one, never half of one.

    The content goes to a temporary file in the same folder, which then takes the place of the target; a
    symbolic link stays a link. A device or a pipe is written directly: there is nothing to replace.

    Parameters
    ----------
    path : str or path
        Where to.
    write : callable
        Called with a binary file.

    Raises
    ------
    ConfigError
        When the file cannot be written, with its name and the reason.

    Examples
    --------
    >>> write_whole("no/such/folder/file", lambda file: file.write(b"text"))
    Traceback (most recent call last):
    torpor._core.ConfigError: no/such/folder/file: cannot be written (No such file or directory)
    """
    temporary = None
    try:
        target = Path(os.path.realpath(path))
        if target.exists() and not target.is_file():
            with target.open("wb") as file:
                write(file)
            return
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        temporary = Path(name)
        with os.fdopen(handle, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(target.stat().st_mode & 0o7777 if target.exists() else 0o666 & ~_umask())
        temporary.replace(target)
        temporary = None
    except OSError as error:
        raise ConfigError(f"{os.fspath(path)}: cannot be written ({error.strerror or error})") from None
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Complain before long work about a file that could not be written after it.

    Raises
    ------
    ConfigError
        When the folder is not there or cannot be written, or the path is a folder.

    Examples
    --------
    >>> check_writable("no/such/folder/file")
    Traceback (most recent call last):
    torpor._core.ConfigError: no/such/folder/file: cannot be written (no such folder)
    """
    target = Path(os.path.realpath(path))
    reason = None
    if not target.parent.is_dir():
        reason = "no such folder"
    elif target.is_dir():
        reason = "it is a folder"
    elif not os.access(target if target.exists() else target.parent, os.W_OK):
        reason = "permission denied"
    if reason is not None:
        raise ConfigError(f"{os.fspath(path)}: cannot be written ({reason})")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
