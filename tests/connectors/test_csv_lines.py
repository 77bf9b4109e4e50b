"""Lines of CSV as messages have them."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transom.connectors.csv_lines import parse_csv_line

LINES = {
    "a,b": ["a", "b"],
    "a, b ,  c": ["a", "b ", "c"],
    "a": ["a"],
    ",": [None, None],
    "  x": ["x"],
    " ": [None],
    "a,b\r\n": ["a", "b"],
    "a\n": ["a"],
    "a\r": ["a"],
    '"a,b",c': ["a,b", "c"],
    '"a ""b"" c"': ['a "b" c'],
    '""': [None],
    '""""': ['"'],
    '" a", "b "': [" a", "b "],
    '  "a"': ["a"],
    '"",""': [None, None],
    '"a, ""b"", c",d': ['a, "b", c', "d"],
    "\ta,\tb": ["\ta", "\tb"],
    "ä,€": ["ä", "€"],
}
BROKEN = ["", "\n", "a\nb", '"a\nb"', "a\r\nb\r\n", "a\n\n", '"a', 'a"', 'a"b"c', '"a"b', '"a" ,b', 'x "a"', '"a" "b"']
BROKEN += ["a\0b", '"']


@pytest.mark.parametrize("line", LINES)
def test_cells(line: str) -> None:
    assert parse_csv_line(line) == LINES[line]


@pytest.mark.parametrize("line", BROKEN)
def test_no_line(line: str) -> None:
    with pytest.raises(ValueError, match=r"nothing|line|quote"):
        parse_csv_line(line)


@given(st.text('a ,"\t', min_size=1, max_size=12))
def test_what_is_read_is_what_the_library_reads(line: str) -> None:
    try:
        found = parse_csv_line(line)
    except ValueError:
        return
    [row] = csv.reader(io.StringIO(line), strict=True, skipinitialspace=True)
    assert [cell or None for cell in row] == found


@given(st.lists(st.text('a ,"ä', max_size=5), min_size=1, max_size=4))
def test_what_the_library_writes_is_read(cells: list[str]) -> None:
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL).writerow(cells)
    assert parse_csv_line(out.getvalue()) == [cell or None for cell in cells]
