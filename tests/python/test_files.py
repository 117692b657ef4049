"""Files that are written whole or not at all."""

import os
import threading
from pathlib import Path

import pytest

import torpor
from torpor.files import check_writable, write_whole


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old")

    def fail(_: object) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(torpor.ConfigError, match="No space left"):
        write_whole(path, fail)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_interrupt_leaves_nothing_behind(tmp_path: Path) -> None:
    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "a", interrupt)
    assert list(tmp_path.iterdir()) == []


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    write_whole(link, lambda file: file.write(b"new"))
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_a_pipe_is_written_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_whole(pipe, lambda file: file.write(b"text"))
    reader.join(timeout=10)
    assert read == [b"text"]
    assert pipe.is_fifo()


def test_permissions_of_an_old_file_stay(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    path.chmod(0o640)
    write_whole(path, lambda file: file.write(b"new"))
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(torpor.ConfigError, match="folder"):
        check_writable(tmp_path)
    with pytest.raises(torpor.ConfigError, match="directory"):
        write_whole(tmp_path, lambda file: file.write(b""))
