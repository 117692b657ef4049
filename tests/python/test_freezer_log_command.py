# SPDX-License-Identifier: MIT
"""The command that reads kernel log lines about freezing."""

import gzip
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from freezer_log_text import EVERY_FORM, FAILED, GOOD
from torpor import cli

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    def call(text: str | None, *options: object) -> tuple[int, str, str]:
        if text is not None:
            (tmp_path / "log").write_text(text, encoding="utf-8")
        command = ["torpor", "import", "freezer-log", tmp_path / "log", *options]
        monkeypatch.setattr(sys, "argv", [*map(str, command)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    return call


def test_the_command_prints_tables(run: Run):
    code, out, err = run(EVERY_FORM)
    assert (code, err) == (0, "")
    for text in (
        "attempts to freeze",
        "fits the backoff, +3 ms",
        "workqueue busy",
        "Tasks that refused to freeze",
        "1234",
    ):
        assert text in out


def test_the_command_prints_one_json_object(run: Run):
    code, out, _ = run(EVERY_FORM, "--json")
    data = json.loads(out)
    assert (code, len(data["cycles"])) == (0, 6)
    assert data["cycles"][5]["offenders"][0]["pid"] == 901
    assert data["cycles"][5]["sleep_quantum"]["ok"] is True


@pytest.mark.parametrize(
    ("form", "mark"), [("csv", "attempt,line,time (s)"), ("markdown", "| attempt |"), ("latex", r"\toprule")]
)
def test_the_command_prints_other_forms(run: Run, form: str, mark: str):
    code, out, _ = run(EVERY_FORM, "--format", form)
    assert code == 0
    assert mark in out


def test_the_command_takes_timeout_and_hz(run: Run):
    _, out, _ = run(FAILED, "--json", "--timeout-ms", 20_000, "--hz", 1000)
    assert json.loads(out)["cycles"][0]["sleep_quantum"]["limit_ms"] == 9.0


def test_the_command_names_ten_bad_lines_and_succeeds(run: Run):
    code, out, err = run(GOOD + "Freezing of tasks failed after x\n" * 13, "--json")
    errors = err.splitlines()
    assert code == 0
    assert len(json.loads(out)["bad"]) == 13
    assert len(errors) == 11
    assert ": line 3: " in errors[0]
    assert errors[-1].endswith("3 more bad lines")


def test_the_command_does_not_overwrite_the_log(run: Run, tmp_path: Path):
    code, out, err = run(EVERY_FORM, "-o", tmp_path / "log")
    assert (code, out) == (2, "")
    assert "would overwrite" in err
    assert (tmp_path / "log").read_text() == EVERY_FORM


@pytest.mark.parametrize("ends", ["closed", "full"])
def test_an_error_output_that_cannot_be_written_loses_nothing(
    run: Run, ends: str, monkeypatch: pytest.MonkeyPatch
):
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr(sys, "stderr", full if ends == "full" else None)
        code, out, _ = run(GOOD + "Freezing of tasks failed after x\n")
    assert (code, "By attempt" in out) == (0, True)


def test_the_command_reads_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(
        sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(gzip.compress(GOOD.encode()))))
    )
    monkeypatch.setattr(sys, "argv", ["torpor", "import", "freezer-log", "-"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code in (0, None)
    assert capsys.readouterr().out.startswith("standard input: attempts to freeze")


@pytest.mark.parametrize(
    ("text", "option"), [("nothing\n", ()), (GOOD, ("--hz", 0)), (GOOD, ("--timeout-ms", 0))]
)
def test_the_command_ends_with_one_line_for_bad_input(run: Run, text: str, option: tuple[object, ...]):
    code, out, err = run(text, *option)
    assert (code, out) == (2, "")
    assert err.startswith("torpor: ")
    assert err.count("\n") == 1
