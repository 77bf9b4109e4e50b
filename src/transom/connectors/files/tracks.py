"""Tracks in GPX and GeoJSON files: one row per point.

GPX gives the points of all tracks. GeoJSON gives points with their properties, and the corners of lines whose
properties list their times (`coordTimes` or `times`); newline-delimited GeoJSON is read as well.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from xml.etree import ElementTree

from transom.connectors.files.ais import read_ais
from transom.connectors.files.records import Record
from transom.errors import DataError

GPX_COLUMNS = ("time", "lon", "lat", "ele", "track", "segment", "file")
PLACE_COLUMNS = ("lon", "lat", "ele", "file")
"""What every row of GeoJSON has besides `id` and the properties of its feature."""

_DECLARED = re.compile(r"<!\s*(DOCTYPE|ENTITY)", re.IGNORECASE)
_TIMES = ("coordTimes", "times")
_EXAMPLE = "a file is a FeatureCollection of points with times, or of lines with coordTimes"


def read_track(form: str, path: str) -> Iterator[Record]:
    """The columns and the rows of a file of tracks or of AIS."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            text = file.read()
    except UnicodeDecodeError as error:
        raise DataError("the file is not UTF-8 text", hint="save it as UTF-8", source=path) from error
    return read_text(form, text, path)


def read_text(form: str, text: str, path: str) -> Iterator[Record]:
    """The columns and the rows in the text of such a file."""
    match form:
        case "ais":
            return read_ais(text, path)
        case "gpx":
            return read_gpx(text, path)
        case _:
            return read_geojson(text, path)


def as_lines(form: str, text: str, path: str) -> list[str]:
    """The rows in the text of such a file as JSON lines."""
    records = read_text(form, text, path)
    columns = [str(name) for name in next(records).values]
    return [json.dumps(dict(zip(columns, record.values))) for record in records]


def read_gpx(text: str, path: str) -> Iterator[Record]:
    """The points of the tracks of a GPX file, numbered from 1; a track without a name is called by its number."""
    if _DECLARED.search(text):
        raise DataError("the file declares entities", hint="GPX needs no DOCTYPE", source=path)
    try:
        root = ElementTree.fromstring(text)  # noqa: S314 - without declarations nothing expands
    except ElementTree.ParseError as error:
        raise DataError("the file is not XML", detail=str(error), hint="give a GPX file", source=path) from error
    if _bare(root.tag) != "gpx":
        raise DataError(f"the file is {_bare(root.tag)[:30]}, not gpx", hint="give a GPX file", source=path)
    yield Record(0, list[object](GPX_COLUMNS))
    number = 0
    stem = _stem(path)
    for place, track in enumerate(_named(root, "trk"), 1):
        name = _text(track, "name") or str(place)
        for segment, points in enumerate(_named(track, "trkseg"), 1):
            for point in _named(points, "trkpt"):
                number += 1
                lon, lat = (_number(point.get(key), key, number, path) for key in ("lon", "lat"))
                if lon is None or lat is None:
                    raise DataError(f"point {number}: no lon or no lat", hint="a trkpt has both", source=path)
                ele = _number(_text(point, "ele"), "ele", number, path)
                yield Record(number, [_text(point, "time"), lon, lat, ele, name, segment, stem])


def _bare(tag: str) -> str:
    """The name of an element without its namespace."""
    return tag.rpartition("}")[2]


def _named(element: ElementTree.Element, name: str) -> Iterator[ElementTree.Element]:
    return (child for child in element if _bare(child.tag) == name)


def _text(element: ElementTree.Element, name: str) -> str | None:
    """The text of the first child of a name; None if there is none or it is empty."""
    child = next(_named(element, name), None)
    return ((child.text or "").strip() or None) if child is not None else None


