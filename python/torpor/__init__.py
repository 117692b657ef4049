"""Simulates how Linux falls asleep and wakes.

Boards, workloads, task populations, device graphs and policies are values; :class:`torpor.idle.Scenario`,
:class:`torpor.freezer.Scenario` and :class:`torpor.dpm.Scenario` run them, :func:`reproduce` prints published
results beside ours, :func:`torpor.idle.replay` runs governors over a recorded trace.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

try:
    from torpor._core import ConfigError, Error, InternalError, ModelError, __version__
except ModuleNotFoundError as error:  # pragma: no cover - only without the compiled extension
    if error.name != "torpor._core":
        raise
    raise ModuleNotFoundError(
        "torpor's compiled extension is missing: install the package with 'pip install .' and import it from "
        "outside its source folder",
        name="torpor._core",
    ) from None

if TYPE_CHECKING:
    from torpor import board, dpm, freezer, idle
    from torpor.board import Board
    from torpor.experiments import Reproduction, reproduce

__all__ = [
    "Board",
    "ConfigError",
    "Error",
    "InternalError",
    "ModelError",
    "Reproduction",
    "__version__",
    "board",
    "dpm",
    "freezer",
    "idle",
    "reproduce",
]

# Loaded at their first use: the command line must be able to start, and to be interrupted, at once.
_HOMES = {
    "Board": "torpor.board",
    "Reproduction": "torpor.experiments",
    "reproduce": "torpor.experiments",
}
_MODULES = ("board", "dpm", "freezer", "idle")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"torpor.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'torpor' has no attribute '{name}'")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
