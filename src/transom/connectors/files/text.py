"""CSV files: a header, commas, and an empty cell for NULL."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

from transom.catalog.ticks import read_value
from transom.catalog.wording import show
from transom.connectors.files.records import Record
from transom.errors import DataError
from transom.model.types import Type, Value, read_text

_WHOLE_FLOAT = re.compile(r"(\s*[+-]?[0-9]{1,40})\.0*\s*\Z")
_NOT_CLOSED = "unexpected end of data"


def read_csv(path: str) -> Iterator[Record]:
    """The header of a CSV file and then its rows; cells are text, an empty one is None, empty lines are passed over.

    Blanks after a comma do not count, unless they stand inside quotes.
    """
    line = 0
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True, skipinitialspace=True)
            header = next(reader, None)
            if not header:
                raise DataError("no header", hint="the first line names the columns", source=path)
            columns = [name.strip() for name in header]
            yield Record(1, list[object](columns))
            line = reader.line_num
            for cells in reader:
                line = reader.line_num
                if not cells:
                    continue
                if len(cells) != len(columns):
                    message = f"line {line}: {len(cells)} cells, the header has {len(columns)}"
                    hint = "leave a cell empty for NULL, and put a cell with commas in double quotes"
                    raise DataError(message, hint=hint, source=path)
                yield Record(line, [cell or None for cell in cells])
    except UnicodeDecodeError as error:
        raise DataError("the file is not UTF-8 text", hint="save it as UTF-8", source=path) from error
    except csv.Error as error:
        raise _not_csv(str(error), line + 1, path) from error


def _not_csv(problem: str, line: int, path: str) -> DataError:
    """What the csv module says about the row that begins in a line."""
    if problem == _NOT_CLOSED:
        hint = 'write " where the text ends, and "" for a quote inside it'
        return DataError(f"line {line}: a quote is not closed", hint=hint, source=path)
    hint = 'a cell with quotes in it is written "a ""b"" c"'
    if "field limit" in problem:
        hint = "perhaps a quote is not closed"
    return DataError(f"line {line} is not CSV", detail=problem, hint=hint, source=path)


def read_cell(cell: object, kind: Type) -> Value:
    """The value of a cell; ValueError where the text says no such value."""
    if not isinstance(cell, str) or kind is Type.TIMESTAMP:
        return read_value(cell, kind)
    whole = _WHOLE_FLOAT.match(cell) if kind in (Type.INTEGER, Type.TIME) else None
    try:
        return read_text(whole[1] if whole else cell, kind)
    except (ValueError, ArithmeticError) as error:
        raise ValueError(f"{show(cell)} is not of type {kind}") from error
