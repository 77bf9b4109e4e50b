"""Resolve positions and speed limits of extents, and the regions of a catalog."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path

from transom.catalog.extent import Extent, ExtentKind
from transom.catalog.reading.columns import check_name
from transom.catalog.reading.locations import EntryError, Location
from transom.catalog.reading.ticks import read_microseconds
from transom.catalog.reading.wording import did_you_mean, display_value, quoted
from transom.catalog.schema.entries import ExtentEntry, PositionEntry, RegionEntry
from transom.model.geometry.regions import Region, close_ring
from transom.model.geometry.shapes import ShapeProblem, from_geojson, from_wkt
from transom.model.geometry.space import MICROMETRES, Position, Speed, read_distance
from transom.model.schema import Schema
from transom.model.time import Calendar
from transom.model.types import INTEGER_MAX, Type

_KEYS = {
    "position": "position",
    "moving": "object",
    "max_speed": "max_speed",
    "max_rows_per_key": "max_rows_per_key",
    "max_dwell": "max_dwell",
    "forget_after": "forget_after",
}
_POSITION_HINT = "add position: {x: x, y: y, unit: m} or position: {lon: lon, lat: lat}"
SPEED_HINT = "write a speed such as 200 km/h, 20 m/s or 30 kn"
_KNOTS = {"kn", "kt", "kts", "knot", "knots"}
_SPEED_PATTERN = re.compile(r"\s*([0-9]{1,12}(?:\.[0-9]{1,9})?)\s*([A-Za-z]+)\s*(?:(?:/|per\b)\s*(.*?))?\s*\Z")
_SHAPE_HINT = (
    "write {wkt: POLYGON ((...))}, {polygon: [[0, 0], [10, 0], [10, 10]]}, {geojson: {...}} or {file: sea.geojson}"
)
_FORMATS = {".geojson": "geojson", ".json": "geojson", ".wkt": "wkt", ".txt": "wkt"}


def read_position(entry: ExtentEntry, kind: ExtentKind, schema: Schema, at: Location) -> Position | None:
    """Return a stream's position columns, or None; EntryError if missing though a setting as max_speed needs them."""
    for field, key in _KEYS.items():
        if getattr(entry, field) is not None and kind is ExtentKind.STORED:
            raise EntryError(
                f"a stored extent has no {key}", at.then(key).at_key(), "only the rows of streams move; leave it out"
            )
    if entry.position is None:
        for field in ("moving", "max_speed"):
            if getattr(entry, field) is not None:
                key = _KEYS[field]
                raise EntryError(f"{key} needs a position", at.then(key).at_key(), _POSITION_HINT)
        return None
    return _position(entry.position, schema, at.then("position"))


def _position(entry: PositionEntry, schema: Schema, at: Location) -> Position:
    """Read a `position` entry, on the plane or on the earth; raise EntryError if its settings conflict."""
    plane = [key for key in ("x", "y", "unit") if getattr(entry, key) is not None]
    earth = [key for key in ("lon", "lat") if getattr(entry, key) is not None]
    if plane and earth:
        raise EntryError(f"{plane[0]} cannot be combined with {earth[0]}", at.then(plane[0]).at_key(), _POSITION_HINT)
    for key in ("lon", "lat") if earth else ("x",):
        if getattr(entry, key) is None:
            raise EntryError(f"this position has no {key}", at, _POSITION_HINT)
    for key in ("lon", "lat", "x", "y"):
        if getattr(entry, key) is not None:
            _check_number(getattr(entry, key), schema, at.then(key))
    if entry.lon is not None:
        return Position(entry.lon, entry.lat, geodesic=True)
    unit = entry.unit or "m"
    if unit.lower() not in MICROMETRES:
        hint = did_you_mean(unit, ("m", "km", "cm", "mm", "mi", "nmi", "ft"))
        raise EntryError(f"no unit of length {quoted(unit)}", at.then("unit"), hint)
    assert entry.x is not None  # noqa: S101 - checked above
    return Position(entry.x, entry.y, unit=MICROMETRES[unit.lower()])


def _check_number(name: str, schema: Schema, at: Location) -> None:
    """Raise EntryError unless an attribute exists and is a number that can be a coordinate."""
    kinds = {attribute.name: attribute.type for attribute in schema}
    if name not in kinds:
        raise EntryError(f"no attribute {quoted(name)}", at, did_you_mean(name, kinds))
    if kinds[name] not in (Type.INTEGER, Type.FLOAT):
        hint = "a coordinate is an integer or a float"
        raise EntryError(f"the attribute {name} is of type {kinds[name]}", at, hint)


def read_speed(text: str, calendar: Calendar) -> Speed:
    """Parse a speed such as `200 km/h`; raise ValueError if it is invalid.

    >>> read_speed("200 km/h", Calendar())
    Speed(length=500000000, ticks=9)
    """
    match = _SPEED_PATTERN.match(text)
    try:
        if not match:
            raise ValueError("no number with units")
        number, unit, time = match.groups()
        if time is None:
            length, microseconds = _unit_speed(unit)
        else:
            length, microseconds = read_distance(f"1 {unit}"), read_microseconds(time)
        ratio = Fraction(number) * length * calendar.length / microseconds
        if not 0 < ratio.numerator <= INTEGER_MAX or ratio.denominator > INTEGER_MAX:
            raise ValueError("out of range")
    except (ValueError, ZeroDivisionError) as error:
        raise ValueError(f"{display_value(text)} is not a speed") from error
    return Speed(ratio.numerator, ratio.denominator)


