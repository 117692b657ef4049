# SPDX-License-Identifier: MIT
"""What a call of the command line ends with, and how a refusal has to look; conftest has the call, `run`."""

from collections.abc import Callable

Ended = tuple[int, str, str]
"""Exit code, standard output, standard error."""

Run = Callable[..., Ended]


def check_one_line(ended: Ended) -> str:
    """The one line of a call that was refused."""
    code, out, err = ended
    assert code == 2, (code, out, err)
    assert out == ""
    assert err.startswith("torpor: ")
    assert err.count("\n") == 1
    return err
