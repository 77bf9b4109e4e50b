"""Resolve a catalog entry to an extent: which keys its kind allows, and what they mean together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import TypedDict

from transom.catalog.extent import Extent, ExtentKind
from transom.catalog.reading.columns import check_name, read_columns, read_schema
from transom.catalog.reading.declaration import EXTENT_KINDS, read_declaration
from transom.catalog.reading.located_values import RATE_HINT, read_text_at, read_value_at
from transom.catalog.reading.locations import EntryError, Location
from transom.catalog.reading.ticks import read_interval, read_rate
from transom.catalog.reading.wording import did_you_mean, display_value, quoted
from transom.catalog.resolve.source import read_source
from transom.catalog.resolve.space import SPEED_HINT, read_position, read_speed
from transom.catalog.schema.entries import ExtentEntry, RdfEntry
from transom.catalog.sources import LOG_COLUMNS
from transom.model.geometry.space import Speed
from transom.model.schema import Schema
from transom.model.time import Calendar, Rate, read_duration
from transom.model.types import DECLARABLE, Value, is_value_of

_KIND_OF_KEY = {
    "every": ExtentKind.SENSED,
    "sites": ExtentKind.SENSED,
    "site": ExtentKind.SENSED,
    "rate": ExtentKind.PUSHED,
    "rows": ExtentKind.STORED,
}
_KEY_HINTS = {
    ("rate", ExtentKind.SENSED): "a sensed extent takes every: 1 min",
    ("every", ExtentKind.PUSHED): "a pushed extent takes rate: 20 per min",
}


def read_extent(
    name: str, entry: ExtentEntry, at: Location, calendar: Calendar, catalog_folder: Path | None = None
) -> Extent:
    """Convert a catalog entry to an extent (source or table); raise EntryError if its settings conflict.

    Paths in it are relative to `catalog_folder`.
    """
    check_name(name, at.at_key(), "an extent")
    kind, schema, every, sites, rate = _read_declared(name, entry, at, calendar)
    for key, required_kind in _KIND_OF_KEY.items():
        if getattr(entry, key) is not None and kind is not required_kind:
            pronoun = "them" if key in ("sites", "rows") else "it"
            hint = _KEY_HINTS.get((key, kind), f"only {required_kind} extents have {pronoun}; leave {pronoun} out")
            raise EntryError(f"a {kind} extent has no {key}", at.then(key).at_key(), hint)
    if entry.every is not None:
        every = read_text_at(read_interval, entry.every, at.then("every"), calendar)
    for key in ("lateness", "idle_after", "max_ahead", "keys"):
        if getattr(entry, key) is not None and kind is ExtentKind.STORED:
            hint = (
                "declare `rows` instead" if key == "keys" else "only streams can be late, silent or ahead; leave it out"
            )
            raise EntryError(f"a stored extent has no {key}", at.then(key).at_key(), hint)
    timing = read_timing(entry, at, calendar)
    timing["rate"] = timing["rate"] or rate
    if entry.sites is not None:
        sites = [(value, at.then("sites", index)) for index, value in enumerate(entry.sites)]
    site = _site(entry, kind, schema, at)
    site_values = _sites(sites, schema, site)
    extent = Extent(
        name,
        kind,
        schema,
        every=(every or 1) if kind is ExtentKind.SENSED else None,
        sites=site_values,
        site=site,
        order=read_order(entry, kind, schema, site_values, at),
        rows=entry.rows,
        max_ahead=_ticks(entry.max_ahead, at.then("max_ahead"), calendar),
        keys=entry.keys,
        position=read_position(entry, kind, schema, at),
        object=_object(entry, schema, at),
        max_speed=_speed(entry, at, calendar),
        max_rows_per_key=entry.max_rows_per_key,
        max_dwell=_ticks(entry.max_dwell, at.then("max_dwell"), calendar),
        forget_after=_ticks(entry.forget_after, at.then("forget_after"), calendar),
        **timing,
    )
    if entry.source is None:
        return extent
    source = read_source(extent, entry.source, at.then("source"), calendar, catalog_folder)
    if hasattr(source, "log"):
        _check_log_columns(extent, at)
    return replace(extent, source=source)


class StreamTiming(TypedDict):
    """The timing of a stream: its rate, its lateness, and when a silent source counts as idle."""

    rate: Rate | None
    lateness: int
    idle_after: int | None


def read_timing(entry: ExtentEntry | RdfEntry, at: Location, calendar: Calendar) -> StreamTiming:
    """Read a stream's rate, lateness and idle time from its catalog entry; durations are converted to ticks."""
    rate = None if entry.rate is None else read_text_at(read_rate, entry.rate, at.then("rate"), calendar, RATE_HINT)
    lateness = _ticks(entry.lateness, at.then("lateness"), calendar) or 0
    return StreamTiming(
        rate=rate, lateness=lateness, idle_after=_ticks(entry.idle_after, at.then("idle_after"), calendar)
    )


def _check_log_columns(extent: Extent, at: Location) -> None:
    """Raise EntryError if an attribute has the name, ignoring case, of a column that every collector log has."""
    for name in extent.names:
        if name.lower() in LOG_COLUMNS:
            hint = f"rename the attribute; a log has {', '.join(LOG_COLUMNS)}"
            raise EntryError(f"the log of {extent.name} has a column {name.lower()} already", at, hint)


