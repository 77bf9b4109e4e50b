"""Read CSV files: a header, a delimiter such as a comma, and an empty cell for NULL."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

from transom.catalog.reading.ticks import HintedError, read_value
from transom.catalog.reading.wording import display_value
from transom.connectors.csv_lines import parse_csv_line
from transom.connectors.files.records import FileRecord, InvalidLine
from transom.connectors.source_times import with_zone
from transom.errors import DataError
from transom.model.local_times import LocalTimes
from transom.model.reject_reason import RejectReason
from transom.model.types import Type, Value, parse_value

_WHOLE_FLOAT = re.compile(r"(\s*[+-]?[0-9]{1,40})\.0*\s*\Z")
DELIMITER_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
"""The delimiters in messages."""
_COMMA_HINTS = {
    **dict.fromkeys((Type.FLOAT, Type.DECIMAL), "the decimal mark is a comma: write a number such as 1,5"),
    **dict.fromkeys((Type.INTEGER, Type.TIME), "write a whole number of at most 64 bits"),
}
"""The hints for numbers in files with decimal commas, by type."""
_NOT_CLOSED = "unexpected end of data"


def read_csv(path: str, delimiter: str = ",", hint_suffix: str = "") -> Iterator[FileRecord]:
    """Read a CSV file: yield its column names, then each row's texts (None if empty); errors end in `hint_suffix`.

    Blanks after a `delimiter` are ignored, unless they are quoted. DataError names the first line that is invalid; its
    hint ends in `hint_suffix`. Empty lines are skipped.
    """
    line = 0
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=delimiter, strict=True, skipinitialspace=True)
            header = next(reader, None)
            if not header:
                raise DataError("no header", hint="the first line names the columns", source=path)
            columns = [name.strip() for name in header]
            yield FileRecord(1, list[object](columns))
            line = reader.line_num
            for cells in reader:
                line = reader.line_num
                if not cells:
                    continue
                if len(cells) != len(columns):
                    message = f"line {line}: {len(cells)} cells, the header has {len(columns)}"
                    marks = DELIMITER_NAMES[delimiter]
                    hint = f"leave a cell empty for NULL, and put a cell with {marks} in double quotes"
                    raise DataError(message, hint=hint + hint_suffix, source=path)
                yield FileRecord(line, [cell or None for cell in cells])
    except UnicodeDecodeError as error:
        raise DataError("the file is not UTF-8 text", hint="save it as UTF-8", source=path) from error
    except csv.Error as error:
        raise _not_csv(str(error), line + 1, path, hint_suffix) from error


def _not_csv(problem: str, line: int, path: str, hint_suffix: str) -> DataError:
    """Build the DataError for a malformed CSV row; `problem` is the csv module's message, `line` the row's first line.

    The hint ends in `hint_suffix`.
    """
    if problem == _NOT_CLOSED:
        hint = 'write " where the text ends, and "" for a quote inside it'
        return DataError(f"line {line}: a quote is not closed", hint=hint + hint_suffix, source=path)
    hint = 'a cell with quotes in it is written "a ""b"" c"'
    if "field limit" in problem:
        hint = "perhaps a quote is not closed"
    return DataError(f"line {line} is not CSV", detail=problem, hint=hint + hint_suffix, source=path)


def read_csv_lines(path: str, delimiter: str = ",") -> Iterator[FileRecord | InvalidLine]:
    """Read a CSV file in which each line is a row: yield its column names, then a record or invalid line per line.

    Each line is a row, so a cell holds no line break. Empty lines are skipped. DataError if the file has no header, or
    is not UTF-8.
    """
    header = next(read_csv(path, delimiter))
    yield header
    width = len(header.values)
    try:
        with open(path, encoding="utf-8-sig") as file:
            next(file)
            for number, text in enumerate(file, 2):
                line = text.removesuffix("\n")
                if not line:
                    continue
                try:
                    cells = parse_csv_line(line, delimiter)
                except ValueError as error:
                    yield InvalidLine(number, line, RejectReason.CSV, str(error))
                    continue
                if len(cells) != width:
                    detail = f"{len(cells)} cells, the header has {width}"
                    yield InvalidLine(number, line, RejectReason.CELLS, detail)
                else:
                    yield FileRecord(number, list[object](cells))
    except UnicodeDecodeError as error:
        raise DataError("the file is not UTF-8 text", hint="save it as UTF-8", source=path) from error


def read_cell(cell: object, kind: Type, decimal_point: str = ".", zone: LocalTimes | None = None) -> Value:
    """Convert CSV text to `kind` (`3.0` is an integer); times without offset are in `zone`; ValueError if unfit.

    With the `decimal_point` mark `,`, a number has a comma, and none has a point. An instant without an offset is in
    `zone`.
    """
    if kind is Type.TIMESTAMP:
        return read_value(with_zone(cell, zone), kind)
    if decimal_point == "," and isinstance(cell, str) and kind in _COMMA_HINTS:
        try:
            if "." not in cell:
                return read_cell(cell.replace(",", "."), kind)
        except ValueError:
            pass
        raise HintedError(f"{display_value(cell)} is not of type {kind}", _COMMA_HINTS[kind])
    if not isinstance(cell, str):
        return read_value(cell, kind)
    integer_part = _WHOLE_FLOAT.match(cell) if kind in (Type.INTEGER, Type.TIME) else None
    try:
        return parse_value(integer_part[1] if integer_part else cell, kind)
    except (ValueError, ArithmeticError) as error:
        raise ValueError(f"{display_value(cell)} is not of type {kind}") from error
