"""What the tests share."""

import shutil
import sys
from pathlib import Path

import pytest

from command_line import Run
from dpm_captures import ONE
from freezer_captures import put_together
from torpor import cli

ROOT = Path(__file__).parents[2]


@pytest.fixture
def golden_folder() -> Path:
    return ROOT / "tests/golden/idle"


@pytest.fixture(scope="session")
def whole_capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A freezer capture of three task counts; to be read, not changed."""
    return put_together(tmp_path_factory.mktemp("capture") / "whole")


@pytest.fixture
def device_copy(tmp_path: Path) -> Path:
    """A capture of device suspends that may be changed."""
    return Path(shutil.copytree(ONE, tmp_path / "copy"))


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Call of the command line with arguments: exit code, standard output and standard error."""

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["torpor", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        code = ended.value.code
        out, err = capsys.readouterr()
        return (0 if code is None else int(code)), out, err

    return call
