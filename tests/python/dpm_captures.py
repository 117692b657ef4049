# SPDX-License-Identifier: MIT
"""Recorded device suspends, and how the tests doctor them."""

import gzip
from pathlib import Path

from refusals import refused
from torpor.dpm import DeviceCapture

DATA = Path(__file__).parents[1] / "data" / "dpm"
ONE, FOUR = DATA / "arm64-1cpu", DATA / "arm64-4cpu"

LABEL = "dev_50"
SYNC, ASYNC, SNAPSHOT = f"{LABEL}_async0.trace.gz", f"{LABEL}_async1.trace.gz", "devices.tsv.gz"


def text_of(path: Path) -> str:
    return gzip.decompress(path.read_bytes()).decode()


def write_text(path: Path, text: str) -> None:
    path.write_bytes(gzip.compress(text.encode()))


def edit_text(path: Path, old: str, new: str, count: int = -1) -> None:
    text = text_of(path)
    assert old in text
    write_text(path, text.replace(old, new, count))


def refusal_of(folder: Path) -> str:
    """What loading such a capture is refused with."""
    return refused(lambda: DeviceCapture.load(folder, LABEL))
