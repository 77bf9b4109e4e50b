"""A catalog from YAML text or from dictionaries: shape by pydantic, meaning by the entry readers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from transom.catalog.columns import check_name
from transom.catalog.declaration import looks_declared
from transom.catalog.document import read_document
from transom.catalog.entries import CatalogEntry
from transom.catalog.extent_entries import read_extent
from transom.catalog.extents import Extent
from transom.catalog.places import At, Misfit, locate
from transom.catalog.rdf import Rdf
from transom.catalog.rdf_entries import read_rdf
from transom.catalog.shape_errors import first_misfit
from transom.catalog.space_entries import read_regions
from transom.catalog.ticks import read_instant, read_microseconds
from transom.catalog.wording import did_you_mean, nearest, quoted, show
from transom.model.regions import Region
from transom.model.time import Calendar
from transom.model.types import Value

_TOP = ("tick", "epoch", "extents", "regions", "parameters", "prefixes", "rdf")
_EXAMPLE = "write for example road: sensed (site:integer, temp:integer)"
_LONGEST_TICK = read_microseconds("366 d")


@dataclass(frozen=True, slots=True)
class Declarations:
    """All that the entries of a catalog declare."""

    calendar: Calendar
    extents: Mapping[str, Extent]
    regions: Mapping[str, Region]
    rdf: Rdf
    parameters: Mapping[str, Value]


def read_catalog(text: str, name: str | None = None, folder: Path | None = None) -> Declarations:
    """The declarations in a YAML text; paths in it are relative to `folder`."""
    data, places = read_document(text, name)
    try:
        return _read(data, folder)
    except Misfit as misfit:
        raise locate(misfit, places, name) from misfit.__cause__


def read_entries(entries: Mapping[str, object], folder: Path | None = None) -> Declarations:
    """The declarations in dictionaries and lists."""
    try:
        return _read(dict(entries) if isinstance(entries, Mapping) else entries, folder)
    except Misfit as misfit:
        raise locate(misfit, None, None) from misfit.__cause__


def _read(data: object, folder: Path | None) -> Declarations:
    if data is None:
        raise Misfit("the catalog is empty", At(), _EXAMPLE)
    if not isinstance(data, dict):
        raise Misfit(f"expected a catalog, not {show(data)}", At(), _EXAMPLE)
    try:
        entry = CatalogEntry.model_validate(_gathered(data))
    except ValidationError as error:
        raise first_misfit(error) from error
    calendar = _calendar(entry)
    extents: dict[str, Extent] = {}
    seen: dict[str, str] = {}
    for name, declared in entry.extents.items():
        at = At(("extents", name))
        if name.lower() in seen:
            why = "upper and lower case do not tell names apart"
            raise Misfit(f"{quoted(name)} and {quoted(seen[name.lower()])} are the same name", at.at_key(), why)
        seen[name.lower()] = name
        extents[name] = read_extent(name, declared, at, calendar, folder)
    rdf = read_rdf(entry.rdf, entry.prefixes, extents, calendar, folder)
    if not extents and not rdf.extents:
        raise Misfit("the catalog declares no extent", At(), _EXAMPLE)
    regions = read_regions(entry.regions, extents, At(("regions",)), folder)
    return Declarations(calendar, extents, regions, rdf, _parameters(entry))


def _parameters(entry: CatalogEntry) -> dict[str, Value]:
    """The parameters of CQL queries with their values; a name in a list stands for itself (C8)."""
    given = entry.parameters
    top = At(("parameters",))
    if isinstance(given, list):
        for place, name in enumerate(given):
            check_name(name, top.then(place), "a parameter")
        return {name: name for name in given}
    found: dict[str, Value] = {}
    for name, value in given.items():
        at = top.then(name)
        check_name(name, at.at_key(), "a parameter")
        if not isinstance(value, str | int | float):
            hint = "write a string, a number, true or false"
            raise Misfit(f"the parameter {quoted(name)} is {show(value)}", at, hint)
        found[name] = value
    return found


def _gathered(data: dict[object, object]) -> dict[object, object]:
    """The entries with the declarations that stand at the top put among the extents (S39)."""
    nested = data.get("extents")
    extents = dict(nested) if isinstance(nested, dict) else {}
    for key, value in data.items():
        if key in _TOP:
            continue
        at = At((str(key),)).at_key()
        if not isinstance(value, str) or not looks_declared(value):
            hint = did_you_mean(str(key), _TOP)
            if isinstance(value, dict) and nearest(str(key), _TOP) is None:
                hint = f"put {quoted(key)} under extents"
            raise Misfit(f"unknown entry {quoted(key)}", at, hint)
        if key in extents:
            raise Misfit(f"{quoted(key)} is declared twice", at, "leave out one of the two")
        extents[key] = value
    gathered: dict[object, object] = {key: value for key, value in data.items() if key in _TOP}
    if isinstance(nested, dict) or nested is None:
        gathered["extents"] = extents
    return gathered


def _calendar(entry: CatalogEntry) -> Calendar:
    at = At(("tick",))
    try:
        length = read_microseconds(entry.tick)
    except ValueError as error:
        raise Misfit(str(error), at, "write for example 1 s") from error
    if not 1 <= length <= _LONGEST_TICK:
        raise Misfit("a tick is between 1 us and 366 d long", at, "write for example 1 s")
    try:
        return Calendar(length, read_instant(entry.epoch))
    except ValueError as error:
        raise Misfit(str(error), At(("epoch",)), "write for example 2009-01-01T00:00:00Z") from error
