"""Guess catalog settings from a sample: types, time column, rate, keys, position and moving object."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import partial

from transom.catalog.reading.ticks import read_instant
from transom.catalog.reading.wording import display_value
from transom.catalog.time_formats import TimeFormat, read_time_format
from transom.model.types import DIGITS, INTEGER_MAX

Columns = Mapping[str, Sequence[object]]
"""The values of a sample by column; ABSENT where a row lacks the column."""

_TIMES = ("tick", "time", "timestamp", "ts", "at", "when", "date", "datetime", "instant")
_TIME = re.compile(r"(.*_)?(time|timestamp|ts|at|date)")
_KEY = re.compile(r"(.*_)?(id|site|sensor|device|machine|node|station|unit|line|key|no|number|mmsi|zone)", re.I)
_OBJECT = re.compile(
    r"(.*_)?(vehicle|car|truck|bus|ship|vessel|object|tracker|mmsi|imei|callsign|plate)(_?(id|no|number|name))?", re.I
)
_FORMATS = tuple(
    read_time_format(f"{day}{clock}")
    for day in (
        "%d/%m/%Y",
        "%m/%d/%Y",
        "%d.%m.%Y",
        "%d-%m-%Y",
        "%Y/%m/%d",
        "%d-%b-%Y",
        "%d %b %Y",
        "%d/%m/%y",
        "%m/%d/%y",
    )
    for clock in (" %H:%M:%S", " %H:%M", " %H:%M:%S.%f", " %I:%M:%S %p", " %I:%M %p", "")
)
"""Formats to try if no column has ISO 8601 instants; day before month where both fit."""
_TRIED = 20
"""How many values of a column choose the format that it nearly has."""
RARE = 10
"""At most one in so many rows of a sample may lack a column that is kept, or have a value of another type in it."""
_WHOLE = re.compile(r"[+-]?(0|[1-9][0-9]{0,17})\Z")
_FLOAT = re.compile(r"[+-]?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?\Z")
_SINCE_1970 = {"1 s": (10**9, 4 * 10**9), "1 ms": (10**12, 4 * 10**12), "1 us": (10**15, 4 * 10**15)}
"""Ranges of integers that are instants of this century, by their unit."""


class Absent:
    """The type of ABSENT, the value of a column that a row lacks, as opposed to NULL."""


ABSENT = Absent()


@dataclass(frozen=True)
class SampleClock:
    """The known instants of a sample, and the catalog's `tick` and `epoch` with their comments."""

    instants: tuple[datetime, ...]
    tick: str | None
    epoch: str | None


def is_rare(count: int, total: int) -> bool:
    """Whether so few of `total` rows differ from all others that the others decide how a column is read."""
    return count * RARE <= total


def infer_decimal(columns: Columns) -> str:
    """Guess the decimal mark of a CSV file: a comma if numbers of a column have one, and no column has decimal points.

    A column of which all values are numbers decides.
    """
    texts = [[cell for cell in column if isinstance(cell, str)] for column in columns.values()]
    marks = {
        mark
        for column in texts
        for mark in ".,"
        if any(mark in cell for cell in column)
        and all(_FLOAT.match(cell.replace(mark, ".")) and cell.count(mark) <= 1 for cell in column)
    }
    return "," if marks == {","} else "."


def parse_cell(cell: object, decimal_mark: str = ".") -> object:
    """Convert a sampled text to a boolean, integer or float if it looks like one; other values are unchanged.

    A number with leading zeros, such as 007, stays text, and so does one with another `decimal_mark` mark.
    """
    if not isinstance(cell, str):
        return cell
    if decimal_mark == ",":
        return cell if "." in cell else parse_number(cell, cell.replace(",", "."))
    return parse_number(cell, cell)


def parse_number(cell: str, with_point: str) -> object:
    """Convert a cell to a boolean or number, or return it unchanged; `with_point` is the cell with a decimal point."""
    if cell.lower() in ("true", "false"):
        return cell.lower() == "true"
    if _WHOLE.match(with_point):
        return int(with_point)
    return float(with_point) if _FLOAT.match(with_point) else cell


