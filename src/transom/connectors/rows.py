"""Convert user-supplied rows into the elements of a stream or the versions of a table (S31, S37, E1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from transom.catalog.extent import Extent, ExtentKind
from transom.catalog.reading.ticks import HintedError, accepted_hint, read_tick, read_value
from transom.catalog.reading.wording import display_value, nearest
from transom.errors import DataError, UsageError
from transom.model.bag import Element, Row, TableVersion, row_key, value_key
from transom.model.time import Calendar
from transom.model.types import Type, Value

AnyRow: TypeAlias = Mapping[str, object] | Sequence[object]
"""A row as a mapping by name, or as values in schema order (for a stream, preceded by the tick)."""


class Origin(NamedTuple):
    """Where a row comes from, for error messages: row 3 of the extent road, or line 4 of a file."""

    extent: str
    number: int
    unit: str = "row"
    source: str | None = None

    def error(self, message: str, hint: str | None = None) -> DataError:
        """Build a DataError about this row, which names its number and its file or source; `hint` is the remedy."""
        error = DataError(f"{self.unit} {self.number} of {self.extent}: {message}", hint=hint, source=self.source)
        error.row = (self.extent, self.number)
        return error


class SourceRow(NamedTuple):
    """A checked row that is not yet numbered in its stream."""

    tick: int
    row: Row
    origin: Origin


def elements(extent: Extent, rows: Iterable[AnyRow], calendar: Calendar, until: int | None = None) -> list[Element]:
    """Convert the caller's rows to a stream, ordered by tick and numbered from 1, up to tick `until` (None: all).

    A row is a mapping with a key `tick`, or a sequence that starts with the tick. A tick is an integer, a datetime or
    ISO 8601 text. DataError names the first invalid row.
    """
    names = extent.names
    numbered = enumerate(checked_rows(extent, rows), 1)
    source_rows = (_source_row(extent, names, row, calendar, Origin(extent.name, number)) for number, row in numbered)
    return ordered_elements(extent, source_rows, until)


def checked_rows(extent: Extent, rows: Iterable[AnyRow]) -> Iterable[AnyRow]:
    """Return the caller's rows unchanged; raise DataError if they are not an iterable of rows."""
    if isinstance(rows, str | bytes | Mapping) or not isinstance(rows, Iterable):
        hint = "call collect() first" if hasattr(rows, "collect") else "give a list of rows or a data frame"
        raise DataError(f"the rows of {extent.name} are {display_value(rows)}, not a list", hint=hint)
    return rows


def versions(
    extent: Extent, rows: Iterable[AnyRow] | Mapping[int, Iterable[AnyRow]], until: int | None = None
) -> list[TableVersion]:
    """Convert the caller's rows to table versions: one per tick of a mapping (up to `until`), or one from tick 0.

    Versions after tick `until` are dropped.
    """
    by_tick = rows if isinstance(rows, Mapping) else {0: rows}
    table_versions: list[TableVersion] = []
    for tick, content in by_tick.items():
        if not isinstance(tick, int) or isinstance(tick, bool) or tick < 0:
            raise DataError(
                f"{extent.name}: {display_value(tick)} is not a tick", hint="versions begin at whole numbers from 0"
            )
        numbered = enumerate(checked_rows(extent, content), 1)
        values = tuple(_values(extent, row, Origin(extent.name, number)) for number, row in numbered)
        table_versions.append(make_version(extent, tick, values))
    return ordered_versions(table_versions, until)


def ordered_elements(extent: Extent, source_rows: Iterable[SourceRow], until: int | None) -> list[Element]:
    """Sort a stream's rows by tick and number them from 1, up to tick `until` (None: all).

    Ties keep the declared order, else that of arrival. DataError if readings of a sensed extent break its schedule or
    its sites.
    """
    rows = [row for row in source_rows if until is None or row.tick <= until]
    if extent.kind is ExtentKind.SENSED:
        _check_acquisition(extent, rows)
    rows.sort(key=_tie_key(extent))
    return [Element(row.tick, index, row.row) for index, row in enumerate(rows, 1)]


def checked_values(
    values: Iterable[object], extent: Extent, origin: Origin, read: Callable[[object, Type], Value] = read_value
) -> Row:
    """Convert a row's values, in schema order, to the attributes' types with `read`; DataError if one does not fit.

    `read` converts one value.
    """
    row = []
    for attribute, value in zip(extent.schema, values):
        try:
            row.append(read(value, attribute.type))
        except ValueError as error:
            hint = error.hint if isinstance(error, HintedError) else accepted_hint(attribute.type)
            raise origin.error(f"{attribute.name}: {error}", hint) from error
    return tuple(row)


def tick_of(value: object, calendar: Calendar, origin: Origin, name: str = "tick") -> int:
    """Return the tick of a row's time in column `name`; raise DataError if it is no time or before tick 0."""
    try:
        return read_tick(value, calendar)
    except HintedError as error:
        raise origin.error(f"{name}: {error}", error.hint) from error


