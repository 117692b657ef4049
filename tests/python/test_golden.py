"""Governors against the golden decision vectors, and what becomes of bad vectors."""

import gzip
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import torpor
from torpor.idle.golden import ADVISORY_KEYS, EXACT_KEYS, check_golden

SEQUENCE = "p16_bimodal_skl9_hz1000"


def head(source: Path, rows: int) -> list[str]:
    return gzip.decompress(source.read_bytes()).decode().splitlines()[: rows + 1]


class Vectors:
    """A folder with one short sequence that a test may spoil."""

    def __init__(self, folder: Path, golden: Path, rows: int = 300) -> None:
        self.folder = folder
        self.rows = rows
        shutil.copy(golden / "tables.csv", folder)
        listed = (golden / "sequences.csv").read_text().splitlines()
        line = next(text for text in listed if text.startswith(SEQUENCE))
        self.write("sequences.csv", [listed[0], line.replace(",2000,", f",{rows},")])
        self.write(f"{SEQUENCE}.csv", head(golden / f"{SEQUENCE}.csv.gz", rows))

    @property
    def data(self) -> Path:
        return self.folder / f"{SEQUENCE}.csv"

    def write(self, name: str, lines: list[str]) -> None:
        (self.folder / name).write_text("\n".join(lines) + "\n")

    def set(self, name: str, row: int, column: str, value: str) -> str:
        """Change one cell; returns what it was."""
        lines = (self.folder / name).read_text().splitlines()
        position = lines[0].split(",").index(column)
        cells = lines[row + 1].split(",")
        before, cells[position] = cells[position], value
        lines[row + 1] = ",".join(cells)
        self.write(name, lines)
        return before

    def drop_column(self, column: str) -> None:
        lines = [line.split(",") for line in self.data.read_text().splitlines()]
        position = lines[0].index(column)
        self.write(self.data.name, [",".join(c[:position] + c[position + 1 :]) for c in lines])


@pytest.fixture
def vectors(tmp_path: Path, golden_folder: Path) -> Vectors:
    return Vectors(tmp_path, golden_folder)


def test_every_exact_governor_equals_its_kernel_in_every_row(golden_folder: Path) -> None:
    report = check_golden(golden_folder)
    assert [check.key for check in report.governors] == list(EXACT_KEYS)
    for check in report.governors:
        assert (check.sequences, check.rows) == (40, 80000)
        assert check.first is None, str(check.first)
    assert report.all_equal


def test_the_advisory_governors_are_equal_too_when_asked_for(golden_folder: Path) -> None:
    report = check_golden(golden_folder, list(ADVISORY_KEYS))
    assert [check.differing for check in report.governors] == [0, 0]


def test_any_number_of_sequences_of_any_length_is_accepted_packed_or_not(vectors: Vectors) -> None:
    assert check_golden(vectors.folder).all_equal
    packed = vectors.data.with_name(vectors.data.name + ".gz")
    packed.write_bytes(gzip.compress(vectors.data.read_bytes()))
    vectors.data.unlink()
    report = check_golden(str(vectors.folder), ["t61"])
    assert report.to_json() == {
        "governors": {"t61": {"sequences": 1, "rows": 300, "differing": 0, "first": None}}
    }


def test_a_flipped_stop_flag_is_found_with_its_debug_figures(vectors: Vectors) -> None:
    before = int(vectors.set(vectors.data.name, 120, "m61_stop", "0"))
    if before == 0:
        vectors.set(vectors.data.name, 120, "m61_stop", "1")
    report = check_golden(vectors.folder)
    assert not report.all_equal
    differing = {check.key: check.differing for check in report.governors}
    assert differing == {**dict.fromkeys(EXACT_KEYS, 0), "m61": 1}
    first = next(check.first for check in report.governors if check.key == "m61")
    assert first is not None
    assert (first.sequence, first.row) == (SEQUENCE, 120)
    assert (first.expected.stop, first.got.stop) == (1 - before, before)
    assert set(first.expected.debug) == {"typ", "bkt", "fac"}
    assert first.expected.debug == first.got.debug
    assert report.to_json()["governors"]["m61"]["first"] == {
        "sequence": SEQUENCE,
        "row": 120,
        "expected": {"idx": first.expected.idx, "stop": 1 - before},
        "got": {"idx": first.expected.idx, "stop": before},
    }


def test_the_first_difference_is_the_first_in_the_order_of_the_rows(vectors: Vectors) -> None:
    for row in (250, 40):
        old = vectors.set(vectors.data.name, row, "l61_idx", "9")
        assert old != "9"
    (check,) = check_golden(vectors.folder, ["l61"]).governors
    assert check.differing == 2
    assert check.first is not None
    assert check.first.row == 40
    assert "row 40: expected state 9, stop 1, got state" in str(check.first)


def test_a_difference_in_an_input_changes_later_answers(vectors: Vectors) -> None:
    for row in range(20, 60):
        vectors.set(vectors.data.name, row, "resid_ns", "1")
    assert not check_golden(vectors.folder).all_equal


