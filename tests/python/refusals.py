# SPDX-License-Identifier: MIT
"""Bad input that has to be refused with one short message."""

from collections.abc import Callable

import pytest

from torpor import _core


def refused(make: Callable[[], object]) -> str:
    with pytest.raises(_core.ConfigError) as caught:
        make()
    assert len(str(caught.value)) < 700
    return str(caught.value)
