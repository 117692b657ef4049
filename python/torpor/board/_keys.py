# SPDX-License-Identifier: MIT
"""Key paths of a board file, such as ``clusters[0].idle_states[2].power_mw``, and the lines they stand on.

An element of a list is named by its index or by its ``name``: ``clusters[big].idle_states[WFI].power_mw``.
In a pattern ``*`` stands for any one step. The same paths are used in errors, provenance and sweeps.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

_STEP = re.compile(r"\[([^\[\]]+)\]|(?:^|\.)([^.\[\]]+)")


class Leaf(NamedTuple):
    """One value of a board and the two ways to name each step that leads to it."""

    key: str
    steps: tuple[tuple[str, ...], ...]
    value: Any


def split(key: str) -> tuple[str, ...] | None:
    """Cut a key path into its steps, selectors in brackets; None when it is not one.

    >>> split("clusters[big].cpus")
    ('clusters', '[big]', 'cpus')
    >>> split("clusters..cpus") is None
    True
    """
    steps: list[str] = []
    end = 0
    for match in _STEP.finditer(key):
        if match.start() != end:
            return None
        end = match.end()
        steps.append(match[2] or f"[{match[1]}]")
    return tuple(steps) if steps and end == len(key) else None


def join(steps: tuple[str, ...]) -> str:
    """Put steps together again: the inverse of `split`.

    >>> join(("clusters", "[0]", "cpus"))
    'clusters[0].cpus'
    """
    return "".join(step if step.startswith("[") else f".{step}" for step in steps).removeprefix(".")


def leaves(node: Any, steps: tuple[tuple[str, ...], ...] = ()) -> Iterator[Leaf]:
    """Walk a board's dictionary; a list of plain values is one leaf.

    >>> [leaf.key for leaf in leaves({"tick": {"hz": 250}, "clusters": [{"cpus": [0, 1]}]})]
    ['tick.hz', 'clusters[0].cpus']
    """
    if isinstance(node, Mapping):
        for name, child in node.items():
            yield from leaves(child, (*steps, (name,)))
    elif isinstance(node, list | tuple) and node and all(isinstance(child, Mapping) for child in node):
        for index, child in enumerate(node):
            names = (f"[{index}]", f"[{child['name']}]") if "name" in child else (f"[{index}]",)
            yield from leaves(child, (*steps, names))
    else:
        yield Leaf(join(tuple(names[0] for names in steps)), steps, node)


def matches(pattern: tuple[str, ...], leaf: Leaf) -> bool:
    """Whether every step of the pattern is a wildcard or one of the names of the leaf's step."""
    return len(pattern) == len(leaf.steps) and all(
        step == ("[*]" if names[0].startswith("[") else "*") or step in names
        for step, names in zip(pattern, leaf.steps, strict=True)
    )


def lookup(node: Any, steps: tuple[str, ...]) -> tuple[str, Any] | None:
    """Value under a path, with the path in which every selector is an index; None when nothing is there."""
    found: list[str] = []
    for step in steps:
        if step.startswith("["):
            if not isinstance(node, list | tuple):
                return None
            index = _index(node, step[1:-1])
            if index is None:
                return None
            found.append(f"[{index}]")
            node = node[index]
        elif isinstance(node, Mapping) and step in node:
            found.append(step)
            node = node[step]
        else:
            return None
    return join(tuple(found)), node


def _index(elements: list[Any] | tuple[Any, ...], selector: str) -> int | None:
    if selector.isdecimal():
        return int(selector) if int(selector) < len(elements) else None
    for index, element in enumerate(elements):
        if isinstance(element, Mapping) and element.get("name") == selector:
            return index
    return None


_TOKEN = re.compile(
    r"""(?P<string>\"{3}.*?\"{3,5}|'{3}.*?'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*')
      | (?P<comment>\#[^\n]*) | (?P<newline>\n) | (?P<space>[^\S\n]+)
      | (?P<mark>[\[\]{}=,.]) | (?P<bare>[^\s\[\]{}=,.\#"']+)""",
    re.VERBOSE | re.DOTALL,
)


class _LineIndex:
    """Reads TOML that a real parser has already accepted, only to learn on which line each key stands."""

    def __init__(self, text: str) -> None:
        self.lines: dict[str, int] = {}
        self._counts: dict[str, int] = {}
        self._tokens: list[tuple[str, int]] = []
        line = 1
        for match in _TOKEN.finditer(text):
            if match.lastgroup not in ("comment", "space"):
                self._tokens.append((match[0], line))
            line += match[0].count("\n")
        self._at = 0
        prefix = ""
        while self._at < len(self._tokens):
            if self._peek() == "\n":
                self._at += 1
            elif self._peek() == "[":
                prefix = self._header()
            else:
                self._pair(prefix)

    def _peek(self) -> str:
        return self._tokens[self._at][0] if self._at < len(self._tokens) else "\n"

    def _take(self) -> tuple[str, int]:
        self._at += 1
        return self._tokens[self._at - 1]

    def _name(self) -> tuple[str, int]:
        text, line = self._take()
        name = text[1:-1] if text[:1] in "\"'" else text
        return (name if re.fullmatch(r"[\w-]+", name) else f'"{name}"'), line

    def _header(self) -> str:
        line = self._take()[1]
        array = self._peek() == "["
        self._at += array
        path = ""
        while self._peek() != "]":
            path = f"{path}.{self._name()[0]}".removeprefix(".")
            if self._peek() == ".":
                self._at += 1
                count = self._counts.get(path)
                path += "" if count is None else f"[{count - 1}]"
        self._at += 2 if array else 1
        if array:
            self._counts[path] = self._counts.get(path, 0) + 1
            self.lines.setdefault(path, line)
            path += f"[{self._counts[path] - 1}]"
        self.lines.setdefault(path, line)
        return path

    def _pair(self, prefix: str) -> None:
        path = prefix
        while True:
            name, line = self._name()
            path = f"{path}.{name}".removeprefix(".")
            if self._take()[0] == "=":
                break
        self.lines[path] = line
        self._value(path)

    def _value(self, path: str) -> None:
        if self._peek() == "[":
            self._at += 1
            index = 0
            while self._peek() != "]":
                if self._peek() in (",", "\n"):
                    self._at += 1
                    continue
                self.lines[f"{path}[{index}]"] = self._tokens[self._at][1]
                self._value(f"{path}[{index}]")
                index += 1
            self._at += 1
        elif self._peek() == "{":
            self._at += 1
            while self._peek() != "}":
                if self._peek() == ",":
                    self._at += 1
                else:
                    self._pair(path)
            self._at += 1
        else:
            while self._peek() not in (",", "]", "}", "\n"):
                self._at += 1


def line_of(text: str, key: str) -> int:
    r"""Line of a TOML text on which a key stands, or the nearest table above it that is there.

    >>> line_of("name = 'x'\n[[clusters]]\ncpus = [0]", "clusters[0].cpus")
    3
    >>> line_of("name = 'x'\n[[clusters]]\ncpus = [0]", "clusters[0].capacity")
    2
    """
    lines = _LineIndex(text).lines
    while key:
        if key in lines:
            return lines[key]
        key = re.sub(r"(\.?\"[^\"]*\"|\[[^\]]*\]|\.?[^.\[\]\"]+)$", "", key)
    return 1