def is_number(cell: str, decimal_mark: str = ".") -> bool:
    """Whether the text of a cell is a number with this decimal mark, a point or a comma, or NaN."""
    is_number = _FLOAT.match(cell.replace(decimal_mark, ".")) is not None
    return (is_number and (decimal_mark == "." or "." not in cell)) or cell.strip().lower() == "nan"


def infer_type(column: Sequence[object], *, is_text: bool = False) -> str | None:
    """Return the narrowest catalog type of a sampled column; without one, `string` if `is_text`, else None.

    `is_text` says that the cells are text, so that any value fits a string.
    """
    values = [value for value in column if value is not None and value is not ABSENT]
    for name, holds in TYPE_TESTS.items():
        if values and all(map(holds, values)):
            return name
    return "string" if is_text or not values else None


def _is_number(value: object) -> bool:
    """Whether a sampled value is an integer, float or Decimal; booleans are not numbers."""
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _is_whole(value: object) -> bool:
    """Whether a sampled value is an integer of Python's type int; booleans are not integers."""
    return isinstance(value, int) and not isinstance(value, bool)


TYPE_TESTS = {
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: _is_whole(value) and abs(value) <= INTEGER_MAX,
    "decimal": lambda value: isinstance(value, Decimal) or (_is_whole(value) and len(str(abs(value))) <= DIGITS),
    "float": lambda value: (
        _is_number(value) and (not isinstance(value, float) or math.isfinite(value) or value != value)
    ),
    "timestamp": lambda value: parse_instant(value) is not None,
    "string": lambda value: isinstance(value, str),
}


def parse_instant(value: object) -> datetime | None:
    """Convert a date, a datetime or ISO 8601 text to an instant; return None for any other value."""
    if not isinstance(value, date | str) or (
        isinstance(value, str) and (len(value) < 10 or parse_cell(value) != value)
    ):
        return None
    try:
        return read_instant(value)
    except ValueError:
        return None


def infer_time_column(columns: Columns) -> str | None:
    """Guess which column has the rows' times, by its name or as the only one with instants; None if unclear.

    It has no missing values, and its values are instants or ticks.
    """
    complete = {
        name: column for name, column in columns.items() if all(v is not None and v is not ABSENT for v in column)
    }
    kinds = {name: infer_type(column) for name, column in complete.items()}
    candidates = [
        n for n, kind in kinds.items() if kind == "timestamp" or (kind == "integer" and _are_ticks(complete[n]))
    ]
    last_parts = {name: name.rpartition(".")[2].lower() for name in candidates}
    for typical in _TIMES:
        if typical in last_parts.values():
            return next(name for name in candidates if last_parts[name] == typical)
    named_candidates = [name for name in candidates if _TIME.fullmatch(last_parts[name])]
    if named_candidates:
        return named_candidates[0]
    instants = [name for name in candidates if kinds[name] == "timestamp"]
    return instants[0] if len(instants) == 1 else None


def _are_ticks(column: Sequence[object]) -> bool:
    """Whether all values of a sampled column are integers from 0 on, so that the column may hold ticks."""
    return all(isinstance(value, int) and value >= 0 for value in column)


def infer_clock(column: Sequence[object]) -> SampleClock:
    """Guess the tick length and epoch from a time column with instants, Unix times (s, ms or us) or ticks.

    A few integers that are no Unix times do not count, such as the 0 of a device whose clock was never set.
    """
    integers = [value for value in column if isinstance(value, int)]
    if not integers:
        return clock_from_instants([instant for value in column if (instant := parse_instant(value)) is not None])
    for unit, (least, most) in _SINCE_1970.items():
        unix_times = [value for value in integers if least <= value < most]
        if is_rare(len(integers) - len(unix_times), len(integers)):
            duration = timedelta(microseconds=10 ** (6 - 3 * list(_SINCE_1970).index(unit)))
            instants = tuple(datetime(1970, 1, 1, tzinfo=UTC) + value * duration for value in unix_times)
            epoch = "1970-01-01T00:00:00Z  # windows begin there: give simulate and run a --start"
            return SampleClock(instants, f"{unit}  # a guess: the time counts it since 1970, by its size", epoch)
    return SampleClock((), None, None)