def truncate(vectors: Vectors) -> None:
    packed = gzip.compress(vectors.data.read_bytes())
    vectors.data.with_name(vectors.data.name + ".gz").write_bytes(packed[: len(packed) // 2])
    vectors.data.unlink()


def corrupt(vectors: Vectors) -> None:
    vectors.data.with_name(vectors.data.name + ".gz").write_bytes(b"not gzip at all")
    vectors.data.unlink()


def shorten(vectors: Vectors) -> None:
    vectors.write(vectors.data.name, vectors.data.read_text().splitlines()[:-1])


def tear_a_row(vectors: Vectors) -> None:
    lines = vectors.data.read_text().splitlines()
    lines[5] = lines[5].rsplit(",", 1)[0]
    vectors.write(vectors.data.name, lines)


BAD: dict[str, tuple[Callable[[Vectors], object], str]] = {
    "no sequences.csv": (lambda v: (v.folder / "sequences.csv").unlink(), "sequences.csv: no such file"),
    "no tables.csv": (lambda v: (v.folder / "tables.csv").unlink(), "tables.csv: no such file"),
    "no data": (lambda v: v.data.unlink(), f"{SEQUENCE}.csv.gz: no such file"),
    "empty sequences.csv": (lambda v: v.write("sequences.csv", []), "sequences.csv"),
    "no sequence": (
        lambda v: v.write(
            "sequences.csv", ["sequence,family,table,hz,tick_ns,tick_us,lead,rows,base_dis,mods"]
        ),
        "sequences.csv: lists no sequence",
    ),
    "empty data": (lambda v: v.data.write_bytes(b""), "is empty"),
    "truncated gzip": (truncate, f"{SEQUENCE}.csv.gz: cannot be unpacked"),
    "no gzip": (corrupt, f"{SEQUENCE}.csv.gz: cannot be unpacked"),
    "binary": (lambda v: v.data.write_bytes(b"row\xff\xfe"), "is not UTF-8"),
    "missing input column": (lambda v: v.drop_column("span_ns"), "column 'span_ns' is missing"),
    "missing answer column": (lambda v: v.drop_column("t612_stop"), "column 't612_stop' is missing"),
    "short row": (tear_a_row, "row 4 has 40 cells; the header has 41"),
    "fewer rows": (shorten, "has 299 rows, but sequences.csv says 300"),
    "word": (
        lambda v: v.set(v.data.name, 17, "sleep_ns", "soon"),
        "row 17, column sleep_ns: 'soon' is not a whole number",
    ),
    "fraction": (lambda v: v.set(v.data.name, 3, "m61_idx", "1.5"), "row 3, column m61_idx: '1.5' is not"),
    "whole fraction": (
        lambda v: v.set(v.data.name, 3, "lat_us", "1.0"),
        "row 3, column lat_us: '1.0' is not",
    ),
    "boolean": (lambda v: v.set(v.data.name, 3, "stopped", "True"), "row 3, column stopped: 'True' is not"),
    "no cell": (lambda v: v.set(v.data.name, 3, "dis", ""), "row 3, column dis: '' is not"),
    "negative residency": (
        lambda v: v.set(v.data.name, 9, "resid_ns", "-1"),
        f"row 9, column resid_ns: -1 is out of range; it must be 0..{2**64 - 1}",
    ),
    "65 bits": (lambda v: v.set(v.data.name, 9, "sleep_ns", str(2**64)), "row 9, column sleep_ns:"),
    "flag": (lambda v: v.set(v.data.name, 9, "got_tick", "2"), "column got_tick: 2 is out of range"),
    "state outside the table": (
        lambda v: v.set(v.data.name, 30, "enter", "9"),
        "row 30, column enter: 9 is out of range; it must be -2..8",
    ),
    "rows out of order": (
        lambda v: v.set(v.data.name, 30, "row", "31"),
        "row 30, column row: 31 stands where 30 is expected",
    ),
    "unknown table": (
        lambda v: v.set("sequences.csv", 0, "table", "vax"),
        "row 0, column table: 'vax' is not in tables.csv; known: arm2, hikey3, skl9",
    ),
    "wrong tick": (
        lambda v: v.set("sequences.csv", 0, "tick_ns", "4000000"),
        "column tick_ns: 4000000 contradicts hz 1000, which gives 1000000",
    ),
    "no tick": (lambda v: v.set("sequences.csv", 0, "hz", "0"), "column hz: 0 is out of range"),
    "states out of order": (
        lambda v: v.set("tables.csv", 3, "state", "0"),
        "tables.csv: row 3, column state: 0 stands where 1 is expected",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_vectors_give_one_error_that_names_the_place(vectors: Vectors, name: str) -> None:
    spoil, message = BAD[name]
    spoil(vectors)
    with pytest.raises(torpor.ConfigError) as caught:
        check_golden(vectors.folder)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_column_of_a_governor_that_is_not_compared_may_be_missing(vectors: Vectors) -> None:
    vectors.drop_column("m612_idx")
    assert check_golden(vectors.folder, ["m61", "l61"]).all_equal


def test_an_unknown_governor_is_refused_with_the_known_ones(golden_folder: Path) -> None:
    with pytest.raises(torpor.ConfigError, match=r"'m62' is unknown; known: m418, .*, tnew"):
        check_golden(golden_folder, ["m62"])


def test_an_empty_choice_of_governors_is_refused(golden_folder: Path) -> None:
    with pytest.raises(torpor.ConfigError, match="name at least one"):
        check_golden(golden_folder, [])


def test_a_folder_that_is_a_file_is_refused(golden_folder: Path) -> None:
    with pytest.raises(torpor.ConfigError, match="cannot be read"):
        check_golden(golden_folder / "tables.csv")


def test_the_report_prints_as_a_table(vectors: Vectors) -> None:
    text = check_golden(vectors.folder).to_text()
    assert "menu(version=6.12.117)" in text
    assert "80000" not in text
    assert "300" in text
