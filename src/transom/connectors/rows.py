"""Rows as people give them to the elements of a stream and the versions of a table (S31, S37, E1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from transom.catalog.extents import Extent, Kind
from transom.catalog.ticks import Hinted, accepted, read_tick, read_value
from transom.catalog.wording import nearest, show
from transom.errors import DataError, UsageError
from transom.model.bag import Element, Row, Version, row_key, value_key
from transom.model.time import Calendar
from transom.model.types import Type, Value

AnyRow: TypeAlias = Mapping[str, object] | Sequence[object]
"""A row as entries by name, or as values in the order of the schema (for a stream, after the tick)."""


class Origin(NamedTuple):
    """Where a row was written, for messages: row 3 of the extent road, or line 4 of a file."""

    extent: str
    number: int
    unit: str = "row"
    source: str | None = None

    def error(self, message: str, hint: str | None = None) -> DataError:
        """The error about this row."""
        return DataError(f"{self.unit} {self.number} of {self.extent}: {message}", hint=hint, source=self.source)


class Given(NamedTuple):
    """A checked row before it has a place in the stream."""

    tick: int
    row: Row
    origin: Origin


def elements(extent: Extent, rows: Iterable[AnyRow], calendar: Calendar, until: int | None = None) -> list[Element]:
    """The stream that rows make: in order of their ticks, numbered from 1, none later than `until`.

    A row is a mapping with an entry `tick`, or a sequence with the tick in front. A tick is a whole number, a
    datetime or ISO 8601 text. DataError names the row that does not fit.
    """
    names = extent.names
    counted = enumerate(checked_rows(extent, rows), 1)
    given = (_given(extent, names, row, calendar, Origin(extent.name, number)) for number, row in counted)
    return tagged(extent, given, until)


def checked_rows(extent: Extent, rows: Iterable[AnyRow]) -> Iterable[AnyRow]:
    """Rows that a caller gave, refused if they are not a list."""
    if isinstance(rows, str | bytes | Mapping) or not isinstance(rows, Iterable):
        raise DataError(f"the rows of {extent.name} are {show(rows)}, not a list", hint="give a list of rows")
    return rows


def versions(
    extent: Extent, rows: Iterable[AnyRow] | Mapping[int, Iterable[AnyRow]], until: int | None = None
) -> list[Version]:
    """The versions of a table: one from tick 0 on, or one per tick of a mapping; none later than `until`."""
    by_tick = rows if isinstance(rows, Mapping) else {0: rows}
    found: list[Version] = []
    for tick, content in by_tick.items():
        if not isinstance(tick, int) or isinstance(tick, bool) or tick < 0:
            raise DataError(f"{extent.name}: {show(tick)} is not a tick", hint="versions begin at whole numbers from 0")
        numbered = enumerate(checked_rows(extent, content), 1)
        values = tuple(_values(extent, row, Origin(extent.name, number)) for number, row in numbered)
        found.append(version(extent, tick, values))
    return ordered_versions(found, until)


def tagged(extent: Extent, given: Iterable[Given], until: int | None) -> list[Element]:
    """Rows put in order and numbered: by tick, then as the extent orders ties, else as they come."""
    rows = [row for row in given if until is None or row.tick <= until]
    if extent.kind is Kind.SENSED:
        _check_acquisition(extent, rows)
    rows.sort(key=_tie_key(extent))
    return [Element(row.tick, index, row.row) for index, row in enumerate(rows, 1)]


def checked(
    values: Iterable[object], extent: Extent, origin: Origin, read: Callable[[object, Type], Value] = read_value
) -> Row:
    """Values of the types that the attributes of an extent have; DataError names the first that is not."""
    row = []
    for attribute, value in zip(extent.schema, values):
        try:
            row.append(read(value, attribute.type))
        except ValueError as error:
            hint = error.hint if isinstance(error, Hinted) else accepted(attribute.type)
            raise origin.error(f"{attribute.name}: {error}", hint) from error
    return tuple(row)


def tick_of(value: object, calendar: Calendar, origin: Origin, name: str = "tick") -> int:
    """The tick of a row; DataError if it is none."""
    try:
        return read_tick(value, calendar)
    except Hinted as error:
        raise origin.error(f"{name}: {error}", error.hint) from error


def version(extent: Extent, tick: int, rows: tuple[Row, ...]) -> Version:
    """One version of a table, with no more rows than are declared."""
    if extent.rows is not None and len(rows) > extent.rows:
        message = f"{extent.name} holds {len(rows)} rows from tick {tick} on, at most {extent.rows} are declared"
        raise DataError(message, hint="raise rows in the catalog")
    return Version(tick, rows)


def ordered_versions(found: Iterable[Version], until: int | None) -> list[Version]:
    """Versions in order of their ticks, none later than `until`."""
    kept = [one for one in found if until is None or one.tick <= until]
    return sorted(kept, key=lambda one: one.tick)


def _given(extent: Extent, names: Sequence[str], row: AnyRow, calendar: Calendar, origin: Origin) -> Given:
    if isinstance(row, Mapping):
        if "tick" not in row:
            hint = _meant("tick", row, extent) or "add an entry tick, or put the tick in front of the values"
            raise origin.error("no tick", hint)
        return Given(tick_of(row["tick"], calendar, origin), _values(extent, row, origin), origin)
    _check_length(row, ("tick", *names), origin)
    return Given(tick_of(row[0], calendar, origin), checked(row[1:], extent, origin), origin)


def _values(extent: Extent, row: AnyRow, origin: Origin) -> Row:
    """The values of a row without its tick."""
    if isinstance(row, Mapping):
        for name in extent.names:
            if name not in row:
                hint = _meant(name, row, extent) or "write None where there is no value"
                raise origin.error(f"no value for {name}", hint)
        return checked((row[name] for name in extent.names), extent, origin)
    _check_length(row, extent.names, origin)
    return checked(row, extent, origin)


def _meant(name: str, row: Mapping[str, object], extent: Extent) -> str | None:
    """A hint with the unknown key of a row that is nearest to a missing one."""
    unknown = [key for key in row if isinstance(key, str) and key != "tick" and key not in extent.names]
    near = nearest(name, unknown)
    return None if near is None else f"did you mean {name} for {near}?"


def _check_length(row: Sequence[object], names: Sequence[str], origin: Origin) -> None:
    if not isinstance(row, tuple | list) and (isinstance(row, str | bytes) or not isinstance(row, Sequence)):
        raise origin.error(f"{show(row)} is not a row", "give a mapping or a sequence of values")
    if len(row) != len(names):
        raise origin.error(f"{len(row)} values, expected {len(names)}", f"the values are {', '.join(names)}")


def _site_at(extent: Extent) -> int | None:
    """The place of the attribute that holds the site of a reading, if there is one."""
    return extent.names.index(extent.site) if extent.kind is Kind.SENSED and extent.site is not None else None


def _check_acquisition(extent: Extent, rows: Sequence[Given]) -> None:
    """Readings come every so often, each of a known site if sites are declared, and one of a site at a tick (S37)."""
    every = extent.every or 1
    known = set(extent.sites)
    place = _site_at(extent)
    seen: set[tuple[int, Value]] = set()
    for tick, row, origin in rows:
        if tick % every:
            raise origin.error(f"tick {tick} is no multiple of {every}", "readings come every so many ticks")
        if place is None:
            continue
        site = row[place]
        if known and site is None:
            raise origin.error(f"{extent.site}: the site is missing", "say where the reading was taken")
        if known and site not in known:
            raise origin.error(f"{extent.site}: {show(site)} is not a site", "list it under sites")
        if site is not None and (tick, site) in seen:
            message = f"{extent.site}: a second reading of {show(site)} at tick {tick}"
            raise origin.error(message, "a site is read once per tick")
        seen.add((tick, site))


def _tie_key(extent: Extent) -> Callable[[Given], tuple[object, ...]]:
    """Rows in order: by the list of sites (S37), by the declared columns and then all values (E1), or as they come."""
    place = _site_at(extent)
    if place is not None and extent.sites:
        rank = {site: position for position, site in enumerate(extent.sites)}
        return lambda given: (given.tick, rank[given.row[place]])
    if extent.order:
        columns = [extent.names.index(name) for name in extent.order]
        return lambda given: (given.tick, [value_key(given.row[c]) for c in columns], row_key(given.row))
    return lambda given: (given.tick,)


def check_span(start: int, until: int | None) -> None:
    """Refuse ticks that are none, and a span that ends before it begins."""
    for tick in (start, until):
        if tick is not None and (type(tick) is not int or tick < 0):
            raise UsageError(f"{tick!r} is no tick", hint="a tick is a whole number from 0 on")
    if until is not None and until < start:
        raise UsageError(f"until {until} is before the start {start}")