def clock_from_instants(
    instants: Sequence[datetime], earliest_label: str = "the earliest time of the sample"
) -> SampleClock:
    """Guess a tick of 1 s, and the midnight before the first instant (`earliest_label` in its comment) as epoch.

    `earliest_label` names the first instant in the comment of the epoch.
    """
    if not instants:
        return SampleClock((), None, None)
    first = min(instants).replace(hour=0, minute=0, second=0, microsecond=0)
    epoch = f"{first:%Y-%m-%dT%H:%M:%SZ}  # a guess: the midnight before {earliest_label}; nothing may be older"
    return SampleClock(tuple(instants), "1 s  # a guess: what is closer together has the same time", epoch)


def infer_rate(instants: Sequence[datetime]) -> list[str]:
    """Guess the line `rate` from rows' instants in order of arrival, and `lateness` if they are out of order.

    The instants are in the order in which the rows arrived.
    """
    if len(instants) < 2 or max(instants) <= min(instants):
        return []
    lines = []
    double_rate = 2 * len(instants) / (max(instants) - min(instants)).total_seconds()
    rate = f"{math.ceil(double_rate)} per s" if double_rate > 10 else f"{max(1, math.ceil(double_rate * 60))} per min"
    lines.append(f"rate: {rate}  # a guess: twice the rate of the sample")
    latest, greatest_delay = instants[0], 0.0
    for moment in instants:
        greatest_delay = max(greatest_delay, (latest - moment).total_seconds())
        latest = max(latest, moment)
    if greatest_delay > 0:
        lines.append(
            f"lateness: {math.ceil(2 * greatest_delay)} s  # a guess: twice as late as the latest of the sample"
        )
    return lines


def infer_time_format(columns: Columns) -> tuple[str, list[TimeFormat]] | None:
    """Guess which text column has times that are not ISO 8601, and all formats that fit; None if unclear."""
    formats_by_column: dict[str, list[TimeFormat]] = {}
    for name, column in columns.items():
        texts = [value for value in column if isinstance(value, str)]
        formats = [form for form in _FORMATS if all(_parse_formatted(form, text) for text in texts)]
        if texts and len(texts) == len(column) and formats:
            formats_by_column[name] = formats
    named = [name for name in formats_by_column if name.lower() in _TIMES] or [
        n for n in formats_by_column if _TIME.fullmatch(n.lower())
    ]
    chosen = named[0] if named else next(iter(formats_by_column)) if len(formats_by_column) == 1 else None
    return None if chosen is None else (chosen, formats_by_column[chosen])


def near_time_column(columns: Columns, *, has_time_format: bool = True) -> str | None:
    """Say which column seems to have times but cannot be the time column; `has_time_format`: formats can be declared.

    It is asked only if no column is the time column. Half of a column's values have to be times of one format, or its
    name has to be a typical one. `has_time_format` says whether the source has a `time_format` in the catalog.

    >>> near_time_column({"Time": ["01/05/2024 08:00", "02/05/2024 08:00", "noon"], "x": [1, 2, 3]})
    "Time looks like %d/%m/%Y %H:%M, but 'noon' does not match"
    """
    complete, problems = [], []
    for name, column in columns.items():
        values = [value for value in column if value is not None and value is not ABSENT]
        form, parse = most_frequent_format(values)
        count = sum(parse(value) is not None for value in values)
        if 2 * count >= len(values) > 0 and not has_time_format and form != "ISO 8601":
            problems.append(f"{name} looks like {form}, but only CSV and JSON lines have a time_format")
        elif count == len(column) > 0:
            complete.append(name)
        elif 2 * count >= len(values) > 0:
            other = next((display_value(value) for value in values if parse(value) is None), None)
            problem = f"{len(column) - len(values)} of {len(column)} rows have none"
            problems.append(f"{name} looks like {form}, but {problem if other is None else f'{other} does not match'}")
    if complete:
        return f"{', '.join(complete)}: each may be the time; choose one as time: COLUMN"
    if problems:
        return problems[0]
    for name, column in columns.items():
        last_part = name.rpartition(".")[2].lower()
        text = next((value for value in column if isinstance(value, str)), None)
        if text is not None and (last_part in _TIMES or _TIME.fullmatch(last_part)):
            return f"{name} is called like a time, but the format of {display_value(text)} is unknown"
    return None


