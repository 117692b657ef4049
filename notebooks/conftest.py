# SPDX-License-Identifier: MIT
"""Makes every notebook here a test: stored without outputs, run from top to bottom in an empty folder."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

CELL_TIMEOUT_S = 600


class NotebookFile(pytest.File):
    """A notebook."""

    def collect(self) -> Iterator[pytest.Item]:
        """One test a notebook."""
        yield NotebookItem.from_parent(self, name="runs")


class NotebookItem(pytest.Item):
    """Fails on the first cell that raises, and on outputs that were stored."""

    def runtest(self) -> None:
        """Run all cells with a fresh kernel."""
        notebook = nbformat.read(self.path, as_version=4)
        for number, cell in enumerate(notebook.cells):
            assert not cell.get("outputs"), f"{self.path.name}: cell {number} has outputs, strip them"
        with tempfile.TemporaryDirectory() as folder:
            NotebookClient(
                notebook,
                timeout=CELL_TIMEOUT_S,
                kernel_name="python3",
                resources={"metadata": {"path": folder}},
            ).execute()

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Place in the report."""
        return self.path, None, f"notebook {self.path.name}"


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> NotebookFile | None:
    """Take every notebook."""
    if file_path.suffix != ".ipynb" or ".ipynb_checkpoints" in file_path.parts:
        return None
    return NotebookFile.from_parent(parent, path=file_path)
