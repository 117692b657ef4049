# SPDX-License-Identifier: MIT
"""Lines of a log file of any size, compressed or not, whatever bytes are in it."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import BinaryIO, cast

from torpor._core import ConfigError

__all__ = ["LogDamage", "log_lines", "log_name"]

_STANDARD_INPUT = "-"

LONGEST_LINE = 65536
"""Bytes of a line that are looked at: binary data without a line end must not fill the memory."""

_PIECE = 64
"""Bytes that Arrow is asked for at once: those of the piece in which the data breaks off are lost, so that it
is shorter than most lines."""

_FRAMES = {b"\x28\xb5\x2f\xfd": "zstd", b"\x04\x22\x4d\x18": "lz4"}
"""Compressions by the first bytes of their frames, under the names that Arrow gives them."""


class LogDamage(Exception):
    """The compressed data of a log ends early or is damaged; the lines before were delivered."""


def log_lines(path: str | os.PathLike[str]) -> Iterator[bytes]:
    """Deliver the lines of a file, without line ends, one by one.

    Plain text, gzip, xz, bzip2, zstd and lz4 frames are told apart by their first bytes; ``-`` is standard
    input.

    Raises
    ------
    ConfigError
        When the file cannot be read or this installation lacks its compression.
    LogDamage
        After the last readable line of damaged compressed data.

    Examples
    --------
    >>> next(log_lines("no-such-file"))
    Traceback (most recent call last):
    torpor._core.ConfigError: no-such-file: cannot be read (No such file or directory)
    """
    source = log_name(path)
    try:
        with _file(path) as file:
            stream, kind = _opened(file, source)
            with stream:
                try:
                    yield from _split(stream)
                except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
                    raise LogDamage(f"the {kind} data is damaged or cut off ({error})") from None
                except OSError as error:
                    # Neither the bz2 module nor Arrow has an error class of its own.
                    if kind not in ("bzip2", *_FRAMES.values()) or error.errno is not None:
                        raise
                    raise LogDamage(f"the {kind} data is damaged or cut off ({error})") from None
    except OSError as error:
        raise ConfigError(f"{source}: cannot be read ({error.strerror or error})") from None


def log_name(path: str | os.PathLike[str]) -> str:
    """Say what messages call a log.

    Examples
    --------
    >>> log_name("-"), log_name("dmesg.txt")
    ('standard input', 'dmesg.txt')
    """
    source = os.fspath(path)
    return "standard input" if source == _STANDARD_INPUT else source


def _file(path: str | os.PathLike[str]) -> AbstractContextManager[io.BufferedReader]:
    if os.fspath(path) != _STANDARD_INPUT:
        return Path(path).open("rb")
    if sys.stdin is None:
        raise ConfigError("standard input: it is closed")
    return nullcontext(cast(io.BufferedReader, sys.stdin.buffer))


def _opened(file: io.BufferedReader, source: str) -> tuple[BinaryIO, str]:
    start = file.peek(6)[:6]
    if start.startswith(b"\x1f\x8b"):
        return cast(BinaryIO, gzip.GzipFile(fileobj=file)), "gzip"
    if start.startswith(b"\xfd7zXZ\0"):
        return cast(BinaryIO, lzma.LZMAFile(file)), "xz"
    if start.startswith(b"BZh"):
        return cast(BinaryIO, bz2.BZ2File(file)), "bzip2"
    kind = _FRAMES.get(start[:4])
    return (file, "plain") if kind is None else (_unpacked(file, kind, source), kind)


def _unpacked(file: io.BufferedReader, kind: str, source: str) -> BinaryIO:
    import pyarrow as pa  # takes longer to load than most logs to read

    if not pa.Codec.is_available(kind):
        raise ConfigError(f"{source}: this installation of pyarrow has no {kind}: decompress the file first")
    unpacked = pa.CompressedInputStream(pa.PythonFile(file, mode="r"), kind)
    return cast(BinaryIO, io.BufferedReader(unpacked, _PIECE))


def _split(stream: BinaryIO) -> Iterator[bytes]:
    whole = True
    while raw := stream.readline(LONGEST_LINE):
        begins, whole = whole, raw.endswith(b"\n")
        if begins:
            yield raw.rstrip(b"\r\n")
