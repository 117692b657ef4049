"""Simulates how Linux falls asleep and wakes.

Boards, workloads, task populations and policies are values; :class:`torpor.idle.Scenario` and
:class:`torpor.freezer.Scenario` run them, :func:`reproduce` prints published results beside ours,
:func:`torpor.idle.replay` runs governors over a recorded trace.
"""

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

from torpor import board, freezer, idle
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
    "freezer",
    "idle",
    "reproduce",
]
