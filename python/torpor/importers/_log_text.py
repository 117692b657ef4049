# SPDX-License-Identifier: MIT
"""Lines of a log file of any size, compressed or not, whatever bytes are in it."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from torpor._core import ConfigError

__all__ = ["LogDamage", "log_lines"]

LONGEST_LINE = 65536
"""Bytes of a line that are looked at: binary data without a line end must not fill the memory."""

_ZSTD = b"\x28\xb5\x2f\xfd"


class LogDamage(Exception):
    """The compressed data of a log ends early or is damaged; the lines before were delivered."""


def log_lines(path: str | os.PathLike[str]) -> Iterator[bytes]:
    """Deliver the lines of a file, without line ends, one by one.

    Plain text, gzip, xz and bzip2 are told apart by their first bytes.

    Raises
    ------
    ConfigError
        When the file cannot be read or has a compression that is not understood.
    LogDamage
        After the last readable line of damaged compressed data.

    Examples
    --------
    >>> next(log_lines("no-such-file"))
    Traceback (most recent call last):
    torpor._core.ConfigError: no-such-file: cannot be read (No such file or directory)
    """
    source = os.fspath(path)
    try:
        with Path(path).open("rb") as file:
            stream, kind = _opened(file, source)
            with stream:
                try:
                    yield from _split(stream)
                except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
                    raise LogDamage(f"the {kind} data is damaged or cut off ({error})") from None
                except OSError as error:
                    # The bz2 module has no error class of its own.
                    if kind != "bzip2" or error.errno is not None:
                        raise
                    raise LogDamage(f"the {kind} data is damaged or cut off ({error})") from None
    except OSError as error:
        raise ConfigError(f"{source}: cannot be read ({error.strerror or error})") from None


def _opened(file: io.BufferedReader, source: str) -> tuple[BinaryIO, str]:
    start = file.peek(6)[:6]
    if start.startswith(b"\x1f\x8b"):
        return cast(BinaryIO, gzip.GzipFile(fileobj=file)), "gzip"
    if start.startswith(b"\xfd7zXZ\0"):
        return cast(BinaryIO, lzma.LZMAFile(file)), "xz"
    if start.startswith(b"BZh"):
        return cast(BinaryIO, bz2.BZ2File(file)), "bzip2"
    if start.startswith(_ZSTD):
        raise ConfigError(f"{source}: zstd files are not read; decompress it first (zstd -d)")
    return file, "plain"


def _split(stream: BinaryIO) -> Iterator[bytes]:
    whole = True
    while raw := stream.readline(LONGEST_LINE):
        begins, whole = whole, raw.endswith(b"\n")
        if begins:
            yield raw.rstrip(b"\r\n")
