# SPDX-License-Identifier: MIT
import csv
import io
import math

import pytest

from torpor.tables import TEXT_WIDTH, Column, Table, escape_latex


@pytest.fixture
def table() -> Table:
    columns = [
        Column("policy & loop", align="left"),
        Column("C0", "s", digits=3),
        Column("n"),
        Column("ok", align="left"),
    ]
    rows = [["menu_4.18|x", 1.23456789, 7, True], ["<b>[red]", -0.5, None, None]]
    return Table("50 % of {cases}", columns, rows, ["A note_with $."])


def test_csv_reads_back_as_raw_values_below_one_header(table: Table) -> None:
    header, first, second = csv.reader(io.StringIO(table.to_csv()))
    assert header == ["policy & loop", "C0 (s)", "n", "ok"]
    assert first == ["menu_4.18|x", "1.23456789", "7", "True"]
    assert second == ["<b>[red]", "-0.5", "", ""]


def test_csv_quotes_commas_quotes_and_line_breaks() -> None:
    text = 'a, "b"\nc'
    out = Table("T", [Column("x, y")], [[text]]).to_csv()
    assert list(csv.reader(io.StringIO(out))) == [["x, y"], [text]]


def test_markdown_has_one_rule_line_and_escaped_pipes(table: Table) -> None:
    lines = table.to_markdown().split("\n")
    assert lines[3] == "| :--- | ---: | ---: | :--- |"
    assert lines[4] == r"| menu\_4.18\|x | 1.235 | 7 | yes |"
    assert lines[5].endswith("| -0.500 | - | - |")


def test_latex_escapes_every_special_character() -> None:
    assert escape_latex("\\&%$#_{}~^<>") == (
        r"\textbackslash{}\&\%\$\#\_\{\}\textasciitilde{}\textasciicircum{}\textless{}\textgreater{}"
    )


def test_latex_has_booktabs_rules_and_a_minus_sign(table: Table) -> None:
    text = table.to_latex()
    assert text.index(r"\toprule") < text.index(r"\midrule") < text.index(r"\bottomrule")
    assert r"\caption{50 \% of \{cases\}}" in text
    assert r"policy \& loop & C0 (s)" in text
    assert r"& $-$0.500 & - & - \\" in text


def test_a_latex_row_that_starts_with_a_bracket_is_not_an_option_of_the_line_break() -> None:
    assert "{}[0.1, 0.2] \\\\" in Table("T", [Column("interval")], [["[0.1, 0.2]"]]).to_latex()


def test_html_escapes_markup_and_keeps_alignment(table: Table) -> None:
    text = table.to_html()
    assert '<td style="text-align: left">&lt;b&gt;[red]</td>' in text
    assert "<b>" not in text
    assert table._repr_html_() == text


def test_text_keeps_numbers_on_one_line_however_many_columns_there_are() -> None:
    values = [123456789.123 + i for i in range(20)]
    table = Table("wide", [Column(f"column {i}", digits=3) for i in range(20)], [values])
    last = table.to_text().split("\n")[-1]
    assert last.split() == [f"{value:.3f}" for value in values]
    assert len(last) > TEXT_WIDTH


def test_text_does_not_read_markup_or_colour_anything(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "20")
    text = table.to_text()
    assert "<b>[red]" in text
    assert "\x1b" not in text
    assert "A note_with $." in text


def test_text_folds_only_columns_that_allow_it() -> None:
    table = Table("T", [Column("source", align="left", wrap=10), Column("n")], [["word " * 8, 1]])
    body = table.to_text().split("\n")[3:]
    assert len(body) > 3
    assert max(len(line) for line in body) < 20


@pytest.mark.parametrize(
    ("column", "value", "text"),
    [
        (Column("x", digits=1), -0.04, "0.0"),
        (Column("x", digits=1), -0.06, "-0.1"),
        (Column("x"), math.nan, "unknown"),
        (Column("x"), 1234567.8, "1.23457e+06"),
        (Column("x"), False, "no"),
        (Column("x", digits=2), 3, "3"),
    ],
)
def test_cells_are_shown_as_people_read_them(column: Column, value: float, text: str) -> None:
    assert column.show(value) == text


def test_nan_is_an_empty_field_of_the_csv() -> None:
    assert Table("T", [Column("a"), Column("b")], [[math.nan, 1]]).to_csv() == "a,b\n,1\n"


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="row 1 has 1 cells, limit: 2 columns"):
        Table("T", [Column("a"), Column("b")], [[1, 2], [3]])


def test_frame_holds_raw_values(table: Table) -> None:
    frame = table.to_frame()
    assert list(frame.columns) == ["policy & loop", "C0 (s)", "n", "ok"]
    assert frame["C0 (s)"][0] == 1.23456789
