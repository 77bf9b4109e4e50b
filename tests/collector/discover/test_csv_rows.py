"""Samples of CSV files: what separates the cells, and rows that cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest

import transom
from transom.collector.discover.csv_rows import infer_delimiter
from transom.collector.discover.servers import discover_catalog
from transom.errors import DataError


@pytest.mark.parametrize(
    ("lines", "delimiter"),
    [
        (["a,b", "1,2"], ","),
        (["a;b", "1,5;2,5"], ";"),
        (["a\tb", "1,5\t2"], "\t"),
        (["a|b|c", "1|2|x, y"], "|"),
        (["a;b, c;d", "1;2, 3;4"], ";"),
        (["a;b", '"1;2";3'], ";"),
        (["a", "1"], ","),
        (["a;b", "1"], ","),
        ([], ","),
    ],
)
def test_the_delimiter_is_what_gives_every_line_the_same_cells(lines, delimiter):
    assert infer_delimiter(lines) == delimiter


def test_rows_that_cannot_be_read_are_counted_and_named(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [f"2024-05-01T08:00:{second:02}Z,{second % 3},{second / 2}" for second in range(30)]
    rows[4] = "2024-05-01T08:00:04Z,1"
    rows[9] = rows[9].replace("4.5", "n/a")
    rows[12] = rows[12].replace("6.0", '"6.0')
    rows[20] = rows[20].replace("2024-05-01T08:00:20Z", "soon")
    Path("log.csv").write_text("\n".join(["at,device,temp", *rows]))
    text = discover_catalog("log.csv")
    note = "4 of 30 rows of the sample cannot be read; the first is log.csv:6: 2 cells, the header has 3"
    assert f"# note: {note}\n" in text
    assert "declare: pushed (device:integer, temp:float)  # types are guesses from 26 rows" in text
    assert "  invalid_rows: reject  #" in text
    Path("catalog.yaml").write_text(text)
    with pytest.warns(transom.RejectedWarning, match="1 no time, 1 not CSV, 1 wrong number of cells, 1 wrong type"):
        assert len(transom.compile("SELECT device, temp FROM log", "catalog.yaml").simulate()) == 26


def test_codes_are_no_numbers_and_broken_tables_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    codes = [f"2024-05-01T08:00:{second:02}Z,{second + 10}" for second in range(30)]
    for code in ("12A", "007"):
        Path("log.csv").write_text("\n".join(["at,unit", *codes, f"2024-05-01T08:00:30Z,{code}"]))
        assert "(unit:string)" in discover_catalog("log.csv")
    days = [f"{day:02}/01/2024 08:00,1" for day in range(1, 13)]
    Path("log.csv").write_text("\n".join(["at,x", *days, "01/13/2024 08:00,1"]))
    assert "time_format: '%m/%d/%Y %H:%M'" in discover_catalog("log.csv")
    Path("marks.csv").write_text("at;x;y\n2024-05-01T08:00Z;1,5;2\n2024-05-01T08:01Z;1\n2024-05-01T08:02Z;1,5;2\n")
    assert "delimiter: ';'" in discover_catalog("marks.csv")
    Path("parts.csv").write_text("id,name\n1,nut\n2\n3,bolt\n")
    text = discover_catalog("parts.csv")
    assert "stored (id:integer, name:string)" in text
    assert "invalid_rows" not in text
    assert "# note: 1 of 3 rows of the sample cannot be read; the first is parts.csv:3: 1 cells" in text
    Path("broken.csv").write_text("a,b\n1\n")
    with pytest.raises(DataError, match="1 of 1 rows of the sample cannot be read"):
        discover_catalog("broken.csv")