def _number(words: str | None, name: str, number: int, path: str) -> float | None:
    try:
        return None if words is None else float(words)
    except ValueError as error:
        message = f"point {number}: {name} is {words[:30]!r}" if words else f"point {number}: no {name}"
        raise DataError(message, hint="write a number", source=path) from error


def read_geojson(text: str, path: str) -> Iterator[Record]:
    """The points of a GeoJSON file; a property that a feature does not have is None."""
    rows = [row for feature in _features(text, path) for row in _points(feature, path)]
    stem = _stem(path)
    names: dict[str, None] = dict.fromkeys(PLACE_COLUMNS)
    for row in rows:
        names.update(dict.fromkeys(row))
    if not rows:
        return
    yield Record(0, list[object](names))
    for number, row in enumerate(rows, 1):
        whole = {**row, "file": stem}
        yield Record(number, [whole.get(name) for name in names])


def _features(text: str, path: str) -> Iterator[Mapping[str, object]]:
    documents: list[object]
    try:
        documents = [json.loads(text)]
    except (ValueError, RecursionError) as error:
        lines = [line.strip(" \t\r\x1e") for line in text.split("\n")]
        try:
            documents = [json.loads(line) for line in lines if line]
        except (ValueError, RecursionError):
            raise DataError("the file is not JSON", detail=str(error), hint=_EXAMPLE, source=path) from error
    for document in documents:
        match document:
            case {"type": "FeatureCollection", "features": [*features]}:
                yield from (feature for feature in features if isinstance(feature, dict))
            case dict() as feature if feature.get("type") == "Feature":
                yield feature
            case _:
                raise DataError("the file holds no features", hint=_EXAMPLE, source=path)


def _points(feature: Mapping[str, object], path: str) -> Iterator[dict[str, object]]:
    """The rows that a feature stands for: a point, or the corners of a line with their times."""
    properties = feature.get("properties")
    own = dict(properties) if isinstance(properties, dict) else {}
    if "id" in feature:
        own = {"id": feature["id"], **own}
    match feature.get("geometry"):
        case {"type": "Point", "coordinates": [*place]}:
            yield own | _place(place, path)
        case {"type": "LineString", "coordinates": [*corners]}:
            yield from _corners([corners], own, path)
        case {"type": "MultiLineString", "coordinates": [*lines]}:
            yield from _corners(lines, own, path)
        case {"type": str(kind)}:
            raise DataError(f"a {kind[:30]} is no part of a track", hint=_EXAMPLE, source=path)
        case _:
            raise DataError("a feature without a geometry", hint=_EXAMPLE, source=path)


def _corners(lines: Sequence[object], own: dict[str, object], path: str) -> Iterator[dict[str, object]]:
    nested = own.get("coordinateProperties")
    holder = nested if isinstance(nested, dict) and any(key in nested for key in _TIMES) else own
    times = next((holder[key] for key in _TIMES if key in holder), None)
    rest = {key: value for key, value in own.items() if key not in (*_TIMES, "coordinateProperties")}
    corners = [corner for line in lines if isinstance(line, list) for corner in line]
    if not isinstance(times, list):
        raise DataError("a line without times", hint="list them in its property coordTimes", source=path)
    flat = [time for part in times for time in (part if isinstance(part, list) else [part])]
    if len(flat) != len(corners):
        raise DataError(f"a line with {len(corners)} corners and {len(flat)} times", hint=_EXAMPLE, source=path)
    for corner, time in zip_longest(corners, flat):
        yield rest | _place(corner, path) | {"time": time}


def _place(place: object, path: str) -> dict[str, object]:
    match place:
        case [int() | float() as lon, int() | float() as lat, *more]:
            return {"lon": lon, "lat": lat, "ele": more[0] if more else None}
        case _:
            raise DataError("a place that is no list of two numbers", hint=_EXAMPLE, source=path)


def _stem(path: str) -> str:
    """The name of a file without folder and ending, for tracks that only their file tells apart."""
    return os.path.splitext(os.path.basename(path))[0]
