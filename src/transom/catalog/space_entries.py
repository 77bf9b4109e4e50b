"""Where the rows of an extent are, how fast its objects can be, and the regions of a catalog."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path

from transom.catalog.columns import check_name
from transom.catalog.entries import ExtentEntry, PositionEntry, RegionEntry
from transom.catalog.extents import Extent, Kind
from transom.catalog.places import At, Misfit
from transom.catalog.ticks import read_microseconds
from transom.catalog.wording import did_you_mean, quoted, show
from transom.model.regions import Region, closed
from transom.model.schema import Schema
from transom.model.shapes import ShapeProblem, from_geojson, from_wkt
from transom.model.space import MICROMETRES, Position, Speed, read_distance
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
_NEED = "add position: {x: x, y: y, unit: m} or position: {lon: lon, lat: lat}"
SPEED = "write a speed such as 200 km/h, 20 m/s or 30 kn"
_KNOTS = {"kn", "kt", "kts", "knot", "knots"}
_A_SPEED = re.compile(r"\s*([0-9]{1,12}(?:\.[0-9]{1,9})?)\s*([A-Za-z]+)\s*(?:(?:/|per\b)\s*(.*?))?\s*\Z")
_SHAPE = "write {wkt: POLYGON ((...))}, {polygon: [[0, 0], [10, 0], [10, 10]]}, {geojson: {...}} or {file: sea.geojson}"
_FORMATS = {".geojson": "geojson", ".json": "geojson", ".wkt": "wkt", ".txt": "wkt"}


def read_position(entry: ExtentEntry, kind: Kind, schema: Schema, at: At) -> Position | None:
    """The position that an entry declares, if any; Misfit where an extent has none but says something about it."""
    for field, key in _KEYS.items():
        if getattr(entry, field) is not None and kind is Kind.STORED:
            raise Misfit(f"a stored extent has no {key}", at.then(key).at_key(), "only the rows of streams move")
    if entry.position is None:
        for field in ("moving", "max_speed"):
            if getattr(entry, field) is not None:
                key = _KEYS[field]
                raise Misfit(f"{key} without a position", at.then(key).at_key(), _NEED)
        return None
    return _position(entry.position, schema, at.then("position"))


def _position(entry: PositionEntry, schema: Schema, at: At) -> Position:
    plane = [key for key in ("x", "y", "unit") if getattr(entry, key) is not None]
    earth = [key for key in ("lon", "lat") if getattr(entry, key) is not None]
    if plane and earth:
        raise Misfit(f"{plane[0]} does not go with {earth[0]}", at.then(plane[0]).at_key(), _NEED)
    for key in ("lon", "lat") if earth else ("x",):
        if getattr(entry, key) is None:
            raise Misfit(f"a position without {key}", at, _NEED)
    for key in ("lon", "lat", "x", "y"):
        if getattr(entry, key) is not None:
            _number(getattr(entry, key), schema, at.then(key))
    if entry.lon is not None:
        return Position(entry.lon, entry.lat, geodesic=True)
    unit = entry.unit or "m"
    if unit.lower() not in MICROMETRES:
        hint = did_you_mean(unit, ("m", "km", "cm", "mm", "mi", "nmi", "ft"))
        raise Misfit(f"no unit of length {quoted(unit)}", at.then("unit"), hint)
    assert entry.x is not None  # noqa: S101 - it was asked for above
    return Position(entry.x, entry.y, unit=MICROMETRES[unit.lower()])


def _number(name: str, schema: Schema, at: At) -> None:
    kinds = {attribute.name: attribute.type for attribute in schema}
    if name not in kinds:
        raise Misfit(f"no attribute {quoted(name)}", at, did_you_mean(name, kinds))
    if kinds[name] not in (Type.INTEGER, Type.FLOAT):
        hint = "a coordinate is an integer or a float"
        raise Misfit(f"the attribute {name} is of type {kinds[name]}", at, hint)


def read_speed(words: str, calendar: Calendar) -> Speed:
    """A speed such as `200 km/h`; ValueError if it is none.

    >>> read_speed("200 km/h", Calendar())
    Speed(length=500000000, ticks=9)
    """
    found = _A_SPEED.match(words)
    try:
        if not found:
            raise ValueError("no number with units")
        number, unit, time = found.groups()
        if time is None:
            length, micro = _speed_of_one(unit)
        else:
            length, micro = read_distance(f"1 {unit}"), read_microseconds(time)
        ratio = Fraction(number) * length * calendar.length / micro
        if not 0 < ratio.numerator <= INTEGER_MAX or ratio.denominator > INTEGER_MAX:
            raise ValueError("out of range")
    except (ValueError, ZeroDivisionError) as error:
        raise ValueError(f"{show(words)} is not a speed") from error
    return Speed(ratio.numerator, ratio.denominator)


def _speed_of_one(unit: str) -> tuple[int, int]:
    """A unit of speed as micrometres in microseconds."""
    hour = read_microseconds("1 h")
    if unit.lower() in _KNOTS:
        return MICROMETRES["nmi"], hour
    if unit.lower() == "kmh":
        return MICROMETRES["km"], hour
    if unit.lower() == "mph":
        return MICROMETRES["mi"], hour
    raise ValueError(f"{unit} is no unit of speed")


def read_regions(
    entries: Mapping[str, RegionEntry], extents: Mapping[str, Extent], at: At, folder: Path | None
) -> dict[str, Region]:
    """The regions of a catalog by name; names differ from each other and from those of extents in more than case."""
    seen = {name.lower(): name for name in extents}
    found: dict[str, Region] = {}
    for name, entry in entries.items():
        here = at.then(name)
        check_name(name, here.at_key(), "a region")
        if name.lower() in seen:
            why = f"{quoted(seen[name.lower()])} is there already; upper and lower case do not tell names apart"
            raise Misfit(f"the name {quoted(name)} is taken", here.at_key(), why)
        seen[name.lower()] = name
        found[name] = _region(name, entry, _geodesic(entry, extents.values(), here), here, folder)
    return found


def _geodesic(entry: RegionEntry, extents: Iterable[Extent], at: At) -> bool:
    """Whether a region is one of longitudes and latitudes: as it says, or as the positions of the extents are."""
    if entry.on is not None:
        return entry.on == "earth"
    kinds = {extent.position.geodesic for extent in extents if extent.position is not None}
    if len(kinds) == 2:
        raise Misfit("some extents have positions on the plane and some on the earth", at, "add on: plane or on: earth")
    return True in kinds


def _region(name: str, entry: RegionEntry, geodesic: bool, at: At, folder: Path | None) -> Region:
    given = [key for key in ("wkt", "geojson", "polygon", "file") if getattr(entry, key) is not None]
    if len(given) != 1:
        raise Misfit(f"a region is one of wkt, geojson, polygon and file, not {len(given)} of them", at, _SHAPE)
    if entry.feature is not None and given[0] in ("wkt", "polygon"):
        hint = "only GeoJSON has features"
        raise Misfit(f"{given[0]} has no feature", at.then("feature").at_key(), hint)
    here = at.then(given[0])
    try:
        if entry.wkt is not None:
            return from_wkt(name, entry.wkt, geodesic)
        if entry.polygon is not None:
            return Region(name, ((closed(_pairs(entry.polygon, here)),),), geodesic)
        if entry.geojson is not None:
            return from_geojson(name, entry.geojson, geodesic, entry.feature)
        assert entry.file is not None  # noqa: S101 - one of the four is given
        return _from_file(name, entry.file, entry.feature, geodesic, here, folder)
    except ShapeProblem as problem:
        if entry.wkt is not None and problem.start is not None and problem.end is not None:
            here = here.within(problem.start, problem.end)
        raise Misfit(str(problem), here, _hint(str(problem))) from problem
    except ValueError as error:
        raise Misfit(str(error), here, _hint(str(error))) from error


def _pairs(places: Sequence[Sequence[float]], at: At) -> Iterator[tuple[float, float]]:
    for number, place in enumerate(places):
        if len(place) != 2:
            raise Misfit(f"a place is two numbers, not {len(place)}", at.then(number), "write for example [10, 5]")
        yield place[0], place[1]


def _hint(message: str) -> str:
    """What to do about a region that is none."""
    if "longitude" in message:
        return "longitudes come first; on: plane is for other coordinates"
    if "pole" in message:
        return "write for example POLYGON ((-180 66, 180 66, 180 90, -180 90, -180 66))"
    return "choose one of them" if "feature" in message else _SHAPE


def _from_file(name: str, path: str, feature: str | None, geodesic: bool, at: At, folder: Path | None) -> Region:
    place = Path(path) if folder is None else folder / path
    kind = _FORMATS.get(place.suffix.lower())
    if kind is None:
        raise Misfit(f"cannot tell the format of {quoted(path)}", at, "give a file that ends in .geojson or .wkt")
    try:
        text = place.read_bytes().decode("utf-8-sig")
    except FileNotFoundError as error:
        raise Misfit(f"no file {quoted(path)}", at, "a path is relative to the catalog") from error
    except (OSError, ValueError) as error:
        raise Misfit(f"cannot read {quoted(path)}", at, "give a text file in UTF-8", str(error)) from error
    if kind == "wkt":
        if feature is not None:
            raise Misfit("a file of WKT has no feature", at, "leave out feature")
        return from_wkt(name, text, geodesic)
    try:
        data: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Misfit(f"{quoted(path)} is not JSON", at, "give a file of GeoJSON", str(error)) from error
    return from_geojson(name, data, geodesic, feature)
