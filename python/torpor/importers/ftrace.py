# SPDX-License-Identifier: MIT
"""Text traces of ftrace, as the kernel's ``trace`` file and ``trace-cmd report`` print them.

The row is ``comm-pid [CPU] flags SECONDS.micros: event: args``; the thread-group column and the flags are
optional, task names may hold spaces, dashes and brackets.
"""

from __future__ import annotations

import os
import zlib
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from torpor import _core
from torpor._core import ConfigError

__all__ = ["FtraceLog", "read_ftrace"]

_GZIP_MAGIC = b"\x1f\x8b"


class FtraceLog:
    r"""Rows of a trace in columns; made by :func:`read_ftrace` or from text.

    Parameters
    ----------
    text : bytes
        The whole trace.
    source : str
        What messages call it.

    Raises
    ------
    ConfigError
        When the text is empty or binary, ends in the middle of a row, has no row at all, or when the time of
        a CPU runs backwards; the message names source, line and value.

    Examples
    --------
    >>> log = FtraceLog(b"  <idle>-0  [000] d..1.  1.000002: cpu_idle: state=1 cpu_id=0\n", "example")
    >>> log
    FtraceLog('example', rows=1, events=1, cpus=[0], bad_rows=0)
    >>> int(log.time_ns[0])
    1000002000
    """

    def __init__(self, text: bytes, source: str) -> None:
        self.core = _core.TraceLog(text, source)

    @property
    def source(self) -> str:
        """What messages call the trace."""
        return self.core.source

    @property
    def cpus(self) -> list[int]:
        """CPUs that wrote at least one row, ascending."""
        return self.core.cpus_seen

    @property
    def events(self) -> list[str]:
        """Names of the events, in order of first appearance."""
        return self.core.events

    @cached_property
    def time_ns(self) -> npt.NDArray[np.int64]:
        """Time stamps in nanoseconds, shape (rows,)."""
        return self.core.time_ns

    @property
    def bad_row_count(self) -> int:
        """Number of lines that are neither rows nor comments; they are left out."""
        return self.core.bad_row_count

    @property
    def bad_rows(self) -> list[tuple[int, str]]:
        """Line number, from 1, and beginning of the first hundred bad rows."""
        return self.core.bad_rows

    @property
    def lost_events(self) -> list[tuple[int, int, int]]:
        """Line number, CPU and count of each overrun of a ring buffer."""
        return self.core.lost

    def to_frame(self) -> pd.DataFrame:
        r"""One row per event.

        Returns
        -------
        pandas.DataFrame
            Columns ``time_ns`` (int64, nanoseconds), ``cpu``, ``comm`` (categorical), ``pid``, ``flags``
            (categorical, as in the trace), ``event`` (categorical) and ``args`` (str).

        Examples
        --------
        >>> log = FtraceLog(b"a b-c-7 [001] 5.5: sched_waking: comm=x pid=3\n", "example")
        >>> row = log.to_frame().loc[0]
        >>> print(row["comm"], row["pid"], row["time_ns"])
        a b-c 7 5500000000
        """
        core = self.core
        return pd.DataFrame(
            {
                "time_ns": self.time_ns,
                "cpu": core.cpu,
                "comm": _categories(core.comm_id, core.comms),
                "pid": core.pid,
                "flags": _categories(core.flags_id, core.flag_texts),
                "event": _categories(core.event_id, core.events),
                "args": core.args,
            }
        )

    def __len__(self) -> int:
        return len(self.core)

    def __repr__(self) -> str:
        return (
            f"FtraceLog({self.source!r}, rows={len(self)}, events={len(self.events)}, cpus={self.cpus}, "
            f"bad_rows={self.bad_row_count})"
        )


def _categories(ids: npt.NDArray[np.uint32], names: list[str]) -> Any:
    # Names that are no UTF-8 can fall together once they are decoded.
    unique = list(dict.fromkeys(names))
    place = {name: i for i, name in enumerate(unique)}
    codes = np.array([place[name] for name in names], dtype=np.int64)[ids]
    return pd.Categorical.from_codes(codes, categories=pd.Index(unique))


def _inflate(data: bytes, source: str) -> bytes:
    parts = []
    while data:
        engine = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        try:
            parts.append(engine.decompress(data))
        except zlib.error as error:
            raise ConfigError(f"{source}: damaged gzip file of {len(data)} bytes ({error})") from None
        if not engine.eof:
            raise ConfigError(f"{source}: the gzip file is cut off after {len(data)} bytes")
        data = engine.unused_data
        if data and not data.startswith(_GZIP_MAGIC):
            if data.strip(b"\0"):
                raise ConfigError(f"{source}: {len(data)} bytes of something else follow the gzip file")
            break
    return b"".join(parts)


def read_ftrace(path: str | os.PathLike[str]) -> FtraceLog:
    """Read a text trace, plain or gzip (told apart by their first bytes).

    Parameters
    ----------
    path : path-like
        The file.

    Raises
    ------
    ConfigError
        When the file cannot be read, its gzip data is damaged or cut off, or its text is no trace (see
        :class:`FtraceLog`).

    Examples
    --------
    >>> read_ftrace("no-such-file")
    Traceback (most recent call last):
    torpor._core.ConfigError: no-such-file: cannot be read (No such file or directory)
    """
    source = os.fspath(path)
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise ConfigError(f"{source}: cannot be read ({error.strerror})") from None
    return FtraceLog(_inflate(data, source) if data.startswith(_GZIP_MAGIC) else data, source)
