# SPDX-License-Identifier: MIT
"""Governors against golden decision vectors: recorded inputs and the answers that real kernels gave to them.

A folder of vectors holds ``sequences.csv`` (one line per sequence), ``tables.csv`` (idle-state tables) and
per sequence one ``<sequence>.csv`` or ``<sequence>.csv.gz`` with a row per decision. ``tests/golden/idle`` is
such a folder.
"""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from torpor._core import ConfigError, StateTable, TickLength, decide, parse_policy
from torpor.report import Report
from torpor.tables import Column, Table

__all__ = [
    "ADVISORY_KEYS",
    "EXACT_KEYS",
    "Answer",
    "Difference",
    "GoldenReport",
    "GovernorCheck",
    "check_golden",
]

EXACT_KEYS: Mapping[str, str] = {
    "m418": "menu(version=4.18)",
    "m41820": "menu(version=4.19)",
    "m61": "menu(version=6.1.192)",
    "m612": "menu(version=6.12.117)",
    "t61": "teo(version=6.1)",
    "t612": "teo(version=6.12.117)",
    "l61": "ladder(version=6.1)",
}
"""Column keys whose answers come from a kernel's original code, each with our policy for it."""

ADVISORY_KEYS: Mapping[str, str] = {"mnew": "menu(version=7.1)", "tnew": "teo(version=7.1)"}
"""Column keys whose origin is less certain; compared only when asked for."""

_DEBUG = ("typ", "pred", "bkt", "fac", "total")
_INPUT_LIMITS: Mapping[str, tuple[int, int]] = {
    "sleep_ns": (-(2**63), 2**63 - 1),
    "tick_ns": (-(2**63), 2**63 - 1),
    "stopped": (0, 1),
    "lat_us": (0, 2**31 - 1),
    "iowait": (0, 2**32 - 1),
    "load": (0, 2**32 - 1),
    "dis": (0, 2**32 - 1),
    "span_ns": (-(2**63), 2**63 - 1),
    "resid_ns": (0, 2**64 - 1),
    "got_tick": (0, 1),
    "poll_to": (0, 1),
}
_INPUT_TYPES: Mapping[str, type[np.generic]] = {
    "sleep_ns": np.int64,
    "tick_ns": np.int64,
    "stopped": np.uint8,
    "lat_us": np.int64,
    "iowait": np.uint32,
    "load": np.uint32,
    "dis": np.uint32,
    "span_ns": np.int64,
    "resid_ns": np.uint64,
    "got_tick": np.uint8,
    "poll_to": np.uint8,
    "enter": np.int32,
}
_WHOLE = re.compile(r"-?[0-9]+\Z")
_NOT_DIGITS = re.compile(r"[^-0-9,\n]")


@dataclass(frozen=True)
class Answer:
    """One answer of a governor.

    Parameters
    ----------
    idx : int
        State chosen, 0 is the shallowest.
    stop : int
        1 if the tick should be stopped, else 0.
    debug : mapping of str to int
        Figures behind the answer (``typ`` in us, ``pred``, ``bkt``, ``fac``, ``total``), as far as both sides
        have them.

    Examples
    --------
    >>> str(Answer(2, 1, {"total": 1024}))
    'state 2, stop 1 (total 1024)'
    """

    idx: int
    stop: int
    debug: Mapping[str, int]

    def __str__(self) -> str:
        figures = ", ".join(f"{name} {value}" for name, value in self.debug.items())
        return f"state {self.idx}, stop {self.stop}" + (f" ({figures})" if figures else "")

    def to_json(self) -> dict[str, int]:
        """State and stop flag."""
        return {"idx": self.idx, "stop": self.stop}


@dataclass(frozen=True)
class Difference:
    """A row in which a governor answers otherwise than its kernel.

    Parameters
    ----------
    sequence : str
        Name of the sequence.
    row : int
        Number of the decision, from 0.
    expected, got : Answer
        The kernel's answer and ours.

    Examples
    --------
    >>> Difference("p00", 7, Answer(1, 1, {}), Answer(2, 1, {})).to_json()["row"]
    7
    """

    sequence: str
    row: int
    expected: Answer
    got: Answer

    def __str__(self) -> str:
        return f"{self.sequence} row {self.row}: expected {self.expected}, got {self.got}"

    def to_json(self) -> dict[str, Any]:
        """Plain data without the debug figures."""
        return {
            "sequence": self.sequence,
            "row": self.row,
            "expected": self.expected.to_json(),
            "got": self.got.to_json(),
        }