def _ticks(text: str | None, at: Location, calendar: Calendar) -> int | None:
    """Parse a declared duration, such as the lateness, to ticks, rounded up; None if it is not declared."""
    if text is None:
        return None
    microseconds = read_text_at(lambda duration, _: read_duration(duration), text, at, calendar)
    return -(-microseconds // calendar.length)


def _object(entry: ExtentEntry, schema: Schema, at: Location) -> str | None:
    """Return the attribute that identifies moving objects, or None; raise EntryError if it does not exist."""
    if entry.moving is not None:
        _check_attribute(entry.moving, [attribute.name for attribute in schema], at.then("object"))
    return entry.moving


def _speed(entry: ExtentEntry, at: Location, calendar: Calendar) -> Speed | None:
    """Return the declared speed limit of moving objects, or None if there is none."""
    if entry.max_speed is None:
        return None
    return read_text_at(read_speed, entry.max_speed, at.then("max_speed"), calendar, SPEED_HINT)


_Sites = Sequence[tuple[object, Location]]
"""Declared sites with their locations in the catalog."""


def _read_declared(
    name: str, entry: ExtentEntry, at: Location, calendar: Calendar
) -> tuple[ExtentKind, Schema, int | None, _Sites, Rate | None]:
    """Read an extent's kind, schema, interval in ticks, sites (places of sensors) and row rate from its entry.

    They are in the declaration `declare`, or in `kind` and `attributes`.
    """
    if entry.declare is None:
        if entry.kind is None:
            raise EntryError(
                "kind is missing",
                at.at_key(),
                f"add kind: {EXTENT_KINDS[0]}, kind: {EXTENT_KINDS[1]} or kind: {EXTENT_KINDS[2]}",
            )
        if entry.attributes is None:
            raise EntryError("attributes is missing", at.at_key(), "add attributes: {site: integer, temp: float}")
        attributes_at = at.then("attributes")
        schema = read_schema(name, read_columns(entry.attributes, attributes_at), attributes_at)
        return ExtentKind(entry.kind), schema, None, (), None
    for key in ("kind", "attributes"):
        if getattr(entry, key) is not None:
            raise EntryError(f"{key} is in the declaration already", at.then(key).at_key(), "leave out one of the two")
    declared = read_declaration(entry.declare, at.then("declare"))
    kind = ExtentKind(declared.kind)
    schema = read_schema(name, declared.columns, at.then("declare"))
    every, rate = None, None
    if declared.rate is not None:
        rate_text, rate_at = declared.rate
        if kind is ExtentKind.STORED:
            raise EntryError(
                "a stored extent has no RATE", rate_at, "only sensed and pushed extents have it; leave it out"
            )
        _check_declared_once("every" if kind is ExtentKind.SENSED else "rate", "RATE", entry, at)
        if kind is ExtentKind.SENSED:
            every = read_text_at(read_interval, rate_text, rate_at, calendar)
        else:
            rate = read_text_at(read_rate, rate_text, rate_at, calendar, RATE_HINT)
    if declared.sites is not None:
        if kind is not ExtentKind.SENSED:
            raise EntryError(
                f"a {kind} extent has no SITES", declared.sites_at, "only sensed extents have them; leave them out"
            )
        _check_declared_once("sites", "SITES", entry, at)
    return kind, schema, every, declared.sites or (), rate


def _check_declared_once(key: str, clause: str, entry: ExtentEntry, at: Location) -> None:
    """Raise EntryError if an entry has `key` although a `clause` of its declaration, such as RATE, sets the same."""
    if getattr(entry, key) is not None:
        raise EntryError(f"{key} is given twice", at.then(key).at_key(), f"leave out {key} or {clause}")


def _site(entry: ExtentEntry, kind: ExtentKind, schema: Schema, at: Location) -> str | None:
    """Return the attribute that holds the site (sensor place): as declared or, if sensed, `site`; None if none."""
    names = [attribute.name for attribute in schema]
    if entry.site is not None:
        _check_attribute(entry.site, names, at.then("site"))
        return entry.site
    return "site" if kind is ExtentKind.SENSED and "site" in names else None


def _sites(sites: _Sites, schema: Schema, site: str | None) -> tuple[Value, ...]:
    """Return the declared sites (places of sensors) as values of the attribute `site`; EntryError for a wrong list."""
    values: dict[Value, None] = {}
    holders = [attribute for attribute in schema if attribute.name == site]
    for declared, at in sites:
        value = read_value_at(declared, holders[0], at) if holders else declared
        if not isinstance(value, int | float | str | Decimal | datetime) or not any(
            is_value_of(value, kind) for kind in DECLARABLE
        ):
            raise EntryError(f"{display_value(value)} cannot be a site", at, "write numbers or names")
        if value in values:
            raise EntryError(f"the site {display_value(value)} is listed twice", at, "leave out one of the two")
        values[value] = None
    return tuple(values)


def read_order(
    entry: ExtentEntry | RdfEntry, kind: ExtentKind, schema: Schema, sites: tuple[Value, ...], at: Location
) -> tuple[str, ...]:
    """Return the attributes that order rows of one tick; raise EntryError for a table or an extent with sites.

    A table and an extent with `sites` cannot.
    """
    if entry.order is None:
        return ()
    order_at = at.then("order")
    if kind is ExtentKind.STORED:
        raise EntryError(
            "a stored extent has no order", order_at.at_key(), "the rows of a table have no order; leave it out"
        )
    if sites:
        raise EntryError(
            "an extent with sites has no order",
            order_at.at_key(),
            "readings come in the order of the sites; leave it out",
        )
    names = [attribute.name for attribute in schema]
    for index, name in enumerate(entry.order):
        _check_attribute(name, names, order_at.then(index))
        if name in entry.order[:index]:
            raise EntryError(f"{name} is listed twice", order_at.then(index), "leave out one of the two")
    return tuple(entry.order)


def _check_attribute(name: str, names: Sequence[str], at: Location) -> None:
    """Raise EntryError, with a suggestion, if a name is not among the attribute names `names`."""
    if name not in names:
        raise EntryError(f"no attribute {quoted(name)}", at, did_you_mean(name, names))