def _unit_speed(unit: str) -> tuple[int, int]:
    """Convert a unit of speed such as `kn` to a length and a time: (micrometres, microseconds).

    Raise ValueError if the unit is unknown.
    """
    hour = read_microseconds("1 h")
    if unit.lower() in _KNOTS:
        return MICROMETRES["nmi"], hour
    if unit.lower() == "kmh":
        return MICROMETRES["km"], hour
    if unit.lower() == "mph":
        return MICROMETRES["mi"], hour
    raise ValueError(f"{unit} is no unit of speed")


def read_regions(
    entries: Mapping[str, RegionEntry], extents: Mapping[str, Extent], at: Location, catalog_folder: Path | None
) -> dict[str, Region]:
    """Read a catalog's regions by name; raise EntryError if another region or an extent has the name, ignoring case."""
    taken = {name.lower(): name for name in extents}
    regions: dict[str, Region] = {}
    for name, entry in entries.items():
        region_at = at.then(name)
        check_name(name, region_at.at_key(), "a region")
        if name.lower() in taken:
            hint = f"{quoted(taken[name.lower()])} is there already; upper and lower case do not tell names apart"
            raise EntryError(f"the name {quoted(name)} is taken", region_at.at_key(), hint)
        taken[name.lower()] = name
        regions[name] = _region(name, entry, _geodesic(entry, extents.values(), region_at), region_at, catalog_folder)
    return regions


def _geodesic(entry: RegionEntry, extents: Iterable[Extent], at: Location) -> bool:
    """Whether a region is in longitude and latitude: as declared, or else like the positions of the extents."""
    if entry.on is not None:
        return entry.on == "earth"
    kinds = {extent.position.geodesic for extent in extents if extent.position is not None}
    if len(kinds) == 2:
        raise EntryError(
            "some extents have positions on the plane and some on the earth", at, "add on: plane or on: earth"
        )
    return True in kinds


def _region(name: str, entry: RegionEntry, geodesic: bool, at: Location, catalog_folder: Path | None) -> Region:
    """Read a region from WKT, GeoJSON, a list of points or a file; `geodesic` means longitude and latitude."""
    keys = [key for key in ("wkt", "geojson", "polygon", "file") if getattr(entry, key) is not None]
    if len(keys) != 1:
        raise EntryError(f"a region is one of wkt, geojson, polygon and file, not {len(keys)} of them", at, _SHAPE_HINT)
    if entry.feature is not None and keys[0] in ("wkt", "polygon"):
        hint = "only GeoJSON has features"
        raise EntryError(f"{keys[0]} has no feature", at.then("feature").at_key(), hint)
    shape_at = at.then(keys[0])
    try:
        if entry.wkt is not None:
            return from_wkt(name, entry.wkt, geodesic)
        if entry.polygon is not None:
            return Region(name, ((close_ring(_pairs(entry.polygon, shape_at)),),), geodesic)
        if entry.geojson is not None:
            return from_geojson(name, entry.geojson, geodesic, entry.feature)
        assert entry.file is not None  # noqa: S101 - one of the four is given
        return _from_file(name, entry.file, entry.feature, geodesic, shape_at, catalog_folder)
    except ShapeProblem as problem:
        if entry.wkt is not None and problem.start is not None and problem.end is not None:
            shape_at = shape_at.within(problem.start, problem.end)
        raise EntryError(str(problem), shape_at, _hint(str(problem))) from problem
    except ValueError as error:
        raise EntryError(str(error), shape_at, _hint(str(error))) from error


def _pairs(points: Sequence[Sequence[float]], at: Location) -> Iterator[tuple[float, float]]:
    """Yield the points of a polygon as pairs of coordinates; raise EntryError unless each point has two numbers."""
    for index, point in enumerate(points):
        if len(point) != 2:
            raise EntryError(f"a point is two numbers, not {len(point)}", at.then(index), "write for example [10, 5]")
        yield point[0], point[1]


def _hint(message: str) -> str:
    """Return the hint that suits the error message of an invalid region."""
    if "longitude" in message:
        return "longitudes come first; on: plane is for other coordinates"
    if "pole" in message:
        return "write for example POLYGON ((-180 66, 180 66, 180 90, -180 90, -180 66))"
    return "choose one of them" if "feature" in message else _SHAPE_HINT


def _from_file(
    name: str, path: str, feature: str | None, geodesic: bool, at: Location, catalog_folder: Path | None
) -> Region:
    """Read a region from a WKT or GeoJSON file; `feature` selects one of the features of a GeoJSON file.

    `geodesic` says that it is in longitude and latitude.
    """
    file = Path(path) if catalog_folder is None else catalog_folder / path
    kind = _FORMATS.get(file.suffix.lower())
    if kind is None:
        raise EntryError(f"cannot tell the format of {quoted(path)}", at, "give a file that ends in .geojson or .wkt")
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except FileNotFoundError as error:
        raise EntryError(f"no file {quoted(path)}", at, "a path is relative to the catalog") from error
    except (OSError, ValueError) as error:
        raise EntryError(f"cannot read {quoted(path)}", at, "give a text file in UTF-8", str(error)) from error
    if kind == "wkt":
        if feature is not None:
            raise EntryError("a file of WKT has no feature", at, "leave out feature")
        return from_wkt(name, text, geodesic)
    try:
        data: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise EntryError(f"{quoted(path)} is not JSON", at, "give a file of GeoJSON", str(error)) from error
    return from_geojson(name, data, geodesic, feature)
