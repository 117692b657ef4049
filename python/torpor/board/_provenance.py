# SPDX-License-Identifier: MIT
"""Where the numbers of a board come from."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, cast, get_args

import msgspec

from torpor.board import _keys
from torpor.board._schema import table_at
from torpor.board._source import Source

Kind = Literal["cited", "measured", "fitted", "assumed"]
KINDS: tuple[str, ...] = get_args(Kind)


class Provenance(NamedTuple):
    """How a number is known.

    Attributes
    ----------
    kind : {"cited", "measured", "fitted", "assumed"}
        ``cited`` from a publication or a source tree, ``measured`` on a host or from a trace, ``fitted`` to
        published results, ``assumed`` for want of better.
    source : str
        Which publication, trace or results, or why.

    Examples
    --------
    >>> print(Provenance("cited", "hi6220.dtsi, Linux 6.1"))
    cited: hi6220.dtsi, Linux 6.1
    """

    kind: Kind
    source: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.source}"


def needs_provenance(leaf: _keys.Leaf) -> bool:
    """Whether a leaf is a number, a list of numbers or a distribution; names and flags need no source."""
    if isinstance(leaf.value, str):
        return leaf.key.endswith("_us")
    values = leaf.value if isinstance(leaf.value, list | tuple) else [leaf.value]
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def _parse(pattern: str, text: str, source: Source) -> Provenance:
    kind, colon, rest = text.partition(":")
    key = f'provenance."{pattern}"'
    if not colon or kind not in KINDS:
        limit = ", ".join(KINDS)
        raise source.error(key, f"value {text!r} must read 'kind: source', limit: kind is one of {limit}")
    if not rest.strip():
        raise source.error(key, f"value {text!r} names no source, limit: at least one word after the kind")
    return Provenance(cast(Kind, kind), rest.strip())


def resolve(board: Mapping[str, Any], source: Source) -> dict[str, tuple[str, Provenance]]:
    """Find the entry that speaks for each number: the matching pattern with the most literal steps.

    Raises
    ------
    ConfigError
        For an entry that cannot be read or matches no number, for a number without an entry, and for a number
        on which two entries of equal rank have a claim.
    """
    entries = {pattern: _parse(pattern, text, source) for pattern, text in board["provenance"].items()}
    steps = {pattern: _keys.split(pattern) or () for pattern in entries}
    unused = set(entries)
    resolved: dict[str, tuple[str, Provenance]] = {}
    for leaf in _keys.leaves({name: value for name, value in board.items() if name != "provenance"}):
        if not needs_provenance(leaf):
            continue
        claims = [pattern for pattern in entries if _keys.matches(steps[pattern], leaf)]
        unused.difference_update(claims)
        rank = {p: sum(step not in ("*", "[*]") for step in steps[p]) for p in claims}
        best = [pattern for pattern in claims if rank[pattern] == max(rank.values())]
        if not best:
            message = (
                f"value {leaf.value} has no provenance, limit: one [provenance] entry that matches its key"
            )
            raise source.error(leaf.key, message)
        if len(best) > 1:
            rivals = " and ".join(f'"{pattern}"' for pattern in best)
            message = (
                f"value {leaf.value} has {len(best)} provenance entries of equal rank: {rivals}, limit: one"
            )
            raise source.error(leaf.key, message)
        resolved[leaf.key] = best[0], entries[best[0]]
    for pattern in entries:
        if pattern in unused and not _speaks_of_a_default(steps[pattern], board):
            raise source.error(
                f'provenance."{pattern}"',
                f"value {str(entries[pattern])!r} matches no number of the board, limit: at least one",
            )
    return resolved


def _speaks_of_a_default(steps: tuple[str, ...], board: Mapping[str, Any]) -> bool:
    """Whether an entry is about a number that the file leaves out because the schema has it."""
    table = table_at(steps[:-1]) if steps else None
    if table is None or _keys.lookup(board, steps[:-1]) is None:
        return False
    defaults = {field.name: field.default for field in msgspec.structs.fields(table)}
    return isinstance(defaults.get(steps[-1]), int | float)
