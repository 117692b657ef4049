"""``python -m torpor`` is the command line, and so is the ``torpor`` script."""

from __future__ import annotations

import contextlib
import os
import signal
from types import FrameType


def _stop(number: int, frame: FrameType | None) -> None:
    # An exception would come up in the middle of somebody's module: there is nothing to clean up yet.
    with contextlib.suppress(OSError):
        os.write(2, b"torpor: interrupted\n")
    os._exit(130)


def main() -> None:
    """Run the command line; Ctrl-C ends it with exit code 130, also while its modules load."""
    usual = signal.getsignal(signal.SIGINT)
    if usual is signal.default_int_handler:  # not where a shell has it ignored
        signal.signal(signal.SIGINT, _stop)
    from torpor.cli import main as command_line

    signal.signal(signal.SIGINT, usual)
    command_line()


if __name__ == "__main__":
    main()