@dataclass(frozen=True)
class GovernorCheck:
    """What became of one governor.

    Parameters
    ----------
    key : str
        Its column key in the vectors.
    policy : str
        Our policy that was compared.
    sequences, rows, differing : int
        Sequences and rows compared, and rows in which state or stop flag differ.
    first : Difference or None
        The first of them, in the order of ``sequences.csv``.

    Examples
    --------
    >>> GovernorCheck("l61", "ladder(version=6.1)", 40, 80000, 0, None).to_json()["rows"]
    80000
    """

    key: str
    policy: str
    sequences: int
    rows: int
    differing: int
    first: Difference | None

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        first = None if self.first is None else self.first.to_json()
        return {"sequences": self.sequences, "rows": self.rows, "differing": self.differing, "first": first}


@dataclass(frozen=True)
class GoldenReport(Report):
    """Result of :func:`check_golden`; prints as a table, ``to_json()`` gives plain data.

    Parameters
    ----------
    tables, data
        See :class:`torpor.report.Report`.
    governors : tuple of GovernorCheck
        One per governor, in the order asked for.

    Examples
    --------
    >>> GoldenReport.of([GovernorCheck("l61", "ladder(version=6.1)", 1, 2000, 0, None)]).all_equal
    True
    """

    governors: tuple[GovernorCheck, ...] = ()

    @classmethod
    def of(cls, checks: Sequence[GovernorCheck]) -> GoldenReport:
        """Report of some checks."""
        columns = [
            Column("governor", align="left"),
            Column("policy", align="left"),
            Column("sequences"),
            Column("rows"),
            Column("differing"),
            Column("first difference", align="left", wrap=40),
        ]
        rows = [
            [c.key, c.policy, c.sequences, c.rows, c.differing, None if c.first is None else str(c.first)]
            for c in checks
        ]
        table = Table("Governors against golden decision vectors", columns, rows)
        return cls([table], {"governors": {c.key: c.to_json() for c in checks}}, tuple(checks))

    @property
    def all_equal(self) -> bool:
        """True if no row of any governor differs."""
        return all(check.differing == 0 for check in self.governors)


def check_golden(folder: str | Path, governors: Sequence[str] | None = None) -> GoldenReport:
    """Compare governors with every decision of a folder of golden vectors.

    Each governor starts cold at the beginning of each sequence and runs on its own answers; state and stop
    flag must be equal in every row. Ladder has no stop column and counts as 1 throughout.

    Parameters
    ----------
    folder : str or Path
        Folder of vectors; any number of sequences of any length.
    governors : sequence of str, optional
        Column keys to compare; by default all of :data:`EXACT_KEYS`. Those of :data:`ADVISORY_KEYS` must be
        named.

    Returns
    -------
    GoldenReport
        Per governor: sequences, rows, differing rows and the first difference.

    Raises
    ------
    ConfigError
        For an unknown key; for a file that is missing, empty, truncated or not in the format, naming file,
        row and column; for a table that ``tables.csv`` lacks, an entered state that the table lacks, and a
        sequence that ``sequences.csv`` describes otherwise.

    Examples
    --------
    >>> from torpor import ConfigError
    >>> try:
    ...     check_golden("nowhere")
    ... except ConfigError as error:
    ...     print(error)
    nowhere/sequences.csv: no such file
    """
    known = {**EXACT_KEYS, **ADVISORY_KEYS}
    keys = list(dict.fromkeys(EXACT_KEYS if governors is None else governors))
    for key in keys:
        if key not in known:
            raise ConfigError(f"governor {key!r} is unknown; known: {', '.join(known)}")
    if not keys:
        raise ConfigError("no governor to compare; name at least one")
    sequences = _read_sequences(Path(folder))
    differing = dict.fromkeys(keys, 0)
    first: dict[str, Difference] = {}
    for sequence in sequences:
        rows = sequence.read(keys)
        for key in keys:
            count, difference = sequence.compare(rows, key, known[key])
            differing[key] += count
            if difference is not None:
                first.setdefault(key, difference)
    total = sum(sequence.rows for sequence in sequences)
    return GoldenReport.of(
        [GovernorCheck(k, known[k], len(sequences), total, differing[k], first.get(k)) for k in keys]
    )


def _fail(path: Path, message: str) -> ConfigError:
    return ConfigError(f"{path}: {message}")