def make_version(extent: Extent, tick: int, rows: tuple[Row, ...]) -> TableVersion:
    """Create the version of a table that is valid from `tick`; raise DataError if it has more rows than declared."""
    if extent.rows is not None and len(rows) > extent.rows:
        message = f"{extent.name} holds {len(rows)} rows from tick {tick} on, at most {extent.rows} are declared"
        raise DataError(message, hint="raise rows in the catalog")
    return TableVersion(tick, rows)


def ordered_versions(table_versions: Iterable[TableVersion], until: int | None) -> list[TableVersion]:
    """Sort the versions of a table by tick, and drop those after tick `until` (None: keep all)."""
    visible = [version for version in table_versions if until is None or version.tick <= until]
    return sorted(visible, key=lambda version: version.tick)


def _source_row(extent: Extent, names: Sequence[str], row: AnyRow, calendar: Calendar, origin: Origin) -> SourceRow:
    """Convert a caller's row with a tick (a mapping or sequence) to a row of a stream, or raise DataError."""
    if isinstance(row, Mapping):
        if "tick" not in row:
            hint = _suggest_key("tick", row, extent) or "add an entry tick, or put the tick in front of the values"
            raise origin.error("no tick", hint)
        return SourceRow(tick_of(row["tick"], calendar, origin), _values(extent, row, origin), origin)
    _check_length(row, ("tick", *names), origin)
    return SourceRow(tick_of(row[0], calendar, origin), checked_values(row[1:], extent, origin), origin)


def _values(extent: Extent, row: AnyRow, origin: Origin) -> Row:
    """Convert a caller's row without a tick (a mapping or sequence) to the attributes' types, or raise DataError."""
    if isinstance(row, Mapping):
        for name in extent.names:
            if name not in row:
                hint = _suggest_key(name, row, extent) or "write None where there is no value"
                raise origin.error(f"no value for {name}", hint)
        return checked_values((row[name] for name in extent.names), extent, origin)
    _check_length(row, extent.names, origin)
    return checked_values(row, extent, origin)


def _suggest_key(name: str, row: Mapping[str, object], extent: Extent) -> str | None:
    """Return the hint that an unknown name in a row may be a misspelling of `name`; None if none is similar."""
    unknown = [key for key in row if isinstance(key, str) and key != "tick" and key not in extent.names]
    near = nearest(name, unknown)
    return None if near is None else f"did you mean {name} for {near}?"


def _check_length(row: Sequence[object], names: Sequence[str], origin: Origin) -> None:
    """Raise DataError unless a caller's row is a sequence with one value for each of `names`."""
    if not isinstance(row, tuple | list) and (isinstance(row, str | bytes) or not isinstance(row, Sequence)):
        raise origin.error(f"{display_value(row)} is not a row", "give a mapping or a sequence of values")
    if len(row) != len(names):
        raise origin.error(f"{len(row)} values, expected {len(names)}", f"the values are {', '.join(names)}")


def _site_index(extent: Extent) -> int | None:
    """Return the index in a row of the site (place) of a sensed, that is polled, source; None if there is none."""
    return extent.names.index(extent.site) if extent.kind is ExtentKind.SENSED and extent.site is not None else None


def _check_acquisition(extent: Extent, rows: Sequence[SourceRow]) -> None:
    """Raise DataError if a row of a polled source is off schedule or has an unknown or repeated sensor site.

    Ticks are multiples of `every`, sites are declared, and a site has one reading per tick.
    """
    every = extent.every or 1
    sites = set(extent.sites)
    site_index = _site_index(extent)
    seen: set[tuple[int, Value]] = set()
    for tick, row, origin in rows:
        if tick % every:
            raise origin.error(f"tick {tick} is no multiple of {every}", "readings come every so many ticks")
        if site_index is None:
            continue
        site = row[site_index]
        if sites and site is None:
            raise origin.error(f"{extent.site}: the site is missing", "say where the reading was taken")
        if sites and site not in sites:
            raise origin.error(f"{extent.site}: {display_value(site)} is not a site", "list it under sites")
        if site is not None and (tick, site) in seen:
            message = f"{extent.site}: a second reading of {display_value(site)} at tick {tick}"
            raise origin.error(message, "a site is read once per tick")
        seen.add((tick, site))


def _tie_key(extent: Extent) -> Callable[[SourceRow], tuple[object, ...]]:
    """Return a function from row to sort key: tick, then site (sensor place) or `order` columns, if any."""
    site_index = _site_index(extent)
    if site_index is not None and extent.sites:
        rank = {site: position for position, site in enumerate(extent.sites)}
        return lambda source: (source.tick, rank[source.row[site_index]])
    if extent.order:
        columns = [extent.names.index(name) for name in extent.order]
        return lambda source: (source.tick, [value_key(source.row[c]) for c in columns], row_key(source.row))
    return lambda source: (source.tick,)


def check_span(start: int, until: int | None) -> None:
    """Raise UsageError unless `start` and `until` (None: no end) are ticks and `until` is not before `start`."""
    for tick in (start, until):
        if tick is not None and (type(tick) is not int or tick < 0):
            raise UsageError(f"{tick!r} is no tick", hint="a tick is a whole number from 0 on")
    if until is not None and until < start:
        raise UsageError(f"until {until} is before the start {start}")
