"""Sample the rows of a CSV file, and set aside those that cannot be read: broken lines, and cells of another type."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import NamedTuple

from transom.catalog.reading.wording import display_value
from transom.catalog.sources import DELIMITERS
from transom.collector.discover.infer import is_number, is_rare, most_frequent_format
from transom.connectors.files.csv_files import read_csv, read_csv_lines
from transom.connectors.files.records import FileRecord, InvalidLine
from transom.errors import DataError

_NUMBER = "a number"
_INTEGRAL = r"[+-]?(0|[1-9][0-9]*|[1-9][0-9]{0,2}([., '\u2019\u00a0\u202f][0-9]{3})+)"
_NOT_A_CODE = re.compile(rf"{_INTEGRAL}([.,][0-9]*)?(\s*[%\u2030\u00b0]\w*|\s+\S+)?")
"""A number as people write it, with separators of thousands or with a unit, which no catalog can read."""


class InvalidRow(NamedTuple):
    """A row of a sample that cannot be read: its line, and why."""

    line: int
    detail: str


@dataclass(frozen=True)
class CsvRows:
    """The columns of a sample of a CSV file, the valid rows, and the invalid ones in the order of their lines."""

    names: Sequence[str]
    rows: Sequence[Mapping[str, object]]
    lines: Sequence[int]
    """The line of each of `rows`."""
    invalid: Sequence[InvalidRow]

    def note(self, path: str) -> str | None:
        """Return a sentence that counts the unreadable rows of the sampled file `path`; None without any."""
        if not self.invalid:
            return None
        first, total = self.invalid[0], len(self.rows) + len(self.invalid)
        count = f"{len(self.invalid):,} of {total:,} rows of the sample cannot be read"
        return f"{count}; the first is {path}:{first.line}: {first.detail}".replace("\n", " ")


def infer_delimiter(lines: Sequence[str]) -> str:
    """Guess a CSV file's delimiter: the one that splits its first lines into equally many, and most, cells.

    A mark counts only if every line has as many cells as the header, and more than one. If there is none, it needs as
    many cells in more than half of the lines; without any, it is a comma.
    """
    whole = {mark: _cell_counts([lines], mark) for mark in DELIMITERS}
    by_line = {mark: _cell_counts([[line] for line in lines], mark) for mark in DELIMITERS}
    for counts_by_mark, share in ((whole, 1.0), (by_line, 0.5)):
        widths = {
            mark: counts[0]
            for mark, counts in counts_by_mark.items()
            if counts and (counts.count(counts[0]) == len(counts) or counts.count(counts[0]) > share * len(counts))
        }
        most = max(widths.values(), default=1)
        if most > 1:
            return next(mark for mark, width in widths.items() if width == most)
    return ","


def _cell_counts(texts: Sequence[Sequence[str]], delimiter: str) -> list[int]:
    """Return the number of cells of each row of several CSV texts (lists of lines); skip unreadable texts."""
    counts: list[int] = []
    for lines in texts:
        try:
            counts += [len(cells) for cells in csv.reader(lines, delimiter=delimiter, skipinitialspace=True) if cells]
        except csv.Error:
            continue
    return counts


def sample_csv(path: str, delimiter: str, size: int) -> CsvRows:
    """Read the first rows of a CSV file, at most `size`; DataError if it has no header, or is not UTF-8.

    A file with a broken line is read line by line, so that only this line is invalid.
    """
    try:
        names, records = _split(read_csv(path, delimiter), size)
    except DataError:
        names, records = _split(read_csv_lines(path, delimiter), size)
    invalid = [InvalidRow(record.number, record.detail) for record in records if isinstance(record, InvalidLine)]
    valid = [record for record in records if isinstance(record, FileRecord)]
    strange = _strange_cells(names, valid, decimal_commas=delimiter != ",")
    invalid += [InvalidRow(record.number, strange[record.number]) for record in valid if record.number in strange]
    fitting = [record for record in valid if record.number not in strange]
    rows = [dict(zip(names, record.values)) for record in fitting]
    return CsvRows(names, rows, [record.number for record in fitting], sorted(invalid))


def _split(
    records: Iterator[FileRecord] | Iterator[FileRecord | InvalidLine], size: int
) -> tuple[list[str], list[FileRecord | InvalidLine]]:
    """Return the column names of a file, and its first records, at most `size`."""
    header = next(records)
    names = [str(name) for name in header.values] if isinstance(header, FileRecord) else []
    return names, list(islice(records, size))


def _strange_cells(names: Sequence[str], records: Sequence[FileRecord], *, decimal_commas: bool) -> dict[int, str]:
    """Map line numbers to their problem, a cell of another type than its column's; numbers may have `decimal_commas`.

    A column of numbers in which some cells have digits but are no numbers even for people, such as 12A and 007, is a
    column of codes.
    """
    problems: dict[int, str] = {}
    for index, name in enumerate(names):
        cells = [(record.number, str(record.values[index])) for record in records if record.values[index] is not None]
        for kind, holds in _kinds([text for _, text in cells], decimal_commas=decimal_commas):
            others = [(line, text) for line, text in cells if not holds(text)]
            if is_rare(len(others), len(cells)) and not (kind == _NUMBER and any(_is_code(text) for _, text in others)):
                for line, text in others:
                    problems.setdefault(line, f"{name}: {display_value(text)} is not {kind}")
                break
    return problems


def _is_code(text: str) -> bool:
    """Whether a cell that cannot be read as a number has digits because it is a code, such as 12A or 007.

    >>> [_is_code(text) for text in ("12A", "007", "1.234,50", "1 234", "21,5 °C", "n/a")]
    [True, True, False, False, False, False]
    """
    return any(character.isdigit() for character in text) and _NOT_A_CODE.fullmatch(text.strip()) is None


def _kinds(texts: Sequence[str], *, decimal_commas: bool) -> list[tuple[str, Callable[[str], bool]]]:
    """List types for the cells `texts` as (name, test of a cell); `decimal_commas`: numbers may have a comma."""
    form, parse = most_frequent_format(texts, len(texts))
    numbers = [partial(is_number, decimal_mark=mark) for mark in (".," if decimal_commas else ".")]
    numbers.sort(key=lambda holds: -sum(map(holds, texts)))
    kinds: list[tuple[str, Callable[[str], bool]]] = [
        *((_NUMBER, holds) for holds in numbers),
        ("true or false", lambda text: text.lower() in ("true", "false")),
        (f"a time in {form}", lambda text: parse(text) is not None),
    ]
    return kinds