class _Csv:
    """A file of comma-separated values without quoting, checked as it is read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lines = _read_text(path).splitlines()
        if not self._lines:
            raise _fail(path, "is empty; a header line is expected")
        self._header = self._lines[0].split(",")
        for name in self._header:
            if self._header.count(name) > 1:
                raise _fail(path, f"column {name!r} appears twice in the header")
        commas = len(self._header) - 1
        for row, line in enumerate(self._lines[1:]):
            if line.count(",") != commas:
                raise _fail(path, f"row {row} has {line.count(',') + 1} cells; the header has {commas + 1}")

    def __len__(self) -> int:
        return len(self._lines) - 1

    def __contains__(self, column: str) -> bool:
        return column in self._header

    def cell(self, row: int, column: str) -> str:
        """Return the text of one cell."""
        return self._lines[row + 1].split(",")[self._position(column)]

    def texts(self, column: str) -> list[str]:
        """Return a column as it stands."""
        position = self._position(column)
        return [line.split(",")[position] for line in self._lines[1:]]

    def integers(self, limits: Mapping[str, tuple[int, int]]) -> dict[str, npt.NDArray[Any]]:
        """Columns of whole numbers within limits, as int64, or uint64 where the upper limit needs it."""
        for column in limits:
            self._position(column)
        wide = [column for column, (_, high) in limits.items() if high >= 2**63]
        body = "\n".join(self._lines[1:])
        # Pandas takes "1.0" and "True" for whole numbers, so it gets to see digits only.
        if _NOT_DIGITS.search(body):
            self._check_cells(limits)
            kinds = {name: np.uint64 if name in wide else np.int64 for name in limits}
            return {
                name: np.array([int(cell) for cell in self.texts(name)], dtype=kind)
                for name, kind in kinds.items()
            }
        try:
            frame = pd.read_csv(
                io.StringIO(body),
                header=None,
                names=self._header,
                usecols=list(limits),
                dtype={name: str if name in wide else np.int64 for name in limits},
                na_filter=False,
            )
            columns = {name: frame[name].to_numpy() for name in limits if name not in wide}
            columns |= {name: _unsigned(frame[name]) for name in wide}
        except (ValueError, OverflowError):
            self._check_cells(limits)
            raise _fail(self.path, "is not a table of whole numbers") from None
        for name, (low, high) in limits.items():
            values = columns[name]
            if len(values) and (int(values.min()) < low or int(values.max()) > high):
                self._check_cells(limits)
        return columns

    def _position(self, column: str) -> int:
        if column not in self._header:
            raise _fail(self.path, f"column {column!r} is missing")
        return self._header.index(column)

    def _check_cells(self, limits: Mapping[str, tuple[int, int]]) -> None:
        for row in range(len(self)):
            for column, (low, high) in limits.items():
                cell = self.cell(row, column)
                where = f"row {row}, column {column}"
                if not _WHOLE.match(cell):
                    raise _fail(self.path, f"{where}: {cell!r} is not a whole number")
                if not low <= int(cell) <= high:
                    raise _fail(self.path, f"{where}: {cell} is out of range; it must be {low}..{high}")


@dataclass(frozen=True)
class _Sequence:
    """One line of ``sequences.csv`` with its table."""

    name: str
    path: Path
    table: StateTable
    tick: TickLength
    rows: int

    def read(self, keys: Sequence[str]) -> _Rows:
        """Read the file and check everything that the comparison of `keys` needs."""
        file = _Csv(self.path)
        if len(file) != self.rows:
            raise _fail(self.path, f"has {len(file)} rows, but sequences.csv says {self.rows}")
        any_state = (-(2**31), 2**31 - 1)
        limits = {"row": (0, 2**63 - 1), **_INPUT_LIMITS, "enter": (-2, len(self.table) - 1)}
        for key in keys:
            limits[f"{key}_idx"] = any_state
            if key != "l61":
                limits[f"{key}_stop"] = (0, 1)
        columns = file.integers(limits)
        wrong = np.flatnonzero(columns["row"] != np.arange(len(file)))
        if len(wrong):
            row, found = int(wrong[0]), columns["row"][wrong[0]]
            raise _fail(self.path, f"row {row}, column row: {found} stands where {row} is expected")
        inputs = {name: columns[name].astype(kind) for name, kind in _INPUT_TYPES.items()}
        return _Rows(file, columns, inputs)

    def compare(self, rows: _Rows, key: str, policy: str) -> tuple[int, Difference | None]:
        """Differing rows and the first of them."""
        governor = parse_policy(policy)
        got = decide(governor, table=self.table, tick=self.tick, **rows.inputs)
        stop = rows.columns.get(f"{key}_stop", np.ones(self.rows, dtype=np.int64))
        idx = rows.columns[f"{key}_idx"]
        different = np.flatnonzero((got["idx"] != idx) | (got["stop"] != stop))
        if not len(different):
            return 0, None
        row = int(different[0])
        again = decide(governor, table=self.table, tick=self.tick, **rows.inputs, debug=True)
        known = [name for name in _DEBUG if f"{key}_{name}" in rows.file]
        expected = {name: rows.file.cell(row, f"{key}_{name}") for name in known}
        theirs = {name: int(text) for name, text in expected.items() if _WHOLE.match(text)}
        ours = {name: int(again[name][row]) for name in theirs}
        return len(different), Difference(
            self.name,
            row,
            Answer(int(idx[row]), int(stop[row]), theirs),
            Answer(int(got["idx"][row]), int(got["stop"][row]), ours),
        )


@dataclass(frozen=True)
class _Rows:
    """The columns of one sequence: all of them, and those that a governor is shown."""

    file: _Csv
    columns: Mapping[str, npt.NDArray[Any]]
    inputs: Mapping[str, Any]


def _read_text(path: Path) -> str:
    try:
        data = path.read_bytes()
        return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8")
    except FileNotFoundError:
        raise _fail(path, "no such file") from None
    except UnicodeDecodeError as error:
        raise _fail(path, f"is not text: byte {error.start} is not UTF-8") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise _fail(path, f"cannot be unpacked: {error}") from None
    except OSError as error:
        raise _fail(path, f"cannot be read: {error.strerror}") from None


def _read_tables(path: Path) -> dict[str, StateTable]:
    file = _Csv(path)
    numbers = file.integers(
        {
            "state": (0, 9),
            "exit_latency_us": (0, 2**31 - 1),
            "target_residency_us": (0, 2**31 - 1),
            "polling": (0, 1),
        }
    )
    states: dict[str, list[int]] = {}
    for row, name in enumerate(file.texts("table")):
        members = states.setdefault(name, [])
        if numbers["state"][row] != len(members):
            found = numbers["state"][row]
            raise _fail(path, f"row {row}, column state: {found} stands where {len(members)} is expected")
        members.append(row)
    return {
        name: StateTable(
            [int(numbers["exit_latency_us"][row]) * 1000 for row in members],
            target_residency_ns=[int(numbers["target_residency_us"][row]) * 1000 for row in members],
            polling=[bool(numbers["polling"][row]) for row in members],
        )
        for name, members in states.items()
    }


def _read_sequences(folder: Path) -> list[_Sequence]:
    path = folder / "sequences.csv"
    file = _Csv(path)
    numbers = file.integers(
        {"hz": (1, 10000), "tick_ns": (1, 10**9), "tick_us": (1, 10**6), "rows": (1, 2**31 - 1)}
    )
    if not len(file):
        raise _fail(path, "lists no sequence")
    tables = _read_tables(folder / "tables.csv")
    sequences: list[_Sequence] = []
    for row, (name, table) in enumerate(zip(file.texts("sequence"), file.texts("table"), strict=True)):
        if table not in tables:
            known = ", ".join(tables) or "none"
            raise _fail(path, f"row {row}, column table: {table!r} is not in tables.csv; known: {known}")
        tick = TickLength(int(numbers["hz"][row]))
        for column, expected in (("tick_ns", tick.ns), ("tick_us", tick.us)):
            if numbers[column][row] != expected:
                found = f"{numbers[column][row]} contradicts hz {tick.hz}, which gives {expected}"
                raise _fail(path, f"row {row}, column {column}: {found}")
        if any(sequence.name == name for sequence in sequences):
            raise _fail(path, f"row {row}, column sequence: {name!r} is listed twice")
        plain = folder / f"{name}.csv"
        data = plain if plain.exists() else folder / f"{name}.csv.gz"
        sequences.append(_Sequence(name, data, tables[table], tick, int(numbers["rows"][row])))
    return sequences


def _unsigned(texts: pd.Series) -> npt.NDArray[np.uint64]:
    """Whole numbers as 64 unsigned bits; older NumPy would wrap a negative one instead of refusing it."""
    values = [int(text) for text in texts]
    if values and min(values) < 0:
        raise OverflowError
    return np.array(values, dtype=np.uint64)
