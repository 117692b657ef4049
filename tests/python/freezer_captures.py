# SPDX-License-Identifier: MIT
"""Recorded freeze and thaw cycles, and how the tests doctor them."""

import gzip
import json
import re
import shutil
from pathlib import Path

from torpor.freezer import validate_captures

DATA = Path(__file__).parents[1] / "data"
SMALL = DATA / "freezer-x86-1cpu"
LARGEST = DATA / "freezer-x86-1cpu-1000"
ERRORS = DATA / "freezer-x86-1cpu-errors"

MIXES = ("frozen", "mixed", "woken")
PHASES = ("user loop", "kernel loop", "thaw", "total")
NO_TIMES = "logs, series with no untraced cycles to judge"
TRUTH_DIFFERS = "truth.json, figures that differ from trace and log"


def put_together(folder):
    """Both folders put together: three task counts, of which a fit uses two."""
    shutil.copytree(SMALL, folder)
    for path in LARGEST.glob("*.gz"):
        shutil.copy(path, folder)
    truth = json.loads((folder / "truth.json").read_text())
    truth["untraced_and_traced_cycles"] += json.loads((LARGEST / "records.json").read_text())
    (folder / "truth.json").write_text(json.dumps(truth))
    return folder


def edit_truth(folder, **values):
    path = folder / "truth.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def edit_text(path, old, new, count=-1):
    text = gzip.decompress(path.read_bytes()).decode()
    assert old in text
    path.write_bytes(gzip.compress(text.replace(old, new, count).encode()))


def stretch(path, last_line, factor):
    """Make the part of each cycle that ends with such a line longer; what follows comes later."""
    lines, before, later = [], 0, 0
    for line in gzip.decompress(path.read_bytes()).decode().splitlines():
        seconds, rest = re.fullmatch(r"\[ *(\d+\.\d+)\](.*)", line).groups()
        time_us = round(float(seconds) * 1e6)
        if rest.strip().startswith(last_line):
            later += round((factor - 1) * (time_us - before))
        before = time_us
        lines.append(f"[{(time_us + later) / 1e6:12.6f}]{rest}\n")
    path.write_bytes(gzip.compress("".join(lines).encode()))


def missed(folder):
    return {q.name for q in validate_captures(folder).missed}
