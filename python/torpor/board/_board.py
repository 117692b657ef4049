# SPDX-License-Identifier: MIT
"""The `Board` that users hold."""

from __future__ import annotations

import copy
import difflib
import io
import os
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec
import tomli_w
from rich.console import Console, Group

from torpor import _core
from torpor.board import _dpm, _freezer, _keys, _provenance, _schema, _show
from torpor.board._capture import read_capture
from torpor.board._content_hash import content_hash
from torpor.board._provenance import Provenance
from torpor.board._source import Source, config_error
from torpor.files import write_whole


class Difference(NamedTuple):
    """One entry in which two boards differ; None where a board has no such entry.

    Examples
    --------
    >>> print(Difference("tick.hz", 250, 1000))
    tick.hz: 250 -> 1000
    """

    key: str
    ours: Any
    theirs: Any

    def __str__(self) -> str:
        return f"{self.key}: {self.ours} -> {self.theirs}"


def catalogue() -> list[str]:
    """Names of the boards that come with torpor, sorted.

    Examples
    --------
    >>> "hikey" in catalogue()
    True
    """
    files = _boards_folder().iterdir()
    return sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml"))


def _boards_folder() -> Any:
    return resources.files("torpor").joinpath("boards")


class Board:
    """A machine as the models see it: CPUs, idle tables, operating points, tick, costs; immutable.

    Every number carries its provenance. Boards come from `load`, `from_toml` and `from_dict`, all of which
    check everything; there is no unchecked board.

    Examples
    --------
    >>> board = Board.load("hikey")
    >>> board.cpu_count, board.tick_hz
    (8, 250)
    >>> state = board.clusters[0].idle_states[1]
    >>> state.name, state.exit_latency_ns, state.target_residency_ns
    ('cpu-sleep', 950000, 1000000)
    >>> board
    Board.load('hikey')
    """

    __slots__ = ("_data", "_dpm_table", "_freezer_table", "_hash", "_origin", "_provenances", "_record")

    _data: dict[str, Any]
    _record: _core.Board
    _freezer_table: _freezer.Freezer | None
    _dpm_table: _dpm.Dpm | None
    _provenances: dict[str, tuple[str, Provenance]]
    _origin: str | None
    _hash: str

    def __init__(self) -> None:
        raise TypeError("make a board with Board.load, Board.from_toml or Board.from_dict")

    @classmethod
    def _build(cls, raw: Mapping[str, Any], source: Source, origin: str | None) -> Board:
        spec = _schema.decode(raw, source)
        core = _schema.to_core(spec, source)
        data = msgspec.json.decode(msgspec.json.encode(spec))
        if spec.freezer is not None:
            _freezer.keep_given(data, raw)
        if spec.dpm is not None:
            _dpm.keep_given(data["dpm"], raw["dpm"])
        board = object.__new__(cls)
        fields = {
            "_data": data,
            "_record": core,
            "_freezer_table": spec.freezer,
            "_dpm_table": spec.dpm,
            "_provenances": _provenance.resolve(data, source),
            "_origin": origin,
            "_hash": content_hash(core, spec.freezer, spec.dpm),
        }
        for name, value in fields.items():
            object.__setattr__(board, name, value)
        return board

    @classmethod
    def load(cls, source: str | os.PathLike[str], *, tick_hz: int | None = None) -> Board:
        """Load a board by catalogue name, from a TOML file, or from the folder of an idle capture.

        Parameters
        ----------
        source : str or path
            A name of `catalogue`, else a path: a ``.toml`` file, or a folder with a ``truth.json`` (or that
            file), whose recorded sysfs tables become the board.
        tick_hz : int, optional
            HZ, ticks per second, in place of the board's own; a capture without it gets 250.

        Raises
        ------
        ConfigError
            For an unknown name (the message lists the catalogue) and for whatever is wrong in the file
            (naming file, line, key, value and limit).

        Examples
        --------
        >>> Board.load("toy", tick_hz=1000).tick_hz
        1000
        >>> Board.load("hikye")
        Traceback (most recent call last):
            ...
        torpor._core.ConfigError: board: value 'hikye' is neither a file nor a folder nor in the catalogue...
        """
        name = os.fspath(source)
        path = Path(name)
        if name in catalogue():
            text = _boards_folder().joinpath(f"{name}.toml").read_text(encoding="utf-8")
            board = cls._from_text(text, f"{name}.toml", f"Board.load({name!r})")
        elif path.is_dir() or path.name == "truth.json":
            truth = path if path.name == "truth.json" else path / "truth.json"
            if not truth.is_file():
                raise config_error(
                    "board", f"board: value {name!r} has no truth.json, limit: a capture's folder has one"
                )
            raw, origin = read_capture(truth, tick_hz)
            suffix = "" if tick_hz is None else f", tick_hz={tick_hz}"
            return cls._build(raw, origin, f"Board.load({name!r}{suffix})")
        elif path.is_file():
            try:
                text = path.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise config_error("", f"{name}: cannot be read as UTF-8 text: {error}") from None
            board = cls._from_text(text, name, f"Board.load({name!r})")
        else:
            known = catalogue()
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            message = f"value {name!r} is neither a file nor a folder nor in the catalogue"
            raise config_error("board", f"board: {message}, limit: {', '.join(known)}{hint}")
        return board if tick_hz is None else board.with_value("tick.hz", tick_hz)

    @classmethod
    def _from_text(cls, text: str, label: str, origin: str | None) -> Board:
        return cls._build(_schema.parse_toml(text, label), Source(label, text), origin)

    @classmethod
    def from_toml(cls, text: str, *, label: str = "<string>") -> Board:
        """Make a board from TOML text; `label` stands for the file in errors.

        Examples
        --------
        >>> board = Board.load("toy")
        >>> Board.from_toml(board.to_toml()) == board
        True
        """
        return cls._from_text(text, label, None)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Board:
        """Make a board from the dictionary of `to_dict`.

        Examples
        --------
        >>> board = Board.load("toy")
        >>> Board.from_dict(board.to_dict()) == board
        True
        """
        return cls._build(data, Source("<dict>"), None)

    @property
    def name(self) -> str:
        """Name, that of the catalogue for boards that come with torpor."""
        return str(self._data["name"])

    @property
    def description(self) -> str:
        """One or two sentences for people."""
        return str(self._data.get("description", ""))

    @property
    def tick_hz(self) -> int:
        """HZ, scheduler ticks per second."""
        return int(self._record.tick_hz)

    @property
    def cpu_count(self) -> int:
        """Number of CPUs."""
        return int(self._record.cpu_count)

    @property
    def clusters(self) -> tuple[_core.Cluster, ...]:
        """Clusters as the engine has them, all latencies worked out."""
        return tuple(self._record.clusters)

    @property
    def core(self) -> _core.Board:
        """The engine's own record."""
        return self._record

    @property
    def freezer(self) -> _freezer.Freezer | None:
        """What freezing costs on this board and the tasks that it runs; None when the file does not say.

        Entries that the file leaves out have their default.

        Examples
        --------
        >>> Board.load("nexus-10").freezer.costs.visit_cycles
        140
        >>> Board.load("hikey").freezer is None
        True
        """
        return self._freezer_table

    @property
    def dpm(self) -> _dpm.Dpm | None:
        """What suspending and resuming devices costs on this board, and its devices; None without [dpm].

        Entries that the file leaves out have their default.

        Examples
        --------
        >>> Board.load("pixel-6").dpm.costs.queue_us
        1.5
        >>> Board.load("hikey").dpm is None
        True
        """
        return self._dpm_table

    def opp_indices(self, freq_khz: int | Mapping[str, int] | None = None) -> list[int]:
        """Operating point of each cluster, as an index into its table.

        Parameters
        ----------
        freq_khz : int, mapping of str to int, or None, kilohertz
            Frequency of all clusters that have such an operating point, or of each cluster by its name; the
            others, and all for None, run at their highest.

        Raises
        ------
        ConfigError
            When no cluster has it, or the named one does not; the message lists what there is.

        Examples
        --------
        >>> Board.load("hikey").opp_indices(729_000)
        [2, 2]
        >>> Board.load("pixel-6").opp_indices({"little": 300_000})
        [0, 13, 16]
        """
        tables = {cluster.name: [opp.freq_khz for opp in cluster.opps] for cluster in self.clusters}
        wanted: dict[str, int] = {}
        if isinstance(freq_khz, Mapping):
            wanted = dict(freq_khz)
            for name, khz in wanted.items():
                if name not in tables:
                    names = ", ".join(tables)
                    raise config_error("opp_khz", f"opp_khz[{name}]={khz}: clusters of {self.name}: {names}")
                if khz not in tables[name]:
                    raise config_error("opp_khz", f"opp_khz[{name}]={khz}: the cluster has {tables[name]}")
        elif freq_khz is not None:
            wanted = {name: freq_khz for name, table in tables.items() if freq_khz in table}
            if not wanted:
                known = sorted({khz for table in tables.values() for khz in table})
                raise config_error("opp_khz", f"opp_khz={freq_khz}: {self.name} has {known}")
        return [
            table.index(wanted[name]) if name in wanted else max(len(table) - 1, 0)
            for name, table in tables.items()
        ]

    @property
    def content_hash(self) -> str:
        """SHA-256 (64 hex digits) of what a model reads: the name and the numbers, not their provenance.

        The same on every machine and in every process, so results can be stored under it.

        Examples
        --------
        >>> board = Board.load("toy")
        >>> board.content_hash == Board.from_toml(board.to_toml()).content_hash
        True
        """
        return self._hash

    @property
    def provenances(self) -> Mapping[str, tuple[str, Provenance]]:
        """For every number, by key: the pattern of the entry that speaks for it, and the entry."""
        return MappingProxyType(self._provenances)

    def provenance(self, key: str) -> Provenance:
        """Where the number under a key comes from.

        Examples
        --------
        >>> Board.load("hikey").provenance("clusters[0].idle_states[WFI].wake_latency_us").kind
        'assumed'
        """
        found = _keys.lookup(self._data, _keys.split(key) or ())
        if found is None or found[0] not in self._provenances:
            raise self._unknown(key, list(self._provenances))
        return self._provenances[found[0]][1]

    def value(self, key: str) -> Any:
        """Value under a key path, as the board's file has it.

        Raises
        ------
        ConfigError
            When the board has no such entry; the message lists the nearest keys.

        Examples
        --------
        >>> Board.load("hikey").value("clusters[0].idle_states[cluster-sleep].wakeup_us")
        1500
        """
        found = _keys.lookup(self._data, _keys.split(key) or ())
        if found is None:
            raise self._unknown(key, [leaf.key for leaf in _keys.leaves(self._data)])
        return copy.deepcopy(found[1])

    def with_value(self, key: str, value: Any) -> Board:
        """Copy of the board with one entry replaced; its provenance becomes ``assumed``.

        Parameters
        ----------
        key : str
            Path of an entry, such as ``tick.hz`` or ``clusters[big].idle_states[2].target_residency_us``.
        value : object
            The new value; None takes an optional entry away.

        Raises
        ------
        ConfigError
            For a key that no board has (the message lists the nearest ones), a value that breaks a rule.

        Examples
        --------
        >>> Board.load("hikey").with_value("tick.hz", 1000).tick_hz
        1000
        """
        steps = _keys.split(key) or ()
        found = _keys.lookup(self._data, steps[:-1])
        table = _schema.table_at(steps[:-1]) if found else None
        settable = [name for name in (table.__struct_fields__ if table else ()) if name != "provenance"]
        if found is None or not steps or steps[-1] not in settable or _is_table(steps):
            raise self._unknown(key, self._settable())
        leaf = _keys.join((*(_keys.split(found[0]) or ()), steps[-1])) if found[0] else steps[-1]
        if found[1].get(steps[-1]) == value:
            return self
        data = self.to_dict()
        parent = _keys.lookup(data, steps[:-1])
        assert parent is not None
        parent[1].pop(steps[-1], None)
        if value is not None:
            parent[1][steps[-1]] = list(value) if isinstance(value, tuple) else value
        kept = {p for at, (p, _) in self._provenances.items() if at != leaf and not at.startswith(f"{leaf}.")}
        entries = {pattern: text for pattern, text in data["provenance"].items() if pattern in kept}
        for new in _keys.leaves({name: table for name, table in data.items() if name != "provenance"}):
            is_set = new.key == leaf or new.key.startswith(f"{leaf}.")
            if is_set and _provenance.needs_provenance(new):
                entries[new.key] = "assumed: set with Board.with_value"
        data["provenance"] = entries
        origin = None if self._origin is None else f"{self._origin}.with_value({leaf!r}, {value!r})"
        return self._build(data, Source(f"board {self.name}"), origin)

    def _settable(self) -> list[str]:
        keys: list[str] = []
        for leaf in _keys.leaves({name: value for name, value in self._data.items() if name != "provenance"}):
            parent = _keys.split(leaf.key) or ()
            table = _schema.table_at(parent[:-1])
            for name in table.__struct_fields__ if table else ():
                sibling = (*parent[:-1], name)
                if not _is_table(sibling):
                    keys.append(_keys.join(sibling))
        return list(dict.fromkeys(keys))

    def _unknown(self, key: str, known: list[str]) -> _core.ConfigError:
        near = difflib.get_close_matches(key, known, n=3, cutoff=0.4) or known[:3]
        return config_error(key, f"board {self.name}: {key}: no such entry, near ones: {', '.join(near)}")

    def validate(self) -> None:
        """Check every rule and the provenance again; a board that could be made always passes."""
        self._build(self._data, Source(f"board {self.name}"), None)

    def diff(self, other: Board) -> list[Difference]:
        """Entries in which the other board differs, in the order of the file; provenance aside.

        Examples
        --------
        >>> board = Board.load("hikey")
        >>> [str(entry) for entry in board.diff(board.with_value("tick.hz", 1000))]
        ['tick.hz: 250 -> 1000']
        """
        ours, theirs = self._values(), other._values()
        keys = [*ours, *(key for key in theirs if key not in ours)]
        return [Difference(k, ours.get(k), theirs.get(k)) for k in keys if ours.get(k) != theirs.get(k)]

    def _values(self) -> dict[str, Any]:
        data = {name: value for name, value in self._data.items() if name != "provenance"}
        return {leaf.key: leaf.value for leaf in _keys.leaves(data)}

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionary with the layout of the file, provenance included; the caller's own copy."""
        return copy.deepcopy(self._data)

    def to_toml(self) -> str:
        """TOML text that reads back to an equal board."""
        return tomli_w.dumps(self._data)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the board as TOML; a crash midway leaves the old file or the new one, never half of one.

        Raises
        ------
        ConfigError
            When the file cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Board.load("toy").save(f"{folder}/mine.toml")
        ...     Board.load(f"{folder}/mine.toml") == Board.load("toy")
        True
        """
        write_whole(path, lambda file: file.write(self.to_toml().encode()))

    def show(self) -> Group:
        """Tables of the board with the provenance of every row, for ``rich.print`` or a rich console."""
        return _show.rich_view(self)

    def __rich__(self) -> Group:
        return self.show()

    def _repr_html_(self) -> str:
        return _show.html_view(self)

    def __str__(self) -> str:
        console = Console(file=io.StringIO(), width=140, color_system=None)
        with console.capture() as capture:
            console.print(self.show())
        return capture.get()

    def __repr__(self) -> str:
        return self._origin or f"Board.from_dict({self._data!r})"

    def __eq__(self, other: object) -> bool:
        return self._data == other._data if isinstance(other, Board) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._hash)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Board is immutable: use with_value instead of setting {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Board is immutable: {name} cannot be deleted")

    def __copy__(self) -> Board:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Board:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self._data, self._origin)


def _restore(data: dict[str, Any], origin: str | None) -> Board:
    return Board._build(data, Source("<pickle>"), origin)


def _is_table(steps: tuple[str, ...]) -> bool:
    return _schema.table_at(steps) is not None or _schema.table_at((*steps, "[0]")) is not None
