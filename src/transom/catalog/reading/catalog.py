"""Read a catalog from YAML text or dictionaries: pydantic checks the structure, `resolve` the meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from transom.catalog.extent import Extent
from transom.catalog.rdf import Rdf
from transom.catalog.reading.columns import check_name
from transom.catalog.reading.declaration import looks_like_declaration
from transom.catalog.reading.document import read_document
from transom.catalog.reading.locations import EntryError, Location, to_catalog_error
from transom.catalog.reading.ticks import read_instant, read_microseconds
from transom.catalog.reading.wording import did_you_mean, display_value, nearest, quoted
from transom.catalog.resolve.extent import read_extent
from transom.catalog.resolve.rdf import read_rdf
from transom.catalog.resolve.space import read_regions
from transom.catalog.schema.entries import CatalogEntry
from transom.catalog.schema.errors import first_entry_error
from transom.model.geometry.regions import Region
from transom.model.time import Calendar
from transom.model.types import Value

_TOP_LEVEL_KEYS = ("tick", "epoch", "extents", "regions", "parameters", "prefixes", "rdf")
_EXAMPLE = "write for example road: sensed (site:integer, temp:integer)"
_LONGEST_TICK = read_microseconds("366 d")


@dataclass(frozen=True, slots=True)
class Declarations:
    """The content of a catalog."""

    calendar: Calendar
    extents: Mapping[str, Extent]
    regions: Mapping[str, Region]
    rdf: Rdf
    parameters: Mapping[str, Value]


def read_catalog(text: str, name: str | None = None, catalog_folder: Path | None = None) -> Declarations:
    """Read a catalog from YAML text, whose file is `name` in messages; raise CatalogError if it is invalid.

    Paths in it are relative to `catalog_folder`.
    """
    data, source_map = read_document(text, name)
    try:
        return _read_declarations(data, catalog_folder)
    except EntryError as error:
        raise to_catalog_error(error, source_map, name) from error.__cause__


def read_entries(entries: Mapping[str, object], catalog_folder: Path | None = None) -> Declarations:
    """Read a catalog from dictionaries and lists; raise CatalogError if it is invalid.

    Paths in it are relative to `catalog_folder`.
    """
    try:
        return _read_declarations(dict(entries) if isinstance(entries, Mapping) else entries, catalog_folder)
    except EntryError as error:
        raise to_catalog_error(error, None, None) from error.__cause__


def _read_declarations(data: object, catalog_folder: Path | None) -> Declarations:
    """Check the data of a catalog and resolve its entries; raise EntryError at the first invalid entry."""
    if data is None:
        raise EntryError("the catalog is empty", Location(), _EXAMPLE)
    if not isinstance(data, dict):
        raise EntryError(f"expected a catalog, not {display_value(data)}", Location(), _EXAMPLE)
    try:
        entry = CatalogEntry.model_validate(_with_top_level_extents(data))
    except ValidationError as error:
        raise first_entry_error(error) from error
    calendar = _calendar(entry)
    extents: dict[str, Extent] = {}
    taken: dict[str, str] = {}
    for name, extent_entry in entry.extents.items():
        at = Location(("extents", name))
        if name.lower() in taken:
            hint = "give them names that differ in more than upper and lower case"
            raise EntryError(f"{quoted(name)} and {quoted(taken[name.lower()])} are the same name", at.at_key(), hint)
        taken[name.lower()] = name
        extents[name] = read_extent(name, extent_entry, at, calendar, catalog_folder)
    rdf = read_rdf(entry.rdf, entry.prefixes, extents, calendar, catalog_folder)
    if not extents and not rdf.extents:
        raise EntryError("the catalog declares no extent", Location(), _EXAMPLE)
    regions = read_regions(entry.regions, extents, Location(("regions",)), catalog_folder)
    return Declarations(calendar, extents, regions, rdf, _parameters(entry))


def _parameters(entry: CatalogEntry) -> dict[str, Value]:
    """Return the values of CQL query parameters by name; a parameter without a value has its own name as value."""
    declared = entry.parameters
    top = Location(("parameters",))
    if isinstance(declared, list):
        for index, name in enumerate(declared):
            check_name(name, top.then(index), "a parameter")
        return {name: name for name in declared}
    parameters: dict[str, Value] = {}
    for name, value in declared.items():
        at = top.then(name)
        check_name(name, at.at_key(), "a parameter")
        if not isinstance(value, str | int | float):
            hint = "write a string, a number, true or false"
            raise EntryError(f"the parameter {quoted(name)} is {display_value(value)}", at, hint)
        parameters[name] = value
    return parameters


def _with_top_level_extents(data: dict[object, object]) -> dict[object, object]:
    """Return a catalog's data with the extents that it declares at its top level moved into the entry `extents`.

    Raise EntryError for any other unknown key.
    """
    nested = data.get("extents")
    extents = dict(nested) if isinstance(nested, dict) else {}
    for key, value in data.items():
        if key in _TOP_LEVEL_KEYS:
            continue
        at = Location((str(key),)).at_key()
        if not isinstance(value, str) or not looks_like_declaration(value):
            hint = did_you_mean(str(key), _TOP_LEVEL_KEYS)
            if isinstance(value, dict) and nearest(str(key), _TOP_LEVEL_KEYS) is None:
                hint = f"put {quoted(key)} under extents"
            raise EntryError(f"unknown entry {quoted(key)}", at, hint)
        if key in extents:
            raise EntryError(f"{quoted(key)} is declared twice", at, "leave out one of the two")
        extents[key] = value
    normalized: dict[object, object] = {key: value for key, value in data.items() if key in _TOP_LEVEL_KEYS}
    if isinstance(nested, dict) or nested is None:
        normalized["extents"] = extents
    return normalized


def _calendar(entry: CatalogEntry) -> Calendar:
    """Read the length of a tick and the epoch (the instant of tick 0) from a catalog; EntryError if one is invalid."""
    at = Location(("tick",))
    try:
        length = read_microseconds(entry.tick)
    except ValueError as error:
        raise EntryError(str(error), at, "write for example 1 s") from error
    if not 1 <= length <= _LONGEST_TICK:
        raise EntryError("a tick is between 1 us and 366 d long", at, "write for example 1 s")
    try:
        return Calendar(length, read_instant(entry.epoch), has_epoch="epoch" in entry.model_fields_set)
    except ValueError as error:
        raise EntryError(str(error), Location(("epoch",)), "write for example 2009-01-01T00:00:00Z") from error
