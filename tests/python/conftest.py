"""What the tests share."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def golden_folder() -> Path:
    return ROOT / "tests/golden/idle"
