"""One entry of a catalog to one extent: what the entries mean together, and which of them an extent may have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import TypedDict

from transom.catalog.checked import RATE, typed, worded
from transom.catalog.columns import check_name, listed_columns, read_schema
from transom.catalog.declaration import KINDS, read_declaration
from transom.catalog.entries import ExtentEntry, RdfEntry
from transom.catalog.extents import Extent, Kind
from transom.catalog.places import At, Misfit
from transom.catalog.source_entries import read_source
from transom.catalog.sources import LOG_COLUMNS
from transom.catalog.space_entries import SPEED, read_position, read_speed
from transom.catalog.ticks import read_interval, read_rate
from transom.catalog.wording import did_you_mean, quoted, show
from transom.model.schema import Schema
from transom.model.space import Speed
from transom.model.time import Calendar, Rate, read_duration
from transom.model.types import DECLARABLE, Value, fits

_ONLY = {"every": Kind.SENSED, "sites": Kind.SENSED, "site": Kind.SENSED, "rate": Kind.PUSHED, "rows": Kind.STORED}
_INSTEAD = {
    ("rate", Kind.SENSED): "a sensed extent takes every: 1 min",
    ("every", Kind.PUSHED): "a pushed extent takes rate: 20 per min",
}


def read_extent(name: str, entry: ExtentEntry, at: At, calendar: Calendar, folder: Path | None = None) -> Extent:
    """The extent that an entry declares; Misfit where the entries do not fit each other.

    `folder` is what paths are relative to.
    """
    check_name(name, at.at_key(), "an extent")
    kind, schema, every, sites, rate = _declared(name, entry, at, calendar)
    for key, only in _ONLY.items():
        if getattr(entry, key) is not None and kind is not only:
            hint = _INSTEAD.get((key, kind), f"only {only} extents have {'them' if key in ('sites', 'rows') else 'it'}")
            raise Misfit(f"a {kind} extent has no {key}", at.then(key).at_key(), hint)
    if entry.every is not None:
        every = worded(read_interval, entry.every, at.then("every"), calendar)
    for key in ("lateness", "idle_after", "max_ahead", "keys"):
        if getattr(entry, key) is not None and kind is Kind.STORED:
            why = "say how many `rows` it has" if key == "keys" else "only streams can be late, silent or ahead"
            raise Misfit(f"a stored extent has no {key}", at.then(key).at_key(), why)
    paced = pace(entry, at, calendar)
    paced["rate"] = paced["rate"] or rate
    if entry.sites is not None:
        sites = [(value, at.then("sites", place)) for place, value in enumerate(entry.sites)]
    site = _site(entry, kind, schema, at)
    known = _sites(sites, schema, site)
    extent = Extent(
        name,
        kind,
        schema,
        every=(every or 1) if kind is Kind.SENSED else None,
        sites=known,
        site=site,
        order=read_order(entry, kind, schema, known, at),
        rows=entry.rows,
        max_ahead=_ticks(entry.max_ahead, at.then("max_ahead"), calendar),
        keys=entry.keys,
        position=read_position(entry, kind, schema, at),
        object=_object(entry, schema, at),
        max_speed=_speed(entry, at, calendar),
        max_rows_per_key=entry.max_rows_per_key,
        max_dwell=_ticks(entry.max_dwell, at.then("max_dwell"), calendar),
        forget_after=_ticks(entry.forget_after, at.then("forget_after"), calendar),
        **paced,
    )
    if entry.source is None:
        return extent
    source = read_source(extent, entry.source, at.then("source"), calendar, folder)
    if hasattr(source, "log"):
        _beside_log(extent, at)
    return replace(extent, source=source)


class Pace(TypedDict):
    """How rows of a stream come: how many, how late, and after how long a silent source is idle."""

    rate: Rate | None
    lateness: int
    idle_after: int | None


def pace(entry: ExtentEntry | RdfEntry, at: At, calendar: Calendar) -> Pace:
    """What an entry says of when the rows of its stream come."""
    rate = None if entry.rate is None else worded(read_rate, entry.rate, at.then("rate"), calendar, RATE)
    lateness = _ticks(entry.lateness, at.then("lateness"), calendar) or 0
    return Pace(rate=rate, lateness=lateness, idle_after=_ticks(entry.idle_after, at.then("idle_after"), calendar))


def _beside_log(extent: Extent, at: At) -> None:
    """Refuse an attribute that is called like a column of the log; to Spark capitals and small letters are the same."""
    for name in extent.names:
        if name.lower() in LOG_COLUMNS:
            hint = f"rename the attribute; a log has {', '.join(LOG_COLUMNS)}"
            raise Misfit(f"the log of {extent.name} has a column {name.lower()} already", at, hint)


def _ticks(words: str | None, at: At, calendar: Calendar) -> int | None:
    """A length of time in ticks, rounded up: a row may be late, or a source silent, a little longer."""
    if words is None:
        return None
    micro = worded(lambda text, _: read_duration(text), words, at, calendar)
    return -(-micro // calendar.length)


def _object(entry: ExtentEntry, schema: Schema, at: At) -> str | None:
    """The attribute that tells moving objects apart."""
    if entry.moving is not None:
        _attribute(entry.moving, [attribute.name for attribute in schema], at.then("object"))
    return entry.moving


def _speed(entry: ExtentEntry, at: At, calendar: Calendar) -> Speed | None:
    if entry.max_speed is None:
        return None
    return worded(read_speed, entry.max_speed, at.then("max_speed"), calendar, SPEED)


_Sites = Sequence[tuple[object, At]]


def _declared(
    name: str, entry: ExtentEntry, at: At, calendar: Calendar
) -> tuple[Kind, Schema, int | None, _Sites, Rate | None]:
    """Kind, schema, interval, sites and rate, from a declaration or from the entries kind and attributes."""
    if entry.declare is None:
        if entry.kind is None:
            raise Misfit("kind is missing", at.at_key(), f"add kind: {', '.join(KINDS[:2])} or {KINDS[2]}")
        if entry.attributes is None:
            raise Misfit("attributes is missing", at.at_key(), "add attributes: {site: integer, temp: float}")
        here = at.then("attributes")
        return Kind(entry.kind), read_schema(name, listed_columns(entry.attributes, here), here), None, (), None
    for key in ("kind", "attributes"):
        if getattr(entry, key) is not None:
            raise Misfit(f"{key} stands in the declaration already", at.then(key).at_key(), "leave out one of the two")
    declared = read_declaration(entry.declare, at.then("declare"))
    kind = Kind(declared.kind)
    schema = read_schema(name, declared.columns, at.then("declare"))
    every, rate = None, None
    if declared.rate is not None:
        words, place = declared.rate
        if kind is Kind.STORED:
            raise Misfit("a stored extent has no RATE", place, "only sensed and pushed extents have it")
        _once("every" if kind is Kind.SENSED else "rate", "RATE", entry, at)
        if kind is Kind.SENSED:
            every = worded(read_interval, words, place, calendar)
        else:
            rate = worded(read_rate, words, place, calendar, RATE)
    if declared.sites is not None:
        if kind is not Kind.SENSED:
            raise Misfit(f"a {kind} extent has no SITES", declared.sites_at, "only sensed extents have them")
        _once("sites", "SITES", entry, at)
    return kind, schema, every, declared.sites or (), rate


def _once(key: str, word: str, entry: ExtentEntry, at: At) -> None:
    if getattr(entry, key) is not None:
        raise Misfit(f"{key} is given twice", at.then(key).at_key(), f"leave out {key} or {word}")


def _site(entry: ExtentEntry, kind: Kind, schema: Schema, at: At) -> str | None:
    """The attribute that holds the site: the one named by the entry, else the one called site."""
    names = [attribute.name for attribute in schema]
    if entry.site is not None:
        _attribute(entry.site, names, at.then("site"))
        return entry.site
    return "site" if kind is Kind.SENSED and "site" in names else None


def _sites(sites: _Sites, schema: Schema, site: str | None) -> tuple[Value, ...]:
    known: dict[Value, None] = {}
    holders = [attribute for attribute in schema if attribute.name == site]
    for given, at in sites:
        value = typed(given, holders[0], at) if holders else given
        if not isinstance(value, int | float | str | Decimal | datetime) or not any(
            fits(value, kind) for kind in DECLARABLE
        ):
            raise Misfit(f"{show(value)} cannot be a site", at, "write numbers or names")
        if value in known:
            raise Misfit(f"the site {show(value)} is listed twice", at, "leave out one of the two")
        known[value] = None
    return tuple(known)


def read_order(
    entry: ExtentEntry | RdfEntry, kind: Kind, schema: Schema, sites: tuple[Value, ...], at: At
) -> tuple[str, ...]:
    """The attributes that put rows of one tick in order."""
    if entry.order is None:
        return ()
    here = at.then("order")
    if kind is Kind.STORED:
        raise Misfit("a stored extent has no order", here.at_key(), "the rows of a table are a bag")
    if sites:
        raise Misfit("order has no effect beside sites", here.at_key(), "readings come in the order of the sites")
    names = [attribute.name for attribute in schema]
    for place, name in enumerate(entry.order):
        _attribute(name, names, here.then(place))
        if name in entry.order[:place]:
            raise Misfit(f"{name} is listed twice", here.then(place), "leave out one of the two")
    return tuple(entry.order)


def _attribute(name: str, names: Sequence[str], at: At) -> None:
    if name not in names:
        raise Misfit(f"no attribute {quoted(name)}", at, did_you_mean(name, names))
