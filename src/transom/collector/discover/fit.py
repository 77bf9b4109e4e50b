"""Choose the columns that nearly all rows of a sample have, their types and the time column, and name the other rows.

One odd message in a topic must not decide how all others are read: a rare message becomes a dead letter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from transom.catalog.reading.wording import display_value
from transom.catalog.time_formats import TimeFormat
from transom.collector.discover.infer import (
    ABSENT,
    TYPE_TESTS,
    Columns,
    infer_time_column,
    infer_time_format,
    infer_type,
    is_rare,
    most_frequent_format,
    parse_instant,
    parse_instants,
)

_NAMED = 3
"""How many missing columns of a row, and how many kinds of problems of a sample, a note names."""


class TimeColumn(NamedTuple):
    """The column with the times of the rows; `formats` are the formats that fit its texts if these are not ISO 8601."""

    name: str
    formats: Sequence[TimeFormat]
    is_integer: bool

    def holds(self, value: object) -> bool:
        """Whether a sampled value is a time as this column has them: a tick, an instant, or a text of the format."""
        if self.is_integer:
            return _is_tick(value)
        return bool(parse_instants(self.formats[0], [value])) if self.formats else parse_instant(value) is not None


class Misfit(NamedTuple):
    """A row of a sample that does not fit the columns and types of most rows: its index, why, and the odd value.

    `value` is how a message shows the value, empty if the row lacks it.
    """

    row: int
    problem: str
    value: str = ""


@dataclass(frozen=True)
class FittedSample:
    """The columns that nearly all rows of a sample have, over the rows that fit, and what was left out."""

    columns: Columns
    rows: Sequence[int]
    """The indexes of the rows that fit."""
    types: Mapping[str, str]
    """The types of the columns, except of the time column."""
    omitted: Sequence[str]
    """The columns that are left out, each with the reason."""
    misfits: Sequence[Misfit]

    def note(self, unit: str, consequence: str, row_names: Sequence[str]) -> list[str]:
        """Return a sentence, or none, that counts the misfits, names the first one and says their `consequence`.

        `unit` is what the rows are called, such as messages. `row_names` says where each row is; it may be empty.
        """
        if not self.misfits:
            return []
        counts = Counter(misfit.problem for misfit in self.misfits).most_common()
        kinds = "; ".join(f"{count:,} {problem}" for problem, count in counts[:_NAMED])
        rest = sum(count for _, count in counts[_NAMED:])
        others = f"; {rest:,} with other problems" if rest else ""
        first = self.misfits[0]
        value = f", with {first.value}" if first.value else ""
        position = f"; the first is {row_names[first.row]}{value}" if row_names else ""
        total = len(self.rows) + len(self.misfits)
        count = f"{len(self.misfits):,} of {total:,} {unit} of the sample do not fit, and {consequence}"
        return [f"{count}: {kinds}{others}{position}".replace("\n", " ")]


def choose_time(columns: Columns, *, has_time_format: bool) -> TimeColumn | None:
    """Guess the column with the times of the rows, though a few may lack a time; None if no column seems to have them.

    `has_time_format` says whether the source may have a `time_format` in the catalog, so that other times than ISO 8601
    can be read.
    """
    name = infer_time_column({name: _nearly_all(column, _is_time_of(column)) for name, column in columns.items()})
    if name is not None:
        return TimeColumn(name, (), _is_time_of(columns[name]) is _is_tick)
    if not has_time_format:
        return None
    formatted = infer_time_format(
        {name: _nearly_all(column, _matches_format(column)) for name, column in columns.items()}
    )
    return None if formatted is None else TimeColumn(formatted[0], formatted[1], False)


def fit_rows(
    columns: Columns, time: TimeColumn | None, known_types: Mapping[str, str], *, is_text: bool
) -> FittedSample:
    """Choose the columns that nearly all rows have and their types, and find the rows that do not fit them.

    `known_types` are types that the source has declared. `is_text` says that cells are text, so that any value fits a
    string.
    """
    types: dict[str, str] = {}
    omitted: list[str] = []
    tests: dict[str, Callable[[object], bool]] = {}
    total = max(map(len, columns.values()), default=0)
    if time is not None:
        tests[time.name] = time.holds
    for name, column in columns.items():
        if time is not None and name == time.name:
            continue
        absent = sum(value is ABSENT for value in column)
        kind = known_types.get(name) or _frequent_type(column, is_text=is_text)
        if not is_rare(absent, total):
            omitted.append(f"{name}, which {absent} of {total} do not have")
        elif kind is None:
            omitted.append(f"{name}, whose values are of no one type")
        else:
            types[name] = kind
            tests[name] = _accepts_any if name in known_types or (is_text and kind == "string") else TYPE_TESTS[kind]
    misfits = [_misfit(row, {name: columns[name][row] for name in tests}, tests, types) for row in range(total)]
    rows = [row for row, misfit in enumerate(misfits) if misfit is None]
    fitting = {name: [columns[name][row] for row in rows] for name in columns if name in tests}
    return FittedSample(fitting, rows, types, omitted, [misfit for misfit in misfits if misfit is not None])


def _misfit(
    row: int,
    values: Mapping[str, object],
    tests: Mapping[str, Callable[[object], bool]],
    types: Mapping[str, str],
) -> Misfit | None:
    """Say why row number `row` with `values` does not fit the `tests` of its columns; None if it does.

    A column that has no entry in `types` has the time, which must not be NULL.
    """
    missing = [name for name, value in values.items() if value is ABSENT or (value is None and name not in types)]
    if missing:
        more = f" and {len(missing) - _NAMED} others" if len(missing) > _NAMED else ""
        return Misfit(row, f"without {', '.join(missing[:_NAMED])}{more}")
    for name, value in values.items():
        if value is not None and not tests[name](value):
            kind = f"of type {types[name]}" if name in types else "a time"
            return Misfit(row, f"whose {name} is not {kind}", display_value(value))
    return None


def _frequent_type(column: Sequence[object], *, is_text: bool) -> str | None:
    """Return the type that all sampled values have, else the type that nearly all have; None if there is none.

    `is_text` says that the cells are text, so that any value fits a string.
    """
    kind = infer_type(column, is_text=is_text)
    values = [value for value in column if value is not None and value is not ABSENT]
    if kind is not None or not values:
        return kind
    counts = {name: sum(map(holds, values)) for name, holds in TYPE_TESTS.items()}
    most_frequent = max(counts, key=lambda name: counts[name])
    return most_frequent if is_rare(len(values) - counts[most_frequent], len(values)) else None


def _nearly_all(column: Sequence[object], holds: Callable[[object], bool]) -> Sequence[object]:
    """Return the values of a column that pass the test `holds` if nearly all do, else the whole column."""
    values = [value for value in column if holds(value)]
    return values if values and is_rare(len(column) - len(values), len(column)) else column


def _is_time_of(column: Sequence[object]) -> Callable[[object], bool]:
    """Return the test for times of a column that is no formatted text: ticks if most values are, else instants."""
    return _is_tick if 2 * sum(map(_is_tick, column)) > len(column) else _is_instant


def _matches_format(column: Sequence[object]) -> Callable[[object], bool]:
    """Return the test whether a value has the time format that fits most values of a column."""
    _, parse = most_frequent_format([value for value in column if value is not None and value is not ABSENT])
    return lambda value: isinstance(value, str) and parse(value) is not None


def _is_tick(value: object) -> bool:
    """Whether a sampled value is an integer from 0 on, which may be a tick; booleans are not."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_instant(value: object) -> bool:
    """Whether a sampled value is a date, a datetime or ISO 8601 text."""
    return parse_instant(value) is not None


def _accepts_any(_: object) -> bool:
    """The test of a column whose type fits each value."""
    return True
