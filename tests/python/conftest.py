"""What the tests share."""

from pathlib import Path

import pytest

from freezer_captures import put_together

ROOT = Path(__file__).parents[2]


@pytest.fixture
def golden_folder() -> Path:
    return ROOT / "tests/golden/idle"


@pytest.fixture(scope="session")
def whole_capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A freezer capture of three task counts; to be read, not changed."""
    return put_together(tmp_path_factory.mktemp("capture") / "whole")