def most_frequent_format(
    values: Sequence[object], sample_size: int = _TRIED
) -> tuple[str, Callable[[object], datetime | None]]:
    """Return the time format that fits most of the first `sample_size` values, and the function that parses it."""
    parsers: dict[str, Callable[[object], datetime | None]] = {"ISO 8601": parse_instant}
    parsers |= {form.text: partial(_parse_cell, form) for form in _FORMATS}
    texts = [value for value in values[:sample_size] if isinstance(value, str | date)]
    return max(parsers.items(), key=lambda item: sum(item[1](text) is not None for text in texts))


def _parse_cell(time_format: TimeFormat, value: object) -> datetime | None:
    """Convert a sampled value in a time format to an instant; None if it is no text or does not match."""
    return _parse_formatted(time_format, value) if isinstance(value, str) else None


def _parse_formatted(time_format: TimeFormat, text: str) -> datetime | None:
    """Convert a text in a time format to an instant; None if it does not match the format."""
    iso = time_format.iso(text)
    try:
        return None if iso is None else read_instant(iso)
    except ValueError:
        return None


def parse_instants(time_format: TimeFormat, column: Sequence[object]) -> list[datetime]:
    """Convert the values of a text column in a time format to instants; values that do not match are left out."""
    return [
        instant
        for text in column
        if isinstance(text, str) and (instant := _parse_formatted(time_format, text)) is not None
    ]


def infer_object(
    columns: Columns, type_of_attribute: Mapping[str, str], renamed_columns: Mapping[str, str]
) -> list[str]:
    """Guess the line `object: ...` (which attribute identifies moving objects); `renamed_columns`: attribute to column.

    `type_of_attribute` maps attributes to types, `renamed_columns` renamed attributes to their columns. A comment line
    if no attribute fits.
    """
    candidates = []
    for name, kind in type_of_attribute.items():
        column = columns[renamed_columns.get(name, name)]
        repeated = len({value for value in column if isinstance(value, str | int)}) <= max(1, len(column) // 2)
        if kind in ("string", "integer") and repeated:
            candidates.append(name)
    named_candidates = [name for name in candidates if _OBJECT.fullmatch(name)] or [
        name for name in candidates if _KEY.fullmatch(name)
    ]
    strings = [name for name in candidates if type_of_attribute[name] == "string"]
    if not (named_candidates or strings):
        return ["# note: no column seems to name the moving object; without `object` all rows are one path"]
    return [
        f"object: {(named_candidates or strings)[0]}  # a guess: each value is a moving object with a path of its own"
    ]


def infer_keys(columns: Columns, time_column: str | None) -> list[str]:
    """Guess a sample's number of keys: a list with the YAML line `keys: N`, or [] if no column looks like keys.

    It is the number of distinct values of the first column, other than the `time_column` column, that looks like a key.
    There is no line without such a column.
    """
    for name, column in columns.items():
        kind = infer_type(column)
        may_be_key = kind == "string" or (kind == "integer" and _KEY.fullmatch(name.rpartition(".")[2]))
        values = {value for value in column if isinstance(value, str | int)}
        if name != time_column and may_be_key and 1 < len(values) <= len(column) // 2:
            return [f"keys: {len(values)}  # a guess: {name} has so many values in the sample"]
    return []


def infer_position(type_of_attribute: Mapping[str, str]) -> list[str]:
    """Return the catalog line `position` if two attributes are longitude and latitude, else no line.

    `type_of_attribute` are the attributes' types by name.
    """
    numeric_names = {name.lower(): name for name, kind in type_of_attribute.items() if kind in ("float", "decimal")}
    for east, north in (("lon", "lat"), ("longitude", "latitude"), ("lng", "lat"), ("long", "lat")):
        for low, name in numeric_names.items():
            other = (
                numeric_names.get(low.removesuffix(east) + north) if low == east or low.endswith(f"_{east}") else None
            )
            if other is not None:
                return [f"position: {{lon: {name}, lat: {other}}}  # a guess, by the names"]
    return []
